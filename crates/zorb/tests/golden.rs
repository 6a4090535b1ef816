//! The reviewed expansions of the IDL compiler compile against this very facade, without a
//! warning.

#![deny(warnings)]
#![expect(
    clippy::module_inception,
    clippy::use_self,
    reason = "in a user's crate these are expansions, where the lints do not look"
)]

/// The module that `golden/modules.idl` takes from elsewhere.
#[zorb::idl_file(
    "../idl/tests/golden/include/common.idl",
    include("../idl/tests/golden/include")
)]
mod elsewhere {}
pub use elsewhere::common;

macro_rules! golden {
    ($($name:ident),*) => {$(
        pub mod $name {
            //! One expansion.
            include!(concat!("../../idl/tests/golden/", stringify!($name), ".rs"));
        }
    )*};
}

golden!(
    constants, delegates, interface, modules, names, parameters, remarks, types
);
