//! Types that refer to each other, built together.

use super::{
    TcKind, TypeCode,
    data::{Graph, Link, Member, Node},
    encoding::is_discriminator,
};
use alloc::{sync::Arc, vec::Vec};

/// A place for a type in a [`TypeCodeSet`] under construction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeSlot(u32);

/// What a type is, by the slots of the types that it consists of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TypeDefinition<'a> {
    /// A type without parameters, such as `long` or `any`.
    Simple(TcKind),
    /// `string`, or `string<bound>` if the bound is not 0.
    String(u32),
    /// `wstring`, or `wstring<bound>` if the bound is not 0.
    WString(u32),
    /// A fixed-point number of so many digits, and so many of them behind the point.
    Fixed(u16, i16),
    /// A sequence, with its bound; 0 for none.
    Sequence(TypeSlot, u32),
    /// An array, with its length.
    Array(TypeSlot, u32),
    /// A type with a name alone: an interface of any kind, a native type, a component or a home.
    Named(TcKind),
    /// A struct of these members.
    Struct(&'a [(&'a str, TypeSlot)]),
    /// An exception of these members.
    Exception(&'a [(&'a str, TypeSlot)]),
    /// A union: the type of its discriminator, and a member for each label. The label of the default member is `None`.
    Union(TypeSlot, &'a [(Option<i128>, &'a str, TypeSlot)]),
    /// An enum of these enumerators.
    Enum(&'a [&'a str]),
    /// A `typedef` of this type.
    Alias(TypeSlot),
    /// A value box with this content.
    ValueBox(TypeSlot),
    /// A value type: its modifier (0 none, 1 custom, 2 abstract, 3 truncatable), the value type whose state it inherits, and
    /// its own members, each with whether it is public.
    Value(i16, Option<TypeSlot>, &'a [(&'a str, TypeSlot, bool)]),
}

/// Types under construction that may refer to each other in any way, such as all types of an IDL file.
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::{TypeCodeSet, TypeDefinition};
///
/// let mut set = TypeCodeSet::new();
/// let (tree, forest) = (set.slot(), set.slot());
/// set.define(tree, "IDL:Tree:1.0", "Tree", &TypeDefinition::Struct(&[("kids", forest)]));
/// set.define(forest, "", "", &TypeDefinition::Sequence(tree, 0));
/// let types = set.finish().unwrap();
/// assert_eq!(format!("{:#}", types[0]), "struct Tree { sequence<Tree> kids; }");
/// ```
#[derive(Debug, Default)]
pub struct TypeCodeSet {
    nodes: Vec<Node>,
}

impl TypeCodeSet {
    /// Returns a set without types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a place for a type, which is `null` until it is [defined](Self::define).
    pub fn slot(&mut self) -> TypeSlot {
        let at = self.nodes.len();
        self.nodes.push(Node::new(TcKind::Null));
        TypeSlot(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// Defines the type of a slot. Id and name are of no account for kinds that have none.
    pub fn define(&mut self, slot: TypeSlot, id: &str, name: &str, ty: &TypeDefinition<'_>) {
        use TypeDefinition as D;
        let link = |slot: TypeSlot| Link::Here(slot.0);
        let record = |members: &[(&str, TypeSlot)]| {
            let members = members.iter().map(|(name, ty)| Member {
                name: (*name).into(),
                ty: link(*ty),
                label: 0,
            });
            members.collect()
        };
        let mut node = Node::new(match ty {
            D::String(_) => TcKind::String,
            D::WString(_) => TcKind::WString,
            D::Fixed(..) => TcKind::Fixed,
            D::Sequence(..) => TcKind::Sequence,
            D::Array(..) => TcKind::Array,
            D::Simple(kind) | D::Named(kind) => *kind,
            D::Struct(_) => TcKind::Struct,
            D::Exception(_) => TcKind::Except,
            D::Union(..) => TcKind::Union,
            D::Enum(_) => TcKind::Enum,
            D::Alias(_) => TcKind::Alias,
            D::ValueBox(_) => TcKind::ValueBox,
            D::Value(..) => TcKind::Value,
        });
        if node.kind.is_named() {
            node.id = id.into();
            node.name = name.into();
        }
        match ty {
            D::Simple(_) | D::Named(_) => {}
            D::String(bound) | D::WString(bound) => node.number = i64::from(*bound),
            D::Fixed(digits, scale) => {
                node.number = i64::from(*digits);
                node.scale = *scale;
            }
            D::Sequence(content, number) | D::Array(content, number) => {
                node.content = link(*content);
                node.number = i64::from(*number);
            }
            D::Alias(content) | D::ValueBox(content) => node.content = link(*content),
            D::Struct(members) | D::Exception(members) => node.members = record(members),
            D::Enum(enumerators) => {
                let members = enumerators.iter().map(|name| Member {
                    name: (*name).into(),
                    ty: Link::NULL,
                    label: 0,
                });
                node.members = members.collect();
            }
            D::Union(discriminator, members) => {
                node.content = link(*discriminator);
                let mut places = (0_i32..).zip(*members);
                let default = places.find(|(_, (label, ..))| label.is_none());
                let members = members.iter().map(|(label, name, ty)| Member {
                    name: (*name).into(),
                    ty: link(*ty),
                    label: label.unwrap_or(0),
                });
                node.set_union(default.map_or(-1, |(at, _)| at), members.collect());
            }
            D::Value(modifier, base, members) => {
                node.number = i64::from(*modifier);
                node.content = base.map_or(Link::NULL, link);
                let members = members.iter().map(|(name, ty, public)| Member {
                    name: (*name).into(),
                    ty: link(*ty),
                    label: i128::from(*public),
                });
                node.members = members.collect();
            }
        }
        let at = usize::try_from(slot.0).ok();
        if let Some(place) = at.and_then(|at| self.nodes.get_mut(at)) {
            *place = node;
        }
    }

    /// Returns the types, in the order of their slots; the first ones are those of the slots that were made first.
    /// `None` if a type consists of nothing but itself, as a `typedef` of itself would, or a union has no discriminator.
    #[must_use]
    pub fn finish(self) -> Option<Vec<TypeCode>> {
        let graph = Arc::new(Graph { nodes: self.nodes });
        let step = |link: Link| match link {
            Link::Here(at) => graph.nodes.get(usize::try_from(at).ok()?),
            Link::Static(_) => None,
        };
        for node in &graph.nodes {
            let (mut at, mut steps) = (Some(node), 0_usize);
            while let Some(node) = at
                && matches!(node.kind, TcKind::Alias | TcKind::Sequence | TcKind::Array)
            {
                steps = steps.saturating_add(1);
                if steps > graph.nodes.len() {
                    return None;
                }
                at = step(node.content);
            }
        }
        let count = u32::try_from(graph.nodes.len()).ok()?;
        let types: Vec<_> = (0..count)
            .map(|at| TypeCode::of_graph(Arc::clone(&graph), at))
            .collect();
        let is_whole = |ty: &TypeCode| {
            let ty = ty.view();
            ty.kind() != TcKind::Union || is_discriminator(ty.content().unaliased().kind())
        };
        types.iter().all(is_whole).then_some(types)
    }
}
