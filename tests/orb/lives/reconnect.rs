//! Servers that come back: what their clients notice.

use crate::anew::{anywhere, listening};
use crate::lives::cell_servant::{
    CellRef, CellServant, Servant, client, from_afar, in_time, seen, server,
};
use crate::savings::spawn;
use std::sync::Arc;
use tokio::runtime::Runtime;
use zorb::{CompletionStatus as Completed, Interface, Orb, Policies, SystemExceptionKind as Kind};

on_both_flavours!(
    a_persistent_object_is_called_on_over_restarts_in_order,
    nothing_is_gone_for_good_while_its_server_is_starting,
);

/// An ORB at `endpoint` that has nothing yet.
async fn listen(endpoint: &str) -> Orb {
    listening(|| Orb::builder().listen(endpoint)).await
}

/// A persistent object, the same in every run, of a manager that is HOLDING.
fn set_up(orb: &Orb) -> (Arc<Servant>, CellRef) {
    let poa = orb.root_poa();
    let poa = poa.create_poa_with("cells", Policies::PERSISTENT, None);
    let servant = Servant::new(orb);
    let cell = CellServant::from_arc(Arc::clone(&servant));
    let cell = poa.unwrap().activate_object_with_id("cell", cell).unwrap();
    (servant, cell)
}

fn open(orb: &Orb) {
    let poa = orb.root_poa().find_poa("cells").unwrap();
    poa.the_poa_manager().activate().unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
}

async fn a_persistent_object_is_called_on_over_restarts_in_order() {
    let mut server = listen(&anywhere()).await;
    let endpoint = server.endpoints()[0].to_string();
    let (_, cell) = set_up(&server);
    open(&server);
    let client = client().await;
    let cell = from_afar(&client, &cell).await;
    for life in 0..10 {
        assert_eq!(in_time(cell.add(life, 1)).await, Ok(life + 1));
        in_time(server.shutdown(true)).await.unwrap();
        let e = seen(in_time(cell.add(life, 2)).await);
        assert_eq!((e.0, e.2), (Kind::Transient, Completed::No), "no server");
        server = listen(&endpoint).await;
        set_up(&server);
        // An early request is held until the managers are active.
        let early = spawn({
            let cell = cell.clone();
            async move { cell.add(life, 3).await }
        });
        in_time(async {
            while server.connections_served() == 0 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        open(&server);
        assert_eq!(in_time(early).await.unwrap(), Ok(life + 3));
    }
    in_time(server.shutdown(true)).await.unwrap();
}

async fn nothing_is_gone_for_good_while_its_server_is_starting() {
    let first = listen(&anywhere()).await;
    let endpoint = first.endpoints()[0].to_string();
    let (_, cell) = set_up(&first);
    let passing = {
        let servant = CellServant::from_arc(Servant::new(&first));
        first.root_poa().activate(servant).unwrap()
    };
    open(&first);
    let client = client().await;
    let cell = from_afar(&client, &cell).await;
    let passing = from_afar(&client, &passing).await;
    let plain = format!("corbaloc:iiop:1.2@{}/Cell", &endpoint["iiop://".len()..]);
    let plain: CellRef = {
        let object = client.string_to_object(&plain).await.unwrap();
        object.unchecked_narrow()
    };
    assert_eq!(in_time(cell.add(1, 1)).await, Ok(2));
    in_time(first.shutdown(true)).await.unwrap();

    // Listening already, and far from ready.
    let second = listen(&endpoint).await;
    for cell in [&cell, &plain] {
        let e = seen(in_time(cell.add(1, 2)).await);
        assert_eq!((e.0, e.2), (Kind::Transient, Completed::No));
        assert_eq!(in_time(cell.as_object().locate()).await, Ok(true));
        let e = seen(in_time(cell.as_object().non_existent()).await);
        assert_eq!(e.0, Kind::Transient);
    }
    // Objects of the earlier run are gone for good.
    let e = seen(in_time(passing.add(1, 2)).await);
    assert_eq!((e.0, e.2), (Kind::ObjectNotExist, Completed::No));

    set_up(&second);
    open(&second);
    assert_eq!(in_time(cell.add(1, 3)).await, Ok(4));
    let e = seen(in_time(plain.add(1, 3)).await);
    assert_eq!((e.0, e.2), (Kind::ObjectNotExist, Completed::No));
    assert_eq!(in_time(plain.as_object().locate()).await, Ok(false));
    in_time(second.shutdown(true)).await.unwrap();
}

/// A server that dies without a word: its runtime is gone with all its sockets.
#[test]
fn a_server_that_crashed_between_calls_is_called_on_and_one_in_mid_call_is_not_asked_twice() {
    let start = |endpoint: &str| {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(async {
            let server = listen(endpoint).await;
            let (servant, cell) = set_up(&server);
            open(&server);
            (server, servant, cell)
        });
        (runtime, server)
    };
    let (mut runtime, (mut orb, mut servant, cell)) = start(&anywhere());
    let endpoint = orb.endpoints()[0].to_string();
    let calling = Runtime::new().unwrap();
    let (_client, cell) = calling.block_on(async {
        let client = client().await;
        let cell = from_afar(&client, &cell).await;
        (client, cell)
    });
    for mid_call in [false, true, false, true] {
        assert_eq!(calling.block_on(in_time(cell.add(1, 1))), Ok(2));
        let waiting = mid_call.then(|| {
            let cell = cell.clone();
            let waiting = calling.spawn(async move { cell.wait(7).await });
            calling.block_on(in_time(servant.entered.notified()));
            waiting
        });
        drop(runtime);
        if let Some(waiting) = waiting {
            let e = seen(calling.block_on(in_time(waiting)).unwrap());
            assert_eq!((e.0, e.2), (Kind::CommFailure, Completed::Maybe));
        } else {
            // It is known to be gone when no address accepts.
            let e = seen(calling.block_on(in_time(async {
                loop {
                    match cell.add(1, 2).await {
                        Err(e) if e.kind == Kind::CommFailure => {}
                        outcome => return outcome,
                    }
                }
            })));
            assert_eq!((e.0, e.2), (Kind::Transient, Completed::No));
        }
        drop((orb, servant));
        let next = start(&endpoint);
        (runtime, (orb, servant, _)) = next;
        assert_eq!(calling.block_on(in_time(cell.add(2, 2))), Ok(4));
    }
    drop((runtime, orb));
}

#[tokio::test]
async fn a_reference_to_an_earlier_life_reaches_no_other_object() {
    let (first, _, cell) = server().await;
    let endpoint = first.endpoints()[0].to_string();
    let client = client().await;
    let stale = from_afar(&client, &cell).await;
    assert_eq!(in_time(stale.add(1, 2)).await, Ok(3));
    in_time(first.shutdown(true)).await.unwrap();
    let (_second, _, fresh) = crate::lives::cell_servant::server_at(&endpoint).await;
    let fresh = from_afar(&client, &fresh).await;
    for _ in 0..3 {
        assert_eq!(in_time(fresh.add(1, 2)).await, Ok(3));
        let e = seen(in_time(stale.add(1, 2)).await);
        assert_eq!((e.0, e.2), (Kind::ObjectNotExist, Completed::No));
    }
}
