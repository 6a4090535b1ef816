//! Queues, batches and writes of one connection, over sockets that take octets as a test says.

use super::{Batched, FRAGMENTS_PER_TURN, Flush, KEPT_PLACES, Outbound, Queued, Ticket};
use crate::mock::{Acts, Mock};
use bytes::{Bytes, BytesMut};
use core::task::{Context, Poll, Waker};
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Wake;
use zorb_cdr::{Encoder, Gather, NativeEndian, WireFormat};
use zorb_giop::{
    Limits, MessageKind, Reader, RequestBuilder, RequestHeader, ResponseFlags, Version,
    cancel_request, empty_message,
};

/// A socket that takes nothing, for the reason given.
#[derive(Debug)]
struct TakesNothing(io::ErrorKind);

impl Acts for TakesNothing {
    fn write(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

fn takes_nothing(kind: io::ErrorKind) -> Mock<TakesNothing> {
    Mock::new(TakesNothing(kind))
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn message() -> Gather {
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.append(&Bytes::from_static(b"octets"));
    e.finish()
}

#[test]
fn a_driver_that_waits_for_a_full_socket_is_not_woken_by_its_own_attempts() {
    let socket = takes_nothing(io::ErrorKind::WouldBlock);
    let outbound = Outbound::default();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    outbound.submit(message());
    for _ in 0..10 {
        outbound.driver.register(&waker);
        assert!(matches!(outbound.flush(&socket), Ok(Flush::Blocked)));
        assert!(outbound.poll_unblock(&socket, &mut cx).is_pending());
    }
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_queued_counts_with_the_memory_that_it_takes() {
    let outbound = Outbound::default();
    let mut messages = 0;
    while outbound.has_room() {
        // Replies are few octets in a buffer that may have held a large message before.
        let buffer = BytesMut::with_capacity(match messages % 2 {
            0 => 1 << 10,
            _ => 200 << 10,
        });
        let mut e = Encoder::<NativeEndian>::with_buffer(buffer, WireFormat::default());
        e.append(&[7; 36]);
        outbound.submit(e.finish());
        messages += 1;
    }
    // Half of them take 1 KiB each.
    assert!((500..=2 << 10).contains(&messages), "{messages} messages");
    // All memory is released.
    let socket = Mock::new(Narrow::default());
    let_through(&socket, &outbound, usize::MAX);
    assert_eq!(outbound.queued_octets(), 0);
    assert_eq!(socket.taken.lock().unwrap().len(), 36 * messages);
}

#[test]
fn a_queue_that_has_been_long_takes_no_memory_when_it_is_empty() {
    let outbound = Outbound::default();
    let socket = Mock::new(Narrow::default());
    let places = |outbound: &Outbound| {
        let writing = outbound.writing.lock().unwrap().messages.capacity();
        writing + outbound.queue().messages.capacity()
    };
    // Twice, as the queue and the writer hand their lists to each other.
    for _ in 0..2 {
        let mut messages = 0;
        while outbound.has_room() {
            outbound.submit(Gather::from(BytesMut::from(&[7; 36][..])));
            messages += 1;
        }
        assert!(places(&outbound) >= messages);
        for written in 0..messages {
            let_through(&socket, &outbound, 36);
            let left = messages - written - 1;
            let most = 2 * (left + KEPT_PLACES);
            assert!(places(&outbound) <= most, "{} of {most}", places(&outbound));
        }
    }
}

#[test]
fn nothing_is_written_after_the_transport_has_failed() {
    let outbound = Outbound::default();
    let ticket = outbound.submit(message());
    assert!(
        outbound
            .flush(&takes_nothing(io::ErrorKind::BrokenPipe))
            .is_err()
    );
    assert!(outbound.failure().is_some());
    assert!(outbound.is_surely_unsent(ticket));
    let error = outbound
        .flush(&takes_nothing(io::ErrorKind::WouldBlock))
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    // The message is not kept: the driver may read and serve many requests before it finds the end of the connection.
    assert_eq!(outbound.queued_octets(), 0);
    let ticket = outbound.submit(message());
    assert!(outbound.is_surely_unsent(ticket));
    assert_eq!(outbound.queued_octets(), 0);
}

/// A socket that takes so many octets and then no more, until it is given more room.
#[derive(Debug, Default)]
struct Narrow {
    room: AtomicUsize,
    taken: Mutex<Vec<u8>>,
}

/// Writes what so many octets of room allow.
fn let_through(socket: &Mock<Narrow>, outbound: &Outbound, room: usize) {
    socket.room.store(room, Ordering::Relaxed);
    if outbound.is_blocked() {
        // The driver continues a blocked write so.
        let written = outbound.poll_unblock(socket, &mut Context::from_waker(Waker::noop()));
        assert!(!matches!(written, Poll::Ready(Err(_))), "{written:?}");
    } else {
        outbound.flush(socket).unwrap();
    }
}

impl Narrow {
    /// The messages that have come out: ids of requests, and kinds of the others.
    fn messages(&self) -> Vec<Result<u32, MessageKind>> {
        let mut reader = Reader::new(Limits::default());
        reader
            .buffer()
            .extend_from_slice(&self.taken.lock().unwrap());
        let messages = std::iter::from_fn(|| reader.next().unwrap());
        let ids = messages.map(|message| match message.header.kind {
            MessageKind::Request => Ok(RequestHeader::read(&message).unwrap().request_id),
            other => Err(other),
        });
        ids.collect()
    }
}

impl Acts for Narrow {
    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut room = self.room.load(Ordering::Relaxed);
        let mut taken = 0;
        for slice in slices {
            let part = slice.len().min(room);
            self.taken.lock().unwrap().extend_from_slice(&slice[..part]);
            room -= part;
            taken += part;
        }
        self.room.store(room, Ordering::Relaxed);
        match taken {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    fn poll_room(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.room.load(Ordering::Relaxed) {
            0 => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }
}

fn request(version: Version, id: u32, octets: usize) -> Gather {
    let format = WireFormat {
        minor: version.minor,
        ..WireFormat::default()
    };
    RequestBuilder {
        version,
        request_id: id,
        response: ResponseFlags::WithTarget,
        key: b"key",
        operation: "operation",
        contexts: &[],
    }
    .encode(Encoder::<NativeEndian>::new(format), |e| {
        e.put(&Bytes::from(vec![7; octets]))
    })
    .unwrap()
}

fn cancel(id: u32) -> Gather {
    let e = Encoder::<NativeEndian>::new(WireFormat::default());
    cancel_request(e, Version::V1_2, id).unwrap()
}

const LARGE: usize = 10 * FRAGMENTS_PER_TURN;

fn cutting() -> (Outbound, Mock<Narrow>) {
    let outbound = Outbound::default();
    outbound.set_max_fragment(1024);
    (outbound, Mock::new(Narrow::default()))
}

#[test]
fn small_messages_pass_a_large_one_and_each_other_never() {
    let (outbound, socket) = cutting();
    let large = outbound.submit(request(Version::V1_2, 1, LARGE));
    let behind = outbound.submit(request(Version::V1_2, 2, LARGE));
    // The first pieces are on their way when the small ones come.
    let_through(&socket, &outbound, 100);
    let small = outbound.submit(request(Version::V1_2, 3, 10));
    let other = outbound.submit(request(Version::V1_2, 4, 10));
    let_through(&socket, &outbound, 2 * FRAGMENTS_PER_TURN);
    assert_eq!(socket.messages(), [Ok(3), Ok(4)]);
    let waker = Waker::noop();
    let mut cx = Context::from_waker(waker);
    assert!(outbound.poll_written(small, &mut cx).is_ready());
    assert!(outbound.is_written(other) && !outbound.is_surely_unsent(other));
    assert!(!outbound.is_written(large) && outbound.is_surely_unsent(large));
    assert!(outbound.poll_written(large, &mut cx).is_pending());

    let_through(&socket, &outbound, usize::MAX);
    assert_eq!(socket.messages(), [Ok(3), Ok(4), Ok(1), Ok(2)]);
    assert!(outbound.is_written(large) && outbound.is_written(behind));
    assert_eq!(outbound.written(), 4);
    assert!(outbound.poll_empty(&mut cx).is_ready());
}

#[test]
fn the_last_words_come_last() {
    let (outbound, socket) = cutting();
    outbound.submit(request(Version::V1_2, 1, LARGE));
    let close = empty_message(MessageKind::CloseConnection, Version::V1_2);
    let_through(&socket, &outbound, 100);
    outbound.submit_last(close.into());
    outbound.submit(request(Version::V1_2, 2, 10));
    let_through(&socket, &outbound, usize::MAX);
    let closed = Err(MessageKind::CloseConnection);
    assert_eq!(socket.messages(), [Ok(2), Ok(1), closed]);
}

#[test]
fn fragments_of_giop_1_1_come_one_behind_the_other() {
    let (outbound, socket) = cutting();
    outbound.submit(request(Version::V1_1, 1, LARGE));
    let_through(&socket, &outbound, 100);
    outbound.submit(request(Version::V1_1, 2, 10));
    let_through(&socket, &outbound, usize::MAX);
    // A reader would refuse a message in between.
    assert_eq!(socket.messages(), [Ok(1), Ok(2)]);
}

#[test]
fn of_a_request_that_is_given_up_no_more_fragments_go_out() {
    let (outbound, socket) = cutting();
    let begun = outbound.submit(request(Version::V1_2, 1, LARGE));
    let untouched = outbound.submit(request(Version::V1_2, 2, LARGE));
    let_through(&socket, &outbound, 100);
    for (ticket, id) in [(begun, 1), (untouched, 2)] {
        outbound.cancel(ticket);
        outbound.submit(cancel(id));
    }
    outbound.submit(request(Version::V1_2, 3, 10));
    let_through(&socket, &outbound, usize::MAX);
    let cancelled = Err(MessageKind::CancelRequest);
    assert_eq!(socket.messages(), [cancelled, cancelled, Ok(3)]);
    let sent = socket.taken.lock().unwrap().len();
    assert!(sent < 2 * FRAGMENTS_PER_TURN, "{sent} octets");
    assert!(outbound.is_written(begun) && outbound.is_written(untouched));
    assert_eq!(outbound.queued_octets(), 0);
}

#[test]
fn asking_how_far_writing_has_come_never_looks_like_writing() {
    // A sender that finds the write side taken leaves its message to the present writer, so no other operation may take
    // it, however shortly.
    let (outbound, socket) = (Outbound::default(), Mock::new(Narrow::default()));
    let_through(&socket, &outbound, usize::MAX);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::hint::black_box(outbound.written_octets());
            }
        });
        let left_behind = (0..100_000).find(|_| {
            let ticket = outbound.submit(message());
            outbound.flush(&socket).unwrap();
            !outbound.is_written(ticket)
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(left_behind, None);
    });
}

#[test]
fn an_uncontended_message_that_the_socket_takes_a_part_of_is_finished_and_counts_meanwhile() {
    let (outbound, socket) = (Outbound::default(), Mock::new(Narrow::default()));
    socket.room.store(30, Ordering::Relaxed);
    let (first, flushed) = outbound.send(request(Version::V1_2, 1, 64), &socket);
    assert_eq!(flushed.unwrap(), Flush::Blocked);
    assert!(outbound.queued_octets() > 0);
    assert!(!outbound.is_written(first));
    let (second, flushed) = outbound.send(request(Version::V1_2, 2, 64), &socket);
    assert!(flushed.is_ok());
    let_through(&socket, &outbound, usize::MAX);
    assert!(outbound.is_written(first) && outbound.is_written(second));
    assert_eq!(outbound.queued_octets(), 0);
    assert_eq!(socket.messages(), [Ok(1), Ok(2)]);
}

#[test]
fn an_uncontended_message_that_overtakes_one_that_is_just_being_queued_is_written_before_it() {
    let (outbound, socket) = (Outbound::default(), Mock::new(Narrow::default()));
    socket.room.store(usize::MAX, Ordering::Relaxed);
    // A sender has a ticket, and its message is not queued yet.
    let queued = Queued {
        ticket: outbound.ticket(),
        octets: 0,
        is_of_client: false,
    };
    let (uncontended, flushed) = outbound.send(request(Version::V1_2, 2, 64), &socket);
    assert_eq!(flushed.unwrap(), Flush::Done);
    assert!(outbound.is_written(uncontended));
    assert!(!outbound.is_written(Ticket(queued.ticket)));
    assert_eq!(outbound.written(), 0);
    let mut writing = outbound.writing.lock().unwrap();
    writing.completed.push(queued);
    assert!(outbound.completed(writing).is_none());
    assert_eq!(outbound.written(), 2);
}

/// A socket that takes everything, and asks at each write whether everything is out.
#[derive(Default)]
struct Asking {
    outbound: Outbound,
    wakes: Arc<Wakes>,
    was_empty: Mutex<Vec<bool>>,
}

impl core::fmt::Debug for Asking {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Asking").finish_non_exhaustive()
    }
}

impl Asking {
    fn is_empty(&self) -> bool {
        let waker = Waker::from(Arc::clone(&self.wakes));
        let mut cx = Context::from_waker(&waker);
        self.outbound.poll_empty(&mut cx).is_ready()
    }
}

impl Acts for Asking {
    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.was_empty.lock().unwrap().push(self.is_empty());
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }
}

#[test]
fn an_uncontended_message_that_is_just_being_written_is_not_out_and_who_waits_for_it_is_woken() {
    let socket = Mock::new(Asking::default());
    assert!(socket.is_empty());
    let (_, flushed) = socket.outbound.send(message(), &socket);
    assert_eq!(flushed.unwrap(), Flush::Done);
    assert_eq!(*socket.was_empty.lock().unwrap(), [false]);
    assert_eq!(socket.wakes.0.load(Ordering::Relaxed), 1);
    assert!(socket.is_empty());
}

/// Messages that lack what their sender lends.
mod lent {
    use crate::mock::{Acts, Mock};
    use crate::outbound::{Flush, Outbound};
    use bytes::Bytes;
    use core::task::{Context, Poll, Waker};
    use std::collections::VecDeque;
    use std::io::{self, IoSlice};
    use std::sync::Mutex;
    use zorb_cdr::{Encode as _, Encoder, Gather, Lending, NativeEndian, WireFormat};

