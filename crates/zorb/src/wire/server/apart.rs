//! A connection that has a thread for as long as it is one of several busy ones.

use super::super::link::{End, Reading};
use super::super::waiting::Leave;
use super::ServerConnection;
use core::mem;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::RuntimeFlavor;
use tokio::sync::oneshot;
use zorb_executor::{Dispatch, WaitPolicy};
use zorb_transport::Connection;

/// How long a thread waits for a request that has a connection for as long as it is busy only, and looks up, too.
const STAYS: Duration = Duration::from_millis(5);

/// What came of serving a connection for a while.
pub(super) enum Driven<'a> {
    Over(End),
    /// It is one of several busy ones, and may have a thread.
    CrowdedOut(Leave<'a>),
}

impl ServerConnection {
    /// How many workers the lane has, if a connection of it may have a thread for a while: not if whoever made the lane
    /// has all on one thread, or chose who runs upcalls or how is waited.
    pub(super) fn workers(&self) -> usize {
        let lane = self.orb.lane();
        let may = lane.flavor() != RuntimeFlavor::CurrentThread
            && matches!(lane.dispatch(), Dispatch::InPlace)
            && self.orb.wait_policy() == WaitPolicy::Adaptive;
        match may {
            true => lane.handle().metrics().num_workers(),
            false => 0,
        }
    }

    /// Whether there is nothing about the connection that a task has to do, or only a task can.
    pub(super) fn may_have_a_thread(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
            && !self.link.outbound.is_blocked()
            && self.link.outbound.failure().is_none()
            && !self.cannot_block.load(Ordering::Relaxed)
    }

    /// Has a thread serve the connection as long as it is busy: it sleeps in `recv`, and the kernel runs it where and when
    /// its client has sent something, without a reactor and other workers having a part in it. This task waits
    /// meanwhile; if it is dropped with its runtime the connection is closed, and the thread ends.
    pub(super) async fn serve_apart(self: &Arc<Self>, reading: Reading) -> (Reading, Option<End>) {
        // Not moved into the thread before there is one.
        let (give, given) = mpsc::sync_channel(1);
        let (tell, told) = oneshot::channel();
        let connection = Arc::clone(self);
        let started = thread::Builder::new()
            .name("zorb-connection".to_owned())
            .spawn(move || {
                if let Ok(mut reading) = given.recv() {
                    let ended = connection.serve_while_busy(&mut reading);
                    // Nobody is there to go on with it when the runtime has gone.
                    let _ = tell.send((reading, ended));
                }
            });
        if let Err(error) = started {
            tracing::debug!(%error, "no thread for a busy connection");
            return (reading, None);
        }
        let closes = CloseOnDrop(&*self.link.stream);
        // The other end is dropped by nobody before it has received.
        let _ = give.send(reading);
        match told.await {
            Ok(told) => {
                mem::forget(closes);
                told
            }
            Err(_) => {
                let lost = End::Lost("the thread that served it has panicked".to_owned());
                (self.reading(), Some(lost))
            }
        }
    }

    fn serve_while_busy(self: &Arc<Self>, reading: &mut Reading) -> Option<End> {
        // Servants find a runtime here, as everywhere.
        let _runtime = self.orb.lane().handle().enter();
        let _thread = self.room.serve();
        self.serve_until_told(reading, Some(STAYS))
    }
}

