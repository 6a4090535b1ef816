//! Listing a context in batches.

use super::cos_naming::{Binding, BindingIteratorRef, BindingType, NamingContextRef};
use super::name::Name;
use super::naming_error::{NamingError, service_failed};
use crate::interface::Interface;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;
use tokio::task::JoinHandle;
use zorb_giop::SystemException;

/// The default size of a batch, in bindings.
const BATCH: u32 = 100;
/// The time limit for destroying the server's iterator.
const DESTROY_TIMEOUT: Duration = Duration::from_secs(10);

/// A binding of a naming context: the counterpart of `CosNaming::Binding`.
///
/// Source: the OMG Naming Service, `CosNaming::Binding`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The name of the binding in its context: one component.
    pub name: Name,
    /// Whether a context or another object is bound.
    pub binding_type: BindingType,
}

impl Entry {
    /// Whether a naming context is bound.
    #[must_use]
    pub fn is_context(&self) -> bool {
        self.binding_type == BindingType::Ncontext
    }
}

impl From<Binding> for Entry {
    fn from(binding: Binding) -> Self {
        Self {
            name: Name(binding.binding_name),
            binding_type: binding.binding_type,
        }
    }
}

/// An asynchronous iterator over the bindings of a context, made by [`NamingClient::list`](super::NamingClient::list).
///
/// It fetches bindings in batches, so that a context of any size costs the memory of one batch. The service chooses
/// their order, and whether the listing shows changes that are made meanwhile.
///
/// The server keeps an iterator for a listing of more than one batch. It is destroyed at the end of the listing, by
/// [`close`](Self::close), or, if the listing is dropped before, by a task of the ORB. A program that ends at once
/// should call `close`.
///
/// To make a `Stream`: `futures::stream::poll_fn(move |cx| bindings.poll_next(cx))`.
///
/// A batch costs one call. Source: the OMG Naming Service, `CosNaming::BindingIterator`.
#[must_use = "nothing is asked before `next` is called"]
pub struct Bindings {
    context: NamingContextRef,
    step: Step,
    ready: VecDeque<Entry>,
    batch: u32,
}

enum Step {
    Unasked,
    /// The call in progress. It is kept here rather than in the future of `next`, so that dropping that future loses no
    /// batch and no iterator.
    Asking(Asking),
    More(BindingIteratorRef),
    Over,
}

type Asking = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The result of a call: its bindings, and the iterator if there may be more.
struct Answer {
    bindings: Result<Vec<Binding>, SystemException>,
    more: Option<BindingIteratorRef>,
}

impl Bindings {
    pub(super) fn new(context: NamingContextRef) -> Self {
        Self {
            context,
            step: Step::Unasked,
            ready: VecDeque::new(),
            batch: BATCH,
        }
    }

    /// Sets the size of a batch, in bindings; 100 unless set, and at least one.
    pub fn in_batches_of(mut self, bindings: u32) -> Self {
        self.batch = bindings.max(1);
        self
    }

    /// Returns the next binding, or `None` after the last. Calls the server once a batch.
    ///
    /// # Errors
    /// [`NamingError::System`], which ends the listing.
    ///
    /// # Cancel safety
    /// Safe: no binding is lost.
    pub async fn next(&mut self) -> Result<Option<Entry>, NamingError> {
        poll_fn(|cx| self.poll_next(cx)).await.transpose()
    }

    /// Polls for the next binding: [`next`](Self::next) for hand-written futures.
    ///
    /// # Errors
    /// Returns the errors of [`next`](Self::next).
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Entry, NamingError>>> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(entry)));
            }
            self.step = match core::mem::replace(&mut self.step, Step::Over) {
                Step::Unasked => Step::Asking(Box::pin(begin(self.context.clone(), self.batch))),
                Step::More(iterator) => Step::Asking(Box::pin(go_on(iterator, self.batch))),
                Step::Asking(mut asking) => {
                    let Poll::Ready(answer) = asking.as_mut().poll(cx) else {
                        self.step = Step::Asking(asking);
                        return Poll::Pending;
                    };
                    let bindings = match answer.bindings {
                        Ok(bindings) => bindings,
                        Err(exception) => {
                            let error = service_failed(&self.context, exception);
                            return Poll::Ready(Some(Err(error)));
                        }
                    };
                    self.ready.extend(bindings.into_iter().map(Entry::from));
                    answer.more.map_or(Step::Over, Step::More)
                }
                Step::Over => return Poll::Ready(None),
            };
        }
    }

    /// Ends the listing early. Ready when the server has destroyed the iterator, or the attempt has failed.
    ///
    /// # Cancel safety
    /// Safe: a task of the ORB destroys the server's iterator all the same.
    pub async fn close(mut self) {
        if let Some(task) = self.destroy_iterator() {
            // A spawned task, which ends even if this future is dropped.
            let _ = task.await;
        }
    }

    /// Spawns a task that destroys the server's iterator, if there is one. It runs in the ORB's runtime, since the
    /// caller's may end.
    fn destroy_iterator(&mut self) -> Option<JoinHandle<()>> {
        let step = core::mem::replace(&mut self.step, Step::Over);
        if matches!(step, Step::Unasked | Step::Over) {
            return None;
        }
        let lane = self
            .context
            .as_object()
            .orb()
            .inner()
            .lane()
            .handle()
            .clone();
        Some(lane.spawn(async move {
            let iterator = match step {
                Step::More(iterator) => Some(iterator),
                // The reply to the first call may bring the iterator.
                Step::Asking(asking) => match tokio::time::timeout(DESTROY_TIMEOUT, asking).await {
                    Ok(answer) => answer.more,
                    Err(_) => None,
                },
                Step::Unasked | Step::Over => None,
            };
            if let Some(iterator) = iterator {
                destroy(iterator).await;
            }
        }))
    }
}

impl Drop for Bindings {
    fn drop(&mut self) {
        // Detached: `DESTROY_TIMEOUT` bounds the task.
        let _ = self.destroy_iterator();
    }
}

impl fmt::Debug for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bindings")
            .field("context", &self.context)
            .field("ready", &self.ready.len())
            .field("batch", &self.batch)
            .finish_non_exhaustive()
    }
}

async fn begin(context: NamingContextRef, batch: u32) -> Answer {
    match context.list(batch).await {
        Ok((bindings, more)) => Answer {
            bindings: Ok(bindings),
            more,
        },
        Err(exception) => Answer {
            bindings: Err(exception),
            more: None,
        },
    }
}

async fn go_on(iterator: BindingIteratorRef, batch: u32) -> Answer {
    let (bindings, more) = match iterator.next_n(batch).await {
        // An empty batch ends the listing even if it claims that there are more, which would loop without end.
        Ok((more, bindings)) => (Ok(bindings), more),
        Err(exception) => (Err(exception), false),
    };
    if more && bindings.as_ref().is_ok_and(|bindings| !bindings.is_empty()) {
        let more = Some(iterator);
        return Answer { bindings, more };
    }
    destroy(iterator).await;
    Answer {
        bindings,
        more: None,
    }
}

async fn destroy(iterator: BindingIteratorRef) {
    // Servers may drop an iterator that is idle or at its end, so a failure here has no consequence.
    let _ = iterator
        .with_round_trip_timeout(DESTROY_TIMEOUT)
        .destroy()
        .await;
}
