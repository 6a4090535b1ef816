//! Waiting for replies: calls spin before they park, and read for themselves and for others. No other caller is left
//! waiting when one is dropped, or not polled any more.

use crate::savings::spawn;
use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use zorb::executor::Lane;
use zorb::{Bytes, Interface, ObjectRef, Orb, SystemException, WaitPolicy};

zorb::idl! {
    module Waits {
        typedef sequence<octet> Octets;
        interface Echo {
            long add(in long a, in long b);
            Octets fill(in unsigned long length);
            oneway void note(in Octets content);
            long noted();
            void nothing();
            /// Answers when another call releases it.
            void late();
            void go_on();
        };
    };
}

use waits::{Echo, EchoRef, EchoServant};

const POLICIES: [WaitPolicy; 3] = [
    WaitPolicy::Park,
    WaitPolicy::Adaptive,
    WaitPolicy::Spin(Duration::from_micros(200)),
];

/// Calls in a row after which a connection that can be tried for is tried for, and the reactor
/// looks away from it.
const WARM: i32 = 200;

#[derive(Default)]
struct Servant {
    notes: AtomicUsize,
    goes_on: Notify,
}

impl Echo for Servant {
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        // Now and then an answer takes its time.
        if b % 7 == 3 {
            tokio::task::yield_now().await;
        }
        Ok(a.wrapping_add(b))
    }

    async fn fill(&self, octets: u32) -> Result<Bytes, SystemException> {
        Ok(vec![7; octets as usize].into())
    }

    async fn note(&self, _: zorb::OctetsRef<'_>) -> Result<(), SystemException> {
        self.notes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn noted(&self) -> Result<i32, SystemException> {
        Ok(self.notes.load(Ordering::Relaxed) as i32)
    }

    async fn nothing(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn late(&self) -> Result<(), SystemException> {
        self.goes_on.notified().await;
        Ok(())
    }

    async fn go_on(&self) -> Result<(), SystemException> {
        self.goes_on.notify_one();
        Ok(())
    }
}

/// A server on a lane of its own, and a client here.
async fn pair(policy: WaitPolicy) -> (Orb, Orb, EchoRef) {
    let lane = Lane::dedicated("server").unwrap().with_wait(policy);
    let server = Orb::builder()
        .lane(lane)
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let echo: EchoRef = poa.activate(EchoServant::new(Servant::default())).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let client = Orb::builder().wait_policy(policy).build().await.unwrap();
    let there = client
        .string_to_object(&server.object_to_string(&echo))
        .await
        .unwrap();
    (server, client, there.unchecked_narrow())
}

/// A clock that turns a hang into a failure.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no caller is left waiting")
}

async fn warm_up(echo: &EchoRef) {
    for n in 0..WARM {
        assert_eq!(in_time(echo.add(n, 0)).await.unwrap(), n);
    }
}

fn poll_once<F: Future>(call: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    call.poll(&mut Context::from_waker(Waker::noop()))
}

/// The result of a call that has been polled once.
async fn rest_of<F: Future>(polled: Poll<F::Output>, call: std::pin::Pin<&mut F>) -> F::Output {
    match polled {
        Poll::Ready(output) => output,
        Poll::Pending => in_time(call).await,
    }
}

