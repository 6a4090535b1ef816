//! Programs without async: calls that block, servants on threads, and both of them mixed with what is async.

use crate::savings::spawn;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use zorb::blocking::{Orb, Wait};
use zorb::{
    Bytes, CompletionStatus, Interface, SystemException, SystemExceptionKind as Kind, WaitPolicy,
};

zorb::idl! {
    module Blocks {
        typedef sequence<octet> Content;
        interface Desk {
            long add(in long a, in long b);
            Content echo(in Content what);
            /// Answers when as many wait as were said.
            void meet(in long expected);
            /// Answers when `release` was called.
            void wait_for_release();
            void release();
            /// Calls another desk, and blocks meanwhile.
            long add_there(in Desk there, in long a, in long b);
            /// Calls another desk, and awaits it.
            long add_further(in Desk there, in long a, in long b);
            oneway void note();
            /// Calls another desk, and blocks meanwhile.
            oneway void note_there(in Desk there);
            long noted();
        };
    };
}

use blocks::{Desk, DeskRef, DeskServant};

#[derive(Default)]
struct Servant {
    meeting: std::sync::Mutex<usize>,
    met: std::sync::Condvar,
    released: tokio::sync::Notify,
    notes: AtomicUsize,
}

impl Desk for Servant {
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a.wrapping_add(b))
    }

    async fn echo(&self, what: zorb::OctetsRef<'_>) -> Result<Bytes, SystemException> {
        Ok(what.keep())
    }

    async fn meet(&self, expected: i32) -> Result<(), SystemException> {
        // Blocks its thread, as a servant here may.
        let mut here = self.meeting.lock().unwrap();
        *here += 1;
        self.met.notify_all();
        while *here < expected as usize {
            here = self.met.wait(here).unwrap();
        }
        Ok(())
    }

    async fn wait_for_release(&self) -> Result<(), SystemException> {
        self.released.notified().await;
        Ok(())
    }

    async fn release(&self) -> Result<(), SystemException> {
        self.released.notify_one();
        Ok(())
    }

    async fn add_there(
        &self,
        there: Option<DeskRef>,
        a: i32,
        b: i32,
    ) -> Result<i32, SystemException> {
        there.expect("a desk").add(a, b).wait()
    }

    async fn add_further(
        &self,
        there: Option<DeskRef>,
        a: i32,
        b: i32,
    ) -> Result<i32, SystemException> {
        there.expect("a desk").add(a, b).await
    }

    async fn note(&self) -> Result<(), SystemException> {
        self.notes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn note_there(&self, there: Option<DeskRef>) -> Result<(), SystemException> {
        there.expect("a desk").add(1, 1).wait()?;
        self.note().await
    }

    async fn noted(&self) -> Result<i32, SystemException> {
        Ok(self.notes.load(Ordering::Relaxed) as i32)
    }
}

const POLICIES: [WaitPolicy; 2] = [WaitPolicy::Park, WaitPolicy::Adaptive];

fn serving(policy: WaitPolicy) -> (Orb, DeskRef) {
    let orb = zorb::Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .wait_policy(policy)
        .build_blocking()
        .unwrap();
    let poa = orb.root_poa();
    let desk = poa.activate(DeskServant::new(Servant::default())).unwrap();
    poa.the_poa_manager().activate().unwrap();
    (orb, desk)
}

fn calling(policy: WaitPolicy, server: &Orb, desk: &DeskRef) -> (Orb, DeskRef) {
    let orb = zorb::Orb::builder()
        .wait_policy(policy)
        .build_blocking()
        .unwrap();
    let there = seen_from(&orb, server, desk);
    (orb, there)
}

fn seen_from(orb: &Orb, server: &Orb, desk: &DeskRef) -> DeskRef {
    let reference = server.object_to_string(desk);
    orb.string_to_object(&reference).unwrap().unchecked_narrow()
}

/// Runs a test on a thread, so that a hang is a failure.
fn in_time(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let test = std::thread::spawn(move || {
        test();
        done.send(()).unwrap();
    });
    if is_done.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("no caller is left waiting");
    }
    test.join().unwrap();
}

