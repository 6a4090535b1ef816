//! Random losses, configurations and writes.

use super::{Losses, Pair, ended, pattern};
use crate::session::frame::cost;
use crate::session::{Config, SessionEnd};
use proptest::prelude::*;
use std::time::Duration;

fn losses() -> impl Strategy<Value = Losses> {
    // With more losses, all answers to the probes of fifteen seconds are lost now and then, and a peer counts as
    // dead.
    (0u64..12, 1u64..).prop_map(|(percent, random)| Losses { percent, random })
}

fn configs() -> impl Strategy<Value = Config> {
    (
        256usize..20_000,
        30_000u64..300_000,
        1usize..60_000,
        1usize..60_000,
    )
        .prop_map(
            |(max_sdu, receive_buffer, send_octets, receive_octets)| Config {
                max_sdu,
                receive_buffer: receive_buffer.max(Config::RESERVE + cost(max_sdu)),
                send_octets,
                receive_octets,
                ..Config::default()
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_lost_or_doubled_both_ledgers_agree(
        losses in losses(),
        doubles in losses(),
        config in configs(),
        writes in prop::collection::vec((0usize..2, 0u64..3, 1usize..20_000), 1..24),
        cuts in prop::collection::vec((0u64..400, 1u64..900), 0..3),
    ) {
        // A window of a few octets needs a few steps for each of them.
        let most = 500 * config.send_octets.min(config.receive_octets);
        let mut pair = Pair::new(config, losses);
        pair.wire.doubles = doubles;
        for id in 0..3 {
            pair.opened(id);
        }
        let mut ledgers = vec![(Vec::new(), Vec::new(), 0usize); 6];
        for (end, id, length) in writes {
            let length = length.min(most);
            let sent = &mut ledgers[end * 3 + id as usize].0;
            let from = sent.len();
            sent.extend((from..from + length).map(|n| (n % 253) as u8));
        }
        let began = pair.now;
        for _ in 0..200_000 {
            let since = (pair.now - began).as_millis() as u64;
            pair.wire.cut = cuts.iter().any(|(from, length)| (*from..from + length).contains(&since));
            for end in 0..2 {
                for id in 0..3 {
                    let of = end * 3 + id as usize;
                    let (sent, _, written) = ledgers[of].clone();
                    let taken = if written < sent.len() { pair.write(end, id, &sent[written..]) } else { 0 };
                    ledgers[of].2 += taken;
                    let read = pair.read(1 - end, id);
                    ledgers[of].1.extend(read);
                }
            }
            if ledgers.iter().all(|(sent, received, _)| sent.len() == received.len()) {
                break;
            }
            prop_assert!(pair.step());
        }
        for (sent, received, _) in &ledgers {
            prop_assert!(sent == received, "sent {}, received {}", sent.len(), received.len());
        }
        // Then all of them end in order.
        pair.wire.cut = false;
        for id in 0..3 {
            pair.ends[0].release(pair.now, id);
            pair.ends[1].release(pair.now, id);
        }
        pair.pass(Duration::from_secs(60));
        pair.ends[1].listen(false);
        prop_assert!(pair.ends[0].is_idle() && pair.ends[1].is_idle());
        prop_assert_eq!(pair.ends[0].in_flight() + pair.ends[1].in_flight(), 0);
    }

    #[test]
    fn what_was_received_before_a_restart_is_a_beginning_of_what_was_sent(
        losses in losses(),
        config in configs(),
        steps in 0usize..200,
        dies in 0usize..2,
    ) {
        let mut pair = Pair::new(config, losses);
        pair.opened(1);
        let sent = pattern(200_000);
        let (mut written, mut received) = (0, Vec::new());
        for _ in 0..steps {
            written += pair.write(0, 1, &sent[written..]);
            received.extend(pair.read(1, 1));
            prop_assert!(pair.step());
        }
        pair.restart(dies);
        // The survivor notices it by its own frames, by those of the new session, or by silence.
        pair.ends[0].open(pair.now, 2).unwrap();
        pair.run(|pair| pair.ends[0].is_open(2).unwrap());
        prop_assert_eq!(pair.ends[1].accept(), Some(2));
        if dies == 0 {
            received.extend(pair.read(1, 1));
        }
        prop_assert_eq!(ended(&mut pair, 1 - dies, 1), Some(SessionEnd::Reset));
        prop_assert!(sent.starts_with(&received));
        prop_assert!(pair.carry(0, 2, &sent) == sent);
        prop_assert!(pair.carry(1, 2, &sent) == sent);
    }
}
