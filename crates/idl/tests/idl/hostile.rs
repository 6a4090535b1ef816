//! Hostile text: too deep, too long, or expanding without end. Each has one error, at the first cause.

use std::fs;
use std::path::Path;

use zorb_idl::{Options, check_files, check_str};

const FAR: usize = 10_000;

fn deep(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(FAR), close.repeat(FAR))
}

/// Checks that `text` has one error, with this `message`.
fn refused_once(text: &str, message: &str) {
    let start: String = text.chars().take(60).collect();
    let faults = check_str("hostile.idl", text, &Options::default()).expect_err(&start);
    let first = faults.iter().next().unwrap();
    assert!(
        first.message.contains(message),
        "{start}: {}",
        first.message
    );
    assert_eq!(faults.len(), 1, "{start}: {faults}");
    assert!(faults.to_string().len() < 6_000, "{start}");
}

#[test]
fn what_is_nested_too_deep_is_one_error() {
    let too_deep = "nested more than 64 levels deep";
    for text in [
        deep("module m { ", "typedef long t;", " };"),
        "module m { ".repeat(FAR),
        deep("struct s { ", "long a;", " x; };"),
        deep("union u switch (long) { case 1: ", "long", " x; };"),
        format!("typedef {} T;", deep("sequence<", "long", ">")),
        format!("typedef {} T;", deep("map<long, ", "long", ">")),
        format!("const long X = {};", deep("(", "1", ")")),
        format!("#if {}\n#endif\n", deep("(", "1", ")")),
        format!("#if {}\n#endif\n", deep("1 ? ", "1", " : 0")),
    ] {
        refused_once(&text, too_deep);
    }
}

#[test]
fn what_is_never_closed_is_one_error() {
    for (text, message) in [
        (
            "#if 1\n".repeat(FAR),
            "never closed, nor are 9999 within it",
        ),
        (
            format!("#if {}\n#endif\n", "defined(".repeat(FAR)),
            "behind `defined`",
        ),
        (
            format!("#define F(x) x\nconst long X = {}", "F(".repeat(FAR)),
            "never closed",
        ),
        (
            format!(
                "#define F(x) x\nF(1\n{}",
                "struct S { long x; };\n".repeat(FAR)
            ),
            "never closed",
        ),
        (
            "struct S { long x; };\n/* open\n".to_owned(),
            "comment is never closed",
        ),
        (
            "struct S { long x;\nmodule M { typedef long T; };\n".to_owned(),
            "expected a type",
        ),
        (
            "interface I { void f(in long x; };".to_owned(),
            "expected `,` or `)`",
        ),
        ("typedef long T[3;".to_owned(), "expected `]`"),
        ("const string X = \"\\".to_owned(), "never closed"),
    ] {
        refused_once(&text, message);
    }
}

#[test]
fn what_is_too_much_of_one_thing_is_one_error() {
    for (text, message) in [
        ("}".repeat(FAR), "no scope is open here"),
        (";".repeat(FAR), "expected a definition"),
        ("{".repeat(FAR), "expected a definition"),
        ("typedef long T...;".to_owned(), "unexpected character `.`"),
        ("typedef long \u{ff}\u{fe}\u{fd}T;".to_owned(), "is no name"),
        (
            "$$$$$ typedef long T;".to_owned(),
            "unexpected character `$`",
        ),
        (
            "typedef long T;\u{1}\u{2} x \u{3}\n\u{4}".to_owned(),
            "this is no text",
        ),
        (
            format!("#include \"{}\"\n", "x".repeat(100_000)),
            "cannot find the file",
        ),
        (
            format!("const long X = {};", "9".repeat(100_000)),
            "64 bits",
        ),
        (
            format!("typedef long {};", "a".repeat(100_000)),
            "longer than",
        ),
    ] {
        refused_once(&text, message);
    }
}

#[test]
fn macros_that_grow_are_stopped_whatever_grows() {
    let called = |macros: &str, name: &str, inner: &str| {
        format!("{macros}\n{}{inner}{}", name.repeat(60), ")".repeat(60))
    };
    let tokens = "macros make more than 250000 tokens";
    let octets = "octets of text";
    refused_once(&called("#define F(x) x x", "F(", "1"), tokens);
    refused_once(
        &called("#define F(...) __VA_ARGS__, __VA_ARGS__", "F(", "1"),
        tokens,
    );
    refused_once(
        &called(
            "#define F(...) __VA_OPT__(__VA_ARGS__ __VA_ARGS__)",
            "F(",
            "1",
        ),
        tokens,
    );
    refused_once(
        &called(
            "#define C(a, b) a##b\n#define D(x) C(x, x)\n#define E(x) D(x)",
            "E(",
            "a",
        ),
        octets,
    );
    refused_once(
        &called("#define S(x) #x\n#define D(x) S(x x)", "D(", "\"\\\\\""),
        octets,
    );
    let line = format!("#define X {}\nX X X X X", "a ".repeat(500_000));
    refused_once(&line, tokens);
}

#[test]
fn three_files_in_a_circle_are_one_error_that_shows_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    put("a.idl", "#include \"b.idl\"\n");
    put("b.idl", "#include \"c.idl\"\n");
    put("c.idl", "#include \"a.idl\"\n");
    let faults = check_files(&[dir.path().join("a.idl")], &Options::default()).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults}");
    let first = faults.iter().next().unwrap();
    let places = first
        .labels
        .iter()
        .map(|label| Path::new(&label.file).file_name().unwrap());
    assert!(places.eq(["b.idl", "a.idl"]), "{first}");
}
