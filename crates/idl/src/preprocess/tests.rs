//! The output of the preprocessor, as words.

use super::*;

/// The tokens of `text`, one blank between them; or the first message.
fn with(options: &Options, text: &str) -> Result<String, String> {
    let mut sources = SourceMap::default();
    let sink = Sink::default();
    let input = Input::Text {
        name: "test.idl",
        text,
    };
    let stream = preprocess(&[input], options, &mut sources, &sink);
    let words: Vec<String> = stream.tokens.iter().map(written).collect();
    match sink.finish(&sources) {
        None => {
            assert!(stream.whole);
            Ok(words.join(" ").trim_end().to_owned())
        }
        Some(errors) => Err(errors
            .iter()
            .next()
            .map(|first| first.message.clone())
            .unwrap_or_default()),
    }
}

fn written(token: &Token) -> String {
    match &token.kind {
        Kind::Word(word) => word.to_string(),
        Kind::Escaped(word) => format!("_{word}"),
        Kind::Integer(number) => number.to_string(),
        Kind::Float(text) => text.to_string(),
        Kind::Str(text) => format!("{text:?}"),
        Kind::Char(c) => format!("{c:?}"),
        Kind::Punct(mark) => (*mark).to_owned(),
        Kind::End => String::new(),
        other => format!("{other:?}"),
    }
}

fn pre(text: &str) -> Result<String, String> {
    with(&Options::default(), text)
}

fn check(text: &str, expected: &str) {
    assert_eq!(pre(text).as_deref(), Ok(expected), "{text}");
}

fn refused(text: &str, message: &str) {
    let said = pre(text).expect_err(text);
    assert!(said.contains(message), "{text}: {said}");
}

/// Whether `#if condition` selects its first group.
fn holds(condition: &str) -> bool {
    match pre(&format!("#if {condition}\nyes\n#else\nno\n#endif\n")).as_deref() {
        Ok("yes") => true,
        Ok("no") => false,
        other => panic!("{condition}: {other:?}"),
    }
}

#[test]
fn names_stand_for_what_they_are_defined_as() {
    check("#define N 3 + M\n#define M 4\nN;", "3 + 4 ;");
    check("#define EMPTY\na EMPTY b", "a b");
    check("#define _A 1\n#define __B 2\n_A __B", "1 2");
    check("#define A 1\n#undef A\nA", "A");
    check("#define A x\nAA A_ A", "AA A_ x");
}

#[test]
fn a_macro_takes_arguments() {
    check("#define F(x) [x]\nF(1) F ( 2 )", "[ 1 ] [ 2 ]");
    check(
        "#define F(x, y) y x\nF(a, b) F((a, b), c)",
        "b a c ( a , b )",
    );
    check("#define F() x\nF() F( )", "x x");
    check("#define F(x) <x>\nF()", "< >");
}

#[test]
fn a_parenthesis_that_does_not_touch_is_no_parameter_list() {
    check("#define F (x) x\nF", "( x ) x");
}

#[test]
fn a_macro_with_parameters_is_a_plain_name_without_arguments() {
    check("#define F(x) [x]\nF; F F(1)", "F ; F [ 1 ]");
    check("#define F(x) [x]\nF", "F");
    check("#define F(x) [x]\nF\n#define Y 1\n(2)", "F ( 2 )");
}

#[test]
fn arguments_go_on_behind_the_end_of_a_line_and_of_a_macro() {
    check("#define F(x) [x]\nF(\n1\n)", "[ 1 ]");
    check("#define F(x) [x]\n#define G F\nG(1)", "[ 1 ]");
    check("#define F(x) [x]\n#define G F(\nG 1)", "[ 1 ]");
    check(
        "#define F(x) x\nF(1 \n#ifdef X\n2\n#else\n3\n#endif\n)",
        "1 3",
    );
}

#[test]
fn the_example_of_the_standard_comes_out_as_it_says() {
    let definitions = "\
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
";
    check(
        &format!("{definitions}f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);"),
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;",
    );
    check(
        &format!("{definitions}g(x+(3,4)-w) | h 5) & m\n(f)^m(m);"),
        "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;",
    );
}

