//! Repository ids under prefixes, pragmas and declarations, read from the generated code.

use std::collections::BTreeMap;
use std::fs;

use zorb_idl::{Diagnostics, Options, Output, compile_files, compile_str};

/// The ids of the exceptions that the IDL declares, without `IDL:`, in the order of the code, in which a module is in one
/// piece.
fn ids(output: Result<Output, Diagnostics>) -> Vec<String> {
    let output = match output {
        Ok(output) => output,
        Err(diagnostics) => panic!("{diagnostics}"),
    };
    let tokens = output.tokens.to_string();
    // The macro call that gives an exception its id is the only place with `!` and a name before it.
    let mut ids: BTreeMap<usize, String> = BTreeMap::new();
    for (at, _) in tokens.match_indices("exception ! (") {
        let rest = &tokens[at..];
        let start = rest.find('"').unwrap() + 1;
        let length = rest[start..].find('"').unwrap();
        let id = &rest[start..start + length];
        ids.insert(at, id.strip_prefix("IDL:").unwrap_or(id).to_owned());
    }
    ids.into_values().collect()
}

fn check(text: &str, expected: &[&str]) {
    let output = compile_str("ids.idl", text, &Options::default());
    assert_eq!(ids(output), expected, "{text}");
}

#[test]
fn a_name_and_the_names_around_it_make_an_id() {
    check("exception X {};", &["X:1.0"]);
    check(
        "module A { module B { exception X {}; }; };",
        &["A/B/X:1.0"],
    );
    check(
        "module A { interface I { exception _Any {}; }; };",
        &["A/I/Any:1.0"],
    );
}

#[test]
fn a_prefix_holds_to_the_end_of_its_scope_and_replaces_what_is_around_it() {
    check(
        "#pragma prefix \"P1\"
module M2 {
  module M3 {
    #pragma prefix \"P2\"
    exception T3 {};
    module M4 { exception T4 {}; };
  };
  exception T5 {};
  #pragma prefix \"P3\"
  exception T6 {};
  #pragma prefix \"\"
  exception T7 {};
};
exception T8 {};
module M2 { exception T9 {}; };",
        &[
            "P2/T3:1.0",
            "P2/M4/T4:1.0",
            "P1/M2/T5:1.0",
            "P3/T6:1.0",
            "T7:1.0",
            "P1/M2/T9:1.0",
            "P1/T8:1.0",
        ],
    );
}

#[test]
fn a_prefix_inside_of_an_interface_ends_with_it() {
    check(
        "#pragma prefix \"p\"
interface I {
  exception A {};
  #pragma prefix \"q\"
  exception B {};
  struct S {
    long a;
    #pragma prefix \"r\"
    long b;
  };
  exception C {};
};
exception D {};",
        &["p/I/A:1.0", "q/B:1.0", "q/C:1.0", "p/D:1.0"],
    );
}

#[test]
fn versions_and_ids_are_set_by_pragmas_wherever_they_stand() {
    check(
        "#pragma prefix \"p\"
module M {
  exception A {};
  #pragma version A 2.3
  exception B {};
  exception C {
    #pragma version C 1.10
    long x;
    #pragma ID x \"IDL:member:1.0\"
  };
  interface I { exception D {}; };
  #pragma version I::D 65535.0
};
#pragma ID M::B \"RMI:elsewhere:0123456789ABCDEF\"
#pragma ID ::M::B \"RMI:elsewhere:0123456789ABCDEF\"",
        &[
            "p/M/A:2.3",
            "RMI:elsewhere:0123456789ABCDEF",
            "p/M/C:1.10",
            "p/M/I/D:65535.0",
        ],
    );
}

#[test]
fn declarations_set_ids_too() {
    check(
        "#pragma prefix \"p\"
module M {
  exception A {};
  typeid A \"DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1\";
  exception B {};
  #pragma version B 1.1
  module Inner { exception C {}; };
  typeprefix Inner \"inner.example.com\";
};
typeprefix M \"example.com/\";
module M { exception D {}; };
exception E {};",
        &[
            "DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1",
            "example.com/M/B:1.1",
            "inner.example.com/M/Inner/C:1.0",
            "example.com/M/D:1.0",
            "p/E:1.0",
        ],
    );
    check(
        "module A { exception X {}; }; typeprefix :: \"p\";",
        &["p/A/X:1.0"],
    );
}

/// The ids of what `m.idl` declares, with the files that it includes.
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(format!("{name}.idl")), text).unwrap();
    }
    let output = compile_files(&[dir.path().join("m.idl")], &Options::default());
    assert_eq!(ids(output), expected, "{files:?}");
}

#[test]
fn a_file_has_a_prefix_of_its_own_and_one_inside_of_a_module_that_of_the_module() {
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"p\"
#include \"plain.idl\"
module M {
  #include \"inner.idl\"
  #include \"prefixed.idl\"
  exception E {};
};
exception F {};",
            ),
            ("plain", "exception A {};"),
            ("inner", "exception B {}; module O { exception G {}; };"),
            (
                "prefixed",
                "#pragma prefix \"q\"\nexception C {}; module N { exception D {}; };",
            ),
        ],
        &[
            "A:1.0",
            "p/M/B:1.0",
            "p/M/O/G:1.0",
            "q/C:1.0",
            "q/N/D:1.0",
            "p/M/E:1.0",
            "p/F:1.0",
        ],
    );
}

