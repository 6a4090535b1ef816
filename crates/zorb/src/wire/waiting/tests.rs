use super::*;

#[test]
fn an_answer_that_somebody_else_s_time_slice_held_up_is_no_hit() {
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    waiting.has_come_after(Duration::from_micros(15));
    assert_eq!((waiting.hits, waiting.skip), (1, 0));
    // Each time more waits are slept through before the next try.
    for skip in [1, 2, 4] {
        waiting.has_come_after(Duration::from_millis(3));
        assert_eq!((waiting.hits, waiting.skip), (0, skip));
    }
}

#[test]
fn what_is_tried_for_nobody_listens_to_meanwhile() {
    let (busy, own, other) = (Busy::default(), 7, 8);
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    assert!(waiting.will_sleep(WaitPolicy::Park));
    assert!(!waiting.will_sleep(WaitPolicy::Spin(WaitPolicy::LONGEST)));
    for turns in 0..3 * ALONE_AFTER {
        let sleeps = waiting.will_sleep(WaitPolicy::Adaptive);
        assert_eq!(sleeps, !waiting.is_alone(&busy, own), "{turns}");
    }
    // Until tries were in vain, or there is somebody else.
    waiting.miss();
    assert!(waiting.will_sleep(WaitPolicy::Adaptive));
    assert_eq!(waiting.limit_of(WaitPolicy::Adaptive), None);
    assert!(!waiting.will_sleep(WaitPolicy::Adaptive));
    assert!(!busy.is_same(other));
    assert!(!waiting.is_alone(&busy, own));
    assert!(waiting.will_sleep(WaitPolicy::Adaptive));
}

#[test]
fn a_sleeper_that_came_late_for_what_was_there_in_time_tries_again_at_once() {
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    for _ in 0..8 {
        waiting.miss();
    }
    assert_eq!(waiting.limit_of(WaitPolicy::Adaptive), None);
    assert!(waiting.is_asleep());
    waiting.has_slept(Duration::from_micros(45), Duration::ZERO);
    assert!(waiting.limit_of(WaitPolicy::Adaptive).is_some());
    // Not again and again, if nothing ever comes of it.
    let mut tries = 0;
    for _ in 0..10 * MOST_SKIPPED {
        match waiting.limit_of(WaitPolicy::Adaptive) {
            Some(_) => {
                tries += 1;
                waiting.miss();
                waiting.has_slept(Duration::from_micros(45), waiting.limit);
            }
            None => waiting.has_slept(Duration::from_micros(45), Duration::ZERO),
        }
    }
    // Those made at once, but for the first one, and one for each turn.
    assert_eq!(tries, MOST_HASTY - 1 + 10);
}

#[test]
fn two_that_both_sleep_find_out_by_a_try_that_is_longer() {
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    waiting.miss();
    // A round trip with two sleepers: longer than a try, but not by more than they take to wake up.
    waiting.has_slept(Duration::from_micros(90), WaitPolicy::SHARED);
    assert_eq!(waiting.limit_of(WaitPolicy::Adaptive), None);
    assert_eq!(
        waiting.limit_of(WaitPolicy::Adaptive),
        Some(WaitPolicy::DEDICATED)
    );
    // In vain after all: as before.
    waiting.miss();
    waiting.has_slept(Duration::from_micros(90), WaitPolicy::DEDICATED);
    waiting.skip = 0;
    assert_eq!(
        waiting.limit_of(WaitPolicy::Adaptive),
        Some(WaitPolicy::SHARED)
    );
}

/// A side of two that call each other, on a clock of its own: when it began to wait, and for how long it tries.
struct Simulated {
    waiting: Waiting,
    since: Duration,
    tries: Option<Duration>,
}

impl Simulated {
    fn new(limit: Duration) -> Self {
        Self {
            waiting: Waiting::new(limit),
            since: Duration::ZERO,
            tries: None,
        }
    }

    fn waits(&mut self, now: Duration) {
        self.since = now;
        self.tries = self.waiting.limit_of(WaitPolicy::Adaptive);
    }

    /// Something comes: when this side has it, if it takes that long to wake it. Whether it slept, and how long it
    /// tried.
    fn has(&mut self, now: Duration, waking: Duration) -> (Duration, bool, Duration) {
        let came_after = now - self.since;
        let tried = self.tries.unwrap_or_default();
        if came_after <= tried {
            self.waiting.has_come_after(came_after);
            return (now, false, came_after);
        }
        if self.tries.is_some() {
            self.waiting.miss();
        }
        self.waiting.asleep = None;
        self.waiting.has_slept(came_after + waking, tried);
        (now + waking, true, tried)
    }
}

