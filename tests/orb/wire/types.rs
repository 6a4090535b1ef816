//! The TypeCodes that other ORBs sent.

use super::{Recorded, bodies, connections, recordings};
use zorb_cdr::{
    BigEndian, ByteOrder, Decoder, Encoder, Endian, LittleEndian, TcKind, TypeCode, WireFormat,
};
use zorb_giop::{Message, RequestHeader};

/// The number of the kind of any, and its type.
fn type_in<O: ByteOrder>(message: &Message) -> (u32, TypeCode) {
    let body = RequestHeader::read(message).unwrap().body;
    let mut d = Decoder::<O>::at(&message.frame, body, WireFormat::default()).unwrap();
    let found = d.get().unwrap();
    assert_eq!(d.remaining(), 0, "all of it belongs to the type: {found:?}");
    found
}

fn types_of(orb: &str) -> Vec<(u32, TypeCode)> {
    let file = &recordings(&format!("{orb}-giop1.2-types"))[0];
    let connections: Vec<Vec<Recorded>> = connections(file);
    bodies(&connections[0], "check_type")
        .iter()
        .map(|(request, _)| match request.header.endian {
            Endian::Big => type_in::<BigEndian>(request),
            Endian::Little => type_in::<LittleEndian>(request),
        })
        .collect()
}

fn read_again<O: ByteOrder>(ty: &TypeCode) -> TypeCode {
    let mut encoder = Encoder::<O>::new(WireFormat::default());
    encoder.put(ty).unwrap();
    let frame = zorb::Bytes::from(encoder.finish().to_vec()).into();
    Decoder::<O>::new(&frame, WireFormat::default())
        .get()
        .unwrap()
}

#[test]
fn the_types_of_all_orbs_are_the_same() {
    let (omniorb, jacorb) = (types_of("omniorb-4.2.5"), types_of("jacorb-3.9"));
    assert_eq!((omniorb.len(), jacorb.len()), (48, 48));
    for ((kind, theirs), (number, others)) in omniorb.iter().zip(&jacorb) {
        assert_eq!(kind, number);
        assert!(theirs.equivalent(others), "{theirs} {others}");
    }
    // JacORB's compiler turns the labels of one member round and loses the bound of an inner
    // sequence; omniORB says that public members of values are private, and the other way round.
    let unequal: Vec<&str> = omniorb
        .iter()
        .zip(&jacorb)
        .filter(|((_, theirs), (_, others))| theirs != others)
        .map(|((_, theirs), _)| theirs.name().unwrap())
        .collect();
    let values = ["Plain", "Base", "Longest", "Plain", "Node", "Holder"];
    assert_eq!(
        unequal,
        [&["ByLong", "BySuit"], &values[..], &["Plainly"]].concat()
    );
}

#[test]
fn the_types_are_the_same_when_written_again() {
    for (_, ty) in [types_of("omniorb-4.2.5"), types_of("jacorb-3.9")].concat() {
        assert_eq!(read_again::<BigEndian>(&ty), ty);
        assert_eq!(read_again::<LittleEndian>(&ty), ty);
    }
}

#[test]
fn the_types_are_read_with_all_that_they_say() {
    for orb in ["omniorb-4.2.5", "jacorb-3.9"] {
        let types = types_of(orb);
        let named = |name: &str| {
            let mut all = types.iter().map(|(_, ty)| ty);
            all.find(|ty| ty.name() == Some(name)).unwrap()
        };
        let tree = named("Tree");
        let kids = tree.member_type(1).unwrap();
        assert_eq!(kids.name(), Some("TreeSeq"));
        assert_eq!(kids.unaliased().content_type().as_ref(), Some(tree));
        let longest = named("Longest");
        assert_eq!(longest.kind(), TcKind::Value);
        assert_eq!(longest.type_modifier(), Some(3));
        let base = longest
            .concrete_base_type()
            .and_then(|longer| longer.concrete_base_type());
        assert_eq!(base.unwrap().name(), Some("Base"));
        let by_long = named("ByLong");
        assert_eq!(by_long.default_index(), Some(3));
        let labels = |range: std::ops::Range<usize>| -> i128 {
            range.filter_map(|n| by_long.member_label(n)).sum()
        };
        assert_eq!(labels(0..3), 1 - 7 + 100);
    }
}
