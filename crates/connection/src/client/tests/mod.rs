//! Clients against a peer that the test plays.

mod blocking;
mod calls;
mod driver;
mod ends;
mod one_way;
