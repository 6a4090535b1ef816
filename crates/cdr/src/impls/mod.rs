//! Implementations of [`Encode`](crate::Encode) and [`Decode`](crate::Decode).

mod collections;
mod numeric;
mod strings;
mod tuples;

#[doc(hidden)]
pub use numeric::Number;
pub use strings::{Char, NotOneOctet, NotOneUnit, WChar};
