//! The permitted dependencies between crates: one that points the wrong way fails here.
//!
//! The arrows are those of ARCHITECTURE.md: `zorb` on connections and object adapter, connections on protocol,
//! transport and executor, the protocol on the codec; the IDL compiler and its macros to one side.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates of the workspace on which each crate may depend directly. New crates go above
/// `zorb` and are added here on purpose.
const ALLOWED: &[(&str, &[&str])] = &[
    ("zorb-cdr", &[]),
    ("zorb-giop", &["zorb-cdr"]),
    ("zorb-csi", &["zorb-cdr"]),
    ("zorb-shares", &[]),
    ("zorb-executor", &["zorb-shares"]),
    ("zorb-transport", &[]),
    ("zorb-atm", &["zorb-transport"]),
    ("zorb-giop-lite", &["zorb-giop", "zorb-transport"]),
    ("zorb-native", &["zorb-transport"]),
    ("zorb-tls", &["zorb-transport"]),
    ("zorb-poa", &["zorb-giop", "zorb-cdr", "zorb-shares"]),
    (
        "zorb-connection",
        &[
            "zorb-cdr",
            "zorb-giop",
            "zorb-transport",
            "zorb-executor",
            "zorb-shares",
        ],
    ),
    ("zorb-shm", &["zorb-transport"]),
    ("zorb-idl", &[]),
    ("zorb-idl-macros", &["zorb-idl"]),
    // The bench programs' own: what is timed without an ORB knows none.
    ("zorb-floor", &[]),
    // Streams beside the ORB.
    ("zorb-frames", &[]),
    // A library too: what it shares with what measures, which is on top.
    ("xtask", &[]),
    (
        "zorb",
        &[
            "zorb-cdr",
            "zorb-giop",
            "zorb-poa",
            "zorb-connection",
            "zorb-csi",
            "zorb-transport",
            "zorb-executor",
            "zorb-shares",
            // By its features alone: the test below.
            "zorb-tls",
            "zorb-idl-macros",
        ],
    ),
    // Services, on the facade alone.
    ("zorb-service", &["zorb"]),
    ("zorb-named", &["zorb", "zorb-service"]),
    (
        "zorb-events",
        &["zorb", "zorb-dynamic", "zorb-ifr", "zorb-service"],
    ),
    ("zorb-bridge", &["zorb", "zorb-events", "zorb-service"]),
    ("zorb-properties", &["zorb", "zorb-service"]),
    ("zorb-log", &["zorb", "zorb-events", "zorb-service"]),
    ("zorb-dynamic", &["zorb", "zorb-cdr", "zorb-idl"]),
    (
        "zorb-ifr",
        &["zorb", "zorb-cdr", "zorb-dynamic", "zorb-idl"],
    ),
];

/// Crates of the house that are tools and tests: they stand on top, and nothing stands on them.
const ON_TOP: &[&str] = &[
    "as-needed",
    "quotes",
    "zorb-workspace",
    "zorb-connection-models",
    "zorb-executor-models",
    "zorb-poa-models",
    "zorb-shm-models",
    "zorb-fuzz",
    "zorb-cli",
    "zorb-claims",
    "zorb-attack",
    "zorb-measure",
    "zorb-host-features",
];

/// External crates that would bring in things that their user must not know: sockets, clocks and
/// tasks below the transport; the compiler's proc_macro interface inside the compiler.
const FOREIGN: &[(&str, &[&str])] = &[
    ("zorb-cdr", &["tokio", "socket2", "libc", "mio"]),
    ("zorb-giop", &["tokio", "socket2", "libc", "mio"]),
    ("zorb-poa", &["tokio", "socket2", "libc", "mio"]),
    ("zorb-csi", &["tokio", "socket2", "libc", "mio"]),
    ("zorb-shares", &["tokio", "socket2", "libc", "mio"]),
    ("zorb-idl", &["tokio", "zorb"]),
];

/// One dependency.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: String,
    to: String,
    /// Only tests, benches and examples use it.
    dev: bool,
}

