//! Sequences and arrays that move in blocks are, octet for octet and fault for fault, what their elements are one by
//! one.

use crate::common::*;
use std::fmt::Debug;
use zorb_cdr::{
    BigEndian, ByteOrder, Char, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder,
    LittleEndian, LongDouble, WireFormat, cdr_bitmask, cdr_enum, cdr_struct, cdr_union,
};

/// The same value without a layout, so that nothing but its own `encode` and `decode` is ever called.
#[derive(Clone)]
struct OneByOne<T>(T);

impl<T: Debug> Debug for OneByOne<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Encode> Encode for OneByOne<T> {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        self.0.encode(e)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for OneByOne<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        T::decode(d).map(Self)
    }
}

#[derive(Debug, Clone, PartialEq)]
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

#[derive(Debug, Clone, Copy, PartialEq)]
enum Color {
    Red,
    Green,
    Blue,
}
cdr_enum!(Color { Red, Green, Blue });

/// Discriminator and members of all kinds, and no value without a member.
#[derive(Debug, Clone, PartialEq)]
enum Choice {
    Red(f64),
    Rest { discriminator: Color, value: u64 },
}
cdr_union!(Choice: Color {
    one { Red(f64) = [Color::Red] }
    several { Rest(u64) = [Color::Green] [Color::Blue] }
});

#[derive(Debug, Clone, PartialEq)]
struct Deep {
    flag: bool,
    colors: [Color; 2],
    parts: [BinStruct; 2],
    numbers: [u16; 3],
    last: (u8, Choice),
}
cdr_struct!(Deep {
    flag: bool,
    colors: [Color; 2],
    parts: [BinStruct; 2],
    numbers: [u16; 3],
    last: (u8, Choice)
});

/// Which of the permissions there are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Permissions(u8);
impl Permissions {
    const READ: Self = Self(1);
    const WRITE: Self = Self(4);
}
cdr_bitmask!(Permissions: u8 { READ, WRITE });

/// Reads what begins at `start` of a message, and what comes next.
fn read<T: for<'de> Decode<'de> + Debug, O: ByteOrder>(
    message: &[u8],
    start: usize,
    format: WireFormat,
) -> Result<(String, usize), DecodeError> {
    let mut d = Decoder::<O>::from_slice(message, format);
    d.take(start)?;
    let value = d.get::<T>()?;
    Ok((format!("{value:?}"), d.position()))
}

fn check_order<T, const N: usize, O: ByteOrder>(values: &[T; N], formats: &[WireFormat])
where
    T: Encode + for<'de> Decode<'de> + Debug + Clone,
{
    let sequence = values.to_vec();
    let slow = sequence.iter().cloned().map(OneByOne).collect::<Vec<_>>();
    let slow_array: [OneByOne<T>; N] = values.clone().map(OneByOne);
    for (start, format) in (0..8).flat_map(|n| formats.iter().map(move |f| (n, *f))) {
        let octets = encode_at::<O>(&sequence, start, format);
        assert_eq!(octets, encode_at::<O>(&slow, start, format), "at {start}");
        let array = encode_at::<O>(values, start, format);
        assert_eq!(
            array,
            encode_at::<O>(&slow_array, start, format),
            "at {start}"
        );
        let (Ok(octets), Ok(array)) = (octets, array) else {
            continue;
        };
        let before = vec![0xee; start];
        let message = [&before[..], &octets[..]].concat();
        let array = [&before[..], &array[..]].concat();
        let is_same = |message: &[u8], what: &str| {
            let fast = read::<Vec<T>, O>(message, start, format);
            let one_by_one = read::<Vec<OneByOne<T>>, O>(message, start, format);
            assert_eq!(fast, one_by_one, "at {start}, {what}");
            fast
        };
        let is_same_array = |message: &[u8], what: &str| {
            let fast = read::<[T; N], O>(message, start, format);
            let one_by_one = read::<[OneByOne<T>; N], O>(message, start, format);
            assert_eq!(fast, one_by_one, "at {start}, {what}");
            fast
        };
        assert_eq!(
            is_same(&message, "whole").map(|(_, end)| end),
            Ok(message.len())
        );
        assert_eq!(
            is_same_array(&array, "whole").map(|(_, end)| end),
            Ok(array.len())
        );
        // Malformed octets: every octet changed in turn, the count among them.
        for (at, bad) in (start..message.len()).flat_map(|n| [(n, 0xff), (n, 0x80), (n, 2)]) {
            let mut spoilt = message.clone();
            spoilt[at] = bad;
            let _ = is_same(&spoilt, &format!("octet {at} is {bad}"));
        }
        for (at, bad) in (start..array.len()).flat_map(|n| [(n, 0xff), (n, 0x80)]) {
            let mut spoilt = array.clone();
            spoilt[at] = bad;
            let _ = is_same_array(&spoilt, &format!("octet {at} is {bad}"));
        }
        // Truncated octets. The number of missing octets may count one element or all.
        for end in start..message.len() {
            assert!(read::<Vec<T>, O>(&message[..end], start, format).is_err());
        }
        for end in start..array.len() {
            assert!(read::<[T; N], O>(&array[..end], start, format).is_err());
        }
    }
}

