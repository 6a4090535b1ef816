#[zorb::idl_file("cases/files/wrong_file.idl")]
mod bank {}

fn main() {}
