//! The client's end of the service design: a reference with the way beside CORBA, where there is one.

use crate::raw::{Outcome, RawConnection};
use crate::{AgentRef, ECHO_STRING, EchoRef, platform};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use zorb::{CompletionStatus, ObjectRef, SystemException};

/// How long an agent may take to answer.
const ASK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long an object that was not to be called natively is called by CORBA before the agent is asked again.
pub const ASK_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The way that calls of an object go.
#[derive(Debug)]
enum Way {
    /// Over a connection to the raw socket, kept between calls.
    Native(RawConnection),
    /// By CORBA until the agent is to be asked again.
    Corba(Instant),
}

/// The calls of an object that go past CORBA, one at a time.
#[derive(Debug)]
pub struct Shortcut {
    object: ObjectRef,
    agent: AgentRef,
    platform: String,
    ask_again_after: Duration,
    way: Mutex<Option<Way>>,
}

impl Shortcut {
    /// The shortcut to an object that this agent may know. The agent is asked with the first call.
    #[must_use]
    pub fn new(object: ObjectRef, agent: AgentRef) -> Self {
        Self {
            object,
            agent,
            platform: platform(),
            ask_again_after: ASK_AGAIN_AFTER,
            way: Mutex::default(),
        }
    }

    /// Says that the client is something else.
    #[must_use]
    pub fn as_platform(self, platform: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            ..self
        }
    }

    /// Sets how long the object is called by CORBA before the agent is asked again.
    #[must_use]
    pub fn ask_again_after(self, time: Duration) -> Self {
        Self {
            ask_again_after: time,
            ..self
        }
    }

    /// Calls an operation natively. `None` if it was not begun, and is to be called by CORBA.
    ///
    /// If the future is dropped, the next call has a connection of its own.
    ///
    /// # Errors
    /// UNKNOWN if the operation fails; COMM_FAILURE, COMPLETED_MAYBE, if the connection broke behind the request, which is not sent
    /// again then.
    pub async fn call(
        &self,
        operation: u32,
        arguments: &[u8],
    ) -> Result<Option<Vec<u8>>, SystemException> {
        let mut way = self.way.lock().await;
        // A server that has ended since may have come back as something else, so the agent is asked once more.
        for _ in 0..2 {
            let mut connection = match way.take() {
                Some(Way::Corba(until)) if Instant::now() < until => {
                    *way = Some(Way::Corba(until));
                    return Ok(None);
                }
                Some(Way::Native(connection)) if !connection.is_over() => connection,
                _ => match self.find().await {
                    Some(connection) => connection,
                    None => break,
                },
            };
            match connection.call(operation, arguments).await {
                Outcome::Done(results) => {
                    *way = Some(Way::Native(connection));
                    return Ok(Some(results));
                }
                Outcome::Failed(why) => {
                    *way = Some(Way::Native(connection));
                    return Err(SystemException::unknown(why));
                }
                Outcome::NotBegun => {}
                Outcome::Lost(error) => {
                    let error = SystemException::comm_failure(error);
                    return Err(error.with_completed(CompletionStatus::Maybe));
                }
            }
        }
        *way = Some(Way::Corba(Instant::now() + self.ask_again_after));
        Ok(None)
    }

    /// Asks the agent, and connects. `None` if the agent or the server says no, or does not answer.
    async fn find(&self) -> Option<RawConnection> {
        let asked = self.agent.find(&self.object, &self.platform);
        let way = tokio::time::timeout(ASK_TIMEOUT, asked).await.ok()?.ok()?;
        RawConnection::connect(&way, &self.platform).await.ok()
    }

    /// Whether the last call went natively.
    pub async fn is_native(&self) -> bool {
        matches!(*self.way.lock().await, Some(Way::Native(_)))
    }
}

/// The application's stub with the shortcut before it.
#[derive(Debug)]
pub struct EchoByService {
    object: EchoRef,
    /// Where its calls go first.
    pub shortcut: Shortcut,
}

impl EchoByService {
    /// The object, by an agent.
    #[must_use]
    pub fn new(object: EchoRef, agent: AgentRef) -> Self {
        let shortcut = Shortcut::new((&object).into(), agent);
        Self { object, shortcut }
    }

    /// Calls `echoString`.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn echo_string(&self, text: &str) -> Result<String, SystemException> {
        match self.shortcut.call(ECHO_STRING, text.as_bytes()).await? {
            Some(results) => String::from_utf8(results).map_err(SystemException::data_conversion),
            None => self.object.echo_string(text).await,
        }
    }
}
