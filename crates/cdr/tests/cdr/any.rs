//! Anys: their octets, what goes in and comes out, what is malformed, how they look.

use crate::common::{encode_at, fault, fragmented, latin1, minor, modern};
use bytes::Bytes;
use std::sync::Arc;
use zorb_cdr::{
    Any, BigEndian, ByteOrder, Char, DecodeErrorKind, Decoder, Encoder, ExtractError, Fixed,
    IdlType, IdlValue, LittleEndian, LongDouble, StaticType, TcKind, TypeCode, WChar, WireFormat,
    cdr_enum, cdr_struct, cdr_union, idl_exception, idl_type,
};

/// Octets from hexadecimal digits, blanks anywhere.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).unwrap()).unwrap())
        .collect();
    assert!(digits.len().is_multiple_of(2));
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

// The code that the IDL compiler generates.

#[derive(Debug, Clone, Copy, PartialEq)]
enum Color {
    Red,
    Blue,
}
cdr_enum!(Color { Red, Blue });
static COLOR: StaticType = StaticType::Enum("IDL:M/Color:1.0", "Color", &["red", "blue"]);
idl_type!(Color, &COLOR);

#[derive(Debug, Clone, PartialEq)]
struct Point {
    x: i16,
    y: f64,
    name: String,
    tint: Color,
}
cdr_struct!(Point {
    x: i16,
    y: f64,
    name: String,
    tint: Color
});
static POINT: StaticType = StaticType::Struct(
    "IDL:M/Point:1.0",
    "Point",
    &[
        ("x", &StaticType::Short),
        ("y", &StaticType::Double),
        ("name", &StaticType::String(0)),
        ("tint", &COLOR),
    ],
);
idl_type!(Point, &POINT);

#[derive(Debug, Clone, PartialEq)]
struct Tree {
    label: Any,
    children: Vec<Self>,
}
cdr_struct!(Tree { label: Any, children: Vec<Tree> });
static TREE: StaticType = StaticType::Struct(
    "IDL:Tree:1.0",
    "Tree",
    &[
        ("label", &StaticType::Any),
        ("children", &StaticType::Sequence(&TREE, 0)),
    ],
);
idl_type!(Tree, &TREE);

#[derive(Debug, Clone, PartialEq)]
enum Reading {
    Count(u16),
    Level { discriminator: i32, value: f64 },
    Unset { discriminator: i32 },
}
cdr_union!(Reading: i32 {
    one { Count(u16) = [1] }
    several { Level(f64) = [-2] [3] }
    unset Unset;
});
static READING: StaticType = StaticType::Union(
    "IDL:Reading:1.0",
    "Reading",
    &StaticType::Long,
    -1,
    &[
        (1, "count", &StaticType::UShort),
        (-2, "level", &StaticType::Double),
        (3, "level", &StaticType::Double),
    ],
);
idl_type!(Reading, &READING);

#[derive(Debug, Clone, PartialEq)]
struct Broken {
    why: String,
}
cdr_struct!(Broken { why: String });
static BROKEN: StaticType = StaticType::Except(
    "IDL:Broken:1.0",
    "Broken",
    &[("why", &StaticType::String(0))],
);
idl_exception!(Broken, &BROKEN);

fn point() -> Point {
    Point {
        x: -7,
        y: 0.5,
        name: "ä".into(),
        tint: Color::Blue,
    }
}

fn through<O: ByteOrder>(any: &Any, start: usize, format: WireFormat) -> Any {
    let mut octets = vec![0xee; start];
    octets.extend(encode_at::<O>(any, start, format).unwrap());
    let mut d = Decoder::<O>::from_slice(&octets, format);
    d.take(start).unwrap();
    let read = d.get().unwrap();
    assert_eq!(d.remaining(), 0, "{any:?}");
    read
}

/// `value` goes in, through every kind of wire, and comes out the same.
#[track_caller]
fn check<T: IdlValue + PartialEq + std::fmt::Debug>(value: &T) {
    let any = Any::new(value).unwrap();
    assert!(any.is::<T>());
    assert_eq!(&any.extract::<T>().unwrap(), value);
    for start in 0..9 {
        for format in [modern(), minor(1)] {
            for read in [
                through::<BigEndian>(&any, start, format),
                through::<LittleEndian>(&any, start, format),
            ] {
                assert_eq!(read, any);
                assert_eq!(read.type_code(), any.type_code());
                assert_eq!(&read.extract::<T>().unwrap(), value);
            }
        }
    }
    // An any in an any.
    let outer = Any::new(&any).unwrap();
    let read = through::<LittleEndian>(&outer, 3, modern());
    assert_eq!(
        read.extract::<Any>().unwrap().extract::<T>().as_ref(),
        Ok(value)
    );
}

