//! Requests to the servers of NATS: atomic changes of a stream, and reads of it that no change acknowledged before is missing from.

use crate::store::{Access, OpenError, StoreError};
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, HeaderMap, Message, StatusCode};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use zorb::Bytes;

/// How long a server of NATS may take for a request, before the next one is asked.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a read may take before it is asked once more, and twice as long each time after: a server passes reads on to any
/// replica, also to one that was cut off, until it notices.
const READ_AGAIN: Duration = Duration::from_millis(50);
/// How long a request may take in all: the servers elect a new leader of a stream within 9 s after the old one was lost.
const PATIENCE: Duration = Duration::from_secs(15);
/// The pause before a request is tried again.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause before a server is asked again that has not yet applied what is to be read.
const CATCH_UP_PAUSE: Duration = Duration::from_millis(2);
/// How often a connection to a server that is away is tried.
const RECONNECT: Duration = Duration::from_millis(250);

/// Error codes of JetStream.
const WRONG_LAST_SEQUENCE: [u64; 2] = [10071, 10164];
const NOT_LEADER: u64 = 10009;
const STORE_FAILED: u64 = 10077;
const NO_ROOM: [u64; 2] = [10023, 10047];
const STREAM_NOT_FOUND: u64 = 10059;

type Cause = Arc<dyn core::error::Error + Send + Sync>;

fn cause(text: impl Into<String>) -> Cause {
    Arc::new(io::Error::other(text.into()))
}

/// How a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// A message is not the last of its subject that the change expects, or another change of the subject is under way.
    Conflict,
    /// There is no room for it.
    Full,
    /// It was surely not carried out.
    NotDone(Cause),
    /// It may have been carried out, or may be still.
    Unknown(Cause),
}

/// A message that a change stores: the last of its subject from then on.
#[derive(Clone, Debug)]
pub(super) struct Put {
    /// Its subject, behind the prefix of the stream.
    pub(super) subject: String,
    /// The sequence number of the message it replaces; 0 for none.
    pub(super) expected: Option<u64>,
    pub(super) value: Bytes,
    /// Whether the message says that there is none: it goes away by itself after this time.
    pub(super) deleted_for: Option<&'static str>,
}

/// A message of the stream.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) subject: String,
    pub(super) sequence: u64,
    pub(super) is_deleted: bool,
    pub(super) value: Bytes,
}

/// The result of a change that was tried until it was settled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Settled {
    /// It was made; its last message has this sequence number.
    Done(u64),
    /// It was refused, as its messages do not replace what it expects: possibly since an earlier try has made it.
    Conflict { may_be_done: bool },
}

/// The servers, each with a connection. All requests go to one, until it fails.
#[derive(Debug)]
pub(super) struct Servers {
    clients: Vec<Client>,
    current: AtomicUsize,
    /// Reads that were answered.
    reads: AtomicU64,
    batches: AtomicU64,
    pub(super) stream: String,
    /// What the subjects of the stream begin with.
    pub(super) prefix: String,
}

/// A stream in a cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) servers: Arc<Servers>,
    barriers: mpsc::UnboundedSender<oneshot::Sender<Result<u64, Cause>>>,
}

/// Headers of a message as a request gets it.
fn header(message: &Message, name: &str) -> Option<u64> {
    message.headers.as_ref()?.get(name)?.as_str().parse().ok()
}

impl Servers {
    /// Connects to the servers, as soon as each is there.
    pub(super) async fn new(
        addresses: &[String],
        bucket: &str,
        access: &Access,
        malformed: impl Fn() -> OpenError,
    ) -> Result<Self, OpenError> {
        let mut clients = Vec::new();
        let stream = format!("KV_{bucket}");
        for address in addresses {
            access.ask_nats(address, REQUEST_TIMEOUT, &stream).await?;
            let options = access
                .nats(ConnectOptions::new())?
                .name("zorb-named")
                .retry_on_initial_connect()
                .ignore_discovered_servers()
                .connection_timeout(REQUEST_TIMEOUT)
                .reconnect_delay_callback(|_| RECONNECT)
                .request_timeout(None);
            let client = options.connect(format!("nats://{address}")).await;
            clients.push(client.map_err(|_| malformed())?);
        }
        Ok(Self {
            clients,
            current: AtomicUsize::new(0),
            reads: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            stream,
            prefix: format!("$KV.{bucket}."),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    /// The server that requests go to, and its place.
    fn current(&self) -> (usize, &Client) {
        let at = self.current.load(Ordering::Relaxed);
        let index = at.checked_rem(self.clients.len()).unwrap_or(0);
        #[expect(
            clippy::indexing_slicing,
            reason = "less than the length, and there is one"
        )]
        (at, &self.clients[index])
    }

    /// Has requests go to the next server, unless others have moved on already.
    fn move_on(&self, from: usize) {
        let relaxed = Ordering::Relaxed;
        let _ = (self.current).compare_exchange(from, from.wrapping_add(1), relaxed, relaxed);
    }

    /// Makes a request to the current server, which answers with one message.
    async fn request(
        &self,
        subject: &str,
        headers: Option<HeaderMap>,
        body: Bytes,
    ) -> Result<Message, Failure> {
        let (at, client) = self.current();
        if client.connection_state() != State::Connected {
            self.move_on(at);
            return Err(Failure::NotDone(cause("no connection to a server of NATS")));
        }
        let subject = subject.to_owned();
        let answer = async {
            match headers {
                Some(headers) => client.request_with_headers(subject, headers, body).await,
                None => client.request(subject, body).await,
            }
        };
        match tokio::time::timeout(REQUEST_TIMEOUT, answer).await {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(error)) => {
                self.move_on(at);
                Err(match error.kind() {
                    // No server has a leader of the stream.
                    async_nats::RequestErrorKind::NoResponders => Failure::NotDone(Arc::new(error)),
                    _ => Failure::Unknown(Arc::new(error)),
                })
            }
            Err(_) => {
                self.move_on(at);
                Err(Failure::Unknown(cause("NATS does not answer in time")))
            }
        }
    }

