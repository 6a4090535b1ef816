//! Benches of one process: a collocated call, and CDR of a sequence of structs.
//!
//! `cargo bench --bench alone` prints a name and a number a line: microseconds a call, nanoseconds an element, each the
//! median of many short batches. `cargo bench -p zorb-cdr` has CDR in full.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

#[path = "programs/common.rs"]
mod common;
#[path = "programs/structs.rs"]
mod structs;

use bytes::BytesMut;
use common::idl::bench::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use std::hint::black_box;
use std::time::Instant;
use zorb::{Bytes, Interface, OctetsRef, Orb, SystemException};
use zorb_cdr::{BigEndian, ByteOrder, Decoder, Encoder, Frame, LittleEndian, WireFormat};

/// Batches that are timed, after a tenth of them that is not.
const BATCHES: usize = 400;
/// Calls of a batch.
const CALLS: u32 = 200;
/// Structs of a sequence.
const STRUCTS: usize = 1_024;
/// Sequences of a batch.
const SEQUENCES: u32 = 20;

/// The median of what a batch takes, in nanoseconds.
fn median(mut batch: impl FnMut()) -> f64 {
    let mut times: Vec<u128> = (0..BATCHES + BATCHES / 10)
        .map(|_| {
            let start = Instant::now();
            batch();
            start.elapsed().as_nanos()
        })
        .skip(BATCHES / 10)
        .collect();
    times.sort_unstable();
    times[times.len() / 2] as f64
}

struct Servant;

impl Ttcp for Servant {
    async fn send_no_params_2way(&self) -> Result<(), SystemException> {
        black_box(self);
        Ok(())
    }

    async fn send_no_params_1way(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_octet_seq_2way(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_long_seq_2way(&self, _: &[i32]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_struct_seq_2way(&self, _: &[BinStruct]) -> Result<(), SystemException> {
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

/// Microseconds of a call between two objects of one ORB, from a task of its runtime.
fn collocated() -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let object = runtime.block_on(async {
        let listening = Orb::builder().listen("iiop://127.0.0.1:0");
        let orb = listening.build().await.expect("a free port");
        let poa = orb.root_poa();
        let object = poa
            .activate(TtcpServant::new(Servant))
            .expect("an endpoint");
        poa.the_poa_manager()
            .activate()
            .expect("a manager that holds");
        let object = orb.string_to_object(&object.to_string()).await;
        (orb, TtcpRef::unchecked_narrow(object.expect("a reference")))
    });
    let batch = || {
        runtime.block_on(async {
            for _ in 0..CALLS {
                object.1.send_no_params_2way().await.expect("a reply");
            }
        });
    };
    median(batch) / f64::from(CALLS) / 1000.0
}

fn sequence<O: ByteOrder>(structs: &Vec<BinStruct>) -> Frame {
    let mut e = Encoder::<O>::new(WireFormat::default());
    e.put(structs).expect("encodes");
    Frame::new(e.finish().into_bytes())
}

/// Nanoseconds an element.
fn encode<O: ByteOrder>(structs: &Vec<BinStruct>) -> f64 {
    let mut buffer = BytesMut::with_capacity(1 << 16);
    let batch = || {
        for _ in 0..SEQUENCES {
            let format = WireFormat::default();
            let mut e = Encoder::<O>::with_buffer(std::mem::take(&mut buffer), format);
            e.put(black_box(structs)).expect("encodes");
            buffer = e.finish().into_buffer();
        }
    };
    median(batch) / f64::from(SEQUENCES) / structs.len() as f64
}

/// The same, into a vector that is made anew: what a servant's skeleton can spare by having one.
fn decode<O: ByteOrder>(structs: &Vec<BinStruct>) -> f64 {
    let frame = sequence::<O>(structs);
    let batch = || {
        for _ in 0..SEQUENCES {
            let mut d = Decoder::<O>::new(black_box(&frame), WireFormat::default());
            black_box(d.get::<Vec<BinStruct>>().expect("decodes"));
        }
    };
    median(batch) / f64::from(SEQUENCES) / structs.len() as f64
}

fn main() {
    println!("collocated {:.4}", collocated());
    let structs = structs::structs(STRUCTS);
    let mut orders = ["native", "swapped"];
    if cfg!(target_endian = "big") {
        orders.reverse();
    }
    let [little, big] = orders;
    println!(
        "cdr/struct-encode-{little} {:.3}",
        encode::<LittleEndian>(&structs)
    );
    println!(
        "cdr/struct-decode-{little} {:.3}",
        decode::<LittleEndian>(&structs)
    );
    println!(
        "cdr/struct-encode-{big} {:.3}",
        encode::<BigEndian>(&structs)
    );
    println!(
        "cdr/struct-decode-{big} {:.3}",
        decode::<BigEndian>(&structs)
    );
}
