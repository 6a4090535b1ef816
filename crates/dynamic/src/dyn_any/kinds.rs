//! What each kind of type has besides components.

use super::{
    DynAny,
    DynAnyError::{InvalidValue, TypeMismatch},
    MAX_COMPONENTS, Parts, Result, defaults, numbers, of_type, refused,
};
use zorb_cdr::{Any, TcKind, TypeCode};

impl DynAny {
    /// Refuses values of other kinds.
    fn expect(&self, kinds: &[TcKind], what: &'static str) -> Result<TypeCode> {
        let ty = self.type_code().unaliased();
        match kinds.contains(&ty.kind()) {
            true => Ok(ty),
            false => Err(TypeMismatch(what)),
        }
    }

    /// Replaces all components.
    fn set_components(&mut self, components: Vec<Any>) -> Result<()> {
        let depth = self.depth.saturating_add(1);
        let parts = self.expand()?;
        parts.is_null = false;
        let components = components.into_iter();
        parts.components = components.map(|it| Self::component(it, depth)).collect();
        self.changed = true;
        self.position = self.first();
        Ok(())
    }

    fn components(&self) -> Result<Vec<Any>> {
        let mut copy = self.clone();
        let parts = copy.expand()?;
        parts.components.iter().map(Self::to_any).collect()
    }
}

/// # Enums (`DynEnum`)
impl DynAny {
    /// Returns the name of the enumerator: `get_as_string`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn enumerator(&self) -> Result<&str> {
        self.whole.enumerator().ok_or(TypeMismatch("an enum"))
    }

    /// Sets the enumerator with this name: `set_as_string`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] if the enum has none of this name.
    pub fn set_enumerator(&mut self, name: &str) -> Result<()> {
        self.expect(&[TcKind::Enum], "an enum")?;
        let made = Any::of_enumerator(self.type_code(), name);
        let made = made.map_err(|_| InvalidValue("the name of no enumerator"))?;
        self.set_whole(made);
        Ok(())
    }

    /// Returns the ordinal of the enumerator: `get_as_ulong`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn ordinal(&self) -> Result<u32> {
        self.expect(&[TcKind::Enum], "an enum")?;
        numbers::ordinal(&self.whole).ok_or(TypeMismatch("an enum"))
    }

    /// Sets the enumerator with this ordinal: `set_as_ulong`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] if the enum has fewer.
    pub fn set_ordinal(&mut self, ordinal: u32) -> Result<()> {
        self.expect(&[TcKind::Enum], "an enum")?;
        let made = numbers::of_number(self.type_code(), i128::from(ordinal))?;
        self.set_whole(made);
        Ok(())
    }
}

/// # Fixed-point numbers (`DynFixed`)
impl DynAny {
    /// Returns the number as text, as in `-0.50`: `get_value`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn decimal(&self) -> Result<String> {
        self.whole.decimal().ok_or(TypeMismatch("a fixed"))
    }

    /// Sets the number, given as an optional sign, digits, an optional point, and an optional `d`: `set_value`. Returns
    /// whether all of its digits fit; those that do not, behind the point, are cut off.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types and for text that is no number; [`InvalidValue`] for more digits before the point than
    /// the type has.
    pub fn set_decimal(&mut self, text: &str) -> Result<bool> {
        let ty = self.expect(&[TcKind::Fixed], "a fixed")?;
        let literal = numbers::Literal::parse(text).ok_or(TypeMismatch("a decimal number"))?;
        let (_, scale) = ty.digits_and_scale().ok_or(TypeMismatch("a fixed"))?;
        let scale = usize::try_from(scale).map_err(|_| TypeMismatch("a scale of 0 or more"))?;
        let kept = literal.fraction.get(..scale).unwrap_or(literal.fraction);
        let sign = if literal.is_negative { "-" } else { "" };
        let number = format!("{sign}{}.{kept}", literal.whole_or_zero());
        let made = Any::of_decimal(self.type_code(), &number);
        let made =
            made.map_err(|_| InvalidValue("more digits before the point than the type has"))?;
        self.set_whole(made);
        Ok(kept.len() == literal.fraction.len())
    }
}

/// # Structs, exceptions and values (`DynStruct`, `DynValue`)
impl DynAny {
    const RECORDS: [TcKind; 4] = [TcKind::Struct, TcKind::Except, TcKind::Value, TcKind::Event];