async fn callers_that_come_and_go(policy: WaitPolicy) {
    let (server, client, echo) = pair(policy).await;
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let echo = echo.clone();
            spawn(async move {
                for n in 0..400 {
                    // Alone for a while, then in a crowd, each dropped after another number of polls.
                    if (n + task) % 5 == 0 {
                        let mut call = pin!(echo.add(n, task));
                        let polls = n % 4;
                        poll_fn(|cx| {
                            for _ in 0..polls {
                                if call.as_mut().poll(cx).is_ready() {
                                    break;
                                }
                            }
                            Poll::Ready(())
                        })
                        .await;
                    } else {
                        let sum = in_time(echo.add(n, task)).await.unwrap();
                        assert_eq!(sum, n.wrapping_add(task));
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
        // The fewer are left, the more of them try.
        warm_up(&echo).await;
    }
    in_time(client.shutdown(true)).await.unwrap();
    in_time(server.shutdown(true)).await.unwrap();
}

#[test]
fn no_caller_is_left_waiting_when_callers_come_and_go() {
    for policy in POLICIES {
        let multi = tokio::runtime::Runtime::new().unwrap();
        multi.block_on(callers_that_come_and_go(policy));
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(callers_that_come_and_go(policy));
    }
}

#[tokio::test]
async fn a_caller_that_leads_and_is_not_polled_any_more_stops_no_other() {
    for policy in POLICIES {
        let (_server, _client, echo) = pair(policy).await;
        warm_up(&echo).await;
        for n in 0..100 {
            let mut first = pin!(echo.add(n, 3));
            let polled = poll_once(first.as_mut());
            assert_eq!(in_time(echo.add(n, 1)).await.unwrap(), n + 1);
            assert_eq!(rest_of(polled, first).await.unwrap(), n + 3);
        }
    }
}

#[tokio::test]
async fn a_reply_that_its_caller_does_not_take_blocks_no_one_way_calls() {
    const OCTETS: u32 = 16 << 20;
    for policy in POLICIES {
        let (_server, _client, echo) = pair(policy).await;
        warm_up(&echo).await;
        // Longer than all buffers on the way, so the server stops reading until it is read.
        let mut large = pin!(echo.fill(OCTETS));
        let polled = poll_once(large.as_mut());
        for _ in 0..256 {
            in_time(echo.note(&[1; 64 << 10][..])).await.unwrap();
        }
        let content = rest_of(polled, large).await.unwrap();
        assert_eq!(content.len(), OCTETS as usize);
        assert_eq!(in_time(echo.noted()).await.unwrap(), 256);
    }
}

#[tokio::test]
async fn a_caller_dropped_in_the_middle_of_anothers_reply_leaves_it_whole() {
    const OCTETS: usize = 1 << 20;
    for policy in POLICIES {
        let (_server, _client, echo) = pair(policy).await;
        warm_up(&echo).await;
        for round in 0..6 {
            let mut large = pin!(echo.fill(OCTETS as u32));
            let polled = poll_once(large.as_mut());
            for n in 0..5 {
                // It reads for the other one too, as far as it gets.
                let mut dropped = pin!(echo.add(n, 3));
                let _ = poll_once(dropped.as_mut());
                if round % 2 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            let content = rest_of(polled, large).await.unwrap();
            assert!(content.len() == OCTETS && content.iter().all(|octet| *octet == 7));
            assert_eq!(in_time(echo.add(1, 1)).await.unwrap(), 2);
        }
    }
}

#[tokio::test]
async fn tasks_and_timers_run_while_another_task_calls_without_a_pause() {
    for policy in POLICIES {
        let (_server, _client, echo) = pair(policy).await;
        warm_up(&echo).await;
        let (rung, ran) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let timer = spawn({
            let (rung, ran) = (Arc::clone(&rung), Arc::clone(&ran));
            async move {
                ran.store(true, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
                rung.store(true, Ordering::Relaxed);
            }
        });
        in_time(async {
            while !(ran.load(Ordering::Relaxed) && rung.load(Ordering::Relaxed)) {
                echo.nothing().await.unwrap();
            }
        })
        .await;
        timer.await.unwrap();
    }
}

#[tokio::test]
async fn tasks_run_while_one_caller_tries_for_another_that_waits_long() {
    for policy in [
        WaitPolicy::Adaptive,
        WaitPolicy::Spin(Duration::from_millis(1)),
    ] {
        let (_server, _client, echo) = pair(policy).await;
        warm_up(&echo).await;
        let slow = spawn({
            let echo = echo.clone();
            async move { echo.late().await }
        });
        let turns = Arc::new(AtomicUsize::new(0));
        let other = spawn({
            let turns = Arc::clone(&turns);
            async move {
                loop {
                    turns.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            }
        });
        // The late call is out before.
        tokio::task::yield_now().await;
        let calls = 2_000;
        let before = turns.load(Ordering::Relaxed);
        for n in 0..calls {
            echo.add(n, 0).await.unwrap();
        }
        let turns = turns.load(Ordering::Relaxed) - before;
        other.abort();
        echo.go_on().await.unwrap();
        in_time(slow).await.unwrap().unwrap();
        // Once for each 32 tries at least, and for each that is in vain.
        assert!(turns >= calls as usize / 40, "{policy:?}: {turns} turns");
    }
}

/// Serves one connection by hand: answers every request with "done", so many times, then says that
/// nothing more will come and waits for the client to close.
fn served_by_hand(listener: &TcpListener, requests: usize) -> std::io::Result<usize> {
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    answer(&mut stream, requests)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.read(&mut [0; 64])
}

/// Answers so many requests.
fn answer(stream: &mut TcpStream, requests: usize) -> std::io::Result<()> {
    for _ in 0..requests {
        let id = request(stream)?;
        let mut reply = b"GIOP\x01\x02\x01\x01\x0c\0\0\0".to_vec();
        reply.extend_from_slice(&id);
        reply.extend_from_slice(&[0; 8]);
        stream.write_all(&reply)?;
    }
    Ok(())
}

/// The id of the next request, as it came.
fn request(stream: &mut TcpStream) -> std::io::Result<[u8; 4]> {
    let mut header = [0; 12];
    stream.read_exact(&mut header)?;
    let octets = u32::from_le_bytes(header[8..].try_into().unwrap());
    let mut body = vec![0; octets as usize];
    stream.read_exact(&mut body)?;
    Ok(body[..4].try_into().unwrap())
}

#[tokio::test]
async fn a_peer_that_closes_is_noticed_although_the_reactor_looks_away() {
    for policy in POLICIES {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("corbaloc:iiop:1.2@{}/Echo", listener.local_addr().unwrap());
        let client = Orb::builder().wait_policy(policy).build().await.unwrap();
        let echo: EchoRef = client
            .string_to_object(&url)
            .await
            .unwrap()
            .unchecked_narrow();
        let served = tokio::task::spawn_blocking(move || served_by_hand(&listener, WARM as usize));
        for _ in 0..WARM {
            in_time(echo.nothing()).await.unwrap();
        }
        // Without further calls our end is closed too.
        assert_eq!(in_time(served).await.unwrap().unwrap(), 0);
    }
}

#[tokio::test]
async fn a_reference_may_wait_otherwise_than_its_orb() {
    let (_server, _client, echo) = pair(WaitPolicy::Park).await;
    let spinning = echo.with_wait_policy(WaitPolicy::Spin(Duration::from_millis(1)));
    for n in 0..WARM {
        assert_eq!(in_time(spinning.add(n, 0)).await.unwrap(), n);
        assert_eq!(in_time(echo.add(n, 1)).await.unwrap(), n + 1);
    }
    assert_eq!(spinning, echo);
    let _: &ObjectRef = spinning.as_object();
}

/// Answers so many requests, reads another, and says nothing more until its end is let go.
fn falls_silent(listener: &TcpListener, requests: usize) -> std::io::Result<TcpStream> {
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    answer(&mut stream, requests)?;
    request(&mut stream)?;
    Ok(stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_comes_while_a_caller_tries_is_found_by_it() {
    for _ in 0..30 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("corbaloc:iiop:1.2@{}/Echo", listener.local_addr().unwrap());
        let silent = tokio::task::spawn_blocking(move || falls_silent(&listener, 8));
        // The longest there is, so that the end comes within it.
        let policy = WaitPolicy::Spin(WaitPolicy::LONGEST);
        let client = Orb::builder().wait_policy(policy).build().await.unwrap();
        let there = client.string_to_object(&url).await.unwrap();
        let echo: EchoRef = there.unchecked_narrow();
        for _ in 0..8 {
            in_time(echo.nothing()).await.unwrap();
        }
        let call = spawn(async move { echo.nothing().await });
        let _silent = in_time(silent).await.unwrap().unwrap();
        client.shutdown(false).await.unwrap();
        in_time(call).await.unwrap().unwrap_err();
    }
}

/// Calls from threads of their own, each on a connection of its own, until `more` says that it was enough.
fn crowd(
    reference: &str,
    more: impl Fn(i32) -> bool + Clone + Send + 'static,
) -> Vec<std::thread::JoinHandle<Result<i32, SystemException>>> {
    (0..4)
        .map(|caller| {
            let (reference, more) = (reference.to_owned(), more.clone());
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let orb = Orb::builder().build().await.unwrap();
                    let there = orb.string_to_object(&reference).await?;
                    let echo: EchoRef = there.unchecked_narrow();
                    let mut calls = 0;
                    while more(calls) {
                        match (calls + caller) % 500 {
                            // More than goes into a socket at once, and an idle while behind it.
                            400 => {
                                let filled = in_time(echo.fill(4 << 20)).await?;
                                assert_eq!(filled.len(), 4 << 20);
                                tokio::time::sleep(Duration::from_millis(20)).await;
                            }
                            // Now and then a servant that is not ready at once.
                            200..210 => assert_eq!(in_time(echo.add(calls, 3)).await?, calls + 3),
                            _ => assert_eq!(in_time(echo.add(calls, 0)).await?, calls),
                        }
                        calls += 1;
                    }
                    Ok(calls)
                })
            })
        })
        .collect()
}

async fn server_for_a_crowd() -> (Orb, String) {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let echo: EchoRef = poa.activate(EchoServant::new(Servant::default())).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&echo);
    (server, reference)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_of_several_busy_connections_is_answered_however_they_are_read() {
    let (server, reference) = server_for_a_crowd().await;
    for caller in crowd(&reference, |calls| calls < 2_000) {
        let called = tokio::task::spawn_blocking(|| caller.join().unwrap());
        assert_eq!(in_time(called).await.unwrap().unwrap(), 2_000);
    }
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_ends_connections_that_are_busy_however_they_are_read() {
    let (server, reference) = server_for_a_crowd().await;
    let goes_on = Arc::new(Notify::new());
    let warm = {
        let goes_on = Arc::clone(&goes_on);
        move |calls| {
            if calls == 1_000 {
                goes_on.notify_one();
            }
            true
        }
    };
    let callers = crowd(&reference, warm);
    in_time(goes_on.notified()).await;
    in_time(server.shutdown(true)).await.unwrap();
    for caller in callers {
        let called = tokio::task::spawn_blocking(|| caller.join().unwrap());
        in_time(called).await.unwrap().unwrap_err();
    }
}
