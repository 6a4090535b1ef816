//! Pooled places for the futures of upcalls.
//!
//! A future that has been polled cannot move, so it is boxed before its first poll, and most upcalls end in that poll. The
//! thread keeps their boxes, a few for each type of future, that is, for each operation of each servant type. So a server
//! in a steady state allocates none.

use crate::request::ServerRequest;
use core::any::{Any, TypeId};
use core::cell::RefCell;
use core::future::Future;
use core::hash::{BuildHasherDefault, Hash, Hasher};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;

/// Places kept per type of upcall and thread. Usually one is in use at a time. More are in use for pending upcalls, which
/// become tasks and allocate anyway, and for collocated calls that upcalls make.
const MAX_KEPT: usize = 4;
/// The most octets of a place that is kept: larger futures are rare, and their operations take long.
const MAX_KEPT_OCTETS: usize = 16 << 10;

/// A future in its place, without its type.
pub(crate) trait PooledFuture: Send {
    /// Polls the future; always pending if the place is empty.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ServerRequest>;

    /// Drops the future, and keeps its place for another one.
    fn leave(self: Box<Self>);
}

/// The place of a future, which does not move when this does. So the pool can keep it as `dyn Any`, and downcast it again.
struct Place<F>(Pin<Box<Option<F>>>);

impl<F: Future<Output = ServerRequest> + Send + 'static> PooledFuture for Place<F> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ServerRequest> {
        match self.0.as_mut().as_pin_mut() {
            Some(future) => future.poll(cx),
            None => Poll::Pending,
        }
    }

    fn leave(mut self: Box<Self>) {
        // Dropping the future runs code of the application, which may begin another upcall.
        self.0.set(None);
        if size_of::<F>() <= MAX_KEPT_OCTETS {
            recycle(self);
        }
    }
}

/// The free places of one type. The pool is not generic: rustc would compile it for each operation of each servant.
struct Free {
    of: TypeId,
    /// The place that was freed last, usually the only one.
    last: Option<Box<dyn Any>>,
    more: Vec<Box<dyn Any>>,
}

impl Free {
    fn new(of: TypeId) -> Self {
        Self {
            of,
            last: None,
            // The first upcall of a type allocates this list, so that later ones allocate nothing.
            more: Vec::with_capacity(MAX_KEPT - 1),
        }
    }

    #[inline]
    fn take(&mut self) -> Option<Box<dyn Any>> {
        match self.last.take() {
            None => self.more.pop(),
            last => last,
        }
    }

    /// Keeps a place, and returns one that exceeds the limit.
    #[inline]
    fn keep(&mut self, place: Box<dyn Any>) -> Option<Box<dyn Any>> {
        let before = self.last.replace(place)?;
        if self.more.len() < MAX_KEPT - 1 {
            self.more.push(before);
            return None;
        }
        Some(before)
    }
}

/// The number of types of upcalls whose places are found by index, a power of two. Places of other types are looked up by
/// hash: few servers have more operations that are called all the time.
const AT_ONCE: usize = 64;
const AT_ONCE_MASK: u64 = AT_ONCE as u64 - 1;

/// The free places of all types.
struct AllFree {
    /// The places by the low bits of the type's id, which is a hash value itself.
    at_once: [Option<Box<Free>>; AT_ONCE],
    others: HashMap<TypeId, Free, BuildHasherDefault<AsIs>>,
}

impl AllFree {
    #[inline(always)]
    fn of(&mut self, id: TypeId) -> Option<&mut Free> {
        let mut hasher = AsIs::default();
        id.hash(&mut hasher);
        let at = usize::try_from(hasher.finish() & AT_ONCE_MASK).ok()?;
        match self.at_once.get(at)? {
            Some(free) if free.of == id => self.at_once.get_mut(at)?.as_deref_mut(),
            _ => self.others_of(at, id),
        }
    }

    #[cold]
    fn others_of(&mut self, at: usize, id: TypeId) -> Option<&mut Free> {
        match self.at_once.get_mut(at)? {
            place @ None => Some(place.insert(Box::new(Free::new(id)))),
            Some(_) => Some(self.others.entry(id).or_insert_with(|| Free::new(id))),
        }
    }
}

/// A hasher that returns a type id unchanged, as it is a hash value itself.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        for octet in octets {
            self.0 = self.0.rotate_left(8) ^ u64::from(*octet);
        }
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

thread_local! {
    static FREE: RefCell<AllFree> = const {
        RefCell::new(AllFree {
            at_once: [const { None }; AT_ONCE],
            others: HashMap::with_hasher(BuildHasherDefault::new()),
        })
    };
}

