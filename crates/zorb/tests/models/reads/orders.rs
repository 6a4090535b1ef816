//! Who comes and goes, in which orders, and what must be true in all of them.

use super::*;
use crate::model;

#[test]
fn two_callers_that_read_for_each_other_both_get_their_replies() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                // Its reply comes before anybody is there to wait for it, or behind the other one.
                reads.begin(1);
                reads.arrive(1);
                reads.call(1);
            })
        };
        reads.begin(0);
        reads.arrive(0);
        reads.call(0);
        other.join().unwrap();
    });
}

#[test]
fn a_reply_that_comes_while_two_wait_wakes_somebody_who_reads_it() {
    model(2, || {
        let reads = Arc::new(Reads::new());
        reads.begin(0);
        reads.begin(1);
        let peer = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                reads.arrive(1);
                reads.arrive(0);
            })
        };
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.call(1))
        };
        reads.call(0);
        other.join().unwrap();
        peer.join().unwrap();
    });
}

#[test]
fn a_caller_that_finds_the_reactor_listening_may_sleep_without_asking_it() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        // As after the call before.
        reads.ring();
        reads.begin(0);
        let peer = {
            let reads = Arc::clone(&reads);
            // For the first one nobody waits any more: it was given up.
            thread::spawn(move || {
                reads.arrive(1);
                reads.arrive(0);
            })
        };
        reads.call(0);
        peer.join().unwrap();
    });
}

#[test]
fn nobody_depends_on_a_caller_that_was_alone_and_is_polled_no_more() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        reads.ring();
        reads.begin(0);
        assert!(!reads.poll(0), "it leads, and is never polled again");
        reads.begin(1);
        let peer = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                reads.arrive(0);
                reads.arrive(1);
            })
        };
        reads.call(1);
        peer.join().unwrap();
    });
}

#[test]
fn a_caller_that_sleeps_from_its_beginning_is_woken_although_another_one_blocks_and_reads() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        // As after the call before.
        reads.ring();
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.exchange(1))
        };
        reads.call_at_once(0);
        other.join().unwrap();
    });
}

#[test]
fn a_caller_that_blocks_and_is_in_no_table_leaves_nobody_waiting() {
    // Whether the reactor listens at first, as after an async call, or looks away, as after one that blocks.
    for listens in [true, false] {
        model(3, move || {
            let reads = Arc::new(Reads::new());
            match listens {
                true => reads.ring(),
                false => assert!(reads.exchange_alone(1)),
            }
            let other = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    if !reads.exchange_alone(1) {
                        reads.exchange(1);
                    }
                })
            };
            reads.call_at_once(0);
            other.join().unwrap();
        });
    }
}

#[test]
fn a_connection_is_not_given_up_under_a_caller_that_blocks_and_is_in_no_table() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        let idle = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.retire())
        };
        // It looks for itself whether that happens.
        reads.exchange_alone(0);
        idle.join().unwrap();
    });
}

#[test]
fn two_that_begin_while_the_reactor_listens_both_get_their_replies() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        reads.ring();
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.call_at_once(1))
        };
        reads.call_at_once(0);
        other.join().unwrap();
    });
}

#[test]
fn who_begins_or_sleeps_or_reads_while_a_connection_ends_finds_the_end() {
    for listens in [false, true] {
        model(2, move || {
            let reads = Arc::new(Reads::new());
            if listens {
                // As after the call before.
                reads.ring();
            }
            let callers = [0, 1].map(|me| {
                let reads = Arc::clone(&reads);
                thread::spawn(move || reads.call_until_the_end(me))
            });
            reads.end();
            for caller in callers {
                caller.join().unwrap();
            }
        });
    }
}

#[test]
fn three_that_block_pass_the_lead_on_until_all_have_their_replies() {
    model(2, || {
        let reads = Arc::new(Reads::new());
        let others = [1, 2].map(|me| {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.exchange(me))
        });
        reads.exchange(0);
        for other in others {
            other.join().unwrap();
        }
    });
}

#[test]
fn of_three_callers_nobody_waits_for_ever_whichever_way_it_waits() {
    for third in [Waits::Sleeping, Waits::Trying] {
        model(1, move || {
            let reads = Arc::new(Reads::new());
            // As after the call before.
            reads.ring();
            let blocks = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    if !reads.exchange_alone(0) {
                        reads.exchange(0);
                    }
                })
            };
            let waits = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    reads.begin_as(2, third);
                    reads.arrive(2);
                    reads.call_as(2, third);
                })
            };
            reads.call_at_once(1);
            blocks.join().unwrap();
            waits.join().unwrap();
        });
    }
}

