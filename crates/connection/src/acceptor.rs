//! Accepts connections at one endpoint.

use super::owner::Owner;
use super::server::{ServerConnection, Serving};
use super::trace;
use core::future::poll_fn;
use core::time::Duration;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;
use zorb_transport::{Endpoint, Listener};

/// How long to wait after an accept failed (out of descriptors, mostly): the listener would report the same at once and
/// for ever.
const BACK_OFF: Duration = Duration::from_millis(50);

/// A listener whose connections are served.
#[derive(Debug)]
pub struct Acceptor {
    listener: Box<dyn Listener>,
}

impl Acceptor {
    /// Takes over a listener.
    #[must_use]
    pub fn new(listener: Box<dyn Listener>) -> Self {
        trace::listening(listener.endpoint());
        Self { listener }
    }

    /// Where it listens, with the real port.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.listener.endpoint()
    }

    /// Accepts and serves connections until `stop`, or until the owner is gone. `limit` is reported where connections are
    /// refused.
    ///
    /// # Cancel safety
    /// Safe: connections that were accepted are served on.
    pub async fn run<O: Owner>(
        self,
        owner: Weak<O>,
        serving: Arc<Serving<O>>,
        limit: usize,
        stop: CancellationToken,
    ) {
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = poll_fn(|cx| self.listener.poll_accept(cx)) => accepted,
            };
            let Some(owner) = owner.upgrade() else { return };
            match accepted {
                Ok(stream) => match serving.admit() {
                    Some(permit) => {
                        trace::accepted(&*stream);
                        let endpoint = self.listener.endpoint().clone();
                        let connection = ServerConnection::new(stream, endpoint, &owner, permit);
                        let connection = Arc::new(connection);
                        match owner.settings().threads {
                            true => connection.serve_on_thread(&serving),
                            false => owner.track(connection.drive(&serving)),
                        }
                    }
                    None => {
                        tracing::warn!(
                            peer = %stream.peer(),
                            limit,
                            "connection refused: max_connections reached"
                        );
                        stream.close();
                    }
                },
                Err(error) => {
                    tracing::warn!(endpoint = %self.endpoint(), %error, "cannot accept");
                    drop(owner);
                    tokio::time::sleep(BACK_OFF).await;
                }
            }
        }
    }
}
