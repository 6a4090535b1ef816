//! Lines of the libraries' code: neither blank nor comments, and outside of what is compiled for tests and models only.
//!
//! Sources are taken as rustfmt leaves them: an item ends at the first line of its own indentation that closes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Shipped code of one file of a library.
#[derive(Debug, Default, PartialEq)]
struct Shipped<'a> {
    lines: Vec<&'a str>,
    /// The modules that it has for tests only, in files of their own: their names, or the paths of their files.
    tests: Vec<Module<'a>>,
}

/// The place of a module's text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Module<'a> {
    Named(&'a str),
    At(&'a str),
}

impl<'a> Shipped<'a> {
    fn of(text: &'a str) -> Self {
        let mut shipped = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let code = line.trim();
            if code.is_empty() || code.starts_with("//") {
                continue;
            }
            if !is_for_tests(code) {
                shipped.lines.push(line);
                continue;
            }
            let indent = indent(line);
            let mut path = None;
            for line in lines.by_ref() {
                let code = line.trim();
                let is_own = indent == self::indent(line) && !code.starts_with("//");
                path = path.or_else(|| code.strip_prefix("#[path = \"")?.strip_suffix("\"]"));
                if is_own && let Some(name) = module(code) {
                    (shipped.tests).push(path.map_or(Module::Named(name), Module::At));
                }
                if is_own && code.ends_with([';', '}', ',']) {
                    break;
                }
            }
        }
        shipped
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether an attribute keeps what follows out of the library.
fn is_for_tests(code: &str) -> bool {
    let Some(condition) = code.strip_prefix("#[cfg(") else {
        return false;
    };
    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
    let asks = words.any(|word| word == "test" || word == "zorb_model");
    asks && !condition.starts_with("not(")
}

/// The module that a line declares, if its text is in another file.
fn module(code: &str) -> Option<&str> {
    let (_, name) = code.strip_suffix(';')?.rsplit_once("mod ")?;
    Some(name)
}

/// The file or folder of a module that the file declares.
fn child(file: &Path, module: Module<'_>) -> Option<[PathBuf; 2]> {
    let folder = file.parent()?;
    let name = match module {
        Module::Named(name) => name,
        Module::At(path) => return Some([folder.join(path), folder.join(path)]),
    };
    let stem = file.file_stem()?;
    let folder = match stem.to_str()? {
        "mod" | "lib" | "main" => folder.to_path_buf(),
        stem => folder.join(stem),
    };
    Some([folder.join(format!("{name}.rs")), folder.join(name)])
}

/// The Rust files below a folder, or the file itself, in order.
pub(super) fn files(at: &Path) -> Result<Vec<PathBuf>, String> {
    if at.is_file() {
        return Ok(vec![at.to_path_buf()]);
    }
    let failed = |e| format!("{}: {e}", at.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(at).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The code of the library at these files and folders, by file.
///
/// # Errors
/// A file cannot be read.
pub(super) fn code(root: &Path, at: &[&str]) -> Result<Vec<(PathBuf, Vec<String>)>, String> {
    let mut all = Vec::new();
    let mut excluded = BTreeSet::new();
    for at in at {
        for file in files(&root.join(at))? {
            let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let Shipped { lines, tests } = Shipped::of(&text);
            let of_tests = tests.into_iter().filter_map(|module| child(&file, module));
            excluded.extend(of_tests.flatten());
            all.push((file, lines.into_iter().map(str::to_owned).collect()));
        }
    }
    all.retain(|(file, _): &(PathBuf, Vec<String>)| {
        !file.ancestors().any(|part| excluded.contains(part))
    });
    Ok(all)
}

/// How many lines that code has.
pub(super) fn count(code: &[(PathBuf, Vec<String>)]) -> usize {
    code.iter().map(|(_, lines)| lines.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_tests_are_no_lines_of_the_library() {
        let text = r#"
            //! A page.
            mod lines;
            #[cfg(test)]
            #[path = "near/far.rs"]
            mod far;
            #[cfg(any(test, zorb_model))]
            #[expect(
                dead_code
            )]
            pub(crate) mod mock;

            #[cfg(not(test))]
            fn shipped() {
                // Why.
                run();
                #[cfg(test)]
                check(
                    1,
                );
            }

            #[cfg(test)]
            mod tests {
                fn a() {}
            }
        "#;
        let shipped = Shipped::of(text);
        let expected = [
            "mod lines;",
            "#[cfg(not(test))]",
            "fn shipped() {",
            "run();",
            "}",
        ];
        let lines: Vec<_> = shipped.lines.iter().map(|line| line.trim()).collect();
        assert_eq!(lines, expected);
        assert_eq!(
            shipped.tests,
            [Module::At("near/far.rs"), Module::Named("mock")]
        );
    }

    #[test]
    fn modules_of_tests_are_left_out_with_what_is_below_them() {
        let [file, folder] = child(Path::new("src/a.rs"), Module::Named("tests")).unwrap();
        assert_eq!(file, Path::new("src/a/tests.rs"));
        assert_eq!(folder, Path::new("src/a/tests"));
        let [file, _] = child(Path::new("src/a/mod.rs"), Module::Named("tests")).unwrap();
        assert_eq!(file, Path::new("src/a/tests.rs"));
    }

    #[test]
    fn the_code_of_this_module_is_counted() {
        let root = xtask::step::root();
        let at = "benches/measure/src/engine/lines.rs";
        let code = code(&root, &[at]).unwrap();
        let text = fs::read_to_string(root.join(at)).unwrap();
        let all = text.lines().count();
        assert!(count(&code) > 50 && count(&code) < all - 60);
    }
}
