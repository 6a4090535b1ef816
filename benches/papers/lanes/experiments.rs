//! Experiments 1 to 8 of the dissertation's chapter 7.

use crate::world::{Calls, Client, Level, Load, Server, units};
use crate::{Place, Sample};
use std::time::{Duration, Instant};
use zorb_papers::dialogue::Failure;

/// Clients by urgency: name and SCHED_FIFO priority.
const URGENCIES: [(&str, i32); 3] = [("high", 30), ("medium", 20), ("low", 10)];
const BEST_EFFORT: i32 = 5;

/// Rates of the high, the medium and the low client, in calls a second.
const RISING: [f64; 3] = [75.0, 50.0, 25.0];
const FALLING: [f64; 3] = [25.0, 50.0, 75.0];

/// The dissertation's `<work>` at which 150 calls a second are all that one CPU can do.
const AT_CAPACITY: u32 = 30;
const BELOW_CAPACITY: u32 = 28;

pub(crate) struct Experiments<'a> {
    pub(crate) time: Duration,
    pub(crate) report: &'a mut dyn FnMut(Sample),
}

/// Whether threads have priorities and the server has lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    Lanes,
}

impl Experiments<'_> {
    fn report(&mut self, panel: &str, series: &str, x: f64, value: f64, unit: &'static str) {
        (self.report)(Sample {
            panel: panel.to_owned(),
            series: series.to_owned(),
            x,
            value,
            unit,
        });
    }

    pub(crate) async fn all(&mut self, same: Place, split: Option<Place>) -> Result<(), Failure> {
        self.workload(same).await?;
        self.invocation_rate(same).await?;
        self.concurrency("concurrency, one CPU", same).await?;
        for (place, at) in [(Some(same), "one CPU"), (split, "a CPU each")] {
            let Some(place) = place else { continue };
            if at == "one CPU" {
                self.rates(Kind::Plain, RISING, "rates without lanes", at, place)
                    .await?;
                self.best_effort(
                    Kind::Plain,
                    AT_CAPACITY,
                    "best effort without lanes",
                    at,
                    place,
                )
                .await?;
                self.rates(Kind::Lanes, FALLING, "falling rates with lanes", at, place)
                    .await?;
                self.best_effort(
                    Kind::Lanes,
                    AT_CAPACITY,
                    "best effort with lanes",
                    at,
                    place,
                )
                .await?;
            }
            self.rates(Kind::Lanes, RISING, "rising rates with lanes", at, place)
                .await?;
            self.best_effort(
                Kind::Lanes,
                BELOW_CAPACITY,
                "best effort below capacity with lanes",
                at,
                place,
            )
            .await?;
        }
        Ok(())
    }

    /// Experiment 1.
    async fn workload(&mut self, place: Place) -> Result<(), Failure> {
        let server = Server::lane(place.server, None).await?;
        let client = Client::start(place.client, None, &server).await?;
        for work in [10, 20, 30, 40, 50] {
            let calls = self.run(&[(&client, continuous(work))]).await?;
            let rate = calls[0].made as f64 / self.time.as_secs_f64();
            self.report(
                "workload, one CPU",
                "continuous client",
                f64::from(work),
                rate,
                "calls/s",
            );
        }
        client.end().await?;
        server.end().await
    }

    /// Experiment 2.
    async fn invocation_rate(&mut self, place: Place) -> Result<(), Failure> {
        let server = Server::lane(place.server, None).await?;
        let client = Client::start(place.client, None, &server).await?;
        for rate in [100.0, 125.0, 140.0, 160.0, 200.0] {
            let load = rated(rate, AT_CAPACITY);
            let calls = self.run(&[(&client, load)]).await?;
            self.report(
                "invocation rate, one CPU",
                "deadlines met",
                rate,
                calls[0].met(),
                "%",
            );
        }
        client.end().await?;
        server.end().await
    }

    /// Experiment 3.
    async fn concurrency(&mut self, panel: &str, place: Place) -> Result<(), Failure> {
        for threads in [1, 3] {
            let server = Server::pool(place.server, None, threads).await?;
            let series = format!("{threads} server threads");
            for count in [1, 5, 20] {
                let mut clients = Vec::new();
                for _ in 0..count {
                    clients.push(Client::start(place.client, None, &server).await?);
                }
                let load = continuous(AT_CAPACITY);
                let loads: Vec<_> = clients.iter().map(|client| (client, load)).collect();
                let calls = self.run(&loads).await?;
                let made: u64 = calls.iter().map(|calls| calls.made).sum();
                let rate = made as f64 / self.time.as_secs_f64();
                self.report(panel, &series, f64::from(count), rate, "calls/s");
                for client in clients {
                    client.end().await?;
                }
            }
            server.end().await?;
        }
        Ok(())
    }

    /// Experiments 4 to 6.
    async fn rates(
        &mut self,
        kind: Kind,
        rates: [f64; 3],
        panel: &str,
        at: &str,
        place: Place,
    ) -> Result<(), Failure> {
        let parties = Parties::start(kind, place, 0).await?;
        for work in [20, 25, 30, 40, 50, 60] {
            let loads = parties.rated(rates, work);
            let calls = self.run(&loads).await?;
            for (((name, _), rate), calls) in URGENCIES.iter().zip(rates).zip(&calls) {
                let made = calls.made as f64 / self.time.as_secs_f64();
                let series = format!("{name}, {rate} Hz");
                self.report(
                    &format!("{panel}, {at}"),
                    &series,
                    f64::from(work),
                    made,
                    "calls/s",
                );
            }
        }
        parties.end().await
    }

    /// Experiments 7 and 8.
    async fn best_effort(
        &mut self,
        kind: Kind,
        work: u32,
        panel: &str,
        at: &str,
        place: Place,
    ) -> Result<(), Failure> {
        let panel = format!("{panel}, {at}");
        for count in [0, 1, 5, 10] {
            let parties = Parties::start(kind, place, count).await?;
            let mut loads = parties.rated(RISING, work);
            let effort = parties.best_effort.iter();
            loads.extend(effort.map(|client| (client, continuous(work))));
            let calls = self.run(&loads).await?;
            let (rated, best_effort) = calls.split_at(URGENCIES.len());
            let seconds = self.time.as_secs_f64();
            for (((name, _), rate), calls) in URGENCIES.iter().zip(RISING).zip(rated) {
                let made = calls.made as f64 / seconds;
                let series = format!("{name}, {rate} Hz");
                self.report(&panel, &series, f64::from(count), made, "calls/s");
            }
            let made: u64 = best_effort.iter().map(|calls| calls.made).sum();
            let rate = made as f64 / seconds;
            self.report(
                &panel,
                "best effort, all",
                f64::from(count),
                rate,
                "calls/s",
            );
            parties.end().await?;
        }
        Ok(())
    }

    async fn run(&self, loads: &[(&Client, Load)]) -> Result<Vec<Calls>, Failure> {
        run(loads, self.time).await
    }
}

