//! The same data written and read by others that serde's users know:
//! `cargo bench -p zorb-cdr --features serde --bench peers`.
//!
//! The comparison, and its differences:
//! - `zorb` is what calls do; `zorb, swapped` the same in the order that is not the machine's, which none of the others
//!   but `cdr-encoding` can do; `zorb by serde` is `to_bytes` and `from_bytes`.
//! - `bincode` (1.3) writes numbers as they are, without padding and with counts of eight octets.
//! - `postcard` writes integers in as few octets as they need, so that there are fewer of them, at the price of a
//!   branch for each.
//! - `cdr-encoding` writes CDR as DDS does, octet for octet what we write here.
//! - All of them check UTF-8 when they read strings. We also check that there is no NUL in strings, in both directions,
//!   and that each `char` is one octet of UTF-8; for them a `char` is an octet without any check.
//! - All write into a buffer that is used again where their interface can (`zorb by serde` and `postcard` make a new
//!   one,
//!   as their users do), and read into new values.

mod cases;

use bytes::BytesMut;
use cases::{BinStruct, Named};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde::{Serialize, de::DeserializeOwned};
use std::{hint::black_box, time::Duration};
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, Decoder, Encode, Encoder, Endian, Frame, LittleEndian, WireFormat,
};

fn ours<O: ByteOrder, T: Encode + for<'de> Decode<'de>>(
    c: &mut Criterion,
    data: &str,
    elements: usize,
    value: &T,
) {
    let name = match O::ENDIAN == Endian::NATIVE {
        true => "zorb",
        false => "zorb, swapped",
    };
    let mut e = Encoder::<O>::new(WireFormat::default());
    e.put(value).expect("encodes");
    let frame = Frame::new(e.finish().into_bytes());
    let mut buffer = BytesMut::with_capacity(frame.len());
    let mut group = c.benchmark_group(data);
    group.throughput(Throughput::Elements(elements as u64));
    group.bench_function(format!("{name}/encode"), |b| {
        b.iter(|| {
            let mut e =
                Encoder::<O>::with_buffer(std::mem::take(&mut buffer), WireFormat::default());
            e.put(black_box(value)).expect("encodes");
            buffer = e.finish().into_buffer();
        });
    });
    group.bench_function(format!("{name}/decode"), |b| {
        b.iter(|| {
            Decoder::<O>::new(black_box(&frame), WireFormat::default())
                .get::<T>()
                .expect("decodes")
        });
    });
    group.finish();
}

/// One that is called through serde.
fn theirs<T: Serialize + DeserializeOwned>(
    c: &mut Criterion,
    data: &str,
    name: &str,
    elements: usize,
    value: &T,
    write: impl Fn(&T, Vec<u8>) -> Vec<u8>,
    read: impl Fn(&[u8]) -> T,
) {
    let octets = write(value, Vec::new());
    let mut group = c.benchmark_group(data);
    group.throughput(Throughput::Elements(elements as u64));
    let mut buffer = Vec::with_capacity(octets.len());
    group.bench_function(format!("{name}/encode"), |b| {
        b.iter(|| {
            buffer.clear();
            buffer = write(black_box(value), std::mem::take(&mut buffer));
        });
    });
    group.bench_function(format!("{name}/decode"), |b| {
        b.iter_batched(|| (), |()| read(black_box(&octets)), BatchSize::SmallInput);
    });
    group.finish();
}

fn all<T>(c: &mut Criterion, data: &str, elements: usize, value: &T)
where
    T: Encode + for<'de> Decode<'de> + Serialize + DeserializeOwned,
{
    ours::<LittleEndian, T>(c, data, elements, value);
    ours::<BigEndian, T>(c, data, elements, value);
    theirs(
        c,
        data,
        "zorb by serde",
        elements,
        value,
        |value, _| {
            zorb_cdr::to_bytes::<LittleEndian, _>(value, WireFormat::default()).expect("encodes")
        },
        |octets| {
            zorb_cdr::from_bytes::<LittleEndian, _>(octets, WireFormat::default()).expect("decodes")
        },
    );
    theirs(
        c,
        data,
        "bincode",
        elements,
        value,
        |value, mut to| {
            bincode::serialize_into(&mut to, value).expect("encodes");
            to
        },
        |octets| bincode::deserialize(octets).expect("decodes"),
    );
    theirs(
        c,
        data,
        "postcard",
        elements,
        value,
        |value, to| postcard::to_extend(value, to).expect("encodes"),
        |octets| postcard::from_bytes(octets).expect("decodes"),
    );
    theirs(
        c,
        data,
        "cdr-encoding",
        elements,
        value,
        |value, mut to| {
            cdr_encoding::to_writer::<_, byteorder::LittleEndian, _>(&mut to, value)
                .expect("encodes");
            to
        },
        |octets| {
            cdr_encoding::from_bytes::<_, byteorder::LittleEndian>(octets)
                .expect("decodes")
                .0
        },
    );
}

fn peers(c: &mut Criterion) {
    let structs: Vec<BinStruct> = cases::bin_structs(1_024);
    all(c, "sequence<BinStruct>, 1024", structs.len(), &structs);
    let longs: Vec<i32> = cases::numbers(16_384).collect();
    all(c, "sequence<long>, 16384", longs.len(), &longs);
    let doubles = vec![0.5_f64; 1_024];
    all(c, "sequence<double>, 1024", doubles.len(), &doubles);
    let named: Vec<Named> = cases::named(256);
    all(c, "sequence<struct with string>, 256", named.len(), &named);
    all(c, "string of 10240", 10_240, &cases::ascii(10_240));
    let one = cases::bin_structs(1).remove(0);
    all(c, "BinStruct", 1, &one);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = peers
}
criterion_main!(benches);
