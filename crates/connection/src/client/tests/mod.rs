//! Clients against a peer that the test plays.

mod blocking;
mod buffered;
mod calls;
mod driver;
mod ends;
mod one_way;
