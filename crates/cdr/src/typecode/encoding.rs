//! TypeCodes on the wire: encapsulations within each other, and indirections to earlier TypeCodes.

use super::{
    TcKind, TypeCode,
    build::is_stand_in,
    data::{Graph, Link, Member, Node, StaticType, TypeRef},
    label::{default_label, read_label, write_default_label, write_label},
};
use crate::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, EncapsulationVisitor, Encode,
    EncodeError, EncodeErrorKind, Encoder, Limits, limits::ID_TOO_LONG,
};
use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc, vec::Vec};

/// The number in place of a kind that marks an indirection to a type that was begun before.
pub(super) const INDIRECTION: u32 = u32::MAX;

/// Most aliases of aliases, which bounds the levels of resolving a type. IDL in use has two or three.
const MAX_ALIASES: i64 = 64;

/// Most encapsulations within each other that are written. A type that was read has no more than
/// [`Limits::DEPTH`](crate::Limits::DEPTH); a part of it, begun in the middle, may have a few more.
const MAX_WRITTEN_DEPTH: usize = 256;

/// Digits of a `fixed`.
const FIXED_DIGITS: core::ops::RangeInclusive<u16> = 1..=31;
const NO_FIXED: &str = "a fixed of 1 to 31 digits";

/// The octets of the shortest type: a kind.
const LEAST_TYPE: usize = 4;
/// The octets of the shortest name: a length of 0.
const LEAST_NAME: usize = 4;

impl Encode for TypeCode {
    /// Types within the type that were written before (the type itself, where it is recursive) are written as
    /// indirections.
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encode_type(self.view(), encoder)
    }
}

/// Writes a type.
pub(crate) fn encode_type<O: ByteOrder>(
    ty: TypeRef<'_>,
    encoder: &mut Encoder<O>,
) -> Result<(), EncodeError> {
    let mut writer = Writer {
        written: BTreeMap::new(),
        depth: 0,
    };
    writer.write(ty, encoder)
}

/// The written parts of one outermost TypeCode.
struct Writer {
    /// The types by their addresses.
    written: BTreeMap<usize, Written>,
    depth: usize,
}

/// A type that was written, or is being written.
#[derive(Clone, Copy)]
struct Written {
    /// The offset of its kind.
    position: usize,
    /// Whether its end has not been written yet.
    is_open: bool,
}

impl Writer {
    fn write<O: ByteOrder>(
        &mut self,
        ty: TypeRef<'_>,
        e: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        let kind = ty.kind();
        e.align(4);
        match kind {
            _ if kind.is_simple() => {
                e.write_u32(kind.number());
                return Ok(());
            }
            TcKind::String | TcKind::WString => {
                e.write_u32(kind.number());
                e.write_u32(ty.bound());
                return Ok(());
            }
            TcKind::Fixed => {
                let digits = u16::try_from(ty.number()).unwrap_or(0);
                if !FIXED_DIGITS.contains(&digits) {
                    return Err(EncodeErrorKind::Expected(NO_FIXED).into());
                }
                e.write_u32(kind.number());
                e.write_u16(digits);
                e.write_i16(ty.scale());
                return Ok(());
            }
            _ => {}
        }
        let here = e.position();
        let before = self.written.get(&ty.address()).copied();
        // No indirection leads into an alias or a sequence that has not ended, as in `typedef sequence<Node> Nodes` where
        // `Node` has a member of type `Nodes`: within it, it is written once more, up to the struct.
        if let Some(there) = before
            && (kind.may_recur() || !there.is_open)
        {
            e.write_u32(INDIRECTION);
            let offset = e.position().saturating_sub(there.position);
            let offset =
                i32::try_from(offset).map_err(|_| EncodeErrorKind::TooLong { found: offset })?;
            e.write_i32(offset.wrapping_neg());
            return Ok(());
        }
        if is_stand_in(ty) {
            return Err(EncodeErrorKind::Expected(
                "a recursive TypeCode inside the type it stands for",
            )
            .into());
        }
        let mut written = Written {
            position: here,
            is_open: true,
        };
        if before.is_none() {
            self.written.insert(ty.address(), written);
        }
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_WRITTEN_DEPTH {
            return Err(EncodeErrorKind::Expected("a TypeCode of at most 256 levels").into());
        }
        e.write_u32(kind.number());
        e.encapsulation(|e| self.parameters(ty, e))?;
        self.depth = self.depth.saturating_sub(1);
        if before.is_none() {
            written.is_open = false;
            self.written.insert(ty.address(), written);
        }
        Ok(())
    }

