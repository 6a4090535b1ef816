//! The contents of the anys of `rich.idl`: the results of make_any, and the checks of check_any.

use crate::rich::rich_idl::rich::{
    ANY_SEQ_TYPE_CODE, BySuit, CUBOID_TYPE_CODE, Cuboid, Detailed, Kind, LISTS_TYPE_CODE,
    LONG_SEQ_TYPE_CODE, Mixed, PRICE_TYPE_CODE, PeerRef, Plainly, Point, QuietRef, ROW_TYPE_CODE,
    STRING_SEQ_TYPE_CODE, Suit, TAG_AGAIN_TYPE_CODE, TAG_TYPE_CODE, W_TAG_TYPE_CODE,
};
use crate::rich::rich_idl::rich::{Base, Holder, ListBox, Longest, Node, Plain, TextBox};
use crate::rich::rich_idl::rich::{Bill, ByLong, Expr, Price, Tree};
use crate::rich::rich_samples::{SUITS, bill, cuboid, expr, longs, plainly, point, price, tree};
use crate::rich::values::{Graph, derived, digest_of_one, holder, longest, plain, ring};
use std::fmt::Debug;
use zorb::{Any, Char, IdlType, IdlValue, Interface, TcKind, TypeCode, Value, WChar};

/// Those with values in them. Compilers do not agree on the TypeCodes of value types.
pub(crate) const VALUES: [Kind; 8] = [
    Kind::KPlain,
    Kind::KBase,
    Kind::KLongest,
    Kind::KNullValue,
    Kind::KRing,
    Kind::KTextBox,
    Kind::KListBox,
    Kind::KHolder,
];

/// The others, in their order.
pub(crate) const KINDS: [Kind; 40] = [
    Kind::KNull,
    Kind::KVoid,
    Kind::KShort,
    Kind::KLong,
    Kind::KUshort,
    Kind::KUlong,
    Kind::KFloat,
    Kind::KDouble,
    Kind::KBoolean,
    Kind::KChar,
    Kind::KOctet,
    Kind::KLonglong,
    Kind::KUlonglong,
    Kind::KWchar,
    Kind::KString,
    Kind::KWstring,
    Kind::KBounded,
    Kind::KAlias,
    Kind::KEnum,
    Kind::KStruct,
    Kind::KUnion,
    Kind::KUnionNone,
    Kind::KSequence,
    Kind::KSequences,
    Kind::KStrings,
    Kind::KArray,
    Kind::KArrays,
    Kind::KFixed,
    Kind::KTree,
    Kind::KExpr,
    Kind::KException,
    Kind::KObject,
    Kind::KNil,
    Kind::KAny,
    Kind::KAnys,
    Kind::KTypecode,
    Kind::KMixed,
    Kind::KBill,
    Kind::KBoundedWide,
    Kind::KPlainly,
];

fn any<T: IdlType + ?Sized>(value: &T) -> Any {
    Any::new(value).expect("a value of its type")
}

fn typed<T: IdlType + ?Sized>(ty: &TypeCode, value: &T) -> Any {
    Any::with_type_code(ty, value).expect("a value of that type")
}

fn wide(n: i32) -> String {
    format!("\u{416}{n}")
}

fn union(n: i32) -> ByLong {
    match n % 3 {
        0 => ByLong::Text {
            discriminator: -7,
            value: format!("u {n}"),
        },
        1 => ByLong::At(point(n)),
        _ => ByLong::Other {
            discriminator: 5,
            value: n as u8,
        },
    }
}

fn suit(n: i32) -> Suit {
    SUITS[usize::try_from(n % 4).expect("seeds are positive")]
}

fn lists(n: i32) -> Vec<Vec<i32>> {
    let count = usize::try_from(n % 4).expect("seeds are positive");
    (1..=count).map(|length| vec![n; length]).collect()
}

fn strings(n: i32) -> Vec<String> {
    vec![format!("s {n}"), String::new(), "\u{e9}".to_owned()]
}

fn detailed(n: i32) -> Detailed {
    Detailed {
        code: n,
        text: format!("e {n}"),
        where_: point(n),
    }
}

fn mixed(n: i32, peer: &PeerRef) -> Mixed {
    Mixed {
        mark: n as u8,
        inner: make(Kind::KUnion, n, peer),
        kind: TypeCode::of::<Expr>(),
        end: f64::from(n) / 4.0,
    }
}

/// A Derived, as what it is derived from.
fn derived_base(n: i32) -> Value<Base> {
    derived(n as i16, &format!("d {n}"), f64::from(n) / 8.0).upcast()
}

fn text_box(n: i32) -> Value<TextBox> {
    let value = format!("b {n}");
    Value::new(TextBox { value })
}

fn list_box(n: i32) -> Value<ListBox> {
    Value::new(ListBox { value: longs(n) })
}

