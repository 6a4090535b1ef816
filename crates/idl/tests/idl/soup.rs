//! Random text: it does not make the compiler panic, hang or exhaust the stack, and the number of errors is bounded.

use proptest::prelude::*;
use zorb_idl::limits::{MAX_DIAGNOSTICS, MAX_FILE_OCTETS, MAX_NESTING};
use zorb_idl::{Options, check_str, compile_str};

/// Compiles `text`, and draws its diagnostics; neither may panic.
fn survives(text: &str) {
    match compile_str("soup.idl", text, &Options::default()) {
        Ok(output) => drop(output.tokens.to_string()),
        Err(diagnostics) => {
            assert!(diagnostics.len() <= MAX_DIAGNOSTICS + 1);
            assert!(diagnostics.to_string().starts_with("error: "));
        }
    }
}

const WORDS: [&str; 94] = [
    "module",
    "interface",
    "struct",
    "union",
    "enum",
    "typedef",
    "const",
    "exception",
    "sequence",
    "string",
    "wstring",
    "long",
    "short",
    "unsigned",
    "double",
    "float",
    "octet",
    "boolean",
    "char",
    "wchar",
    "void",
    "in",
    "out",
    "inout",
    "oneway",
    "raises",
    "attribute",
    "readonly",
    "any",
    "Object",
    "valuetype",
    "native",
    "abstract",
    "local",
    "fixed",
    "switch",
    "case",
    "context",
    "typeid",
    "TRUE",
    "fixed<4, 2>",
    "1.5d",
    "map",
    "public",
    "private",
    "factory",
    "supports",
    "truncatable",
    "custom",
    "default",
    "ValueBase",
    "typeprefix",
    "import",
    "bitset",
    "bitfield",
    "bitmask",
    "@annotation",
    "component",
    "eventtype",
    "A",
    "B",
    "a",
    "_A",
    "x",
    "Long",
    "{",
    "}",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    ";",
    ";",
    ";",
    ",",
    ":",
    "::",
    "=",
    "1",
    "0x7",
    "1.5",
    "'c'",
    "\"s\"",
    "L\"w\"",
    "@",
    "-",
    "<<",
    "\n#define A B\n",
    "\n#ifdef A\n",
    "\n#endif\n",
];

/// Pieces of valid IDL, so that whole modules are valid, and the later stages are reached.
const PIECES: [&str; 42] = [
    "struct S { long s_; };",
    "typedef sequence<S> Ss;",
    "interface I;",
    "interface I { void f(); };",
    "interface J : I { attribute long g; };",
    "interface K : I, J { void h(in S s, out Ss ss) raises (X); };",
    "exception X { string why; };",
    "enum E { a, b };",
    "const long N = 1 + 2;",
    "const E F = a;",
    "module M {",
    "};",
    "typedef N::X Y;",
    "struct R; typedef sequence<R> Rs;",
    "struct R { Rs rs; };",
    "typedef long L[N][2];",
    "\n#pragma prefix \"p\"\n",
    "\n#pragma version S 1.2\n",
    "\n#include <orb.idl>\n",
    "typedef I::S T;",
    "struct Q { M::S m; ::S n; };",
    "typedef sequence<string<N>, N> W;",
    "union U switch (long) { case N: long u_; default: any v_; };",
    "union U;",
    "typedef sequence<U> Us; union U switch (E) { case a: Us us_; };",
    "valuetype V;",
    "abstract valuetype AV { void act(); };",
    "valuetype V : AV supports I { public V v_; factory make(in long n_); };",
    "valuetype D : truncatable V { private sequence<D> d_; };",
    "custom valuetype V : D {};",
    "valuetype Box S;",
    "abstract interface AI {}; local interface LI : AI { LI l(); };",
    "struct T2 : S { long t_; };",
    "bitset B1 { bitfield<3> b_; bitfield<N>; }; bitset B2 : B1 {};",
    "@bit_bound(N) bitmask BM { @position(N) bm_, bn_ };",
    "typedef map<string, map<long, S>, N> Mp;",
    "const fixed Fx = 1.5d; typedef fixed<N, 1> Fy;",
    "component Cp supports I { provides I p_; uses multiple Object u_; };",
    "home Hm manages Cp { factory make(in long n_); finder find(); };",
    "module Tm<typename T> { typedef T Of; }; module Tm<long> Tl;",
    "eventtype Ev : V { public long e_; };",
    "typeid S \"IDL:x:1.0\"; typeprefix M \"y\"; import M;",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_characters_are_survived(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_printable_text_is_survived(text in "[ -~\n]{0,200}") {
        survives(&text);
    }

    #[test]
    fn any_soup_of_tokens_is_survived(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..60)) {
        survives(&words.join(" "));
    }

    #[test]
    fn any_order_of_definitions_is_survived(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16)) {
        survives(&pieces.join("\n"));
    }

    #[test]
    fn what_compiles_is_rust(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..8)) {
        if let Ok(output) = compile_str("soup.idl", &pieces.join("\n"), &Options::default()) {
            prop_assert!(output.tokens.to_string().parse::<proc_macro2::TokenStream>().is_ok());
        }
    }
}

