//! Keys that were not made by the adapter that they name.

use super::tests::{KEPT, USER, inert, life, server};
use super::*;
use crate::policy::IdAssignment;
use zorb_giop::SystemExceptionKind;

const SECRET: &[u8] = b"a secret of the server's, of 128 bits at least";

fn authenticated(policies: Policies) -> Policies {
    policies.with_key_protection(KeyProtection::Authenticated)
}

/// Each kind of adapter with an object, by the object's key.
fn authenticated_objects(server: &ObjectAdapter) -> Vec<(Arc<Adapter>, Bytes)> {
    let named = KEPT.with_id_assignment(IdAssignment::User);
    let each = [
        ("indexed", Policies::DEFAULT),
        ("user", USER),
        ("kept", named),
    ];
    let make = |(name, policies)| {
        let adapter = (server.create(server.root(), name, authenticated(policies), None)).unwrap();
        let key = match name {
            "indexed" => adapter.activate(inert()),
            _ => adapter.activate_with_id(b"id", inert()),
        };
        (adapter, key.unwrap())
    };
    each.map(make).into()
}

#[test]
fn an_authenticated_key_leads_to_its_object_and_a_forged_one_nowhere() {
    let server = server();
    server.set_key_secret(KeySecret::from_application(SECRET));
    for (adapter, key) in authenticated_objects(&server) {
        assert!(server.locate(&key).is_ok());
        assert_ne!(server.key_owner(&key), KeyOwner::OtherServer);
        let id = adapter.id_in(&key).unwrap();
        assert_eq!(adapter.key_of(id.as_ref()).unwrap(), key);
        let Some(ObjectKey::Sealed { key: within, .. }) = ObjectKey::parse(&key) else {
            panic!("it has a code");
        };
        // The key without its code; with one octet changed; truncated to each length; longer.
        let mut forged: Vec<Vec<u8>> = vec![within.to_vec()];
        forged.extend((0..key.len()).map(|at| {
            let mut changed = key.to_vec();
            changed[at] ^= 1;
            changed
        }));
        forged.extend((0..key.len()).map(|len| key[..len].to_vec()));
        forged.extend([1, 65_536 - key.len(), 65_536].map(|more| {
            let mut longer = key.to_vec();
            longer.resize(key.len() + more, 0);
            longer
        }));
        // A code for another key, and a key with two codes.
        let other = KeySecret::from_application(b"the secret of another server");
        forged.push(other.seal(within).to_vec());
        forged.push(KeySecret::from_application(SECRET).seal(&key).to_vec());
        for key in &forged {
            let missing = server.locate(key).map(|object| object.id());
            let exception = missing.unwrap_err().raise();
            assert_eq!(
                exception.kind,
                SystemExceptionKind::ObjectNotExist,
                "{key:?}"
            );
            assert!(adapter.id_in(key).is_err());
            assert!(!server.may_be_activated(key));
        }
    }
    // A key with a correct code is rejected if its adapter's keys have none.
    let plain = server.root().activate(inert()).unwrap();
    let sealed = KeySecret::from_application(SECRET).seal(&plain);
    assert!(server.locate(&plain).is_ok());
    assert_eq!(server.locate(&sealed).unwrap_err(), Missing::Object);
    assert!(server.root().id_in(&sealed).is_err());
    assert!(
        server
            .locate(&KeySecret::from_application(SECRET).seal(b"Bank"))
            .is_err()
    );
}

#[test]
fn codes_in_persistent_keys_are_the_same_in_every_life_that_has_the_secret() {
    let lives = [(); 2].map(|()| {
        let server = server();
        server.set_key_secret(KeySecret::from_application(SECRET));
        (authenticated_objects(&server), server)
    });
    let [(first, _), (second, server)] = lives;
    let keys = |objects: &[(Arc<Adapter>, Bytes)]| {
        objects
            .iter()
            .map(|(_, key)| key.clone())
            .collect::<Vec<_>>()
    };
    let ([indexed, user, kept], [_, _, again]) = (&*keys(&first), &*keys(&second)) else {
        panic!("three of each");
    };
    assert_eq!(kept, again);
    assert!(server.locate(kept).is_ok());
    for dead in [indexed, user] {
        assert_eq!(server.locate(dead).unwrap_err(), Missing::Adapter);
    }
    // The octets must not change: stored references outlive versions of zorb.
    assert_eq!(
        kept.escape_ascii().to_string(),
        r"ZRB\x04\'\x85\xf6\x82\xdeK\xdb]\xf6\x92\x05\xe7\xb3\xa0\xb8\xa2ZRB\x02\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x04keptid"
    );
    let without = ObjectAdapter::new(life(), "");
    let create = |policies| {
        let made = without.create(without.root(), "kept", authenticated(policies), None);
        made.map(|_| ())
    };
    assert_eq!(create(KEPT), Err(AdapterError::NoKeySecret));
    assert_eq!(create(Policies::DEFAULT), Err(AdapterError::NoKeySecret));
    without.set_key_secret(KeySecret::of_this_life([1; 32]));
    assert_eq!(create(KEPT), Err(AdapterError::NoKeySecret));
    assert_eq!(create(Policies::DEFAULT), Ok(()));
    assert!(without.locate(kept).is_err());
}

#[test]
fn forged_keys_without_codes_lead_nowhere() {
    let server = server();
    let child = |name, policies| server.create(server.root(), name, policies, None).unwrap();
    let (indexed, user) = (child("indexed", Policies::DEFAULT), child("user", USER));
    let kept = child("kept", KEPT.with_id_assignment(IdAssignment::User));
    let keys = [
        indexed.activate(inert()).unwrap(),
        user.activate_with_id(b"id", inert()).unwrap(),
        kept.activate_with_id(b"id", inert()).unwrap(),
    ];
    for key in &keys {
        assert!(server.locate(key).is_ok());
        // Each changed octet means another ORB, slot, generation, length, path or id.
        for at in 0..key.len() {
            for bit in [1, 0x80] {
                let mut forged = key.to_vec();
                forged[at] ^= bit;
                assert!(server.locate(&forged).is_err(), "{at}");
            }
            assert!(server.locate(&key[..at]).is_err(), "{at}");
        }
        let mut long = key.to_vec();
        long.resize(1 << 16, 0xff);
        assert!(server.locate(&long).is_err());
    }
    let long_path = ObjectKey::Persistent {
        path: &vec![0; 1 << 16],
        id: b"id",
    };
    assert_eq!(
        server.locate(&long_path.to_bytes()).unwrap_err(),
        Missing::Adapter
    );
}
