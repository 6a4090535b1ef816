//! Usual and unusual uses of a naming service, through `zorb::naming::NamingClient`: against a real
//! omniNames, JacORB's name server, two of them bound into one another, and contexts of our own
//! that answer what neither of them does.
//!
//! Without omniORB and JacORB the tests that need them pass and say what they skipped.

mod exceptions;
mod federation;
mod finding;
mod habits;
mod listing;
mod odd;
mod stale;
mod world;
