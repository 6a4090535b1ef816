//! Tests of a client connection and a server connection that are joined by one stream in memory.

use super::testing::*;
use super::{CallError, ClientConnection, ServerConnection, Serving};
use crate::ServerLimits;
use crate::blocking::block_on;
use std::sync::Arc;
use std::thread;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use zorb_executor::WaitPolicy;
use zorb_giop::{Fault, ResponseFlags, Version};

/// Both ends of a connection.
struct ConnectionPair {
    client: Arc<ClientConnection>,
    server: Arc<ServerConnection<TestOwner>>,
    owner: Arc<TestOwner>,
    serving: Arc<Serving<TestOwner>>,
}

impl ConnectionPair {
    /// Both ends with the same wait policy; `threads`: whether the server's end has a thread.
    fn new(wait: WaitPolicy, threads: bool, max_fragment: Option<usize>) -> Self {
        let (ours, theirs) = pair();
        let owner = TestOwner::with(|settings| {
            settings.wait = wait;
            settings.threads = threads;
            settings.max_fragment = max_fragment;
        });
        let serving = Arc::new(Serving::new(ServerLimits::new(1)));
        let server = owner.connection_over(Box::new(theirs), &serving);
        match threads {
            true => server.serve_on_thread(&serving),
            false => drop(tokio::spawn(Arc::clone(&server).drive(&serving))),
        }
        let mut settings = connect_settings();
        settings.connection.wait = wait;
        settings.connection.max_fragment = max_fragment;
        Self {
            client: client_with(ours, &settings),
            server,
            owner,
            serving,
        }
    }

    /// Ends both ends.
    async fn end(self) {
        self.client.shut_down();
        self.owner.stop();
        self.serving.wake_all();
        self.owner.ended().await;
    }
}

fn multi_thread() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

const WAITS: [WaitPolicy; 3] = [
    WaitPolicy::Park,
    WaitPolicy::Adaptive,
    WaitPolicy::Spin(WaitPolicy::SHARED),
];

/// Calls of several tasks, one after the other each, and one-way requests between them.
async fn calls_of_tasks(client: &Arc<ClientConnection>) {
    let callers: Vec<JoinHandle<()>> = (0..4u8)
        .map(|caller| {
            let client = Arc::clone(client);
            tokio::spawn(async move {
                for call in 0..50u8 {
                    let octets = usize::from(call) * usize::from(call);
                    let arguments = [vec![caller, call], vec![7; octets]].concat();
                    let result = TestCall::new("echo", &arguments).on(&client).await;
                    assert_eq!(result.unwrap(), arguments);
                    let log = TestCall {
                        response: ResponseFlags::None,
                        ..TestCall::new("log", b"")
                    };
                    log.one_way(&client, call % 2 == 0).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        in_time(caller).await.unwrap();
    }
}

#[test]
fn every_call_gets_its_reply_however_both_ends_wait() {
    let runtime = multi_thread();
    for wait in WAITS {
        for threads in [false, true] {
            for max_fragment in [None, Some(128)] {
                runtime.block_on(async {
                    let both = ConnectionPair::new(wait, threads, max_fragment);
                    let served = both.owner.served();
                    calls_of_tasks(&both.client).await;
                    in_time(TestCall::new("echo", b"").on(&both.client))
                        .await
                        .unwrap();
                    // The last one-way requests were sent before.
                    assert_eq!(served.try_iter().count(), 4 * 50 * 2 + 1);
                    both.end().await;
                });
            }
        }
    }
}

#[tokio::test]
async fn every_call_of_one_thread_gets_its_reply() {
    for wait in WAITS {
        let both = ConnectionPair::new(wait, false, None);
        calls_of_tasks(&both.client).await;
        assert!(both.client.is_over() == both.serving.is_empty());
    }
}

#[test]
fn every_blocked_call_gets_its_reply() {
    let runtime = multi_thread();
    for wait in WAITS {
        for threads in [false, true] {
            let both = runtime.block_on(async { ConnectionPair::new(wait, threads, None) });
            let callers: Vec<_> = (0..3u8)
                .map(|caller| {
                    let client = Arc::clone(&both.client);
                    thread::spawn(move || {
                        for call in 0..50 {
                            let arguments = [caller, call];
                            let call = TestCall::new("echo", &arguments);
                            assert_eq!(block_on(call.on(&client)).unwrap(), arguments);
                        }
                    })
                })
                .collect();
            runtime.block_on(calls_of_tasks(&both.client));
            callers
                .into_iter()
                .for_each(|caller| caller.join().unwrap());
            runtime.block_on(both.end());
        }
    }
}

#[tokio::test]
async fn calls_of_each_version_get_their_replies() {
    let both = ConnectionPair::new(WaitPolicy::Park, false, None);
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        for _ in 0..4 {
            let call = TestCall {
                version,
                ..TestCall::new("echo", b"arguments")
            };
            assert_eq!(in_time(call.on(&both.client)).await.unwrap(), b"arguments");
        }
    }
}

#[tokio::test]
async fn a_call_dropped_by_its_caller_is_cancelled_at_the_server() {
    let both = ConnectionPair::new(WaitPolicy::Park, false, None);
    let held = spawn_call(&both.client, "hold", b"");
    let_all_run().await;
    held.abort();
    let_all_run().await;
    assert!(both.owner.held.lock().unwrap()[0].0.is_cancelled());
    assert!(both.owner.let_go() && both.server.has_no_pending());
    assert_eq!(
        in_time(TestCall::new("echo", b"1").on(&both.client))
            .await
            .unwrap(),
        b"1"
    );
}

#[tokio::test]
async fn a_call_in_flight_is_answered_by_a_server_that_stops_and_a_later_one_is_not_sent() {
    let both = ConnectionPair::new(WaitPolicy::Park, false, None);
    let held = spawn_call(&both.client, "hold", b"held");
    let_all_run().await;
    both.owner.stop();
    both.serving.wake_all();
    let_all_run().await;
    let unread = spawn_call(&both.client, "echo", b"");
    let_all_run().await;
    assert!(both.owner.let_go());
    assert_eq!(in_time(held).await.unwrap().unwrap(), b"held");
    // CloseConnection guarantees that the server has not processed the request.
    for call in [unread, spawn_call(&both.client, "echo", b"")] {
        let error = in_time(call).await.unwrap().unwrap_err();
        assert!(matches!(
            error,
            CallError::NotSent(Fault::ConnectionClosed { .. })
        ));
    }
    let serving = Arc::clone(&both.serving);
    both.end().await;
    in_time(async {
        while !serving.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_panic_of_the_server_s_driver_ends_the_calls_in_flight() {
    let both = ConnectionPair::new(WaitPolicy::Park, false, None);
    let call = spawn_call(&both.client, "panic", b"");
    let_all_run().await;
    drop(both.server);
    let error = in_time(call).await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        CallError::Lost(Fault::ConnectionLost { .. })
    ));
    assert!(both.serving.is_empty());
}
