//! Maps, bit fields and flags: the forms that are zorb's own.

#![deny(warnings)]

use crate::common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use zorb_cdr::{
    BigEndian, BoundedMap, Dec, Decode, DecodeErrorKind, Enc, EncodeErrorKind, LittleEndian, Map,
    WideStr, cdr_bitmask, cdr_bitset,
};

#[derive(Debug, Clone, Copy, PartialEq)]
struct Packed {
    low: u8,
    set: bool,
    level: i16,
    far: u64,
}
cdr_bitset!(Packed: u64 { low: u8 = 0, 3; set: bool = 3, 1; level: i16 = 8, 12; far: u64 = 24, 40 });

#[derive(Debug, PartialEq)]
struct Whole {
    all: i64,
}
cdr_bitset!(Whole: u64 { all: i64 = 0, 64 });

#[derive(Debug, PartialEq)]
struct Nothing {}
cdr_bitset!(Nothing: u8 {});

#[derive(Clone, Copy, PartialEq)]
struct Access(u16);
impl Access {
    const READ: Self = Self(1);
    const WRITE: Self = Self(0x8000);
}
cdr_bitmask!(Access: u16 { READ, WRITE });

#[test]
fn bit_fields_are_packed_from_the_lowest_bit() {
    let packed = Packed {
        low: 5,
        set: true,
        level: -2,
        far: 0xff,
    };
    assert_eq!(big(&packed), [0, 0, 0, 0, 0xff, 0x0f, 0xfe, 0x0d]);
    assert_eq!(big(&Whole { all: -1 }), [0xff; 8]);
    assert_eq!(big(&Nothing {}), [0]);
    assert_eq!(<Packed as Decode>::LAYOUT.stride(), 8);
    // Bits of no field are ignored.
    let octets = [0xff; 8];
    let read: Packed = decode::<BigEndian, _>(&octets, modern()).unwrap();
    assert_eq!(
        read,
        Packed {
            low: 7,
            set: true,
            level: -1,
            far: (1 << 40) - 1
        }
    );
    let good = Packed {
        low: 0,
        set: false,
        level: 0,
        far: 0,
    };
    for (wrong, field, bits) in [
        (Packed { low: 8, ..good }, "low", 3),
        (
            Packed {
                level: 2048,
                ..good
            },
            "level",
            12,
        ),
        (
            Packed {
                level: -2049,
                ..good
            },
            "level",
            12,
        ),
        (
            Packed {
                far: 1 << 40,
                ..good
            },
            "far",
            40,
        ),
    ] {
        let error = encode_at::<BigEndian>(&[wrong], 0, modern()).unwrap_err();
        assert_eq!(error.kind(), EncodeErrorKind::TooManyBits { field, bits });
    }
}

#[test]
fn flags_are_bits_that_have_names() {
    let both = Access::READ | Access::WRITE;
    assert_eq!(
        big(&vec![both, Access::empty()]),
        [0, 0, 0, 2, 0x80, 1, 0, 0]
    );
    assert_eq!(
        format!("{:?} {:?}", Access::all(), !Access::READ),
        "Access(READ | WRITE) Access(WRITE)"
    );
    assert_eq!(both & Access::READ, Access::READ);
    assert_eq!(Access::from_bits(2), None);
    let expected = DecodeErrorKind::Expected("flags that have a name");
    assert_eq!(fault::<Access>(&[0, 3]), (expected, 0));
    assert_eq!(fault::<Vec<Access>>(&[0, 0, 0, 1, 0, 3]), (expected, 4));
}

#[test]
fn a_map_is_a_sequence_of_its_entries() {
    type Names = Map<u8, WideStr>;
    let map: BTreeMap<u8, String> = [(2, String::new()), (1, "x".to_owned())].into();
    let octets = [
        0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 2, 0, b'x', 2, 0, 0, 0, 0, 0,
    ];
    assert_eq!(big(&Enc::<Names>(&map)), octets);
    let Dec(read) = decode::<BigEndian, Dec<Names>>(&octets, modern()).unwrap();
    assert_eq!(read, map);
    // A key twice, too many entries, more than there can be.
    let (kind, _) = fault::<Dec<Map<u8, u8>>>(&[0, 0, 0, 2, 1, 0, 1, 0]);
    assert_eq!(kind, DecodeErrorKind::Expected("each key of a map once"));
    type Two = BoundedMap<u8, u8, 2>;
    let (kind, offset) = fault::<Dec<Two>>(&[0, 0, 0, 3, 1, 0, 2, 0, 3, 0]);
    assert_eq!(
        (kind, offset),
        (DecodeErrorKind::BoundExceeded { bound: 2, found: 3 }, 0)
    );
    let three: BTreeMap<u8, u8> = [(1, 1), (2, 2), (3, 3)].into();
    let error = encode_at::<BigEndian>(&Enc::<Two>(&three), 0, modern()).unwrap_err();
    assert_eq!(
        error.kind(),
        EncodeErrorKind::BoundExceeded { bound: 2, found: 3 }
    );
    let (kind, _) = fault::<Dec<Map<u32, u8>>>(&[0, 0, 0, 3, 0, 0, 0, 1, 1]);
    assert!(matches!(kind, DecodeErrorKind::CountTooLarge { .. }));
}

proptest! {
    #[test]
    fn all_of_them_come_back(
        low in 0..8_u8, set in any::<bool>(), level in -2048..2048_i16, far in 0..1_u64 << 40, all in any::<i64>(),
        map in proptest::collection::btree_map("[^\0]{0,5}", proptest::collection::vec(any::<u16>(), 0..3), 0..6),
    ) {
        let packed = Packed { low, set, level, far };
        prop_assert_eq!(decode::<LittleEndian, _>(&little(&[packed; 3]), modern()), Ok([packed; 3]));
        prop_assert_eq!(decode::<BigEndian, _>(&big(&Whole { all }), modern()), Ok(Whole { all }));
        type Texts = BoundedMap<String, Vec<u16>, 5>;
        let octets = little(&Enc::<Map<String, Vec<u16>>>(&map));
        let read = decode::<LittleEndian, Dec<Texts>>(&octets, modern());
        if map.len() > 5 {
            prop_assert!(read.is_err());
        } else {
            prop_assert_eq!(read.unwrap().0, map);
        }
    }

    #[test]
    fn random_octets_cause_no_panic(octets in proptest::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..60)) {
        let _ = decode::<BigEndian, Dec<Map<String, Dec2>>>(&octets, modern());
        let _ = decode::<BigEndian, Vec<Packed>>(&octets, modern());
        let _ = decode::<LittleEndian, Vec<Access>>(&octets, modern());
    }
}

type Dec2 = Map<u16, Vec<u8>>;
