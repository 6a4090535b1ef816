//! Loom's counterparts of the types that `sync` takes from the standard library.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

use core::ops::{Deref, DerefMut};
use core::task::Waker;
use std::sync::{LockResult, TryLockError, TryLockResult};

/// The newest value, which an exchange checks.
pub(crate) fn newest(of: &AtomicU64) -> u64 {
    of.fetch_add(0, Ordering::Acquire)
}

/// A number, with sequentially consistent loads and stores. Loom orders its own as acquire and release only; here a fence
/// stands before each such load, and behind each such store.
#[derive(Debug, Default)]
pub(crate) struct AtomicUsize(loom::sync::atomic::AtomicUsize);

impl AtomicUsize {
    pub(crate) fn new(value: usize) -> Self {
        Self(loom::sync::atomic::AtomicUsize::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> usize {
        match order {
            Ordering::SeqCst => {
                fence(Ordering::SeqCst);
                self.0.load(Ordering::Acquire)
            }
            order => self.0.load(order),
        }
    }

    pub(crate) fn store(&self, value: usize, order: Ordering) {
        match order {
            Ordering::SeqCst => {
                self.0.store(value, Ordering::Release);
                fence(Ordering::SeqCst);
            }
            order => self.0.store(value, order),
        }
    }
}

impl Deref for AtomicUsize {
    type Target = loom::sync::atomic::AtomicUsize;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A mutex. Loom's own mutex explores no schedule in which `try_lock` fails because the holder has yet to release it, so
/// `try_lock` uses a flag here. One mutex may be used by `lock` or by `try_lock`, not by both.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T> {
    locked: loom::sync::Mutex<()>,
    tried: AtomicBool,
    /// Locked by the holder of `locked` or `tried`.
    value: std::sync::Mutex<T>,
}

#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    // Dropped in this order.
    value: std::sync::MutexGuard<'a, T>,
    _held: Held<'a>,
}

#[derive(Debug)]
enum Held<'a> {
    Locked {
        _guard: loom::sync::MutexGuard<'a, ()>,
    },
    Tried(&'a AtomicBool),
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            locked: loom::sync::Mutex::new(()),
            tried: AtomicBool::new(false),
            value: std::sync::Mutex::new(value),
        }
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = self.locked.lock().expect("loom poisons no mutex");
        Ok(self.guard(Held::Locked { _guard: guard }))
    }

    pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match (self.tried).compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(self.guard(Held::Tried(&self.tried))),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    fn guard<'a>(&'a self, held: Held<'a>) -> MutexGuard<'a, T> {
        MutexGuard {
            value: self.value.try_lock().expect("the mutex is held"),
            _held: held,
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Self::Tried(tried) = self {
            tried.store(false, Ordering::Release);
        }
    }
}

/// The interface of `atomic_waker::AtomicWaker`. A mutex orders registration and wake-up as that does: the task sees
/// what preceded an earlier wake-up, and a later one wakes it.
#[derive(Debug, Default)]
pub(crate) struct AtomicWaker(Mutex<Option<Waker>>);

impl AtomicWaker {
    pub(crate) fn register(&self, waker: &Waker) {
        let mut registered = self.0.lock().expect("no poison");
        *registered = Some(waker.clone());
    }

    pub(crate) fn wake(&self) {
        let registered = self.0.lock().expect("no poison").take();
        if let Some(waker) = registered {
            waker.wake();
        }
    }
}

#[path = "../../executor/models/threads.rs"]
pub(crate) mod thread;

