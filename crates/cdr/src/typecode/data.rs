//! The storage of types: static data where the IDL compiler knew them, else a graph.

use super::TcKind;
use alloc::{boxed::Box, sync::Arc, vec::Vec};

/// A type as static data, in generated code. Statics may refer to each other, so recursive types need nothing more.
#[derive(Debug)]
#[doc(hidden)]
#[expect(
    clippy::exhaustive_enums,
    reason = "made and used by the same version of the ORB"
)]
pub enum StaticType {
    Null,
    Void,
    Short,
    Long,
    UShort,
    ULong,
    Float,
    Double,
    Boolean,
    Char,
    Octet,
    Any,
    TypeCode,
    Principal,
    LongLong,
    ULongLong,
    LongDouble,
    WChar,
    /// The bound, 0 if there is none.
    String(u32),
    /// The bound, 0 if there is none.
    WString(u32),
    /// Digits and scale.
    Fixed(u16, i16),
    /// Types with an id and a name only: interfaces of all kinds, native types, components and homes.
    Named(TcKind, &'static str, &'static str),
    /// Id, name, members.
    Struct(
        &'static str,
        &'static str,
        &'static [(&'static str, &'static Self)],
    ),
    /// Id, name, members.
    Except(
        &'static str,
        &'static str,
        &'static [(&'static str, &'static Self)],
    ),
    /// Id, name, discriminator, index of the default or -1, members with their labels; one entry for each label.
    Union(
        &'static str,
        &'static str,
        &'static Self,
        i32,
        &'static [(i128, &'static str, &'static Self)],
    ),
    /// Id, name, enumerators.
    Enum(&'static str, &'static str, &'static [&'static str]),
    /// Elements and the bound, 0 if there is none.
    Sequence(&'static Self, u32),
    /// Elements and their number.
    Array(&'static Self, u32),
    /// Id, name, aliased type.
    Alias(&'static str, &'static str, &'static Self),
    /// Id, name, boxed type.
    ValueBox(&'static str, &'static str, &'static Self),
    /// Value or event, id, name, modifier, concrete base (or null), members with their visibility.
    Value(
        TcKind,
        &'static str,
        &'static str,
        i16,
        &'static Self,
        &'static [(&'static str, &'static Self, i16)],
    ),
}

/// The type `null`.
pub(crate) static NULL: StaticType = StaticType::Null;

/// Types that were not known when the program was compiled: they were read from a message or built at run time.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: TcKind,
    pub(crate) id: Box<str>,
    pub(crate) name: Box<str>,
    /// Elements, aliased type, discriminator, boxed type, concrete base.
    pub(crate) content: Link,
    /// Bound, length, index of the default, modifier, digits.
    pub(crate) number: i64,
    /// Scale of a fixed.
    pub(crate) scale: i16,
    pub(crate) members: Box<[Member]>,
    /// The labels of a union and the indexes of their members, sorted, so that finding one of many takes a binary
    /// search.
    pub(crate) labels: Box<[(i128, u32)]>,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: Box<str>,
    pub(crate) ty: Link,
    /// Label of a union's member, visibility of a value's.
    pub(crate) label: i128,
}

/// A reference from one node to another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Link {
    Static(&'static StaticType),
    /// A node of the same graph.
    Here(u32),
}

impl Link {
    pub(crate) const NULL: Self = Self::Static(&NULL);
}

impl Node {
    pub(crate) fn new(kind: TcKind) -> Self {
        Self {
            kind,
            id: Box::default(),
            name: Box::default(),
            content: Link::NULL,
            number: 0,
            scale: 0,
            members: Box::default(),
            labels: Box::default(),
        }
    }

    /// Fills in the members of a union, and the table of its labels.
    pub(crate) fn set_union(&mut self, default: i32, members: Vec<Member>) {
        self.number = i64::from(default);
        let labels = (0_u32..).zip(&members);
        let labels = labels.filter(|(index, _)| i64::from(*index) != self.number);
        let mut labels: Vec<_> = labels.map(|(i, member)| (member.label, i)).collect();
        labels.sort_unstable();
        self.labels = labels.into();
        self.members = members.into();
    }
}

/// A type in either storage. All functions that walk over types use it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TypeRef<'a> {
    Static(&'static StaticType),
    /// The graph, the index of the node in it, the node.
    Node(&'a Arc<Graph>, u32, &'a Node),
}

/// A member of a struct, union, exception, enum or value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberRef<'a> {
    pub(crate) name: &'a str,
    /// Null for enumerators.
    pub(crate) ty: TypeRef<'a>,
    pub(crate) label: i128,
}

impl<'a> TypeRef<'a> {
    pub(crate) fn kind(self) -> TcKind {
        use StaticType as S;
        match self {
            Self::Node(_, _, node) => node.kind,
            Self::Static(ty) => match ty {
                S::Null => TcKind::Null,
                S::Void => TcKind::Void,
                S::Short => TcKind::Short,
                S::Long => TcKind::Long,
                S::UShort => TcKind::UShort,
                S::ULong => TcKind::ULong,
                S::Float => TcKind::Float,
                S::Double => TcKind::Double,
                S::Boolean => TcKind::Boolean,
                S::Char => TcKind::Char,
                S::Octet => TcKind::Octet,
                S::Any => TcKind::Any,
                S::TypeCode => TcKind::TypeCode,
                S::Principal => TcKind::Principal,
                S::LongLong => TcKind::LongLong,
                S::ULongLong => TcKind::ULongLong,
                S::LongDouble => TcKind::LongDouble,
                S::WChar => TcKind::WChar,
                S::String(_) => TcKind::String,
                S::WString(_) => TcKind::WString,
                S::Fixed(..) => TcKind::Fixed,
                S::Named(kind, ..) | S::Value(kind, ..) => *kind,
                S::Struct(..) => TcKind::Struct,
                S::Except(..) => TcKind::Except,
                S::Union(..) => TcKind::Union,
                S::Enum(..) => TcKind::Enum,
                S::Sequence(..) => TcKind::Sequence,
                S::Array(..) => TcKind::Array,
                S::Alias(..) => TcKind::Alias,
                S::ValueBox(..) => TcKind::ValueBox,
            },
        }
    }

    /// Returns the repository id; empty if there is none.
    pub(crate) fn id(self) -> &'a str {
        self.id_and_name().0
    }

    /// Returns the name; empty if there is none.
    pub(crate) fn name(self) -> &'a str {
        self.id_and_name().1
    }

    pub(crate) fn id_and_name(self) -> (&'a str, &'a str) {
        use StaticType as S;
        match self {
            Self::Node(_, _, node) => (&node.id, &node.name),
            Self::Static(
                S::Named(_, id, name)
                | S::Struct(id, name, ..)
                | S::Except(id, name, ..)
                | S::Union(id, name, ..)
                | S::Enum(id, name, ..)
                | S::Alias(id, name, ..)
                | S::ValueBox(id, name, ..)
                | S::Value(_, id, name, ..),
            ) => (id, name),
            Self::Static(_) => ("", ""),
        }
    }

    /// Returns the type of elements, aliased type, discriminator, boxed type or concrete base; null where there is
    /// none.
    pub(crate) fn content(self) -> Self {
        use StaticType as S;
        match self {
            Self::Node(graph, _, node) => Self::linked(graph, node.content),
            Self::Static(
                S::Sequence(ty, _)
                | S::Array(ty, _)
                | S::Alias(_, _, ty)
                | S::ValueBox(_, _, ty)
                | S::Union(_, _, ty, ..)
                | S::Value(_, _, _, _, ty, _),
            ) => Self::Static(ty),
            Self::Static(_) => Self::Static(&NULL),
        }
    }

    pub(super) fn linked(graph: &'a Arc<Graph>, link: Link) -> Self {
        match link {
            Link::Static(ty) => Self::Static(ty),
            Link::Here(index) => {
                let node = usize::try_from(index)
                    .ok()
                    .and_then(|index| graph.nodes.get(index));
                node.map_or(Self::Static(&NULL), |node| Self::Node(graph, index, node))
            }
        }
    }

    /// Returns the bound of a string or sequence (0: none), length of an array, digits of a fixed, index of a union's
    /// default, or modifier of a value.
    pub(crate) fn number(self) -> i64 {
        use StaticType as S;
        match self {
            Self::Node(_, _, node) => node.number,
            Self::Static(ty) => match ty {
                S::String(n) | S::WString(n) | S::Sequence(_, n) | S::Array(_, n) => i64::from(*n),
                S::Fixed(digits, _) => i64::from(*digits),
                S::Union(_, _, _, default, _) => i64::from(*default),
                S::Value(_, _, _, modifier, ..) => i64::from(*modifier),
                _ => 0,
            },
        }
    }

    /// Returns the bound or length.
    pub(crate) fn bound(self) -> u32 {
        u32::try_from(self.number()).unwrap_or(0)
    }

    pub(crate) const fn scale(self) -> i16 {
        match self {
            Self::Node(_, _, node) => node.scale,
            Self::Static(StaticType::Fixed(_, scale)) => *scale,
            Self::Static(_) => 0,
        }
    }

    pub(crate) const fn member_count(self) -> usize {
        use StaticType as S;
        match self {
            Self::Node(_, _, node) => node.members.len(),
            Self::Static(ty) => match ty {
                S::Struct(_, _, members) | S::Except(_, _, members) => members.len(),
                S::Union(.., members) => members.len(),
                S::Enum(.., members) => members.len(),
                S::Value(.., members) => members.len(),
                _ => 0,
            },
        }
    }

    pub(crate) fn member(self, index: usize) -> Option<MemberRef<'a>> {
        use StaticType as S;
        let (name, ty, label) = match self {
            Self::Node(graph, _, node) => {
                let member = node.members.get(index)?;
                (&*member.name, Self::linked(graph, member.ty), member.label)
            }
            Self::Static(ty) => match ty {
                S::Struct(_, _, members) | S::Except(_, _, members) => {
                    let (name, ty) = members.get(index)?;
                    (*name, Self::Static(ty), 0)
                }
                S::Union(.., members) => {
                    let (label, name, ty) = members.get(index)?;
                    (*name, Self::Static(ty), *label)
                }
                S::Enum(.., members) => (*members.get(index)?, Self::Static(&NULL), 0),
                S::Value(.., members) => {
                    let (name, ty, visibility) = members.get(index)?;
                    (*name, Self::Static(ty), i128::from(*visibility))
                }
                _ => return None,
            },
        };
        Some(MemberRef { name, ty, label })
    }

    pub(crate) fn members(self) -> impl Iterator<Item = MemberRef<'a>> {
        (0..self.member_count()).filter_map(move |index| self.member(index))
    }

    /// Returns the member of a union that a discriminator selects, if it selects one.
    pub(crate) fn selected(self, discriminator: i128) -> Option<MemberRef<'a>> {
        let default = self.number();
        let index = match self {
            Self::Node(_, _, node) => node
                .labels
                .binary_search_by_key(&discriminator, |(label, _)| *label)
                .ok()
                .and_then(|at| node.labels.get(at))
                .and_then(|(_, index)| usize::try_from(*index).ok()),
            Self::Static(StaticType::Union(.., members)) => {
                members.iter().enumerate().position(|(index, (label, ..))| {
                    *label == discriminator && i64::try_from(index) != Ok(default)
                })
            }
            Self::Static(_) => None,
        };
        self.member(index.or_else(|| usize::try_from(default).ok())?)
    }

    /// Returns the type behind all aliases. The loop ends, since no alias leads to itself.
    pub(crate) fn unaliased(mut self) -> Self {
        while self.kind() == TcKind::Alias {
            self = self.content();
        }
        self
    }

    /// Returns its address, a key that identifies it within one walk.
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Static(ty) => core::ptr::from_ref(ty).addr(),
            Self::Node(_, _, node) => core::ptr::from_ref(node).addr(),
        }
    }
}
