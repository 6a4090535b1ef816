//! Malformed values, and values beyond the limits.

use crate::common::modern;
use crate::values::support::*;
use std::sync::Arc;
use zorb_cdr::{
    BigEndian, ByteOrder, DecodeError, DecodeErrorKind as Kind, Decoder, Encoder, Limits,
    LittleEndian, Shared, ValueHead, ValueStart,
};

#[test]
fn a_value_of_unknown_types_only_is_refused() {
    assert_eq!(
        fault(&[L(0x7fff_ff02), S(LATER), L(7), L(0), O(9)]),
        Kind::NoValueFactory
    );
}

#[test]
fn an_indirection_leads_to_the_tag_of_an_earlier_value_only() {
    let bad = |offset: i32| {
        fault(&[
            L(0x7fff_ff02),
            S(N),
            L(7),
            L(0),
            O(9),
            L(0xffff_ffff),
            I(offset),
        ])
    };
    for offset in [
        0,
        -4,
        -8,
        -32,
        -35,
        -37,
        4,
        1 << 20,
        i32::MAX,
        i32::MIN,
        -40,
        -20,
    ] {
        assert!(
            matches!(bad(offset), Kind::BadIndirection { of: "value", .. }),
            "{offset}"
        );
    }
    // To the repository id, or from it to the value.
    let id = |offset| fault(&[L(0x7fff_ff02), L(0xffff_ffff), I(offset), L(7), L(0), O(9)]);
    for offset in [0, -4, -8, 4, i32::MIN] {
        assert!(
            matches!(
                id(offset),
                Kind::BadIndirection {
                    of: "repository id",
                    ..
                }
            ),
            "{offset}"
        );
    }
    let list = fault(&[L(0x7fff_ff0e), L(0xffff_ffff), I(-8), L(7)]);
    assert!(matches!(
        list,
        Kind::BadIndirection {
            of: "list of repository ids",
            ..
        }
    ));
}

#[test]
fn nothing_leads_into_an_encapsulation_or_out_of_one() {
    let mut e = Encoder::<BigEndian>::new(modern());
    let value = Some(new(State::default()));
    put(&value, &mut e).unwrap();
    e.encapsulation(|e| put(&value, e)).unwrap();
    put(&value, &mut e).unwrap();
    let octets = e.finish().to_vec();
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    let first = get(&mut d).unwrap();
    struct One;
    impl<'de> zorb_cdr::EncapsulationVisitor<'de> for One {
        type Output = Option<Shared>;
        fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
            get(d)
        }
    }
    let inner = d.encapsulation(One).unwrap();
    let again = get(&mut d).unwrap();
    assert!(!Arc::ptr_eq(
        first.as_ref().unwrap(),
        inner.as_ref().unwrap()
    ));
    assert!(Arc::ptr_eq(
        first.as_ref().unwrap(),
        again.as_ref().unwrap()
    ));
}

#[test]
fn tags_that_mean_nothing_are_refused() {
    for tag in [
        1,
        0x7fff_fe02,
        0x7fff_ff04,
        0x7fff_ff10,
        0x7fff_ff80,
        0x8000_0000,
        0xffff_fffe,
    ] {
        assert!(
            matches!(fault(&[L(tag), L(7), L(0), O(9)]), Kind::Expected(_)),
            "{tag:x}"
        );
    }
}

#[test]
fn chunks_that_are_wrong_are_refused() {
    let chunked = |rest: &[Item]| {
        let items: Vec<Item> = [L(0x7fff_ff08)].iter().chain(rest).copied().collect();
        fault(&items)
    };
    let truncated = |kind| matches!(kind, Kind::Truncated { .. });
    // Longer than the message, or of no length.
    assert!(truncated(chunked(&[L(100), L(7), L(0), O(9)])));
    assert!(truncated(chunked(&[L(0x7fff_feff), L(7), L(0), O(9)])));
    assert!(truncated(chunked(&[L(0), L(7), L(0), O(9)])));
    // It ends inside a primitive.
    assert_eq!(
        chunked(&[L(2), L(7), L(0), O(9), I(-1)]),
        Kind::SplitPrimitive
    );
    // No more of them, although the state is not whole.
    assert!(matches!(chunked(&[L(4), L(7), I(-1)]), Kind::Expected(_)));
    assert!(truncated(chunked(&[I(-1), L(7)])));
    // A value inside a chunk; one without chunks between them.
    assert!(matches!(
        chunked(&[
            L(28),
            L(7),
            L(0x7fff_ff08),
            L(9),
            L(7),
            L(0),
            O(9),
            I(-2),
            I(-1)
        ]),
        Kind::Expected(_)
    ));
    assert!(matches!(
        chunked(&[L(4), L(7), L(0x7fff_ff00), L(9), L(7), L(0), O(9)]),
        Kind::Expected(_)
    ));
    // End tags of more values than there are.
    for tag in [-2, -3, -255, i32::MIN] {
        assert!(
            matches!(
                chunked(&[L(9), L(7), L(0), O(9), I(tag)]),
                Kind::BadEndTag { .. }
            ),
            "{tag}"
        );
    }
    // No end at all.
    assert!(truncated(chunked(&[L(9), L(7), L(0), O(9)])));
    // The inner end tag ends the outer value, whose state is not whole.
    assert!(truncated(chunked(&[
        L(4),
        L(7),
        L(0x7fff_ff08),
        L(9),
        L(7),
        L(0),
        O(9),
        I(-1),
        L(1),
        O(1)
    ])));
    assert!(truncated(chunked(&[
        L(4),
        L(7),
        L(0x7fff_ff08),
        L(9),
        L(7),
        L(0),
        O(9),
        I(-1)
    ])));
}

