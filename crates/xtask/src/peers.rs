//! The omniORB peers: what they need, and building them.

use crate::step::{Done, on_path, root, run, succeeds};
use std::process::Command;

/// Debian packages that the peers are built and run with.
const PACKAGES: [&str; 7] = [
    "omniorb",
    "omniorb-nameserver",
    "omniidl",
    "libomniorb4-dev",
    "g++",
    "make",
    "pkg-config",
];

/// Programs of those packages which the tests and the makefiles start.
const PROGRAMS: [&str; 8] = [
    "catior",
    "nameclt",
    "genior",
    "omniNames",
    "omniidl",
    "g++",
    "make",
    "pkg-config",
];

/// Folders with a makefile for a peer.
const MAKEFILES: [&str; 2] = ["tests/interop/omniorb", "benches/peers/omniorb"];

/// Installs what is missing and builds all peers.
///
/// # Errors
/// Something is missing and we are not root, or a command fails.
pub(crate) fn ready() -> Done {
    install()?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    for folder in MAKEFILES {
        let mut make = Command::new("make");
        run(make
            .arg("-C")
            .arg(root().join(folder))
            .arg(format!("-j{jobs}")))?;
    }
    Ok(())
}

fn install() -> Done {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = PACKAGES.join(" ");
    let missing = missing.join(", ");
    if !is_root() {
        return Err(format!(
            "{missing}: not installed; on Debian: sudo apt-get install {packages}"
        ));
    }
    if !on_path("apt-get") {
        return Err(format!(
            "{missing}: not installed, and there is no apt-get to install {packages}"
        ));
    }
    run(Command::new("apt-get").args(["update", "-q"]))?;
    run(Command::new("apt-get")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["install", "-qy", "--no-install-recommends"])
        .args(PACKAGES))
}

fn missing() -> Vec<&'static str> {
    let mut missing: Vec<_> = PROGRAMS.into_iter().filter(|p| !on_path(p)).collect();
    if on_path("pkg-config") && !succeeds("pkg-config", &["--exists", "omniORB4"]) {
        missing.push("libomniorb4-dev");
    }
    missing
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