/// The ids are those of omniidl 4.2.5 and JacORB 3.9.
#[test]
fn a_prefix_in_an_included_file_replaces_the_modules_around_the_include() {
    const PART: &str = "#pragma prefix \"p\"\nexception S {};\nmodule N { exception D {}; };";
    let in_module = |part: &str, expected: &[&str]| {
        let main = "#pragma prefix \"w\"
module R {
#include \"p.idl\"
  exception L {};
};
exception Z {};";
        check_files(&[("m", main), ("p", part)], expected);
    };
    in_module(PART, &["p/S:1.0", "p/N/D:1.0", "w/R/L:1.0", "w/Z:1.0"]);
    in_module(
        "#pragma prefix \"\"\nexception S {};\nmodule N { exception D {}; };",
        &["S:1.0", "N/D:1.0", "w/R/L:1.0", "w/Z:1.0"],
    );
    in_module(
        "#pragma prefix \"p\"
interface S;
module N { interface D; };
interface S { exception X {}; };
module N { interface D { exception Y {}; }; };",
        &["p/S/X:1.0", "p/N/D/Y:1.0", "w/R/L:1.0", "w/Z:1.0"],
    );
    in_module(
        "#pragma prefix \"p\"
exception S {};
#pragma ID S \"IDL:x/S:1.0\"
module N {
  exception D {};
  #pragma version D 2.1
  #pragma prefix \"n\"
  exception E {};
  #pragma version E 1.7
};
#pragma prefix \"p2\"
exception T {};
module N { exception U {}; };",
        &[
            "x/S:1.0",
            "p/N/D:2.1",
            "n/E:1.7",
            "p2/N/U:1.0",
            "p2/T:1.0",
            "w/R/L:1.0",
            "w/Z:1.0",
        ],
    );
    // The prefix around the include once more, as in the OMG's module `CORBA`.
    in_module(
        "#pragma prefix \"w\"
interface S;
module N { exception D {}; };
interface S { exception X {}; };",
        &["w/R/S/X:1.0", "w/R/N/D:1.0", "w/R/L:1.0", "w/Z:1.0"],
    );
    // The module around the include has no prefix, one of its own, or is in another.
    check_files(
        &[
            ("m", "module R {\n#include \"p.idl\"\nexception L {};\n};"),
            ("p", PART),
        ],
        &["p/S:1.0", "p/N/D:1.0", "R/L:1.0"],
    );
    check_files(
        &[
            (
                "m",
                "module R {\n#pragma prefix \"r\"\nmodule Q {\n#include \"p.idl\"\nexception L {};\n}; exception K {};\n};",
            ),
            ("p", PART),
        ],
        &["p/S:1.0", "p/N/D:1.0", "r/Q/L:1.0", "r/K:1.0"],
    );
    // Files within files.
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"w\"\nmodule R {\n#include \"p.idl\"\nexception L {};\n};",
            ),
            (
                "p",
                "#pragma prefix \"p\"\n#include \"q.idl\"\nexception S {};\nmodule N {\n#include \"u.idl\"\nexception D {};\n};",
            ),
            ("q", "#pragma prefix \"q\"\nexception Q {};"),
            ("u", "#pragma prefix \"u\"\nexception U {};"),
        ],
        &["q/Q:1.0", "p/S:1.0", "u/U:1.0", "p/N/D:1.0", "w/R/L:1.0"],
    );
    // The module is opened again, in the including file and under another prefix.
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"w\"
module R {
#include \"p.idl\"
};
module R { exception L {}; module N { exception M {}; }; };
#pragma prefix \"v\"
module R { exception O {}; };",
            ),
            ("p", PART),
        ],
        &[
            "p/S:1.0",
            "p/N/D:1.0",
            "w/R/N/M:1.0",
            "w/R/L:1.0",
            "v/R/O:1.0",
        ],
    );
    // `typeprefix` is for all of its scope, whatever files that is in.
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"w\"\nmodule R {\n#include \"p.idl\"\nexception L {};\n};\ntypeprefix R::N \"t\";",
            ),
            ("p", PART),
        ],
        &["p/S:1.0", "t/R/N/D:1.0", "w/R/L:1.0"],
    );
}

#[test]
fn a_scope_that_spans_files_ends_with_the_prefix_of_the_file_that_closes_it() {
    let open = ("open", "#pragma prefix \"o\"\nmodule R {\nexception S {};");
    let close = (
        "close",
        "exception T {};\n};\n#pragma prefix \"c\"\nexception U {};",
    );
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"w\"\n#include \"open.idl\"\nexception L {};\n};\nexception Z {};",
            ),
            open,
        ],
        &["o/R/S:1.0", "w/R/L:1.0", "w/Z:1.0"],
    );
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"w\"\nmodule R {\n#pragma prefix \"r\"\n#include \"close.idl\"\nexception Z {};",
            ),
            close,
        ],
        &["r/T:1.0", "c/U:1.0", "w/Z:1.0"],
    );
    check_files(
        &[
            (
                "m",
                "#pragma prefix \"w\"\n#include \"open.idl\"\n#include \"close.idl\"\nexception Z {};",
            ),
            open,
            close,
        ],
        &["o/R/S:1.0", "w/R/T:1.0", "c/U:1.0", "w/Z:1.0"],
    );
}
