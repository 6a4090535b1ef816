//! The connection to NATS.

use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions};
use std::time::Duration;
use zorb_service::access::{self, Access, AccessError};

/// How long NATS may take to answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How often a server is asked whether it is there: one that is silent twice is left for another.
const PING: Duration = Duration::from_secs(2);
/// How often a connection is tried.
const RECONNECT: Duration = Duration::from_millis(250);
/// How often a bridge that starts looks whether NATS is there.
const RETRY: Duration = Duration::from_secs(1);
/// Replicas of a stream that is made, if so many servers are named.
const REPLICAS: usize = 3;

/// Why a connection to NATS cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The addresses are malformed. They are not shown: they may have a password.
    #[error("expected servers of NATS as HOST:PORT,HOST:PORT")]
    Servers,
    /// A server does not let the bridge in, or a file cannot be used.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The client cannot be made.
    #[error("no connection to NATS")]
    Connect(#[source] async_nats::ConnectError),
}

/// A stream of NATS JetStream. A clone is another handle of it.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) client: Client,
    pub(crate) context: jetstream::Context,
    pub(crate) stream: String,
    /// The bridge's name: that of its durable consumer, and in the header `Zorb-Bridge` of what it publishes.
    pub(crate) name: String,
}

impl Engine {
    /// The header with the name of the bridge that has published a message.
    pub const BRIDGE: &str = "Zorb-Bridge";

    /// Connects to servers, `HOST:PORT,HOST:PORT`, and makes a stream of these subjects if there is none of that name: with three
    /// replicas if three servers are named. Waits until NATS answers.
    ///
    /// # Errors
    /// The addresses are malformed; a server refuses the credentials, or TLS, or JetStream to them.
    ///
    /// # Cancel safety
    /// The stream may have been made.
    pub async fn connect(
        servers: &str,
        stream: &str,
        subjects: &[&str],
        name: &str,
        access: &Access,
    ) -> Result<Self, EngineError> {
        let addresses = access::servers(servers).ok_or(EngineError::Servers)?;
        let count = addresses.len();
        let mut urls = Vec::with_capacity(count);
        for address in addresses {
            access.ask_nats(&address, ANSWER_WITHIN, stream).await?;
            urls.push(format!("nats://{address}"));
        }
        let client = access
            .nats(ConnectOptions::new())?
            .name(name)
            .retry_on_initial_connect()
            .connection_timeout(ANSWER_WITHIN)
            .reconnect_delay_callback(|_| RECONNECT)
            .ping_interval(PING)
            .connect(urls)
            .await
            .map_err(EngineError::Connect)?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER_WITHIN);
        let mut has_warned = false;
        loop {
            let config = stream::Config {
                name: stream.to_owned(),
                subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
                num_replicas: if count < REPLICAS { 1 } else { REPLICAS },
                ..stream::Config::default()
            };
            match context.get_or_create_stream(config).await {
                Ok(_) => break,
                Err(error) if !has_warned => {
                    tracing::error!(servers, %error, "waits for NATS, which does not answer");
                    has_warned = true;
                }
                Err(_) => {}
            }
            tokio::time::sleep(RETRY).await;
        }
        Ok(Self {
            client,
            context,
            stream: stream.to_owned(),
            name: name.to_owned(),
        })
    }
}
