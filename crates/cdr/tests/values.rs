//! Values on the wire, by hand: octets as the fact sheet has them, in both byte orders, and what is wrong with others.

mod common;

use common::modern;
use std::sync::{Arc, Mutex};
use zorb_cdr::{
    BigEndian, ByteOrder, DecodeError, DecodeErrorKind as Kind, Decoder, EncodeError, Encoder,
    Limits, LittleEndian, Shared, ValueStart,
};

/// `valuetype N { public long x; public N next; public octet tail; };`
/// `valuetype D : truncatable N { public double more; public N other; };`
#[derive(Debug, Default, Clone)]
struct State {
    x: i32,
    next: Option<Shared>,
    tail: u8,
    derived: Option<(f64, Option<Shared>)>,
}

#[derive(Debug, Default)]
struct Cell(Mutex<State>);

const N: &str = "IDL:N:1.0";
const D: &str = "IDL:D:1.0";
const LATER: &str = "IDL:Later:1.0";

fn new(state: State) -> Shared {
    Arc::new(Cell(Mutex::new(state)))
}

fn state(value: &Shared) -> State {
    value
        .downcast_ref::<Cell>()
        .unwrap()
        .0
        .lock()
        .unwrap()
        .clone()
}

fn x(value: &Option<Shared>) -> i32 {
    value.as_ref().map_or(0, |value| state(value).x)
}

fn put<O: ByteOrder>(value: &Option<Shared>, e: &mut Encoder<O>) -> Result<(), EncodeError> {
    let Some(value) = value else {
        e.write_null_value();
        return Ok(());
    };
    let state = state(value);
    let ids: &[&str] = if state.derived.is_some() {
        &[D, N]
    } else {
        &[N]
    };
    let Some(mark) = e.begin_value(value, ids, false)? else {
        return Ok(());
    };
    e.value_state(|e| {
        e.write_i32(state.x);
        put(&state.next, e)?;
        e.write_u8(state.tail);
        if let Some((more, other)) = &state.derived {
            e.write_f64(*more);
            put(other, e)?;
        }
        Ok::<(), EncodeError>(())
    })?;
    e.end_value(mark)
}

fn get<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Option<Shared>, DecodeError> {
    let head = match d.begin_value()? {
        ValueStart::Null => return Ok(None),
        ValueStart::Again(value) => return Ok(Some(value)),
        ValueStart::New(head) => head,
    };
    let known = match head.ids() {
        [] => N,
        ids => ids
            .iter()
            .find_map(|id| [N, D].into_iter().find(|known| known.as_bytes() == *id))
            .ok_or_else(|| d.error(Kind::NoValueFactory))?,
    };
    let value = new(State::default());
    d.share_value(&head, Arc::clone(&value));
    let state = d.value_state(|d| {
        let mut state = State {
            x: d.read_i32()?,
            next: get(d)?,
            tail: d.read_u8()?,
            derived: None,
        };
        if known == D {
            state.derived = Some((d.read_f64()?, get(d)?));
        }
        Ok(state)
    })?;
    *value.downcast_ref::<Cell>().unwrap().0.lock().unwrap() = state;
    d.end_value(head)?;
    Ok(Some(value))
}

/// A value whose state `read` reads.
fn value<O: ByteOrder>(
    d: &mut Decoder<'_, O>,
    read: impl FnOnce(&mut Decoder<'_, O>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let ValueStart::New(head) = d.begin_value()? else {
        panic!("a value");
    };
    read(d)?;
    d.end_value(head)
}

