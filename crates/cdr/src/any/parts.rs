//! Values that have no Rust type: their parts as anys, and values built of anys. Other language mappings have `DynAny`
//! for this.

use super::{
    Any, STORED,
    values::{ABSTRACT, CUSTOM, Chosen, MAX_CHAIN, bases, choose, derives, ids},
    walk::{array_length, enum_in_range, read_discriminator, sequence_length},
};
use crate::{
    DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder, NativeEndian,
    Shared, TypeCode, ValueStart,
    typecode::{
        Sameness, TcKind,
        data::{MemberRef, TypeRef},
        label::write_label,
        same,
    },
};
use alloc::{string::String, sync::Arc, vec::Vec};
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

    /// Returns the state of a value of a value type or value box; `None` for other types, and where only the program
    /// knows the state (custom marshalling). Copies each member, with the values that it refers to.
    #[must_use]
    pub fn value_parts(&self) -> Option<ValueParts> {
        let ty = self.ty.view().unaliased();
        if !matches!(ty.kind(), TcKind::Value | TcKind::ValueBox | TcKind::Event) {
            return None;
        }
        let mut parts = self.parts();
        let d = &mut parts.d;
        let head = match d.begin_value().ok()? {
            ValueStart::New(head) => head,
            ValueStart::Null => return Some(ValueParts::Null),
            // There is no value before the first one.
            ValueStart::Indirection(_) => return None,
        };
        d.share_value(&head, Arc::new(()));
        let chosen = choose(ty, head.ids(), d).ok()?;
        let state = match &chosen {
            Chosen::Stated => ty,
            Chosen::Known(known) if known.custom.is_some() => return None,
            Chosen::Known(known) => known.ty.view(),
        };
        let mut members = Vec::new();
        d.value_state(|d| {
            let mut take = |name: &str, ty| {
                let mut e = Encoder::holding(STORED);
                let part = Self::read(TypeCode::of_view(ty), d, &mut e)?;
                members.push((String::from(name), part));
                Ok::<(), DecodeError>(())
            };
            if state.kind() == TcKind::ValueBox {
                return take("", state.content());
            }
            for member in members_of(state)? {
                take(member.name, member.ty)?;
            }
            Ok(())
        })
        .ok()?;
        let ty = TypeCode::of_view(state);
        Some(ValueParts::State { ty, members })
    }

    /// Makes a value of a value type of its members, those of its bases first, or a value box of its content. `None` makes the
    /// null value.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if `ty` is not a value type or value box, has a state that only a program
    /// can write (abstract, or custom marshalling), or has other members.
    pub fn of_value(ty: &TypeCode, members: Option<&[Self]>) -> Result<Self, EncodeError> {
        let view = ty.view().unaliased();
        if !matches!(
            view.kind(),
            TcKind::Value | TcKind::ValueBox | TcKind::Event
        ) {
            return Err(EncodeErrorKind::Expected("a value type").into());
        }
        let mut made = PartialAny::default();
        let Some(members) = members else {
            made.e.write_null_value();
            return Ok(made.finish(ty));
        };
        let types: Vec<TypeRef<'_>> = match view.kind() {
            TcKind::ValueBox => [view.content()].into(),
            _ if matches!(view.number(), CUSTOM | ABSTRACT) => {
                return Err(
                    EncodeErrorKind::Expected("a value type with a state of its own").into(),
                );
            }
            _ => {
                let members = members_of(view).map_err(|_| {
                    EncodeError::from(EncodeErrorKind::Expected(
                        "at most 64 value types in a chain",
                    ))
                })?;
                members.into_iter().map(|member| member.ty).collect()
            }
        };
        if types.len() != members.len() {
            return Err(EncodeErrorKind::Expected("as many members as the type has").into());
        }
        let value: Shared = Arc::new(());
        let mark = made.e.begin_value(&value, &ids(view), false)?;
        for (ty, member) in types.into_iter().zip(members) {
            made.add(ty, member)?;
        }
        if let Some(mark) = mark {
            made.e.end_value(mark)?;
        }
        Ok(made.finish(ty))
    }

    /// Returns the value of a `fixed` type as a decimal number with all of its digits, as in `-0.50`; `None` for other types.
    #[must_use]
    pub fn decimal(&self) -> Option<String> {
        (self.ty.view().unaliased().kind() == TcKind::Fixed).then(|| {
            let text = alloc::format!("{self}");
            // The type stands in front of the number.
            text.rsplit(' ').next().unwrap_or_default().into()
        })
    }

    /// Makes a value of a `fixed` type of a decimal number: an optional sign, digits, and an optional point.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if `ty` is not a `fixed` of 1 to 31 digits, the text is not a number, or the
    /// number has more digits than the type.
    pub fn of_decimal(ty: &TypeCode, text: &str) -> Result<Self, EncodeError> {
        let wrong = || EncodeError::from(EncodeErrorKind::Expected("a number that fits the fixed"));
        let view = ty.view().unaliased();
        let digits = usize::try_from(view.number()).ok();
        let digits = digits.filter(|it| view.kind() == TcKind::Fixed && (1..=31).contains(it));
        let scale = usize::try_from(view.scale()).map_err(|_| wrong())?;
        let digits = digits.ok_or_else(wrong)?;
        let (sign, number) = match text.strip_prefix('-') {
            Some(rest) => (0xd, rest),
            None => (0xc, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches('0');
        let is_number = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
        if whole.is_empty() && fraction.is_empty() || !is_number(whole) || !is_number(fraction) {
            return Err(wrong());
        }
        let zeros = scale.checked_sub(fraction.len()).ok_or_else(wrong)?;
        let number = whole.bytes().chain(fraction.bytes());
        let number: Vec<u8> = number
            .chain(core::iter::repeat_n(b'0', zeros))
            .skip_while(|digit| *digit == b'0')
            .map(|digit| digit & 0xf)
            .collect();
        // One half octet for each digit, and one for the sign; one in front if that is odd.
        let places = digits | 1;
        let front = digits.checked_sub(number.len()).ok_or_else(wrong)?;
        let front = front.saturating_add(places.saturating_sub(digits));
        // There is no negative zero.
        let sign = if number.is_empty() { 0xc } else { sign };
        let halves = core::iter::repeat_n(0, front).chain(number).chain([sign]);
        let halves: Vec<u8> = halves.collect();
        let mut made = PartialAny::default();
        for pair in halves.chunks_exact(2) {
            if let [high, low] = pair {
                made.e.write_u8((high << 4) | low);
            }
        }
        Ok(made.finish(ty))
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

/// The parts of a value of a value type: see [`Any::value_parts`].
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ValueParts {
    /// The null value.
    Null,
    /// A value with its state.
    State {
        /// The type of the value: that of the any, or a type that is derived from it and that the program knows.
        ty: TypeCode,
        /// The members with their names, those of the bases first; of a value box one without a name.
        members: Vec<(String, Any)>,
    },
}

/// The members of a value type, those of its bases first.
fn members_of(ty: TypeRef<'_>) -> Result<Vec<MemberRef<'_>>, DecodeError> {
    let levels: Vec<_> = bases(ty).take(MAX_CHAIN + 1).collect();
    if levels.len() > MAX_CHAIN {
        let kind = DecodeErrorKind::Expected("at most 64 value types that inherit from each other");
        return Err(DecodeError::new(kind, 0));
    }
    Ok(levels
        .into_iter()
        .rev()
        .flat_map(TypeRef::members)
        .collect())
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

impl TypeCode {
    /// Returns names and types of the members of a value type, those of its bases first, or the content of a value box without
    /// a name; `None` for other types, and for a value type that is its own base.
    #[must_use]
    pub fn state(&self) -> Option<(Vec<String>, Vec<Self>)> {
        let ty = self.view().unaliased();
        match ty.kind() {
            TcKind::ValueBox => {
                let content = Self::of_view(ty.content());
                Some(([String::new()].into(), [content].into()))
            }
            TcKind::Value | TcKind::Event => {
                let members = members_of(ty).ok()?.into_iter();
                let members = members.map(|it| (String::from(it.name), Self::of_view(it.ty)));
                Some(members.unzip())
            }
            _ => None,
        }
    }
}

impl PartialAny {
    /// Appends a part, converted to `ty`.
    fn add(&mut self, ty: TypeRef<'_>, part: &Any) -> Result<(), EncodeError> {
        let own = part.ty.view();
        match same(own, ty, Sameness::Convertible) {
            true => part.write(ty, &mut self.e),
            // A value of a derived type keeps its type.
            false if derives(own.unaliased(), ty.unaliased()) => part.write(own, &mut self.e),
            false => Err(EncodeErrorKind::Expected("a part of the type that stands there").into()),
        }
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
