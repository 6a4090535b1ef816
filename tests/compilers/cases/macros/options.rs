//! Options that mean nothing to the IDL: each is an error at its own words.

#[zorb_idl_macros::idl_file("cases/macros/options.idl", extern("Absent" = crate::a, "Bank::Account" = crate::b))]
mod no_module {}

#[zorb_idl_macros::idl_file(
    "cases/macros/options.idl",
    rename("Bank::Account::self" = "myself", "Bank::Nothing" = "something"),
    native("Bank::Account" = crate::Account),
)]
mod nothing_named_so {}

#[zorb_idl_macros::idl_file("cases/macros/options.idl", rename("Bank::Account" = "1st", "Bank" = "match"))]
mod no_rust_name {}

#[zorb_idl_macros::idl_file("cases/macros/options.idl", define("GOOD", "2BAD", "F(x" = "1"))]
mod no_macro {}

fn main() {}