/// What a message is made of: an unsigned long or long, a string, an octet, a double, aligned as they must be; a mark
/// at the next multiple of 4, and the offset to such a mark from here.
#[derive(Clone, Copy)]
enum Item {
    L(u32),
    I(i32),
    S(&'static str),
    O(u8),
    F(f64),
    Mark(char),
    To(char),
}
use Item::{F, I, L, Mark, O, S, To};

fn wire_of<B: ByteOrder>(items: &[Item]) -> Vec<u8> {
    let mut e = Encoder::<B>::new(modern());
    let mut marks = std::collections::HashMap::new();
    for item in items {
        match *item {
            L(long) => e.write_u32(long),
            I(long) => e.write_i32(long),
            S(text) => e.write_str(text).unwrap(),
            O(octet) => e.write_u8(octet),
            F(double) => e.write_f64(double),
            Mark(name) => {
                e.align(4);
                marks.insert(name, e.position());
            }
            To(name) => {
                e.align(4);
                let back = e.position() - marks[&name];
                e.write_i32(-i32::try_from(back).unwrap());
            }
        }
    }
    e.finish().to_vec()
}

/// Values out of a message, in both orders; `also` looks at them.
fn reads(items: &[Item], count: usize, also: impl Fn(&[Option<Shared>])) {
    let big = wire_of::<BigEndian>(items);
    let mut d = Decoder::<BigEndian>::from_slice(&big, modern());
    let values: Vec<_> = (0..count).map(|_| get(&mut d).unwrap()).collect();
    assert_eq!(d.remaining(), 0);
    also(&values);
    let little = wire_of::<LittleEndian>(items);
    let mut d = Decoder::<LittleEndian>::from_slice(&little, modern());
    let values: Vec<_> = (0..count).map(|_| get(&mut d).unwrap()).collect();
    assert_eq!(d.remaining(), 0);
    also(&values);
}

/// What is wrong with the first of the values that is wrong.
fn fault(items: &[Item]) -> Kind {
    let big = wire_of::<BigEndian>(items);
    let mut d = Decoder::<BigEndian>::from_slice(&big, modern());
    loop {
        match get(&mut d) {
            Ok(_) if d.remaining() == 0 => panic!("accepted"),
            Ok(_) => {}
            Err(error) => return error.kind(),
        }
    }
}

/// That we write these values just so, in both orders.
fn writes(values: &[Option<Shared>], items: &[Item]) {
    fn all<B: ByteOrder>(values: &[Option<Shared>]) -> Vec<u8> {
        let mut e = Encoder::<B>::new(modern());
        values.iter().for_each(|value| put(value, &mut e).unwrap());
        e.finish().to_vec()
    }
    assert_eq!(all::<BigEndian>(values), wire_of::<BigEndian>(items));
    assert_eq!(all::<LittleEndian>(values), wire_of::<LittleEndian>(items));
}

fn both(items: &[Item], count: usize, also: impl Fn(&[Option<Shared>])) {
    reads(items, count, |values| {
        also(values);
        writes(values, items);
    });
}

#[test]
fn a_value_is_tag_repository_id_and_state() {
    let octets = [
        0x7f, 0xff, 0xff, 0x02, 0, 0, 0, 10, b'I', b'D', b'L', b':', b'N', b':', b'1', b'.', b'0',
        0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 9,
    ];
    let items = [L(0x7fff_ff02), S(N), L(7), L(0), O(9)];
    assert_eq!(wire_of::<BigEndian>(&items), octets);
    both(&items, 1, |values| {
        let state = state(values[0].as_ref().unwrap());
        assert_eq!((state.x, state.tail), (7, 9));
        assert!(state.next.is_none());
    });
}

#[test]
fn null_is_zero() {
    both(&[L(0), L(0)], 2, |values| {
        assert!(values.iter().all(Option::is_none))
    });
}

#[test]
fn a_value_without_type_information_is_of_the_expected_type() {
    reads(&[L(0x7fff_ff00), L(7), L(0), O(9)], 1, |values| {
        assert_eq!(x(&values[0]), 7)
    });
}

#[test]
fn a_codebase_is_read_over_and_may_be_an_indirection() {
    let items = [
        L(0x7fff_ff01),
        Mark('c'),
        S("file:///x"),
        L(7),
        L(0),
        O(9),
        L(0x7fff_ff01),
        L(0xffff_ffff),
        To('c'),
        L(8),
        L(0),
        O(1),
    ];
    reads(&items, 2, |values| {
        assert_eq!((x(&values[0]), x(&values[1])), (7, 8))
    });
}

#[test]
fn a_value_that_comes_again_is_the_same() {
    let items = [
        Mark('a'),
        L(0x7fff_ff02),
        S(N),
        L(7),
        L(0),
        O(9),
        L(0xffff_ffff),
        To('a'),
    ];
    assert_eq!(
        wire_of::<BigEndian>(&items)[32..],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xdc]
    );
    both(&items, 2, |values| {
        assert!(Arc::ptr_eq(
            values[0].as_ref().unwrap(),
            values[1].as_ref().unwrap()
        ));
    });
}

#[test]
fn a_value_may_contain_itself() {
    let items = [
        Mark('a'),
        L(0x7fff_ff02),
        S(N),
        L(7),
        L(0xffff_ffff),
        To('a'),
        O(9),
    ];
    both(&items, 1, |values| {
        let value = values[0].as_ref().unwrap();
        let next = state(value).next.unwrap();
        assert!(Arc::ptr_eq(value, &next));
    });
}

#[test]
fn a_repository_id_is_written_once() {
    let items = [
        L(0x7fff_ff02),
        Mark('i'),
        S(N),
        L(1),
        L(0x7fff_ff02),
        L(0xffff_ffff),
        To('i'),
        L(2),
        L(0),
        O(8),
        O(9),
    ];
    both(&items, 1, |values| {
        let outer = state(values[0].as_ref().unwrap());
        assert_eq!((outer.x, x(&outer.next), outer.tail), (1, 2, 9));
    });
}

/// A truncatable value that contains two others: everything of chunks.
fn derived(end: &[Item]) -> Vec<Item> {
    let items = [
        L(0x7fff_ff0e),
        L(2),
        S(D),
        Mark('n'),
        S(N),
        L(4),
        L(1), // x
        L(0x7fff_ff0a),
        L(0xffff_ffff),
        To('n'), // next: an N in chunks
        L(9),
        L(2),
        L(0),
        O(8), // its x, next and tail
        I(-2),
        Mark('t'),
        L(12),
        O(9),
        F(0.5), // tail, padding and more
        L(0x7fff_ff0a),
        L(0xffff_ffff),
        To('n'), // other
        L(9),
        L(3),
        L(0),
        O(7),
    ];
    [&items, end].concat()
}

