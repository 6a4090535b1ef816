//! The interface of the bench programs.

/// The one interface every peer implements.
#[zorb::idl_file("benches/bench.idl")]
pub mod idl {}
