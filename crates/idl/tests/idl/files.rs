//! Files: their search, the number of reads, and the errors that name them.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use zorb_idl::{Options, check_files, compile_files, compile_str, dependencies};

fn tree(files: &[(&str, &str)]) -> (TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        paths.push(path);
    }
    (dir, paths)
}

#[test]
fn every_file_that_was_read_is_a_dependency_once() {
    let (dir, paths) = tree(&[
        (
            "a.idl",
            "#include \"sub/b.idl\"\n#include <c.idl>\nmodule A { typedef B::T T; };",
        ),
        (
            "sub/b.idl",
            "#pragma once\n#include \"../sub/b.idl\"\nmodule B { typedef long T; };",
        ),
        (
            "inc/c.idl",
            "#ifndef C\n#define C\n#include <c.idl>\n#endif",
        ),
        (
            "d.idl",
            "#include \"sub/b.idl\"\nmodule D { typedef A::T T; };",
        ),
    ]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().join("inc")];
    let output = compile_files(&[paths[0].clone(), paths[3].clone()], &options).unwrap();
    let root = dir.path().canonicalize().unwrap();
    let read: Vec<PathBuf> = output
        .dependencies
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_path_buf())
        .collect();
    assert_eq!(
        read,
        ["a.idl", "sub/b.idl", "inc/c.idl", "d.idl"].map(PathBuf::from)
    );
}

#[test]
fn files_that_include_each_other_for_ever_are_reported() {
    let (_dir, paths) = tree(&[
        ("a.idl", "#include \"b.idl\""),
        ("b.idl", "\n #include \"a.idl\""),
    ]);
    let diagnostics = check_files(&paths[..1], &Options::default()).unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert!(first.message.contains("includes itself"), "{first}");
    assert_eq!((first.line, first.file.ends_with("b.idl")), (2, true));
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let (dir, _) = tree(&[("sub/x.idl", "")]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().to_path_buf(), PathBuf::from("/dev")];
    for name in ["sub", "zero"] {
        let text = format!("#include <{name}>\n");
        let diagnostics = compile_str("a.idl", &text, &options).unwrap_err();
        assert!(
            diagnostics.to_string().contains("not a regular file"),
            "{diagnostics}"
        );
    }
}

