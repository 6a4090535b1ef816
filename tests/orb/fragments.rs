//! Messages in fragments between two ORBs, with a recorder in between that sees what really goes
//! over the wire.

use crate::savings::spawn;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zorb::{Builder, Bytes, Interface, Ior, OctetsRef, Orb, SystemException};
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::ior::{ComponentTag, IiopProfile, TaggedComponent, encapsulate};
use zorb_giop::{
    MessageHeader, MessageKind, RequestBuilder, ResponseFlags, ServiceContext, ServiceContextId,
    Version,
};

zorb::idl! {
    module Cut {
        struct Point { octet tag; double x; long long n; };
        typedef sequence<octet> Blob;
        typedef sequence<double> DoubleSeq;
        typedef sequence<short> ShortSeq;
        typedef sequence<Point> PointSeq;
        typedef sequence<string> TextSeq;
        struct Bundle {
            octet a; Blob octets; octet b; DoubleSeq doubles; octet c; ShortSeq shorts; octet d; PointSeq points;
            octet e; TextSeq texts; octet f; string text; octet g; double end;
        };
        exception Refused { Bundle why; };
        interface Echo {
            Bundle turn(in Bundle a, inout Bundle b, out Bundle c) raises (Refused);
            void refuse(in Bundle a) raises (Refused);
            wstring wide(in wstring a);
            Blob large(in unsigned long octets);
            unsigned long swallow(in Blob octets);
            oneway void forget(in Blob octets);
            unsigned long forgotten();
        };
    };
}

use cut::echo::{RefuseError, TurnError};
use cut::{Bundle, Echo, EchoRef, EchoServant, Point, Refused};

#[derive(Default)]
struct Servant(std::sync::atomic::AtomicU32);

impl Echo for Servant {
    async fn turn(&self, a: &Bundle, b: &Bundle) -> Result<(Bundle, Bundle, Bundle), TurnError> {
        Ok((b.clone(), a.clone(), a.clone()))
    }

    async fn refuse(&self, a: &Bundle) -> Result<(), RefuseError> {
        Err(Refused { why: a.clone() }.into())
    }

    async fn wide(&self, a: &str) -> Result<String, SystemException> {
        Ok(a.to_owned())
    }

    async fn large(&self, octets: u32) -> Result<Bytes, SystemException> {
        Ok(vec![7; octets as usize].into())
    }

    async fn swallow(&self, octets: OctetsRef<'_>) -> Result<u32, SystemException> {
        Ok(octets.len() as u32)
    }

    async fn forget(&self, octets: OctetsRef<'_>) -> Result<(), SystemException> {
        self.0
            .fetch_add(octets.len() as u32, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }

    async fn forgotten(&self) -> Result<u32, SystemException> {
        Ok(self.0.load(std::sync::atomic::Ordering::Relaxed))
    }
}

fn all(n: usize) -> Bundle {
    let point = |n: usize| Point {
        tag: n as u8,
        x: n as f64 / 3.0,
        n: n as i64,
    };
    Bundle {
        a: 1,
        octets: vec![1; n * 7].into(),
        b: 2,
        doubles: (0..n).map(|n| n as f64).collect(),
        c: 3,
        shorts: (0..n).map(|n| n as i16).collect(),
        d: 4,
        points: (0..n / 3).map(point).collect(),
        e: 5,
        texts: (0..n / 10).map(|n| "text ".repeat(n)).collect(),
        f: 6,
        text: "weiß ".repeat(n),
        g: 7,
        end: 0.5,
    }
}

/// The octets on the wire: towards the server, and back.
type Recorded = [Arc<Mutex<Vec<u8>>>; 2];

/// Passes one connection on, and writes down what it carries.
async fn recorder(to: u16) -> (u16, Recorded) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let recorded = Recorded::default();
    let [up, down] = recorded.clone();
    spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
        let (mut client_in, mut client_out) = client.into_split();
        let (mut server_in, mut server_out) = server.into_split();
        tokio::join!(
            pass(&mut client_in, &mut server_out, up),
            pass(&mut server_in, &mut client_out, down)
        );
    });
    (port, recorded)
}

