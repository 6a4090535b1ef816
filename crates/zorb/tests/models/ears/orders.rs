//! Who comes and goes, in which orders, and what must be true in all of them.

use super::calls::Call;
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

/// A call that is not sent yet.
fn begin<'a>(client: &'a Client, policy: WaitPolicy, waker: &Waker) -> Call<'a> {
    client.begin(policy, waker).expect("it is not over")
}

/// A call to which the peer answers at once.
fn call(client: &Client) {
    assert!(client.call(WaitPolicy::Park));
}

#[test]
fn calls_that_are_alone_are_woken_one_after_the_other_whatever_else_the_reactor_tells() {
    fn calls(client: &Arc<Client>) {
        // A reply to a call that was given up.
        let reactor = beside(client, |client| client.arrive(RequestId(u32::MAX)));
        call(client);
        call(client);
        reactor.join().unwrap();
    }
    for few in [true, false] {
        let how = How {
            few,
            ..How::default()
        };
        models(how, calls);
        models(how, |client| {
            // The first of them finds a reactor that looks away, and has itself woken.
            client.exchange();
            calls(client);
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
        let mut alone = begin(client, WaitPolicy::Park, Waker::noop());
        assert!(alone.heard.is_some());
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
    let how = How {
        late: true,
        ..How::default()
    };
    models(how, |client| {
        let mut first = begin(client, WaitPolicy::Park, Waker::noop());
        first.sent = true;
        // The reactor looks away, and whom it would wake is in the table from now on.
        client.exchange();
        let bed = Bed::new();
        let waker = Waker::from(Arc::clone(&bed));
        // Perhaps before the driver has had the reactor listen again.
        let mut second = begin(client, WaitPolicy::Park, &waker);
        second.sent = true;
        let polled = second.poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        client.arrive(second.id);
        // It is not polled before it is woken.
        bed.0.wait();
        assert!(second.sleep(&bed));
    });
}

#[test]
fn nobody_depends_on_who_has_been_told_and_is_polled_no_more() {
    // Whether it has been polled, and has asked the reactor itself. That the reactor listens is said before it is asked: said
    // behind that as well, it might be said although the reactor has told of something since, and this would never end. Said
    // behind it only it would do no harm: then the reactor tells the driver, who asks for the right and puts that right.
    fn told(client: &Arc<Client>, is_polled: bool) {
        let mut first = begin(client, WaitPolicy::Park, Waker::noop());
        first.sent = true;
        let id = first.id;
        let reactor = beside(client, move |client| client.arrive(id));
        if is_polled {
            let _ = first.poll(&mut Context::from_waker(Waker::noop()));
        }
        call(client);
        reactor.join().unwrap();
    }
    models(How::default(), |client| told(client, false));
    models(How::default(), |client| {
        client.exchange();
        told(client, true);
    });
}

#[test]
fn who_finds_its_reply_in_the_reader_takes_back_that_the_reactor_listens() {
    let how = How {
        messages_per_turn: 1,
        ..How::default()
    };
    models(how, |client| {
        let bed = Bed::new();
        let waker = Waker::from(Arc::clone(&bed));
        let mut tries = begin(client, WaitPolicy::Spin(WaitPolicy::DEDICATED), &waker);
        let mut sleeps = begin(client, WaitPolicy::Park, &waker);
        for call in [&mut tries, &mut sleeps] {
            call.sent = true;
            client.arrive(call.id);
        }
        // It finds both by trying, unless the driver reads, and leaves the second to the next turn, which may be the other's.
        assert!(tries.sleep(&bed));
        assert!(sleeps.sleep(&bed));
        call(client);
    });
}

/// The same as `models`, and then the peer closes the connection, which somebody has to notice.
fn closing(orders: impl Fn(&Arc<Client>) + Copy + Send + Sync + 'static) {
    for (has_thread, interruptions) in [(false, 2), (true, 1)] {
        model(interruptions, move || {
            let (client, driver) = Client::used(How::default(), has_thread);
            orders(&client);
            client.close(driver);
        });
    }
}

#[test]
fn a_connection_that_the_reactor_looks_away_from_is_looked_at_when_all_callers_have_gone() {
    closing(|client| {
        let other = beside(client, |client| {
            client.exchange();
        });
        call(client);
        other.join().unwrap();
    });
}

#[test]
fn a_connection_is_looked_at_although_whom_the_reactor_has_told_of_something_was_dropped() {
    fn drops(client: &Arc<Client>, sent: bool) {
        let mut alone = begin(client, WaitPolicy::Park, Waker::noop());
        alone.sent = sent;
        let id = alone.id;
        let reactor = beside(client, move |client| client.arrive(id));
        drop(alone);
        reactor.join().unwrap();
    }
    closing(|client| drops(client, true));
    closing(|client| drops(client, false));
}
