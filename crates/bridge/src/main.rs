//! `zorb-bridge`: event channels and NATS JetStream, bridged.

#![forbid(unsafe_code)]

use clap::Parser;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::sync::oneshot;
use zorb::{Error, Orb};
use zorb_bridge::{Channel, Engine, EngineError, Payload, Push};
use zorb_service::access::{AccessError, AccessOptions};
use zorb_service::{Signals, notify, shown};

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

/// The exit statuses of failures, beside that of clap.
const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;
const NOT_LISTENING: u8 = 5;

/// A failure, and the exit status that it ends with.
struct Failure {
    status: u8,
    what: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::Transport(_) => NOT_LISTENING,
            Error::Option(_) => WRONG_USAGE,
            _ => FAILED,
        };
        let what = format!("{error:#}");
        Self { status, what }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let what = error.to_string();
        Self {
            status: FAILED,
            what,
        }
    }
}

fn main() -> ExitCode {
    // RUST_LOG says what is logged; unset, errors alone.
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    let mut arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    // Before clap parses the arguments, which would take -ORB… options for several short ones.
    let builder = Orb::builder().env().args(&mut arguments);
    let options = Options::parse_from(arguments);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(builder, &options)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { status, what }) => {
            let _ = writeln!(std::io::stderr(), "zorb-bridge: {what}");
            ExitCode::from(status)
        }
    }
}

async fn run(builder: zorb::Builder, options: &Options) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    if options.publish.is_some() && options.publish == options.subscribe {
        return Err(Failure {
            status: WRONG_USAGE,
            what: "--publish and --subscribe name the same subject".to_owned(),
        });
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
    let failure = |error: EngineError| Failure {
        status: match error {
            EngineError::Servers => WRONG_USAGE,
            EngineError::Access(AccessError::Refused { .. }) | EngineError::Connect(_) => FAILED,
            _ => WRONG_USAGE,
        },
        what: shown(&error),
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
            let mut out = std::io::stdout();
            let (channel, stream) = (&options.channel, &options.stream);
            // Whoever has started it may read no more.
            let _ = writeln!(out, "zorb-bridge is ready: {channel} and {stream}")
                .and_then(|()| out.flush());
            notify("READY=1");
        }
        core::future::pending::<()>().await;
    };
    tokio::select! {
        done = out => Ok(done?),
        () = into => Ok(()),
        () = ready => Ok(()),
    }
}
