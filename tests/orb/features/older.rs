//! Constructs that only old IDL has.

use crate::features::two_orbs::{from_afar, in_time, orb};
use zorb::{Any, Orb, Principal, SystemException, TcKind, TypeCode, Value};

zorb::idl! {
    module Older {
        typedef CORBA::Principal Asker;
        typedef sequence<CORBA::Principal> Askers;
        struct Entry { octet first; CORBA::Principal by; Askers others[2]; };
        union Either switch (boolean) { case TRUE: Asker who; default: string name; };

        // Declared, and defined in a file that does not exist.
        valuetype Secret;
        abstract valuetype Hidden;
        struct Envelope { Secret inside; sequence<Hidden> more; };

        interface Desk {
            CORBA::Principal ask(in Asker who, inout Askers all, in Entry like, out Either any_of);
            Secret pass(in Secret what, in Envelope all);
        };
    };
}

use older::{Desk, DeskRef, DeskServant, Either, Entry, Envelope, Secret};

struct Servant;

impl Desk for Servant {
    async fn ask(
        &self,
        who: &Principal,
        all: &[Principal],
        like: &Entry,
    ) -> Result<(Principal, Vec<Principal>, Either), SystemException> {
        let all = all.iter().rev().cloned().collect();
        Ok((like.by.clone(), all, Either::Who(who.clone())))
    }

    async fn pass(
        &self,
        what: Option<Value<Secret>>,
        all: &Envelope,
    ) -> Result<Option<Value<Secret>>, SystemException> {
        assert_eq!(all.more, [None]);
        Ok(what.or_else(|| all.inside.clone()))
    }
}

/// The server, and its desk as a client sees it.
async fn desk() -> (Orb, DeskRef) {
    let (server, client) = (orb().await, orb().await);
    let desk = server
        .root_poa()
        .activate(DeskServant::new(Servant))
        .unwrap();
    let desk = from_afar(&client, &desk).await;
    (server, desk)
}

#[tokio::test]
async fn a_principal_is_octets_with_a_kind_of_their_own() {
    let (_server, desk) = desk().await;
    let principals = ["", "ada", "bob"].map(|name| Principal(name.into()));
    let [anonymous, ada, bob] = principals.clone();
    let entry = Entry {
        first: 1,
        by: bob.clone(),
        others: [vec![anonymous], Vec::new()],
    };
    let call = desk.ask(&ada, &principals, &entry);
    let (by, all, who) = in_time(call).await.unwrap();
    assert_eq!((by, who), (bob, Either::Who(ada)));
    assert!(all.iter().eq(principals.iter().rev()));

    let any = Any::new(&entry).unwrap();
    assert_eq!(any.extract::<Entry>().unwrap(), entry);
    let by = any.member("by").unwrap();
    assert_eq!(by.type_code(), &TypeCode::of::<Principal>());
    assert_eq!(
        (by.type_code().kind(), by.type_code().to_string()),
        (TcKind::Principal, "Principal".to_owned())
    );
}

#[tokio::test]
async fn a_value_type_that_is_only_announced_is_null_or_passed_on() {
    let (_server, desk) = desk().await;
    let envelope = Envelope {
        inside: None,
        more: vec![None],
    };
    assert_eq!(in_time(desk.pass(None, &envelope)).await.unwrap(), None);
    let any = Any::new(&envelope).unwrap();
    assert_eq!(any.extract::<Envelope>().unwrap(), envelope);
    let inside = any.member("inside").unwrap();
    assert_eq!(inside.type_code().id(), Some("IDL:Older/Secret:1.0"));
}
