//! Signatures of operations as types: what stubs and skeletons of generated code name, so that there is nothing in them
//! but names.
//!
//! Everything that every call does is written once here, for all types, and rustc looks at it once. What it would have to
//! look at again for each of the thousands of operations of a large model, above all `async` blocks, it never sees there.
//!
//! - `results`: what comes back, on either side;
//! - `many`: more of it than Rust's tuples have traits for;
//! - `held`: arguments that a stub's call owns;
//! - `given`: what calls within one ORB hand over in place of messages;
//! - `parameters`: how arguments are read, and handed to a servant;
//! - `upcall`: from a request to the servant's method and on to the reply.

mod given;
mod held;
mod many;
mod parameters;
mod results;
mod upcall;

pub use given::{Give, GiveAll, Returned, Settle};
pub use held::{Held, HeldOctets};
pub use many::ManyResults;
pub use parameters::{
    BorrowedBoundedOctets, BorrowedNumbers, BorrowedOctets, BorrowedText, ByRef, ByValue,
    LargeArray, Parameter, Parameters, RecycledSeq, ServantArguments, Taken,
};
pub use results::{Group, Results};
pub use upcall::{Method, upcall};
