//! Labels of unions as anys, and back.

use zorb::{Any, Char, TcKind, TypeCode, WChar};

/// The number as a value of an integer, character, boolean or enum type; `None` if it is none.
pub(crate) fn number(ty: &TypeCode, number: i128) -> Option<Any> {
    macro_rules! of {
        ($int:ty) => {
            Any::with_type_code(ty, &<$int>::try_from(number).ok()?).ok()
        };
    }
    match ty.unaliased().kind() {
        TcKind::Octet => of!(u8),
        TcKind::Short => of!(i16),
        TcKind::UShort => of!(u16),
        TcKind::Long => of!(i32),
        TcKind::ULong => of!(u32),
        TcKind::LongLong => of!(i64),
        TcKind::ULongLong => of!(u64),
        TcKind::Boolean => Any::with_type_code(ty, &(number != 0)).ok(),
        TcKind::Char => Any::with_type_code(ty, &Char(u8::try_from(number).ok()?)).ok(),
        TcKind::WChar => Any::with_type_code(ty, &WChar(u16::try_from(number).ok()?)).ok(),
        TcKind::Enum => {
            let plain = ty.unaliased();
            let name = plain.member_name(usize::try_from(number).ok()?)?;
            Any::of_enumerator(ty, name).ok()
        }
        _ => None,
    }
}

/// The label in an any of the discriminator's type; `Some(None)` for that of the default member, which is an octet 0.
pub(crate) fn of(discriminator: &TypeCode, label: &Any) -> Option<Option<i128>> {
    let (ty, found) = (discriminator.unaliased(), label.type_code().unaliased());
    if found.kind() == TcKind::Octet && ty.kind() != TcKind::Octet {
        return Some(None);
    }
    if !ty.equivalent(&found) {
        return None;
    }
    let number = match ty.kind() {
        TcKind::Octet => label.extract::<u8>().ok()?.into(),
        TcKind::Short => label.extract::<i16>().ok()?.into(),
        TcKind::UShort => label.extract::<u16>().ok()?.into(),
        TcKind::Long => label.extract::<i32>().ok()?.into(),
        TcKind::ULong => label.extract::<u32>().ok()?.into(),
        TcKind::LongLong => label.extract::<i64>().ok()?.into(),
        TcKind::ULongLong => label.extract::<u64>().ok()?.into(),
        TcKind::Boolean => label.extract::<bool>().ok()?.into(),
        TcKind::Char => label.extract::<Char>().ok()?.0.into(),
        TcKind::WChar => label.extract::<WChar>().ok()?.0.into(),
        TcKind::Enum => {
            let name = label.enumerator()?;
            let mut all = 0..ty.member_count();
            let at = all.find(|at| ty.member_name(*at) == Some(name))?;
            i128::try_from(at).ok()?
        }
        _ => return None,
    };
    Some(Some(number))
}
