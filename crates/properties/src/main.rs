//! `zorb-properties`: a property service that keeps its sets.

#![forbid(unsafe_code)]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use zorb::Orb;
use zorb_properties::{DEFAULT_ENDPOINT, FACTORY_KEY, PropertyService, PropertyStore, Settings};
use zorb_service::{Failure, Signals, is_ready, notify, write_whole};

/// How often idle iterators are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// A CORBA property service: CosPropertyService, durable
#[derive(Debug, Parser)]
#[command(name = "zorb-properties", version, after_help = AFTER_HELP)]
struct Options {
    /// The folder of the sets, made if it is missing; without it they are lost when the program ends
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen; may be repeated
    #[arg(long, value_name = "ENDPOINT", default_value = DEFAULT_ENDPOINT)]
    listen: Vec<String>,
    /// Write the reference of the factory of sets to a file
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
    /// Sets that there may be
    #[arg(long, value_name = "N", default_value_t = Settings::MAX_SETS)]
    max_sets: usize,
}

const AFTER_HELP: &str = "\
Clients find the factories at corbaloc::HOST:11171/PropertySetFactory and corbaloc::HOST:11171/PropertySetDefFactory.
The -ORB… options are taken, too: -ORBListenEndpoints, -ORBEndPointPublish, ….

Examples:
  zorb-properties --data /var/lib/zorb-properties

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
            let opened = tokio::task::spawn_blocking(move || PropertyStore::open(&folder)).await;
            (opened.map_err(std::io::Error::other)??, kept)
        }
        None => {
            let kept = "in memory: its sets are lost when it ends (--data keeps them)";
            (PropertyStore::in_memory()?, kept.to_owned())
        }
    };
    let builder = options
        .listen
        .iter()
        .fold(builder, |builder, endpoint| builder.listen(endpoint));
    let orb = builder.build().await?;
    let mut settings = Settings::default();
    settings.max_sets = options.max_sets;
    let service = PropertyService::start(&orb, store, settings)?;
    if let Some(file) = &options.ior_file {
        let factory = orb.object_to_string(service.factory());
        write_whole(file, &format!("{factory}\n"))?;
    }
    let url = orb.corbaloc_url(FACTORY_KEY)?;
    is_ready::<Options>(&format!("{url} {kept}"));
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            () = signals.next() => break,
            _ = sweep.tick() => service.evict_idle_iterators(),
        }
    }
    notify("STOPPING=1");
    tokio::select! {
        () = end(&orb, &service) => {}
        () = signals.next() => {}
    }
    Ok(())
}

/// Ends in order: what was begun is done and answered, then the store is closed.
async fn end(orb: &Orb, service: &PropertyService) {
    // It fails in upcalls alone.
    let _ = orb.shutdown(true).await;
    service.close().await;
}
