//! A value that is written is read again, for all values, byte orders and positions.

use crate::common::*;
use bytes::Bytes;
use proptest::{collection::vec, prelude::*};
use std::{borrow::Cow, fmt::Debug};
use zorb_cdr::{
    Array, BigEndian, BoundedSeq, BoundedStr, ByteOrder, Char, Dec, Decode, Decoder, Enc, Encode,
    Encoder, Frame, LittleEndian, NativeEndian, OctetsRef, Seq, WChar, WideStr, WireFormat,
    cdr_enum, cdr_struct,
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

/// Fixed, with something of every alignment.
#[derive(Debug, PartialEq, Clone)]
struct Fixed {
    flag: bool,
    color: Color,
    bins: [BinStruct; 2],
    tail: i8,
    shorts: [u16; 3],
}
cdr_struct!(Fixed { flag: bool, color: Color, bins: Array<BinStruct, 2>, tail: i8, shorts: [u16; 3] });

/// A bit of everything.
#[derive(Debug, PartialEq, Clone)]
struct Mixed {
    octet: u8,
    name: String,
    wide: String,
    longs: Vec<i64>,
    fixed: Vec<Fixed>,
    wchar: WChar,
    unit: (),
    nested: Vec<Vec<String>>,
    data: Bytes,
    float: f32,
    rest: Vec<Self>,
}
cdr_struct!(Mixed {
    octet: u8,
    name: BoundedStr<40>,
    wide: WideStr,
    longs: BoundedSeq<i64, 8>,
    fixed: Seq<Fixed>,
    wchar: WChar,
    unit: (),
    nested: Seq<Vec<String>>,
    data: Bytes,
    float: f32,
    rest: Vec<Mixed>,
});

fn color() -> impl Strategy<Value = Color> {
    prop_oneof![Just(Color::Red), Just(Color::Green), Just(Color::Blue)]
}

fn char7() -> impl Strategy<Value = Char> {
    (0..0x80_u8).prop_map(Char)
}

/// Text without NUL.
fn text() -> impl Strategy<Value = String> {
    "[^\0]{0,20}"
}

/// Numbers that equal themselves.
fn double() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("not a number", |d| !d.is_nan())
}

prop_compose! {
    fn bin_struct()(s in any::<i16>(), c in char7(), l in any::<i32>(), o in any::<u8>(), d in double()) -> BinStruct {
        BinStruct { s, c, l, o, d }
    }
}

prop_compose! {
    fn fixed()(
        flag in any::<bool>(),
        color in color(),
        bins in [bin_struct(), bin_struct()],
        tail in any::<i8>(),
        shorts in any::<[u16; 3]>(),
    ) -> Fixed {
        Fixed { flag, color, bins, tail, shorts }
    }
}

fn mixed() -> impl Strategy<Value = Mixed> {
    let leaf = (
        any::<u8>(),
        text(),
        text(),
        vec(any::<i64>(), 0..8),
        vec(fixed(), 0..4),
        any::<u16>(),
        vec(vec(text(), 0..3), 0..3),
        vec(any::<u8>(), 0..20),
        any::<f32>().prop_filter("not a number", |f| !f.is_nan()),
    )
        .prop_map(
            |(octet, name, wide, longs, fixed, wchar, nested, data, float)| Mixed {
                octet,
                name,
                wide,
                longs,
                fixed,
                wchar: WChar(wchar),
                unit: (),
                nested,
                data: data.into(),
                float,
                rest: vec![],
            },
        );
    let leaf = leaf.boxed();
    leaf.clone().prop_recursive(3, 8, 3, move |inner| {
        (leaf.clone(), vec(inner, 0..3)).prop_map(|(mut mixed, rest)| {
            mixed.rest = rest;
            mixed
        })
    })
}

/// Writes and reads in one order, from one start; returns the octets behind the start.
fn again<O: ByteOrder, T>(value: &T, start: usize, format: WireFormat) -> Vec<u8>
where
    T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
{
    let mut e = Encoder::<O>::new(format);
    e.append(&vec![0xee; start]);
    e.put(value).unwrap();
    let octets = e.finish().into_bytes();
    let frame = Frame::new(octets.clone());
    let mut d = Decoder::<O>::at(&frame, start, format).unwrap();
    assert_eq!(&d.get::<T>().unwrap(), value);
    assert_eq!(d.remaining(), 0);
    octets.to_vec().split_off(start)
}

