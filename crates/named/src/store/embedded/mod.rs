//! The embedded store: a file of redb, written by one thread.
//!
//! Reads are look-ups in a B-tree, done where they are asked for. Changes go to a thread, which makes all that have come while
//! the disk was busy by one transaction, and answers when that is on disk.

use super::{
    Binding, Change, ContextId, Found, Key, OpenError, Outcome, Page, PageLimits, Replace, Store,
    StoreError, Target,
};
use redb::{
    Database, DatabaseError, ReadTransaction, ReadableDatabase, ReadableTable, StorageError, Table,
    TableDefinition, WriteTransaction,
};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use zorb::naming::cos_naming::BindingType;

/// The contexts.
const CONTEXTS: TableDefinition<'_, [u8; 16], ()> = TableDefinition::new("contexts");
/// Bindings, by the id of their context and their key behind it.
const BINDINGS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("bindings");
/// What the store says of itself.
const ABOUT: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");
/// The version of this form, in [`ABOUT`].
const FORMAT: u32 = 1;
/// Rows of [`ABOUT`]: the version, the root context, the number of the last transaction.
const FORMAT_ROW: &str = "format";
const ROOT_ROW: &str = "root";
const LAST_ROW: &str = "last";

/// Changes that one transaction makes at most, and that wait for the one after it.
const MAX_BATCH: usize = 1_024;
/// How long changes are refused when there was no room for one, before the next is tried.
const REFUSED_FOR: Duration = Duration::from_secs(1);
/// The file of the names, and that which is locked.
const NAMES_FILE: &str = "names.redb";
const LOCK_FILE: &str = "lock";

/// A store in a folder, or in memory.
#[derive(Debug)]
pub struct EmbeddedStore {
    root: ContextId,
    shared: Arc<Shared>,
    /// To the thread that writes; `None` when the store is closed.
    changes: Mutex<Option<mpsc::Sender<Request>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Locked as long as the store is open.
    _lock: Option<File>,
}

/// What readers and the writer share.
#[derive(Debug)]
struct Shared {
    /// The file; `None` in memory.
    file: Option<PathBuf>,
    /// Held for reading during a read; for writing while the file is opened anew.
    database: RwLock<Result<Database, StoreError>>,
}

/// A change, and where its outcome goes.
struct Request {
    change: Change,
    done: oneshot::Sender<Result<Outcome, StoreError>>,
}

fn failed(error: impl Into<redb::Error>) -> StoreError {
    StoreError::Failed(Arc::new(error.into()))
}

/// Whether an error says that the file cannot grow.
fn is_full(error: &redb::Error) -> bool {
    let redb::Error::Io(error) = error else {
        return false;
    };
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

impl EmbeddedStore {
    /// Opens the store in a folder, and makes what is missing. After a crash this takes no longer than otherwise, whatever
    /// the number of names. Blocks on the disk.
    ///
    /// # Errors
    /// [`OpenError`], of which [`InUse`](OpenError::InUse) means that another process has it open.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| OpenError::Io { path, source }
        };
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let lock = lock(folder)?;
        let file = folder.join(NAMES_FILE);
        let database = match Database::create(&file) {
            Ok(database) => database,
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                let holder = "another process".to_owned();
                let folder = folder.to_owned();
                return Err(OpenError::InUse { folder, holder });
            }
            Err(error) => {
                let source = error.into();
                return Err(OpenError::Unusable { file, source });
            }
        };
        Self::start(database, Some(file), Some(lock))
    }

    /// Makes a store that ends with the process.
    ///
    /// # Errors
    /// There is no memory, or no thread.
    pub fn in_memory() -> Result<Self, OpenError> {
        let backend = redb::backends::InMemoryBackend::new();
        let made = Database::builder().create_with_backend(backend);
        let database = made.map_err(|error| OpenError::Unusable {
            file: PathBuf::from("memory"),
            source: error.into(),
        })?;
        Self::start(database, None, None)
    }

    fn start(
        database: Database,
        file: Option<PathBuf>,
        lock: Option<File>,
    ) -> Result<Self, OpenError> {
        let shown = file.clone().unwrap_or_else(|| PathBuf::from("memory"));
        let (root, last) = match prepare(&database) {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(found)) => {
                return Err(OpenError::Version {
                    file: shown,
                    found,
                    expected: FORMAT,
                });
            }
            Err(source) => {
                return Err(OpenError::Unusable {
                    file: shown,
                    source,
                });
            }
        };
        let shared = Arc::new(Shared {
            file,
            database: RwLock::new(Ok(database)),
        });
        let (changes, queue) = mpsc::channel(MAX_BATCH);
        let mut writer = Writer {
            shared: Arc::clone(&shared),
            last,
            refuse_until: None,
        };
        let writer = std::thread::Builder::new()
            .name("named-writer".to_owned())
            .spawn(move || writer.run(queue))
            .map_err(|source| OpenError::Io {
                path: shown,
                source,
            })?;
        Ok(Self {
            root,
            shared,
            changes: Mutex::new(Some(changes)),
            writer: Mutex::new(Some(writer)),
            _lock: lock,
        })
    }
}