/// Closes a connection whose task is dropped while a thread serves it.
struct CloseOnDrop<'a>(&'a dyn Connection);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orb::OrbInner;
    use crate::wire::mock::{Acts, Mock};
    use crate::wire::waiting::Waiting;
    use bytes::BytesMut;
    use core::sync::atomic::AtomicBool;
    use std::io;
    use std::sync::Mutex;
    use std::time::Instant;
    use zorb_cdr::WireFormat;
    use zorb_giop::{LocateRequestHeader, TargetAddress, Version, cancel_request};

    /// Long enough for anything that happens at all.
    const PATIENCE: Duration = Duration::from_secs(60);

    async fn in_time<T>(future: impl Future<Output = T>) -> T {
        tokio::time::timeout(PATIENCE, future).await.unwrap()
    }

    fn is_apart() -> bool {
        thread::current().name() == Some("zorb-connection")
    }

    async fn connection<A: Acts>(acts: A) -> (crate::Orb, Arc<ServerConnection>) {
        let orb = crate::Orb::builder().build().await.unwrap();
        let connection = connection_of(orb.inner(), acts);
        (orb, connection)
    }

    fn connection_of<A: Acts>(orb: &Arc<OrbInner>, acts: A) -> Arc<ServerConnection> {
        let permit = orb.admit_connection().unwrap();
        let stream = Box::new(Mock::new(acts));
        let endpoint = "uiop:///nowhere".parse().unwrap();
        Arc::new(ServerConnection::new(stream, endpoint, orb, permit))
    }

    /// Has a message at every read of a worker's, while another connection is busy, too. A thread finds nothing to read
    /// until a worker has read again, and the end of the stream then.
    #[derive(Debug)]
    struct Crowd {
        orb: crate::Orb,
        other: Mutex<Waiting>,
        apart: mpsc::Sender<()>,
        was_apart: AtomicBool,
        is_back: AtomicBool,
    }

    impl Acts for Crowd {
        fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
            if is_apart() {
                let _ = self.apart.send(());
                self.was_apart.store(true, Ordering::Relaxed);
                return match self.is_back.load(Ordering::Relaxed) {
                    true => Ok(0),
                    false => Err(io::ErrorKind::WouldBlock.into()),
                };
            }
            (self.is_back).store(self.was_apart.load(Ordering::Relaxed), Ordering::Relaxed);
            self.other
                .lock()
                .unwrap()
                .is_alone(self.orb.inner().busy(), 1);
            let encoder = zorb_cdr::Encoder::<zorb_cdr::NativeEndian>::new(WireFormat::default());
            let message = cancel_request(encoder, Version::V1_2, 7).unwrap().to_vec();
            buffer.extend_from_slice(&message);
            Ok(message.len())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_of_several_busy_connections_gets_a_thread_and_gives_it_back_when_nothing_comes() {
        let orb = crate::Orb::builder().build().await.unwrap();
        let (apart, comes) = mpsc::channel();
        let connection = connection_of(
            orb.inner(),
            Crowd {
                orb: orb.clone(),
                other: Mutex::new(Waiting::new(WaitPolicy::SHARED)),
                apart,
                was_apart: false.into(),
                is_back: false.into(),
            },
        );
        in_time(connection.drive()).await;
        assert_eq!(comes.try_iter().count(), 2);
        // Every leave was given back.
        let leaves: Vec<_> = (0..4)
            .map_while(|_| orb.inner().busy().leave_for_a_thread(2))
            .collect();
        assert_eq!(leaves.len(), 4);
        assert!(orb.inner().busy().leave_for_a_thread(2).is_none());
        drop(leaves);
        in_time(orb.shutdown(true)).await.unwrap();
    }

    #[tokio::test]
    async fn on_a_runtime_of_one_thread_no_connection_gets_another() {
        let (orb, connection) = connection(Breaks).await;
        assert_eq!(connection.workers(), 0);
        assert!(orb.inner().busy().leave_for_a_thread(0).is_none());
        drop(connection);
        orb.shutdown(true).await.unwrap();
    }

    #[derive(Debug)]
    struct Breaks;

    impl Acts for Breaks {
        fn read(&self) -> io::Result<usize> {
            panic!("the test's");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_thread_that_panics_ends_its_connection() {
        let (orb, connection) = connection(Breaks).await;
        let (_, ended) = in_time(connection.serve_apart(connection.reading())).await;
        assert!(matches!(ended, Some(End::Lost(_))));
        drop(connection);
        in_time(orb.shutdown(true)).await.unwrap();
    }

    /// Asks once, and has no room for the answer.
    #[derive(Debug, Default)]
    struct Deaf {
        has_asked: AtomicBool,
    }

    impl Acts for Deaf {
        fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
            if self.has_asked.swap(true, Ordering::Relaxed) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let encoder = zorb_cdr::Encoder::<zorb_cdr::NativeEndian>::new(WireFormat::default());
            let target = TargetAddress::Key(b"nobody");
            let asked =
                LocateRequestHeader::encode_for(encoder, Version::V1_2, 7, b"nobody", &target);
            let asked = asked.unwrap().to_vec();
            buffer.extend_from_slice(&asked);
            Ok(asked.len())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_thread_that_has_no_room_to_answer_gives_its_connection_back() {
        let (orb, connection) = connection(Deaf::default()).await;
        let (_, ended) = in_time(connection.serve_apart(connection.reading())).await;
        assert!(ended.is_none());
        assert!(connection.link.outbound.is_blocked() && !connection.may_have_a_thread());
        drop(connection);
        in_time(orb.shutdown(true)).await.unwrap();
    }

    /// Has no reads that block.
    #[derive(Debug)]
    struct Unsupported;

    impl Acts for Unsupported {
        fn read(&self) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_connection_without_reads_that_block_gets_no_thread_again() {
        let (orb, connection) = connection(Unsupported).await;
        assert!(connection.may_have_a_thread());
        let (_, ended) = in_time(connection.serve_apart(connection.reading())).await;
        assert!(ended.is_none() && !connection.may_have_a_thread());
        drop(connection);
        in_time(orb.shutdown(true)).await.unwrap();
    }

    /// Blocks whoever reads until it is closed.
    #[derive(Debug)]
    struct Silent {
        reads: mpsc::Sender<()>,
        says: Mutex<mpsc::Receiver<()>>,
        closes: mpsc::Sender<()>,
    }

    impl Acts for Silent {
        fn read(&self) -> io::Result<usize> {
            let _ = self.reads.send(());
            let _ = self.says.lock().unwrap().recv();
            Ok(0)
        }

        fn close(&self) {
            let _ = self.closes.send(());
        }
    }

    #[test]
    fn a_runtime_that_is_dropped_takes_the_connection_along_that_a_thread_serves() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (reads, is_reading) = mpsc::channel();
        let (closes, says) = mpsc::channel();
        let acts = Silent {
            reads,
            says: Mutex::new(says),
            closes,
        };
        let (orb, connection) = runtime.block_on(connection(acts));
        let weak = Arc::downgrade(&connection);
        runtime.spawn(async move { connection.serve_apart(connection.reading()).await });
        is_reading.recv_timeout(PATIENCE).unwrap();
        drop(runtime);
        // The thread has it until it has heard of the end.
        let begin = Instant::now();
        while weak.strong_count() > 0 {
            assert!(begin.elapsed() < PATIENCE, "the thread goes on");
            thread::yield_now();
        }
        drop(orb);
    }
}
