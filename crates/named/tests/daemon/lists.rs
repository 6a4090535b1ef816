//! Iterators: each name once, and no more of them than there may be.

use crate::common::{Daemon, client, client_orb, object};
use std::collections::BTreeSet;
use zorb::SystemExceptionKind;
use zorb::naming::cos_naming::{Binding, BindingIteratorRef, NamingContextRef};

fn ids(bindings: &[Binding]) -> Vec<String> {
    bindings
        .iter()
        .map(|binding| binding.binding_name[0].id.clone())
        .collect()
}

async fn with_names(daemon: &Daemon, count: usize) -> NamingContextRef {
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let object = object(&orb, 1).await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..count {
        let (names, object) = (names.clone(), object.clone());
        tasks.spawn(async move { names.bind(&format!("n{n:05}"), &object).await });
    }
    for bound in tasks.join_all().await {
        bound.unwrap();
    }
    names.context().clone()
}

async fn iterator(context: &NamingContextRef) -> BindingIteratorRef {
    let (_, iterator) = context.list(0).await.unwrap();
    iterator.expect("there are names")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_name_is_listed_once_by_every_way_to_ask() {
    let daemon = Daemon::start(&[]);
    let root = with_names(&daemon, 10).await;
    let all: Vec<String> = (0..10).map(|n| format!("n{n:05}")).collect();

    let (first, none) = root.list(10).await.unwrap();
    assert!(none.is_none());
    assert_eq!(ids(&first), all);
    let (first, none) = root.list(u32::MAX).await.unwrap();
    assert_eq!((ids(&first), none.is_none()), (all.clone(), true));
    let (first, rest) = root.list(9).await.unwrap();
    assert_eq!(ids(&first), all[..9]);
    let rest = rest.expect("one is left");
    let (is_there, last) = rest.next_one().await.unwrap();
    assert!(is_there);
    assert_eq!(ids(&[last]), all[9..]);
    for _ in 0..2 {
        let (is_there, none) = rest.next_one().await.unwrap();
        assert!(!is_there && none.binding_name.is_empty());
        let (is_there, none) = rest.next_n(5).await.unwrap();
        assert!(!is_there && none.is_empty());
    }
    let zero = rest.next_n(0).await.unwrap_err();
    assert_eq!(zero.kind, SystemExceptionKind::BadParam);
    rest.destroy().await.unwrap();
    for gone in [
        rest.destroy().await.unwrap_err(),
        rest.next_one().await.unwrap_err(),
    ] {
        assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    }
    let (is_there, four) = iterator(&root).await.next_n(4).await.unwrap();
    assert!(is_there);
    assert_eq!(ids(&four), all[..4]);
    let empty = root.new_context().await.unwrap().unwrap();
    for how_many in [0, 1] {
        let (none, iterator) = empty.list(how_many).await.unwrap();
        assert!(none.is_empty() && iterator.is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_come_and_go_meanwhile_hide_no_other() {
    let daemon = Daemon::start(&[]);
    let root = with_names(&daemon, 100).await;
    let (_, iterator) = root.list(0).await.unwrap();
    let iterator = iterator.unwrap();
    let mut found = BTreeSet::new();
    let names = daemon.client().await;
    for n in 0.. {
        let (is_there, some) = iterator.next_n(10).await.unwrap();
        if !is_there {
            break;
        }
        let some = ids(&some);
        // What has been listed goes, and so does the place where the iterator is.
        for id in &some {
            names.unbind(id).await.unwrap();
        }
        names.bind_new_context(&format!("a{n}")).await.unwrap();
        found.extend(some);
    }
    let all: BTreeSet<String> = (0..100).map(|n| format!("n{n:05}")).collect();
    assert_eq!(found, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn iterators_that_are_never_destroyed_make_way_for_others() {
    let daemon = Daemon::start(&["--max-iterators", "100"]);
    let root = with_names(&daemon, 10).await;
    let used = iterator(&root).await;
    let unused = iterator(&root).await;
    for _ in 0..1_000 {
        iterator(&root).await;
        // One that is used stays, whatever comes.
        let (is_there, _) = used.next_n(1).await.unwrap();
        if !is_there {
            break;
        }
    }
    for n in 0..1_000 {
        iterator(&root).await;
        if n % 20 == 0 {
            used.next_n(1).await.unwrap();
        }
    }
    let gone = unused.next_one().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    used.destroy().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_iterator_that_is_idle_for_its_time_is_gone() {
    let daemon = Daemon::start(&["--iterator-idle", "0"]);
    let root = with_names(&daemon, 10).await;
    let first = iterator(&root).await;
    let _second = iterator(&root).await;
    let gone = first.next_one().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_reply_is_longer_than_what_omniorb_reads() {
    let daemon = Daemon::start(&[]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let object = object(&orb, 1).await;
    // Two megabytes of names.
    for n in 0..500 {
        let id = format!("{n:04}{}", "x".repeat(4_000));
        names.bind(&id, &object).await.unwrap();
    }
    let small = zorb::Orb::builder().max_message_octets(2 * 1024 * 1024 - 1);
    let small = small.build().await.unwrap();
    let names = client(&small, &daemon.url).await;
    let (first, rest) = names.context().list(u32::MAX).await.unwrap();
    let mut found = ids(&first);
    let rest = rest.expect("more than a reply holds");
    loop {
        let (is_there, more) = rest.next_n(u32::MAX).await.unwrap();
        found.extend(ids(&more));
        if !is_there {
            break;
        }
    }
    assert_eq!(found.len(), 500);
    assert!(found.is_sorted());
}