#[test]
fn a_sharp_makes_a_string_of_an_argument() {
    let define = "#define S(x) #x\n";
    check(&format!("{define}S( a  +  b )"), "\"a + b\"");
    check(
        &format!("{define}S(\"q\\n\" 'c')"),
        "\"\\\"q\\\\n\\\" 'c'\"",
    );
    check(&format!("{define}S()"), "\"\"");
    check(&format!("{define}S(a/* c */b)"), "\"a b\"");
    check(
        "#define S(x) #x\n#define T(x) S(x)\n#define V 12\nS(V) T(V)",
        "\"V\" \"12\"",
    );
}

#[test]
fn two_sharps_make_one_token() {
    check(
        "#define J(a, b) a ## b\nJ(x, 1) J(1, 2) J(_, x) J(L, 'c')",
        "x1 12 _x WideChar(99)",
    );
    check("#define J(a, b) a##b\nJ(, x) J(x, ) J(,)", "x x");
    check(
        "#define SEQ(T) typedef sequence<T> T##Seq;\nSEQ(Point)",
        "typedef sequence < Point > PointSeq ;",
    );
    // An operand of `##` is not expanded; the result is.
    check(
        "#define J(a, b) a##b\n#define A z\n#define AB 7\nJ(A, B) J(A, A)",
        "7 AA",
    );
    check("#define J(a) x a##1 y\nJ(b c)", "x b c1 y");
    check(
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n#define join(c, d) in_between(c hash_hash d)\nx",
        "x",
    );
}

#[test]
fn a_macro_is_not_used_in_what_it_makes() {
    check("#define A A\nA", "A");
    check("#define A B\n#define B A\nA B", "A B");
    check("#define f(x) x f(x)\nf(1)", "1 f ( 1 )");
}

#[test]
fn the_last_parameter_may_be_any_number_of_arguments() {
    check(
        "#define F(...) [__VA_ARGS__]\nF() F(1) F(1, (2, 3))",
        "[ ] [ 1 ] [ 1 , ( 2 , 3 ) ]",
    );
    check(
        "#define F(x, ...) x: __VA_ARGS__;\nF(1) F(1,) F(1, 2, 3)",
        "1 : ; 1 : ; 1 : 2 , 3 ;",
    );
    check(
        "#define ENUM(name, ...) enum name { __VA_ARGS__ };\n#define RED r\nENUM(Colour, RED, green)",
        "enum Colour { r , green } ;",
    );
    check("#define S(...) #__VA_ARGS__\nS(a,  b) S()", "\"a, b\" \"\"");
    check(
        "#define J(...) x ## __VA_ARGS__ ## z\nJ(a, b) J()",
        "xa , bz xz",
    );
    check(
        "#define F(...) G(__VA_ARGS__)\n#define G(a, b) b a\nF(1, 2)",
        "2 1",
    );
    check("#define F(x, ...) x\n#define F(x, ...) x\nF(1)", "1");
    // The preprocessor accepts names that IDL does not permit.
    refused("__VA_ARGS__", "behind one `_` comes a letter");
}

#[test]
fn a_comma_goes_with_the_arguments_that_it_is_put_before() {
    // Common in practice, though not in the standard.
    check(
        "#define F(x, ...) f(x, ## __VA_ARGS__)\n#define A z\nF(1) F(1, A) F(1, 2, 3)",
        "f ( 1 ) f ( 1 , z ) f ( 1 , 2 , 3 )",
    );
    // A feature of the standard since 2020.
    check(
        "#define F(x, ...) f(x __VA_OPT__(,) __VA_ARGS__)\nF(1) F(1, ) F(1, 2, 3)",
        "f ( 1 ) f ( 1 ) f ( 1 , 2 , 3 )",
    );
    check(
        "#define F(x, ...) x ## __VA_OPT__(x y) ## 7 __VA_OPT__((x) #x)\nF(a) F(b, 1)",
        "a7 bb y7 ( b ) \"b\"",
    );
    check(
        "#define NONE\n#define F(...) f __VA_OPT__(more)\nF(NONE) F(1)",
        "f f more",
    );
}

