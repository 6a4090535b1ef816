//! Reading, checking, converting and writing a value by its TypeCode alone.

use super::values::Values;
use crate::{
    ByteOrder, Char, CharSet, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError,
    EncodeErrorKind, Encoder, LongDouble, TypeCode, WChar,
    typecode::{
        TcKind,
        data::TypeRef,
        encoding::encode_type,
        is_stand_in,
        label::{read_label, write_label},
    },
};
use alloc::{borrow::Cow, vec::Vec};
use core::slice::{ChunksExact, ChunksExactMut};

/// Most parts of a value that take no octets, such as structs without members. The length of a message does not bound
/// them, so a type of a few octets could occupy a reader for hours. IDL has none before IDL 4.
const MAX_EMPTY_PARTS: u32 = 1024;

/// Types that [`takes_octets`] looks at. It is called for each sequence of a value.
const MAX_LOOKED_AT: u32 = 8;

/// The state of a walk.
#[derive(Default)]
pub(super) struct Walk {
    /// Parts so far that took no octets.
    empty: u32,
    /// The encoder's error, if the walk failed in writing.
    pub(super) not_written: Option<EncodeError>,
    pub(super) values: Values,
}

pub(super) type Walked = Result<(), DecodeError>;

impl Walk {
    /// Begins a walk over a value whose values of value types are these.
    pub(super) fn of(values: Values) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }

    /// Copies a value of type `from` as one of type `to`, which is the same type or one that `from` is convertible to.
    pub(super) fn copy<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        use TcKind::{
            AbstractInterface, Any, Array, Event, Except, Sequence, Struct, Union, Value, ValueBox,
        };
        let (from, to) = (from.unaliased(), to.unaliased());
        // Types that can contain others have a function of their own, so that each level takes little stack.
        match from.kind() {
            Struct | Except | Union | Sequence | Array | Any | Value | ValueBox | Event
            | AbstractInterface => {
                let start = d.position();
                d.nested(|d| self.compound(from, to, d, e))?;
                if d.position() == start {
                    self.nothing(d)?;
                }
                Ok(())
            }
            _ => self.leaf(from, to, d, e),
        }
    }

    /// Copies a value that contains no others.
    #[inline(never)]
    fn leaf<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        use TcKind as K;
        macro_rules! same {
            ($read:ident, $write:ident) => {{
                e.$write(d.$read()?);
                Ok(())
            }};
            ($t:ty) => {{
                let value: $t = d.get()?;
                let written = e.put(&value);
                self.wrote(written, d)
            }};
        }
        match from.kind() {
            K::Null | K::Void => self.nothing(d),
            K::Short | K::UShort => same!(read_u16, write_u16),
            K::Long | K::ULong | K::Float => same!(read_u32, write_u32),
            K::LongLong | K::ULongLong | K::Double => same!(read_u64, write_u64),
            K::Octet => same!(read_u8, write_u8),
            K::Boolean => same!(read_bool, write_bool),
            K::Char => same!(Char),
            K::WChar => same!(WChar),
            K::LongDouble => same!(LongDouble),
            K::String | K::WString => self.text(from, to, d, e),
            K::Fixed => self.fixed(from, d, e),
            K::Enum => {
                let found = d.read_u32()?;
                enum_in_range(from, found, d)?;
                e.write_u32(found);
                Ok(())
            }
            K::Principal => {
                let written = e.write_octets(d.read_octets()?);
                self.wrote(written, d)
            }
            K::ObjRef | K::Component | K::Home => self.reference(d, e),
            K::TypeCode => self.type_code(d, e).map(drop),
            _ => Err(d.error(DecodeErrorKind::Expected(
                "a type whose values an any may hold",
            ))),
        }
    }

    #[inline(never)]
    fn type_code<I: ByteOrder, P: ByteOrder>(
        &mut self,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Result<TypeCode, DecodeError> {
        let ty: TypeCode = d.get()?;
        let written = encode_type(ty.view(), e);
        self.wrote(written, d)?;
        Ok(ty)
    }

    /// Counts a part that takes no octets.
    fn nothing<I: ByteOrder>(&mut self, d: &Decoder<'_, I>) -> Walked {
        self.empty = self.empty.saturating_add(1);
        if self.empty > MAX_EMPTY_PARTS {
            return Err(d.error(DecodeErrorKind::Expected(
                "at most 1024 parts of a value that take no octets",
            )));
        }
        Ok(())
    }

    /// Keeps the encoder's error; the walk itself returns a decoder's error.
    #[inline]
    pub(super) fn wrote<I: ByteOrder>(
        &mut self,
        written: Result<(), EncodeError>,
        d: &Decoder<'_, I>,
    ) -> Walked {
        written.map_err(|error| {
            self.not_written = Some(error);
            d.error(DecodeErrorKind::Expected("a value that can be written"))
        })
    }

    #[inline(never)]
    fn compound<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        match from.kind() {
            TcKind::Struct if is_stand_in(from) => Err(d.error(DecodeErrorKind::Expected(
                "a TypeCode that is not a stand-in of another",
            ))),
            TcKind::Struct | TcKind::Except => self.members(from, to, d, e),
            TcKind::Union => self.union(from, to, d, e),
            TcKind::Value | TcKind::ValueBox | TcKind::Event => self.value(from, to, d, e),
            TcKind::AbstractInterface => self.abstraction(from, to, d, e),
            TcKind::Sequence => self.sequence(from, to, d, e),
            TcKind::Array => {
                let count = array_length(from, d)?;
                self.run(count, from.content(), to.content(), d, e)
            }
            _ => {
                let ty = self.type_code(d, e)?;
                let ids = e.begin_any();
                let outer = self.values;
                if outer == Values::OfMessage {
                    self.values = Values::OfAny;
                }
                self.copy(ty.view(), ty.view(), d, e)?;
                self.values = outer;
                e.end_any(ids);
                Ok(())
            }
        }
    }

    pub(super) fn members<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        if from.kind() == TcKind::Except {
            // omniORB writes no repository id before the members.
            if d.peek(|d| {
                d.read_raw_string()
                    .is_ok_and(|id| id == from.id().as_bytes())
            }) {
                d.read_raw_string()?;
            }
            let written = e.write_raw_string(to.id().as_bytes());
            self.wrote(written, d)?;
        }
        // A peer's type of the same repository id may have another number of members.
        if from.member_count() != to.member_count() {
            return Err(d.error(DecodeErrorKind::Expected("as many members as the type has")));
        }
        for (from, to) in from.members().zip(to.members()) {
            self.copy(from.ty, to.ty, d, e)?;
        }
        Ok(())
    }

    fn union<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let discriminator = read_discriminator(from, d)?;
        let written = write_label(to.content().unaliased().kind(), discriminator, e);
        self.wrote(written, d)?;
        match (from.selected(discriminator), to.selected(discriminator)) {
            (Some(from), Some(to)) => self.copy(from.ty, to.ty, d, e),
            (None, None) => Ok(()),
            _ => Err(d.error(DecodeErrorKind::Expected("the members that the union has"))),
        }
    }

    fn sequence<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let count = sequence_length(from, d)?;
        bounded(to, count, d)?;
        let written = e.write_count(count);
        self.wrote(written, d)?;
        self.run(count, from.content(), to.content(), d, e)
    }

    /// Copies `count` elements; numbers in one block.
    pub(super) fn run<I: ByteOrder, P: ByteOrder>(
        &mut self,
        count: usize,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        use TcKind as K;
        let (from, to) = (from.unaliased(), to.unaliased());
        match from.kind() {
            K::Octet => self.numbers::<u8, I, P>(count, d, e),
            K::Short | K::UShort => self.numbers::<u16, I, P>(count, d, e),
            K::Long | K::ULong | K::Float => self.numbers::<u32, I, P>(count, d, e),
            K::LongLong | K::ULongLong | K::Double => self.numbers::<u64, I, P>(count, d, e),
            K::Struct if count >= MANY => match Parts::of(from, to) {
                Some(parts) => self.alike(count, &parts, d, e),
                None => self.each(count, from, to, d, e),
            },
            _ => self.each(count, from, to, d, e),
        }
    }

    fn each<I: ByteOrder, P: ByteOrder>(
        &mut self,
        count: usize,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        for _ in 0..count {
            d.count_steps(1)?;
            self.copy(from, to, d, e)?;
        }
        Ok(())
    }

    /// Copies elements that consist of the same few parts, without a look at their type for each.
    fn alike<I: ByteOrder, P: ByteOrder>(
        &mut self,
        count: usize,
        parts: &Parts,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let mut left = count;
        while let Some(others) = left.checked_sub(1) {
            self.element(parts, d, e)?;
            let copied = parts.copy(others, d, e);
            d.count_steps(copied.saturating_add(1))?;
            left = others.saturating_sub(copied);
        }
        Ok(())
    }

    fn element<I: ByteOrder, P: ByteOrder>(
        &mut self,
        parts: &Parts,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        for part in &parts.0 {
            match *part {
                Part::One => e.write_u8(d.read_u8()?),
                Part::Two => e.write_u16(d.read_u16()?),
                Part::Four => e.write_u32(d.read_u32()?),
                Part::Eight => e.write_u64(d.read_u64()?),
                Part::Boolean => e.write_bool(d.read_bool()?),
                Part::Char => {
                    let value: Char = d.get()?;
                    let written = e.put(&value);
                    self.wrote(written, d)?;
                }
                Part::Enum(count) => {
                    let found = d.read_u32()?;
                    in_range(found, count, d)?;
                    e.write_u32(found);
                }
            }
        }
        Ok(())
    }

    fn numbers<T: Encode + for<'de> Decode<'de>, I: ByteOrder, P: ByteOrder>(
        &mut self,
        count: usize,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        if count.saturating_mul(T::MIN_SIZE) > d.remaining() {
            let (count, left) = (u32::try_from(count).unwrap_or(u32::MAX), d.remaining());
            return Err(d.error(DecodeErrorKind::CountTooLarge { count, left }));
        }
        let mut values: Vec<T> = Vec::new();
        T::decode_into(d, count, &mut values)?;
        let written = T::encode_slice(&values, e);
        self.wrote(written, d)
    }

    #[inline(never)]
    fn text<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let text = read_text(from, d)?;
        let wide = to.kind() == TcKind::WString;
        if to.bound() != 0 {
            let found = match wide {
                true => text.encode_utf16().count(),
                false => text.chars().count(),
            };
            bounded(to, found, d)?;
        }
        let written = match wide {
            true => e.write_wide_str(&text),
            false => e.write_str(&text),
        };
        self.wrote(written, d)
    }

    fn fixed<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let digits = fixed_digits(from, d)?;
        let written = e.write_fixed(d.read_fixed(digits)?, digits);
        self.wrote(written, d)
    }

    /// Copies an IOR: a repository id and profiles, whose contents are not checked.
    #[inline(never)]
    pub(super) fn reference<I: ByteOrder, P: ByteOrder>(
        &mut self,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let written = e.write_raw_string(d.read_raw_string()?);
        self.wrote(written, d)?;
        let profiles = d.read_count(8)?;
        if profiles != 0 {
            e.note_context(|| d.kept_context());
        }
        let written = e.write_count(profiles);
        self.wrote(written, d)?;
        for _ in 0..profiles {
            e.write_u32(d.read_u32()?);
            let written = e.write_octets(d.read_octets()?);
            self.wrote(written, d)?;
        }
        Ok(())
    }
}

