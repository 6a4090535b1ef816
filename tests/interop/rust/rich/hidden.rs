//! `Hidden`, which our servant knows as little as others do.

#[zorb::idl_file(
    "tests/interop/rust/rich/hidden.idl",
    define("NO_ANYS"),
    extern("Rich" = crate::idl::rich)
)]
mod generated {}

pub(crate) use generated::elsewhere::Hidden;
