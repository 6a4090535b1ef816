//! Time limits of calls between JacORB and this ORB: as the one states them, and the other sees them.

use crate::support::{Running, have, passed};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zorb::policy::PolicyOverrides;
use zorb::{Orb, PoaCurrent, ServiceContextId, SystemException};

zorb::idl! {
    interface Timed {
        // Milliseconds until the end of the call's time limit; -1 without one.
        long long left();
    };
}

const HOUR: Duration = Duration::from_secs(3_600);
const HALF_AN_HOUR: i64 = 1_800_000;

struct Servant;

impl Timed for Servant {
    async fn left(&self) -> Result<i64, SystemException> {
        let request = PoaCurrent::get_request()?;
        assert!(
            request
                .service_context(ServiceContextId::INVOCATION_POLICIES)
                .is_some()
        );
        Ok(request.deadline().map_or(-1, |at| {
            let left = at.saturating_duration_since(Instant::now());
            i64::try_from(left.as_millis()).expect("an hour")
        }))
    }
}

fn program(cell: &str) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/build/jacorb/times");
    have(cell, &[&built]).then_some(built)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servant_sees_the_timeout_of_a_client_of_jacorb_if_it_checks_reply_end_times() {
    let cell = "jacorb-zorb/times/reply_end_time";
    let Some(program) = program(cell) else {
        return;
    };
    for (checks, is_seen) in [(true, true), (false, false)] {
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .check_reply_end_time(checks)
            .build();
        let orb = orb.await.expect("the ORB listens");
        let poa = orb.root_poa();
        poa.the_poa_manager().activate().expect("not inactive");
        let timed = poa
            .activate(TimedServant::new(Servant))
            .expect("the ORB listens");
        let limit = HOUR.as_millis().to_string();
        let args = ["client".to_owned(), timed.to_string(), limit];
        let said = tokio::task::spawn_blocking({
            let program = program.clone();
            move || Running::start(&program, &args).finish().success()
        });
        let said = said.await.expect("it ends").join("\n");
        let left = said.rsplit_once("reply ").expect("a reply").1.trim();
        let left: i64 = left.parse().expect("a number");
        match is_seen {
            true => assert!(
                left > HALF_AN_HOUR && left <= 2 * HALF_AN_HOUR + 1_000,
                "{said}"
            ),
            false => assert_eq!(left, -1, "{said}"),
        }
    }
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servant_of_jacorb_sees_the_time_limit_of_our_client_on_request() {
    let cell = "zorb-jacorb/times/reply_end_time";
    let Some(program) = program(cell) else {
        return;
    };
    let mut command = Command::new(program);
    command.arg("server");
    let (mut server, _input) = Running::spawn(command, Stdio::piped());
    let reference = server.reference().expect("the server prints its reference");
    let client = Orb::builder().build().await.expect("a client");
    let timed = client.string_to_object(&reference).await.expect("an IOR");
    let timed: TimedRef = timed.unchecked_narrow();
    let limit = PolicyOverrides::new().relative_round_trip_timeout(HOUR);
    // Our own form of it says nothing to JacORB, and does no harm.
    assert_eq!(limit.scope(timed.left()).await.expect("an answer"), -1);
    let limit = limit.send_end_times(true);
    let left = limit.scope(timed.left()).await.expect("an answer");
    assert!(left > HALF_AN_HOUR && left <= 2 * HALF_AN_HOUR, "{left}");
    passed(cell);
}