fn first_message(text: &str) -> String {
    let diagnostics = check_str("deep.idl", text, &Options::default()).unwrap_err();
    diagnostics
        .iter()
        .map(|diagnostic| diagnostic.message.clone())
        .next()
        .unwrap_or_default()
}

#[test]
fn nesting_is_bounded_wherever_the_grammar_recurs() {
    // Enough for more than the stack, if each were a call.
    const DEEP: usize = 20_000;
    let deep = |open: &str, close: &str| format!("{}long{}", open.repeat(DEEP), close.repeat(DEEP));
    let limit = format!("nested more than {MAX_NESTING} levels deep");
    assert_eq!(first_message(&"module m {".repeat(DEEP)), limit);
    assert_eq!(first_message(&"struct s {".repeat(DEEP)), limit);
    assert_eq!(
        first_message(&format!("typedef {} x;", deep("sequence<", ">"))),
        limit
    );
    assert_eq!(
        first_message(&format!("const long x = {};", "(".repeat(DEEP))),
        limit
    );
    assert!(
        first_message(&format!("const long x = {}1;", "-".repeat(DEEP)))
            .contains("expected a value")
    );
}

#[test]
fn chains_of_types_constants_and_bases_are_bounded() {
    let mut typedefs = String::from("typedef long T0;");
    let mut constants = String::from("const unsigned long long C0 = 1;");
    let mut bases = String::from("interface I0 {};");
    let mut macros = String::from("#define M0 1\n");
    for n in 1..5_000 {
        let before = n - 1;
        typedefs.push_str(&format!("typedef sequence<T{before}> T{n};"));
        constants.push_str(&format!("const unsigned long long C{n} = C{before} + 1;"));
        bases.push_str(&format!("interface I{n} : I{before} {{}};"));
        macros.push_str(&format!("#define M{n} M{before}\n"));
    }
    assert!(first_message(&typedefs).contains("made of more than"));
    assert!(first_message(&bases).contains("inherits from more than"));
    assert!(first_message(&format!("{macros}const long X = M4999;")).contains("levels deep"));
    survives(&constants);
    survives(&format!(
        "const long SUM = {};",
        vec!["1"; 50_000].join(" + ")
    ));
    survives(&format!("typedef long A{};", "[1]".repeat(10_000)));
}

#[test]
fn macros_that_double_each_other_stop_early() {
    // The second kind makes no tokens, and would take as long.
    for first in ["1 +", ""] {
        let mut text = format!("#define D0 {first}\n");
        for n in 1..40 {
            let before = n - 1;
            text.push_str(&format!("#define D{n} D{before} D{before}\n"));
        }
        text.push_str("const long X = D39 1;");
        assert!(first_message(&text).contains("macros make more than"));
    }
}

#[test]
fn a_text_that_is_too_long_is_refused_before_it_is_read() {
    let text = " ".repeat(usize::try_from(MAX_FILE_OCTETS).unwrap() + 1);
    assert!(first_message(&text).contains("longer than"));
}
