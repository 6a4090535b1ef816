//! A server's raw socket, and its place at the agent.

use crate::raw::{CLOSING, DONE, FAILED, MAX_LINE, NO, YES, line, read, write};
use crate::{AgentRef, Bypass, Failure, platform};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use zorb::{ObjectRef, SystemException};

/// The most connections of a raw socket. Further ones wait in the kernel's queue.
pub const MAX_CONNECTIONS: usize = 1_024;
/// How long a client may take to say who it is.
const LINE_TIMEOUT: Duration = Duration::from_secs(1);
/// The pause before an agent that was away, or full, is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// An object that is called by the number of its operation, with octets as they lie in memory.
pub trait RawServant: Send + Sync + 'static {
    /// Carries out an operation.
    ///
    /// # Errors
    /// Those of the operation.
    fn call(
        &self,
        operation: u32,
        arguments: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, SystemException>> + Send;
}

/// A raw socket that serves one object. Dropping it closes its connections, whatever is under way; [`stop`](Self::stop) does not.
#[derive(Debug)]
pub struct RawServer {
    way: Bypass,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    registered: Option<Registered>,
}

#[derive(Debug)]
struct Registered {
    agent: AgentRef,
    object: ObjectRef,
    task: JoinHandle<()>,
}

impl RawServer {
    /// Listens at an address, and says to clients that it is at `host`, or where it listens.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn start(
        servant: impl RawServant,
        address: &str,
        host: Option<&str>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        let endpoint = match host {
            Some(host) => format!("{host}:{}", bound.port()),
            None => bound.to_string(),
        };
        // The hasher of a map is the random number that the standard library has.
        let run = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), bound.port());
        let way = Bypass {
            endpoint,
            platform: platform(),
            run,
        };
        let (stop, stopped) = watch::channel(false);
        let expected = line(run, &way.platform);
        let serving = tokio::spawn(serve(listener, Arc::new(servant), expected, stopped));
        Ok(Self {
            way,
            stop,
            serving,
            registered: None,
        })
    }

    /// The way to the object.
    #[must_use]
    pub fn way(&self) -> &Bypass {
        &self.way
    }

    /// Registers the way at an agent, again and again. Returns when the agent has it; an agent that is away gets it later.
    pub async fn register(&mut self, agent: AgentRef, object: ObjectRef) {
        let pause = registered(&agent, &object, &self.way).await;
        let way = self.way.clone();
        let task = {
            let (agent, object) = (agent.clone(), object.clone());
            tokio::spawn(async move {
                let mut pause = pause;
                loop {
                    tokio::time::sleep(pause).await;
                    pause = registered(&agent, &object, &way).await;
                }
            })
        };
        self.registered = Some(Registered {
            agent,
            object,
            task,
        });
    }

    /// Withdraws from the agent, finishes the calls that were begun, and tells all clients that no other was.
    pub async fn stop(mut self) {
        if let Some(registered) = self.registered.take() {
            registered.task.abort();
            let withdrawn = registered
                .agent
                .withdraw(&registered.object, self.way.run)
                .await;
            // An agent that is away forgets by itself.
            drop(withdrawn);
        }
        self.stop.send_replace(true);
        // It ends with its last connection.
        let _ = (&mut self.serving).await;
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.serving.abort();
        if let Some(registered) = &self.registered {
            registered.task.abort();
        }
    }
}

/// Registers once; returns when to do it again.
async fn registered(agent: &AgentRef, object: &ObjectRef, way: &Bypass) -> Duration {
    match agent.register(object, way).await {
        Ok(lease) => Duration::from_millis(lease.into()) / 3,
        Err(_) => PAUSE,
    }
}

async fn serve(
    listener: TcpListener,
    servant: Arc<impl RawServant>,
    expected: String,
    mut stopped: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut ended = stopped.clone();
    let accepting = async {
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (servant, expected) = (Arc::clone(&servant), expected.clone());
                    let stopped = stopped.clone();
                    connections.spawn(async move {
                        // A client that goes, or says what it must not, ends its own connection alone.
                        let _ = converse(stream, &*servant, &expected, stopped).await;
                        drop(place);
                    });
                }
                // No descriptors: those of other connections come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
            while connections.try_join_next().is_some() {}
        }
    };
    tokio::select! {
        () = accepting => {}
        () = over(&mut ended) => {}
    }
    drop(listener);
    over(&mut stopped).await;
    while connections.join_next().await.is_some() {}
}

/// Waits until the server ends.
async fn over(stopped: &mut watch::Receiver<bool>) {
    // Its other end is dropped with the server.
    let _ = stopped.wait_for(|is_over| *is_over).await;
}

async fn converse(
    mut stream: TcpStream,
    servant: &impl RawServant,
    expected: &str,
    mut stopped: watch::Receiver<bool>,
) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let said = tokio::time::timeout(LINE_TIMEOUT, first_line(&mut stream)).await??;
    let is_meant = said == expected.as_bytes();
    stream.write_all(if is_meant { &YES } else { &NO }).await?;
    if is_meant && answer(&mut stream, servant, &mut stopped).await? {
        return Ok(());
    }
    // What the client has sent meanwhile is read, since a reset would take the last message from it.
    stream.shutdown().await?;
    let mut nowhere = tokio::io::sink();
    let drained = tokio::io::copy(&mut stream, &mut nowhere);
    tokio::time::timeout(LINE_TIMEOUT, drained).await??;
    Ok(())
}

/// Answers calls until the server ends, which the client is told, or the client has gone: whether it has.
async fn answer(
    stream: &mut TcpStream,
    servant: &impl RawServant,
    stopped: &mut watch::Receiver<bool>,
) -> Result<bool, Failure> {
    loop {
        let message = tokio::select! {
            biased;
            () = over(stopped) => {
                write(stream, CLOSING, &[]).await?;
                return Ok(false);
            }
            message = read(stream) => message?,
        };
        let Some((operation, arguments)) = message else {
            return Ok(true);
        };
        match servant.call(operation, &arguments).await {
            Ok(results) => write(stream, DONE, &results).await?,
            Err(error) => write(stream, FAILED, error.to_string().as_bytes()).await?,
        }
    }
}

/// What a client says, up to the end of its line. It says no more before it has the answer.
async fn first_line(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    let mut rest = stream.take(MAX_LINE);
    while said.last() != Some(&b'\n') && rest.read_buf(&mut said).await? > 0 {}
    Ok(said)
}
