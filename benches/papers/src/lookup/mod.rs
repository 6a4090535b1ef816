//! From the octets in a request to servant and operation, in the ways that the papers compare.

mod hash;
pub mod servants;
mod strategies;

pub use hash::Fast;
pub use strategies::{Active, Adapter, Branches, Delayered, Hashed, Linear, Perfect, Strategy};