/// Runs loads at the same time, each on its client's thread.
pub(crate) async fn run(loads: &[(&Client, Load)], time: Duration) -> Result<Vec<Calls>, Failure> {
    let begin = Instant::now() + Duration::from_millis(20);
    let started: Vec<_> = loads
        .iter()
        .map(|(client, load)| client.run(*load, begin, time))
        .collect();
    let wait = move || {
        started
            .iter()
            .map(|calls| calls.recv())
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(tokio::task::spawn_blocking(wait).await??)
}

pub(crate) const fn continuous(work: u32) -> Load {
    Load {
        rate: None,
        microseconds: work * 215,
    }
}

pub(crate) fn rated(rate: f64, work: u32) -> Load {
    Load {
        rate: Some(rate),
        microseconds: units(work),
    }
}

/// The high, the medium and the low client, best-effort clients, and their servers.
pub(crate) struct Parties {
    servers: Vec<Server>,
    pub(crate) clients: Vec<Client>,
    pub(crate) best_effort: Vec<Client>,
}

impl Parties {
    async fn start(kind: Kind, place: Place, best_effort: u32) -> Result<Self, Failure> {
        let mut servers = Vec::new();
        let (mut clients, mut efforts) = (Vec::new(), Vec::new());
        match kind {
            Kind::Plain => {
                let server = Server::pool(place.server, None, URGENCIES.len() + 1).await?;
                for _ in URGENCIES {
                    clients.push(Client::start(place.client, None, &server).await?);
                }
                for _ in 0..best_effort {
                    efforts.push(Client::start(place.client, None, &server).await?);
                }
                servers.push(server);
            }
            Kind::Lanes => {
                for (_, priority) in URGENCIES {
                    let level: Level = Some(priority);
                    let server = Server::lane(place.server, level).await?;
                    clients.push(Client::start(place.client, level, &server).await?);
                    servers.push(server);
                }
                let level = Some(BEST_EFFORT);
                let server = Server::lane(place.server, level).await?;
                for _ in 0..best_effort {
                    efforts.push(Client::start(place.client, level, &server).await?);
                }
                servers.push(server);
            }
        }
        Ok(Self {
            servers,
            clients,
            best_effort: efforts,
        })
    }

    /// With lanes, and best-effort clients.
    pub(crate) async fn with_lanes(place: Place, best_effort: u32) -> Result<Self, Failure> {
        Self::start(Kind::Lanes, place, best_effort).await
    }

    pub(crate) fn rated(&self, rates: [f64; 3], work: u32) -> Vec<(&Client, Load)> {
        let each = self.clients.iter().zip(rates);
        each.map(|(client, rate)| (client, rated(rate, work)))
            .collect()
    }

    pub(crate) async fn end(self) -> Result<(), Failure> {
        for client in self.clients.into_iter().chain(self.best_effort) {
            client.end().await?;
        }
        for server in self.servers {
            server.end().await?;
        }
        Ok(())
    }
}
