//! Building TypeCodes at run time.

use super::{
    TcKind, TypeCode,
    data::{Graph, Link, Member, Node, StaticType, TypeRef},
    encoding::is_discriminator,
};
use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};

/// A graph under construction.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    /// The type under construction, and its id: a member of that id which is not defined yet refers to it (recursion).
    id: Option<(Box<str>, Link)>,
    /// The parts of the graph, by address, so that a type that occurs twice has one node. The builder borrows all types
    /// that it copies, so that addresses stay valid.
    copied: BTreeMap<usize, Link>,
}

impl Builder {
    /// Begins a type; its node is to be filled in.
    fn begin(kind: TcKind, id: &str, name: &str) -> (Self, Node) {
        let mut node = Node::new(kind);
        node.id = id.into();
        node.name = name.into();
        let builder = Self {
            nodes: [Node::new(kind)].into(),
            id: kind.may_recur().then(|| (id.into(), Link::Here(0))),
            copied: BTreeMap::new(),
        };
        (builder, node)
    }

    /// Makes a type part of the graph, with all that it refers to.
    fn import(&mut self, ty: &TypeCode) -> Link {
        let mut left = Vec::new();
        let link = self.place(ty.view(), &mut left);
        while let Some((at, ty)) = left.pop() {
            let content = self.place(ty.content(), &mut left);
            let members: Vec<_> = ty
                .members()
                .map(|member| Member {
                    name: member.name.into(),
                    ty: self.place(member.ty, &mut left),
                    label: member.label,
                })
                .collect();
            let mut node = Node::new(ty.kind());
            node.id = ty.id().into();
            node.name = ty.name().into();
            node.scale = ty.scale();
            node.number = ty.number();
            if ty.kind() == TcKind::Union {
                node.set_union(i32::try_from(ty.number()).unwrap_or(-1), members);
            } else {
                node.members = members.into();
            }
            node.content = content;
            if let Some(place) = self.nodes.get_mut(at) {
                *place = node;
            }
        }
        link
    }

    /// Returns the link to a type's node. A node that is still to be filled in is appended to `left`.
    fn place<'a>(&mut self, ty: TypeRef<'a>, left: &mut Vec<(usize, TypeRef<'a>)>) -> Link {
        if let TypeRef::Static(ty) = ty {
            return Link::Static(ty);
        }
        if let Some(link) = self.copied.get(&ty.address()) {
            return *link;
        }
        let link = match &self.id {
            // A stand-in made by `TypeCode::recursive`.
            Some((id, link)) if is_stand_in(ty) && ty.id() == &**id => *link,
            _ => {
                let at = self.nodes.len();
                self.nodes.push(Node::new(ty.kind()));
                left.push((at, ty));
                Link::Here(u32::try_from(at).unwrap_or(u32::MAX))
            }
        };
        self.copied.insert(ty.address(), link);
        link
    }

    fn finish(mut self, node: Node) -> TypeCode {
        if let Some(first) = self.nodes.first_mut() {
            *first = node;
        }
        TypeCode::of_graph(Arc::new(Graph { nodes: self.nodes }), 0)
    }
}

/// The modifier that marks the stand-in of a type under construction. No type has it.
const STAND_IN: i64 = i64::MIN;

/// Whether this is the stand-in of a type under construction.
pub(crate) fn is_stand_in(ty: TypeRef<'_>) -> bool {
    ty.kind() == TcKind::Struct && ty.number() == STAND_IN
}

/// # Types at run time
impl TypeCode {
    /// Returns the type of a kind without parameters, such as `long` or `any`; `None` for other kinds.
    #[must_use]
    pub fn of_kind(kind: TcKind) -> Option<Self> {
        kind.simple_type().map(Self::from_static)
    }

    /// Makes the type `string`, or `string<bound>` if `bound` is not 0.
    #[must_use]
    #[doc(alias = "create_string_tc")]
    pub fn string(bound: u32) -> Self {
        Self::text(TcKind::String, &StaticType::String(0), bound)
    }

    /// Makes the type `wstring`, or `wstring<bound>` if `bound` is not 0.
    #[must_use]
    #[doc(alias = "create_wstring_tc")]
    pub fn wstring(bound: u32) -> Self {
        Self::text(TcKind::WString, &StaticType::WString(0), bound)
    }

    fn text(kind: TcKind, unbounded: &'static StaticType, bound: u32) -> Self {
        if bound == 0 {
            return Self::from_static(unbounded);
        }
        let (builder, mut node) = Builder::begin(kind, "", "");
        node.number = i64::from(bound);
        builder.finish(node)
    }

    /// Makes the type `fixed<digits, scale>`. A type of other than 1 to 31 digits is invalid, and cannot be sent.
    #[must_use]
    #[doc(alias = "create_fixed_tc")]
    pub fn fixed(digits: u16, scale: i16) -> Self {
        let (builder, mut node) = Builder::begin(TcKind::Fixed, "", "");
        node.number = i64::from(digits);
        node.scale = scale;
        builder.finish(node)
    }

    /// Makes the type `sequence<element>`, or `sequence<element, bound>` if `bound` is not 0.
    #[must_use]
    #[doc(alias = "create_sequence_tc")]
    pub fn sequence(element: &Self, bound: u32) -> Self {
        Self::collection(TcKind::Sequence, element, bound)
    }

    /// Makes an array of `length` elements; arrays of several dimensions are arrays of arrays.
    #[must_use]
    #[doc(alias = "create_array_tc")]
    pub fn array(element: &Self, length: u32) -> Self {
        Self::collection(TcKind::Array, element, length)
    }

