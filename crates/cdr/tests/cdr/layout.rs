//! The layout computed at compile time against what is really written.

use crate::common::*;
use zorb_cdr::{
    Array, BigEndian, Char, Codec, Decode, Encode, Layout, WChar, cdr_enum, cdr_struct,
};

#[derive(Debug, PartialEq, Clone, Default)]
struct Inner {
    a: u8,
    b: u16,
}
cdr_struct!(Inner { a: u8, b: u16 });

#[derive(Debug, PartialEq, Clone, Default)]
struct Odd {
    flag: bool,
    inner: [Inner; 3],
    big: u64,
    tail: u8,
}
cdr_struct!(Odd { flag: bool, inner: Array<Inner, 3>, big: u64, tail: u8 });

#[derive(Debug, PartialEq, Clone, Copy)]
enum Kind {
    One,
}
cdr_enum!(Kind { One });

struct Empty {}
cdr_struct!(Empty {});

/// A type is written as its layout describes, from every start.
fn check<T: Encode + for<'de> Decode<'de> + Codec>(value: &T) {
    let layout = <T as Decode>::LAYOUT;
    assert!(layout.is_fixed());
    assert_eq!(layout, T::ENCODED);
    assert_eq!(layout, <T as Codec>::LAYOUT);
    for start in 0..16 {
        let octets = encode_at::<BigEndian>(value, start, modern()).unwrap();
        assert_eq!(layout.size_at(start), Some(octets.len()), "at {start}");
        assert!(<T as Decode>::MIN_SIZE <= octets.len());
        // Where it ends, the next takes the stride.
        let end = start + octets.len();
        assert_eq!(end % layout.align(), layout.settled());
        assert_eq!(layout.size_at(end), Some(layout.stride()));
    }
}

#[test]
fn layouts_are_what_is_written() {
    check(&1_u8);
    check(&1_i16);
    check(&1_u32);
    check(&1.0_f64);
    check(&true);
    check(&Char(b'a'));
    check(&Kind::One);
    check(&Inner::default());
    check(&Odd::default());
    check(&[Odd::default(), Odd::default()]);
    check(&(1_u8, 1_u16, 1_u8, 1_u32, 1_u8, 1_u64, 1_u8));
    check(&(1_u32, 1_u8));
    check(&[[1_u16; 3]; 5]);
    check(&[1_u8; 7]);
    check(&());
    check(&Empty {});
    check(&[(); 4]);
    check(&[1_u64; 0]);
}

#[test]
fn what_varies_has_no_layout() {
    assert!(!<String as Decode>::LAYOUT.is_fixed());
    assert!(!<Vec<u8> as Decode>::LAYOUT.is_fixed());
    assert!(!<WChar as Decode>::LAYOUT.is_fixed());
    assert!(!<(u8, String) as Decode>::LAYOUT.is_fixed());
    assert!(!<[String; 2] as Decode>::LAYOUT.is_fixed());
    assert_eq!(Layout::VARIABLE.size_at(0), None);
    assert_eq!(Layout::primitive(3), Layout::VARIABLE);
    // Too large to be worth it, and still correct.
    assert!(!<[u64; 10_000] as Decode>::LAYOUT.is_fixed());
    assert!(!Layout::of_array(Layout::primitive(8), usize::MAX).is_fixed());
}

#[test]
fn layouts_are_known_at_compile_time() {
    const ODD: usize = <Odd as Decode>::LAYOUT.stride();
    // One octet behind a multiple of eight: 1, three of 4, 2 of padding, 8, 1.
    assert_eq!([0_u8; ODD].len(), 24);
}