    /// A socket that takes so many octets at each try, none where there is a 0, and all when there is nothing more.
    #[derive(Debug)]
    struct Scripted {
        takes: Mutex<VecDeque<usize>>,
        got: Mutex<Vec<u8>>,
    }

    impl Scripted {
        fn new(takes: &[usize]) -> Mock<Self> {
            Mock::new(Self {
                takes: Mutex::new(takes.iter().copied().collect()),
                got: Mutex::default(),
            })
        }
    }

    impl Acts for Scripted {
        fn write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
            let most = self.takes.lock().unwrap().pop_front().unwrap_or(usize::MAX);
            if most == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let mut got = self.got.lock().unwrap();
            let before = got.len();
            for chunk in chunks {
                let taken = chunk.len().min(most - (got.len() - before));
                got.extend_from_slice(&chunk[..taken]);
            }
            Ok(got.len() - before)
        }

        fn poll_room(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn encoded(data: &[u8]) -> Gather {
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&(true, data, "text behind it")).unwrap();
        e.finish()
    }

    fn lending(data: &[u8]) -> Lending<'_> {
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        let mut lent = None;
        (true).encode(&mut e).unwrap();
        data.encode_lent(&mut e, &mut lent).unwrap();
        "text behind it".encode(&mut e).unwrap();
        e.take_lending(lent.unwrap())
    }

