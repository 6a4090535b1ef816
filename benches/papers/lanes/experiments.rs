//! Experiments 1 to 9 of the dissertation's chapter 7.

use crate::hosts::{Place, Places};
use crate::report::Report;
use crate::world::{
    BEST_EFFORT, Calls, Client, HIGH, LOW, Level, Load, MEDIUM, Server, URGENCIES, run,
};
use std::time::Duration;
use zorb_papers::dialogue::Failure;

/// Rates of the high, the medium and the low client, in calls a second.
const RISING: [f64; 3] = [75.0, 50.0, 25.0];
const FALLING: [f64; 3] = [25.0, 50.0, 75.0];

/// The dissertation's `<work>` at which 150 calls a second are all that one CPU can do.
const AT_CAPACITY: u32 = 30;
const BELOW_CAPACITY: u32 = 28;

/// The `<work>` of the experiments in which it increases.
const WORKS: [u32; 5] = [20, 30, 40, 50, 60];
/// How many best-effort clients there are in those in which they increase.
const EFFORTS: [u32; 4] = [0, 1, 5, 10];

pub(crate) struct Experiments {
    pub(crate) time: Duration,
    pub(crate) report: Report,
}

/// How the server of the rate-based clients is made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Without priorities: threads behind a queue, in the default scheduling class.
    Plain,
    /// A thread pool with a lane for each priority.
    Lanes,
    /// A thread pool without lanes, whose threads have that priority while they wait.
    Pool(Level),
}

const RISING_WITH_LANES: &str = "rising rates with lanes";
const BELOW_WITH_LANES: &str = "best effort below capacity with lanes";

impl Experiments {
    pub(crate) async fn all(&self, places: &Places) -> Result<(), Failure> {
        let same = &places.same;
        self.workload(same).await?;
        self.invocation_rate(same).await?;
        self.concurrency("1 thread, 1 CPU", 1, same).await?;
        self.concurrency("2 threads, 1 CPU", 2, same).await?;
        if let Some(both) = &places.both {
            self.concurrency("2 threads, 2 CPUs", 2, both).await?;
        }
        self.rates(Kind::Plain, RISING, "rates without lanes, one CPU", same)
            .await?;
        let falling = "falling rates with lanes, one CPU";
        self.rates(Kind::Lanes, FALLING, falling, same).await?;
        for (panel, kind) in [
            ("best effort without lanes, one CPU", Kind::Plain),
            ("best effort with lanes, one CPU", Kind::Lanes),
        ] {
            self.best_effort(kind, AT_CAPACITY, panel, same).await?;
        }
        for (panel, level) in [
            ("rates with a low pool, one CPU", LOW),
            ("rates with a medium pool, one CPU", MEDIUM),
            ("rates with a high pool, one CPU", HIGH),
        ] {
            let kind = Kind::Pool(Some(level));
            self.rates(kind, RISING, panel, same).await?;
        }
        let elsewhere = [
            (Some(same), "one CPU"),
            (places.split.as_ref(), "a CPU each"),
            (places.hosts.as_ref().ok(), "two hosts"),
        ];
        for (place, at) in elsewhere {
            let Some(place) = place else { continue };
            let panel = format!("{RISING_WITH_LANES}, {at}");
            self.rates(Kind::Lanes, RISING, &panel, place).await?;
            let panel = format!("{BELOW_WITH_LANES}, {at}");
            self.best_effort(Kind::Lanes, BELOW_CAPACITY, &panel, place)
                .await?;
        }
        if let Err(why) = &places.hosts {
            self.report.missing(&format!("two hosts ({why})"));
        }
        Ok(())
    }

    fn rate(&self, calls: &[Calls]) -> f64 {
        let made: u64 = calls.iter().map(|calls| calls.made).sum();
        made as f64 / self.time.as_secs_f64()
    }

    /// Experiment 1.
    async fn workload(&self, place: &Place) -> Result<(), Failure> {
        let server = Server::one_thread(&place.server).await?;
        let client = Client::start(place, None, &server).await?;
        for work in [10, 20, 30, 40, 50] {
            let calls = self.run(&[(&client, Load::continuous(work))]).await?;
            let rate = self.rate(&calls);
            let at = ("workload, one CPU", "continuous client");
            self.report.at(at, f64::from(work), rate, "calls/s");
        }
        client.end().await?;
        server.end().await
    }

    /// Experiment 2.
    async fn invocation_rate(&self, place: &Place) -> Result<(), Failure> {
        let server = Server::one_thread(&place.server).await?;
        let client = Client::start(place, None, &server).await?;
        for rate in [100.0, 125.0, 140.0, 160.0, 200.0] {
            let load = Load::rated(rate, AT_CAPACITY);
            let calls = self.run(&[(&client, load)]).await?;
            let at = ("invocation rate, one CPU", "deadlines met");
            self.report.at(at, rate, calls[0].met(), "%");
        }
        client.end().await?;
        server.end().await
    }

