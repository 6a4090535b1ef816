//! `zorb-log`: a log service that keeps its logs.

#![forbid(unsafe_code)]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use zorb::Orb;
use zorb_events::{
    CHANNEL_KEY, EventService, NOTIFICATION_KEY, OMNIEVENTS_KEY, SERVICE_KEY,
    Settings as EventSettings, TYPED_CHANNEL_KEY, TYPED_NOTIFICATION_KEY,
};
use zorb_log::{DEFAULT_ENDPOINT, FACTORY_KEY, LogService, LogStore, Settings};
use zorb_service::{Failure, Signals, is_ready, notify, write_whole};

/// How often old records and idle iterators are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// What an event service is found by.
const KEYS_OF_EVENTS: [&str; 6] = [
    CHANNEL_KEY,
    NOTIFICATION_KEY,
    OMNIEVENTS_KEY,
    SERVICE_KEY,
    TYPED_CHANNEL_KEY,
    TYPED_NOTIFICATION_KEY,
];

/// A CORBA log service: the Telecom Log Service, durable
#[derive(Debug, Parser)]
#[command(name = "zorb-log", version, after_help = AFTER_HELP)]
struct Options {
    /// The folder of the logs, made if it is missing; without it they are lost when the program ends
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen; may be repeated
    #[arg(long, value_name = "ENDPOINT", default_value = DEFAULT_ENDPOINT)]
    listen: Vec<String>,
    /// Write the reference of the factory of logs to a file
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
    /// Logs that there may be
    #[arg(long, value_name = "N", default_value_t = Settings::MAX_LOGS)]
    max_logs: usize,
    /// Octets of the records of all logs; in memory 256 MiB at most
    #[arg(long, value_name = "N", default_value_t = Settings::MAX_OCTETS)]
    max_octets: u64,
}

const AFTER_HELP: &str = "\
Clients find the factories at corbaloc::HOST:11172/BasicLogFactory and corbaloc::HOST:11172/EventLogFactory.
The -ORB… options are taken, too: -ORBListenEndpoints, -ORBEndPointPublish, ….

Examples:
  zorb-log --data /var/lib/zorb-log

A line on standard output says that it is ready. SIGTERM and SIGINT end it in order; a second one at once.

Exit status: 0 when it was ended by a signal; 2 for wrong usage; 3 if another process has the folder open; 4 if the folder
holds a store of another version or one that is damaged, or cannot be written; 5 if it cannot listen; 1 for anything else.";

fn main() -> ExitCode {
    zorb_service::run(async |builder, options| serve(builder, &options).await)
}

async fn serve(builder: zorb::Builder, options: &Options) -> Result<(), Failure> {
    // Before anything that takes time: a signal that comes meanwhile ends the program in order.
    let mut signals = Signals::new()?;
    // First: a second daemon of a folder says so, and not that its endpoint is in use.
    let (store, kept) = match options.data.clone() {
        Some(folder) => {
            let kept = format!("in {}", folder.display());
            let opened = tokio::task::spawn_blocking(move || LogStore::open(&folder)).await;
            (opened.map_err(std::io::Error::other)??, kept)
        }
        None => {
            let kept = "in memory: its logs are lost when it ends (--data keeps them)";
            (LogStore::in_memory()?, kept.to_owned())
        }
    };
    let builder = options
        .listen
        .iter()
        .fold(builder, |builder, endpoint| builder.listen(endpoint));
    let orb = builder.build().await?;
    let mut settings = Settings::default();
    settings.max_logs = options.max_logs;
    settings.max_octets = options.max_octets;
    let mut of_events = EventSettings::default();
    // One for what is forwarded and one for suppliers that are pulled, of each log; and that of the factory.
    of_events.max_channels = options.max_logs.saturating_mul(2).saturating_add(2);
    let events = EventService::start(&orb, None, of_events).await?;
    for key in KEYS_OF_EVENTS {
        // Its channels are those of event logs alone.
        let _ = orb.key_table().unbind(key);
    }
    let service = LogService::start(&orb, store, events.clone(), settings)?;
    if let Some(file) = &options.ior_file {
        let factory = orb.object_to_string(service.factory());
        write_whole(file, &format!("{factory}\n"))?;
    }
    let url = orb.corbaloc_url(FACTORY_KEY)?;
    is_ready::<Options>(&format!("{url} {kept}"));
    let sweeping = async {
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            sweep.tick().await;
            service.sweep().await;
            events.evict_idle_proxies();
        }
    };
    tokio::select! {
        () = signals.next() => {}
        () = sweeping => {}
    }
    notify("STOPPING=1");
    // Pulls that wait would be waited for.
    events.stop();
    tokio::select! {
        () = end(&orb, &service) => {}
        () = signals.next() => {}
    }
    Ok(())
}

/// Ends in order: what was begun is done and answered, then the store is closed.
async fn end(orb: &Orb, service: &LogService) {
    // It fails in upcalls alone.
    let _ = orb.shutdown(true).await;
    service.close().await;
}