#[test]
fn calls_block_until_their_results_are_here() {
    in_time(|| {
        for policy in POLICIES {
            let (server, desk) = serving(policy);
            let (client, there) = calling(policy, &server, &desk);
            let narrowed = there.as_object().narrow::<DeskRef>().wait().unwrap();
            let there = narrowed.expect("a desk");
            for n in 0..500 {
                assert_eq!(there.add(n, 1).wait().unwrap(), n + 1);
            }
            let large = vec![7; 3 << 20];
            assert_eq!(there.echo(&large).wait().unwrap(), large);
            for _ in 0..100 {
                there.note().wait().unwrap();
            }
            assert_eq!(there.noted().wait().unwrap(), 100);
            client.shutdown(true).unwrap();
            server.shutdown(true).unwrap();
            let error = there.add(1, 1).wait().unwrap_err();
            assert_eq!(error.kind, Kind::BadInvOrder);
        }
    });
}

#[test]
fn threads_share_a_connection_and_pass_the_lead_on() {
    in_time(|| {
        for policy in POLICIES {
            let (server, desk) = serving(policy);
            let (_client, there) = calling(policy, &server, &desk);
            let start = Barrier::new(4);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (there, start) = (there.clone(), &start);
                    scope.spawn(move || {
                        start.wait();
                        for n in 0..1_000 {
                            assert_eq!(there.add(n, thread).wait().unwrap(), n + thread);
                            if n % 100 == thread {
                                let octets = vec![thread as u8; 1 << 16];
                                assert_eq!(there.echo(&octets).wait().unwrap(), octets);
                            }
                        }
                    });
                }
            });
            server.shutdown(true).unwrap();
        }
    });
}

#[test]
fn who_waits_long_does_not_keep_the_others_on_its_connection() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let (_client, there) = calling(WaitPolicy::Park, &server, &desk);
        std::thread::scope(|scope| {
            let long = there.clone();
            let waits = scope.spawn(move || long.wait_for_release().wait());
            for n in 0..200 {
                assert_eq!(there.add(n, 1).wait().unwrap(), n + 1);
            }
            there.release().wait().unwrap();
            waits.join().unwrap().unwrap();
        });
        server.shutdown(true).unwrap();
    });
}

#[test]
fn servants_that_block_stop_only_their_connection() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // An ORB each, so a connection each.
                    let (_client, there) = calling(WaitPolicy::Park, &server, &desk);
                    there.meet(4).wait().unwrap();
                });
            }
        });
        server.shutdown(true).unwrap();
    });
}

#[test]
fn a_servant_may_call_and_block() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let (other, further) = serving(WaitPolicy::Park);
        let (_client, there) = calling(WaitPolicy::Park, &server, &desk);
        let further = {
            let text = other.object_to_string(&further);
            let object = there.as_object().orb().string_to_object(&text).wait();
            object.unwrap().unchecked_narrow::<DeskRef>()
        };
        for n in 0..50 {
            assert_eq!(there.add_there(&further, n, 2).wait().unwrap(), n + 2);
        }
        server.shutdown(true).unwrap();
        other.shutdown(true).unwrap();
    });
}

#[test]
fn a_time_limit_ends_a_call_that_blocks() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let (_client, there) = calling(WaitPolicy::Park, &server, &desk);
        // The connection is there from now on: who has to make it first may have sent nothing when its time is over.
        assert_eq!(there.add(1, 1).wait().unwrap(), 2);
        let hasty = there.with_round_trip_timeout(Duration::from_millis(5));
        std::thread::scope(|scope| {
            // Alone, then beside one that goes on waiting.
            let first = hasty.wait_for_release().wait().unwrap_err();
            assert_eq!(
                (first.kind, first.completed),
                (Kind::Timeout, CompletionStatus::Maybe)
            );
            there.release().wait().unwrap();
            let patient = there.clone();
            let waits = scope.spawn(move || patient.wait_for_release().wait());
            for n in 0..20 {
                assert_eq!(
                    hasty.wait_for_release().wait().unwrap_err().kind,
                    Kind::Timeout
                );
                assert_eq!(there.add(n, 1).wait().unwrap(), n + 1);
            }
            for _ in 0..22 {
                there.release().wait().unwrap();
            }
            while !waits.is_finished() {
                there.release().wait().unwrap();
            }
            waits.join().unwrap().unwrap();
        });
        server.shutdown(true).unwrap();
    });
}