    /// Makes a request to the interface of JetStream.
    async fn api(&self, operation: &str, body: &Value) -> Result<Value, Failure> {
        let subject = format!("$JS.API.{operation}");
        let answer = self.request(&subject, None, body.to_string().into());
        parse(&answer.await?.payload)
    }

    /// Makes a change, once. All its messages are stored, or none.
    async fn try_put(&self, puts: &[Put]) -> Result<u64, Failure> {
        let batch = self.batches.fetch_add(1, Ordering::Relaxed);
        // Two services have different inboxes.
        let batch = format!("{}-{batch}", self.current().1.new_inbox());
        let Some((last, before)) = puts.split_last() else {
            return Err(Failure::NotDone(cause("nothing to change")));
        };
        let headers = |put: &Put, number: usize, is_last: bool| {
            let mut headers = HeaderMap::new();
            if let Some(expected) = put.expected {
                let expected = expected.to_string();
                headers.insert("Nats-Expected-Last-Subject-Sequence", expected);
            }
            if let Some(time) = put.deleted_for {
                headers.insert("KV-Operation", "DEL");
                headers.insert("Nats-TTL", time);
            }
            if !before.is_empty() {
                headers.insert("Nats-Batch-Id", batch.as_str());
                headers.insert("Nats-Batch-Sequence", number.to_string());
                if is_last {
                    headers.insert("Nats-Batch-Commit", "1");
                }
            }
            headers
        };
        for (put, number) in before.iter().zip(1..) {
            let (at, client) = self.current();
            let subject = format!("{}{}", self.prefix, put.subject);
            let headers = headers(put, number, false);
            let sent = client.publish_with_headers(subject, headers, put.value.clone());
            if let Err(error) = sent.await {
                self.move_on(at);
                return Err(Failure::NotDone(Arc::new(error)));
            }
        }
        let subject = format!("{}{}", self.prefix, last.subject);
        let headers = headers(last, puts.len(), true);
        let answer = self.request(&subject, Some(headers), last.value.clone());
        let answer = parse(&answer.await?.payload)?;
        let sequence = answer["seq"].as_u64();
        sequence.ok_or_else(|| Failure::Unknown(cause(answer.to_string())))
    }

