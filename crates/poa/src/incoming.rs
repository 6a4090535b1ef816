//! The call of a skeleton: a message, or the values themselves.

use crate::operations::Operations;
use crate::request::{Outcome, Receipt, Request};
use crate::skeleton::Upcall;
use core::any::{Any, TypeId};
use core::fmt;
use zorb_giop::{CompletionStatus, Fault};

/// A call on its way to a servant. Small, since it is passed by value from the adapter to the skeleton; the request stays
/// where it is until the upcall takes it.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// A call that came as a message, from any client.
    Message(IncomingRequest<'a>),
    /// A collocated call whose arguments are values.
    Typed(&'a mut Typed<'a>),
}

/// A request whose upcall is polled once, without a waker, as soon as it has begun: most upcalls end there.
#[derive(Debug)]
#[non_exhaustive]
pub struct IncomingRequest<'a> {
    /// The request, taken by an upcall that needs it.
    pub request: &'a mut Option<Request>,
    /// The outcome of an upcall that has ended with its first poll.
    pub outcome: &'a mut Option<Outcome>,
}

impl<'a> IncomingRequest<'a> {
    /// A request, and the place for its outcome.
    #[must_use]
    #[inline]
    pub const fn new(request: &'a mut Option<Request>, outcome: &'a mut Option<Outcome>) -> Self {
        Self { request, outcome }
    }
}

/// A call whose arguments are values, of the types that the caller's IDL says.
///
/// The servant's IDL is compiled apart from the caller's, so the skeleton looks whether these are its types too, and
/// answers [`Upcall::untyped`] if not.
pub struct Typed<'a> {
    /// The operation's name on the wire.
    pub operation: &'a str,
    /// How exceptions are reported.
    pub receipt: Receipt,
    /// An `Option` of a tuple of them, which is taken if it is of the right type.
    pub arguments: &'a mut (dyn Any + Send),
    /// The type of the results that the caller wants.
    pub results: TypeId,
}

impl Incoming<'_> {
    /// The request, if it came as a message and is there still.
    #[inline]
    fn request(&self) -> Option<&Request> {
        match self {
            Self::Message(incoming) => incoming.request.as_ref(),
            Self::Typed(_) => None,
        }
    }

    /// The operation's name on the wire.
    #[must_use]
    pub fn operation(&self) -> &[u8] {
        match self {
            Self::Typed(call) => call.operation.as_bytes(),
            _ => self.request().map_or(&[], Request::operation),
        }
    }

    /// The operation's number in `operations`, the table of the [skeleton](crate::Skeleton::operations) that this is
    /// for. It is not looked up if it is known.
    #[must_use]
    #[inline]
    pub fn find(&self, operations: &Operations) -> Option<u32> {
        let number = self.request().and_then(Request::number);
        if number.is_some() {
            zorb_giop::probe!(OperationFound);
            return number;
        }
        operations.find(self.operation())
    }

    /// The message; `None` for a call by values, which a skeleton that takes messages only answers by [untyped](Upcall::untyped).
    #[must_use]
    pub fn into_message(self) -> Option<Request> {
        match self {
            Self::Message(incoming) => incoming.request.take(),
            Self::Typed(_) => None,
        }
    }

    /// Ends the upcall of an operation that the skeleton does not know.
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
