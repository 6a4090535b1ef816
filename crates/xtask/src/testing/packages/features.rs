//! Lints and documentation with the features that a user may choose, rather than with all that the workspace asks for.

use super::{HOST, LIBRARIES};
use crate::testing::executables::{Warnings, compile};
use xtask::step::Done;

/// Packages that are linted together, and their features. Each library is linted by itself without features; features are
/// linted together where their packages share no dependency that could lend them one.
const LINTED: [(&[&str], &str); 15] = [
    (&["zorb-cdr"], ""),
    (&["zorb-csi"], ""),
    (&["zorb-giop"], ""),
    (&["zorb-poa"], ""),
    (&["zorb-shares"], ""),
    (&["zorb-executor"], ""),
    (&["zorb-transport"], ""),
    (&["zorb-connection"], ""),
    (&["zorb-idl"], ""),
    (&["zorb-idl-macros"], ""),
    (&["zorb"], ""),
    (&["zorb-cdr"], "serde"),
    (&["zorb-cdr"], "std"),
    (&["zorb-cdr"], "deep-values"),
    // Bare names: behind a package's name, a feature would be that of its own dev-dependency.
    (&["zorb-idl", "zorb-transport"], "format,conformance"),
];

/// Features that add items, and so links. With all of them the workspace is documented.
const ALL_FEATURES: &str = "zorb-cdr/serde,zorb-cdr/deep-values,zorb-idl/format,zorb-transport/conformance,zorb/csi,zorb/metrics,zorb/opentelemetry,zorb/tls";

/// Lints the libraries in every configuration.
///
/// # Errors
/// There is a warning.
pub(super) fn clippy() -> Done {
    for (packages, features) in LINTED {
        // Not by `cargo clippy -- -D warnings`: clippy lints anew whenever its arguments change, and the other checks have none.
        let mut check = vec!["check", "--quiet", "--package", HOST];
        check.extend(packages.iter().flat_map(|p| ["--package", p]));
        match features {
            "" => check.push("--no-default-features"),
            features => check.extend(["--features", features]),
        }
        compile(&check, Warnings::Denied, |_| Ok(()))?;
    }
    Ok(())
}

/// Documents the workspace with all features, and the libraries below `zorb` without any: a link to an item that needs a
/// feature is broken there.
///
/// # Errors
/// There is a warning.
pub(super) fn documentation() -> Done {
    let below = LIBRARIES.iter().filter(|library| **library != "zorb");
    let below: Vec<_> = below.flat_map(|library| ["--package", library]).collect();
    for args in [
        &["--workspace", "--features", ALL_FEATURES][..],
        &[&below[..], &["--package", HOST, "--no-default-features"]].concat(),
    ] {
        let doc = [&["doc", "--quiet", "--no-deps"], args].concat();
        // Crates that others of them depend on are compiled, and so linted with these features.
        compile(&doc, Warnings::Denied, |_| Ok(()))?;
    }
    Ok(())
}
