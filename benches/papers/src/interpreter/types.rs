//! Types as the engine sees them.

use super::PRECOMPUTED;
use zorb_cdr::{TcKind, TypeCode};

/// The kind of a type, by how the interpreter treats it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "they are CORBA's kinds")]
pub enum Kind {
    Octet,
    Char,
    Boolean,
    Short,
    UShort,
    Long,
    ULong,
    Float,
    LongLong,
    ULongLong,
    Double,
    String,
    Sequence,
    Struct,
}

/// A type: a tree of kinds.
#[derive(Clone, Debug)]
pub struct Type {
    kind: Kind,
    /// Members of a struct; the element of a sequence.
    parts: Vec<Self>,
    /// The results of `size` and `alignment`, and whether no part of it is in blocks of its own.
    extra: Extra,
}

/// The state that is kept beside what is needed.
#[derive(Clone, Copy, Debug)]
struct Extra {
    size: usize,
    alignment: usize,
    is_flat: bool,
    wire: usize,
}

impl Type {
    /// The contents of the TypeCode, without names.
    ///
    /// # Errors
    /// There is a kind in it that the engine does not know.
    pub fn of(ty: &TypeCode) -> Result<Self, String> {
        let ty = ty.unaliased();
        let kind = match ty.kind() {
            TcKind::Octet => Kind::Octet,
            TcKind::Char => Kind::Char,
            TcKind::Boolean => Kind::Boolean,
            TcKind::Short => Kind::Short,
            TcKind::UShort => Kind::UShort,
            TcKind::Long => Kind::Long,
            TcKind::ULong => Kind::ULong,
            TcKind::Float => Kind::Float,
            TcKind::LongLong => Kind::LongLong,
            TcKind::ULongLong => Kind::ULongLong,
            TcKind::Double => Kind::Double,
            TcKind::String => Kind::String,
            TcKind::Sequence => Kind::Sequence,
            TcKind::Struct => Kind::Struct,
            other => return Err(format!("the interpreter does not know {other:?}")),
        };
        let content = ty.content_type().into_iter();
        let members = (0..ty.member_count()).filter_map(|index| ty.member_type(index));
        let parts = content.chain(members).map(|part| Self::of(&part));
        let mut made = Self {
            kind,
            parts: parts.collect::<Result<_, _>>()?,
            extra: Extra {
                size: 0,
                alignment: 0,
                is_flat: false,
                wire: 0,
            },
        };
        made.extra = Extra {
            size: made.size::<0>(),
            alignment: made.alignment::<0>(),
            is_flat: !matches!(kind, Kind::String | Kind::Sequence)
                && made.parts.iter().all(|part| part.extra.is_flat),
            wire: made.most_on_the_wire(),
        };
        Ok(made)
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn parts(&self) -> &[Self] {
        &self.parts
    }

    /// The element type of a sequence; the type itself, for others.
    pub(super) fn content(&self) -> &Self {
        self.parts.first().unwrap_or(self)
    }

    /// Whether nothing of it is in blocks of its own.
    pub(super) fn is_flat(&self) -> bool {
        self.extra.is_flat
    }

    /// The most octets that it takes in a message, padding before it included; of what has a length only the length.
    pub(super) fn room(&self) -> usize {
        self.extra.wire
    }

    fn most_on_the_wire(&self) -> usize {
        match self.kind {
            Kind::String | Kind::Sequence => 7,
            Kind::Struct => self.parts.iter().map(|part| part.extra.wire).sum(),
            _ => 2 * self.size::<0>() - 1,
        }
    }

    /// Octets of it in memory.
    #[inline(always)]
    pub(super) fn size<const S: u8>(&self) -> usize {
        if S >= PRECOMPUTED {
            self.extra.size
        } else {
            self.compute().0
        }
    }

    /// Its alignment in memory.
    #[inline(always)]
    pub(super) fn alignment<const S: u8>(&self) -> usize {
        if S >= PRECOMPUTED {
            self.extra.alignment
        } else {
            self.compute().1
        }
    }

    /// Size and alignment, by a walk along the type.
    #[inline(never)]
    fn compute(&self) -> (usize, usize) {
        match self.kind {
            Kind::Octet | Kind::Char | Kind::Boolean => (1, 1),
            Kind::Short | Kind::UShort => (2, 2),
            Kind::Long | Kind::ULong | Kind::Float => (4, 4),
            Kind::LongLong | Kind::ULongLong | Kind::Double | Kind::String | Kind::Sequence => {
                (8, 8)
            }
            Kind::Struct => {
                let (mut end, mut strictest) = (0_usize, 1);
                for part in &self.parts {
                    let (size, alignment) = part.compute();
                    end = end.next_multiple_of(alignment) + size;
                    strictest = alignment.max(strictest);
                }
                (end.next_multiple_of(strictest), strictest)
            }
        }
    }
}