#[test]
fn every_type_goes_in_and_comes_out() {
    check(&true);
    check(&7_u8);
    check(&-7_i16);
    check(&7_u16);
    check(&-7_i32);
    check(&7_u32);
    check(&-7_i64);
    check(&u64::MAX);
    check(&1.5_f32);
    check(&-1.5_f64);
    check(&LongDouble::from(1.25));
    check(&Char(b'x'));
    check(&WChar(0x20ac));
    check(&"text".to_owned());
    check(&String::new());
    check(&Bytes::from_static(b"octets"));
    check(&TypeCode::of::<Point>());
    check(&"1.25".parse::<Fixed<5, 2>>().unwrap());
    check(&Color::Blue);
    check(&point());
    check(&Reading::Count(7));
    check(&Reading::Level {
        discriminator: 3,
        value: 0.5,
    });
    check(&Reading::Unset { discriminator: 9 });
    check(&Broken { why: "wet".into() });
    check(&vec![1_i32, 2, 3]);
    check(&Vec::<u64>::new());
    check(&vec![point(), point()]);
    check(&[[1.5_f64, 2.5], [3.5, 4.5]]);
    check(&[true, false]);
    check(&Tree {
        label: Any::new(&7).unwrap(),
        children: vec![Tree {
            label: Any::default(),
            children: Vec::new(),
        }],
    });
}

#[test]
fn a_char_keeps_all_its_values_where_the_wire_can_say_them() {
    let any = Any::new(&Char(0xe4)).unwrap();
    assert_eq!(any.extract::<Char>().unwrap(), Char(0xe4));
    assert_eq!(through::<BigEndian>(&any, 0, latin1()), any);
    assert!(encode_at::<BigEndian>(&any, 0, modern()).is_err());
}

#[test]
fn text_is_converted_on_its_way() {
    let any = Any::new("ä").unwrap();
    assert_eq!(
        encode_at::<BigEndian>(&any, 0, latin1()).unwrap(),
        hex("00000012 00000000 00000002 e400")
    );
    assert_eq!(
        encode_at::<BigEndian>(&any, 0, modern()).unwrap(),
        hex("00000012 00000000 00000003 c3a400")
    );
    let wide = Any::with_type_code(&TypeCode::wstring(0), "ä").unwrap();
    assert_eq!(
        encode_at::<LittleEndian>(&wide, 0, minor(1)).unwrap(),
        hex("1b000000 00000000 02000000 e400 0000")
    );
    assert!(encode_at::<BigEndian>(&wide, 0, minor(0)).is_err());
}

#[test]
fn the_value_stands_behind_the_type_in_the_same_stream() {
    // A short in little endian: the kind, then the number at once.
    assert_eq!(
        encode_at::<LittleEndian>(&Any::new(&7_i16).unwrap(), 0, modern()).unwrap(),
        hex("02000000 0700")
    );
    // A double is aligned in the message, not behind its type.
    assert_eq!(
        encode_at::<BigEndian>(&Any::new(&1.0_f64).unwrap(), 0, modern()).unwrap(),
        hex("00000007 00000000 3ff0000000000000")
    );
    assert_eq!(
        encode_at::<BigEndian>(&Any::new(&1.0_f64).unwrap(), 4, modern()).unwrap(),
        hex("00000007 3ff0000000000000")
    );
    // An exception has its repository id in front of its members.
    let octets =
        encode_at::<BigEndian>(&Any::new(&Broken { why: "x".into() }).unwrap(), 0, modern());
    assert!(octets.unwrap().ends_with(&hex(
        "0000000f 49444c3a42726f6b656e3a312e3000 00 00000002 7800"
    )));
}

#[test]
fn what_is_of_another_type_does_not_come_out() {
    let any = Any::new(&point()).unwrap();
    assert!(!any.is::<i32>());
    let error = any.extract::<Vec<i32>>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected an any with sequence<long>, found M::Point"
    );
    assert!(matches!(error, ExtractError::WrongType { .. }));
    assert!(Any::new(&7_i16).unwrap().extract::<u16>().is_err());
    assert!(Any::default().extract::<bool>().is_err());
}

