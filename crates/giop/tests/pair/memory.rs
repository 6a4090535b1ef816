//! The memory in which the octets of messages lie, and its reuse.

use super::{Pipe, fragment, request};
use zorb_cdr::BigEndian;
use zorb_giop::{Limits, Message, Reader, Version};

#[test]
fn a_large_message_gets_a_buffer_of_its_own_that_ends_where_it_does() {
    for len in [100 << 10, (256 << 10) + 1, 1 << 20, (5 << 20) + 3] {
        let octets = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; len]);
        let mut reader = Reader::new(Limits::default());
        let mut pipe = Pipe::default();
        pipe.send(&octets);
        pipe.send(&octets);
        assert!(pipe.deliver(1000, &mut reader).unwrap().is_empty());
        let mut messages = Vec::new();
        let mut most = 0;
        while messages.is_empty() {
            reader.reserve().unwrap();
            most = reader.buffer().capacity();
            let received = reader.buffer().len();
            let fair = octets.len().min((2 * received).max(1 << 20));
            assert!(most <= fair, "{most} for {received} of {}", octets.len());
            messages.extend(pipe.deliver(10_000, &mut reader).unwrap());
        }
        assert_eq!(most, octets.len());
        while !pipe.0.is_empty() {
            messages.extend(pipe.deliver(usize::MAX, &mut reader).unwrap());
        }
        assert_eq!(messages.len(), 2);
        assert!(messages.iter().all(|m| m.frame.octets() == octets));
    }
}

#[test]
fn the_first_octets_of_a_large_message_take_no_memory_of_its_own() {
    let octets = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; 1 << 20]);
    let mut reader = Reader::new(Limits::default());
    for octet in octets.chunks(1).take(4 << 10) {
        reader.reserve().unwrap();
        let room = reader.buffer().capacity();
        assert!(room <= Reader::READ_OCTETS, "{room}");
        reader.buffer().extend_from_slice(octet);
        assert!(reader.next().unwrap().is_none());
        // The reader waits.
        reader.release();
    }
}

/// Where the octets of a message lie, which is gone then.
fn place(mut messages: Vec<Message>) -> usize {
    let message = messages.pop().unwrap();
    assert!(messages.is_empty());
    message.frame.octets().as_ptr().addr()
}

#[test]
fn small_messages_stay_near_the_front_of_their_memory() {
    let octets = request::<BigEndian>(Version::V1_2, 1, "op", &[7; 10]);
    let mut reader = Reader::new(Limits::default());
    let mut pipe = Pipe::default();
    let places = (0..1000).map(|_| {
        pipe.send(&octets);
        let place = place(pipe.deliver(usize::MAX, &mut reader).unwrap());
        reader.release();
        place
    });
    let places = places.collect::<Vec<_>>();
    let (first, last) = (places.iter().min().unwrap(), places.iter().max().unwrap());
    assert!(last - first <= 4096 + 8, "{first} to {last}");
    assert!(places.iter().filter(|place| *place == first).count() > 1);
}

#[test]
fn memory_is_used_again_when_the_message_in_it_is_gone() {
    for len in [24 << 10, 64 << 10, 200 << 10] {
        let octets = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; len]);
        let mut reader = Reader::new(Limits::default());
        let mut pipe = Pipe::default();
        let mut receive = || {
            pipe.send(&octets);
            let mut messages = Vec::new();
            while messages.is_empty() {
                messages = pipe.deliver(usize::MAX, &mut reader).unwrap();
            }
            reader.release();
            messages
        };
        for _ in 0..3 {
            receive();
        }
        let first = place(receive());
        assert_eq!(place(receive()), first, "{len}");
        let kept = receive();
        assert_ne!(place(receive()), first, "{len}");
        assert_eq!(place(kept), first);
    }
}

#[test]
fn fragments_are_put_together_where_others_were_before() {
    for len in [1_000, 64 << 10, 200 << 10] {
        let octets = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; len]);
        let pieces = fragment(&octets, len / 3);
        let mut reader = Reader::new(Limits::default());
        let mut receive = || {
            let mut pipe = Pipe::default();
            pieces.iter().for_each(|piece| pipe.send(piece));
            let mut messages = Vec::new();
            while messages.is_empty() {
                messages = pipe.deliver(usize::MAX, &mut reader).unwrap();
            }
            reader.release();
            place(messages)
        };
        for _ in 0..3 {
            receive();
        }
        let places: std::collections::BTreeSet<_> = (0..10).map(|_| receive()).collect();
        assert!(places.len() <= 2, "{len}: {places:?}");
    }
}

#[test]
fn a_reader_that_is_idle_leaves_no_more_than_its_bounds_to_others() {
    let octets = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; 1 << 20]);
    let mut reader = Reader::new(Limits::default());
    let mut pipe = Pipe::default();
    for _ in 0..3 {
        pipe.send(&octets);
        let mut messages = Vec::new();
        while messages.is_empty() {
            messages = pipe.deliver(usize::MAX, &mut reader).unwrap();
        }
    }
    // Room for another one like it, while it is busy.
    reader.reserve().unwrap();
    assert!(reader.buffer().capacity() >= octets.len());
    reader.release();
    assert_eq!(reader.buffer().capacity(), 0);
    let mut another = Reader::new(Limits::default());
    another.reserve().unwrap();
    assert!(another.buffer().capacity() <= 256 << 10);
}

#[test]
fn a_large_message_behind_another_is_not_moved_once_it_is_received() {
    let large = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; 1 << 20]);
    let small = request::<BigEndian>(Version::V1_2, 2, "op", &[7; 10]);
    let mut reader = Reader::new(Limits::default());
    let mut receive = |octets: &[u8]| {
        reader.reserve().unwrap();
        let room = reader.buffer().capacity();
        let at = reader.buffer().as_ptr();
        for piece in octets.chunks(64 << 10) {
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(piece);
        }
        let message = reader.next().unwrap().unwrap();
        assert_eq!(message.frame.octets(), octets);
        (room, message.frame.octets().as_ptr() == at)
    };
    // Nothing is known of the first one, whose beginning is read where there is little room.
    let (room, _) = receive(&large);
    assert!(room < 2 * Reader::READ_OCTETS, "{room}");
    for _ in 0..3 {
        let (room, is_in_place) = receive(&large);
        assert!(is_in_place && room >= large.len(), "{room}");
    }
    // Octets that were expected and did not come are not expected again.
    assert!(receive(&small).1);
    receive(&large);
    receive(&small);
    receive(&small);
    let longer = request::<BigEndian>(Version::V1_2, 1, "op", &vec![7; 3 << 20]);
    for _ in 0..2 {
        let (room, _) = receive(&longer);
        assert!(room <= (1 << 20) + Reader::READ_OCTETS, "{room}");
    }
}
