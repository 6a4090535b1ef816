//! `zorb-events`: an event and notification service that keeps what it has accepted.

#![forbid(unsafe_code)]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use zorb::naming::{NamingClient, NamingError};
use zorb::{Interface, Orb};
use zorb_dynamic::IdlTypes;
use zorb_events::{
    CHANNEL_KEY, DEFAULT_ENDPOINT, EventService, EventStore, NOTIFICATION_KEY, SERVICE_KEY,
    Settings, TYPED_CHANNEL_KEY, TYPED_NOTIFICATION_KEY,
};
use zorb_ifr::ir::corba::RepositoryRef;
use zorb_service::{ExitStatus, Failure, Signals, is_ready, notify, write_whole};

/// How often proxies that clients have left behind are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// A CORBA event service: channels of CosEvent and CosNotification, durable on request
#[derive(Debug, Parser)]
#[command(name = "zorb-events", version, after_help = AFTER_HELP)]
struct Options {
    /// The folder of events and connections, made if it is missing; without it they are lost when the program ends
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen; may be repeated
    #[arg(long, value_name = "ENDPOINT", default_value = DEFAULT_ENDPOINT)]
    listen: Vec<String>,
    /// Bind the factories and the channel in the naming service of -ORBInitRef, in this context
    #[arg(long, value_name = "NAME")]
    bind: Option<String>,
    /// Write the reference of the channel to a file
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
    /// A file of IDL with the interfaces of typed events; may be repeated
    #[arg(long, value_name = "FILE")]
    idl: Vec<PathBuf>,
    /// A folder in which included files of IDL are searched; may be repeated
    #[arg(long, value_name = "DIR", requires = "idl")]
    include: Vec<PathBuf>,
    /// An interface repository with the interfaces of typed events, read when the program starts: an object URL
    #[arg(long, value_name = "URL", conflicts_with = "idl")]
    repository: Option<String>,
    /// Events that wait for a consumer; beyond it the oldest is discarded
    #[arg(long, value_name = "N", default_value_t = Settings::MAX_EVENTS_PER_CONSUMER)]
    max_events: usize,
    /// Seconds after which a consumer that cannot be reached, or does not pull, is disconnected
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::UNREACHABLE_FOR.as_secs())]
    evict_after: u64,
}

const AFTER_HELP: &str = "\
Clients find the channel at corbaloc::HOST:11169/EventChannel, and a factory of more at corbaloc::HOST:11169/EventService; that
is also where omniEvents' tools look for it. That of CosNotification is at corbaloc::HOST:11169/NotificationService. For typed
events they are at TypedEventChannel and TypedNotificationService. The -ORB… options are taken, too: -ORBListenEndpoints, -ORBInitRef, ….

Examples:
  zorb-events
  zorb-events --data /var/lib/zorb-events --listen iiop://0.0.0.0:11169
  zorb-events --idl plant.idl
  zorb-events --bind events -ORBInitRef NameService=corbaloc::names:2809/NameService

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
            let opened = tokio::task::spawn_blocking(move || EventStore::open(&folder)).await;
            (Some(opened.map_err(std::io::Error::other)??), kept)
        }
        None => {
            let kept = "in memory: its events are lost when it ends (--data keeps them)";
            (None, kept.to_owned())
        }
    };
    let builder = options
        .listen
        .iter()
        .fold(builder, |builder, endpoint| builder.listen(endpoint));
    let orb = builder.build().await?;
    let mut settings = Settings::default();
    settings.types = types(&orb, options).await?;
    settings.max_events_per_consumer = options.max_events.max(1);
    settings.unreachable_for = Duration::from_secs(options.evict_after);
    let service = EventService::start(&orb, store, settings).await?;
    if let Some(name) = &options.bind {
        bind(&orb, &service, name).await?;
    }
    if let Some(file) = &options.ior_file {
        let channel = orb.object_to_string(service.channel());
        write_whole(file, &format!("{channel}\n"))?;
    }
    let url = orb.corbaloc_url(CHANNEL_KEY)?;
    is_ready::<Options>(&format!("{url} {kept}"));
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            () = signals.next() => break,
            _ = sweep.tick() => service.evict_idle_proxies(),
        }
    }
    notify("STOPPING=1");
    tokio::select! {
        () = end(&orb, &service) => {}
        () = signals.next() => {}
    }
    Ok(())
}

/// The interfaces of typed events.
async fn types(orb: &Orb, options: &Options) -> Result<Option<Arc<IdlTypes>>, Failure> {
    if let Some(url) = &options.repository {
        let failed = |error: &dyn core::fmt::Display| {
            let what = format!("the interface repository {url}: {error:#}");
            Failure::new(ExitStatus::Failed, what)
        };
        let repository: RepositoryRef = orb
            .string_to_object(url)
            .await
            .map_err(|error| failed(&error))?
            .unchecked_narrow();
        let read = zorb_ifr::read(&repository).await;
        return Ok(Some(Arc::new(read.map_err(|error| failed(&error))?)));
    }
    if options.idl.is_empty() {
        return Ok(None);
    }
    let (files, include) = (options.idl.clone(), options.include.clone());
    let read = tokio::task::spawn_blocking(move || {
        let mut reading = zorb_dynamic::zorb_idl::Options::default();
        reading.include_dirs = include;
        IdlTypes::from_files(&files, &reading).map_err(|error| error.to_string())
    });
    match read.await.map_err(std::io::Error::other)? {
        Ok(types) => Ok(Some(Arc::new(types))),
        Err(what) => Err(Failure::new(ExitStatus::WrongUsage, what)),
    }
}

/// Binds the objects of the service in a context of the naming service.
async fn bind(orb: &Orb, service: &EventService, name: &str) -> Result<(), Failure> {
    let failed = |error: NamingError| {
        let what = format!("the naming service does not bind the channel: {error:#}");
        Failure::new(ExitStatus::Failed, what)
    };
    let names = NamingClient::find(orb).await.map_err(failed)?;
    let name = name.trim_end_matches('/');
    let (typed_channel, typed_factory) = (service.typed_channel()?, service.typed_factory()?);
    for (key, object) in [
        (CHANNEL_KEY, service.channel().as_object()),
        (SERVICE_KEY, service.factory().as_object()),
        (NOTIFICATION_KEY, service.notification_factory().as_object()),
        (TYPED_CHANNEL_KEY, typed_channel.as_object()),
        (TYPED_NOTIFICATION_KEY, typed_factory.as_object()),
    ] {
        let bound = names.rebind(format!("{name}/{key}").as_str(), object).await;
        bound.map_err(failed)?;
    }
    Ok(())
}

/// Ends in order: what was begun is done and answered, then the store is closed.
async fn end(orb: &Orb, service: &EventService) {
    service.stop();
    // It fails in upcalls alone.
    let _ = orb.shutdown(true).await;
    service.close().await;
}
