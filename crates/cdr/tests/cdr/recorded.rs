//! Octets as omniORB 4.2.5 wrote them (little-endian, from position 0, padding as it came): unions, decimal numbers, types
//! that hold themselves, types without names. The declarations are those of `tests/interop/rich.idl`.

use crate::common::*;
use zorb_cdr::{
    Array, BoundedSeq, BoundedStr, BoundedWideStr, Decode, Encode, Fixed, LittleEndian, Seq,
    cdr_enum, cdr_struct, cdr_union,
};

fn octets(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// Reads them, and writes as many again that mean the same. Theirs has something in the padding, ours zeros.
fn same<T: Encode + for<'de> Decode<'de> + PartialEq + std::fmt::Debug>(hex: &str, expected: &T) {
    let octets = octets(hex);
    let read: T = decode::<LittleEndian, _>(&octets, modern()).unwrap();
    assert_eq!(&read, expected);
    let ours = little(&read);
    assert_eq!(ours.len(), octets.len());
    assert_eq!(decode::<LittleEndian, T>(&ours, modern()).unwrap(), read);
    for (at, (ours, theirs)) in ours.iter().zip(&octets).enumerate() {
        assert!(*ours == *theirs || *ours == 0, "octet {at}");
    }
}

#[derive(Debug, PartialEq)]
struct Bill {
    g0: u8,
    cost: Fixed<5, 2>,
    g1: u8,
    little: Fixed<4, 2>,
    g2: u8,
    much: Fixed<31, 10>,
    g3: u8,
    one: Fixed<1, 0>,
    g4: u8,
    part: Fixed<6, 6>,
    g5: u8,
    more: Vec<Fixed<5, 2>>,
    g6: u8,
}
cdr_struct!(Bill {
    g0: u8, cost: Fixed<5, 2>, g1: u8, little: Fixed<4, 2>, g2: u8, much: Fixed<31, 10>, g3: u8, one: Fixed<1, 0>, g4: u8,
    part: Fixed<6, 6>, g5: u8, more: Vec<Fixed<5, 2>>, g6: u8,
});

#[test]
fn a_bill_of_decimal_numbers() {
    let bill = Bill {
        g0: 0,
        cost: "-1.25".parse().unwrap(),
        g1: 1,
        little: "1.5".parse().unwrap(),
        g2: 2,
        much: "1.5".parse().unwrap(),
        g3: 3,
        one: "-7".parse().unwrap(),
        g4: 4,
        part: "0.125".parse().unwrap(),
        g5: 5,
        more: vec!["-1".parse().unwrap(), "2.75".parse().unwrap()],
        g6: 6,
    };
    same(
        "0000125d0100150c020000000000000000000015000000000c037d040125000c050000000200000000100d00275c06",
        &bill,
    );
}

#[derive(Debug, PartialEq)]
struct Tree {
    label: String,
    kids: Vec<Self>,
    mark: u8,
}
cdr_struct!(Tree { label: String, kids: Vec<Tree>, mark: u8 });

#[test]
fn a_tree_of_structs() {
    let tree = |label: &str, kids, mark| Tree {
        label: label.to_owned(),
        kids,
        mark,
    };
    let right = tree("right", vec![tree("deep", vec![], 2)], 3);
    same(
        "07000000726f6f742031000002000000050000006c65667400000000000000000120320006000000726967687400ffff0100000005000000646565700000000000000000020301",
        &tree("root 1", vec![tree("left", vec![], 1), right], 1),
    );
}

#[derive(Debug, PartialEq, Clone, Copy)]
enum Op {
    Number,
    Negate,
    Add,
}
cdr_enum!(Op {
    Number,
    Negate,
    Add
});

#[derive(Debug, PartialEq)]
enum Expr {
    Value(f64),
    One(Vec<Self>),
    All(Vec<Self>),
}
cdr_union!(Expr: Op {
    one { Value(f64) = [Op::Number], One(Vec<Expr>) = [Op::Negate], All(Vec<Expr>) = [Op::Add] }
    several {}
});

#[test]
fn an_expression_of_unions() {
    let negative = Expr::One(vec![Expr::Value(0.5)]);
    same(
        "02000000020000000000000002000000000000000000f03f01000000010000000000000006000000000000000000e03f",
        &Expr::All(vec![Expr::Value(1.0), negative]),
    );
}

#[derive(Debug, PartialEq)]
struct Point {
    x: i16,
    y: f64,
}
cdr_struct!(Point { x: i16, y: f64 });

#[derive(Debug, PartialEq)]
enum ByLong {
    Text { discriminator: i32, value: String },
    At(Point),
    Other { discriminator: i32, value: u8 },
}
cdr_union!(ByLong: i32 {
    one { At(Point) = [100] }
    several { Text(String) = [1] [-7] }
    default Other(u8);
});

#[derive(Debug, PartialEq, Clone, Copy)]
enum Suit {
    Clubs,
    Diamonds,
    Hearts,
    Spades,
}
cdr_enum!(Suit {
    Clubs,
    Diamonds,
    Hearts,
    Spades
});

#[derive(Debug, PartialEq)]
enum BySuit {
    Black { discriminator: Suit, value: u8 },
    Heart(String),
    Unset,
}
cdr_union!(BySuit: Suit {
    one { Heart(String) = [Suit::Hearts] }
    several { Black(u8) = [Suit::Clubs] [Suit::Spades] }
    last Unset = [Suit::Diamonds];
});

#[test]
fn unions_with_and_without_a_member() {
    same(
        "6400000001000000000000000000e03f",
        &ByLong::At(Point { x: 1, y: 0.5 }),
    );
    same("01000000", &BySuit::Unset);
}

#[derive(Debug, PartialEq)]
struct Plainly {
    grid: Vec<Vec<i16>>,
    tag: String,
    cube: [[i32; 3]; 2],
    wide: String,
    tags: Vec<String>,
    named: [[[i32; 3]; 2]; 2],
    last: u8,
}
cdr_struct!(Plainly {
    grid: Seq<BoundedSeq<i16, 3>>,
    tag: BoundedStr<5>,
    cube: Array<[i32; 3], 2>,
    wide: BoundedWideStr<4>,
    tags: BoundedSeq<BoundedStr<3>, 2>,
    named: [[[i32; 3]; 2]; 2],
    last: u8,
});

#[test]
fn members_without_a_type_name() {
    let plainly = Plainly {
        grid: vec![vec![1, 2, 3], vec![], vec![1]],
        tag: "t".to_owned(),
        cube: [[1, 2, 3], [4, 5, 6]],
        wide: "Ж".to_owned(),
        tags: vec!["a".to_owned(), "bcd".to_owned()],
        named: [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]],
        last: 0x55,
    };
    let octets = octets(
        "03000000030000000100020003007e77000000000100000001000000020000007400000001000000020000000300000004000000050000000600000004000000fffe160402000000020000006100e03f04000000626364000100000002000000030000000400000005000000060000000700000008000000090000000a0000000b0000000c00000055",
    );
    // Their wide text is marked little-endian, ours is not marked: so it is not octet for octet.
    let read: Plainly = decode::<LittleEndian, _>(&octets, modern()).unwrap();
    assert_eq!(read, plainly);
    assert_eq!(
        decode::<LittleEndian, Plainly>(&little(&read), modern()).unwrap(),
        plainly
    );
}
