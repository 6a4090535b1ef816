//! Common mistakes, many of them habits of other languages, and their messages.

use super::input::Tokens;
use super::keywords::{begins_type, is_keyword, keyword_meant};
use crate::diagnostic::Report;
use crate::lexer::{Kind, Token};
use crate::similar::nearest;

/// The probable intention where `found` follows two tokens and another token is expected.
pub(super) fn hint(before: [Option<&Token>; 2], found: &Token, expected: &str) -> Option<String> {
    let [introduced, previous] = before;
    if let Some(keyword) = resembled(before, found, expected) {
        return Some(format!("there is a keyword of a similar name: `{keyword}`"));
    }
    let behind = |mark| {
        previous.is_some_and(|token| matches!(token.kind, Kind::Punct(found) if found == mark))
    };
    let hint = match (expected, &found.kind) {
        (_, Kind::Punct("}" | ")" | ";")) if behind(",") => "leave out the `,` before this",
        ("`(`", Kind::Punct(";" | "," | "["))
            if !introduced.is_some_and(|token| {
                matches!(&token.kind, Kind::Word(word) if ["factory", "finder"].contains(&&**word))
            }) =>
        {
            "an attribute begins with `attribute`, the state of a value type with `public` or `private`"
        }
        ("a type" | "a value" | "a definition", Kind::Word(word))
            if keyword_meant(word).is_some_and(|keyword| *keyword != **word) =>
        {
            return keyword_meant(word).map(|keyword| format!("the keyword is `{keyword}`"));
        }
        ("`{`", Kind::Punct(":")) => "only interfaces, value types, structs and bitsets have bases",
        ("`{`", Kind::Punct(",")) => "a struct or bitset has one base",
        ("a value", Kind::Punct("]")) => "an array has a size; without one it is a `sequence`",
        ("a name", Kind::Punct("(")) => "an operation without a result begins with `void`",
        ("a name", Kind::Punct("[")) => "the size of an array stands behind its name, as in `long x[10]`",
        ("a name", Kind::Punct("*" | "&")) => {
            "there are no pointers; text is a `string`"
        }
        ("a name", Kind::Punct("<")) => "a list of any length is a `sequence<…>`",
        ("a name", Kind::Punct("{")) => {
            let word = word_of(previous).filter(|word| NAMED.contains(word))?;
            return Some(format!("it has a name, as in `{word} Name {{ … }}`"));
        }
        ("a name", Kind::Punct(";" | "," | ")" | "=")) => {
            let word = word_of(previous).filter(|word| !is_keyword(word))?;
            return Some(format!("`{word}` is read as the type, and a name comes behind it"));
        }
        ("`;`", Kind::Punct("=")) if behind(")") => "there are no bodies and no `= 0` in IDL",
        ("`;`", Kind::Punct("=")) => "only a constant has a value, as in `const long x = 1;`",
        ("`,` or `)`", Kind::Punct("=")) => "parameters have no default values",
        ("`,` or `}`", Kind::Punct("=")) => {
            "enumerators have no numbers of their own: they count from 0"
        }
        ("`;`", Kind::Word(word)) if ["throws", "throw"].contains(&&**word) => {
            "what it raises is written `raises (…)`"
        }
        ("`;`", Kind::Word(word)) if &**word == "const" => "operations are not `const`: leave it out",
        ("`:`, `{` or `;`", Kind::Word(word)) if ["extends", "implements"].contains(&&**word) => {
            "what it derives from stands behind `:`"
        }
        ("`switch` or `;`", Kind::Punct("{")) => {
            "the discriminator is missing: `union Name switch (long) { case 1: … }`"
        }
        ("a type", Kind::Word(word)) if &**word == "void" => {
            "only an operation is `void`, if it has no result"
        }
        ("a type", Kind::Word(word)) if &**word == "const" => {
            "a constant has a declaration of its own, as in `const long x = 1;`"
        }
        ("a type", Kind::Word(word))
            if ["exception", "interface", "module", "typedef", "valuetype"].contains(&&**word) =>
        {
            "this cannot stand here: is there a `}` missing before it?"
        }
        ("a type", Kind::Punct(">")) => "say what it holds, as in `sequence<long>`",
        ("`in`, `out` or `inout`", Kind::Word(word)) if &**word == "void" => {
            "an empty list is written `()`"
        }
        ("`in`, `out` or `inout`", Kind::Word(_) | Kind::Escaped(_) | Kind::Punct("::")) => {
            "state the direction of the parameter, as in `in long x`"
        }
        ("`,` or `)`", Kind::Punct("[")) => {
            "give the array a name with `typedef`, and use that as the type"
        }
        ("a definition", Kind::Word(word))
            if ["void", "attribute", "readonly", "oneway"].contains(&&**word) =>
        {
            "operations and attributes stand inside an interface or a value type"
        }
        ("a definition", Kind::Word(word)) if &**word == "class" => {
            "IDL has `interface` for what is called, `struct` and `valuetype` for data"
        }
        ("a definition", Kind::Word(word)) if ["namespace", "package"].contains(&&**word) => {
            "IDL has `module`"
        }
        ("a definition", Kind::Word(word)) if begins_type(word) => {
            "a type gets a name by `typedef`, a value by `const`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Words that begin a definition.
const DEFINITIONS: [&str; 16] = [
    "abstract",
    "bitmask",
    "bitset",
    "const",
    "custom",
    "enum",
    "exception",
    "import",
    "interface",
    "local",
    "module",
    "native",
    "struct",
    "typedef",
    "union",
    "valuetype",
];

/// Whether `word` begins a definition, and cannot begin a member of one.
pub(super) fn begins_definition(word: &str) -> bool {
    DEFINITIONS.contains(&word)
}

/// Words that may precede a keyword at the beginning of a definition, an operation or an attribute.
const LEADING: [&str; 7] = [
    "attribute",
    "const",
    "oneway",
    "readonly",
    "typedef",
    "unsigned",
    "void",
];

/// The keyword that was probably meant by `found`, or by an earlier word that makes `found` an error.
fn resembled(before: [Option<&Token>; 2], found: &Token, expected: &str) -> Option<&'static str> {
    let keywords: &[&str] = match (expected, &found.kind) {
        // `excepton E {`
        ("`(`", Kind::Punct("{")) => {
            let introduced = word_of(before[0]).filter(|word| !is_keyword(word));
            return nearest(introduced?, &NAMED);
        }
        ("a definition", _) => &DEFINITIONS,
        // `int` is more likely a type without its direction.
        ("`in`, `out` or `inout`", Kind::Word(word)) if &**word != "int" => &["in", "out", "inout"],
        ("`;`", _) => &["raises", "getraises", "setraises", "context"],
        ("`switch` or `;`", _) => &["switch"],
        ("`case` or `default`", _) => &["case", "default"],
        _ => return None,
    };
    let Kind::Word(found) = &found.kind else {
        return None;
    };
    nearest(found, keywords).filter(|keyword| *keyword != &**found)
}

/// Keywords that are followed by a name and a body.
const NAMED: [&str; 7] = [
    "enum",
    "exception",
    "interface",
    "module",
    "struct",
    "union",
    "valuetype",
];

fn word_of(token: Option<&Token>) -> Option<&str> {
    match &token?.kind {
        Kind::Word(word) => Some(word),
        _ => None,
    }
}

/// Modifiers of other languages that precede a declaration.
static MODIFIERS: phf::Set<&'static str> = phf::phf_set! {
    "constexpr",
    "explicit",
    "extern",
    "final",
    "friend",
    "inline",
    "mutable",
    "protected",
    "register",
    "static",
    "virtual",
    "volatile",
};

/// The message for a keyword in place of a name, if the word before it is one that IDL does not know.
pub(super) fn modifier(i: Tokens<'_>) -> Option<Report> {
    let token = i.previous()?;
    let Kind::Word(word) = &token.kind else {
        return None;
    };
    let report = || Report::new(token.span, format!("there is no `{word}` in IDL"));
    if MODIFIERS.contains(&**word) {
        return Some(report().hint("leave it out"));
    }
    if is_keyword(word) {
        return None;
    }
    let keyword = nearest(word, &LEADING)?;
    Some(report().hint(format!("there is a keyword of a similar name: `{keyword}`")))
}

/// Whether C combines `word` with others to the name of a type.
fn makes_types(word: &str) -> bool {
    [
        "unsigned", "signed", "long", "short", "int", "char", "double", "float",
    ]
    .contains(&word)
}

/// The message for several words of C types, from `i` on, that are not an IDL type, though the first `taken` of them are.
pub(super) fn no_type(i: Tokens<'_>, taken: usize) -> Option<Report> {
    let word = |at: usize| match &i.nth(at).kind {
        Kind::Word(word) => Some(&**word),
        _ => None,
    };
    // `int` and `signed` may be names.
    let goes_on = |at: usize| {
        word(at)
            .is_some_and(|next| makes_types(next) && (is_keyword(next) || word(at + 1).is_some()))
    };
    if !goes_on(taken) {
        return None;
    }
    let mut count = taken;
    while goes_on(count) {
        count += 1;
    }
    Some(no_such_type(i, count))
}

/// The message that the `count` words from `i` on are not a type.
pub(super) fn no_such_type(i: Tokens<'_>, count: usize) -> Report {
    let words: Vec<&str> = (0..count)
        .filter_map(|at| match &i.nth(at).kind {
            Kind::Word(word) => Some(&**word),
            _ => None,
        })
        .collect();
    let last = i.nth(count.saturating_sub(1)).span;
    let message = format!("`{}` is no type", words.join(" "));
    Report::new(i.first().span.to(last), message).hint(meant(&words))
}

/// The IDL type that was probably meant by `words`.
fn meant(words: &[&str]) -> &'static str {
    let count = |word: &str| words.iter().filter(|found| **found == word).count();
    let has = |word: &str| count(word) > 0;
    let unsigned = has("unsigned");
    match (has("char"), has("double"), has("float"), count("long")) {
        (true, false, false, 0) if unsigned => {
            "an octet is an `octet`, a character a `char`: neither has a sign"
        }
        (true, false, false, 0) => "a small number is an `int8`, a character a `char`",
        (true, false, false, _) => "a wide character is a `wchar`",
        (false, true, false, 0) => "the type is `double`",
        (false, true, false, _) => "the type is `long double`, or `double`",
        (false, false, true, _) => "the type is `float`, or `double`",
        (true, ..) | (_, true, true, _) => "one type stands here",
        _ if has("short") && unsigned => "the type is `unsigned short`",
        _ if has("short") => "the type is `short`",
        (.., 0) if unsigned => "the type is `unsigned long`, or `unsigned short`",
        (.., 0 | 1) if unsigned => "the type is `unsigned long`",
        (.., 0 | 1) => "the type is `long`",
        _ if unsigned => "the type is `unsigned long long`",
        _ => "the type is `long long`",
    }
}
