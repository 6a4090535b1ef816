#[zorb::idl_file("cases/files/missing_include.idl")]
mod bank {}

fn main() {}
