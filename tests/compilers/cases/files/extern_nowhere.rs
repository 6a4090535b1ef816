#[zorb::idl_file(
    "cases/files/extern_nowhere.idl",
    extern("Common" = crate::comon)
)]
mod bank {}

fn main() {}
