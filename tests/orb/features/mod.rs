//! What IDL has beyond structs and sequences, in calls between two ORBs over real sockets: one module for each.

mod bits;
mod contexts;
mod factories;
mod local;
mod many;
mod numbers;
mod odd;
mod older;
mod shadowed;
mod structs;
mod unions;
mod world;