    fn expect_members(&self) -> Result<TypeCode> {
        self.expect(&Self::RECORDS, "a struct, an exception or a value")
    }

    /// The names of all members, of inherited ones first.
    fn member_names(&mut self) -> Result<Vec<String>> {
        let ty = self.expect_members()?;
        if matches!(ty.kind(), TcKind::Value | TcKind::Event) {
            return Ok(self.expand()?.names.clone());
        }
        let names = (0..ty.member_count()).map(|it| ty.member_name(it).unwrap_or_default());
        Ok(names.map(str::to_owned).collect())
    }

    /// Returns the name of the current member.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] at position −1.
    pub fn current_member_name(&mut self) -> Result<String> {
        let index = usize::try_from(self.position);
        let mut names = self.member_names()?;
        let index = index.ok().filter(|index| *index < names.len());
        let index = index.ok_or(InvalidValue("no current member"))?;
        Ok(names.swap_remove(index))
    }

    /// Returns the kind of the current member's type, behind aliases.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] at position −1.
    pub fn current_member_kind(&mut self) -> Result<TcKind> {
        self.expect_members()?;
        let member = self.current_component()?;
        let member = member.ok_or(InvalidValue("no current member"))?;
        Ok(member.kind())
    }

    /// Returns the members with their names. Copies them.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] for a null value.
    pub fn members(&mut self) -> Result<Vec<(String, Any)>> {
        let names = self.member_names()?;
        if self.expand()?.is_null {
            return Err(InvalidValue("a null value"));
        }
        Ok(names.into_iter().zip(self.components()?).collect())
    }

    /// Sets all members; a name may be empty. A null value becomes one that is not null. The position becomes that of the first
    /// member.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for a member of another name or type; [`InvalidValue`] for another number of
    /// members.
    pub fn set_members(&mut self, members: &[(&str, Any)]) -> Result<()> {
        let ty = self.expect_members()?;
        let mut whole = self.clone();
        if matches!(ty.kind(), TcKind::Value | TcKind::Event) {
            whole.set_to_value()?;
        }
        let names = whole.member_names()?;
        let parts = whole.expand()?;
        if parts.components.len() != members.len() {
            return Err(InvalidValue("another number of members"));
        }
        let given = members.iter().zip(names).zip(&parts.components);
        let components = given.map(|(((name, value), expected), component)| {
            match name.is_empty() || *name == expected {
                true => of_type(value, component.type_code()),
                false => Err(TypeMismatch("a member of the name that stands there")),
            }
        });
        let components = components.collect::<Result<Vec<_>>>()?;
        whole.set_components(components)?;
        *self = whole;
        Ok(())
    }
}

/// # Unions (`DynUnion`)
impl DynAny {
    fn expect_union(&self) -> Result<TypeCode> {
        self.expect(&[TcKind::Union], "a union")
    }

