//! Bindings that outlive what they lead to.

use crate::anew::{anywhere, listening};
use crate::names::world::{
    GreeterRef, GreeterServant, Greets, World, activate, greeter, greeting, with_each_service,
};
use zorb::naming::NamingError;
use zorb::{Interface, Ior, ObjectRef, Orb, Policies, SystemExceptionKind};

async fn server(endpoint: &str) -> Orb {
    let orb = listening(|| Orb::builder().listen(endpoint)).await;
    activate(&orb);
    orb
}

with_each_service! {
    "persistent": a_binding_of_a_persistent_object_outlives_its_server;
    "stale": a_binding_of_an_earlier_life_leads_to_nothing_and_to_no_other;
}

async fn a_binding_of_an_earlier_life_leads_to_nothing_and_to_no_other(w: World) {
    let names = &w.names;
    let first = server(&anywhere()).await;
    let endpoint = first.endpoints()[0].to_string();
    let bound = greeter(&first, "of the first run");
    names.bind("bank", &bound).await.unwrap();
    // A reference that does not say its type, so that resolving has to ask the object.
    let bare = Ior {
        type_id: String::new(),
        ..bound.as_object().ior().clone()
    };
    names.bind("bare", &first.object(bare)).await.unwrap();
    assert_eq!(greeting(names, "bank").await, "of the first run");
    assert_eq!(greeting(names, "bare").await, "of the first run");
    first.shutdown(true).await.unwrap();

    // No server is there.
    let found: GreeterRef = names.resolve("bank").await.unwrap();
    let down = found.greet().await.unwrap_err();
    assert_eq!(down.kind, SystemExceptionKind::Transient);
    assert!(
        down.to_string().contains(&endpoint),
        "no {endpoint} in {down}"
    );
    let down = names.resolve::<GreeterRef>("bare").await.unwrap_err();
    let expected = format!(
        "the object bound to \"bare\" cannot be reached: TRANSIENT (minor 0x4f4d0002 OMG, no usable profile, \
         COMPLETED_NO): cannot connect to {endpoint}: "
    );
    let down = format!("{down:#}");
    assert!(down.starts_with(&expected), "{down}");

    // Another life in the same place, with another object where the first one was.
    let second = server(&endpoint).await;
    let other = greeter(&second, "of the second life");
    let found: GreeterRef = names.resolve("bank").await.unwrap();
    let gone = found.greet().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist, "{gone}");
    let gone = names.resolve::<GreeterRef>("bare").await.unwrap_err();
    assert!(matches!(gone, NamingError::Unusable { .. }));
    let expected = format!("the object bound to \"bare\" is gone ({endpoint}): OBJECT_NOT_EXIST");
    assert!(gone.to_string().starts_with(&expected), "{gone}");
    // The reference itself is still to be had, to look at.
    let object: ObjectRef = names.resolve("bare").await.unwrap();
    assert!(object.non_existent().await.unwrap());

    names.rebind("bank", &other).await.unwrap();
    assert_eq!(greeting(names, "bank").await, "of the second life");
    second.shutdown(true).await.unwrap();
}

async fn a_binding_of_a_persistent_object_outlives_its_server(w: World) {
    let names = &w.names;
    let mut endpoint = anywhere();
    for life in ["first", "second", "third"] {
        let orb = server(&endpoint).await;
        endpoint = orb.endpoints()[0].to_string();
        let root = orb.root_poa();
        let poa = root
            .create_poa_with("bank", Policies::PERSISTENT, None)
            .unwrap();
        poa.the_poa_manager().activate().unwrap();
        let servant = GreeterServant::new(Greets(life.to_owned()));
        let bound = poa.activate_object_with_id("teller", servant).unwrap();
        if life == "first" {
            names.bind("bank/teller", &bound).await.unwrap();
        }
        assert_eq!(greeting(names, "bank/teller").await, life);
        orb.shutdown(true).await.unwrap();
    }
}
