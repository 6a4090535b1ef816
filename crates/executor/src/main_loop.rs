//! The loop of a thread that is not tokio's: a program's main loop, that of a graphical toolkit for instance.

use async_task::Runnable;
use core::fmt;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use tokio::runtime::Handle;

/// Jobs that only a thread of the application runs, which has an event loop of its own.
///
/// Each job is a future. When one is ready to go on, the loop is woken, and [performs](Self::perform_work) it. Clones share the jobs.
#[derive(Clone)]
pub struct MainLoop(Arc<Inner>);

struct Inner {
    /// Has the loop call [`MainLoop::perform_work`].
    wake: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Runnable>,
    /// The thread that performed work last.
    thread: Option<ThreadId>,
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Runnable) {
        let mut state = self.state();
        let was_empty = state.ready.is_empty();
        state.ready.push_back(job);
        drop(state);
        if was_empty {
            (self.wake)();
        }
    }
}

impl MainLoop {
    /// A loop that `wake` wakes: it is called from any thread, when there is work where there was none, and returns at once.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            wake: Box::new(wake),
            state: Mutex::default(),
        }))
    }

    /// Adds a job. It runs within the tokio runtime `home`, as to timers and sockets, but in the thread of the loop.
    pub fn spawn(&self, home: Handle, job: impl Future<Output = ()> + Send + 'static) {
        // Not the loop itself: jobs that wait in its queue would keep it for ever.
        let inner = Arc::downgrade(&self.0);
        let schedule = move |job| {
            if let Some(inner) = inner.upgrade() {
                inner.push(job);
            }
        };
        let job = async move {
            let mut job = core::pin::pin!(job);
            core::future::poll_fn(|cx| {
                let _home = home.enter();
                job.as_mut().poll(cx)
            })
            .await;
        };
        let (ready, job) = async_task::spawn(job, schedule);
        job.detach();
        ready.schedule();
    }

    /// Whether a job is ready to go on. Takes a lock.
    #[must_use]
    pub fn work_pending(&self) -> bool {
        !self.0.state().ready.is_empty()
    }

    /// Runs the jobs that are ready, each until it waits or ends; those that become ready meanwhile wake the loop once more. May be
    /// called within a job.
    pub fn perform_work(&self) {
        let mut left = {
            let mut state = self.0.state();
            state.thread = Some(thread::current().id());
            state.ready.len()
        };
        while let Some(next) = left.checked_sub(1) {
            left = next;
            // One at a time: a job may itself perform the others.
            let Some(job) = self.0.state().ready.pop_front() else {
                return;
            };
            job.run();
        }
        if self.work_pending() {
            (self.0.wake)();
        }
    }

    /// Whether this is the thread that performed work last.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.0.state().thread == Some(thread::current().id())
    }
}

impl fmt::Debug for MainLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state();
        f.debug_struct("MainLoop")
            .field("ready", &state.ready.len())
            .field("thread", &state.thread)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[test]
    fn jobs_run_in_the_thread_of_the_loop_and_each_wait_wakes_it() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (wake, woken) = mpsc::channel();
        let main = MainLoop::new(move || wake.send(()).unwrap_or_default());
        let (done, results) = mpsc::channel();
        for number in 0..3 {
            let done = done.clone();
            main.spawn(runtime.handle().clone(), async move {
                let before = thread::current().id();
                tokio::task::yield_now().await;
                // A worker of the runtime wakes it.
                tokio::spawn(core::future::ready(())).await.unwrap();
                assert_eq!(before, thread::current().id());
                done.send((number, before)).unwrap();
            });
        }
        assert!(main.work_pending());
        let mut ended = Vec::new();
        while ended.len() < 3 {
            woken.recv().unwrap();
            main.perform_work();
            ended.extend(results.try_iter());
        }
        assert!(main.is_here() && !main.work_pending());
        assert!(ended.iter().all(|(_, at)| *at == thread::current().id()));
        assert!(!thread::scope(|scope| scope
            .spawn(|| main.is_here())
            .join()
            .unwrap()));
    }

    #[test]
    fn a_job_that_is_always_ready_does_not_hold_the_loop_and_those_left_are_dropped_with_it() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let wakes = Arc::new(AtomicUsize::new(0));
        let main = MainLoop::new({
            let wakes = Arc::clone(&wakes);
            move || {
                wakes.fetch_add(1, Ordering::Relaxed);
            }
        });
        let alive = Arc::new(());
        let (of_job, within) = (Arc::clone(&alive), main.clone());
        main.spawn(runtime.handle().clone(), async move {
            let _of_job = of_job;
            loop {
                // Nothing else is ready.
                within.perform_work();
                tokio::task::yield_now().await;
            }
        });
        for _ in 0..5 {
            main.perform_work();
            assert!(main.work_pending());
        }
        assert!(wakes.load(Ordering::Relaxed) >= 5);
        let job = main.0.state().ready.pop_front();
        drop(job);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
