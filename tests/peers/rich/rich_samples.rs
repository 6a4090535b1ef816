//! Values of `rich.idl`'s types for a seed `n`. Every member has a value of its own, so that a swap
//! shows.

use crate::rich::rich_idl::rich::{
    Bill, ByBig, ByBoolean, ByChar, ByLong, ByLongLong, ByOwn, ByShort, BySuit, ByTruth, ByULong,
    ByUShort, Chain, Cuboid, Expr, Plainly, Point, Price, Suit, Tree, Unions,
};
use zorb::Char;

pub(crate) fn point(n: i32) -> Point {
    Point {
        x: n as i16,
        y: f64::from(n) / 2.0,
    }
}

pub(crate) fn longs(n: i32) -> Vec<i32> {
    (0..n % 8).map(|i| n + i).collect()
}

pub(crate) fn by_long(discriminator: i32, n: i32) -> ByLong {
    match discriminator {
        1 | -7 => ByLong::Text {
            discriminator,
            value: format!("text {n}"),
        },
        100 => ByLong::At(point(n)),
        _ => ByLong::Other {
            discriminator,
            value: n as u8,
        },
    }
}

pub(crate) fn by_short(discriminator: i16, n: i32) -> ByShort {
    match discriminator {
        -3 => ByShort::Real(f64::from(n) / 4.0),
        300 => ByShort::List(longs(n)),
        _ => ByShort::Unset { discriminator },
    }
}

pub(crate) fn by_ushort(discriminator: u16, n: i32) -> ByUShort {
    match discriminator {
        7 => ByUShort::Low(n as u8),
        32767 => ByUShort::High(n % 2 != 0),
        _ => ByUShort::Rest {
            discriminator,
            value: -n,
        },
    }
}

pub(crate) fn by_ulong(discriminator: u32, n: i32) -> ByULong {
    match discriminator {
        0 => ByULong::None(n as i16),
        0xfedc_ba98 => ByULong::High(f64::from(n) / 8.0),
        _ => ByULong::Unset { discriminator },
    }
}

pub(crate) fn by_big(discriminator: u64, n: i32) -> ByBig {
    match discriminator {
        0 => ByBig::None(n as u8),
        5 => ByBig::Five(i64::from(n) * 1_234_567_890_123),
        0xfedc_ba98_7654_3210 => ByBig::Far(format!("far {n}")),
        _ => ByBig::Unset { discriminator },
    }
}

pub(crate) fn by_longlong(discriminator: i64, n: i32) -> ByLongLong {
    match discriminator {
        -5 => ByLongLong::Minus(format!("minus {n}")),
        _ => ByLongLong::Letter {
            discriminator,
            value: Char(b'a' + (n % 26) as u8),
        },
    }
}

pub(crate) fn by_char(discriminator: u8, n: i32) -> ByChar {
    match discriminator {
        b'a' => ByChar::Small(n),
        b'z' | b'Z' => ByChar::Last {
            discriminator: Char(discriminator),
            value: f64::from(n) / 2.0,
        },
        _ => ByChar::Unset {
            discriminator: Char(discriminator),
        },
    }
}

pub(crate) fn by_boolean(discriminator: bool, n: i32) -> ByBoolean {
    if discriminator {
        ByBoolean::Yes(format!("yes {n}"))
    } else {
        ByBoolean::No(longs(n))
    }
}

pub(crate) fn by_truth(discriminator: bool, n: i32) -> ByTruth {
    if discriminator {
        ByTruth::Truth(n)
    } else {
        ByTruth::Unset
    }
}

pub(crate) fn by_suit(discriminator: Suit, n: i32) -> BySuit {
    match discriminator {
        Suit::Clubs | Suit::Spades => BySuit::Black {
            discriminator,
            value: n as u8,
        },
        Suit::Hearts => BySuit::Heart(format!("heart {n}")),
        Suit::Diamonds => BySuit::Unset,
    }
}

pub(crate) fn by_own(mine: bool, n: i32) -> ByOwn {
    if mine {
        ByOwn::Here(n as i16)
    } else {
        ByOwn::There(point(n))
    }
}

pub(crate) const SUITS: [Suit; 4] = [Suit::Clubs, Suit::Diamonds, Suit::Hearts, Suit::Spades];

