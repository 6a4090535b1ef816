//! The output of the compiler, compared with reviewed files: generated Rust in `golden/*.rs`, drawn diagnostics in
//! `diagnostics/*.txt`. `UPDATE_GOLDEN=1 cargo test -p zorb-idl golden` rewrites them; review the difference.
//!
//! A comment `// option: extern Module = path`, `// option: rename A::b = c` or `// option: defaults` in the IDL sets an
//! option.

use std::fs;
use std::path::{Path, PathBuf};

use zorb_idl::{Diagnostics, Options, Output, compile_files};

fn compile(path: &Path) -> Result<Output, Diagnostics> {
    let mut options = Options::default();
    options.include_dirs = vec![path.with_file_name("include")];
    let text = fs::read(path).unwrap();
    for line in String::from_utf8_lossy(&text).lines() {
        let Some(option) = line.strip_prefix("// option: ") else {
            continue;
        };
        let (name, value) = option.split_once(" = ").unwrap_or((option, ""));
        match name.split_once(' ') {
            None if name == "defaults" => options.defaults = true,
            None if name == "delegates" => options.delegates = true,
            None if name == "ami" => options.ami = true,
            Some(("in_memory", idl)) => options.in_memory.push(idl.to_owned()),
            Some(("extern", module)) => options.externs.push((module.to_owned(), value.to_owned())),
            Some(("native", idl)) => options.natives.push((idl.to_owned(), value.to_owned())),
            Some(("derive", idl)) => options.derives.push((idl.to_owned(), value.to_owned())),
            Some(("rename", idl)) => options.renames.push((idl.to_owned(), value.to_owned())),
            _ => panic!("{}: unknown option {option}", path.display()),
        }
    }
    compile_files(&[path.to_path_buf()], &options)
}

/// Runs `produce` on every IDL file of `folder` and compares with the file beside it.
fn compare(folder: &str, extension: &str, produce: impl Fn(&Path) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let entries = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut inputs: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|it| it == "idl"))
        .collect();
    inputs.sort();
    assert!(inputs.len() > 3, "no IDL in {}", folder.display());
    let mut different = Vec::new();
    for input in inputs {
        let found = produce(&input);
        let expected = input.with_extension(extension);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            different.push(format!("{}\n{found}", expected.display()));
        }
    }
    assert!(
        different.is_empty(),
        "not as reviewed (UPDATE_GOLDEN=1 accepts it):\n{}",
        different.join("\n\n")
    );
}

#[test]
fn expansions_are_as_reviewed() {
    compare("golden", "rs", |path| match compile(path) {
        Ok(output) => zorb_idl::format(output.tokens),
        Err(diagnostics) => panic!("{diagnostics}"),
    });
}

#[test]
fn diagnostics_are_as_reviewed() {
    let here = format!("{}/tests/diagnostics/", env!("CARGO_MANIFEST_DIR"));
    compare("diagnostics", "txt", |path| match compile(path) {
        Ok(_) => panic!("{} was accepted", path.display()),
        Err(diagnostics) => diagnostics.to_string().replace(&here, ""),
    });
}
