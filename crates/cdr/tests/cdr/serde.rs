//! serde's types as CDR.

use crate::common::*;
use proptest::{collection::btree_map, collection::vec, prelude::*};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, error::Error as _, fmt::Debug};
use zorb_cdr::{
    BigEndian, DecodeErrorKind, EncodeErrorKind, Limits, LittleEndian, cdr_enum, cdr_struct,
    from_bytes, serde::SerdeError, to_bytes,
};

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
struct Plain {
    small: u8,
    number: f64,
    text: String,
    list: Vec<u16>,
    color: Color,
}
cdr_struct!(Plain { small: u8, number: f64, text: String, list: Vec<u16>, color: Color });

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone, Copy)]
enum Color {
    Red,
    Green,
}
cdr_enum!(Color { Red, Green });

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
enum Shape {
    Nothing,
    Circle(f32),
    Line(i16, i64),
    Named {
        name: String,
        inner: Option<Box<Self>>,
    },
    Many(Vec<Self>),
}

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
struct Everything {
    unit: (),
    flag: bool,
    letter: char,
    shape: Shape,
    map: BTreeMap<String, Vec<Option<u8>>>,
    tuple: (u8, i64, [i32; 3]),
    signed: (i8, i16, i32),
    wrapped: Wrapped,
}

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
struct Wrapped(u64);

fn octets(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    to_bytes::<BigEndian, _>(value, modern()).unwrap()
}

fn read<T: DeserializeOwned>(octets: &[u8]) -> Result<T, SerdeError> {
    from_bytes::<BigEndian, T>(octets, modern())
}

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    assert_eq!(&read::<T>(&octets(value)).unwrap(), value);
    let little = to_bytes::<LittleEndian, _>(value, modern()).unwrap();
    assert_eq!(
        &from_bytes::<LittleEndian, T>(&little, modern()).unwrap(),
        value
    );
}

#[test]
fn structs_and_enums_of_idl_travel_the_same_either_way() {
    let plain = Plain {
        small: 1,
        number: 2.0,
        text: "three".into(),
        list: vec![4, 5],
        color: Color::Green,
    };
    assert_eq!(octets(&plain), big(&plain));
    assert_eq!(read::<Plain>(&big(&plain)).unwrap(), plain);
}

#[test]
fn the_table_is_kept() {
    assert_eq!(octets(&'ä'), [0, 0, 0, 0xe4]);
    assert_eq!(octets(&vec![1_u8, 2]), octets(&Bytes(&[1, 2])));
    assert_eq!(octets(&Some(7_u8)), [1, 7]);
    assert_eq!(octets(&None::<u8>), [0]);
    assert_eq!(octets(&((), Wrapped(1))), 1_u64.to_be_bytes());
    assert_eq!(octets(&Shape::Nothing), [0, 0, 0, 0]);
    assert_eq!(octets(&Shape::Line(1, 2))[..6], [0, 0, 0, 2, 0, 1]);
    let map = BTreeMap::from([(1_u8, 2_u16), (3, 4)]);
    assert_eq!(octets(&map), [0, 0, 0, 2, 1, 0, 0, 2, 3, 0, 0, 4]);
    assert_eq!(read::<BTreeMap<u8, u16>>(&octets(&map)).unwrap(), map);
}

#[test]
fn text_and_octets_are_borrowed() {
    let value = ("text", &b"octets"[..]);
    let octets = octets(&("text", Bytes(b"octets")));
    let read: (&str, &[u8]) = from_bytes::<BigEndian, _>(&octets, modern()).unwrap();
    assert_eq!(read, value);
    assert!(octets.as_ptr_range().contains(&read.0.as_ptr()));
    assert!(octets.as_ptr_range().contains(&read.1.as_ptr()));

    let latin = latin1();
    let octets = to_bytes::<BigEndian, _>("tür", latin).unwrap();
    assert_eq!(
        from_bytes::<BigEndian, String>(&octets, latin).unwrap(),
        "tür"
    );
    assert!(from_bytes::<BigEndian, &str>(&octets, latin).is_err());
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_bytes(self.0)
    }
}

#[test]
fn an_error_of_cdr_is_the_source() {
    let short = read::<u32>(&[0; 3]).unwrap_err();
    let large = to_bytes::<BigEndian, _>(&1_u128, modern()).unwrap_err();
    for (error, text) in [
        (short, "cannot decode the value"),
        (large, "cannot encode the value"),
    ] {
        let source = match &error {
            SerdeError::Decode(cause) => cause.to_string(),
            SerdeError::Encode(cause) => cause.to_string(),
            _ => panic!("{error:?}"),
        };
        assert_eq!(error.source().unwrap().to_string(), source);
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:#}"), format!("{text}: {source}"));
    }
    let own = <SerdeError as serde::de::Error>::custom("no such day");
    assert!(own.source().is_none());
    assert_eq!(format!("{own:#}"), "no such day");
}

