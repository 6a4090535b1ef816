//! Local types: local interfaces, and types that contain one.

use std::collections::HashMap;

use super::Resolver;
use crate::contains::{names_in, parts, spread};
use crate::diagnostic::Report;
use crate::model::{DefId, DefKind, InterfaceKind, Model, Operation, Role, Type};
use crate::source::Span;

impl Resolver<'_> {
    /// Checks that remote operations have no local types in their signatures, and that values have none in their state. Runs
    /// at the end: before it, forward declarations and recursion leave open what a type contains.
    pub(super) fn check_local(&self) {
        let local = local_types(&self.model);
        if local.is_empty() {
            return;
        }
        for def in &self.model.defs {
            match &def.kind {
                DefKind::Interface(interface) if interface.kind == InterfaceKind::Plain => {
                    for operation in &interface.operations {
                        self.check_signature(operation, &local);
                    }
                }
                DefKind::Value(value) => {
                    for member in &value.members {
                        let span = self.model.def(member.def).span;
                        self.refuse_local(&member.ty, span, "the state of a value type", &local);
                    }
                }
                _ => {}
            }
        }
    }

    fn check_signature(&self, operation: &Operation, local: &HashMap<DefId, DefId>) {
        const WHAT: &str = "the signature of an interface that is not local";
        let span = self.model.def(operation.def).span;
        if let Some(result) = &operation.result {
            self.refuse_local(result, span, WHAT, local);
        }
        for parameter in &operation.parameters {
            // The parameter of a setter was checked as the result of the getter.
            if operation.role != Role::Set {
                self.refuse_local(&parameter.ty, parameter.span, WHAT, local);
            }
        }
        for &exception in &operation.raises {
            self.refuse_local(&Type::Named(exception), span, WHAT, local);
        }
    }

    fn refuse_local(&self, ty: &Type, span: Span, what: &str, local: &HashMap<DefId, DefId>) {
        let mut named = Vec::new();
        names_in(ty, &mut named);
        let Some((id, cause)) = named.iter().find_map(|id| Some((*id, *local.get(id)?))) else {
            return;
        };
        let name = &self.model.def(id).name;
        let is_itself = id == cause;
        let cause = self.model.def(cause);
        let message = match is_itself {
            true => format!("`{name}` is local and cannot stand in {what}"),
            false => format!(
                "`{name}` contains the local `{}` and cannot stand in {what}",
                cause.name
            ),
        };
        self.report(Report::new(span, message).label(cause.span, "declared local here"));
    }
}

/// Every definition that is local or contains a local type, with the local interface that makes it so.
fn local_types(model: &Model) -> HashMap<DefId, DefId> {
    let is_local = |id: &DefId| {
        let interface = model.interface(*id);
        interface.is_some_and(|interface| interface.kind == InterfaceKind::Local)
    };
    let ids = (0..model.defs.len()).map(DefId);
    let local = ids.filter(is_local).map(|id| (id, id)).collect();
    spread(model, local, parts)
}
