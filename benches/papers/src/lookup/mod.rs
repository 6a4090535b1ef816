//! Look-ups of servant and operation from the octets in a request, in the ways that the papers compare.

mod hash;
mod perfect;
pub mod servants;
mod strategies;
pub mod timed;
mod walked;

pub use hash::Fast;
pub use strategies::{
    Active, Adapter, Authenticated, Branches, Delayered, FixedIds, Hashed, Linear, Perfect,
    Strategy,
};
pub use walked::Walked;
