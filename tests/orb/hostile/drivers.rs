//! The questions that a server asks about a connection while it waits: the answers are the same whether a task drives the
//! connection or a thread.

use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Call, Raw};
use std::time::Duration;
use tokio::net::TcpStream;
use zorb::{Builder, Bytes, Orb, blocking};
use zorb_giop::MessageKind;

const IDLE: Duration = Duration::from_millis(50);

/// A server whose connections are driven by tasks, or by threads.
struct Server {
    world: World,
    /// The server with threads.
    threads: Option<blocking::Orb>,
    port: u16,
    key: Bytes,
}

impl Server {
    async fn start(has_threads: bool, configure: fn(Builder) -> Builder) -> Self {
        if has_threads {
            let world = World::start().await;
            let (orb, profile) = world.on_threads(configure).await;
            return Self {
                threads: Some(orb),
                port: profile.address.port,
                key: profile.object_key,
                world,
            };
        }
        let world = World::start_with(configure).await;
        Self {
            threads: None,
            port: world.port(),
            key: world.key(),
            world,
        }
    }

    async fn connect(&self) -> Raw {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await;
        Raw::new(stream.unwrap())
    }

    /// A connection on which a request has been answered.
    async fn used(&self) -> Raw {
        let mut raw = self.connect().await;
        raw.send(&self.twice(2)).await;
        assert_eq!(raw.receive_reply(2).await, Ok(8));
        raw
    }

    /// A connection with a request, of id 4, whose upcall goes on.
    async fn pending(&mut self) -> Raw {
        let mut raw = self.used().await;
        raw.send(&Call::new(&self.key, "wait").id(4).empty()).await;
        self.world.entered().await;
        raw
    }

    fn twice(&self, id: u32) -> Vec<u8> {
        Call::new(&self.key, "twice").id(id).with(|e| e.put(&4_i32))
    }

    async fn shut_down(threads: Option<blocking::Orb>, server: Orb) {
        match threads {
            Some(orb) => {
                let ended = tokio::task::spawn_blocking(move || orb.shutdown(true));
                within(ended).await.unwrap().unwrap();
            }
            None => within(server.shutdown(true)).await.unwrap(),
        }
    }
}

/// The server sends CloseConnection, and nothing else, and closes.
async fn is_closed(raw: &mut Raw) {
    let message = raw.receive().await.expect("CloseConnection before the end");
    assert_eq!(message.header.kind, MessageKind::CloseConnection);
    assert!(raw.receive().await.is_none());
}

async fn check_idle(has_threads: bool) {
    let mut server = Server::start(has_threads, |b| b.idle_timeout(IDLE)).await;
    let mut pending = server.pending().await;
    // Those opened later, on which nothing is pending, are closed.
    let (mut used, mut silent) = (server.used().await, server.connect().await);
    is_closed(&mut used).await;
    is_closed(&mut silent).await;
    server.world.let_go().await;
    assert_eq!(pending.receive_reply(4).await, Ok(()));
    // Once nothing is pending, it is idle as well.
    is_closed(&mut pending).await;
    Server::shut_down(server.threads, server.world.server.clone()).await;
}

#[tokio::test]
async fn a_task_and_a_thread_close_a_connection_as_idle_when_nothing_is_pending() {
    for has_threads in [false, true] {
        check_idle(has_threads).await;
    }
}

async fn check_stopping(has_threads: bool) {
    let mut server = Server::start(has_threads, |b| b).await;
    let mut pending = server.pending().await;
    let (mut used, mut silent) = (server.used().await, server.connect().await);
    server.world.serves().await;
    let (threads, orb) = (server.threads.take(), server.world.server.clone());
    let stopping = tokio::spawn(Server::shut_down(threads, orb));
    is_closed(&mut used).await;
    is_closed(&mut silent).await;
    // It is not read any more, and the upcall goes on.
    pending.send(&server.twice(6)).await;
    server.world.let_go().await;
    assert_eq!(pending.receive_reply(4).await, Ok(()));
    is_closed(&mut pending).await;
    within(stopping).await.unwrap();
}

#[tokio::test]
async fn a_task_and_a_thread_read_no_further_request_when_the_orb_stops_and_answer_those_before() {
    for has_threads in [false, true] {
        check_stopping(has_threads).await;
    }
}
