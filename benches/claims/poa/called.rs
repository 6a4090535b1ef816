//! Calls over TCP, of a client and a server in one process.

use crate::{Failure, resident};
use std::time::Instant;
use zorb::{
    IdUniqueness, Interface, ObjectId, Orb, Poa, PoaCurrent, Policies, RequestProcessing, Servant,
    ServantLocator, ServantManagerError, ServantRetention, SystemException,
};

zorb::idl! {
    module Claims {
        interface Row {
            unsigned long long number();
            // The id of the object that is called.
            unsigned long long id();
        };
    };
}

use claims::{Row, RowRef, RowServant};

struct One(u64);

impl Row for One {
    async fn number(&self) -> Result<u64, SystemException> {
        Ok(self.0)
    }

    async fn id(&self) -> Result<u64, SystemException> {
        let id = PoaCurrent::get_object_id()?;
        let octets = id.as_ref().try_into().unwrap_or_default();
        Ok(u64::from_be_bytes(octets))
    }
}

/// A locator that does nothing of its own.
struct Finds(Servant);

impl ServantLocator for Finds {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Ok((self.0.clone(), ()))
    }
}

/// Calls that are made before the clock is looked at again.
const ROUND: usize = 250;

/// Nanoseconds of a call: of the rounds the one in the middle, of each series.
fn middle(mut each: Vec<f64>) -> f64 {
    each.sort_by(f64::total_cmp);
    each.get(each.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A reference of the client's, and what its object answers.
type Expected = (RowRef, u64);

/// Calls each once: its id, or its number.
async fn call(rows: &[Expected], by_id: bool) -> Result<(), Failure> {
    for (row, expected) in rows {
        let got = match by_id {
            true => row.id().await?,
            false => row.number().await?,
        };
        if got != *expected {
            return Err(format!("{got} instead of {expected}").into());
        }
    }
    Ok(())
}

/// Nanoseconds of a call, when the references are bound.
async fn timed(rows: &[Expected], by_id: bool) -> Result<f64, Failure> {
    let begin = Instant::now();
    call(rows, by_id).await?;
    Ok(begin.elapsed().as_secs_f64() * 1e9 / rows.len() as f64)
}

fn in_runtime<T>(run: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run)
}

async fn orbs() -> Result<(Orb, Orb), Failure> {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    let client = Orb::builder().build().await?;
    Ok((server, client))
}

async fn far(client: &Orb, row: &RowRef) -> Result<RowRef, Failure> {
    let text = row.as_object().to_string();
    Ok(client.string_to_object(&text).await?.unchecked_narrow())
}

/// Calls to one of so many objects, and to the same one, in turns: by a reference at random of as many.
pub(crate) fn wire(objects: usize, calls: usize) -> Result<serde_json::Value, Failure> {
    in_runtime(async {
        let (server, client) = orbs().await?;
        let poa = server.root_poa();
        poa.the_poa_manager().activate()?;
        let (mut rows, mut to_one) = (Vec::with_capacity(objects), Vec::with_capacity(objects));
        let mut first = None;
        for number in 0..objects as u64 {
            let row = poa.activate(RowServant::new(One(number)))?;
            // A client with as many references to the same object: those are no nearer in its caches.
            let (same, its_number) = first.get_or_insert_with(|| (row.clone(), number));
            to_one.push((far(&client, same).await?, *its_number));
            rows.push((far(&client, &row).await?, number));
        }
        // Bound before the clock runs.
        call(&rows, false).await?;
        call(&to_one, false).await?;
        let mut random = fastrand::Rng::with_seed(1);
        let (mut many, mut one) = (Vec::new(), Vec::new());
        for _ in 0..calls / ROUND {
            for (times, rows) in [(&mut many, &rows), (&mut one, &to_one)] {
                let any = || rows[random.usize(0..rows.len())].clone();
                let any: Vec<_> = core::iter::repeat_with(any).take(ROUND).collect();
                times.push(timed(&any, false).await?);
            }
        }
        let answer = serde_json::json!({ "many_ns": middle(many), "one_ns": middle(one) });
        server.shutdown(true).await?;
        client.shutdown(true).await?;
        Ok(answer)
    })
}

/// Calls to an active object, to distinct objects of a default servant, and to those of a locator, in turns.
pub(crate) fn servants(calls: usize) -> Result<serde_json::Value, Failure> {
    in_runtime(async {
        let (server, client) = orbs().await?;
        let root = server.root_poa();
        let manager = root.the_poa_manager();
        manager.activate()?;
        let beside = |name, processing| {
            let policies = Policies::PERSISTENT
                .with_id_uniqueness(IdUniqueness::Multiple)
                .with_servant_retention(ServantRetention::NonRetain)
                .with_request_processing(processing);
            root.create_poa_with(name, policies, Some(manager))
        };
        let table = beside("table", RequestProcessing::DefaultServant)?;
        table.set_servant(RowServant::new(One(0)))?;
        let located = beside("located", RequestProcessing::ServantManager)?;
        located.set_servant_locator(Finds(RowServant::new(One(7)).into()))?;
        let kept = root.create_poa_with("kept", Policies::PERSISTENT, Some(manager))?;
        let id = 7_u64.to_be_bytes();
        let active = kept.activate_object_with_id(id, RowServant::new(One(7)))?;
        // As many references as for different objects: a call binds a reference of its own.
        let mut same = Vec::with_capacity(ROUND);
        for _ in 0..ROUND {
            same.push((far(&client, &active).await?, 7));
        }
        call(&same, true).await?;
        // A call through a locator beside one of a default servant: neither servant is remembered from one request to
        // the next.
        let found = far(&client, &located.create_reference_with_id(id)?).await?;
        let found = vec![(found, 7); ROUND];
        let unlocated = far(&client, &table.create_reference_with_id(id)?).await?;
        let unlocated = vec![(unlocated, 7); ROUND];
        let mut next = 0_u64;
        // Each of another object, which has not been called before.
        let mut distinct = async |count: usize| {
            let mut rows = Vec::with_capacity(count);
            for _ in 0..count {
                next += 1;
                let row: RowRef = table.create_reference_with_id(next.to_be_bytes())?;
                rows.push((far(&client, &row).await?, next));
            }
            Ok::<_, Failure>(rows)
        };
        for _ in 0..8 {
            call(&distinct(ROUND).await?, true).await?;
        }
        let before = resident()?;
        for _ in 0..calls / ROUND {
            call(&distinct(ROUND).await?, true).await?;
        }
        let growth = resident()? - before;
        let mut times = [const { Vec::new() }; 2];
        let (mut beside_locator, mut locating) = (Vec::new(), Vec::new());
        for _ in 0..calls.min(50_000) / ROUND {
            let rows = distinct(ROUND).await?;
            // A first call binds its reference.
            call(&rows, true).await?;
            for (times, rows) in times.iter_mut().zip([&same, &rows]) {
                times.push(timed(rows, true).await?);
            }
            // Less than one microsecond of some twenty, which drift by more: the round between two others beside their
            // mean.
            let before = timed(&unlocated, true).await?;
            let between = timed(&found, true).await?;
            let after = timed(&unlocated, true).await?;
            locating.push(between - (before + after) / 2.0);
            beside_locator.push(before);
        }
        let [by_map, by_default] = times.map(middle);
        let answer = serde_json::json!({
            "active_ns": by_map,
            "default_ns": by_default,
            "growth": growth,
            "locating_ns": middle(locating),
            "beside_located_ns": middle(beside_locator),
        });
        server.shutdown(true).await?;
        client.shutdown(true).await?;
        Ok(answer)
    })
}
