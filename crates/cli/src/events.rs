//! `zorb events`: what an event channel delivers, as lines of JSON, and lines of JSON as events.

use crate::argument::Argument;
use crate::orb::{Environment, duration, shut_down};
use crate::paint::Clean;
use crate::why;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;
use zorb::{Any, Builder, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_events::cos_event_channel_admin::EventChannelRef;
use zorb_events::cos_event_comm::pull_supplier::PullError;
use zorb_events::etcl::Constraint;

/// The URL of the channel by default.
const DEFAULT: &str = "corbaloc::localhost:11169/EventChannel";
/// How long a pull waits for an event before the next one does.
const PULL_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Follow an event channel, or push events to it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EventsOptions {
    /// The channel: an object URL or a file with one
    #[arg(
        short = 'c',
        long,
        global = true,
        value_name = "URL",
        env = "ZORB_EVENTCHANNEL",
        default_value = DEFAULT
    )]
    channel: String,
    /// Time limit of a call: 500ms, 5s, 2m
    #[arg(short = 'W', long, global = true, default_value = "10s", value_parser = duration, value_name = "TIME")]
    timeout: Duration,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print each event as a line of JSON, until interrupted
    Tail {
        /// Print the events that meet a constraint in extended TCL: "$.level == 'high' and $.count > 3"
        #[arg(short, long, value_name = "CONSTRAINT")]
        filter: Option<Constraint>,
        /// Events to print; all unless given
        #[arg(short = 'n', long, value_name = "N")]
        count: Option<u64>,
        /// Print the values alone, without their types
        #[arg(short, long)]
        values: bool,
    },
    /// Push events: arguments, or else the lines of standard input, each JSON
    Push {
        /// A value, or an event as `tail` prints it, with its type
        #[arg(value_name = "JSON")]
        events: Vec<String>,
    },
}

const EXAMPLES: &str = "\
Text, a number, TRUE or FALSE are events of type string, long (long long, double) or boolean; an event of another type has its
type beside it, as tail prints it: what tail prints of one channel, push takes for another.

Examples:
  zorb events tail
  zorb events tail --filter \"$ ~ 'alarm'\" -n 10
  zorb events -c corbaname::names#plant/events/EventChannel push '\"pump 3 is hot\"' 42
  zorb events -c corbaloc::old:11169/orders tail | zorb events -c corbaloc::new:11169/orders push

Exit status: 0, or 1 with the cause on standard error.";

/// Why a command failed.
enum Failure {
    Io(std::io::Error),
    Said {
        what: String,
        hint: Option<&'static str>,
    },
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        Self::Said {
            what: format!("{exception:#}"),
            hint: why::hint(&exception),
        }
    }
}

impl From<zorb::Error> for Failure {
    fn from(error: zorb::Error) -> Self {
        match error {
            zorb::Error::System(exception) => exception.into(),
            error => said(format!("{error:#}")),
        }
    }
}

fn said(what: impl Into<String>) -> Failure {
    Failure::Said {
        what: what.into(),
        hint: None,
    }
}

/// The exception or its reason; what a channel may raise is that it is not connected.
fn refused<E: std::fmt::Display>(error: E) -> Failure {
    said(format!("{error:#}"))
}

