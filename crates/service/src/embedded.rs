//! The embedded store: a file of redb, written by one thread.
//!
//! Reads are done where they are asked for. Changes go to a thread, which makes all that have come while the disk was busy by one
//! transaction, and answers when that is on disk.

use crate::OpenError;
use redb::{
    Database, DatabaseError, ReadTransaction, ReadableDatabase, TableDefinition, WriteTransaction,
};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use zorb::{CompletionStatus, SystemException, SystemExceptionKind};

/// What the store says of itself.
const ABOUT: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");
/// Rows of [`ABOUT`]: the version, the id of the store, the number of the last transaction.
const FORMAT_ROW: &str = "format";
const ID_ROW: &str = "root";
const LAST_ROW: &str = "last";

/// Changes that one transaction makes at most, and that wait for the one after it.
pub const MAX_BATCH: usize = 1_024;
/// How long changes are refused when there was no room for one, before the next is tried.
pub const REFUSED_FOR: Duration = Duration::from_secs(1);
/// The file that is locked.
const LOCK_FILE: &str = "lock";

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no room for a change. Nothing was changed; what is stored can be read.
    #[error("there is no room for changes")]
    Full,
    /// The store fails. A change may have been made or not.
    #[error("the store fails")]
    Failed(#[source] Arc<dyn core::error::Error + Send + Sync>),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// The exception for a request that fails so. The cause goes to the log, as it is no client's business.
    #[must_use]
    pub fn raise(&self) -> SystemException {
        let (kind, completed) = match self {
            Self::Full => (SystemExceptionKind::NoResources, CompletionStatus::No),
            Self::Failed(cause) => {
                tracing::warn!(%cause, "a request fails, as the store does");
                (SystemExceptionKind::PersistStore, CompletionStatus::Maybe)
            }
            Self::Closed => (SystemExceptionKind::Transient, CompletionStatus::Maybe),
        };
        SystemException::new(kind, 0, completed).with_detail(format_args!("{self}"))
    }
}

/// The tables of a kind of store, and how they are changed.
pub trait Tables: Send + 'static {
    /// The name of the file in the folder of the store.
    const FILE: &'static str;
    /// The version of the tables' form. A store of another version is not opened.
    const FORMAT: u32;
    /// A change. It is made whole or not at all.
    type Change: Send + 'static;
    /// The result of a change.
    type Outcome: Send + 'static;

    /// Makes the tables of a new store, which has 16 octets by chance as its id.
    ///
    /// # Errors
    /// Those of redb.
    fn create(writing: &WriteTransaction, id: [u8; 16]) -> Result<(), redb::Error>;

    /// Makes changes in a transaction; the result of each, and whether there is anything to commit.
    ///
    /// # Errors
    /// Those of redb; none of the changes is made.
    fn apply(
        writing: &WriteTransaction,
        changes: &[&Self::Change],
    ) -> Result<(Vec<Self::Outcome>, bool), redb::Error>;

    /// A change is on disk. Called on the thread that writes, in the order of the changes, before the change is answered.
    fn committed(change: &Self::Change, outcome: &Self::Outcome) {
        let _ = (change, outcome);
    }
}