fn edge(from: &str, to: &str, dev: bool) -> Edge {
    Edge {
        from: from.to_owned(),
        to: to.to_owned(),
        dev,
    }
}

/// Every dependency that points where it must not. `house` names the crates that have to have a
/// place; `edges` may hold crates from elsewhere.
fn forbidden(house: &BTreeSet<String>, edges: &[Edge]) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let foreign: BTreeMap<&str, &[&str]> = FOREIGN.iter().copied().collect();
    let mut found = Vec::new();
    for name in house {
        if !allowed.contains_key(name.as_str()) && !ON_TOP.contains(&name.as_str()) {
            found.push(format!("{name} has no place in the house yet"));
        }
    }
    for Edge { from, to, dev } in edges {
        let inside = house.contains(to);
        let complaint = if !inside {
            // A test may bring a runtime to code that knows none.
            !dev && foreign
                .get(from.as_str())
                .is_some_and(|f| f.contains(&to.as_str()))
        } else if ON_TOP.contains(&to.as_str()) {
            true
        } else if ON_TOP.contains(&from.as_str()) || from == to {
            // A crate may turn on features of its own for its tests.
            from == to && !dev
        } else if *dev {
            // Tests may look across and down, and never up: what is tested from below must not
            // need what stands on it.
            reaches(to, from, &allowed)
        } else {
            !allowed
                .get(from.as_str())
                .is_some_and(|a| a.contains(&to.as_str()))
        };
        if complaint {
            let how = if *dev { " in its tests" } else { "" };
            found.push(format!("{from} depends on {to}{how}"));
        }
    }
    found
}

/// Whether `from` may depend on `to` by any number of allowed arrows.
fn reaches(from: &str, to: &str, allowed: &BTreeMap<&str, &[&str]>) -> bool {
    allowed.get(from).is_some_and(|next| {
        next.iter()
            .any(|each| *each == to || reaches(each, to, allowed))
    })
}

/// The workspace as cargo sees it.
fn workspace() -> (BTreeSet<String>, Vec<Edge>) {
    let metadata = MetadataCommand::new()
        .manifest_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let members = metadata.workspace_packages();
    let house = members.iter().map(|p| p.name.to_string()).collect();
    let edges = members
        .iter()
        .flat_map(|package| {
            package.dependencies.iter().map(|dependency| Edge {
                from: package.name.to_string(),
                to: dependency.name.clone(),
                dev: dependency.kind == DependencyKind::Development,
            })
        })
        .collect();
    (house, edges)
}

#[test]
fn every_arrow_points_down() {
    let (house, edges) = workspace();
    let found = forbidden(&house, &edges);
    assert!(
        found.is_empty(),
        "forbidden dependencies:\n{}",
        found.join("\n")
    );
}

#[test]
fn every_crate_of_the_plan_is_there_and_really_stands_on_what_it_may() {
    // A plan that names absent crates would forbid nothing.
    let (house, edges) = workspace();
    for (name, below) in ALLOWED {
        assert!(house.contains(*name), "{name} is gone");
        for each in *below {
            assert!(
                edges.contains(&edge(name, each, false)),
                "{name} no longer depends on {each}: forbid it"
            );
        }
    }
}

