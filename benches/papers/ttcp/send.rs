//! The transmitter, over each of the three layers.

use crate::layer;
use std::time::{Duration, Instant};
use zorb::{Interface, Orb};
use zorb_floor::blocking::End;
use zorb_floor::message::{self, HEAD, folded};
use zorb_floor::report::{Asked, Line, Measured, nanoseconds};
use zorb_papers::dialogue::{self, Failure, word};
use zorb_papers::payload::{Kind, Payload, TtcpRef};
use zorb_papers::place::{Client, Over, check_shutdown, with_room};
use zorb_papers::sockets;

/// The transmitter's end.
enum Sender {
    Orb { orb: Orb, servers: Vec<TtcpRef> },
    Transport(layer::End),
    Sockets(End),
}

/// One buffer, in the form in which it is sent.
enum Buffer {
    Typed(Payload),
    /// A message, its head included.
    Message(Vec<u8>),
}

impl Buffer {
    fn octets(&self) -> usize {
        match self {
            Self::Typed(payload) => payload.octets(),
            Self::Message(message) => message.len().saturating_sub(HEAD),
        }
    }

    fn digest(&self) -> u64 {
        match self {
            Self::Typed(payload) => payload.digest(),
            Self::Message(message) => folded(message.get(HEAD..).unwrap_or_default()),
        }
    }
}

impl Sender {
    async fn connect(client: &Client) -> Result<Self, Failure> {
        let (queue, file) = (client.common.queue, &client.common.ior);
        let references = std::fs::read_to_string(file)?;
        Ok(match client.common.over {
            Over::Transport => Self::Transport(layer::End::connect(&references, queue).await?),
            Over::Sockets => {
                Self::Sockets(sockets::connect(&references, queue, client.common.spin)?)
            }
            Over::Orb => {
                let orb = client.builder().build().await?;
                let mut servers = Vec::new();
                for reference in references.split_whitespace() {
                    let object = orb.string_to_object(reference).await?;
                    servers.push(TtcpRef::unchecked_narrow(object));
                }
                Self::Orb { orb, servers }
            }
        })
    }

    fn first(servers: &[TtcpRef]) -> Result<&TtcpRef, Failure> {
        servers
            .first()
            .ok_or_else(|| "there is no reference".into())
    }

    /// A buffer for this way of sending: without an ORB types have no meaning, and it is octets.
    fn buffer(&self, kind: Kind, octets: usize) -> Buffer {
        match self {
            Self::Orb { .. } => Buffer::Typed(Payload::new(kind, octets)),
            _ => Buffer::Message(message::message(message::Kind::OneWay, octets)),
        }
    }

    async fn send(&mut self, buffer: &Buffer) -> Result<(), Failure> {
        match (self, buffer) {
            (Self::Orb { servers, .. }, Buffer::Typed(payload)) => {
                let server = Self::first(servers)?;
                match payload {
                    Payload::Chars(chars) => with_room(|| server.send_chars(chars)).await?,
                    Payload::Octets(octets) => with_room(|| server.send_octets(octets)).await?,
                    Payload::Text(text) => with_room(|| server.send_string(text)).await?,
                    Payload::Structs(structs) => with_room(|| server.send_structs(structs)).await?,
                }
            }
            (Self::Transport(end), Buffer::Message(message)) => end.send(message).await?,
            (Self::Sockets(end), Buffer::Message(message)) => end.send(message)?,
            _ => return Err("a buffer of another way of sending".into()),
        }
        Ok(())
    }

    /// Waits until everything has been served.
    async fn sync(&mut self) -> Result<(), Failure> {
        let sync = message::head(message::Kind::Sync, 0);
        match self {
            Self::Orb { servers, .. } => Self::first(servers)?.sync().await?,
            Self::Transport(end) => {
                end.send(&sync).await?;
                end.receive().await?.ok_or("the server has gone")?;
            }
            Self::Sockets(end) => {
                end.send(&sync)?;
                let answer = end.receive(&mut Vec::new())?;
                answer.ok_or("the server has gone")?;
            }
        }
        Ok(())
    }

