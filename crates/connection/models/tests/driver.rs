//! The task that drives a connection, on a stream with requests in it. Upcalls end in another thread meanwhile, and the ORB
//! stops.

use super::super::driver::{DriveEnd, Waiting};
use super::super::{PendingRequest, ServerConnection};
use super::{Tasks, connection_limits};
use crate::end::End;
use crate::mock::{Acts, Mock, settings};
use crate::models::{Task, messages, model_of_reads as model, spawn};
use crate::sync::Ordering;
use bytes::BytesMut;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use loom::sync::Mutex;
use loom::thread::JoinHandle;
use std::io::{self, IoSlice};
use std::sync::Arc;
use zorb_cdr::{Encoder, NativeEndian, WireFormat};
use zorb_giop::{ReplyBuilder, ReplyStatus, RequestBuilder, ResponseFlags, Version};
use zorb_transport::Connection;

/// A client that has sent all its requests, and closes the connection when it has so many replies.
#[derive(Debug)]
struct Client(Mutex<ClientState>);

#[derive(Debug)]
struct ClientState {
    requests: Vec<u8>,
    /// The ids of the replies that have come, in this order.
    replies: Vec<u32>,
    closes_after: usize,
    /// The waker that the reactor calls when the stream ends.
    watching: Option<Waker>,
}

impl Client {
    fn new(requests: u32, closes_after: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(ClientState {
            requests: (0..requests).flat_map(request).collect(),
            replies: Vec::new(),
            closes_after,
            watching: None,
        })))
    }

    fn replies(&self) -> Vec<u32> {
        self.0.lock().unwrap().replies.clone()
    }
}

impl ClientState {
    fn is_closed(&self) -> bool {
        self.replies.len() >= self.closes_after
    }

    fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match core::mem::take(&mut self.requests) {
            none if none.is_empty() && self.is_closed() => Ok(0),
            none if none.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            requests => {
                buffer.extend_from_slice(&requests);
                Ok(requests.len())
            }
        }
    }
}

impl Acts for Arc<Client> {
    fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        self.0.lock().unwrap().read(buffer)
    }

    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock().unwrap();
        match state.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                state.watching = Some(cx.waker().clone());
                Poll::Pending
            }
            read => Poll::Ready(read),
        }
    }

    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap();
        for message in messages(slices) {
            assert_eq!(message[7], 1, "a Reply");
            let id = message[12..16].try_into().unwrap();
            state.replies.push(u32::from_ne_bytes(id));
        }
        let watching = match state.is_closed() {
            true => state.watching.take(),
            false => None,
        };
        drop(state);
        if let Some(watching) = watching {
            watching.wake();
        }
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }
}

pub(super) fn request(request_id: u32) -> Vec<u8> {
    let builder = RequestBuilder {
        version: Version::V1_2,
        request_id,
        response: ResponseFlags::WithTarget,
        key: b"key",
        operation: "operation",
        contexts: &[],
    };
    let encoder = Encoder::<NativeEndian>::new(WireFormat::default());
    builder.encode(encoder, |_| Ok(())).unwrap().to_vec()
}

/// A connection to this client. So many of its upcalls may be pending.
fn connection(client: &Arc<Client>, upcalls: usize) -> Arc<ServerConnection<Tasks>> {
    let owner = Tasks::new(settings());
    let stream = Box::new(Mock::new(Arc::clone(client)));
    let admitted = connection_limits(upcalls)
        .admit(stream.peer(), None)
        .unwrap();
    let endpoint = "iiop://peer:1".parse().unwrap();
    Arc::new(ServerConnection::new(stream, endpoint, &owner, admitted))
}

/// Begins to drive the connection to its end, as [`ServerConnection::drive_on`] does.
pub(super) fn drive(connection: &Arc<ServerConnection<Tasks>>) -> JoinHandle<End> {
    let connection = Arc::clone(connection);
    spawn(move || {
        let mut reading = connection.new_reading();
        let mut driving = pin!(connection.drive_as(&mut reading, Waiting::Reactor));
        match Task::new().run(|cx| driving.as_mut().poll(cx)) {
            DriveEnd::Ended(end) => end,
            DriveEnd::Promoted(_) | DriveEnd::HandedBack => {
                unreachable!("connections of models park")
            }
        }
    })
}

/// Ends an upcall with a reply.
pub(super) fn answer((request_id, pending): (u32, PendingRequest<Tasks>)) {
    let reply = ReplyBuilder {
        version: Version::V1_2,
        request_id,
        status: ReplyStatus::NoException,
        contexts: &[],
    };
    let encoder = Encoder::<NativeEndian>::new(WireFormat::default());
    pending.answer(reply.encode(encoder, |_| Ok(())).ok());
}

/// An upcall that ends sees the request that waits for its place, or the driver sees the room. The other pending upcall goes
/// on until the waiting request has begun, so that its end wakes no driver.
#[test]
fn a_request_beyond_the_limit_begins_when_an_upcall_ends() {
    model(2, || {
        let client = Client::new(3, 3);
        let connection = connection(&client, 2);
        let driver = drive(&connection);
        let owner = Arc::clone(connection.owner());
        let upcalls = spawn(move || {
            answer(owner.next());
            let second = owner.next();
            answer(owner.next());
            answer(second);
        });
        let end = driver.join().unwrap();
        upcalls.join().unwrap();
        assert!(matches!(end, End::Lost(_)), "{end:?}");
        assert_eq!(client.replies(), [0, 2, 1]);
        assert!(connection.has_no_pending());
    });
}

/// A connection that is being drained ends after its last pending upcall, whose reply is written.
#[test]
fn a_connection_of_an_orb_that_stops_ends_when_its_last_upcall_has_ended() {
    model(2, || {
        let client = Client::new(1, usize::MAX);
        let connection = connection(&client, 2);
        let driver = drive(&connection);
        let owner = Arc::clone(connection.owner());
        let upcalls = {
            let connection = Arc::clone(&connection);
            spawn(move || {
                let pending = owner.next();
                owner.stopping.store(true, Ordering::Release);
                connection.wake();
                answer(pending);
            })
        };
        let end = driver.join().unwrap();
        assert!(matches!(end, End::ShutDown), "{end:?}");
        assert!(connection.has_no_pending());
        upcalls.join().unwrap();
        assert_eq!(client.replies(), [0]);
    });
}

/// The driver ends when its client has gone, whether or not the upcall has ended by then; the upcall ends after it.
#[test]
fn an_upcall_goes_on_when_its_client_has_gone() {
    model(2, || {
        let client = Client::new(1, 0);
        let connection = connection(&client, 1);
        let driver = drive(&connection);
        let owner = Arc::clone(connection.owner());
        let upcalls = spawn(move || answer(owner.next()));
        drop(connection);
        let end = driver.join().unwrap();
        upcalls.join().unwrap();
        assert!(matches!(end, End::Lost(_)), "{end:?}");
    });
}