    /// Returns the discriminator. Copies it.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn discriminator(&mut self) -> Result<Self> {
        self.expect_union()?;
        let discriminator = self.expand()?.components.first().cloned();
        discriminator.ok_or(TypeMismatch("a union"))
    }

    /// Returns the kind of the discriminator's type, behind aliases.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn discriminator_kind(&self) -> Result<TcKind> {
        let ty = self.expect_union()?.discriminator_type();
        Ok(ty.ok_or(TypeMismatch("a union"))?.unaliased().kind())
    }

    /// Sets the discriminator. A member that it selects and the old one did not becomes active, with its default value. The
    /// position is that of the active member, if there is one, else 0.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for a value that is not of the discriminator's type.
    pub fn set_discriminator(&mut self, discriminator: &Self) -> Result<()> {
        let ty = self.expect_union()?;
        let expected = ty.discriminator_type().ok_or(TypeMismatch("a union"))?;
        let value = of_type(&discriminator.to_any()?, &expected)?;
        self.select(&ty, numbers::number_of(&value)?)
    }

    /// Sets the discriminator to a number.
    fn select(&mut self, ty: &TypeCode, number: i128) -> Result<()> {
        let depth = self.depth.saturating_add(1);
        let discriminator = numbers::discriminator_of(ty, number)?;
        let parts = self.expand()?;
        let before = match parts.components.first() {
            Some(before) => numbers::selected(ty, numbers::number_of(&before.to_any()?)?),
            None => None,
        };
        let after = numbers::selected(ty, number);
        let mut components = vec![Self::component(discriminator, depth)];
        if let Some(index) = after {
            let kept = parts.components.get(1).cloned();
            // Labels of one member have an entry each.
            let same = before.is_some_and(|before| {
                before == index || ty.member_name(before) == ty.member_name(index)
            });
            components.push(match kept {
                Some(member) if same => member,
                _ => {
                    let member = ty.member_type(index).ok_or(TypeMismatch("a union"))?;
                    Self::component(defaults::default_value(&member)?, depth)
                }
            });
        }
        parts.components = components;
        self.changed = true;
        self.position = i32::from(after.is_some());
        Ok(())
    }

    /// Selects the default member.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for a union without one.
    pub fn set_to_default_member(&mut self) -> Result<()> {
        let ty = self.expect_union()?;
        let none = TypeMismatch("a union with a default member");
        ty.default_index().ok_or(none)?;
        let label = numbers::unused_label(&ty).ok_or(none)?;
        self.select(&ty, label)?;
        self.position = 0;
        Ok(())
    }

    /// Selects no member.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for a union of which every value of the discriminator selects a member.
    pub fn set_to_no_active_member(&mut self) -> Result<()> {
        let ty = self.expect_union()?;
        let none = TypeMismatch("a union that may have no member");
        if ty.default_index().is_some() {
            return Err(none);
        }
        let label = numbers::unused_label(&ty).ok_or(none)?;
        self.select(&ty, label)
    }

    /// Whether no member is selected.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn has_no_active_member(&self) -> Result<bool> {
        self.expect_union()?;
        Ok(self.component_count() < 2)
    }

    /// Returns the selected member.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] if there is none.
    pub fn member(&mut self) -> Result<&mut Self> {
        self.expect_union()?;
        let parts = self.expand()?;
        parts
            .components
            .get_mut(1)
            .ok_or(InvalidValue("no active member"))
    }

    /// Returns the name of the selected member.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] if there is none.
    pub fn member_name(&mut self) -> Result<String> {
        let ty = self.expect_union()?;
        self.member()?;
        let number = numbers::number_of(&self.discriminator()?.to_any()?)?;
        let index = numbers::selected(&ty, number);
        let name = index.and_then(|index| ty.member_name(index));
        name.map(str::to_owned)
            .ok_or(InvalidValue("no active member"))
    }

    /// Returns the kind of the selected member's type, behind aliases.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] if there is none.
    pub fn member_kind(&mut self) -> Result<TcKind> {
        Ok(self.member()?.kind())
    }
}

/// # Sequences and arrays (`DynSequence`, `DynArray`)
impl DynAny {
    fn expect_elements(&self) -> Result<TypeCode> {
        let kinds = [TcKind::Sequence, TcKind::Array];
        self.expect(&kinds, "a sequence or an array")
    }

