//! Values of any type as trees of components: `DynamicAny::DynAny` and the interfaces derived from it.
//!
//! - here: [`DynAny`], its components, and the position among them;
//! - `defaults`: values made of a TypeCode alone;
//! - `kinds`: what each kind of type has besides: members, discriminators, elements, states;
//! - `numbers`: discriminators, enumerators and decimal numbers as text and numbers.

mod defaults;
mod kinds;
mod numbers;

use zorb_cdr::{
    Any, EncodeError, EncodeErrorKind, ExtractError, IdlType, IdlValue, TcKind, TypeCode,
    ValueParts,
};

pub use defaults::MAX_DEFAULT_COMPONENTS;

/// Levels of components within each other that are taken apart: as many as a TypeCode may have.
const MAX_DEPTH: u16 = 128;

/// Most components of one value that is taken apart. Each takes some 50 octets, where an octet of a sequence takes one.
const MAX_COMPONENTS: usize = 1 << 20;

/// Why an operation of a [`DynAny`] failed. The value has not changed.
///
/// Source: CORBA 3.3 Part 1, Dynamic Management of Any Values (exceptions of `DynAny` and `DynAnyFactory`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DynAnyError {
    /// There are no values of the type: it is local, native, or not whole.
    #[error("expected a type that has values, found {0}")]
    InconsistentTypeCode(&'static str),
    /// The operation is not one of the value's type, or is given a value of another type.
    #[error("expected {0}")]
    TypeMismatch(&'static str),
    /// The value is of the right type, but not permitted: too long, too many, or without a component.
    #[error("invalid value: {0}")]
    InvalidValue(&'static str),
    /// The value has more components, or more levels of them, than are taken apart or made (IMP_LIMIT).
    #[error("a value of more components than are taken apart or made")]
    TooLarge,
}

use DynAnyError::{InvalidValue, TypeMismatch};

type Result<T> = core::result::Result<T, DynAnyError>;

/// A value of any type, which can be taken apart and changed: `DynamicAny::DynAny`, with the operations of `DynFixed`,
/// `DynEnum`, `DynStruct`, `DynUnion`, `DynSequence`, `DynArray`, `DynValue` and `DynValueBox`.
///
/// An operation that a kind of type does not have is [`TypeMismatch`]. The value owns its components, so that dropping it
/// destroys them, and a clone is a deep copy; use after `destroy` does not compile. A component is taken apart when it is
/// looked at. What is not changed comes out of [`to_any`](Self::to_any) as it went in, cycles and shared values of value
/// types included; where a value has changed, the values around it get copies of what they shared with others.
///
/// Positions are counted from 0; −1 stands for no component. Source: CORBA 3.3 Part 1, Dynamic Management of Any Values.
#[derive(Debug, Clone)]
pub struct DynAny {
    /// The value before its components have changed; of a value without components the value itself.
    whole: Any,
    parts: Option<Box<Parts>>,
    position: i32,
    /// The levels above this one.
    depth: u16,
    /// Whether it differs from `whole`, other than by its components.
    changed: bool,
}

/// The components of a value.
#[derive(Debug, Clone)]
struct Parts {
    /// The type of the value: of a value type the one that the value really has.
    ty: TypeCode,
    components: Vec<DynAny>,
    /// The names of a value's members, inherited ones included; empty for other types.
    names: Vec<String>,
    is_null: bool,
}

impl DynAny {
    /// Takes a value: `create_dyn_any`. Clones the any.
    ///
    /// # Errors
    /// [`InconsistentTypeCode`](DynAnyError::InconsistentTypeCode) for a type that has no values.
    pub fn new(any: &Any) -> Result<Self> {
        defaults::has_values(any.type_code())?;
        Ok(Self::component(any.clone(), 0))
    }

    /// Makes the default value of a type: `create_dyn_any_from_type_code`. Numbers are 0, text is empty, references are nil and
    /// values null; an enum has its first enumerator, a union its first member, by its first label.
    ///
    /// # Errors
    /// [`InconsistentTypeCode`](DynAnyError::InconsistentTypeCode) for a type that has no values;
    /// [`TooLarge`](DynAnyError::TooLarge) beyond [`MAX_DEFAULT_COMPONENTS`].
    pub fn from_type_code(ty: &TypeCode) -> Result<Self> {
        Ok(Self::component(defaults::checked_default(ty)?, 0))
    }

    fn component(whole: Any, depth: u16) -> Self {
        let mut made = Self {
            whole,
            parts: None,
            position: -1,
            depth,
            changed: false,
        };
        made.position = made.first();
        made
    }

    /// The position of the first component.
    fn first(&self) -> i32 {
        match self.component_count() {
            0 => -1,
            _ => 0,
        }
    }

    /// Returns the type, as the any or the TypeCode had it, aliases included.
    #[must_use]
    #[doc(alias = "type")]
    pub fn type_code(&self) -> &TypeCode {
        self.whole.type_code()
    }

    /// The kind behind aliases.
    fn kind(&self) -> TcKind {
        self.type_code().unaliased().kind()
    }

    /// Whether values of this type can have components.
    fn is_composed(&self) -> bool {
        match self.kind() {
            TcKind::Struct
            | TcKind::Except
            | TcKind::Union
            | TcKind::Sequence
            | TcKind::Array
            | TcKind::ValueBox => true,
            // The state of an abstract value and of one with custom marshalling is the program's.
            TcKind::Value | TcKind::Event => {
                let ty = self.type_code().unaliased();
                !matches!(ty.type_modifier(), Some(1 | 2))
                    && ty.id() != Some("IDL:omg.org/CORBA/ValueBase:1.0")
            }
            _ => false,
        }
    }

    /// Returns the value. Clones it if it has not changed, else puts it together.
    ///
    /// # Errors
    /// [`InvalidValue`] if the parts of the value no longer fit each other, as after a change of a union's discriminator by
    /// way of its component.
    pub fn to_any(&self) -> Result<Any> {
        match &self.parts {
            Some(parts) if self.is_changed() => self.compose(parts),
            _ => Ok(self.whole.clone()),
        }
    }

    fn is_changed(&self) -> bool {
        let parts = self.parts.as_ref();
        self.changed || parts.is_some_and(|parts| parts.components.iter().any(Self::is_changed))
    }

    /// Replaces the value. The position becomes that of the first component.
    ///
    /// # Errors
    /// [`TypeMismatch`] unless the types are equivalent; [`InvalidValue`] for an any without a value.
    pub fn from_any(&mut self, any: &Any) -> Result<()> {
        if any.type_code().kind() == TcKind::Null && self.kind() != TcKind::Null {
            return Err(InvalidValue("an any without a value"));
        }
        let whole = of_type(any, self.type_code())?;
        self.set_whole(whole);
        Ok(())
    }

    fn set_whole(&mut self, whole: Any) {
        self.whole = whole;
        self.parts = None;
        self.changed = true;
        self.position = self.first();
    }

    /// Replaces the value by that of another one. The position becomes that of the first component.
    ///
    /// # Errors
    /// [`TypeMismatch`] unless the types are equivalent, and the errors of [`to_any`](Self::to_any).
    pub fn assign(&mut self, other: &Self) -> Result<()> {
        self.from_any(&other.to_any()?)
    }

    /// Whether the types are equivalent and the values equal.
    #[must_use]
    pub fn equal(&self, other: &Self) -> bool {
        match (self.to_any(), other.to_any()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
    }

    /// Returns the number of components: members, elements, a discriminator and the member that it selects; 0 for a null
    /// value and for types without components.
    #[must_use]
    pub fn component_count(&self) -> usize {
        if let Some(parts) = &self.parts {
            return parts.components.len();
        }
        if !self.is_composed() {
            return 0;
        }
        let ty = self.type_code().unaliased();
        match ty.kind() {
            TcKind::Struct | TcKind::Except => ty.member_count(),
            TcKind::Array | TcKind::Sequence => self.whole.elements().size_hint().0,
            TcKind::Union => 1_usize.saturating_add(usize::from(self.whole.selected().is_some())),
            _ => match self.whole.value_parts() {
                Some(ValueParts::State { members, .. }) => members.len(),
                _ => 0,
            },
        }
    }

    /// Moves to the component at `index`; −1 stands for none. Returns whether there is one.
    pub fn seek(&mut self, index: i32) -> bool {
        let is_there = usize::try_from(index).is_ok_and(|index| index < self.component_count());
        self.position = if is_there { index } else { -1 };
        is_there
    }

    /// Moves to the first component, if there is one.
    pub fn rewind(&mut self) {
        self.seek(0);
    }

    /// Moves to the next component. Returns whether there is one; if not, the position is −1.
    #[doc(alias = "next")]
    pub fn next_component(&mut self) -> bool {
        self.seek(self.position.saturating_add(1))
    }

    /// Returns the component at the position; `None` at −1.
    ///
    /// # Errors
    /// [`TypeMismatch`] for types without components; [`TooLarge`](DynAnyError::TooLarge) for a value that cannot be taken
    /// apart.
    pub fn current_component(&mut self) -> Result<Option<&mut Self>> {
        if !self.is_composed() {
            return Err(TypeMismatch("a type with components"));
        }
        let Ok(index) = usize::try_from(self.position) else {
            return Ok(None);
        };
        Ok(self.expand()?.components.get_mut(index))
    }

    /// Puts a value into the current component, or into this value if its type has no components: `insert_boolean` and the
    /// other operations of their like, `insert_any`, `insert_typecode`, `insert_reference`.
    ///
    /// # Errors
    /// [`TypeMismatch`] for a value of another type, and where the component has components itself; [`InvalidValue`] for text
    /// that is too long, and at position −1.
    pub fn insert<T: IdlType + ?Sized>(&mut self, value: &T) -> Result<()> {
        if self.is_composed() {
            let component = self.leaf()?;
            return component.insert(value);
        }
        self.whole = Any::with_type_code(self.type_code(), value).map_err(refused)?;
        self.changed = true;
        Ok(())
    }

    /// Returns the value of the current component, or this value if its type has no components: `get_boolean` and the other
    /// operations of their like.
    ///
    /// # Errors
    /// [`TypeMismatch`] if the value is of another type, and where the component has components itself; [`InvalidValue`] at
    /// position −1.
    pub fn get<T: IdlValue>(&mut self) -> Result<T> {
        if self.is_composed() {
            return self.leaf()?.get();
        }
        self.whole.extract().map_err(|error| match error {
            ExtractError::Malformed { .. } => InvalidValue("a value of another form"),
            _ => TypeMismatch("a value of the type that was asked for"),
        })
    }

    /// The current component, which has no components itself.
    fn leaf(&mut self) -> Result<&mut Self> {
        let component = self
            .current_component()?
            .ok_or(InvalidValue("no current component"))?;
        match component.is_composed() {
            true => Err(TypeMismatch("a component without components")),
            false => Ok(component),
        }
    }

    /// Takes the value apart by one level.
    fn expand(&mut self) -> Result<&mut Parts> {
        let parts = match self.parts.take() {
            Some(parts) => parts,
            None => Box::new(self.taken_apart()?),
        };
        Ok(self.parts.insert(parts))
    }

    fn taken_apart(&self) -> Result<Parts> {
        let ty = self.type_code().unaliased();
        let depth = self.depth.saturating_add(1);
        if depth > MAX_DEPTH || self.component_count() > MAX_COMPONENTS {
            return Err(DynAnyError::TooLarge);
        }
        let mut parts = Parts {
            components: Vec::new(),
            names: Vec::new(),
            is_null: false,
            ty: self.type_code().clone(),
        };
        let mut add = |part: Any| parts.components.push(Self::component(part, depth));
        match ty.kind() {
            TcKind::Struct | TcKind::Except => {
                self.whole.members().into_iter().for_each(|(_, it)| add(it));
            }
            TcKind::Sequence | TcKind::Array => self.whole.elements().for_each(add),
            TcKind::Union => {
                let discriminator = self.whole.discriminator().unwrap_or_default();
                add(numbers::discriminator_of(&ty, discriminator)?);
                self.whole
                    .selected()
                    .into_iter()
                    .for_each(|(_, it)| add(it));
            }
            _ => match self.whole.value_parts() {
                Some(ValueParts::State { ty, members }) => {
                    for (name, member) in members {
                        parts.names.push(name);
                        parts.components.push(Self::component(member, depth));
                    }
                    parts.ty = ty;
                }
                Some(_) => parts.is_null = true,
                None => return Err(TypeMismatch("a value whose state its TypeCode describes")),
            },
        }
        Ok(parts)
    }

    /// Puts the components together.
    fn compose(&self, parts: &Parts) -> Result<Any> {
        let components = parts.components.iter().map(Self::to_any);
        let components = components.collect::<Result<Vec<_>>>()?;
        let ty = self.type_code();
        let composed = match self.kind() {
            TcKind::Struct | TcKind::Except => Any::of_members(ty, &components),
            TcKind::Sequence | TcKind::Array => Any::of_elements(ty, &components),
            TcKind::Union => {
                let (discriminator, member) = match &components[..] {
                    [discriminator, member] => (discriminator, Some(member)),
                    [discriminator] => (discriminator, None),
                    _ => return Err(InvalidValue("a union without a discriminator")),
                };
                let number = numbers::number_of(discriminator)?;
                Any::of_union(ty, number, member)
            }
            _ if parts.is_null => Any::of_value(ty, None),
            // A value of a derived type keeps its type.
            _ => {
                let ty = match parts.ty.equivalent(ty) {
                    true => ty,
                    false => &parts.ty,
                };
                Any::of_value(ty, Some(&components))
            }
        };
        composed.map_err(|_| InvalidValue("the components do not fit each other"))
    }
}

/// The value as one of type `ty`, to which its type has to be equivalent.
fn of_type(any: &Any, ty: &TypeCode) -> Result<Any> {
    if !any.type_code().equivalent(ty) {
        return Err(TypeMismatch("a value of an equivalent type"));
    }
    any.converted(ty).map_err(refused)
}

fn refused(error: EncodeError) -> DynAnyError {
    match error.kind() {
        EncodeErrorKind::BoundExceeded { .. } => InvalidValue("longer than the type allows"),
        EncodeErrorKind::Expected(_) => TypeMismatch("a value of the component's type"),
        _ => InvalidValue("a value that cannot be encoded"),
    }
}
