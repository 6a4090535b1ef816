//! Served connections: full sockets, while a thread serves the connection and when it stops; and the driver, while upcalls
//! end in other threads.

mod both;
mod driver;

use super::{Located, PendingRequest, ReceivedRequest, ServerConnection, ServerLimits, Serving};
use crate::bidirectional::BidirectionalConnection;
use crate::mock::{Mock, settings};
use crate::models::outbound::{ROOM, Socket, message};
use crate::models::{Task, model};
use crate::owner::{self, Owner, Settings};
use crate::spin::BusyConnections;
use crate::sync::{AtomicBool, Ordering};
use bytes::Bytes;
use core::pin::pin;
use core::task::Poll;
use loom::sync::{Condvar, Mutex};
use loom::thread;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_executor::Lane;
use zorb_giop::{LocateReply, RequestHeader, SystemException, TargetAddress};
use zorb_shares::{Client, HostKey};
use zorb_transport::Connection;

/// An owner whose tasks are threads of loom. Every request becomes pending, until a thread of the model answers it.
#[derive(Debug)]
struct Tasks {
    settings: Settings,
    busy: BusyConnections,
    stopping: AtomicBool,
    /// Pending requests, and their ids.
    pending: Mutex<VecDeque<(u32, PendingRequest<Self>)>>,
    /// Notified when a request becomes pending.
    begun: Condvar,
}

impl Tasks {
    fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            busy: BusyConnections::default(),
            stopping: AtomicBool::new(false),
            pending: Mutex::default(),
            begun: Condvar::new(),
        })
    }

    /// Waits for the first pending request.
    fn next(&self) -> (u32, PendingRequest<Self>) {
        let mut pending = self.pending.lock().unwrap();
        loop {
            match pending.pop_front() {
                Some(request) => return request,
                None => pending = self.begun.wait(pending).unwrap(),
            }
        }
    }
}

impl Owner for Tasks {
    type Target = ();
    type Cached = ();

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn lane(&self) -> &Lane {
        // Only the settings of the lane are used, as loom has no runtime.
        static LANE: LazyLock<Lane> = LazyLock::new(|| Lane::dedicated("models").unwrap());
        &LANE
    }

    fn busy(&self) -> &BusyConnections {
        &self.busy
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    fn track(&self, task: impl Future<Output = ()> + Send + 'static) {
        thread::spawn(move || {
            let mut task = pin!(task);
            Task::new().run(|cx| task.as_mut().poll(cx));
        });
    }

    fn track_in(
        &self,
        _: &tokio::runtime::Handle,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.track(task);
    }

    fn track_thread(&self) -> TaskTrackerToken {
        unreachable!("no request goes on")
    }

    fn locate(&self, _: &RequestHeader<'_>, _: bool) {}

    fn offered(&self, _: &Arc<BidirectionalConnection>, _: &Client, _: &[u8]) {}

    fn refuse(&self, _: SystemException) {}

    fn cache(&self, (): &()) -> Option<()> {
        None
    }

    fn recall(&self, (): &()) -> Option<()> {
        None
    }

    fn serve(
        connection: &Arc<ServerConnection<Self>>,
        request: ReceivedRequest<Self>,
    ) -> owner::Served {
        let (id, octets) = (request.offsets.request_id(), request.message.octets());
        let pending = PendingRequest::new(connection, id, octets);
        let owner = connection.owner();
        owner.pending.lock().unwrap().push_back((id, pending));
        owner.begun.notify_one();
        owner::Served::Pending
    }

    fn locate_request(&self, _: &TargetAddress<'_>, _: bool) -> Located {
        unreachable!("no LocateRequest is read")
    }

    async fn ask(self: Arc<Self>, _: Bytes, _: HostKey) -> LocateReply {
        unreachable!("no LocateRequest is read")
    }
}

/// The limits of one connection, of which so many upcalls may be pending.
fn connection_limits(upcalls: usize) -> Serving<Tasks> {
    Serving::new(ServerLimits {
        max_upcalls_per_connection: upcalls,
        ..ServerLimits::new(1)
    })
}

/// A connection and its socket.
#[derive(Clone)]
struct Served {
    connection: Arc<ServerConnection<Tasks>>,
    socket: Arc<Socket>,
}

impl Served {
    /// A connection whose socket has so many octets of room.
    fn new(room: usize) -> Self {
        let owner = Tasks::new(Settings {
            threads: true,
            ..settings()
        });
        let socket = Arc::new(Socket::new(room));
        let stream = Box::new(Mock::new(Arc::clone(&socket)));
        let endpoint = "iiop://peer:1".parse().unwrap();
        let admitted = Serving::<Tasks>::new(ServerLimits::new(1))
            .admit(stream.peer(), None)
            .unwrap();
        Self {
            connection: Arc::new(ServerConnection::new(stream, endpoint, &owner, admitted)),
            socket,
        }
    }

    /// A reply of two octets to a request that was pending.
    fn reply(&self, octet: u8) {
        self.connection.link.queue(message(octet, 2));
        self.connection.flush();
    }

    /// Waits until every reply is written.
    fn written(&self) {
        Task::new().run(|cx| self.connection.link.outbound.poll_empty(cx));
    }
}

#[test]
fn replies_that_do_not_fit_are_written_while_a_thread_is_blocked_in_a_read() {
    model(2, || {
        let served = Served::new(1);
        let thread = served.connection.write_wait.thread_serves();
        let other = {
            let served = served.clone();
            thread::spawn(move || served.reply(2))
        };
        served.reply(1);
        served.socket.make_room(1);
        served.socket.make_room(ROOM);
        served.written();
        other.join().unwrap();
        served.socket.assert_taken(&[(1, 2), (2, 2)]);
        drop(thread);
    });
}

#[test]
fn the_driver_waits_for_room_when_no_thread_serves_the_connection_any_more() {
    model(2, || {
        let served = Served::new(1);
        let over = Arc::new(AtomicBool::new(false));
        let peer = {
            let socket = Arc::clone(&served.socket);
            thread::spawn(move || socket.make_room(ROOM))
        };
        {
            let _thread = served.connection.write_wait.thread_serves();
            served.reply(1);
        }
        // From here on a task drives the connection.
        let driver = {
            let (served, over) = (served.clone(), Arc::clone(&over));
            thread::spawn(move || {
                Task::new().run(|cx| {
                    served.connection.link.outbound.driver.register(cx.waker());
                    let _ = served.connection.link.unblock(cx);
                    match over.load(Ordering::Acquire) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    }
                });
            })
        };
        served.written();
        over.store(true, Ordering::Release);
        served.connection.wake();
        peer.join().unwrap();
        driver.join().unwrap();
        served.socket.assert_taken(&[(1, 2)]);
    });
}
