//! The time of the IDL compiler for a large model, and that of rustc for its code.

use crate::row::{Aim, Row};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xtask::step::{self, cargo, root, target};

/// Seconds, but for the rate and the ratio.
///
/// # Errors
/// Nothing could be measured.
pub(super) fn rows() -> Result<Vec<Row>, String> {
    let measured = speed()?;
    let of = |name: &str| measured.get(name).copied().unwrap_or(f64::NAN);
    let row =
        |name: &str, measured: f64, aim: Aim| Row::new(format!("idl:{name}"), measured, aim, "");
    let growth = of("expand-200k") / (20.0 * of("expand-10k"));
    Ok(vec![
        row("expand-10k-lines", of("expand-10k"), Aim::AtMost(1.0)),
        row("expand-200k-lines", of("expand-200k"), Aim::AtMost(20.0)),
        // Twenty times the text may take twenty times as long, and half of that more.
        row("expand-growth", growth, Aim::AtMost(1.5)),
        row(
            "check-mb-per-second",
            of("check-10k-mb-s"),
            Aim::AtLeast(4.0),
        ),
        // Nearly all of it is rustc on some 37,000 functions and constants. It was 42 on a loaded machine.
        row("rustc-10k-lines", rustc()?, Aim::AtMost(55.0)),
    ])
}

/// Measurements by name, as the example `speed` of the compiler prints them.
fn speed() -> Result<HashMap<String, f64>, String> {
    let mut command = cargo();
    command
        .current_dir(root())
        .args(["run", "--release", "--quiet", "-p", "zorb-idl"]);
    command.args(["--features", "format", "--example", "speed"]);
    let output = command
        .output()
        .map_err(|e| format!("cargo does not start: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the measurement failed: {said}"));
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let pairs = lines.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    Ok(pairs.collect())
}

/// Seconds that `cargo check` takes for a crate that is nothing but a model of 10,000 lines: the macro, unoptimised as it
/// is in most builds, and rustc. On Linux they are seconds of the processor.
fn rustc() -> Result<f64, String> {
    let package = target().join("claims-idl");
    write_package(&package).map_err(|e| format!("{}: {e}", package.display()))?;
    // Once for what it depends on.
    check(&package)?;
    let touched = package.join("model.idl");
    let text = fs::read(&touched).map_err(|e| e.to_string())?;
    fs::write(&touched, text).map_err(|e| e.to_string())?;
    let (begin, used) = (Instant::now(), of_children());
    check(&package)?;
    Ok(match (used, of_children()) {
        (Some(before), Some(after)) => after - before,
        _ => begin.elapsed().as_secs_f64(),
    })
}

/// Seconds of the processor that the programs we have started and seen the end of have used.
fn of_children() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses; user and system time of children are the fields 16 and 17.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(13);
    let user: f64 = times.next()?.parse().ok()?;
    let system: f64 = times.next()?.parse().ok()?;
    // Linux counts them in hundredths.
    Some((user + system) / 100.0)
}

fn check(package: &Path) -> step::Done {
    let mut command = cargo();
    command
        .current_dir(package)
        .args(["check", "--quiet", "--offline"]);
    command.env("CARGO_TARGET_DIR", package.join("target"));
    step::run(&mut command)
}

fn write_package(package: &Path) -> std::io::Result<()> {
    fs::create_dir_all(package.join("src"))?;
    let zorb: PathBuf = root().join("crates/zorb");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"model\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nzorb = {{ path = {zorb:?} }}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest)?;
    fs::write(
        package.join("src/lib.rs"),
        "#[zorb::idl_file(\"model.idl\")]\npub mod model {}\n",
    )?;
    // The versions of the house, of which the registry need not be asked.
    fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock"))?;
    let mut command = cargo();
    command
        .current_dir(root())
        .args(["run", "--release", "--quiet", "-p", "zorb-idl"]);
    command.args(["--features", "format", "--example", "speed", "--"]);
    command.arg(package.join("model.idl"));
    step::run(&mut command).map_err(std::io::Error::other)
}
