//! Three services, one namespace.

use crate::cluster::{Cluster, Engine};
use crate::common::{Daemon, client, client_orb, command, object};
use crate::conformance;
use crate::support::{Running, passed};
use std::sync::Arc;
use zorb::naming::{NamingClient, NamingError};
use zorb::{ObjectRef, SystemExceptionKind};
use zorb_named::store::{Access, EtcdStore, NatsStore};

#[tokio::test(flavor = "multi_thread")]
async fn etcd_does_what_a_store_has_to_do() {
    let cell = "etcd/conformance";
    let Some(cluster) = Cluster::start(Engine::Etcd, cell) else {
        return;
    };
    let store = EtcdStore::open(&cluster.url(), &Access::default())
        .await
        .unwrap();
    conformance::check(Arc::new(store)).await;
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_does_what_a_store_has_to_do() {
    let cell = "nats/conformance";
    let Some(cluster) = Cluster::start(Engine::Nats, cell) else {
        return;
    };
    let store = NatsStore::open(&cluster.url(), &Access::default())
        .await
        .unwrap();
    conformance::check(Arc::new(store)).await;
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_service_acknowledges_all_know_and_of_binds_at_once_one_is_made_over_etcd() {
    together(Engine::Etcd).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_service_acknowledges_all_know_and_of_binds_at_once_one_is_made_over_nats() {
    together(Engine::Nats).await;
}

async fn together(engine: Engine) {
    let cell = engine.cell("together");
    let Some(cluster) = Cluster::start(engine, &cell) else {
        return;
    };
    let url = cluster.url();
    let daemons: Vec<Daemon> = (0..3).map(|_| Daemon::start(&["--store", &url])).collect();
    let orb = client_orb().await;
    let mut names = Vec::new();
    for daemon in &daemons {
        names.push(client(&orb, &daemon.url).await);
    }
    // Each change at one is seen by the next at once.
    for n in 0..60 {
        let (here, there) = (&names[n % 3], &names[(n + 1) % 3]);
        let name = format!("bank/branch{}/account{n}", n % 4);
        here.bind(&name, &object(&orb, n).await).await.unwrap();
        let found: ObjectRef = there.resolve(&name).await.unwrap();
        assert!(found.is_equivalent(&object(&orb, n).await));
        there
            .rebind(&name, &object(&orb, n + 1).await)
            .await
            .unwrap();
        let found: ObjectRef = here.resolve(&name).await.unwrap();
        assert!(found.is_equivalent(&object(&orb, n + 1).await));
        if n % 2 == 0 {
            here.unbind(&name).await.unwrap();
            let gone = there.resolve::<ObjectRef>(&name).await;
            assert!(matches!(gone, Err(NamingError::NotFound { .. })));
        }
    }
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..32 {
        let (names, orb) = (names[n % 3].clone(), orb.clone());
        tasks.spawn(async move { names.bind("one", &object(&orb, n).await).await });
    }
    let bound = tasks.join_all().await;
    assert_eq!(
        bound.iter().filter(|bound| bound.is_ok()).count(),
        1,
        "{bound:?}"
    );
    // A context of one is a context of each, at its own endpoint.
    let context = names[0].subcontext("bank").await.unwrap();
    names[1].bind_context("again", &context).await.unwrap();
    let again = names[2].subcontext("again").await.unwrap();
    assert_ne!(again, context);
    again.bind_new_context("below").await.unwrap();
    names[1].subcontext("bank/below").await.unwrap();
    // What is kept is there for services that start later.
    drop(daemons);
    let daemon = Daemon::start(&["--store", &url]);
    daemon
        .client()
        .await
        .subcontext("again/below")
        .await
        .unwrap();
    passed(&cell);
}

/// The answer of a service whose engine is away.
async fn unavailable(names: &NamingClient) -> SystemExceptionKind {
    let error = names.resolve::<ObjectRef>("a").await.unwrap_err();
    error.system().unwrap_or_else(|| panic!("{error}")).kind
}

#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_that_is_away_at_the_start_or_later_may_come_back() {
    away(Engine::Etcd).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nats_that_is_away_at_the_start_or_later_may_come_back() {
    away(Engine::Nats).await;
}

async fn away(engine: Engine) {
    let cell = engine.cell("away");
    let Some(mut cluster) = Cluster::new(engine, &cell) else {
        return;
    };
    let url = cluster.url();
    let mut daemon = Running::command(command(&["--store", &url]));
    let said = daemon.find(|line| {
        line.contains("which does not answer")
            .then(|| line.to_owned())
    });
    assert!(said.is_some(), "{daemon:?}");
    cluster.start_all();
    let ready = daemon.find(|line| {
        let rest = line.strip_prefix("zorb-named is ready: ")?;
        Some(rest.split(' ').next()?.to_owned())
    });
    let orb = client_orb().await;
    let names = client(&orb, &ready.expect("it is ready")).await;
    names.bind("a", &object(&orb, 1).await).await.unwrap();
    for at in 0..3 {
        cluster.kill(at);
    }
    assert_eq!(unavailable(&names).await, SystemExceptionKind::Transient);
    cluster.start_all();
    while names.resolve::<ObjectRef>("a").await.is_err() {}
    names.unbind("a").await.unwrap();
    passed(&cell);
}
