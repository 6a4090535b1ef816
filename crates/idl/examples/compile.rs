//! Prints the Rust generated from IDL files:
//! `cargo run -p zorb-idl --features format --example compile -- [-I dir] file.idl …`
//!
//! You should see the items that `#[zorb::idl_file("file.idl")]` would put into its module, or the errors.

use std::path::PathBuf;
use std::process::ExitCode;

#[expect(clippy::print_stdout, reason = "that is what it is for")]
fn main() -> ExitCode {
    let mut options = zorb_idl::Options::default();
    let mut files = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_dirs.extend(args.next().map(PathBuf::from)),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    match zorb_idl::compile_files(&files, &options) {
        Ok(output) => {
            println!("{}", zorb_idl::format(output.tokens));
            ExitCode::SUCCESS
        }
        Err(diagnostics) => {
            eprint!("{diagnostics}");
            ExitCode::FAILURE
        }
    }
}
