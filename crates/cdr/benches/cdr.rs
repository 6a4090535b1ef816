//! Nanoseconds an element and octets a second, of every type, in both byte orders:
//! `cargo bench -p zorb-cdr --bench cdr [-- PART_OF_A_NAME]`.
//!
//! `encode` writes into a buffer that is used again, `decode` makes new values, and `into` reads a sequence into a `Vec`
//! that is used again. What only numbers that lie aligned in native order can do, namely to be borrowed, is at the end.
//! `counts` says the same in instructions, which other programs do not disturb; `peers` measures what others make of
//! the same data.

mod cases;

use bytes::{Bytes, BytesMut};
use cases::Visit;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::{borrow::Cow, hint::black_box, time::Duration};
use zorb_cdr::{
    BigEndian, ByteOrder, Codec, Decoder, Encode, Encoder, Frame, LittleEndian, NativeEndian, Seq,
    WireFormat,
};

struct Timed<'a>(&'a mut Criterion);

impl Visit for Timed<'_> {
    fn value<C: Codec>(&mut self, name: &str, elements: usize, value: &C::Borrowed) {
        self.both::<LittleEndian, C>(name, elements, value);
        self.both::<BigEndian, C>(name, elements, value);
    }

    fn sequence<C: Codec<Value: Clone>>(&mut self, name: &str, values: &[C::Value]) {
        self.of_sequence::<LittleEndian, C>(name, values);
        self.of_sequence::<BigEndian, C>(name, values);
    }
}

impl Timed<'_> {
    fn both<O: ByteOrder, C: Codec>(&mut self, name: &str, elements: usize, value: &C::Borrowed) {
        let frame = frame::<O>(|e| C::encode(value, e).expect("encodes"));
        let mut group = self.0.benchmark_group(format!("{name}/{}", O::ENDIAN));
        group.throughput(throughput(elements, &frame));
        let mut buffer = BytesMut::with_capacity(frame.len());
        group.bench_function("encode", |b| {
            b.iter(|| {
                let mut e =
                    Encoder::<O>::with_buffer(std::mem::take(&mut buffer), WireFormat::default());
                C::encode(black_box(value), &mut e).expect("encodes");
                buffer = e.finish().into_buffer();
            });
        });
        group.bench_function("decode", |b| {
            b.iter(|| {
                let mut d = Decoder::<O>::new(black_box(&frame), WireFormat::default());
                C::decode(&mut d).expect("decodes")
            });
        });
        group.finish();
    }

    fn of_sequence<O: ByteOrder, C: Codec<Value: Clone>>(
        &mut self,
        name: &str,
        values: &[C::Value],
    ) {
        self.both::<O, Seq<C>>(name, values.len(), values);
        let frame = frame::<O>(|e| Seq::<C>::encode(values, e).expect("encodes"));
        let mut group = self.0.benchmark_group(format!("{name}/{}", O::ENDIAN));
        group.throughput(throughput(values.len(), &frame));
        let mut again = Vec::with_capacity(values.len());
        group.bench_function("into", |b| {
            b.iter(|| {
                again.clear();
                let mut d = Decoder::<O>::new(black_box(&frame), WireFormat::default());
                let count = d.read_count(C::MIN_SIZE).expect("has a count");
                C::decode_into(&mut d, count, &mut again).expect("decodes");
                black_box(&mut again);
            });
        });
        group.finish();
    }
}

fn frame<O: ByteOrder>(encode: impl FnOnce(&mut Encoder<O>)) -> Frame {
    let mut e = Encoder::<O>::new(WireFormat::default());
    encode(&mut e);
    Frame::new(e.finish().into_bytes())
}

fn throughput(elements: usize, frame: &Frame) -> Throughput {
    Throughput::ElementsAndBytes {
        elements: elements as u64,
        bytes: frame.len() as u64,
    }
}

fn every_type(c: &mut Criterion) {
    cases::visit(&mut Timed(c));
}

fn borrowed(c: &mut Criterion) {
    fn of(value: &impl Encode) -> Frame {
        frame::<NativeEndian>(|e| e.put(value).expect("encodes"))
    }
    let mut group = c.benchmark_group("borrowed");
    let octets = of(&Bytes::from(vec![1_u8; 1 << 16]));
    group.bench_function("Bytes of 65536, shared", |b| {
        b.iter(|| {
            Decoder::<NativeEndian>::new(black_box(&octets), WireFormat::default()).get::<Bytes>()
        });
    });
    let text = of(&cases::ascii(10_240));
    group.bench_function("str of 10240", |b| {
        b.iter(|| {
            Decoder::<NativeEndian>::new(black_box(&text), WireFormat::default())
                .get::<Cow<'_, str>>()
                .map(|text| text.len())
        });
    });
    let longs = of(&cases::numbers::<i32>(1_024).collect::<Vec<_>>());
    group.bench_function("[long] of 1024", |b| {
        b.iter(|| {
            Decoder::<NativeEndian>::new(black_box(&longs), WireFormat::default())
                .get::<Cow<'_, [i32]>>()
                .map(|longs| longs.len())
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    // There are some four hundred of them; `-- --measurement-time 5` asks for more of one.
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = every_type, borrowed
}
criterion_main!(benches);
