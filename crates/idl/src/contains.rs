//! Containment of types: properties of a type that hold for all types that contain it.

use std::collections::HashMap;

use crate::model::{DefId, DefKind, Model, Type};

/// Every definition in `of`, and every definition that contains one of these, with the value that the contained one has.
///
/// The search goes from the parts to the whole, breadth first. It takes linear time, and does not recurse, as types may
/// contain each other thousands of levels deep.
pub(crate) fn spread<T: Copy>(
    model: &Model,
    mut of: HashMap<DefId, T>,
    parts: impl Fn(&Model, DefId) -> Vec<DefId>,
) -> HashMap<DefId, T> {
    if of.is_empty() {
        return of;
    }
    let users = users(model, parts);
    let mut open: Vec<DefId> = of.keys().copied().collect();
    open.sort_unstable();
    while let Some(id) = open.pop() {
        let Some(&cause) = of.get(&id) else { continue };
        for &user in users.get(&id).map_or(&[][..], Vec::as_slice) {
            of.entry(user).or_insert_with(|| {
                open.push(user);
                cause
            });
        }
    }
    of
}

fn users(model: &Model, parts: impl Fn(&Model, DefId) -> Vec<DefId>) -> HashMap<DefId, Vec<DefId>> {
    let mut users: HashMap<DefId, Vec<DefId>> = HashMap::new();
    for id in (0..model.defs.len()).map(DefId) {
        for part in parts(model, id) {
            users.entry(part).or_default().push(id);
        }
    }
    users
}

/// The types that the definition of a data type names. An interface has none, as it contains no data. Callers handle the
/// state of a value type.
pub(crate) fn member_types(model: &Model, id: DefId) -> Vec<&Type> {
    match &model.def(id).kind {
        DefKind::Struct(body) | DefKind::Exception(body) => {
            body.members.iter().map(|member| &member.ty).collect()
        }
        DefKind::Union(union) => union.cases.iter().map(|case| &case.member.ty).collect(),
        DefKind::Typedef(ty) | DefKind::ValueBox(ty) => vec![ty],
        _ => Vec::new(),
    }
}

/// The definitions that a data type is made of.
pub(crate) fn parts(model: &Model, id: DefId) -> Vec<DefId> {
    let mut parts = Vec::new();
    if let DefKind::Struct(body) = &model.def(id).kind {
        parts.extend(body.base);
    }
    for ty in member_types(model, id) {
        names_in(ty, &mut parts);
    }
    parts
}

/// Adds the definitions that `ty` names directly. [`MAX_TYPE_DEPTH`](crate::limits::MAX_TYPE_DEPTH) bounds the recursion.
pub(crate) fn names_in(ty: &Type, names: &mut Vec<DefId>) {
    match ty {
        Type::Named(id) => names.push(*id),
        Type::Sequence(element, _) | Type::Array(element, _) => names_in(element, names),
        Type::Map(key, value, _) => {
            names_in(key, names);
            names_in(value, names);
        }
        _ => {}
    }
}
