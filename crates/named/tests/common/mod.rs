//! The program, started for a test, and clients of it.

use crate::support::{Ended, Running};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Command;
use zorb::naming::{Name, NamingClient};
use zorb::{ObjectRef, Orb};

/// The program while it runs. Dropping it kills it (SIGKILL).
pub(crate) struct Daemon {
    running: Running,
    /// The service's `corbaloc`.
    pub(crate) url: String,
    /// All that it says when it is ready.
    pub(crate) ready: String,
}

/// The program with these arguments, on a free port unless they name one.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb-named"));
    if !args.contains(&"--listen") {
        command.args(["--listen", "iiop://127.0.0.1:0"]);
    }
    command.args(args);
    command
}

impl Daemon {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::started(command(args)).unwrap_or_else(|running| panic!("{running:?}"))
    }

    /// The program, or what it printed when it ended before it was ready.
    pub(crate) fn started(command: Command) -> Result<Self, Running> {
        let mut running = Running::command(command);
        let ready =
            running.find(|line| Some(line.strip_prefix("zorb-named is ready: ")?.to_owned()));
        match ready {
            Some(ready) => Ok(Self {
                running,
                url: ready.split(' ').next().unwrap_or_default().to_owned(),
                ready,
            }),
            None => Err(running),
        }
    }

    /// A program that keeps its names in a folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::start(&["--data", folder.to_str().expect("a plain name")])
    }

    /// Ends it by SIGTERM.
    pub(crate) fn terminate(self) -> Ended {
        let id = i32::try_from(self.running.id())
            .ok()
            .and_then(Pid::from_raw);
        kill_process(id.expect("a process"), Signal::TERM).expect("it runs");
        self.running.finish()
    }

    pub(crate) fn id(&self) -> u32 {
        self.running.id()
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        let rest = self.url.strip_prefix("corbaloc:").expect("a corbaloc");
        let rest = rest.split_once('/').expect("a key").0;
        rest.rsplit_once('@')
            .map_or(&rest[1..], |(_, address)| address)
    }

    /// A client of the root context.
    pub(crate) async fn client(&self) -> NamingClient {
        client(&client_orb().await, &self.url).await
    }
}

/// An ORB that makes calls.
pub(crate) async fn client_orb() -> Orb {
    Orb::builder()
        .build()
        .await
        .expect("a client needs nothing")
}

pub(crate) async fn client(orb: &Orb, url: &str) -> NamingClient {
    let object = orb.string_to_object(url).await.expect("a reference");
    NamingClient::at(&object).await.expect("a naming context")
}

/// A reference to an object that is nowhere, one for each number.
pub(crate) async fn object(orb: &Orb, number: usize) -> ObjectRef {
    let url = format!("corbaloc:iiop:1.2@bank.zorb.test:2810/Account{number}");
    orb.string_to_object(&url).await.expect("a reference")
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a name")
}