    fn collection(kind: TcKind, element: &Self, number: u32) -> Self {
        let (mut builder, mut node) = Builder::begin(kind, "", "");
        node.content = builder.import(element);
        node.number = i64::from(number);
        builder.finish(node)
    }

    /// Makes the type `typedef original name`.
    #[must_use]
    #[doc(alias = "create_alias_tc")]
    pub fn alias(id: &str, name: &str, original: &Self) -> Self {
        Self::wrapper(TcKind::Alias, id, name, original)
    }

    /// Makes the type `valuetype name boxed`.
    #[must_use]
    #[doc(alias = "create_value_box_tc")]
    pub fn value_box(id: &str, name: &str, boxed: &Self) -> Self {
        Self::wrapper(TcKind::ValueBox, id, name, boxed)
    }

    fn wrapper(kind: TcKind, id: &str, name: &str, inner: &Self) -> Self {
        let (mut builder, mut node) = Builder::begin(kind, id, name);
        node.content = builder.import(inner);
        builder.finish(node)
    }

    /// Makes the type of references to the interface `name`, with the repository id `id`.
    #[must_use]
    #[doc(alias = "create_interface_tc")]
    pub fn interface(id: &str, name: &str) -> Self {
        let (builder, node) = Builder::begin(TcKind::ObjRef, id, name);
        builder.finish(node)
    }

    /// Makes the type of an enum from the names of its enumerators, in the order of their ordinals.
    #[must_use]
    #[doc(alias = "create_enum_tc")]
    pub fn enumeration(id: &str, name: &str, enumerators: &[&str]) -> Self {
        let (builder, mut node) = Builder::begin(TcKind::Enum, id, name);
        let members = enumerators.iter().map(|name| Member {
            name: (*name).into(),
            ty: Link::NULL,
            label: 0,
        });
        node.members = members.collect();
        builder.finish(node)
    }

    /// Makes a struct of its members, each a name and a type.
    ///
    /// ```
    /// # extern crate zorb_cdr as zorb;
    /// use zorb::{TcKind, TypeCode};
    ///
    /// let long = TypeCode::of_kind(TcKind::Long).unwrap();
    /// let point = TypeCode::structure("IDL:M/Point:1.0", "Point", &[("x", long.clone()), ("y", long)]);
    /// assert_eq!(format!("{point:#}"), "struct M::Point { long x; long y; }");
    /// ```
    #[must_use]
    #[doc(alias = "create_struct_tc")]
    pub fn structure(id: &str, name: &str, members: &[(&str, Self)]) -> Self {
        Self::record(TcKind::Struct, id, name, members)
    }

    /// Makes an exception of its members.
    #[must_use]
    #[doc(alias = "create_exception_tc")]
    pub fn exception(id: &str, name: &str, members: &[(&str, Self)]) -> Self {
        Self::record(TcKind::Except, id, name, members)
    }

    fn record(kind: TcKind, id: &str, name: &str, members: &[(&str, Self)]) -> Self {
        let (mut builder, mut node) = Builder::begin(kind, id, name);
        let members = members.iter().map(|(name, ty)| Member {
            name: (*name).into(),
            ty: builder.import(ty),
            label: 0,
        });
        node.members = members.collect();
        builder.finish(node)
    }

    /// Makes a union of the type of its discriminator and its members, one for each label. The label of the default
    /// member is `None`.
    ///
    /// Returns `None` if `discriminator` is not a type for a discriminator, or there are two defaults. Labels of
    /// enumerators are their ordinals, those of characters their codes.
    #[must_use]
    #[doc(alias = "create_union_tc")]
    pub fn union(
        id: &str,
        name: &str,
        discriminator: &Self,
        members: &[(Option<i128>, &str, Self)],
    ) -> Option<Self> {
        let (mut builder, mut node) = Builder::begin(TcKind::Union, id, name);
        if !is_discriminator(discriminator.view().unaliased().kind()) {
            return None;
        }
        node.content = builder.import(discriminator);
        let mut defaults = (0_i32..)
            .zip(members)
            .filter(|(_, (label, ..))| label.is_none());
        let default = defaults.next().map_or(-1, |(index, _)| index);
        if defaults.next().is_some() {
            return None;
        }
        let members = members.iter().map(|(label, name, ty)| Member {
            name: (*name).into(),
            ty: builder.import(ty),
            label: label.unwrap_or(0),
        });
        let members = members.collect();
        node.set_union(default, members);
        Some(builder.finish(node))
    }

    /// Returns a stand-in for the struct, union, exception or value of that id, to be used within its own members.
    ///
    /// ```
    /// # extern crate zorb_cdr as zorb;
    /// use zorb::TypeCode;
    ///
    /// let children = TypeCode::sequence(&TypeCode::recursive("IDL:Node:1.0"), 0);
    /// let node = TypeCode::structure("IDL:Node:1.0", "Node", &[("children", children)]);
    /// let inner = node.member_type(0).and_then(|children| children.content_type());
    /// assert_eq!(inner, Some(node));
    /// ```
    ///
    /// The result by itself is not a type, and cannot be sent.
    #[must_use]
    #[doc(alias = "create_recursive_tc")]
    pub fn recursive(id: &str) -> Self {
        let (builder, mut node) = Builder::begin(TcKind::Struct, id, "");
        node.number = STAND_IN;
        builder.finish(node)
    }
}
