//! Listing a context, however many bindings it has.

use super::cos_naming::{Binding, BindingIteratorRef, BindingType, NamingContextRef};
use super::error::{NamingError, service_failed};
use super::name::Name;
use crate::interface::Interface;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;
use tokio::task::JoinHandle;
use zorb_giop::SystemException;

/// Bindings asked for at a time by default.
const BATCH: u32 = 100;
/// How long a listing that was dropped tries to have the server's iterator destroyed.
const FAREWELL: Duration = Duration::from_secs(10);

/// One binding of a naming context.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its name in that context: one component.
    pub name: Name,
    /// Whether it is a context or another object.
    pub binding_type: BindingType,
}

impl Entry {
    /// Whether the binding is one of a naming context, through which names lead on.
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

/// The bindings of a context, one after the other: what
/// [`NamingClient::list`](super::NamingClient::list) gives.
///
/// They are fetched in batches, so that a context of any size costs the memory of one batch. The
/// service decides in which order they come, and whether what is bound or unbound meanwhile is
/// among them.
///
/// The server keeps an iterator for a listing that takes more than one batch. It is destroyed at
/// the end of the listing, by [`close`](Self::close), or, if the listing is dropped before, by a
/// task of the ORB: a program that ends right then had better call `close`.
///
/// For a `Stream`: `futures::stream::poll_fn(move |cx| bindings.poll_next(cx))`.
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
    /// The call is kept here rather than in the future that `next` gives, so that dropping that
    /// one loses no batch and no iterator.
    Asking(Asking),
    More(BindingIteratorRef),
    Over,
}

type Asking = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The bindings of a call, and the iterator if there may be more.
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

    /// Asks for this many bindings at a time instead of 100; for one at least.
    pub fn in_batches_of(mut self, bindings: u32) -> Self {
        self.batch = bindings.max(1);
        self
    }

    /// The next binding, or `None` after the last. Calls the server once a batch.
    ///
    /// # Errors
    /// [`NamingError::System`], which ends the listing.
    ///
    /// # Cancel safety
    /// Safe: no binding is lost.
    pub async fn next(&mut self) -> Result<Option<Entry>, NamingError> {
        poll_fn(|cx| self.poll_next(cx)).await.transpose()
    }

    /// [`next`](Self::next) for hand-written futures.
    ///
    /// # Errors
    /// See [`next`](Self::next).
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

    /// Ends the listing before its end, and returns when the server has destroyed the iterator.
    ///
    /// # Cancel safety
    /// Safe: the server's iterator is destroyed all the same.
    pub async fn close(mut self) {
        if let Some(farewell) = self.farewell() {
            // Spawned, so that it is finished whatever becomes of this future.
            let _ = farewell.await;
        }
    }

    /// Has the server's iterator destroyed, if there is one, by a task of the ORB's own runtime: the
    /// caller's may end with the caller.
    fn farewell(&mut self) -> Option<JoinHandle<()>> {
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
                // Its reply may be the first to tell that there is an iterator.
                Step::Asking(asking) => match tokio::time::timeout(FAREWELL, asking).await {
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
        // Detached: it is bounded by `FAREWELL`.
        let _ = self.farewell();
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
        // An empty batch that promises more would be asked for without end.
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
    // Servers may drop an iterator that is idle or at its end, and a server that cannot be reached will have to: a
    // failure here has no consequence.
    let _ = iterator.with_round_trip_timeout(FAREWELL).destroy().await;
}
