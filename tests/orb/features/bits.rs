//! Bitsets, bitmasks and maps.

use crate::features::two_orbs::{from_afar, in_time, orb};
use std::collections::BTreeMap;
use zorb::{SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    module Bits {
        enum Suit { clubs, hearts };
        typedef map<Suit, wstring<4>, 2> Names;
        struct Node { map<string, Node> children; map<char, boolean> marks; };

        bitset Header { bitfield<3> version; bitfield<1> last; bitfield<4>; bitfield<12, short> level; };
        bitset LongHeader : Header { bitfield<40> rest; };
        @bit_bound(16) bitmask Access { read, @position(4) write_all, @position(15) grant };
        typedef sequence<Access> Accesses;

        interface Store {
            Names swap(in Names all, inout Header head, in Access how, out LongHeader tail);
            Node graft(in Node it, in Accesses many);
        };
    };
}

use bits::{Access, Header, LongHeader, Node, Store, StoreRef, StoreServant, Suit};

struct Servant;

impl Store for Servant {
    async fn swap(
        &self,
        all: &BTreeMap<Suit, String>,
        head: Header,
        how: Access,
    ) -> Result<(BTreeMap<Suit, String>, Header, LongHeader), SystemException> {
        let Header {
            version,
            last,
            level,
        } = head;
        let rest = u64::from((!how).bits());
        let tail = LongHeader {
            version,
            last,
            level: -level,
            rest,
        };
        Ok((
            all.clone(),
            Header {
                last: !last,
                ..head
            },
            tail,
        ))
    }
    async fn graft(&self, it: &Node, many: &[Access]) -> Result<Node, SystemException> {
        let mut node = it.clone();
        for access in many {
            node.children.insert(format!("{access:?}"), it.clone());
        }
        Ok(node)
    }
}

#[tokio::test]
async fn maps_bit_fields_and_flags_travel_between_our_own() {
    let (server, client) = (orb().await, orb().await);
    let store = server
        .root_poa()
        .activate(StoreServant::new(Servant))
        .unwrap();
    let store: StoreRef = from_afar(&client, &store).await;

    let all: BTreeMap<_, _> = [
        (Suit::Hearts, "♥".to_owned()),
        (Suit::Clubs, "♣".to_owned()),
    ]
    .into();
    let head = Header {
        version: 7,
        last: false,
        level: -2047,
    };
    let how = Access::READ | Access::GRANT;
    let (again, turned, tail) = in_time(store.swap(&all, head, how)).await.unwrap();
    assert_eq!(again, all);
    assert_eq!(turned, Header { last: true, ..head });
    let rest = u64::from(Access::WRITE_ALL.bits());
    assert_eq!(
        tail,
        LongHeader {
            version: 7,
            last: false,
            level: 2047,
            rest
        }
    );

    let wide = Header { version: 8, ..head };
    let error = in_time(store.swap(&all, wide, how)).await.unwrap_err();
    assert_eq!(error.kind, Kind::BadParam);
    assert!(
        error
            .to_string()
            .contains("a value of 3 bits for `version`"),
        "{error}"
    );
    let long: BTreeMap<_, _> = [(Suit::Clubs, "12345".to_owned())].into();
    let error = in_time(store.swap(&long, head, how)).await.unwrap_err();
    assert_eq!(error.kind, Kind::BadParam);

    let leaf = Node {
        children: BTreeMap::new(),
        marks: [('a'.try_into().unwrap(), true)].into(),
    };
    let many = [Access::empty(), Access::all()];
    let node = in_time(store.graft(&leaf, &many)).await.unwrap();
    let names: Vec<_> = node.children.keys().map(String::as_str).collect();
    assert_eq!(names, ["Access()", "Access(READ | WRITE_ALL | GRANT)"]);
    assert!(node.children.values().all(|child| *child == leaf));
}
