//! Futures that a pool runs and whose results it returns.
use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

/// The result of a future that a [`WorkerPool`](super::WorkerPool) runs. The future goes on if this is dropped.
#[derive(Debug)]
#[must_use = "the result is lost if this is dropped"]
pub struct Spawned<T>(oneshot::Receiver<T>);

/// The future has panicked, so that it has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpawnError;

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the future panicked on its thread of the worker pool")
    }
}

impl Error for SpawnError {}

/// Returns a future that runs this one, and the receiver of its result.
pub(super) fn job<F>(future: F) -> (impl Future<Output = ()> + Send + use<F>, Spawned<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
{
    let (done, result) = oneshot::channel();
    let job = async move {
        // A failure means that the caller has dropped the receiver.
        let _ = done.send(future.await);
    };
    (job, Spawned(result))
}

impl<T> Future for Spawned<T> {
    type Output = Result<T, SpawnError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(|_| SpawnError)
    }
}