    /// Experiment 3.
    async fn concurrency(
        &self,
        series: &str,
        threads: usize,
        place: &Place,
    ) -> Result<(), Failure> {
        let server = Server::pool(&place.server, threads).await?;
        for count in [1, 2, 5, 20] {
            let mut clients = Vec::new();
            for _ in 0..count {
                clients.push(Client::start(place, None, &server).await?);
            }
            let load = Load::continuous(AT_CAPACITY);
            let loads: Vec<_> = clients.iter().map(|client| (client, load)).collect();
            let calls = self.run(&loads).await?;
            let at = ("concurrency", series);
            let rate = self.rate(&calls);
            self.report.at(at, f64::from(count), rate, "calls/s");
            for client in clients {
                client.end().await?;
            }
        }
        server.end().await
    }

    /// Experiments 4 to 6 and 9.
    async fn rates(
        &self,
        kind: Kind,
        rates: [f64; 3],
        panel: &str,
        place: &Place,
    ) -> Result<(), Failure> {
        let parties = Parties::start(kind, place, 0).await?;
        for work in WORKS {
            let calls = self.run(&parties.rated(rates, work)).await?;
            self.of_rated(panel, f64::from(work), rates, &calls);
        }
        parties.end().await
    }

    fn of_rated(&self, panel: &str, x: f64, rates: [f64; 3], calls: &[Calls]) {
        for (((name, _), rate), calls) in URGENCIES.iter().zip(rates).zip(calls) {
            let series = format!("{name}, {rate} Hz");
            let made = self.rate(std::slice::from_ref(calls));
            self.report.at((panel, &series), x, made, "calls/s");
        }
    }

    /// Experiments 7 and 8.
    async fn best_effort(
        &self,
        kind: Kind,
        work: u32,
        panel: &str,
        place: &Place,
    ) -> Result<(), Failure> {
        for count in EFFORTS {
            let parties = Parties::start(kind, place, count).await?;
            let mut loads = parties.rated(RISING, work);
            let effort = parties.best_effort.iter();
            loads.extend(effort.map(|client| (client, Load::continuous(work))));
            let calls = self.run(&loads).await?;
            let (rated, best_effort) = calls.split_at(URGENCIES.len());
            self.of_rated(panel, f64::from(count), RISING, rated);
            let rate = self.rate(best_effort);
            let at = (panel, "best effort, all");
            self.report.at(at, f64::from(count), rate, "calls/s");
            parties.end().await?;
        }
        Ok(())
    }

    async fn run(&self, loads: &[(&Client, Load)]) -> Result<Vec<Calls>, Failure> {
        run(loads, self.time).await
    }
}

/// The high, the medium and the low client, best-effort clients, and their server.
pub(crate) struct Parties {
    server: Server,
    pub(crate) clients: Vec<Client>,
    pub(crate) best_effort: Vec<Client>,
}

impl Parties {
    async fn start(kind: Kind, place: &Place, best_effort: u32) -> Result<Self, Failure> {
        let host = &place.server;
        let server = match kind {
            Kind::Plain => Server::pool(host, URGENCIES.len() + 1).await?,
            Kind::Lanes => Server::lanes(host, &[BEST_EFFORT, LOW, MEDIUM, HIGH]).await?,
            Kind::Pool(level) => Server::without_lanes(host, level, URGENCIES.len()).await?,
        };
        let level = |priority| (kind != Kind::Plain).then_some(priority);
        let (mut clients, mut efforts) = (Vec::new(), Vec::new());
        for (_, priority) in URGENCIES {
            clients.push(Client::start(place, level(priority), &server).await?);
        }
        for _ in 0..best_effort {
            efforts.push(Client::start(place, level(BEST_EFFORT), &server).await?);
        }
        Ok(Self {
            server,
            clients,
            best_effort: efforts,
        })
    }

    /// Runs the experiment with lanes and best-effort clients.
    pub(crate) async fn with_lanes(place: &Place, best_effort: u32) -> Result<Self, Failure> {
        Self::start(Kind::Lanes, place, best_effort).await
    }

    pub(crate) fn rated(&self, rates: [f64; 3], work: u32) -> Vec<(&Client, Load)> {
        let each = self.clients.iter().zip(rates);
        each.map(|(client, rate)| (client, Load::rated(rate, work)))
            .collect()
    }

    pub(crate) async fn end(self) -> Result<(), Failure> {
        for client in self.clients.into_iter().chain(self.best_effort) {
            client.end().await?;
        }
        self.server.end().await
    }
}
