//! The code that the IDL compiler generates for `rich.idl`.

#[zorb::idl_file("tests/interop/rich.idl", define("NO_HIDDEN"))]
pub(crate) mod generated {}

pub(crate) use generated::rich;
