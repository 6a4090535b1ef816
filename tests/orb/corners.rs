//! Corners of a call's way that are easy to get wrong: code sets, held requests, callers that
//! are not polled, connections that end at the worst moment.

use crate::savings::spawn;
use bytes::Bytes;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener};
use zorb::{CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind as Kind};
use zorb_cdr::{BigEndian, Decoder, Encoder, Endian, LittleEndian, NativeEndian, WireFormat};
use zorb_giop::ior::{IiopAddress, ProfileBody, TaggedProfile, UiopAddress};
use zorb_giop::{
    Ior, Limits, Message, MessageHeader, MessageKind, Reader, ReplyBuilder, ReplyHeader,
    ReplyStatus, RequestBuilder, RequestHeader, ResponseFlags, Version, empty_message,
};

zorb::idl! {
    module Corners {
        typedef sequence<octet> Blob;
        interface Corner {
            /// How many characters there are in it.
            long characters(in string text);
            long add(in long a, in long b);
            void swallow(in Blob food);
            /// Never returns.
            void wait();
        };
    };
}

use corners::{Corner, CornerRef, CornerServant};
use zorb::OctetsRef;

struct Servant;

impl Corner for Servant {
    async fn characters(&self, text: &str) -> Result<i32, SystemException> {
        Ok(i32::try_from(text.chars().count()).unwrap())
    }
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a.wrapping_add(b))
    }
    async fn swallow(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }
    async fn wait(&self) -> Result<(), SystemException> {
        std::future::pending().await
    }
}

/// A bound against hangs, not a measurement.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no hang")
}

async fn orb() -> Orb {
    Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap()
}

async fn server() -> (Orb, CornerRef) {
    let orb = orb().await;
    let corner = orb
        .root_poa()
        .activate(CornerServant::new(Servant))
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    (orb, corner)
}

async fn from_afar(orb: &Orb, corner: &CornerRef) -> CornerRef {
    let object = orb.string_to_object(&corner.to_string()).await.unwrap();
    object.unchecked_narrow()
}

fn reference(orb: &Orb, profile: TaggedProfile) -> CornerRef {
    orb.object(Ior {
        type_id: CornerRef::REPOSITORY_ID.to_owned(),
        profiles: vec![profile],
    })
    .unchecked_narrow()
}

fn profile<A: zorb_giop::ior::ProfileAddress>(address: A) -> TaggedProfile {
    ProfileBody {
        version: Version::V1_2,
        address,
        object_key: Bytes::from_static(b"key"),
        components: Vec::new(),
    }
    .to_tagged()
    .unwrap()
}

fn iiop(orb: &Orb, listener: &TcpListener) -> CornerRef {
    let port = listener.local_addr().unwrap().port();
    let host = "127.0.0.1".to_owned();
    reference(orb, profile(IiopAddress { host, port }))
}

