//! Names in a key-value bucket of NATS JetStream, which several services may have as one namespace.
//!
//! | key | value, behind the number of the change that has put it |
//! |---|---|
//! | `about` | the version of this form, and the root context |
//! | `c.CONTEXT` | a context that is there: whether it is open or about to be destroyed |
//! | `n.CONTEXT.NAME`, the name as a hash | the name, and what it is bound to |
//! | `n.CONTEXT.-` | nothing: the end of what a list has to find |
//! | `barrier` | nothing: what is stored after a read has begun |
//!
//! **A change** is one message, or one atomic batch, whose messages say the revision of the key that each replaces. Only a
//! change that binds a name depends on another key, that of its context: it looks at that afterwards. A context is destroyed in
//! three steps: it is closed; its names are looked for; it is removed if there are none, else opened. A binding
//! that is stored while its context is closed opens it, and one that finds it removed takes itself back. So each order of
//! the two ends with one of them refused. A crash between two steps leaves a context closed, which the next binding opens, or a name in
//! a context that is gone, which no read shows and [`NatsStore::open`] removes.
//!
//! **A read** misses nothing that was acknowledged before, though a leader that was cut off answers for 10 s, and every replica
//! answers direct gets. A message is stored first, the barrier, which most servers have to confirm, one for all reads that wait. Then
//! the last messages of all keys of the read are fetched by one direct get, whose end says up to which message the server has applied
//! the stream: the answer counts if that is not before the barrier.

mod cluster;

