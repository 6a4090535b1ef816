//! An owner of server connections without an ORB.

use super::{Peer, Stream, endpoint, pair, settings};
use crate::bidirectional::BidirectionalConnection;
use crate::owner::{self, Located, Owner, Settings};
use crate::server::{PendingRequest, ReceivedRequest, ServerConnection, ServerLimits, Serving};
use crate::spin::BusyConnections;
use bytes::Bytes;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_cdr::{Encoder, Gather, NativeEndian, WireFormat};
use zorb_executor::Lane;
use zorb_giop::{
    CompletionStatus, Fault, LocateReply, ReplyBuilder, ReplyStatus, RequestHeader, ResponseFlags,
    SystemException, TargetAddress, Version,
};
use zorb_shares::{Client, HostKey};

/// The key of the object that the owner has.
pub(crate) const KEY: &[u8] = b"the object";

/// The target of a request.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Operation(String),
    Refused(SystemException),
}

/// A request that was served: its operation and arguments.
type Served = (String, Vec<u8>);

/// An upcall that has not ended, with its result.
type Held = (PendingRequest<TestOwner>, Version, u32, Vec<u8>);

/// An owner whose object has these operations: `hold` ends when the test says so, `panic` panics, and all others return
/// their arguments. One-way requests are noted only.
pub(crate) struct TestOwner {
    pub(crate) settings: Settings,
    lane: Lane,
    busy: BusyConnections,
    stopping: AtomicBool,
    tasks: TaskTracker,
    /// Look-ups of targets.
    pub(crate) located: AtomicUsize,
    /// Changes whenever cached targets become invalid.
    pub(crate) changes: AtomicUsize,
    served: Mutex<Option<mpsc::Sender<Served>>>,
    pub(crate) held: Mutex<Vec<Held>>,
}

impl fmt::Debug for TestOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestOwner").finish_non_exhaustive()
    }
}

impl TestOwner {
    /// An owner in the current runtime.
    pub(crate) fn new() -> Arc<Self> {
        Self::with(|_| {})
    }

    /// An owner with other settings.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Arc<Self> {
        let mut settings = settings();
        change(&mut settings);
        Arc::new(Self {
            settings,
            lane: Lane::current().expect("a runtime"),
            busy: BusyConnections::default(),
            stopping: AtomicBool::new(false),
            tasks: TaskTracker::new(),
            located: AtomicUsize::new(0),
            changes: AtomicUsize::new(0),
            served: Mutex::new(None),
            held: Mutex::new(Vec::new()),
        })
    }

    /// A channel that receives the requests served from now on.
    pub(crate) fn served(&self) -> mpsc::Receiver<Served> {
        let (sender, served) = mpsc::channel();
        *self.served.lock().unwrap() = Some(sender);
        served
    }

    /// A connection over a stream, which nothing drives.
    pub(crate) fn connection_over(
        self: &Arc<Self>,
        stream: Box<dyn zorb_transport::Connection>,
        serving: &Serving<Self>,
    ) -> Arc<ServerConnection<Self>> {
        let admitted = serving.admit(stream.peer(), None).expect("there is room");
        Arc::new(ServerConnection::new(stream, endpoint(), self, admitted))
    }

    /// A connection that a task serves, with the other end of its stream.
    pub(crate) fn serve_task(
        self: &Arc<Self>,
    ) -> (Arc<ServerConnection<Self>>, Stream, JoinHandle<()>) {
        self.serve_task_within(ServerLimits::new(1))
    }

    /// Serves in a task within these limits.
    pub(crate) fn serve_task_within(
        self: &Arc<Self>,
        limits: ServerLimits,
    ) -> (Arc<ServerConnection<Self>>, Stream, JoinHandle<()>) {
        let (ours, theirs) = pair();
        let serving = Arc::new(Serving::new(limits));
        let connection = self.connection_over(Box::new(ours), &serving);
        let driver = tokio::spawn(Arc::clone(&connection).drive(&serving));
        (connection, theirs, driver)
    }

    /// Serves a peer that the test plays.
    pub(crate) fn serve_peer(
        self: &Arc<Self>,
    ) -> (Arc<ServerConnection<Self>>, Peer, JoinHandle<()>) {
        let (connection, stream, driver) = self.serve_task();
        (connection, Peer::new(stream), driver)
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Ready when every task has ended.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        super::in_time(self.tasks.wait()).await;
    }

    /// Ends the upcall that has been held for longest, and returns whether there was one.
    pub(crate) fn let_go(&self) -> bool {
        let held = {
            let mut held = self.held.lock().unwrap();
            (!held.is_empty()).then(|| held.remove(0))
        };
        let is_held = held.is_some();
        if let Some((pending, version, id, result)) = held {
            pending.finish(Some(encode(version, id, &result)), |_| None);
        }
        is_held
    }
}

