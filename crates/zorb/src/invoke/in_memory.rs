//! Operations whose values lie in memory: whether an object has one of the same layout.
//!
//! Such an operation is one more of its interface, called as the one in CDR with a hash of the layout behind it. Of another program, or
//! another version of this one, it has another name. So an object that does not have it answers that, as any ORB does, and nothing
//! that it says is taken for something else.

use crate::object::{Binding, ObjectRef, Target};
use std::sync::Arc;
use tokio::runtime::Handle;
use zorb_giop::{CompletionStatus, OperationError, SystemException, SystemExceptionKind, Version};
use zorb_poa::declared_name;

impl ObjectRef {
    /// Whether the object is behind a connection to an alike peer, and has an operation of this layout. For generated stubs.
    ///
    /// Costs a call of `_is_a` with this `question`, the first time on a connection; none of a reference that is not bound yet, or is
    /// bound to anything else.
    ///
    /// # Cancel safety
    /// Safe: the question has no effect on the object.
    #[doc(hidden)]
    pub async fn passes_memory(&self, layout: u64, question: &'static str) -> bool {
        match self.known_layout(layout) {
            Ok(known) => known,
            // Boxed, since it is rare and large in comparison with the rest of a call.
            Err(binding) => Box::pin(self.ask_layout(binding, layout, question)).await,
        }
    }

    /// Whether the object is known to have an operation of this layout, which is one-way. For generated stubs.
    ///
    /// Waits for nothing, as its call waits for no servant: the first time on a connection it has the object asked meanwhile.
    #[doc(hidden)]
    #[must_use]
    pub fn passes_memory_one_way(&self, layout: u64, question: &'static str) -> bool {
        match self.known_layout(layout) {
            Ok(known) => known,
            Err(binding) => {
                // Until the object has answered.
                binding.layouts.set(layout, false);
                let (orb, object) = (Arc::clone(self.orb().inner()), self.clone());
                let asked = async move {
                    object.ask_layout(binding, layout, question).await;
                };
                match Handle::try_current() {
                    Ok(home) => orb.track_in(&home, asked),
                    Err(_) => orb.track(asked),
                }
                false
            }
        }
    }

    /// What is known of a layout.
    ///
    /// # Errors
    /// The binding whose object has to be asked.
    fn known_layout(&self, layout: u64) -> Result<bool, Arc<Binding>> {
        let bound = self.bound().ok().flatten();
        let Some(binding) = bound.as_ref().and_then(|bound| bound.get()) else {
            return Ok(false);
        };
        match &binding.target {
            Target::Remote(remote)
                if binding.version >= Version::V1_2 && remote.connection.is_to_alike_peer() =>
            {
                let known = binding.layouts.get(layout);
                known.ok_or_else(|| Arc::clone(binding))
            }
            _ => Ok(false),
        }
    }

    async fn ask_layout(&self, binding: Arc<Binding>, layout: u64, question: &'static str) -> bool {
        let answer = self
            .invoke::<_, (bool,), SystemException>("_is_a", (question,))
            .await;
        binding.layouts.set(layout, answer.unwrap_or(false));
        // Of another connection by now, nothing is known.
        self.known_layout(layout).unwrap_or(false)
    }

    /// Whether the object does not have an operation of this layout after all, so that the call is to be made in CDR: another servant
    /// has taken its place. For generated stubs.
    #[doc(hidden)]
    pub fn declines_memory<T, E: OperationError>(
        &self,
        layout: u64,
        result: &Result<T, E>,
    ) -> bool {
        let Err(error) = result else {
            return false;
        };
        let declines = error.system().is_some_and(|exception| {
            exception.kind == SystemExceptionKind::BadOperation
                && exception.completed == CompletionStatus::No
        });
        if declines
            && let Ok(Some(bound)) = self.bound()
            && let Some(binding) = bound.get()
        {
            binding.layouts.set(layout, false);
        }
        declines
    }
}

/// The name that IDL gives to an operation.
pub(crate) fn declared(operation: &str) -> &str {
    let declared = declared_name(operation.as_bytes()).len();
    operation.get(..declared).unwrap_or(operation)
}
