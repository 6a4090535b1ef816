//! The steps of a call, computed from its marks (`zorb_giop::probe`).

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

/// The steps of a server.
fn server(point: Point, before: Point) -> Option<&'static str> {
    Some(match point {
        // The server has waited for the first octets of a request.
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

/// The end of a call whose steps are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The caller's.
    Client,
    /// The servant's.
    Server,
}

impl End {
    /// The first and the last step of a call.
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

/// A call among the marks.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The sum of each of its steps, which are all that is between its first mark and its last, once each.
    steps: BTreeMap<&'static str, f64>,
    /// How many marks there are in it.
    marks: usize,
}

impl Call {
    /// Nanoseconds of all its steps.
    #[must_use]
    pub fn took(&self) -> f64 {
        self.steps.values().sum()
    }
}

/// The calls among the marks; `cost` is what a mark takes, which is no part of the step that it ends.
///
/// At a server, the marks between one write and the end of the next are a call, if they contain a request.
#[must_use]
pub fn calls(marks: &[Mark], end: End, cost: f64) -> Vec<Call> {
    let (first, last) = end.bounds();
    let mut calls = Vec::new();
    let mut call = Call::default();
    let mut seen = (false, false);
    let mut before = None;
    for mark in marks {
        let before = before.replace(mark);
        call.marks += 1;
        if end == End::Client && mark.point == first {
            call = Call {
                marks: 1,
                ..Call::default()
            };
            seen = (true, false);
            continue;
        }
        // The time before the first mark is unknown.
        let Some(before) = before else { continue };
        if let Some(name) = end.name(mark.point, before.point) {
            let took = mark.at.saturating_sub(before.at) as f64 - cost;
            *call.steps.entry(name).or_insert(0.0) += took;
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

/// The middle half of all by how long they took: without those that something came between.
#[must_use]
pub fn middle<T>(mut all: Vec<T>, took: impl Fn(&T) -> f64) -> Vec<T> {
    all.sort_by(|a, b| took(a).total_cmp(&took(b)));
    let quarter = all.len() / 4;
    all.truncate(all.len() - quarter);
    all.drain(..quarter);
    all
}

/// The mean of values; nothing of none.
#[must_use]
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let number = values.len().max(1) as f64;
    values.sum::<f64>() / number
}

/// Each step's mean over these calls, finer than the clock, which may tell ten nanoseconds apart and no less. They add
/// up to what the calls took, as all of them are of the same calls; a step that a call has not is nothing to it.
#[must_use]
pub fn steps(calls: &[Call]) -> Steps {
    let mut sums = Steps::new();
    for (name, took) in calls.iter().flat_map(|call| &call.steps) {
        *sums.entry((*name).to_owned()).or_insert(0.0) += took;
    }
    let number = calls.len().max(1) as f64;
    sums.values_mut().for_each(|sum| *sum /= number);
    sums
}

/// How many marks there are in a call.
#[must_use]
pub fn marks(calls: &[Call]) -> f64 {
    mean(calls.iter().map(|call| call.marks as f64))
}

/// Each step of a server in the middle half of its calls.
#[must_use]
pub fn of_server(marks: &[Mark], cost: f64) -> Steps {
    let mut calls = calls(marks, End::Server, cost);
    // The end of `forget`.
    calls.drain(..calls.len().min(1));
    steps(&middle(calls, Call::took))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(points: &[(Point, u64)]) -> Vec<Mark> {
        let mark = |&(point, at): &(Point, u64)| Mark { at, point };
        points.iter().map(mark).collect()
    }

    #[test]
    fn a_clients_steps_are_distinguished_and_half_a_call_does_not_count() {
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
        let calls = calls(&made(&all), End::Client, 0.5);
        assert_eq!(calls.len(), 2);
        let steps = steps(&calls);
        assert_eq!(steps["get reference"], 19.5);
        // Two marks of it.
        assert_eq!(steps["messaging send"], 1.0);
        assert_eq!(steps["wait and read"], 99.5);
        assert!(!steps.contains_key("transport receive"));
        // The time from the first mark to the last, less that of all marks but the first.
        assert_eq!(marks(&calls), 8.0);
        let sum: f64 = steps.values().sum();
        assert_eq!(sum, 143.0 - 7.0 * 0.5);
    }

    #[test]
    fn steps_add_up_where_each_has_its_own_outliers() {
        let call = |at: u64, first: u64, second: u64| {
            [
                (Point::Called, at),
                (Point::Initialised, at + first),
                (Point::Returned, at + first + second),
            ]
        };
        let all = [
            call(0, 10, 90),
            call(1_000, 90, 10),
            call(2_000, 50, 51),
            call(3_000, 20, 5_000),
        ];
        let calls = calls(&made(&all.concat()), End::Client, 0.0);
        assert_eq!(calls.len(), all.len(), "the first one too");
        let kept = middle(calls, Call::took);
        assert_eq!(kept.len(), 2);
        let whole = mean(kept.iter().map(Call::took));
        let sum: f64 = steps(&kept).values().sum();
        assert_eq!(sum, whole);
        assert!(whole < 102.0, "{whole}");
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
        let steps = of_server(&made(&all), 0.0);
        assert_eq!(steps["read"], 4.0);
        assert_eq!(steps["messaging receive"], 2.0);
        assert_eq!(steps["marshal result, messaging send"], 3.0);
        assert_eq!(steps["write"], 4.0);
    }
}