/// A store in a folder, or in memory.
#[derive(Debug)]
pub struct Embedded<T: Tables> {
    id: [u8; 16],
    shared: Arc<Shared>,
    /// To the thread that writes; `None` when the store is closed.
    changes: Mutex<Option<mpsc::Sender<Request<T>>>>,
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
struct Request<T: Tables> {
    change: T::Change,
    done: oneshot::Sender<Result<T::Outcome, StoreError>>,
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

impl<T: Tables> Embedded<T> {
    /// Opens the store in a folder, and makes what is missing. After a crash this takes no longer than otherwise, whatever is
    /// stored. Blocks on the disk.
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
        let file = folder.join(T::FILE);
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
        let (id, last) = match prepare::<T>(&database) {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(found)) => {
                return Err(OpenError::Version {
                    file: shown,
                    found,
                    expected: T::FORMAT,
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
            .name("store-writer".to_owned())
            .spawn(move || writer.run::<T>(queue))
            .map_err(|source| OpenError::Io {
                path: shown,
                source,
            })?;
        Ok(Self {
            id,
            shared,
            changes: Mutex::new(Some(changes)),
            writer: Mutex::new(Some(writer)),
            _lock: lock,
        })
    }

    /// The id that the store was made with.
    #[must_use]
    pub const fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Reads in a transaction. Blocks on the disk.
    ///
    /// # Errors
    /// Those of `read`, as [`StoreError::Failed`]; the store is closed.
    pub fn read<R>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<R, redb::Error>,
    ) -> Result<R, StoreError> {
        let database = self
            .shared
            .database
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().map_err(Clone::clone)?;
        let reading = database.begin_read().map_err(failed)?;
        read(&reading).map_err(failed)
    }

    /// Makes a change, which is on disk when this is ready. Waits while there are [`MAX_BATCH`] others.
    ///
    /// # Errors
    /// [`StoreError`].
    ///
    /// # Cancel safety
    /// The change may have been made or not.
    pub async fn change(&self, change: T::Change) -> Result<T::Outcome, StoreError> {
        let changes = self.changes.lock();
        let changes = changes.unwrap_or_else(PoisonError::into_inner).clone();
        let changes = changes.ok_or(StoreError::Closed)?;
        let (done, outcome) = oneshot::channel();
        let request = Request { change, done };
        changes
            .send(request)
            .await
            .map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(|_| StoreError::Closed)?
    }

    /// Ends the store, when all that was begun is done.
    ///
    /// # Cancel safety
    /// The store is closed all the same; only the wait ends.
    pub async fn close(&self) {
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

/// What a store says of itself: its id and the number of its last transaction, or its version if that is another one.
type About = Result<([u8; 16], u64), u32>;

/// Makes the tables of a new store.
fn prepare<T: Tables>(database: &Database) -> Result<About, redb::Error> {
    if let Some(about) = read_about::<T>(database)? {
        return Ok(about);
    }
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| io::Error::other(error.to_string()))?;
    let making = begin(database)?;
    T::create(&making, id)?;
    {
        let mut about = making.open_table(ABOUT)?;
        about.insert(FORMAT_ROW, &T::FORMAT.to_be_bytes()[..])?;
        about.insert(ID_ROW, &id[..])?;
        about.insert(LAST_ROW, &0_u64.to_be_bytes()[..])?;
    }
    making.commit()?;
    Ok(Ok((id, 0)))
}

/// What [`prepare`] gives for a store that is there; `None` for one without tables. Writes nothing, so that a full disk is no
/// reason not to start.
fn read_about<T: Tables>(database: &Database) -> Result<Option<About>, redb::Error> {
    let reading = database.begin_read()?;
    let about = match reading.open_table(ABOUT) {
        Ok(about) => about,
        Err(redb::TableError::TableDoesNotExist(_)) => {
            if reading.list_tables()?.next().is_some() {
                return Err(other_tables());
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
        Some(number) if number == T::FORMAT => {}
        Some(other) => return Ok(Some(Err(other))),
        None => return Err(other_tables()),
    }
    let id = row(ID_ROW)?.and_then(|row| row.try_into().ok());
    let last = row(LAST_ROW)?.and_then(|row| Some(u64::from_be_bytes(row.try_into().ok()?)));
    match (id, last) {
        (Some(id), Some(last)) => Ok(Some(Ok((id, last)))),
        _ => Err(other_tables()),
    }
}

fn other_tables() -> redb::Error {
    redb::Error::Corrupted("expected the tables of this program, found others".to_owned())
}

/// Begins a transaction after which the file is opened at once, whatever happens: without this redb reads all of it.
fn begin(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut writing = database.begin_write()?;
    writing.set_quick_repair(true);
    Ok(writing)
}

impl Shared {
    /// Opens the file anew: after an error of the disk redb does nothing any more, not even read.
    fn reopen<T: Tables>(&self) -> Result<u64, StoreError> {
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
        let opened = opened.and_then(|opened| match read_about::<T>(&opened)? {
            Some(Ok((_, last))) => Ok((opened, last)),
            _ => Err(other_tables()),
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
    fn run<T: Tables>(&mut self, mut queue: mpsc::Receiver<Request<T>>) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        while queue.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
            match self.make(&batch) {
                Ok(outcomes) => {
                    for (request, outcome) in batch.drain(..).zip(outcomes) {
                        T::committed(&request.change, &outcome);
                        // A client that has gone waits for nothing.
                        let _ = request.done.send(Ok(outcome));
                    }
                }
                Err(error) => {
                    for request in batch.drain(..) {
                        let _ = request.done.send(Err(error.clone()));
                    }
                }
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

    fn make<T: Tables>(&mut self, batch: &[Request<T>]) -> Result<Vec<T::Outcome>, StoreError> {
        if let Some(until) = self.refuse_until
            && Instant::now() < until
        {
            return Err(StoreError::Full);
        }
        self.refuse_until = None;
        let number = self.last.saturating_add(1);
        match self.commit::<T>(number, batch) {
            Ok(Ok(outcomes)) => {
                self.last = number;
                Ok(outcomes)
            }
            Ok(Err(error)) => Err(self.recover::<T>(number, error)),
            Err(error) => {
                // The file could not be opened the last time.
                self.last = self.shared.reopen::<T>().unwrap_or(self.last);
                Err(error)
            }
        }
    }

    /// Makes changes by one transaction. The outer error is that of a store that is not open.
    fn commit<T: Tables>(
        &self,
        number: u64,
        batch: &[Request<T>],
    ) -> Result<Result<Vec<T::Outcome>, redb::Error>, StoreError> {
        let database = self
            .shared
            .database
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().map_err(Clone::clone)?;
        Ok(write::<T>(database, number, batch))
    }

    /// Opens the store again when a transaction has failed. Gives the error for its changes.
    fn recover<T: Tables>(&mut self, number: u64, error: redb::Error) -> StoreError {
        let is_full = is_full(&error);
        tracing::error!(%error, is_full, "changes cannot be stored");
        match self.shared.reopen::<T>() {
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
fn write<T: Tables>(
    database: &Database,
    number: u64,
    batch: &[Request<T>],
) -> Result<Vec<T::Outcome>, redb::Error> {
    let writing = begin(database)?;
    let changes: Vec<&T::Change> = batch.iter().map(|request| &request.change).collect();
    let (outcomes, is_changed) = T::apply(&writing, &changes)?;
    if is_changed {
        {
            let mut about = writing.open_table(ABOUT)?;
            about.insert(LAST_ROW, &number.to_be_bytes()[..])?;
        }
        writing.commit()?;
    } else {
        writing.abort()?;
    }
    Ok(outcomes)
}
