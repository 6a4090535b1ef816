//! Signatures of operations as types, which generated stubs and skeletons name.
//!
//! The code that all calls share is generic and written once here, so generated code consists of names. A large model
//! has thousands of operations: rustc does not have to check an `async` block for each of them.
//!
//! - `results`: results, at the client and at the server;
//! - `many`: more results than Rust's tuples have traits for;
//! - `owned_argument`: arguments that a stub's call owns;
//! - `typed_arguments`: arguments and results of collocated calls, as Rust values;
//! - `parameters`: decoding of arguments, and passing them to a servant;
//! - `servant_call`: the call of the servant's method, from request to reply.

mod many;
mod owned_argument;
mod parameters;
mod results;
mod servant_call;
mod typed_arguments;

pub use many::ManyResults;
pub use owned_argument::{OctetsArgument, OwnedArgument, untyped_reference};
pub use parameters::{
    BorrowedBoundedOctets, BorrowedNumbers, BorrowedOctets, BorrowedText, ByRef, ByValue,
    LargeArray, Parameter, Parameters, RecycledSeq, ServantArguments, Taken,
};
pub use results::{Group, Results};
pub use servant_call::{Method, upcall};
pub use typed_arguments::{TypedArgument, TypedArguments, TypedResult, TypedResults};