use super::{
    Access, Binding, Change, ContextId, Found, Key, OpenError, Outcome, Page, PageLimits, Place,
    Replace, Store, StoreError, Target,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cluster::{Cluster, Failure, Put, Row, Servers, Settled};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zorb::Bytes;
use zorb::naming::cos_naming::BindingType;

/// The version of this form.
const FORMAT: u32 = 1;
/// How often a service that starts looks whether NATS is there.
const RETRY: Duration = Duration::from_secs(1);
/// Octets of the number of a change.
const NUMBER: usize = 16;
/// Names that one request reads: of direct gets by subject NATS takes 1,024 subjects.
const NAMES_AT_ONCE: usize = 256;
/// How long a key is marked as deleted before the mark goes: longer than any change is tried, so that a late one finds the mark.
const DELETED_NAME: &str = "1h";
/// How long a context that was destroyed is known to have been, so that what is left of it is removed.
const DESTROYED_CONTEXT: &str = "24h";
/// How long the end of a list is kept.
const LIST_END: &str = "1m";
/// Replicas of the stream, if the URL names so many servers.
const REPLICAS: usize = 3;

/// The states of a context that is there.
const OPEN: u8 = 1;
const CLOSED: u8 = 2;

/// The store in a cluster of NATS.
pub struct NatsStore {
    root: ContextId,
    cluster: Arc<Cluster>,
}

impl core::fmt::Debug for NatsStore {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NatsStore")
            .field("stream", &self.cluster.servers.stream)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// The address of a cluster: `nats://HOST:PORT,HOST:PORT/BUCKET`.
fn parse(url: &str) -> Option<(Vec<String>, &str)> {
    let rest = url.strip_prefix("nats://")?;
    let (servers, bucket) = rest.split_once('/').unwrap_or((rest, ""));
    let bucket = match bucket.trim_end_matches('/') {
        "" => "zorb-named",
        bucket => bucket,
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let servers = zorb_service::access::servers(servers)?;
    bucket.chars().all(is_allowed).then_some((servers, bucket))
}

fn context_key(context: ContextId) -> String {
    format!("c.{context:?}")
}

fn name_key(context: ContextId, key: &Key) -> String {
    // Subjects are short, and have few characters.
    let hash = URL_SAFE_NO_PAD.encode(blake3::hash(key.as_octets()).as_bytes());
    format!("n.{context:?}.{hash}")
}

/// The number of a change: whoever finds it knows that the change was made.
type Number = [u8; NUMBER];

/// What is stored for a name that is bound.
struct Stored {
    key: Key,
    binding: Binding,
}

impl Stored {
    fn to_octets(number: Number, key: &Key, binding: &Binding) -> Bytes {
        let name = key.as_octets();
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX).to_be_bytes();
        [&number[..], &length, name, &binding.to_octets()]
            .concat()
            .into()
    }

    fn of(row: &Row) -> Result<Self, StoreError> {
        let malformed = || StoreError::Malformed;
        let rest = row.value.get(NUMBER..).ok_or_else(malformed)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (key, binding) = rest.split_at_checked(length).ok_or_else(malformed)?;
        Ok(Self {
            key: Key::from_octets(key).ok_or_else(malformed)?,
            binding: Binding::from_octets(binding)?,
        })
    }
}

/// What is found at a key.
#[derive(Default)]
struct Slot {
    /// The revision; 0 if nothing is stored.
    revision: u64,
    /// The change that has put or deleted it.
    number: Option<Number>,
    /// The row, if it is not marked as deleted.
    row: Option<Row>,
}

impl Slot {
    fn of(rows: &[Row], key: &str) -> Self {
        let Some(row) = rows.iter().find(|row| row.subject == key) else {
            return Self::default();
        };
        Self {
            revision: row.sequence,
            number: row.value.first_chunk().copied(),
            row: (!row.is_deleted).then(|| row.clone()),
        }
    }

    fn stored(&self) -> Result<Option<Stored>, StoreError> {
        self.row.as_ref().map(Stored::of).transpose()
    }

    /// Whether it is a context that is closed.
    fn is_closed(&self) -> bool {
        let state = self.row.as_ref().and_then(|row| row.value.get(NUMBER));
        state == Some(&CLOSED)
    }
}

fn number() -> Result<Number, StoreError> {
    Ok(ContextId::random()?.0)
}

fn put_context(context: ContextId, number: Number, state: u8, expected: u64) -> Put {
    Put {
        subject: context_key(context),
        expected: Some(expected),
        value: [&number[..], &[state]].concat().into(),
        deleted_for: None,
    }
}

fn delete(subject: String, number: Number, expected: u64, known_for: &'static str) -> Put {
    Put {
        subject,
        expected: Some(expected),
        value: Bytes::copy_from_slice(&number),
        deleted_for: Some(known_for),
    }
}

/// A change that was perhaps made and then undone or replaced by another.
fn left_open() -> StoreError {
    StoreError::Failed(Arc::new(std::io::Error::other(
        "a change may have been made, and was replaced since",
    )))
}

/// What an error means for a change that was tried before, and then perhaps made.
fn perhaps_made(may_be_done: bool) -> impl Fn(StoreError) -> StoreError {
    move |error| match error {
        StoreError::Unreachable(cause) if may_be_done => StoreError::Failed(cause),
        error => error,
    }
}

/// Why a stream cannot be used, if so.
fn unsuitable(config: &Value) -> Option<&'static str> {
    let has = |name: &str| config[name] == true;
    match () {
        () if config["max_msgs_per_subject"] != 1 => {
            Some("it keeps a history (max_msgs_per_subject)")
        }
        () if !has("allow_direct") => Some("it does not allow direct gets (allow_direct)"),
        () if !has("allow_msg_ttl") => Some("it does not allow message TTLs (allow_msg_ttl)"),
        () if !has("allow_atomic") => {
            Some("it does not allow atomic batches (allow_atomic, of NATS 2.12)")
        }
        () if config["max_age"].as_u64().unwrap_or(0) != 0 => Some("its names expire (max_age)"),
        () => None,
    }
}

impl NatsStore {
    /// Opens the store that a URL names, `nats://HOST:PORT,HOST:PORT/BUCKET`, and makes the bucket and the root context if there is
    /// none: with three replicas if the URL names three servers or more. Waits until NATS answers.
    ///
    /// # Errors
    /// The URL is malformed, the store of another version, or the bucket one that names cannot be kept in; a server refuses the
    /// credentials, or TLS, or JetStream to them.
    pub async fn open(url: &str, access: &Access) -> Result<Self, OpenError> {
        let malformed = || OpenError::Url {
            url: zorb_service::access::without_password(url),
            expected: "nats://HOST:PORT,HOST:PORT/BUCKET",
        };
        let (addresses, bucket) = parse(url).ok_or_else(malformed)?;
        let servers = Servers::new(&addresses, bucket, access, malformed).await?;
        let cluster = Arc::new(Cluster::new(servers));
        let mut has_warned = false;
        let mut warn = |error: &dyn core::fmt::Debug| {
            if !has_warned {
                tracing::error!(url, ?error, "waits for NATS, which does not answer");
                has_warned = true;
            }
        };
        let config = loop {
            match cluster.config_or_create(bucket).await {
                Ok(config) => break config,
                Err(error) => warn(&error),
            }
            tokio::time::sleep(RETRY).await;
        };
        if let Some(why) = unsuitable(&config) {
            return Err(OpenError::Bucket {
                url: url.to_owned(),
                why,
            });
        }
        let about = loop {
            match cluster.about().await {
                Ok(about) => break about,
                Err(error) => warn(&error),
            }
            tokio::time::sleep(RETRY).await;
        };
        let unusable = |found| OpenError::Version {
            file: PathBuf::from(url),
            found,
            expected: FORMAT,
        };
        let (version, root) = about.split_first_chunk().ok_or_else(|| unusable(0))?;
        match (u32::from_be_bytes(*version), root.try_into()) {
            (FORMAT, Ok(root)) => {
                tokio::spawn(sweep(Arc::clone(&cluster)));
                Ok(Self {
                    root: ContextId(root),
                    cluster,
                })
            }
            (found, _) => Err(unusable(found)),
        }
    }
}

/// Removes what a crash has left in contexts that are destroyed.
async fn sweep(cluster: Arc<Cluster>) {
    let mut from = 1;
    while let Ok(rows) = cluster.scan("c.*", from, NAMES_AT_ONCE).await
        && let Some(last) = rows.last()
    {
        from = last.sequence.saturating_add(1);
        for row in rows.iter().filter(|row| row.is_deleted) {
            if let Some(context) = row.subject.strip_prefix("c.") {
                // Else the next service that starts does so.
                let _ = cluster.purge(&format!("n.{context}.>")).await;
            }
        }
    }
}

impl Cluster {
    /// The configuration of the bucket, which is made if there is none.
    async fn config_or_create(&self, bucket: &str) -> Result<Value, Failure> {
        if let Some(config) = self.config().await? {
            return Ok(config);
        }
        let replicas = if self.servers.len() < REPLICAS {
            1
        } else {
            REPLICAS
        };
        let config = json!({
            "name": self.servers.stream, "subjects": [format!("$KV.{bucket}.>")],
            "description": "names of zorb-named",
            "retention": "limits", "discard": "new", "storage": "file", "num_replicas": replicas,
            "max_msgs_per_subject": 1, "max_msgs": -1, "max_bytes": -1, "max_age": 0,
            "allow_direct": true, "allow_rollup_hdrs": true, "deny_delete": true,
            "allow_msg_ttl": true, "allow_atomic": true,
        });
        match self.create(&config).await {
            // Another service has made it in between, or an earlier try.
            Ok(()) | Err(Failure::Conflict) => {}
            Err(failure) => tracing::debug!(?failure, "the bucket is not made"),
        }
        let none = || Failure::NotDone(Arc::new(std::io::Error::other("there is no bucket yet")));
        self.config().await?.ok_or_else(none)
    }

    /// What the store says of itself; makes it and the root context if there is nothing. Of several services that do so at
    /// the same time one does.
    async fn about(&self) -> Result<Bytes, StoreError> {
        let root = ContextId::random()?;
        let about = Put {
            subject: "about".to_owned(),
            expected: Some(0),
            value: [&FORMAT.to_be_bytes()[..], &root.0].concat().into(),
            deleted_for: None,
        };
        let made = [put_context(root, number()?, OPEN, 0), about];
        let least = match self.settle(&made).await? {
            Settled::Done(sequence) => sequence,
            // An answer has a row if it is there.
            Settled::Conflict { .. } => 0,
        };
        let rows = self.read_after(least, &[]).await?;
        let about = rows.into_iter().find(|row| row.subject == "about");
        about.map(|row| row.value).ok_or(StoreError::Malformed)
    }

    /// What is stored for a name, and its context.
    async fn look(&self, context: ContextId, key: &Key) -> Result<(Slot, Slot), StoreError> {
        let keys = [name_key(context, key), context_key(context)];
        let rows = self.read(&keys).await?;
        let [name, context] = keys.map(|key| Slot::of(&rows, &key));
        Ok((name, context))
    }

    /// Binds a name, with whatever else is to be put.
    async fn bind(
        &self,
        context: ContextId,
        key: &Key,
        binding: &Binding,
        replace: Replace,
        besides: Option<Put>,
    ) -> Result<Outcome, StoreError> {
        let number = number()?;
        let subject = name_key(context, key);
        let value = Stored::to_octets(number, key, binding);
        // A new name is bound without a look: most are.
        let mut is_new = replace == Replace::Nothing;
        let mut may_be_done = false;
        loop {
            let mut revision = 0;
            if !core::mem::take(&mut is_new) {
                let looked = self.look(context, key).await;
                let (name, context_slot) = looked.map_err(perhaps_made(may_be_done))?;
                if name.row.is_some() && name.number == Some(number) {
                    return self
                        .confirm(context, &subject, name.revision, number, &besides)
                        .await;
                }
                if may_be_done {
                    return Err(left_open());
                }
                if context_slot.row.is_none() {
                    return Ok(Outcome::NoContext);
                }
                let before = name.stored()?.map(|stored| stored.binding.binding_type);
                match (before, replace) {
                    (Some(_), Replace::Nothing) => return Ok(Outcome::AlreadyBound),
                    (Some(BindingType::Ncontext), Replace::Object) => {
                        return Ok(Outcome::IsContext);
                    }
                    (Some(BindingType::Nobject), Replace::Context) => return Ok(Outcome::IsObject),
                    _ => revision = name.revision,
                }
            }
            let name = Put {
                subject: subject.clone(),
                expected: Some(revision),
                value: value.clone(),
                deleted_for: None,
            };
            let puts: Vec<Put> = besides.clone().into_iter().chain([name]).collect();
            match self.settle(&puts).await? {
                Settled::Done(revision) => {
                    return self
                        .confirm(context, &subject, revision, number, &besides)
                        .await;
                }
                // Another has changed it in between.
                Settled::Conflict {
                    may_be_done: may_be,
                } => may_be_done = may_be,
            }
        }
    }

    /// Finds out whether a name was bound in a context that is there; takes it back if not.
    async fn confirm(
        &self,
        context: ContextId,
        subject: &str,
        revision: u64,
        number: Number,
        besides: &Option<Put>,
    ) -> Result<Outcome, StoreError> {
        let made = perhaps_made(true);
        let key = context_key(context);
        loop {
            let rows = self
                .read_after(revision, core::slice::from_ref(&key))
                .await
                .map_err(&made)?;
            let slot = Slot::of(&rows, &key);
            if slot.row.is_none() {
                let mut undone = vec![delete(subject.to_owned(), number, revision, DELETED_NAME)];
                if let Some(besides) = besides {
                    // A batch has its messages one after the other.
                    let revision = revision.saturating_sub(1);
                    undone.push(delete(
                        besides.subject.clone(),
                        number,
                        revision,
                        DELETED_NAME,
                    ));
                }
                // What is left of it otherwise nobody sees.
                let _ = self.settle(&undone).await;
                return Ok(Outcome::NoContext);
            }
            if !slot.is_closed() {
                return Ok(Outcome::Done);
            }
            let opened = put_context(context, number, OPEN, slot.revision);
            if let Settled::Done(_) = self.settle(&[opened]).await.map_err(&made)? {
                return Ok(Outcome::Done);
            }
        }
    }

    async fn unbind(&self, context: ContextId, key: &Key) -> Result<Outcome, StoreError> {
        let number = number()?;
        let mut tried = None;
        loop {
            let looked = self.look(context, key).await;
            let (name, context_slot) = looked.map_err(perhaps_made(tried.is_some()))?;
            if name.number == Some(number) {
                return Ok(Outcome::Done);
            }
            if tried.is_some_and(|revision| revision != name.revision) {
                return Err(left_open());
            }
            match (&name.row, &context_slot.row) {
                (_, None) => return Ok(Outcome::NoContext),
                (None, _) => return Ok(Outcome::NotBound),
                (Some(_), Some(_)) => {}
            }
            let deleted = delete(name_key(context, key), number, name.revision, DELETED_NAME);
            let settled = self.settle(&[deleted]).await;
            match settled.map_err(perhaps_made(tried.is_some()))? {
                Settled::Done(_) => return Ok(Outcome::Done),
                Settled::Conflict { may_be_done } => tried = may_be_done.then_some(name.revision),
            }
        }
    }

    async fn create_context(&self, new: ContextId) -> Result<Outcome, StoreError> {
        // No other has its id: a conflict is with an earlier try.
        self.settle(&[put_context(new, number()?, OPEN, 0)]).await?;
        Ok(Outcome::Done)
    }

    async fn destroy(&self, context: ContextId) -> Result<Outcome, StoreError> {
        let number = number()?;
        let key = context_key(context);
        let mut may_be_done = false;
        loop {
            let rows = self.read(core::slice::from_ref(&key)).await;
            let rows = rows.map_err(perhaps_made(may_be_done))?;
            let slot = Slot::of(&rows, &key);
            match slot.row {
                None if may_be_done && slot.number == Some(number) => return Ok(Outcome::Done),
                None if may_be_done => return Err(left_open()),
                None => return Ok(Outcome::NoContext),
                Some(_) => {}
            }
            let closed = put_context(context, number, CLOSED, slot.revision);
            let Settled::Done(revision) = self.settle(&[closed]).await? else {
                continue;
            };
            let limits = PageLimits {
                names: 0,
                octets: 0,
            };
            let page = self.list(context, None, limits).await?;
            if page.is_none_or(|page| page.has_more) {
                // Unless a binding has done so.
                self.settle(&[put_context(context, number, OPEN, revision)])
                    .await?;
                return Ok(Outcome::NotEmpty);
            }
            let gone = delete(key.clone(), number, revision, DESTROYED_CONTEXT);
            let settled = self.settle(&[gone]).await;
            match settled.map_err(perhaps_made(may_be_done))? {
                Settled::Done(_) => {
                    // What it marks as deleted is of no use any more.
                    let _ = self.purge(&format!("n.{context:?}.>")).await;
                    return Ok(Outcome::Done);
                }
                Settled::Conflict {
                    may_be_done: may_be,
                } => may_be_done = may_be,
            }
        }
    }

    /// The names of a context whose places are behind one.
    async fn list(
        &self,
        context: ContextId,
        after: Option<u64>,
        limits: PageLimits,
    ) -> Result<Option<Page>, StoreError> {
        let started = Instant::now();
        let end = Put {
            subject: format!("n.{context:?}.-"),
            expected: None,
            value: Bytes::new(),
            deleted_for: Some(LIST_END),
        };
        let end = match self.settle(&[end]).await? {
            Settled::Done(sequence) => sequence,
            Settled::Conflict { .. } => return Err(left_open()),
        };
        let context = (context_key(context), format!("n.{context:?}.*"));
        let mut page = Page::default();
        let mut length = 0_usize;
        let mut listed = HashSet::new();
        let mut from = after.unwrap_or(0).saturating_add(1);
        loop {
            let wanted = limits.names.saturating_sub(page.names.len());
            let at_once = wanted.saturating_add(2).clamp(16, NAMES_AT_ONCE);
            let found = self.scan(&context.1, from, at_once).await?;
            let Some(last) = found.last().map(|row| row.sequence) else {
                // The end is there, at servers that do not lag behind.
                Self::wait_for_others(started).await?;
                continue;
            };
            // The server may lag behind: it shows where names are, not whether they still are.
            let keys = found.iter().map(|row| row.subject.clone());
            let keys: Vec<String> = keys.chain([context.0.clone()]).collect();
            let rows = self.read_after(end, &keys).await?;
            if Slot::of(&rows, &context.0).row.is_none() {
                return Ok(None);
            }
            let rows: std::collections::HashMap<&str, &Row> =
                rows.iter().map(|row| (row.subject.as_str(), row)).collect();
            for place in &found {
                let row = rows.get(place.subject.as_str());
                let Some(row) = row.filter(|row| !row.is_deleted) else {
                    continue;
                };
                // A name that was bound anew has another place, which is found later; one that is just now, a second one.
                let is_moved = row.sequence != place.sequence && row.sequence <= end;
                if is_moved || listed.contains(&place.subject) {
                    continue;
                }
                let Stored { key, binding, .. } = Stored::of(row)?;
                let octets = key.as_octets().len();
                length = length.saturating_add(octets.saturating_add(PageLimits::OCTETS_PER_NAME));
                let is_first = page.names.is_empty();
                if page.names.len() >= limits.names || (length > limits.octets && !is_first) {
                    page.has_more = true;
                    return Ok(Some(page));
                }
                listed.insert(place.subject.clone());
                page.names.push((key, binding.binding_type));
                page.revision = Some(place.sequence);
            }
            if last >= end {
                return Ok(Some(page));
            }
            from = last.saturating_add(1);
        }
    }
}

impl Store for NatsStore {
    fn root(&self) -> ContextId {
        self.root
    }

    async fn get(&self, context: ContextId, key: &Key) -> Result<Found, StoreError> {
        let (name, context) = self.cluster.look(context, key).await?;
        Ok(match (context.row, name.stored()?) {
            (None, _) => Found::NoContext,
            (Some(_), None) => Found::Unbound,
            (Some(_), Some(stored)) => Found::Bound(stored.binding),
        })
    }

    async fn has_context(&self, context: ContextId) -> Result<bool, StoreError> {
        let key = context_key(context);
        let rows = self.cluster.read(core::slice::from_ref(&key)).await?;
        Ok(Slot::of(&rows, &key).row.is_some())
    }

    async fn list(
        &self,
        context: ContextId,
        after: Option<&Place>,
        limits: PageLimits,
    ) -> Result<Option<Page>, StoreError> {
        let after = match after {
            Some(Place::Revision(revision)) => Some(*revision),
            Some(Place::Key(_)) => return Err(StoreError::Malformed),
            None => None,
        };
        self.cluster.list(context, after, limits).await
    }

    async fn change(&self, change: Change) -> Result<Outcome, StoreError> {
        let cluster = &self.cluster;
        match change {
            Change::Bind {
                context,
                key,
                binding,
                replace,
            } => cluster.bind(context, &key, &binding, replace, None).await,
            Change::BindNew { context, key, new } => {
                let binding = Binding {
                    binding_type: BindingType::Ncontext,
                    target: Target::Context(new),
                };
                let made = put_context(new, number()?, OPEN, 0);
                let nothing = Replace::Nothing;
                (cluster.bind(context, &key, &binding, nothing, Some(made))).await
            }
            Change::Unbind { context, key } => cluster.unbind(context, &key).await,
            Change::Create { new } => cluster.create_context(new).await,
            Change::Destroy { context } => cluster.destroy(context).await,
        }
    }

    async fn close(&self) {}
}
