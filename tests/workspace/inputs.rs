//! Inputs of the crates without I/O: neither clock nor randomness, file, environment, socket, thread or task, unless
//! their caller hands it in.

use crate::modules::{asks_for_tests, files, root, shipped};
use crate::words::is_test;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// The crates without I/O.
const PURE: [&str; 3] = ["crates/cdr", "crates/giop", "crates/poa"];

/// The parts of paths that bring such inputs in. A map of the standard library draws keys unless it has a hasher.
const INPUTS: [&str; 21] = [
    "DefaultHasher",
    "HashMap",
    "HashSet",
    "Instant::now",
    "RandomState",
    "SystemTime",
    "UNIX_EPOCH",
    "elapsed",
    "fastrand",
    "getrandom",
    "libc",
    "mio",
    "rustix",
    "socket2",
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "tokio",
];
/// Folders whose files say something about the machine.
const MACHINE: [&str; 4] = ["/dev/", "/etc/", "/proc/", "/sys/"];

/// The exceptions, each with its reason.
const EXCEPTIONS: [(&str, &str, &str); 10] = [
    (
        "crates/giop/src/platform.rs",
        "std::env",
        "constants of the target",
    ),
    ("crates/giop/src/probe.rs", "Instant::now", PROBES),
    ("crates/giop/src/probe.rs", "elapsed", PROBES),
    ("crates/poa/src/incarnation.rs", "HashMap", KEYS),
    ("crates/poa/src/identity.rs", "HashMap", KEYS),
    ("crates/poa/src/deactivation.rs", "HashMap", KEYS),
    ("crates/poa/src/names.rs", "RandomState", KEYS),
    (
        "crates/poa/src/pooled_future.rs",
        "HashMap",
        "has a hasher of its own",
    ),
    ("crates/poa/src/registry.rs", "HashMap", KEYS),
    ("crates/poa/src/table.rs", "HashSet", KEYS),
];
const PROBES: &str = "the feature `probes` measures";
const KEYS: &str =
    "keys of hashes, which peers that choose names must not know; no result depends on them";

/// The paths and strings of shipped code that name an input.
#[derive(Default)]
struct Inputs(BTreeSet<&'static str>);

impl Inputs {
    fn path(&mut self, path: &[String]) {
        for input in INPUTS {
            let parts: Vec<&str> = input.split("::").collect();
            if path.windows(parts.len()).any(|part| part == parts) {
                self.0.insert(input);
            }
        }
    }

    fn literal(&mut self, literal: &str) {
        let text = literal.trim_start_matches(['r', '#', '"']);
        self.0
            .extend(MACHINE.iter().filter(|folder| text.starts_with(**folder)));
    }

    /// Reads tokens, those of a group behind a path as its continuations.
    fn tokens(&mut self, tokens: TokenStream, before: &[String]) {
        let mut path = before.to_vec();
        // Colons since the last word.
        let mut colons = 2;
        let mut tokens = tokens.into_iter().peekable();
        while let Some(tree) = tokens.next() {
            match tree {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.path(&path);
                        path = before.to_vec();
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    tokens.next_if(
                        |next| matches!(next, TokenTree::Punct(punct) if punct.as_char() == '!'),
                    );
                    let Some(TokenTree::Group(attribute)) = tokens.next() else {
                        continue;
                    };
                    if is_of_tests(attribute.stream()) {
                        skip_item(&mut tokens);
                    }
                }
                TokenTree::Group(group) => {
                    let continues = colons == 2 && group.delimiter() == Delimiter::Brace;
                    self.path(&path);
                    self.tokens(group.stream(), if continues { &path } else { &[] });
                    (path, colons) = (before.to_vec(), 2);
                }
                other => {
                    if let TokenTree::Literal(literal) = other {
                        self.literal(&literal.to_string());
                    }
                    self.path(&path);
                    (path, colons) = (before.to_vec(), 2);
                }
            }
        }
        self.path(&path);
    }
}

/// Whether an attribute leaves an item to tests and models.
fn is_of_tests(attribute: TokenStream) -> bool {
    let mut tokens = attribute.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(condition))) => {
            name == "cfg" && asks_for_tests(&condition.stream())
        }
        _ => false,
    }
}

/// Skips an item: up to its semicolon or its braces.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    let is_end = |tree: TokenTree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    let _ = tokens.any(is_end);
}

/// The inputs that a source names.
fn inputs(text: &str) -> BTreeSet<&'static str> {
    let mut inputs = Inputs::default();
    inputs.tokens(text.parse().unwrap(), &[]);
    inputs.0
}

#[test]
fn crates_without_io_read_no_clock_and_draw_nothing_but_keys_of_hashes() {
    let mut left: BTreeSet<(String, &str)> = (EXCEPTIONS.iter())
        .map(|(file, input, _)| ((*file).to_owned(), *input))
        .collect();
    let mut wrong = Vec::new();
    for folder in PURE {
        let all = files(&root().join(folder).join("src"));
        for file in all.iter().filter(|file| !is_test(file)) {
            let name = file.strip_prefix(root()).unwrap().display();
            for input in inputs(&shipped(file)) {
                if !left.remove(&(name.to_string(), input)) {
                    wrong.push(format!("{name}: {input}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "to be handed in:\n{}", wrong.join("\n"));
    assert!(left.is_empty(), "no longer there: {left:?}");
}

#[test]
fn an_input_is_found_however_it_is_named() {
    for (text, input) in [
        ("use std::time::SystemTime;", "SystemTime"),
        ("use std::{fmt, fs::{self, File}};", "std::fs"),
        ("use std::{sync::Arc, env};", "std::env"),
        ("fn f() { let now = Instant::now(); }", "Instant::now"),
        ("fn f(t: Instant) -> Duration { t.elapsed() }", "elapsed"),
        ("fn f() { g(&[::std::thread::spawn(h)]); }", "std::thread"),
        ("fn f() { a!(b, tokio::spawn(c)) }", "tokio"),
        ("#[cfg(not(test))] fn f() -> RandomState {}", "RandomState"),
        (
            "#[cfg(test)] mod tests; static A: &str = \"/proc/stat\";",
            "/proc/",
        ),
        (
            "#[cfg(test)] mod tests { use b; } use std::net::TcpStream;",
            "std::net",
        ),
    ] {
        assert_eq!(inputs(text), BTreeSet::from([input]), "{text}");
    }
    for text in [
        "use std::{sync::{Arc, Mutex}, time::{Duration, Instant}};",
        "//! `Instant::now`\n/// \"/proc/\"\nfn f(now: Instant) {}",
        "#[cfg(test)] mod tests { fn f() { std::thread::yield_now() } }",
        "#[cfg(all(test, not(zorb_model)))] use std::fs;",
        "thread_local! { static A: u8 = 0; }",
        "fn f() { let fs = \"a /proc/ b\"; env(fs) }",
    ] {
        assert_eq!(inputs(text), BTreeSet::new(), "{text}");
    }
}
