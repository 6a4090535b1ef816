//! The ORB of commands that call objects, its trace, and the replies that it receives.

use crate::paint::Paint;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use zorb::{Builder, Orb};
use zorb_giop::Ior;
use zorb_giop::ior::{IiopProfile, ProfileTag, UiopProfile};
use zorb_giop::security::Protected;

/// Octets of each message that `--trace=payload` shows.
const PAYLOAD: usize = 4096;

/// The time for peers to read CloseConnection at the end of the program.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// The level of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Trace {
    /// Every GIOP message, with its headers decoded.
    Headers,
    /// The first 4096 octets of every message, too.
    Payload,
}

/// Options of all commands that call objects.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) paint: Paint,
    pub(crate) trace: Option<Trace>,
    pub(crate) replies: RecordedReplies,
}

impl Environment {
    /// Installs the subscriber for the ORB's events. `records_replies`: whether replies are recorded. Only a command that takes them
    /// needs them; for any other, they would accumulate.
    pub(crate) fn new(paint: Paint, trace: Option<Trace>, records_replies: bool) -> Self {
        let replies = RecordedReplies::default();
        // Colours depend on whether standard error is a terminal, as the trace goes there.
        let colors = anstream::AutoStream::choice(&std::io::stderr());
        let shown = trace.map(|_| {
            tracing_subscriber::fmt::layer()
                .compact()
                .with_ansi(colors != anstream::ColorChoice::Never)
                .with_writer(std::io::stderr)
                .without_time()
        });
        // Messages, and warnings of every part of the ORB.
        let targets = Targets::new()
            .with_target("zorb", tracing::Level::WARN)
            .with_target("zorb::giop", tracing::Level::TRACE);
        tracing_subscriber::registry()
            .with(targets)
            .with(records_replies.then(|| replies.clone()))
            .with(shown)
            .init();
        Self {
            paint,
            trace,
            replies,
        }
    }

    /// The builder of an ORB whose connects and calls time out after `timeout`. The user's `-ORB…` options, which `builder` has
    /// taken, have precedence.
    pub(crate) fn orb(&self, builder: Builder, timeout: Duration) -> Builder {
        let builder = builder.connect_timeout(timeout).round_trip_timeout(timeout);
        match self.trace {
            Some(Trace::Payload) => builder.trace_payload(PAYLOAD),
            _ => builder,
        }
    }
}

/// The certificates with which a command calls objects over TLS.
#[derive(Debug, clap::Args)]
pub(crate) struct Certificates {
    /// Trust the authorities whose certificates (PEM) are in this file, and connect by TLS where the reference says so
    #[arg(long, global = true, value_name = "FILE")]
    tls: Option<String>,
    /// The certificate and key (PEM) of this client, for servers that ask for one
    #[arg(long, global = true, value_name = "FILE")]
    certificate: Option<String>,
}

impl Certificates {
    /// The builder of an ORB with the certificates.
    pub(crate) fn of(&self, mut builder: Builder) -> Builder {
        for (property, file) in [("trust", &self.tls), ("certificate", &self.certificate)] {
            if let Some(file) = file {
                builder = builder.transport_property(format!("ssliop.{property}={file}"));
            }
        }
        builder
    }
}

/// Shuts the ORB down before the program ends, so that its peers get CloseConnection, and the trace shows how each
/// connection ended. It does not wait for peers that have stopped reading.
pub(crate) async fn shut_down(orb: &Orb) {
    // A timeout does not fail the command; shutdown fails in upcalls only.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, orb.shutdown(true)).await;
}

/// A reply, as its trace event shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    message: String,
    /// The endpoint that answered.
    pub(crate) peer: String,
    /// The reference of a forward, if the reply is one.
    pub(crate) forward: Option<String>,
}

impl Visit for Answer {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let to = match field.name() {
            "message" => &mut self.message,
            "peer" => &mut self.peer,
            "forward" => self.forward.get_or_insert_default(),
            _ => return,
        };
        *to = format!("{value:?}");
    }
}

/// The replies received since the last [`take`](Self::take). A call itself does not return which server answered it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedReplies(Arc<Mutex<Vec<Answer>>>);

impl RecordedReplies {
    /// Removes and returns the recorded replies.
    pub(crate) fn take(&self) -> Vec<Answer> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Subscriber> Layer<S> for RecordedReplies {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != "zorb::giop" {
            return;
        }
        let mut answer = Answer::default();
        event.record(&mut answer);
        if matches!(
            answer.message.as_str(),
            "received Reply" | "received LocateReply"
        ) {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(answer);
        }
    }
}

/// The address of a profile of IIOP, or the first one for TLS.
fn iiop(profile: &IiopProfile) -> Vec<String> {
    let address = &profile.address;
    let protected = Protected::of(&profile.components).addresses;
    match protected.into_iter().next() {
        Some((host, port)) => {
            let host = host.unwrap_or_else(|| address.host.clone());
            vec![format!("ssliop://{}", crate::ior::host_port(&host, port))]
        }
        None => {
            let host_port = crate::ior::host_port(&address.host, address.port);
            vec![format!("iiop://{host_port}")]
        }
    }
}

/// The first address of each profile of a reference, as text.
pub(crate) fn endpoints_text(ior: &Ior) -> String {
    let endpoints: Vec<String> = ior
        .profiles
        .iter()
        .flat_map(|profile| match profile.tag {
            ProfileTag::INTERNET_IOP => {
                IiopProfile::from_tagged(profile).map_or_else(|_| Vec::new(), |of| iiop(&of))
            }
            ProfileTag::UIOP => {
                let body = UiopProfile::from_tagged(profile).ok();
                (body.into_iter())
                    .map(|body| format!("uiop://{}", body.address.path))
                    .collect()
            }
            _ => Vec::new(),
        })
        .collect();
    if endpoints.is_empty() {
        "nowhere that zorb has a transport for".to_owned()
    } else {
        endpoints.join(", ")
    }
}

/// Parses a time: `500ms`, `5s`, `2m`, or a number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let seconds = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        _ => return Err(format!("expected a unit of ms, s or m, found {unit:?}")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("expected a number, found {number:?}"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, millis) in [("5", 5000), ("5s", 5000), ("250ms", 250), ("0.5m", 30_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "1h", "1.2.3s", "-1s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
