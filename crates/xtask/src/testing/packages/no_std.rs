//! Whether the crate that says `no_std` can be used without an operating system.

use super::HOST;
use cargo_metadata::Message;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::step::{self, Done, cargo, output, root, target, tool};

/// The crate, and features of it that need no `std`.
const CRATE: &str = "zorb-cdr";
const FEATURES: [&str; 2] = ["", "serde"];

/// A program without `std`, whose panic handler is its own. The standard library has one too, and a program may have but
/// one: if any dependency needs the standard library, this does not compile.
const PROGRAM: &str = "#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }
extern crate zorb_cdr;
";

/// A target without an operating system, which is tried where its libraries are installed.
const BARE: &str = "x86_64-unknown-none";

/// Compiles such a program for this machine, and the crate for a bare one.
///
/// # Errors
/// The crate needs the standard library.
pub(super) fn run() -> Done {
    let folder = target().join("no-std");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let program = folder.join("program.rs");
    fs::write(&program, PROGRAM).map_err(|e| format!("{}: {e}", program.display()))?;
    for features in FEATURES {
        links(&program, &library(features)?)?;
    }
    if !has_core(&libraries(BARE)?) {
        println!(
            "    no_std: {BARE} is skipped; `rustup target add {BARE}` installs its libraries"
        );
        return Ok(());
    }
    let mut check = cargo();
    check
        .current_dir(root())
        .args(["check", "--quiet", "--package", CRATE]);
    step::run(check.args(["--no-default-features", "--target", BARE]))
}

/// Compiles the crate, and says where its metadata is.
fn library(features: &str) -> Result<PathBuf, String> {
    let mut check = cargo();
    check
        .current_dir(root())
        .args(["check", "--quiet", "--package", CRATE, "--package", HOST])
        .args(["--no-default-features", "--message-format=json"])
        .args(["--features", features]);
    let messages = output(&mut check)?;
    for message in Message::parse_stream(messages.as_bytes()) {
        if let Message::CompilerArtifact(artifact) = message.map_err(|e| e.to_string())?
            && artifact.target.name == CRATE.replace('-', "_")
        {
            let file = artifact.filenames.into_iter().next();
            return file
                .map(PathBuf::from)
                .ok_or_else(|| format!("{CRATE} has no file"));
        }
    }
    Err(format!("cargo does not say where {CRATE} is"))
}

fn links(program: &Path, library: &Path) -> Done {
    let dependencies = library.parent().unwrap_or(library);
    let mut rustc = Command::new(tool("rustc"));
    rustc
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata"])
        .arg("-o")
        .arg(program.with_extension("rmeta"))
        .arg(program);
    rustc
        .arg("--extern")
        .arg(format!("zorb_cdr={}", library.display()));
    rustc
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()));
    step::run(&mut rustc)
}

/// Where the libraries of a target are, or would be.
fn libraries(target: &str) -> Result<PathBuf, String> {
    let mut rustc = Command::new(tool("rustc"));
    let folder = output(rustc.args(["--print", "target-libdir", "--target", target]))?;
    Ok(PathBuf::from(folder.trim()))
}

fn has_core(libraries: &Path) -> bool {
    let files = fs::read_dir(libraries).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.into_iter().any(|name| name.starts_with("libcore-"))
}
