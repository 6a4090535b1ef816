//! The prices on disk: rows of an embedded store, each change one transaction.

use crate::Quote;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Prices by symbol and time.
const PRICES: TableDefinition<'_, (&str, u64), f64> = TableDefinition::new("prices");

/// The prices. Its methods wait for the disk: call them on threads that may block.
#[derive(Debug)]
pub struct Store(Database);

impl Store {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// The file is of something else, another process has it, or the disk fails.
    pub fn open(file: &Path) -> Result<Self, redb::Error> {
        let database = Database::create(file)?;
        let making = database.begin_write()?;
        making.open_table(PRICES)?;
        making.commit()?;
        Ok(Self(database))
    }

    /// Adds a price, and gives it with its time: now, or later than the last one if the clock was set back. It is on disk then.
    ///
    /// # Errors
    /// The disk fails or is full; nothing is changed.
    pub fn add(&self, symbol: &str, price: f64) -> Result<Quote, redb::Error> {
        let writing = self.0.begin_write()?;
        let at = {
            let mut table = writing.open_table(PRICES)?;
            let last = last_of(&table, symbol)?.map_or(0, |quote| quote.at);
            let at = now().max(last + 1);
            table.insert((symbol, at), price)?;
            at
        };
        writing.commit()?;
        let symbol = symbol.to_owned();
        Ok(Quote { symbol, price, at })
    }

    /// The last price of each symbol, in the order of their names.
    ///
    /// # Errors
    /// The disk fails.
    pub fn last(&self) -> Result<Vec<Quote>, redb::Error> {
        let table = self.0.begin_read()?.open_table(PRICES)?;
        let mut all = Vec::new();
        // From each symbol to the row behind its last one, rather than through its whole history.
        let mut next = table.first()?.map(|(key, _)| key.value().0.to_owned());
        while let Some(symbol) = next {
            all.extend(last_of(&table, &symbol)?);
            let behind = table.range((symbol.as_str(), u64::MAX)..)?.next();
            next = behind.transpose()?.map(|(key, _)| key.value().0.to_owned());
        }
        Ok(all)
    }

    /// The last `most` prices of a symbol, the newest first.
    ///
    /// # Errors
    /// The disk fails.
    pub fn history(&self, symbol: &str, most: usize) -> Result<Vec<Quote>, redb::Error> {
        let table = self.0.begin_read()?.open_table(PRICES)?;
        let rows = table.range((symbol, 0)..=(symbol, u64::MAX))?;
        let newest = rows.rev().take(most);
        newest
            .map(|row| row.map(quote).map_err(Into::into))
            .collect()
    }
}

fn last_of(
    table: &impl ReadableTable<(&'static str, u64), f64>,
    symbol: &str,
) -> Result<Option<Quote>, redb::Error> {
    let mut rows = table.range((symbol, 0)..=(symbol, u64::MAX))?;
    Ok(rows.next_back().transpose()?.map(quote))
}

type Row<'a> = (
    redb::AccessGuard<'a, (&'static str, u64)>,
    redb::AccessGuard<'a, f64>,
);

fn quote((key, price): Row<'_>) -> Quote {
    let (symbol, at) = key.value();
    let (symbol, price) = (symbol.to_owned(), price.value());
    Quote { symbol, price, at }
}

/// Microseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::Store;

    #[test]
    fn prices_are_found_by_symbol_and_time_in_the_next_run_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prices.redb");
        let store = Store::open(&file).expect("a new store");
        assert_eq!(store.last().expect("read"), []);
        for (symbol, price) in [("B", 1.0), ("A", 2.0), ("B", 3.0), ("AA", 4.0)] {
            store.add(symbol, price).expect("written");
        }
        drop(store);

        let store = Store::open(&file).expect("the same store");
        let last = store.last().expect("read");
        let last: Vec<_> = last.iter().map(|it| (&*it.symbol, it.price)).collect();
        assert_eq!(last, [("A", 2.0), ("AA", 4.0), ("B", 3.0)]);
        let prices = |most| -> Vec<f64> {
            let history = store.history("B", most).expect("read");
            history.iter().map(|it| it.price).collect()
        };
        assert_eq!((prices(9), prices(1)), (vec![3.0, 1.0], vec![3.0]));
        assert_eq!(store.history("C", 9).expect("read"), []);
    }
}
