//! Nanoseconds per message, to be divided by the elements named: `cargo bench -p zorb-cdr`.
//!
//! `BinStruct` is the struct that TAO's and omniORB's benches are timed with: 24 octets in native order.

use bytes::{Bytes, BytesMut};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::{borrow::Cow, hint::black_box};
use zorb_cdr::{
    BigEndian, ByteOrder, Char, Decode, Decoder, Encode, Encoder, Frame, LittleEndian, WireFormat,
    cdr_struct, cdr_union,
};

#[derive(Clone, Debug)]
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

#[derive(Clone, Debug)]
struct Named {
    id: u32,
    name: String,
}
cdr_struct!(Named {
    id: u32,
    name: String
});

#[derive(Clone, Debug)]
enum Cell {
    Number(f64),
    Counter { discriminator: i32, value: u64 },
}
cdr_union!(Cell: i32 {
    one { Number(f64) = [1] }
    several {}
    default Counter(u64);
});

#[derive(Clone, Debug)]
enum Attribute {
    Flag(bool),
    Text(String),
}
cdr_union!(Attribute: bool {
    one { Flag(bool) = [true], Text(String) = [false] }
    several {}
});

fn frame<O: ByteOrder, T: Encode + ?Sized>(value: &T) -> Frame {
    let mut e = Encoder::<O>::new(WireFormat::default());
    e.put(value).expect("encodes");
    Frame::new(e.finish().into_bytes())
}

fn pair<O: ByteOrder, T: Encode + for<'de> Decode<'de>>(
    c: &mut Criterion,
    name: &str,
    elements: usize,
    value: &T,
) {
    let mut group = c.benchmark_group(format!("{name}/{}", O::ENDIAN));
    group.throughput(Throughput::Elements(elements as u64));
    let mut buffer = BytesMut::with_capacity(1 << 17);
    group.bench_function("encode", |b| {
        b.iter(|| {
            let mut e =
                Encoder::<O>::with_buffer(std::mem::take(&mut buffer), WireFormat::default());
            e.put(black_box(value)).expect("encodes");
            buffer = e.finish().into_buffer();
        });
    });
    let frame = frame::<O, T>(value);
    group.bench_function("decode", |b| {
        b.iter(|| {
            Decoder::<O>::new(black_box(&frame), WireFormat::default())
                .get::<T>()
                .expect("decodes")
        });
    });
    group.finish();
}

fn both<T: Encode + for<'de> Decode<'de>>(
    c: &mut Criterion,
    name: &str,
    elements: usize,
    value: &T,
) {
    pair::<LittleEndian, T>(c, name, elements, value);
    pair::<BigEndian, T>(c, name, elements, value);
}

fn all(c: &mut Criterion) {
    let structs: Vec<_> = (0..1024_i16)
        .map(|n| BinStruct {
            s: n,
            c: Char(b'a'),
            l: i32::from(n) * 1000,
            o: 7,
            d: f64::from(n) / 3.0,
        })
        .collect();
    both(c, "nothing", 1, &());
    both(c, "four long", 1, &[1_i32, 2, 3, 4]);
    both(c, "(short, double, octet)", 1, &(1_i16, 2.0_f64, 3_u8));
    both(c, "BinStruct alone", 1, &structs[1]);
    both(c, "sequence<BinStruct, 1024>", structs.len(), &structs);
    let longs: Vec<i32> = (0..1024).collect();
    both(c, "sequence<long, 1024>", longs.len(), &longs);
    let named: Vec<_> = (0..256)
        .map(|id| Named {
            id,
            name: format!("account {id}"),
        })
        .collect();
    both(c, "sequence<Named, 256>", named.len(), &named);
    let cells: Vec<_> = (0..1024_i32)
        .map(|n| match n % 2 {
            0 => Cell::Number(f64::from(n)),
            _ => Cell::Counter {
                discriminator: 2,
                value: 7,
            },
        })
        .collect();
    both(c, "sequence<union of 8 octets, 1024>", cells.len(), &cells);
    let attributes: Vec<_> = (0..256)
        .map(|n| match n % 2 {
            0 => Attribute::Flag(true),
            _ => Attribute::Text(format!("account {n}")),
        })
        .collect();
    both(
        c,
        "sequence<union with text, 256>",
        attributes.len(),
        &attributes,
    );
    let text = "abcdefghij".repeat(1024);
    both(c, "string of 10240", 1, &text);

    let mut group = c.benchmark_group("borrowed");
    let octets = frame::<LittleEndian, _>(&Bytes::from(vec![1_u8; 1 << 16]));
    group.bench_function("Bytes of 65536, shared", |b| {
        b.iter(|| {
            Decoder::<LittleEndian>::new(black_box(&octets), WireFormat::default()).get::<Bytes>()
        });
    });
    let text = frame::<LittleEndian, _>(&text);
    group.bench_function("str of 10240", |b| {
        b.iter(|| {
            Decoder::<LittleEndian>::new(black_box(&text), WireFormat::default())
                .get::<Cow<'_, str>>()
                .map(|text| text.len())
        });
    });
    let longs = frame::<LittleEndian, _>(&longs);
    group.bench_function("[long] of 1024", |b| {
        b.iter(|| {
            Decoder::<LittleEndian>::new(black_box(&longs), WireFormat::default())
                .get::<Cow<'_, [i32]>>()
                .map(|longs| longs.len())
        });
    });
    group.finish();
}

criterion_group!(benches, all);
criterion_main!(benches);