#[test]
fn text_that_doubles_is_stopped() {
    let calls = |name: &str| name.repeat(40);
    refused(
        &format!(
            "#define C(a, b) a##b\n#define D(x) C(x, x)\n#define E(x) D(x)\n{}a{}",
            calls("E("),
            calls(")")
        ),
        "octets of text",
    );
    refused(
        &format!(
            "#define S(x) #x\n#define D(x) S(x x)\n{}'\\\\'{}",
            calls("D("),
            calls(")")
        ),
        "octets of text",
    );
}

#[test]
fn faulty_macros_are_reported() {
    refused("#define\n", "expected a name behind `#define`");
    refused("#define 1\n", "expected a name behind `#define`");
    refused("#define defined\n", "cannot be the name of a macro");
    refused("#define F(\n", "never closed");
    refused("#define F(x\n", "never closed");
    refused("#define F(x y)\n", "expected `,` or `)`");
    refused("#define F(x,)\n", "expected the name of a parameter");
    refused("#define F(x, x)\n", "two parameters are called `x`");
    refused("#define F(x, ...\n", "never closed");
    refused("#define F(..., x)\n", "expected `)`");
    refused("#define F(..) x\n", "expected the name of a parameter");
    refused("#define F(x...) x\n", "has no name of its own");
    refused("#define F(__VA_ARGS__) x\n", "only in a macro with `...`");
    refused("#define F(x) __VA_ARGS__\n", "only in a macro with `...`");
    refused("#define __VA_ARGS__ x\n", "only in a macro with `...`");
    refused("#define F(x) __VA_OPT__(x)\n", "only in a macro with `...`");
    refused("#define F(...) __VA_OPT__ x\n", "expected `(`");
    refused("#define F(...) __VA_OPT__(x\n", "never closed");
    refused(
        "#define F(...) __VA_OPT__(__VA_OPT__(x))\n",
        "within itself",
    );
    refused("#define F(...) __VA_OPT__(## x)\n", "on both of its sides");
    refused("#define F(...) #__VA_OPT__(x)\n", "wants a parameter");
    refused(
        "#define F(x, y, ...) x\nF(1)",
        "takes at least 2 arguments, and is given 1",
    );
    refused("#define F(...) x\n#define F() x\n", "a second time");
    refused("#define F(x) #y\n", "wants a parameter");
    refused("#define F ## x\n", "on both of its sides");
    refused("#define F(x) x ##\n", "on both of its sides");
    refused(
        "#define F(x) x\nF(1, 2)",
        "takes 1 argument, and is given 2",
    );
    refused(
        "#define F(x, y) x\nF()",
        "takes 2 arguments, and is given 1",
    );
    refused("#define F() x\nF(1)", "takes 0 arguments, and is given 1");
    refused("#define F(x) x\nF(1", "never closed");
    refused(
        "#define F(x) x\nF(\n#include <x.idl>\n)",
        "among the arguments of a macro",
    );
    refused(
        "#define J(a, b) a##b\nJ(+, +)",
        "cannot make one token of `+` and `+`",
    );
    refused("#define A 1\n#define A 2\n", "a second time");
    refused("#define F(x) x\n#define F(y) y\n", "a second time");
    refused("#define __LINE__ 1\n", "a second time");
}

#[test]
fn a_definition_may_be_repeated() {
    check(
        "#define F(x) x  +\t1\n#define F(x) x + /**/ 1\nF(2)",
        "2 + 1",
    );
}

#[test]
fn what_no_token_is_may_stand_in_a_macro_that_is_not_used() {
    check(
        "#define WHY isn't IDL $ 12UL\n#define S(x) #x\nx S($)",
        "x \"$\"",
    );
    refused("#define BAD $\nBAD", "unexpected character `$`");
}

