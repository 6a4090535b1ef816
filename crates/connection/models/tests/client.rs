//! Calls by blocking threads and by tasks, with the driver, on a stream that answers every request.

use super::driver::Timers;
use super::{CallError, ClientConnection, ClientRequest, EncodeArguments};
use crate::blocking;
use crate::cache::{ConnectSettings, ConnectionOrigin};
use crate::end::End;
use crate::mock::{Acts, Mock, settings};
use crate::models::{Task, messages, model_of_reads as model, spawn};
use crate::owner::PeerOrb;
use crate::spin::SpinLimits;
use crate::sync::{Ordering, clock};
use bytes::BytesMut;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use loom::sync::{Condvar, Mutex};
use loom::thread;
use std::io::{self, IoSlice};
use std::sync::Arc;
use zorb_cdr::{EncodeError, Encoder, NativeEndian, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    ReplyBuilder, ReplySlot, ReplyStatus, RequestTemplate, ResponseFlags, TargetAddress, Version,
};

/// The other end of a connection, and the reactor that watches this end.
#[derive(Debug, Default)]
struct Peer {
    state: Mutex<PeerState>,
    /// Notified when there are octets to read, or the stream has ended.
    readable: Condvar,
    /// Notified when there are requests.
    requested: Condvar,
    /// Whether the write of a request sends its reply; otherwise [`Peer::answer`] does.
    at_once: bool,
}

#[derive(Debug, Default)]
struct PeerState {
    /// Requests without a reply: their ids, and the octet that each has for an argument.
    requests: Vec<(u32, u8)>,
    replies: Vec<u8>,
    /// The waker that the reactor calls when octets come.
    watching: Option<Waker>,
    closed: bool,
}

impl PeerState {
    fn request(&mut self, octets: &[u8]) {
        let id = octets[12..16].try_into().unwrap();
        self.requests
            .push((u32::from_ne_bytes(id), *octets.last().unwrap()));
    }

    /// Sends a reply, and returns the waker that the reactor has to call.
    fn reply(&mut self, (request_id, argument): (u32, u8)) -> Option<Waker> {
        let reply = ReplyBuilder {
            version: Version::V1_2,
            request_id,
            status: ReplyStatus::NoException,
            contexts: &[],
        };
        let message = reply.encode(Encoder::<NativeEndian>::new(WireFormat::default()), |e| {
            e.write_u8(argument);
            Ok(())
        });
        self.replies.extend(message.unwrap().to_vec());
        self.watching.take()
    }

    fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self.replies.len() {
            0 if self.closed => Ok(0),
            0 => Err(io::ErrorKind::WouldBlock.into()),
            octets => {
                buffer.extend_from_slice(&self.replies);
                self.replies.clear();
                Ok(octets)
            }
        }
    }
}

impl Peer {
    /// Answers so many requests, each with an event of its own.
    fn answer(&self, requests: usize) {
        for _ in 0..requests {
            let mut state = self.state.lock().unwrap();
            while state.requests.is_empty() {
                state = self.requested.wait(state).unwrap();
            }
            let request = state.requests.remove(0);
            self.deliver(state, request);
        }
    }

    fn deliver(&self, mut state: loom::sync::MutexGuard<'_, PeerState>, request: (u32, u8)) {
        let watching = state.reply(request);
        drop(state);
        self.readable.notify_all();
        if let Some(watching) = watching {
            watching.wake();
        }
    }
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

    fn watches(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.state.lock().unwrap();
        let watches = state.replies.is_empty() && !state.closed;
        if watches {
            state.watching = Some(cx.waker().clone());
        }
        watches
    }

    fn read_blocking(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        loop {
            match state.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    state = self.readable.wait(state).unwrap();
                }
                read => return read,
            }
        }
    }

    fn deregister(&self) {
        self.state.lock().unwrap().watching = None;
    }

    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        for message in messages(slices) {
            // A request has a reply, a CancelRequest has none.
            if message[7] == 0 {
                state.request(&message);
            }
        }
        match self.at_once {
            true => {
                if let Some(request) = state.requests.pop() {
                    self.deliver(state, request);
                }
            }
            false => {
                drop(state);
                self.requested.notify_one();
            }
        }
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap();
        state.closed = true;
        let watching = state.watching.take();
        drop(state);
        self.readable.notify_all();
        if let Some(watching) = watching {
            watching.wake();
        }
    }
}

