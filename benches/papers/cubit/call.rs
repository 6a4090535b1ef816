//! The client: it times calls, and looks at every result.

use crate::cubes::{CubesRef, Many, digest_many, long, many, octet, short};
use std::time::Instant;
use zorb::{Bytes, Interface, SystemException};
use zorb_floor::blocking::End;
use zorb_floor::digest;
use zorb_floor::message::{self, Kind, folded};
use zorb_floor::report::{Asked, Line, Measured, nanoseconds};
use zorb_papers::dialogue::{self, Failure, word};
use zorb_papers::place::{Client, check_shutdown};
use zorb_papers::sockets;

/// The argument, and the expected result.
enum Cube {
    Void,
    Octet(u8),
    Short(i16),
    Long(i32),
    Struct(Many),
    Octets(Vec<u8>, Bytes),
    Longs(Vec<i32>, Vec<i32>),
    Structs(Vec<Many>, Vec<Many>),
}

/// Octets of a struct in CDR, the padding between two of them included.
const STRUCT: usize = 12;

#[expect(
    clippy::cast_possible_truncation,
    reason = "the pattern wraps, as every peer's does"
)]
impl Cube {
    fn new(operation: &str, elements: usize) -> Option<Self> {
        let one = |i: usize| Many {
            o: i as u8,
            l: i as i32,
            s: i as i16,
        };
        Some(match operation {
            "void" => Self::Void,
            "octet" => Self::Octet(5),
            "short" => Self::Short(17),
            "long" => Self::Long(1_017),
            "struct" => Self::Struct(one(11)),
            "octets" => {
                let octets: Vec<u8> = (0..elements).map(|i| i as u8).collect();
                let cubes = octets.iter().copied().map(octet).collect();
                Self::Octets(octets, cubes)
            }
            "longs" => {
                let longs: Vec<i32> = (0..elements).map(|i| i as i32).collect();
                let cubes = longs.iter().copied().map(long).collect();
                Self::Longs(longs, cubes)
            }
            "structs" => {
                let structs: Vec<Many> = (0..elements).map(one).collect();
                let cubes = structs.iter().map(many).collect();
                Self::Structs(structs, cubes)
            }
            _ => return None,
        })
    }

    /// Octets that go to the server as arguments, and come back as results.
    fn octets(&self) -> usize {
        match self {
            Self::Void => 0,
            Self::Octet(_) => 1,
            Self::Short(_) => 2,
            Self::Long(_) => 4,
            Self::Struct(_) => STRUCT,
            Self::Octets(octets, _) => octets.len(),
            Self::Longs(longs, _) => 4 * longs.len(),
            Self::Structs(structs, _) => STRUCT * structs.len(),
        }
    }

    /// The digest that the server adds for one call.
    fn digest(&self) -> u64 {
        match self {
            Self::Void => 1,
            Self::Octet(it) => u64::from(*it),
            Self::Short(it) => u64::from(it.cast_unsigned()),
            Self::Long(it) => u64::from(it.cast_unsigned()),
            Self::Struct(it) => digest_many(it),
            Self::Octets(octets, _) => digest::octets(octets),
            Self::Longs(longs, _) => digest::longs(longs),
            Self::Structs(structs, _) => {
                let sum = structs.iter().map(digest_many);
                sum.fold(structs.len() as u64, u64::wrapping_add)
            }
        }
    }

    /// Whether the server cubes right.
    async fn call(&self, server: &CubesRef) -> Result<bool, SystemException> {
        Ok(match self {
            Self::Void => {
                server.cube_void().await?;
                true
            }
            Self::Octet(it) => server.cube_octet(*it).await? == octet(*it),
            Self::Short(it) => server.cube_short(*it).await? == short(*it),
            Self::Long(it) => server.cube_long(*it).await? == long(*it),
            Self::Struct(it) => server.cube_struct(it).await? == many(it),
            Self::Octets(octets, cubes) => server.cube_octets(octets).await? == *cubes,
            Self::Longs(longs, cubes) => server.cube_longs(longs).await? == *cubes,
            Self::Structs(structs, cubes) => server.cube_structs(structs).await? == *cubes,
        })
    }
}

/// A request, taken apart.
pub(crate) struct Request {
    asked: Asked,
    cube: Cube,
}

