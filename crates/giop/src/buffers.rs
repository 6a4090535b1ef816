//! Recycled buffers, a handful a thread.
//!
//! A thread that sends and receives in a steady state takes every buffer from here and gives it
//! back, so nothing is allocated; a buffer that travels to another thread is kept there.

use bytes::BytesMut;
use core::cell::{Cell, RefCell};

/// Buffers kept per thread; beyond it they are freed. A lane's thread uses one to receive and a
/// few for messages not yet written.
const MAX_KEPT: usize = 16;
/// A buffer grown beyond this is freed: one large message must not hold its memory for ever.
const MAX_KEPT_CAPACITY: usize = 256 << 10;
/// What a new buffer for a message holds without growing.
const INITIAL_CAPACITY: usize = 1 << 10;

thread_local! {
    static KEPT: Kept = const {
        Kept {
            last: Cell::new(None),
            more: RefCell::new(Vec::new()),
        }
    };
    static RECEIVE: RefCell<Vec<Receive>> = const { RefCell::new(Vec::new()) };
}

/// Buffers that are not in use.
struct Kept {
    /// The one that was given back last, which a call takes and gives back, and another one hardly ever in between.
    last: Cell<Option<BytesMut>>,
    /// Those before it, the last one last.
    more: RefCell<Vec<BytesMut>>,
}

/// Receive buffers kept per thread: connections that are in the middle of a message keep theirs,
/// idle ones hold none, so one is in turn at a time, beside what messages in fragments are put
/// together in.
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
    /// An empty one of at least so many octets.
    pub(crate) fn new(octets: usize) -> Self {
        let octets = BytesMut::with_capacity(octets);
        let whole = octets.capacity();
        Self { octets, whole }
    }

    /// Whether nobody has parts of it any more; then it begins at its front again, where data lies
    /// aligned. It has to be empty.
    pub(crate) fn reclaim(&mut self) -> bool {
        self.whole > 0 && self.octets.try_reclaim(self.whole)
    }
}

/// The receive buffer that was given back last.
pub(crate) fn take_receive() -> Receive {
    RECEIVE
        .try_with(|kept| kept.borrow_mut().pop())
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// An empty receive buffer of `least` octets or more, though not of more than `most`: the largest
/// that is kept, if one will do.
pub(crate) fn take_receive_of(least: usize, most: usize) -> Receive {
    let kept = RECEIVE.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let fits =
            |buffer: &mut Receive| (least..=most).contains(&buffer.whole) && buffer.reclaim();
        let all = kept.iter_mut().enumerate();
        let fitting = all.filter_map(|(at, buffer)| fits(buffer).then_some((buffer.whole, at)));
        let (_, at) = fitting.max()?;
        Some(kept.remove(at))
    });
    kept.ok().flatten().unwrap_or_else(|| Receive::new(least))
}

/// Keeps a receive buffer for the next connection on this thread; what is in it is forgotten.
/// Messages cut from it may still be alive; its memory is used again when they are gone.
pub(crate) fn give_receive(mut buffer: Receive) {
    if buffer.whole == 0 || buffer.whole > MAX_RECEIVE_CAPACITY {
        return;
    }
    buffer.octets.clear();
    // At thread exit there is nobody to keep it for.
    let _ = RECEIVE.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if !kept.is_empty() {
            let octets = |kept: &[Receive]| {
                kept.iter()
                    .fold(buffer.whole, |sum, kept| sum.saturating_add(kept.whole))
            };
            while kept.len() >= MAX_RECEIVE_KEPT || octets(&kept) > MAX_RECEIVE_OCTETS {
                kept.remove(0);
            }
        }
        kept.push(buffer);
    });
}

/// An empty buffer.
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

/// Gives a buffer back for the next [`take`] on this thread.
#[inline]
pub fn give(mut buffer: BytesMut) {
    buffer.clear();
    // Parts of it may still be held by messages; it is worth keeping only if it can be had whole.
    if buffer.capacity() == 0 || buffer.capacity() > MAX_KEPT_CAPACITY {
        return;
    }
    // At thread exit there is nobody to keep it for.
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
