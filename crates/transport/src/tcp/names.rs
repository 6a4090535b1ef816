//! Host names whose resolution has failed recently.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for which a name is not resolved again after its first failure. Each further failure doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait: after it, a name server that is back is asked again.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Time for which a failure lengthens the wait after the next one.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Most names remembered; references may name any number.
const MAX_REMEMBERED: usize = 1024;

/// The failure to resolve a name, and the time before the next attempt.
#[derive(Clone, Debug)]
struct Failed {
    at: Instant,
    wait: Duration,
    kind: io::ErrorKind,
    cause: String,
}

/// Names that the resolver could not resolve, each with a time for which it is not asked again. That time grows with
/// each failure. Clients that call a server whose name is gone fail at once, instead of each occupying a thread of the
/// resolver's. A name that was resolved is resolved anew for each connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Unresolved(Arc<Mutex<HashMap<String, Failed>>>);

impl Unresolved {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether the resolver may be asked for a name.
    ///
    /// # Errors
    /// The last failure, until its wait is over.
    pub(super) fn check(&self, host: &str, now: Instant) -> io::Result<()> {
        match self.lock().get(host) {
            Some(failed) if now.saturating_duration_since(failed.at) < failed.wait => {
                let (cause, wait) = (&failed.cause, failed.wait);
                let cause = format!("{cause}; not asked again within {wait:?}");
                Err(io::Error::new(failed.kind, cause))
            }
            _ => Ok(()),
        }
    }

    /// Notes the result of resolving a name.
    pub(super) fn note<T>(&self, host: &str, now: Instant, answer: &io::Result<T>) {
        let mut names = self.lock();
        let Err(error) = answer else {
            names.remove(host);
            return;
        };
        let is_recent = |failed: &Failed| now.saturating_duration_since(failed.at) < REMEMBERED;
        if names.len() >= MAX_REMEMBERED {
            names.retain(|_, failed| is_recent(failed));
        }
        let before = names.get(host).filter(|failed| is_recent(failed));
        let wait = before.map_or(FIRST_WAIT, |failed| {
            failed.wait.saturating_mul(2).min(MAX_WAIT)
        });
        if before.is_some() || names.len() < MAX_REMEMBERED {
            let failed = Failed {
                at: now,
                wait,
                kind: error.kind(),
                cause: error.to_string(),
            };
            names.insert(host.to_owned(), failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail() -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::NotFound, "no such name"))
    }

    #[test]
    fn a_name_that_fails_is_asked_for_ever_less_often_until_it_is_found() {
        let names = Unresolved::default();
        let mut now = Instant::now();
        names.check("host", now).unwrap();
        let mut waits = Vec::new();
        for _ in 0..8 {
            names.note("host", now, &fail());
            let error = names.check("host", now).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(
                error
                    .to_string()
                    .starts_with("no such name; not asked again within ")
            );
            names.check("other", now).unwrap();
            let begun = now;
            while names.check("host", now).is_err() {
                now += Duration::from_millis(100);
            }
            waits.push((now - begun).as_millis());
        }
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        names.note("host", now, &Ok(()));
        names.note("host", now, &fail());
        now += FIRST_WAIT;
        names.check("host", now).unwrap();
        // A failure of long ago does not count.
        now += REMEMBERED;
        names.note("host", now, &fail());
        names.check("host", now + FIRST_WAIT).unwrap();
    }

    #[test]
    fn a_bounded_number_of_names_is_remembered() {
        let names = Unresolved::default();
        let now = Instant::now();
        for number in 0..=MAX_REMEMBERED {
            names.note(&number.to_string(), now, &fail());
        }
        assert_eq!(names.lock().len(), MAX_REMEMBERED);
        names.note("later", now + REMEMBERED, &fail());
        assert_eq!(names.lock().len(), 1);
    }
}
