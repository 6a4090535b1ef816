//! Types as values: `CORBA::TypeCode`.
//!
//! - `kind`: the kinds;
//! - `data`: the storage of types, and [`TypeRef`](data::TypeRef), by which the other modules walk over them;
//! - `encoding`: reading and writing;
//! - `compare`: equal, equivalent, convertible;
//! - `display`: as IDL;
//! - `build`: types that are built at run time, one by one;
//! - `set`: types that refer to each other, built together.

mod build;
mod compare;
pub(crate) mod data;
pub(crate) mod display;
pub(crate) mod encoding;
mod kind;
pub(crate) mod label;
mod set;

pub(crate) use build::is_stand_in;
pub(crate) use compare::{Sameness, same};
pub use kind::TcKind;
pub use set::{TypeCodeSet, TypeDefinition, TypeSlot};

use alloc::sync::Arc;
use core::hash::{Hash, Hasher};
use data::{Graph, Link, StaticType, TypeRef};

/// A type as a value, which accompanies every `any`: `CORBA::TypeCode`.
///
/// Generated types have theirs as static data, which is never allocated; a clone increments at most one reference
/// count.
///
/// `==` is CORBA's `equal`: everything counts, names and aliases too. Most programs need
/// [`equivalent`](Self::equivalent).
///
/// Source: CORBA 3.3 Part 1, ORB Interface (TypeCodes).
#[derive(Clone)]
pub struct TypeCode(Repr);

#[derive(Clone)]
enum Repr {
    Static(&'static StaticType),
    /// A node of a graph.
    Node(Arc<Graph>, u32),
}

impl TypeCode {
    /// Makes a type from static data of the IDL compiler.
    #[doc(hidden)]
    #[must_use]
    pub const fn from_static(ty: &'static StaticType) -> Self {
        Self(Repr::Static(ty))
    }

    pub(crate) const fn of_graph(graph: Arc<Graph>, index: u32) -> Self {
        Self(Repr::Node(graph, index))
    }

    pub(crate) fn view(&self) -> TypeRef<'_> {
        match &self.0 {
            Repr::Static(ty) => TypeRef::Static(ty),
            Repr::Node(graph, index) => TypeRef::linked(graph, Link::Here(*index)),
        }
    }

    /// Returns the type that `view` shows.
    pub(crate) fn of_view(view: TypeRef<'_>) -> Self {
        match view {
            TypeRef::Static(ty) => Self::from_static(ty),
            TypeRef::Node(graph, index, _) => Self::of_graph(Arc::clone(graph), index),
        }
    }

    /// Returns the kind of the type, such as struct or sequence.
    #[must_use]
    pub fn kind(&self) -> TcKind {
        self.view().kind()
    }

