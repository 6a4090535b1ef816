//! Who comes and goes, in which orders, and what must be true in all of them.

use super::*;
use crate::model;

/// Tries `orders` with a driver that runs where it is woken, and with one that may be late. Then nobody is left waiting.
fn models(how: How, orders: impl Fn(&Arc<Client>) + Copy + Send + Sync + 'static) {
    for (has_thread, interruptions) in [(false, 2), (true, 1)] {
        model(interruptions, move || {
            let (client, driver) = Client::used(how, has_thread);
            orders(&client);
            client.finish(driver);
        });
    }
}

/// A thread of its own.
fn beside(
    client: &Arc<Client>,
    run: impl FnOnce(&Client) + Send + 'static,
) -> thread::JoinHandle<()> {
    let client = Arc::clone(client);
    thread::spawn(move || run(&client))
}

/// A call to which the peer answers at once.
fn call(client: &Client) {
    assert!(client.call(WaitPolicy::Park));
}

#[test]
fn calls_that_are_alone_are_woken_one_after_the_other_whatever_else_the_reactor_tells() {
    for few in [true, false] {
        let how = How {
            few,
            ..How::default()
        };
        models(how, |client| {
            // A reply to a call that was given up.
            let reactor = beside(client, |client| client.arrive(RequestId(u32::MAX)));
            call(client);
            call(client);
            reactor.join().unwrap();
        });
    }
}

#[test]
fn a_call_that_is_alone_and_another_that_comes_meanwhile_both_get_their_replies() {
    models(How::default(), |client| {
        let other = beside(client, call);
        call(client);
        other.join().unwrap();
    });
}

#[test]
fn a_call_that_is_alone_and_dropped_leaves_nobody_waiting() {
    fn drops(client: &Arc<Client>, sent: bool) {
        let alone = client.begin(WaitPolicy::Park, Waker::noop());
        let mut alone = alone.expect("it is not over");
        assert!(alone.heard);
        alone.sent = sent;
        let other = beside(client, call);
        if sent {
            // It is told who is not polled any more.
            client.arrive(alone.id);
        }
        drop(alone);
        other.join().unwrap();
    }
    models(How::default(), |client| drops(client, true));
    models(How::default(), |client| drops(client, false));
}

#[test]
fn a_call_that_is_alone_finds_the_end() {
    models(How::default(), |client| {
        let other = beside(client, Client::over);
        assert!(!client.call_of(WaitPolicy::Park, |_| {}));
        other.join().unwrap();
    });
}

#[test]
fn a_reply_that_comes_twice_counts_once() {
    models(How::default(), |client| {
        let other = beside(client, call);
        assert!(client.call_of(WaitPolicy::Park, |id| {
            client.arrive(id);
            client.arrive(id);
        }));
        other.join().unwrap();
    });
}

#[test]
fn a_call_that_is_alone_is_woken_although_another_one_blocks_in_no_table_and_reads() {
    models(How::default(), |client| {
        let other = beside(client, |client| {
            client.exchange();
        });
        call(client);
        other.join().unwrap();
    });
}

#[test]
fn nobody_depends_on_a_leader_that_is_polled_no_more_since_another_one_has_read() {
    models(How::default(), |client| {
        let alone = client.begin(WaitPolicy::Park, Waker::noop());
        let mut alone = alone.expect("it is not over");
        alone.sent = true;
        // The reactor looks away, and whom it would wake is in the table.
        let other = beside(client, |client| {
            client.exchange();
        });
        call(client);
        other.join().unwrap();
        drop(alone);
    });
}

#[test]
fn what_is_left_in_the_reader_is_looked_at_by_who_says_that_the_reactor_listens() {
    let how = How {
        messages_per_turn: 1,
        ..How::default()
    };
    models(how, |client| {
        let other = beside(client, |client| {
            let bed = Bed::new();
            let waker = Waker::from(Arc::clone(&bed));
            // It finds both replies by trying, and its own is the first.
            let mut tries =
                (client.begin(WaitPolicy::Spin(WaitPolicy::DEDICATED), &waker)).unwrap();
            client.arrive(tries.id);
            tries.sent = true;
            assert!(tries.wait(&bed));
        });
        call(client);
        other.join().unwrap();
        // The next one relies on what has been said.
        call(client);
    });
}

#[test]
fn a_connection_that_the_reactor_looks_away_from_is_looked_at_when_all_callers_have_gone() {
    for (has_thread, interruptions) in [(false, 2), (true, 1)] {
        model(interruptions, move || {
            let (client, driver) = Client::used(How::default(), has_thread);
            let other = beside(&client, |client| {
                client.exchange();
            });
            call(&client);
            other.join().unwrap();
            client.close(driver);
        });
    }
}