#[test]
fn text_in_latin_1_is_read_as_such() {
    let (dir, _) = tree(&[]);
    let path = dir.path().join("a.idl");
    fs::write(&path, b"const string X = \"gr\xfc\xdfe\"; // \xe4\n").unwrap();
    let output = compile_files(&[path], &Options::default()).unwrap();
    assert!(output.tokens.to_string().contains("\"gr\u{fc}\u{df}e\""));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_that_names_it() {
    let missing = PathBuf::from("/nowhere/at/all.idl");
    let text = compile_files(&[missing], &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("cannot read the file") && text.contains("/nowhere/at/all.idl"),
        "{text}"
    );
    assert!(
        compile_files(&[], &Options::default())
            .unwrap_err()
            .to_string()
            .contains("no IDL file")
    );
}

#[test]
fn an_extern_path_that_is_no_path_is_refused() {
    let mut options = Options::default();
    options
        .externs
        .push(("A".to_owned(), "crate::(".to_owned()));
    let text = compile_str("a.idl", "", &options).unwrap_err().to_string();
    assert!(text.contains("does not give a Rust path"), "{text}");
}

/// Compiles a file of these octets, and returns its diagnostics.
fn said_of(octets: &[u8]) -> String {
    let (dir, _) = tree(&[]);
    let path = dir.path().join("a.idl");
    fs::write(&path, octets).unwrap();
    match check_files(&[path], &Options::default()) {
        Ok(()) => String::new(),
        Err(diagnostics) => {
            assert_eq!(diagnostics.len(), 1, "one cause, one error: {diagnostics}");
            diagnostics.to_string()
        }
    }
}

#[test]
fn a_file_of_any_system_is_read() {
    let texts: [&[u8]; 5] = [
        b"\xef\xbb\xbfmodule M { const long X = 1; };",
        b"module M {\r  // a comment\r  const long X = 1;\r};\r",
        b"module M {\r\n  const long X = 1;\r\n};\r\n\x1a",
        b"module M { // \xa9 an author, a na\xefve one\n const long X = 1; };",
        b"mod\\\nule M { const long X = \\\r\n1; };",
    ];
    for text in texts {
        assert_eq!(said_of(text), "", "{}", text.escape_ascii());
    }
}

#[test]
fn a_file_that_is_no_text_is_one_error() {
    assert!(said_of(b"module M {\n\0\0\0").contains("a zero octet here: this is no text\n"));
    assert!(said_of(b"\xff\xfem\0o\0d\0").contains("UTF-16"));
    assert!(said_of(&[0; 4096]).contains("a.idl:1:1"));
}

#[test]
fn lines_end_in_places_where_old_systems_end_them() {
    let said = said_of(b"module M {\r  typedef Missing X;\r};\r");
    assert!(said.contains("a.idl:2:11"), "{said}");
    assert!(said.contains("2 |   typedef Missing X;\n"), "{said}");
}

#[test]
fn of_a_file_of_one_line_only_a_part_is_shown() {
    let mut text = String::new();
    while text.len() < 500_000 {
        text.push_str("struct S_");
        text.push_str(&text.len().to_string());
        text.push_str(" { long a; string b; }; ");
    }
    text.push_str("struct Last { Missing m; }; ");
    text.push_str("const long X = 1;".repeat(20).as_str());
    let (dir, _) = tree(&[("a.idl", &text)]);
    let path = dir.path().join("a.idl");
    let said = check_files(&[path], &Options::default()).unwrap_err();
    let first = said.iter().next().unwrap().to_string();
    assert!(first.contains("cannot find `Missing`"), "{first}");
    assert!(first.len() < 2_000, "{}", first.len());
    let lines: Vec<&str> = first.lines().collect();
    let at = |line: &str, what: &str| {
        line.chars().count() - line[line.find(what).unwrap()..].chars().count()
    };
    assert_eq!(at(lines[3], "Missing"), at(lines[4], "^^^^^^^"), "{first}");
    assert!(said.to_string().len() < 100_000);
}

#[test]
fn files_that_include_two_others_each_come_to_an_end() {
    let mut files = Vec::new();
    for n in 0..30 {
        let next = n + 1;
        let text = format!("#include \"f{next}.idl\"\n#include \"f{next}.idl\"\n");
        files.push((format!("f{n}.idl"), text));
    }
    files.push(("f30.idl".to_owned(), String::new()));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let (_dir, paths) = tree(&files);
    let diagnostics = check_files(&paths[..1], &Options::default()).unwrap_err();
    assert_eq!(diagnostics.len(), 1, "{diagnostics}");
    assert!(
        diagnostics
            .to_string()
            .contains("files are included more than"),
        "{diagnostics}"
    );
}

#[test]
fn a_missing_file_is_one_error_whatever_it_would_have_defined() {
    let said = said_of(b"#include <gone.idl>\nDECLARE_ALL(x)\nmodule M { Gone::T f; };");
    assert!(said.contains("cannot find the file `gone.idl`"), "{said}");
}

#[test]
fn a_file_is_found_as_it_is_written_on_other_systems() {
    let (_dir, paths) = tree(&[
        (
            "a.idl",
            "#include \"sub\\b.idl\"\nmodule A { typedef B::T T; };",
        ),
        ("sub/b.idl", "module B { typedef long T; };"),
        ("c.idl", "#include \"SUB/B.IDL\"\n"),
        ("d.idl", "#include \"sub/B.IDL\"\n"),
    ]);
    check_files(&paths[..1], &Options::default()).unwrap();
    let said = check_files(&paths[3..], &Options::default()).unwrap_err();
    assert!(
        said.to_string()
            .contains("sub/b.idl`: file names are case-sensitive"),
        "{said}"
    );
    let said = check_files(&paths[2..3], &Options::default()).unwrap_err();
    assert!(said.to_string().contains("looked for"), "{said}");
}

#[test]
fn an_include_is_what_macros_make_of_it() {
    let (dir, paths) = tree(&[
        (
            "a.idl",
            "#define HERE \"b.idl\"\n#define NAME(x) <x.idl>\n#include HERE\n#include NAME(c)\n#include NAME(c)\nmodule A { typedef B::T T; typedef C::T U; };",
        ),
        ("b.idl", "module B { typedef long T; };"),
        (
            "inc/c.idl",
            "#if !defined(_C_IDL_)\n#define _C_IDL_\nmodule C { typedef long T; };\n#endif /* _C_IDL_ */",
        ),
    ]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().join("inc")];
    let output = compile_files(&paths[..1], &options).unwrap();
    assert_eq!(output.dependencies.len(), 3);
}

#[test]
fn macros_can_be_defined_from_outside() {
    let mut options = Options::default();
    options.defines.push(("WITH_X".to_owned(), "1".to_owned()));
    let text = "#if WITH_X\nconst long X = 1;\n#endif";
    let output = compile_str("a.idl", text, &options).unwrap();
    assert!(output.tokens.to_string().contains("X : i32 = 1"));
    options.defines = vec![("F(".to_owned(), String::new())];
    let said = compile_str("a.idl", text, &options)
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("<defines>:2:10") && said.contains("#define F("),
        "{said}"
    );
}

