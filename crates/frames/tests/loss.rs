//! Streams over networks that lose, double and reorder datagrams, and senders that mean harm.

use proptest::prelude::*;
use zorb_frames::{Assembler, Counts, Frame, HEADER, Limits, Splitter};

const STREAM: u32 = 7;

fn picture(number: u32, octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (at as u32 ^ number) as u8).collect()
}

/// The datagrams of frames with these numbers of octets.
fn datagrams(splitter: &mut Splitter, frames: &[usize]) -> Vec<Vec<Vec<u8>>> {
    frames
        .iter()
        .map(|octets| {
            let number = splitter.next_sequence();
            let mut all = Vec::new();
            let sent = splitter.send(
                u64::from(number) * 40,
                &picture(number, *octets),
                |datagram| {
                    all.push(datagram.to_vec());
                    Ok(())
                },
            );
            sent.unwrap();
            all
        })
        .collect()
}

fn splitter(room: usize) -> Splitter {
    Splitter::new(STREAM, HEADER + room).unwrap()
}

fn assembler() -> Assembler {
    Assembler::new(STREAM, Limits::default())
}

fn take(assembler: &mut Assembler, datagrams: &[Vec<u8>]) -> Vec<Frame> {
    datagrams
        .iter()
        .filter_map(|it| assembler.take(it))
        .collect()
}

fn numbers(frames: &[Frame]) -> Vec<u32> {
    frames.iter().map(|frame| frame.sequence).collect()
}

#[test]
fn frames_come_back_as_they_were_sent_in_datagrams_of_any_size() {
    let sizes = [0, 1, 99, 100, 101, 5_000];
    for room in [1, 7, 100, 1_376, 60_000] {
        let limits = Limits {
            max_pieces: u16::MAX,
            ..Limits::default()
        };
        let mut assembler = Assembler::new(STREAM, limits);
        let sent = datagrams(&mut splitter(room), &sizes).concat();
        assert!(sent.iter().all(|it| it.len() <= HEADER + room));
        let frames = take(&mut assembler, &sent);
        for ((number, octets), frame) in (0..).zip(sizes).zip(&frames) {
            assert_eq!(frame.octets, picture(number, octets));
            assert_eq!(frame.timestamp, u64::from(number) * 40);
        }
        assert_eq!(frames.len(), sizes.len());
        let mut expected = Counts::default();
        expected.frames = sizes.len() as u64;
        assert_eq!(assembler.counts(), expected);
        assert_eq!(assembler.held_octets(), 0);
    }
}

#[test]
fn a_frame_that_lacks_a_piece_is_dropped_whole_and_the_next_one_is_returned() {
    let mut sent = datagrams(&mut splitter(100), &[350, 350, 350]);
    sent[1].remove(2);
    let mut assembler = assembler();
    let frames = take(&mut assembler, &sent.concat());
    assert_eq!(numbers(&frames), [0, 2]);
    let counts = assembler.counts();
    assert_eq!((counts.frames, counts.lost, counts.broken), (2, 1, 1));
    assert_eq!(assembler.held_octets(), 0, "its pieces are gone");
}

#[test]
fn frames_that_overtake_each_other_are_reordered_or_late() {
    let mut assembler = assembler();
    let sent = datagrams(&mut splitter(100), &[10, 350, 350, 10, 10]);
    let [zero, one, two, three, four] = &sent[..] else {
        panic!()
    };
    let mut frames = take(&mut assembler, zero);
    // A piece of the second overtakes the first, which is whole in time.
    frames.extend(take(&mut assembler, &two[..1]));
    frames.extend(take(&mut assembler, one));
    frames.extend(take(&mut assembler, &two[1..]));
    // The fourth overtakes the third.
    frames.extend(take(&mut assembler, four));
    frames.extend(take(&mut assembler, three));
    assert_eq!(numbers(&frames), [0, 1, 2, 4]);
    let counts = assembler.counts();
    assert_eq!(counts.frames, 4);
    assert_eq!((counts.reordered, counts.late, counts.lost), (1, 1, 0));
    // All of it again changes nothing.
    assert_eq!(take(&mut assembler, &sent.concat()), []);
    let again = assembler.counts();
    assert_eq!((again.frames, again.late, again.lost), (4, 1, 0));
    assert_eq!(again.doubled, sent.concat().len() as u64);
}