#[test]
fn conditions_know_every_operator() {
    for yes in [
        "1",
        "1 + 1 == 2",
        "2 - 1",
        "3 * 2 == 6",
        "7 / 2 == 3",
        "-7 / 2 == -3",
        "7 % 4 == 3",
        "1 << 4 == 16",
        "-8 >> 1 == -4",
        "6 & 2",
        "6 | 1",
        "6 ^ 4",
        "~0 == -1",
        "!0",
        "1 && 2",
        "0 || 3",
        "1 < 2",
        "2 <= 2",
        "3 > 2",
        "3 >= 3",
        "1 != 2",
        "1 ? 2 : 0",
        "0 ? 0 : 1",
        "(1)",
        "- -1",
        "!!1",
        "'a' == 97",
        "0x10 == 16",
        "010 == 8",
        "100L == 100",
        "0xFFUL == 255u",
        "-1 > 0u",
        "-1 / 2u > 1",
        "true",
        "!false",
        "!UNKNOWN",
        "!__x && !_X",
        "1 || 1 / 0",
        "!(0 && 1 / 0)",
        "1 ? 1 : 1 / 0",
        "1 << 64 == 0",
        "-1 >> 70 == -1",
        "1 << -1 == 0",
        "2 + 3 * 4 == 14",
        "1 ? 0 ? 3 : 4 : 5",
        "10 - 2 - 3 == 5",
        "0xFFFFFFFFFFFFFFFF == -1",
        "-9223372036854775807 - 1 < 0",
        "(-9223372036854775807 - 1) / -1 < 0",
    ] {
        assert!(holds(yes), "{yes}");
        assert!(!holds(&format!("!({yes})")), "{yes}");
    }
}

#[test]
fn conditions_know_what_is_defined_and_use_macros() {
    check(
        "#define A\n#if defined A && defined(A) && !defined B\nx\n#endif",
        "x",
    );
    check(
        "#define V(a, b) ((a) * 100 + (b))\n#if V(3, 1) >= 301\nx\n#endif",
        "x",
    );
    check("#define HAS defined(A)\n#define A\n#if HAS\nx\n#endif", "x");
    check("#define __V 201103L\n#if __V >= 199711L\nx\n#endif", "x");
    check("#define defined_ 1\n#if defined_\nx\n#endif", "x");
}

#[test]
fn faulty_conditions_are_reported() {
    refused("#if\n#endif", "expected a value");
    refused("#if 1 +\n#endif", "expected a value");
    refused("#if (1\n#endif", "expected `)`");
    refused("#if 1 ? 2\n#endif", "expected `:`");
    refused("#if 1 2\n#endif", "expected an operator");
    refused("#if 1 / 0\n#endif", "division by zero");
    refused("#if \"x\"\n#endif", "expected a value");
    refused("#if 1 = 1\n#endif", "expected an operator");
    refused("#if defined\n#endif", "expected a name behind `defined`");
    refused("#if defined(X\n#endif", "expected a name behind `defined`");
    refused("#if defined 1\n#endif", "expected a name behind `defined`");
    refused("#if 1 & & 1\n#endif", "expected a value");
    refused("#ifdef\n#endif", "expected a name");
    refused(
        &format!("#if {}\n#endif", "(".repeat(10_000)),
        "levels deep",
    );
    refused(
        &format!("#if {}\n#endif", "1 ? ".repeat(10_000)),
        "levels deep",
    );
    assert!(holds(&format!("{}1", "!".repeat(10_000))));
}

#[test]
fn one_group_of_a_conditional_counts() {
    let text = |a: &str, b: &str| format!("#if {a}\n1\n#elif {b}\n2\n#else\n3\n#endif\n4");
    check(&text("1", "1"), "1 4");
    check(&text("0", "1"), "2 4");
    check(&text("0", "0"), "3 4");
    // Skipped text need not be valid.
    check(&text("1", "1 / 0"), "1 4");
    check(
        "#if 0\n#if 1\na\n#else\nb\n#endif\n#nonsense\ndon't /*\n#else\n*/\n#else\nc\n#endif",
        "c",
    );
}