    async fn shutdown(&mut self) -> Result<(), Failure> {
        match self {
            Self::Orb { orb, servers } => {
                check_shutdown(Self::first(servers)?.shutdown().await)?;
                orb.shutdown(true).await?;
            }
            Self::Transport(end) => {
                end.send(&message::head(message::Kind::Shutdown, 0)).await?;
                end.receive().await?;
            }
            Self::Sockets(end) => sockets::stop(end)?,
        }
        Ok(())
    }

    async fn flood(&mut self, words: &[String], peer: &str) -> Result<Line, Failure> {
        let (octets, buffers) = (word(words, 2)?, word::<usize>(words, 3)?);
        let kind = word::<Kind>(words, 1)?;
        let most = Duration::from_millis(word(words, 4)?);
        let buffer = self.buffer(kind, octets);
        // So that the connection is there, and room for so long a message.
        self.send(&buffer).await?;
        self.sync().await?;
        // Asking for the time must not be seen among the shortest of calls.
        let between = (LOOK_OCTETS / buffer.octets().max(1)).clamp(1, LOOK_CALLS);
        let start = Instant::now();
        let mut sent = 0;
        while sent < buffers && start.elapsed() < most {
            for _ in 0..between.min(buffers - sent) {
                self.send(&buffer).await?;
                sent += 1;
            }
        }
        self.sync().await?;
        let measured = Measured {
            latencies: Vec::new(),
            start,
            end: Instant::now(),
        };
        let asked = Asked {
            peer: peer.to_owned(),
            op: words.get(1).cloned().unwrap_or_default(),
            size: octets,
            octets: buffer.octets(),
            iters: sent,
            warmup: 1,
            threads: 1,
            digest: buffer.digest(),
        };
        Ok(Line::new(&asked, vec![measured]).ok_or("nothing was measured")?)
    }

    /// Calls without parameters over all objects.
    async fn call(&mut self, words: &[String], peer: &str) -> Result<Line, Failure> {
        let Self::Orb { servers, .. } = self else {
            return Err("calls are an ORB's".into());
        };
        let one_way = word::<String>(words, 1)? == "oneway";
        let train = word::<String>(words, 2)? == "train";
        let calls: usize = word(words, 3)?;
        let each = (calls / servers.len().max(1)).max(1);
        let mut latencies = Vec::with_capacity(if one_way { 0 } else { calls });
        Self::first(servers)?.sync().await?;
        let start = Instant::now();
        let mut before = start;
        for call in 0..calls {
            let at = if train { call / each } else { call };
            let server = servers.get(at % servers.len()).ok_or("no reference")?;
            if one_way {
                with_room(|| server.nothing_1way()).await?;
            } else {
                server.nothing_2way().await?;
                let now = Instant::now();
                latencies.push(nanoseconds(now - before));
                before = now;
            }
        }
        if one_way {
            Self::first(servers)?.sync().await?;
        }
        let measured = Measured {
            latencies,
            start,
            end: Instant::now(),
        };
        let asked = Asked {
            peer: peer.to_owned(),
            op: words.join(" "),
            size: 0,
            octets: 0,
            iters: calls,
            warmup: 0,
            threads: 1,
            digest: 1,
        };
        Ok(Line::new(&asked, vec![measured]).ok_or("nothing was measured")?)
    }
}

/// The clock is looked at after so many octets, or calls.
const LOOK_OCTETS: usize = 256 << 10;
const LOOK_CALLS: usize = 256;

/// Answers requests until there are no more.
pub(crate) async fn converse(client: Client) -> Result<(), Failure> {
    let mut sender = Sender::connect(&client).await?;
    let peer = &client.common.peer;
    while let Some(words) = dialogue::next()? {
        match words.first().map(String::as_str) {
            Some("send") => dialogue::answer(&sender.flood(&words, peer).await?)?,
            Some("call") => dialogue::answer(&sender.call(&words, peer).await?)?,
            Some("shutdown") => {
                sender.shutdown().await?;
                return dialogue::say("{}").map_err(Into::into);
            }
            _ => return Err(format!("unknown request: {}", words.join(" ")).into()),
        }
    }
    Ok(())
}
