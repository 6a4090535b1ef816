//! Support for the tests of the crate: streams in memory, an owner without an ORB, and a peer that a test plays itself.

mod peer;
mod stream;
mod stub_owner;

pub(crate) use crate::mock::settings;
pub(crate) use peer::{Peer, fragments, located, reply, request, request_with};
pub(crate) use stream::{Stream, pair};
pub(crate) use stub_owner::{KEY, TestOwner, Wanted};

use crate::cache::ConnectionOrigin;
use crate::owner::PeerOrb;
use crate::spin::SpinLimits;
use crate::{
    Buffering, CallError, ClientConnection, ClientRequest, ConnectSettings, EncodeArguments,
    OneWayMode,
};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;
use zorb_cdr::{EncodeError, Encoder, NativeEndian};
use zorb_executor::WaitPolicy;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{ReplySlot, RequestTemplate, ResponseFlags, TargetAddress, Version};
use zorb_transport::Endpoint;

/// The time limit for events that happen at once unless they never happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The output of a future that is ready soon, or never.
pub(crate) async fn in_time<F: Future>(future: F) -> F::Output {
    let output = tokio::time::timeout(PATIENCE, future).await;
    output.expect("the future is ready in time")
}

/// Lets every task that is ready run.
pub(crate) async fn let_all_run() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn endpoint() -> Endpoint {
    "uiop:///nowhere".parse().expect("an endpoint")
}

pub(crate) fn connect_settings() -> ConnectSettings {
    ConnectSettings {
        connection: settings(),
        unresponsive: Default::default(),
        known_key: bytes::Bytes::from_static(KEY),
        times: Default::default(),
        code_sets: CodeSets::UNSTATED,
        needs_fragments: false,
        peer: PeerOrb::Other,
        transports: Default::default(),
        timeout: Duration::MAX,
        spin: SpinLimits {
            spin: WaitPolicy::SHARED,
            extended: WaitPolicy::SHARED,
        },
        busy: Arc::default(),
        origin: ConnectionOrigin::Opened,
    }
}

/// A client of a stream, which nothing drives.
pub(crate) fn undriven(stream: Stream, settings: &ConnectSettings) -> Arc<ClientConnection> {
    let client = ClientConnection::new(Box::new(stream), endpoint(), false, settings);
    Arc::new(client)
}

/// A client of a stream, with its driver in a task of the current runtime.
pub(crate) fn client_with(stream: Stream, settings: &ConnectSettings) -> Arc<ClientConnection> {
    let client = undriven(stream, settings);
    tokio::spawn(Arc::clone(&client).drive(
        settings.connection.idle_timeout,
        settings.connection.stall_timeout,
    ));
    client
}

/// A client with its driver, and the peer that the test plays.
pub(crate) fn client_and_peer() -> (Arc<ClientConnection>, Peer) {
    let (ours, theirs) = pair();
    (client_with(ours, &connect_settings()), Peer::new(theirs))
}

/// Octets as arguments.
pub(crate) struct Octets<'a>(pub(crate) &'a [u8]);

impl EncodeArguments for Octets<'_> {
    fn encode(&self, encoder: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        encoder.append(self.0);
        Ok(())
    }
}

/// A call of a test.
#[derive(Clone, Copy)]
pub(crate) struct TestCall<'a> {
    pub(crate) version: Version,
    pub(crate) operation: &'a str,
    pub(crate) arguments: &'a [u8],
    pub(crate) response: ResponseFlags,
}

impl<'a> TestCall<'a> {
    pub(crate) fn new(operation: &'a str, arguments: &'a [u8]) -> Self {
        Self {
            version: Version::V1_2,
            operation,
            arguments,
            response: ResponseFlags::WithTarget,
        }
    }

    /// Calls, and returns the octets of the result.
    pub(crate) async fn on(self, client: &ClientConnection) -> Result<Vec<u8>, CallError> {
        let mut slot = ReplySlot::new();
        self.send(client, Some(&mut slot), OneWayMode::AtOnce)
            .await?;
        let mut body = slot
            .decoder::<NativeEndian>(client.format(self.version))
            .expect("the reply has a body");
        let octets = body.remaining();
        Ok(body.take(octets).expect("they are there").to_vec())
    }

    /// Sends a one-way request.
    pub(crate) async fn one_way(
        self,
        client: &ClientConnection,
        batched: bool,
    ) -> Result<(), CallError> {
        let mode = match batched {
            true => OneWayMode::Batched,
            false => OneWayMode::AtOnce,
        };
        self.send(client, None, mode).await
    }

    /// Sends a one-way request that waits for others.
    pub(crate) async fn buffered(
        self,
        client: &ClientConnection,
        limits: Buffering,
    ) -> Result<(), CallError> {
        self.send(client, None, OneWayMode::Buffered(limits)).await
    }

    async fn send(
        self,
        client: &ClientConnection,
        slot: Option<&mut ReplySlot>,
        mode: OneWayMode,
    ) -> Result<(), CallError> {
        let key = TargetAddress::Key(KEY);
        let template = RequestTemplate::new(self.version, &key, KEY).expect("a short key");
        let (sent, octets) = (AtomicBool::new(false), AtomicUsize::new(0));
        let request = ClientRequest {
            template: &template,
            operation: self.operation,
            arguments: &Octets(self.arguments),
            contexts: &[],
            response: self.response,
            wait: None,
            sent: &sent,
            octets: &octets,
        };
        match slot {
            Some(slot) => client.call(&request, slot).await,
            None => client.send_one_way(&request, mode).await,
        }
    }
}

/// Calls on a task of its own.
pub(crate) fn spawn_call(
    client: &Arc<ClientConnection>,
    operation: &'static str,
    arguments: &[u8],
) -> tokio::task::JoinHandle<Result<Vec<u8>, CallError>> {
    let (client, arguments) = (Arc::clone(client), arguments.to_vec());
    tokio::spawn(async move { TestCall::new(operation, &arguments).on(&client).await })
}

/// Counts its wake-ups.
#[derive(Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}
