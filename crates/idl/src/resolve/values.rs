//! Value types: their bases, supported interfaces, state and factories.

use std::collections::HashSet;

use super::Resolver;
use crate::ast::{
    Direction, Factory as AstFactory, Head, InterfaceKind, MemberDcl, ScopedName, TypeSpec,
    ValueDef,
};
use crate::diagnostic::Report;
use crate::limits::{MAX_BASES, MAX_PARAMETERS, MAX_VALUE_CHAIN};
use crate::model::{
    DefId, DefKind, Operation, Role, ScopeId, StateMember, Type, ValueKind, ValueType,
};

impl Resolver<'_> {
    /// The value type that `head` names, a new or an existing one; `None` if it cannot be defined here.
    pub(super) fn value_entry(
        &mut self,
        scope: ScopeId,
        head: &Head,
        kind: ValueKind,
        define: bool,
    ) -> Option<DefId> {
        if let Some(id) = self.existing(scope, head)
            && let Some(&ValueType {
                defined,
                kind: before,
                ..
            }) = self.model.value_type(id)
            && !(defined && define)
        {
            self.redeclared(id, head, define);
            let is_abstract = |kind| kind == ValueKind::Abstract;
            if is_abstract(before) != is_abstract(kind) {
                self.kind_differs(id, head, is_abstract(before), "abstract");
            }
            return define.then_some(id);
        }
        let inner = self.new_scope(scope);
        let value = ValueType {
            scope: inner,
            kind,
            defined: false,
            truncatable: false,
            bases: Vec::new(),
            supports: Vec::new(),
            ancestors: Vec::new(),
            members: Vec::new(),
            factories: Vec::new(),
            operations: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Value(value));
        self.model.scopes[inner.0].owner = Some(id);
        define.then_some(id)
    }

    pub(super) fn value(&mut self, scope: ScopeId, head: &Head, value: &ValueDef) {
        let Some(id) = self.value_entry(scope, head, value.kind, true) else {
            return;
        };
        let bases = self.value_bases(scope, id, value);
        let supports = self.supported(scope, &value.supports);
        self.check_supported(head, &bases, &supports);
        let missing = bases.len() < value.bases.len() || supports.len() < value.supports.len();
        let all_bases = [&bases[..], &supports].concat();
        self.note_broken(id, missing, &all_bases);
        let mut ancestors = self.with_ancestors(&bases);
        let interfaces = self.with_ancestors(&supports);
        ancestors.extend(interfaces);
        let mut seen = HashSet::new();
        ancestors.retain(|ancestor| seen.insert(*ancestor));
        // Value types before interfaces, each kind in its own order.
        ancestors.sort_by_key(|&ancestor| self.model.interface(ancestor).is_some());
        self.check_ancestors(id, head, &all_bases, &mut ancestors);
        let Some(inner) = self.model.own_scope(id) else {
            return;
        };
        if let DefKind::Value(model) = &mut self.model.defs[id.0].kind {
            model.kind = value.kind;
            model.defined = true;
            model.truncatable = value.truncatable.is_some();
            model.bases = bases;
            model.supports = supports;
            model.ancestors = ancestors;
        }
        self.definitions(inner, &value.body);
    }

    /// The bases of a value type: at most one with state, which comes first, and abstract ones.
    fn value_bases(&mut self, scope: ScopeId, derived: DefId, value: &ValueDef) -> Vec<DefId> {
        let mut bases: Vec<DefId> = Vec::new();
        for name in value.bases.iter().take(MAX_BASES + 1) {
            let Some(id) = self.lookup_base(scope, name) else {
                continue;
            };
            let def = self.model.def(id);
            let found = match &def.kind {
                DefKind::Unsupported => continue,
                DefKind::Value(found) => found,
                DefKind::Interface(_) => {
                    let message = format!("`{}` is an interface, not a value type", def.name);
                    let report = Report::new(name.span(), message).label(def.span, "declared here");
                    self.report(report.hint("a value type supports an interface: `supports` it"));
                    continue;
                }
                _ => {
                    let noun = self.model.noun(id);
                    let message = format!("`{}` is {noun}, not a value type", def.name);
                    self.report(Report::new(name.span(), message).label(def.span, "declared here"));
                    continue;
                }
            };
            let is_abstract = found.kind == ValueKind::Abstract;
            let message = if id == derived {
                format!("`{}` inherits from itself", def.name)
            } else if !found.defined {
                format!(
                    "`{}` is not defined yet and cannot be inherited from",
                    def.name
                )
            } else if bases.contains(&id) {
                format!("`{}` is named twice as a base", def.name)
            } else if value.kind == ValueKind::Abstract && !is_abstract {
                format!(
                    "an abstract value type cannot inherit from `{}`, which has state",
                    def.name
                )
            } else if !is_abstract && !bases.is_empty() {
                format!(
                    "`{}` has state, and only the first base of a value type can have state",
                    def.name
                )
            } else if found.kind == ValueKind::Custom && value.kind == ValueKind::Stateful {
                format!(
                    "what inherits from the custom `{}` has to be custom",
                    def.name
                )
            } else if !is_abstract && self.state_chain(id) >= MAX_VALUE_CHAIN {
                format!(
                    "more than {MAX_VALUE_CHAIN} value types with state inherit from each other"
                )
            } else {
                bases.push(id);
                continue;
            };
            let report = Report::new(name.span(), message).label(def.span, "declared here");
            let has_state = |base: &DefId| {
                let base = self.model.value_type(*base);
                base.is_some_and(|base| base.kind != ValueKind::Abstract)
            };
            let movable = value.kind != ValueKind::Abstract
                && found.defined
                && !is_abstract
                && !bases.contains(&id)
                && !bases.is_empty()
                && !bases.iter().any(has_state);
            self.report(match movable {
                true => report.hint(format!("name `{}` first", def.name)),
                false => report,
            });
        }
        self.check_truncatable(value, &bases);
        bases
    }

    /// The number of value types with state from `id` to its last base, itself included.
    fn state_chain(&self, id: DefId) -> usize {
        let with_state = |id: DefId| {
            let value = self.model.value_type(id)?;
            (value.kind != ValueKind::Abstract).then_some(value)
        };
        let chain =
            core::iter::successors(with_state(id), |value| with_state(*value.bases.first()?));
        chain.take(MAX_VALUE_CHAIN).count()
    }

    fn check_truncatable(&self, value: &ValueDef, bases: &[DefId]) {
        let Some(span) = value.truncatable else {
            return;
        };
        let first = bases.first().and_then(|&base| self.model.value_type(base));
        let message = match (value.kind, first) {
            (ValueKind::Custom, _) => "a custom value type cannot be `truncatable`",
            (ValueKind::Abstract, _) => "an abstract value type cannot be `truncatable`",
            (ValueKind::Stateful, Some(base)) if base.kind == ValueKind::Abstract => {
                "`truncatable` needs a base that has state"
            }
            _ => return,
        };
        self.report(Report::new(span, message));
    }

    /// The supported interfaces: at most one that is not abstract, which comes first, and abstract ones.
    fn supported(&mut self, scope: ScopeId, names: &[ScopedName]) -> Vec<DefId> {
        let mut supports: Vec<DefId> = Vec::new();
        for name in names.iter().take(MAX_BASES + 1) {
            let Some(id) = self.lookup_base(scope, name) else {
                continue;
            };
            let def = self.model.def(id);
            let message = match &def.kind {
                DefKind::Unsupported => continue,
                DefKind::Interface(interface) if !interface.defined => {
                    format!("`{}` is not defined yet and cannot be supported", def.name)
                }
                DefKind::Interface(_) if supports.contains(&id) => {
                    format!("`{}` is named twice", def.name)
                }
                DefKind::Interface(interface)
                    if interface.kind != InterfaceKind::Abstract && !supports.is_empty() =>
                {
                    format!(
                        "`{}` is not abstract, and only the first interface that a value type \
                         supports can be that",
                        def.name
                    )
                }
                DefKind::Interface(_) => {
                    supports.push(id);
                    continue;
                }
                _ => format!(
                    "`{}` is {}, not an interface",
                    def.name,
                    self.model.noun(id)
                ),
            };
            self.report(Report::new(name.span(), message).label(def.span, "declared here"));
        }
        supports
    }

    /// Checks the concrete interface that a value type supports: it must inherit from those that its bases support.
    fn check_supported(&self, head: &Head, bases: &[DefId], supports: &[DefId]) {
        let own = supports.first().copied().filter(|&id| self.is_concrete(id));
        let Some(own) = own else {
            self.check_one_supported(head, bases);
            return;
        };
        for inherited in self.concrete_supports(bases) {
            let derives = inherited == own
                || self
                    .model
                    .ancestors(own)
                    .unwrap_or_default()
                    .contains(&inherited);
            if !derives {
                let (own, inherited) = (self.model.def(own), self.model.def(inherited));
                let message = format!(
                    "`{}` supports `{}`, which does not derive from `{}`, which a base supports",
                    head.name.text, own.name, inherited.name
                );
                let report = Report::new(head.name.span, message);
                self.report(report.label(inherited.span, "declared here"));
            }
        }
    }

    /// Checks a value type without a concrete interface of its own: one of those that its bases support must inherit from all
    /// others.
    fn check_one_supported(&self, head: &Head, bases: &[DefId]) {
        let all = self.concrete_supports(bases);
        let covers = |id: DefId| {
            let above = self.model.ancestors(id).unwrap_or_default();
            all.iter()
                .all(|&other| other == id || above.contains(&other))
        };
        if let [first, .., last] = all[..]
            && !all.iter().any(|&id| covers(id))
        {
            let (first, last) = (self.model.def(first), self.model.def(last));
            let message = format!(
                "the bases of `{}` support `{}` and `{}`, which have nothing to do with each other",
                head.name.text, first.name, last.name
            );
            let report = Report::new(head.name.span, message)
                .label(first.span, "one is declared here")
                .label(last.span, "the other here");
            self.report(report.hint("support an interface that derives from both"));
        }
    }

    fn is_concrete(&self, interface: DefId) -> bool {
        let interface = self.model.interface(interface);
        interface.is_some_and(|interface| interface.kind != InterfaceKind::Abstract)
    }

    /// The concrete interfaces that `bases` and their bases support.
    fn concrete_supports(&self, bases: &[DefId]) -> Vec<DefId> {
        let values = self.with_ancestors(bases);
        let values = values
            .iter()
            .filter_map(|&base| self.model.value_type(base));
        let supported = values.filter_map(|value| value.supports.first().copied());
        let mut seen = HashSet::new();
        supported
            .filter(|&id| self.is_concrete(id) && seen.insert(id))
            .collect()
    }

    pub(super) fn value_box(&mut self, scope: ScopeId, head: &Head, spec: &TypeSpec) {
        let ty = self.type_spec(scope, spec, true);
        self.check_complete(&ty, spec.span, None);
        if let Type::Named(id) = self.model.unaliased(&ty)
            && let def = self.model.def(*id)
            && let DefKind::Value(_) | DefKind::ValueBox(_) = def.kind
        {
            let message = format!("`{}` is {} already", def.name, self.model.noun(*id));
            let report = Report::new(spec.span, message).label(def.span, "declared here");
            self.report(report.hint("a value box holds anything but a value"));
        }
        if *self.model.unaliased(&ty) == Type::ValueBase {
            let report = Report::new(spec.span, "`ValueBase` is a value type already");
            self.report(report.hint("a value box holds anything but a value"));
        }
        self.declare(scope, head, DefKind::ValueBox(ty));
    }

    pub(super) fn state(&mut self, scope: ScopeId, public: bool, member: &MemberDcl) {
        let Some(owner) = self.model.scope(scope).owner else {
            return;
        };
        self.refuse_in_abstract(owner, &member.head, "state");
        let (def, ty) = self.declare_member(owner, scope, member);
        if let DefKind::Value(value) = &mut self.model.defs[owner.0].kind {
            value.members.push(StateMember { def, public, ty });
        }
    }

    fn refuse_in_abstract(&self, owner: DefId, head: &Head, what: &str) {
        let def = self.model.def(owner);
        if let DefKind::Value(value) = &def.kind
            && value.kind == ValueKind::Abstract
        {
            let message = format!("an abstract value type has no {what}");
            let report = Report::new(head.name.span, message);
            self.report(report.label(def.span, "declared abstract here"));
        }
    }

    pub(super) fn factory(&mut self, scope: ScopeId, head: &Head, factory: &AstFactory) {
        let Some(owner) = self.model.scope(scope).owner else {
            return;
        };
        self.refuse_in_abstract(owner, head, "factories");
        let def = self.declare(scope, head, DefKind::Factory);
        for parameter in &factory.parameters {
            if parameter.direction != Direction::In {
                let message = "a factory has `in` parameters only";
                self.report(Report::new(parameter.head.name.span, message));
            }
        }
        let parameters = self.parameters(scope, def, &factory.parameters);
        if parameters.len() > MAX_PARAMETERS {
            let message = format!(
                "`{}` has more than {MAX_PARAMETERS} parameters",
                head.name.text
            );
            self.report(Report::new(head.name.span, message));
        }
        let raises = self.raises(scope, &factory.raises);
        let sound = parameters.iter().all(|it| !self.is_error(&it.ty));
        if let DefKind::Value(value) = &mut self.model.defs[owner.0].kind
            && sound
        {
            value.factories.push(Operation {
                def,
                role: Role::Factory,
                oneway: false,
                result: None,
                parameters,
                raises,
                context: Vec::new(),
            });
        }
    }
}
