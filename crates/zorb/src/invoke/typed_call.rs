//! Typed collocated calls: arguments and results are passed as Rust values, and not marshalled.
//!
//! This needs the same Rust types at caller and servant; every other call is marshalled. Exceptions are marshalled too,
//! since they need not be fast.

use crate::orb::Orb;
use crate::signature::{Parameters, Results, TypedArguments};
use core::any::{Any, TypeId};
use core::cell::Cell;
use core::marker::PhantomData;
use zorb_cdr::EncodeError;
use zorb_poa::{ActiveObject, Receipt, Typed, Upcall};

/// The upcall of a typed call, and the number of its operation once the skeleton has found it.
pub(super) struct TypedUpcall {
    pub(super) upcall: Upcall,
    pub(super) operation: Option<u32>,
}

/// A typed call, with the types of its arguments and results erased.
pub(super) trait TypedCall: Send {
    /// Begins the upcall, if the servant of `object` has the same Rust types; else the upcall is
    /// [untyped](Upcall::untyped).
    ///
    /// # Errors
    /// Arguments that cannot be marshalled, such as text with a NUL.
    fn start(
        &self,
        object: &ActiveObject,
        operation: &str,
        receipt: Receipt,
    ) -> Result<TypedUpcall, EncodeError>;

    /// Where the upcall stores the results: an `Option` of their type.
    fn results(&mut self) -> &mut (dyn Any + Send);

    /// A new empty `Option` of the results' type, for an upcall that becomes a task.
    fn place(&self) -> Box<dyn Any + Send>;

    /// Takes the results from an `Option` that [`place`](Self::place) made.
    fn take(&mut self, place: Box<dyn Any + Send>);
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
    fn start(
        &self,
        object: &ActiveObject,
        operation: &str,
        receipt: Receipt,
    ) -> Result<TypedUpcall, EncodeError> {
        let mut arguments = Some(self.arguments.to_owned_argument(self.orb)?);
        let number = Cell::new(None);
        let upcall = object.start_typed(Typed {
            operation,
            receipt,
            arguments: &mut arguments,
            results: TypeId::of::<R::Values>(),
            number: &number,
        });
        Ok(TypedUpcall {
            upcall,
            operation: number.get(),
        })
    }

    fn results(&mut self) -> &mut (dyn Any + Send) {
        &mut self.results
    }

    fn place(&self) -> Box<dyn Any + Send> {
        Box::new(None::<R::Values>)
    }

    fn take(&mut self, place: Box<dyn Any + Send>) {
        if let Ok(results) = place.downcast() {
            self.results = *results;
        }
    }
}
