//! Connecting to several endpoints of one object: the first success wins.

use core::future::{pending, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use tokio::runtime::Handle;
use zorb_connection::ConnectError;
use zorb_giop::{Cause, Chain, Fault};
use zorb_transport::NotPermitted;

/// The time before the next attempt begins beside a pending one: long enough for a handshake around the world with its
/// first packet lost.
pub(crate) const HEAD_START: Duration = Duration::from_secs(1);

type Attempt<'w, W, F> = (&'w W, Pin<Box<F>>);

/// Tries one alternative after the other, and returns the first success, or the errors of all. The next attempt begins when one
/// has failed, or after the head start if it may run `beside` the last one.
///
/// Dropping the future drops all pending attempts.
pub(crate) async fn first_that_works<'w, W, T, E, F>(
    alternatives: &'w [W],
    home: &Handle,
    attempt: impl Fn(&'w W) -> F,
    beside: impl Fn(&W, &W) -> bool,
    head_start: Duration,
) -> Result<(&'w W, T), Vec<E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut pending_attempts: Vec<Attempt<'w, W, F>> = Vec::new();
    let mut causes = Vec::new();
    let mut next = alternatives.iter().peekable();
    loop {
        let may_begin = match (next.peek(), pending_attempts.last()) {
            (Some(next), Some((last, _))) => beside(last, next),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return Err(causes),
        };
        if let Some(alternative) = next.next_if(|_| may_begin) {
            pending_attempts.push((alternative, Box::pin(attempt(alternative))));
        }
        let patience = match (next.peek(), pending_attempts.last()) {
            (Some(next), Some((last, _))) if beside(last, next) => {
                // Callers may be outside any runtime, so `home` provides the timer.
                let _runtime = home.enter();
                Some(tokio::time::sleep(head_start))
            }
            _ => None,
        };
        let silence = async {
            match patience {
                Some(patience) => patience.await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            (alternative, tried) = poll_fn(|cx| poll_any(&mut pending_attempts, cx)) => match tried {
                Ok(works) => return Ok((alternative, works)),
                Err(cause) => causes.push(cause),
            },
            () = silence => {}
        }
    }
}

/// Ready with the output of the first attempt that has ended, which it removes.
fn poll_any<'w, W, F: Future>(
    pending_attempts: &mut Vec<Attempt<'w, W, F>>,
    cx: &mut Context<'_>,
) -> Poll<(&'w W, F::Output)> {
    let ended =
        pending_attempts
            .iter_mut()
            .enumerate()
            .find_map(|(at, (_, attempt))| match attempt.as_mut().poll(cx) {
                Poll::Ready(output) => Some((at, output)),
                Poll::Pending => None,
            });
    match ended {
        Some((at, output)) => Poll::Ready((pending_attempts.remove(at).0, output)),
        None => Poll::Pending,
    }
}

/// Whether the rules of this end forbid to connect.
fn is_not_permitted(error: &ConnectError) -> bool {
    match error {
        ConnectError::NotPermitted { .. } => true,
        ConnectError::Transport(error) => {
            let cause = error.cause().get_ref();
            cause.is_some_and(|cause| cause.is::<NotPermitted>())
        }
        _ => false,
    }
}

/// The fault for a reference none of whose endpoints accepted a connection. Its text has the errors of all attempts,
/// and the cause of the last one is its source.
pub(crate) fn cannot_connect(mut errors: Vec<Arc<ConnectError>>) -> Fault {
    if !errors.is_empty() && errors.iter().all(|error| is_not_permitted(error)) {
        let refused: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Fault::NotPermitted(refused.join("; "));
    }
    // Of the others, the application learns why they cannot be used.
    errors.retain(|error| !is_not_permitted(error));
    let last = errors.pop();
    let mut attempts: Vec<String> = errors
        .iter()
        .map(|error| Chain(&**error).to_string())
        .collect();
    attempts.extend(last.as_ref().map(ToString::to_string));
    Fault::CannotConnect {
        attempts: attempts.join("; "),
        cause: last.map(|error| Cause::behind(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// An attempt: its name, its kind, the milliseconds until it ends, and its outcome.
    type Alternative = (&'static str, u8, u64, bool);

    /// The result of the attempts, and the time at which each began.
    async fn run(
        alternatives: &[Alternative],
    ) -> (Result<&'static str, Vec<String>>, Vec<(&'static str, u128)>) {
        let start = tokio::time::Instant::now();
        let begun = Mutex::new(Vec::new());
        let attempt = |alternative: &Alternative| {
            let (name, _, takes, works) = *alternative;
            begun
                .lock()
                .unwrap()
                .push((name, start.elapsed().as_millis()));
            async move {
                tokio::time::sleep(Duration::from_millis(takes)).await;
                if works { Ok(()) } else { Err(name.to_owned()) }
            }
        };
        let taken = first_that_works(
            alternatives,
            &Handle::current(),
            attempt,
            |a: &Alternative, b| a.1 == b.1,
            HEAD_START,
        )
        .await;
        (
            taken.map(|(alternative, ())| alternative.0),
            begun.into_inner().unwrap(),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_is_followed_at_once_and_every_cause_is_kept() {
        let (taken, begun) =
            run(&[("a", 0, 10, false), ("b", 0, 10, false), ("c", 1, 10, true)]).await;
        assert_eq!(taken, Ok("c"));
        assert_eq!(begun, [("a", 0), ("b", 10), ("c", 20)]);
        let (taken, _) = run(&[("a", 0, 10, false), ("b", 1, 10, false)]).await;
        assert_eq!(taken, Err(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(run(&[]).await.0, Err(vec![]));
    }

    #[tokio::test(start_paused = true)]
    async fn what_says_nothing_does_not_keep_its_kind_waiting_and_may_still_win() {
        let (taken, begun) = run(&[("a", 0, 9_000, true), ("b", 0, 10, true)]).await;
        assert_eq!(taken, Ok("b"));
        assert_eq!(begun, [("a", 0), ("b", 1_000)]);
        let (taken, begun) = run(&[("a", 0, 1_500, true), ("b", 0, 9_000, true)]).await;
        assert_eq!((taken, begun.len()), (Ok("a"), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn another_kind_waits_until_all_of_the_one_have_failed() {
        let alternatives = [
            ("a", 0, 9_000, false),
            ("b", 0, 5_000, false),
            ("c", 1, 10, true),
        ];
        let (taken, begun) = run(&alternatives).await;
        assert_eq!(taken, Ok("c"));
        assert_eq!(begun, [("a", 0), ("b", 1_000), ("c", 9_000)]);
    }
}
