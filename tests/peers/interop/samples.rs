//! Values that the client sends. Every member has a value of its own, so that a swap shows.

use crate::interop::idl::interop::types::{Bundle, Inner, Odd, Outer, Suit, WideBundle};
use crate::interop::idl::shapes::Point;
use zorb::{Bytes, Char, WChar};

/// A small generator (splitmix64), so that samples differ, and repeat from run to run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % bound as u64).expect("below a usize")
    }

    /// Up to `most` letters.
    pub(crate) fn word(&mut self, most: usize) -> String {
        let letters = self.below(most + 1);
        (0..letters)
            .map(|_| char::from(Char::sample(self)))
            .collect()
    }

    pub(crate) fn many<T>(&mut self, n: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..n).map(|_| one(self)).collect()
    }

    pub(crate) fn octets(&mut self, n: usize) -> Bytes {
        self.many(n, u8::sample).into()
    }
}

pub(crate) trait Sample {
    fn sample(d: &mut Dice) -> Self;
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Sample for $number {
            fn sample(d: &mut Dice) -> Self {
                d.roll() as Self
            }
        }
    )+};
}
numbers!(u8, i16, u16, i32, u32, i64, u64);

impl Sample for f32 {
    fn sample(d: &mut Dice) -> Self {
        Self::from(i16::sample(d)) / 16.0
    }
}

impl Sample for f64 {
    fn sample(d: &mut Dice) -> Self {
        Self::from(i32::sample(d)) / 1024.0
    }
}

impl Sample for bool {
    fn sample(d: &mut Dice) -> Self {
        d.below(2) == 1
    }
}

impl Sample for Char {
    fn sample(d: &mut Dice) -> Self {
        Self(b"aZbYcXdW"[d.below(8)])
    }
}

impl Sample for String {
    fn sample(d: &mut Dice) -> Self {
        d.word(30)
    }
}

impl Sample for Suit {
    fn sample(d: &mut Dice) -> Self {
        [Self::Clubs, Self::Diamonds, Self::Hearts, Self::Spades][d.below(4)]
    }
}

impl<T: Sample, const N: usize> Sample for [T; N] {
    fn sample(d: &mut Dice) -> Self {
        std::array::from_fn(|_| T::sample(d))
    }
}

macro_rules! structs {
    ($($name:ident { $($member:ident $(= $value:expr)?),+ } with $d:ident;)+) => {$(
        impl Sample for $name {
            fn sample($d: &mut Dice) -> Self {
                Self { $($member: structs!(@ $d $($value)?)),+ }
            }
        }
    )+};
    (@ $d:ident) => { Sample::sample($d) };
    (@ $d:ident $value:expr) => { $value };
}
structs! {
    Point { x, y } with d;
    Inner { mark, big, tail } with d;
    Odd { o, d, c, s, b, ll, p, f, q, l, r, us, ul, t, ull } with dice;
    Outer {
        first, core, gap, where_, suit, flag, pair, id, text, pad, short_text = d.word(12), same_1,
        same_2, same_3
    } with d;
}

/// A bundle whose sequences have `n` elements, or nearly so.
pub(crate) fn bundle(d: &mut Dice, n: usize) -> Bundle {
    Bundle {
        g0: Sample::sample(d),
        booleans: d.many(n, Sample::sample),
        g1: Sample::sample(d),
        chars: d.many(n + 1, Sample::sample),
        g2: Sample::sample(d),
        octets: d.octets(n),
        g3: Sample::sample(d),
        shorts: d.many(n, Sample::sample),
        g4: Sample::sample(d),
        ushorts: d.many(n + 1, Sample::sample),
        g5: Sample::sample(d),
        longs: d.many(n, Sample::sample),
        g6: Sample::sample(d),
        ulongs: d.many(n, Sample::sample),
        g7: Sample::sample(d),
        longlongs: d.many(n, Sample::sample),
        g8: Sample::sample(d),
        ulonglongs: d.many(n, Sample::sample),
        g9: Sample::sample(d),
        floats: d.many(n, Sample::sample),
        ga: Sample::sample(d),
        doubles: d.many(n, Sample::sample),
        gb: Sample::sample(d),
        suits: d.many(n, Sample::sample),
        gc: Sample::sample(d),
        strings: d.many(n, Sample::sample),
        gd: Sample::sample(d),
        few: d.many(n.min(3), Sample::sample),
    }
}

/// Texts without a mark: empty, ASCII, Latin-1, other alphabets, combining characters, beyond the
/// BMP (two units each), and the ends of what there is.
pub(crate) const TEXTS: [&str; 12] = [
    "",
    "a",
    "The quick brown Fox",
    "naïve café ÄÖÜß ÿ",
    "Жар-птица, Ελληνικά, 日本語",
    "e\u{301}, a\u{308}\u{323}; \u{915}\u{94d}\u{937}",
    "🦀",
    "before 🦀 between 𝄞 behind",
    "\u{1}\u{7f}\u{80}\u{ff}\u{100}",
    "\u{d7ff}\u{e000}\u{fffd}\u{ffff}",
    "\u{10000}\u{10ffff}",
    "\u{200f}\u{5d0}\u{200e}x",
];

impl Sample for WChar {
    fn sample(d: &mut Dice) -> Self {
        let units = "aZéßЖ€日\u{301}".encode_utf16();
        let units: Vec<u16> = units.collect();
        Self(units[usize::from(u8::sample(d)) % units.len()])
    }
}

pub(crate) fn wide_text(d: &mut Dice) -> String {
    TEXTS[usize::from(u8::sample(d)) % TEXTS.len()].to_owned()
}

pub(crate) fn wide_bundle(d: &mut Dice, n: usize) -> WideBundle {
    WideBundle {
        g0: Sample::sample(d),
        first: Sample::sample(d),
        g1: Sample::sample(d),
        text: wide_text(d),
        g2: Sample::sample(d),
        chars: d.many(n, Sample::sample),
        g3: Sample::sample(d),
        texts: d.many(n + 1, wide_text),
        g4: Sample::sample(d),
        last: Sample::sample(d),
        end: Sample::sample(d),
    }
}