/// Elements from which on it pays to make their [`Parts`].
const MANY: usize = 4;

/// Parts of an element, at most: more are copied by their type.
const MAX_PARTS: usize = 64;

/// Elements whose parts are copied column by column, so that they stay in the cache meanwhile.
const ELEMENTS_PER_BLOCK: usize = 256;

/// One part of many elements, and of their copies.
struct Column<'d, 'e> {
    elements: ChunksExact<'d, u8>,
    /// Its place in an element.
    from: usize,
    copies: ChunksExactMut<'e, u8>,
    /// Its place in a copy.
    to: usize,
}

impl Column<'_, '_> {
    /// Copies the part of each element, up to one that `convert` refuses. Returns how many.
    #[inline(always)]
    fn copy<const N: usize>(self, convert: impl Fn([u8; N]) -> Option<[u8; N]>) -> usize {
        let (from, to) = (self.from, self.to);
        let copied = self.elements.zip(self.copies).map_while(|(element, copy)| {
            let part = convert(*element.get(from..)?.first_chunk()?)?;
            *copy.get_mut(to..)?.first_chunk_mut()? = part;
            Some(())
        });
        copied.count()
    }
}

/// A value without others in it, of the same size always.
#[derive(Clone, Copy)]
enum Part {
    One,
    Two,
    Four,
    Eight,
    Boolean,
    Char,
    /// With so many enumerators.
    Enum(u32),
}

