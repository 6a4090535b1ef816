//! The program chooses the value types that its ORB knows.

use crate::savings::in_time;
use zorb::{Builder, Orb, SystemException, SystemExceptionKind as Kind, Value, minor};

zorb::idl! {
    module Registered {
        valuetype Item { public string name; };
        valuetype Crate : truncatable Item { public long weight; };
        valuetype Odd : Item { public long number; };
        valuetype Words sequence<string>;
        interface Store {
            Item pass(in Item what);
            unsigned long count(in Words what);
        };
    };
}

use registered::{Crate, Item, Odd, Store, StoreRef, StoreServant, Words};

struct Servant;

impl Store for Servant {
    async fn pass(
        &self,
        what: Option<Value<Item>>,
    ) -> Result<Option<Value<Item>>, SystemException> {
        Ok(what)
    }

    async fn count(&self, what: Option<Value<Words>>) -> Result<u32, SystemException> {
        Ok(what.map_or(0, |words| words.read().value.len() as u32))
    }
}

async fn store(builder: Builder) -> (Orb, StoreRef) {
    let server = builder.listen("iiop://127.0.0.1:0").build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let store: StoreRef = (server.root_poa())
        .activate(StoreServant::new(Servant))
        .unwrap();
    let client = Orb::builder().build().await.unwrap();
    let store = in_time(client.string_to_object(&server.object_to_string(&store)))
        .await
        .unwrap();
    (server, store.unchecked_narrow())
}

fn item(name: &str) -> Item {
    Item {
        name: name.to_owned(),
    }
}

fn heavy() -> Value<Crate> {
    Value::new(Crate {
        base: item("heavy"),
        weight: 7,
    })
}

#[tokio::test]
async fn types_of_the_idl_are_known_unless_only_registered_ones_are() {
    let (_server, all) = store(Orb::builder()).await;
    let back = in_time(all.pass(&heavy())).await.unwrap().unwrap();
    assert_eq!(back.downcast::<Crate>().map(|it| it.read().weight), Some(7));
    let value = vec!["a".to_owned(), "b".to_owned()];
    let words = Value::new(Words { value });
    assert_eq!(in_time(all.count(&words)).await.unwrap(), 2);

    let builder = Orb::builder().value::<Item>().registered_values_only(true);
    let (server, few) = store(builder).await;
    // It arrives as what it may be truncated to.
    let back = in_time(few.pass(&heavy())).await.unwrap().unwrap();
    assert_eq!(
        (&*back.read().name, back.repository_id()),
        ("heavy", "IDL:Registered/Item:1.0")
    );
    let odd = Value::new(Odd {
        base: item("odd"),
        number: 3,
    });
    let unknown = in_time(few.pass(&odd)).await.unwrap_err();
    assert_eq!(
        (unknown.kind, unknown.minor),
        (Kind::Marshal, minor::NO_VALUE_FACTORY)
    );
    let unknown = in_time(few.count(&words)).await.unwrap_err();
    assert_eq!(
        (unknown.kind, unknown.minor),
        (Kind::Marshal, minor::NO_VALUE_FACTORY)
    );
    // A later registration counts from then on.
    server.register_value::<Words>();
    assert_eq!(in_time(few.count(&words)).await.unwrap(), 2);
}
