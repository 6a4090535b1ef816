//! The anys that other ORBs sent.

use super::{bodies, connections, recordings};
use std::collections::BTreeMap;
use zorb_cdr::{
    Any, BigEndian, ByteOrder, CharSet, Decoder, Encoder, Endian, LittleEndian, TcKind, WCharSet,
    WireFormat,
};
use zorb_giop::{Message, RequestHeader};

const FORMAT: WireFormat = WireFormat {
    minor: 2,
    char_set: CharSet::Latin1,
    wchar_set: WCharSet::Utf16,
    ..WireFormat::DEFAULT
};

/// Number of the kind, seed, and what was sent; `None` for values.
fn any_in<O: ByteOrder>(message: &Message) -> (u32, Option<Any>) {
    let body = RequestHeader::read(message).unwrap().body;
    let mut d = Decoder::<O>::at(&message.frame, body, FORMAT).unwrap();
    let (kind, seed): (u32, i32) = d.get().unwrap();
    assert_eq!(seed, 1);
    // The kinds of rich.idl that are or hold values.
    if (38..=45).contains(&kind) {
        return (kind, None);
    }
    let any: Any = d.get().unwrap();
    assert_eq!(d.remaining(), 0, "all of it belongs to the any: {any:?}");
    (kind, Some(any))
}

fn anys_of(orb: &str) -> BTreeMap<u32, Any> {
    let file = &recordings(&format!("{orb}-giop1.2-anys"))[0];
    bodies(&connections(file)[0], "check_any")
        .iter()
        .map(|(request, _)| match request.header.endian {
            Endian::Big => any_in::<BigEndian>(request),
            Endian::Little => any_in::<LittleEndian>(request),
        })
        .filter_map(|(kind, any)| Some((kind, any?)))
        .collect()
}

#[test]
fn the_anys_of_all_orbs_are_the_same() {
    let (omniorb, jacorb) = (anys_of("omniorb-4.2.5"), anys_of("jacorb-3.9"));
    // JacORB's has no `plainly`.
    assert_eq!((omniorb.len(), jacorb.len()), (39, 38));
    for (kind, any) in &jacorb {
        let other = &omniorb[kind];
        // An any inside this one has the type of a union, whose labels JacORB turns round.
        let mixed = 36;
        assert!(any == other || *kind == mixed, "kind {kind}: {any:?}");
        assert_eq!(format!("{any:?}"), format!("{other:?}"));
    }
    let exceptions = omniorb
        .values()
        .filter(|any| any.type_code().kind() == TcKind::Except);
    let shown: Vec<String> = exceptions.map(|any| format!("{any:?}")).collect();
    // omniORB leaves its repository id out, JacORB does not.
    assert_eq!(
        shown,
        [r#"Any(Rich::Detailed { code: 1, text: "e 1", where: Rich::Point { x: 1, y: 0.5 } })"#]
    );
}

#[test]
fn the_anys_are_the_same_when_written_again() {
    fn read_again<O: ByteOrder>(any: &Any) -> Any {
        let mut encoder = Encoder::<O>::new(FORMAT);
        encoder.put(any).unwrap();
        let frame = encoder.finish().into_bytes().into();
        Decoder::<O>::new(&frame, FORMAT).get().unwrap()
    }
    for orb in ["omniorb-4.2.5", "jacorb-3.9"] {
        for any in anys_of(orb).values() {
            assert_eq!(read_again::<BigEndian>(any), *any);
            assert_eq!(read_again::<LittleEndian>(any), *any);
        }
    }
}