#[test]
fn blocking_callers_and_tasks_share_a_connection() {
    in_time(|| {
        for policy in POLICIES {
            let (server, desk) = serving(policy);
            let (client, there) = calling(policy, &server, &desk);
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let task = {
                    let there = there.clone();
                    // Where its reactor is that of the connection.
                    let _home = client.lane().handle().enter();
                    spawn(async move {
                        for n in 0..500 {
                            assert_eq!(there.add(n, 2).await.unwrap(), n + 2);
                        }
                    })
                };
                scope.spawn(|| {
                    let mut n = 0;
                    while !done.load(Ordering::Relaxed) {
                        assert_eq!(there.add(n, 1).wait().unwrap(), n + 1);
                        n = (n + 1) % 1_000;
                    }
                });
                let result = task.wait();
                done.store(true, Ordering::Relaxed);
                result.unwrap();
            });
            server.shutdown(true).unwrap();
        }
    });
}

#[test]
fn a_server_that_goes_is_noticed_by_a_thread_that_waits() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let (_client, there) = calling(WaitPolicy::Park, &server, &desk);
        there.add(1, 1).wait().unwrap();
        server.shutdown(true).unwrap();
        let error = there.add(1, 1).wait().unwrap_err();
        assert_eq!(
            (error.kind, error.completed),
            (Kind::Transient, CompletionStatus::No)
        );
    });
}

/// Reads one request, and says its id.
fn read_request(from: &mut TcpStream) -> u32 {
    let mut header = [0; 12];
    from.read_exact(&mut header).unwrap();
    let number = |octets: &[u8]| {
        let octets = octets.try_into().unwrap();
        match header[6] & 1 {
            0 => u32::from_be_bytes(octets),
            _ => u32::from_le_bytes(octets),
        }
    };
    let mut body = vec![0; number(&header[8..]) as usize];
    from.read_exact(&mut body).unwrap();
    number(&body[..4])
}

/// A reply in GIOP 1.2 that says `result`, or nothing.
fn reply(id: u32, result: Option<i32>) -> Vec<u8> {
    let mut octets = b"GIOP\x01\x02\x00\x01".to_vec();
    octets.extend((12 + 4 * u32::from(result.is_some())).to_be_bytes());
    for word in [id, 0, 0] {
        octets.extend(word.to_be_bytes());
    }
    octets.extend(result.into_iter().flat_map(i32::to_be_bytes));
    octets
}

#[test]
fn a_reply_behind_very_many_others_is_found() {
    in_time(|| {
        for policy in POLICIES {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = std::thread::spawn(move || {
                let (mut peer, _) = listener.accept().unwrap();
                for result in 0..20 {
                    let id = read_request(&mut peer);
                    // Without a caller, as late replies are.
                    let mut octets = reply(u32::MAX, None).repeat(600);
                    octets.extend(reply(id, Some(result)));
                    peer.write_all(&octets).unwrap();
                }
                // Until the client is gone.
                let _ = peer.read(&mut [0]);
            });
            let orb = zorb::Orb::builder()
                .wait_policy(policy)
                .build_blocking()
                .unwrap();
            let desk = orb
                .string_to_object(&format!("corbaloc:iiop:1.2@{address}/Desk"))
                .unwrap()
                .unchecked_narrow::<DeskRef>();
            for result in 0..20 {
                assert_eq!(desk.add(1, 1).wait().unwrap(), result);
            }
            orb.shutdown(true).unwrap();
            server.join().unwrap();
        }
    });
}

#[test]
fn a_servant_of_the_own_orb_is_woken_by_the_leader() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let (here, near) = serving(WaitPolicy::Park);
        let far = seen_from(&here, &server, &desk);
        std::thread::scope(|scope| {
            let leads = scope.spawn(|| far.wait_for_release().wait());
            std::thread::sleep(Duration::from_millis(100));
            for n in 0..10 {
                let sum = near.add_further(&far, n, 2).wait().unwrap();
                assert_eq!(sum, n + 2);
            }
            far.release().wait().unwrap();
            leads.join().unwrap().unwrap();
        });
        here.shutdown(true).unwrap();
        server.shutdown(true).unwrap();
    });
}

#[test]
fn servants_of_the_own_orb_may_block_in_one_way_calls() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let (here, near) = serving(WaitPolicy::Park);
        let far = seen_from(&here, &server, &desk);
        near.note_there(&far).wait().unwrap();
        while near.noted().wait().unwrap() == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(far.add(1, 1).wait().unwrap(), 2);
        here.shutdown(true).unwrap();
        server.shutdown(true).unwrap();
    });
}