/// With discriminators other than 0 of default members, and of those that are nothing, if `any_default`.
pub(crate) fn unions(n: i32, big: bool, any_default: bool) -> Unions {
    let at = |i: i32| usize::try_from(i).expect("seeds are positive");
    let of = |i: i32| if any_default { i } else { 0 };
    let g = n as u8;
    let long = |i: i32| by_long([1, -7, 100, 0, of(101)][at(i % 5)], n + i);
    let high = |big_one, other| if big { big_one } else { other };
    let fourth = high(0xfedc_ba98_7654_3210, 1);
    Unions {
        g0: g,
        a: by_long([1, -7, 100, 0, of(101)][at(n % 5)], n),
        g1: g,
        b: by_short([-3, 300, if any_default { 4 } else { 300 }][at(n % 3)], n),
        g2: g,
        c: by_ushort([7, 32767, of(8) as u16][at(n % 3)], n),
        g3: g,
        d: by_ulong(
            [0, if big { 0xfedc_ba98 } else { 0 }, of(1) as u32][at(n % 3)],
            n,
        ),
        g4: g,
        e: by_big([0, 5, fourth, 1][at(n % 4)], n),
        g5: g,
        f: by_longlong([i64::from(of(1)) * 5_000_000_000, -5][at(n % 2)], n),
        g6: g,
        g: by_char(
            [b'a', b'z', b'Z', if any_default { b'b' } else { b'a' }][at(n % 4)],
            n,
        ),
        g7: g,
        h: by_boolean(n % 2 != 0, n),
        g8: g,
        i: by_truth(n % 3 == 1, n),
        g9: g,
        j: by_suit(SUITS[at(n % 4)], n),
        ga: g,
        k: by_own(n % 2 != 0, n),
        gb: g,
        l: (0..n % 6).map(long).collect(),
        gc: g,
        m: [1, 2].map(|i| by_suit(SUITS[at((n + i) % 4)], n)),
    }
}

pub(crate) fn tree(n: i32) -> Tree {
    let leaf = |label: &str, mark, kids| Tree {
        label: label.to_owned(),
        kids,
        mark,
    };
    let right = leaf("right", 3, vec![leaf("deep", 2, Vec::new())]);
    let kids = vec![leaf("left", 1, Vec::new()), right];
    leaf(&format!("root {n}"), n as u8, kids)
}

/// A tree of `n` levels.
pub(crate) fn deep_tree(n: i32) -> Tree {
    let kids = match n {
        0 => 0..0,
        _ => 0..n % 3 + 1,
    };
    Tree {
        label: format!("deep {n}"),
        kids: kids
            .map(|i| deep_tree(if i > 0 { 0 } else { n - 1 }))
            .collect(),
        mark: n as u8,
    }
}

pub(crate) fn expr(n: i32) -> Expr {
    let negated = Expr::One(vec![Expr::Value(0.5)]);
    Expr::All(vec![Expr::Value(f64::from(n)), negated])
}

pub(crate) fn chain(n: i32) -> Chain {
    Chain {
        link: n,
        next: (0..n.min(1)).map(|_| chain(n - 1)).collect(),
    }
}

pub(crate) fn cuboid(n: i32) -> Cuboid {
    let row = |at: i32| [at, at + 1, at + 2];
    let block = |at: i32| [row(at), row(at + 3)];
    [block(n), block(n + 6)]
}

pub(crate) fn plainly(n: i32) -> Plainly {
    Plainly {
        grid: vec![vec![1, 2, 3], Vec::new(), vec![n as i16]],
        tag: "t".to_owned(),
        cube: [[1, 2, 3], [4, 5, 6]],
        wide: "\u{416}".to_owned(),
        tags: vec!["a".to_owned(), "bcd".to_owned()],
        named: cuboid(n),
        last: 0x55,
    }
}

pub(crate) fn price(n: i32) -> Price {
    let sign = if n % 2 == 0 { "" } else { "-" };
    let text = format!("{sign}{}.25", n % 1000);
    text.parse().expect("five digits")
}

pub(crate) fn bill(n: i32) -> Bill {
    let number = |text: &str| text.parse().expect("a price");
    Bill {
        g0: 0,
        cost: price(n),
        g1: 1,
        little: "1.5".parse().expect("four digits"),
        g2: 2,
        much: format!("{n}.5").parse().expect("31 digits"),
        g3: 3,
        one: "-7".parse().expect("one digit"),
        g4: 4,
        part: "0.125".parse().expect("six digits"),
        g5: 5,
        more: vec![number("-1"), number("2.75")],
        g6: 6,
    }
}