#[test]
fn an_import_reads_the_file_that_is_named_like_the_module() {
    let (dir, paths) = tree(&[
        (
            "a.idl",
            "import ::Other;\nimport CORBA::Inner;\nmodule A { typedef Other::T T; typedef CORBA::Inner::U U; };",
        ),
        (
            "inc/Other.idl",
            "import ::CORBA;\nmodule Other { typedef long T; };",
        ),
        (
            "inc/orb.idl",
            "#ifndef O\n#define O\nmodule CORBA { module Inner { typedef short U; }; };\n#endif",
        ),
    ]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().join("inc")];
    let output = compile_files(&paths[..1], &options).unwrap();
    assert_eq!(output.dependencies.len(), 3, "{:?}", output.dependencies);
}

#[test]
fn an_import_of_a_file_reads_it() {
    let (_dir, paths) = tree(&[
        (
            "a.idl",
            "import \"b.idl\";\nimport \"b.idl\";\nmodule A { typedef B::T T; };",
        ),
        ("b.idl", "module B { typedef long T; };"),
    ]);
    let output = compile_files(&paths[..1], &Options::default()).unwrap();
    assert_eq!(output.dependencies.len(), 2, "{:?}", output.dependencies);
}

#[test]
fn an_import_that_finds_nothing_is_one_error_whatever_needed_it() {
    let text = "import ::Other;\nmodule A { typedef Other::T T; struct S { Other::U u; }; };";
    let diagnostics = compile_str("a.idl", text, &Options::default()).unwrap_err();
    assert_eq!(diagnostics.len(), 1, "{diagnostics}");
    assert!(
        diagnostics.to_string().contains("cannot find `Other`"),
        "{diagnostics}"
    );
    // A module that is declared already needs no file.
    let text = "module Other { typedef long T; };\nimport Other;\ntypedef Other::T T;";
    compile_str("a.idl", text, &Options::default()).unwrap();
}

#[test]
fn what_is_read_can_be_asked_of_what_is_no_idl() {
    let (_dir, paths) = tree(&[
        ("a.idl", "#include \"b.idl\"\nthis is no IDL"),
        ("b.idl", "}"),
    ]);
    let read = dependencies(&paths[..1], &Options::default()).unwrap();
    assert_eq!(read.len(), 2);
    assert!(dependencies(&[PathBuf::from("/nowhere.idl")], &Options::default()).is_err());
}

#[test]
fn a_file_of_two_hundred_thousand_lines_is_nothing_special() {
    let mut text = String::new();
    for n in 0..50_000 {
        text.push_str("struct S_");
        text.push_str(&n.to_string());
        text.push_str(" {\n  long a;\n  string b;\n};\n");
    }
    assert!(text.lines().count() >= 200_000);
    let (_dir, paths) = tree(&[("a.idl", &text)]);
    check_files(&paths, &Options::default()).unwrap();
}

#[test]
fn an_orb_idl_that_is_nowhere_is_built_in() {
    let text = "#include <orb.idl>\nimport ::CORBA;\ninterface I { void f(in CORBA::PolicyList p, in CORBA::AbstractBase b); };";
    let output = compile_str("a.idl", text, &Options::default()).unwrap();
    let tokens = output.tokens.to_string();
    assert!(
        tokens.contains(":: zorb :: corba :: AbstractBaseRef"),
        "{tokens}"
    );
    assert!(!tokens.contains("mod corba"), "{tokens}");
    // A file that adds to the module makes the compiler generate all of it.
    let text = "#include <orb.idl>\nmodule CORBA { typedef PolicyList Mine; };";
    let output = compile_str("a.idl", text, &Options::default()).unwrap();
    assert!(output.tokens.to_string().contains("mod corba"));
    // An existing `orb.idl` replaces the built-in one.
    let (dir, paths) = tree(&[
        (
            "a.idl",
            "#include <orb.idl>\ninterface I { void f(in CORBA::StringSeq s); };",
        ),
        ("inc/orb.idl", "module CORBA {};"),
    ]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().join("inc")];
    let said = compile_files(&paths[..1], &options).unwrap_err();
    assert!(
        said.to_string()
            .contains("cannot find `StringSeq` in `CORBA`"),
        "{said}"
    );
}

