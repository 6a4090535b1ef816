//! `Hidden`, which our servant knows as little as others do.

#[zorb::idl_file(
    "tests/peers/rich/hidden.idl",
    define("NO_ANYS"),
    extern("Rich" = crate::rich::rich_idl::rich)
)]
mod generated {}

pub(crate) use generated::elsewhere::Hidden;
