//! Calls on their way to a skeleton: a message, or a collocated call with its arguments as values.

use crate::operations::Operations;
use crate::request::{Outcome, Receipt, ServerRequest};
use crate::skeleton::Upcall;
use core::any::{Any, TypeId};
use core::cell::Cell;
use core::fmt;
use zorb_giop::{CompletionStatus, Fault};

/// A call on its way to a servant. It is small, since it is passed by value from the adapter to the skeleton; the request
/// is not moved until the upcall takes it.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// A call that came as a message, from any client.
    Message(IncomingRequest<'a>),
    /// A collocated call with its arguments as values.
    Typed(&'a mut Typed<'a>),
}

/// A request whose upcall is polled once, without a waker, as soon as it begins. Most upcalls end in that poll.
#[derive(Debug)]
#[non_exhaustive]
pub struct IncomingRequest<'a> {
    /// The request; an upcall that needs it takes it.
    pub request: &'a mut Option<ServerRequest>,
    /// The outcome of an upcall that has ended in its first poll.
    pub outcome: &'a mut Option<Outcome>,
}

impl<'a> IncomingRequest<'a> {
    /// A request, and the place for its outcome.
    #[must_use]
    #[inline]
    pub const fn new(
        request: &'a mut Option<ServerRequest>,
        outcome: &'a mut Option<Outcome>,
    ) -> Self {
        Self { request, outcome }
    }
}

/// A collocated call whose arguments are values, of the types of the caller's generated code.
///
/// The servant's IDL may be compiled separately, so the skeleton checks that its types are the same, and returns
/// [`Upcall::untyped`] if they are not.
pub struct Typed<'a> {
    /// The name of the operation on the wire.
    pub operation: &'a str,
    /// The data by which an exception is reported to the caller.
    pub receipt: Receipt,
    /// The arguments: an `Option` of a tuple, which the skeleton takes if it has the expected type.
    pub arguments: &'a mut (dyn Any + Send),
    /// The type of the results that the caller expects.
    pub results: TypeId,
    /// The place for the number of the operation, once the skeleton has [found](Incoming::find) it.
    pub number: &'a Cell<Option<u32>>,
}

impl Incoming<'_> {
    /// The request of a call by message, unless the upcall has taken it.
    #[inline]
    fn request(&self) -> Option<&ServerRequest> {
        match self {
            Self::Message(incoming) => incoming.request.as_ref(),
            Self::Typed(_) => None,
        }
    }

    /// Returns the name of the operation on the wire; empty once the upcall has taken the request.
    #[must_use]
    pub fn operation(&self) -> &[u8] {
        match self {
            Self::Typed(call) => call.operation.as_bytes(),
            _ => self.request().map_or(&[], ServerRequest::operation),
        }
    }

    /// The operation's number in `operations`, the table of the [skeleton](crate::Skeleton::operations) that is called. A
    /// number that is known already costs no look-up.
    #[must_use]
    #[inline]
    pub fn find(&self, operations: &Operations) -> Option<u32> {
        let number = self.request().and_then(ServerRequest::number);
        if number.is_some() {
            return number;
        }
        let number = operations.find(self.operation());
        if let Self::Typed(call) = self {
            call.number.set(number);
        }
        number
    }

    /// The message; `None` for a typed collocated call. A skeleton that takes messages only returns
    /// [`Upcall::untyped`] then.
    #[must_use]
    pub fn into_message(self) -> Option<ServerRequest> {
        match self {
            Self::Message(incoming) => incoming.request.take(),
            Self::Typed(_) => None,
        }
    }

    /// The upcall of an operation that the skeleton does not know: it ends with BAD_OPERATION.
    #[cold]
    pub fn unknown_operation(&self) -> Upcall {
        let receipt = match (self, self.request()) {
            (Self::Typed(call), _) => call.receipt,
            (_, Some(request)) => request.receipt(),
            (_, None) => return Upcall::untyped(),
        };
        let name = String::from_utf8_lossy(self.operation()).into_owned();
        let exception = Fault::NoOperation(name).raise(CompletionStatus::No);
        Upcall::ready(receipt.system_exception(&exception))
    }
}

impl fmt::Debug for Typed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed")
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
