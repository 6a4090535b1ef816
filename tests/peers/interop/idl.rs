//! What the IDL compiler makes of `interop.idl`.

#[zorb::idl_file("tests/interop/interop.idl", include("tests/interop/include"))]
pub(crate) mod generated {}

pub(crate) use generated::{interop, shapes};
