//! The client's side of the [signatures](zorb_poa::signature) of operations.
//!
//! - `owned_argument`: arguments that a stub's call owns;
//! - `typed_arguments`: arguments and results of collocated calls, as Rust values.

mod owned_argument;
mod typed_arguments;

pub use owned_argument::{OctetsArgument, OwnedArgument, untyped_reference};
pub use typed_arguments::{TypedArgument, TypedArguments, TypedResult, TypedResults};
