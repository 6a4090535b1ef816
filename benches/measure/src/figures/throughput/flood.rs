//! Floods: transmitter, receiver, and the link between them.

use crate::figures::contender::PLACEMENTS;
use crate::figures::data::PanelPoint;
use crate::figures::session::Session;
use crate::figures::throughput::PAPERS;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::place::Placement;
use crate::measure::programs::{omniorb, ours};

/// The type of the buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::figures) enum Kind {
    Octets,
    Chars,
    Text,
    Structs,
}

impl Kind {
    pub(in crate::figures) const ALL: [Self; 4] =
        [Self::Octets, Self::Chars, Self::Text, Self::Structs];

    /// Its name in requests and panels.
    pub(in crate::figures) const fn name(self) -> &'static str {
        match self {
            Self::Octets => "octets",
            Self::Chars => "chars",
            Self::Text => "string",
            Self::Structs => "structs",
        }
    }
}

/// The link of the octets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::figures) enum Road {
    Tcp,
    Unix,
}

impl Road {
    pub(in crate::figures) const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Unix => "UNIX",
        }
    }
}

/// Length of the socket queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::figures) enum Queue {
    Default,
    K8,
    K64,
}

impl Queue {
    pub(in crate::figures) const ALL: [Self; 3] = [Self::K8, Self::K64, Self::Default];

    pub(in crate::figures) const fn name(self) -> &'static str {
        match self {
            Self::Default => "default queues",
            Self::K8 => "8 K queues",
            Self::K64 => "64 K queues",
        }
    }

    /// Options of both programs.
    pub(in crate::figures) fn words(self) -> Vec<String> {
        let octets = match self {
            Self::Default => return Vec::new(),
            Self::K8 => 8 << 10,
            Self::K64 => 64 << 10,
        };
        vec!["--queue".to_owned(), octets.to_string()]
    }
}

/// Through what a buffer is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::figures) enum Sender {
    Zorb,
    Joined,
    OmniOrb,
    Transport,
    Raw,
}

pub(in crate::figures) const SENDERS: [Sender; 5] = [
    Sender::Zorb,
    Sender::Joined,
    Sender::OmniOrb,
    Sender::Transport,
    Sender::Raw,
];

impl Sender {
    /// Its name in the legend.
    pub(in crate::figures) const fn name(self) -> &'static str {
        match self {
            Self::Zorb => "zorb",
            Self::Joined => "zorb, writes joined",
            Self::OmniOrb => "omniORB",
            Self::Transport => "transport layer alone",
            Self::Raw => "raw",
        }
    }

    /// Without an ORB there are no types, and octets stand for all.
    pub(in crate::figures) const fn sends(self, kind: Kind) -> bool {
        matches!(self, Self::Zorb | Self::Joined | Self::OmniOrb) || matches!(kind, Kind::Octets)
    }

    /// The command lines; the server's and the client's have `server` and `client` in front.
    pub(in crate::figures) fn pair(
        self,
        road: Road,
        more: &[String],
        fronts: [&[String]; 2],
    ) -> Pair {
        let all = |front: &[String], program: String, words: &[&str]| {
            let words = words.iter().map(|&word| word.to_owned());
            let program = std::iter::once(program).chain(words);
            let more = more.iter().cloned();
            front.iter().cloned().chain(program).chain(more).collect()
        };
        let ttcp = || ours("papers-ttcp");
        let [before, ahead] = fronts;
        let (server, client) = match self {
            Self::OmniOrb => (
                all(before, omniorb("ttcp_server"), &[]),
                all(ahead, omniorb("ttcp_client"), &[]),
            ),
            Self::Zorb => (
                all(before, ttcp(), &["serve"]),
                all(ahead, ttcp(), &["send"]),
            ),
            Self::Joined => (
                all(before, ttcp(), &["serve"]),
                all(ahead, ttcp(), &["send", "--join"]),
            ),
            Self::Transport => (
                all(before, ttcp(), &["serve", "--over", "transport"]),
                all(ahead, ttcp(), &["send", "--over", "transport"]),
            ),
            Self::Raw => (
                all(before, ttcp(), &["serve", "--over", "sockets"]),
                all(ahead, ttcp(), &["send", "--over", "sockets"]),
            ),
        };
        Pair {
            name: format!("{}, {}", self.name(), road.name()),
            server: Some(server),
            client,
            unix: road == Road::Unix,
        }
    }
}

