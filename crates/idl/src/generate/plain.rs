//! Which operations a caller and a servant of one ORB may do without messages.

use std::collections::HashSet;

use super::Generator;
use crate::model::{Basic, DefId, DefKind, Model, Operation, Type};

/// Parameters, and results, of operations that are called by values at most: `zorb::signature::given` has as many.
const MOST: usize = 8;

/// The structs and enums that are *plain*: of which every value can be sent, and a copy is as good as what would be
/// read of it. Text, what is bounded, numbers of so many digits and unions with a discriminator of their own may have to
/// be refused; references, values and anys become others on the way.
///
/// In the order of their declaration, so that what one consists of has been looked at before it, or is recursive: such
/// a one is not plain, since there is a limit to its depth.
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
    /// Whether the operation is called by values where that is possible.
    pub(super) fn is_called_by_values(&self, operation: &Operation) -> bool {
        let outputs = self.outputs(operation);
        !operation.oneway
            && operation.context.is_empty()
            && self.inputs(operation).count() <= MOST
            && outputs.len() <= MOST
            && self
                .inputs(operation)
                .all(|parameter| self.is_given(&parameter.ty))
            && outputs.into_iter().all(|ty| self.is_returned(ty))
    }

    /// At the top an argument is looked at before it is handed over, so more will do there.
    fn is_given(&self, ty: &Type) -> bool {
        match self.model.unaliased(ty) {
            Type::Sequence(element, Some(_)) => is_plain(self.model, &self.plain, element),
            ty => self.is_returned(ty),
        }
    }

    fn is_returned(&self, ty: &Type) -> bool {
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