fn check_in<T, const N: usize>(values: [T; N], formats: &[WireFormat])
where
    T: Encode + for<'de> Decode<'de> + Debug + Clone,
{
    check_order::<T, N, BigEndian>(&values, formats);
    check_order::<T, N, LittleEndian>(&values, formats);
}

fn check<T, const N: usize>(values: [T; N])
where
    T: Encode + for<'de> Decode<'de> + Debug + Clone,
{
    check_in(values, &[modern()]);
}

fn part(n: i16) -> BinStruct {
    BinStruct {
        s: n,
        c: Char(b'a'),
        l: i32::from(n) << 9,
        o: 7,
        d: f64::from(n) / 3.0,
    }
}

#[test]
fn structs() {
    check([part(1), part(2), part(-3)]);
    check([part(1)]);
    check([(1_u8, 2_u16), (3, 4), (5, 6)]);
    check([(1_u32, 2_u8), (3, 4)]);
}

#[test]
fn plain_types() {
    check([true, false, true]);
    check([Char(b'a'), Char(b'b'), Char(b'c')]);
    check([1_u8, 2, 3]);
    check([1_i16, -2, 3]);
    check([1_i32, -2, 3]);
    check([1_u64, 2, 3]);
    check([0.5_f32, 1.5, -0.0]);
    check([0.5_f64, 1.5, -0.0]);
}

#[test]
fn long_doubles() {
    fn order<O: ByteOrder>() {
        let values = [0.5, -1.0, 3.0].map(LongDouble::from);
        for start in 0..8 {
            let octets = encode_at::<O>(&values[..], start, modern()).unwrap();
            let slow = values.map(OneByOne).to_vec();
            assert_eq!(Ok(&octets), encode_at::<O>(&slow, start, modern()).as_ref());
            let message = [vec![0xee; start], octets].concat();
            let mut d = Decoder::<O>::from_slice(&message, modern());
            d.take(start).unwrap();
            assert_eq!(d.get::<Vec<LongDouble>>().unwrap(), values);
            for end in start..message.len() {
                let mut d = Decoder::<O>::from_slice(&message[..end], modern());
                d.take(start).unwrap();
                assert!(d.get::<Vec<LongDouble>>().is_err());
            }
        }
    }
    order::<BigEndian>();
    order::<LittleEndian>();
}

#[test]
fn characters_that_utf_8_has_not_in_one_octet() {
    let formats = [modern(), latin1()];
    check_in([Char(b'a'), Char(0xe4), Char(b'c')], &formats);
    check_in([(1_u16, Char(0xe4)), (2, Char(b'b'))], &formats);
}

#[test]
fn a_character_that_cannot_be_expressed_is_found_wherever_it_stands() {
    fn order<O: ByteOrder>(values: &[BinStruct]) {
        let slow = values.iter().cloned().map(OneByOne).collect::<Vec<_>>();
        for format in [modern(), latin1()] {
            let fast = encode_at::<O>(values, 0, format);
            assert_eq!(fast, encode_at::<O>(&slow, 0, format));
            assert_eq!(fast.is_err(), format == modern());
        }
    }
    // In a group, behind the last one, at the ends of a block, in the next one.
    for place in [0, 5, 7, 8, 78, 79, 80, 81, 160, 162] {
        let mut values = (0..163).map(part).collect::<Vec<_>>();
        values[place].c = Char(0xe4);
        order::<BigEndian>(&values);
        order::<LittleEndian>(&values);
    }
}

#[test]
fn enums_masks_and_unions() {
    check([Color::Red, Color::Blue, Color::Green]);
    check([Permissions::READ, Permissions::WRITE, Permissions::all()]);
    let rest = |discriminator| Choice::Rest {
        discriminator,
        value: 7,
    };
    check([Choice::Red(0.5), rest(Color::Blue), rest(Color::Green)]);
    // Not the discriminator of its member, whatever the way.
    check([Choice::Red(0.5), rest(Color::Red)]);
}