    /// Returns the number of elements of a sequence: `get_length`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn length(&self) -> Result<usize> {
        self.expect(&[TcKind::Sequence], "a sequence")?;
        Ok(self.component_count())
    }

    /// Changes the number of elements of a sequence. New ones have the default value, and the first of them becomes the current
    /// one if there was none; the position becomes −1 if its element is cut off.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] beyond the bound;
    /// [`TooLarge`](super::DynAnyError::TooLarge) for more new elements than
    /// [`MAX_DEFAULT_COMPONENTS`](super::MAX_DEFAULT_COMPONENTS).
    pub fn set_length(&mut self, length: usize) -> Result<()> {
        let ty = self.expect(&[TcKind::Sequence], "a sequence")?;
        within_bound(&ty, length)?;
        let before = self.component_count();
        let content = ty.content_type().ok_or(TypeMismatch("a sequence"))?;
        let depth = self.depth.saturating_add(1);
        let new = length.saturating_sub(before);
        let limit = usize::try_from(super::MAX_DEFAULT_COMPONENTS).unwrap_or(usize::MAX);
        if new > limit || length > MAX_COMPONENTS {
            return Err(super::DynAnyError::TooLarge);
        }
        let default = match new {
            0 => None,
            _ => Some(Self::component(defaults::default_value(&content)?, depth)),
        };
        let parts = self.expand()?;
        parts.components.truncate(length);
        if let Some(default) = default {
            parts.components.resize(length, default);
        }
        self.changed = true;
        let position = usize::try_from(self.position).ok();
        self.position = match position {
            Some(position) if position < length => self.position,
            None if new > 0 => i32::try_from(before).unwrap_or(-1),
            _ => -1,
        };
        Ok(())
    }

    /// Returns the elements. Copies them.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn elements(&self) -> Result<Vec<Any>> {
        self.expect_elements()?;
        self.components()
    }

    /// Sets the elements. The position becomes that of the first one.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for an element of another type; [`InvalidValue`] for more elements than the bound
    /// of a sequence, or another number than an array has.
    pub fn set_elements(&mut self, elements: &[Any]) -> Result<()> {
        let ty = self.expect_elements()?;
        if elements.len() > MAX_COMPONENTS {
            return Err(super::DynAnyError::TooLarge);
        }
        match ty.kind() {
            TcKind::Sequence => within_bound(&ty, elements.len())?,
            _ if Ok(elements.len()) == ty.length().unwrap_or(0).try_into() => {}
            _ => return Err(InvalidValue("another number of elements")),
        }
        let content = ty.content_type().ok_or(TypeMismatch("a sequence"))?;
        let elements = elements.iter().map(|element| of_type(element, &content));
        let elements = elements.collect::<Result<Vec<_>>>()?;
        self.set_components(elements)
    }
}

fn within_bound(ty: &TypeCode, length: usize) -> Result<()> {
    match ty.length().unwrap_or(0) {
        0 => Ok(()),
        bound if usize::try_from(bound).is_ok_and(|bound| length <= bound) => Ok(()),
        _ => Err(InvalidValue("longer than the type allows")),
    }
}

/// # Values and value boxes (`DynValueCommon`, `DynValueBox`)
impl DynAny {
    fn expect_value(&self) -> Result<TypeCode> {
        let kinds = [TcKind::Value, TcKind::Event, TcKind::ValueBox];
        self.expect(&kinds, "a value type")
    }

    /// Whether the value is null.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn is_null(&mut self) -> Result<bool> {
        self.expect_value()?;
        Ok(self.expand()?.is_null)
    }

    /// Makes the value null.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types.
    pub fn set_to_null(&mut self) -> Result<()> {
        self.expect_value()?;
        let null = Any::of_value(self.type_code(), None).map_err(refused)?;
        self.set_whole(null);
        Ok(())
    }

    /// Makes a null value one with default members; other values do not change.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for types whose state only a program knows.
    pub fn set_to_value(&mut self) -> Result<()> {
        let ty = self.expect_value()?;
        if !self.is_null()? {
            return Ok(());
        }
        if !self.is_composed() {
            return Err(TypeMismatch("a value type with a state of its own"));
        }
        let (names, types) = ty
            .state()
            .ok_or(TypeMismatch("a value type with a state"))?;
        let depth = self.depth.saturating_add(1);
        let components = types.iter().map(|ty| {
            let value = defaults::default_value(ty)?;
            Ok(Self::component(value, depth))
        });
        let components = components.collect::<Result<Vec<_>>>()?;
        self.parts = Some(Box::new(Parts {
            ty: self.type_code().clone(),
            components,
            names,
            is_null: false,
        }));
        self.changed = true;
        self.position = self.first();
        Ok(())
    }

    /// Returns the content of a value box. Copies it.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types; [`InvalidValue`] for a null value.
    pub fn boxed_value(&self) -> Result<Any> {
        self.expect(&[TcKind::ValueBox], "a value box")?;
        let content = self.components()?.into_iter().next();
        content.ok_or(InvalidValue("a null value"))
    }

    /// Sets the content of a value box, which is not null then.
    ///
    /// # Errors
    /// [`TypeMismatch`] for other types, and for content of another type.
    pub fn set_boxed_value(&mut self, content: &Any) -> Result<()> {
        let ty = self.expect(&[TcKind::ValueBox], "a value box")?;
        let expected = ty.content_type().ok_or(TypeMismatch("a value box"))?;
        let content = of_type(content, &expected)?;
        self.set_components(vec![content])
    }
}
