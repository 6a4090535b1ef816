//! The interface of the bench programs.

/// The one interface every peer implements.
#[zorb::idl_file("benches/bench.idl")]
pub mod idl {}

/// The same interface in programs that are native: structs lie in memory.
#[zorb::idl_file("benches/bench.idl", in_memory("Bench::BinStruct"))]
pub mod in_memory {}