#[test]
fn aliases_and_bounds_and_width_are_nothing_to_rust() {
    let names = TypeCode::alias(
        "IDL:Names:1.0",
        "Names",
        &TypeCode::sequence(&TypeCode::wstring(5), 2),
    );
    let text = |n: usize| vec!["abcde".to_owned(); n];
    let any = Any::with_type_code(&names, &text(2)).unwrap();
    assert_eq!(any.type_code(), &names);
    let read = through::<LittleEndian>(&any, 5, modern());
    assert_eq!(read.type_code(), &names);
    assert_eq!(read.extract::<Vec<String>>().unwrap(), text(2));
    assert!(Any::with_type_code(&names, &text(3)).is_err());
    assert!(Any::with_type_code(&names, &vec!["abcdef".to_owned()]).is_err());
    assert!(Any::with_type_code(&names, &7_i32).is_err());
}

#[test]
fn anys_are_equal_when_type_and_value_are() {
    let one = Any::new(&1_i32).unwrap();
    assert_eq!(one, Any::new(&1_i32).unwrap());
    assert_ne!(one, Any::new(&2_i32).unwrap());
    assert_ne!(one, Any::new(&1_u32).unwrap());
    let alias = TypeCode::alias("IDL:L:1.0", "L", one.type_code());
    assert_eq!(one, Any::with_type_code(&alias, &1_i32).unwrap());
    assert_eq!(Any::default(), Any::default());
}

#[test]
fn one_wrong_struct_of_many_is_found_where_it_is() {
    let color = TypeCode::of::<Color>();
    let octet = Any::new(&7_u8).unwrap();
    let ty = TypeCode::structure(
        "IDL:S:1.0",
        "S",
        &[("o", octet.type_code().clone()), ("c", color)],
    );
    let red = Any::new(&Color::Red).unwrap();
    let elements = vec![Any::of_members(&ty, &[octet, red]).unwrap(); 20];
    let all = Any::of_elements(&TypeCode::sequence(&ty, 0), &elements).unwrap();
    let right = encode_at::<BigEndian>(&all, 0, modern()).unwrap();
    // Each element but the first has 8 octets, the last 4 of which are its enumerator.
    for element in 0..20 {
        let place = right.len() - 8 * (20 - element) + 4;
        let mut octets = right.clone();
        octets[place + 3] = 2;
        let kind = DecodeErrorKind::InvalidEnum { found: 2, count: 2 };
        assert_eq!(fault::<Any>(&octets), (kind, place));
        // Octets that end within the element.
        let (kind, _) = fault::<Any>(&right[..place + 2]);
        let is_short = matches!(
            kind,
            DecodeErrorKind::Truncated { .. } | DecodeErrorKind::CountTooLarge { .. }
        );
        assert!(is_short, "{kind:?}");
    }
}

#[test]
fn a_struct_of_many_may_lie_in_two_fragments_with_alignments_of_their_own() {
    let [octet, long] = [Any::new(&7_u8).unwrap(), Any::new(&-7_i64).unwrap()];
    let members = [
        ("o", octet.type_code().clone()),
        ("l", long.type_code().clone()),
        ("p", octet.type_code().clone()),
    ];
    let ty = TypeCode::structure("IDL:S:1.0", "S", &members);
    let element = Any::of_members(&ty, &[octet.clone(), long, octet]).unwrap();
    let ty = TypeCode::sequence(&ty, 0);
    let all = Any::of_elements(&ty, &vec![element; 30]).unwrap();
    let write = |e: &mut Encoder<BigEndian>, members: std::ops::Range<usize>| {
        for member in members {
            match member % 3 {
                1 => e.write_i64(-7),
                _ => e.write_u8(7),
            }
        }
    };
    for cut in 0..=90 {
        let frame = fragmented::<BigEndian>(&[
            &|e| {
                e.put(&ty).unwrap();
                e.write_u32(30);
                write(e, 0..cut);
            },
            &|e| write(e, cut..90),
        ]);
        let mut d = Decoder::<BigEndian>::at(&frame, 12, minor(1)).unwrap();
        assert_eq!(d.get::<Any>().unwrap(), all, "{cut}");
        assert_eq!(d.remaining(), 0);
    }
}

