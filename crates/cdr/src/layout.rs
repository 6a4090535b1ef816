//! The size on the wire of types with a fixed layout, which depends on the alignment of their start.

/// The octets that a type takes when it starts at each phase of 8, or the fact that this varies with the value.
///
/// The padding inside a struct depends on where it starts. Alignments divide 8, so eight numbers describe all starts:
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::Layout;
/// const OCTET: Layout = Layout::primitive(1);
/// const DOUBLE: Layout = Layout::primitive(8);
/// const PAIR: Layout = Layout::of_struct(&[OCTET, DOUBLE]);
/// assert_eq!(PAIR.size_at(0), Some(16)); // 1, 7 of padding, 8
/// assert_eq!(PAIR.size_at(6), Some(10)); // 1, 1 of padding, 8
/// assert_eq!(Layout::of_struct(&[OCTET, Layout::VARIABLE]).size_at(0), None);
/// ```
///
/// Consecutive values of a fixed type *settle* at once. A type whose strictest member is aligned to `a` ends at the
/// same index modulo `a`, regardless of its start. So from the second element on all have the same size, the
/// [`stride`](Self::stride), and the same inner offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The strictest alignment of a member, or 0 where the size varies.
    align: u8,
    sizes: [u32; 8],
}

/// Types of more octets than this are treated as of varying size: nothing is gained beyond, and offsets stay small.
const MAX_FIXED: u64 = 1 << 16;

impl Layout {
    /// The layout of a type whose size depends on the value, such as a string. A struct with such a member is of this layout
    /// too.
    pub const VARIABLE: Self = Self {
        align: 0,
        sizes: [0; 8],
    };

    /// The layout of a type without members: no octets, and no alignment.
    pub const EMPTY: Self = Self {
        align: 1,
        sizes: [0; 8],
    };

    /// Returns the layout of a primitive of 1, 2, 4 or 8 octets, aligned to its size; any other size is
    /// [`VARIABLE`](Self::VARIABLE).
    #[must_use]
    pub const fn primitive(size: u8) -> Self {
        if !matches!(size, 1 | 2 | 4 | 8) {
            return Self::VARIABLE;
        }
        let n = size as usize;
        Self::from_sizes(
            size,
            [
                end_of(0, n),
                end_of(1, n),
                end_of(2, n),
                end_of(3, n),
                end_of(4, n),
                end_of(5, n),
                end_of(6, n),
                end_of(7, n),
            ],
        )
    }

    /// Returns the layout of a struct: its members one after the other.
    #[must_use]
    pub const fn of_struct(members: &[Self]) -> Self {
        let mut align = 1;
        let mut rest = members;
        while let Some((first, others)) = rest.split_first() {
            if !first.is_fixed() {
                return Self::VARIABLE;
            }
            if first.align > align {
                align = first.align;
            }
            rest = others;
        }
        Self::from_sizes(
            align,
            [
                walk(members, 0),
                walk(members, 1),
                walk(members, 2),
                walk(members, 3),
                walk(members, 4),
                walk(members, 5),
                walk(members, 6),
                walk(members, 7),
            ],
        )
    }

    /// Returns the layout of `count` elements one after the other.
    #[must_use]
    pub const fn of_array(element: Self, count: usize) -> Self {
        if count == 0 {
            return Self::EMPTY;
        }
        if !element.is_fixed() {
            return Self::VARIABLE;
        }
        let later = (count as u64)
            .saturating_sub(1)
            .saturating_mul(element.stride() as u64);
        let [a, b, c, d, e, f, g, h] = element.sizes;
        Self::from_sizes(
            element.align,
            [
                later.saturating_add(a as u64),
                later.saturating_add(b as u64),
                later.saturating_add(c as u64),
                later.saturating_add(d as u64),
                later.saturating_add(e as u64),
                later.saturating_add(f as u64),
                later.saturating_add(g as u64),
                later.saturating_add(h as u64),
            ],
        )
    }

    /// Returns the layout of a discriminator and one of several members: fixed only if all members have one fixed
    /// layout.
    #[must_use]
    pub const fn of_union(discriminator: Self, members: &[Self]) -> Self {
        let Some((first, mut rest)) = members.split_first() else {
            return discriminator;
        };
        while let Some((next, others)) = rest.split_first() {
            if !next.is(first) {
                return Self::VARIABLE;
            }
            rest = others;
        }
        Self::of_struct(&[discriminator, *first])
    }

