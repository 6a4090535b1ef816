#[zorb::idl_file("cases/files/clash.idl")]
mod meter {}

fn main() {}