/// The next message, or `None` at the end of the stream, however it comes.
async fn receive(stream: &mut (impl AsyncReadExt + Unpin), reader: &mut Reader) -> Option<Message> {
    in_time(async {
        loop {
            if let Some(message) = reader.next().unwrap() {
                return Some(message);
            }
            reader.reserve().unwrap();
            if stream.read_buf(reader.buffer()).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    })
    .await
}

fn encoder() -> Encoder<NativeEndian> {
    Encoder::with_buffer(bytes::BytesMut::new(), WireFormat::default())
}

/// The reply of a `long` operation.
fn reply(request: &Message, result: i32) -> Bytes {
    let header = RequestHeader::read(request).unwrap();
    ReplyBuilder {
        version: Version::V1_2,
        request_id: header.request_id,
        status: ReplyStatus::NoException,
        contexts: &[],
    }
    .encode(encoder(), |e| e.put(&result))
    .unwrap()
    .into_bytes()
}

#[tokio::test]
async fn asking_where_an_object_is_does_not_count_as_having_sent_the_code_sets() {
    let (_server, corner) = server().await;
    let client = orb().await;
    let corner = from_afar(&client, &corner).await;
    assert!(in_time(corner.as_object().locate()).await.unwrap());
    assert_eq!(in_time(corner.characters("a€ä")).await.unwrap(), 3);
}

#[tokio::test]
async fn a_call_with_server_gets_object_not_exist() {
    let (server, _) = server().await;
    let address = server.endpoints()[0].to_string();
    let address = address.strip_prefix("iiop://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 4,
        response: ResponseFlags::WithServer,
        key: b"absent",
        operation: "add",
        contexts: &[],
    }
    .encode(encoder(), |_| Ok(()))
    .unwrap()
    .into_bytes();
    stream.write_all(&request).await.unwrap();
    let mut reader = Reader::new(Limits::default());
    let message = receive(&mut stream, &mut reader).await.expect("an answer");
    let header = ReplyHeader::read(&message).unwrap();
    assert_eq!(
        (header.request_id, header.status),
        (4, ReplyStatus::SystemException)
    );
    let format = WireFormat::default();
    let exception: SystemException = match message.header.endian {
        Endian::Big => Decoder::<BigEndian>::at(&message.frame, header.body, format)
            .unwrap()
            .get(),
        Endian::Little => Decoder::<LittleEndian>::at(&message.frame, header.body, format)
            .unwrap()
            .get(),
    }
    .unwrap();
    assert_eq!(exception.kind, Kind::ObjectNotExist);
}

#[test]
fn a_large_message_stays_where_it_is_while_it_arrives() {
    let size = 1 << 20;
    let header = MessageHeader {
        version: Version::V1_2,
        endian: Endian::Big,
        more_fragments: false,
        kind: MessageKind::Reply,
        size,
    };
    let mut reader = Reader::new(Limits::default());
    reader.reserve().unwrap();
    reader.buffer().extend_from_slice(&header.to_octets());
    reader.reserve().unwrap();
    let place = reader.buffer().as_ptr();
    for _ in 0..15 {
        reader.buffer().extend_from_slice(&[0; 1 << 16]);
        reader.reserve().unwrap();
        assert_eq!(reader.buffer().as_ptr(), place, "moved");
    }
    reader.buffer().extend_from_slice(&[0; 1 << 16]);
    let message = reader.next().unwrap().expect("a whole message");
    drop(message);
    reader.reserve().unwrap();
    let room = reader.buffer().capacity();
    assert!(room > 1 << 20, "another one like it may follow");

    // However large a message is, no more than that is held on to.
    let size = 8 << 20;
    let header = MessageHeader { size, ..header };
    reader.buffer().extend_from_slice(&header.to_octets());
    for _ in 0..128 {
        reader.reserve().unwrap();
        reader.buffer().extend_from_slice(&[0; 1 << 16]);
    }
    let message = reader.next().unwrap().expect("a whole message");
    drop(message);
    reader.reserve().unwrap();
    assert!(reader.buffer().capacity() < 2 << 20, "held on to");
}

#[tokio::test]
async fn a_request_that_is_held_when_its_adapter_is_destroyed_is_answered() {
    let server = orb().await;
    let child = server.root_poa().create_poa("child", None).unwrap();
    let corner = child.activate(CornerServant::new(Servant)).unwrap();
    let client = orb().await;
    let far = from_afar(&client, &corner).await;
    let held = spawn(async move { far.add(1, 2).await });
    let near = spawn(async move { corner.add(1, 2).await });
    // A second request on the same connection is served only after the first was looked at.
    while server.connections_served() == 0 {
        tokio::task::yield_now().await;
    }
    let other = server
        .root_poa()
        .activate(CornerServant::new(Servant))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let other = from_afar(&client, &other).await;
    assert_eq!(in_time(other.add(1, 2)).await.unwrap(), 3);
    child.destroy();
    for call in [held, near] {
        let error = in_time(call).await.unwrap().unwrap_err();
        assert_eq!(
            (error.kind, error.completed),
            (Kind::ObjectNotExist, CompletionStatus::No)
        );
    }
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_not_polled_while_it_connects_holds_no_other_up() {
    let (_server, corner) = server().await;
    let client = orb().await;
    let corner = from_afar(&client, &corner).await;
    let mut idle = pin!(corner.add(1, 1));
    let polled = idle.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    assert_eq!(in_time(corner.add(2, 2)).await.unwrap(), 4);
    assert_eq!(in_time(idle).await.unwrap(), 2);
}

#[test]
fn a_call_ends_when_the_runtime_that_reads_its_connection_does() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let (_server, corner) = serving.block_on(server());
    let calling = tokio::runtime::Runtime::new().unwrap();
    let corner = calling.block_on(async {
        let client = orb().await;
        from_afar(&client, &corner).await
    });
    let (ended, end) = std::sync::mpsc::channel();
    let (begun, begin) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        struct Unpark(std::thread::Thread);
        impl std::task::Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Arc::new(Unpark(std::thread::current())).into();
        let mut cx = Context::from_waker(&waker);
        let mut first = pin!(corner.add(1, 1));
        while first.as_mut().poll(&mut cx).is_pending() {
            std::thread::park();
        }
        let mut call = pin!(corner.wait());
        assert!(call.as_mut().poll(&mut cx).is_pending());
        begun.send(()).unwrap();
        let outcome = loop {
            match call.as_mut().poll(&mut cx) {
                Poll::Ready(outcome) => break outcome,
                Poll::Pending => std::thread::park(),
            }
        };
        ended.send(outcome).unwrap();
    });
    begin.recv().unwrap();
    calling.shutdown_timeout(Duration::from_secs(10));
    let error = end
        .recv_timeout(Duration::from_secs(60))
        .expect("no hang")
        .unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::CommFailure, CompletionStatus::Maybe)
    );
}

