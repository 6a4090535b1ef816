//! A plant at three priorities: a sensor, a controller, and a logger whose work takes all that there is.
//!
//! One thread pool has a lane for each priority: a port, a thread that reads, a queue, a thread for servants. The logger's
//! calls keep its lane busy all the time; the sensor and the controller do not wait for it. Then the same with a pool of one
//! queue and one thread, in which they do.
//!
//! Start it with `cargo run --release --example lanes`. It draws how long the calls of each took while the logger was busy. As
//! root, or with `ulimit -r 99`, the lanes have real-time priorities; else it says that they have none.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use std::time::{Duration, Instant};
use zorb::executor::{BuildError, Scheduling};
use zorb::real_time::{
    Priority, PriorityModelPolicy, RtPolicies, ThreadpoolError, ThreadpoolLane, ThreadpoolOptions,
};
use zorb::{Error, Interface, Orb, Policies, SystemException};

zorb::idl! {
    module Plant {
        interface Station {
            // Computes for so long, and says at which priority.
            short work(in unsigned long microseconds);
        };
    };
}
use plant::{Station, StationRef, StationServant};

const LOGGER: Priority = Priority(0);
const SENSOR: Priority = Priority(10_000);
const CONTROLLER: Priority = Priority(20_000);

/// How long the logger's calls compute, and the others', in microseconds.
const LONG: u32 = 20_000;
const SHORT: u32 = 50;

struct Machine {
    orb: Orb,
}

impl Station for Machine {
    async fn work(&self, microseconds: u32) -> Result<i16, SystemException> {
        let until = Instant::now() + Duration::from_micros(u64::from(microseconds));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        Ok(self.orb.rt_current().the_priority()?.0)
    }
}

/// A station whose requests run on the threads of a pool, at the priority of their caller.
async fn station(orb: &Orb, name: &str, pool: ThreadpoolOptions) -> Result<StationRef, Error> {
    let pool = orb.rt_orb().create_threadpool(pool).await?;
    let policies = RtPolicies::new()
        .priority_model(PriorityModelPolicy::client_propagated(LOGGER))
        .threadpool(&pool);
    let root = orb.root_poa();
    let poa = root.create_rt_poa(name, Policies::default(), policies, None)?;
    let station = poa.activate(StationServant::new(Machine { orb: orb.clone() }))?;
    poa.the_poa_manager().activate()?;
    Ok(station)
}

/// The server with both stations, with real-time scheduling if the process may have it.
async fn server(scheduling: Scheduling) -> Result<(Orb, [StationRef; 2]), Error> {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .scheduling(scheduling)
        .build()
        .await?;
    let lane = |priority| ThreadpoolLane::new(priority, 1).listen("iiop://127.0.0.1:0");
    let lanes = ThreadpoolOptions::with_lanes([LOGGER, SENSOR, CONTROLLER].map(lane));
    let with_lanes = station(&orb, "lanes", lanes).await?;
    let without = station(&orb, "queue", ThreadpoolOptions::new(1, LOGGER)).await?;
    Ok((orb, [with_lanes, without]))
}

/// Makes calls at a priority, and gives the times that they took, in ascending order.
async fn calls(
    orb: &Orb,
    station: &StationRef,
    priority: Priority,
) -> Result<Vec<Duration>, SystemException> {
    let all = async {
        let mut times = Vec::new();
        for _ in 0..60 {
            let begun = Instant::now();
            let ran_at = station.work(SHORT).await?;
            times.push(begun.elapsed());
            assert_eq!(
                ran_at, priority.0,
                "a request runs at the priority of its caller"
            );
        }
        times.sort_unstable();
        Ok(times)
    };
    orb.rt_current().scope(priority, all).await?
}

/// Makes long calls at the logger's priority until they are stopped.
async fn log(
    orb: Orb,
    station: StationRef,
    stopped: tokio::sync::watch::Receiver<bool>,
) -> Result<(), SystemException> {
    let busy = async {
        while !*stopped.borrow() {
            station.work(LONG).await?;
        }
        Ok(())
    };
    orb.rt_current().scope(LOGGER, busy).await?
}

/// Columns of the picture: the first is for calls of up to 60 µs, each is for 1.19 times as long ones as the one before, so
/// that four of them double the time.
const COLUMNS: usize = 40;
const RATIO: f64 = 1.189_207;

fn column(time: Duration) -> usize {
    let (mut column, mut edge) = (0, Duration::from_micros(50).mul_f64(RATIO));
    while time >= edge && column + 1 < COLUMNS {
        edge = edge.mul_f64(RATIO);
        column += 1;
    }
    column
}

/// A line of the picture: how many of the calls took so long, in eighths of a block.
fn draw(name: &str, times: &[Duration]) -> String {
    let mut counts = [0; COLUMNS];
    for time in times {
        counts[column(*time)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(1).max(1);
    let block = |count: &usize| match count {
        0 => ' ',
        count => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][count * 7 / most],
    };
    let blocks: String = counts.iter().map(block).collect();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    format!("{name:>10} |{blocks}| median {median:.1?}, longest {longest:.1?}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (server, stations) = match server(Scheduling::Fifo).await {
        Ok(started) => started,
        Err(Error::Threadpool(ThreadpoolError::Threads(
            refused @ BuildError::Scheduling { .. },
        ))) => {
            println!("no real-time priorities: {refused}");
            server(Scheduling::Inherited).await?
        }
        Err(error) => return Err(error.into()),
    };
    // Another ORB, so that the calls go over sockets.
    let client = Orb::builder().build().await?;
    let titles = ["with lanes", "one queue and one thread"];
    for (title, station) in titles.into_iter().zip(stations) {
        let text = station.as_object().to_string();
        let station = client.string_to_object(&text).await?;
        let station: StationRef = station.unchecked_narrow();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let logger = tokio::spawn(log(client.clone(), station.clone(), stopped));
        println!("\n{title}: calls of {SHORT} µs beside a logger's of {LONG} µs");
        for (name, priority) in [("controller", CONTROLLER), ("sensor", SENSOR)] {
            let times = calls(&client, &station, priority).await?;
            println!("{}", draw(name, &times));
        }
        println!("{:>10}  50 µs   200 µs  800 µs  3.2 ms  12.8 ms", "");
        stop.send(true)?;
        logger.await??;
    }
    server.shutdown(true).await?;
    Ok(())
}