#[test]
fn conditionals_that_do_not_match_are_reported() {
    refused("#else\n", "`#else` without an open `#if`");
    refused("#elif 1\n", "`#elif` without an open `#if`");
    refused("#endif\n", "`#endif` without an open `#if`");
    refused("#if 1\n#else\n#else\n#endif", "a second `#else`");
    refused("#if 1\n#else\n#elif 1\n#endif", "`#elif` without");
    refused("#if 1\n", "never closed");
}

#[test]
fn lines_that_a_backslash_ends_go_on() {
    check("#define A 1 \\\n + \\\r\n 2\nA", "1 + 2");
    check(
        "inter\\\nface \"a\\\nb\" // c\\\nd\nx",
        "interface \"ab\" x",
    );
}

#[test]
fn what_the_compiler_defines_is_there() {
    check("__LINE__\n\n__LINE__ __FILE__", "1 3 \"test.idl\"");
    check("#define L __LINE__\n\nL", "3");
    check("__DATE__ __TIME__", "\"??? ?? ????\" \"??:??:??\"");
    check("#ifdef __ZORB_IDL__\nx\n#endif", "x");
    check(
        "#line 70 \"other.idl\"\n__LINE__ __FILE__\n#line 9\n__LINE__ __FILE__",
        "70 \"other.idl\" 9 \"other.idl\"",
    );
    check("# 12 \"cpp.idl\" 2 3\n__LINE__ __FILE__", "12 \"cpp.idl\"");
    refused("#line x\n", "malformed `#line`");
}

#[test]
fn what_the_caller_defines_is_there() {
    let defines = [("A", "1"), ("F(x)", "[x]"), ("EMPTY", "")];
    let mut options = Options {
        defines: defines
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        ..Options::default()
    };
    assert_eq!(with(&options, "A F(2) EMPTY").as_deref(), Ok("1 [ 2 ]"));
    options.defines = vec![("1x".to_owned(), String::new())];
    assert!(with(&options, "").unwrap_err().contains("expected a name"));
}

#[test]
fn directives_are_obeyed_wherever_they_stand() {
    check("  #  define A 1\nA", "1");
    check("#\n# // nothing\n#/* nothing */\nx", "x");
    check("/* a */ #define A 1\nA # define A 2", "1 # define 1 2");
    check("#ident \"x\"\n#warning x\n#pragma anything $ 'odd\nx", "x");
    check("#define P \"p.org\"\n#pragma prefix P\nx", "x");
    refused(
        "#error isn't /* here */ \"there\"\n",
        "#error isn't /* here */ \"there\"",
    );
    refused("#nonsense\n", "no directive is called `#nonsense`");
    refused("#1x\n", "expected the name of a directive");
    refused("##\n", "expected the name of a directive");
}

#[test]
fn a_macro_that_makes_too_much_is_stopped() {
    let mut text = String::from("#define F(x) x x\n");
    text.push_str(&"F(".repeat(60));
    text.push('a');
    text.push_str(&")".repeat(60));
    refused(&text, "macros make more than");
    let deep = format!(
        "#define F(x) x\n{}a{}",
        "F(".repeat(10_000),
        ")".repeat(10_000)
    );
    refused(&deep, "levels deep");
}

#[test]
fn what_few_macros_make_out_of_few_octets_is_bounded() {
    // Each macro makes eight times as many tokens as the one before it.
    let eight = |name: &str, of: &str| format!("#define {name} {}\n", [of; 8].join(" "));
    let chain = ["x", "a", "b", "c", "d", "e", "f"];
    let text: String = chain.windows(2).map(|two| eight(two[1], two[0])).collect();
    assert!(text.len() < 170);
    refused(&(text + "f\n"), "macros make more than 250000 tokens");
    // Each call quotes the result of the inner one twice.
    let calls = 12;
    let quoted = "T(".repeat(calls) + "\"a\"" + &")".repeat(calls);
    let text = "#define S(x) #x\n#define T(x) S(x x)\n".to_owned() + &quoted;
    assert!(text.len() < 140);
    refused(&text, "macros make more than 1048576 octets of text");
}
