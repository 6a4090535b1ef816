//! The contract of transports, as checks that are generic over the transport: octets, wake-ups, ends, addresses, and
//! faults between the ends.
//!
//! An adapter implements [`Fixture`] and writes `zorb_transport::conformance_tests!(its_fixture())` in a test file;
//! that makes one test of each check, run on both flavours of runtime. A fixture that can lose and double frames under
//! the transport says so, `conformance_tests!(its_fixture(), frames)`; without the word, libtest reports the check of
//! these faults as ignored. The checks wait for events, never for time:
//! where an obligation is broken by a missing wake-up, the check hangs.
#![expect(
    missing_docs,
    reason = "the names of the checks are sentences that say what is checked"
)]
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::expect_used,
        clippy::indexing_slicing,
        reason = "these are tests, and are to fail loudly"
    )
)]

use std::{
    future::poll_fn,
    io::{self, IoSlice},
    sync::{Arc, OnceLock},
};

use bytes::BytesMut;
use tokio::runtime::{Builder, Runtime};

use crate::{Connection, Endpoint, Listener, Transport};

mod ending;
mod faults;
mod listening;
mod profiles;
mod streaming;

pub use ending::*;
pub use faults::*;
pub use listening::*;
pub use profiles::*;
pub use streaming::*;

/// A transport under test.
pub trait Fixture: Send + Sync {
    /// Whether the checks can run here. A fixture whose transport needs what not every machine has says that they are
    /// skipped, and returns `false`.
    fn is_available(&self) -> bool {
        true
    }

    /// Whether the checks run on a current-thread runtime, too, and not only on one with two workers. A fixture of a slow
    /// transport may leave that to another fixture of the same source.
    fn runs_on_one_thread(&self) -> bool {
        true
    }

    /// Returns the transport, as its users would make it.
    fn transport(&self) -> Arc<dyn Transport>;

    /// Returns a free endpoint to listen on, another one each time.
    fn endpoint(&self) -> Endpoint;

    /// Returns an endpoint that has no listener as long as the fixture lives, and the kind of error that connecting to
    /// it gives.
    fn unreachable(&self) -> (Endpoint, io::ErrorKind);

    /// Returns the number of questions and answers by which a check looks for a wake-up that is lost, and of messages of
    /// an octet each. A lost wake-up is rare, so a number below the default is for transports whose messages take long.
    fn turns(&self) -> usize {
        5_000
    }

    /// Returns the octets of a large message: many times what one read or write moves, and more than a connection takes
    /// before its peer reads.
    fn large(&self) -> usize {
        2 * 1024 * 1024
    }

    /// Returns the control over faults of frames under the transport, if it has any frames.
    fn frames(&self) -> Option<&dyn FrameFaults> {
        None
    }
}

/// Makes one test of each check, over the fixture that the expression makes. The word `frames` behind it says that
/// [`Fixture::frames`] returns a control.
#[macro_export]
#[doc(hidden)]
macro_rules! conformance_tests {
    ($fixture:expr) => {
        $crate::conformance_tests! { @all $fixture; }
        #[test]
        #[ignore = "the fixture has no control over frames"]
        fn frames_that_are_lost_or_doubled_are_made_good() {}
    };
    ($fixture:expr, frames) => {
        $crate::conformance_tests! { @all $fixture; }
        $crate::conformance_tests! { @each $fixture;
            frames_that_are_lost_or_doubled_are_made_good
        }
    };
    (@all $fixture:expr;) => {
        $crate::conformance_tests! { @each $fixture;
            octets_come_back_as_they_were_sent
            a_write_of_many_chunks_keeps_their_order
            a_write_of_nothing_takes_nothing
            a_full_connection_says_would_block_and_becomes_writable_when_the_peer_reads
            both_directions_carry_megabytes_at_the_same_time
            tiny_reads_see_every_octet_once
            a_long_conversation_loses_no_wake_up
            reading_keeps_what_the_buffer_held
            a_full_buffer_is_not_the_end_of_the_stream
            the_end_of_the_stream_is_said_again_and_again
            a_half_closed_connection_still_carries_the_answer
            a_dropped_connection_is_the_peers_end_of_stream
            closing_wakes_the_waiting_reader
            closing_wakes_the_waiting_writer
            writing_to_a_closed_peer_is_an_error
            the_last_waker_of_a_reader_is_woken
            trying_to_read_takes_what_is_there_and_never_waits
            octets_that_come_without_read_interest_are_found_by_the_next_poll
            trying_and_waiting_in_turn_loses_no_wake_up
            waiting_to_accept_is_ended_by_a_peer
            peers_wait_in_the_queue_until_they_are_accepted
            a_peer_that_left_before_it_was_accepted_does_no_harm
            a_listener_reports_where_it_really_listens
            an_accepted_connection_outlives_its_listener
            a_dropped_listener_refuses
            an_endpoint_in_use_is_refused_to_a_second_listener
            a_refused_connection_names_the_endpoint_and_the_cause
            an_endpoint_of_another_scheme_is_an_error
            a_read_that_blocks_waits_for_octets_for_its_limit_and_for_the_end
            connections_may_be_driven_from_another_runtime
            text_is_read_as_the_endpoint_that_it_was_written_from
            octets_are_read_as_the_endpoint_that_they_were_written_from
            components_are_read_as_what_was_written_and_cut_ones_are_errors
            another_transport_s_endpoint_is_not_written
            properties_are_reported_and_refused_by_name
            octets_that_come_late_and_in_pieces_are_all_there_in_order
            a_connection_that_is_cut_at_any_octet_gives_what_came_before_it_and_ends
            a_stalled_peer_holds_the_writer_up_and_loses_nothing
        }
    };
    (@each $fixture:expr; $($check:ident)*) => {
        $(
            #[test]
            fn $check() {
                $crate::conformance::run(&$fixture, $crate::conformance::$check);
            }
        )*
    };
}

