//! Adapters of a fixed set of object ids.

use super::tests::{KEPT, USER, inert, life, server};
use super::*;
use crate::object_ids::{ObjectIds, ids_of};
use crate::policy::{IdAssignment, RequestProcessing, ServantRetention};

fn ids() -> &'static ObjectIds {
    ids_of(&[b"main", b"airport", b"\0"])
}

fn of_ids(server: &ObjectAdapter, policies: Policies) -> Result<Arc<Adapter>, AdapterError> {
    let options = AdapterOptions {
        ids: Some(ids()),
        ..AdapterOptions::default()
    };
    server.create_with(server.root(), "branches", policies, None, options)
}

/// Policies that an adapter of fixed ids can have.
fn kinds() -> [Policies; 2] {
    [USER, KEPT.with_id_assignment(IdAssignment::User)]
}

#[test]
fn an_adapter_of_fixed_ids_has_objects_with_these_ids_alone() {
    for policies in kinds() {
        let server = server();
        let adapter = of_ids(&server, policies).unwrap();
        for id in ids().iter() {
            let early = adapter.key_of(id).unwrap();
            assert_eq!(server.locate(&early).unwrap_err(), Missing::Object);
            let key = adapter.activate_with_id(id, inert()).unwrap();
            assert_eq!(key, early);
            assert_eq!(server.locate(&key).unwrap().id().as_ref(), id);
            assert_eq!(adapter.id_in(&key).unwrap().as_ref(), id);
            let again = adapter.activate_with_id(id, inert());
            assert_eq!(again, Err(AdapterError::ObjectAlreadyActive(id.into())));
        }
        let unknown = AdapterError::IdNotInSet((&b"harbour"[..]).into());
        assert_eq!(adapter.key_of(b"harbour"), Err(unknown.clone()));
        assert_eq!(
            adapter.activate_with_id(b"harbour", inert()),
            Err(unknown.clone())
        );
        let forward = crate::object::Forward {
            type_id: String::new(),
            permanent: false,
            target: Arc::new(|| Ok(zorb_giop::Ior::NIL)),
        };
        let forwarded = adapter.forward_with_id(b"harbour", forward.clone());
        assert_eq!(forwarded, Err(unknown));
        assert!(adapter.find(b"harbour").is_none());
        // One object becomes a forward, one is deactivated and activated again.
        adapter.forward_with_id(b"main", forward).unwrap();
        let key = adapter.key_of(b"main").unwrap();
        assert!(server.locate(&key).unwrap().forward().is_some());
        adapter.deactivate(b"airport").unwrap();
        let key = adapter.key_of(b"airport").unwrap();
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
        assert_eq!(
            adapter.deactivate(b"airport"),
            Err(AdapterError::ObjectNotActive)
        );
        adapter.activate_with_id(b"airport", inert()).unwrap();
        assert!(server.locate(&key).is_ok());
        server.destroy(&adapter);
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Adapter);
        assert!(adapter.find(b"airport").is_none());
    }
}

#[test]
fn keys_of_fixed_ids_are_those_of_any_adapter_with_these_policies() {
    for policies in kinds() {
        let instance = life();
        let (fixed, other) = (
            ObjectAdapter::new(instance, "bank"),
            ObjectAdapter::new(instance, "bank"),
        );
        let hashed = other.create(other.root(), "branches", policies, None);
        let (fixed, hashed) = (of_ids(&fixed, policies).unwrap(), hashed.unwrap());
        for id in ids().iter() {
            assert_eq!(fixed.key_of(id), hashed.key_of(id));
        }
    }
}

#[test]
fn fixed_ids_need_ids_of_the_application_in_a_map() {
    let server = server();
    for policies in [
        Policies::DEFAULT,
        KEPT,
        USER.with_servant_retention(ServantRetention::NonRetain)
            .with_request_processing(RequestProcessing::ServantManager),
    ] {
        let refused = of_ids(&server, policies);
        assert!(matches!(refused, Err(AdapterError::WrongPolicy(_))));
    }
    assert!(server.find(server.root(), "branches").is_none());
}

#[test]
fn a_default_servant_serves_ids_of_the_set_alone() {
    let server = server();
    for policies in kinds() {
        let policies = policies
            .with_id_uniqueness(IdUniqueness::Multiple)
            .with_request_processing(RequestProcessing::DefaultServant);
        let adapter = of_ids(&server, policies).unwrap();
        adapter.set_default_servant(inert()).unwrap();
        let key = adapter.key_of(b"main").unwrap();
        assert!(server.locate(&key).unwrap().skeleton().is_some());
        // The key that another adapter of the same name would have made.
        let forged = match &adapter.scheme {
            Scheme::Persistent(path) => ObjectKey::Persistent {
                path,
                id: b"harbour",
            },
            Scheme::Transient(index) => ObjectKey::Named {
                instance: server.instance(),
                adapter: *index,
                id: b"harbour",
            },
            Scheme::Plain => unreachable!("it is the ORB's"),
        };
        let missing = server.locate(&forged.to_bytes());
        assert_eq!(missing.unwrap_err(), Missing::Object);
        server.destroy(&adapter);
    }
}