#[test]
fn a_truncatable_value_lists_its_types_and_is_in_chunks() {
    both(&derived(&[I(-1)]), 1, |values| {
        let outer = state(values[0].as_ref().unwrap());
        let (more, other) = outer.derived.unwrap();
        assert_eq!((outer.x, outer.tail, more), (1, 9, 0.5));
        assert_eq!((x(&outer.next), x(&other)), (2, 3));
    });
}

#[test]
fn every_value_may_have_an_end_tag_of_its_own() {
    reads(&derived(&[I(-2), I(-1), L(0)]), 2, |values| {
        let (_, other) = state(values[0].as_ref().unwrap()).derived.unwrap();
        assert_eq!(x(&other), 3);
        assert!(values[1].is_none());
    });
}

/// A value of an unknown type that is derived from N, and what it holds beyond that: values of another unknown type,
/// in one of which is an N. All of it is skipped.
fn truncated(end: &[Item]) -> Vec<Item> {
    let items = [
        L(0x7fff_ff0e),
        L(2),
        S(LATER),
        Mark('n'),
        S(N),
        L(9),
        L(1),
        L(0),
        O(5),
        L(0x7fff_ff0a),
        Mark('d'),
        S(D), // of what nobody needs
        L(4),
        L(6),
        L(4),
        L(6),
        Mark('s'),
        L(0x7fff_ff0a),
        L(0xffff_ffff),
        To('n'), // an N
        L(9),
        L(4),
        L(0),
        O(8),
        I(-3),
        L(4),
        L(6),
        I(-2),
        L(4),
        L(7),
        I(-1),
    ];
    [&items, end].concat()
}

#[test]
fn a_value_of_an_unknown_type_is_cut_to_a_base_that_is_known() {
    reads(&truncated(&[L(0)]), 2, |values| {
        let state = state(values[0].as_ref().unwrap());
        assert_eq!((state.x, state.tail), (1, 5));
        assert!(values[1].is_none());
    });
}

#[test]
fn what_was_skipped_is_read_when_it_is_referred_to() {
    let items = truncated(&[
        L(0xffff_ffff),
        To('s'),
        L(0xffff_ffff),
        To('s'),
        L(0x7fff_ff00),
        L(3),
        L(0xffff_ffff),
        To('s'),
        O(1),
    ]);
    reads(&items, 4, |values| {
        assert_eq!(x(&values[1]), 4);
        assert!(Arc::ptr_eq(
            values[1].as_ref().unwrap(),
            values[2].as_ref().unwrap()
        ));
        let last = state(values[3].as_ref().unwrap()).next.unwrap();
        assert!(Arc::ptr_eq(values[1].as_ref().unwrap(), &last));
    });
}

#[test]
fn a_repository_id_may_be_an_indirection_into_what_was_skipped() {
    let items = truncated(&[
        L(0x7fff_ff02),
        L(0xffff_ffff),
        To('d'),
        L(3),
        L(0),
        O(1),
        F(0.25),
        L(0),
    ]);
    reads(&items, 2, |values| {
        assert_eq!(state(values[1].as_ref().unwrap()).derived.unwrap().0, 0.25);
    });
}

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
fn state_may_be_cut_into_chunks_between_any_two_members() {
    let items = [L(0x7fff_ff08), L(4), L(7), L(4), L(0), L(1), O(9), I(-1)];
    reads(&items, 1, |values| {
        let state = state(values[0].as_ref().unwrap());
        assert_eq!((state.x, state.tail), (7, 9));
    });
    // Null may stand outside of chunks as well.
    let items = [L(0x7fff_ff08), L(4), L(7), L(0), L(1), O(9), I(-1)];
    reads(&items, 1, |values| {
        assert_eq!(state(values[0].as_ref().unwrap()).tail, 9)
    });
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
fn text_octets_and_numbers_are_read_across_chunks_as_long_as_none_is_split() {
    let mut e = Encoder::<BigEndian>::new(modern());
    for long in [0x7fff_ff08, 12] {
        e.write_u32(long);
    }
    e.put(&vec![1_u32, 2]).unwrap();
    e.write_u32(7);
    e.write_str("a").unwrap();
    e.write_u8(0xee); // the rest of a chunk that nobody reads
    for long in [8, 3, 4, 8, 5, 6, 0xffff_ffff_u32] {
        e.write_u32(long);
    }
    let octets = e.finish().to_vec();
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    value(&mut d, |d| {
        assert_eq!(d.get::<Vec<u32>>()?, [1, 2]);
        assert_eq!(d.read_str()?, "a");
        assert_eq!(d.read_u8()?, 0xee);
        // A count in one chunk, its elements in two.
        assert_eq!(d.get::<Vec<u32>>()?, [4, 5, 6]);
        Ok(())
    })
    .unwrap();
    assert_eq!(d.remaining(), 0);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    value(&mut d, |d| {
        d.take(4)?;
        // Octets are borrowed, so they have to be in one piece.
        assert!(d.take(9).is_err());
        Ok(())
    })
    .unwrap();
    assert_eq!(d.remaining(), 0);
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
