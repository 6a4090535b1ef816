//! Layout of generated items as the text of a file, without a parser of Rust.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The longest line, in columns, that is not broken.
const WIDTH: usize = 100;

/// `tokens` as text with one statement a line, indented by nesting. The layout is not that of rustfmt.
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
    /// The end of the line that is being written, as tokens.
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
