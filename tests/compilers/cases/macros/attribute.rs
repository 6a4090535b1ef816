//! Words that the annotation does not know, and things it cannot stand on.

#[zorb_idl_macros::idl_file]
mod no_file {}

#[zorb_idl_macros::idl_file("a.idl", colour = "red")]
mod unknown_option {}

#[zorb_idl_macros::idl_file("a.idl", extern("Common", crate::common))]
mod malformed_option {}

#[zorb_idl_macros::idl_file("a.idl")]
struct NotAModule;

fn main() {}