    /// Returns `==`, as a const function.
    const fn is(&self, other: &Self) -> bool {
        let mut ours: &[u32] = &self.sizes;
        let mut theirs: &[u32] = &other.sizes;
        while let (Some((a, others)), Some((b, rest))) = (ours.split_first(), theirs.split_first())
        {
            if *a != *b {
                return false;
            }
            (ours, theirs) = (others, rest);
        }
        self.align == other.align
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "sizes above 2^16 were refused just before"
    )]
    const fn from_sizes(align: u8, sizes: [u64; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = sizes;
        let mut all: &[u64] = &sizes;
        while let Some((first, others)) = all.split_first() {
            if *first > MAX_FIXED {
                return Self::VARIABLE;
            }
            all = others;
        }
        Self {
            align,
            sizes: [
                a as u32, b as u32, c as u32, d as u32, e as u32, f as u32, g as u32, h as u32,
            ],
        }
    }

    /// Whether every value takes the same number of octets from the same phase.
    #[inline(always)]
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.align != 0
    }

    /// Returns the strictest alignment of a member: 1, 2, 4 or 8; 0 where the size varies.
    #[inline(always)]
    #[must_use]
    pub const fn align(&self) -> usize {
        self.align as usize
    }

    /// Returns the size in octets of a value that starts at `phase` (only its lowest three bits count), leading padding
    /// included.
    #[inline(always)]
    #[must_use]
    pub const fn size_at(&self, phase: usize) -> Option<usize> {
        if self.is_fixed() {
            Some(self.size(phase))
        } else {
            None
        }
    }

    #[inline(always)]
    const fn size(&self, phase: usize) -> usize {
        let [a, b, c, d, e, f, g, h] = self.sizes;
        (match phase & 7 {
            0 => a,
            1 => b,
            2 => c,
            3 => d,
            4 => e,
            5 => f,
            6 => g,
            _ => h,
        }) as usize
    }

    /// Returns the end of an element, and so the start of the next, modulo [`align`](Self::align); 0 where the size
    /// varies.
    #[inline(always)]
    #[must_use]
    pub const fn settled(&self) -> usize {
        if self.is_fixed() {
            self.size(0) & self.mask()
        } else {
            0
        }
    }

    /// Returns the size in octets of an element that begins where another one ended, leading padding included; 0 where the size
    /// varies.
    #[inline(always)]
    #[must_use]
    pub const fn stride(&self) -> usize {
        self.size(self.settled())
    }

    /// Whether an element that starts at this index takes [`stride`](Self::stride) octets.
    #[inline(always)]
    pub(crate) const fn is_settled_at(&self, index: usize) -> bool {
        index & self.mask() == self.settled()
    }

    #[inline(always)]
    const fn mask(&self) -> usize {
        (self.align as usize).wrapping_sub(1)
    }
}

/// Returns the number of octets from `phase` to the end of a primitive of size `n`.
const fn end_of(phase: usize, n: usize) -> u64 {
    padding(phase, n).saturating_add(n) as u64
}

/// Returns the number of octets of padding from `index` to a multiple of `align`, a power of two.
#[inline(always)]
pub(crate) const fn padding(index: usize, align: usize) -> usize {
    index.wrapping_neg() & align.wrapping_sub(1)
}

const fn walk(members: &[Layout], phase: usize) -> u64 {
    let mut rest = members;
    let mut size = 0_u64;
    while let Some((first, others)) = rest.split_first() {
        let at = phase.wrapping_add((size & 7) as usize);
        size = size.saturating_add(first.size(at) as u64);
        rest = others;
    }
    size
}

/// Returns the number of values of a stride that are stored or loaded between two checks of the space that is left. A
/// check costs a fifth of a small struct; code for many large structs would fill the instruction cache.
pub(crate) const fn group(stride: usize) -> usize {
    let most = match GROUP.checked_div(stride) {
        Some(most) => most,
        None => 1,
    };
    match most {
        16.. => 16,
        8.. => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// Octets of values that are in one group at most.
const GROUP: usize = 256;

/// Returns the number of values that are stored between two times that space for them is zeroed: whole groups.
pub(crate) const fn block(stride: usize) -> usize {
    match BLOCK.checked_div(stride) {
        None | Some(0) => 1,
        Some(most) => {
            // The group is a power of two, and fits into a block five times.
            most & !group(stride).saturating_sub(1)
        }
    }
}

/// Octets that are zeroed at a time, before values are stored into them. They fit into the first-level cache, and are a
/// little fewer than 2 KiB, from which on glibc zeroes by `rep stosb`, which is slow to start.
pub(crate) const BLOCK: usize = 31 * 64;