/// Takes the lock of a folder.
fn lock(folder: &Path) -> Result<File, OpenError> {
    let path = folder.join(LOCK_FILE);
    let io = |source| OpenError::Io {
        path: path.clone(),
        source,
    };
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // It may be writing that just now.
            let _ = file.read_to_string(&mut holder);
            let holder = match holder.trim() {
                "" => "another process".to_owned(),
                process => format!("process {process}"),
            };
            let folder = folder.to_owned();
            return Err(OpenError::InUse { folder, holder });
        }
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    // For people alone: the lock does not need it, and a full disk is no reason not to start.
    let _ = writeln!(file, "{}", std::process::id());
    Ok(file)
}

/// What a store says of itself: its root context and the number of its last transaction, or its version if that is another one.
type About = Result<(ContextId, u64), u32>;

/// Makes the tables and the root context of a new store.
fn prepare(database: &Database) -> Result<About, redb::Error> {
    if let Some(about) = read_about(database)? {
        return Ok(about);
    }
    let root = ContextId::random().map_err(|error| io::Error::other(error.to_string()))?;
    let making = begin(database)?;
    {
        making.open_table(BINDINGS)?;
        making.open_table(CONTEXTS)?.insert(root.0, ())?;
        let mut about = making.open_table(ABOUT)?;
        about.insert(FORMAT_ROW, &FORMAT.to_be_bytes()[..])?;
        about.insert(ROOT_ROW, &root.0[..])?;
        about.insert(LAST_ROW, &0_u64.to_be_bytes()[..])?;
    }
    making.commit()?;
    Ok(Ok((root, 0)))
}

/// What [`prepare`] gives for a store that is there; `None` for one without tables. Writes nothing, so that a full disk is no
/// reason not to start.
fn read_about(database: &Database) -> Result<Option<About>, redb::Error> {
    let reading = database.begin_read()?;
    let about = match reading.open_table(ABOUT) {
        Ok(about) => about,
        Err(redb::TableError::TableDoesNotExist(_)) => {
            if reading.list_tables()?.next().is_some() {
                return Err(no_names());
            }
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let row = |name| {
        about
            .get(name)
            .map(|row| row.map(|row| row.value().to_vec()))
    };
    let number = row(FORMAT_ROW)?.and_then(|row| Some(u32::from_be_bytes(row.try_into().ok()?)));
    match number {
        Some(FORMAT) => {}
        Some(other) => return Ok(Some(Err(other))),
        None => return Err(no_names()),
    }
    let root = row(ROOT_ROW)?.and_then(|row| row.try_into().ok());
    let last = row(LAST_ROW)?.and_then(|row| Some(u64::from_be_bytes(row.try_into().ok()?)));
    match (root, last) {
        (Some(root), Some(last)) => Ok(Some(Ok((ContextId(root), last)))),
        _ => Err(no_names()),
    }
}

fn no_names() -> redb::Error {
    redb::Error::Corrupted("expected the tables of a store of names, found others".to_owned())
}

/// Begins a transaction after which the file is opened at once, whatever happens: without this redb reads all of it.
fn begin(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut writing = database.begin_write()?;
    writing.set_quick_repair(true);
    Ok(writing)
}

/// The rows of a context begin with its id.
fn row(context: ContextId, key: &Key) -> Vec<u8> {
    [&context.0, key.as_octets()].concat()
}

impl Shared {
    /// Reads in a transaction.
    fn read<T>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().map_err(Clone::clone)?;
        let reading = database.begin_read().map_err(failed)?;
        read(&reading).map_err(failed)
    }

    /// Opens the file anew: after an error of the disk redb does nothing any more, not even read.
    fn reopen(&self) -> Result<u64, StoreError> {
        let Some(file) = &self.file else {
            return Err(StoreError::Closed);
        };
        // Reads have ended when this is ready, and those that come wait for the new one.
        let mut database = self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *database = Err(StoreError::Closed);
        let opened = Database::open(file).map_err(redb::Error::from);
        let opened = opened.and_then(|opened| match read_about(&opened)? {
            Some(Ok((_, last))) => Ok((opened, last)),
            _ => Err(no_names()),
        });
        match opened {
            Ok((opened, last)) => {
                *database = Ok(opened);
                Ok(last)
            }
            Err(error) => {
                let error = failed(error);
                *database = Err(error.clone());
                Err(error)
            }
        }
    }
}

/// The thread that makes changes.
struct Writer {
    shared: Arc<Shared>,
    /// The number of the last transaction.
    last: u64,
    /// Until when changes are refused, as there was no room.
    refuse_until: Option<Instant>,
}

impl Writer {
    /// Makes changes until the store is closed.
    fn run(&mut self, mut queue: mpsc::Receiver<Request>) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        while queue.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
            let outcomes = self.make(&batch);
            let each = outcomes.as_ref().map(Vec::as_slice);
            for (at, request) in batch.drain(..).enumerate() {
                let outcome = match each {
                    Ok(outcomes) => outcomes.get(at).copied().ok_or(StoreError::Closed),
                    Err(error) => Err(error.clone()),
                };
                // A client that has gone waits for nothing.
                let _ = request.done.send(outcome);
            }
        }
        let mut database = self
            .shared
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Ok(database) = std::mem::replace(&mut *database, Err(StoreError::Closed))
            && let Err(error) = database.close()
        {
            tracing::warn!(error = %redb::Error::from(error), "the store is not closed in order");
        }
    }

    fn make(&mut self, batch: &[Request]) -> Result<Vec<Outcome>, StoreError> {
        if let Some(until) = self.refuse_until
            && Instant::now() < until
        {
            return Err(StoreError::Full);
        }
        self.refuse_until = None;
        let number = self.last.saturating_add(1);
        match self.commit(number, batch) {
            Ok(Ok(outcomes)) => {
                self.last = number;
                Ok(outcomes)
            }
            Ok(Err(error)) => Err(self.recover(number, error)),
            Err(error) => {
                // The file could not be opened the last time.
                self.last = self.shared.reopen().unwrap_or(self.last);
                Err(error)
            }
        }
    }

    /// Makes changes by one transaction. The outer error is that of a store that is not open.
    fn commit(
        &self,
        number: u64,
        batch: &[Request],
    ) -> Result<Result<Vec<Outcome>, redb::Error>, StoreError> {
        let database = self
            .shared
            .database
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().map_err(Clone::clone)?;
        Ok(write(database, number, batch))
    }

    /// Opens the store again when a transaction has failed. Gives the error for its changes.
    fn recover(&mut self, number: u64, error: redb::Error) -> StoreError {
        let is_full = is_full(&error);
        tracing::error!(%error, is_full, "changes cannot be stored");
        match self.shared.reopen() {
            Ok(last) => {
                self.last = last;
                if is_full && last < number {
                    self.refuse_until = Instant::now().checked_add(REFUSED_FOR);
                    return StoreError::Full;
                }
            }
            Err(error) => tracing::error!(%error, "the store cannot be opened again"),
        }
        failed(error)
    }
}