/// The result of make_any.
pub(crate) fn make(which: Kind, n: i32, peer: &PeerRef) -> Any {
    let again = |which| make(which, n, peer);
    match which {
        Kind::KNull => Any::default(),
        Kind::KVoid => any(&()),
        Kind::KShort => any(&(-n as i16)),
        Kind::KLong => any(&(-n).wrapping_mul(1000)),
        Kind::KUshort => any(&(65535_i32.wrapping_sub(n) as u16)),
        Kind::KUlong => any(&u32::MAX.wrapping_sub(n as u32)),
        Kind::KFloat => any(&(n as f32 + 0.5)),
        Kind::KDouble => any(&(f64::from(n) + 0.25)),
        Kind::KBoolean => any(&(n % 2 == 1)),
        Kind::KChar => any(&Char(b'A' + (n % 26) as u8)),
        Kind::KOctet => any(&(n as u8)),
        Kind::KLonglong => any(&(i64::from(-n) * 10_000_000_000)),
        Kind::KUlonglong => any(&u64::MAX.wrapping_sub(n as u64)),
        Kind::KWchar => any(&WChar(0x416 + (n % 16) as u16)),
        Kind::KString => any(format!("text {n}").as_str()),
        Kind::KWstring => typed(&TypeCode::wstring(0), wide(n).as_str()),
        Kind::KBounded => typed(&TAG_TYPE_CODE, format!("t {n}").as_str()),
        Kind::KAlias => typed(&TAG_AGAIN_TYPE_CODE, format!("a {n}").as_str()),
        Kind::KEnum => any(&suit(n)),
        Kind::KStruct => any(&point(n)),
        Kind::KUnion => any(&union(n)),
        Kind::KUnionNone => any(&BySuit::Unset),
        Kind::KSequence => typed(&LONG_SEQ_TYPE_CODE, &longs(n)),
        Kind::KSequences => typed(&LISTS_TYPE_CODE, &lists(n)),
        Kind::KStrings => typed(&STRING_SEQ_TYPE_CODE, &strings(n)),
        Kind::KArray => typed(&ROW_TYPE_CODE, &[n, n + 1, n + 2]),
        Kind::KArrays => typed(&CUBOID_TYPE_CODE, &cuboid(n)),
        Kind::KFixed => typed(&PRICE_TYPE_CODE, &price(n)),
        Kind::KTree => any(&tree(n)),
        Kind::KExpr => any(&expr(n)),
        Kind::KException => any(&detailed(n)),
        Kind::KObject => any(peer),
        Kind::KNil => any(&None::<QuietRef>),
        Kind::KAny => any(&any(&again(Kind::KStruct))),
        Kind::KAnys => {
            let all = [Kind::KLong, Kind::KString, Kind::KNull, Kind::KSequence].map(again);
            typed(&ANY_SEQ_TYPE_CODE, &all.to_vec())
        }
        Kind::KTypecode => any(&TypeCode::of::<Tree>()),
        Kind::KMixed => any(&mixed(n, peer)),
        Kind::KBill => any(&bill(n)),
        Kind::KBoundedWide => typed(&W_TAG_TYPE_CODE, wide(n).as_str()),
        Kind::KPlainly => any(&plainly(n)),
        Kind::KPlain => any(&plain(n)),
        Kind::KBase => any(&derived_base(n)),
        Kind::KLongest => any(&longest(n)),
        Kind::KNullValue => any(&None::<Value<Plain>>),
        Kind::KRing => any(&ring(n % 4 + 1)),
        Kind::KTextBox => any(&text_box(n)),
        Kind::KListBox => any(&list_box(n)),
        Kind::KHolder => any(&holder(n)),
    }
}

/// Whether the TypeCodes of two unions are equal but for the order of their labels, which says nothing: JacORB has
/// those of one member the other way round.
fn same_union(a: &TypeCode, b: &TypeCode) -> bool {
    let members = |ty: &TypeCode| {
        let mut members: Vec<_> = (0..ty.member_count())
            .map(|i| {
                (
                    ty.member_label(i),
                    ty.member_name(i).map(str::to_owned),
                    ty.member_type(i),
                )
            })
            .collect();
        members.sort_by_key(|(label, ..)| *label);
        members
    };
    let head = |ty: &TypeCode| {
        let (id, name) = (ty.id().map(str::to_owned), ty.name().map(str::to_owned));
        (id, name, ty.discriminator_type())
    };
    a.kind() == TcKind::Union && head(a) == head(b) && members(a) == members(b)
}

/// The answer of check_type.
pub(crate) fn type_fault(which: Kind, it: &TypeCode, peer: &PeerRef) -> String {
    let expected = make(which, 1, peer);
    let equivalent = it.equivalent(expected.type_code());
    // omniORB's TypeCodes of values have their visibilities the other way round.
    let value = VALUES.contains(&which) && equivalent;
    if it == expected.type_code() || value || same_union(it, expected.type_code()) {
        String::new()
    } else if equivalent {
        "the TypeCode is equivalent only".to_owned()
    } else {
        format!("another TypeCode: {it}")
    }
}

