//! Repository ids: those made from the scoped names of definitions, and those set by pragmas and declarations.

use std::rc::Rc;

use super::Resolver;
use crate::ast::{Head, Ident, ScopedName, StringLiteral};
use crate::diagnostic::Report;
use crate::lexer::{IdPragma, IdSetting};
use crate::model::{DefId, DefKind, ScopeId};
use crate::source::Span;

/// The pragma or declaration that has set a definition's repository id.
pub(super) struct SetId {
    span: Span,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// `#pragma version`, which sets the version alone.
    Version,
    /// `#pragma ID`.
    Id,
    /// `typeid`, which may be given once only, even with the same id.
    TypeId,
}

impl Resolver<'_> {
    /// The repository id of a definition: `IDL:`, the prefix, the names of enclosing scopes that the prefix does not replace,
    /// its own name, and `:1.0`.
    pub(super) fn repository_id(&self, scope: ScopeId, head: &Head) -> String {
        let path = self.model.path(scope);
        let mut parts: Vec<&str> = Vec::new();
        if !head.prefix.text.is_empty() {
            parts.push(&head.prefix.text);
        }
        parts.extend(path.iter().skip(head.prefix.depth).map(|part| &**part));
        parts.push(&head.name.text);
        format!("IDL:{}:1.0", parts.join("/"))
    }

    /// Applies a pragma. `within`: the type in whose braces it stands, if that has members instead of definitions.
    pub(super) fn pragma(
        &mut self,
        scope: ScopeId,
        span: Span,
        pragma: &IdPragma,
        within: Option<&Ident>,
    ) {
        let parts = pragma.name.iter().map(|part| Ident {
            text: Rc::from(part.as_str()),
            span,
        });
        let name = ScopedName {
            global: pragma.global,
            parts: parts.collect(),
        };
        let inner = within.and_then(|within| {
            let key = self.model.key(&within.text);
            let id = self.model.scope(scope).names.get(&key)?;
            self.model.own_scope(*id)
        });
        let Some(id) = self.lookup(inner.unwrap_or(scope), &name) else {
            return;
        };
        match &pragma.set {
            IdSetting::Id(text) => {
                if self.check_id(text, span) {
                    self.set_id(id, span, What::Id, text.clone());
                }
            }
            IdSetting::Version(major, minor) => {
                let old = &self.model.def(id).repository_id;
                let stem = old.rsplit_once(':').map_or(old.as_str(), |(stem, _)| stem);
                let new = format!("{stem}:{major}.{minor}");
                self.set_id(id, span, What::Version, new);
            }
        }
    }

    /// Applies a `typeid` declaration.
    pub(super) fn type_id(&mut self, scope: ScopeId, of: &ScopedName, text: &StringLiteral) {
        let Some(id) = self.lookup(scope, of) else {
            return;
        };
        if self.check_id(&text.text, text.span) {
            self.set_id(id, text.span, What::TypeId, text.text.to_string());
        }
    }

    fn set_id(&mut self, id: DefId, span: Span, what: What, repository_id: String) {
        let before = self.ids.insert(id, SetId { span, what });
        if let Some(before) = before {
            let once = what == What::TypeId || before.what == What::TypeId;
            if once || self.model.def(id).repository_id != repository_id {
                let message = format!(
                    "`{}` has been given a repository id already",
                    self.model.scoped_name(id)
                );
                self.report(Report::new(span, message).label(before.span, "given here"));
                // The first one stays in force.
                self.ids.insert(id, before);
                return;
            }
        }
        self.model.defs[id.0].repository_id = repository_id;
    }

    /// Checks that a repository id consists of a format, a colon, and further text.
    fn check_id(&self, id: &str, span: Span) -> bool {
        let formed = id.split_once(':').is_some_and(|(format, rest)| {
            !format.is_empty() && !rest.is_empty() && is_plain(format) && is_plain(rest)
        });
        if !formed {
            let report = Report::new(span, "this is no repository id");
            self.report(report.hint("write `IDL:example.com/Module/Name:1.0`, for example"));
        }
        formed
    }

    /// Notes a `typeprefix` declaration. It applies to all of a scope, earlier declarations included, and may stand before the
    /// module that it names. So it is applied at the end.
    pub(super) fn type_prefix(&mut self, scope: ScopeId, of: &ScopedName, prefix: &StringLiteral) {
        self.put_off.push((scope, of.clone(), prefix.clone()));
    }

    fn set_prefix(&mut self, scope: ScopeId, of: &ScopedName, prefix: &StringLiteral) {
        if !is_plain(&prefix.text) || prefix.text.contains(':') {
            let message = "a prefix cannot contain blanks or colons";
            return self.report(Report::new(prefix.span, message));
        }
        let prefixed = match of.parts.is_empty() {
            true => ScopeId::ROOT,
            false => {
                let Some(id) = self.lookup(scope, of) else {
                    return;
                };
                let Some(prefixed) = self.model.own_scope(id) else {
                    let def = self.model.def(id);
                    if !matches!(def.kind, DefKind::Unsupported) {
                        let message = format!(
                            "`{}` is {}, and a prefix is for what has names inside",
                            def.name,
                            self.model.noun(id)
                        );
                        let report = Report::new(of.span(), message);
                        self.report(report.label(def.span, "declared here"));
                    }
                    return;
                };
                prefixed
            }
        };
        let text: Rc<str> = Rc::from(prefix.text.trim_end_matches('/'));
        match self.prefixes.get(&prefixed) {
            Some((other, before)) if *other != text => {
                let message = "this scope has been given another prefix";
                self.report(Report::new(prefix.span, message).label(*before, "given here"));
            }
            Some(_) => {}
            None => {
                self.prefixes.insert(prefixed, (text, prefix.span));
            }
        }
    }

    /// Handles an `import`: the preprocessor has read the imported declarations already, or they cannot be found.
    pub(super) fn import(&mut self, scope: ScopeId, name: &ScopedName) {
        let Some(first) = name.parts.first() else {
            return;
        };
        let key = self.model.key(&first.text);
        if self.model.scope(ScopeId::ROOT).names.contains_key(&key) {
            self.lookup(scope, name);
        } else if self.missed.insert(first.text.to_lowercase()) {
            let written: Vec<&str> = name.parts.iter().map(|part| &*part.text).collect();
            let message = format!(
                "cannot find `{}`, which is to be imported",
                written.join("::")
            );
            let report = Report::new(name.span(), message);
            self.report(report.hint("`#include` the file that defines it"));
        }
    }

    /// Gives every definition whose id was not set the id that the nearest enclosing `typeprefix` makes.
    pub(super) fn apply_prefixes(&mut self) {
        for (scope, of, prefix) in std::mem::take(&mut self.put_off) {
            self.set_prefix(scope, &of, &prefix);
        }
        if self.prefixes.is_empty() {
            return;
        }
        for index in 0..self.model.defs.len() {
            let id = DefId(index);
            let set = self.ids.get(&id).map(|set| set.what);
            if matches!(set, Some(What::Id | What::TypeId)) {
                continue;
            }
            let def = self.model.def(id);
            let mut at = self.model.own_scope(id).or(Some(def.scope));
            while let Some(scope) = at {
                if let Some((prefix, _)) = self.prefixes.get(&scope) {
                    let version = def.repository_id.rsplit(':').next().unwrap_or("1.0");
                    let path = self.model.scoped_name(id).replace("::", "/");
                    let slash = if prefix.is_empty() { "" } else { "/" };
                    let repository_id = format!("IDL:{prefix}{slash}{path}:{version}");
                    self.model.defs[index].repository_id = repository_id;
                    break;
                }
                at = self.model.scope(scope).parent;
            }
        }
    }
}

/// Whether a text has no blanks or control characters.
fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || c.is_whitespace())
}