/// Makes changes by one transaction, and waits until they are on disk.
fn write(database: &Database, number: u64, batch: &[Request]) -> Result<Vec<Outcome>, redb::Error> {
    let writing = begin(database)?;
    let mut outcomes = Vec::with_capacity(batch.len());
    {
        let mut tables = Tables {
            contexts: writing.open_table(CONTEXTS)?,
            bindings: writing.open_table(BINDINGS)?,
        };
        for request in batch {
            outcomes.push(tables.apply(&request.change)?);
        }
        let mut about = writing.open_table(ABOUT)?;
        about.insert(LAST_ROW, &number.to_be_bytes()[..])?;
    }
    if outcomes.contains(&Outcome::Done) {
        writing.commit()?;
    } else {
        writing.abort()?;
    }
    Ok(outcomes)
}

struct Tables<'t> {
    contexts: Table<'t, [u8; 16], ()>,
    bindings: Table<'t, &'static [u8], &'static [u8]>,
}

impl Tables<'_> {
    fn apply(&mut self, change: &Change) -> Result<Outcome, StorageError> {
        match change {
            Change::Bind {
                context,
                key,
                binding,
                replace,
            } => self.bind(*context, key, binding, *replace),
            Change::BindNew { context, key, new } => {
                let binding = Binding {
                    binding_type: BindingType::Ncontext,
                    target: Target::Context(*new),
                };
                let outcome = self.bind(*context, key, &binding, Replace::Nothing)?;
                if outcome == Outcome::Done {
                    self.contexts.insert(new.0, ())?;
                }
                Ok(outcome)
            }
            Change::Unbind { context, key } => {
                if self.bindings.remove(&row(*context, key)[..])?.is_some() {
                    return Ok(Outcome::Done);
                }
                Ok(match self.has(*context)? {
                    true => Outcome::NotBound,
                    false => Outcome::NoContext,
                })
            }
            Change::Create { new } => {
                self.contexts.insert(new.0, ())?;
                Ok(Outcome::Done)
            }
            Change::Destroy { context } => {
                if !self.has(*context)? {
                    return Ok(Outcome::NoContext);
                }
                let first = self.bindings.range(&context.0[..]..)?.next().transpose()?;
                if first.is_some_and(|(row, _)| row.value().starts_with(&context.0)) {
                    return Ok(Outcome::NotEmpty);
                }
                self.contexts.remove(context.0)?;
                Ok(Outcome::Done)
            }
        }
    }

    fn has(&self, context: ContextId) -> Result<bool, StorageError> {
        Ok(self.contexts.get(context.0)?.is_some())
    }

    fn bind(
        &mut self,
        context: ContextId,
        key: &Key,
        binding: &Binding,
        replace: Replace,
    ) -> Result<Outcome, StorageError> {
        if !self.has(context)? {
            return Ok(Outcome::NoContext);
        }
        let row = row(context, key);
        let is_context = match self.bindings.get(&row[..])? {
            Some(bound) => Some(is_context(bound.value())?),
            None => None,
        };
        match (is_context, replace) {
            (None, _) | (Some(false), Replace::Object) | (Some(true), Replace::Context) => {
                self.bindings.insert(&row[..], &binding.to_octets()[..])?;
                Ok(Outcome::Done)
            }
            (Some(_), Replace::Nothing) => Ok(Outcome::AlreadyBound),
            (Some(true), Replace::Object) => Ok(Outcome::IsContext),
            (Some(false), Replace::Context) => Ok(Outcome::IsObject),
        }
    }
}

