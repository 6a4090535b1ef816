//! What a service keeps on disk.
//!
//! | table | key | value |
//! |---|---|---|
//! | `sets` | set | its constraints |
//! | `properties` | set, name | value and mode |
//! | `last` | | the number of the last set that was made, which no other gets |
//!
//! A change of a set is one transaction, on disk before it is answered.

use crate::cos_property_service::PropertyModeType;
use crate::set::{Constraints, Property};
use crate::stored::{StoredProperty, StoredSet};
use redb::{ReadableTable, TableDefinition, WriteTransaction};
use std::collections::BTreeMap;
use std::path::Path;
use zorb::cdr::{
    ByteOrder, Decode, Decoder, EncapsulationVisitor, Encode, NativeEndian, WireFormat,
};
use zorb::{DecodeError, EncodeError, SystemException};
use zorb_service::{Embedded, OpenError};

const SETS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("sets");
const PROPERTIES: TableDefinition<'_, (u64, &str), &[u8]> = TableDefinition::new("properties");

const LAST: TableDefinition<'_, (), u64> = TableDefinition::new("last");

/// A store of properties, in a folder or in memory.
#[derive(Debug)]
pub struct PropertyStore(Embedded<PropertyTables>);

/// A change of a set.
#[derive(Debug)]
pub(crate) enum Change {
    /// A new set, with its first properties.
    Create {
        set: u64,
        constraints: Vec<u8>,
        properties: Vec<(String, Vec<u8>)>,
    },
    /// Properties that are defined, and those that are deleted.
    Properties {
        set: u64,
        changed: Vec<(String, Option<Vec<u8>>)>,
    },
    Remove {
        set: u64,
    },
}

/// The tables of properties.
#[derive(Debug)]
struct PropertyTables;

impl zorb_service::Tables for PropertyTables {
    const FILE: &'static str = "properties.redb";
    const FORMAT: u32 = 1;
    type Change = Change;
    type Outcome = ();

    fn create(writing: &WriteTransaction, _: [u8; 16]) -> Result<(), redb::Error> {
        writing.open_table(SETS)?;
        writing.open_table(PROPERTIES)?;
        writing.open_table(LAST)?;
        Ok(())
    }

    fn apply(
        writing: &WriteTransaction,
        changes: &[&Change],
    ) -> Result<(Vec<()>, bool), redb::Error> {
        let mut sets = writing.open_table(SETS)?;
        let mut table = writing.open_table(PROPERTIES)?;
        for change in changes {
            match change {
                Change::Create {
                    set,
                    constraints,
                    properties,
                } => {
                    sets.insert(set, &constraints[..])?;
                    let mut last = writing.open_table(LAST)?;
                    let before = last.get(())?.map_or(0, |number| number.value());
                    last.insert((), before.max(*set))?;
                    for (name, value) in properties {
                        table.insert((*set, name.as_str()), &value[..])?;
                    }
                }
                Change::Properties { set, changed } => {
                    for (name, value) in changed {
                        match value {
                            Some(value) => table.insert((*set, name.as_str()), &value[..])?,
                            None => table.remove((*set, name.as_str()))?,
                        };
                    }
                }
                Change::Remove { set } => {
                    sets.remove(set)?;
                    table.retain_in((*set, "")..(set.saturating_add(1), ""), |_, _| false)?;
                }
            }
        }
        Ok((vec![(); changes.len()], true))
    }
}

/// A set as it is stored.
pub(crate) struct Kept {
    pub(crate) number: u64,
    /// With their octets.
    pub(crate) constraints: (Constraints, usize),
    pub(crate) properties: BTreeMap<String, Property>,
}

/// Encodes a value as it is stored.
fn octets_of(value: &impl Encode) -> Result<Vec<u8>, EncodeError> {
    let format = WireFormat::default();
    zorb::cdr::encode_encapsulation::<NativeEndian>(format, |e| e.put(value))
}

pub(crate) fn octets_of_property(property: &Property) -> Result<Vec<u8>, SystemException> {
    let stored = StoredProperty {
        value: property.value.clone(),
        mode: property.mode,
    };
    Ok(octets_of(&stored)?)
}

pub(crate) fn octets_of_constraints(constraints: &Constraints) -> Result<Vec<u8>, SystemException> {
    let stored = StoredSet {
        types: constraints.types.clone(),
        defs: constraints.defs(),
    };
    Ok(octets_of(&stored)?)
}

/// Reads what [`octets_of`] has written.
struct Read<T>(core::marker::PhantomData<T>);

impl<'de, T: for<'d> Decode<'d>> EncapsulationVisitor<'de> for Read<T> {
    type Output = T;

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<T, DecodeError> {
        T::decode(decoder)
    }
}

fn read<T: for<'d> Decode<'d>>(octets: &[u8]) -> Result<T, DecodeError> {
    let format = WireFormat::default();
    zorb::cdr::decode_encapsulation(octets, format, Read(core::marker::PhantomData))
}

impl PropertyStore {
    /// Opens the store in a folder, and makes what is missing. Blocks on the disk.
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

    pub(crate) fn id(&self) -> u128 {
        u128::from_be_bytes(self.0.id())
    }

    /// Makes a change, which is on disk when this is ready.
    pub(crate) async fn change(&self, change: Change) -> Result<(), SystemException> {
        let made = self.0.change(change).await;
        made.map_err(|error| error.raise())
    }

    /// All sets, and the number of the last one that was made. What is malformed is left out, and logged.
    pub(crate) fn load(&self) -> Result<(Vec<Kept>, u64), SystemException> {
        let loaded = self.0.read(|reading| {
            let table = reading.open_table(PROPERTIES)?;
            let mut all = Vec::new();
            for row in reading.open_table(SETS)?.iter()? {
                let (number, constraints) = row?;
                let number = number.value();
                let constraints = match read::<StoredSet>(constraints.value()) {
                    Ok(stored) => (
                        Constraints::new(stored.types, stored.defs),
                        constraints.value().len(),
                    ),
                    Err(error) => {
                        tracing::error!(number, %error, "a stored set is malformed");
                        continue;
                    }
                };
                let mut properties = BTreeMap::new();
                for row in table.range((number, "")..(number.saturating_add(1), ""))? {
                    let (key, value) = row?;
                    match read::<StoredProperty>(value.value()) {
                        Ok(StoredProperty { value, mode }) => {
                            let name = key.value().1.to_owned();
                            properties.insert(name, Property { value, mode });
                        }
                        Err(error) => {
                            tracing::error!(number, %error, "a stored property is malformed");
                        }
                    }
                }
                all.push(Kept {
                    number,
                    constraints,
                    properties,
                });
            }
            let last = reading.open_table(LAST)?.get(())?;
            Ok((all, last.map_or(0, |number| number.value())))
        });
        loaded.map_err(|error| error.raise())
    }

    pub(crate) async fn close(&self) {
        self.0.close().await;
    }
}

/// The mode of properties that are defined without one.
pub(crate) const DEFAULT_MODE: PropertyModeType = PropertyModeType::Normal;
