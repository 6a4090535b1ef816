//! `zorb events`: what an event channel delivers, as lines of JSON, and lines of JSON as events.

use crate::argument::Argument;
use crate::orb::{Certificates, Environment, duration, shut_down};
use crate::paint::Clean;
use crate::why;
use serde_json::{Value as Json, json};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;
use zorb::{Any, Builder, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_events::cos_event_channel_admin::{
    EventChannelRef, ProxyPullSupplierRef, ProxyPushConsumerRef,
};
use zorb_events::cos_event_comm::pull_supplier::PullError;
use zorb_events::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use zorb_events::cos_notify_channel_admin::{
    ClientType, EventChannelRef as NotificationChannelRef, StructuredProxyPullSupplierRef,
    StructuredProxyPushConsumerRef,
};
use zorb_events::cos_notify_comm::structured_pull_supplier::PullStructuredEventError;
use zorb_events::cos_notify_filter::{ConstraintExp, FilterRef};
use zorb_events::etcl::{Constraint, ConstraintError};

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
    #[command(flatten)]
    certificates: Certificates,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print each event as a line of JSON, until interrupted
    Tail {
        /// Print the events that meet a constraint in extended TCL: "$.level == 'high' and $.count > 3"
        #[arg(short, long, value_name = "CONSTRAINT")]
        filter: Option<Filter>,
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
Text in quotes, a number, true or false are events of type string, long (long long, double) or boolean; an event of another type has its
type beside it, as tail prints it: what tail prints of one channel, push takes for another. A structured event is
{\"event\": {\"domain\": …, \"type\": …, \"name\": …}, \"header\": {…}, \"data\": {…}, \"body\": …}; what is empty may be left out.
Where the channel is one of CosNotification it filters what tail prints.

Examples:
  zorb events tail
  zorb events tail --filter \"$ ~ 'alarm'\" -n 10
  zorb events -c corbaname::names#plant/events/EventChannel push '\"pump 3 is hot\"' 42
  zorb events push '{\"event\": {\"type\": \"Alarm\"}, \"data\": {\"severity\": 3}}'
  zorb events tail --filter \"$type_name == 'Alarm' and $severity > 2\"
  zorb events -c corbaloc::old:11169/orders tail | zorb events -c corbaloc::new:11169/orders push

Exit status: 0, or 1 with the cause on standard error.";

/// A constraint, and its text.
#[derive(Clone, Debug)]
struct Filter {
    text: String,
    constraint: Constraint,
}

impl std::str::FromStr for Filter {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        Ok(Self {
            constraint: text.parse()?,
            text: text.to_owned(),
        })
    }
}

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

impl Failure {
    /// The failure with where its event stands, and how many were pushed before it.
    fn at(self, place: &str, number: usize, pushed: usize) -> Self {
        match self {
            Self::Said { what, hint } => Self::Said {
                what: format!("{place} {number}: {what} (events pushed before it: {pushed})"),
                hint,
            },
            io @ Self::Io(_) => io,
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
    let builder = options.certificates.of(builder);
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

/// What a consumer pulls events from.
enum Source {
    Plain(ProxyPullSupplierRef),
    /// With the filter that was made for it.
    Structured(StructuredProxyPullSupplierRef, Option<FilterRef>),
}

/// An event as it was pulled.
enum Pulled {
    Any(Any),
    Structured(StructuredEvent),
    /// None within the time of a call.
    None,
    /// The channel was destroyed.
    Over,
}

impl Source {
    /// A proxy of a channel. One of CosNotification filters events itself.
    async fn of(channel: &EventChannelRef, filter: Option<&Filter>) -> Result<Self, Failure> {
        let nil = || said("the channel has no proxy for a consumer");
        let notification: Option<NotificationChannelRef> = channel.as_object().narrow().await?;
        let Some(channel) = notification else {
            let admin = channel.for_consumers().await?.ok_or_else(nil)?;
            let proxy = admin.obtain_pull_supplier().await?.ok_or_else(nil)?;
            proxy.connect_pull_consumer(None).await.map_err(refused)?;
            return Ok(Self::Plain(proxy));
        };
        let admin = channel.default_consumer_admin().await?.ok_or_else(nil)?;
        let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
        let (proxy, _) = obtained.await.map_err(refused)?;
        let proxy = proxy.ok_or_else(nil)?;
        let proxy: StructuredProxyPullSupplierRef = proxy.as_object().unchecked_narrow();
        let mut used = None;
        if let Some(filter) = filter {
            let factory = channel.default_filter_factory().await?.ok_or_else(nil)?;
            let made = factory.create_filter("EXTENDED_TCL").await;
            let made = made.map_err(refused)?.ok_or_else(nil)?;
            let constraint = ConstraintExp {
                event_types: Vec::new(),
                constraint_expr: filter.text.clone(),
            };
            let added = made.add_constraints(&[constraint]).await;
            added.map_err(refused)?;
            proxy.add_filter(&made).await?;
            used = Some(made);
        }
        let connected = proxy.connect_structured_pull_consumer(None).await;
        connected.map_err(refused)?;
        Ok(Self::Structured(proxy, used))
    }

    async fn pull(&self) -> Result<Pulled, Failure> {
        let exception = match self {
            Self::Plain(proxy) => {
                let proxy = proxy.with_round_trip_timeout(PULL_TIMEOUT);
                match proxy.pull().await {
                    Ok(event) => return Ok(Pulled::Any(event)),
                    Err(PullError::Disconnected(_)) => return Ok(Pulled::Over),
                    Err(PullError::System(exception)) => exception,
                    Err(error) => return Err(refused(error)),
                }
            }
            Self::Structured(proxy, _) => {
                let proxy = proxy.with_round_trip_timeout(PULL_TIMEOUT);
                match proxy.pull_structured_event().await {
                    Ok(event) if is_any(&event) => {
                        return Ok(Pulled::Any(event.remainder_of_body));
                    }
                    Ok(event) => return Ok(Pulled::Structured(event)),
                    Err(PullStructuredEventError::Disconnected(_)) => return Ok(Pulled::Over),
                    Err(PullStructuredEventError::System(exception)) => exception,
                    Err(error) => return Err(refused(error)),
                }
            }
        };
        match exception.kind {
            SystemExceptionKind::Timeout => Ok(Pulled::None),
            SystemExceptionKind::ObjectNotExist => Ok(Pulled::Over),
            _ => Err(exception.into()),
        }
    }

    /// Else the channel would keep events for it.
    async fn leave(&self) {
        let _ = match self {
            Self::Plain(proxy) => proxy.disconnect_pull_supplier().await,
            Self::Structured(proxy, filter) => {
                let left = proxy.disconnect_structured_pull_supplier().await;
                if let Some(filter) = filter {
                    let _ = filter.destroy().await;
                }
                left
            }
        };
    }
}

/// Whether a structured event is what a channel has made of an any.
fn is_any(event: &StructuredEvent) -> bool {
    let header = &event.header.fixed_header;
    header.event_type.type_name == "%ANY" && header.event_type.domain_name.is_empty()
}

async fn tail(
    channel: &EventChannelRef,
    filter: Option<&Filter>,
    count: Option<u64>,
    values: bool,
) -> Result<(), Failure> {
    let source = Source::of(channel, filter).await?;
    let mut printed: u64 = 0;
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let done = loop {
        if count.is_some_and(|count| printed >= count) {
            break Ok(());
        }
        let event = tokio::select! {
            event = source.pull() => event,
            _ = &mut interrupt => break Ok(()),
        };
        let shown = match event {
            Ok(Pulled::Any(event)) => {
                // A channel of CosNotification has filtered it.
                let is_met = |filter: &Filter| filter.constraint.matches(&event);
                if matches!(source, Source::Plain(_)) && !filter.is_none_or(is_met) {
                    continue;
                }
                json_of_any(&event, values)
            }
            Ok(Pulled::Structured(event)) => json_of_structured(&event, values),
            Ok(Pulled::None) => continue,
            Ok(Pulled::Over) => return Ok(()),
            Err(error) => break Err(error),
        };
        printed = printed.saturating_add(1);
        let written = shown.and_then(|shown| {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{shown}")?;
            Ok(out.flush()?)
        });
        if let Err(error) = written {
            break Err(error);
        }
    };
    source.leave().await;
    done
}

fn json_of_any(event: &Any, values: bool) -> Result<Json, Failure> {
    let mut json = serde_json::to_value(event).map_err(refused)?;
    Ok(match values {
        true => json["value"].take(),
        false => json,
    })
}

fn json_of_structured(event: &StructuredEvent, values: bool) -> Result<Json, Failure> {
    let header = &event.header.fixed_header;
    let value = |name: &str, any: &Any| {
        let plain = json_of_any(any, true)?;
        // With its type where that cannot be told from it.
        match values || property_of_json(name, &plain).as_ref() == Ok(any) {
            true => Ok(plain),
            false => json_of_any(any, false),
        }
    };
    let object = |properties: &[Property]| {
        let members = properties.iter().map(|property| {
            Ok((
                property.name.clone(),
                value(&property.name, &property.value)?,
            ))
        });
        members.collect::<Result<serde_json::Map<_, _>, Failure>>()
    };
    let mut json = json!({
        "event": {
            "domain": header.event_type.domain_name,
            "type": header.event_type.type_name,
            "name": header.event_name,
        },
        "header": object(&event.header.variable_header)?,
        "data": object(&event.filterable_data)?,
    });
    if event.remainder_of_body != Any::default() {
        json["body"] = value("", &event.remainder_of_body)?;
    }
    Ok(json)
}

/// What a supplier pushes events to. The proxy of structured events is made when there is one.
struct Sink<'a> {
    channel: &'a EventChannelRef,
    plain: ProxyPushConsumerRef,
    structured: Option<StructuredProxyPushConsumerRef>,
}

impl Sink<'_> {
    async fn push(&mut self, text: &str) -> Result<(), Failure> {
        match event(text)? {
            Sent::Any(any) => self.plain.push(&any).await.map_err(refused),
            Sent::Structured(event) => {
                if self.structured.is_none() {
                    self.structured = Some(structured_proxy(self.channel).await?);
                }
                match &self.structured {
                    Some(proxy) => proxy.push_structured_event(&event).await.map_err(refused),
                    None => Ok(()),
                }
            }
        }
    }
}

async fn structured_proxy(
    channel: &EventChannelRef,
) -> Result<StructuredProxyPushConsumerRef, Failure> {
    let nil = || said("the channel has no proxy for a supplier of structured events");
    let channel: Option<NotificationChannelRef> = channel.as_object().narrow().await?;
    let channel = channel.ok_or_else(nil)?;
    let admin = channel.default_supplier_admin().await?.ok_or_else(nil)?;
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let (proxy, _) = obtained.await.map_err(refused)?;
    let proxy = proxy.ok_or_else(nil)?;
    let proxy: StructuredProxyPushConsumerRef = proxy.as_object().unchecked_narrow();
    let connected = proxy.connect_structured_push_supplier(None).await;
    connected.map_err(refused)?;
    Ok(proxy)
}

async fn push(channel: &EventChannelRef, events: &[String]) -> Result<(), Failure> {
    let nil = || said("the channel has no proxy for a supplier");
    let admin = channel.for_suppliers().await?.ok_or_else(nil)?;
    let proxy = admin.obtain_push_consumer().await?.ok_or_else(nil)?;
    proxy.connect_push_supplier(None).await.map_err(refused)?;
    let mut sink = Sink {
        channel,
        plain: proxy,
        structured: None,
    };
    let pushed = async {
        if let [text] = events {
            return sink.push(text).await;
        }
        let mut pushed: usize = 0;
        for (text, number) in events.iter().zip(1..) {
            let done = sink.push(text).await;
            done.map_err(|failure| failure.at("argument", number, pushed))?;
            pushed = pushed.saturating_add(1);
        }
        if events.is_empty() {
            for (line, number) in std::io::stdin().lock().lines().zip(1..) {
                let line = line?;
                if !line.trim().is_empty() {
                    let done = sink.push(&line).await;
                    done.map_err(|failure| failure.at("line", number, pushed))?;
                    pushed = pushed.saturating_add(1);
                }
            }
        }
        Ok(())
    };
    let pushed = pushed.await;
    let _ = sink.plain.disconnect_push_consumer().await;
    if let Some(proxy) = &sink.structured {
        let _ = proxy.disconnect_structured_push_consumer().await;
    }
    pushed
}

/// An event that is pushed.
enum Sent {
    Any(Any),
    Structured(StructuredEvent),
}

/// The event of a line of JSON.
fn event(text: &str) -> Result<Sent, Failure> {
    let text = text.trim();
    let wrong = |why: String| said(format!("{text}: {why}"));
    let json: Json =
        serde_json::from_str(text).map_err(|error| match text.starts_with(['{', '[', '"']) {
            true => wrong(error.to_string()),
            false => Failure::Said {
                what: format!("expected JSON, found {text}"),
                hint: Some(
                    "text stands in quotes, \"pump 3 is hot\", and in a shell in two of them: '\"pump 3 is hot\"'",
                ),
            },
        })?;
    let known = ["type", "value"];
    let other = (json.as_object()).and_then(|members| {
        let mut names = members.keys().map(String::as_str);
        names.find(|name| !known.contains(name))
    });
    match json.get("event") {
        Some(_) => structured_of_json(&json)
            .map(Sent::Structured)
            .map_err(wrong),
        None if other.is_some() => Err(wrong(format!(
            "an event has \"type\" and \"value\", or \"event\" if it is structured, and no \"{}\"",
            other.unwrap_or_default()
        ))),
        // As it was written: a number of many digits would not be the same.
        None if json.is_object() => serde_json::from_str(text)
            .map(Sent::Any)
            .map_err(|error| wrong(error.to_string())),
        None => any_of_json(&json).map(Sent::Any).map_err(wrong),
    }
}

/// The value of JSON: one with its type beside it, or text, a number or a truth value.
fn any_of_json(json: &Json) -> Result<Any, String> {
    let any = match json {
        Json::String(text) => Any::new(text),
        Json::Bool(truth) => Any::new(truth),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => match i32::try_from(whole) {
                Ok(whole) => Any::new(&whole),
                Err(_) => Any::new(&whole),
            },
            None => Any::new(&number.as_f64().unwrap_or(f64::NAN)),
        },
        other => {
            return serde_json::from_value(other.clone()).map_err(|error| error.to_string());
        }
    };
    any.map_err(|error| error.to_string())
}

/// The value of a property. Those of CosNotification have their types.
fn property_of_json(name: &str, json: &Json) -> Result<Any, String> {
    let any = match name {
        "Priority" | "EventReliability" => {
            let short = json.as_i64().and_then(|number| i16::try_from(number).ok());
            short.map(|short| Any::new(&short))
        }
        "Timeout" => json.as_u64().map(|time| Any::new(&time)),
        _ => None,
    };
    match any {
        Some(any) => any.map_err(|error| error.to_string()),
        None => any_of_json(json),
    }
}

fn structured_of_json(json: &Json) -> Result<StructuredEvent, String> {
    let object = json.as_object().ok_or("expected an object")?;
    let known = ["event", "header", "data", "body"];
    if let Some(other) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("a structured event has no \"{other}\""));
    }
    let text = |name: &str| match json["event"].get(name) {
        None => Ok(String::new()),
        Some(Json::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("expected text as \"{name}\"")),
    };
    let properties = |part: &str| match json.get(part) {
        None => Ok(Vec::new()),
        Some(Json::Object(members)) => members
            .iter()
            .map(|(name, value)| {
                let wrong = |why| format!("\"{name}\" of \"{part}\": {why}");
                Ok(Property {
                    name: name.clone(),
                    value: property_of_json(name, value).map_err(wrong)?,
                })
            })
            .collect::<Result<_, String>>(),
        Some(_) => Err(format!("expected an object as \"{part}\"")),
    };
    Ok(StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: EventType {
                    domain_name: text("domain")?,
                    type_name: text("type")?,
                },
                event_name: text("name")?,
            },
            variable_header: properties("header")?,
        },
        filterable_data: properties("data")?,
        remainder_of_body: match json.get("body") {
            Some(body) => any_of_json(body).map_err(|why| format!("\"body\": {why}"))?,
            None => Any::default(),
        },
    })
}
