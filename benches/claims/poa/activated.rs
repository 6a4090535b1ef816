//! Activated objects: finding one of them, and what they take beside their servants.

use crate::{Failure, Ids, resident};
use bytes::Bytes;
use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use zorb_poa::{
    Adapter, InstanceId, ObjectAdapter, Outcome, Policies, ServerRequest, Skeleton, Started,
};

/// A servant of one word, behind its skeleton.
struct Row(Arc<u64>);

impl Skeleton for Row {
    fn repository_id(&self) -> &'static str {
        "IDL:claims/Row:1.0"
    }

    fn is_a(&self, id: &str) -> bool {
        id == self.repository_id()
    }

    fn servant(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::clone(&self.0) as Arc<dyn Any + Send + Sync>)
    }

    fn start(&self, mut request: ServerRequest) -> Started {
        request.set_outcome(Outcome::Silent);
        Started::Ended(request)
    }
}

/// Servants that are there before they are activated.
type Rows = Vec<Arc<dyn Skeleton>>;

/// So many servants, and an adapter for them.
fn made(ids: Ids, objects: usize) -> Result<(ObjectAdapter, Arc<Adapter>, Rows), Failure> {
    let adapters = ObjectAdapter::new(InstanceId(1), "claims");
    let policies = match ids {
        Ids::Transient => Policies::default(),
        Ids::Ids => Policies::PERSISTENT,
    };
    let adapter = adapters.create(adapters.root(), "rows", policies, None)?;
    let rows = (0..objects as u64)
        .map(|number| Arc::new(Row(Arc::new(number))) as Arc<dyn Skeleton>)
        .collect();
    Ok((adapters, adapter, rows))
}

/// Activates one of them; its key.
fn activate(
    ids: Ids,
    adapter: &Adapter,
    number: usize,
    row: Arc<dyn Skeleton>,
) -> Result<Bytes, Failure> {
    Ok(match ids {
        Ids::Transient => adapter.activate(row)?,
        Ids::Ids => adapter.activate_with_id(&number.to_be_bytes(), row)?,
    })
}

/// Activates so many servants, which are there before.
pub(crate) fn memory(ids: Ids, objects: usize) -> Result<serde_json::Value, Failure> {
    let (_adapters, adapter, rows) = made(ids, objects)?;
    let before = resident()?;
    let begin = Instant::now();
    for (number, row) in rows.iter().enumerate() {
        drop(activate(ids, &adapter, number, Arc::clone(row))?);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let octets = (resident()? - before) / objects as f64;
    drop(rows);
    Ok(serde_json::json!({ "octets": octets, "seconds": seconds }))
}

/// Look-ups between two looks at the clock; and how many times the clock is looked at.
const ROUND: u32 = 10_000;
const ROUNDS: u32 = 100;

/// Finds the last of so many objects: the fastest round, since whatever else the machine does takes time and gives none.
pub(crate) fn look_up(ids: Ids, objects: usize) -> Result<serde_json::Value, Failure> {
    let (adapters, adapter, rows) = made(ids, objects)?;
    let mut key = Bytes::new();
    for (number, row) in rows.into_iter().enumerate() {
        key = activate(ids, &adapter, number, row)?;
    }
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..ROUND {
            drop(black_box(
                adapters
                    .locate(black_box(&key))
                    .map_err(|_| "it is not active")?,
            ));
        }
        fastest = fastest.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND));
    }
    Ok(serde_json::json!({ "ns": fastest }))
}
