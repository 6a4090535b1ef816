//! Promotion of busy connections to threads.

use super::super::promote::{Promotion, READS, READS_WITHIN};
use super::super::{ServerConnection, Serving};
use crate::end::End;
use crate::mock::{Acts, Mock};
use crate::owner::Owner;
use crate::server::ServerLimits;
use crate::spin::{SpinLimits, Spinner};
use crate::testing::*;
use bytes::BytesMut;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Instant;
use zorb_cdr::{Encoder, NativeEndian, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::{LocateRequestHeader, TargetAddress, Version, cancel_request};

/// An owner whose connections may be promoted.
fn promoting() -> Arc<TestOwner> {
    TestOwner::with(|settings| settings.wait = WaitPolicy::Adaptive)
}

fn is_promoted() -> bool {
    thread::current().name() == Some("zorb-connection")
}

/// A connection that nothing drives.
fn connection(owner: &Arc<TestOwner>, acts: impl Acts) -> Arc<ServerConnection<TestOwner>> {
    owner.connection_over(
        Box::new(Mock::new(acts)),
        &Serving::new(ServerLimits::new(1)),
    )
}

fn encoder() -> Encoder<NativeEndian> {
    Encoder::new(WireFormat::default())
}

/// Has a message at every read by a worker, while another connection is busy, too. A thread finds nothing to read
/// until a worker has read again, and the end of the stream then.
#[derive(Debug)]
struct Crowd {
    owner: Arc<TestOwner>,
    other: Mutex<Spinner>,
    promoted: mpsc::Sender<()>,
    was_promoted: AtomicBool,
    is_back: AtomicBool,
}

impl Acts for Crowd {
    fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        if is_promoted() {
            let _ = self.promoted.send(());
            self.was_promoted.store(true, Ordering::Relaxed);
            return match self.is_back.load(Ordering::Relaxed) {
                true => Ok(0),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        (self.is_back).store(self.was_promoted.load(Ordering::Relaxed), Ordering::Relaxed);
        let mut other = self.other.lock().unwrap();
        other.is_only_busy(self.owner.busy(), 1);
        let message = cancel_request(encoder(), Version::V1_2, 7)
            .unwrap()
            .to_vec();
        buffer.extend_from_slice(&message);
        Ok(message.len())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_busy_connections_is_promoted_and_given_back_when_nothing_comes() {
    let owner = promoting();
    let (promoted, promotions) = mpsc::channel();
    let spinner = Spinner::new(SpinLimits {
        spin: WaitPolicy::SHARED,
        extended: WaitPolicy::SHARED,
    });
    let connection = connection(
        &owner,
        Crowd {
            owner: Arc::clone(&owner),
            other: Mutex::new(spinner),
            promoted,
            was_promoted: false.into(),
            is_back: false.into(),
        },
    );
    assert_eq!(connection.promoting_workers(), 2);
    in_time(connection.drive(&Arc::new(Serving::new(ServerLimits::new(1))))).await;
    // Promoted twice, with one read each time.
    assert_eq!(promotions.try_iter().count(), 2);
    // Every permit was released.
    let permits: Vec<_> = (0..4)
        .map_while(|_| owner.busy().permit_thread(2))
        .collect();
    assert_eq!(permits.len(), 4);
    assert!(owner.busy().permit_thread(2).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_connection_is_not_promoted_beyond_the_threads_that_are_permitted() {
    /// Has a message at every read while another connection is busy, and ends after many of them.
    #[derive(Debug)]
    struct Busy {
        owner: Arc<TestOwner>,
        reads: Mutex<(u32, Spinner)>,
    }

    impl Acts for Busy {
        fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
            assert!(!is_promoted());
            let (reads, other) = &mut *self.reads.lock().unwrap();
            *reads += 1;
            if *reads > 4 * READS {
                return Ok(0);
            }
            other.is_only_busy(self.owner.busy(), 1);
            let message = cancel_request(encoder(), Version::V1_2, 7)
                .unwrap()
                .to_vec();
            buffer.extend_from_slice(&message);
            Ok(message.len())
        }
    }

    let owner = promoting();
    let permits: Vec<_> = (0..4)
        .map_while(|_| owner.busy().permit_thread(2))
        .collect();
    assert_eq!(permits.len(), 4);
    let spinner = Spinner::new(SpinLimits {
        spin: WaitPolicy::SHARED,
        extended: WaitPolicy::SHARED,
    });
    let busy = Busy {
        owner: Arc::clone(&owner),
        reads: Mutex::new((0, spinner)),
    };
    let connection = connection(&owner, busy);
    in_time(connection.drive(&Arc::new(Serving::new(ServerLimits::new(1))))).await;
}

#[test]
fn a_connection_is_due_after_enough_reads_in_a_row_among_other_busy_ones() {
    let read = |only_busy: &[u32]| {
        let mut promotion = Promotion::default();
        for read in 1..=READS {
            assert!(!promotion.is_due());
            promotion.has_read(only_busy.contains(&read));
        }
        promotion
    };
    let began = Instant::now();
    let due = [
        read(&[]).is_due(),
        read(&[READS / 2]).is_due(),
        read(&[READS]).is_due(),
    ];
    if began.elapsed() < READS_WITHIN {
        assert_eq!(due, [true, false, false]);
    }
    let mut slow = read(&[]);
    thread::sleep(READS_WITHIN);
    assert!(!slow.is_due(), "its reads took too long");
    assert!(!slow.is_due(), "it counts anew");
}

#[tokio::test]
async fn on_a_runtime_of_one_thread_no_connection_is_promoted() {
    let owner = promoting();
    let connection = connection(&owner, Panics);
    assert_eq!(connection.promoting_workers(), 0);
    assert!(owner.busy().permit_thread(0).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_does_not_wait_adaptively_is_not_promoted() {
    for wait in [WaitPolicy::Park, WaitPolicy::Spin(WaitPolicy::SHARED)] {
        let owner = TestOwner::with(|settings| settings.wait = wait);
        assert_eq!(connection(&owner, Panics).promoting_workers(), 0);
    }
}

/// Panics in its reader, as a bug of the ORB might.
#[derive(Debug)]
pub(super) struct Panics;

impl Acts for Panics {
    fn read(&self) -> io::Result<usize> {
        panic!("the test's");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_panics_ends_its_connection() {
    let owner = promoting();
    let connection = connection(&owner, Panics);
    let (_, ended) = in_time(connection.serve_promoted(connection.new_reading())).await;
    assert!(matches!(ended, Some(End::Lost(_))));
}

/// Sends one LocateRequest, and takes no reply.
#[derive(Debug, Default)]
struct Deaf {
    has_asked: AtomicBool,
}

impl Acts for Deaf {
    fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        if self.has_asked.swap(true, Ordering::Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let target = TargetAddress::Key(b"absent");
        let asked =
            LocateRequestHeader::encode_for(encoder(), Version::V1_2, 7, b"absent", &target);
        let asked = asked.unwrap().to_vec();
        buffer.extend_from_slice(&asked);
        Ok(asked.len())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_whose_reply_does_not_fit_gives_its_connection_back() {
    let owner = promoting();
    let connection = connection(&owner, Deaf::default());
    let (_, ended) = in_time(connection.serve_promoted(connection.new_reading())).await;
    assert!(ended.is_none());
    assert!(connection.link.outbound.is_blocked() && !connection.may_be_promoted());
}

/// Sends an octet at a time, of a message that never ends.
#[derive(Debug, Default)]
struct Dripping(AtomicBool);

impl Acts for Dripping {
    fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self.0.swap(true, Ordering::Relaxed) {
            true => buffer.extend_from_slice(&[0]),
            false => buffer.extend_from_slice(b"GIOP\x01\x02\x01\x00\x00\x10\x00\x00"),
        }
        Ok(if buffer.len() == 12 { 12 } else { 1 })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_whose_reads_bring_no_message_gives_its_connection_back() {
    let owner = promoting();
    let connection = connection(&owner, Dripping::default());
    let (_, ended) = in_time(connection.serve_promoted(connection.new_reading())).await;
    assert!(ended.is_none() && connection.link.messages_received() == 0);
}

/// Has no blocking reads.
#[derive(Debug)]
struct Unsupported;

impl Acts for Unsupported {
    fn read(&self) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_without_blocking_reads_is_not_promoted_again() {
    let owner = promoting();
    let connection = connection(&owner, Unsupported);
    assert!(connection.may_be_promoted());
    let (_, ended) = in_time(connection.serve_promoted(connection.new_reading())).await;
    assert!(ended.is_none() && !connection.may_be_promoted());
}

#[tokio::test]
async fn a_connection_with_a_pending_request_is_not_promoted() {
    let owner = TestOwner::new();
    let (connection, peer, _driver) = owner.serve_peer();
    assert!(connection.may_be_promoted());
    peer.send(&request(1, "hold", b""));
    let_all_run().await;
    assert!(!connection.may_be_promoted());
    assert!(owner.let_go());
    assert!(connection.may_be_promoted());
}

/// Blocks its reader, whatever the limit, until it is closed.
#[derive(Debug)]
struct Silent {
    reads: mpsc::Sender<()>,
    says: Mutex<mpsc::Receiver<()>>,
    closes: mpsc::Sender<()>,
}

impl Acts for Silent {
    fn read_into(&self, _: &mut BytesMut) -> io::Result<usize> {
        let _ = self.reads.send(());
        let _ = self.says.lock().unwrap().recv_timeout(PATIENCE);
        Ok(0)
    }

    fn close(&self) {
        let _ = self.closes.send(());
    }
}

#[test]
fn a_runtime_that_is_dropped_closes_the_connection_that_a_thread_serves() {
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
    let connection = runtime.block_on(async { connection(&promoting(), acts) });
    let weak = Arc::downgrade(&connection);
    runtime.spawn(async move { connection.serve_promoted(connection.new_reading()).await });
    is_reading.recv_timeout(PATIENCE).unwrap();
    drop(runtime);
    // The thread keeps the connection until it finds the end, before the blocking read would time out.
    let began = Instant::now();
    while weak.strong_count() > 0 {
        assert!(began.elapsed() < PATIENCE / 2, "the thread goes on");
        thread::yield_now();
    }
}
