//! The measured values: one of every type, once for all benches.

#![allow(dead_code, reason = "each bench uses its part")]

use bytes::Bytes;
use zorb_cdr::{
    Any, Array, BoundedOctets, BoundedSeq, BoundedStr, BoundedWideStr, Char, Codec, Fixed,
    LongDouble, Seq, TypeCode, WChar, WideStr, cdr_enum, cdr_struct, cdr_union,
};

/// Sees every case.
pub(crate) trait Visit {
    /// A value, and how many elements it has.
    fn value<C: Codec>(&mut self, name: &str, elements: usize, value: &C::Borrowed);
    /// A sequence, which can also be read into a `Vec` that is used again.
    fn sequence<C: Codec<Value: Clone>>(&mut self, name: &str, values: &[C::Value]);
}

/// The struct that TAO's and omniORB's benches are timed with: 24 octets.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct BinStruct {
    pub(crate) s: i16,
    #[serde(with = "as_octet")]
    pub(crate) c: Char,
    pub(crate) l: i32,
    pub(crate) o: u8,
    pub(crate) d: f64,
}
cdr_struct!(BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64
});

/// A `char` as an octet, for the peers.
mod as_octet {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use zorb_cdr::Char;

    pub(super) fn serialize<S: Serializer>(c: &Char, to: S) -> Result<S::Ok, S::Error> {
        c.0.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Char, D::Error> {
        u8::deserialize(from).map(Char)
    }
}

/// Three levels of structs, all of fixed size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nested {
    id: u32,
    position: Position,
    corners: [Position; 2],
    color: Color,
}
cdr_struct!(Nested {
    id: u32,
    position: Position,
    corners: Array<Position, 2>,
    color: Color
});

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Position {
    x: f64,
    y: f64,
    level: i16,
}
cdr_struct!(Position {
    x: f64,
    y: f64,
    level: i16
});

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Color {
    Red,
    Green,
    Blue,
}
cdr_enum!(Color { Red, Green, Blue });

/// A struct whose size varies.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Named {
    pub(crate) id: u32,
    pub(crate) name: String,
}
cdr_struct!(Named {
    id: u32,
    name: String
});

/// A union of fixed size.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Number(f64),
    Counter { discriminator: i32, value: u64 },
}
cdr_union!(Cell: i32 {
    one { Number(f64) = [1] }
    several {}
    default Counter(u64);
});

/// A union whose size varies.
#[derive(Clone, Debug)]
pub(crate) enum Attribute {
    Flag(bool),
    Text(String),
}
cdr_union!(Attribute: bool {
    one { Flag(bool) = [true], Text(String) = [false] }
    several {}
});

/// Lengths of the sequences of plain types.
pub(crate) const LENGTHS: [usize; 3] = [16, 1_024, 16_384];

pub(crate) fn bin_structs(count: usize) -> Vec<BinStruct> {
    numbers(count)
        .map(|n: u16| BinStruct {
            s: n.cast_signed(),
            c: Char(b'a' + (n % 26) as u8),
            l: i32::from(n) * 1000,
            o: n as u8,
            d: f64::from(n) / 3.0,
        })
        .collect()
}

pub(crate) fn named(count: usize) -> Vec<Named> {
    numbers(count)
        .map(|id: u16| Named {
            id: u32::from(id),
            name: format!("account {id}"),
        })
        .collect()
}

/// Text of so many characters, all ASCII.
pub(crate) fn ascii(len: usize) -> String {
    "abcdefghij".chars().cycle().take(len).collect()
}

/// Text of so many characters, most of them ASCII, all in ISO 8859-1.
pub(crate) fn german(len: usize) -> String {
    "Fünf größere Äpfel ".chars().cycle().take(len).collect()
}

/// 0, 1, 2, …
pub(crate) fn numbers<T: TryFrom<u16>>(count: usize) -> impl Iterator<Item = T> {
    (0..count).filter_map(|n| T::try_from((n % 128) as u16).ok())
}

/// Every case once.
pub(crate) fn visit(v: &mut impl Visit) {
    alone(v);
    text(v);
    for len in LENGTHS {
        plain_sequences(v, len);
    }
    constructed(v);
    anys(v);
}

fn alone(v: &mut impl Visit) {
    v.value::<()>("nothing", 1, &());
    v.value::<bool>("boolean", 1, &true);
    v.value::<u8>("octet", 1, &7);
    v.value::<Char>("char", 1, &Char(b'x'));
    v.value::<i8>("int8", 1, &-7);
    v.value::<i16>("short", 1, &-7);
    v.value::<u16>("unsigned short", 1, &7);
    v.value::<i32>("long", 1, &-7);
    v.value::<u32>("unsigned long", 1, &7);
    v.value::<i64>("long long", 1, &-7);
    v.value::<u64>("unsigned long long", 1, &7);
    v.value::<f32>("float", 1, &0.5);
    v.value::<f64>("double", 1, &0.5);
    v.value::<LongDouble>("long double", 1, &LongDouble::from(0.5));
    v.value::<WChar>("wchar", 1, &WChar(0x20ac));
    v.value::<Color>("enum", 1, &Color::Blue);
    let fixed: Fixed<9, 2> = "1234567.89".parse().expect("nine digits");
    v.value::<Fixed<9, 2>>("fixed<9,2>", 1, &fixed);
    v.value::<(i16, f64, u8)>("short, double, octet", 1, &(1, 2.0, 3));
}