#[test]
fn padding_and_odd_booleans_make_no_difference() {
    // The same struct twice, with other octets where they do not matter: { boolean, long }.
    let ty = "0000000f 00000030 00 000000 00000001 00 000000 00000001 00 000000
              00000002 00000001 00 000000 00000008 00000001 00 000000 00000003";
    let read = |value: &str| {
        let octets = hex(&format!("{ty} {value}"));
        Decoder::<BigEndian>::from_slice(&octets, modern())
            .get::<Any>()
            .unwrap()
    };
    assert_eq!(read("01 000000 00000007"), read("ff abcdef 00000007"));
    assert_ne!(read("00 000000 00000007"), read("ff abcdef 00000007"));
}

#[test]
fn values_that_are_none_of_their_type_are_refused() {
    // An enumerator, a string without end, a bound, too few octets.
    let mut e = Encoder::<BigEndian>::new(modern());
    e.put(&TypeCode::of::<Color>()).unwrap();
    e.write_u32(2);
    let octets = e.finish().to_vec();
    assert_eq!(
        fault::<Any>(&octets).0,
        DecodeErrorKind::InvalidEnum { found: 2, count: 2 }
    );
    assert_eq!(
        fault::<Any>(&hex("00000012 00000000 00000001 41")).0,
        DecodeErrorKind::MissingNul { found: 0x41 }
    );
    assert_eq!(
        fault::<Any>(&hex("00000012 00000001 00000003 414200")).0,
        DecodeErrorKind::BoundExceeded { bound: 1, found: 2 }
    );
    assert!(matches!(
        fault::<Any>(&hex("00000005 0000")).0,
        DecodeErrorKind::Truncated { .. }
    ));
    // A sequence of more longs than there are, an array of four milliards.
    assert!(matches!(
        fault::<Any>(&hex(
            "00000013 0000000c 00 000000 00000003 00000000 7fffffff 00000000"
        ))
        .0,
        DecodeErrorKind::CountTooLarge { .. }
    ));
    assert!(matches!(
        fault::<Any>(&hex(
            "00000014 0000000c 00 000000 00000003 ffffffff 00000000"
        ))
        .0,
        DecodeErrorKind::CountTooLarge { .. }
    ));
    // Types that cannot be in an any at all.
    assert_eq!(
        fault::<Any>(&hex(
            "0000001f 00000014 00 000000 00000001 00 000000 00000001 00 000000 00000000"
        ))
        .0,
        DecodeErrorKind::Expected("a type whose values an any may hold")
    );
}

#[test]
fn values_without_octets_cannot_keep_a_reader_busy() {
    let empty = TypeCode::structure("", "", &[]);
    let many = TypeCode::array(&TypeCode::array(&empty, u32::MAX), u32::MAX);
    let kinds = [
        many,
        TypeCode::array(&TypeCode::of_kind(TcKind::Null).unwrap(), u32::MAX),
        // A struct of two structs of two structs …, without anything at the end.
        (0..60).fold(empty, |ty, _| {
            TypeCode::structure("", "", &[("", ty.clone()), ("", ty)])
        }),
    ];
    for ty in kinds {
        let octets = encode_at::<BigEndian>(&ty, 0, modern()).unwrap();
        assert_eq!(
            fault::<Any>(&octets).0,
            DecodeErrorKind::Expected("at most 1024 parts of a value that take no octets")
        );
    }
}

#[test]
fn a_struct_that_contains_itself_ends_at_the_limit() {
    let inner = TypeCode::recursive("IDL:S:1.0");
    let ty = TypeCode::structure(
        "IDL:S:1.0",
        "S",
        &[
            ("o", TypeCode::of_kind(TcKind::Octet).unwrap()),
            ("s", inner),
        ],
    );
    let mut octets = encode_at::<BigEndian>(&ty, 0, modern()).unwrap();
    octets.extend_from_slice(&[0; 4096]);
    assert!(matches!(
        fault::<Any>(&octets).0,
        DecodeErrorKind::TooDeep { .. }
    ));
}

