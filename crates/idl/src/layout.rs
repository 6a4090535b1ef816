//! Generated items as the text of a file.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// Columns of a line that is still written in one piece.
const WIDTH: usize = 100;

/// `tokens`, with every item at the top allowed what lints say of code that its users did not write: it is in a file of
/// theirs, where rustc does not know that it was generated.
pub(crate) fn allowed(tokens: TokenStream) -> TokenStream {
    let mut rest = tokens.into_iter().peekable();
    let mut all = TokenStream::new();
    while rest.peek().is_some() {
        let item: Vec<TokenTree> = item(&mut rest);
        let attributes = item.iter().enumerate().take_while(|(index, token)| {
            matches!((index % 2, token), (0, TokenTree::Punct(mark)) if mark.as_char() == '#')
                || index % 2 == 1
        });
        let first = item.get(attributes.count());
        // An attribute on the call of a macro is not used.
        if matches!(first, Some(TokenTree::Ident(word)) if ITEMS.iter().any(|item| word == item)) {
            all.extend(quote!(#[allow(
                dead_code,
                unreachable_pub,
                clippy::all,
                clippy::pedantic,
                reason = "generated from IDL"
            )]));
        }
        all.extend(item);
    }
    all
}

/// Words that an item begins with.
const ITEMS: [&str; 9] = [
    "const", "enum", "impl", "mod", "pub", "static", "struct", "trait", "type",
];

/// The next item: up to its braces, or to its `;` if it is one that ends so.
fn item(rest: &mut impl Iterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut item = Vec::new();
    let mut has_value = false;
    for token in rest {
        let ends = match &token {
            TokenTree::Ident(word) => {
                has_value |= ["const", "static", "type"].iter().any(|it| word == it);
                false
            }
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !has_value,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Literal(_) => false,
        };
        item.push(token);
        if ends {
            break;
        }
    }
    item
}

/// `tokens` on lines of their own, indented as they are nested: not as rustfmt has it, and without a parser of Rust.
pub(crate) fn lines(tokens: TokenStream) -> String {
    let mut layout = Layout::default();
    layout.block(tokens);
    layout.text
}

#[derive(Default)]
struct Layout {
    text: String,
    depth: usize,
    /// The line that is being written, without its indentation.
    line: String,
    /// The end of that line, as tokens.
    run: Vec<TokenTree>,
}

impl Layout {
    fn block(&mut self, tokens: TokenStream) {
        let mut angles = 0_usize;
        let mut before = ' ';
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let mut ends = false;
            let mut mark = ' ';
            match token {
                TokenTree::Group(group) => {
                    let brace = group.delimiter() == Delimiter::Brace;
                    let attribute = self.line.is_empty() && before == '#' && self.run.len() == 1;
                    self.group(group);
                    let goes_on = matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if ",;.?".contains(mark.as_char()));
                    ends = (brace && !goes_on) || attribute;
                }
                TokenTree::Punct(punct) => {
                    mark = punct.as_char();
                    match mark {
                        '<' => angles += 1,
                        '>' if !['-', '='].contains(&before) => angles = angles.saturating_sub(1),
                        ',' if angles == 0 => ends = true,
                        ';' => (ends, angles) = (true, 0),
                        _ => {}
                    }
                    self.run.push(TokenTree::Punct(punct));
                }
                token => self.run.push(token),
            }
            before = mark;
            if ends {
                self.end_line();
            }
        }
        self.end_line();
    }

    fn group(&mut self, group: Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::None => ("", ""),
        };
        let brace = group.delimiter() == Delimiter::Brace;
        let long = |group: &Group| group.to_string().len() > WIDTH;
        if group.stream().is_empty() || !(brace || long(&group)) {
            self.run.push(TokenTree::Group(group));
            return;
        }
        self.end_run();
        if !self.line.is_empty() && brace {
            self.line.push(' ');
        }
        self.line.push_str(open);
        self.end_line();
        self.depth += 1;
        self.block(group.stream());
        self.depth -= 1;
        self.line.push_str(close);
    }

    fn end_run(&mut self) {
        let run: TokenStream = self.run.drain(..).collect();
        let run = run.to_string();
        let attached = run.starts_with([',', ';', '.', '?']);
        if !self.line.is_empty() && !run.is_empty() && !attached {
            self.line.push(' ');
        }
        self.line.push_str(&run);
    }

    fn end_line(&mut self) {
        self.end_run();
        if self.line.is_empty() {
            return;
        }
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(&self.line);
        self.text.push('\n');
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    #[test]
    fn every_item_but_a_macro_is_allowed_what_lints_say() {
        let text = "#[doc = \" A.\"] pub struct A; const B: [u8; 1] = { [0] }; ::zorb::m!(A {}); \
                    impl A {} crate::m! {} pub mod b { pub struct C { x: u8 } }";
        let allowed = allowed(tokens(text)).to_string();
        let counted = allowed.matches("dead_code").count();
        assert_eq!(counted, 4, "{allowed}");
        let before_macros = allowed.contains("\")] :: zorb") || allowed.contains("\")] crate");
        assert!(!before_macros, "{allowed}");
    }

    #[test]
    fn lines_follow_braces_and_change_nothing() {
        let text = "#[doc = \" A {.\"] pub fn f<A, B>(a: A, b: B) -> u8 { match a { 1 => { g() } _ => h(1, 2), } \
                    let s = S { a, b }; s.x }";
        let expected = "# [doc = \" A {.\"]\npub fn f < A , B > (a : A , b : B) -> u8 {\n    match a {\n        \
                        1 => {\n            g ()\n        }\n        _ => h (1 , 2) ,\n    }\n    let s = S {\n        \
                        a ,\n        b\n    } ;\n    s . x\n}\n";
        let written = lines(tokens(text));
        assert_eq!(written.replace("};", "} ;"), expected);
        assert_eq!(tokens(&written).to_string(), tokens(text).to_string());
    }

    #[test]
    fn no_line_of_generated_code_is_as_long_as_the_file() {
        let idl = "module M { interface I { attribute long x; void f(in string a, out long b, inout any c); }; \
                   struct S { long y; sequence<S> z; }; union U switch (long) { case 1: S one; default: long l; }; };";
        let output = crate::compile_str("a.idl", idl, &crate::Options::default()).unwrap();
        let written = lines(output.tokens.clone());
        let longest = written.lines().map(str::len).max();
        assert!(longest.is_some_and(|longest| longest < 300), "{written}");
        assert_eq!(
            tokens(&written).to_string(),
            tokens(&output.tokens.to_string()).to_string()
        );
    }
}
