//! The operations that collocated calls may carry out without messages.

use std::collections::HashSet;

use super::Generator;
use crate::model::{Basic, DefId, DefKind, Model, Operation, Type};

/// The largest number of parameters, and of results, of operations that are called without messages:
/// `zorb::signature::given` has as many.
const MOST: usize = 8;

/// The structs and enums that are *plain*: every value can be sent, and a copy equals the value that a receiver decodes.
/// Text, bounded types, fixed-point numbers and unions are not plain, as sending some of their values fails. References,
/// values and anys are not plain, as decoding makes other ones.
///
/// Definitions are visited in the order of their declaration, so that the parts of a type come before it. A part that
/// does not is recursive, and so not plain, since its depth is limited.
pub(super) fn plain_definitions(model: &Model) -> HashSet<DefId> {
    let mut plain = HashSet::new();
    for id in (0..model.defs.len()).map(DefId) {
        let is_plain = match &model.def(id).kind {
            DefKind::Enum(_) => true,
            DefKind::Struct(body) => {
                body.base.is_none_or(|base| plain.contains(&base))
                    && body
                        .members
                        .iter()
                        .all(|member| is_plain(model, &plain, &member.ty))
            }
            _ => false,
        };
        if is_plain {
            plain.insert(id);
        }
    }
    plain
}

fn is_plain(model: &Model, plain: &HashSet<DefId>, ty: &Type) -> bool {
    match model.unaliased(ty) {
        Type::Basic(basic) => *basic != Basic::Char,
        Type::Sequence(element, None) | Type::Array(element, _) => is_plain(model, plain, element),
        Type::Named(id) => plain.contains(id),
        _ => false,
    }
}

impl Generator<'_> {
    /// Whether collocated calls of the operation are typed: they may pass copies instead of messages.
    pub(super) fn has_typed_call(&self, operation: &Operation) -> bool {
        let outputs = self.outputs(operation);
        !operation.oneway
            && operation.context.is_empty()
            && self.inputs(operation).count() <= MOST
            && outputs.len() <= MOST
            && self
                .inputs(operation)
                .all(|parameter| self.has_typed_argument(&parameter.ty))
            && outputs.into_iter().all(|ty| self.has_typed_result(ty))
    }

    /// Whether an argument of this type may be passed as a copy. Its length is checked before, so bounded sequences may, too.
    fn has_typed_argument(&self, ty: &Type) -> bool {
        match self.model.unaliased(ty) {
            Type::Sequence(element, Some(_)) => is_plain(self.model, &self.plain, element),
            ty => self.has_typed_result(ty),
        }
    }

    fn has_typed_result(&self, ty: &Type) -> bool {
        let ty = self.model.unaliased(ty);
        let is_text = matches!(
            ty,
            Type::Str {
                wide: false,
                bound: None
            }
        );
        let is_object =
            self.model.is_reference(ty) && !self.model.is_abstract(ty) && !self.is_home_bound(ty);
        is_text || is_object || is_plain(self.model, &self.plain, ty)
    }
}
