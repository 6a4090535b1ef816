//! Values within each other, on stacks that are small.

use crate::common::modern;
use crate::values::support::*;
use std::sync::Arc;
use zorb_cdr::{
    BigEndian, DecodeError, DecodeErrorKind as Kind, Decoder, Encoder, Limits, Shared, ValueStart,
};

/// Lets go of a chain from its beginning, as `State` has no drop of its own that would.
#[cfg(feature = "deep-values")]
fn let_go(mut chain: Option<Shared>) -> usize {
    let mut links = 0;
    while let Some(link) = chain {
        let cell = link.downcast_ref::<Cell>().unwrap();
        chain = cell.0.lock().unwrap().next.take();
        links += 1;
    }
    links
}

#[cfg(feature = "deep-values")]
#[test]
fn a_chain_of_a_hundred_thousand_values_is_read_and_written_on_a_small_stack() {
    fn there_and_back(ids: bool) {
        let mut chain = None;
        for x in 0..100_000 {
            let derived = ids.then_some((0.5, None));
            let next = chain;
            chain = Some(new(State {
                x,
                next,
                derived,
                ..State::default()
            }));
        }
        let mut e = Encoder::<BigEndian>::new(modern());
        put(&chain, &mut e).unwrap();
        assert_eq!(let_go(chain), 100_000);
        let octets = e.finish().to_vec();
        let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
        let read = get(&mut d).unwrap();
        assert_eq!((x(&read), d.remaining()), (99_999, 0));
        assert_eq!(let_go(read), 100_000);
    }
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let thread = small.spawn(|| {
        there_and_back(false);
        // In chunks.
        there_and_back(true);
    });
    thread.unwrap().join().unwrap();
}

#[cfg(feature = "deep-values")]
#[test]
fn a_chain_that_takes_more_than_all_stack_is_refused() {
    // A sequence of sequences in each value would take more; so many values take more than enough in any build.
    fn chain(d: &mut Decoder<'_, BigEndian>) -> Result<(), DecodeError> {
        let ValueStart::New(head) = d.begin_value()? else {
            return Ok(());
        };
        let much = std::hint::black_box([0_u8; 8 << 10]);
        d.value_state(chain)?;
        std::hint::black_box(much);
        d.end_value(head)
    }
    let octets = wire_of::<BigEndian>(&[L(0x7fff_ff00)]).repeat(100_000);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    let limit = Limits::VALUE_STACK;
    let error = chain(&mut d).unwrap_err();
    assert_eq!(error.kind(), Kind::TooMuchStack { limit });
}

#[cfg(feature = "deep-values")]
#[test]
fn going_to_the_next_piece_of_stack_again_and_again_is_bounded() {
    // On a stack with nothing left, every value wants a piece of its own.
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let octets = wire_of::<BigEndian>(&[L(0x7fff_ff00)]).repeat(100_000);
    let thread = small.spawn(move || {
        let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
        let mut read = 0;
        let error = loop {
            let ValueStart::New(head) = d.begin_value().unwrap() else {
                panic!("a value");
            };
            match d.value_state(|_| Ok(())) {
                Ok(()) => d.end_value(head).unwrap(),
                Err(error) => break error,
            }
            read += 1;
        };
        let limit = Limits::VALUES;
        assert_eq!(error.kind(), Kind::TooManyValues { limit });
        assert_eq!(read, limit / 17);
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn whether_all_values_that_were_read_are_complete_is_known() {
    // A value around two: the first refers to the one around it, the second to the first, or to nothing.
    let items = |second: &[Item]| {
        let mut items = vec![
            Mark('o'),
            L(0x7fff_ff00),
            Mark('a'),
            L(0x7fff_ff00),
            L(u32::MAX),
            To('o'),
        ];
        items.extend(second);
        items
    };
    let read = |items: &[Item]| {
        let octets = wire_of::<BigEndian>(items);
        let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
        let mut inner = Vec::new();
        let nothing = || -> Shared { Arc::new(()) };
        fn one(d: &mut Decoder<'_, BigEndian>) -> Result<(), DecodeError> {
            if let ValueStart::New(head) = d.begin_value()? {
                d.share_value(&head, Arc::new(()));
                d.value_state(one)?;
                d.end_value(head)?;
            }
            Ok(())
        }
        let (_, outer) = d
            .completely(|d| {
                let ValueStart::New(head) = d.begin_value()? else {
                    panic!("a value");
                };
                d.share_value(&head, nothing());
                for _ in 0..2 {
                    inner.push(d.completely(one)?.1);
                }
                d.end_value(head)
            })
            .unwrap();
        (inner, outer)
    };
    assert_eq!(
        read(&items(&[L(u32::MAX), To('a')])),
        (vec![false, false], true)
    );
    assert_eq!(read(&items(&[L(0)])), (vec![false, true], true));
    let other = [Mark('b'), L(0x7fff_ff00), L(u32::MAX), To('b')];
    assert_eq!(read(&items(&other)), (vec![false, true], true));
    let other = [L(0x7fff_ff00), L(u32::MAX), To('a')];
    assert_eq!(read(&items(&other)), (vec![false, false], true));
}

#[cfg(not(feature = "deep-values"))]
#[test]
fn a_long_chain_is_refused_before_the_stack_is_full() {
    let mut items = Vec::new();
    for _ in 0..100_000 {
        items.extend([L(0x7fff_ff00), L(7)]);
    }
    items.push(L(0));
    assert_eq!(
        fault(&items),
        Kind::TooDeep {
            limit: Limits::DEPTH
        }
    );

    let mut value = None;
    for x in 0..i32::from(Limits::DEPTH) + 1 {
        value = Some(new(State {
            x,
            next: value,
            ..State::default()
        }));
    }
    let mut e = Encoder::<BigEndian>::new(modern());
    let error = put(&value, &mut e).unwrap_err();
    assert_eq!(
        error.kind(),
        zorb_cdr::EncodeErrorKind::TooDeep {
            limit: Limits::DEPTH
        }
    );
    // One less is fine, there and back.
    let next = state(value.as_ref().unwrap()).next;
    let mut e = Encoder::<BigEndian>::new(modern());
    put(&next, &mut e).unwrap();
    let octets = e.finish().to_vec();
    let read = get(&mut Decoder::<BigEndian>::from_slice(&octets, modern())).unwrap();
    assert_eq!(x(&read), i32::from(Limits::DEPTH) - 1);
}

#[test]
fn skipping_deep_values_takes_no_stack_and_is_bounded_too() {
    let skipped = |values: u32| {
        let mut items = vec![L(0x7fff_ff08), L(9), L(7), L(0), O(9)];
        items.extend((0..values).map(|_| L(0x7fff_ff08)));
        items.push(I(-1));
        items
    };
    reads(&skipped(100_000), 1, |values| assert_eq!(x(&values[0]), 7));
    let limit = Limits::VALUES;
    assert_eq!(fault(&skipped(limit)), Kind::TooManyValues { limit });
}
