//! Requests that are like those before them: what a connection remembers of them holds no longer than it is true.

use crate::savings::spawn;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use zorb::{
    Forward, Orb, Policies, SystemException, SystemExceptionKind as Kind, blocking::Wait as _,
};

zorb::idl! {
    module Known {
        interface Cell {
            long number();
            long twice(in long value);
            /// Waits until `release`.
            long wait();
            void release();
        };
    };
}

use known::{Cell, CellRef, CellServant};

struct Servant {
    number: i32,
    entered: Arc<Notify>,
    released: Semaphore,
}

/// A servant, and the notification of a caller that waits in it.
fn servant(number: i32) -> (CellServant<Servant>, Arc<Notify>) {
    let entered = Arc::<Notify>::default();
    let servant = Servant {
        number,
        entered: Arc::clone(&entered),
        released: Semaphore::new(0),
    };
    (CellServant::new(servant), entered)
}

fn numbered(number: i32) -> CellServant<Servant> {
    servant(number).0
}

impl Cell for Servant {
    async fn number(&self) -> Result<i32, SystemException> {
        Ok(self.number)
    }

    async fn twice(&self, value: i32) -> Result<i32, SystemException> {
        Ok(2 * value)
    }

    async fn wait(&self) -> Result<i32, SystemException> {
        self.entered.notify_one();
        self.released.acquire().await.unwrap().forget();
        Ok(self.number)
    }

    async fn release(&self) -> Result<(), SystemException> {
        self.released.add_permits(1);
        Ok(())
    }
}

async fn in_time<F: Future>(future: F) -> F::Output {
    let done = tokio::time::timeout(Duration::from_secs(30), future).await;
    done.expect("it is over in time")
}

async fn server() -> Orb {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().await;
    let orb = orb.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb
}

/// The same object as a client of its own sees it.
async fn from_afar(cell: &CellRef) -> (Orb, CellRef) {
    let client = Orb::builder().build().await.unwrap();
    let cell = client.string_to_object(&cell.to_string()).await.unwrap();
    (client, cell.unchecked_narrow())
}

/// Calls so often that the connection knows it.
async fn is_known_as(cell: &CellRef, number: i32) {
    for n in 0..5 {
        assert_eq!(in_time(cell.number()).await, Ok(number));
        assert_eq!(in_time(cell.twice(n)).await, Ok(2 * n));
    }
}

async fn fails_with(cell: &CellRef, kind: Kind) {
    let error = in_time(cell.number()).await.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
}

#[tokio::test]
async fn an_object_that_is_deactivated_while_it_is_at_work_is_found_no_more() {
    let orb = server().await;
    let (servant, entered) = servant(1);
    let near = orb.root_poa().activate(servant).unwrap();
    let (_client, cell) = from_afar(&near).await;
    is_known_as(&cell, 1).await;
    let waiting = {
        let cell = cell.clone();
        spawn(async move { cell.wait().await })
    };
    in_time(entered.notified()).await;
    is_known_as(&cell, 1).await;
    in_time(cell.release()).await.unwrap();
    assert_eq!(in_time(waiting).await.unwrap(), Ok(1));
    let waiting = {
        let cell = cell.clone();
        spawn(async move { cell.wait().await })
    };
    in_time(entered.notified()).await;
    orb.root_poa().deactivate_object(&near).unwrap();
    fails_with(&cell, Kind::ObjectNotExist).await;
    waiting.abort();
    in_time(orb.shutdown(false)).await.unwrap();
}

#[tokio::test]
async fn a_servant_goes_when_it_is_deactivated_although_connections_know_it() {
    let orb = server().await;
    let (servant, notice) = servant(1);
    let kept = Arc::downgrade(&notice);
    drop(notice);
    let near = orb.root_poa().activate(servant).unwrap();
    let (_client, cell) = from_afar(&near).await;
    is_known_as(&cell, 1).await;
    orb.root_poa().deactivate_object(&near).unwrap();
    assert!(kept.upgrade().is_none());
    fails_with(&cell, Kind::ObjectNotExist).await;
}

#[tokio::test]
async fn another_servant_a_forward_and_another_adapter_take_an_object_s_place_at_once() {
    let orb = server().await;
    let make = || {
        let poa = (orb.root_poa()).create_poa_with("kept", Policies::PERSISTENT, None);
        let poa = poa.unwrap();
        poa.the_poa_manager().activate().unwrap();
        poa
    };
    let poa = make();
    let near = poa.activate_object_with_id("1", numbered(1)).unwrap();
    let (_client, cell) = from_afar(&near).await;
    is_known_as(&cell, 1).await;
    poa.deactivate_object_with_id("1").unwrap();
    poa.activate_object_with_id("1", numbered(2)).unwrap();
    is_known_as(&cell, 2).await;
    let elsewhere = orb.root_poa().activate(numbered(3)).unwrap();
    poa.forward_object_with_id("1", Forward::to(&elsewhere))
        .unwrap();
    is_known_as(&cell, 3).await;
    let (_client, cell) = from_afar(&near).await;
    poa.destroy();
    fails_with(&cell, Kind::ObjectNotExist).await;
    let poa = make();
    poa.activate_object_with_id("1", numbered(4)).unwrap();
    is_known_as(&cell, 4).await;
}

#[tokio::test]
async fn a_manager_is_asked_about_every_request() {
    let orb = server().await;
    let near = orb.root_poa().activate(numbered(1)).unwrap();
    let (_client, cell) = from_afar(&near).await;
    let manager = Arc::clone(orb.root_poa().the_poa_manager());
    for _ in 0..3 {
        is_known_as(&cell, 1).await;
        manager.discard_requests().unwrap();
        fails_with(&cell, Kind::Transient).await;
        manager.activate().unwrap();
    }
}

#[tokio::test]
async fn a_plain_key_is_for_its_present_object() {
    let orb = server().await;
    let [one, two] = [1, 2].map(|n| orb.root_poa().activate(numbered(n)).unwrap());
    orb.ins_poa().the_poa_manager().activate().unwrap();
    orb.key_table().bind("Cell", &one).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let url = orb.corbaloc_url("Cell").unwrap();
    let cell: CellRef = client
        .string_to_object(&url)
        .await
        .unwrap()
        .unchecked_narrow();
    is_known_as(&cell, 1).await;
    orb.key_table().rebind("Cell", &two).unwrap();
    is_known_as(&cell, 2).await;
    let first = orb.ins_poa().activate_object_with_id("Cell", numbered(3));
    is_known_as(&cell, 3).await;
    orb.ins_poa().deactivate_object(&first.unwrap()).unwrap();
    is_known_as(&cell, 2).await;
    orb.key_table().unbind("Cell").unwrap();
    fails_with(&cell, Kind::ObjectNotExist).await;
}

#[test]
fn a_connection_with_a_thread_of_its_own_forgets_as_well() {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.build_blocking().unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let near = orb.root_poa().activate(numbered(1)).unwrap();
    let client = Orb::builder().build_blocking().unwrap();
    let cell = client.string_to_object(&near.to_string());
    let cell: CellRef = cell.unwrap().unchecked_narrow();
    for _ in 0..5 {
        assert_eq!(cell.number().wait(), Ok(1));
    }
    orb.root_poa().deactivate_object(&near).unwrap();
    let error = cell.number().wait().unwrap_err();
    assert_eq!(error.kind, Kind::ObjectNotExist);
    client.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
}
