//! The client.

#[path = "../../programs/structs.rs"]
mod structs;

use crate::Failure;
use crate::idl::papers::white_box::{BinStruct, BoxRef};
use serde::Serialize;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;
use zorb::{Interface, Orb, SystemException};
use zorb_giop::probe;
use zorb_papers::dialogue;
use zorb_papers::steps::{self, Call, End, Steps};

/// A line of answer.
#[derive(Serialize)]
struct Answer {
    p50_ns: f64,
    p99_ns: f64,
    /// The time of a mark.
    mark_ns: f64,
    /// The times of the middle half of the calls from outside, and of all marks of the client's in one of them. The
    /// difference is the time of the client's steps, and of the time outside of all steps.
    whole_ns: f64,
    marks_ns: f64,
    client: Steps,
    server: Steps,
}

/// The arguments of a call.
enum Argument {
    None,
    Octets(Vec<u8>),
    Structs(Vec<BinStruct>),
}

impl Argument {
    fn of(kind: &str, units: usize) -> Result<Self, Failure> {
        Ok(match kind {
            "noparams" => Self::None,
            "octets" => Self::Octets((0..units).map(|i| i as u8).collect()),
            "structs" => Self::Structs(structs::structs(units)),
            _ => return Err("noparams, octets or structs?".into()),
        })
    }

    async fn send(&self, object: &BoxRef) -> Result<(), SystemException> {
        match self {
            Self::None => object.noparams().await,
            Self::Octets(octets) => object.octets(octets).await,
            Self::Structs(structs) => object.structs(structs).await,
        }
    }
}

/// Calls before those that count.
const WARM_UP: usize = 100;

async fn measure(object: &BoxRef, words: &[&str], mark_ns: f64) -> Result<Answer, Failure> {
    let kind = words.first().copied().unwrap_or_default();
    let argument = Argument::of(kind, dialogue::number(words, 1)?)?;
    let calls = dialogue::number(words, 2)?;
    for _ in 0..WARM_UP {
        argument.send(object).await?;
    }
    object.forget().await?;
    drop(probe::take());
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let start = Instant::now();
        argument.send(object).await?;
        times.push(start.elapsed().as_nanos() as f64);
    }
    let marked = steps::calls(&probe::take(), End::Client, mark_ns);
    let server: Steps = serde_json::from_str(&object.steps().await?)?;
    if marked.len() != times.len() {
        return Err(format!("{} of {calls} calls are marked", marked.len()).into());
    }
    let both = times.iter().copied().zip(marked).collect();
    let (kept, marked): (Vec<f64>, Vec<Call>) =
        steps::middle(both, |(time, _)| *time).into_iter().unzip();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get(times.len() * part / 100).copied();
    Ok(Answer {
        p50_ns: at(50).ok_or("no calls")?,
        p99_ns: at(99).ok_or("no calls")?,
        mark_ns,
        whole_ns: steps::mean(kept.iter().copied()),
        marks_ns: steps::marks(&marked) * mark_ns,
        client: steps::steps(&marked),
        server,
    })
}

/// Answers until there are no more questions.
pub(crate) async fn converse(ior: PathBuf) -> Result<(), Failure> {
    let mark_ns = probe::cost();
    let orb = Orb::builder().build().await?;
    let reference = std::fs::read_to_string(ior)?;
    let object = orb.string_to_object(reference.trim()).await?;
    let object = BoxRef::unchecked_narrow(object);
    let mut line = String::new();
    while std::io::stdin().lock().read_line(&mut line)? > 0 {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words == ["shutdown"] {
            object.shutdown().await?;
        } else {
            let answer = match measure(&object, &words, mark_ns).await {
                Ok(answer) => serde_json::to_string(&answer)?,
                Err(why) => serde_json::json!({ "error": format!("{why:#}") }).to_string(),
            };
            writeln!(std::io::stdout().lock(), "{answer}")?;
        }
        line.clear();
    }
    orb.shutdown(true).await?;
    Ok(())
}