impl Request {
    pub(crate) fn parse(words: &[String], peer: &str) -> Result<Self, Failure> {
        let operation: String = word(words, 1)?;
        let (size, iters) = (word(words, 2)?, word(words, 3)?);
        let cube = Cube::new(&operation, size).ok_or("no such operation")?;
        let asked = Asked {
            peer: peer.to_owned(),
            op: operation,
            size,
            octets: cube.octets(),
            iters,
            warmup: iters / 10 + 1,
            threads: 1,
            digest: cube.digest(),
        };
        Ok(Self { asked, cube })
    }

    fn line(&self, latencies: Vec<u64>, start: Instant) -> Result<Line, Failure> {
        let end = Instant::now();
        let measured = Measured {
            latencies,
            start,
            end,
        };
        Ok(Line::new(&self.asked, vec![measured]).ok_or("nothing was measured")?)
    }
}

/// Answers requests until there are no more.
pub(crate) async fn converse(client: Client) -> Result<(), Failure> {
    let reference = std::fs::read_to_string(&client.common.ior)?;
    let orb = client.builder().build().await?;
    let object = orb.string_to_object(reference.trim()).await?;
    let server = CubesRef::unchecked_narrow(object);
    while let Some(words) = dialogue::next()? {
        match words.first().map(String::as_str) {
            Some("call") => {
                let request = Request::parse(&words, &client.common.peer)?;
                dialogue::answer(&measure(&request, &server).await?)?;
            }
            Some("shutdown") => {
                check_shutdown(server.shutdown().await)?;
                orb.shutdown(true).await?;
                return dialogue::say("{}").map_err(Into::into);
            }
            _ => return Err(format!("unknown request: {}", words.join(" ")).into()),
        }
    }
    Ok(())
}

/// Times its calls, and looks at their results.
pub(crate) async fn measure(request: &Request, server: &CubesRef) -> Result<Line, Failure> {
    let wrong = || format!("{} came back wrong", request.asked.op);
    for _ in 0..request.asked.warmup {
        request
            .cube
            .call(server)
            .await?
            .then_some(())
            .ok_or_else(wrong)?;
    }
    let mut latencies = Vec::with_capacity(request.asked.iters);
    let start = Instant::now();
    let mut before = start;
    for _ in 0..request.asked.iters {
        request
            .cube
            .call(server)
            .await?
            .then_some(())
            .ok_or_else(wrong)?;
        let now = Instant::now();
        latencies.push(nanoseconds(now - before));
        before = now;
    }
    request.line(latencies, start)
}

/// Times as many octets there and back without an ORB, and without a meaning: what `exchange` sends and waits for.
pub(crate) fn time_exchanges(
    mut request: Request,
    mut exchange: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Line, Failure> {
    let octets = request.asked.octets;
    let kind = if octets == 0 { Kind::Void } else { Kind::Echo };
    let sent = message::message(kind, octets);
    request.asked.digest = folded(sent.get(message::HEAD..).unwrap_or_default());
    for _ in 0..request.asked.warmup {
        exchange(&sent)?;
    }
    let mut latencies = Vec::with_capacity(request.asked.iters);
    let start = Instant::now();
    let mut before = start;
    for _ in 0..request.asked.iters {
        exchange(&sent)?;
        let now = Instant::now();
        latencies.push(nanoseconds(now - before));
        before = now;
    }
    request.line(latencies, start)
}

/// Times a request by an end of sockets.
pub(crate) fn over_end(
    request: Request,
    end: &mut End,
    body: &mut Vec<u8>,
) -> Result<Line, Failure> {
    time_exchanges(request, |sent| {
        end.send(sent)?;
        end.receive(body)?.ok_or("the server has gone")?;
        Ok(())
    })
}

/// The floor, over sockets.
pub(crate) fn over_sockets(client: &Client) -> Result<(), Failure> {
    let reference = std::fs::read_to_string(&client.common.ior)?;
    let mut end = sockets::connect(&reference, client.common.queue, client.common.spin)?;
    let mut body = Vec::new();
    while let Some(words) = dialogue::next()? {
        match words.first().map(String::as_str) {
            Some("call") => {
                let request = Request::parse(&words, &client.common.peer)?;
                dialogue::answer(&over_end(request, &mut end, &mut body)?)?;
            }
            Some("shutdown") => {
                sockets::stop(&mut end)?;
                return dialogue::say("{}").map_err(Into::into);
            }
            _ => return Err(format!("unknown request: {}", words.join(" ")).into()),
        }
    }
    Ok(())
}