/// Runs a check on a current-thread runtime, then on one with two workers, where the fixture is available.
pub fn run(fixture: &dyn Fixture, check: impl AsyncFn(&dyn Fixture)) {
    if !fixture.is_available() {
        return;
    }
    if fixture.runs_on_one_thread() {
        runtime(&mut Builder::new_current_thread()).block_on(check(fixture));
    }
    runtime(Builder::new_multi_thread().worker_threads(2)).block_on(check(fixture));
}

fn runtime(builder: &mut Builder) -> Runtime {
    builder.enable_all().build().expect("a runtime")
}

async fn listening(fixture: &dyn Fixture) -> (Arc<dyn Transport>, Box<dyn Listener>) {
    let transport = fixture.transport();
    let listener = transport
        .listen(&fixture.endpoint())
        .await
        .expect("a free endpoint");
    (transport, listener)
}

async fn accept(listener: &dyn Listener) -> Box<dyn Connection> {
    poll_fn(|cx| listener.poll_accept(cx))
        .await
        .expect("a peer")
}

async fn connected(fixture: &dyn Fixture) -> (Box<dyn Connection>, Box<dyn Connection>) {
    let (transport, listener) = listening(fixture).await;
    let client = transport
        .connect(listener.endpoint())
        .await
        .expect("a connection");
    (client, accept(&*listener).await)
}

async fn read(connection: &dyn Connection, octets: &mut BytesMut) -> io::Result<usize> {
    poll_fn(|cx| connection.poll_read(cx, octets)).await
}

async fn read_exactly(connection: &dyn Connection, length: usize) -> Vec<u8> {
    let mut octets = BytesMut::with_capacity(length);
    while octets.len() < length {
        let count = read(connection, &mut octets)
            .await
            .expect("a readable connection");
        assert!(
            count > 0,
            "expected {length} octets, found the end after {}",
            octets.len()
        );
    }
    octets.into()
}

async fn read_to_end(connection: &dyn Connection) -> Vec<u8> {
    let mut octets = BytesMut::new();
    loop {
        octets.reserve(64 * 1024);
        if read(connection, &mut octets)
            .await
            .expect("a readable connection")
            == 0
        {
            return octets.into();
        }
    }
}

async fn write_some(connection: &dyn Connection, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
    loop {
        match connection.try_write(chunks) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll_fn(|cx| connection.poll_write_ready(cx)).await?;
            }
            result => return result,
        }
    }
}

async fn write_all(connection: &dyn Connection, mut octets: &[u8]) -> io::Result<()> {
    while !octets.is_empty() {
        let taken = write_some(connection, &[IoSlice::new(octets)]).await?;
        octets = &octets[taken..];
    }
    Ok(())
}

/// Returns octets that show when one is missing, doubled or out of place: no period divides a buffer's size.
fn pattern(seed: usize, length: usize) -> Vec<u8> {
    // Copied from a table: octet by octet, an emulated machine would take seconds for a megabyte.
    static PERIOD: OnceLock<Vec<u8>> = OnceLock::new();
    let octet = |n: usize| (n % 251) as u8 ^ (n / 251) as u8;
    let period = PERIOD.get_or_init(|| (0..251 * 241).map(octet).collect());
    let mut octets = Vec::with_capacity(length);
    let (_, mut rest) = period.split_at(seed % period.len());
    while octets.len() < length {
        let taken = rest.len().min(length - octets.len());
        octets.extend_from_slice(&rest[..taken]);
        rest = period;
    }
    octets
}

const BLOCK: usize = 64 * 1024;
