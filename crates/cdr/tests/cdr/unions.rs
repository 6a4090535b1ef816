//! Unions: what is written, what is read, what is refused.

#![deny(warnings)]

use crate::common::*;
use proptest::prelude::*;
use std::fmt::Debug;
use zorb_cdr::{
    BigEndian, BoundedStr, ByteOrder, Char, Decode, DecodeErrorKind, Decoder, Encode,
    EncodeErrorKind, LittleEndian, WChar, cdr_enum, cdr_struct, cdr_union,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Color {
    Red,
    Green,
    Blue,
}
cdr_enum!(Color { Red, Green, Blue });

/// Everything that there is, and itself through a sequence.
#[derive(Debug, Clone, PartialEq)]
enum Mixed {
    Nothing(()),
    Text(String),
    Pair {
        discriminator: i32,
        value: (u8, f64),
    },
    Rest {
        discriminator: i32,
        value: Vec<Self>,
    },
}
cdr_union!(Mixed: i32 {
    one { Nothing(()) = [-1], Text(BoundedStr<9>) = [0x7fff_ffff] }
    several { Pair((u8, f64)) = [1] [2] [-3] }
    default Rest(Vec<Mixed>);
});

/// No default, and labels that leave something.
#[derive(Debug, Clone, PartialEq)]
enum Open {
    A(u64),
    Unset { discriminator: Char },
}
cdr_union!(Open: Char { one { A(u64) = [Char(b'a')] } several {} unset Unset; });

/// One value is left, and it is known.
#[derive(Debug, Clone, PartialEq)]
enum Maybe {
    Some(i16),
    Unset,
}
cdr_union!(Maybe: bool { one { Some(i16) = [true] } several {} last Unset = [false]; });

/// All values, no default.
#[derive(Debug, Clone, PartialEq)]
enum Tint {
    Warm { discriminator: Color, value: u8 },
    Cold(String),
}
cdr_union!(Tint: Color {
    one { Cold(String) = [Color::Blue] }
    several { Warm(u8) = [Color::Red] [Color::Green] }
});

/// A default only.
#[derive(Debug, Clone, PartialEq)]
enum Any {
    It { discriminator: u64, value: bool },
}
cdr_union!(Any: u64 { one {} several {} default It(bool); });

/// The same octets whatever is selected.
#[derive(Debug, Clone, PartialEq)]
enum Word {
    Long(i32),
    Float { discriminator: u8, value: f32 },
    Other { discriminator: u8, value: Color },
}
cdr_union!(Word: u8 {
    one { Long(i32) = [0] }
    several { Float(f32) = [1] [255] }
    default Other(Color);
});

#[derive(Debug, Clone, PartialEq)]
struct Holder {
    flag: bool,
    words: Vec<Word>,
    word: [Word; 2],
    maybe: Maybe,
}
cdr_struct!(Holder { flag: bool, words: Vec<Word>, word: [Word; 2], maybe: Maybe });

#[test]
fn a_union_is_its_discriminator_and_the_member_it_selects() {
    assert_eq!(big(&Mixed::Nothing(())), [0xff, 0xff, 0xff, 0xff]);
    assert_eq!(
        big(&Mixed::Text("hi".into())),
        [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 3, b'h', b'i', 0]
    );
    let pair = Mixed::Pair {
        discriminator: -3,
        value: (7, 1.0),
    };
    assert_eq!(
        big(&pair),
        [
            0xff, 0xff, 0xff, 0xfd, 7, 0, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0
        ]
    );
    let rest = Mixed::Rest {
        discriminator: 5,
        value: vec![Mixed::Nothing(())],
    };
    assert_eq!(
        little(&rest),
        [5, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]
    );
    assert_eq!(
        big(&Open::A(1)),
        [b'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    );
    assert_eq!(
        big(&Open::Unset {
            discriminator: Char(b'z')
        }),
        [b'z']
    );
    assert_eq!(big(&Maybe::Some(-2)), [1, 0, 0xff, 0xfe]);
    assert_eq!(big(&Maybe::Unset), [0]);
    assert_eq!(
        big(&Tint::Warm {
            discriminator: Color::Green,
            value: 9
        }),
        [0, 0, 0, 1, 9]
    );
    assert_eq!(
        big(&Any::It {
            discriminator: 258,
            value: true
        }),
        [0, 0, 0, 0, 0, 0, 1, 2, 1]
    );
}

#[test]
fn a_union_has_its_discriminator() {
    assert_eq!(Mixed::Nothing(()).discriminator(), -1);
    assert_eq!(
        Mixed::Pair {
            discriminator: 2,
            value: (0, 0.0)
        }
        .discriminator(),
        2
    );
    assert_eq!(
        Open::Unset {
            discriminator: Char(b'q')
        }
        .discriminator(),
        Char(b'q')
    );
    assert!(Maybe::Some(1).discriminator() && !Maybe::Unset.discriminator());
    assert_eq!(Tint::Cold(String::new()).discriminator(), Color::Blue);
}

#[test]
fn a_discriminator_that_selects_something_else_is_not_written() {
    fn refused<T: Encode>(value: &T, variant: &'static str) {
        let error = encode_at::<BigEndian>(value, 0, modern()).unwrap_err();
        assert_eq!(
            error.kind(),
            EncodeErrorKind::WrongDiscriminator { variant }
        );
    }
    refused(
        &Mixed::Pair {
            discriminator: 4,
            value: (0, 0.0),
        },
        "Pair",
    );
    for discriminator in [1, 2, -3, -1, 0x7fff_ffff] {
        refused(
            &Mixed::Rest {
                discriminator,
                value: vec![],
            },
            "Rest",
        );
    }
    refused(
        &Open::Unset {
            discriminator: Char(b'a'),
        },
        "Unset",
    );
    refused(
        &Tint::Warm {
            discriminator: Color::Blue,
            value: 0,
        },
        "Warm",
    );
    // In the middle of a run of fixed layout, too.
    refused(
        &vec![
            Word::Long(1),
            Word::Other {
                discriminator: 255,
                value: Color::Red,
            },
        ],
        "Other",
    );
    refused(
        &[Word::Float {
            discriminator: 0,
            value: 0.0,
        }],
        "Float",
    );
    let error = encode_at::<BigEndian>(
        &Open::Unset {
            discriminator: Char(b'a'),
        },
        0,
        modern(),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a discriminator that selects `Unset`, found another"
    );
}

#[test]
fn what_no_union_can_be_is_refused() {
    let (kind, offset) = fault::<Tint>(&[0, 0, 0, 3, 0]);
    assert_eq!(
        (kind, offset),
        (DecodeErrorKind::InvalidEnum { found: 3, count: 3 }, 0)
    );
    let (kind, _) = fault::<Mixed>(&[0, 0, 0, 1, 9]);
    assert!(matches!(kind, DecodeErrorKind::Truncated { .. }));
    // A bound of a member.
    let (kind, _) = fault::<Mixed>(b"\x7f\xff\xff\xff\0\0\0\x0b0123456789\0");
    assert_eq!(
        kind,
        DecodeErrorKind::BoundExceeded {
            bound: 9,
            found: 10
        }
    );
    // Itself in itself: a message of eight octets a level.
    let deep: Vec<u8> = std::iter::repeat_n([0, 0, 0, 9, 0, 0, 0, 1], 1000)
        .flatten()
        .collect();
    let (kind, _) = fault::<Mixed>(&deep);
    assert_eq!(kind, DecodeErrorKind::TooDeep { limit: 128 });
    // More elements than can follow: a union of four octets at least.
    let (kind, _) = fault::<Vec<Mixed>>(&[0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(kind, DecodeErrorKind::CountTooLarge { count: 3, left: 8 });
}

#[test]
fn a_union_whose_members_are_alike_has_a_fixed_layout() {
    assert_eq!(<Word as Decode>::LAYOUT.size_at(0), Some(8));
    assert_eq!(<Word as Decode>::LAYOUT.stride(), 8);
    assert_eq!(<Holder as Decode>::LAYOUT.size_at(0), None);
    assert_eq!(<Any as Decode>::LAYOUT.size_at(7), Some(10));
    for size in [
        <Mixed as Decode>::LAYOUT.size_at(0),
        <Maybe as Decode>::LAYOUT.size_at(0),
    ] {
        assert_eq!(size, None);
    }
    assert_eq!(
        (<Mixed as Decode>::MIN_SIZE, <Any as Decode>::MIN_SIZE),
        (4, 9)
    );
    assert_eq!(
        (<Maybe as Decode>::MIN_SIZE, <Tint as Decode>::MIN_SIZE),
        (1, 5)
    );
}

/// No prelude, and names that are likeliest to clash.
#[no_implicit_prelude]
mod hostile {
    #[derive(::std::fmt::Debug, ::std::cmp::PartialEq)]
    pub(crate) enum Result {
        Ok(::std::vec::Vec<Self>),
        Err {
            discriminator: ::zorb_cdr::WChar,
            value: i8,
        },
    }
    ::zorb_cdr::cdr_union!(Result: ::zorb_cdr::WChar {
        one { Ok(::std::vec::Vec<Result>) = [::zorb_cdr::WChar(0x20ac)] }
        several {}
        default Err(i8);
    });
}

#[test]
fn unions_with_clashing_names_travel() {
    let value = hostile::Result::Err {
        discriminator: WChar(0x41),
        value: -1,
    };
    assert_eq!(big(&value), [2, 0, 0x41, 0xff]);
    assert_eq!(
        decode::<BigEndian, _>(&[2, 0, 0x41, 0xff], modern()),
        Ok(value)
    );
    let value = hostile::Result::Ok(vec![]);
    assert_eq!(big(&value), [2, 0x20, 0xac, 0, 0, 0, 0, 0]);
}

fn color() -> impl Strategy<Value = Color> {
    prop_oneof![Just(Color::Red), Just(Color::Green), Just(Color::Blue)]
}

fn mixed() -> impl Strategy<Value = Mixed> {
    let leaf = prop_oneof![
        Just(Mixed::Nothing(())),
        "[^\0]{0,9}".prop_map(Mixed::Text),
        (
            prop_oneof![Just(1), Just(2), Just(-3)],
            any::<u8>(),
            -1e9..1e9
        )
            .prop_map(|(discriminator, a, b)| Mixed::Pair {
                discriminator,
                value: (a, b)
            }),
    ];
    leaf.prop_recursive(4, 20, 5, |inner| {
        (10..20, proptest::collection::vec(inner, 0..5)).prop_map(|(discriminator, value)| {
            Mixed::Rest {
                discriminator,
                value,
            }
        })
    })
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        any::<i32>().prop_map(Word::Long),
        (prop_oneof![Just(1_u8), Just(255)], -1e9..1e9_f32).prop_map(|(discriminator, value)| {
            Word::Float {
                discriminator,
                value,
            }
        }),
        (2..255_u8, color()).prop_map(|(discriminator, value)| Word::Other {
            discriminator,
            value
        }),
    ]
}

prop_compose! {
    fn holder()(
        flag in any::<bool>(),
        words in proptest::collection::vec(word(), 0..6),
        word in [word(), word()],
        maybe in prop_oneof![any::<i16>().prop_map(Maybe::Some), Just(Maybe::Unset)],
    ) -> Holder {
        Holder { flag, words, word, maybe }
    }
}

fn again<T>(value: &T, start: usize)
where
    T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
{
    fn one<O: ByteOrder, T>(value: &T, start: usize)
    where
        T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
    {
        let mut octets = vec![0; start];
        octets.extend(encode_at::<O>(value, start, modern()).unwrap());
        let mut d = Decoder::<O>::from_slice(&octets, modern());
        d.take(start).unwrap();
        assert_eq!(&d.get::<T>().unwrap(), value);
        assert_eq!(d.remaining(), 0);
        for end in start..octets.len() {
            let mut d = Decoder::<O>::from_slice(&octets[..end], modern());
            d.take(start).unwrap();
            d.get::<T>().unwrap_err();
        }
    }
    one::<BigEndian, T>(value, start);
    one::<LittleEndian, T>(value, start);
}

proptest! {
    #[test]
    fn every_union_comes_back_and_no_piece_of_it(mixed in mixed(), holder in holder(), start in 0..8_usize) {
        again(&mixed, start);
        again(&holder, start);
    }

    #[test]
    fn random_octets_cause_no_panic(octets in proptest::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..100)) {
        let _ = decode::<BigEndian, Mixed>(&octets, modern());
        let _ = decode::<LittleEndian, Vec<Holder>>(&octets, modern());
        let _ = decode::<BigEndian, (Vec<Tint>, Any)>(&octets, modern());
    }
}
