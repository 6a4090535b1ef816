//! The accounts on disk: a table of an embedded store, which a transaction changes as a whole or not at all.

use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Balances by number.
const ACCOUNTS: TableDefinition<'_, u64, i64> = TableDefinition::new("accounts");
/// Accounts of a branch.
const BRANCH_SIZE: u64 = 1_000;
/// Deposits that one transaction takes along. A commit waits for the disk, and all that have come meanwhile share the next.
const MAX_BATCH: usize = 1_000;

/// A deposit, and where its new balance goes: `None` if there is no such account.
struct Deposit {
    number: u64,
    cents: i64,
    done: oneshot::Sender<Result<Option<i64>, Arc<redb::Error>>>,
}

/// The accounts.
#[derive(Clone)]
pub(crate) struct Ledger {
    database: Arc<Database>,
    deposits: mpsc::Sender<Deposit>,
}

impl Ledger {
    /// Opens the file, or makes it with `accounts` empty accounts. Made by one transaction, so that a process that is killed
    /// meanwhile leaves none of them.
    pub(crate) fn open(file: &Path, accounts: u64) -> Result<Self, redb::Error> {
        let database = Arc::new(Database::create(file)?);
        let making = database.begin_write()?;
        {
            let mut table = making.open_table(ACCOUNTS)?;
            if table.is_empty()? {
                for number in 0..accounts {
                    table.insert(number, 0)?;
                }
            }
        }
        making.commit()?;
        let (deposits, queue) = mpsc::channel(MAX_BATCH);
        let writer = Arc::clone(&database);
        // Writes wait for the disk, for which a reactor has no time.
        std::thread::spawn(move || write(&writer, queue));
        Ok(Self { database, deposits })
    }

    /// How many accounts there are.
    pub(crate) fn len(&self) -> Result<u64, redb::Error> {
        let table = self.database.begin_read()?.open_table(ACCOUNTS)?;
        Ok(table.len()?)
    }

    /// How many branches the accounts are in.
    pub(crate) fn branches(&self) -> Result<u64, redb::Error> {
        Ok(self.len()?.div_ceil(BRANCH_SIZE))
    }

    /// The balance of an account; `None` if there is no such account.
    pub(crate) fn balance(&self, number: u64) -> Result<Option<i64>, redb::Error> {
        let table = self.database.begin_read()?.open_table(ACCOUNTS)?;
        Ok(table.get(number)?.map(|cents| cents.value()))
    }

    /// The sum of a branch's accounts.
    pub(crate) fn total(&self, branch: u64) -> Result<i64, redb::Error> {
        let table = self.database.begin_read()?.open_table(ACCOUNTS)?;
        let first = branch * BRANCH_SIZE;
        let mut total = 0;
        for row in table.range(first..first + BRANCH_SIZE)? {
            total += row?.1.value();
        }
        Ok(total)
    }

    /// Adds to an account, and gives its new balance once that is on disk.
    pub(crate) async fn deposit(
        &self,
        number: u64,
        cents: i64,
    ) -> Result<Option<i64>, Arc<redb::Error>> {
        let (done, result) = oneshot::channel();
        let deposit = Deposit {
            number,
            cents,
            done,
        };
        let gone = || Arc::new(redb::Error::DatabaseClosed);
        self.deposits.send(deposit).await.map_err(|_| gone())?;
        result.await.map_err(|_| gone())?
    }
}

/// Writes deposits until the last ledger is dropped: all that are waiting, in one transaction.
fn write(database: &Database, mut queue: mpsc::Receiver<Deposit>) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while queue.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
        match commit(database, &batch) {
            Ok(balances) => {
                for (deposit, balance) in batch.drain(..).zip(balances) {
                    // A client that has gone waits for nothing.
                    let _ = deposit.done.send(Ok(balance));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                for deposit in batch.drain(..) {
                    let _ = deposit.done.send(Err(Arc::clone(&error)));
                }
            }
        }
    }
}

fn commit(database: &Database, batch: &[Deposit]) -> Result<Vec<Option<i64>>, redb::Error> {
    let writing = database.begin_write()?;
    let mut balances = Vec::with_capacity(batch.len());
    {
        let mut table = writing.open_table(ACCOUNTS)?;
        for deposit in batch {
            let before = table.get(deposit.number)?.map(|cents| cents.value());
            let balance = before.map(|cents| cents.saturating_add(deposit.cents));
            if let Some(balance) = balance {
                table.insert(deposit.number, balance)?;
            }
            balances.push(balance);
        }
    }
    // Waits until it is on disk.
    writing.commit()?;
    Ok(balances)
}