/// The only argument of a request, and the result.
pub(crate) struct Argument(pub(crate) u8);

impl EncodeArguments for Argument {
    fn encode(&self, encoder: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        encoder.write_u8(self.0);
        Ok(())
    }
}

pub(crate) fn connect_settings() -> ConnectSettings {
    ConnectSettings {
        connection: settings(),
        unresponsive: Default::default(),
        known_key: Default::default(),
        times: Default::default(),
        code_sets: CodeSets::UNSTATED,
        needs_fragments: false,
        peer: PeerOrb::Other,
        transports: Default::default(),
        timeout: Duration::MAX,
        spin: SpinLimits {
            spin: Duration::ZERO,
            extended: Duration::ZERO,
        },
        busy: Arc::default(),
        origin: ConnectionOrigin::Opened,
    }
}

/// Sets hints beforehand: loom would explore both values at each request and reply.
pub(crate) fn hint(connection: &ClientConnection) {
    connection.spoke_1_2.store(true, Ordering::Relaxed);
    connection.announced.store(true, Ordering::Relaxed);
}

fn template() -> RequestTemplate<NativeEndian> {
    let target = TargetAddress::Key(b"key");
    RequestTemplate::new(Version::V1_2, &target, b"key").unwrap()
}

impl Argument {
    /// Calls with this argument, and parks for the reply.
    pub(crate) async fn send(
        self,
        connection: &ClientConnection,
        reply: &mut ReplySlot,
    ) -> Result<(), CallError> {
        self.send_as(connection, &template(), WaitPolicy::Park, reply)
            .await
    }

    async fn send_as(
        self,
        connection: &ClientConnection,
        template: &RequestTemplate<NativeEndian>,
        wait: WaitPolicy,
        reply: &mut ReplySlot,
    ) -> Result<(), CallError> {
        let request = ClientRequest {
            template,
            operation: "echo",
            arguments: &self,
            contexts: &[],
            response: ResponseFlags::WithTarget,
            wait: Some(wait),
            sent: &Default::default(),
            octets: &Default::default(),
        };
        connection.call(&request, reply).await
    }
}

/// The kind of caller that waits for a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Task,
    Thread,
}

/// A connection and its peer.
#[derive(Debug, Clone)]
struct Calls {
    connection: Arc<ClientConnection>,
    peer: Arc<Peer>,
    template: Arc<RequestTemplate<NativeEndian>>,
    wait: WaitPolicy,
}

type Joins = thread::JoinHandle<()>;

impl Calls {
    /// Calls that park.
    fn new(answers: Answers) -> Self {
        Self::waiting(answers, WaitPolicy::Park)
    }

    fn waiting(answers: Answers, wait: WaitPolicy) -> Self {
        let peer = Arc::new(Peer {
            at_once: answers == Answers::AtOnce,
            ..Peer::default()
        });
        let settings = connect_settings();
        let stream = Box::new(Mock::new(Arc::clone(&peer)));
        let endpoint = "iiop://peer:1".parse().unwrap();
        let connection = ClientConnection::new(stream, endpoint, false, &settings);
        hint(&connection);
        Self {
            connection: Arc::new(connection),
            peer,
            template: Arc::new(template()),
            wait,
        }
    }