#[test]
fn numbers_go_round_the_end() {
    let mut splitter = splitter(100).beginning_at(u32::MAX - 1);
    let mut sent = datagrams(&mut splitter, &[250, 250, 250, 250]);
    sent.remove(1);
    let mut assembler = assembler();
    let frames = take(&mut assembler, &sent.concat());
    assert_eq!(numbers(&frames), [u32::MAX - 1, 0, 1]);
    assert_eq!(assembler.counts().lost, 1);
}

#[test]
fn a_number_far_away_is_refused_and_a_sender_that_begins_anew_is_followed() {
    let mut assembler = assembler();
    let first = datagrams(&mut splitter(100).beginning_at(5_000), &[10, 10]);
    assert_eq!(take(&mut assembler, &first.concat()).len(), 2);
    let stray = datagrams(&mut splitter(100).beginning_at(2_000_000_000), &[10]);
    assert_eq!(take(&mut assembler, &stray.concat()), []);
    let next = datagrams(&mut splitter(100).beginning_at(5_002), &[10]);
    assert_eq!(numbers(&take(&mut assembler, &next.concat())), [5_002]);
    let anew = datagrams(&mut splitter(100), &[10, 10, 10]);
    assert_eq!(numbers(&take(&mut assembler, &anew.concat())), [1, 2]);
    let counts = assembler.counts();
    assert_eq!((counts.restarts, counts.refused, counts.lost), (1, 2, 0));
}

#[test]
fn what_contradicts_itself_or_belongs_elsewhere_is_refused() {
    let good = datagrams(&mut splitter(100), &[250]).concat();
    let changed = |at: usize, to: u8| {
        let mut datagram = good[1].clone();
        datagram[at] = to;
        datagram
    };
    let mut assembler = assembler();
    assert_eq!(assembler.take(&good[0]), None);
    let strange = [
        // No header, another magic, another stream.
        good[1][..HEADER - 1].to_vec(),
        changed(0, b'z'),
        changed(7, 8),
        // A piece behind the last, no piece, more than permitted, other numbers of pieces, another time.
        changed(13, 3),
        changed(15, 0),
        changed(14, 0xff),
        changed(15, 4),
        changed(23, 9),
        // An empty piece.
        good[1][..HEADER].to_vec(),
    ];
    let refused = strange.len() as u64;
    assert_eq!(take(&mut assembler, &strange), []);
    assert_eq!(assembler.counts().refused, refused);
    assert_eq!(take(&mut assembler, &good[1..]).len(), 1);
}

#[test]
fn a_frame_that_does_not_fit_is_not_sent() {
    let mut splitter = splitter(1);
    let mut sent = 0;
    let send = |_: &[u8]| {
        sent += 1;
        Ok(())
    };
    let error = splitter.send(0, &[0; 65_536], send).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!((sent, splitter.next_sequence()), (0, 0));
    assert!(Splitter::new(STREAM, HEADER).is_none());
}

#[test]
fn a_socket_that_takes_no_more_loses_the_frame_alone() {
    let mut splitter = splitter(100);
    let full = splitter.send(0, &[1; 250], |_| Err(std::io::ErrorKind::WouldBlock.into()));
    assert!(full.is_err());
    let next = datagrams(&mut splitter, &[10]).concat();
    assert_eq!(assembler().take(&next[0]).unwrap().sequence, 1);
}

