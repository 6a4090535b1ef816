//! Types in the public signatures of `zorb` have a path that begins with `zorb`.

use crate::root;
use std::collections::BTreeSet;
use std::fs;

/// Crates that `zorb` re-exports as a whole, each with its name there.
const WHOLE: [(&str, &str); 3] = [
    ("zorb_cdr", "cdr"),
    ("zorb_executor", "executor"),
    ("zorb_transport", "transport"),
];

/// The paths of a list that begin with a crate of the house below `zorb`.
fn inner_paths(list: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    list.split(|c: char| !is_part(c))
        .filter(|path| path.starts_with("zorb_") && path.contains("::"))
        .collect()
}

/// Whether a path's type can be named from `zorb`, by what the list says that `zorb` re-exports.
fn is_nameable(path: &str, list: &str) -> bool {
    let is_exported = |name: &str| {
        let mut exports = list
            .lines()
            .filter_map(|line| line.strip_prefix("pub use zorb::"));
        exports.any(|path| path.rsplit("::").next() == Some(name))
    };
    let (from, _) = path.split_once("::").unwrap();
    let is_whole = WHOLE
        .iter()
        .any(|(of, name)| *of == from && is_exported(name));
    is_whole || path.split("::").any(is_exported)
}

#[test]
fn types_in_signatures_can_be_named_from_zorb() {
    let list = fs::read_to_string(root().join("tests/public-items/zorb.txt")).unwrap();
    let paths = inner_paths(&list);
    assert!(paths.len() > 20, "signatures have types of inner crates");
    let without: Vec<_> = paths
        .into_iter()
        .filter(|path| !is_nameable(path, &list))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn a_type_that_is_not_re_exported_cannot_be_named() {
    let list = "pub use zorb::Any\npub fn zorb::f(zorb_cdr::any::Any, &zorb_giop::Hidden)";
    let paths: Vec<_> = inner_paths(list).into_iter().collect();
    assert_eq!(paths, ["zorb_cdr::any::Any", "zorb_giop::Hidden"]);
    assert!(is_nameable("zorb_cdr::any::Any", list));
    assert!(!is_nameable("zorb_giop::Hidden", list));
}