async fn pass(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    recorded: Arc<Mutex<Vec<u8>>>,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(octets @ 1..) = from.read(&mut buffer).await {
        recorded
            .lock()
            .unwrap()
            .extend_from_slice(&buffer[..octets]);
        if to.write_all(&buffer[..octets]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

/// The headers of everything in `octets`.
fn headers(octets: &Mutex<Vec<u8>>) -> Vec<MessageHeader> {
    let octets = octets.lock().unwrap();
    let mut rest = &octets[..];
    let mut headers = Vec::new();
    while let Some(header) = rest.first_chunk() {
        let header = MessageHeader::parse(header).unwrap();
        rest = &rest[12 + header.size as usize..];
        headers.push(header);
    }
    assert!(rest.is_empty(), "half a message");
    headers
}

fn fragments(octets: &Mutex<Vec<u8>>) -> usize {
    let headers = headers(octets);
    let fragments = headers.iter().filter(|h| h.kind == MessageKind::Fragment);
    fragments.count()
}

struct World {
    server: Orb,
    client: Orb,
    profile: IiopProfile,
}

impl World {
    async fn start(configure: impl Fn(Builder) -> Builder) -> Self {
        let server = configure(Orb::builder().listen("iiop://127.0.0.1:0"));
        let server = server.build().await.unwrap();
        let echo = server
            .root_poa()
            .activate(EchoServant::new(Servant::default()))
            .unwrap();
        server.root_poa().the_poa_manager().activate().unwrap();
        let profile = IiopProfile::from_tagged(&echo.as_object().ior().profiles[0]).unwrap();
        let client = configure(Orb::builder()).build().await.unwrap();
        Self {
            server,
            client,
            profile,
        }
    }

    /// The object, by way of a recorder and as `change` makes its profile.
    async fn echo(&self, change: impl FnOnce(&mut IiopProfile)) -> (EchoRef, Recorded) {
        let (port, recorded) = recorder(self.profile.address.port).await;
        let mut profile = self.profile.clone();
        profile.address.port = port;
        change(&mut profile);
        let ior = Ior {
            type_id: EchoRef::REPOSITORY_ID.to_owned(),
            profiles: vec![profile.to_tagged().unwrap()],
        };
        (EchoRef::unchecked_narrow(self.client.object(ior)), recorded)
    }

    async fn end(self) {
        self.client.shutdown(true).await.unwrap();
        self.server.shutdown(true).await.unwrap();
    }
}

#[tokio::test]
async fn everything_survives_being_cut_in_every_version() {
    for most in [1, 100, 1000, 60_000] {
        for minor in 0..=2 {
            let world = World::start(|builder| builder.max_fragment_octets(most)).await;
            let version = Version { major: 1, minor };
            let (echo, [up, down]) = world.echo(|profile| profile.version = version).await;
            for n in [0, 1, 10, 300] {
                let (a, b) = (all(n), all(n / 2));
                let (result, back, out) = echo.turn(&a, &b).await.unwrap();
                assert!(result == b && back == a && out == a);
                match echo.refuse(&a).await {
                    Err(RefuseError::Refused(refused)) => assert!(refused.why == a),
                    other => panic!("expected Refused, found {other:?}"),
                }
                if minor > 0 {
                    let text = "weit€𝄞".repeat(n);
                    assert_eq!(echo.wide(&text).await.unwrap(), text);
                }
            }
            // Enough fragments of either size.
            let large = if most < 1000 { 1 << 18 } else { 3 << 20 };
            for octets in [1 << 16, large] {
                let blob = vec![9; octets];
                assert_eq!(echo.swallow(&blob).await, Ok(octets as u32));
                echo.forget(&blob).await.unwrap();
                assert_eq!(echo.large(octets as u32).await.unwrap().len(), octets);
            }
            assert_eq!(echo.forgotten().await, Ok(large as u32 + (1 << 16)));
            for direction in [up, down] {
                assert_eq!(fragments(&direction) > 50, minor > 0, "{most} {version}");
                for header in headers(&direction) {
                    assert_eq!(header.version, version);
                    if minor == 2 {
                        assert!(header.size as usize + 12 <= most.max(64));
                    }
                }
            }
            world.end().await;
        }
    }
}

#[tokio::test]
async fn calls_at_the_same_time_share_a_connection_in_fragments() {
    let world = World::start(|builder| builder.max_fragment_octets(4096)).await;
    let (echo, [up, _]) = world.echo(|_| {}).await;
    let calls: Vec<_> = (0..60_u32)
        .map(|n| {
            let echo = echo.clone();
            spawn(async move {
                let octets = if n % 3 == 0 { 500_000 + n } else { n };
                assert_eq!(echo.swallow(&vec![1; octets as usize]).await, Ok(octets));
                assert_eq!(echo.large(octets).await.unwrap().len(), octets as usize);
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert!(fragments(&up) > 2000);
    world.end().await;
}

#[tokio::test]
async fn nothing_is_cut_unless_asked_for_or_needed() {
    let world = World::start(|builder| builder).await;
    let large = vec![1; 1 << 20];
    let (echo, [up, down]) = world.echo(|_| {}).await;
    assert_eq!(echo.swallow(&large).await, Ok(1 << 20));
    assert_eq!(echo.large(1 << 20).await.unwrap().len(), 1 << 20);
    assert_eq!((fragments(&up), fragments(&down)), (0, 0));

    let (echo, [up, _]) = world.echo(as_of_glassfish).await;
    assert_eq!(echo.swallow(&large).await, Ok(1 << 20));
    assert!(fragments(&up) > 0);
    let longest = headers(&up).iter().map(|header| header.size).max();
    assert!(longest < Some(256_000 - 12), "{longest:?}");
    world.end().await;
}

/// The components of GlassFish's references: RMI's stream format, and no ORB type.
fn as_of_glassfish(profile: &mut IiopProfile) {
    (profile.components).retain(|component| component.tag != ComponentTag::ORB_TYPE);
    profile.components.push(TaggedComponent {
        tag: ComponentTag::RMI_CUSTOM_MAX_STREAM_FORMAT,
        data: Bytes::from_static(&[0, 2]),
    });
}

/// It takes the numbers in a fragment of GIOP 1.1 for big-endian ones.
#[tokio::test]
async fn nothing_of_giop_1_1_is_cut_for_the_family_that_misreads_it() {
    for asked_for in [None, Some(4096)] {
        let world = World::start(|builder| match asked_for {
            Some(octets) => builder.max_fragment_octets(octets),
            None => builder,
        })
        .await;
        let (echo, [up, _]) = world
            .echo(|profile| {
                as_of_glassfish(profile);
                profile.version = Version::V1_1;
            })
            .await;
        // Beside one whose references do not look so.
        let (other, [other_up, _]) = world.echo(|profile| profile.version = Version::V1_1).await;
        for echo in [&echo, &other] {
            assert_eq!(echo.swallow(&vec![1; 1 << 20]).await, Ok(1 << 20));
        }
        assert_eq!(fragments(&up), 0, "{asked_for:?}");
        assert_eq!(fragments(&other_up) > 0, asked_for.is_some());
        world.end().await;
    }
}

#[tokio::test]
async fn a_client_that_needs_fragments_gets_them() {
    let world = World::start(|builder| builder).await;
    let key = world.profile.object_key.clone();
    let port = world.profile.address.port;
    let rmi = ServiceContextId::RMI_CUSTOM_MAX_STREAM_FORMAT;
    for (id, version, expected) in [
        (ServiceContextId(0x4e45_4f00), Version::V1_2, false),
        (rmi, Version::V1_2, true),
        (rmi, Version::V1_1, false),
    ] {
        let context = ServiceContext {
            id,
            data: encapsulate(|e| {
                e.write_u8(2);
                Ok(())
            })
            .unwrap(),
        };
        let request = RequestBuilder {
            version,
            request_id: 1,
            response: ResponseFlags::WithTarget,
            key: &key,
            operation: "large",
            contexts: &[context],
        }
        .encode(Encoder::<LittleEndian>::new(WireFormat::default()), |e| {
            e.put(&(1_u32 << 20))
        })
        .unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(&request.to_vec()).await.unwrap();
        let mut octets = [0; 12];
        stream.read_exact(&mut octets).await.unwrap();
        let header = MessageHeader::parse(&octets).unwrap();
        assert_eq!(header.more_fragments, expected);
        assert_eq!(header.size < 256_000 - 12, expected);
    }
    world.end().await;
}
