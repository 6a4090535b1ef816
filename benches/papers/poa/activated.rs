//! The memory of an activated object beside its servant.

use crate::{Ids, resident};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;
use zorb_papers::dialogue::Failure;
use zorb_poa::{Incoming, InstanceId, ObjectAdapter, Outcome, Policies, Skeleton, Upcall};

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

    fn start(&self, _: Incoming<'_>) -> Upcall {
        Upcall::ready(Outcome::Silent)
    }
}

/// Activates so many servants, which are there before.
pub(crate) fn memory(ids: Ids, objects: usize) -> Result<serde_json::Value, Failure> {
    let adapters = ObjectAdapter::new(InstanceId(1), "claims");
    let policies = match ids {
        Ids::Transient => Policies::default(),
        Ids::Ids => Policies::PERSISTENT,
    };
    let adapter = adapters.create(adapters.root(), "rows", policies, None)?;
    let rows: Vec<Arc<dyn Skeleton>> = (0..objects as u64)
        .map(|number| Arc::new(Row(Arc::new(number))) as Arc<dyn Skeleton>)
        .collect();
    let before = resident()?;
    let begin = Instant::now();
    for (number, row) in rows.iter().enumerate() {
        let row = Arc::clone(row);
        match ids {
            Ids::Transient => adapter.activate(row)?,
            Ids::Ids => adapter.activate_with_id(&number.to_be_bytes(), row)?,
        };
    }
    let seconds = begin.elapsed().as_secs_f64();
    let octets = (resident()? - before) / objects as f64;
    drop(rows);
    Ok(serde_json::json!({ "octets": octets, "seconds": seconds }))
}