    /// Asks a server for messages of the stream. The last message of the answer ends it, without a row.
    async fn try_get(&self, query: &Value) -> Result<(Vec<Row>, Message), Failure> {
        let (at, client) = self.current();
        if client.connection_state() != State::Connected {
            self.move_on(at);
            return Err(Failure::NotDone(cause("no connection to a server of NATS")));
        }
        let query = Bytes::from(query.to_string());
        let answer = async {
            let mut tries = FuturesUnordered::new();
            let mut patience = READ_AGAIN;
            loop {
                tries.push(self.get_once(client, query.clone()));
                let first = tokio::time::timeout(patience, tries.next()).await;
                if let Ok(Some(answer)) = first {
                    return answer;
                }
                patience = patience.saturating_mul(2);
            }
        };
        let before = self.reads.load(Ordering::Relaxed);
        match tokio::time::timeout(REQUEST_TIMEOUT, answer).await {
            Ok(Ok(answer)) => {
                self.reads.fetch_add(1, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(failure)) => {
                self.move_on(at);
                Err(failure)
            }
            Err(_) => {
                // A server that answers others has passed this one on to a server that is cut off.
                if self.reads.load(Ordering::Relaxed) == before {
                    self.move_on(at);
                }
                Err(Failure::NotDone(cause("NATS does not answer in time")))
            }
        }
    }

    /// Asks a server for messages of the stream, and waits until the answer has ended.
    async fn get_once(
        &self,
        client: &Client,
        query: Bytes,
    ) -> Result<(Vec<Row>, Message), Failure> {
        let lost = |error: &dyn core::fmt::Display| Failure::NotDone(cause(error.to_string()));
        let subject = format!("$JS.API.DIRECT.GET.{}", self.stream);
        let inbox = client.new_inbox();
        let mut answers = (client.subscribe(inbox.clone()).await).map_err(|e| lost(&e))?;
        let sent = client.publish_with_reply(subject, inbox, query).await;
        sent.map_err(|error| lost(&error))?;
        let mut rows = Vec::new();
        while let Some(message) = answers.next().await {
            match message.status {
                None => rows.extend(self.row(message)),
                Some(StatusCode::NO_RESPONDERS) => {
                    return Err(lost(&"no server has the stream"));
                }
                Some(_) => return Ok((rows, message)),
            }
        }
        Err(lost(&"the connection to a server of NATS has ended"))
    }

    fn row(&self, message: Message) -> Option<Row> {
        let headers = message.headers.as_ref()?;
        let subject = headers.get("Nats-Subject")?.as_str();
        Some(Row {
            subject: subject.strip_prefix(&self.prefix)?.to_owned(),
            sequence: header(&message, "Nats-Sequence")?,
            is_deleted: headers.get("KV-Operation").is_some(),
            value: message.payload,
        })
    }
}

/// The answer of JetStream, or what it says of a failure.
fn parse(answer: &[u8]) -> Result<Value, Failure> {
    let answer: Value =
        serde_json::from_slice(answer).map_err(|error| Failure::Unknown(Arc::new(error)))?;
    let Some(error) = answer.get("error") else {
        return Ok(answer);
    };
    let text = error["description"].as_str().unwrap_or_default();
    Err(match error["err_code"].as_u64() {
        Some(code) if WRONG_LAST_SEQUENCE.contains(&code) => Failure::Conflict,
        Some(code) if NO_ROOM.contains(&code) => Failure::Full,
        // A limit of the stream; other failures to store are those of one server, perhaps.
        Some(STORE_FAILED) if text.contains("maximum") => Failure::Full,
        // The leader is one no more: what it has passed on may still be made.
        Some(STORE_FAILED | NOT_LEADER) => Failure::Unknown(cause(text)),
        _ => Failure::NotDone(cause(text)),
    })
}

impl Cluster {
    pub(super) fn new(servers: Servers) -> Self {
        let servers = Arc::new(servers);
        let (barriers, wanted) = mpsc::unbounded_channel();
        tokio::spawn(make_barriers(Arc::clone(&servers), wanted));
        Self { servers, barriers }
    }

    /// The configuration of the stream; `None` if there is no such stream.
    pub(super) async fn config(&self) -> Result<Option<Value>, Failure> {
        let servers = &self.servers;
        let operation = format!("STREAM.INFO.{}", servers.stream);
        let subject = format!("$JS.API.{operation}");
        let answer = servers.request(&subject, None, Bytes::new()).await?;
        let answer: Value = serde_json::from_slice(&answer.payload)
            .map_err(|error| Failure::Unknown(Arc::new(error)))?;
        if answer["error"]["err_code"].as_u64() == Some(STREAM_NOT_FOUND) {
            return Ok(None);
        }
        match answer.get("config") {
            Some(config) => Ok(Some(config.clone())),
            None => Err(Failure::NotDone(cause(answer["error"].to_string()))),
        }
    }

    /// Makes the stream.
    pub(super) async fn create(&self, config: &Value) -> Result<(), Failure> {
        let servers = &self.servers;
        let operation = format!("STREAM.CREATE.{}", servers.stream);
        servers.api(&operation, config).await.map(|_| ())
    }

    /// Removes the messages whose subjects match a filter.
    pub(super) async fn purge(&self, filter: &str) -> Result<(), Failure> {
        let servers = &self.servers;
        let operation = format!("STREAM.PURGE.{}", servers.stream);
        let filter = format!("{}{filter}", servers.prefix);
        let body = json!({ "filter": filter });
        servers.api(&operation, &body).await.map(|_| ())
    }