fn text(v: &mut impl Visit) {
    for len in [16, 10_240] {
        v.value::<String>(&format!("string of {len}"), len, &ascii(len));
        v.value::<String>(&format!("string of {len}, not ASCII"), len, &german(len));
        v.value::<WideStr>(&format!("wstring of {len}"), len, &ascii(len));
        v.value::<WideStr>(&format!("wstring of {len}, not ASCII"), len, &german(len));
    }
    v.value::<BoundedStr<32>>("string<32> of 16", 16, &ascii(16));
    v.value::<BoundedWideStr<32>>("wstring<32> of 16", 16, &ascii(16));
    v.sequence::<String>("sequence<string>, 256", &vec![ascii(16); 256]);
}

fn plain_sequences(v: &mut impl Visit, len: usize) {
    let name = |element: &str| format!("sequence<{element}>, {len}");
    let octets: Bytes = numbers::<u8>(len).collect();
    v.value::<Bytes>(&name("octet"), len, &octets);
    v.sequence::<bool>(&name("boolean"), &vec![true; len]);
    v.sequence::<Char>(&name("char"), &vec![Char(b'x'); len]);
    v.sequence::<i16>(&name("short"), &numbers(len).collect::<Vec<_>>());
    v.sequence::<i32>(&name("long"), &numbers(len).collect::<Vec<_>>());
    v.sequence::<i64>(&name("long long"), &numbers(len).collect::<Vec<_>>());
    v.sequence::<f32>(&name("float"), &vec![0.5; len]);
    v.sequence::<f64>(&name("double"), &vec![0.5; len]);
    v.sequence::<Color>(&name("enum"), &vec![Color::Green; len]);
    v.sequence::<BinStruct>(&name("BinStruct"), &bin_structs(len));
}

fn constructed(v: &mut impl Visit) {
    let position = |n: u16| Position {
        x: f64::from(n),
        y: 0.5,
        level: 7,
    };
    let nested: Vec<_> = numbers(1_024)
        .map(|n: u16| Nested {
            id: u32::from(n),
            position: position(n),
            corners: [position(n), position(0)],
            color: Color::Green,
        })
        .collect();
    v.value::<BinStruct>("BinStruct", 1, &bin_structs(1)[0]);
    v.value::<Nested>("nested structs", 1, &nested[0]);
    v.sequence::<Nested>("sequence<nested structs>, 1024", &nested);
    v.value::<[i32; 4]>("long[4]", 4, &[1, 2, 3, 4]);
    v.value::<[[f64; 16]; 16]>("double[16][16]", 256, &[[0.5; 16]; 16]);
    v.value::<Array<Position, 16>>("struct[16]", 16, &[position(1); 16]);
    v.sequence::<Named>("sequence<struct with string>, 256", &named(256));
    let cells: Vec<_> = numbers::<u16>(1_024)
        .map(|n| match n % 2 {
            0 => Cell::Number(f64::from(n)),
            _ => Cell::Counter {
                discriminator: 2,
                value: 7,
            },
        })
        .collect();
    v.sequence::<Cell>("sequence<union of fixed size>, 1024", &cells);
    let attributes: Vec<_> = numbers::<u16>(256)
        .map(|n| match n % 2 {
            0 => Attribute::Flag(true),
            _ => Attribute::Text(format!("account {n}")),
        })
        .collect();
    v.sequence::<Attribute>("sequence<union with string>, 256", &attributes);
    let longs: Vec<i32> = numbers(1_024).collect();
    v.value::<BoundedSeq<i32, 2_048>>("sequence<long, 2048>, 1024", 1_024, &longs);
    let octets = vec![7; 1_024];
    v.value::<BoundedOctets<2_048>>("sequence<octet, 2048>, 1024", 1_024, &octets);
    let rows = vec![vec![1_i32; 16]; 64];
    v.sequence::<Seq<i32>>("sequence<sequence<long>>, 64 of 16", &rows);
    let fixed: Fixed<9, 2> = "1234567.89".parse().expect("nine digits");
    v.sequence::<Fixed<9, 2>>("sequence<fixed<9,2>>, 256", &vec![fixed; 256]);
}

fn anys(v: &mut impl Visit) {
    let any = |value: i32| Any::new(&value).expect("a long fits into an any");
    v.value::<Any>("any of a long", 1, &any(7));
    v.sequence::<Any>("sequence<any of a long>, 256", &vec![any(7); 256]);
    let longs: Vec<i32> = numbers(1_024).collect();
    let longs = Any::new(&longs).expect("longs fit into an any");
    v.value::<Any>("any of sequence<long>, 1024", 1_024, &longs);
    let text = Any::new(&ascii(1_024)).expect("text fits into an any");
    v.value::<Any>("any of a string of 1024", 1_024, &text);
    v.value::<TypeCode>("TypeCode of a string", 1, text.type_code());
}
