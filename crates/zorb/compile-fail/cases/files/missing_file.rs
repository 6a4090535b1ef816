#[zorb::idl_file("$HERE/nowhere.idl")]
mod bank {}

fn main() {}