    #[test]
    fn of_what_is_lent_that_is_copied_which_the_socket_does_not_take_at_once() {
        let whole = encoded(&[7; 20_000]).to_vec();
        for first in [0, 1, 8, 9, 12_345, whole.len() - 1, whole.len()] {
            let socket = Scripted::new(&[first, 0]);
            let outbound = Outbound::default();
            let data = vec![7; 20_000];
            let (ticket, flushed) = outbound.send_lent(lending(&data), &socket);
            // The caller may be gone by now.
            drop(data);
            let is_whole = first == whole.len();
            let expected = if is_whole {
                Flush::Done
            } else {
                Flush::Blocked
            };
            assert_eq!(flushed.unwrap(), expected);
            assert_eq!(outbound.is_written(ticket), is_whole);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(outbound.poll_unblock(&socket, &mut cx).is_ready());
            assert!(outbound.is_written(ticket), "{first}");
            assert_eq!(*socket.got.lock().unwrap(), whole, "{first}");
            assert_eq!(
                (outbound.queued_octets(), outbound.written_octets()),
                (0, whole.len() as u64)
            );
        }
    }

    #[test]
    fn what_is_lent_goes_out_behind_what_was_there_before() {
        let whole = encoded(&[7; 20_000]).to_vec();
        let data = vec![7; 20_000];
        // Queued, or begun by a writer that found the socket full.
        for begun in [false, true] {
            let socket = Scripted::new(if begun { &[3, 0] } else { &[] });
            let outbound = Outbound::default();
            outbound.submit(Gather::from(Bytes::from_static(b"octets")));
            if begun {
                assert_eq!(outbound.flush(&socket).unwrap(), Flush::Blocked);
            }
            let (ticket, flushed) = outbound.send_lent(lending(&data), &socket);
            assert_eq!(flushed.unwrap(), Flush::Done);
            assert!(outbound.is_written(ticket));
            assert_eq!(
                *socket.got.lock().unwrap(),
                [b"octets".as_slice(), &whole].concat()
            );
        }
    }
}

