//! The embedded store: a file of redb. Reads are look-ups in a B-tree; changes are made by [`Embedded`], many by one transaction.

use super::{
    Binding, Change, ContextId, Found, Key, OpenError, Outcome, Page, PageLimits, Place, Replace,
    Store, StoreError, Target,
};
use redb::{ReadableTable, StorageError, Table, TableDefinition, WriteTransaction};
use std::path::Path;
use zorb::naming::cos_naming::BindingType;
use zorb_service::Embedded;

/// The contexts.
const CONTEXTS: TableDefinition<'_, [u8; 16], ()> = TableDefinition::new("contexts");
/// Bindings, by the id of their context and their key behind it.
const BINDINGS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("bindings");

/// A store in a folder, or in memory. Its id is that of the root context.
#[derive(Debug)]
pub struct EmbeddedStore(Embedded<Names>);

/// The tables of names.
#[derive(Debug)]
struct Names;

impl EmbeddedStore {
    /// Opens the store in a folder, and makes what is missing. After a crash this takes no longer than otherwise, whatever
    /// the number of names. Blocks on the disk.
    ///
    /// # Errors
    /// [`OpenError`], of which [`InUse`](OpenError::InUse) means that another process has it open.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Embedded::open(folder).map(Self)
    }

    /// Makes a store that ends with the process.
    ///
    /// # Errors
    /// There is no memory, or no thread.
    pub fn in_memory() -> Result<Self, OpenError> {
        Embedded::in_memory().map(Self)
    }
}

impl zorb_service::Tables for Names {
    const FILE: &'static str = "names.redb";
    const FORMAT: u32 = 1;
    type Change = Change;
    type Outcome = Outcome;

    fn create(writing: &WriteTransaction, id: [u8; 16]) -> Result<(), redb::Error> {
        writing.open_table(BINDINGS)?;
        writing.open_table(CONTEXTS)?.insert(id, ())?;
        Ok(())
    }

    fn apply(
        writing: &WriteTransaction,
        changes: &[&Change],
    ) -> Result<(Vec<Outcome>, bool), redb::Error> {
        let mut tables = Tables {
            contexts: writing.open_table(CONTEXTS)?,
            bindings: writing.open_table(BINDINGS)?,
        };
        let made = changes.iter().map(|change| tables.apply(change));
        let outcomes = made.collect::<Result<Vec<_>, _>>()?;
        let is_changed = outcomes.contains(&Outcome::Done);
        Ok((outcomes, is_changed))
    }
}

/// The rows of a context begin with its id.
fn row(context: ContextId, key: &Key) -> Vec<u8> {
    [&context.0, key.as_octets()].concat()
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
        ContextId(self.0.id())
    }

    async fn get(&self, context: ContextId, key: &Key) -> Result<Found, StoreError> {
        let found = self.0.read(|reading| {
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
        let is_there = self.0.read(|reading| {
            let contexts = reading.open_table(CONTEXTS)?;
            Ok(contexts.get(context.0)?.is_some())
        })?;
        Ok(is_there)
    }

    async fn list(
        &self,
        context: ContextId,
        after: Option<&Place>,
        limits: PageLimits,
    ) -> Result<Option<Page>, StoreError> {
        let after = after.map(Place::key).transpose()?;
        let page = self.0.read(|reading| {
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
        Ok(self.0.change(change).await?)
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

#[cfg(test)]
mod tests;
