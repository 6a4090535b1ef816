//! Strings and wide strings, and the code sets they travel in.

use crate::common::*;
use std::borrow::Cow;
use zorb_cdr::{
    BigEndian, BoundedStr, BoundedWideStr, Dec, DecodeErrorKind, Decoder, Enc, EncodeErrorKind,
    LittleEndian, WChar, WCharSet, WideStr, WireFormat,
};

fn wide(text: &str, format: WireFormat) -> Vec<u8> {
    encode_at::<LittleEndian>(&Enc::<WideStr>(text), 0, format).unwrap()
}

fn read_wide(octets: &[u8], format: WireFormat) -> String {
    decode::<LittleEndian, Dec<WideStr>>(octets, format)
        .unwrap()
        .0
}

#[test]
fn a_string_is_its_length_with_the_terminator_and_its_octets() {
    assert_eq!(big("hi"), [0, 0, 0, 3, b'h', b'i', 0]);
    assert_eq!(big(""), [0, 0, 0, 1, 0]);
    assert_eq!(little("ä"), [3, 0, 0, 0, 0xc3, 0xa4, 0]);
    for text in ["", "hi", "ä€🦀"] {
        assert_eq!(
            decode::<BigEndian, String>(&big(text), modern()).unwrap(),
            text
        );
    }
}

