//! Messaging protocols, and the ORBs that speak them.

use crate::figures::data::Point;
use crate::measure::dialogue::Pair;
use crate::measure::programs::{omniorb, ours};
use std::process::Command;

/// The encoding of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Messaging {
    /// GIOP of that minor version.
    Giop(u8),
    Lite,
}

/// Messages over a transport. The floor has no messages to speak of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Protocol {
    pub(super) messaging: Option<Messaging>,
    pub(super) unix: bool,
}

impl Protocol {
    /// Its name in the legend.
    pub(super) fn name(self) -> String {
        let transport = if self.unix { "UNIX" } else { "TCP" };
        match self.messaging {
            Some(Messaging::Giop(minor)) => format!("GIOP 1.{minor} over {transport}"),
            Some(Messaging::Lite) => format!("GIOPlite over {transport}"),
            None => transport.to_owned(),
        }
    }

    /// Whether its messages are those of the last version of GIOP, or none at all.
    pub(super) fn is_newest(self, among: &[Self]) -> bool {
        self.messaging.is_none() || self.minor() == newest(among)
    }

    const fn minor(self) -> Option<u8> {
        match self.messaging {
            Some(Messaging::Giop(minor)) => Some(minor),
            _ => None,
        }
    }
}

fn newest(among: &[Protocol]) -> Option<u8> {
    among.iter().filter_map(|protocol| protocol.minor()).max()
}

/// The series of the newest messages of GIOP over a transport among points, or the floor's.
pub(super) fn newest_series<'a>(
    points: impl Iterator<Item = &'a Point>,
    transport: &str,
) -> Option<String> {
    let of_it = points.filter(|point| {
        let series = point.series.as_str();
        series == transport || (series.starts_with("GIOP 1.") && series.ends_with(transport))
    });
    of_it.map(|point| point.series.clone()).max()
}

/// Everything that our ORB knows: it is asked, so that what comes to be is measured too.
///
/// # Errors
/// It does not say.
pub(super) fn known() -> Result<Vec<Protocol>, String> {
    let output = Command::new(ours("papers-cubit")).arg("protocols").output();
    let output = output.map_err(|e| format!("papers-cubit does not start: {e}"))?;
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// A minor version, or `lite`, and a scheme in each line.
fn parse(text: &str) -> Result<Vec<Protocol>, String> {
    let line = |line: &str| {
        let (messaging, scheme) = line.split_once(' ')?;
        let unix = match scheme {
            "iiop" => false,
            "uiop" => true,
            _ => return None,
        };
        let messaging = Some(match messaging {
            "lite" => Messaging::Lite,
            minor => Messaging::Giop(minor.parse().ok()?),
        });
        Some(Protocol { messaging, unix })
    };
    let all: Option<Vec<_>> = text.lines().map(line).collect();
    all.filter(|all| !all.is_empty())
        .ok_or_else(|| format!("not known how to measure all of: {text:?}"))
}

/// An ORB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Orb {
    Zorb,
    Omni,
    Raw,
    Spinning,
}

impl Orb {
    pub(super) const ALL: [Self; 4] = [Self::Zorb, Self::Omni, Self::Raw, Self::Spinning];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Zorb => "zorb",
            Self::Omni => "omniORB",
            Self::Raw => "raw",
            Self::Spinning => "raw, spinning",
        }
    }

    /// The protocols of those that it speaks; omniORB all versions of GIOP.
    pub(super) fn speaks(self, known: &[Protocol]) -> Vec<Protocol> {
        let messaging = None;
        match self {
            Self::Zorb => known.to_vec(),
            Self::Omni => {
                let of_it = known.iter().filter(|protocol| protocol.minor().is_some());
                of_it.copied().collect()
            }
            Self::Raw | Self::Spinning => [false, true]
                .map(|unix| Protocol { messaging, unix })
                .to_vec(),
        }
    }

    /// The command lines.
    pub(super) fn pair(self, protocol: Protocol) -> Pair {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let cubit = ours("papers-cubit");
        let minor = protocol.minor().unwrap_or_default().to_string();
        let (server, client) = match self {
            Self::Zorb if protocol.messaging == Some(Messaging::Lite) => (
                words(&[&cubit, "serve", "--lite"]),
                words(&[&cubit, "call"]),
            ),
            Self::Zorb => (
                words(&[&cubit, "serve"]),
                words(&[&cubit, "call", "--giop-minor", &minor]),
            ),
            Self::Omni => (
                words(&[&omniorb("cubit_server")]),
                words(&[
                    &omniorb("cubit_client"),
                    "-ORBmaxGIOPVersion",
                    &format!("1.{minor}"),
                ]),
            ),
            Self::Raw => (
                words(&[&cubit, "serve", "--over", "sockets"]),
                words(&[&cubit, "call", "--over", "sockets"]),
            ),
            Self::Spinning => (
                words(&[&cubit, "serve", "--over", "sockets", "--spin"]),
                words(&[&cubit, "call", "--over", "sockets", "--spin"]),
            ),
        };
        Pair {
            name: format!("{}, {}", self.name(), protocol.name()),
            server: Some(server),
            client,
            unix: protocol.unix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn what_the_orb_knows_is_read() {
        let known = parse("0 iiop\n2 iiop\n2 uiop\nlite uiop\n").unwrap();
        let names: Vec<_> = known.iter().map(|protocol| protocol.name()).collect();
        assert_eq!(
            names,
            [
                "GIOP 1.0 over TCP",
                "GIOP 1.2 over TCP",
                "GIOP 1.2 over UNIX",
                "GIOPlite over UNIX"
            ]
        );
        assert!(!known[0].is_newest(&known) && known[2].is_newest(&known));
        assert!(!known[3].is_newest(&known));
        assert_eq!(Orb::Omni.speaks(&known), known[..3]);
        let lite = Orb::Zorb.pair(known[3]);
        assert!(lite.unix && lite.server.unwrap().contains(&"--lite".to_owned()));
    }

    #[test]
    fn the_newest_messages_are_those_of_giop() {
        let names = [
            "GIOP 1.0 over TCP",
            "GIOP 1.2 over TCP",
            "GIOPlite over TCP",
        ];
        let data = data(&names.map(|series| ("p", series, 0.0, None, 1.0)));
        let newest = newest_series(data.points.iter(), "TCP");
        assert_eq!(newest.as_deref(), Some("GIOP 1.2 over TCP"));
        assert_eq!(newest_series(data.points.iter(), "UNIX"), None);
    }

    #[test]
    fn a_transport_without_a_measurement_is_not_passed_over() {
        assert!(parse("2 iiop\n2 shmiop\n").is_err());
        assert!(parse("").is_err());
    }
}
