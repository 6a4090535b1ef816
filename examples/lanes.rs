//! A plant at three priorities: a sensor, a controller, and a logger whose work takes all that there is.
//!
//! One thread pool has a lane for each priority: a port, a thread that reads, a queue, threads for servants. The logger's
//! clients keep their lane busy all the time; the sensor and the controller do not wait for them.
//!
//! Start it with `cargo run --release --example lanes`. It says for each lane how long its calls took while the logger's
//! lane was busy. As root, or with `ulimit -r 99`, the lanes have real-time priorities; else it says that they have none.

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

/// The server, with real-time scheduling if the process may have it.
async fn server(scheduling: Scheduling) -> Result<(Orb, StationRef), Error> {
    let orb = Orb::builder().scheduling(scheduling).build().await?;
    let lane =
        |priority, threads| ThreadpoolLane::new(priority, threads).listen("iiop://127.0.0.1:0");
    let lanes = [lane(LOGGER, 1), lane(SENSOR, 1), lane(CONTROLLER, 1)];
    let options = ThreadpoolOptions::with_lanes(lanes);
    let pool = orb.rt_orb().create_threadpool(options).await?;
    let policies = RtPolicies::new()
        .priority_model(PriorityModelPolicy::client_propagated(LOGGER))
        .threadpool(&pool);
    let root = orb.root_poa();
    let poa = root.create_rt_poa("plant", Policies::default(), policies, None)?;
    let station = poa.activate(StationServant::new(Machine { orb: orb.clone() }))?;
    poa.the_poa_manager().activate()?;
    Ok((orb, station))
}

/// Makes calls at a priority, and gives the longest and the median time that one took.
async fn calls(
    orb: &Orb,
    station: &StationRef,
    priority: Priority,
    count: usize,
) -> Result<(Duration, Duration), SystemException> {
    let all = async {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let begun = Instant::now();
            let ran_at = station.work(50).await?;
            times.push(begun.elapsed());
            assert_eq!(
                ran_at, priority.0,
                "a request runs at the priority of its caller"
            );
        }
        times.sort_unstable();
        Ok((times[count / 2], times[count - 1]))
    };
    orb.rt_current().scope(priority, all).await?
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (server, station) = match server(Scheduling::Fifo).await {
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
    let station = client
        .string_to_object(&station.as_object().to_string())
        .await?;
    let station: StationRef = station.unchecked_narrow();

    let (stop, stopped) = tokio::sync::watch::channel(false);
    let logger = tokio::spawn({
        let (client, station) = (client.clone(), station.clone());
        async move {
            let busy = async {
                while !*stopped.borrow() {
                    station.work(20_000).await?;
                }
                Ok::<_, SystemException>(())
            };
            client.rt_current().scope(LOGGER, busy).await?
        }
    });
    for (name, priority) in [("controller", CONTROLLER), ("sensor", SENSOR)] {
        let (median, longest) = calls(&client, &station, priority, 200).await?;
        println!("{name:>10}: median {median:?}, longest {longest:?}");
    }
    stop.send(true)?;
    logger.await??;
    println!("    logger: each of its calls took 20 ms and more");
    server.shutdown(true).await?;
    Ok(())
}
