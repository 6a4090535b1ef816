//! Round trips between two ORBs in one process, over each transport and with none.
//!
//! `cargo bench --bench latency`. For numbers that mean something beside another ORB's, run the
//! bench programs interleaved with its own: see `benches/peers/README.md`.

#[path = "programs/common.rs"]
mod common;
#[path = "programs/digests.rs"]
mod digests;
#[path = "programs/structs.rs"]
mod structs;

use common::idl::bench::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use zorb::{Bytes, Interface, OctetsRef, Orb, SystemException};
use zorb_floor::digest;

struct Echo;

impl Ttcp for Echo {
    async fn send_no_params_2way(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_no_params_1way(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_octet_seq_2way(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
        black_box(digest::octets(&data));
        Ok(())
    }

    async fn send_long_seq_2way(&self, data: &[i32]) -> Result<(), SystemException> {
        black_box(digest::longs(data));
        Ok(())
    }

    async fn send_struct_seq_2way(&self, data: &[BinStruct]) -> Result<(), SystemException> {
        black_box(digests::of_structs(data));
        Ok(())
    }

    async fn send_octet_seq_1way(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_struct_seq_1way(&self, _: &[BinStruct]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn sync(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn echo_string(&self, str: &str) -> Result<String, SystemException> {
        Ok(str.to_owned())
    }

    async fn echo_struct_seq(&self, data: &[BinStruct]) -> Result<Vec<BinStruct>, SystemException> {
        Ok(data.to_vec())
    }

    async fn echo_octet_seq(&self, data: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        Ok(data.keep())
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// A server and a reference that leads to it by `transport`.
async fn server(transport: &str, folder: &std::path::Path) -> (Orb, Orb, TtcpRef) {
    let endpoint = match transport {
        "unix" => format!("uiop://{}", folder.join("socket").display()),
        _ => "iiop://127.0.0.1:0".to_owned(),
    };
    let server = Orb::builder()
        .listen(endpoint)
        .build()
        .await
        .expect("a free endpoint");
    let poa = server.root_poa();
    let object = poa.activate(TtcpServant::new(Echo)).expect("an endpoint");
    poa.the_poa_manager()
        .activate()
        .expect("a manager that holds");
    let client = match transport {
        "collocated" => server.clone(),
        _ => Orb::builder().build().await.expect("a runtime"),
    };
    let object = client
        .string_to_object(&object.to_string())
        .await
        .expect("a reference");
    (server, client, TtcpRef::unchecked_narrow(object))
}

fn round_trips(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    for transport in ["tcp", "unix", "collocated"] {
        let (_server, _client, object) = runtime.block_on(server(transport, folder.path()));
        let mut group = c.benchmark_group(transport);
        group.bench_function("noparams", |b| {
            b.iter(|| {
                runtime
                    .block_on(object.send_no_params_2way())
                    .expect("a reply")
            });
        });
        for size in [1024, 65_536] {
            let octets: Vec<u8> = (0..=u8::MAX).cycle().take(size).collect();
            group.throughput(Throughput::Bytes(size as u64));
            group.bench_with_input(BenchmarkId::new("octet", size), &octets, |b, octets| {
                b.iter(|| {
                    runtime
                        .block_on(object.send_octet_seq_2way(octets))
                        .expect("a reply");
                });
            });
        }
        let structs = structs::structs(1024);
        group.throughput(Throughput::Elements(1024));
        group.bench_with_input(BenchmarkId::new("struct", 1024), &structs, |b, structs| {
            b.iter(|| {
                runtime
                    .block_on(object.send_struct_seq_2way(structs))
                    .expect("a reply");
            });
        });
        let text = "x".repeat(10_240);
        group.throughput(Throughput::Bytes(10_240));
        group.bench_with_input(BenchmarkId::new("echostring", 10_240), &text, |b, text| {
            b.iter(|| runtime.block_on(object.echo_string(text)).expect("a reply"));
        });
        group.finish();
    }
}

criterion_group!(latency, round_trips);
criterion_main!(latency);
