//! The upcall: from a request to the servant's method, and from its result to the reply.

use super::parameters::{Parameter, Parameters, ServantArguments, nothing_kept, read};
use super::results::{Results, Written};
use crate::panicked::Unwinding;
use core::any::{Any, TypeId};
use core::mem;
use std::sync::Arc;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, Shared};
use zorb_giop::{OperationError, SystemException};
use zorb_poa::{Finish, Incoming, Outcome, Receipt, ServerRequest, Upcall};

/// A method of a servant `S` with parameters `P`, which returns `R` or fails with `E`. Every `async fn` of a generated
/// trait implements it, for any lifetime `'a` of its borrowed arguments.
pub trait Method<'a, S, P: Parameters, R: Results, E> {
    /// The future of the method.
    type Calling: Future<Output = Result<R::Values, E>> + Send;

    /// Calls the method.
    fn call<'m: 'a>(
        self,
        servant: &'a S,
        arguments: &'a mut ServantArguments<'m, P>,
    ) -> Self::Calling;
}

/// The source of an upcall's arguments, which the upcall owns.
enum Source<P: Parameters> {
    Message(P::Kept),
    Typed(Receipt, P::Owned),
}

/// Makes the upcall of `method`: it decodes the arguments, calls the method and encodes the reply. The upcall owns
/// servant and request, from which arguments are borrowed. It runs when it is polled. The first poll of a call by
/// message is made here, without a waker.
///
/// A typed collocated call has nothing to decode and encode. If its types are not those of `P` and `R`, the upcall is
/// [untyped](Upcall::untyped).
pub fn upcall<P, R, E, S, M>(servant: &Arc<S>, call: Incoming<'_>, method: M) -> Upcall
where
    P: Parameters + 'static,
    R: Results + 'static,
    E: OperationError + 'static,
    S: Send + Sync + 'static,
    M: for<'a> Method<'a, S, P, R, E> + Send + 'static,
{
    let (receipt, arguments) = match call {
        Incoming::Message(incoming) => {
            return match P::keep(incoming.request) {
                Some(kept) => {
                    let (servant, source) = (Arc::clone(servant), Source::<P>::Message(kept));
                    Upcall::start(
                        || serving::<P, R, E, S, M>(servant, source, method),
                        incoming.outcome,
                    )
                }
                None => Upcall::untyped(),
            };
        }
        // Checked before the servant is called, since the call cannot be repeated as a message afterwards.
        Incoming::Typed(call) if call.results != TypeId::of::<R::Values>() => {
            return Upcall::untyped();
        }
        Incoming::Typed(call) => {
            let arguments = call.arguments.downcast_mut::<Option<P::Owned>>();
            match arguments.and_then(Option::take) {
                Some(arguments) => (call.receipt, arguments),
                None => return Upcall::untyped(),
            }
        }
    };
    Upcall::new(serving::<P, R, E, S, M>(
        Arc::clone(servant),
        Source::Typed(receipt, arguments),
        method,
    ))
}

/// The end of an upcall.
enum Finished<R: Results> {
    /// An exception, encoded as a reply if the client expects one.
    Outcome(Outcome),
    /// The results of a call by message, which are encoded where the reply is sent.
    Results(Receipt, UpcallResults<R::Values>),
    /// The results of a typed collocated call.
    Typed(R::Values),
}

/// Results of an upcall, which may refer to values of the request. The order of the fields matters: results are dropped
/// first.
struct UpcallResults<V> {
    values: V,
    /// The collector of the request's cycles, dropped after the results.
    _cycles: Option<Box<Shared>>,
}

impl<R: Results> Finish for Finished<R> {
    #[inline(always)]
    fn finish(self, values: Option<&mut (dyn Any + Send)>) -> Outcome {
        match self {
            Self::Outcome(outcome) => outcome,
            Self::Results(receipt, held) => receipt.reply(&Written::<R>(&held.values)),
            Self::Typed(found) => {
                if let Some(values) = values.and_then(|values| values.downcast_mut()) {
                    *values = Some(found);
                }
                Outcome::Silent
            }
        }
    }

    #[inline(always)]
    fn finish_in(self, outcome: &mut Option<Outcome>) {
        match self {
            Self::Results(receipt, held) => receipt.reply_in(&Written::<R>(&held.values), outcome),
            other => *outcome = Some(other.finish(None)),
        }
    }
}

/// The future of an upcall.
#[inline(always)]
#[expect(
    clippy::manual_async_fn,
    reason = "it says that the future is `Send`, so that rustc need not find out for each method"
)]
fn serving<P, R, E, S, M>(
    servant: Arc<S>,
    mut source: Source<P>,
    method: M,
) -> impl Future<Output = Finished<R>> + Send + 'static
where
    P: Parameters + 'static,
    R: Results + 'static,
    E: OperationError + 'static,
    S: Send + Sync + 'static,
    M: for<'a> Method<'a, S, P, R, E> + Send + 'static,
{
    async move {
        let (receipt, mut arguments) = match &mut source {
            Source::Message(kept) => match P::read(kept) {
                (receipt, Ok(arguments)) => (receipt, ServantArguments::Read(arguments)),
                (receipt, Err(error)) => {
                    return Finished::Outcome(receipt.system_exception(&error));
                }
            },
            Source::Typed(receipt, arguments) => (*receipt, ServantArguments::Owned(arguments)),
        };
        let unwinding = Unwinding::<M>::new();
        let ended = method.call(&servant, &mut arguments).await;
        mem::forget(unwinding);
        drop(arguments);
        match (ended, &mut source) {
            (Ok(values), Source::Message(kept)) => {
                let _cycles = P::cycles(kept);
                Finished::Results(receipt, UpcallResults { values, _cycles })
            }
            (Ok(values), Source::Typed(..)) => Finished::Typed(values),
            (Err(error), _) => Finished::Outcome(receipt.exception(&error)),
        }
    }
}