/// The panel of a type over a road.
pub(in crate::figures) fn panel(
    kind: Kind,
    road: &str,
    queue: Queue,
    placement: Placement,
) -> String {
    format!("{}, {road}, {}, {placement}", kind.name(), queue.name())
}

/// A transmitter and a receiver that run.
#[derive(Debug)]
pub(in crate::figures) struct Flood {
    pub(in crate::figures) sender: Sender,
    pub(in crate::figures) dialogue: Dialogue,
    road: String,
    queue: Queue,
    placement: Placement,
}

impl Flood {
    /// Starts one of each over that road, in both placements.
    pub(in crate::figures) fn start_all(
        session: &Session,
        senders: &[Sender],
        road: Road,
        queue: Queue,
    ) -> Result<Vec<Self>, String> {
        let mut all = Vec::new();
        for placement in PLACEMENTS {
            for &sender in senders {
                if sender == Sender::OmniOrb && session.omniorb.is_err() {
                    continue;
                }
                let pair = sender.pair(road, &queue.words(), [&[], &[]]);
                all.push(Self::start(
                    session,
                    sender,
                    (&pair, road.name()),
                    queue,
                    placement,
                )?);
            }
        }
        Ok(all)
    }

    /// Starts one, over a road of that name.
    pub(in crate::figures) fn start(
        session: &Session,
        sender: Sender,
        (pair, road): (&Pair, &str),
        queue: Queue,
        placement: Placement,
    ) -> Result<Self, String> {
        Ok(Self {
            sender,
            dialogue: Dialogue::start(pair, placement, session.cpus)?,
            road: road.to_owned(),
            queue,
            placement,
        })
    }

    /// Whether it is asked for such buffers: with the system's own queues for all, with others for what the paper has.
    pub(in crate::figures) fn sends(&self, kind: Kind, size: usize) -> bool {
        let of_paper = match (self.queue, self.road.as_str()) {
            (Queue::Default, _) => true,
            // The paper's two types and what is taken for octets.
            (_, road) if road == Road::Tcp.name() => size <= PAPERS && kind != Kind::Structs,
            (_, _) => size <= PAPERS && kind == Kind::Octets,
        };
        of_paper && self.sender.sends(kind)
    }

    pub(in crate::figures) fn end_all(all: Vec<Self>) -> Result<(), String> {
        all.into_iter().try_for_each(|one| one.dialogue.end())
    }

    pub(in crate::figures) fn place(&self, kind: Kind, size: usize) -> PanelPoint {
        PanelPoint {
            panel: panel(kind, &self.road, self.queue, self.placement),
            series: self.sender.name().to_owned(),
            x: size as f64,
            label: None,
            unit: "Mbit/s",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_get_the_length_of_their_queues() {
        let front = ["ip".to_owned()];
        let pair = Sender::Raw.pair(Road::Unix, &Queue::K8.words(), [&front, &[]]);
        let server = pair.server.unwrap().join(" ");
        assert!(server.starts_with("ip ") && server.ends_with("--over sockets --queue 8192"));
        assert!(pair.client.join(" ").ends_with("--queue 8192") && pair.unix);
        assert!(Queue::Default.words().is_empty());
    }

    #[test]
    fn types_are_an_orbs() {
        assert!(Sender::Joined.sends(Kind::Structs));
        assert!(Sender::Raw.sends(Kind::Octets) && !Sender::Transport.sends(Kind::Chars));
    }
}
