//! The task level of policies: those of the scopes in which this thread runs.

use super::overrides::PolicyOverrides;
use core::cell::RefCell;
use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Whether the program has ever entered a scope: until then, calls skip the thread-local.
static USED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static CURRENT: RefCell<Option<Arc<PolicyOverrides>>> = const { RefCell::new(None) };
}

/// Whether any scope has been entered in this process.
#[inline]
fn is_used() -> bool {
    // Relaxed suffices: a thread sees its own store.
    USED.load(Ordering::Relaxed)
}

/// Whether this thread is in a scope. Scopes of other threads' tasks do not slow its calls.
#[inline]
pub(crate) fn is_set() -> bool {
    is_used() && has_current()
}

#[inline(never)]
fn has_current() -> bool {
    let current = CURRENT.try_with(|current| current.borrow().is_some());
    current.unwrap_or_default()
}

/// The policies of this thread's scopes, inner ones over outer ones.
pub(crate) fn current() -> Option<Arc<PolicyOverrides>> {
    if !is_used() {
        return None;
    }
    // Thread-locals of an ending thread are gone, so it is in no scope.
    let current = CURRENT.try_with(|current| current.borrow().clone());
    current.unwrap_or_default()
}

/// Restores the previous policies of the thread when dropped.
#[must_use]
pub(crate) struct OverridesScope(Option<Arc<PolicyOverrides>>);

impl Drop for OverridesScope {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.replace(self.0.take()));
    }
}

fn replace(policies: Option<Arc<PolicyOverrides>>) -> OverridesScope {
    let before = CURRENT.try_with(|current| current.replace(policies));
    OverridesScope(before.unwrap_or_default())
}

/// Leaves all scopes until the result is dropped. Servants run so, since the scopes of a collocated caller do not apply
/// to their calls.
#[inline]
pub(crate) fn leave() -> Option<OverridesScope> {
    is_used().then(|| replace(None))
}

fn enter(policies: &PolicyOverrides) -> Arc<PolicyOverrides> {
    USED.store(true, Ordering::Relaxed);
    match current() {
        Some(outer) => Arc::new(policies.over(&outer)),
        None => Arc::new(policies.clone()),
    }
}

pub(crate) async fn scope<F: Future>(policies: PolicyOverrides, future: F) -> F::Output {
    // Merged at the first poll, when the outer scopes are known.
    let policies = enter(&policies);
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _entered = replace(Some(Arc::clone(&policies)));
        future.as_mut().poll(cx)
    })
    .await
}

pub(crate) fn scope_blocking<T>(policies: PolicyOverrides, run: impl FnOnce() -> T) -> T {
    let _entered = replace(Some(enter(&policies)));
    run()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::SyncScope;
    use core::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_scope_holds_across_awaits_and_threads_and_ends_with_its_future() {
        let limit = |seconds| {
            PolicyOverrides::new().relative_round_trip_timeout(Duration::from_secs(seconds))
        };
        let seen = || current().and_then(|policies| policies.round_trip_timeout);
        let outer = limit(9).sync_scope(SyncScope::None);
        let task = tokio::spawn(async move {
            outer
                .scope(async {
                    for _ in 0..100 {
                        assert_eq!(seen(), Some(Duration::from_secs(9)));
                        tokio::task::yield_now().await;
                    }
                    limit(1)
                        .scope(async {
                            tokio::task::yield_now().await;
                            assert_eq!(seen(), Some(Duration::from_secs(1)));
                            let inner = current().unwrap();
                            assert_eq!(inner.sync_scope, Some(SyncScope::None));
                            let left = leave();
                            assert_eq!(seen(), None);
                            drop(left);
                            assert_eq!(seen(), Some(Duration::from_secs(1)));
                        })
                        .await;
                    assert_eq!(seen(), Some(Duration::from_secs(9)));
                    assert_eq!(tokio::spawn(async move { seen() }).await.unwrap(), None);
                })
                .await;
            assert_eq!(seen(), None);
        });
        task.await.unwrap();
        limit(2).scope_blocking(|| assert_eq!(seen(), Some(Duration::from_secs(2))));
        assert_eq!(seen(), None);
    }
}
