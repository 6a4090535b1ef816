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

#[test]
fn a_file_has_a_prefix_of_its_own_and_one_inside_of_a_module_that_of_the_module() {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        (
            "main.idl",
            "#pragma prefix \"p\"
#include \"plain.idl\"
module M {
  #include \"inner.idl\"
  #include \"prefixed.idl\"
  exception E {};
};
exception F {};",
        ),
        ("plain.idl", "exception A {};"),
        ("inner.idl", "exception B {};"),
        (
            "prefixed.idl",
            "#pragma prefix \"q\"\nexception C {}; module N { exception D {}; };",
        ),
    ];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let output = compile_files(&[dir.path().join("main.idl")], &Options::default());
    assert_eq!(
        ids(output),
        [
            "A:1.0",
            "p/M/B:1.0",
            "q/M/C:1.0",
            "q/M/N/D:1.0",
            "p/M/E:1.0",
            "p/F:1.0"
        ]
    );
}
