//! Names that would clash in Rust, and free names to suggest instead.

use super::{BASE, Names, UNSET};
use crate::diagnostic::{Report, Sink};
use crate::limits::MAX_DIAGNOSTICS;
use crate::model::{
    Bitset, DefId, DefKind, InterfaceKind, Model, Operation, Role, ScopeId, Struct, Union,
};
use crate::selection::Selection;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Space {
    /// Types, traits and modules.
    Type,
    /// Constants, functions and unit structs.
    Value,
}

/// The check that no two generated items of one scope share a Rust name.
pub(super) struct Clashes<'a> {
    pub(super) model: &'a Model,
    pub(super) names: &'a Names,
    pub(super) sink: &'a Sink,
    /// `Options::delegates`.
    pub(super) delegates: bool,
    /// Pairs of definitions whose clash was reported. It is reported once, though items generated for both clash, too.
    pub(super) reported: RefCell<HashSet<(DefId, DefId)>>,
    /// The [folded] names that hints have suggested.
    pub(super) offered: RefCell<Vec<String>>,
}

/// A name without case and underscores: names that differ only there may clash in generated items.
fn folded(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// The names of one Rust scope: for each, its owner, and its role if it is not the owner's own name.
type Taken = HashMap<(Space, String), (DefId, Option<String>)>;

impl Clashes<'_> {
    pub(super) fn check(&self) {
        for index in 0..self.model.scopes.len() {
            let scope = ScopeId(index);
            if !self.model.is_extern(scope) {
                self.scope(scope);
            }
        }
    }

    fn scope(&self, scope: ScopeId) {
        let mut taken = Taken::new();
        let owner = self.model.scope(scope).owner;
        for &id in &self.model.scope(scope).order {
            self.definition(&mut taken, id);
        }
        let Some(owner) = owner else {
            return;
        };
        if let Some(value) = self.model.value_type(owner) {
            let mut fields = Taken::new();
            for member in &value.members {
                let name = self.names.of(member.def).to_owned();
                self.take(&mut fields, Space::Value, name, member.def, None);
            }
        }
        let value = self.model.value_type(owner);
        let factories = value.map_or(&[][..], |value| &value.factories);
        let operations = self.model.operations(owner).iter().chain(factories);
        for operation in operations.filter(|operation| !operation.raises.is_empty()) {
            let what = format!("the error type of `{}`", self.model.def(operation.def).name);
            self.take(
                &mut taken,
                Space::Type,
                self.names.error_enum(operation),
                operation.def,
                Some(what),
            );
        }
        if let Some(interface) = self.model.interface(owner) {
            let bases = interface.ancestors.iter().rev();
            let bases = bases.filter_map(|&base| self.model.interface(base));
            let all = bases.chain([interface]).flat_map(|it| &it.operations);
            self.methods(owner, all);
        }
        if let Some(value) = self.model.value_type(owner) {
            self.methods(owner, value.operations.iter());
            self.methods(owner, value.factories.iter());
        }
    }

    fn definition(&self, taken: &mut Taken, id: DefId) {
        let (name, idl) = (self.names.of(id).to_owned(), &self.model.def(id).name);
        match &self.model.def(id).kind {
            DefKind::Module(_) | DefKind::Enum(_) => {
                self.take(taken, Space::Type, name, id, None);
                self.enumerators(id);
            }
            DefKind::Struct(Struct { scope, .. })
            | DefKind::Exception(Struct { scope, .. })
            | DefKind::Union(Union { scope, .. }) => {
                self.take(taken, Space::Type, name, id, None);
                self.composite(taken, id, *scope);
            }
            DefKind::Interface(interface) => {
                let mut generated = vec![
                    (
                        self.names.reference(id),
                        format!("the reference of interface `{idl}`"),
                    ),
                    (
                        self.names.skeleton(id),
                        format!("the skeleton of interface `{idl}`"),
                    ),
                    (
                        self.names.inner_module(id),
                        format!("the module of interface `{idl}`"),
                    ),
                ];
                // A local interface has no reference and no skeleton.
                if interface.kind == InterfaceKind::Local {
                    generated.drain(..2);
                } else if self.delegates {
                    let what = format!("the trait for delegation of interface `{idl}`");
                    generated.push((self.names.delegate(id), what));
                }
                if let Some(implied) = self.model.implied.get(&id) {
                    let what = format!("the poller of interface `{idl}`");
                    generated.push((super::type_name(&implied.poller), what));
                }
                self.take(taken, Space::Type, name, id, None);
                for (name, what) in generated {
                    self.take(taken, Space::Type, name, id, Some(what));
                }
            }
            DefKind::Typedef(ty) => {
                let name = if self.model.is_reference(ty) {
                    self.names.reference(id)
                } else {
                    name
                };
                self.take(taken, Space::Type, name, id, None);
                let what = format!("the TypeCode of typedef `{idl}`");
                self.take(
                    taken,
                    Space::Value,
                    self.names.type_code(id),
                    id,
                    Some(what),
                );
            }
            DefKind::Const(..) => self.take(taken, Space::Value, name, id, None),
            DefKind::Value(value) => {
                let mut generated = vec![
                    (
                        self.names.value_operations(id),
                        format!("the operations of value type `{idl}`"),
                    ),
                    (
                        self.names.inner_module(id),
                        format!("the module of value type `{idl}`"),
                    ),
                ];
                if !value.factories.is_empty() {
                    let what = format!("the factories of value type `{idl}`");
                    generated.push((self.names.value_factories(id), what));
                }
                self.take(taken, Space::Type, name, id, None);
                for (name, what) in generated {
                    self.take(taken, Space::Type, name, id, Some(what));
                }
            }
            DefKind::Bitset(Bitset { scope, .. }) => {
                self.take(taken, Space::Type, name, id, None);
                self.composite(taken, id, *scope);
            }
            DefKind::Bitmask(bitmask) => {
                self.take(taken, Space::Type, name, id, None);
                let mut flags = Taken::new();
                for &(bit, _) in &bitmask.bits {
                    self.take(
                        &mut flags,
                        Space::Value,
                        self.names.of(bit).to_owned(),
                        bit,
                        None,
                    );
                }
            }
            DefKind::ValueBox(_) | DefKind::Native => self.take(taken, Space::Type, name, id, None),
            // Enumerators have their enum as scope, members their struct, operations their trait.
            DefKind::Enumerator(_)
            | DefKind::Member
            | DefKind::Operation
            | DefKind::Factory
            | DefKind::Bit(_)
            | DefKind::Unsupported => return,
        }
        if !matches!(
            self.model.def(id).kind,
            DefKind::Module(_) | DefKind::Const(..)
        ) {
            let what = format!("the TypeCode of `{idl}`");
            let name = self.names.type_code_static(id);
            self.take(taken, Space::Value, name, id, Some(what));
        }
    }

    /// The names of a type's members, and that of the module of its inner declarations.
    fn composite(&self, taken: &mut Taken, id: DefId, scope: ScopeId) {
        let is_member = |&&inner: &&DefId| matches!(self.model.def(inner).kind, DefKind::Member);
        let inner = self.model.scope(scope).order.iter();
        if !inner.clone().all(|inner| is_member(&inner)) {
            let what = format!(
                "the module of what is declared inside `{}`",
                self.model.def(id).name
            );
            let module = self.names.inner_module(id);
            self.take(taken, Space::Type, module, id, Some(what));
        }
        let mut fields = Taken::new();
        for &member in inner.filter(is_member) {
            let name = self.names.of(member).to_owned();
            self.take(&mut fields, Space::Value, name, member, None);
        }
        if let DefKind::Struct(Struct { base: Some(_), .. }) = &self.model.def(id).kind {
            let what = "the member for what is inherited".to_owned();
            self.take(&mut fields, Space::Value, BASE.to_owned(), id, Some(what));
        }
        if let DefKind::Union(union) = &self.model.def(id).kind
            && Selection::of(self.model, union).unset.is_some()
        {
            let what = "the variant for no member".to_owned();
            self.take(&mut fields, Space::Value, UNSET.to_owned(), id, Some(what));
        }
    }

    fn enumerators(&self, id: DefId) {
        let DefKind::Enum(enumerators) = &self.model.def(id).kind else {
            return;
        };
        let mut taken = Taken::new();
        for &enumerator in enumerators {
            self.take(
                &mut taken,
                Space::Value,
                self.names.of(enumerator).to_owned(),
                enumerator,
                None,
            );
        }
    }

    /// Checks the functions of one trait or reference of `owner`, inherited ones included.
    fn methods<'b>(&self, owner: DefId, operations: impl Iterator<Item = &'b Operation>) {
        let mut taken = Taken::new();
        for operation in operations {
            let what = (operation.role == Role::Set).then(|| {
                format!(
                    "the setter of attribute `{}`",
                    self.model.def(operation.def).name
                )
            });
            self.take_in(
                Some(owner),
                &mut taken,
                Space::Value,
                self.names.method(operation),
                operation.def,
                what,
            );
            let mut parameters: HashMap<String, &crate::model::Parameter> = HashMap::new();
            for parameter in &operation.parameters {
                let name = self.names.parameter(operation.def, &parameter.name);
                if let Some(other) = parameters.insert(name.clone(), parameter) {
                    let message = format!(
                        "`{}` and `{}` both become `{name}` in Rust",
                        other.name, parameter.name
                    );
                    let of = format!(
                        "{}::{}",
                        self.model.scoped_name(operation.def),
                        parameter.name
                    );
                    let taken = operation.parameters.iter().map(|it| &*it.name);
                    let hint = self.rename(&of, &name, taken);
                    let report =
                        Report::new(parameter.span, message).label(other.span, "the first is here");
                    self.sink.report(report.hint(hint));
                }
            }
        }
    }

    fn take(&self, taken: &mut Taken, space: Space, name: String, id: DefId, what: Option<String>) {
        self.take_in(None, taken, space, name, id, what);
    }

    /// Takes `name` for `id`. `heir`: the interface whose reference has the name, which may be inherited.
    fn take_in(
        &self,
        heir: Option<DefId>,
        taken: &mut Taken,
        space: Space,
        name: String,
        id: DefId,
        what: Option<String>,
    ) {
        let Some((other, was)) = taken.insert((space, name.clone()), (id, what.clone())) else {
            return;
        };
        if !self.reported.borrow_mut().insert((other, id)) {
            return;
        }
        let (here, first) = (self.model.def(id), self.model.def(other));
        let describe = |def: &crate::model::Def, what: Option<String>| {
            what.unwrap_or_else(|| format!("`{}`", def.name))
        };
        // Only a declared name can be changed: names generated from it follow.
        let renamed = if what.is_some() && was.is_none() {
            other
        } else {
            id
        };
        let (here_is, first_is) = (describe(here, what), describe(first, was));
        let message = format!("{first_is} and {here_is} both become `{name}` in Rust");
        let names = self.names.names.values().map(String::as_str);
        let of = self.model.scoped_name(renamed);
        let hint = self.rename(&of, self.names.of(renamed), names);
        let report = Report::new(here.span, message).label(first.span, "the first is here");
        let report = match heir {
            Some(heir)
                if ![here.scope, first.scope]
                    .map(Some)
                    .contains(&self.model.own_scope(heir))
                    && here.scope != first.scope =>
            {
                report.label(self.model.def(heir).span, "this inherits from both")
            }
            _ => report,
        };
        self.sink.report(report.hint(hint));
    }

    /// The option that resolves a clash: `name` followed by a number, so that it differs from all of `taken`.
    fn rename<'b>(
        &self,
        of: &str,
        name: &str,
        taken: impl Iterator<Item = &'b str> + Clone,
    ) -> String {
        let mut offered = self.offered.borrow_mut();
        // Further errors are not shown.
        if offered.len() >= MAX_DIAGNOSTICS {
            return String::new();
        }
        let stem = name.trim_end_matches('_');
        let between = match stem.contains('_') || stem.starts_with(|c: char| c.is_lowercase()) {
            true => "_",
            false => "",
        };
        let mut numbered = (2..).map(|number: usize| format!("{stem}{between}{number}"));
        // A longer name in use may equal the suggested name with a generated prefix or suffix.
        let free = numbered.find(|name| {
            let folded_name = folded(name);
            !offered.contains(&folded_name)
                && !taken
                    .clone()
                    .any(|taken| folded(taken).contains(&folded_name))
        });
        let free = free.unwrap_or_else(|| stem.to_owned());
        offered.push(folded(&free));
        format!("give one another name: rename(\"{of}\" = \"{free}\")")
    }
}
