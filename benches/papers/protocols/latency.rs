//! The time of a call, over every protocol.

use crate::ends::{Failure, Folder, Remote, SCHEMES, builder, by, endpoints, server};
use crate::idl::bench::{BinStruct, TtcpRef};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zorb::{SystemException, WaitPolicy};

/// Octets of the arguments of calls with sequences.
const OCTETS: usize = 1_024;
/// One-way calls that are timed together, with the call that waits for them.
const ONE_WAYS: usize = 50;

/// The operations of `bench.idl` but `sync` and `shutdown`.
const OPERATIONS: [&str; 10] = [
    "sendNoParams_2way",
    "sendNoParams_1way",
    "sendOctetSeq_2way",
    "sendLongSeq_2way",
    "sendStructSeq_2way",
    "sendOctetSeq_1way",
    "sendStructSeq_1way",
    "echoString",
    "echoStructSeq",
    "echoOctetSeq",
];

/// The arguments of calls.
struct Arguments {
    octets: Vec<u8>,
    longs: Vec<i32>,
    structs: Vec<BinStruct>,
    text: String,
}

impl Arguments {
    fn new() -> Self {
        let one = BinStruct {
            s: 1,
            c: zorb::Char(b'c'),
            l: 2,
            o: 3,
            d: 4.0,
        };
        Self {
            // A client number whose order is not checked.
            octets: vec![0xff; OCTETS],
            longs: vec![7; OCTETS / 4],
            structs: vec![one; OCTETS / 24],
            text: "x".repeat(100),
        }
    }
}

async fn call(to: &TtcpRef, operation: &str, with: &Arguments) -> Result<(), SystemException> {
    match operation {
        "sendNoParams_2way" => to.send_no_params_2way().await,
        "sendNoParams_1way" => to.send_no_params_1way().await,
        "sendOctetSeq_2way" => to.send_octet_seq_2way(&with.octets).await,
        "sendLongSeq_2way" => to.send_long_seq_2way(&with.longs).await,
        "sendStructSeq_2way" => to.send_struct_seq_2way(&with.structs).await,
        "sendOctetSeq_1way" => to.send_octet_seq_1way(&with.octets).await,
        "sendStructSeq_1way" => to.send_struct_seq_1way(&with.structs).await,
        "echoString" => to.echo_string(&with.text).await.map(drop),
        "echoStructSeq" => to.echo_struct_seq(&with.structs).await.map(drop),
        _ => to.echo_octet_seq(&with.octets).await.map(drop),
    }
}

/// Nanoseconds of each of some calls, in order. One-way calls are timed in bunches, to the end of their execution.
async fn times(
    to: &TtcpRef,
    operation: &str,
    with: &Arguments,
    calls: usize,
) -> Result<Vec<u64>, SystemException> {
    let one_way = operation.ends_with("1way");
    let (bunches, each) = if one_way {
        (calls / ONE_WAYS, ONE_WAYS)
    } else {
        (calls, 1)
    };
    let mut times = Vec::with_capacity(bunches);
    for _ in 0..bunches.max(1) {
        let begun = Instant::now();
        for _ in 0..each {
            call(to, operation, with).await?;
        }
        if one_way {
            to.sync().await?;
        }
        let took = begun.elapsed() / u32::try_from(each).unwrap_or(1);
        times.push(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    Ok(times)
}

fn median(mut of: Vec<u64>) -> u64 {
    of.sort_unstable();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

/// Times every operation over every protocol, in turns.
pub(crate) async fn measure(rounds: usize, calls: usize) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let remote = Remote::start(&endpoints(&folder.0))?;
    let orb = builder().build().await?;
    let with = Arguments::new();
    let mut ways = Vec::new();
    for scheme in SCHEMES {
        ways.push((scheme, by(&orb, &remote.reference, scheme).await?));
    }
    for operation in OPERATIONS {
        let mut medians = vec![Vec::new(); ways.len()];
        for round in 0..=rounds {
            for at in 0..ways.len() {
                // Each is first as often as the others.
                let at = (at + round) % ways.len();
                let took = times(&ways[at].1, operation, &with, calls).await?;
                // The first round warms up.
                if round > 0 {
                    medians[at].push(median(took));
                }
            }
        }
        for ((scheme, _), medians) in ways.iter().zip(medians) {
            let ns = median(medians);
            println!(
                "{}",
                json!({ "operation": operation, "scheme": scheme, "p50_ns": ns })
            );
        }
    }
    Ok(())
}

/// Passes octets on, and counts them.
async fn relay(to: String, octets: Arc<AtomicU64>) -> Result<u16, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = TcpStream::connect(&to).await else {
                return;
            };
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            for (mut from, mut to) in [(from_client, to_server), (from_server, to_client)] {
                let octets = Arc::clone(&octets);
                tokio::spawn(async move {
                    let mut buffer = vec![0; 65_536];
                    while let Ok(read @ 1..) = from.read(&mut buffer).await {
                        octets.fetch_add(read as u64, Ordering::Relaxed);
                        if to.write_all(&buffer[..read]).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    });
    Ok(port)
}

/// Counts what a call has on the wire: a request and a reply.
pub(crate) async fn octets() -> Result<(), Failure> {
    const CALLS: u32 = 1_000;
    for scheme in ["iiop", "iioplite"] {
        let octets = Arc::<AtomicU64>::default();
        // The server's port is known when it listens, and the relay's has to be in the references.
        let probe = TcpListener::bind("127.0.0.1:0").await?;
        let port = probe.local_addr()?.port();
        drop(probe);
        let outside = relay(format!("127.0.0.1:{port}"), Arc::clone(&octets)).await?;
        let endpoint = format!("{scheme}://127.0.0.1:{port}/port_in_ior={outside}");
        let (_server, reference) = server(builder(), &[endpoint]).await?;
        let orb = builder().build().await?;
        let to = by(&orb, &reference, scheme).await?;
        to.send_no_params_2way().await?;
        let before = octets.load(Ordering::Relaxed);
        for _ in 0..CALLS {
            to.send_no_params_2way().await?;
        }
        // The last reply has been counted before it was passed on.
        let all = octets.load(Ordering::Relaxed) - before;
        println!(
            "{}",
            json!({ "scheme": scheme, "octets": all as f64 / f64::from(CALLS) })
        );
    }
    Ok(())
}

/// Makes calls between two ORBs of this thread.
pub(crate) async fn calls(scheme: &str, number: u32) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let all = endpoints(&folder.0);
    let own: Vec<String> = all
        .into_iter()
        .filter(|endpoint| endpoint.starts_with(&format!("{scheme}:")))
        .collect();
    let (_server, reference) = server(builder().wait_policy(WaitPolicy::Park), &own).await?;
    let orb = builder().wait_policy(WaitPolicy::Park).build().await?;
    let to = by(&orb, &reference, scheme).await?;
    let limit = Duration::from_secs(600);
    tokio::time::timeout(limit, async {
        for _ in 0..number {
            to.send_no_params_2way().await?;
        }
        Ok::<_, SystemException>(())
    })
    .await??;
    Ok(())
}
