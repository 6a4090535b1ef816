//! IDL of all kinds, `language/*.idl`, that the compiler must read, resolve and find right, whether or not it can make
//! code of it.

use std::fs;
use std::path::Path;

use zorb_idl::{Options, check_files};

#[test]
fn what_is_idl_is_found_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let (mut files, mut faults) = (0, String::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if let Err(diagnostics) = check_files(&[path], &Options::default()) {
            faults.push_str(&diagnostics.to_string());
        }
        files += 1;
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(files > 5, "{files} files");
}
