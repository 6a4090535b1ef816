//! Running other programs, and where things are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of a chore; the text is for the person at the terminal.
pub type Done = Result<(), String>;

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    // crates/xtask, two levels down.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// A test target that needs little. With a test among what is built of the workspace, dependencies have the features that they
/// have for all tests, and so have been compiled already.
pub const TEST: &str = "dscp";

/// Where this build, and so the tests' notes, live; an absolute path.
pub fn target() -> PathBuf {
    let configured = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let configured = configured.and_then(|dir| std::path::absolute(dir).ok());
    configured.unwrap_or_else(|| root().join("target"))
}

/// The cargo that runs us, so that a chore stays with the toolchain it was started with.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program of the toolchain of that cargo: `rustc`, `rustdoc`.
pub fn tool(name: &str) -> PathBuf {
    Path::new(cargo().get_program()).with_file_name(name)
}

/// Runs a command to its end, with its output going where ours goes.
///
/// # Errors
/// It does not start, or ends with a status other than 0.
pub fn run(command: &mut Command) -> Done {
    let shown = show(command);
    eprintln!("+ {shown}");
    let status = command
        .status()
        .map_err(|e| format!("`{shown}` does not start: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` ended with {status}"))
    }
}

/// Runs a command to its end and gives what it prints to its standard output. If it fails, all that it prints is shown.
///
/// # Errors
/// It does not start, or ends with a status other than 0.
pub fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    eprintln!("+ {shown}");
    let output = command.output();
    let output = output.map_err(|e| format!("`{shown}` does not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    println!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Err(format!("`{shown}` ended with {}", output.status))
}

/// Whether a command starts and ends with status 0; its output is dropped.
pub fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// Whether a program of that name is on the path.
pub fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// A command as one would type it, its environment left out.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|w| w.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
