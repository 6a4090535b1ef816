//! Numbers, characters, enums and structs: their octets, and what is in between.

use crate::common::*;
use zorb_cdr::{
    BigEndian, Char, Decode, DecodeErrorKind, Decoder, EncodeErrorKind, Encoder, Endian,
    LittleEndian, NativeEndian, cdr_enum, cdr_struct,
};

#[derive(Debug, PartialEq, Clone)]
struct BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64,
}
cdr_struct!(BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64
});

#[derive(Debug, PartialEq, Clone, Copy)]
enum Color {
    Red,
    Green,
    Blue,
}
cdr_enum!(Color { Red, Green, Blue });

#[test]
fn numbers_are_stored_in_either_order() {
    assert_eq!(big(&0x1234_u16), [0x12, 0x34]);
    assert_eq!(little(&0x1234_u16), [0x34, 0x12]);
    assert_eq!(big(&-2_i16), [0xff, 0xfe]);
    assert_eq!(big(&0x1234_5678_u32), [0x12, 0x34, 0x56, 0x78]);
    assert_eq!(little(&-2_i32), [0xfe, 0xff, 0xff, 0xff]);
    assert_eq!(little(&1_u64), [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(big(&-1_i64), [0xff; 8]);
    assert_eq!(big(&1.0_f32), [0x3f, 0x80, 0, 0]);
    assert_eq!(little(&1.0_f64), [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    assert_eq!(big(&-1_i8), [0xff]);
    assert_eq!(big(&[false, true]), [0, 1]);
}

#[test]
fn the_native_order_is_that_of_the_machine() {
    let native = Encoder::<NativeEndian>::new(modern()).endian();
    assert_eq!(native, Endian::NATIVE);
    assert_eq!(
        native.is_little(),
        1_u16.to_ne_bytes() == 1_u16.to_le_bytes()
    );
    assert_eq!(Endian::from_flag(true), Endian::Little);
    assert_eq!(Endian::from_flag(false), Endian::Big);
}

#[test]
fn a_primitive_starts_at_a_multiple_of_its_size_behind_zeros() {
    for start in 0..16_usize {
        for (octets, size) in [
            (encode_at::<BigEndian>(&0xff_u8, start, modern()), 1),
            (encode_at::<BigEndian>(&0xffff_u16, start, modern()), 2),
            (encode_at::<BigEndian>(&u32::MAX, start, modern()), 4),
            (encode_at::<BigEndian>(&u64::MAX, start, modern()), 8),
        ] {
            let mut expected = vec![0; start.next_multiple_of(size) - start];
            expected.extend(vec![0xff; size]);
            assert_eq!(octets.unwrap(), expected, "size {size} at {start}");
        }
    }
}

#[test]
fn padding_is_skipped_whatever_is_in_it() {
    let octets = [
        1, 0xaa, 0xbb, 0xcc, 0, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x40, 0, 0, 0, 0, 0, 0, 0,
    ];
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(d.read_u8(), Ok(1));
    assert_eq!(d.read_u32(), Ok(2));
    assert_eq!(d.read_u8(), Ok(3));
    assert_eq!(d.read_f64(), Ok(2.0));
    assert_eq!((d.position(), d.remaining()), (24, 0));
}

#[test]
fn any_boolean_but_0_is_true() {
    for (octet, expected) in [(0, false), (1, true), (2, true), (0xff, true)] {
        assert_eq!(decode::<BigEndian, bool>(&[octet], modern()), Ok(expected));
        assert_eq!(
            decode::<BigEndian, Vec<bool>>(&[0, 0, 0, 1, octet], modern()),
            Ok(vec![expected])
        );
    }
}

#[test]
fn structs_are_their_members_in_order() {
    let value = BinStruct {
        s: -2,
        c: Char(b'x'),
        l: 7,
        o: 9,
        d: 1.0,
    };
    let expected = [
        0xff, 0xfe, b'x', 0, 0, 0, 0, 7, 9, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(big(&value), expected);
    assert_eq!(
        decode::<BigEndian, _>(&expected, modern()),
        Ok(value.clone())
    );
    // From index 4 on there is less padding.
    let shifted = encode_at::<BigEndian>(&value, 4, modern()).unwrap();
    assert_eq!(shifted.len(), 20);
    assert_eq!(BinStruct::MIN_SIZE, 16);
}

#[test]
fn an_enum_is_its_ordinal() {
    assert_eq!(
        big(&[Color::Red, Color::Green, Color::Blue])[3..],
        [0, 0, 0, 0, 1, 0, 0, 0, 2]
    );
    assert_eq!(
        decode::<LittleEndian, Color>(&[2, 0, 0, 0], modern()),
        Ok(Color::Blue)
    );
    let unknown = DecodeErrorKind::InvalidEnum { found: 3, count: 3 };
    assert_eq!(fault::<Color>(&[0, 0, 0, 3]), (unknown, 0));
    // In a sequence, which is read by the fixed layout.
    assert_eq!(
        fault::<Vec<Color>>(&[0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3]),
        (unknown, 12)
    );
}

#[test]
fn a_char_is_one_octet_of_the_code_set() {
    assert_eq!(
        encode_at::<BigEndian>(&Char(0xe4), 0, latin1()).unwrap(),
        [0xe4]
    );
    assert_eq!(decode::<BigEndian, Char>(&[0xe4], latin1()), Ok(Char(0xe4)));
    assert_eq!(big(&Char(0x7f)), [0x7f]);

    let e = encode_at::<BigEndian>(&Char(0x80), 0, modern()).unwrap_err();
    assert_eq!(
        e.kind(),
        EncodeErrorKind::NotInCodeSet {
            found: 0x80,
            set: "one octet of UTF-8"
        }
    );
    assert!(e.is_data_conversion());
    let e = decode::<BigEndian, Char>(&[0x80], modern()).unwrap_err();
    assert_eq!(
        e.kind(),
        DecodeErrorKind::NotInCodeSet {
            found: 0x80,
            set: "one octet of UTF-8"
        }
    );
    assert!(e.is_data_conversion());
    assert_eq!(
        fault::<Vec<Char>>(&[0, 0, 0, 3, b'a', b'b', 0xff]),
        (
            DecodeErrorKind::NotInCodeSet {
                found: 0xff,
                set: "one octet of UTF-8"
            },
            6
        )
    );
}

#[test]
fn messages_say_what_was_expected_where() {
    let message = |octets: &[u8]| {
        decode::<BigEndian, String>(octets, modern())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&[0, 0]),
        "expected 4 more octets, found 2 at octet 0"
    );
    assert_eq!(
        message(&[0, 0, 0, 9, b'a', 0]),
        "expected a count that fits in 2 octets, found 9 at octet 0"
    );
    assert_eq!(
        message(&[0, 0, 0, 2, b'a', b'b']),
        "expected string terminator, found 0x62 at octet 5"
    );
    assert_eq!(
        message(&[0, 0, 0, 3, 0xc3, 0x28, 0]),
        "expected valid UTF-8, found other octets at octet 4"
    );
    assert_eq!(
        decode::<BigEndian, Color>(&[0, 0, 0, 7], modern())
            .unwrap_err()
            .to_string(),
        "expected an enum ordinal below 3, found 7 at octet 0"
    );
    assert_eq!(
        encode_at::<BigEndian>("€", 0, latin1())
            .unwrap_err()
            .to_string(),
        "expected a character of ISO 8859-1, found U+20AC"
    );
}

#[test]
fn errors_are_small_enough_to_return_by_value() {
    assert!(size_of::<zorb_cdr::DecodeError>() <= 40);
    assert!(size_of::<zorb_cdr::EncodeError>() <= 24);
}

#[test]
fn positions_and_errors_count_from_where_the_message_starts() {
    let octets = [0; 14];
    let frame = zorb_cdr::Frame::new(octets.to_vec().into());
    let mut d = Decoder::<BigEndian>::at(&frame, 12, modern()).unwrap();
    assert_eq!(d.position(), 12);
    let e = d.read_u32().unwrap_err();
    assert_eq!(e.kind(), DecodeErrorKind::Truncated { needed: 4, left: 2 });
    assert_eq!(e.offset(), 12);
    assert!(Decoder::<BigEndian>::at(&frame, 14, modern()).is_ok());
    assert!(Decoder::<BigEndian>::at(&frame, 15, modern()).is_err());
    assert!(Decoder::<BigEndian>::at(&frame, usize::MAX, modern()).is_err());
}

#[test]
fn values_are_decoded_against_a_context() {
    struct Orb(&'static str);
    impl zorb_cdr::Context for Orb {
        fn as_any(&self) -> &(dyn std::any::Any + Send + Sync) {
            self
        }
    }
    let orb = Orb("the orb");
    let mut d = Decoder::<BigEndian>::from_slice(&[], modern());
    assert!(d.context().is_none());
    d = d.with_context(&orb);
    let context = d.context().and_then(|c| c.downcast_ref::<Orb>());
    assert_eq!(context.map(|orb| orb.0), Some("the orb"));
}

#[test]
fn codecs_can_cross_threads() {
    fn check<T: Send + Sync>() {}
    check::<Encoder<BigEndian>>();
    check::<Decoder<'_, BigEndian>>();
    check::<zorb_cdr::Frame>();
    check::<zorb_cdr::Gather>();
}