#[test]
fn servants_whose_requests_were_held_may_block() {
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let poa = server.root_poa();
        let manager = poa.the_poa_manager();
        manager.hold_requests().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let (_client, there) = calling(WaitPolicy::Park, &server, &desk);
                    there.meet(2).wait().unwrap();
                });
            }
            std::thread::sleep(Duration::from_millis(200));
            manager.activate().unwrap();
        });
        server.shutdown(true).unwrap();
    });
}

fn serving_no_idlers() -> (Orb, DeskRef, TcpStream) {
    let orb = zorb::Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .idle_timeout(Duration::from_millis(300))
        .build_blocking()
        .unwrap();
    let poa = orb.root_poa();
    let desk = poa.activate(DeskServant::new(Servant::default())).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let port = orb.endpoints()[0].port().unwrap();
    let peer = TcpStream::connect(("127.0.0.1", port)).unwrap();
    (orb, desk, peer)
}

#[test]
fn a_client_that_drips_octets_is_idle_in_the_end() {
    in_time(|| {
        let (orb, _, mut peer) = serving_no_idlers();
        let limit = Some(Duration::from_millis(50));
        peer.set_read_timeout(limit).unwrap();
        let begun = Instant::now();
        let mut octets = b"GIOP\x01\x02\x00\x00\x00\x00\xff\xff".iter();
        loop {
            // A message that never ends.
            let octet = *octets.next().unwrap_or(&0);
            if peer.write_all(&[octet]).is_err() || peer.read(&mut [0; 64]).is_ok() {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "still served");
        }
        orb.shutdown(true).unwrap();
    });
}

#[test]
fn a_client_that_reads_no_replies_is_idle_in_the_end() {
    in_time(|| {
        let (orb, desk, mut peer) = serving_no_idlers();
        let profile = &desk.as_object().ior().profiles[0];
        let key = profile.object_key().unwrap();
        let mut body = Vec::new();
        let number = |body: &mut Vec<u8>, number: usize| {
            body.resize(body.len().next_multiple_of(4), 0);
            body.extend((number as u32).to_be_bytes());
        };
        number(&mut body, 1);
        body.extend([3, 0, 0, 0]);
        number(&mut body, 0);
        number(&mut body, key.len());
        body.extend(&key[..]);
        number(&mut body, 5);
        body.extend(b"echo\0");
        number(&mut body, 0);
        // With the header before it, a multiple of 8.
        body.resize((body.len() + 12).next_multiple_of(8) - 12, 0);
        number(&mut body, 1 << 20);
        body.resize(body.len() + (1 << 20), 7);
        let mut request = b"GIOP\x01\x02\x00\x00".to_vec();
        number(&mut request, body.len());
        request.extend(body);
        let limit = Some(Duration::from_millis(500));
        peer.set_write_timeout(limit).unwrap();
        for _ in 0..32 {
            if peer.write_all(&request).is_err() {
                break;
            }
        }
        let begun = Instant::now();
        while orb.connections_served() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "still served");
            std::thread::sleep(Duration::from_millis(50));
        }
        orb.shutdown(true).unwrap();
    });
}

#[test]
fn a_task_may_wait_again_and_again_in_one_poll() {
    // A task has a budget of operations of tokio's, 128 at a poll, which is not refilled while it blocks.
    in_time(|| {
        let (server, desk) = serving(WaitPolicy::Park);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let reference = server.object_to_string(&desk);
        let calls = async move {
            let orb = zorb::Orb::builder().build().await.unwrap();
            let there = orb.string_to_object(&reference).await.unwrap();
            let there: DeskRef = there.unchecked_narrow();
            let limited = there.with_round_trip_timeout(Duration::from_secs(60));
            // Connecting needs a worker that no caller blocks.
            assert_eq!(limited.add(1, 1).await.unwrap(), 2);
            assert_eq!(there.noted().await.unwrap(), 0);
            for n in 0..200 {
                there.note().wait().unwrap();
                assert_eq!(limited.add(n, 1).wait().unwrap(), n + 1);
            }
            there.noted().wait().unwrap()
        };
        let (done, noted) = mpsc::channel();
        runtime.spawn(async move { done.send(calls.await) });
        let noted = noted.recv_timeout(Duration::from_secs(60));
        runtime.shutdown_background();
        assert_eq!(noted, Ok(200));
    });
}
