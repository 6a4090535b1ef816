//! Names in etcd, which several services may have as one namespace.
//!
//! | key, behind the prefix | value |
//! |---|---|
//! | `about` | the version of this form, and the root context |
//! | `c/CONTEXT` | a context that is there |
//! | `b/CONTEXT/NAME` | what a name is bound to, behind the number of the change that bound it |
//!
//! Every change is a transaction of etcd with the conditions that it depends on, so that of two services which bind a name at
//! the same time one does. Reads are linearizable: what was acknowledged by any service is seen by all.

use super::etcd_http::{Failure, Server, Way};
use super::{
    Access, AccessError, Binding, Change, ContextId, Found, Key, OpenError, Outcome, Page,
    PageLimits, Place, Replace, Store, StoreError, Target,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zorb::naming::cos_naming::BindingType;

/// The version of this form.
const FORMAT: u32 = 1;
/// How long a server of etcd may take for a request, before the next one is asked.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a service that starts looks whether etcd is there.
const RETRY: Duration = Duration::from_secs(1);
/// How long a request may take in all.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before a request is tried again.
const PAUSE: Duration = Duration::from_millis(50);
/// Names with what they are bound to that one request reads: with references of the greatest length as much as gRPC carries.
const NAMES_AT_ONCE: usize = 256;
/// Octets of the number of a change.
const NUMBER: usize = 16;

/// The store in a cluster of etcd.
pub struct EtcdStore {
    root: ContextId,
    cluster: Cluster,
}

impl core::fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EtcdStore")
            .field("prefix", &self.cluster.prefix)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// The servers of etcd. All requests go to one, until it fails.
struct Cluster {
    servers: Vec<Server>,
    prefix: String,
    current: AtomicUsize,
}

impl Cluster {
    /// Makes a transaction, once.
    async fn try_txn(&self, txn: &Txn) -> Result<TxnResponse, Failure> {
        let at = self.current.load(Ordering::Relaxed);
        let server = self.servers.get(at % self.servers.len().max(1));
        let server = server.ok_or_else(Failure::timed_out)?;
        let done = server.post("/v3/kv/txn", txn.to_json().to_string());
        let done = tokio::time::timeout(REQUEST_TIMEOUT, done).await;
        let done = done.unwrap_or_else(|_| Err(Failure::timed_out()));
        match done {
            Ok(response) => Ok(TxnResponse(response)),
            Err(Failure::Full) => Err(Failure::Full),
            Err(failure) => {
                let next = at.wrapping_add(1);
                // Others may have moved on already.
                let relaxed = Ordering::Relaxed;
                let _ = self.current.compare_exchange(at, next, relaxed, relaxed);
                Err(failure)
            }
        }
    }

    /// Makes a transaction that may be made twice, such as one that reads, at whichever server answers.
    async fn read(&self, txn: &Txn) -> Result<TxnResponse, StoreError> {
        let started = Instant::now();
        loop {
            match self.try_txn(txn).await {
                Ok(response) => return Ok(response),
                Err(Failure::Full) => return Err(StoreError::Full),
                Err(
                    Failure::NotDone(cause)
                    | Failure::Refused(cause)
                    | Failure::Token(cause)
                    | Failure::Unknown(cause),
                ) => {
                    if started.elapsed() > PATIENCE {
                        return Err(StoreError::Unreachable(cause));
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Makes a transaction that changes names, at whichever server answers. It is tried again only if it was surely not carried
    /// out.
    async fn write(&self, txn: &Txn) -> Result<TxnResponse, StoreError> {
        let started = Instant::now();
        loop {
            match self.try_txn(txn).await {
                Ok(response) => return Ok(response),
                Err(Failure::NotDone(_) | Failure::Refused(_) | Failure::Token(_))
                    if started.elapsed() <= PATIENCE =>
                {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(failure) => return Err(failure.into_error()),
            }
        }
    }

    fn context_key(&self, context: ContextId) -> Vec<u8> {
        format!("{}c/{context:?}", self.prefix).into_bytes()
    }

    fn names_prefix(&self, context: ContextId) -> Vec<u8> {
        format!("{}b/{context:?}/", self.prefix).into_bytes()
    }

    fn name_key(&self, context: ContextId, key: &Key) -> Vec<u8> {
        [&self.names_prefix(context), key.as_octets()].concat()
    }

    fn about_key(&self) -> Vec<u8> {
        format!("{}about", self.prefix).into_bytes()
    }
}

/// A transaction: conditions, what is done if all hold, and what else.
#[derive(Clone, Default)]
struct Txn {
    when: Vec<Value>,
    then: Vec<Value>,
    or_else: Vec<Value>,
}

impl Txn {
    fn reads(then: impl Into<Vec<Value>>) -> Self {
        Self {
            then: then.into(),
            ..Self::default()
        }
    }

    fn to_json(&self) -> Value {
        json!({ "compare": self.when, "success": self.then, "failure": self.or_else })
    }
}

fn base64(octets: &[u8]) -> String {
    STANDARD.encode(octets)
}

fn is_there(key: &[u8]) -> Value {
    json!({ "target": "VERSION", "result": "GREATER", "key": base64(key), "version": "0" })
}

fn is_absent(key: &[u8]) -> Value {
    json!({ "target": "VERSION", "result": "EQUAL", "key": base64(key), "version": "0" })
}

/// That a key was not changed since.
fn is_of(key: &[u8], revision: &str) -> Value {
    json!({ "target": "MOD", "result": "EQUAL", "key": base64(key), "mod_revision": revision })
}

/// That no key begins so.
fn has_none(prefix: &[u8]) -> Value {
    json!({
        "target": "CREATE", "result": "EQUAL", "create_revision": "0",
        "key": base64(prefix), "range_end": base64(&behind(prefix)),
    })
}

fn get(key: &[u8]) -> Value {
    json!({ "request_range": { "key": base64(key) } })
}

fn put(key: &[u8], value: &[u8]) -> Value {
    json!({ "request_put": { "key": base64(key), "value": base64(value) } })
}

fn delete(key: &[u8]) -> Value {
    json!({ "request_delete_range": { "key": base64(key) } })
}

/// The first key behind all that begin with a prefix, whose last octet is a slash.
fn behind(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        *last = last.wrapping_add(1);
    }
    end
}

/// The answer to a transaction. Fields that are empty or false are left out by etcd.
struct TxnResponse(Value);

impl TxnResponse {
    fn succeeded(&self) -> bool {
        self.0["succeeded"] == true
    }

    /// The rows that a reading operation has found, by its place.
    fn rows(&self, at: usize) -> &[Value] {
        let rows = &self.0["responses"][at]["response_range"]["kvs"];
        rows.as_array().map_or(&[], Vec::as_slice)
    }

    fn has_rows(&self, at: usize) -> bool {
        !self.rows(at).is_empty()
    }
}

/// A field of a row.
fn octets(row: &Value, field: &str) -> Result<Vec<u8>, StoreError> {
    let text = row[field].as_str().unwrap_or_default();
    STANDARD.decode(text).map_err(|_| StoreError::Malformed)
}

/// What is stored for a name.
struct Stored {
    number: [u8; NUMBER],
    revision: String,
    binding: Binding,
}

impl Stored {
    fn of(row: &Value) -> Result<Self, StoreError> {
        let value = octets(row, "value")?;
        let (number, binding) = value
            .split_first_chunk::<NUMBER>()
            .ok_or(StoreError::Malformed)?;
        Ok(Self {
            number: *number,
            revision: row["mod_revision"].as_str().unwrap_or("0").to_owned(),
            binding: Binding::from_octets(binding)?,
        })
    }
}

/// The address of a cluster: `etcd://HOST:PORT,HOST:PORT/PREFIX`.
fn parse(url: &str) -> Option<(Vec<String>, String)> {
    let rest = url.strip_prefix("etcd://")?;
    let (servers, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = match prefix.trim_end_matches('/') {
        "" => "zorb-named",
        prefix => prefix,
    };
    Some((
        zorb_service::access::servers(servers)?,
        format!("/{prefix}/"),
    ))
}

impl EtcdStore {
    /// Opens the store that a URL names, `etcd://HOST:PORT,HOST:PORT/PREFIX`, and makes its root context if there is none. Waits
    /// until etcd answers.
    ///
    /// # Errors
    /// The URL is malformed, or the store of another version; a server refuses the credentials, or TLS.
    pub async fn open(url: &str, access: &Access) -> Result<Self, OpenError> {
        let (servers, prefix) = parse(url).ok_or_else(|| OpenError::Url {
            url: zorb_service::access::without_password(url),
            expected: "etcd://HOST:PORT,HOST:PORT/PREFIX",
        })?;
        let way = Arc::new(Way::new(access)?);
        let servers = servers.into_iter();
        let cluster = Cluster {
            servers: servers
                .map(|server| Server::new(server, Arc::clone(&way)))
                .collect(),
            prefix,
            current: AtomicUsize::new(0),
        };
        let unusable = |found| OpenError::Version {
            file: PathBuf::from(url),
            found,
            expected: FORMAT,
        };
        for server in &cluster.servers {
            let get = Txn::reads([get(&cluster.about_key())])
                .to_json()
                .to_string();
            let asked = server.post("/v3/kv/txn", get);
            if let Ok(Err(Failure::Refused(source))) =
                tokio::time::timeout(REQUEST_TIMEOUT, asked).await
            {
                let server = server.address().to_owned();
                return Err(AccessError::Refused { server, source }.into());
            }
        }
        let mut has_warned = false;
        let about = loop {
            match cluster.about().await {
                Ok(about) => break about,
                Err(error) if !has_warned => {
                    let error = zorb_service::shown(&error);
                    tracing::error!(url, error, "waits for etcd, which does not answer");
                    has_warned = true;
                }
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        };
        let (version, root) = about.split_first_chunk().ok_or_else(|| unusable(0))?;
        match (u32::from_be_bytes(*version), root.try_into()) {
            (FORMAT, Ok(root)) => Ok(Self {
                root: ContextId(root),
                cluster,
            }),
            (found, _) => Err(unusable(found)),
        }
    }
}

impl Cluster {
    /// What the store says of itself; makes it and the root context if there is nothing. Of several services that do so at
    /// the same time one does.
    async fn about(&self) -> Result<Vec<u8>, StoreError> {
        let root = ContextId::random()?;
        let about = [&FORMAT.to_be_bytes()[..], &root.0].concat();
        let key = self.about_key();
        let txn = Txn {
            when: vec![is_absent(&key)],
            then: vec![put(&key, &about), put(&self.context_key(root), b"")],
            or_else: vec![get(&key)],
        };
        let response = self.read(&txn).await?;
        match response.rows(0) {
            _ if response.succeeded() => Ok(about),
            [row, ..] => octets(row, "value"),
            [] => Err(StoreError::Malformed),
        }
    }

    /// What is stored for a name, and whether its context is there.
    async fn look(
        &self,
        context: ContextId,
        key: &Key,
    ) -> Result<(Option<Stored>, bool), StoreError> {
        let name = get(&self.name_key(context, key));
        let txn = Txn::reads([name, get(&self.context_key(context))]);
        let response = self.read(&txn).await?;
        let stored = response.rows(0).first().map(Stored::of).transpose()?;
        Ok((stored, response.has_rows(1)))
    }

    /// Binds a name, with whatever else is to be put.
    async fn bind(
        &self,
        context: ContextId,
        key: &Key,
        binding: &Binding,
        replace: Replace,
        besides: Option<Value>,
    ) -> Result<Outcome, StoreError> {
        let number = ContextId::random()?.0;
        let value = [&number[..], &binding.to_octets()].concat();
        let row = self.name_key(context, key);
        loop {
            // A new name is bound without a look: most are.
            let before = match replace {
                Replace::Nothing => None,
                _ => self.look(context, key).await?.0,
            };
            let is_context = before.as_ref().map(|stored| stored.binding.binding_type);
            match (is_context, replace) {
                (Some(BindingType::Ncontext), Replace::Object) => return Ok(Outcome::IsContext),
                (Some(BindingType::Nobject), Replace::Context) => return Ok(Outcome::IsObject),
                _ => {}
            }
            let condition = match &before {
                Some(stored) => is_of(&row, &stored.revision),
                None => is_absent(&row),
            };
            let puts = [put(&row, &value)].into_iter();
            let txn = Txn {
                when: vec![is_there(&self.context_key(context)), condition],
                then: puts.chain(besides.clone()).collect(),
                or_else: vec![get(&row), get(&self.context_key(context))],
            };
            let response = match self.write(&txn).await {
                Ok(response) => response,
                Err(StoreError::Failed(cause)) => {
                    // Perhaps it was carried out, and only its answer lost.
                    return match self.look(context, key).await {
                        Ok((Some(stored), _)) if stored.number == number => Ok(Outcome::Done),
                        _ => Err(StoreError::Failed(cause)),
                    };
                }
                Err(error) => return Err(error),
            };
            if response.succeeded() {
                return Ok(Outcome::Done);
            }
            if !response.has_rows(1) {
                return Ok(Outcome::NoContext);
            }
            if replace == Replace::Nothing && response.has_rows(0) {
                return Ok(Outcome::AlreadyBound);
            }
            // Another has changed it in between.
        }
    }

    async fn unbind(&self, context: ContextId, key: &Key) -> Result<Outcome, StoreError> {
        let row = self.name_key(context, key);
        let txn = Txn {
            when: vec![is_there(&row)],
            then: vec![delete(&row)],
            or_else: vec![get(&self.context_key(context))],
        };
        let response = self.write(&txn).await?;
        Ok(match (response.succeeded(), response.has_rows(0)) {
            (true, _) => Outcome::Done,
            (false, true) => Outcome::NotBound,
            (false, false) => Outcome::NoContext,
        })
    }

    async fn destroy(&self, context: ContextId) -> Result<Outcome, StoreError> {
        let row = self.context_key(context);
        let txn = Txn {
            when: vec![is_there(&row), has_none(&self.names_prefix(context))],
            then: vec![delete(&row)],
            or_else: vec![get(&row)],
        };
        let response = self.write(&txn).await?;
        Ok(match (response.succeeded(), response.has_rows(0)) {
            (true, _) => Outcome::Done,
            (false, true) => Outcome::NotEmpty,
            (false, false) => Outcome::NoContext,
        })
    }
}

impl Store for EtcdStore {
    fn root(&self) -> ContextId {
        self.root
    }

    async fn get(&self, context: ContextId, key: &Key) -> Result<Found, StoreError> {
        Ok(match self.cluster.look(context, key).await? {
            (Some(stored), _) => Found::Bound(stored.binding),
            (None, true) => Found::Unbound,
            (None, false) => Found::NoContext,
        })
    }

    async fn has_context(&self, context: ContextId) -> Result<bool, StoreError> {
        let txn = Txn::reads([get(&self.cluster.context_key(context))]);
        Ok(self.cluster.read(&txn).await?.has_rows(0))
    }

    async fn list(
        &self,
        context: ContextId,
        after: Option<&Place>,
        limits: PageLimits,
    ) -> Result<Option<Page>, StoreError> {
        let after = after.map(Place::key).transpose()?;
        let prefix = self.cluster.names_prefix(context);
        let end = base64(&behind(&prefix));
        let mut page = Page::default();
        let mut length = 0_usize;
        let mut from = match after {
            Some(key) => [&self.cluster.name_key(context, key)[..], b"\0"].concat(),
            None => prefix.clone(),
        };
        loop {
            let wanted = limits
                .names
                .saturating_sub(page.names.len())
                .saturating_add(1);
            let at_once = wanted.min(NAMES_AT_ONCE);
            let range = json!({
                "key": base64(&from), "range_end": end, "limit": at_once.to_string(),
                "sort_order": "ASCEND", "sort_target": "KEY",
            });
            let names = json!({ "request_range": range });
            let txn = Txn::reads([names, get(&self.cluster.context_key(context))]);
            let response = self.cluster.read(&txn).await?;
            if !response.has_rows(1) {
                return Ok(None);
            }
            let names = response.rows(0);
            for row in names {
                let key = octets(row, "key")?;
                let key = key.strip_prefix(&prefix[..]).and_then(Key::from_octets);
                let key = key.ok_or(StoreError::Malformed)?;
                let more = key
                    .as_octets()
                    .len()
                    .saturating_add(PageLimits::OCTETS_PER_NAME);
                length = length.saturating_add(more);
                let is_first = page.names.is_empty();
                if page.names.len() >= limits.names || (length > limits.octets && !is_first) {
                    page.has_more = true;
                    return Ok(Some(page));
                }
                let binding = Stored::of(row)?.binding;
                page.names.push((key, binding.binding_type));
            }
            match names.last() {
                Some(last) if names.len() == at_once => {
                    from = [&octets(last, "key")?[..], b"\0"].concat();
                }
                _ => return Ok(Some(page)),
            }
        }
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
                let made = put(&cluster.context_key(new), b"");
                let nothing = Replace::Nothing;
                (cluster.bind(context, &key, &binding, nothing, Some(made))).await
            }
            Change::Unbind { context, key } => cluster.unbind(context, &key).await,
            Change::Create { new } => {
                let made = put(&cluster.context_key(new), b"");
                // No other has its id: to make it twice does no harm.
                cluster.read(&Txn::reads([made])).await?;
                Ok(Outcome::Done)
            }
            Change::Destroy { context } => cluster.destroy(context).await,
        }
    }

    async fn close(&self) {}
}
