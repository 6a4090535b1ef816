//! The IDL compiler on a model of 10,000 lines: checking it, and making Rust of it.
//!
//! `cargo bench --bench idl`; `cargo xtask claims idl` measures what is claimed of it.

#[path = "programs/idl_text.rs"]
mod idl_text;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use zorb_idl::{Options, check_str, compile_str};

const LINES: usize = 10_000;

fn compiler(c: &mut Criterion) {
    let text = idl_text::text(LINES);
    let options = Options::default();
    let mut group = c.benchmark_group("idl");
    group.sample_size(10);
    // In octets of IDL a second; lines a second beside it, as people count in lines.
    let octets = Throughput::Bytes(text.len() as u64);
    let lines = Throughput::Elements(text.lines().count() as u64);
    for (unit, throughput) in [("octets", octets), ("lines", lines)] {
        group.throughput(throughput);
        group.bench_function(BenchmarkId::new("check", unit), |b| {
            b.iter(|| check_str("model.idl", black_box(&text), &options).expect("sound IDL"));
        });
        group.bench_function(BenchmarkId::new("expand", unit), |b| {
            b.iter(|| compile_str("model.idl", black_box(&text), &options).expect("sound IDL"));
        });
    }
    group.finish();
}

criterion_group!(benches, compiler);
criterion_main!(benches);