fn everywhere<T>(value: &T)
where
    T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
{
    for start in 0..8 {
        for minor_version in [1, 2] {
            again::<BigEndian, T>(value, start, minor(minor_version));
            again::<LittleEndian, T>(value, start, minor(minor_version));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn primitives_and_their_sequences(
        a in any::<(u8, i16, u32, i64, bool, i8, u16, i32, u64)>(),
        d in double(),
        c in char7(),
        w in any::<u16>(),
        colors in vec(color(), 0..5),
    ) {
        everywhere(&(a, d, c, WChar(w), colors));
        everywhere(&(vec![a, a, a], vec![d, d], vec![WChar(w)], [c, c, c]));
        everywhere(&(vec![a.0; 3], vec![a.1; 3], vec![a.2; 3], vec![a.3; 3], vec![a.4; 3]));
        everywhere(&([a.5; 3], [a.6; 3], [a.7; 3], [a.8; 3], [d; 3]));
    }

    #[test]
    fn structs_of_everything(value in mixed()) {
        everywhere(&value);
    }

    #[test]
    fn the_fixed_layout_is_the_same_as_field_by_field(
        values in vec(fixed(), 0..5),
        start in 0..16_usize,
    ) {
        fn check<O: ByteOrder>(values: &[Fixed], start: usize) {
            let whole = again::<O, _>(&values.to_vec(), start, modern());
            let mut e = Encoder::<O>::new(modern());
            e.append(&vec![0xee; start]);
            e.write_count(values.len()).unwrap();
            for v in values {
                e.put(&v.flag).unwrap();
                e.put(&v.color).unwrap();
                for bin in &v.bins {
                    e.put(&bin.s).unwrap();
                    e.put(&bin.c).unwrap();
                    e.put(&bin.l).unwrap();
                    e.put(&bin.o).unwrap();
                    e.put(&bin.d).unwrap();
                }
                e.put(&v.tail).unwrap();
                for short in v.shorts {
                    e.put(&short).unwrap();
                }
            }
            let octets = e.finish().to_vec();
            assert_eq!(&octets[start..], whole);
            // And one by one.
            let mut d = Decoder::<O>::from_slice(&octets, modern());
            d.take(start).unwrap();
            d.read_u32().unwrap();
            for v in values {
                assert_eq!(&d.get::<Fixed>().unwrap(), v);
            }
        }
        check::<BigEndian>(&values, start);
        check::<LittleEndian>(&values, start);
    }

    #[test]
    fn every_truncation_is_an_error(value in mixed(), start in 0..8_usize) {
        fn check<O: ByteOrder>(value: &Mixed, start: usize) {
            let mut e = Encoder::<O>::new(modern());
            e.append(&vec![0; start]);
            e.put(value).unwrap();
            let octets = e.finish().to_vec();
            for end in start..octets.len() {
                let mut d = Decoder::<O>::from_slice(&octets[..end], modern());
                d.take(start).unwrap();
                let e = d.get::<Mixed>().unwrap_err();
                assert!(e.offset() <= end);
            }
        }
        check::<BigEndian>(&value, start);
        check::<LittleEndian>(&value, start);
    }

    #[test]
    fn damaged_octets_cause_no_panic(
        value in mixed(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        minor_version in 0..3_u8,
    ) {
        let mut octets = encode_at::<LittleEndian>(&value, 0, modern()).unwrap();
        for (at, octet) in damage {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        let _ = decode::<LittleEndian, Mixed>(&octets, minor(minor_version));
        let _ = decode::<BigEndian, Mixed>(&octets, latin1());
    }

    #[test]
    fn random_octets_cause_no_panic(octets in vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..200)) {
        fn all<O: ByteOrder>(octets: &[u8], format: WireFormat) {
            let _ = decode::<O, Mixed>(octets, format);
            let _ = decode::<O, Vec<Fixed>>(octets, format);
            let _ = decode::<O, Vec<String>>(octets, format);
            let _ = decode::<O, Vec<Vec<Vec<u16>>>>(octets, format);
            let _ = decode::<O, Cow<'_, [f64]>>(octets, format);
            let _ = decode::<O, OctetsRef<'_>>(octets, format);
            let _ = decode::<O, (WChar, Dec<WideStr>)>(octets, format);
            let _ = Decoder::<O>::from_slice(octets, format).read_encapsulated::<Mixed>();
        }
        for version in 0..3 {
            all::<BigEndian>(&octets, minor(version));
            all::<LittleEndian>(&octets, minor(version));
        }
        all::<BigEndian>(&octets, latin1());
    }

    #[test]
    fn views_equal_values(
        numbers in vec(any::<u32>(), 0..50),
        doubles in vec(double(), 0..50),
        octets in vec(any::<u8>(), 0..3000),
        text in text(),
    ) {
        fn check<O: ByteOrder>(value: &(Vec<u32>, Vec<f64>, Vec<u8>, String)) {
            let frame = Frame::new(encode_at::<O>(value, 0, modern()).unwrap().into());
            let mut d = Decoder::<O>::new(&frame, modern());
            type View<'a> = (Cow<'a, [u32]>, Cow<'a, [f64]>, OctetsRef<'a>, Cow<'a, str>);
            let view = d.get::<View<'_>>().unwrap();
            assert_eq!(*view.0, value.0);
            assert_eq!(*view.1, value.1);
            assert_eq!(&*view.2, value.2);
            assert_eq!(view.2.keep(), value.2);
            assert_eq!(view.3, value.3);
            // A view is written like the value it views.
            assert_eq!(encode_at::<O>(&view, 0, modern()).unwrap(), frame.octets());
        }
        let value = (numbers, doubles, octets, text);
        check::<BigEndian>(&value);
        check::<LittleEndian>(&value);
        check::<NativeEndian>(&value);
    }

    #[test]
    fn latin1_text_comes_back(text in "[\u{1}-\u{ff}]{0,40}", c in any::<u8>()) {
        again::<BigEndian, _>(&(text, Char(c)), 0, latin1());
    }

    #[test]
    fn wide_text_comes_back_in_giop_1_1_and_1_2(text in text(), start in 0..8_usize) {
        for format in [minor(1), minor(2)] {
            let octets = encode_at::<LittleEndian>(&Enc::<WideStr>(&text), start, format).unwrap();
            let mut whole = vec![0; start];
            whole.extend(octets);
            let mut d = Decoder::<LittleEndian>::from_slice(&whole, format);
            d.take(start).unwrap();
            prop_assert_eq!(&d.get::<Dec<WideStr>>().unwrap().0, &text);
        }
    }

    /// Values put one into each fragment are those of an unfragmented message.
    #[test]
    fn fragments_equal_an_unfragmented_message(
        values in vec(prop_oneof![
            (any::<u64>(), any::<u8>()).prop_map(|(n, o)| Piece::Numbers(n, o)),
            text().prop_map(Piece::Text),
            vec(fixed(), 0..4).prop_map(Piece::Fixed),
            Just(Piece::Nothing),
        ], 1..6),
    ) {
        let parts: Vec<BoxedPart<'_, BigEndian>> = values
            .iter()
            .map(|value| -> BoxedPart<'_, BigEndian> {
                Box::new(move |e| e.put(value).unwrap())
            })
            .collect();
        let parts: Vec<Part<'_, BigEndian>> = parts.iter().map(|p| &**p).collect();
        let frame = fragmented::<BigEndian>(&parts);
        let mut d = Decoder::<BigEndian>::at(&frame, 12, minor(1)).unwrap();
        for value in &values {
            match value {
                Piece::Numbers(n, o) => prop_assert_eq!(d.get(), Ok((*n, *o))),
                Piece::Text(text) => prop_assert_eq!(&d.get::<String>().unwrap(), text),
                Piece::Fixed(fixed) => prop_assert_eq!(&d.get::<Vec<Fixed>>().unwrap(), fixed),
                Piece::Nothing => {}
            }
        }
        prop_assert_eq!(d.remaining(), 0);
    }
}

#[derive(Debug, Clone)]
enum Piece {
    Numbers(u64, u8),
    Text(String),
    Fixed(Vec<Fixed>),
    Nothing,
}

impl Encode for Piece {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), zorb_cdr::EncodeError> {
        match self {
            Self::Numbers(n, o) => e.put(&(n, o)),
            Self::Text(text) => e.put(text),
            Self::Fixed(fixed) => e.put(fixed),
            Self::Nothing => Ok(()),
        }
    }
}
