#[zorb::idl_file("cases/files/nowhere.idl")]
mod bank {}

fn main() {}
