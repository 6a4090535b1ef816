//! Documentation of generated items.

use proc_macro2::TokenStream;
use quote::quote;

use super::Generator;
use crate::model::DefId;

impl Generator<'_> {
    /// The IDL comment of `id`, and a line of `noun` and repository id.
    pub(super) fn doc(&self, id: DefId, noun: &str) -> TokenStream {
        let line = format!("{noun} `{}`.", self.model.def(id).repository_id);
        self.doc_with(id, &line)
    }

    /// The IDL comment of `id`, and `line`.
    pub(super) fn doc_with(&self, id: DefId, line: &str) -> TokenStream {
        let comment = self.model.def(id).doc.as_deref().map(markdown);
        let text = match comment {
            Some(comment) => format!("{comment}\n\n {line}"),
            None => format!(" {line}"),
        };
        quote!(#[doc = #text])
    }
}

/// A list item with the comment of the parameter `name`.
pub(super) fn list_item(name: &str, comment: &str) -> String {
    let lines: Vec<String> = comment.lines().map(markdown).collect();
    let words: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    format!(" - `{name}`: {}\n", words.join(" "))
}

/// An IDL comment as text of rustdoc. Comments are not Markdown, so characters that would make links, tags, lists or code
/// blocks are escaped: rustdoc would try to resolve such links, and to run such code as tests.
fn markdown(comment: &str) -> String {
    let lines = comment.lines().map(|line| {
        let mut out = String::from(" ");
        let trimmed = line.trim();
        for (index, c) in trimmed.char_indices() {
            let at_start = index == 0 && matches!(c, '#' | '+' | '-' | '=' | '~' | '>' | '|');
            if at_start
                || matches!(
                    c,
                    '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~'
                )
            {
                out.push('\\');
            }
            let numbers = &trimmed[..index];
            if matches!(c, '.' | ')')
                && !numbers.is_empty()
                && numbers.bytes().all(|b| b.is_ascii_digit())
            {
                out.push('\\');
            }
            // Rustdoc's lint on bare addresses does not find an address whose colon is an entity.
            match c {
                ':' if trimmed[index..].starts_with("://") => out.push_str("&#58;"),
                _ => out.push(c),
            }
        }
        out
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn comments_do_not_turn_into_markdown() {
        assert_eq!(markdown("sees [x] and <T>"), " sees \\[x\\] and \\<T\\>");
        assert_eq!(markdown("- one\n    code()"), " \\- one\n code()");
        assert_eq!(markdown("1. one"), " 1\\. one");
        assert_eq!(markdown("http://a.b/c_d"), " http&#58;//a.b/c\\_d");
    }
}