/// Two that begin asleep, each somewhere else in its sleep, and call each other so many times. How many of the first and of
/// the last hundred calls the client slept through, and which share of the time it tried.
fn simulated(
    calls: usize,
    limit: Duration,
    waking: Duration,
    computing: impl Fn(usize) -> Duration,
) -> ([usize; 2], f64) {
    let [mut client, mut server] = [Simulated::new(limit), Simulated::new(limit)];
    (client.waiting.skip, client.waiting.skipped) = (MOST_SKIPPED, MOST_SKIPPED);
    (server.waiting.skip, server.waiting.skipped) = (MOST_SKIPPED / 2, MOST_SKIPPED);
    let (mut now, mut slept, mut tried) = (Duration::ZERO, [0, 0], Duration::ZERO);
    let a_while = Duration::from_micros(4);
    server.waits(now);
    for call in 0..calls {
        client.waits(now);
        let (at, ..) = server.has(now + a_while, waking);
        now = at + computing(call);
        server.waits(now);
        let (at, sleeps, tries) = client.has(now + a_while, waking);
        now = at;
        tried += tries;
        slept[0] += usize::from(sleeps && call < 100);
        slept[1] += usize::from(sleeps && call + 100 >= calls);
    }
    (slept, tried.as_secs_f64() / now.as_secs_f64())
}

#[test]
fn two_that_both_sleep_find_each_other_however_slow_they_are_to_wake() {
    for limit in [WaitPolicy::SHARED, WaitPolicy::DEDICATED] {
        for waking in [5, 30, 60, 100, 150, 220] {
            let waking = Duration::from_micros(waking);
            let (slept, _) = simulated(1_000, limit, waking, |_| Duration::ZERO);
            assert!(slept[0] > 0, "{limit:?}, {waking:?}");
            assert_eq!(slept[1], 0, "{limit:?}, {waking:?}");
        }
    }
}

#[test]
fn who_computes_for_long_is_hardly_tried_for() {
    let micros = Duration::from_micros;
    // Every time, every other time, and by turns a little longer and shorter.
    type HowLong = fn(u64, u64) -> u64;
    let all: [(&str, HowLong); 3] = [
        ("always", |_, long| long),
        ("every other", |call, long| call % 2 * long),
        ("about", |call, long| long / 2 + call * 7 % 10 * long / 10),
    ];
    for limit in [WaitPolicy::SHARED, WaitPolicy::DEDICATED] {
        for (computes, how_long) in all {
            for (long, waking) in [(100, 10), (100, 30), (300, 30), (900, 60), (2_000, 5)] {
                let computing = |call: usize| micros(how_long(call as u64, long));
                let (slept, tried) = simulated(20_000, limit, micros(waking), computing);
                let case = format!("{limit:?}, {computes} {long}, {waking}: {tried}");
                assert!(slept[1] > 40, "{case}");
                assert!(tried < 0.08, "{case}");
            }
        }
    }
}

#[test]
fn what_takes_its_time_or_comes_while_others_want_the_cpu_changes_nothing() {
    for (slept, is_crowded) in [(2_000, false), (45, true)] {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        waiting.miss();
        waiting.is_crowded = is_crowded;
        waiting.has_slept(Duration::from_micros(slept), Duration::ZERO);
        assert_eq!((waiting.skip, waiting.is_near), (1, false), "{slept}");
    }
}

#[test]
fn what_nobody_wants_an_answer_to_gathers_until_somebody_wants_one_or_enough_comes_together() {
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    let mut octets = 0;
    for (answered, came) in [(true, 60), (false, GATHERED)] {
        for _ in 1..SILENT_READS {
            octets += 60;
            waiting.has_served(false, octets);
            assert!(!waiting.gathers());
        }
        octets += 60;
        waiting.has_served(false, octets);
        assert!(waiting.gathers());
        octets += came;
        waiting.has_served(answered, octets);
        assert!(!waiting.gathers());
    }
}

#[test]
fn a_connection_is_crowded_out_by_many_reads_in_a_row_that_came_soon_after_each_other() {
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    for _ in 1..CROWDED_READS {
        waiting.has_company(false);
    }
    assert!(!waiting.is_crowded_out());
    // Once alone, it counts anew.
    waiting.has_company(true);
    for _ in 1..CROWDED_READS {
        waiting.has_company(false);
    }
    assert!(!waiting.is_crowded_out());
    // As if they had taken their time.
    waiting.has_company(false);
    waiting.crowded_since = Instant::now().checked_sub(2 * CROWDED_WITHIN);
    assert!(!waiting.is_crowded_out());
    assert_eq!(waiting.crowded, 0);
    for _ in 0..CROWDED_READS {
        waiting.has_company(false);
    }
    waiting.crowded_since = Some(Instant::now());
    assert!(waiting.is_crowded_out());
    assert!(!waiting.is_crowded_out());
}

#[test]
fn others_have_their_turn_after_a_time_however_few_tries_it_took() {
    let mut waiting = Waiting::new(WaitPolicy::SHARED);
    let each = Duration::from_micros(40);
    while !waiting.owes_a_turn() {
        waiting.has_come_after(each);
    }
    assert_eq!(waiting.taken, 16);
    assert_eq!(waiting.skip, 0);
    waiting.turn_over();
    assert!(!waiting.owes_a_turn());
}