/// Whether a stored binding is of a context.
fn is_context(stored: &[u8]) -> Result<bool, StorageError> {
    let binding = Binding::from_octets(stored);
    let binding = binding.map_err(|error| StorageError::Corrupted(error.to_string()))?;
    Ok(binding.binding_type == BindingType::Ncontext)
}

impl Store for EmbeddedStore {
    fn root(&self) -> ContextId {
        self.root
    }

    async fn get(&self, context: ContextId, key: &Key) -> Result<Found, StoreError> {
        let found = self.shared.read(|reading| {
            let bindings = reading.open_table(BINDINGS)?;
            if let Some(bound) = bindings.get(&row(context, key)[..])? {
                return Ok(Ok(Binding::from_octets(bound.value())));
            }
            let contexts = reading.open_table(CONTEXTS)?;
            Ok(Err(contexts.get(context.0)?.is_some()))
        })?;
        Ok(match found {
            Ok(binding) => Found::Bound(binding?),
            Err(true) => Found::Unbound,
            Err(false) => Found::NoContext,
        })
    }

    async fn has_context(&self, context: ContextId) -> Result<bool, StoreError> {
        self.shared.read(|reading| {
            let contexts = reading.open_table(CONTEXTS)?;
            Ok(contexts.get(context.0)?.is_some())
        })
    }

    async fn list(
        &self,
        context: ContextId,
        after: Option<&Key>,
        limits: PageLimits,
    ) -> Result<Option<Page>, StoreError> {
        let page = self.shared.read(|reading| {
            let contexts = reading.open_table(CONTEXTS)?;
            if contexts.get(context.0)?.is_none() {
                return Ok(None);
            }
            let bindings = reading.open_table(BINDINGS)?;
            let from = match after {
                Some(key) => row(context, key),
                None => context.0.to_vec(),
            };
            let mut page = Page::default();
            let mut octets = 0_usize;
            for bound in bindings.range(&from[..]..)? {
                let (row, bound) = bound?;
                let Some(key) = row.value().strip_prefix(&context.0[..]) else {
                    break;
                };
                if after.is_some_and(|after| after.as_octets() == key) {
                    continue;
                }
                let more = key.len().saturating_add(PageLimits::OCTETS_PER_NAME);
                octets = octets.saturating_add(more);
                let is_first = page.names.is_empty();
                if page.names.len() >= limits.names || (octets > limits.octets && !is_first) {
                    page.has_more = true;
                    break;
                }
                let Some(key) = Key::from_octets(key) else {
                    return Ok(Some(Err(StoreError::Malformed)));
                };
                match Binding::from_octets(bound.value()) {
                    Ok(binding) => page.names.push((key, binding.binding_type)),
                    Err(error) => return Ok(Some(Err(error))),
                }
            }
            Ok(Some(Ok(page)))
        })?;
        page.transpose()
    }

    async fn change(&self, change: Change) -> Result<Outcome, StoreError> {
        let changes = self.changes.lock();
        let changes = changes.unwrap_or_else(PoisonError::into_inner).clone();
        let changes = changes.ok_or(StoreError::Closed)?;
        let (done, outcome) = oneshot::channel();
        let request = Request { change, done };
        let gone = |_| StoreError::Closed;
        changes
            .send(request)
            .await
            .map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(gone)?
    }

    async fn close(&self) {
        let changes = self.changes.lock();
        drop(changes.unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock();
        let writer = writer.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // The thread ends when the changes are made that others have begun.
            let _ = tokio::task::spawn_blocking(move || writer.join()).await;
        }
    }
}

#[cfg(test)]
mod tests;