impl Part {
    /// How many octets it takes, and the multiple of which it lies at.
    const fn octets(self) -> usize {
        match self {
            Self::One | Self::Boolean | Self::Char => 1,
            Self::Two => 2,
            Self::Four | Self::Enum(_) => 4,
            Self::Eight => 8,
        }
    }
}

/// The parts of a struct, those of structs and arrays in it included, one after the other.
struct Parts(Vec<Part>);

impl Parts {
    /// Returns the parts of a type; `None` if they are too many, or some differ from value to value.
    fn of(from: TypeRef<'_>, to: TypeRef<'_>) -> Option<Self> {
        let mut parts = Self(Vec::new());
        let mut looks = 2 * MAX_PARTS;
        parts.add(from, to, &mut looks)?;
        Some(parts)
    }

    /// Copies elements behind a first one: all have their parts at the same places then. Returns how many: those that lie in
    /// the piece at hand, and in front of one that is an error.
    fn copy<I: ByteOrder, P: ByteOrder>(
        &self,
        count: usize,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> usize {
        let (from, stride) = self.places(d.index());
        let (to, width) = self.places(e.index());
        // An element that began in another GIOP 1.1 fragment, where alignment counted otherwise, leads to no such index.
        let alignment = self.0.iter().map(|part| part.octets()).max().unwrap_or(1);
        if stride.checked_rem(alignment) != Some(0) {
            return 0;
        }
        let fit = d.piece_left().checked_div(stride).unwrap_or(0);
        let count = count.min(fit).min(ELEMENTS_PER_BLOCK);
        let octets = d.peek_run(count.saturating_mul(stride)).unwrap_or_default();
        let sets = [d.format().char_set, e.format().char_set];
        let is_char = |octet: u8| octet < 0x80 || !sets.contains(&CharSet::Utf8);
        let start = e.position();
        let copied = e.run_mut(count.saturating_mul(width));
        let mut whole = count;
        for ((part, from), to) in self.0.iter().zip(from).zip(to) {
            let column = Column {
                elements: octets.chunks_exact(stride.max(1)),
                from,
                copies: copied.chunks_exact_mut(width.max(1)),
                to,
            };
            let right = match *part {
                Part::One => column.copy(Some::<[u8; 1]>),
                Part::Two => column.copy(|it| Some(P::store_u16(I::load_u16(it)))),
                Part::Four => column.copy(|it| Some(P::store_u32(I::load_u32(it)))),
                Part::Eight => column.copy(|it| Some(P::store_u64(I::load_u64(it)))),
                Part::Boolean => column.copy(|[it]| Some([u8::from(it != 0)])),
                Part::Char => column.copy(|[it]| is_char(it).then_some([it])),
                Part::Enum(count) => column.copy(|it| {
                    let found = I::load_u32(it);
                    (found < count).then(|| P::store_u32(found))
                }),
            };
            whole = whole.min(right);
        }
        e.truncate(start.saturating_add(whole.saturating_mul(width)));
        d.run(whole.saturating_mul(stride));
        whole
    }

    /// The places of the parts in an element whose octets begin at `start`, with padding in front of them, and its octets.
    fn places(&self, start: usize) -> (Vec<usize>, usize) {
        let mut end = start;
        let places = self.0.iter().map(|part| {
            let place = end.next_multiple_of(part.octets());
            end = place.saturating_add(part.octets());
            place.saturating_sub(start)
        });
        let places = places.collect();
        (places, end.saturating_sub(start))
    }

    fn add(&mut self, from: TypeRef<'_>, to: TypeRef<'_>, looks: &mut usize) -> Option<()> {
        use TcKind as K;
        // A type may contain itself.
        *looks = looks.checked_sub(1)?;
        let (from, to) = (from.unaliased(), to.unaliased());
        let part = match from.kind() {
            K::Octet => Part::One,
            K::Short | K::UShort => Part::Two,
            K::Long | K::ULong | K::Float => Part::Four,
            K::LongLong | K::ULongLong | K::Double => Part::Eight,
            K::Boolean => Part::Boolean,
            K::Char => Part::Char,
            K::Enum => Part::Enum(u32::try_from(from.member_count()).ok()?),
            K::Struct if from.member_count() > 0 && from.member_count() == to.member_count() => {
                let mut members = from.members().zip(to.members());
                return members.try_for_each(|(from, to)| self.add(from.ty, to.ty, looks));
            }
            K::Array if from.bound() > 0 => {
                let (from_content, to_content) = (from.content(), to.content());
                return (0..from.bound())
                    .try_for_each(|_| self.add(from_content, to_content, looks));
            }
            _ => return None,
        };
        (self.0.len() < MAX_PARTS && from.kind() == to.kind()).then(|| self.0.push(part))
    }
}

/// Reads the text of a string or a wide string.
pub(super) fn read_text<'de, I: ByteOrder>(
    ty: TypeRef<'_>,
    d: &mut Decoder<'de, I>,
) -> Result<Cow<'de, str>, DecodeError> {
    match ty.kind() {
        TcKind::WString => d.read_wide_string().map(Cow::Owned),
        _ => d.read_str(),
    }
}

