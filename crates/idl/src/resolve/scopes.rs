//! Declaration and look-up of names.

use std::rc::Rc;

use super::Resolver;
use crate::ast::{Head, ScopedName};
use crate::diagnostic::Report;
use crate::model::{DefId, DefKind, ScopeId, Type};
use crate::options::LENIENT;
use crate::source::Span;

impl Resolver<'_> {
    /// The definition that already has the name of `head` in `scope`, ignoring case.
    pub(super) fn existing(&self, scope: ScopeId, head: &Head) -> Option<DefId> {
        self.model
            .scope(scope)
            .names
            .get(&self.model.key(&head.name.text))
            .copied()
    }

    /// Makes a definition, and reports a name that is not permitted. If the scope has or inherits the name already, the new
    /// definition is in no scope; otherwise later declarations may use it.
    pub(super) fn declare(&mut self, scope: ScopeId, head: &Head, kind: DefKind) -> DefId {
        let (name, span) = (Rc::clone(&head.name.text), head.name.span);
        let key = self.model.key(&name);
        if let Some(report) = self.clash(scope, head, &key, &kind) {
            self.report(report);
        }
        let existing = self.existing(scope, head);
        self.contested.extend(existing);
        let heir = self.enclosing_heir(scope);
        let inherited = heir.and_then(|heir| self.inherited_operation(heir, &key));
        let id = self.new_def(scope, head, kind);
        if existing.or(inherited).is_none() {
            let scope = &mut self.model.scopes[scope.0];
            scope.names.insert(key, id);
            scope.order.push(id);
        }
        debug_assert_eq!(self.model.def(id).span, span);
        id
    }

    fn clash(&self, scope: ScopeId, head: &Head, key: &str, kind: &DefKind) -> Option<Report> {
        let (name, span) = (&head.name.text, head.name.span);
        if let Some(owner) = self.model.scope(scope).owner {
            let owner = self.model.def(owner);
            if self.model.key(&owner.name) == key {
                let message = format!("`{name}` has the name of the scope it is declared in");
                return Some(
                    Report::new(span, message).label(owner.span, "the scope is named here"),
                );
            }
        }
        if let Some(other) = self.existing(scope, head) {
            let noun = self.model.noun(other);
            let only_forward = self.is_only_forward(other);
            let other = self.model.def(other);
            // A file without an include guard was read twice.
            let twice = other.span == span;
            let message = match other.name == *name {
                true if twice => {
                    format!("`{name}` is declared twice, as its file is included twice")
                }
                true if only_forward => format!("`{name}` was declared as {noun} before"),
                true => format!("`{name}` is declared twice in this scope"),
                false => format!("`{name}` and `{}` differ only in case", other.name),
            };
            let report = Report::new(span, message).label(other.span, "first declared here");
            return Some(match other.name == *name {
                true if twice => {
                    report.hint("add an include guard: `#ifndef X`, `#define X`, `#endif`")
                }
                true => report,
                false => report.hint(format!("choose another name{LENIENT}")),
            });
        }
        if let Some(interface) = self.enclosing_heir(scope)
            && let Some(inherited) = self.inherited_operation(interface, key)
        {
            let inherited = self.model.def(inherited);
            let message = format!("`{name}` is inherited already and cannot be declared again");
            return Some(Report::new(span, message).label(inherited.span, "declared here"));
        }
        if self.model.lenient && matches!(kind, DefKind::Member | DefKind::Operation) {
            return None;
        }
        let (used, meaning) = self.model.scope(scope).introduced.get(key)?;
        Some(self.used_before(head, *used, *meaning))
    }

    /// Whether `id` has a forward declaration only.
    pub(super) fn is_only_forward(&self, id: DefId) -> bool {
        match &self.model.def(id).kind {
            DefKind::Struct(body) => !body.complete,
            DefKind::Union(union) => !union.complete,
            DefKind::Interface(interface) => !interface.defined,
            DefKind::Value(value) => !value.defined,
            _ => false,
        }
    }

    /// The report of a declaration that would give a name a second meaning in a scope that has used it.
    pub(super) fn used_before(&self, head: &Head, used: Span, meaning: DefId) -> Report {
        let name = &head.name.text;
        let meant = self.model.def(meaning);
        let report = match meant.name == *name {
            true => Report::new(
                head.name.span,
                format!("`{name}` has been used in this scope with another meaning"),
            ),
            false => Report::new(
                head.name.span,
                format!(
                    "`{name}` differs only in case from `{}`, which has been used in this scope",
                    meant.name
                ),
            ),
        };
        let scoped = self.model.scoped_name(meaning);
        report
            .label(used, "used here")
            .label(meant.span, "to mean this")
            .hint(format!(
                "choose another name, or write `::{scoped}` where it is used{LENIENT}"
            ))
    }

    /// The interface or value type that opens `scope`.
    fn enclosing_heir(&self, scope: ScopeId) -> Option<DefId> {
        self.model
            .scope(scope)
            .owner
            .filter(|&owner| self.model.ancestors(owner).is_some())
    }

    /// The operation, attribute or state member with this lower-case name in a base of `heir`.
    pub(super) fn inherited_operation(&self, heir: DefId, key: &str) -> Option<DefId> {
        let ancestors = self.model.ancestors(heir)?;
        ancestors.iter().find_map(|&base| {
            let id = *self
                .model
                .scope(self.model.own_scope(base)?)
                .names
                .get(key)?;
            matches!(
                self.model.def(id).kind,
                DefKind::Operation | DefKind::Member
            )
            .then_some(id)
        })
    }

    /// Whether `head` spells its name as it was declared. If not, that is reported.
    pub(super) fn check_spelling(&self, id: DefId, head: &Head) -> bool {
        let first = self.model.def(id);
        let same = first.name == head.name.text;
        if !same {
            let message = format!(
                "`{}` and `{}` differ only in case",
                head.name.text, first.name
            );
            self.report(
                Report::new(head.name.span, message).label(first.span, "first declared here"),
            );
        }
        same
    }

    /// Checks that a forward declaration and the definition have the same repository id.
    pub(super) fn check_same_id(&self, id: DefId, head: &Head) {
        let first = self.model.def(id);
        let here = self.repository_id(first.scope, head);
        if first.repository_id != here && !self.ids.contains_key(&id) {
            let message = format!(
                "the prefix makes this `{here}`, declared as `{}` before",
                first.repository_id
            );
            self.report(
                Report::new(head.name.span, message).label(first.span, "first declared here"),
            );
        }
    }

    /// The meaning of `name` in `scope`. Missing and ambiguous names are reported.
    pub(super) fn lookup(&mut self, scope: ScopeId, name: &ScopedName) -> Option<DefId> {
        let (first, rest) = name.parts.split_first()?;
        let key = self.model.key(&first.text);
        let found = match name.global {
            true => self
                .model
                .scope(ScopeId::ROOT)
                .names
                .get(&key)
                .map(|&id| (id, ScopeId::ROOT)),
            false => self.search(scope, &key, name)?,
        };
        let Some((mut id, found_in)) = found else {
            let missed = self.missed.contains(&first.text.to_lowercase());
            if !missed && (name.global || !self.is_broken(scope)) {
                self.unknown(scope, None, first);
            }
            return None;
        };
        // A declaration after a use of its name in another case was reported, and one of a member or operation is lenient;
        // further uses keep the first meaning.
        if let Some(&(_, meant)) = self.model.scope(found_in).introduced.get(&key)
            && (self.model.lenient || self.model.def(id).name != first.text)
            && self.model.def(meant).name == first.text
        {
            id = meant;
        }
        let mut spelled = self.check_use(id, &first.text, first.span);
        if !name.global {
            self.introduce(scope, found_in, &key, first.span, id);
        }
        for part in rest {
            if matches!(self.model.def(id).kind, DefKind::Unsupported) {
                return Some(id);
            }
            let Some(inner) = self.model.own_scope(id) else {
                let message = format!(
                    "`{}` is {} and has no names inside",
                    self.model.def(id).name,
                    self.model.noun(id)
                );
                self.report(Report::new(part.span, message));
                return None;
            };
            match self.member(inner, &self.model.key(&part.text), name)? {
                Some(next) => id = next,
                None => {
                    let missed = self.missed.contains(&part.text.to_lowercase());
                    if !missed && !self.broken.contains(&inner) {
                        self.unknown(scope, Some(id), part);
                    }
                    return None;
                }
            }
            spelled &= self.check_use(id, &part.text, part.span);
        }
        // `ROW` must not be used for `row`. That is reported; whether `row` would be valid here is not checked.
        spelled.then_some(id)
    }

    /// The meaning of `name` as a base, through typedefs.
    pub(super) fn lookup_base(&mut self, scope: ScopeId, name: &ScopedName) -> Option<DefId> {
        let id = self.lookup(scope, name)?;
        match self.model.unaliased(&Type::Named(id)) {
            &Type::Named(behind) => Some(behind),
            _ => Some(id),
        }
    }

    /// Searches from `scope` outwards. The outer `None` means an ambiguous name, which was reported.
    pub(super) fn search(
        &self,
        scope: ScopeId,
        key: &str,
        name: &ScopedName,
    ) -> Option<Option<(DefId, ScopeId)>> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(id) = self.member(scope, key, name)? {
                // An inherited name is found in this scope and declared in another.
                return Some(Some((id, self.model.def(id).scope)));
            }
            at = self.model.scope(scope).parent;
        }
        Some(None)
    }

    /// The definition of `key` in `scope`, or in its bases.
    fn member(&self, scope: ScopeId, key: &str, name: &ScopedName) -> Option<Option<DefId>> {
        if let Some(&id) = self.model.scope(scope).names.get(key) {
            return Some(Some(id));
        }
        let Some(ancestors) = self
            .enclosing_heir(scope)
            .and_then(|id| self.model.ancestors(id))
        else {
            return Some(None);
        };
        let mut found: Vec<DefId> = Vec::new();
        let mut hidden: Vec<DefId> = Vec::new();
        // Nearer bases come first, and hide the names that they redefine.
        for &base in ancestors {
            if hidden.contains(&base) {
                continue;
            }
            let Some(inner) = self.model.own_scope(base) else {
                continue;
            };
            if let Some(&id) = self.model.scope(inner).names.get(key) {
                hidden.extend(self.model.ancestors(base).unwrap_or_default());
                if !found.contains(&id) {
                    found.push(id);
                }
            }
        }
        // A base that comes later in the list may hide one that came before.
        found.retain(|&id| {
            !self
                .model
                .scope(self.model.def(id).scope)
                .owner
                .is_some_and(|owner| hidden.contains(&owner))
        });
        match found[..] {
            [] => Some(None),
            [one] => Some(Some(one)),
            [first, second, ..] => {
                let part = name
                    .parts
                    .iter()
                    .find(|part| self.model.key(&part.text) == key);
                let span = part.map_or_else(|| name.span(), |part| part.span);
                let spelled = part.map_or(key, |part| &part.text);
                let report = Report::new(
                    span,
                    format!("`{spelled}` is inherited from several bases with different meanings"),
                )
                .label(self.model.def(first).span, "could be this")
                .label(self.model.def(second).span, "or this")
                .hint(format!(
                    "write `{}`, for example",
                    self.model.scoped_name(first)
                ));
                self.report(report);
                None
            }
        }
    }

    /// Whether a use of `id` has the spelling of its declaration. If not, that is reported.
    pub(super) fn check_use(&self, id: DefId, text: &str, span: Span) -> bool {
        let def = self.model.def(id);
        let spelled = *def.name == *text;
        if !spelled {
            let message = format!("`{text}` is spelled `{}` where it is declared", def.name);
            self.report(Report::new(span, message).label(def.span, "declared here"));
        }
        spelled
    }

    /// Notes the use of an outer name, which fixes its meaning in this scope, and in the scopes around it out to the outermost
    /// that is not a module.
    pub(super) fn introduce(
        &mut self,
        scope: ScopeId,
        found_in: ScopeId,
        key: &str,
        span: Span,
        id: DefId,
    ) {
        let mut at = Some(scope);
        while let Some(here) = at {
            if here == found_in {
                return;
            }
            let owner = self
                .model
                .scope(here)
                .owner
                .map(|owner| &self.model.def(owner).kind);
            let is_module = matches!(owner, None | Some(DefKind::Module(_)));
            if is_module && here != scope {
                return;
            }
            let scope = &mut self.model.scopes[here.0];
            scope.introduced.entry(key.to_owned()).or_insert((span, id));
            at = scope.parent;
        }
    }

    /// Whether `scope` or a scope around it has an unknown base, which may declare a missing name.
    fn is_broken(&self, scope: ScopeId) -> bool {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if self.broken.contains(&scope) {
                return true;
            }
            at = self.model.scope(scope).parent;
        }
        false
    }
}