/// The structs that `roots`, by their indexes in `files`, become.
fn structs(files: &[(&str, &str)], roots: &[usize]) -> Result<Vec<String>, String> {
    let (_dir, paths) = tree(files);
    let roots: Vec<PathBuf> = roots.iter().map(|&root| paths[root].clone()).collect();
    let output = compile_files(&roots, &Options::default());
    let tokens = output
        .map_err(|error| error.to_string())?
        .tokens
        .to_string();
    let structs = tokens.split("pub struct ").skip(1);
    Ok(structs.map(|rest| rest[..1].to_owned()).collect())
}

#[test]
fn a_file_without_a_guard_that_several_inputs_have_is_read_once() {
    let files = [
        ("a.idl", "struct A { long x; };"),
        ("b.idl", "#include \"a.idl\"\nstruct B { A m; };"),
        (
            "c.idl",
            "#include \"a.idl\"\n#include \"b.idl\"\nstruct C { A m; B n; };",
        ),
        (
            "d.idl",
            "#pragma prefix \"d\"\n#include \"a.idl\"\nmodule M { struct D { A m; }; };",
        ),
    ];
    for (roots, expected) in [
        (&[0, 1][..], "AB"),
        (&[1, 0], "AB"),
        (&[0, 0], "A"),
        (&[1, 3], "ABD"),
        (&[3, 1], "ADB"),
        (&[0, 3, 1], "ADB"),
    ] {
        let found = structs(&files, roots).unwrap_or_else(|error| panic!("{roots:?}: {error}"));
        let found = found.concat();
        assert_eq!(found, expected, "{roots:?}");
    }
}

#[test]
fn a_file_that_includes_others_with_a_guard_or_without_is_read_once_too() {
    let files = [
        (
            "a.idl",
            "#ifndef A_IDL\n#define A_IDL\nstruct A { long x; };\n#endif",
        ),
        ("u.idl", "struct U { long x; };"),
        (
            "b.idl",
            "#include \"a.idl\"\nstruct B { A m; };\n#include \"u.idl\"\nstruct E { U m; };",
        ),
        ("c.idl", "#include \"b.idl\"\nstruct C { B m; };"),
    ];
    for roots in [&[2, 3][..], &[3, 2], &[3, 0, 2, 1]] {
        assert_eq!(
            structs(&files, roots).unwrap().concat(),
            "ABUEC",
            "{roots:?}"
        );
    }
}

#[test]
fn a_file_that_becomes_something_else_for_each_input_is_read_for_each() {
    let files = [
        ("a.idl", "struct NAME { long x; };\n#undef NAME"),
        ("b.idl", "#define NAME B\n#include \"a.idl\""),
        ("c.idl", "#define NAME C\n#include \"a.idl\""),
        ("in.idl", "struct I { long x; };"),
        ("m.idl", "module M {\n#include \"in.idl\"\n};"),
    ];
    assert_eq!(structs(&files, &[1, 2]).unwrap().concat(), "BC");
    assert_eq!(structs(&files, &[3, 4]).unwrap().concat(), "II");
    assert_eq!(structs(&files, &[4, 3]).unwrap().concat(), "II");
}

#[test]
fn a_file_without_a_guard_that_one_input_includes_twice_is_reported_as_that() {
    let files = [
        ("a.idl", "struct A { long x; };"),
        ("b.idl", "#include \"a.idl\"\nstruct B { A m; };"),
        ("c.idl", "#include \"a.idl\"\n#include \"b.idl\""),
    ];
    let error = structs(&files, &[2]).unwrap_err();
    for part in [
        "`A` is declared twice, as its file is included twice",
        "add an include guard",
    ] {
        assert!(error.contains(part), "{error}");
    }
}