/// Returns the digits of a `fixed`, which are 1 to 31.
pub(super) fn fixed_digits<I: ByteOrder>(
    ty: TypeRef<'_>,
    d: &Decoder<'_, I>,
) -> Result<u8, DecodeError> {
    let digits = u8::try_from(ty.number()).ok();
    digits
        .filter(|digits| (1..=31).contains(digits))
        .ok_or_else(|| d.error(DecodeErrorKind::Expected("a fixed of 1 to 31 digits")))
}

/// Reads the count of a sequence, checked against its bound and the octets that are left.
pub(super) fn sequence_length<I: ByteOrder>(
    ty: TypeRef<'_>,
    d: &mut Decoder<'_, I>,
) -> Result<usize, DecodeError> {
    let count = d.read_count(usize::from(takes_octets(ty.content(), &mut {
        MAX_LOOKED_AT
    })))?;
    bounded(ty, count, d)?;
    Ok(count)
}

pub(super) fn array_length<I: ByteOrder>(
    ty: TypeRef<'_>,
    d: &Decoder<'_, I>,
) -> Result<usize, DecodeError> {
    usize::try_from(ty.bound()).map_err(|_| {
        let (count, left) = (ty.bound(), d.remaining());
        d.error(DecodeErrorKind::CountTooLarge { count, left })
    })
}