#[test]
fn what_cdr_cannot_say_is_refused() {
    let refused = |e: SerdeError| match e {
        SerdeError::Encode(e) => matches!(e.kind(), EncodeErrorKind::Expected(_)),
        SerdeError::Decode(e) => matches!(e.kind(), DecodeErrorKind::Expected(_)),
        _ => false,
    };
    assert!(refused(
        to_bytes::<BigEndian, _>(&1_u128, modern()).unwrap_err()
    ));
    assert!(refused(
        to_bytes::<BigEndian, _>(&1_i128, modern()).unwrap_err()
    ));
    assert!(refused(read::<u128>(&[0; 16]).unwrap_err()));

    #[derive(Deserialize, Debug)]
    #[serde(untagged)]
    enum Untagged {
        #[expect(dead_code, reason = "never made")]
        Number(u8),
    }
    assert!(refused(read::<Untagged>(&[0; 16]).unwrap_err()));

    /// A sequence whose length is known only when it is over.
    struct Unknown;
    impl Serialize for Unknown {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_seq((0..3).filter(|n| n % 2 == 0))
        }
    }
    assert!(refused(
        to_bytes::<BigEndian, _>(&Unknown, modern()).unwrap_err()
    ));
}

#[test]
fn malformed_octets_are_refused() {
    assert!(
        read::<Shape>(&[0, 0, 0, 5])
            .unwrap_err()
            .to_string()
            .contains("variant index")
    );
    assert!(read::<char>(&[0, 0, 0xd8, 0]).is_err());
    assert!(read::<Vec<u64>>(&[0xff; 40]).is_err());
    assert!(read::<BTreeMap<u8, u8>>(&[0xff; 40]).is_err());
    assert!(read::<String>(&[0, 0, 0, 2, b'a', b'b']).is_err());
}

#[test]
fn nesting_has_a_limit_and_the_stack_suffices_for_it() {
    let test = || {
        // Shape::Many of one, thousands of times.
        let octets = [0, 0, 0, 4, 0, 0, 0, 1].repeat(10_000);
        let SerdeError::Decode(e) = read::<Shape>(&octets).unwrap_err() else {
            panic!("expected an error of the decoder");
        };
        assert_eq!(
            e.kind(),
            DecodeErrorKind::TooDeep {
                limit: Limits::DEPTH
            }
        );
        let levels = usize::from(Limits::DEPTH) / 2 - 1;
        let mut octets = [0, 0, 0, 4, 0, 0, 0, 1].repeat(levels);
        octets.extend([0; 4]);
        assert!(read::<Shape>(&octets).is_ok());
    };
    std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn empty_elements_are_bounded() {
    assert_eq!(read::<Vec<()>>(&[0, 0, 1, 0]).unwrap().len(), 256);
    assert!(read::<Vec<()>>(&[0xff, 0, 0, 0]).is_err());
}

fn text() -> impl Strategy<Value = String> {
    "[^\0]{0,12}"
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Nothing),
        any::<i16>().prop_map(|n| Shape::Circle(n.into())),
        any::<(i16, i64)>().prop_map(|(a, b)| Shape::Line(a, b)),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            (
                text(),
                proptest::option::of(inner.clone().prop_map(Box::new))
            )
                .prop_map(|(name, inner)| Shape::Named { name, inner }),
            vec(inner, 0..3).prop_map(Shape::Many),
        ]
    })
}

prop_compose! {
    fn everything()(
        flag in any::<bool>(),
        letter in any::<char>(),
        shape in shape(),
        map in btree_map(text(), vec(any::<Option<u8>>(), 0..3), 0..4),
        tuple in any::<(u8, i64, [i32; 3])>(),
        signed in any::<(i8, i16, i32)>(),
        wrapped in any::<u64>(),
    ) -> Everything {
        Everything { unit: (), flag, letter, shape, map, tuple, signed, wrapped: Wrapped(wrapped) }
    }
}

proptest! {
    #[test]
    fn everything_comes_back(value in everything()) {
        again(&value);
    }

    #[test]
    fn every_truncation_is_an_error(value in everything()) {
        let octets = octets(&value);
        for end in 0..octets.len() {
            prop_assert!(read::<Everything>(&octets[..end]).is_err());
        }
    }

    #[test]
    fn random_octets_cause_no_panic(octets in vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..200)) {
        let _ = read::<Everything>(&octets);
        let _ = read::<Vec<Shape>>(&octets);
    }
}