/// The names of the crates in a build of the facade with these features.
fn crates_with(features: &str) -> BTreeSet<String> {
    let tree = std::process::Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            "zorb",
            "--edges",
            "normal,build",
        ])
        .args([
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--features",
            features,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8(tree.stdout).unwrap();
    let names = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[test]
fn a_build_without_tls_has_not_one_crate_of_it() {
    let of_tls = [
        "zorb-tls",
        "rustls",
        "rustls-webpki",
        "rustls-pki-types",
        "ring",
        "aws-lc-rs",
    ];
    let plain = crates_with("");
    assert!(plain.contains("tokio"), "{plain:?}");
    for name in of_tls {
        assert!(!plain.contains(name), "{name}");
    }
    // The list is of what there is with the features.
    let ring = crates_with("tls");
    let aws = crates_with("tls-aws-lc-rs");
    assert!(
        of_tls
            .iter()
            .all(|name| ring.contains(*name) || aws.contains(*name))
    );
    assert!(ring.contains("ring") && !ring.contains("aws-lc-rs"));
    assert!(aws.contains("aws-lc-rs") && !aws.contains("ring"));
}

#[test]
fn a_build_without_csi_has_not_one_crate_of_it() {
    let (plain, with) = (crates_with(""), crates_with("csi"));
    let added: Vec<_> = with.difference(&plain).map(String::as_str).collect();
    assert_eq!(added, ["zeroize", "zorb-csi"]);
}

#[test]
fn a_build_without_metrics_and_opentelemetry_has_not_one_crate_of_them() {
    let plain = crates_with("");
    for (feature, facade) in [
        ("metrics", "metrics"),
        ("opentelemetry", "opentelemetry"),
        ("opentelemetry", "tracing-opentelemetry"),
    ] {
        assert!(!plain.contains(facade));
        assert!(crates_with(feature).contains(facade));
    }
}

#[test]
fn macro_and_facade_pin_each_other_by_exact_version() {
    let metadata = MetadataCommand::new()
        .manifest_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let facade = metadata.packages.iter().find(|p| p.name == "zorb").unwrap();
    let pin = facade
        .dependencies
        .iter()
        .find(|d| d.name == "zorb-idl-macros")
        .unwrap();
    assert_eq!(pin.req.to_string(), format!("={}", facade.version));
}

#[test]
fn a_wrong_arrow_is_found() {
    let house: BTreeSet<String> = ALLOWED
        .iter()
        .map(|(name, _)| *name)
        .chain(ON_TOP.iter().copied())
        .map(str::to_owned)
        .collect();
    for (from, to, dev) in [
        ("zorb-cdr", "zorb-giop", false),
        ("zorb-cdr", "zorb-giop", true),
        ("zorb-giop", "zorb-transport", false),
        ("zorb-giop", "zorb", true),
        ("zorb-poa", "zorb-transport", false),
        ("zorb-poa", "zorb-executor", false),
        ("zorb-transport", "zorb-poa", false),
        ("zorb-transport", "zorb-giop", false),
        ("zorb-transport", "zorb-connection", true),
        ("zorb-connection", "zorb-poa", false),
        ("zorb-connection", "zorb", true),
        ("zorb-poa", "zorb-connection", false),
        ("zorb-executor", "zorb-cdr", false),
        ("zorb-executor", "zorb-giop", false),
        ("zorb-idl", "zorb-cdr", false),
        ("zorb-idl", "zorb-idl-macros", true),
        ("zorb-idl-macros", "zorb", false),
        ("zorb", "zorb-idl", false),
        ("zorb", "zorb-fuzz", true),
        ("zorb", "zorb-cli", true),
        ("zorb-fuzz", "zorb-workspace", false),
        ("zorb-cdr", "zorb-cdr", false),
        ("zorb-giop", "tokio", false),
        ("zorb-poa", "tokio", false),
        ("zorb-cdr", "libc", false),
    ] {
        let wrong = edge(from, to, dev);
        assert_eq!(
            forbidden(&house, std::slice::from_ref(&wrong)).len(),
            1,
            "{wrong:?} has to be found"
        );
    }
    for (from, to, dev) in [
        ("zorb", "zorb-poa", false),
        ("zorb", "zorb-connection", false),
        ("zorb-connection", "zorb-transport", false),
        ("zorb-giop", "zorb-cdr", false),
        ("zorb-fuzz", "zorb-idl", false),
        ("zorb-workspace", "zorb-cdr", true),
        ("zorb-cdr", "zorb-cdr", true),
        ("zorb-giop", "tokio", true),
        ("zorb-transport", "tokio", false),
        ("zorb-idl", "zorb-cdr", true),
    ] {
        let right = edge(from, to, dev);
        assert_eq!(forbidden(&house, &[right]), Vec::<String>::new());
    }
    let mut more = house.clone();
    more.insert("zorb-newcomer".to_owned());
    assert_eq!(forbidden(&more, &[]).len(), 1, "a new crate needs a place");
}