#[test]
fn anys_in_anys_end_at_the_limit_and_within_the_stack() {
    let octets = Arc::new([hex(&"0000000b".repeat(4096)), hex("00000000")].concat());
    let small = std::thread::Builder::new().stack_size(512 << 10);
    let thread = small.spawn(move || {
        assert!(matches!(
            fault::<Any>(&octets).0,
            DecodeErrorKind::TooDeep { .. }
        ));
        // As deep as may be is fine, in every way there is.
        let octets = [hex(&"0000000b".repeat(60)), hex("00000003 00000007")].concat();
        let any: Any = Decoder::<BigEndian>::from_slice(&octets, modern())
            .get()
            .unwrap();
        assert_eq!(encode_at::<BigEndian>(&any, 0, modern()).unwrap(), octets);
        assert!(any.to_string().contains("long 7"));
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn a_peer_with_another_idea_of_a_type_is_found_out() {
    let other = TypeCode::structure(
        "IDL:M/Point:1.0",
        "Point",
        &[("x", TypeCode::of_kind(TcKind::Long).unwrap())],
    );
    let any = Any::of_members(&other, &[Any::new(&7_i32).unwrap()]).unwrap();
    assert!(matches!(
        any.extract::<Point>(),
        Err(ExtractError::Malformed { .. })
    ));
}

/// A value type whose state is an any, and one whose state is a number.
static OUTER: StaticType = StaticType::Value(
    TcKind::Value,
    "IDL:M/Outer:1.0",
    "Outer",
    0,
    &StaticType::Null,
    &[("inner", &StaticType::Any, 1)],
);
static INNER: StaticType = StaticType::Value(
    TcKind::Value,
    "IDL:M/Inner:1.0",
    "Inner",
    0,
    &StaticType::Null,
    &[("number", &StaticType::Long, 1)],
);

/// An any with a value of a type, whose state is what `state` writes.
fn any_of_value(
    ty: &'static StaticType,
    state: impl Fn(&mut Encoder<LittleEndian>) -> Result<(), zorb_cdr::EncodeError>,
) -> Any {
    let ty = TypeCode::from_static(ty);
    let mut e = Encoder::<LittleEndian>::new(modern());
    e.put(&ty).unwrap();
    e.write_u32(0x7fff_ff02);
    e.write_raw_string(ty.id().unwrap().as_bytes()).unwrap();
    state(&mut e).unwrap();
    let octets = e.finish().to_vec();
    Decoder::<LittleEndian>::from_slice(&octets, modern())
        .get()
        .unwrap()
}

#[test]
fn each_any_has_whole_repository_ids() {
    let inner = any_of_value(&INNER, |e| {
        e.write_i32(7);
        Ok(())
    });
    let outer = any_of_value(&OUTER, |e| e.put(&inner));
    let occurrences = |anys: &[&Any], id: &str| {
        let mut e = Encoder::<BigEndian>::new(modern());
        anys.iter().for_each(|any| e.put(*any).unwrap());
        let octets = e.finish().to_vec();
        let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
        anys.iter()
            .for_each(|any| assert_eq!(&d.get::<Any>().unwrap(), *any));
        let mut windows = octets.windows(id.len());
        windows.by_ref().filter(|w| *w == id.as_bytes()).count()
    };
    // One in the TypeCode, one in the value.
    assert_eq!(occurrences(&[&inner], "IDL:M/Inner:1.0"), 2);
    assert_eq!(occurrences(&[&inner, &inner], "IDL:M/Inner:1.0"), 4);
    // Also in an any that is in another one.
    assert_eq!(occurrences(&[&inner, &outer], "IDL:M/Inner:1.0"), 4);
    assert_eq!(occurrences(&[&outer, &inner], "IDL:M/Inner:1.0"), 4);
}

#[test]
fn values_of_unknown_types_come_apart_and_go_together() {
    let any = through::<BigEndian>(&Any::new(&point()).unwrap(), 0, modern());
    let members = any.members();
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["x", "y", "name", "tint"]);
    assert_eq!(any.member("tint").unwrap().enumerator(), Some("blue"));
    let values: Vec<_> = members.into_iter().map(|(_, value)| value).collect();
    assert_eq!(Any::of_members(any.type_code(), &values).unwrap(), any);
    assert!(Any::of_members(any.type_code(), &values[1..]).is_err());

    let list = Any::new(&vec![1.5_f64, 2.5]).unwrap();
    let elements: Vec<_> = list.elements().collect();
    assert_eq!(elements[1].extract::<f64>().unwrap(), 2.5);
    assert_eq!(Any::of_elements(list.type_code(), &elements).unwrap(), list);
    assert!(Any::of_elements(list.type_code(), std::slice::from_ref(&any)).is_err());

    let union = Any::new(&Reading::Level {
        discriminator: 3,
        value: 0.5,
    })
    .unwrap();
    assert_eq!(union.discriminator(), Some(3));
    let (name, member) = union.selected().unwrap();
    assert_eq!(name, "level");
    assert_eq!(
        Any::of_union(union.type_code(), 3, Some(&member)).unwrap(),
        union
    );
    assert!(Any::of_union(union.type_code(), 1, Some(&member)).is_err());
    assert_eq!(
        Any::of_union(union.type_code(), 9, None)
            .unwrap()
            .extract::<Reading>()
            .unwrap(),
        Reading::Unset { discriminator: 9 }
    );

    let blue = Any::of_enumerator(&TypeCode::of::<Color>(), "blue").unwrap();
    assert_eq!(blue.extract::<Color>().unwrap(), Color::Blue);
    assert!(Any::of_enumerator(&TypeCode::of::<Color>(), "green").is_err());

    let broken = Any::new(&Broken { why: "wet".into() }).unwrap();
    let why = broken.member("why").unwrap();
    assert_eq!(Any::of_members(broken.type_code(), &[why]).unwrap(), broken);
    assert!(any.elements().next().is_none() && list.members().is_empty());
}

#[test]
fn anys_look_like_their_values() {
    fn shown<T: IdlType + ?Sized>(value: &T) -> String {
        format!("{:?}", Any::new(value).unwrap())
    }
    assert_eq!(shown(&7_i16), "Any(short 7)");
    assert_eq!(shown("a \"b\""), r#"Any("a \"b\"")"#);
    assert_eq!(shown(&true), "Any(true)");
    assert_eq!(shown(&'x'.try_into().map(|c: Char| c).unwrap()), "Any('x')");
    assert_eq!(
        shown(&point()),
        r#"Any(M::Point { x: -7, y: 0.5, name: "ä", tint: M::Color::blue })"#
    );
    assert_eq!(shown(&vec![1_i32, 2]), "Any(sequence<long> [1, 2])");
    assert_eq!(shown(&[1.0_f64]), "Any(double[1] [1.0])");
    assert_eq!(
        shown(&vec![0_u8; 100]).len(),
        "Any(sequence<octet> [".len() + 64 * 3 + "… 36 more])".len()
    );
    assert_eq!(
        shown(&Reading::Level {
            discriminator: -2,
            value: 0.5
        }),
        "Any(Reading { case -2: level: 0.5 })"
    );
    assert_eq!(
        shown(&Reading::Unset { discriminator: 5 }),
        "Any(Reading { case 5 })"
    );
    assert_eq!(
        shown(&Any::new(&7_u64).unwrap()),
        "Any(Any(unsigned long long 7))"
    );
    assert_eq!(
        shown(&"-1.05".parse::<Fixed<5, 2>>().unwrap()),
        "Any(fixed<5, 2> -1.05)"
    );
    assert_eq!(shown(&TypeCode::string(0)), "Any(TypeCode(string))");
    assert_eq!(format!("{:?}", Any::default()), "Any(null)");
}

mod random {
    use super::{
        Any, BigEndian, Color, DecodeErrorKind, LittleEndian, Point, Tree, modern, point, through,
    };
    use proptest::{collection::vec, prelude::*};
    use zorb_cdr::{Char, Decoder, Frame, TypeCode};

    fn anys() -> impl Strategy<Value = Any> {
        let leaf = prop_oneof![
            any::<i16>().prop_map(|v| Any::new(&v).unwrap()),
            any::<u64>().prop_map(|v| Any::new(&v).unwrap()),
            "[a-zäö€]{0,9}".prop_map(|v| Any::new(&v).unwrap()),
            "[a-zäö€]{0,9}".prop_map(|v| Any::with_type_code(&TypeCode::wstring(0), &v).unwrap()),
            vec(any::<f64>(), 0..5).prop_map(|v| Any::new(&v).unwrap()),
            (any::<i16>(), "[a-z]{0,5}").prop_map(|(x, name)| Any::new(&Point {
                x,
                name,
                ..point()
            })
            .unwrap()),
        ];
        leaf.prop_recursive(3, 20, 3, |inner| {
            (inner.clone(), vec(inner, 0..3)).prop_map(|(label, labels)| {
                let children = labels.into_iter().map(|label| Tree {
                    label,
                    children: vec![],
                });
                Any::new(&Tree {
                    label,
                    children: children.collect(),
                })
                .unwrap()
            })
        })
    }

    /// A member of a struct that takes as many octets always, of a value by chance.
    fn member() -> impl Strategy<Value = Any> {
        prop_oneof![
            any::<u8>().prop_map(|v| Any::new(&v).unwrap()),
            any::<i16>().prop_map(|v| Any::new(&v).unwrap()),
            any::<u32>().prop_map(|v| Any::new(&v).unwrap()),
            any::<u64>().prop_map(|v| Any::new(&v).unwrap()),
            any::<bool>().prop_map(|v| Any::new(&v).unwrap()),
            (0_u8..0x80).prop_map(|v| Any::new(&Char(v)).unwrap()),
            any::<bool>()
                .prop_map(|blue| Any::new(&if blue { Color::Blue } else { Color::Red }).unwrap()),
        ]
    }

    /// The type of a struct with such members.
    fn structure(members: &[Any]) -> TypeCode {
        let members: Vec<_> = members
            .iter()
            .map(|it| ("m", it.type_code().clone()))
            .collect();
        TypeCode::structure("IDL:Made:1.0", "Made", &members)
    }

    proptest! {
        #[test]
        fn structs_by_the_hundred_are_what_each_is(
            members in vec(member(), 1..9),
            count in 1_usize..150,
            start in 0_usize..9,
            cut in any::<prop::sample::Index>(),
        ) {
            let ty = structure(&members);
            let numbered = Any::new(&0_u32).unwrap();
            let outer = TypeCode::structure("IDL:Outer:1.0", "Outer", &[("n", numbered.type_code().clone()), ("s", ty.clone())]);
            let elements = (0..count).map(|n| {
                let number = Any::new(&u32::try_from(n).unwrap()).unwrap();
                Any::of_members(&outer, &[number, Any::of_members(&ty, &members).unwrap()]).unwrap()
            });
            let elements: Vec<Any> = elements.collect();
            let all = Any::of_elements(&TypeCode::sequence(&outer, 0), &elements).unwrap();
            for read in [through::<BigEndian>(&all, start, modern()), through::<LittleEndian>(&all, start, modern())] {
                prop_assert_eq!(&read, &all);
                // Each by itself.
                prop_assert_eq!(&read.elements().collect::<Vec<_>>(), &elements);
            }
            // In two pieces, where alignment goes on as it was.
            let octets = super::encode_at::<BigEndian>(&all, 0, modern()).unwrap();
            let cut = cut.index(octets.len()) / 8 * 8 + 4;
            if cut < octets.len() {
                let frame = Frame::with_fragment_starts(octets.into(), [cut].into());
                let mut d = Decoder::<BigEndian>::new(&frame, modern());
                match d.get::<Any>() {
                    Ok(read) => prop_assert_eq!(&read, &all),
                    // It may go through a number.
                    Err(error) => prop_assert_eq!(error.kind(), DecodeErrorKind::SplitPrimitive),
                }
            }
        }

        #[test]
        fn whatever_is_written_reads_back(any in anys(), start in 0_usize..9) {
            prop_assert_eq!(&through::<BigEndian>(&any, start, modern()), &any);
            let little = through::<LittleEndian>(&any, start, modern());
            prop_assert_eq!(&little, &any);
            prop_assert_eq!(little.to_string(), any.to_string());
        }

        #[test]
        fn an_octet_that_is_changed_is_an_error_or_another_value(
            value in anys(),
            changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut octets = super::encode_at::<BigEndian>(&value, 0, modern()).unwrap();
            for (at, octet) in changes {
                let at = at.index(octets.len());
                octets[at] = octet;
            }
            if let Ok(any) = Decoder::<BigEndian>::from_slice(&octets, modern()).get::<Any>() {
                prop_assert_eq!(&through::<LittleEndian>(&any, 1, modern()), &any);
                let _ = (any.to_string(), any.members().len(), any.elements().count());
                let _ = (any.extract::<Point>().is_ok(), any.extract::<Tree>().is_ok());
            }
        }
    }
}
