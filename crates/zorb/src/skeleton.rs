//! Types of generated skeletons, for generic code over servants and for skeletons that are written by hand.
//!
//! IDL interface `Foo` becomes a `FooServant`, which implements [`Skeleton`] and [`InterfaceSkeleton`]; the activation
//! methods of a [`Poa`](crate::Poa) take any type that implements these. A skeleton by hand finds the operation of each
//! call, decodes its arguments and encodes its reply.

pub use crate::poa::InterfaceSkeleton;
pub use zorb_poa::signature::Parameter;
pub use zorb_poa::{Operations, Outcome, Receipt, ServerRequest, Skeleton, Started, Upcall};
