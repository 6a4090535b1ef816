//! Service contexts, and lists of policies in them and in references: what was read can be written, and reads the same
//! again; what claims to hold much takes no more memory than its octets pay for.

use crate::memory::measured;
use bytes::Bytes;
use listen_points::{ListenPoints, MAX_LISTEN_POINTS, listen_points};
use policy_values::{MAX_READ, read_policies, read_ticks, read_time, write_policies, write_time};
use zorb_transport::Endpoint;

#[path = "../../crates/zorb/src/bidirectional/listen_points.rs"]
mod listen_points;
#[path = "../../crates/zorb/src/policy/policy_values.rs"]
mod policy_values;

/// Takes the octets for the data of each context.
pub(crate) fn run(data: &[u8]) {
    bidirectional(data);
    policies(data);
}

/// Lists of as many parts as there are octets for.
pub(crate) fn work(n: usize) -> crate::work::Work {
    let mut list = vec![1, 0, 0, 0];
    let count = u32::try_from(n / 12).expect("few");
    list.extend(count.to_le_bytes());
    for _ in 0..count {
        // An endpoint without a host, or a policy: a string or a number, and octets.
        list.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    Box::new(move || {
        let _ = core::hint::black_box(ListenPoints::read(&list));
        let _ = core::hint::black_box(read_policies(&list));
        let _ = core::hint::black_box(read_time(&list));
    })
}

/// BI_DIR_IIOP.
fn bidirectional(data: &[u8]) {
    let Ok(points) = measured(data.len(), || ListenPoints::read(data)) else {
        return;
    };
    assert!(points.taken.len() <= MAX_LISTEN_POINTS);
    assert!(points.is_whole || points.taken.len() == MAX_LISTEN_POINTS);
    let endpoints: Vec<_> = (points.taken.iter())
        .map(|(host, port)| Endpoint::iiop(host, *port))
        .collect();
    // None of no endpoints, and none of a host with NUL in it.
    let Some(context) = listen_points(&endpoints) else {
        assert!(points.taken.iter().all(|(host, _)| host.contains('\0')) || endpoints.is_empty());
        return;
    };
    let again = ListenPoints::read(&context.data).expect("what was written can be read");
    assert!(again.is_whole);
    let again: Vec<_> = (again.taken.iter())
        .map(|(host, port)| Endpoint::iiop(host, *port))
        .collect();
    assert_eq!(again, endpoints);
}

/// INVOCATION_POLICIES, and the component TAG_POLICIES.
fn policies(data: &[u8]) {
    if let Ok(policies) = measured(data.len(), || read_policies(data)) {
        assert!(policies.len() <= MAX_READ);
        let octets: usize = policies.iter().map(|(_, value)| value.len()).sum();
        assert!(octets <= data.len(), "no more than there is");
        assert_eq!(again(&policies), policies);
        for (_, value) in &policies {
            times(value);
        }
    }
    times(data);
}

fn again(policies: &[(u32, Bytes)]) -> Vec<(u32, Bytes)> {
    let written = write_policies(policies).expect("what was read can be written");
    read_policies(&written).expect("and read again")
}

/// The value of a policy: a time of the calendar, or a duration.
fn times(value: &[u8]) {
    let ticks = read_ticks(value);
    if let Ok(time) = read_time(value) {
        // A time begins as a duration of as many units.
        assert_eq!(ticks, Ok(time));
        let written = write_time(time).expect("a time fits");
        assert_eq!(read_time(&written), Ok(time));
    }
}