pub(crate) async fn run(
    options: &EventsOptions,
    builder: Builder,
    environment: &Environment,
) -> std::io::Result<ExitCode> {
    match call(options, builder, environment).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Failure::Io(error)) => Err(error),
        Err(Failure::Said { what, hint }) => {
            let mut err = anstream::stderr();
            let (bad, pale) = (environment.paint.bad, environment.paint.pale);
            writeln!(err, "{bad}zorb events:{bad:#} {}", Clean(what))?;
            if let Some(hint) = hint {
                writeln!(err, "             {pale}{}{pale:#}", Clean(hint))?;
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn call(
    options: &EventsOptions,
    builder: Builder,
    environment: &Environment,
) -> Result<(), Failure> {
    let url = Argument::url(&options.channel)
        .map_err(|why| said(format!("argument --channel (or ZORB_EVENTCHANNEL): {why}")))?;
    let orb = environment.orb(builder, options.timeout).build().await?;
    let done = on_channel(options, &orb, &url).await;
    shut_down(&orb).await;
    done
}

async fn on_channel(options: &EventsOptions, orb: &Orb, url: &str) -> Result<(), Failure> {
    let object = orb.string_to_object(url).await?;
    let channel: Option<EventChannelRef> = object.narrow().await?;
    let channel = channel.ok_or_else(|| said("the object is no event channel"))?;
    match &options.command {
        Command::Tail {
            filter,
            count,
            values,
        } => tail(&channel, filter.as_ref(), *count, *values).await,
        Command::Push { events } => push(&channel, events).await,
    }
}

async fn tail(
    channel: &EventChannelRef,
    filter: Option<&Constraint>,
    count: Option<u64>,
    values: bool,
) -> Result<(), Failure> {
    let nil = || said("the channel has no proxy for a consumer");
    let admin = channel.for_consumers().await?.ok_or_else(nil)?;
    let proxy = admin.obtain_pull_supplier().await?.ok_or_else(nil)?;
    proxy.connect_pull_consumer(None).await.map_err(refused)?;
    let patient = proxy.with_round_trip_timeout(PULL_TIMEOUT);
    let mut printed: u64 = 0;
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let done = loop {
        if count.is_some_and(|count| printed >= count) {
            break Ok(());
        }
        let event = tokio::select! {
            event = patient.pull() => event,
            _ = &mut interrupt => break Ok(()),
        };
        let event = match event {
            Ok(event) => event,
            Err(PullError::Disconnected(_)) => return Ok(()),
            Err(PullError::System(exception)) => match exception.kind {
                SystemExceptionKind::Timeout => continue,
                // The channel was destroyed.
                SystemExceptionKind::ObjectNotExist => return Ok(()),
                _ => break Err(exception.into()),
            },
            Err(error) => break Err(refused(error)),
        };
        if filter.is_some_and(|filter| !filter.matches(&event)) {
            continue;
        }
        printed = printed.saturating_add(1);
        if let Err(error) = print(&event, values) {
            break Err(error);
        }
    };
    // Else the channel would keep events for it.
    let _ = proxy.disconnect_pull_supplier().await;
    done
}

fn print(event: &Any, values: bool) -> Result<(), Failure> {
    let json = serde_json::to_value(event).map_err(refused)?;
    let shown = match values {
        true => &json["value"],
        false => &json,
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{shown}")?;
    Ok(out.flush()?)
}

async fn push(channel: &EventChannelRef, events: &[String]) -> Result<(), Failure> {
    let nil = || said("the channel has no proxy for a supplier");
    let admin = channel.for_suppliers().await?.ok_or_else(nil)?;
    let proxy = admin.obtain_push_consumer().await?.ok_or_else(nil)?;
    proxy.connect_push_supplier(None).await.map_err(refused)?;
    let pushed = async {
        for text in events {
            proxy.push(&event(text)?).await.map_err(refused)?;
        }
        if events.is_empty() {
            for line in std::io::stdin().lock().lines() {
                let line = line?;
                if !line.trim().is_empty() {
                    proxy.push(&event(&line)?).await.map_err(refused)?;
                }
            }
        }
        Ok(())
    };
    let pushed = pushed.await;
    let _ = proxy.disconnect_push_consumer().await;
    pushed
}

/// The event of a line of JSON.
fn event(text: &str) -> Result<Any, Failure> {
    let wrong = |why: String| said(format!("{}: {why}", text.trim()));
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let any = match &json {
        serde_json::Value::String(text) => Any::new(text),
        serde_json::Value::Bool(truth) => Any::new(truth),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(whole) => match i32::try_from(whole) {
                Ok(whole) => Any::new(&whole),
                Err(_) => Any::new(&whole),
            },
            None => Any::new(&number.as_f64().unwrap_or(f64::NAN)),
        },
        _ => return serde_json::from_str(text).map_err(|error| wrong(error.to_string())),
    };
    any.map_err(|error| wrong(error.to_string()))
}