    /// One poll of the driver.
    fn poll_driver(&self, timers: &mut Timers, cx: &mut Context<'_>) -> Poll<()> {
        let connection = &self.connection;
        connection.link.outbound.driver.register(cx.waker());
        if let Some(end) = connection.poll_drive(timers, cx) {
            connection.end(end);
        }
        match !connection.state().life.is_open() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// The driver, on a thread of its own, until the connection has ended. It has been polled once before callers come.
    fn drive(&self) -> Joins {
        let (calls, task, mut timers) = (self.clone(), Task::new(), Timers::default());
        let waker = Waker::from(Arc::clone(&task));
        let polled = self.poll_driver(&mut timers, &mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        spawn(move || task.run_on(|cx| calls.poll_driver(&mut timers, cx)))
    }

    /// The driver, which begins while callers call.
    fn drive_late(&self) -> Joins {
        let (calls, mut timers) = (self.clone(), Timers::default());
        spawn(move || Task::new().run(|cx| calls.poll_driver(&mut timers, cx)))
    }

    async fn request(&self, argument: u8, reply: &mut ReplySlot) -> Result<(), CallError> {
        let (connection, template) = (&self.connection, &self.template);
        Argument(argument)
            .send_as(connection, template, self.wait, reply)
            .await
    }

    /// A call of a task that is polled once and then dropped.
    fn call_and_drop(&self, argument: u8) {
        let mut reply = ReplySlot::new();
        let waker = Waker::from(Task::new());
        let polled =
            pin!(self.request(argument, &mut reply)).poll(&mut Context::from_waker(&waker));
        assert!(!matches!(polled, Poll::Ready(Err(_))));
    }

    /// Makes a call, whose result has to be its argument.
    fn call(&self, caller: Caller, argument: u8) -> Result<(), CallError> {
        let mut reply = ReplySlot::new();
        {
            let mut call = pin!(self.request(argument, &mut reply));
            match caller {
                Caller::Task => Task::new().run(|cx| call.as_mut().poll(cx))?,
                Caller::Thread => blocking::block_on(call)?,
            }
        }
        let mut body = (reply.decoder::<NativeEndian>(WireFormat::default())).unwrap();
        assert_eq!(body.read_u8().unwrap(), argument, "another caller's reply");
        Ok(())
    }

    /// Makes calls one after the other, on a thread of their own.
    fn spawn_calls(&self, caller: Caller, arguments: &'static [u8]) -> Joins {
        let calls = self.clone();
        spawn(move || calls.calls(caller, arguments))
    }

    fn calls(&self, caller: Caller, arguments: &[u8]) {
        for argument in arguments {
            self.call(caller, *argument).unwrap();
        }
    }

    /// Makes the calls of two callers, of which the peer answers some at once; then one of them needs no thread of its own.
    fn make(&self, [one, other]: [(Caller, &'static [u8]); 2]) {
        let first = self.spawn_calls(one.0, one.1);
        if self.peer.at_once {
            self.calls(other.0, other.1);
        } else {
            let second = self.spawn_calls(other.0, other.1);
            self.peer.answer(one.1.len() + other.1.len());
            second.join().unwrap();
        }
        first.join().unwrap();
    }

    /// Ends the connection and joins its driver.
    fn finish(&self, driver: Joins) {
        assert!(self.connection.state().table.is_empty());
        self.connection.end(End::ShutDown);
        driver.join().unwrap();
    }
}

/// When the peer answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// Within the write of the request.
    AtOnce,
    /// On a thread of its own: each reply is an event.
    Later,
}

/// The policy of callers that read twice before they park.
const SPIN: WaitPolicy = WaitPolicy::Spin(clock::STEP.saturating_mul(2));

/// Two callers and their calls, beside the driver: every call gets its reply.
fn calls(preemptions: usize, answers: Answers, callers: [(Caller, &'static [u8]); 2]) {
    waiting_calls(WaitPolicy::Park, preemptions, answers, callers);
}

fn waiting_calls(
    wait: WaitPolicy,
    preemptions: usize,
    answers: Answers,
    callers: [(Caller, &'static [u8]); 2],
) {
    model(preemptions, move || {
        let calls = Calls::waiting(answers, wait);
        let driver = calls.drive();
        calls.make(callers);
        calls.finish(driver);
    });
}

#[test]
fn two_tasks_are_answered_at_once() {
    calls(
        2,
        Answers::AtOnce,
        [(Caller::Task, &[1]), (Caller::Task, &[2])],
    );
}

#[test]
fn a_driver_that_begins_late_leaves_no_caller_behind() {
    for caller in [Caller::Task, Caller::Thread] {
        model(2, move || {
            let calls = Calls::new(Answers::AtOnce);
            let driver = calls.drive_late();
            calls.calls(caller, &[1]);
            calls.finish(driver);
        });
    }
}

#[test]
fn two_threads_are_answered_at_once() {
    calls(
        1,
        Answers::AtOnce,
        [(Caller::Thread, &[1]), (Caller::Thread, &[2])],
    );
}

#[test]
fn a_task_and_a_thread_are_answered_at_once() {
    calls(
        2,
        Answers::AtOnce,
        [(Caller::Task, &[1]), (Caller::Thread, &[2])],
    );
}

#[test]
fn two_tasks_are_answered_later() {
    calls(
        1,
        Answers::Later,
        [(Caller::Task, &[1]), (Caller::Task, &[2])],
    );
}

#[test]
fn two_threads_are_answered_later() {
    calls(
        1,
        Answers::Later,
        [(Caller::Thread, &[1]), (Caller::Thread, &[2])],
    );
}

#[test]
fn a_task_and_a_thread_are_answered_later() {
    calls(
        1,
        Answers::Later,
        [(Caller::Task, &[1]), (Caller::Thread, &[2])],
    );
}

#[test]
fn a_task_that_calls_again_relies_on_a_reactor_that_watches() {
    calls(
        1,
        Answers::AtOnce,
        [(Caller::Task, &[1, 3]), (Caller::Task, &[2])],
    );
}

#[test]
fn a_thread_that_calls_again_leaves_no_task_behind() {
    calls(
        1,
        Answers::AtOnce,
        [(Caller::Thread, &[1, 3]), (Caller::Task, &[2])],
    );
}

/// A thread reads before its second request: the lease that it holds then may be the one that the other thread asks for.
#[test]
fn a_thread_that_looks_before_it_calls_again_leaves_no_thread_behind() {
    calls(
        1,
        Answers::Later,
        [(Caller::Thread, &[1, 3]), (Caller::Thread, &[2])],
    );
}

/// A reader that finds nothing in its spin parks, and its socket may be deregistered by then.
#[test]
fn two_tasks_that_spin_are_answered_later() {
    waiting_calls(
        SPIN,
        1,
        Answers::Later,
        [(Caller::Task, &[1]), (Caller::Task, &[2])],
    );
}

#[test]
fn a_task_and_a_thread_that_spin_are_answered_later() {
    waiting_calls(
        SPIN,
        1,
        Answers::Later,
        [(Caller::Task, &[1]), (Caller::Thread, &[2])],
    );
}

#[test]
fn two_threads_that_spin_are_answered_later() {
    waiting_calls(
        SPIN,
        1,
        Answers::Later,
        [(Caller::Thread, &[1]), (Caller::Thread, &[2])],
    );
}

/// The first call deregisters the socket, and the second one spins again.
#[test]
fn a_task_that_spins_again_leaves_no_caller_behind() {
    waiting_calls(
        SPIN,
        1,
        Answers::AtOnce,
        [(Caller::Task, &[1, 3]), (Caller::Task, &[2])],
    );
}

#[test]
fn callers_that_spin_learn_of_the_end() {
    for caller in [Caller::Task, Caller::Thread] {
        model(1, move || {
            let calls = Calls::waiting(Answers::Later, SPIN);
            let driver = calls.drive();
            let calling = {
                let calls = calls.clone();
                spawn(move || assert!(calls.call(caller, 1).is_err()))
            };
            calls.peer.close();
            calling.join().unwrap();
            driver.join().unwrap();
        });
    }
}

#[test]
fn callers_learn_of_the_end() {
    for callers in [
        [Caller::Task; 2],
        [Caller::Thread; 2],
        [Caller::Task, Caller::Thread],
    ] {
        model(1, move || {
            let calls = Calls::new(Answers::Later);
            let driver = calls.drive();
            let callers = callers.map(|caller| {
                let calls = calls.clone();
                spawn(move || assert!(calls.call(caller, 1).is_err()))
            });
            // A reader finds the end of the stream.
            calls.peer.close();
            for caller in callers {
                caller.join().unwrap();
            }
            driver.join().unwrap();
        });
    }
}

#[test]
fn a_task_that_is_dropped_leaves_no_caller_behind() {
    for caller in [Caller::Task, Caller::Thread] {
        model(1, move || {
            let calls = Calls::new(Answers::Later);
            let driver = calls.drive();
            let dropped = {
                let calls = calls.clone();
                spawn(move || calls.call_and_drop(1))
            };
            let other = calls.spawn_calls(caller, &[2]);
            calls.peer.answer(2);
            dropped.join().unwrap();
            other.join().unwrap();
            calls.connection.end(End::ShutDown);
            driver.join().unwrap();
        });
    }
}

#[test]
fn the_driver_reads_on_when_the_task_that_an_event_has_woken_is_dropped() {
    model(2, || {
        let calls = Calls::new(Answers::Later);
        let driver = calls.drive();
        let dropped = {
            let calls = calls.clone();
            spawn(move || calls.call_and_drop(1))
        };
        calls.peer.answer(1);
        calls.peer.close();
        dropped.join().unwrap();
        // The driver has read the end of the stream.
        driver.join().unwrap();
    });
}
