//! Naming services bound into one another.

use crate::names::world::{Kind, Server, World, client, greeting, name};
use crate::support::passed;
use std::collections::BTreeSet;
use zorb::naming::cos_naming::naming_context::NotFoundReason;
use zorb::naming::{NamingClient, NamingError};
use zorb::{ObjectRef, SystemExceptionKind};

#[tokio::test(flavor = "multi_thread")]
async fn omninames_within_omninames() {
    federate(Kind::OmniNames, Kind::OmniNames).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_within_omninames() {
    federate(Kind::OmniNames, Kind::JacOrb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn omninames_within_jacorb() {
    federate(Kind::JacOrb, Kind::OmniNames).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn omninames_within_ours() {
    federate(Kind::Zorb, Kind::OmniNames).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_within_ours() {
    federate(Kind::Zorb, Kind::JacOrb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_within_omninames() {
    federate(Kind::OmniNames, Kind::Zorb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_within_jacorb() {
    federate(Kind::JacOrb, Kind::Zorb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_within_ours() {
    federate(Kind::Zorb, Kind::Zorb).await;
}

async fn listed(context: &NamingClient) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut bindings = context.list();
    while let Some(binding) = bindings.next().await.unwrap() {
        found.insert(binding.name.to_string());
    }
    found
}

/// Everything that is done in the far service by names that begin in the near one.
async fn federate(near: Kind, far: Kind) {
    let cell = format!("{}-{}/federation", near.group(), far.group());
    let Some(w) = World::start(near, &cell).await else {
        return;
    };
    let Some(other) = Server::start(far, &cell).await else {
        return;
    };
    let far = w.orb.string_to_object(&other.reference).await.unwrap();
    let far = NamingClient::at(&far).await.unwrap();
    let near = &w.names;
    let greeter = w.greeter("far away");

    near.bind_context("branches/far", &far).await.unwrap();
    // Contexts on the way, in either and in both.
    near.bind("branches/far/bank/accounts/savings", &greeter)
        .await
        .unwrap();
    assert_eq!(greeting(&far, "bank/accounts/savings").await, "far away");
    assert_eq!(
        greeting(near, "branches/far/bank/accounts/savings").await,
        "far away"
    );
    near.rebind("branches/far/top", &w.greeter("top"))
        .await
        .unwrap();
    assert_eq!(greeting(&far, "top").await, "top");
    assert!(matches!(
        near.bind("branches/far/top", &greeter).await,
        Err(NamingError::AlreadyBound { .. })
    ));

    let through = near.subcontext("branches/far").await.unwrap();
    assert_eq!(
        listed(&through).await,
        BTreeSet::from(["bank".to_owned(), "top".to_owned()])
    );
    let made = near.bind_new_context("branches/far/made").await.unwrap();
    assert_eq!(far.subcontext("made").await.unwrap(), made);
    for n in 0..250 {
        made.bind(&format!("n{n}"), &greeter).await.unwrap();
    }
    let through = near.subcontext("branches/far/made").await.unwrap();
    assert_eq!(listed(&through).await.len(), 250);

    // Back again: names may go to and fro.
    far.bind_context("home", near).await.unwrap();
    assert_eq!(
        greeting(near, "branches/far/home/branches/far/top").await,
        "top"
    );

    for (path, rest) in [
        ("branches/far/absent", "absent"),
        ("branches/far/bank/absent/savings", "absent/savings"),
    ] {
        match near.resolve::<ObjectRef>(path).await {
            Err(NamingError::NotFound {
                name: asked,
                why,
                rest: found,
            }) => {
                assert_eq!((asked, found), (name(path), name(rest)));
                assert_eq!(why, NotFoundReason::MissingNode);
            }
            other => panic!("expected NotFound, found {other:?}"),
        }
    }
    near.unbind("branches/far/top").await.unwrap();
    assert_eq!(
        listed(&far).await,
        ["bank", "home", "made"].map(str::to_owned).into()
    );

    // The far one ends. What is near is still there, what is far says who does not answer.
    drop(other);
    let failed = near
        .resolve::<ObjectRef>("branches/far/bank/accounts/savings")
        .await;
    match failed {
        Err(NamingError::System { exception, .. }) => assert!(
            matches!(
                exception.kind,
                SystemExceptionKind::Transient | SystemExceptionKind::CommFailure
            ),
            "{exception}"
        ),
        other => panic!("expected TRANSIENT, found {other:?}"),
    }
    let reference: ObjectRef = near.resolve("branches/far").await.unwrap();
    let failed = client(&reference)
        .resolve::<ObjectRef>("bank")
        .await
        .unwrap_err();
    let whereabouts = format!("{reference:?}");
    let address = whereabouts
        .split('"')
        .find(|part| part.starts_with("iiop://"))
        .unwrap();
    let said = failed.to_string();
    // The connection of before may still look open when the request is sent: COMM_FAILURE then.
    let is_gone = said.contains("TRANSIENT") || said.contains("COMM_FAILURE");
    assert!(is_gone && said.contains(address), "no {address} in {said}");
    near.unbind("branches/far").await.unwrap();
    passed(&cell);
}
