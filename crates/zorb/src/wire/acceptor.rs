//! Accepts connections at one endpoint.

use super::server::ServerConnection;
use super::trace;
use crate::orb::OrbInner;
use core::future::poll_fn;
use core::time::Duration;
use std::sync::{Arc, Weak};
use zorb_transport::{Endpoint, Listener};

/// How long to wait after an accept failed (out of descriptors, mostly): the listener would
/// report the same at once and for ever.
const BACK_OFF: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Acceptor {
    listener: Box<dyn Listener>,
}

impl Acceptor {
    pub(crate) fn new(listener: Box<dyn Listener>) -> Self {
        trace::listening(listener.endpoint());
        Self { listener }
    }

    /// Where it listens, with the real port.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.listener.endpoint()
    }

    /// Accepts until the ORB shuts down or is gone.
    pub(crate) async fn run(self, orb: Weak<OrbInner>, stop: tokio_util::sync::CancellationToken) {
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = poll_fn(|cx| self.listener.poll_accept(cx)) => accepted,
            };
            let Some(orb) = orb.upgrade() else { return };
            match accepted {
                Ok(stream) => {
                    let endpoint = self.listener.endpoint().clone();
                    match orb.admit_connection() {
                        Some(permit) => {
                            trace::accepted(&*stream);
                            let connection =
                                Arc::new(ServerConnection::new(stream, endpoint, &orb, permit));
                            if orb.settings().threads {
                                connection.serve_on_a_thread();
                            } else {
                                orb.track(connection.drive());
                            }
                        }
                        None => {
                            tracing::warn!(
                                peer = %stream.peer(),
                                limit = orb.max_connections(),
                                "connection refused: max_connections reached"
                            );
                            stream.close();
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(endpoint = %self.endpoint(), %error, "cannot accept");
                    drop(orb);
                    tokio::time::sleep(BACK_OFF).await;
                }
            }
        }
    }
}
