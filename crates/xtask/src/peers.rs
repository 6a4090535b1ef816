//! The omniORB and JacORB peers, and the engines of naming services: what they need, and building them.

use crate::sources::Sources;
use crate::step::{Done, on_path, root, run, succeeds};
use std::path::Path;
use std::process::Command;

/// Debian packages that the peers are built and run with, and valgrind, by which `fuzz/tests/work.rs` counts, and the browser of pages.
const PACKAGES: [&str; 18] = [
    "openssl",
    "iproute2",
    "nftables",
    "omniorb",
    "omniorb-nameserver",
    "omniidl",
    "libomniorb4-dev",
    "omniorb-idl",
    "omnievents",
    "g++",
    "make",
    "pkg-config",
    "openjdk-17-jdk-headless",
    "maven",
    "tshark",
    "valgrind",
    "chromium",
    "chromium-driver",
];

/// Programs of those packages which the tests and the makefiles start.
const PROGRAMS: [&str; 20] = [
    "openssl",
    "keytool",
    "ip",
    "nft",
    "catior",
    "nameclt",
    "genior",
    "omniNames",
    "eventc",
    "omniidl",
    "g++",
    "make",
    "pkg-config",
    "java",
    "javac",
    "mvn",
    "tshark",
    "valgrind",
    "chromium",
    "chromedriver",
];

/// One of the IDL files that come with those packages, for the tests that compile them all.
const SERVICES: &str = "/usr/share/idl/omniORB/COS/CosTrading.idl";

/// A peer with a makefile: its folder, what it is made of besides, and where it is built.
type PeerBuild = (&'static str, &'static [&'static str], &'static str);

/// The one of the interop tests.
const TESTED: PeerBuild = (
    "tests/interop/omniorb",
    &[
        "tests/interop/interop.idl",
        "tests/interop/rich.idl",
        "tests/interop/include",
        "crates/events/idl",
        "crates/events/tests/plant.idl",
        "crates/properties/idl",
        "crates/log/idl",
    ],
    "tests/interop/build/omniorb",
);

/// The one that is timed.
const TIMED: PeerBuild = (
    "benches/peers/omniorb",
    &["benches/bench.idl"],
    "benches/peers/omniorb/build",
);

/// The one with a wrapper around its stubs.
const WRAPPED: PeerBuild = (
    "examples/as-needed/omniorb",
    &["examples/as-needed/as_needed.idl"],
    "examples/as-needed/omniorb/build",
);

/// The engines that naming services share and events are bridged to, each with its package.
const ENGINES: [(&str, &str); 2] = [
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("nats-server", "github.com/nats-io/nats-server/v2"),
];

/// Packages that it is built and run with.
const TIMED_PACKAGES: [&str; 5] = ["omniidl", "libomniorb4-dev", "g++", "make", "pkg-config"];

/// Installs the packages that are missing.
///
/// # Errors
/// Something is missing and we are not root, or a command fails.
pub fn install_packages() -> Done {
    let missing = missing();
    match missing.is_empty() {
        true => Ok(()),
        false => install(&missing, &PACKAGES),
    }
}

/// Installs the packages that are missing and builds all peers.
///
/// # Errors
/// As [`install_packages`], or a peer does not build.
pub fn ready() -> Done {
    install_packages()?;
    make(TESTED)?;
    make(TIMED)?;
    make(WRAPPED)?;
    jacorb()?;
    engines()
}

/// Makes the peer ready that is timed.
///
/// # Errors
/// Returns the errors of [`ready`].
pub fn ready_to_compare() -> Done {
    ready_timed(TIMED)
}

/// Makes the peer ready that has a wrapper around its stubs.
///
/// # Errors
/// Returns the errors of [`ready`].
pub fn ready_to_bypass() -> Done {
    ready_timed(WRAPPED)
}

fn ready_timed(peer: PeerBuild) -> Done {
    let missing: Vec<_> = missing()
        .into_iter()
        .filter(|one| TIMED_PACKAGES.contains(one))
        .collect();
    if !missing.is_empty() {
        install(&missing, &TIMED_PACKAGES)?;
    }
    make(peer)
}

fn make((folder, others, built): PeerBuild) -> Done {
    let paths = [&[folder], others].concat();
    let sources = Sources::read(&root(), &paths, &root().join(built))?;
    if !sources.are_noted() {
        sources.touch_changed()?;
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    // This also detects a missing package.
    run(Command::new("make")
        .arg("--silent")
        .arg("-C")
        .arg(root().join(folder))
        .arg(format!("-j{jobs}")))?;
    sources.note()
}

/// Builds JacORB's programs by Maven, which gets JacORB too. Maven takes seconds to find that there
/// is nothing to do, so it is not asked.
fn jacorb() -> Done {
    let interop = root().join("tests/interop");
    let built = interop.join("build/jacorb");
    let paths = [
        "tests/interop/jacorb",
        "tests/interop/interop.idl",
        "tests/interop/rich.idl",
        "tests/interop/include",
        "crates/events/idl/CosEvent.idl",
    ];
    let sources = Sources::read(&root(), &paths, &built)?;
    // The starter is what the build makes last.
    if sources.are_noted() && built.join("nameserver").is_file() {
        return Ok(());
    }
    let mut maven = Command::new("mvn");
    run(maven
        .args(["-q", "--batch-mode", "--no-transfer-progress", "-f"])
        .arg(interop.join("jacorb/pom.xml"))
        .arg("package"))?;
    sources.note()
}

/// Builds the engines, by Go, in the versions that their go.mod names: Debian's are too old.
fn engines() -> Done {
    let folder = root().join("tests/engines");
    let built = folder.join("build");
    let sources = Sources::read(&folder, &["go.mod", "go.sum"], &built)?;
    let all_there = ENGINES.iter().all(|(name, _)| built.join(name).is_file());
    if sources.are_noted() && all_there {
        return Ok(());
    }
    if !on_path("go") {
        return Err(
            "go: not installed; the engines of tests/engines/go.mod want the version that it names"
                .to_owned(),
        );
    }
    for (name, package) in ENGINES {
        let mut go = Command::new("go");
        go.current_dir(&folder).args(["build", "-trimpath", "-o"]);
        run(go.arg(built.join(name)).arg(package))?;
    }
    sources.note()
}

/// Installs Debian packages, as root.
///
/// # Errors
/// We are not, or there is no `apt-get`, or it fails; with what is missing, and what it is in.
pub fn install(missing: &[&str], packages: &[&str]) -> Done {
    let missing = missing.join(", ");
    let listed = packages.join(" ");
    if !is_root() {
        return Err(format!(
            "{missing}: not installed; on Debian: sudo apt-get install {listed}"
        ));
    }
    if !on_path("apt-get") {
        return Err(format!(
            "{missing}: not installed, and there is no apt-get to install {listed}"
        ));
    }
    run(Command::new("apt-get").args(["update", "-q"]))?;
    run(Command::new("apt-get")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["install", "-qy", "--no-install-recommends"])
        .args(packages))
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