/// No sender makes the receiver hold more than its limits, whatever frames it begins.
#[test]
fn a_hostile_sender_takes_no_more_memory_than_the_limits() {
    let limits = Limits {
        max_frame_octets: 10_000,
        max_pieces: 50,
        max_pending: 3,
    };
    let mut assembler = Assembler::new(STREAM, limits);
    let mut begun = 0;
    for number in (0..2_000_u32).chain((0..2_000).rev()) {
        let mut splitter = splitter(900).beginning_at(number);
        let frame = datagrams(&mut splitter, &[30_000]).concat();
        // All but the last piece, of frames that are too large, and of ones that would fit.
        let pieces = frame.len() - 1 - (number as usize % 30);
        for datagram in &frame[..pieces] {
            assert_eq!(assembler.take(datagram), None);
            assert!(assembler.held_octets() <= 3 * 10_000);
        }
        begun += 1;
    }
    let counts = assembler.counts();
    assert_eq!(counts.frames, 0);
    assert!(counts.broken + counts.refused >= begun);
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Passes,
    Lost,
    Doubled,
    /// Overtaken by so many others.
    Delayed(usize),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        8 => Just(Fate::Passes),
        1 => Just(Fate::Lost),
        1 => Just(Fate::Doubled),
        1 => (1..40_usize).prop_map(Fate::Delayed),
    ]
}

/// The datagrams as they arrive.
fn arriving(sent: Vec<Vec<u8>>, fates: &[Fate]) -> Vec<Vec<u8>> {
    let mut timed = Vec::new();
    for (at, (datagram, fate)) in sent.into_iter().zip(fates.iter().cycle()).enumerate() {
        match fate {
            Fate::Lost => {}
            Fate::Passes => timed.push((at, datagram)),
            Fate::Doubled => timed.extend([(at, datagram.clone()), (at + 3, datagram)]),
            Fate::Delayed(by) => timed.push((at + by, datagram)),
        }
    }
    timed.sort_by_key(|(at, _)| *at);
    timed.into_iter().map(|(_, datagram)| datagram).collect()
}

proptest! {
    #[test]
    fn every_frame_is_whole_and_newer_than_the_last_and_the_counts_are_of_all(
        sizes in prop::collection::vec(0..1_500_usize, 1..60),
        fates in prop::collection::vec(fate(), 1..300),
        begins in any::<u32>(),
    ) {
        let mut splitter = splitter(200).beginning_at(begins);
        let sent = datagrams(&mut splitter, &sizes).concat();
        let limits = Limits { max_pending: 60, ..Limits::default() };
        let mut assembler = Assembler::new(STREAM, limits);
        let mut newest = None;
        let mut first = None;
        for datagram in arriving(sent, &fates) {
            let Some(frame) = assembler.take(&datagram) else { continue };
            let index = frame.sequence.wrapping_sub(begins);
            prop_assert_eq!(&frame.octets, &picture(frame.sequence, sizes[index as usize]));
            prop_assert!(newest.is_none_or(|newest| newest < index));
            newest = Some(index);
            first.get_or_insert(index);
        }
        let counts = assembler.counts();
        let of_all = newest.map_or(0, |newest| u64::from(newest - first.unwrap()) + 1);
        prop_assert_eq!(counts.frames + counts.lost + counts.late, of_all);
        prop_assert_eq!(counts.refused, 0);
        prop_assert_eq!(counts.restarts, 0);
        if fates.iter().all(|fate| matches!(fate, Fate::Passes | Fate::Doubled)) {
            prop_assert_eq!(counts.frames, sizes.len() as u64);
        }
    }

    #[test]
    fn octets_of_any_kind_are_taken_or_refused(
        all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..50),
        cut in 0..HEADER,
    ) {
        let mut assembler = assembler();
        for octets in all {
            let begins_well = [&b"ZAV1\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"[..cut], &octets].concat();
            assembler.take(&octets);
            assembler.take(&begins_well);
        }
        prop_assert!(assembler.held_octets() <= 4 << 20);
    }
}
