//! Signatures of operations as types, which generated stubs and skeletons name.
//!
//! The code that all calls share is generic and written once here, so generated code consists of names. A large model
//! has thousands of operations: rustc does not have to check an `async` block for each of them.
//!
//! - `parameters`: decoding of arguments, and passing them to a servant;
//! - `servant_call`: the call of the servant's method, from request to reply;
//! - `results`: results, at the client and at the server;
//! - `many`: more results than Rust's tuples have traits for.

mod many;
mod parameters;
mod results;
mod servant_call;

pub use many::ManyResults;
pub use parameters::{
    BorrowedBoundedOctets, BorrowedNumbers, BorrowedOctets, BorrowedText, ByRef, ByValue,
    LargeArray, OwnedBoundedOctets, OwnedOctets, Parameter, Parameters, RecycledSeq,
    ServantArguments, Taken,
};
pub use results::{Group, Results};
pub use servant_call::{Method, upcall};
