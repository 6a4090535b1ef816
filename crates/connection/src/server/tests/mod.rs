//! Servers whose owner is no ORB.

mod header_cache;
mod pending;
mod promotion;
mod requests;
mod thread;
