//! The virtual machine whose kernel has ATM: made once, then started for each program that needs it.

use crate::peers;
use crate::step::{Done, on_path, root, run, target};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Debian packages that it is made and run with. Its kernel is a package too, which is unpacked and not installed.
const PACKAGES: [&str; 6] = [
    "qemu-system-x86",
    "busybox-static",
    "cpio",
    "make",
    "gcc-12",
    "xz-utils",
];

/// Programs of those packages.
const PROGRAMS: [&str; 6] = [
    "qemu-system-x86_64",
    "busybox",
    "cpio",
    "make",
    "gcc-12",
    "xz",
];

/// Seconds after which a machine is stopped: what runs in it hangs.
const LIMIT: &str = "300";

/// The program that starts it, with the program that is to run in it and its arguments.
#[must_use]
pub fn recipe() -> PathBuf {
    root().join("crates/atm/vm/run.sh")
}

/// Where its kernel is kept.
fn cache() -> PathBuf {
    target().join("atm-vm")
}

/// Installs the packages that are missing.
///
/// # Errors
/// This is no Linux on x86-64, or something is missing and cannot be installed.
pub fn install_packages() -> Done {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("the machine is made of Debian's packages for amd64".to_owned());
    }
    let missing: Vec<_> = PROGRAMS.into_iter().filter(|p| !on_path(p)).collect();
    if !missing.is_empty() {
        peers::install(&missing, &PACKAGES)?;
    }
    Ok(())
}

/// Installs the packages that are missing, and gets the kernel ready.
///
/// # Errors
/// As [`install_packages`], or the kernel's package cannot be had.
pub fn ready() -> Done {
    install_packages()?;
    let mut prepare = Command::new(recipe());
    run(prepare.arg("--prepare").env("ATM_VM_CACHE", cache()))
}

/// Variables of the environment of [`recipe`], for a machine with three pairs of interfaces that hands on those `named`.
#[must_use]
pub fn variables(named: &str) -> [(&'static str, OsString); 4] {
    [
        ("ATM_VM_ENV", named.into()),
        ("ATM_VM_PAIRS", "3".into()),
        ("ATM_VM_TIMEOUT", LIMIT.into()),
        ("ATM_VM_CACHE", cache().into()),
    ]
}

/// The command that starts a program in the machine.
#[must_use]
pub fn command(program: &str) -> Command {
    let mut command = Command::new(recipe());
    command.arg(program).envs(variables(""));
    command
}
