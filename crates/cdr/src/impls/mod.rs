//! Implementations of [`Encode`](crate::Encode) and [`Decode`](crate::Decode).

mod collections;
mod numeric;
mod text;
mod tuples;

#[doc(hidden)]
pub use numeric::Number;
pub use text::{Char, NotOneOctet, NotOneUnit, WChar};
