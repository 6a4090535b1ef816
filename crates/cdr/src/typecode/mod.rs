//! Types as values: `CORBA::TypeCode`.
//!
//! - `kind`: the kinds;
//! - `data`: how types are kept, and [`TypeRef`](data::TypeRef), by which everything here walks over them;
//! - `wire`: reading and writing;
//! - `compare`: equal, equivalent, convertible;
//! - `display`: as IDL;
//! - `build`: types that are put together at run time.

mod build;
mod compare;
pub(crate) mod data;
pub(crate) mod display;
mod kind;
pub(crate) mod label;
pub(crate) mod wire;

pub(crate) use compare::{Sameness, same};
pub use kind::TcKind;

use alloc::sync::Arc;
use data::{Graph, Link, StaticType, TypeRef};

/// A type as a value, as it goes with every `any`: `CORBA::TypeCode`.
///
/// Generated types have theirs as static data, so nothing is allocated for them; a clone costs a reference count at most.
///
/// `==` is CORBA's `equal`: everything counts, names and aliases too. Mostly one wants [`equivalent`](Self::equivalent).
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
    /// A type that the IDL compiler knew.
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

    /// The type that `view` shows.
    pub(crate) fn of_view(view: TypeRef<'_>) -> Self {
        match view {
            TypeRef::Static(ty) => Self::from_static(ty),
            TypeRef::Node(graph, index, _) => Self::of_graph(Arc::clone(graph), index),
        }
    }

    /// The kind of the type.
    #[must_use]
    pub fn kind(&self) -> TcKind {
        self.view().kind()
    }

    /// The repository id; `None` for kinds that have none. May be empty in types from old peers.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        let ty = self.view();
        ty.kind().is_named().then(|| ty.id())
    }

    /// The name without its scopes; `None` for kinds that have none. May be empty in types from peers.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let ty = self.view();
        ty.kind().is_named().then(|| ty.name())
    }

    /// Number of members of a struct, exception, union (one for each label), enum or value; 0 for other kinds.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.view().member_count()
    }

    /// The name of a member or enumerator.
    #[must_use]
    pub fn member_name(&self, index: usize) -> Option<&str> {
        Some(self.view().member(index)?.name)
    }

    /// The type of a member; `None` also for enumerators.
    #[must_use]
    pub fn member_type(&self, index: usize) -> Option<Self> {
        let ty = self.view();
        (ty.kind() != TcKind::Enum).then_some(())?;
        Some(Self::of_view(ty.member(index)?.ty))
    }

    /// The label of a union's member: a number, the ordinal of an enumerator, the code of a character, 0 or 1 for a
    /// boolean. `None` for the default's member, and for what is no union.
    #[must_use]
    pub fn member_label(&self, index: usize) -> Option<i128> {
        let ty = self.view();
        (ty.kind() == TcKind::Union && self.default_index() != Some(index)).then_some(())?;
        Some(ty.member(index)?.label)
    }

    /// Whether a value's member is public; `None` for what is no value.
    #[must_use]
    #[doc(alias = "member_visibility")]
    pub fn member_is_public(&self, index: usize) -> Option<bool> {
        let ty = self.view();
        matches!(ty.kind(), TcKind::Value | TcKind::Event).then_some(())?;
        Some(ty.member(index)?.label != 0)
    }

    /// The type of a union's discriminator.
    #[must_use]
    pub fn discriminator_type(&self) -> Option<Self> {
        let ty = self.view();
        (ty.kind() == TcKind::Union).then(|| Self::of_view(ty.content()))
    }

    /// Which member of a union is the default's.
    #[must_use]
    pub fn default_index(&self) -> Option<usize> {
        let ty = self.view();
        (ty.kind() == TcKind::Union).then(|| usize::try_from(ty.number()).ok())?
    }

    /// The bound of a string or sequence, 0 if it has none; the length of an array. `None` for other kinds.
    #[must_use]
    pub fn length(&self) -> Option<u32> {
        use TcKind::{Array, Sequence, String, WString};
        let ty = self.view();
        matches!(ty.kind(), String | WString | Sequence | Array).then(|| ty.bound())
    }

    /// The elements of a sequence or array, what an alias stands for, what is in a value box.
    #[must_use]
    pub fn content_type(&self) -> Option<Self> {
        use TcKind::{Alias, Array, Sequence, ValueBox};
        let ty = self.view();
        matches!(ty.kind(), Sequence | Array | Alias | ValueBox)
            .then(|| Self::of_view(ty.content()))
    }

    /// Digits and scale of a fixed.
    #[must_use]
    #[doc(alias = "fixed_digits")]
    #[doc(alias = "fixed_scale")]
    pub fn digits_and_scale(&self) -> Option<(u16, i16)> {
        let ty = self.view();
        (ty.kind() == TcKind::Fixed).then_some(())?;
        Some((u16::try_from(ty.number()).ok()?, ty.scale()))
    }

    /// How a value is declared: 0 nothing said, 1 custom, 2 abstract, 3 truncatable.
    #[must_use]
    pub fn type_modifier(&self) -> Option<i16> {
        let ty = self.view();
        matches!(ty.kind(), TcKind::Value | TcKind::Event).then_some(())?;
        i16::try_from(ty.number()).ok()
    }

    /// The value type that a value type inherits its state from.
    #[must_use]
    pub fn concrete_base_type(&self) -> Option<Self> {
        let ty = self.view();
        matches!(ty.kind(), TcKind::Value | TcKind::Event).then_some(())?;
        let base = ty.content();
        (base.kind() != TcKind::Null).then(|| Self::of_view(base))
    }

    /// The type that aliases stand for in the end; the type itself if it is no alias.
    #[must_use]
    pub fn unaliased(&self) -> Self {
        Self::of_view(self.view().unaliased())
    }

    /// Whether the two are the same type for all purposes of a program: aliases and the names of members do not count,
    /// and if both have a repository id, that alone does.
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
