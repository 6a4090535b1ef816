//! Calls that are repeated when they surely have not run.

use core::time::Duration;
use zorb_giop::OperationError;

/// Repeats a call that failed for now and surely has not run: [`SystemException::is_retryable`].
///
/// A call that may have run, a user exception, and every other system exception are returned at once, so an operation is
/// carried out at most once. Pauses double from the first to the longest, each shortened by chance by up to a half, so
/// that clients which lost one server do not come back to it together.
///
/// The ORB itself sends a request again, without a pause, where the specification permits it; this is for servers that are
/// starting, or full.
///
/// ```no_run
/// # use core::time::Duration;
/// # async fn deposit(account: &zorb::ObjectRef) -> Result<(), zorb::RequestError> {
/// let patient = zorb::Retry::new(5).pauses(Duration::from_millis(20), Duration::from_secs(1));
/// let exists = patient.call(|| account.non_existent()).await;
/// # Ok(()) }
/// ```
///
/// [`SystemException::is_retryable`]: zorb_giop::SystemException::is_retryable
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    calls: u32,
    first: Duration,
    longest: Duration,
}

impl Retry {
    /// At most so many calls, the first one included; 0 counts as 1. The pauses are 50 ms at first and 2 s at most.
    #[must_use]
    pub const fn new(calls: u32) -> Self {
        Self {
            calls,
            first: Duration::from_millis(50),
            longest: Duration::from_secs(2),
        }
    }

    /// Sets the first pause and the longest one.
    #[must_use]
    pub const fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        (self.first, self.longest) = (first, longest);
        self
    }

    /// Makes the call, again after each failure that permits it. A time limit of the reference counts for each call;
    /// `tokio::time::timeout` around this one limits all of them.
    ///
    /// # Errors
    /// The error of the last call.
    ///
    /// # Cancel safety
    /// As safe as the call: dropping the future ends a pause, or cancels the call in flight.
    pub async fn call<T, E: OperationError, F: Future<Output = Result<T, E>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, E> {
        let mut pause = self.first;
        for _ in 1..self.calls {
            match call().await {
                Err(error) if error.system().is_some_and(|it| it.is_retryable()) => {}
                end => return end,
            }
            tokio::time::sleep(shortened(pause.min(self.longest))).await;
            pause = pause.saturating_mul(2);
        }
        call().await
    }
}

/// A pause between a half of this one and the whole.
fn shortened(pause: Duration) -> Duration {
    let mut random = [0; 4];
    // Without a source of randomness the pause is the whole one.
    let _ = getrandom::fill(&mut random);
    let share = f64::from(u32::from_ne_bytes(random)) / f64::from(u32::MAX);
    pause.mul_f64(1.0 - share / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use zorb_giop::{CompletionStatus, SystemException};

    async fn called(errors: &[SystemException]) -> (usize, Result<u32, SystemException>) {
        let (calls, retry) = (Cell::new(0), Retry::new(4));
        let result = retry.call(|| {
            let call = calls.replace(calls.get() + 1);
            core::future::ready(errors.get(call).map_or(Ok(7), |error| Err(error.clone())))
        });
        let result = result.await;
        (calls.get(), result)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_surely_did_not_run_is_repeated_and_no_other() {
        let full = SystemException::transient("full");
        let (calls, result) = called(&[full.clone(), full.clone()]).await;
        assert_eq!((calls, result.unwrap()), (3, 7));
        let always = [(); 9].map(|()| full.clone());
        assert_eq!(called(&always).await, (4, Err(full.clone())));
        for once in [
            full.with_completed(CompletionStatus::Maybe),
            SystemException::comm_failure("").with_completed(CompletionStatus::Yes),
            SystemException::timeout("").with_completed(CompletionStatus::Maybe),
            SystemException::no_permission("not yours"),
            SystemException::object_not_exist(""),
        ] {
            assert_eq!(called(core::slice::from_ref(&once)).await, (1, Err(once)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_the_longest_one() {
        let begun = tokio::time::Instant::now();
        let full = || core::future::ready(Err::<(), _>(SystemException::transient("full")));
        let retry = Retry::new(6).pauses(Duration::from_secs(1), Duration::from_secs(4));
        assert!(retry.call(full).await.is_err());
        // 1 + 2 + 4 + 4 + 4, each of them halved at most.
        let paused = begun.elapsed().as_secs_f64();
        assert!((7.5..=15.1).contains(&paused), "{paused}");
    }
}
