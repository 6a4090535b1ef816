//! A priority on its way over a middle-tier server, each host with a mapping of its own: the dissertation's Figure 2.5.

use crate::hosts::Host;
use crate::report::Report;
use crate::world::lane;
use std::ops::RangeInclusive;
use std::thread;
use zorb::executor::{
    LinearMapping, NativePriority, PriorityMapping, Scheduling, current_thread_scheduling,
};
use zorb::real_time::{Priority, PriorityModelPolicy, RtPolicies, ThreadpoolOptions};
use zorb::{Interface, Orb, Policies, SystemException};
use zorb_papers::dialogue::Failure;

zorb::idl! {
    module Tiers {
        struct Seen {
            short priority;
            long scheduled;
        };
        typedef sequence<Seen> Path;
        interface Tier {
            /// At which priorities this tier and those behind it run.
            Path pass();
        };
    };
}
use tiers::{Seen, Tier, TierRef, TierServant};

/// All CORBA priorities, spread evenly over some of the native ones.
#[derive(Clone, Debug)]
struct Part(RangeInclusive<i32>);

impl PriorityMapping for Part {
    fn to_native(&self, priority: Priority, _: &RangeInclusive<i32>) -> Option<NativePriority> {
        LinearMapping.to_native(priority, &self.0)
    }

    fn to_corba(&self, native: NativePriority, _: &RangeInclusive<i32>) -> Option<Priority> {
        LinearMapping.to_corba(native, &self.0)
    }
}

/// The native priorities of the hosts.
const TIERS: [(&str, RangeInclusive<i32>); 3] = [
    ("client", 1..=99),
    ("middle tier", 10..=40),
    ("server", 60..=90),
];

struct Here {
    orb: Orb,
    next: Option<TierRef>,
}

fn seen(orb: &Orb) -> Result<Seen, SystemException> {
    let native = match current_thread_scheduling() {
        Ok((Scheduling::Fifo, native)) => native.0,
        _ => 0,
    };
    Ok(Seen {
        priority: orb.rt_current().the_priority()?.0,
        scheduled: native,
    })
}

impl Tier for Here {
    async fn pass(&self) -> Result<Vec<Seen>, SystemException> {
        let mut path = vec![seen(&self.orb)?];
        if let Some(next) = &self.next {
            path.extend(next.pass().await?);
        }
        Ok(path)
    }
}

fn orb(host: &Host, name: &str, part: &RangeInclusive<i32>) -> Result<zorb::Builder, Failure> {
    let orb = Orb::builder().lane(lane(name, &host.cpus, None)?);
    let orb = orb.priority_mapping(Part(part.clone()));
    Ok(orb.scheduling(Scheduling::Fifo))
}

/// A server whose thread pool takes the priority of each request; it asks the next one.
async fn tier(
    host: &Host,
    part: RangeInclusive<i32>,
    next: Option<String>,
) -> Result<(Orb, String), Failure> {
    let own = host.clone();
    let start = async move {
        let orb = orb(&own, "server", &part)?.listen("iiop://127.0.0.1:0");
        let orb = orb.build().await?;
        let options = ThreadpoolOptions::new(1, Priority::MIN).cpus(own.cpus);
        let pool = orb.rt_orb().create_threadpool(options).await?;
        let policies = RtPolicies::new()
            .priority_model(PriorityModelPolicy::client_propagated(Priority::MIN))
            .threadpool(&pool);
        let root = orb.root_poa();
        let poa = root.create_rt_poa("tier", Policies::default(), policies, None)?;
        let next = match next {
            Some(reference) => Some(reference_of(&orb, &reference).await?),
            None => None,
        };
        let here = Here {
            orb: orb.clone(),
            next,
        };
        let own: TierRef = poa.activate(TierServant::new(here))?;
        poa.the_poa_manager().activate()?;
        let reference = orb.object_to_string(&own);
        Ok((orb, reference))
    };
    host.run(start).await
}

async fn reference_of(orb: &Orb, reference: &str) -> Result<TierRef, Failure> {
    let object = orb.string_to_object(reference).await?;
    Ok(Interface::unchecked_narrow(object))
}

pub(crate) async fn measure(report: Report, host: &Host) -> Result<(), Failure> {
    let [(_, client), (_, middle), (_, last)] = TIERS;
    let (last, reference) = tier(host, last, None).await?;
    let (middle, reference) = tier(host, middle, Some(reference)).await?;
    let own = host.clone();
    let started = host.run(async move { Ok(orb(&own, "client", &client)?.build().await?) });
    let client = started.await?;
    let first = reference_of(&client, &reference).await?;
    let runtime = tokio::runtime::Handle::current();
    for priority in [0, 100, 8_192, 16_384, 24_576, 32_767] {
        let (orb, first, runtime) = (client.clone(), first.clone(), runtime.clone());
        // A thread outside of runtimes takes the native priority itself.
        let calling = thread::spawn(move || {
            orb.rt_current().set_the_priority(Priority(priority))?;
            let mut path = vec![seen(&orb)?];
            path.extend(runtime.block_on(first.pass())?);
            Ok::<_, SystemException>(path)
        });
        let path = tokio::task::spawn_blocking(move || calling.join()).await?;
        let path = path.map_err(|_| "the client's thread ended")??;
        if path.len() != TIERS.len() {
            return Err(format!("the path has {} tiers", path.len()).into());
        }
        for ((name, _), seen) in TIERS.iter().zip(path) {
            let x = f64::from(priority);
            let native = f64::from(seen.scheduled);
            report.at(("propagation, native", *name), x, native, "priority");
            let corba = f64::from(seen.priority);
            report.at(("propagation, CORBA", *name), x, corba, "priority");
        }
    }
    for orb in [client, middle, last] {
        orb.shutdown(true).await?;
    }
    Ok(())
}
