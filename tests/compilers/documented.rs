//! Comments of IDL as pages of rustdoc, which has no warning: no link leads nowhere, no tag is unknown, no code is run.

use crate::rustc::tool;
use crate::support::Running;
use crate::unused::constructs;
use std::fmt::Write;

#[test]
fn rustdoc_has_no_warning_on_comments_of_idl() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    let all = constructs();
    for (at, file) in all.iter().enumerate() {
        writeln!(text, "#[zorb::idl_file({file:?})] pub mod m{at} {{}}").expect("text grows");
    }
    let source = folder.path().join("documented.rs");
    std::fs::write(&source, text).expect("written");
    let mut rustdoc = tool("rustdoc", &source);
    rustdoc.args([
        "--crate-type=lib",
        "-Wrustdoc::unescaped_backticks",
        "--out-dir",
    ]);
    rustdoc.arg(folder.path().join("doc"));
    rustdoc.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    Running::command(rustdoc).finish().success();
    let at = all
        .iter()
        .position(|file| file.ends_with("golden/doxygen.idl"));
    let page = format!(
        "doc/documented/m{}/devices/trait.Rack.html",
        at.expect("the commands of Doxygen are in it")
    );
    let page = std::fs::read_to_string(folder.path().join(page)).expect("a page");
    assert!(
        page.contains("<li><code>what</code>: its kind</li>"),
        "{page}"
    );
    assert!(!page.contains("@param"), "{page}");
}
