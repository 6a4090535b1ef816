//! What of a call is byte order, padding, marshalling and anys: nanoseconds for writing and reading the same data by zorb's encoder.

use crate::Failure;
use serde_json::{Map, Value};
use std::hint::black_box;
use std::time::Instant;
use zorb::Any;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, Decoder, Encode, Encoder, Frame, LittleEndian, WireFormat,
};

zorb::idl! {
    module Parts {
        // Three octets of padding in each.
        struct Padded { char c; long l; double d; };
        // As long, and as many members, without padding.
        struct Filled { long c; long l; double d; };
        typedef sequence<Padded> PaddedSeq;
        typedef sequence<Filled> FilledSeq;
        typedef sequence<long> Longs;
    };
}

use parts::{Filled, PADDED_SEQ_TYPE_CODE, Padded};

/// Structs of a sequence; each takes 16 octets, and all of them less than what zorb would not copy.
const STRUCTS: u16 = 1_000;
/// Times that a measurement is repeated; the median counts.
const BATCHES: usize = 101;
/// What is measured of a batch.
const REPEATS: u32 = 10;

/// The median nanoseconds of `work`.
fn nanoseconds(mut work: impl FnMut()) -> f64 {
    let mut all: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..REPEATS {
                work();
            }
            begun.elapsed().as_secs_f64() * 1e9 / f64::from(REPEATS)
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(BATCHES / 2).copied().unwrap_or_default()
}

/// Writes a value, and reads it.
fn both_ways<O: ByteOrder, T: Encode + for<'de> Decode<'de>>(value: &T) -> f64 {
    nanoseconds(|| {
        let mut encoder = Encoder::<O>::new(WireFormat::default());
        encoder.put(black_box(value)).expect("it can be written");
        let frame = Frame::new(encoder.finish().into_bytes());
        let mut decoder = Decoder::<O>::new(&frame, WireFormat::default());
        black_box(decoder.get::<T>().expect("it was written"));
    })
}

/// Copies octets there, and back out.
fn octets(value: &[u8]) -> f64 {
    nanoseconds(|| {
        let mut encoder = Encoder::<Native>::new(WireFormat::default());
        encoder.write_octets(black_box(value)).expect("octets");
        let frame = Frame::new(encoder.finish().into_bytes());
        let mut decoder = Decoder::<Native>::new(&frame, WireFormat::default());
        black_box(decoder.read_octets().expect("octets").to_vec());
    })
}

#[cfg(target_endian = "little")]
type Native = LittleEndian;
#[cfg(target_endian = "little")]
type Swapped = BigEndian;
#[cfg(target_endian = "big")]
type Native = BigEndian;
#[cfg(target_endian = "big")]
type Swapped = LittleEndian;

/// Measures all parts: nanoseconds by name.
///
/// # Errors
/// An any does not take its value.
pub fn measure() -> Result<Value, Failure> {
    let padded: Vec<Padded> = (0..STRUCTS)
        .map(|n| Padded {
            c: zorb::Char(n as u8 & 0x7f),
            l: n.into(),
            d: n.into(),
        })
        .collect();
    let filled: Vec<Filled> = (0..STRUCTS)
        .map(|n| Filled {
            c: n.into(),
            l: n.into(),
            d: n.into(),
        })
        .collect();
    let longs: Vec<i32> = (0..i32::from(STRUCTS) * 4).collect();
    let data = vec![7_u8; usize::from(STRUCTS) * 16];
    let mut numbers = Map::new();
    let mut note = |name: &str, ns: f64| numbers.insert(format!("{name}_ns"), ns.into());
    note("octets", octets(&data));
    note("longs", both_ways::<Native, _>(&longs));
    note("longs_swapped", both_ways::<Swapped, _>(&longs));
    note("structs_filled", both_ways::<Native, _>(&filled));
    note("structs", both_ways::<Native, _>(&padded));
    note("structs_swapped", both_ways::<Swapped, _>(&padded));
    // An any is made of the value, sent, received, and asked for its value.
    Any::with_type_code(&PADDED_SEQ_TYPE_CODE, &padded)?;
    note(
        "structs_any",
        nanoseconds(|| {
            let any = Any::with_type_code(&PADDED_SEQ_TYPE_CODE, black_box(&padded));
            let any = any.expect("a value of its type");
            let mut encoder = Encoder::<Native>::new(WireFormat::default());
            encoder.put(&any).expect("it can be written");
            let frame = Frame::new(encoder.finish().into_bytes());
            let mut decoder = Decoder::<Native>::new(&frame, WireFormat::default());
            let any: Any = decoder.get().expect("it was written");
            black_box(any.extract::<Vec<Padded>>().expect("its type"));
        }),
    );
    for size in [100, 500, 10_240] {
        let text = "x".repeat(size);
        note(&format!("string_{size}"), both_ways::<Native, _>(&text));
        note(&format!("octets_{size}"), octets(text.as_bytes()));
    }
    Ok(Value::Object(numbers))
}