#[tokio::test]
async fn a_request_that_goes_out_before_the_error_message_is_not_sent_again() {
    // Small, so that what is more than a sender's buffer is not out before it is read.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(256 << 10).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let corner = iiop(&client, &listener);
    // Few enough to be read while the client still listens to why we refuse them.
    let blob = vec![7; 6 << 20];
    let call = spawn(async move { corner.swallow(&blob[..]).await });
    let (mut first, _) = in_time(listener.accept()).await.unwrap();
    // It has begun to come, and is far from done.
    let mut begun = [0; 12];
    in_time(first.read_exact(&mut begun)).await.unwrap();
    first.write_all(b"this is no GIOP at all").await.unwrap();
    let mut reader = Reader::new(Limits::default());
    reader.reserve().unwrap();
    reader.buffer().extend_from_slice(&begun);
    let mut requests = 0;
    while let Some(message) = receive(&mut first, &mut reader).await {
        requests += usize::from(message.header.kind == MessageKind::Request);
    }
    drop(first);
    drop(listener);
    let error = in_time(call).await.unwrap().unwrap_err();
    assert_eq!(
        (requests, error.kind, error.completed),
        (1, Kind::CommFailure, CompletionStatus::Maybe)
    );
}

#[tokio::test]
async fn a_write_that_fails_does_not_lose_the_replies_that_have_come() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let path = path.to_str().unwrap().to_owned();
    let corner = reference(&client, profile(UiopAddress { path }));
    let first = spawn({
        let corner = corner.clone();
        async move { corner.add(1, 2).await }
    });
    let (mut stream, _) = in_time(listener.accept()).await.unwrap();
    let mut reader = Reader::new(Limits::default());
    let request = receive(&mut stream, &mut reader).await.expect("a request");
    // The answer, and the end of the connection, both of which the client finds at once.
    stream.write_all(&reply(&request, 3)).await.unwrap();
    let close = empty_message(MessageKind::CloseConnection, Version::V1_2);
    stream.write_all(&close).await.unwrap();
    drop(stream);
    // Before the driver has had a turn.
    let mut second = pin!(corner.add(3, 4));
    let polled = second
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    assert_eq!(in_time(first).await.unwrap().unwrap(), 3);
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut reader = Reader::new(Limits::default());
        let request = receive(&mut stream, &mut reader).await.expect("a request");
        stream.write_all(&reply(&request, 7)).await.unwrap();
        stream
    };
    let (sum, _stream) = in_time(async { tokio::join!(second, serve) }).await;
    assert_eq!(sum.unwrap(), 7);
}

#[test]
fn a_reference_in_a_file_is_read_outside_a_runtime_too() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (server, corner) = runtime.block_on(server());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("corner.ior");
    std::fs::write(&path, corner.to_string()).unwrap();
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let url = format!("file://{}", path.display());
    let mut reading = pin!(server.string_to_object(&url));
    let object = loop {
        match reading.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(object) => break object.unwrap(),
            Poll::Pending => std::thread::park(),
        }
    };
    assert_eq!(&object, corner.as_object());
}
