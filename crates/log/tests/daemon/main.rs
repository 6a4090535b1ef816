//! The program `zorb-log`, as processes with clients of ours and of omniORB; and its service in this process.

#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

mod events;
mod full_disk;
mod limits;
mod programs;
mod records;
mod states;

use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use support::{Ended, Running};
use zorb::{Any, IdlType, Orb};
use zorb_events::{EventService, Settings as EventSettings};
use zorb_log::ds_log_admin::{BasicLogFactoryRef, BasicLogRef, HALT, LogRecord, NVPair};
use zorb_log::{LogService, LogStore, Settings};

/// The program while it runs. Dropping it kills it (SIGKILL).
struct Daemon {
    running: Running,
    url: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb-log"));
    if !args.contains(&"--listen") {
        command.args(["--listen", "iiop://127.0.0.1:0"]);
    }
    command.args(args);
    command
}

impl Daemon {
    fn start(args: &[&str]) -> Self {
        Self::started(command(args)).unwrap_or_else(|running| panic!("{running:?}"))
    }

    fn started(command: Command) -> Result<Self, Running> {
        let mut running = Running::command(command);
        let url = running.find(|line| {
            let rest = line.strip_prefix("zorb-log is ready: ")?;
            Some(rest.split(' ').next()?.to_owned())
        });
        match url {
            Some(url) => Ok(Self { running, url }),
            None => Err(running),
        }
    }

    fn endpoint(&self) -> String {
        let rest = self.url.split_once('@').expect("an address").1;
        format!("iiop://{}", rest.split_once('/').expect("a key").0)
    }

    async fn factory(&self, orb: &Orb) -> BasicLogFactoryRef {
        let factory = orb.string_to_object(&self.url).await.unwrap();
        factory.narrow().await.unwrap().expect("a factory")
    }

    fn terminate(self) -> Ended {
        let id = i32::try_from(self.running.id())
            .ok()
            .and_then(Pid::from_raw);
        kill_process(id.expect("a process"), Signal::TERM).expect("it runs");
        self.running.finish()
    }
}

fn any<T: IdlType + ?Sized>(value: &T) -> Any {
    Any::new(value).unwrap()
}

fn numbers(numbers: impl IntoIterator<Item = i32>) -> Vec<Any> {
    numbers.into_iter().map(|number| any(&number)).collect()
}

/// The numbers that records have.
fn infos(records: &[LogRecord]) -> Vec<i32> {
    let info = |record: &LogRecord| record.info.extract().unwrap();
    records.iter().map(info).collect()
}

fn pair(name: &str, value: &str) -> NVPair {
    NVPair {
        name: name.to_owned(),
        value: any(value),
    }
}

/// A service of this process, in memory.
async fn service(settings: Settings) -> (Orb, LogService) {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = builder.build().await.unwrap();
    let store = LogStore::in_memory().unwrap();
    let events = EventService::start(&orb, None, EventSettings::default()).await;
    let service = LogService::start(&orb, store, events.unwrap(), settings).unwrap();
    (orb, service)
}

async fn log(service: &LogService) -> BasicLogRef {
    let (log, _) = service.factory().create(HALT, 0).await.unwrap();
    log.unwrap()
}