/// `std::thread_local`, per thread of loom.
macro_rules! loom_thread_local {
    ($($(#[$attr:meta])* static $name:ident: $type:ty = const $init:block;)*) => {
        loom::thread_local! {
            $($(#[$attr])* static $name: $type = $init;)*
        }
    };
}
pub(crate) use loom_thread_local as thread_local;

/// Timers that never expire: no reply may depend on one.
pub(crate) mod time {
    use core::pin::Pin;
    use core::task::{Context, Poll};
    pub(crate) use tokio::time::Instant;

    #[derive(Debug)]
    pub(crate) struct Sleep(());

    impl Sleep {
        pub(crate) fn reset(self: Pin<&mut Self>, _: Instant) {}
    }

    impl Future for Sleep {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }
    }

    pub(crate) fn sleep(_: core::time::Duration) -> Sleep {
        Sleep(())
    }

    pub(crate) fn sleep_until(_: Instant) -> Sleep {
        Sleep(())
    }
}

/// A clock that goes on by a step each time it is read, so that spins end, and loom's scheduler.
pub(crate) mod clock {
    use core::time::Duration;
    pub(crate) use loom::thread::yield_now;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Instant;

    /// The time between two looks at the clock: the shortest spin that is read twice takes two of them.
    pub(crate) const STEP: Duration = Duration::from_micros(50);

    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

    loom::lazy_static! {
        /// Looks at the clock in this schedule. It is no atomic of loom's, as its value guards nothing.
        static ref LOOKS: AtomicU32 = AtomicU32::new(0);
    }

    pub(crate) fn now() -> Instant {
        *BEGIN + STEP * LOOKS.fetch_add(1, Ordering::Relaxed)
    }
}

/// The atomics and locks of the write side. Models of the write side explore them. In others they are the standard library's, at
/// which loom changes no thread: what those show does not depend on the order of writes, and they would explore the write side
/// once more.
pub(crate) mod writes {
    pub(crate) use super::Ordering;
    use core::cell::Cell;
    use core::ops::{Deref, DerefMut};
    use core::sync::atomic as core_atomic;
    use std::sync::{LockResult, TryLockError, TryLockResult};

    thread_local! {
        /// Loom runs all threads of a model on the thread of its test.
        static EXPLORED: Cell<bool> = const { Cell::new(true) };
    }

    /// Runs a model that does not explore the write side.
    pub(crate) fn unexplored(run: impl FnOnce()) {
        EXPLORED.set(false);
        run();
        EXPLORED.set(true);
    }

    pub(crate) fn fence(order: Ordering) {
        match EXPLORED.get() {
            true => super::fence(order),
            false => core_atomic::fence(order),
        }
    }

    macro_rules! atomics {
        ($($name:ident: $value:ty { $($method:ident),* })*) => {
            $(
                #[derive(Debug)]
                pub(crate) enum $name {
                    Explored(super::$name),
                    Plain(core_atomic::$name),
                }

                impl $name {
                    pub(crate) fn new(value: $value) -> Self {
                        match EXPLORED.get() {
                            true => Self::Explored(super::$name::new(value)),
                            false => Self::Plain(core_atomic::$name::new(value)),
                        }
                    }

                    pub(crate) fn load(&self, order: Ordering) -> $value {
                        match self {
                            Self::Explored(atomic) => atomic.load(order),
                            Self::Plain(atomic) => atomic.load(order),
                        }
                    }

                    pub(crate) fn store(&self, value: $value, order: Ordering) {
                        match self {
                            Self::Explored(atomic) => atomic.store(value, order),
                            Self::Plain(atomic) => atomic.store(value, order),
                        }
                    }

                    $(pub(crate) fn $method(&self, value: $value, order: Ordering) -> $value {
                        match self {
                            Self::Explored(atomic) => atomic.$method(value, order),
                            Self::Plain(atomic) => atomic.$method(value, order),
                        }
                    })*
                }

                impl Default for $name {
                    fn default() -> Self {
                        Self::new(Default::default())
                    }
                }
            )*
        };
    }

    atomics! {
        AtomicBool: bool { swap }
        AtomicU64: u64 { fetch_add }
        AtomicUsize: usize {}
    }

    #[derive(Debug)]
    pub(crate) enum Mutex<T> {
        Explored(super::Mutex<T>),
        Plain(std::sync::Mutex<T>),
    }

    #[derive(Debug)]
    pub(crate) enum MutexGuard<'a, T> {
        Explored(super::MutexGuard<'a, T>),
        Plain(std::sync::MutexGuard<'a, T>),
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            match EXPLORED.get() {
                true => Self::Explored(Default::default()),
                false => Self::Plain(Default::default()),
            }
        }
    }

    impl<T> Mutex<T> {
        pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            Ok(match self {
                Self::Explored(mutex) => MutexGuard::Explored(mutex.lock().expect("no poison")),
                // Not held where loom changes threads.
                Self::Plain(mutex) => MutexGuard::Plain(mutex.try_lock().expect("it is free")),
            })
        }

        pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
            match self {
                Self::Explored(mutex) => match mutex.try_lock() {
                    Ok(guard) => Ok(MutexGuard::Explored(guard)),
                    Err(_) => Err(TryLockError::WouldBlock),
                },
                Self::Plain(mutex) => match mutex.try_lock() {
                    Ok(guard) => Ok(MutexGuard::Plain(guard)),
                    Err(_) => Err(TryLockError::WouldBlock),
                },
            }
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            match self {
                Self::Explored(guard) => guard,
                Self::Plain(guard) => guard,
            }
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            match self {
                Self::Explored(guard) => guard,
                Self::Plain(guard) => guard,
            }
        }
    }
}
