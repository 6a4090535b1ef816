//! Constructs of IDL beyond structs and sequences, in calls between two ORBs over real sockets: one module for each.

mod bits;
mod factories;
mod local;
mod many;
mod numbers;
mod odd;
mod older;
mod operation_contexts;
mod shadowed;
mod structs;
mod two_orbs;
mod unions;
