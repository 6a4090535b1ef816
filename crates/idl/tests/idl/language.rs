//! IDL of all kinds: files that the compiler must accept, `language/legal/*.idl`, and files that it must refuse,
//! `language/illegal/*.idl`, whether or not it supports their constructs. The expected diagnostics are beside the latter;
//! `UPDATE_GOLDEN=1 cargo test -p zorb-idl language` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};

use zorb_idl::limits::{MAX_BASES, MAX_PARAMETERS, MAX_RAISES, MAX_TYPE_DEPTH, MAX_VALUE_CHAIN};
use zorb_idl::{Options, check_files, check_str, compile_str};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/language")
        .join(folder);
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "idl"));
    files.sort();
    assert!(files.len() > 4, "{files:?}");
    files
}

#[test]
fn what_is_idl_is_found_right() {
    let mut faults = String::new();
    for path in files("legal") {
        if let Err(diagnostics) = check_files(&[path], &Options::default()) {
            faults.push_str(&diagnostics.to_string());
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn what_is_no_idl_is_refused_as_reviewed() {
    let mut different = String::new();
    for path in files("illegal") {
        let found = match check_files(std::slice::from_ref(&path), &Options::default()) {
            Ok(()) => panic!("{} was accepted", path.display()),
            Err(diagnostics) => diagnostics.to_string(),
        };
        let folder = format!("{}/", path.parent().unwrap().display());
        let found = found.replace(&folder, "");
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            different.push_str(&format!("{}\n{found}\n", expected.display()));
        }
    }
    assert!(
        different.is_empty(),
        "not as reviewed (UPDATE_GOLDEN=1 accepts it):\n{different}"
    );
}

#[test]
fn a_rename_decides_before_a_name_makes_way() {
    let idl = "interface Stage { exception StartError {}; void start() raises (StartError); attribute long x; void set_x(); };";
    let enums_and_setters = |renames: &[(&str, &str)]| {
        let mut options = Options::default();
        let renames = renames
            .iter()
            .map(|(idl, rust)| ((*idl).to_owned(), (*rust).to_owned()));
        options.renames = renames.collect();
        let tokens = compile_str("stage.idl", idl, &options)
            .unwrap()
            .tokens
            .to_string();
        let words = tokens.split(|c: char| !c.is_alphanumeric() && c != '_');
        let named = words.filter(|it| it.ends_with("Error") || it.starts_with("set_"));
        let mut named: Vec<String> = named.map(str::to_owned).collect();
        named.sort();
        named.dedup();
        named.retain(|name| !["Error", "operation_error"].contains(&&**name));
        named
    };
    assert_eq!(
        enums_and_setters(&[]),
        ["StartCallError", "StartError", "set_x", "set_x_attribute"]
    );
    assert_eq!(
        enums_and_setters(&[("Stage::start", "begin"), ("Stage::set_x", "set_y")]),
        ["BeginError", "StartError", "set_x", "set_y"]
    );
    assert_eq!(
        enums_and_setters(&[("Stage::StartError", "Refused"), ("Stage::x", "y")]),
        ["StartError", "set_x", "set_y"]
    );
}

/// Checks that `text` is refused with one error, with this `message`.
fn refused_once(text: &str, message: &str) {
    let diagnostics = check_str("many.idl", text, &Options::default()).unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert!(first.message.contains(message), "{}", first.message);
    assert_eq!(diagnostics.len(), 1, "{}", first.message);
}

fn many(count: usize, one: impl Fn(usize) -> String, between: &str) -> String {
    let all: Vec<String> = (0..count).map(one).collect();
    all.join(between)
}

#[test]
fn what_is_too_much_is_refused_once_however_much_it_is() {
    let far = 5_000;
    let parameters = many(far, |i| format!("in long a{i}"), ", ");
    refused_once(
        &format!("interface I {{ void f({parameters}); }};"),
        &format!("more than {MAX_PARAMETERS} parameters"),
    );
    refused_once(
        &format!("valuetype V {{ factory f({parameters}); }};"),
        &format!("more than {MAX_PARAMETERS} parameters"),
    );
    let exceptions = many(far, |i| format!("exception E{i} {{}};"), " ");
    let raised = many(far, |i| format!("E{i}"), ", ");
    refused_once(
        &format!("{exceptions} interface I {{ void f() raises ({raised}); }};"),
        &format!("more than {MAX_RAISES} exceptions"),
    );
    let interfaces = many(far, |i| format!("interface I{i} {{}};"), " ");
    let bases = many(far, |i| format!("I{i}"), ", ");
    refused_once(
        &format!("{interfaces} interface D : {bases} {{}};"),
        &format!("more than {MAX_BASES} interfaces"),
    );
    let chain = many(far, |i| format!("interface I{} : I{i} {{}};", i + 1), " ");
    refused_once(
        &format!("interface I0 {{}}; {chain}"),
        &format!("more than {MAX_BASES} interfaces"),
    );
    let values = |count| {
        let derived = many(count, |i| format!("valuetype V{} : V{i} {{}};", i + 1), " ");
        format!("valuetype V0 {{}}; {derived}")
    };
    check_str(
        "values.idl",
        &values(MAX_VALUE_CHAIN - 1),
        &Options::default(),
    )
    .unwrap();
    refused_once(
        &values(MAX_VALUE_CHAIN),
        &format!("more than {MAX_VALUE_CHAIN} value types with state"),
    );
    let typedefs = many(far, |i| format!("typedef sequence<T{i}> T{};", i + 1), " ");
    refused_once(
        &format!("typedef long T0; {typedefs} struct S {{ T{far} x; }};"),
        &format!("more than {MAX_TYPE_DEPTH} others"),
    );
    let dimensions = many(20 * far, |_| "[1]".to_owned(), "");
    refused_once(
        &format!("struct S {{ long x{dimensions}; }};"),
        &format!("more than {MAX_TYPE_DEPTH} others"),
    );
    let flags = many(far, |i| format!("b{i}"), ", ");
    refused_once(&format!("bitmask B {{ {flags} }};"), "outside of 32 bits");
}

#[test]
fn what_is_made_of_each_other_may_be_so_however_often() {
    let links = 5_000;
    let aliases = many(links, |i| format!("typedef A{i} A{};", i + 1), " ");
    let structs = many(links, |i| format!("struct S{} {{ S{i} s; }};", i + 1), " ");
    let text = format!(
        "typedef sequence<long> A0; {aliases} typedef sequence<A{links}> B;
         interface I {{ A{links} f(in A{links} a, inout B b1); attribute A{links} c; }};
         struct S0 {{ map<long, long> m; }}; {structs} typedef S{links} T;
         local interface L {{ T g(in T t1); }};"
    );
    let output = compile_str("long.idl", &text, &Options::default()).unwrap();
    let tokens = output.tokens.to_string();
    assert!(tokens.contains("pub type B = :: std :: vec :: Vec < :: std :: vec :: Vec < i32 > >"));
    assert!(!tokens.contains("T_TYPE_CODE"));
}

#[test]
fn an_interface_that_is_only_announced_has_all_that_its_uses_need() {
    let text = "interface Stranger; struct Meets { Stranger whom; };";
    let output = compile_str("stranger.idl", text, &Options::default()).unwrap();
    let tokens = output.tokens.to_string();
    for item in ["pub struct StrangerRef", "type_code ! (__TC_STRANGER ="] {
        assert!(tokens.contains(item), "{item} in {tokens}");
    }
}