#[test]
fn a_driver_that_leaves_a_connection_to_who_looks_reads_when_nobody_does() {
    // Whether the reactor listens at first, as after an async call, or looks away, as after one that blocks.
    for listens in [true, false] {
        model(1, move || {
            let (reads, driver) = Reads::driven(|reads| match listens {
                true => reads.ring(),
                false => assert!(reads.exchange_alone(0)),
            });
            let blocks = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    if !reads.exchange_alone(0) {
                        reads.exchange(0);
                    }
                })
            };
            reads.call_at_once(1);
            blocks.join().unwrap();
            reads.finish(driver);
        });
    }
}

#[test]
fn a_lone_caller_that_tries_leaves_a_connection_to_the_next_one_and_to_the_driver() {
    for next in [Waits::Sleeping, Waits::Trying] {
        model(1, move || {
            let (reads, driver) = Reads::driven(|_| {});
            let other = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    reads.begin_as(1, next);
                    reads.arrive(1);
                    reads.call_as(1, next);
                })
            };
            // Two calls, of which the second begins as the first has left the connection.
            for me in [0, 2] {
                reads.begin_as(me, Waits::Trying);
                reads.arrive(me);
                reads.call_as(me, Waits::Trying);
            }
            other.join().unwrap();
            reads.finish(driver);
        });
    }
}

#[test]
fn a_reply_that_is_late_wakes_its_lone_caller_whatever_the_driver_does_meanwhile() {
    // Nobody but the caller wants anything here, so a right whose holder forgets who has asked for it does no harm: that is seen
    // where two call. Nor does a reactor that is said to listen behind its being asked: it tells the driver then, who asks for
    // the right, or the caller, who looks for itself.
    for waits in [Waits::Sleeping, Waits::Trying] {
        model(1, move || {
            let (reads, driver) = Reads::driven(|_| {});
            let peer = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    // The first one is for a call that was given up, of which the driver is told.
                    reads.arrive(1);
                    reads.arrive(0);
                })
            };
            reads.begin_as(0, waits);
            reads.ring();
            reads.call_as(0, waits);
            peer.join().unwrap();
            reads.finish(driver);
        });
    }
}

#[test]
fn whom_the_reactor_tells_reads_although_it_has_looked_away_until_then() {
    model(2, || {
        let (reads, driver) = Reads::driven(|reads| assert!(reads.exchange_alone(0)));
        // None of them is alone, so it is the driver that is told.
        reads.begin(1);
        reads.begin(2);
        let peer = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                reads.arrive(1);
                reads.arrive(2);
            })
        };
        reads.call(1);
        reads.call(2);
        peer.join().unwrap();
        reads.finish(driver);
    });
}

#[test]
fn what_is_left_to_the_driver_is_seen_to_by_who_has_the_reactor_look_away_again() {
    model(2, || {
        let (reads, driver) = Reads::driven(|reads| assert!(reads.exchange_alone(0)));
        // It asked for the right while somebody had it who blocks.
        reads.begin(1);
        assert!(!reads.is_answered(1, false));
        let blocked = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.pass_on(None))
        };
        reads.exchange_alone(0);
        blocked.join().unwrap();
        reads.arrive(1);
        reads.bells[1].wait();
        reads.call(1);
        reads.finish(driver);
    });
}

#[test]
fn one_at_a_time_has_the_right_and_who_asks_is_heard() {
    loom::model(|| {
        let right = Arc::new(Right::new(0_usize, Waker::noop().clone()));
        let wanted = Arc::new(AtomicUsize::new(0));
        let ask = |right: &Right<usize>, wanted: &AtomicUsize| {
            // Relaxed: it is the right that makes it known.
            wanted.fetch_add(1, Ordering::Relaxed);
            let mut held = right.claim();
            while let Some(mut mine) = held {
                mine.with(|seen| *seen = wanted.load(Ordering::Relaxed));
                held = mine.give_back();
            }
        };
        let other = {
            let (right, wanted) = (Arc::clone(&right), Arc::clone(&wanted));
            thread::spawn(move || ask(&right, &wanted))
        };
        ask(&right, &wanted);
        other.join().unwrap();
        let mut right = right.claim().expect("nobody has it any more");
        right.with(|seen| assert_eq!(*seen, 2));
        assert!(right.give_back().is_none());
    });
}
