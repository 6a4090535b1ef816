//! Recycled buffers, a handful a thread.
//!
//! A thread that sends and receives in a steady state takes every buffer from here and gives it
//! back, so nothing is allocated; a buffer that travels to another thread is kept there.

use bytes::BytesMut;
use core::cell::RefCell;

/// Buffers kept per thread; beyond it they are freed. A lane's thread uses one to receive and a
/// few for messages not yet written.
const MAX_KEPT: usize = 16;
/// A buffer grown beyond this is freed: one large message must not hold its memory for ever.
const MAX_KEPT_CAPACITY: usize = 256 << 10;
/// What a new buffer for a message holds without growing.
const INITIAL_CAPACITY: usize = 1 << 10;

thread_local! {
    static KEPT: RefCell<Vec<BytesMut>> = const { RefCell::new(Vec::new()) };
    static RECEIVE: RefCell<Vec<BytesMut>> = const { RefCell::new(Vec::new()) };
}

/// Receive buffers kept per thread: connections that are in the middle of a message keep theirs,
/// idle ones hold none, so one is in turn at a time.
const MAX_RECEIVE_KEPT: usize = 2;

/// A buffer to receive into; [`Reader::reserve`](crate::Reader::reserve) makes room in it.
#[must_use]
pub fn take_receive() -> BytesMut {
    RECEIVE
        .try_with(|kept| kept.borrow_mut().pop())
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// Gives an empty receive buffer back for the next connection on this thread. Messages cut from
/// it may still be alive; its memory is used again when they are gone.
pub fn give_receive(buffer: BytesMut) {
    debug_assert!(buffer.is_empty(), "nothing received may be lost");
    let _ = RECEIVE.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < MAX_RECEIVE_KEPT {
            kept.push(buffer);
        }
    });
}

/// An empty buffer.
#[must_use]
pub fn take() -> BytesMut {
    KEPT.try_with(|kept| kept.borrow_mut().pop())
        .ok()
        .flatten()
        .unwrap_or_else(|| BytesMut::with_capacity(INITIAL_CAPACITY))
}

/// Gives a buffer back for the next [`take`] on this thread.
pub fn give(mut buffer: BytesMut) {
    buffer.clear();
    // Parts of it may still be held by messages; it is worth keeping only if it can be had whole.
    if buffer.capacity() == 0 || buffer.capacity() > MAX_KEPT_CAPACITY {
        return;
    }
    // At thread exit there is nobody to keep it for.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < MAX_KEPT {
            kept.push(buffer);
        }
    });
}
