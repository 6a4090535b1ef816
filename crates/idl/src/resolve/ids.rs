//! Repository ids: what pragmas and declarations set.

use std::rc::Rc;

use super::Resolver;
use crate::ast::{Ident, ScopedName, Text};
use crate::diagnostic::Report;
use crate::lexer::{IdPragma, IdSetting};
use crate::model::{DefId, DefKind, ScopeId};
use crate::source::Span;

impl Resolver<'_> {
    pub(super) fn pragma(&mut self, scope: ScopeId, span: Span, pragma: &IdPragma) {
        let parts = pragma.name.iter().map(|part| Ident {
            text: Rc::from(part.as_str()),
            span,
        });
        let name = ScopedName {
            global: pragma.global,
            parts: parts.collect(),
        };
        let Some(id) = self.lookup(scope, &name) else {
            return;
        };
        let repository_id = match &pragma.set {
            IdSetting::Id(id) => id.clone(),
            IdSetting::Version(major, minor) => {
                let old = &self.model.def(id).repository_id;
                let stem = old.rsplit_once(':').map_or(old.as_str(), |(stem, _)| stem);
                format!("{stem}:{major}.{minor}")
            }
        };
        if let Some(before) = self.versioned.insert(id, span)
            && self.model.def(id).repository_id != repository_id
        {
            let message = format!(
                "`{}` has been given another repository id",
                self.model.scoped_name(id)
            );
            self.report(Report::new(span, message).label(before, "first given here"));
        }
        self.model.defs[id.0].repository_id = repository_id;
    }

    /// `typeid`: at most once for a name, whatever the id.
    pub(super) fn type_id(&mut self, scope: ScopeId, of: &ScopedName, text: &Text) {
        let Some(id) = self.lookup(scope, of) else {
            return;
        };
        if let Some(before) = self.versioned.insert(id, text.span) {
            let message = format!(
                "`{}` has been given a repository id already",
                self.model.scoped_name(id)
            );
            self.report(Report::new(text.span, message).label(before, "given here"));
            return;
        }
        self.model.defs[id.0].repository_id = text.text.to_string();
    }

    /// `typeprefix`: for everything in a scope, wherever it stands, hence put off to [`Self::apply_prefixes`].
    pub(super) fn type_prefix(&mut self, scope: ScopeId, of: &ScopedName, prefix: &Text) {
        let id = match of.parts.is_empty() {
            true => None,
            false => match self.lookup(scope, of) {
                Some(id) => Some(id),
                None => return,
            },
        };
        let prefixed = match id {
            None => Some(ScopeId::ROOT),
            Some(id) => self.model.own_scope(id),
        };
        let Some(prefixed) = prefixed else {
            let Some(id) = id else { return };
            let def = self.model.def(id);
            if !matches!(def.kind, DefKind::Unsupported) {
                let message = format!(
                    "`{}` is {}, and a prefix is for what has names inside",
                    def.name,
                    self.model.noun(id)
                );
                self.report(Report::new(of.span(), message).label(def.span, "declared here"));
            }
            return;
        };
        let text = Rc::from(prefix.text.trim_end_matches('/'));
        if let Some((other, before)) = self.prefixes.insert(prefixed, (text, prefix.span))
            && self
                .prefixes
                .get(&prefixed)
                .is_some_and(|(text, _)| *text != other)
        {
            let message = "this scope has been given another prefix";
            self.report(Report::new(prefix.span, message).label(before, "first given here"));
        }
    }

    /// Gives every definition that has no id of its own the one that the nearest `typeprefix` around it makes.
    pub(super) fn apply_prefixes(&mut self) {
        if self.prefixes.is_empty() {
            return;
        }
        for index in 0..self.model.defs.len() {
            let id = DefId(index);
            if self.versioned.contains_key(&id) {
                continue;
            }
            let def = self.model.def(id);
            let mut at = self.model.own_scope(id).or(Some(def.scope));
            while let Some(scope) = at {
                if let Some((prefix, _)) = self.prefixes.get(&scope) {
                    let path = self.model.scoped_name(id).replace("::", "/");
                    let slash = if prefix.is_empty() { "" } else { "/" };
                    let repository_id = format!("IDL:{prefix}{slash}{path}:1.0");
                    self.model.defs[index].repository_id = repository_id;
                    break;
                }
                at = self.model.scope(scope).parent;
            }
        }
    }
}
