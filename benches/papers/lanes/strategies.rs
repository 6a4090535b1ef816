//! Leader/followers and half-sync/half-async: the dissertation's Figure 5.8 and Table 5.3.

use crate::hosts::{Place, Places};
use crate::report::Report;
use crate::world::{Client, Load, Server, run};
use std::fs;
use std::time::Duration;
use zorb_floor::counting;
use zorb_papers::dialogue::Failure;

const LEADER: &str = "leader/followers";
const HALF_SYNC: &str = "half-sync/half-async";
const STRATEGIES: [&str; 2] = [LEADER, HALF_SYNC];

/// Clients that call without pause.
const CLIENTS: usize = 4;
/// Calls that operations are counted of, after as many that do not count.
const COUNTED: usize = 2_000;

async fn server(strategy: &str, place: &Place, threads: usize) -> Result<Server, Failure> {
    match strategy {
        LEADER => Server::threads(&place.server, threads).await,
        _ => Server::without_lanes(&place.server, None, threads).await,
    }
}

pub(crate) async fn measure(
    report: Report,
    time: Duration,
    places: &Places,
) -> Result<(), Failure> {
    let place = places.split.as_ref().unwrap_or(&places.same);
    for threads in [1, 2, 4, 8] {
        for strategy in STRATEGIES {
            let server = server(strategy, place, threads).await?;
            let mut clients = Vec::new();
            for _ in 0..CLIENTS {
                clients.push(Client::start(place, None, &server).await?);
            }
            let load = Load {
                rate: None,
                microseconds: 0,
            };
            let loads: Vec<_> = clients.iter().map(|client| (client, load)).collect();
            let calls = run(&loads, time).await?;
            let made: u64 = calls.iter().map(|calls| calls.made).sum();
            let rate = made as f64 / time.as_secs_f64();
            report.at(("strategies", strategy), threads as f64, rate, "calls/s");
            for client in clients {
                client.end().await?;
            }
            server.end().await?;
        }
    }
    let counted = ((time.as_secs_f64() * 10_000.0) as usize).clamp(200, COUNTED);
    for strategy in STRATEGIES {
        operations(report, strategy, &places.same, counted).await?;
    }
    Ok(())
}

/// How often the server does each for a request, while one client calls.
async fn operations(
    report: Report,
    strategy: &str,
    place: &Place,
    calls: usize,
) -> Result<(), Failure> {
    let server = server(strategy, place, 1).await?;
    let client = Client::start(place, None, &server).await?;
    client.noparams(calls).await?;
    counting::start();
    // Room for the times of the calls, which are measured besides, is one allocation.
    let before = (counting::so_far(), server.begun(), switches()?);
    client.noparams(calls).await?;
    let after = (counting::so_far(), server.begun(), switches()?);
    let (allocations, _) = counting::between(before.0, after.0).unwrap_or_default();
    let each = |count: u64| count as f64 / calls as f64;
    let queued = each(after.1 - before.1);
    let counts = [
        ("malloc", each(allocations)),
        ("enqueue", queued),
        ("dequeue", queued),
        ("thread switches", each(after.2.saturating_sub(before.2))),
    ];
    for (number, (operation, count)) in counts.into_iter().enumerate() {
        let at = ("operations of a request", strategy);
        report.under(at, (number, operation), count, "times");
    }
    client.end().await?;
    server.end().await
}

/// How often threads of servers have stopped to wait for something.
fn switches() -> Result<u64, Failure> {
    let mut all = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let folder = thread?.path();
        // A thread may end meanwhile.
        let Ok(name) = fs::read_to_string(folder.join("comm")) else {
            continue;
        };
        if !name.starts_with("server") && !name.starts_with("pool") {
            continue;
        }
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        let mut lines = status.lines();
        let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        all += count
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or(0_u64);
    }
    Ok(all)
}
