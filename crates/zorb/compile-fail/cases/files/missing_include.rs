#[zorb::idl_file("$HERE/missing_include.idl")]
mod bank {}

fn main() {}
