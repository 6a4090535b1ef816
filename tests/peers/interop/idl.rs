//! The code that the IDL compiler generates for `interop.idl`.

#[zorb::idl_file("tests/interop/interop.idl", include("tests/interop/include"))]
pub(crate) mod generated {}

pub(crate) use generated::{interop, shapes};