/// Reads the discriminator of a union. That of an enum has to be the ordinal of an enumerator.
pub(super) fn read_discriminator<I: ByteOrder>(
    union: TypeRef<'_>,
    d: &mut Decoder<'_, I>,
) -> Result<i128, DecodeError> {
    let ty = union.content().unaliased();
    let discriminator = read_label(ty.kind(), d)?;
    if ty.kind() == TcKind::Enum {
        enum_in_range(ty, u32::try_from(discriminator).unwrap_or(u32::MAX), d)?;
    }
    Ok(discriminator)
}

pub(super) fn enum_in_range<I: ByteOrder>(
    ty: TypeRef<'_>,
    found: u32,
    d: &Decoder<'_, I>,
) -> Walked {
    in_range(
        found,
        u32::try_from(ty.member_count()).unwrap_or(u32::MAX),
        d,
    )
}

fn in_range<I: ByteOrder>(found: u32, count: u32, d: &Decoder<'_, I>) -> Walked {
    match found < count {
        true => Ok(()),
        false => Err(d.error_behind(4, DecodeErrorKind::InvalidEnum { found, count })),
    }
}

fn bounded<I: ByteOrder>(ty: TypeRef<'_>, found: usize, d: &Decoder<'_, I>) -> Walked {
    let bound = ty.bound();
    if bound != 0 && u32::try_from(found).is_ok_and(|found| found > bound) {
        return Err(d.error(DecodeErrorKind::BoundExceeded { bound, found }));
    }
    Ok(())
}

/// Whether every value of a type takes octets; `false` also if more than `looks` types would have to be looked at.
fn takes_octets(ty: TypeRef<'_>, looks: &mut u32) -> bool {
    let ty = ty.unaliased();
    let Some(left) = looks.checked_sub(1) else {
        return false;
    };
    *looks = left;
    match ty.kind() {
        TcKind::Null | TcKind::Void => false,
        TcKind::Struct => ty
            .members()
            .take(2)
            .any(|member| takes_octets(member.ty, looks)),
        TcKind::Array => ty.bound() != 0 && takes_octets(ty.content(), looks),
        _ => true,
    }
}

/// Returns the encoder's error for a walk that failed in reading or in writing.
pub(super) fn encode_error(walk: &Walk, error: DecodeError) -> EncodeError {
    walk.not_written.unwrap_or_else(|| match error.kind() {
        DecodeErrorKind::BoundExceeded { bound, found } => {
            EncodeErrorKind::BoundExceeded { bound, found }.into()
        }
        DecodeErrorKind::TooMuchStack { limit } => EncodeErrorKind::TooMuchStack { limit }.into(),
        DecodeErrorKind::TooDeep { .. } => {
            EncodeErrorKind::Expected("a value of at most 128 levels").into()
        }
        DecodeErrorKind::Expected(what) => EncodeErrorKind::Expected(what).into(),
        _ => EncodeErrorKind::Expected("a value of the type of its any").into(),
    })
}
