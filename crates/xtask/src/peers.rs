//! The omniORB and JacORB peers: what they need, and building them.

use crate::step::{Done, on_path, root, run, succeeds};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// Debian packages that the peers are built and run with.
const PACKAGES: [&str; 12] = [
    "iproute2",
    "omniorb",
    "omniorb-nameserver",
    "omniidl",
    "libomniorb4-dev",
    "omniorb-idl",
    "g++",
    "make",
    "pkg-config",
    "openjdk-17-jdk-headless",
    "maven",
    "tshark",
];

/// Programs of those packages which the tests and the makefiles start.
const PROGRAMS: [&str; 13] = [
    "ip",
    "catior",
    "nameclt",
    "genior",
    "omniNames",
    "omniidl",
    "g++",
    "make",
    "pkg-config",
    "java",
    "javac",
    "mvn",
    "tshark",
];

/// One of the IDL files that come with those packages, for the tests that compile them all.
const SERVICES: &str = "/usr/share/idl/omniORB/COS/CosTrading.idl";

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
    jacorb()
}

/// Builds JacORB's programs by Maven, which gets JacORB too. Maven takes seconds to find that there
/// is nothing to do, so it is not asked.
fn jacorb() -> Done {
    let interop = root().join("tests/interop");
    let sources = ["jacorb", "interop.idl", "rich.idl", "include"].map(|name| interop.join(name));
    // What the build makes last.
    let made = modified(&interop.join("build/jacorb/nameserver"));
    let newest = sources.iter().filter_map(|source| newest(source)).max();
    if made.is_some() && made >= newest {
        return Ok(());
    }
    let mut maven = Command::new("mvn");
    run(maven
        .args(["-q", "--batch-mode", "--no-transfer-progress", "-f"])
        .arg(interop.join("jacorb/pom.xml"))
        .arg("package"))
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|it| it.modified()).ok()
}

/// When the file, or the newest thing in the folder, was changed; the folder itself too, in which
/// something may have been deleted.
fn newest(path: &Path) -> Option<SystemTime> {
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    let inside = inside.filter_map(|entry| newest(&entry.path()));
    inside.chain(modified(path)).max()
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
    if !Path::new(SERVICES).is_file() {
        missing.push("omniorb-idl");
    }
    missing
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
