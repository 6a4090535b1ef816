//! The rules at the head of `interop.idl` for its own types.

use crate::digest::{Digest, enums, structs};
pub(crate) use crate::digest::{Value, Wide, digest, digest_of};
use crate::interop::idl::interop::types::{Bundle, Inner, Odd, Outer, Suit, WideBundle};
use crate::interop::idl::interop::{Let, Loop};
use crate::interop::idl::shapes::{Colour, Point};

enums! {
    Suit: Clubs, Diamonds, Hearts, Spades;
    Colour: Red, Green, Blue, DeepPurple;
    Let: Pub, Mut, Dyn;
}

structs! {
    Point { x, y }
    Inner { mark, big, tail }
    Odd { o, d, c, s, b, ll, p, f, q, l, r, us, ul, t, ull }
    Outer {
        first, core, gap, where_, suit, flag, pair, id, text, pad, short_text, same_1, same_2,
        same_3
    }
    Bundle {
        g0, booleans, g1, chars, g2, octets, g3, shorts, g4, ushorts, g5, longs, g6, ulongs, g7,
        longlongs, g8, ulonglongs, g9, floats, ga, doubles, gb, suits, gc, strings, gd, few
    }
    Loop { type_, fn_, ref_, struct_ }
}

/// The digest of two wstrings, or of two sequences of them.
pub(crate) fn digest_wide<T: Wide + ?Sized>(a: &T, b: &T) -> u64 {
    digest_of(|d| {
        a.feed_wide(d);
        b.feed_wide(d);
    })
}

impl Value for WideBundle {
    fn twisted(&self) -> Self {
        Self {
            g0: self.g0.twisted(),
            first: self.first.twisted(),
            g1: self.g1.twisted(),
            text: self.text.twisted(),
            g2: self.g2.twisted(),
            chars: self.chars.twisted(),
            g3: self.g3.twisted(),
            texts: self.texts.twisted(),
            g4: self.g4.twisted(),
            last: self.last.twisted(),
            end: self.end.twisted(),
        }
    }
    fn feed(&self, d: &mut Digest) {
        self.g0.feed(d);
        self.first.feed(d);
        self.g1.feed(d);
        self.text.feed_wide(d);
        self.g2.feed(d);
        self.chars.feed(d);
        self.g3.feed(d);
        self.texts.feed_wide(d);
        self.g4.feed(d);
        self.last.feed(d);
        self.end.feed(d);
    }
}