    fn parameters<O: ByteOrder>(
        &mut self,
        ty: TypeRef<'_>,
        e: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        let kind = ty.kind();
        if kind.is_named() {
            write_name(ty.id(), e)?;
            write_name(ty.name(), e)?;
        }
        match kind {
            TcKind::Sequence | TcKind::Array => {
                self.write(ty.content(), e)?;
                e.write_u32(ty.bound());
            }
            TcKind::Alias | TcKind::ValueBox => self.write(ty.content(), e)?,
            TcKind::Struct | TcKind::Except => {
                e.write_count(ty.member_count())?;
                for member in ty.members() {
                    write_name(member.name, e)?;
                    self.write(member.ty, e)?;
                }
            }
            TcKind::Enum => {
                e.write_count(ty.member_count())?;
                for member in ty.members() {
                    write_name(member.name, e)?;
                }
            }
            TcKind::Union => {
                self.write(ty.content(), e)?;
                let default = i32::try_from(ty.number()).unwrap_or(-1);
                e.write_i32(default);
                e.write_count(ty.member_count())?;
                let label = ty.content().unaliased().kind();
                for (index, member) in (0_i64..).zip(ty.members()) {
                    if index == ty.number() {
                        write_default_label(label, e)?;
                    } else {
                        write_label(label, member.label, e)?;
                    }
                    write_name(member.name, e)?;
                    self.write(member.ty, e)?;
                }
            }
            TcKind::Value | TcKind::Event => {
                e.write_i16(i16::try_from(ty.number()).unwrap_or(0));
                self.write(ty.content(), e)?;
                e.write_count(ty.member_count())?;
                for member in ty.members() {
                    write_name(member.name, e)?;
                    self.write(member.ty, e)?;
                    e.write_i16(i16::try_from(member.label).unwrap_or(0));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Writes a name or a repository id, always in ISO 8859-1, whatever the code set of text.
fn write_name<O: ByteOrder>(name: &str, e: &mut Encoder<O>) -> Result<(), EncodeError> {
    if name.is_ascii() {
        return e.write_raw_string(name.as_bytes());
    }
    let octets: Result<Vec<u8>, _> = name
        .chars()
        .map(|c| u8::try_from(u32::from(c)).map_err(|_| crate::text::not_in_code_set(c)))
        .collect();
    e.write_raw_string(&octets?)
}

/// Whether a union may be switched over types of that kind.
pub(super) const fn is_discriminator(kind: TcKind) -> bool {
    use TcKind::*;
    matches!(
        kind,
        Short
            | Long
            | UShort
            | ULong
            | Boolean
            | Char
            | Octet
            | Enum
            | LongLong
            | ULongLong
            | WChar
    )
}

impl<'de> Decode<'de> for TypeCode {
    const MIN_SIZE: usize = LEAST_TYPE;

    /// Allocates for a type that has parameters, other than a string without a bound.
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let mut reader = Reader::default();
        let link = reader.read(decoder)?;
        Ok(match link {
            Link::Static(ty) => Self::from_static(ty),
            Link::Here(index) => {
                let mut nodes = reader.nodes;
                nodes.shrink_to_fit();
                decoder.charge_memory(size_of::<([usize; 2], Graph)>())?;
                Self::of_graph(Arc::new(Graph { nodes }), index)
            }
        })
    }
}

/// The parts read of one outermost TypeCode.
#[derive(Default)]
struct Reader {
    nodes: Vec<Node>,
    /// The offsets of kinds, in ascending order, since types are noted as they begin.
    targets: Vec<IndirectionTarget>,
}

/// A type that an indirection may lead to.
struct IndirectionTarget {
    /// The position from the start of the outermost frame.
    position: usize,
    link: Link,
    /// Its parameters are still being read.
    open: bool,
}

impl Reader {
    fn read<O: ByteOrder>(&mut self, d: &mut Decoder<'_, O>) -> Result<Link, DecodeError> {
        let number = d.read_u32()?;
        if number == INDIRECTION {
            return self.indirection(d);
        }
        let position = d.absolute_position().saturating_sub(4);
        let Some(kind) = TcKind::from_number(number) else {
            return Err(d.error_behind(4, DecodeErrorKind::Expected("a kind of TypeCode")));
        };
        if let Some(ty) = simple(kind) {
            self.note_part(position, ty);
            return Ok(Link::Static(ty));
        }
        if let TcKind::String | TcKind::WString = kind
            && d.peek(|d| d.read_u32() == Ok(0))
        {
            d.read_u32()?;
            let ty = unbounded(kind);
            self.note_part(position, ty);
            return Ok(Link::Static(ty));
        }
        d.count_steps(1)?;
        d.charge_memory(size_of::<(Node, IndirectionTarget)>())?;
        let index = u32::try_from(self.nodes.len())
            .map_err(|_| d.error(DecodeErrorKind::Expected("a TypeCode of less parts")))?;
        let place = self.nodes.len();
        if place == 0 {
            // Most types are one node.
            self.nodes.reserve_exact(1);
        }
        self.nodes.push(Node::new(kind));
        let link = Link::Here(index);
        let target = self.targets.len();
        let mut node = Node::new(kind);
        match kind {
            TcKind::String | TcKind::WString => {
                node.number = i64::from(d.read_u32()?);
                self.note(position, link, false);
            }
            TcKind::Fixed => {
                let digits = d.read_u16()?;
                if !FIXED_DIGITS.contains(&digits) {
                    return Err(d.error_behind(2, DecodeErrorKind::Expected(NO_FIXED)));
                }
                node.number = i64::from(digits);
                node.scale = d.read_i16()?;
                self.note(position, link, false);
            }
            _ => {
                self.note(position, link, true);
                d.encapsulation(Parameters {
                    reader: self,
                    node: &mut node,
                })?;
                if let Some(target) = self.targets.get_mut(target) {
                    target.open = false;
                }
            }
        }
        if let Some(place) = self.nodes.get_mut(place) {
            *place = node;
        }
        Ok(link)
    }

    /// Notes a type without parts, if it is part of another: no indirection leads to a type that is read by itself.
    #[inline]
    fn note_part(&mut self, position: usize, ty: &'static StaticType) {
        if !self.nodes.is_empty() {
            self.note(position, Link::Static(ty), false);
        }
    }

    fn note(&mut self, position: usize, link: Link, open: bool) {
        self.targets.push(IndirectionTarget {
            position,
            link,
            open,
        });
    }

    /// Reads an offset and returns the type that it leads back to.
    fn indirection<O: ByteOrder>(&self, d: &mut Decoder<'_, O>) -> Result<Link, DecodeError> {
        let offset = d.read_i32()?;
        let here = d.absolute_position().saturating_sub(4);
        let back = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let target = (offset < 0).then(|| here.checked_sub(back)).flatten();
        let found = target.and_then(|target| {
            let at = self
                .targets
                .binary_search_by_key(&target, |other| other.position);
            self.targets.get(at.ok()?)
        });
        let wrong = |what| Err(d.error_behind(4, DecodeErrorKind::Expected(what)));
        match found {
            None => wrong("an indirection to a TypeCode that was begun before"),
            // An alias or a sequence that directly contains itself would be infinite.
            Some(target) if target.open && !self.kind(target.link).may_recur() => {
                wrong("an indirection to a struct, union or value, if to one that is not complete")
            }
            Some(target) => Ok(target.link),
        }
    }

    fn node(&self, link: Link) -> Option<&Node> {
        match link {
            Link::Static(_) => None,
            Link::Here(index) => self.nodes.get(usize::try_from(index).ok()?),
        }
    }

    fn kind(&self, link: Link) -> TcKind {
        match link {
            Link::Static(ty) => TypeRef::Static(ty).kind(),
            Link::Here(_) => self.node(link).map_or(TcKind::Null, |node| node.kind),
        }
    }

    fn named<O: ByteOrder>(
        &mut self,
        d: &mut Decoder<'_, O>,
        label: i128,
    ) -> Result<Member, DecodeError> {
        Ok(Member {
            name: read_name(d)?,
            ty: self.read(d)?,
            label,
        })
    }

    /// Reads the contents of an encapsulation.
    fn parameters<O: ByteOrder>(
        &mut self,
        node: &mut Node,
        d: &mut Decoder<'_, O>,
    ) -> Result<(), DecodeError> {
        if node.kind.is_named() {
            node.id = read_name(d)?;
            if node.id.len() > Limits::ID_OCTETS {
                return Err(d.error(DecodeErrorKind::Expected(ID_TOO_LONG)));
            }
            node.name = read_name(d)?;
        }
        match node.kind {
            TcKind::Sequence | TcKind::Array => {
                node.content = self.read(d)?;
                node.number = i64::from(d.read_u32()?);
            }
            TcKind::ValueBox => node.content = self.read(d)?,
            TcKind::Alias => {
                node.content = self.read(d)?;
                let inner = self.node(node.content);
                let inner = inner.filter(|inner| inner.kind == TcKind::Alias);
                node.number = inner.map_or(1, |inner| inner.number.saturating_add(1));
                if node.number > MAX_ALIASES {
                    return Err(d.error(DecodeErrorKind::Expected(
                        "at most 64 aliases of each other",
                    )));
                }
            }
            TcKind::Struct | TcKind::Except => {
                let count = members_of(d, LEAST_NAME.saturating_add(LEAST_TYPE))?;
                let members = (0..count).map(|_| self.named(d, 0));
                node.members = members.collect::<Result<_, _>>()?;
            }
            TcKind::Enum => {
                let count = members_of(d, LEAST_NAME)?;
                let members = (0..count).map(|_| {
                    Ok(Member {
                        name: read_name(d)?,
                        ty: Link::NULL,
                        label: 0,
                    })
                });
                node.members = members.collect::<Result<_, _>>()?;
            }
            TcKind::Union => {
                node.content = self.read(d)?;
                let label = self.unaliased_kind(node.content);
                if !is_discriminator(label) {
                    return Err(d.error(DecodeErrorKind::Expected(
                        "a type that unions may switch over",
                    )));
                }
                // omniORB writes -2 for a union that needs no default, since its labels are all values of the
                // discriminator.
                let default = d.read_i32()?.max(-1);
                let count = members_of(d, LEAST_NAME.saturating_add(LEAST_TYPE))?;
                d.charge_memory(count.saturating_mul(size_of::<(i128, u32)>()))?;
                if i64::from(default) >= i64::try_from(count).unwrap_or(i64::MAX) {
                    return Err(d.error(DecodeErrorKind::Expected(
                        "the index of the default among the members of the union",
                    )));
                }
                let members = (0..count).map(|index| {
                    let label = if usize::try_from(default) == Ok(index) {
                        default_label(label, d)?
                    } else {
                        read_label(label, d)?
                    };
                    self.named(d, label)
                });
                let members = members.collect::<Result<_, _>>()?;
                node.set_union(default, members);
            }
            TcKind::Value | TcKind::Event => {
                node.number = i64::from(d.read_i16()?);
                node.content = self.read(d)?;
                let count = members_of(d, LEAST_NAME.saturating_add(LEAST_TYPE))?;
                let members = (0..count).map(|_| {
                    let mut member = self.named(d, 0)?;
                    member.label = i128::from(d.read_i16()?);
                    Ok(member)
                });
                node.members = members.collect::<Result<_, _>>()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the kind behind all aliases, of which there are at most [`MAX_ALIASES`].
    fn unaliased_kind(&self, mut link: Link) -> TcKind {
        while let Some(node) = self.node(link)
            && node.kind == TcKind::Alias
        {
            link = node.content;
        }
        self.kind(link)
    }
}

/// The reader of the contents of the encapsulation of `node`.
struct Parameters<'a> {
    reader: &'a mut Reader,
    node: &'a mut Node,
}

impl<'de> EncapsulationVisitor<'de> for Parameters<'_> {
    type Output = ();

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<(), DecodeError> {
        self.reader.parameters(self.node, decoder)
    }
}

/// Reads the count of members that take at least `least` octets each, and charges memory for them.
fn members_of<O: ByteOrder>(d: &mut Decoder<'_, O>, least: usize) -> Result<usize, DecodeError> {
    let count = d.read_count(least)?;
    d.charge_memory(count.saturating_mul(size_of::<Member>()))?;
    Ok(count)
}

/// Reads a name or a repository id, always in ISO 8859-1, whatever the code set of text.
fn read_name<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Box<str>, DecodeError> {
    let octets = d.read_raw_string()?;
    Ok(match core::str::from_utf8(octets) {
        Ok(text) if text.is_ascii() => text.into(),
        _ => octets
            .iter()
            .copied()
            .map(char::from)
            .collect::<String>()
            .into(),
    })
}

/// Returns the type of text without a bound, which most types of text are.
const fn unbounded(kind: TcKind) -> &'static StaticType {
    match kind {
        TcKind::WString => &StaticType::WString(0),
        _ => &StaticType::String(0),
    }
}

/// Returns the only instance of a type without parameters.
fn simple(kind: TcKind) -> Option<&'static StaticType> {
    use StaticType as S;
    Some(match kind {
        TcKind::Null => &S::Null,
        TcKind::Void => &S::Void,
        TcKind::Short => &S::Short,
        TcKind::Long => &S::Long,
        TcKind::UShort => &S::UShort,
        TcKind::ULong => &S::ULong,
        TcKind::Float => &S::Float,
        TcKind::Double => &S::Double,
        TcKind::Boolean => &S::Boolean,
        TcKind::Char => &S::Char,
        TcKind::Octet => &S::Octet,
        TcKind::Any => &S::Any,
        TcKind::TypeCode => &S::TypeCode,
        TcKind::Principal => &S::Principal,
        TcKind::LongLong => &S::LongLong,
        TcKind::ULongLong => &S::ULongLong,
        TcKind::LongDouble => &S::LongDouble,
        TcKind::WChar => &S::WChar,
        _ => return None,
    })
}

impl TcKind {
    /// Returns the type of a kind without parameters; `None` for other kinds.
    pub(super) fn simple_type(self) -> Option<&'static StaticType> {
        simple(self)
    }
}
