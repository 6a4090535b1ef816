//! Values that have no Rust type: their parts as anys, and values built of anys. Other language mappings have `DynAny`
//! for this.

use super::{
    Any, STORED,
    walk::{array_length, enum_in_range, read_discriminator, sequence_length},
};
use crate::{
    DecodeError, Decoder, EncodeError, EncodeErrorKind, Encoder, NativeEndian, TypeCode,
    typecode::{
        Sameness, TcKind,
        data::{MemberRef, TypeRef},
        label::write_label,
        same,
    },
};
use alloc::vec::Vec;
use core::fmt;

/// # Values of unknown types
impl Any {
    /// Returns the members of a struct or exception with their names; nothing for other types. Copies each member.
    ///
    /// ```
    /// # extern crate zorb_cdr as zorb;
    /// use zorb::{Any, TcKind, TypeCode};
    ///
    /// let long = TypeCode::of_kind(TcKind::Long).unwrap();
    /// let point = TypeCode::structure("IDL:Point:1.0", "Point", &[("x", long.clone()), ("y", long)]);
    /// let any = Any::of_members(&point, &[Any::new(&1)?, Any::new(&2)?])?;
    /// assert_eq!(format!("{any:?}"), "Any(Point { x: 1, y: 2 })");
    /// for (name, member) in any.members() {
    ///     println!("{name}: {member}");
    /// }
    /// assert_eq!(any.member("y").unwrap().extract::<i32>().unwrap(), 2);
    /// # Ok::<(), zorb::EncodeError>(())
    /// ```
    #[must_use]
    pub fn members(&self) -> Vec<(&str, Self)> {
        let ty = self.ty.view().unaliased();
        let mut parts = self.parts();
        match ty.kind() {
            TcKind::Struct => {}
            TcKind::Except if parts.d.read_raw_string().is_ok() => {}
            _ => return Vec::new(),
        }
        let members = ty.members();
        members
            .map_while(|member| Some((member.name, parts.take(member.ty).ok()?)))
            .collect()
    }

    /// Returns the member of a struct or exception that has this name. Copies all members.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let mut members = self.members().into_iter();
        members
            .find(|(other, _)| *other == name)
            .map(|(_, member)| member)
    }

    /// Returns an iterator over the elements of a sequence or array; it is empty for other types. Copies each element.
    #[must_use]
    pub fn elements(&self) -> Elements<'_> {
        let ty = self.ty.view().unaliased();
        let mut parts = self.parts();
        let left = match ty.kind() {
            TcKind::Sequence => sequence_length(ty, &mut parts.d).unwrap_or(0),
            TcKind::Array => array_length(ty, &parts.d).unwrap_or(0),
            _ => 0,
        };
        Elements {
            parts,
            left,
            ty: ty.content(),
        }
    }

    /// Returns the discriminator of a union as a number: the ordinal of an enumerator, the code of a character, 0 or 1
    /// for a boolean. `None` for other types.
    #[must_use]
    pub fn discriminator(&self) -> Option<i128> {
        Some(self.union()?.1)
    }

    /// Returns the name of a union's selected member, and its value; `None` if no member is selected, and for other
    /// types.
    #[must_use]
    pub fn selected(&self) -> Option<(&str, Self)> {
        let (ty, discriminator, mut parts) = self.union()?;
        let MemberRef { name, ty, .. } = ty.selected(discriminator)?;
        Some((name, parts.take(ty).ok()?))
    }

    fn union(&self) -> Option<(TypeRef<'_>, i128, Parts<'_>)> {
        let ty = self.ty.view().unaliased();
        let mut parts = self.parts();
        (ty.kind() == TcKind::Union).then_some(())?;
        let discriminator = read_discriminator(ty, &mut parts.d).ok()?;
        Some((ty, discriminator, parts))
    }

    /// Returns the name of the enumerator; `None` for other types.
    #[must_use]
    pub fn enumerator(&self) -> Option<&str> {
        let ty = self.ty.view().unaliased();
        (ty.kind() == TcKind::Enum).then_some(())?;
        let ordinal = self.decoder().read_u32().ok()?;
        Some(ty.member(usize::try_from(ordinal).ok()?)?.name)
    }

    fn parts(&self) -> Parts<'_> {
        Parts { d: self.decoder() }
    }

    /// Makes a struct or exception of its members, in their order.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if `ty` is not a struct or exception, or has other members;
    /// [`BoundExceeded`](EncodeErrorKind::BoundExceeded) if a member is longer than its type allows.
    pub fn of_members(ty: &TypeCode, members: &[Self]) -> Result<Self, EncodeError> {
        let view = ty.view().unaliased();
        let mut made = PartialAny::default();
        match view.kind() {
            TcKind::Struct => {}
            TcKind::Except => made.e.write_raw_string(view.id().as_bytes())?,
            _ => return Err(EncodeErrorKind::Expected("a struct or an exception").into()),
        }
        if members.len() != view.member_count() {
            return Err(EncodeErrorKind::Expected("as many members as the type has").into());
        }
        for (member, value) in view.members().zip(members) {
            made.add(member.ty, value)?;
        }
        Ok(made.finish(ty))
    }

    /// Makes a sequence or array of its elements.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if `ty` is not a sequence or array, or an element or the length of an
    /// array is another; [`BoundExceeded`](EncodeErrorKind::BoundExceeded) for more elements than a sequence may have.
    pub fn of_elements(ty: &TypeCode, elements: &[Self]) -> Result<Self, EncodeError> {
        let view = ty.view().unaliased();
        let mut made = PartialAny::default();
        let (bound, found) = (view.bound(), elements.len());
        let fits = u64::try_from(found).is_ok_and(|found| found <= u64::from(bound));
        match view.kind() {
            TcKind::Sequence if bound == 0 || fits => made.e.write_count(found)?,
            TcKind::Sequence => return Err(EncodeErrorKind::BoundExceeded { bound, found }.into()),
            TcKind::Array if usize::try_from(bound) == Ok(found) => {}
            TcKind::Array => {
                return Err(EncodeErrorKind::Expected("as many elements as the array has").into());
            }
            _ => return Err(EncodeErrorKind::Expected("a sequence or an array").into()),
        }
        for element in elements {
            made.add(view.content(), element)?;
        }
        Ok(made.finish(ty))
    }

    /// Makes a union of its discriminator and the member that this selects, if it selects any.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if `ty` is not a union, the discriminator is not a value of its type, or
    /// `member` is not the member that it selects; [`BoundExceeded`](EncodeErrorKind::BoundExceeded) if a part of the
    /// member is longer than its type allows.
    pub fn of_union(
        ty: &TypeCode,
        discriminator: i128,
        member: Option<&Self>,
    ) -> Result<Self, EncodeError> {
        let view = ty.view().unaliased();
        if view.kind() != TcKind::Union {
            return Err(EncodeErrorKind::Expected("a union").into());
        }
        let label = view.content().unaliased();
        let enumerators = i128::try_from(label.member_count()).unwrap_or(0);
        if label.kind() == TcKind::Enum && discriminator >= enumerators {
            return Err(EncodeErrorKind::Expected("the ordinal of an enumerator").into());
        }
        let mut made = PartialAny::default();
        write_label(label.kind(), discriminator, &mut made.e)?;
        match (view.selected(discriminator), member) {
            (Some(selected), Some(member)) => made.add(selected.ty, member)?,
            (None, None) => {}
            _ => return Err(EncodeErrorKind::Expected("what the discriminator selects").into()),
        }
        Ok(made.finish(ty))
    }

    /// Makes the enumerator of `ty` that has this name.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if `ty` is not an enum or has no such enumerator.
    pub fn of_enumerator(ty: &TypeCode, name: &str) -> Result<Self, EncodeError> {
        let view = ty.view().unaliased();
        let found = (0_u32..).zip(view.members()).find(|(_, m)| m.name == name);
        match found {
            Some((ordinal, _)) if view.kind() == TcKind::Enum => {
                let mut made = PartialAny::default();
                made.e.write_u32(ordinal);
                Ok(made.finish(ty))
            }
            _ => Err(EncodeErrorKind::Expected("the name of an enumerator").into()),
        }
    }
}

