//! Types as text, in the syntax of IDL.

use super::{
    TcKind, TypeCode,
    data::{MemberRef, TypeRef},
};
use core::fmt::{self, Write};

/// Levels of types without a name that are written; deeper ones are `…`.
const MAX_SHOWN_DEPTH: usize = 16;
/// Members that are written of a type without a name.
const MAX_SHOWN_MEMBERS: usize = 16;

impl fmt::Display for TypeCode {
    /// Writes the type as it stands in a declaration: `unsigned long`, `sequence<Bank::Entry, 5>`. `{:#}` writes its
    /// definition: `struct Bank::Entry { long amount; string purpose; }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            definition(self.view(), f, 0)
        } else {
            reference(self.view(), f, 0)
        }
    }
}

impl fmt::Debug for TypeCode {
    /// Writes `TypeCode(struct Bank::Entry { long amount; string purpose; })`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeCode(")?;
        definition(self.view(), f, 0)?;
        f.write_str(")")
    }
}

/// Writes the scoped name, as far as the repository id contains it: `Bank::Entry` of `IDL:acme.com/Bank/Entry:1.0`.
pub(crate) fn scoped_name(ty: TypeRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (id, name) = ty.id_and_name();
    let path = id
        .strip_prefix("IDL:")
        .and_then(|rest| rest.rsplit_once(':'))
        .map(|(path, _)| path);
    let Some(path) = path else {
        return match (name, id) {
            ("", "") => f.write_str(ty.kind().keyword()),
            ("", id) => write!(f, "{:?}", id),
            (name, _) => f.write_str(name),
        };
    };
    // The prefix is a domain name, and not a scope.
    let parts = path.split('/').skip_while(|part| part.contains('.'));
    for (index, part) in parts.enumerate() {
        if index > 0 {
            f.write_str("::")?;
        }
        f.write_str(part)?;
    }
    Ok(())
}

/// Writes the type as other types refer to it.
pub(crate) fn reference(ty: TypeRef<'_>, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    if depth > MAX_SHOWN_DEPTH {
        return f.write_str("…");
    }
    let deeper = depth.saturating_add(1);
    let kind = ty.kind();
    match kind {
        TcKind::Sequence => {
            f.write_str("sequence<")?;
            reference(ty.content(), f, deeper)?;
            match ty.bound() {
                0 => f.write_str(">"),
                bound => write!(f, ", {bound}>"),
            }
        }
        TcKind::Array => {
            let mut element = ty;
            let mut levels = 0_usize;
            while element.kind() == TcKind::Array && levels < MAX_SHOWN_DEPTH {
                element = element.content();
                levels = levels.saturating_add(1);
            }
            reference(element, f, deeper)?;
            let mut at = ty;
            for _ in 0..levels {
                write!(f, "[{}]", at.bound())?;
                at = at.content();
            }
            Ok(())
        }
        TcKind::String | TcKind::WString if ty.bound() != 0 => {
            write!(f, "{}<{}>", kind.keyword(), ty.bound())
        }
        TcKind::Fixed => write!(f, "fixed<{}, {}>", ty.number(), ty.scale()),
        TcKind::ObjRef if ty.id().is_empty() && ty.name().is_empty() => f.write_str("Object"),
        // A type without a name is written with its members.
        _ if kind.is_named() && ty.id().is_empty() && ty.name().is_empty() => {
            definition(ty, f, deeper)
        }
        _ if kind.is_named() => scoped_name(ty, f),
        _ => f.write_str(kind.keyword()),
    }
}

/// Writes the definition of the type.
fn definition(ty: TypeRef<'_>, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    let kind = ty.kind();
    let deeper = depth.saturating_add(1);
    if !kind.is_named() {
        return reference(ty, f, depth);
    }
    if kind == TcKind::Alias {
        f.write_str("typedef ")?;
        reference(ty.content(), f, deeper)?;
        f.write_str(" ")?;
        return scoped_name(ty, f);
    }
    if matches!(kind, TcKind::Value | TcKind::Event) {
        f.write_str(match ty.number() {
            1 => "custom ",
            2 => "abstract ",
            3 => "truncatable ",
            _ => "",
        })?;
    }
    f.write_str(kind.keyword())?;
    if !(ty.id().is_empty() && ty.name().is_empty()) {
        f.write_str(" ")?;
        scoped_name(ty, f)?;
    }
    match kind {
        TcKind::ValueBox => {
            f.write_str(" ")?;
            return reference(ty.content(), f, deeper);
        }
        TcKind::Union => {
            f.write_str(" switch (")?;
            reference(ty.content(), f, deeper)?;
            f.write_str(")")?;
        }
        TcKind::Value | TcKind::Event if ty.content().kind() != TcKind::Null => {
            f.write_str(" : ")?;
            reference(ty.content(), f, deeper)?;
        }
        TcKind::Struct | TcKind::Except | TcKind::Enum | TcKind::Value | TcKind::Event => {}
        _ => return Ok(()),
    }
    f.write_str(" {")?;
    for (index, member) in ty.members().enumerate() {
        if index >= MAX_SHOWN_MEMBERS && depth > 0 {
            f.write_str(" …")?;
            break;
        }
        f.write_str(if kind == TcKind::Enum && index > 0 {
            ", "
        } else {
            " "
        })?;
        show_member(ty, index, member, f, deeper)?;
    }
    f.write_str(" }")
}

fn show_member(
    ty: TypeRef<'_>,
    index: usize,
    member: MemberRef<'_>,
    f: &mut fmt::Formatter<'_>,
    depth: usize,
) -> fmt::Result {
    match ty.kind() {
        TcKind::Enum => return f.write_str(member.name),
        TcKind::Union if i64::try_from(index) == Ok(ty.number()) => f.write_str("default: ")?,
        TcKind::Union => {
            f.write_str("case ")?;
            show_label(ty.content(), member.label, f)?;
            f.write_str(": ")?;
        }
        TcKind::Value | TcKind::Event => {
            f.write_str(if member.label == 0 {
                "private "
            } else {
                "public "
            })?;
        }
        _ => {}
    }
    reference(member.ty, f, depth)?;
    if !member.name.is_empty() {
        f.write_str(" ")?;
        f.write_str(member.name)?;
    }
    f.write_char(';')
}

/// Writes a label, or a discriminator.
pub(crate) fn show_label(ty: TypeRef<'_>, label: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let ty = ty.unaliased();
    match ty.kind() {
        TcKind::Boolean => f.write_str(if label == 0 { "FALSE" } else { "TRUE" }),
        TcKind::Char | TcKind::WChar => {
            let c = u32::try_from(label).ok().and_then(char::from_u32);
            write!(f, "{:?}", c.unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        TcKind::Enum => {
            let member = usize::try_from(label)
                .ok()
                .and_then(|index| ty.member(index));
            match member {
                Some(member) if !member.name.is_empty() => f.write_str(member.name),
                _ => write!(f, "{label}"),
            }
        }
        _ => write!(f, "{label}"),
    }
}
