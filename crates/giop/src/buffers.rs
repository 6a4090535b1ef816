//! Recycled buffers, a few for each thread.
//!
//! A thread that sends and receives in a steady state takes every buffer from here and returns it here, so nothing is
//! allocated. A buffer that is passed to another thread is kept there.

use bytes::BytesMut;
use core::cell::{Cell, RefCell};

/// Buffers kept per thread; beyond it they are freed. A lane's thread uses one to receive and a
/// few for messages not yet written.
const MAX_KEPT: usize = 16;
/// A buffer grown beyond this is freed: one large message must not hold its memory forever.
const MAX_KEPT_CAPACITY: usize = 256 << 10;
/// Octets that a new message buffer holds without growing.
const INITIAL_CAPACITY: usize = 1 << 10;

thread_local! {
    static KEPT: Kept = const {
        Kept {
            last: Cell::new(None),
            more: RefCell::new(Vec::new()),
        }
    };
    static RECEIVE: KeptReceive = const {
        KeptReceive {
            last: Cell::new(None),
            more: RefCell::new(Vec::new()),
        }
    };
}

/// Buffers that are not in use.
struct Kept {
    /// The buffer that was returned last. A call takes and returns it, mostly without another one in between.
    last: Cell<Option<BytesMut>>,
    /// The buffers that were returned before it, the latest at the end.
    more: RefCell<Vec<BytesMut>>,
}

/// A thread's receive buffers.
struct KeptReceive {
    /// The buffer that was returned last: a connection returns it when it parks, and takes it when it is woken.
    last: Cell<Option<Receive>>,
    /// The buffers that were returned before it, the latest at the end.
    more: RefCell<Vec<Receive>>,
}

/// Receive buffers kept per thread. Connections that are in the middle of a message keep theirs, idle ones hold none.
/// So one is in use at a time, beside those in which fragmented messages are assembled.
const MAX_RECEIVE_KEPT: usize = 4;
/// A receive buffer of more octets than this is freed when its connection is idle.
pub(crate) const MAX_RECEIVE_CAPACITY: usize = 256 << 10;
/// Octets of all receive buffers that are kept per thread: the oldest are freed for it.
const MAX_RECEIVE_OCTETS: usize = 512 << 10;

/// A buffer to receive into.
#[derive(Debug, Default)]
pub(crate) struct Receive {
    pub(crate) octets: BytesMut,
    /// Octets of all of its memory, of which messages that are alive may have parts.
    pub(crate) whole: usize,
}

impl Receive {
    /// Allocates an empty buffer of at least `octets` octets.
    pub(crate) fn new(octets: usize) -> Self {
        let octets = BytesMut::with_capacity(octets);
        let whole = octets.capacity();
        Self { octets, whole }
    }

    /// Returns whether no message holds a part of the memory any more. The buffer, which has to be empty, then begins
    /// at the front of its memory again, where data is aligned.
    pub(crate) fn reclaim(&mut self) -> bool {
        self.whole > 0 && self.octets.try_reclaim(self.whole)
    }
}

/// Takes the receive buffer that was returned last, if any is kept.
#[inline]
pub(crate) fn take_receive() -> Option<Receive> {
    let kept = RECEIVE.try_with(|kept| match kept.last.take() {
        None => kept.more.borrow_mut().pop(),
        last => last,
    });
    kept.ok().flatten()
}

/// Takes the largest kept receive buffer of `least` to `most` octets, or allocates one of `least`. It is empty.
pub(crate) fn take_receive_of(least: usize, most: usize) -> Receive {
    let kept = RECEIVE.try_with(|kept| {
        let mut more = kept.more.borrow_mut();
        more.extend(kept.last.take());
        let fits =
            |buffer: &mut Receive| (least..=most).contains(&buffer.whole) && buffer.reclaim();
        let all = more.iter_mut().enumerate();
        let fitting = all.filter_map(|(at, buffer)| fits(buffer).then_some((buffer.whole, at)));
        let found = fitting.max().map(|(_, at)| more.remove(at));
        // Refills `last`: the next returned buffer finds it taken, so that the limits are checked.
        kept.last.set(more.pop());
        found
    });
    kept.ok().flatten().unwrap_or_else(|| Receive::new(least))
}

/// Keeps a receive buffer for the next connection on this thread, and discards its octets.
/// Messages cut from it may still be alive; its memory is used again when they are gone.
#[inline]
pub(crate) fn give_receive(mut buffer: Receive) {
    let whole = buffer.whole;
    if whole == 0 || whole > MAX_RECEIVE_CAPACITY {
        return;
    }
    buffer.octets.clear();
    // At thread exit the pool is gone, so it is freed.
    let _ = RECEIVE.try_with(|kept| {
        if let Some(before) = kept.last.replace(Some(buffer)) {
            kept.keep(before, whole);
        }
    });
}

impl KeptReceive {
    /// Keeps a buffer within the limits. `last` is the size in octets of the buffer that was returned after it.
    #[cold]
    fn keep(&self, before: Receive, last: usize) {
        let mut more = self.more.borrow_mut();
        let all = last.saturating_add(before.whole);
        let octets = |more: &[Receive]| {
            more.iter()
                .fold(all, |sum, kept| sum.saturating_add(kept.whole))
        };
        // One more is the last.
        while !more.is_empty()
            && (more.len().saturating_add(1) >= MAX_RECEIVE_KEPT
                || octets(&more) > MAX_RECEIVE_OCTETS)
        {
            more.remove(0);
        }
        more.push(before);
    }
}

/// Takes an empty buffer: the one that this thread has returned last, of any capacity, or a new one of 1 KiB. [`give`]
/// returns it. A recycled buffer costs no allocation.
#[inline]
#[must_use]
pub fn take() -> BytesMut {
    KEPT.try_with(|kept| match kept.last.take() {
        None => kept.more.borrow_mut().pop(),
        last => last,
    })
    .ok()
    .flatten()
    .unwrap_or_else(|| BytesMut::with_capacity(INITIAL_CAPACITY))
}

/// Returns a buffer for the next [`take`] on this thread.
#[inline]
pub fn give(mut buffer: BytesMut) {
    buffer.clear();
    // Messages may still hold parts of its memory, so its capacity may be less than before.
    if buffer.capacity() == 0 || buffer.capacity() > MAX_KEPT_CAPACITY {
        return;
    }
    // At thread exit the pool is gone, so it is freed.
    let _ = KEPT.try_with(|kept| {
        if let Some(before) = kept.last.replace(Some(buffer)) {
            kept.keep(before);
        }
    });
}

impl Kept {
    fn keep(&self, buffer: BytesMut) {
        let mut more = self.more.borrow_mut();
        // One more is the last.
        if more.len().saturating_add(1) < MAX_KEPT {
            more.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receive_buffers_are_few_even_if_each_request_is_of_a_new_size() {
        let kept = || {
            RECEIVE.with(|kept| {
                let last = kept.last.take();
                let count = kept.more.borrow().len() + usize::from(last.is_some());
                kept.last.set(last);
                count
            })
        };
        for octets in [1 << 10, 200 << 10] {
            for _ in 0..100 {
                give_receive(Receive::new(octets));
                let another = take_receive_of(300 << 10, 400 << 10);
                assert!(another.whole >= 300 << 10);
                assert!(kept() <= MAX_RECEIVE_KEPT, "{}", kept());
            }
        }
    }
}