/// A kept place of a type.
fn take(id: TypeId) -> Option<Box<dyn Any>> {
    let taken = FREE.try_with(|free| free.try_borrow_mut().ok()?.of(id)?.take());
    taken.ok().flatten()
}

/// Keeps a place of a type.
fn keep(id: TypeId, place: Box<dyn Any>) {
    // At thread exit the pool is gone. A place that is not kept is dropped after the borrow has ended.
    let _ = FREE.try_with(|free| free.try_borrow_mut().ok()?.of(id)?.keep(place));
}

/// A box of an earlier user of this type, or a new one.
#[inline]
pub(crate) fn recycled<T: 'static>(new: impl FnOnce() -> T) -> Box<T> {
    match take(TypeId::of::<T>()).map(<Box<dyn Any>>::downcast) {
        Some(Ok(kept)) => kept,
        _ => Box::new(new()),
    }
}

/// Keeps a box for a later user of this type.
pub(crate) fn recycle<T: 'static>(used: Box<T>) {
    if size_of::<T>() <= MAX_KEPT_OCTETS {
        keep(TypeId::of::<T>(), used);
    }
}

/// Makes a future in its place, and polls it once, without a waker.
///
/// # Errors
/// The future, if it is pending.
#[inline]
pub(crate) fn run<F: Future<Output = ServerRequest> + Send + 'static>(
    make: impl FnOnce() -> F,
) -> Result<ServerRequest, Box<dyn PooledFuture>> {
    let mut place = recycled(|| Place(Box::pin(None)));
    // Always true. The check lets the compiler omit a drop, so that the future is made in its place and not moved.
    if place.0.is_none() {
        place.0.set(Some(make()));
    }
    let polled = match place.0.as_mut().as_pin_mut() {
        Some(future) => future.poll(&mut Context::from_waker(Waker::noop())),
        None => Poll::Pending,
    };
    match polled {
        Poll::Ready(ended) => {
            place.leave();
            Ok(ended)
        }
        Poll::Pending => Err(place),
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use crate::request::{Outcome, Receipt};
    use core::cell::Cell;
    use core::future::poll_fn;
    use zorb_cdr::WireFormat;
    use zorb_giop::{ResponseFlags, Version};

    fn request() -> ServerRequest {
        let receipt = Receipt {
            version: Version::V1_2,
            request_id: 0,
            response: ResponseFlags::None,
            format: WireFormat::DEFAULT,
        };
        ServerRequest::answered(receipt, Outcome::Silent)
    }

    fn poll(place: &mut Box<dyn PooledFuture>) -> Poll<ServerRequest> {
        place.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// A future that passes its own address to `at`.
    async fn here(at: impl Fn(usize) + Send + 'static) -> ServerRequest {
        let octet = 0_u8;
        at((&raw const octet).addr());
        // The octet lives across an await, so that it is a part of the future.
        poll_fn(|_| Poll::Ready(())).await;
        let _ = core::hint::black_box(&octet);
        request()
    }

    thread_local! {
        static AT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn an_upcall_is_made_where_the_last_one_of_its_type_was_and_stays_there_if_it_waits() {
        let place_of_one = || {
            assert!(run(|| here(|at| AT.set(at))).is_ok());
            AT.replace(0)
        };
        let first = place_of_one();
        assert_eq!((place_of_one(), place_of_one()), (first, first));
        // Futures of one type, which are ready at their second poll.
        let waits = || {
            let mut polled = false;
            poll_fn(move |_| match core::mem::replace(&mut polled, true) {
                false => Poll::Pending,
                true => Poll::Ready(request()),
            })
        };
        let mut places = [waits, waits].map(|make| run(make).unwrap_err());
        for place in &mut places {
            assert!(poll(place).is_ready());
        }
        places.into_iter().for_each(|place| place.leave());
    }

    #[test]
    fn upcalls_that_are_under_way_together_have_places_of_their_own() {
        let begin = |n: u32| {
            run(move || async move {
                poll_fn(|_| Poll::Pending::<()>).await;
                assert_eq!(n, 0, "the loop ends before");
                request()
            })
        };
        let mut places: Vec<_> = (0..10).map(|n| begin(n).unwrap_err()).collect();
        for place in &mut places {
            assert!(poll(place).is_pending());
        }
        places.into_iter().for_each(|place| place.leave());
    }

    #[test]
    fn what_is_dropped_with_an_upcall_may_begin_another() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                assert!(run(|| async { request() }).is_ok());
                AT.set(7);
            }
        }
        let last = Last;
        let waits = run(|| async move {
            let _last = last;
            poll_fn(|_| Poll::Pending::<()>).await;
            request()
        });
        waits.unwrap_err().leave();
        assert_eq!(AT.get(), 7);
    }
}
