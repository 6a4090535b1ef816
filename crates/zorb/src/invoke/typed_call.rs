//! Typed collocated calls: arguments and results are passed as Rust values, and not marshalled.
//!
//! This needs the same Rust types at caller and servant; every other call is marshalled. Exceptions are marshalled too,
//! since they need not be fast.

use crate::orb::Orb;
use crate::signature::TypedArguments;
use core::marker::PhantomData;
use zorb_cdr::EncodeError;
use zorb_poa::signature::{Parameters, Results};
use zorb_poa::{Outcome, ServerRequest};

/// A typed call, with the types of its arguments and results erased.
pub(super) trait TypedCall: Send {
    /// The call of the operation with this number in the table of the servant.
    ///
    /// # Errors
    /// Arguments that cannot be marshalled, such as text with a NUL.
    fn request(&self, number: u32) -> Result<ServerRequest, EncodeError>;

    /// Takes the results of a call that has ended.
    ///
    /// # Errors
    /// The outcome of a call that has ended with an exception.
    fn take(&mut self, ended: ServerRequest) -> Result<(), Outcome>;
}

/// A typed call, with the types of its arguments and results.
pub(super) struct TypedInvocation<'a, P, R: Results, A> {
    orb: &'a Orb,
    arguments: &'a A,
    results: Option<R::Values>,
    parameters: PhantomData<fn() -> P>,
}

impl<'a, P, R: Results, A> TypedInvocation<'a, P, R, A> {
    /// A call through a reference of `orb`.
    pub(super) const fn new(orb: &'a Orb, arguments: &'a A) -> Self {
        Self {
            orb,
            arguments,
            results: None,
            parameters: PhantomData,
        }
    }

    /// The results, if the call has returned some.
    pub(super) fn into_results(self) -> Option<R::Values> {
        self.results
    }
}

impl<P, R, A> TypedCall for TypedInvocation<'_, P, R, A>
where
    P: Parameters,
    R: Results,
    A: TypedArguments<P>,
{
    fn request(&self, number: u32) -> Result<ServerRequest, EncodeError> {
        let arguments = self.arguments.to_owned_argument(self.orb)?;
        Ok(ServerRequest::typed::<P::Owned, R::Values>(
            number, arguments,
        ))
    }

    fn take(&mut self, ended: ServerRequest) -> Result<(), Outcome> {
        self.results = Some(ended.into_values::<P::Owned, R::Values>()?);
        Ok(())
    }
}