fn taken<T: IdlValue + PartialEq + Debug>(it: &Any, expected: T) -> String {
    match it.extract::<T>() {
        Ok(found) if found == expected => String::new(),
        Ok(found) => format!("another value: {found:?}"),
        Err(error) => format!("it is not taken out as its type: {error}"),
    }
}

fn values_taken<T: IdlValue + Graph>(it: &Any, expected: &T) -> String {
    match it.extract::<T>() {
        Ok(found) if digest_of_one(&found) == digest_of_one(expected) => String::new(),
        Ok(_) => format!("another value: {it}"),
        Err(error) => format!("it is not taken out as its type: {error}"),
    }
}

/// The answer of check_any.
pub(crate) fn fault(which: Kind, n: i32, it: &Any, peer: &PeerRef) -> String {
    let wrong = type_fault(which, it.type_code(), peer);
    if !wrong.is_empty() {
        return wrong;
    }
    let expected = make(which, n, peer);
    match which {
        Kind::KShort => taken(it, -n as i16),
        Kind::KLong => taken(it, (-n).wrapping_mul(1000)),
        Kind::KUlonglong => taken(it, u64::MAX.wrapping_sub(n as u64)),
        Kind::KFloat => taken(it, n as f32 + 0.5),
        Kind::KBoolean => taken(it, n % 2 == 1),
        Kind::KWchar => taken(it, WChar(0x416 + (n % 16) as u16)),
        Kind::KString => taken(it, format!("text {n}")),
        Kind::KWstring | Kind::KBoundedWide => taken(it, wide(n)),
        Kind::KBounded => taken(it, format!("t {n}")),
        Kind::KAlias => taken(it, format!("a {n}")),
        Kind::KEnum => taken(it, suit(n)),
        Kind::KStruct => taken::<Point>(it, point(n)),
        Kind::KUnion => taken(it, union(n)),
        Kind::KUnionNone => taken(it, BySuit::Unset),
        Kind::KSequence => taken(it, longs(n)),
        Kind::KSequences => taken(it, lists(n)),
        Kind::KStrings => taken(it, strings(n)),
        Kind::KArray => taken(it, [n, n + 1, n + 2]),
        Kind::KArrays => taken::<Cuboid>(it, cuboid(n)),
        Kind::KFixed => taken::<Price>(it, price(n)),
        Kind::KTree => taken(it, tree(n)),
        Kind::KExpr => taken(it, expr(n)),
        Kind::KException => taken(it, detailed(n)),
        Kind::KNil => match it.extract::<Option<QuietRef>>() {
            Ok(None) => String::new(),
            other => format!("no nil: {other:?}"),
        },
        Kind::KObject => match it.extract::<Option<PeerRef>>() {
            Ok(Some(found)) if found.as_object().is_equivalent(peer.as_object()) => String::new(),
            other => format!("another object: {other:?}"),
        },
        Kind::KAny => match it.extract::<Any>().and_then(|inner| inner.extract::<Any>()) {
            Ok(inner) => fault(Kind::KStruct, n, &inner, peer),
            Err(error) => error.to_string(),
        },
        Kind::KAnys => match it.extract::<Vec<Any>>().as_deref() {
            Ok([a, b, c, d]) => [
                fault(Kind::KLong, n, a, peer),
                fault(Kind::KString, n, b, peer),
                fault(Kind::KNull, n, c, peer),
                fault(Kind::KSequence, n, d, peer),
            ]
            .concat(),
            other => format!("not four anys: {other:?}"),
        },
        Kind::KTypecode => taken(it, TypeCode::of::<Tree>()),
        Kind::KMixed => match it.extract::<Mixed>() {
            Ok(found) => mixed_fault(n, &found),
            Err(error) => error.to_string(),
        },
        Kind::KBill => taken::<Bill>(it, bill(n)),
        Kind::KPlainly => taken::<Plainly>(it, plainly(n)),
        Kind::KPlain => values_taken(it, &Some(plain(n))),
        Kind::KBase => values_taken(it, &Some(derived_base(n))),
        Kind::KLongest => values_taken::<Option<Value<Longest>>>(it, &Some(longest(n))),
        Kind::KNullValue => values_taken::<Option<Value<Plain>>>(it, &None),
        Kind::KRing => values_taken::<Option<Value<Node>>>(it, &ring(n % 4 + 1)),
        Kind::KTextBox => values_taken(it, &Some(text_box(n))),
        Kind::KListBox => values_taken(it, &Some(list_box(n))),
        Kind::KHolder => values_taken::<Holder>(it, &holder(n)),
        _ if *it == expected => String::new(),
        _ => format!("another value: {it:?}"),
    }
}

/// The fault of the one for that seed.
pub(crate) fn mixed_fault(n: i32, it: &Mixed) -> String {
    if it.mark != n as u8 || it.end != f64::from(n) / 4.0 {
        return format!("another mark or end: {it:?}");
    }
    if it.kind != TypeCode::of::<Expr>() {
        return format!("another type: {}", it.kind);
    }
    taken(&it.inner, union(n))
}
