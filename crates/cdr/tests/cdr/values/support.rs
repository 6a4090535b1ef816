//! Values of two types, and the octets that say them.

use crate::common::modern;
use std::sync::{Arc, Mutex};
use zorb_cdr::{
    BigEndian, ByteOrder, DecodeError, DecodeErrorKind as Kind, Decoder, EncodeError, Encoder,
    LittleEndian, Shared, ValueStart,
};

/// `valuetype N { public long x; public N next; public octet tail; };`
/// `valuetype D : truncatable N { public double more; public N other; };`
#[derive(Debug, Default, Clone)]
pub(crate) struct State {
    pub(crate) x: i32,
    pub(crate) next: Option<Shared>,
    pub(crate) tail: u8,
    pub(crate) derived: Option<(f64, Option<Shared>)>,
}

#[derive(Debug, Default)]
pub(crate) struct Cell(pub(crate) Mutex<State>);

pub(crate) const N: &str = "IDL:N:1.0";
pub(crate) const D: &str = "IDL:D:1.0";
pub(crate) const LATER: &str = "IDL:Later:1.0";

pub(crate) fn new(state: State) -> Shared {
    Arc::new(Cell(Mutex::new(state)))
}

pub(crate) fn state(value: &Shared) -> State {
    value
        .downcast_ref::<Cell>()
        .unwrap()
        .0
        .lock()
        .unwrap()
        .clone()
}

pub(crate) fn x(value: &Option<Shared>) -> i32 {
    value.as_ref().map_or(0, |value| state(value).x)
}

pub(crate) fn put<O: ByteOrder>(
    value: &Option<Shared>,
    e: &mut Encoder<O>,
) -> Result<(), EncodeError> {
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

pub(crate) fn get<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Option<Shared>, DecodeError> {
    let head = match d.begin_value()? {
        ValueStart::Null => return Ok(None),
        ValueStart::Indirection(value) => return Ok(Some(value)),
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
pub(crate) fn value<O: ByteOrder>(
    d: &mut Decoder<'_, O>,
    read: impl FnOnce(&mut Decoder<'_, O>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let ValueStart::New(head) = d.begin_value()? else {
        panic!("a value");
    };
    read(d)?;
    d.end_value(head)
}

/// The parts of a message: an unsigned long or long, a string, an octet, a double, aligned as they must be; a mark
/// at the next multiple of 4, and the offset to such a mark from here.
#[derive(Clone, Copy)]
pub(crate) enum Item {
    L(u32),
    I(i32),
    S(&'static str),
    O(u8),
    F(f64),
    Mark(char),
    To(char),
}
pub(crate) use Item::{F, I, L, Mark, O, S, To};

pub(crate) fn wire_of<B: ByteOrder>(items: &[Item]) -> Vec<u8> {
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
pub(crate) fn reads(items: &[Item], count: usize, also: impl Fn(&[Option<Shared>])) {
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

/// The error of the first malformed value.
pub(crate) fn fault(items: &[Item]) -> Kind {
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
pub(crate) fn writes(values: &[Option<Shared>], items: &[Item]) {
    fn all<B: ByteOrder>(values: &[Option<Shared>]) -> Vec<u8> {
        let mut e = Encoder::<B>::new(modern());
        values.iter().for_each(|value| put(value, &mut e).unwrap());
        e.finish().to_vec()
    }
    assert_eq!(all::<BigEndian>(values), wire_of::<BigEndian>(items));
    assert_eq!(all::<LittleEndian>(values), wire_of::<LittleEndian>(items));
}

pub(crate) fn both(items: &[Item], count: usize, also: impl Fn(&[Option<Shared>])) {
    reads(items, count, |values| {
        also(values);
        writes(values, items);
    });
}

/// A truncatable value that contains two others: everything of chunks.
pub(crate) fn derived(end: &[Item]) -> Vec<Item> {
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

/// A value of an unknown type that is derived from N, and what it holds beyond that: values of another unknown type,
/// in one of which is an N. All of it is skipped.
pub(crate) fn truncated(end: &[Item]) -> Vec<Item> {
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
        S(D), // discarded
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