    /// Makes a change, at whichever server answers, and tries it until it is settled. It can be tried again after it has
    /// perhaps been made, since each message says what it replaces.
    pub(super) async fn settle(&self, puts: &[Put]) -> Result<Settled, StoreError> {
        let started = Instant::now();
        let mut may_be_done = false;
        loop {
            let cause = match self.servers.try_put(puts).await {
                Ok(sequence) => return Ok(Settled::Done(sequence)),
                Err(Failure::Conflict) => return Ok(Settled::Conflict { may_be_done }),
                Err(Failure::Full) if !may_be_done => return Err(StoreError::Full),
                Err(Failure::Full) => cause("there is no room for changes"),
                Err(Failure::NotDone(cause)) => cause,
                Err(Failure::Unknown(cause)) => {
                    may_be_done = true;
                    cause
                }
            };
            if started.elapsed() > PATIENCE {
                return Err(match may_be_done {
                    true => StoreError::Failed(cause),
                    false => StoreError::Unreachable(cause),
                });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The sequence number of a message that was stored after this was called: a server that has applied it has applied
    /// all that was acknowledged before.
    async fn barrier(&self) -> Result<u64, Cause> {
        let (sender, made) = oneshot::channel();
        let ended = || cause("the store is closed");
        self.barriers.send(sender).map_err(|_| ended())?;
        made.await.map_err(|_| ended())?
    }

    /// The last messages of subjects as they are now or later, in no order; a subject without one has no row.
    pub(super) async fn read(&self, subjects: &[String]) -> Result<Vec<Row>, StoreError> {
        let started = Instant::now();
        let least = loop {
            match self.barrier().await {
                Ok(sequence) => break sequence,
                Err(cause) if started.elapsed() > PATIENCE => {
                    return Err(StoreError::Unreachable(cause));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        };
        self.read_after(least, subjects).await
    }

    /// The last messages of subjects, as a server knows them that has applied the message of a sequence number. They are all
    /// of one moment.
    pub(super) async fn read_after(
        &self,
        least: u64,
        subjects: &[String],
    ) -> Result<Vec<Row>, StoreError> {
        let started = Instant::now();
        let servers = &self.servers;
        let subjects: Vec<String> = subjects
            .iter()
            // An answer without any message says nothing of what the server has applied.
            .map(String::as_str)
            .chain(["about"])
            .map(|subject| format!("{}{subject}", servers.prefix))
            .collect();
        let query = json!({ "multi_last": subjects });
        loop {
            let (at, _) = servers.current();
            let (cause, pause) = match servers.try_get(&query).await {
                Ok((rows, end)) => match header(&end, "Nats-UpTo-Sequence") {
                    Some(applied) if applied >= least => return Ok(rows),
                    // A server that was cut off, or catches up.
                    _ => {
                        if started.elapsed() > REQUEST_TIMEOUT {
                            servers.move_on(at);
                        }
                        (cause("a server of NATS lags behind"), CATCH_UP_PAUSE)
                    }
                },
                Err(Failure::NotDone(cause) | Failure::Unknown(cause)) => (cause, PAUSE),
                Err(_) => (cause("a read is refused"), PAUSE),
            };
            if started.elapsed() > PATIENCE {
                return Err(StoreError::Unreachable(cause));
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Messages of a server whose subjects match a filter, in the order of their sequence numbers from one on. It may
    /// not have applied all that was acknowledged.
    pub(super) async fn scan(
        &self,
        filter: &str,
        from: u64,
        batch: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let started = Instant::now();
        let filter = format!("{}{filter}", self.servers.prefix);
        let query = json!({ "next_by_subj": filter, "seq": from.max(1), "batch": batch });
        loop {
            let cause = match self.servers.try_get(&query).await {
                Ok((rows, _)) => return Ok(rows),
                Err(Failure::NotDone(cause) | Failure::Unknown(cause)) => cause,
                Err(_) => cause("a read is refused"),
            };
            if started.elapsed() > PATIENCE {
                return Err(StoreError::Unreachable(cause));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits before a server that lags behind is asked again; an error if that takes too long.
    pub(super) async fn wait_for_others(started: Instant) -> Result<(), StoreError> {
        if started.elapsed() > PATIENCE {
            return Err(StoreError::Unreachable(cause(
                "a server of NATS lags behind",
            )));
        }
        tokio::time::sleep(CATCH_UP_PAUSE).await;
        Ok(())
    }
}

/// Makes barriers while there is a store. One serves all reads that have begun before it.
async fn make_barriers(
    servers: Arc<Servers>,
    mut wanted: mpsc::UnboundedReceiver<oneshot::Sender<Result<u64, Cause>>>,
) {
    let put = [Put {
        subject: "barrier".to_owned(),
        expected: None,
        value: Bytes::new(),
        deleted_for: None,
    }];
    let mut waiting = Vec::new();
    while wanted.recv_many(&mut waiting, usize::MAX).await > 0 {
        let made = servers
            .try_put(&put)
            .await
            .map_err(|failure| match failure {
                Failure::NotDone(cause) | Failure::Unknown(cause) => cause,
                Failure::Full => cause("there is no room for a barrier"),
                Failure::Conflict => cause("a barrier is refused"),
            });
        for reader in waiting.drain(..) {
            // One that is gone reads no more.
            let _ = reader.send(made.clone());
        }
    }
}
