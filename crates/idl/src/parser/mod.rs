//! The parser: tokens to a syntax tree, by nom.
//!
//! IDL is almost LL(1): the functions look at the next token, commit to one production, and can name exactly what they
//! expect. A list of definitions survives a faulty one: the error is reported, and parsing continues after its `;` or `}`.

mod annotations;
mod braces;
mod components;
mod constructed;
mod declarations;
mod expressions;
mod input;
mod keywords;
mod members;
mod mistakes;
mod pragmas;
mod recovery;
mod terminals;
mod trailing_comments;
mod type_specs;
mod value_dcl;

use std::collections::HashSet;

use crate::ast::Definition;
use crate::diagnostic::{Report, Sink};
use crate::lexer::Token;
use crate::preprocess::TrailingComments;
use crate::source::SourceMap;
use input::{Context, Tokens};
pub(crate) use keywords::keyword_meant;
use recovery::list;

/// The parsed definitions.
pub(crate) struct Tree {
    pub(crate) definitions: Vec<Definition>,
    /// Whether all of the text was valid IDL.
    pub(crate) whole: bool,
    /// Names that may have been declared in invalid parts, in lower case. `None` if the scopes of definitions are unknown.
    pub(crate) lost: Option<HashSet<String>>,
}

/// The definitions in `tokens`, which end in [`Kind::End`](crate::lexer::Kind::End).
pub(crate) fn parse(
    tokens: &[Token],
    trailing_comments: &TrailingComments,
    sources: &SourceMap,
    lenient: bool,
    sink: &Sink,
) -> Tree {
    let context = Context::new(sink, trailing_comments, sources, lenient);
    let mut i = Tokens::new(tokens, &context);
    let mut definitions = Vec::new();
    loop {
        let (rest, more) = list(i, None, declarations::definition);
        definitions.extend(more);
        if rest.at_end() {
            let unsure =
                context.scopes_unsure.get() || context.too_deep.get() || context.unopened.get() > 0;
            return Tree {
                definitions,
                whole: !context.failed.get(),
                lost: (!unsure).then(|| context.lost.take()),
            };
        }
        context.scopes_unsure.set(true);
        // `list` stops at the brace that closes its scope, and there is no scope here.
        match context.unopened.get().checked_sub(1) {
            Some(left) => context.unopened.set(left),
            None => context.error(Report::new(
                rest.first().span,
                "unexpected `}`: no scope is open here",
            )),
        }
        i = rest.advance();
        while i.is_punct(";") || i.is_punct("}") {
            i = i.advance();
        }
    }
}
