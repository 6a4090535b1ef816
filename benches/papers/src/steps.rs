//! From the marks of a call (`zorb_giop::probe`) to its steps.

use std::collections::BTreeMap;
use zorb_giop::probe::{Mark, Point};

/// Nanoseconds of each step, by its name.
pub type Steps = BTreeMap<String, f64>;

/// The name of what is over when the point is marked, in a client. The wait for the reply, whatever the server does
/// meanwhile, ends with the read that brings it.
fn client(point: Point, before: Point) -> Option<&'static str> {
    Some(match point {
        Point::Initialised => "initialise",
        Point::Bound => "get reference",
        Point::Headed | Point::RequestSealed => "messaging send",
        Point::Marshalled => "marshal",
        Point::Writing => "transport send",
        Point::Written => "write",
        Point::Read if before == Point::Read => "read",
        Point::Read => "wait and read",
        Point::Framed => "transport receive",
        Point::Matched => "messaging receive",
        Point::Returned => "demarshal",
        _ => return None,
    })
}

/// The same in a server.
fn server(point: Point, before: Point) -> Option<&'static str> {
    Some(match point {
        // What is read first of a request, it has waited for.
        Point::Read if before == Point::Read => "read",
        Point::Framed => "transport receive",
        Point::HeaderRead => "messaging receive",
        Point::KeyParsed => "parse object key",
        Point::AdapterFound => "POA demux",
        Point::ServantFound => "servant demux",
        Point::Admitted => "prepare upcall",
        Point::OperationFound => "operation demux",
        Point::Demarshalled => "demarshal",
        Point::Upcalled => "upcall",
        Point::ReplySealed => "marshal result, messaging send",
        Point::Writing => "transport send",
        Point::Written => "write",
        _ => return None,
    })
}

/// Which end of a call is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The caller's.
    Client,
    /// The servant's.
    Server,
}

impl End {
    /// What a call begins with, and what is the last of it.
    fn bounds(self) -> (Point, Point) {
        match self {
            Self::Client => (Point::Called, Point::Returned),
            Self::Server => (Point::HeaderRead, Point::ReplySealed),
        }
    }

    fn name(self, point: Point, before: Point) -> Option<&'static str> {
        match self {
            Self::Client => client(point, before),
            Self::Server => server(point, before),
        }
    }
}

/// Calls among the marks, each with the sum of each of its steps; `cost` is what a mark takes.
///
/// Of a server's marks a call is what lies between a write and the next one's end, if there is a request in it.
fn calls(marks: &[Mark], end: End, cost: f64) -> Vec<BTreeMap<&'static str, f64>> {
    let (first, last) = end.bounds();
    let mut calls = Vec::new();
    let mut call = BTreeMap::new();
    let mut seen = (false, false);
    for pair in marks.windows(2) {
        let [before, mark] = pair else { continue };
        if end == End::Client && mark.point == first {
            (call, seen) = (BTreeMap::new(), (true, false));
            continue;
        }
        if let Some(name) = end.name(mark.point, before.point) {
            let took = (mark.at.saturating_sub(before.at)) as f64 - cost;
            *call.entry(name).or_insert(0.0) += took;
        }
        seen.0 |= mark.point == first;
        seen.1 |= mark.point == last;
        let over = match end {
            End::Client => mark.point == last,
            End::Server => mark.point == Point::Written && seen.1,
        };
        if over {
            let whole = std::mem::take(&mut call);
            if seen == (true, true) {
                calls.push(whole);
            }
            seen = (false, false);
        }
    }
    calls
}

/// Each step's mean over the middle half of all calls: without those that something came between, and finer than the
/// clock, which may tell ten nanoseconds apart and no less. `cost` is what a mark takes.
#[must_use]
pub fn steps(marks: &[Mark], end: End, cost: f64) -> Steps {
    let mut calls = calls(marks, end, cost);
    if end == End::Server {
        // The end of `forget`.
        calls.drain(..calls.len().min(1));
    }
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for call in &calls {
        for (name, took) in call {
            all.entry(name).or_default().push(*took);
        }
    }
    let mean = |mut values: Vec<f64>| {
        // A step that a call has not is nothing to it.
        values.resize(calls.len(), 0.0);
        values.sort_by(f64::total_cmp);
        let quarter = values.len() / 4;
        let middle = values.get(quarter..values.len() - quarter).unwrap_or(&[]);
        (middle.iter().sum::<f64>() / middle.len().max(1) as f64).max(0.0)
    };
    let means = all.into_iter();
    means
        .map(|(name, values)| (name.to_owned(), mean(values)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(points: &[(Point, u64)]) -> Vec<Mark> {
        let mark = |&(point, at): &(Point, u64)| Mark { at, point };
        points.iter().map(mark).collect()
    }

    #[test]
    fn a_clients_steps_are_told_apart_and_half_a_call_does_not_count() {
        let call = |at: u64| {
            [
                (Point::Called, at),
                (Point::Initialised, at + 10),
                (Point::Bound, at + 30),
                (Point::Headed, at + 31),
                (Point::Marshalled, at + 32),
                (Point::RequestSealed, at + 33),
                (Point::Read, at + 133),
                (Point::Returned, at + 143),
            ]
        };
        let mut all = vec![(Point::Framed, 1), (Point::Returned, 2)];
        all.extend(call(100));
        all.extend(call(1_000));
        all.extend(&call(2_000)[..3]);
        let steps = steps(&marks(&all), End::Client, 0.5);
        assert_eq!(steps["get reference"], 19.5);
        // Two marks of it.
        assert_eq!(steps["messaging send"], 1.0);
        assert_eq!(steps["wait and read"], 99.5);
        assert!(!steps.contains_key("transport receive"));
    }

    #[test]
    fn a_servers_wait_is_nobodys_step_and_the_call_before_does_not_count() {
        let call = |at: u64, long: u64| {
            [
                (Point::Read, at),
                (Point::Read, at + 4),
                (Point::Framed, at + 5),
                (Point::HeaderRead, at + 7),
                (Point::ReplySealed, at + 7 + long),
                (Point::Writing, at + 8 + long),
                (Point::Written, at + 12 + long),
            ]
        };
        let all = [call(0, 99), call(1_000, 3), call(2_000, 3)].concat();
        let steps = steps(&marks(&all), End::Server, 0.0);
        assert_eq!(steps["read"], 4.0);
        assert_eq!(steps["messaging receive"], 2.0);
        assert_eq!(steps["marshal result, messaging send"], 3.0);
        assert_eq!(steps["write"], 4.0);
    }
}
