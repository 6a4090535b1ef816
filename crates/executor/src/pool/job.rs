//! Jobs, and the boxes that they are in.
use std::{
    any::Any,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Largest box that is kept, in octets. So large a future is rare, and does not run for a moment only.
const MAX_KEPT_OCTETS: usize = 16 << 10;

/// A piece of work: a boxed future that one thread of a [`WorkerPool`](super::WorkerPool) drives to its end.
///
/// The box of a job that has ended is used again for a later one of the same type, which
/// [`WorkerPool::job`](super::WorkerPool::job) makes: a pool in a steady state allocates nothing for its jobs.
#[must_use = "a job does nothing until a pool has it"]
pub struct Job(Pin<Box<dyn ErasedFuture>>);

/// A boxed future whose type is erased.
trait ErasedFuture: Send {
    /// Polls the future, and drops it when it has ended; ready at once without one.
    fn run(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()>;

    /// Moves the future out of `future`, an `Option` of one, if that is of the type of this one; returns whether it
    /// did.
    fn refill(self: Pin<&mut Self>, future: &mut dyn Any) -> bool;
}

impl<F: Future<Output = ()> + Send + 'static> ErasedFuture for Option<F> {
    fn run(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(future) = self.as_mut().as_pin_mut() {
            ready!(future.poll(cx));
            // The future is dropped now, since its box may be kept for long.
            self.set(None);
        }
        Poll::Ready(())
    }

    fn refill(mut self: Pin<&mut Self>, future: &mut dyn Any) -> bool {
        let Some(future) = future.downcast_mut::<Self>() else {
            return false;
        };
        self.set(future.take());
        true
    }
}

impl Job {
    /// Makes a job of a future, which a thread of the pool polls until it is ready. Allocates.
    pub fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(Some(future)))
    }

    /// Whether its box is worth being kept for a later job.
    pub(super) fn is_worth_keeping(&self) -> bool {
        size_of_val(&*self.0) <= MAX_KEPT_OCTETS
    }

    /// Puts a future into the box of a job that has ended, if that had one of the same type; else boxes it.
    pub(super) fn renew<F>(used: Option<Self>, future: F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut future = Some(future);
        if let Some(mut used) = used
            && used.0.as_mut().refill(&mut future)
        {
            return used;
        }
        Self(Box::pin(future))
    }
}

impl Future for Job {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().run(cx)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use std::{future::ready, ptr, task::Waker};

    use super::*;

    fn run(job: &mut Job) {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(job).poll(&mut cx).is_ready());
    }

    #[test]
    fn the_box_of_a_job_that_has_ended_has_the_next_future_of_its_type() {
        let address = |job: &Job| ptr::from_ref(&*job.0).cast::<()>();
        let mut first = Job::new(ready(()));
        run(&mut first);
        let before = address(&first);
        let mut second = Job::renew(Some(first), ready(()));
        assert_eq!(address(&second), before);
        run(&mut second);
        // A future of another type does not fit into the box.
        let (done, is_done) = std::sync::mpsc::channel();
        let mut third = Job::renew(Some(second), async move { done.send(()).unwrap() });
        run(&mut third);
        assert_eq!(is_done.try_recv(), Ok(()));
    }

    #[test]
    fn large_boxes_are_not_kept() {
        let octets = [0_u8; MAX_KEPT_OCTETS];
        let large = async move {
            tokio::task::yield_now().await;
            core::hint::black_box(&octets);
        };
        assert!(!Job::new(large).is_worth_keeping());
        assert!(Job::new(ready(())).is_worth_keeping());
    }
}
