//! The rules at the head of `rich.idl`: twist and digest of what `interop.idl` has not.

use crate::digest::{Digest, Value, Wide, enums, structs};
use crate::rich::rich_idl::rich::{
    Bill, ByBig, ByBoolean, ByChar, ByLong, ByLongLong, ByOwn, ByShort, BySuit, ByTruth, ByULong,
    ByUShort, Chain, Expr, Op, Plainly, Point, Suit, Tree, Unions, by_own::Own,
};
use zorb::Fixed;

enums! {
    Suit: Clubs, Diamonds, Hearts, Spades;
    Own: Mine, Yours;
    Op: Number, Negate, Add;
}

structs! {
    Point { x, y }
    Unions { g0, a, g1, b, g2, c, g3, d, g4, e, g5, f, g6, g, g7, h, g8, i, g9, j, ga, k, gb, l, gc, m }
    Tree { label, kids, mark }
    Chain { link, next }
    Bill { g0, cost, g1, little, g2, much, g3, one, g4, part, g5, more, g6 }
}

impl Value for Plainly {
    fn twisted(&self) -> Self {
        Self {
            grid: self.grid.twisted(),
            tag: self.tag.twisted(),
            cube: self.cube.twisted(),
            wide: self.wide.twisted(),
            tags: self.tags.twisted(),
            named: self.named.twisted(),
            last: self.last.twisted(),
        }
    }
    fn feed(&self, d: &mut Digest) {
        self.grid.feed(d);
        self.tag.feed(d);
        self.cube.feed(d);
        self.wide.feed_wide(d);
        self.tags.feed(d);
        self.named.feed(d);
        self.last.feed(d);
    }
}

impl<const D: u8, const S: u8> Value for Fixed<D, S> {
    fn twisted(&self) -> Self {
        Self::from_unscaled(-self.unscaled()).expect("as many digits as before")
    }
    fn feed(&self, d: &mut Digest) {
        d.octets(&[u8::from(self.unscaled() < 0)]);
        let digits = format!("{:0>1$}", self.unscaled().unsigned_abs(), usize::from(D));
        let digits: Vec<u8> = digits.bytes().map(|digit| digit - b'0').collect();
        assert_eq!(digits.len(), usize::from(D));
        d.octets(&digits);
    }
}

/// Unions: members with one label, members with several or `default`, and the variant without a member.
macro_rules! unions {
    ($($name:ident: [$($one:ident),*] [$($many:ident),*] $([$($unset:tt)+])?;)+) => {$(
        impl Value for $name {
            fn twisted(&self) -> Self {
                let mut it = self.clone();
                match &mut it {
                    $(Self::$one(value) => *value = value.twisted(),)*
                    $(Self::$many { value, .. } => *value = value.twisted(),)*
                    $(Self::$($unset)+ => {})?
                }
                it
            }
            fn feed(&self, d: &mut Digest) {
                self.discriminator().feed(d);
                match self {
                    $(Self::$one(value) => value.feed(d),)*
                    $(Self::$many { value, .. } => value.feed(d),)*
                    $(Self::$($unset)+ => {})?
                }
            }
        }
    )+};
}
unions! {
    ByLong: [At] [Text, Other];
    ByShort: [Real, List] [] [Unset { .. }];
    ByUShort: [Low, High] [Rest];
    ByULong: [None, High] [] [Unset { .. }];
    ByBig: [None, Five, Far] [] [Unset { .. }];
    ByLongLong: [Minus] [Letter];
    ByChar: [Small] [Last] [Unset { .. }];
    ByBoolean: [Yes, No] [];
    ByTruth: [Truth] [] [Unset];
    BySuit: [Heart] [Black] [Unset];
    ByOwn: [Here, There] [];
    Expr: [Value, One, All] [];
}