/// Implements the part of a request that the parameters of a method keep.
macro_rules! kept {
    () => {
        type Kept = Receipt;

        #[inline(always)]
        fn keep(request: &mut Option<ServerRequest>) -> Option<Receipt> {
            nothing_kept(request)
        }

        #[inline(always)]
        fn read(kept: &Receipt) -> (Receipt, Result<(), SystemException>) {
            (*kept, Ok(()))
        }

        #[inline(always)]
        fn cycles(_: &mut Receipt) -> Option<Box<Shared>> {
            None
        }
    };
    ($($p:ident)+) => {
        type Kept = ServerRequest;

        #[inline(always)]
        fn keep(request: &mut Option<ServerRequest>) -> Option<ServerRequest> {
            request.take()
        }

        #[inline(always)]
        fn read(kept: &ServerRequest) -> (Receipt, Result<Self::Decoded<'_>, SystemException>) {
            read::<Self>(kept)
        }

        #[inline(always)]
        fn cycles(kept: &mut ServerRequest) -> Option<Box<Shared>> {
            kept.take_cycles()
        }
    };
}

macro_rules! method {
    ($($p:ident $v:ident)*) => {
        impl<$($p: Parameter),*> Parameters for ($($p,)*) {
            type Decoded<'m> = ($($p::Decoded<'m>,)*);
            type Owned = ($($p::Owned,)*);

            #[inline(always)]
            fn decode<'m, Order: ByteOrder>(
                decoder: &mut Decoder<'m, Order>,
            ) -> Result<Self::Decoded<'m>, DecodeError> {
                let _ = &decoder;
                Ok(($($p::decode(decoder)?,)*))
            }

            kept!($($p)*);
        }

        impl<'a, Servant, R1, Error, Calling, Function, $($p: Parameter),*>
            Method<'a, Servant, ($($p,)*), R1, Error> for Function
        where
            Servant: 'a,
            R1: Results,
            Function: FnOnce(&'a Servant, $($p::Passed<'a>),*) -> Calling,
            Calling: Future<Output = Result<R1::Values, Error>> + Send,
        {
            type Calling = Calling;

            #[inline(always)]
            fn call<'m: 'a>(
                self,
                servant: &'a Servant,
                arguments: &'a mut ServantArguments<'m, ($($p,)*)>,
            ) -> Calling {
                match arguments {
                    ServantArguments::Read(($($v,)*)) => self(servant, $($p::pass($v)),*),
                    ServantArguments::Owned(($($v,)*)) => self(servant, $($p::lend($v)),*),
                }
            }
        }
    };
}

/// Implements [`Parameters`] and [`Method`] for this number of parameters and each smaller one.
macro_rules! methods {
    () => { method!(); };
    ($p:ident $v:ident $($rest:ident $r:ident)*) => {
        method!($p $v $($rest $r)*);
        methods!($($rest $r)*);
    };
}

methods! {
    A a B b C c D d E e F f G g H h I i J j K k L l M m N n O o P p Q q
    R r S s T t U u V v W w X x Y y Z z A1 a1 B1 b1 C1 c1 D1 d1 E1 e1 F1 f1 G1 g1
}