/// The elements of a sequence or array: see [`Any::elements`].
pub struct Elements<'a> {
    parts: Parts<'a>,
    left: usize,
    ty: TypeRef<'a>,
}

impl Iterator for Elements<'_> {
    type Item = Any;

    fn next(&mut self) -> Option<Any> {
        self.left = self.left.checked_sub(1)?;
        self.parts.take(self.ty).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elements")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

/// A reader of a value's parts, from the first on.
struct Parts<'a> {
    d: Decoder<'a, NativeEndian>,
}

impl Parts<'_> {
    /// Reads the next part, which is of type `ty`.
    fn take(&mut self, ty: TypeRef<'_>) -> Result<Any, DecodeError> {
        let mut e = Encoder::holding(STORED);
        Any::read(TypeCode::of_view(ty), &mut self.d, &mut e)
    }
}

/// A value under construction.
struct PartialAny {
    e: Encoder<NativeEndian>,
}

impl Default for PartialAny {
    fn default() -> Self {
        Self {
            e: Encoder::holding(STORED),
        }
    }
}

impl PartialAny {
    /// Appends a part, converted to `ty`.
    fn add(&mut self, ty: TypeRef<'_>, part: &Any) -> Result<(), EncodeError> {
        if !same(part.ty.view(), ty, Sameness::Convertible) {
            return Err(EncodeErrorKind::Expected("a part of the type that stands there").into());
        }
        part.write(ty, &mut self.e)
    }

    fn finish(mut self, ty: &TypeCode) -> Any {
        Any::written(ty.clone(), &mut self.e)
    }
}

/// Reads an enumerator and checks its ordinal, for readers that do not copy the value.
pub(super) fn checked_enumerator<'t>(
    ty: TypeRef<'t>,
    d: &mut Decoder<'_, NativeEndian>,
) -> Result<(u32, &'t str), DecodeError> {
    let ordinal = d.read_u32()?;
    enum_in_range(ty, ordinal, d)?;
    let member = usize::try_from(ordinal)
        .ok()
        .and_then(|index| ty.member(index));
    Ok((ordinal, member.map_or("", |member| member.name)))
}