#[test]
fn a_string_of_length_0_is_read_as_empty() {
    assert_eq!(
        decode::<BigEndian, String>(&[0, 0, 0, 0], modern()).unwrap(),
        ""
    );
    let two = [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    assert_eq!(
        decode::<BigEndian, Vec<String>>(&two, modern()).unwrap(),
        ["", ""]
    );
}

#[test]
fn a_malformed_string_is_refused() {
    use DecodeErrorKind::*;
    assert_eq!(
        fault::<String>(&[0, 0, 0, 2, b'a', b'b']),
        (MissingNul { found: b'b' }, 5)
    );
    assert_eq!(fault::<String>(&[0, 0, 0, 3, b'a', 0, 0]), (EmbeddedNul, 4));
    assert_eq!(
        fault::<String>(&[0, 0, 0, 3, b'a', 0xff, 0]),
        (InvalidUtf8, 5)
    );
    assert_eq!(
        fault::<String>(&[0, 0, 0, 4, b'a', b'b', 0]),
        (CountTooLarge { count: 4, left: 3 }, 0)
    );
    assert!(
        decode::<BigEndian, String>(&[0, 0, 0, 2, 0xff, 0], modern())
            .unwrap_err()
            .is_data_conversion()
    );
    assert!(
        !decode::<BigEndian, String>(&[0, 0, 0, 2, 1, 1], modern())
            .unwrap_err()
            .is_data_conversion()
    );
}

#[test]
fn a_nul_is_found_wherever_it_is() {
    for len in 1..200 {
        for at in 0..len {
            let mut text = vec![b'x'; len];
            text[at] = 0;
            let text = String::from_utf8(text).unwrap();
            let e = encode_at::<BigEndian>(&text, 0, modern()).unwrap_err();
            assert_eq!(e.kind(), EncodeErrorKind::EmbeddedNul);
            let e = encode_at::<BigEndian>(&Enc::<WideStr>(&text), 0, modern()).unwrap_err();
            assert_eq!(e.kind(), EncodeErrorKind::EmbeddedNul);
        }
    }
}

#[test]
fn what_is_not_utf8_is_found_wherever_it_is() {
    let long: String = "x€ü".repeat(40);
    for at in 0..long.len() {
        let mut text = long.clone().into_bytes();
        // In no place of any character.
        text[at] = 0xff;
        let broken = std::str::from_utf8(&text).unwrap_err().valid_up_to();
        let mut octets = u32::try_from(text.len() + 1)
            .unwrap()
            .to_be_bytes()
            .to_vec();
        octets.extend(&text);
        octets.push(0);
        assert_eq!(
            fault::<String>(&octets),
            (DecodeErrorKind::InvalidUtf8, 4 + broken)
        );
    }
}

#[test]
fn latin1_is_converted_and_borrowed_where_it_is_ascii() {
    let octets = encode_at::<BigEndian>("tür", 0, latin1()).unwrap();
    assert_eq!(octets, [0, 0, 0, 4, b't', 0xfc, b'r', 0]);
    let read = |octets| decode::<BigEndian, Cow<'_, str>>(octets, latin1()).unwrap();
    assert!(matches!(read(&octets), Cow::Owned(text) if text == "tür"));
    let octets = big("door");
    assert!(matches!(read(&octets), Cow::Borrowed("door")));
    // UTF-8 that is not ASCII is other characters in Latin-1.
    assert_eq!(read(&[0, 0, 0, 3, 0xc3, 0xa4, 0]), "Ã¤");
    let e = encode_at::<BigEndian>("€", 0, latin1()).unwrap_err();
    assert_eq!(
        e.kind(),
        EncodeErrorKind::NotInCodeSet {
            found: 0x20ac,
            set: "ISO 8859-1"
        }
    );
    assert!(e.is_data_conversion());
    let e = encode_at::<BigEndian>("ü\0", 0, latin1()).unwrap_err();
    assert_eq!(e.kind(), EncodeErrorKind::EmbeddedNul);
}

#[test]
fn utf8_is_borrowed() {
    let octets = big("ä€🦀");
    let text = decode::<BigEndian, Cow<'_, str>>(&octets, modern()).unwrap();
    assert!(matches!(text, Cow::Borrowed("ä€🦀")));
}

#[test]
fn raw_strings_are_octets() {
    let octets = [0, 0, 0, 3, 0xff, 0xfe, 0];
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(d.read_raw_string().unwrap(), [0xff, 0xfe]);
}

#[test]
fn giop_1_2_writes_wide_text_big_endian_without_a_mark() {
    assert_eq!(wide("", modern()), [0, 0, 0, 0]);
    assert_eq!(wide("aä", modern()), [4, 0, 0, 0, 0, b'a', 0, 0xe4]);
    assert_eq!(wide("🦀", modern()), [4, 0, 0, 0, 0xd8, 0x3e, 0xdd, 0x80]);
}

#[test]
fn text_that_begins_like_a_mark_gets_one_and_survives() {
    assert_eq!(
        wide("\u{feff}a", modern()),
        [6, 0, 0, 0, 0xfe, 0xff, 0xfe, 0xff, 0, b'a']
    );
    for text in [
        "\u{feff}",
        "\u{feff}a",
        "\u{fffe}",
        "\u{fffe}b",
        "a\u{feff}",
    ] {
        assert_eq!(read_wide(&wide(text, modern()), modern()), text);
    }
}

#[test]
fn giop_1_2_obeys_a_mark_and_takes_none_for_big_endian() {
    // As omniORB, GlassFish and JacORB send them.
    assert_eq!(
        read_wide(&[6, 0, 0, 0, 0xff, 0xfe, b'h', 0, b'i', 0], modern()),
        "hi"
    );
    assert_eq!(
        read_wide(&[6, 0, 0, 0, 0xfe, 0xff, 0, b'h', 0, b'i'], modern()),
        "hi"
    );
    assert_eq!(read_wide(&[4, 0, 0, 0, 0, b'h', 0, b'i'], modern()), "hi");
    assert_eq!(read_wide(&[2, 0, 0, 0, 0xff, 0xfe], modern()), "");
    assert_eq!(read_wide(&[0, 0, 0, 0], modern()), "");
}

#[test]
fn giop_1_1_counts_units_with_a_terminator_in_the_order_of_the_message() {
    assert_eq!(wide("hi", minor(1)), [3, 0, 0, 0, b'h', 0, b'i', 0, 0, 0]);
    assert_eq!(read_wide(&wide("hi🦀", minor(1)), minor(1)), "hi🦀");
    assert_eq!(read_wide(&[0, 0, 0, 0], minor(1)), "");
    type Wide = Dec<WideStr>;
    assert_eq!(
        fault_in::<Wide>(&[0, 0, 0, 2, 0, b'h', 0, b'i'], minor(1)),
        (DecodeErrorKind::MissingWideNul { found: 0x69 }, 6)
    );
    assert_eq!(
        fault_in::<Wide>(&[0, 0, 0, 2, 0, 0, 0, 0], minor(1)),
        (DecodeErrorKind::EmbeddedNul, 4)
    );
}

#[test]
fn malformed_wide_text_is_refused() {
    type Wide = Dec<WideStr>;
    assert_eq!(
        fault::<Wide>(&[0, 0, 0, 3, 0, b'a', 0]),
        (DecodeErrorKind::WideLength { found: 3 }, 4)
    );
    assert_eq!(
        fault::<Wide>(&[0, 0, 0, 2, 0, 0]),
        (DecodeErrorKind::EmbeddedNul, 4)
    );
    for unpaired in [&[0xd8, 0x3e][..], &[0xdd, 0x80], &[0xd8, 0x3e, 0, b'a']] {
        let mut octets = vec![0, 0, 0, unpaired.len() as u8];
        octets.extend(unpaired);
        let e = decode::<BigEndian, Wide>(&octets, modern()).unwrap_err();
        assert!(matches!(e.kind(), DecodeErrorKind::LoneSurrogate { .. }));
        assert!(e.is_data_conversion());
    }
}

#[test]
fn a_wchar_is_a_unit_with_its_length_or_a_short_in_giop_1_1() {
    assert_eq!(little(&WChar(0x20ac)), [2, 0x20, 0xac]);
    let read = |octets: &[u8]| decode::<LittleEndian, WChar>(octets, modern());
    assert_eq!(read(&[2, 0x20, 0xac]), Ok(WChar(0x20ac)));
    assert_eq!(read(&[4, 0xfe, 0xff, 0x20, 0xac]), Ok(WChar(0x20ac)));
    assert_eq!(read(&[4, 0xff, 0xfe, 0xac, 0x20]), Ok(WChar(0x20ac)));
    // Alone, what looks like a mark is the character.
    assert_eq!(read(&[2, 0xff, 0xfe]), Ok(WChar(0xfffe)));
    // Java sends halves of surrogate pairs.
    assert_eq!(read(&[2, 0xd8, 0x3e]), Ok(WChar(0xd83e)));
    for octets in [
        &[0][..],
        &[1, 0],
        &[3, 0, 0, 0],
        &[4, 0, 1, 0, 2],
        &[6, 0, 0, 0, 0, 0, 0],
    ] {
        let kind = read(octets).unwrap_err().kind();
        assert!(
            matches!(kind, DecodeErrorKind::WideLength { .. }),
            "{octets:?}: {kind:?}"
        );
    }
    assert_eq!(
        encode_at::<LittleEndian>(&WChar(0x20ac), 1, minor(1)).unwrap(),
        [0, 0xac, 0x20]
    );
    assert_eq!(
        decode::<LittleEndian, WChar>(&[0xac, 0x20], minor(1)),
        Ok(WChar(0x20ac))
    );
}

#[test]
fn wide_text_is_refused_in_giop_1_0_and_without_a_code_set() {
    for (format, written, read) in [
        (
            minor(0),
            EncodeErrorKind::WideInGiop1_0,
            DecodeErrorKind::WideInGiop1_0,
        ),
        (
            narrow(),
            EncodeErrorKind::WideRefused,
            DecodeErrorKind::WideRefused,
        ),
    ] {
        let e = encode_at::<BigEndian>(&Enc::<WideStr>("a"), 0, format).unwrap_err();
        assert_eq!(e.kind(), written);
        assert!(encode_at::<BigEndian>(&WChar(1), 0, format).is_err());
        assert_eq!(fault_in::<WChar>(&[2, 0, b'a'], format), (read, 0));
        assert_eq!(fault_in::<Dec<WideStr>>(&[0, 0, 0, 0], format), (read, 0));
    }
}

#[test]
fn ucs_2_has_the_order_of_the_message_and_no_mark() {
    let ucs2 = WireFormat {
        wchar_set: WCharSet::Ucs2,
        ..WireFormat::default()
    };
    let big = [0, 0, 0, 4, 0x20, 0xac, 0, b'a'];
    let little = [4, 0, 0, 0, 0xac, 0x20, b'a', 0];
    let text = Enc::<WideStr>("€a");
    assert_eq!(encode_at::<BigEndian>(&text, 0, ucs2).unwrap(), big);
    assert_eq!(encode_at::<LittleEndian>(&text, 0, ucs2).unwrap(), little);
    let Dec(read) = decode::<BigEndian, Dec<WideStr>>(&big, ucs2).unwrap();
    assert_eq!(read, "€a");
    let Dec(read) = decode::<LittleEndian, Dec<WideStr>>(&little, ucs2).unwrap();
    assert_eq!(read, "€a");
    // A byte order mark of UTF-16 is a character here.
    let Dec(read) = decode::<BigEndian, Dec<WideStr>>(&[0, 0, 0, 2, 0xfe, 0xff], ucs2).unwrap();
    assert_eq!(read, "\u{feff}");

    let c = WChar(0x20ac);
    assert_eq!(
        encode_at::<BigEndian>(&c, 0, ucs2).unwrap(),
        [2, 0x20, 0xac]
    );
    assert_eq!(
        encode_at::<LittleEndian>(&c, 0, ucs2).unwrap(),
        [2, 0xac, 0x20]
    );
    assert_eq!(decode::<BigEndian, WChar>(&[2, 0x20, 0xac], ucs2), Ok(c));
    assert_eq!(decode::<LittleEndian, WChar>(&[2, 0xac, 0x20], ucs2), Ok(c));

    let e = encode_at::<BigEndian>(&Enc::<WideStr>("🦀"), 0, ucs2).unwrap_err();
    assert_eq!(
        e.to_string(),
        "expected a character of UCS-2, found U+1F980"
    );
}

#[test]
fn bounds_count_characters() {
    let write = |text| encode_at::<BigEndian>(&Enc::<BoundedStr<3>>(text), 0, modern());
    assert!(write("äöü").is_ok());
    let kind = write("äöüß").unwrap_err().kind();
    assert_eq!(kind, EncodeErrorKind::BoundExceeded { bound: 3, found: 4 });

    assert_eq!(
        decode::<BigEndian, Dec<BoundedStr<3>>>(&big("äöü"), modern())
            .unwrap()
            .0,
        "äöü"
    );
    let e = decode::<BigEndian, Dec<BoundedStr<3>>>(&big("four"), modern()).unwrap_err();
    assert_eq!(
        e.kind(),
        DecodeErrorKind::BoundExceeded { bound: 3, found: 4 }
    );

    let wide = encode_at::<BigEndian>(&Enc::<WideStr>("four"), 0, modern()).unwrap();
    assert!(decode::<BigEndian, Dec<BoundedWideStr<4>>>(&wide, modern()).is_ok());
    assert!(decode::<BigEndian, Dec<BoundedWideStr<3>>>(&wide, modern()).is_err());
    assert!(encode_at::<BigEndian>(&Enc::<BoundedWideStr<3>>("four"), 0, modern()).is_err());
}
