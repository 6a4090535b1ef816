//! ORBs whose last handle is dropped.

use crate::lives::cell_servant::{client, in_time, seen};
use crate::savings::spawn;
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, oneshot};
use zorb::{Orb, SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    module Dropped {
        interface Cell {
            long add(in long a, in long b);
            /// The same, by another if there is one, when the test says so.
            long add_later(in Cell other, in long a, in long b);
            /// Lets go of the ORB.
            void let_go();
        };
    };
}

use dropped::{Cell, CellRef, CellServant};

on_both_flavours!(
    a_server_ends_with_its_last_handle_even_with_clients_connected,
    upcalls_in_progress_outlive_the_last_handle_and_are_answered,
    references_poas_and_servants_are_handles_too,
);

/// A servant that may hold its ORB, and says when it goes.
struct Servant {
    entered: Arc<Semaphore>,
    gate: Arc<Semaphore>,
    orb: Mutex<Option<Orb>>,
    _gone: oneshot::Sender<()>,
}

impl Cell for Servant {
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a.wrapping_add(b))
    }

    async fn add_later(
        &self,
        other: Option<CellRef>,
        a: i32,
        b: i32,
    ) -> Result<i32, SystemException> {
        self.entered.add_permits(1);
        self.gate.acquire().await.expect("never closed").forget();
        match other {
            Some(other) => other.add(a, b).await,
            None => self.add(a, b).await,
        }
    }

    async fn let_go(&self) -> Result<(), SystemException> {
        *self.orb.lock().unwrap() = None;
        Ok(())
    }
}

struct Server {
    orb: Orb,
    cell: CellRef,
    entered: Arc<Semaphore>,
    gate: Arc<Semaphore>,
    gone: oneshot::Receiver<()>,
}

async fn server(is_held_by_its_servant: bool) -> Server {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let orb = orb.await.unwrap();
    let (entered, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (_gone, gone) = oneshot::channel();
    let poa = orb.root_poa();
    let cell = poa.activate(CellServant::new(Servant {
        entered: Arc::clone(&entered),
        gate: Arc::clone(&gate),
        orb: Mutex::new(is_held_by_its_servant.then(|| orb.clone())),
        _gone,
    }));
    poa.the_poa_manager().activate().unwrap();
    let cell = cell.unwrap();
    Server {
        orb,
        cell,
        entered,
        gate,
        gone,
    }
}

/// The same object as another ORB sees it.
async fn from_afar(orb: &Orb, cell: &CellRef) -> CellRef {
    let object = orb.string_to_object(&cell.to_string()).await.unwrap();
    object.unchecked_narrow()
}

/// No client is served any more: neither a connected one nor a new one.
async fn is_over(client: &Orb, far: &CellRef) {
    let (kind, ..) = seen(in_time(far.add(1, 1)).await);
    assert!(
        matches!(kind, Kind::Transient | Kind::CommFailure),
        "{kind:?}"
    );
    let other = self::client().await;
    let (kind, ..) = seen(in_time(from_afar(&other, far).await.add(1, 1)).await);
    assert_eq!(kind, Kind::Transient, "the port is closed");
    in_time(client.shutdown(true)).await.unwrap();
}

async fn a_server_ends_with_its_last_handle_even_with_clients_connected() {
    let Server {
        orb, cell, gone, ..
    } = server(false).await;
    let client = client().await;
    let far = from_afar(&client, &cell).await;
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3));
    drop(cell);
    assert_eq!(
        in_time(far.add(1, 2)).await,
        Ok(3),
        "there is a handle left"
    );
    drop(orb);
    in_time(gone).await.unwrap_err();
    is_over(&client, &far).await;
}

async fn upcalls_in_progress_outlive_the_last_handle_and_are_answered() {
    let server = server(false).await;
    let client = client().await;
    let far = from_afar(&client, &server.cell).await;
    let elsewhere = self::server(false).await;
    let calls = [
        spawn({
            let far = far.clone();
            async move { far.add_later(None, 1, 2).await }
        }),
        spawn({
            // Its argument is a reference, and so a handle for as long as the upcall goes on.
            let (far, other) = (far.clone(), from_afar(&client, &elsewhere.cell).await);
            async move { far.add_later(&other, 1, 2).await }
        }),
    ];
    let both = server.entered.acquire_many(2);
    in_time(both).await.unwrap().forget();
    drop((server.orb, server.cell));
    server.gate.add_permits(2);
    for call in calls {
        assert_eq!(in_time(call).await.unwrap(), Ok(3));
    }
    in_time(server.gone).await.unwrap_err();
    is_over(&client, &far).await;
    in_time(elsewhere.orb.shutdown(true)).await.unwrap();
}

async fn references_poas_and_servants_are_handles_too() {
    let Server {
        orb, cell, gone, ..
    } = server(true).await;
    let client = client().await;
    let far = from_afar(&client, &cell).await;
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3));
    let poa = orb.root_poa().create_poa("child", None).unwrap();
    let keys = orb.key_table();
    let clone = orb.clone();
    drop(orb);
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3), "a clone");
    drop(clone);
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3), "a reference");
    drop(cell);
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3), "a POA");
    drop(poa);
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3), "the table of keys");
    drop(keys);
    assert_eq!(in_time(far.add(1, 2)).await, Ok(3), "a servant");
    // Its own upcall lets go of it, and is answered.
    assert_eq!(in_time(far.let_go()).await, Ok(()));
    in_time(gone).await.unwrap_err();
    is_over(&client, &far).await;
}

#[test]
fn a_last_handle_may_be_dropped_where_no_runtime_is() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let (alive, dead) = serving.block_on(async { (server(false).await, server(false).await) });
    drop((alive.orb, alive.cell));
    serving.block_on(in_time(alive.gone)).unwrap_err();
    drop(serving);
    drop((dead.orb, dead.cell));
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(in_time(dead.gone)).unwrap_err();
}
