#[zorb::idl_file("$HERE/clash.idl")]
mod meter {}

fn main() {}
