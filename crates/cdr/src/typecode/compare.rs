//! Comparison of types: equal, equivalent, convertible.

use super::{TcKind, data::TypeRef};
use alloc::{collections::BTreeSet, vec::Vec};

/// Pairs of parts that one comparison looks at. Two types of a thousand parts need about a thousand pairs. Types that a
/// peer made to be slow need as many as the product of their sizes, and count as different.
const MAX_PAIRS: usize = 1 << 16;

/// The rule of a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sameness {
    /// CORBA's `equal`: names and aliases count.
    Equal,
    /// CORBA's `equivalent`: aliases and names are ignored, and equal ids suffice.
    Equivalent,
    /// A value of the first type can be one of the second: equivalent types, whose bounds of strings and sequences are
    /// ignored, and `string` is `wstring`.
    Convertible,
}

/// Whether two types are the same by the rule `what`.
pub(crate) fn same(a: TypeRef<'_>, b: TypeRef<'_>, what: Sameness) -> bool {
    let mut taken_for_granted = BTreeSet::new();
    let mut pairs = Vec::new();
    let mut parts = 0_usize;
    pairs.push((a, b));
    // Recursive types are the same if no pair of their parts differs, so a pair that was seen before is skipped.
    while let Some((mut a, mut b)) = pairs.pop() {
        if what != Sameness::Equal {
            (a, b) = (a.unaliased(), b.unaliased());
        }
        if a.address() == b.address() {
            continue;
        }
        // Before their parts are looked at, of which each may have many, and be met often.
        let simple = a.kind().is_simple() && b.kind().is_simple();
        if !simple && !taken_for_granted.insert((a.address(), b.address())) {
            continue;
        }
        if !same_without_members(a, b, what) {
            return false;
        }
        if simple || settled_by_id(a, b, what) {
            continue;
        }
        parts = parts.saturating_add(1).saturating_add(a.member_count());
        if parts > MAX_PAIRS {
            return false;
        }
        pairs.push((a.content(), b.content()));
        if a.kind() != TcKind::Enum {
            let members = a.members().zip(b.members());
            pairs.extend(members.map(|(a, b)| (a.ty, b.ty)));
        }
    }
    true
}

/// Whether the ids decide that the types are the same, since both have one. [`same_without_members`] has found the ids
/// equal.
fn settled_by_id(a: TypeRef<'_>, b: TypeRef<'_>, what: Sameness) -> bool {
    what != Sameness::Equal && !a.id().is_empty() && !b.id().is_empty()
}

/// Whether types are the same, their members and other types that they refer to left out.
fn same_without_members(a: TypeRef<'_>, b: TypeRef<'_>, what: Sameness) -> bool {
    use TcKind::{Alias, Fixed, Sequence, String, Union, WString};
    let (kind, other) = (a.kind(), b.kind());
    let text = matches!(kind, String | WString) && matches!(other, String | WString);
    if what == Sameness::Convertible && text {
        return true;
    }
    if kind != other {
        return false;
    }
    if settled_by_id(a, b, what) {
        return a.id() == b.id();
    }
    if what == Sameness::Equal && a.id_and_name() != b.id_and_name() {
        return false;
    }
    let number = match kind {
        Sequence => what == Sameness::Convertible || a.number() == b.number(),
        // The number of an alias counts the aliases behind it, which is not part of the type.
        Alias => true,
        _ => a.number() == b.number(),
    };
    if !number || a.member_count() != b.member_count() {
        return false;
    }
    match kind {
        Fixed => a.scale() == b.scale(),
        _ => a
            .members()
            .zip(b.members())
            .enumerate()
            .all(|(index, (a_m, b_m))| {
                let default = kind == Union && i64::try_from(index) == Ok(a.number());
                (default || a_m.label == b_m.label)
                    && (what != Sameness::Equal || a_m.name == b_m.name)
            }),
    }
}