#[test]
fn arrays_and_structs_within_each_other() {
    let deep = |n| Deep {
        flag: n % 2 == 0,
        colors: [Color::Red, Color::Blue],
        parts: [part(n), part(-n)],
        numbers: [1, 2, 3],
        last: (9, Choice::Red(0.25)),
    };
    check([deep(1), deep(2)]);
    check([[1_u16; 3], [2; 3]]);
    check([[part(1), part(2)], [part(3), part(4)]]);
    check([[[1.0_f64; 2]; 2]; 2]);
}

/// No octet of them is zero, as padding is.
#[test]
fn neighbours_of_different_sizes() {
    let (a, b, c, d) = (0x11_u8, 0x2233_u16, 0x4455_6677_u32, Char(b'x'));
    check([(a, d, b, c), (!a, d, !b, !c)]);
    check([(b, a, d, c, a), (!b, a, d, !c, !a)]);
    check([(c, b, d), (!c, !b, d)]);
    // Five, six and seven octets at the end, where there is no room for eight.
    check([(b, a, d, a), (!b, !a, d, !a)]);
    check([(b, a, d, b), (!b, !a, d, !b)]);
    check([(b, a, d, b, a), (!b, !a, d, !b, !a)]);
    check([(b, (a, c), [a, !a, a], b), (!b, (!a, !c), [!a, a, !a], b)]);
    // Behind which much comes that is stored as it is.
    check([(b, a, [1.5, -2.5], 3_u64), (!b, !a, [2.5, 1.5], 4)]);
    check([(b, d, [a; 40]), (!b, d, [!a; 40])]);
}

#[test]
fn sequences_longer_than_a_block() {
    fn check<T: Encode + for<'de> Decode<'de> + Debug + Clone>(values: &[T]) {
        fn order<T: Encode + for<'de> Decode<'de> + Debug + Clone, O: ByteOrder>(values: &[T]) {
            let slow = values.iter().cloned().map(OneByOne).collect::<Vec<_>>();
            let octets = encode_at::<O>(values, 0, modern()).unwrap();
            assert_eq!(Ok(&octets), encode_at::<O>(&slow, 0, modern()).as_ref());
            let (read, end) = read::<Vec<T>, O>(&octets, 0, modern()).unwrap();
            assert_eq!((read, end), (format!("{values:?}"), octets.len()));
        }
        order::<T, BigEndian>(values);
        order::<T, LittleEndian>(values);
    }
    for len in [
        41, 42, 43, 44, 85, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1024, 1025, 3000,
    ] {
        let numbers = 0..len;
        check(&numbers.clone().map(part).collect::<Vec<_>>());
        check(&numbers.clone().collect::<Vec<i16>>());
        check(&numbers.clone().map(i32::from).collect::<Vec<_>>());
        check(&numbers.clone().map(i64::from).collect::<Vec<_>>());
        check(&numbers.clone().map(f64::from).collect::<Vec<_>>());
        check(&numbers.clone().map(|n| n % 3 == 0).collect::<Vec<_>>());
        check(
            &numbers
                .clone()
                .map(|n| Char((n % 100) as u8))
                .collect::<Vec<_>>(),
        );
        check(&numbers.map(|n| [n; 1000]).take(3).collect::<Vec<_>>());
    }
}

#[test]
fn a_vec_that_is_used_again_keeps_what_it_had_before() {
    let octets = big(&vec![part(1), part(2)]);
    let mut values = vec![part(0)];
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    d.read_into(&mut values).unwrap();
    assert_eq!(values, [part(0), part(1), part(2)]);
    // A malformed value never becomes an invalid one.
    let mut octets = big(&vec![Color::Blue; 3]);
    octets[4 + 2 * 4 + 3] = 9;
    let mut values = vec![Color::Green];
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert!(d.read_into(&mut values).is_err());
    assert_eq!(values, [Color::Green, Color::Blue, Color::Blue]);
}

#[test]
fn a_nul_is_found_wherever_it_stands() {
    for len in (0..150).chain([10_240]) {
        let text = "x".repeat(len);
        let octets = big(&text);
        assert_eq!(
            read::<String, BigEndian>(&octets, 0, modern()).map(|(_, end)| end),
            Ok(octets.len())
        );
        let places = (0..len).filter(|n| *n < 150 || n % 997 == 0 || n + 20 > len);
        for at in places {
            let mut bad = text.clone().into_bytes();
            bad[at] = 0;
            let bad = String::from_utf8(bad).unwrap();
            assert!(
                encode_at::<BigEndian>(&bad, 0, modern()).is_err(),
                "{at} of {len}"
            );
            let mut octets = octets.clone();
            octets[4 + at] = 0;
            assert!(
                read::<String, BigEndian>(&octets, 0, modern()).is_err(),
                "{at} of {len}"
            );
        }
    }
}
