//! Tests that start compilers: rustc and cargo, on code as users write it.

mod corpora;
mod documented;
mod examples;
mod mistakes;
mod pages;
mod rebuilds;
mod unused;

#[path = "../support/rustc.rs"]
mod rustc;
#[expect(dead_code, reason = "other tests use more of the support")]
#[path = "../support/mod.rs"]
mod support;
