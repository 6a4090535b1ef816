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
/// Members that are written of all types without a name within one type. A few octets can state a type that has more
/// than could ever be written.
const MAX_SHOWN_PARTS: usize = 256;
/// Scopes that are written of a name.
const MAX_SHOWN_SCOPES: usize = 16;
/// Characters that are written of a name. A name may be written for each of many values.
const MAX_SHOWN_CHARACTERS: usize = 128;

/// A name that a peer may have chosen, cut if it is long.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = self.0.char_indices().nth(MAX_SHOWN_CHARACTERS);
        match cut.and_then(|(end, _)| self.0.get(..end)) {
            Some(first) => write!(f, "{first}…"),
            None => f.write_str(self.0),
        }
    }
}

impl fmt::Display for TypeCode {
    /// Writes the type as it stands in a declaration: `unsigned long`, `sequence<Bank::Entry, 5>`. `{:#}` writes its
    /// definition: `struct Bank::Entry { long amount; string purpose; }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            definition(self.view(), f, 0, &mut { MAX_SHOWN_PARTS })
        } else {
            reference(self.view(), f)
        }
    }
}

impl fmt::Debug for TypeCode {
    /// Writes `TypeCode(struct Bank::Entry { long amount; string purpose; })`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeCode(")?;
        definition(self.view(), f, 0, &mut { MAX_SHOWN_PARTS })?;
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
            (name, _) => write!(f, "{}", Shown(name)),
        };
    };
    // The prefix is a domain name, and not a scope.
    let parts = path.split('/').skip_while(|part| part.contains('.'));
    for (index, part) in parts.enumerate() {
        if index > 0 {
            f.write_str("::")?;
        }
        if index == MAX_SHOWN_SCOPES {
            return f.write_str("…");
        }
        write!(f, "{}", Shown(part))?;
    }
    Ok(())
}

/// Writes the type as other types refer to it.
pub(crate) fn reference(ty: TypeRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    reference_at(ty, f, 0, &mut { MAX_SHOWN_PARTS })
}

/// Writes the type as other types refer to it, at a depth within a type of which `parts` more members are written.
fn reference_at(
    ty: TypeRef<'_>,
    f: &mut fmt::Formatter<'_>,
    depth: usize,
    parts: &mut usize,
) -> fmt::Result {
    if depth > MAX_SHOWN_DEPTH {
        return f.write_str("…");
    }
    let deeper = depth.saturating_add(1);
    let kind = ty.kind();
    match kind {
        TcKind::Sequence => {
            f.write_str("sequence<")?;
            reference_at(ty.content(), f, deeper, parts)?;
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
            reference_at(element, f, deeper, parts)?;
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
            definition(ty, f, deeper, parts)
        }
        _ if kind.is_named() => scoped_name(ty, f),
        _ => f.write_str(kind.keyword()),
    }
}

/// Writes the definition of the type.
fn definition(
    ty: TypeRef<'_>,
    f: &mut fmt::Formatter<'_>,
    depth: usize,
    parts: &mut usize,
) -> fmt::Result {
    let kind = ty.kind();
    let deeper = depth.saturating_add(1);
    if !kind.is_named() {
        return reference_at(ty, f, depth, parts);
    }
    if kind == TcKind::Alias {
        f.write_str("typedef ")?;
        reference_at(ty.content(), f, deeper, parts)?;
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
            return reference_at(ty.content(), f, deeper, parts);
        }
        TcKind::Union => {
            f.write_str(" switch (")?;
            reference_at(ty.content(), f, deeper, parts)?;
            f.write_str(")")?;
        }
        TcKind::Value | TcKind::Event if ty.content().kind() != TcKind::Null => {
            f.write_str(" : ")?;
            reference_at(ty.content(), f, deeper, parts)?;
        }
        TcKind::Struct | TcKind::Except | TcKind::Enum | TcKind::Value | TcKind::Event => {}
        _ => return Ok(()),
    }
    f.write_str(" {")?;
    for (index, member) in ty.members().enumerate() {
        if depth > 0 {
            if index >= MAX_SHOWN_MEMBERS || *parts == 0 {
                f.write_str(" …")?;
                break;
            }
            *parts = parts.saturating_sub(1);
        }
        f.write_str(if kind == TcKind::Enum && index > 0 {
            ", "
        } else {
            " "
        })?;
        show_member(ty, index, member, f, (deeper, &mut *parts))?;
    }
    f.write_str(" }")
}

fn show_member(
    ty: TypeRef<'_>,
    index: usize,
    member: MemberRef<'_>,
    f: &mut fmt::Formatter<'_>,
    (depth, parts): (usize, &mut usize),
) -> fmt::Result {
    match ty.kind() {
        TcKind::Enum => return write!(f, "{}", Shown(member.name)),
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
    reference_at(member.ty, f, depth, parts)?;
    if !member.name.is_empty() {
        write!(f, " {}", Shown(member.name))?;
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
                Some(member) if !member.name.is_empty() => write!(f, "{}", Shown(member.name)),
                _ => write!(f, "{label}"),
            }
        }
        _ => write!(f, "{label}"),
    }
}
