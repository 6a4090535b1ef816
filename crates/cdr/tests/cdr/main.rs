//! The codec through its public interface. One executable holds all of it but the test that replaces the allocator.

mod any;
mod bits;
mod common;
mod encapsulation;
mod fast_paths;
mod fragments;
mod layout;
mod lending;
mod macros;
mod numbers;
mod primitives;
mod recorded;
mod roundtrip;
mod sequences;
#[cfg(feature = "serde")]
mod serde;
mod shared_memory;
mod text;
mod typecode;
mod unions;
mod values;
