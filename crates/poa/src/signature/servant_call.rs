//! The upcall: from a request to the servant's method, and from its result to the reply.

use super::parameters::{Parameter, Parameters, ServantArguments};
use super::results::{Results, Written};
use crate::panicked::Unwinding;
use crate::request::ServerRequest;
use crate::skeleton::{Started, Upcall};
use core::future::poll_fn;
use core::mem;
use core::pin::pin;
use std::sync::Arc;
use zorb_cdr::{ByteOrder, DecodeError, Decoder};
use zorb_giop::{OperationError, SystemException};

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

/// Begins the upcall of `method`: it decodes the arguments, calls the method and encodes the reply. The upcall owns servant and
/// request, from which arguments are borrowed.
///
/// A typed collocated call has nothing to decode and encode, if its types are those of `P` and `R`.
pub fn upcall<P, R, E, S, M>(servant: &Arc<S>, mut request: ServerRequest, method: M) -> Started
where
    P: Parameters + 'static,
    R: Results + 'static,
    E: OperationError + 'static,
    S: Send + Sync + 'static,
    M: for<'a> Method<'a, S, P, R, E> + Send + 'static,
{
    let mut values = None;
    if request.is_typed() {
        // Checked before the servant is called, since the call cannot be repeated as a message afterwards.
        values = request.take_values::<P::Owned, R::Values>();
        if values.is_none() {
            return Started::OtherTypes(request);
        }
    }
    Upcall::start(|| serving::<P, R, E, S, M>(Arc::clone(servant), request, values, method))
}

/// The future of an upcall.
#[inline(always)]
#[expect(
    clippy::manual_async_fn,
    reason = "it says that the future is `Send`, so that rustc need not find out for each method"
)]
fn serving<P, R, E, S, M>(
    servant: Arc<S>,
    mut request: ServerRequest,
    mut values: Option<P::Owned>,
    method: M,
) -> impl Future<Output = ServerRequest> + Send + 'static
where
    P: Parameters + 'static,
    R: Results + 'static,
    E: OperationError + 'static,
    S: Send + Sync + 'static,
    M: for<'a> Method<'a, S, P, R, E> + Send + 'static,
{
    async move {
        let ended = {
            let arguments = match &mut values {
                Some(values) => Ok(ServantArguments::Owned(values)),
                None => P::read(&request).map(ServantArguments::Read),
            };
            match arguments {
                Ok(mut arguments) => {
                    let unwinding = Unwinding::<M>::new();
                    let mut calling = pin!(method.call(&servant, &mut arguments));
                    let ended = poll_fn(|cx| {
                        let polled = request.enter(|| calling.as_mut().poll(cx));
                        if polled.is_pending() {
                            request.note_waiting();
                        }
                        polled
                    });
                    let ended = ended.await;
                    mem::forget(unwinding);
                    Ok(ended)
                }
                Err(unreadable) => Err(unreadable),
            }
        };
        match ended {
            Ok(Ok(results)) if request.is_typed() => {
                request.set_values::<P::Owned, R::Values>(results);
            }
            Ok(Ok(results)) => request.set_result(&Written::<R>(&results)),
            Ok(Err(error)) => request.set_exception(&error),
            Err(unreadable) => request.set_system_exception(&unreadable),
        }
        request
    }
}

/// Decodes the arguments of a method; without parameters there are none.
macro_rules! read {
    () => {
        #[inline(always)]
        fn read(_: &ServerRequest) -> Result<(), SystemException> {
            Ok(())
        }
    };
    ($($p:ident)+) => {};
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

            read!($($p)*);
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