#[test]
fn lists_of_repository_ids_are_bounded() {
    let list = |count| {
        let mut items = vec![L(0x7fff_ff0e), L(count)];
        items.extend((0..count.min(100)).map(|_| S(N)));
        items.extend([L(9), L(7), L(0), O(9), I(-1)]);
        items
    };
    reads(&list(Limits::VALUE_IDS), 1, |values| {
        assert_eq!(x(&values[0]), 7)
    });
    for count in [0, Limits::VALUE_IDS + 1, u32::MAX - 1] {
        assert!(
            matches!(fault(&list(count)), Kind::CountTooLarge { .. }),
            "{count}"
        );
    }
}

#[test]
fn more_values_than_a_message_may_have_are_refused() {
    let octets = wire_of::<BigEndian>(&[L(0x7fff_ff00)]).repeat(Limits::VALUES as usize + 1);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    for _ in 0..Limits::VALUES {
        value(&mut d, |_| Ok(())).unwrap();
    }
    let error = value(&mut d, |_| Ok(())).unwrap_err();
    assert_eq!(
        error.kind(),
        Kind::TooManyValues {
            limit: Limits::VALUES
        }
    );
}

#[test]
fn values_that_are_read_again_are_bounded_by_the_length_of_the_message() {
    const STATE: usize = 4_000;
    const AGAIN: usize = 40;
    fn state<'a>(d: &mut Decoder<'a, BigEndian>, head: ValueHead<'a>) -> Result<(), DecodeError> {
        d.share_value(&head, Arc::new(()));
        d.value_state(|d| (0..STATE / 4).try_for_each(|_| d.read_u32().map(drop)))?;
        d.end_value(head)
    }
    let mut items = vec![Mark('v'), L(0x7fff_ff00)];
    items.extend([L(0); STATE / 4]);
    for _ in 0..AGAIN {
        items.extend([L(0xffff_ffff), To('v')]);
    }
    let octets = wire_of::<BigEndian>(&items);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    let ValueStart::New(head) = d.begin_value().unwrap() else {
        panic!("a value");
    };
    state(&mut d, head).unwrap();
    let mut again = || {
        assert!(matches!(d.begin_value()?, ValueStart::Indirection(_)));
        let head = d.reread_value()?;
        state(&mut d, head)
    };
    let limit = Limits::REREAD_OCTETS * octets.len();
    for _ in 0..limit / (STATE + 4) {
        again().unwrap();
    }
    let error = again().unwrap_err();
    assert_eq!(error.kind(), Kind::TooMuchReread { limit });
    let text = format!("at most {limit} octets of values that are read again");
    assert!(error.to_string().contains(&text), "{error}");
}

#[test]
fn no_octet_that_is_another_and_no_octet_that_is_missing_does_harm() {
    fn all<B: ByteOrder>(octets: &[u8]) {
        let mut d = Decoder::<B>::from_slice(octets, modern());
        while let Ok(value) = get(&mut d)
            && d.remaining() > 0
        {
            drop(value);
        }
    }
    let again = [
        L(0xffff_ffff),
        To('s'),
        L(0x7fff_ff00),
        L(3),
        L(0xffff_ffff),
        To('s'),
        O(1),
    ];
    let messages = [
        derived(&[I(-2), I(-1)]),
        derived(&[I(-1)]),
        truncated(&again),
    ];
    for items in messages {
        let (big, little) = (
            wire_of::<BigEndian>(&items),
            wire_of::<LittleEndian>(&items),
        );
        for at in 0..big.len() {
            all::<BigEndian>(&big[..at]);
            all::<LittleEndian>(&little[..at]);
            for octet in [0, 1, 2, 4, 8, 0x0a, 0x0e, 0x7f, 0x80, 0xfc, 0xfe, 0xff] {
                let (mut big, mut little) = (big.clone(), little.clone());
                (big[at], little[at]) = (octet, octet);
                all::<BigEndian>(&big);
                all::<LittleEndian>(&little);
            }
        }
    }
}