    /// Returns the repository id; `None` for kinds that have none. It may be empty in types from old peers.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        let ty = self.view();
        ty.kind().is_named().then(|| ty.id())
    }

    /// Returns the name without its scopes; `None` for kinds that have none. It may be empty in types from peers.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let ty = self.view();
        ty.kind().is_named().then(|| ty.name())
    }

    /// Returns the number of members of a struct, exception, union (one for each label), enum or value; 0 for other
    /// kinds.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.view().member_count()
    }

    /// Returns the name of the member or enumerator at `index`; `None` if the type has fewer.
    #[must_use]
    pub fn member_name(&self, index: usize) -> Option<&str> {
        Some(self.view().member(index)?.name)
    }

    /// Returns the type of the member at `index`; `None` if the type has fewer, and for an enum.
    #[must_use]
    pub fn member_type(&self, index: usize) -> Option<Self> {
        let ty = self.view();
        (ty.kind() != TcKind::Enum).then_some(())?;
        Some(Self::of_view(ty.member(index)?.ty))
    }

    /// Returns the label of a union's member: a number, the ordinal of an enumerator, the code of a character, 0 or 1
    /// for a boolean. `None` for the default member, and for types that are not unions.
    #[must_use]
    pub fn member_label(&self, index: usize) -> Option<i128> {
        let ty = self.view();
        (ty.kind() == TcKind::Union && self.default_index() != Some(index)).then_some(())?;
        Some(ty.member(index)?.label)
    }

    /// Whether a value's member is public; `None` for types that are not value types.
    #[must_use]
    #[doc(alias = "member_visibility")]
    pub fn member_is_public(&self, index: usize) -> Option<bool> {
        let ty = self.view();
        matches!(ty.kind(), TcKind::Value | TcKind::Event).then_some(())?;
        Some(ty.member(index)?.label != 0)
    }

    /// Returns the type of a union's discriminator; `None` for other kinds.
    #[must_use]
    pub fn discriminator_type(&self) -> Option<Self> {
        let ty = self.view();
        (ty.kind() == TcKind::Union).then(|| Self::of_view(ty.content()))
    }

    /// Returns the index of a union's default member; `None` if it has none.
    #[must_use]
    pub fn default_index(&self) -> Option<usize> {
        let ty = self.view();
        (ty.kind() == TcKind::Union).then(|| usize::try_from(ty.number()).ok())?
    }

    /// Returns the bound of a string or sequence, 0 if it has none; the length of an array. `None` for other kinds.
    #[must_use]
    pub fn length(&self) -> Option<u32> {
        use TcKind::{Array, Sequence, String, WString};
        let ty = self.view();
        matches!(ty.kind(), String | WString | Sequence | Array).then(|| ty.bound())
    }

    /// Returns the type of the elements of a sequence or array, the type behind an alias, or the content of a value
    /// box; `None` for other kinds.
    #[must_use]
    pub fn content_type(&self) -> Option<Self> {
        use TcKind::{Alias, Array, Sequence, ValueBox};
        let ty = self.view();
        matches!(ty.kind(), Sequence | Array | Alias | ValueBox)
            .then(|| Self::of_view(ty.content()))
    }

    /// Returns the digits and the scale of a `fixed` type; `None` for other kinds.
    #[must_use]
    #[doc(alias = "fixed_digits")]
    #[doc(alias = "fixed_scale")]
    pub fn digits_and_scale(&self) -> Option<(u16, i16)> {
        let ty = self.view();
        (ty.kind() == TcKind::Fixed).then_some(())?;
        Some((u16::try_from(ty.number()).ok()?, ty.scale()))
    }

    /// Returns the modifier of a value type: 0 none, 1 custom, 2 abstract, 3 truncatable. `None` for other kinds.
    #[must_use]
    pub fn type_modifier(&self) -> Option<i16> {
        let ty = self.view();
        matches!(ty.kind(), TcKind::Value | TcKind::Event).then_some(())?;
        i16::try_from(ty.number()).ok()
    }

    /// Returns the value type from which a value type inherits its state; `None` if there is none.
    #[must_use]
    pub fn concrete_base_type(&self) -> Option<Self> {
        let ty = self.view();
        matches!(ty.kind(), TcKind::Value | TcKind::Event).then_some(())?;
        let base = ty.content();
        (base.kind() != TcKind::Null).then(|| Self::of_view(base))
    }

    /// Returns the type behind all aliases; the type itself if it is not an alias.
    #[must_use]
    pub fn unaliased(&self) -> Self {
        Self::of_view(self.view().unaliased())
    }

    /// Whether the two types are equivalent: aliases and the names of members do not count, and if both have a
    /// repository id, only the ids are compared.
    #[must_use]
    pub fn equivalent(&self, other: &Self) -> bool {
        same(self.view(), other.view(), Sameness::Equivalent)
    }
}

impl PartialEq for TypeCode {
    fn eq(&self, other: &Self) -> bool {
        same(self.view(), other.view(), Sameness::Equal)
    }
}

impl Eq for TypeCode {}

/// The hash of kind, repository id and name. Types without an id share the hash of their kind and length.
impl Hash for TypeCode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ty = self.view();
        (
            ty.kind(),
            ty.id_and_name(),
            self.length(),
            ty.member_count(),
        )
            .hash(state);
    }
}

impl Default for TypeCode {
    /// Returns the type `null`.
    fn default() -> Self {
        Self::from_static(&data::NULL)
    }
}
