//! The output of `zorb ior` for references that other ORBs have made.
//!
//! Each file in `tests/ior/` has the origin of its reference in comments, the reference, and the expected output.
//! `UPDATE_GOLDEN=1` rewrites the output; review the difference.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn zorb(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(args)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .expect("zorb starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn every_reference_is_explained_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ior");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let is_reference = |line: &&str| line.starts_with("IOR:") || line.starts_with("corba");
        let reference = text.lines().find(is_reference).expect("a reference");
        let (head, expected) = text.split_once(reference).unwrap();
        let said = stdout(&zorb(&["ior", reference]));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, format!("{head}{reference}\n\n{said}")).unwrap();
            continue;
        }
        assert!(head.starts_with('#'), "{file:?} has no provenance");
        assert_eq!(said.trim(), expected.trim(), "{file:?}");
    }
}

#[test]
fn the_exit_status_says_whether_all_is_well_formed() {
    assert_eq!(zorb(&["ior", "corbaloc::h/k"]).status.code(), Some(0));
    let one_is_bad = zorb(&["ior", "corbaloc::h/k", "IOR:00"]);
    assert_eq!(one_is_bad.status.code(), Some(1));
    assert!(stdout(&one_is_bad).contains("malformed"));
    assert_eq!(zorb(&["ior"]).status.code(), Some(2));
}

#[test]
fn colours_are_for_terminals_and_for_who_asks() {
    let args = ["ior", "corbaloc::h/k"];
    assert!(!stdout(&zorb(&args)).contains('\x1b'));
    let asked = ["ior", "corbaloc::h/k", "--color", "always"];
    assert!(stdout(&zorb(&asked)).contains("\x1b["));
}

#[test]
fn json_is_an_array_of_references() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ior/omniorb-unix.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let reference = text.lines().find(|l| l.starts_with("IOR:")).unwrap();
    let said = stdout(&zorb(&["ior", "--json", reference]));
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    let profile = &json[0]["profiles"][0];
    assert_eq!(json[0]["type_id"], "IDL:zorb.test/Interop/Peer:1.0");
    assert_eq!(profile["version"], "1.2");
    assert_eq!(profile["address"]["value"]["port"], 47001);
    assert_eq!(profile["components"][0]["value"], "omniORB");
    let unix = &profile["components"][2];
    assert_eq!(unix["name"], "TAG_OMNIORB_UNIX_TRANS");
    assert_eq!(unix["value"]["path"], "/run/zorb-interop.sock");
}

#[test]
fn a_reader_that_has_heard_enough_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(["ior", "corbaloc::h/k"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
