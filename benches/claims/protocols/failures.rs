//! Servers that do not answer, and servers that are killed.

use crate::ends::{Failure, Remote};
use crate::idl::bench::TtcpRef;
use serde_json::json;
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use zorb::policy::{EndpointOrder, PolicyOverrides};
use zorb::{CompletionStatus, ObjectRef, Orb};

/// How long callers call before a server is killed, and how long behind that second that counts.
const BEFORE: Duration = Duration::from_secs(2);
const COUNTED: Duration = Duration::from_secs(1);

/// Connects to a listener whose queue is full: the kernel drops what asks for a connection, as a network does that has no way
/// to a host.
pub(crate) async fn black_hole(limit: u64) -> Result<(), Failure> {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    // A queue of 0 holds one.
    listener.listen(0)?;
    let address = listener.local_addr()?.as_socket().ok_or("an address")?;
    let _queued = TcpStream::connect(address)?;
    let limit = Duration::from_millis(limit);
    let orb = Orb::builder().connect_timeout(limit).build().await?;
    let object = orb
        .string_to_object(&format!("corbaloc:iiop:1.2@{address}/key"))
        .await?;
    let begun = Instant::now();
    let called = object.non_existent().await;
    let took = begun.elapsed();
    called.err().ok_or("it was connected to")?;
    let off = (took.as_secs_f64() / limit.as_secs_f64() - 1.0).abs();
    println!("{}", json!({ "off": off }));
    Ok(())
}

/// One call: the server that the caller began with, when it ended after the beginning, how long it took, and what it
/// ended with.
struct Call {
    server: usize,
    ended: Duration,
    took: Duration,
    failed: Option<CompletionStatus>,
}

/// Callers of a group of three servers, each beginning with one of them; one server is killed with SIGKILL.
pub(crate) async fn fail_over(callers: usize) -> Result<(), Failure> {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(Remote::start()?);
    }
    let policies = PolicyOverrides::new().endpoint_order(EndpointOrder::OfReference);
    let orb = Orb::builder().policies(&policies).build().await?;
    let mut objects = Vec::new();
    for server in &servers {
        objects.push(orb.string_to_object(&server.reference).await?);
    }
    let begun = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    let mut calling = JoinSet::new();
    for caller in 0..callers {
        // Each begins with another one, so that it is known which ones call the server that is killed.
        let server = caller % 3;
        let order = (0..3).map(|at| (server + at) % 3);
        let group = ObjectRef::group(order.filter_map(|at| objects.get(at)))?;
        let to: TtcpRef = group.unchecked_narrow();
        let stop = Arc::clone(&stop);
        calling.spawn(async move {
            let mut calls = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let at = Instant::now();
                let failed = to.send_no_params_2way().await.err();
                let ended = begun.elapsed();
                let failed = failed.map(|error| error.completed);
                calls.push(Call {
                    server,
                    ended,
                    took: at.elapsed(),
                    failed,
                });
            }
            calls
        });
    }
    tokio::time::sleep(BEFORE).await;
    let killed_at = begun.elapsed();
    drop(servers.remove(0));
    tokio::time::sleep(COUNTED * 2).await;
    stop.store(true, Ordering::Relaxed);
    let calls: Vec<Call> = calling.join_all().await.into_iter().flatten().collect();
    let of_others = |from: Duration, to: Duration| {
        let within = calls
            .iter()
            .filter(|call| call.server != 0 && call.ended > from && call.ended <= to);
        let mut took: Vec<Duration> = within.map(|call| call.took).collect();
        took.sort_unstable();
        took.get(took.len() * 99 / 100).copied().unwrap_or_default()
    };
    let failed =
        |how: CompletionStatus| calls.iter().filter(|call| call.failed == Some(how)).count();
    let settled = BEFORE / 4;
    let before = of_others(settled, killed_at);
    let within = of_others(killed_at, killed_at + COUNTED);
    // The two servers that are left have the callers of the third.
    let after = of_others(killed_at + COUNTED, killed_at + COUNTED * 2);
    let result = json!({
        "calls": calls.len(),
        "not_sent": failed(CompletionStatus::No),
        "in_doubt": failed(CompletionStatus::Maybe),
        "p99_before_us": before.as_secs_f64() * 1e6,
        "p99_within_us": within.as_secs_f64() * 1e6,
        "p99_after_us": after.as_secs_f64() * 1e6,
    });
    println!("{result}");
    Ok(())
}