/// Messages that may wait for others.
mod joined {
    use super::*;

    /// A socket that takes all, and remembers each write.
    #[derive(Debug, Default)]
    struct Writes(Mutex<Vec<Vec<u8>>>);

    impl Acts for Writes {
        fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let slices: Vec<&[u8]> = slices.iter().map(|slice| &**slice).collect();
            let octets = slices.concat();
            let written = octets.len();
            self.0.lock().unwrap().push(octets);
            Ok(written)
        }
    }

    fn numbered(number: u32) -> [u8; 64] {
        let mut octets = [7; 64];
        octets[..4].copy_from_slice(&number.to_ne_bytes());
        octets
    }

    #[test]
    fn all_that_wait_leave_by_one_write_when_there_are_enough_or_another_sender_writes() {
        let socket = Mock::new(Writes::default());
        let outbound = Outbound::default();
        let mut all = Vec::new();
        let enough = (0..).take_while(|number| {
            all.extend(numbered(*number));
            outbound.batch(&numbered(*number)) == Batched::Waits
        });
        assert_eq!(enough.count(), (16 << 10) / 64 - 1);
        assert_eq!(outbound.flush(&socket).unwrap(), Flush::Done);
        assert_eq!(*socket.0.lock().unwrap(), [all]);
        assert_eq!(outbound.queued_octets(), 0);

        socket.0.lock().unwrap().clear();
        outbound.batch(&numbered(1));
        outbound.batch(&numbered(2));
        let (ticket, flushed) = outbound.send(message(), &socket);
        assert_eq!(flushed.unwrap(), Flush::Done);
        outbound.batch(&numbered(3));
        assert!(outbound.is_written(ticket));
        outbound.flush(&socket).unwrap();
        let before = [&numbered(1)[..], &numbered(2), b"octets"].concat();
        assert_eq!(*socket.0.lock().unwrap(), [before, numbered(3).to_vec()]);
        // Everything has its turn, and nothing is counted twice.
        assert_eq!(outbound.written(), outbound.submit(message()).0 - 1);
    }

    #[test]
    fn what_is_long_or_would_be_cut_is_not_put_together_with_others() {
        let outbound = Outbound::default();
        assert_eq!(outbound.batch(&[7; 4 << 10]), Batched::Separate);
        outbound.set_max_fragment(32);
        assert_eq!(outbound.batch(&numbered(1)), Batched::Separate);
        assert_eq!(outbound.batch(&[7; 32]), Batched::Waits);
        assert_eq!(outbound.queued_octets(), 32);
    }

    #[test]
    fn the_driver_is_called_once_for_all_that_wait_and_again_when_it_has_written() {
        let socket = Mock::new(Writes::default());
        let outbound = Outbound::default();
        let wakes = Arc::new(Wakes::default());
        for rounds in 1..3 {
            outbound.driver.register(&Waker::from(Arc::clone(&wakes)));
            for number in 0..3 {
                outbound.batch(&numbered(number));
            }
            assert!(outbound.has_batch());
            assert_eq!(wakes.0.load(Ordering::Relaxed), rounds);
            outbound.clear_batch();
            outbound.flush(&socket).unwrap();
            assert!(!outbound.has_batch());
        }
    }

    #[test]
    fn nothing_joins_a_connection_that_was_closed_and_none_is_closed_on_what_waits() {
        let socket = Mock::new(Writes::default());
        let outbound = Outbound::default();
        outbound.batch(&numbered(1));
        assert!(!outbound.close_if_empty());
        assert_eq!(outbound.batch(&numbered(2)), Batched::Waits);
        outbound.flush(&socket).unwrap();
        assert!(outbound.close_if_empty());
        assert_eq!(outbound.batch(&numbered(3)), Batched::Closed);
        assert_eq!(outbound.queued_octets(), 0);
    }
}