fn encode_with(
    version: Version,
    request_id: u32,
    status: ReplyStatus,
    body: impl FnOnce(&mut Encoder<NativeEndian>),
) -> Gather {
    let builder = ReplyBuilder {
        version,
        request_id,
        status,
        contexts: &[],
    };
    let encoder = Encoder::<NativeEndian>::new(WireFormat::default());
    let encoded = builder.encode(encoder, |e| {
        body(e);
        Ok(())
    });
    encoded.unwrap()
}

fn encode(version: Version, id: u32, result: &[u8]) -> Gather {
    encode_with(version, id, ReplyStatus::NoException, |e| e.append(result))
}

fn refused(version: Version, id: u32, exception: &SystemException) -> Gather {
    encode_with(version, id, ReplyStatus::SystemException, |e| {
        e.put(exception).unwrap();
    })
}

impl Owner for TestOwner {
    type Target = Wanted;
    type Cached = (String, usize);

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn lane(&self) -> &Lane {
        &self.lane
    }

    fn busy(&self) -> &BusyConnections {
        &self.busy
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    fn track(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(task, self.lane.handle());
    }

    fn track_in(
        &self,
        home: &tokio::runtime::Handle,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.tasks.spawn_on(task, home);
    }

    fn track_thread(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    fn locate(&self, header: &RequestHeader<'_>, _: bool) -> Wanted {
        self.located.fetch_add(1, Ordering::Relaxed);
        match header.target.object_key().as_deref() {
            Some(KEY) => Wanted::Operation(String::from_utf8_lossy(header.operation).into_owned()),
            _ => self.refuse(Fault::NoObject.raise(CompletionStatus::No)),
        }
    }

    fn refuse(&self, exception: SystemException) -> Wanted {
        Wanted::Refused(exception)
    }

    fn cache(&self, target: &Wanted) -> Option<Self::Cached> {
        match target {
            Wanted::Operation(name) => Some((name.clone(), self.changes.load(Ordering::Relaxed))),
            Wanted::Refused(_) => None,
        }
    }

    fn recall(&self, (name, changes): &Self::Cached) -> Option<Wanted> {
        let valid = *changes == self.changes.load(Ordering::Relaxed);
        valid.then(|| Wanted::Operation(name.clone()))
    }

    fn serve(
        connection: &Arc<ServerConnection<Self>>,
        request: ReceivedRequest<Self>,
    ) -> owner::Served {
        let owner = connection.owner();
        let (version, id) = (request.message.header.version, request.offsets.request_id());
        let operation = match &request.target {
            Wanted::Operation(name) => name.clone(),
            Wanted::Refused(exception) => {
                let is_two_way = request.offsets.response() != ResponseFlags::None;
                return match is_two_way {
                    true => owner::Served::Replied(refused(version, id, exception)),
                    false => owner::Served::Silent,
                };
            }
        };
        let arguments = {
            let (offsets, message) = (&request.offsets, &request.message);
            let mut d = offsets
                .arguments::<NativeEndian>(message, request.format)
                .unwrap();
            let octets = d.remaining();
            d.take(octets).unwrap().to_vec()
        };
        if let Some(served) = &*owner.served.lock().unwrap() {
            let _ = served.send((operation.clone(), arguments.clone()));
        }
        match &*operation {
            "panic" => panic!("the upcall panics"),
            "hold" => {
                let pending = PendingRequest::new(connection, id, request.message.frame.len());
                let held = (pending, version, id, arguments);
                owner.held.lock().unwrap().push(held);
                owner::Served::Pending
            }
            _ if request.offsets.response() == ResponseFlags::None => owner::Served::Silent,
            _ => owner::Served::Replied(encode(version, id, &arguments)),
        }
    }

    fn offered(&self, _: &Arc<BidirectionalConnection>, _: &Client, _: &[u8]) {}

    fn locate_request(&self, target: &TargetAddress<'_>, _: bool) -> Located {
        match target.object_key() {
            Some(key) if key == KEY => Located::Reply(LocateReply::ObjectHere),
            Some(key) if key.starts_with(b"ask") => Located::Ask(key),
            _ => Located::Reply(LocateReply::UnknownObject),
        }
    }

    async fn ask(self: Arc<Self>, key: Bytes, _: HostKey) -> LocateReply {
        match &*key == b"ask for what is here" {
            true => LocateReply::ObjectHere,
            false => LocateReply::UnknownObject,
        }
    }
}
