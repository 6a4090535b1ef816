//! Connections on which both ends send requests: the driver of the server's role, and a caller, each of which may read what is for
//! the other.

use super::driver::{answer, drive, request};
use super::{Tasks, connection_limits};
use crate::bidirectional::BidirectionalConnection;
use crate::client::ClientConnection;
use crate::client::models::{Argument, connect_settings, hint};
use crate::end::End;
use crate::mock::{Acts, Mock, settings};
use crate::models::{Task, messages, model_of_reads as model};
use crate::server::ServerConnection;
use bytes::BytesMut;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use loom::sync::{Condvar, Mutex};
use std::io::{self, IoSlice};
use std::sync::Arc;
use zorb_cdr::{Encoder, NativeEndian, WireFormat};
use zorb_giop::{ReplyBuilder, ReplySlot, ReplyStatus, Version};
use zorb_transport::Connection;

/// A peer that answers each request, with a request of its own before or behind its reply.
#[derive(Debug)]
struct Peer {
    state: Mutex<PeerState>,
    /// Notified when a reply has come.
    replied: Condvar,
    calls_first: bool,
}

#[derive(Debug, Default)]
struct PeerState {
    octets: Vec<u8>,
    replies: usize,
    /// The waker that the reactor calls when octets come.
    watching: Option<Waker>,
}

impl PeerState {
    fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match core::mem::take(&mut self.octets) {
            none if none.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            octets => {
                buffer.extend_from_slice(&octets);
                Ok(octets.len())
            }
        }
    }
}

fn reply(request: &[u8]) -> Vec<u8> {
    let id = request[12..16].try_into().unwrap();
    let reply = ReplyBuilder {
        version: Version::V1_2,
        request_id: u32::from_ne_bytes(id),
        status: ReplyStatus::NoException,
        contexts: &[],
    };
    let message = reply.encode(Encoder::<NativeEndian>::new(WireFormat::default()), |_| {
        Ok(())
    });
    message.unwrap().to_vec()
}

impl Acts for Arc<Peer> {
    fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        self.state.lock().unwrap().read(buffer)
    }

    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<io::Result<usize>> {
        let mut state = self.state.lock().unwrap();
        match state.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                state.watching = Some(cx.waker().clone());
                Poll::Pending
            }
            read => Poll::Ready(read),
        }
    }

    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        for message in messages(slices) {
            match message[7] {
                0 if self.calls_first => {
                    state.octets.extend([request(1), reply(&message)].concat())
                }
                0 => state.octets.extend([reply(&message), request(1)].concat()),
                1 => state.replies += 1,
                _ => {}
            }
        }
        let watching = state.watching.take();
        drop(state);
        self.replied.notify_all();
        if let Some(watching) = watching {
            watching.wake();
        }
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }
}

/// Whoever reads, the caller gets its reply, and the driver the request, which it serves.
#[test]
fn a_caller_and_the_driver_read_for_each_other() {
    for calls_first in [false, true] {
        model(1, move || {
            let peer = Arc::new(Peer {
                state: Mutex::default(),
                replied: Condvar::new(),
                calls_first,
            });
            let owner = Tasks::new(settings());
            let stream = Box::new(Mock::new(Arc::clone(&peer)));
            let admitted = connection_limits(1).admit(stream.peer(), None).unwrap();
            let endpoint: zorb_transport::Endpoint = "iiop://peer:1".parse().unwrap();
            let (connection, both): (_, Arc<BidirectionalConnection>) =
                ServerConnection::with_both_roles(stream, endpoint.clone(), &owner, admitted, true);
            let connection = Arc::new(connection);
            let client = ClientConnection::of_both(&both, endpoint, false, &connect_settings());
            let client = Arc::new(client);
            hint(&client);
            both.set_client(&client);
            let driver = drive(&connection);
            {
                let mut slot = ReplySlot::new();
                let mut call = pin!(Argument(1).send(&client, &mut slot));
                Task::new().run(|cx| call.as_mut().poll(cx)).unwrap();
            }
            answer(owner.next());
            let mut state = peer.state.lock().unwrap();
            while state.replies == 0 {
                state = peer.replied.wait(state).unwrap();
            }
            drop(state);
            both.end(End::ShutDown);
            let end = driver.join().unwrap();
            assert!(matches!(end, End::ShutDown), "{end:?}");
            assert!(connection.has_no_pending());
        });
    }
}
