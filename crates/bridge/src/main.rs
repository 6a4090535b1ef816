//! `zorb-bridge`: event channels and NATS JetStream, bridged.

#![forbid(unsafe_code)]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::sync::oneshot;
use zorb::Orb;
use zorb_bridge::{Channel, Engine, EngineError, Payload, Push};
use zorb_service::access::AccessOptions;
use zorb_service::{ExitStatus, Failure, Signals, is_ready, notify, shown};

/// Bridge an event channel and subjects of NATS JetStream, each way at least once
#[derive(Debug, Parser)]
#[command(name = "zorb-bridge", version, after_help = AFTER_HELP)]
#[command(group = clap::ArgGroup::new("ways").args(["publish", "subscribe"]).required(true).multiple(true))]
struct Options {
    /// The channel: an object URL
    #[arg(
        long,
        value_name = "URL",
        default_value = "corbaloc::localhost:11169/EventChannel"
    )]
    channel: String,
    /// Servers of NATS: HOST:PORT,HOST:PORT
    #[arg(long, value_name = "SERVERS", default_value = "localhost:4222")]
    nats: String,
    /// The stream of the subjects, made if it is missing
    #[arg(long, value_name = "STREAM")]
    stream: String,
    #[command(flatten)]
    access: AccessOptions,
    /// Publish each event of the channel on a subject
    #[arg(long, value_name = "SUBJECT")]
    publish: Option<String>,
    /// Push each message of a subject to the channel
    #[arg(long, value_name = "SUBJECT")]
    subscribe: Option<String>,
    /// The form of messages: json or cdr
    #[arg(long, value_name = "FORM", default_value = "json")]
    payload: Payload,
    /// Push messages as structured events, whose header says which message they are and whether they come again; for channels of CosNotification
    #[arg(long, requires = "subscribe")]
    structured: bool,
    /// The name of this bridge, which is that of its consumer of the stream
    #[arg(long, value_name = "NAME", default_value = "zorb-bridge")]
    name: String,
    /// The folder of what the next run goes on with, made if it is missing; without it events are missed while the bridge is away
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where the channel pushes events to; the next run has to listen there, too
    #[arg(
        long,
        value_name = "ENDPOINT",
        default_value = "iiop://127.0.0.1:11170"
    )]
    listen: String,
}

const AFTER_HELP: &str = "\
Examples:
  zorb-bridge --stream plant --publish plant.events --data bridge
  zorb-bridge --nats n1:4222,n2:4222,n3:4222 --stream plant --subscribe plant.commands

A line on standard output says that it is ready. SIGTERM and SIGINT end it.

Exit status: 0 when it was ended by a signal; 2 for wrong usage; 5 if it cannot listen; 1 for anything else.";

fn main() -> ExitCode {
    zorb_service::run(async |builder, options| serve(builder, &options).await)
}

async fn serve(builder: zorb::Builder, options: &Options) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    if options.publish.is_some() && options.publish == options.subscribe {
        let what = "--publish and --subscribe name the same subject";
        return Err(Failure::new(ExitStatus::WrongUsage, what));
    }
    if let Some(folder) = &options.data {
        std::fs::create_dir_all(folder)?;
    }
    let orb = builder.listen(&options.listen).build().await?;
    let bridged = tokio::select! {
        bridged = bridge(&orb, options) => bridged,
        () = signals.next() => Ok(()),
    };
    notify("STOPPING=1");
    // A push that is under way ends first.
    tokio::select! {
        _ = orb.shutdown(true) => {}
        () = signals.next() => {}
    }
    bridged
}

/// Bridges both ways; ends with a failure alone.
async fn bridge(orb: &Orb, options: &Options) -> Result<(), Failure> {
    let subjects: Vec<&str> = [&options.publish, &options.subscribe]
        .into_iter()
        .filter_map(Option::as_deref)
        .collect();
    let failure = |error: EngineError| {
        let status = match &error {
            EngineError::Access(error) => error.exit_status(),
            EngineError::Connect(_) => ExitStatus::Failed,
            _ => ExitStatus::WrongUsage,
        };
        Failure::new(status, shown(&error))
    };
    let access = options.access.read();
    let access = access.map_err(|error| failure(error.into()))?;
    let (servers, stream) = (&options.nats, &options.stream);
    let engine = Engine::connect(servers, stream, &subjects, &options.name, &access).await;
    let engine = engine.map_err(failure)?;
    let channel = Channel {
        url: options.channel.clone(),
        folder: options.data.clone(),
    };
    let (published, is_publishing) = oneshot::channel();
    let (subscribed, is_subscribed) = oneshot::channel();
    let out = async {
        match &options.publish {
            Some(subject) => {
                let engine = engine.clone();
                zorb_bridge::publish(orb, &channel, engine, subject, options.payload, published)
                    .await
                    .map(|never| match never {})
            }
            None => {
                let _ = published.send(());
                core::future::pending().await
            }
        }
    };
    let push = match options.structured {
        true => Push::Structured,
        false => Push::Any,
    };
    let into = async {
        match &options.subscribe {
            Some(subject) => {
                let engine = engine.clone();
                let never = zorb_bridge::subscribe(
                    orb,
                    &channel,
                    engine,
                    subject,
                    (options.payload, push),
                    subscribed,
                );
                match never.await {}
            }
            None => {
                let _ = subscribed.send(());
                core::future::pending().await
            }
        }
    };
    let ready = async {
        if is_publishing.await.is_ok() && is_subscribed.await.is_ok() {
            let (channel, stream) = (&options.channel, &options.stream);
            is_ready::<Options>(&format!("{channel} and {stream}"));
        }
        core::future::pending::<()>().await;
    };
    tokio::select! {
        done = out => Ok(done?),
        () = into => Ok(()),
        () = ready => Ok(()),
    }
}
