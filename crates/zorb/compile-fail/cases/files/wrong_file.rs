#[zorb::idl_file("$HERE/wrong_file.idl")]
mod bank {}

fn main() {}
