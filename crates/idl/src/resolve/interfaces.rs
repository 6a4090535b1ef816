//! Interfaces: inheritance, operations, attributes.

use std::collections::HashMap;

use super::Resolver;
use crate::ast::{
    Attribute as AstAttribute, Definition, Direction, Head, Operation as AstOperation, ScopedName,
};
use crate::diagnostic::Report;
use crate::limits::{MAX_BASES, MAX_PARAMETERS};
use crate::model::{DefId, DefKind, Interface, Operation, Parameter, Role, ScopeId, Type};
use crate::source::Span;

impl Resolver<'_> {
    /// The interface `head` names, made or found; `None` when it cannot be filled.
    pub(super) fn interface_entry(
        &mut self,
        scope: ScopeId,
        head: &Head,
        define: bool,
    ) -> Option<DefId> {
        if let Some(id) = self.existing(scope, head)
            && let Some(Interface { defined, .. }) = self.model.interface(id)
            && !(*defined && define)
        {
            self.check_spelling(id, head);
            self.check_same_id(id, head);
            if define {
                let def = &mut self.model.defs[id.0];
                def.doc = head.doc.clone().or_else(|| def.doc.take());
            }
            return define.then_some(id);
        }
        let inner = self.new_scope(scope);
        let interface = Interface {
            scope: inner,
            defined: false,
            bases: Vec::new(),
            ancestors: Vec::new(),
            operations: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Interface(interface));
        self.model.scopes[inner.0].owner = Some(id);
        define.then_some(id)
    }

    pub(super) fn interface(
        &mut self,
        scope: ScopeId,
        head: &Head,
        bases: &[ScopedName],
        body: &[Definition],
    ) {
        let Some(id) = self.interface_entry(scope, head, true) else {
            return;
        };
        let bases = self.bases(scope, id, bases);
        let mut ancestors = Vec::new();
        for &base in &bases {
            if !ancestors.contains(&base) {
                ancestors.push(base);
            }
        }
        for &base in &bases {
            for &further in self
                .model
                .interface(base)
                .map_or(&[][..], |base| &base.ancestors)
            {
                if !ancestors.contains(&further) {
                    ancestors.push(further);
                }
            }
        }
        if ancestors.len() > MAX_BASES {
            let message = format!(
                "`{}` inherits from more than {MAX_BASES} interfaces",
                head.name.text
            );
            self.report(Report::new(head.name.span, message));
            ancestors.clear();
        }
        self.check_bases_agree(head, &ancestors);
        let Some(inner) = self.model.own_scope(id) else {
            return;
        };
        if let DefKind::Interface(interface) = &mut self.model.defs[id.0].kind {
            interface.defined = true;
            interface.bases = bases;
            interface.ancestors = ancestors;
        }
        self.definitions(inner, body);
    }

    fn bases(&mut self, scope: ScopeId, derived: DefId, names: &[ScopedName]) -> Vec<DefId> {
        let mut bases = Vec::new();
        for name in names {
            let Some(id) = self.lookup(scope, name) else {
                continue;
            };
            let def = self.model.def(id);
            let message = match &def.kind {
                DefKind::Unsupported => continue,
                DefKind::Interface(_) if id == derived => {
                    format!("`{}` inherits from itself", def.name)
                }
                DefKind::Interface(Interface { defined: false, .. }) => {
                    format!(
                        "`{}` is not defined yet and cannot be inherited from",
                        def.name
                    )
                }
                DefKind::Interface(_) if bases.contains(&id) => {
                    format!("`{}` is named twice as a base", def.name)
                }
                DefKind::Interface(_) => {
                    bases.push(id);
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
        bases
    }

    /// Two bases may not bring two operations of one name.
    fn check_bases_agree(&self, head: &Head, ancestors: &[DefId]) {
        let mut seen: HashMap<&str, DefId> = HashMap::new();
        for interface in ancestors
            .iter()
            .filter_map(|&base| self.model.interface(base))
        {
            for (key, &id) in &self.model.scope(interface.scope).names {
                if !matches!(self.model.def(id).kind, DefKind::Operation) {
                    continue;
                }
                if let Some(other) = seen.insert(key, id) {
                    let (first, second) = (self.model.def(other), self.model.def(id));
                    let message = format!(
                        "`{}` inherits `{}` from two bases",
                        head.name.text, first.name
                    );
                    let report = Report::new(head.name.span, message)
                        .label(first.span, "one is declared here")
                        .label(second.span, "the other here");
                    self.report(report);
                }
            }
        }
    }

    pub(super) fn operation(&mut self, scope: ScopeId, head: &Head, operation: &AstOperation) {
        let result = operation.result.as_ref().map(|spec| {
            self.check_named(spec);
            let ty = self.type_spec(scope, spec, true);
            self.check_complete(&ty, spec.span, None);
            ty
        });
        let def = self.declare(scope, head, DefKind::Operation);
        let mut parameters: Vec<Parameter> = Vec::new();
        for parameter in &operation.parameters {
            self.check_named(&parameter.ty);
            let ty = self.type_spec(scope, &parameter.ty, true);
            self.check_complete(&ty, parameter.ty.span, None);
            let (name, span) = (&parameter.head.name.text, parameter.head.name.span);
            if let Some(other) = parameters
                .iter()
                .find(|other| other.name.eq_ignore_ascii_case(name))
            {
                let message = format!("two parameters are called `{name}`");
                self.report(Report::new(span, message).label(other.span, "the first is here"));
                continue;
            }
            parameters.push(Parameter {
                name: name.clone(),
                span,
                direction: parameter.direction,
                ty,
            });
        }
        let raises = self.raises(scope, &operation.raises);
        let given_back = parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::In)
            .count();
        if parameters.len() > MAX_PARAMETERS
            || given_back + usize::from(result.is_some()) > MAX_PARAMETERS
        {
            let message = format!(
                "`{}` has more than {MAX_PARAMETERS} parameters or results",
                head.name.text
            );
            self.report(Report::new(head.name.span, message));
        }
        if let Some(oneway) = operation.oneway {
            self.check_oneway(oneway, result.is_some(), given_back > 0, !raises.is_empty());
        }
        let oneway = operation.oneway.is_some();
        self.add(
            scope,
            Operation {
                def,
                role: Role::Operation,
                oneway,
                result,
                parameters,
                raises,
            },
        );
    }

    fn check_oneway(&self, oneway: Span, result: bool, out: bool, raises: bool) {
        let what = match (result, out, raises) {
            (true, ..) => "have a result",
            (_, true, _) => "have `out` or `inout` parameters",
            (_, _, true) => "raise exceptions",
            _ => return,
        };
        self.report(Report::new(
            oneway,
            format!("a oneway operation cannot {what}: nothing comes back from it"),
        ));
    }

    pub(super) fn attribute(&mut self, scope: ScopeId, head: &Head, attribute: &AstAttribute) {
        self.check_named(&attribute.ty);
        let ty = self.type_spec(scope, &attribute.ty, true);
        self.check_complete(&ty, attribute.ty.span, None);
        let def = self.declare(scope, head, DefKind::Operation);
        let raises = self.raises(scope, &attribute.get_raises);
        let result = Some(ty.clone());
        let parameters = Vec::new();
        self.add(
            scope,
            Operation {
                def,
                role: Role::Get,
                oneway: false,
                result,
                parameters,
                raises,
            },
        );
        if !attribute.readonly {
            let raises = self.raises(scope, &attribute.set_raises);
            let value = Parameter {
                name: "value".into(),
                span: head.name.span,
                direction: Direction::In,
                ty,
            };
            let parameters = vec![value];
            self.add(
                scope,
                Operation {
                    def,
                    role: Role::Set,
                    oneway: false,
                    result: None,
                    parameters,
                    raises,
                },
            );
        }
    }

    fn raises(&mut self, scope: ScopeId, names: &[ScopedName]) -> Vec<DefId> {
        let mut raises = Vec::new();
        for name in names {
            let Some(id) = self.lookup(scope, name) else {
                continue;
            };
            let def = self.model.def(id);
            match &def.kind {
                DefKind::Exception(_) if raises.contains(&id) => {
                    self.report(Report::new(
                        name.span(),
                        format!("`{}` is named twice", def.name),
                    ));
                }
                DefKind::Exception(_) => raises.push(id),
                DefKind::Unsupported => {}
                _ => {
                    let message = format!(
                        "`{}` is {}, not an exception",
                        def.name,
                        self.model.noun(id)
                    );
                    self.report(Report::new(name.span(), message).label(def.span, "declared here"));
                }
            }
        }
        raises
    }

    fn add(&mut self, scope: ScopeId, operation: Operation) {
        let types = operation
            .parameters
            .iter()
            .map(|parameter| &parameter.ty)
            .chain(&operation.result);
        let sound = types.into_iter().all(|ty: &Type| !self.is_error(ty));
        let Some(owner) = self.model.scope(scope).owner else {
            return;
        };
        if let (true, DefKind::Interface(interface)) = (sound, &mut self.model.defs[owner.0].kind) {
            interface.operations.push(operation);
        }
    }
}
