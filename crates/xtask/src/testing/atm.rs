//! The virtual machine whose kernel has ATM: made once, then started for each test executable that needs it.

use crate::testing::executables::{self, Executable, Setting};
use crate::testing::summary::Summary;
use std::path::PathBuf;
use std::process::Command;
use xtask::peers;
use xtask::step::{Done, on_path, root, run, target};

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

/// Seconds after which a machine is stopped: a test in it hangs.
const LIMIT: &str = "300";

fn recipe() -> PathBuf {
    root().join("crates/atm/vm/run.sh")
}

/// Where its kernel is kept.
fn cache() -> PathBuf {
    target().join("atm-vm")
}

/// Installs what is missing, and gets the kernel ready.
///
/// # Errors
/// This is no Linux on x86-64, something is missing and cannot be installed, or the kernel's package cannot be had.
pub(crate) fn ready() -> Done {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("the machine is made of Debian's packages for amd64".to_owned());
    }
    let missing: Vec<_> = PROGRAMS.into_iter().filter(|p| !on_path(p)).collect();
    if !missing.is_empty() {
        peers::install(&missing, &PACKAGES)?;
    }
    let mut prepare = Command::new(recipe());
    run(prepare.arg("--prepare").env("ATM_VM_CACHE", cache()))
}

/// Runs executables, first here, where what they say without ATM is tested, then in the machine if it is ready.
///
/// # Errors
/// As [`executables::run`].
pub(crate) fn run_all(
    executables: &[&Executable],
    setting: &Setting,
    machine: &Done,
) -> Result<Summary, String> {
    let mut summary = executables::run(executables, setting)?;
    if let Err(why) = machine {
        println!(
            "    !!!! SKIPPED: the tests of ATM in a virtual machine, as there is none: {why}"
        );
        return Ok(summary);
    }
    let mut inside = Setting {
        args: setting.args.clone(),
        variables: setting.variables.clone(),
        runner: Some(recipe()),
    };
    // Frames that the interfaces are set to lose are lost to every test.
    inside.args.push("--test-threads=1".to_owned());
    inside.variables.extend([
        ("ZORB_ATM", "require".into()),
        ("ATM_VM_ENV", "ZORB_ATM ZORB_PEERS".into()),
        ("ATM_VM_PAIRS", "2".into()),
        ("ATM_VM_TIMEOUT", LIMIT.into()),
        ("ATM_VM_CACHE", cache().into()),
    ]);
    summary.add(&executables::run(executables, &inside)?);
    Ok(summary)
}
