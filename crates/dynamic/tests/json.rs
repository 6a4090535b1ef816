//! IDL data as JSON: every type of the interop IDL there and back, as Rust types and as anys.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::PathBuf;
use zorb::cdr::IdlValue;
use zorb::{Any, Char, LongDouble, Orb, TcKind, TypeCode, Value, WChar};
use zorb_dynamic::{DynAny, IdlTypes};

#[zorb::idl_file(
    "../../tests/interop/rich.idl",
    define("WITH_LONG_DOUBLE"),
    derive("serde::Serialize", "serde::Deserialize")
)]
mod generated {}

#[zorb::idl_file(
    "../../tests/interop/interop.idl",
    include("../../tests/interop/include"),
    derive("serde::Serialize", "serde::Deserialize")
)]
mod interop_idl {}

use generated::rich;
use interop_idl::{interop, shapes};

/// Numbers that a seed decides.
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 8).unwrap() % bound.max(1)
    }

    fn text(&mut self, bound: u32) -> String {
        let most = if bound == 0 { 6 } else { bound as usize };
        let length = self.below(most + 1);
        (0..length)
            .map(|_| ['a', 'Z', '"', '\\', 'é', 'Ж', '\n'][self.below(7)])
            .collect()
    }
}

/// A value of the type.
fn some(ty: &TypeCode, random: &mut Random) -> Any {
    let mut value = DynAny::from_type_code(ty).unwrap();
    fill(&mut value, random, 0);
    value.to_any().unwrap()
}

fn fill(value: &mut DynAny, random: &mut Random, depth: usize) {
    use TcKind as K;
    let ty = value.type_code().unaliased();
    let number = i64::try_from(random.below(1 << 40)).unwrap() - (1 << 39);
    let small = i16::try_from(number % 30_000).unwrap();
    let real = f64::from(small) / 8.0;
    match ty.kind() {
        K::Boolean => value.insert(&(number % 2 == 0)).unwrap(),
        K::Octet => value.insert(&small.to_le_bytes()[0]).unwrap(),
        K::Char => value.insert(&Char(small.to_le_bytes()[0])).unwrap(),
        // Half of a character, too.
        K::WChar => value
            .insert(&WChar([0x416, 0x61, 0xd83d][random.below(3)]))
            .unwrap(),
        K::Short => value.insert(&small).unwrap(),
        K::UShort => value.insert(&small.cast_unsigned()).unwrap(),
        K::Long => value.insert(&i32::from(small)).unwrap(),
        K::ULong => value.insert(&u32::from(small.cast_unsigned())).unwrap(),
        K::LongLong => value.insert(&number).unwrap(),
        K::ULongLong => value.insert(&number.cast_unsigned()).unwrap(),
        K::Float => value.insert(&(f32::from(small) / 8.0)).unwrap(),
        K::Double => value.insert(&real).unwrap(),
        K::LongDouble => value.insert(&LongDouble::from_f64(real)).unwrap(),
        K::String | K::WString => {
            let text = random.text(ty.length().unwrap() / 2);
            value.insert(&text).unwrap();
        }
        K::Fixed => {
            let (digits, scale) = ty.digits_and_scale().unwrap();
            let whole = if i32::from(digits) > i32::from(scale) {
                "-3"
            } else {
                "-0"
            };
            value.set_decimal(&format!("{whole}.5")).unwrap();
        }
        K::Enum => {
            let ordinal = random.below(ty.member_count());
            value.set_ordinal(u32::try_from(ordinal).unwrap()).unwrap();
        }
        K::Any => value.insert(&Any::new(&small).unwrap()).unwrap(),
        K::TypeCode => value.insert(&TypeCode::of::<rich::Tree>()).unwrap(),
        K::Sequence => {
            let bound = ty.length().unwrap().min(3);
            let most = if bound == 0 { 3 } else { bound as usize };
            let length = if depth > 4 { 0 } else { random.below(most + 1) };
            value.set_length(length).unwrap();
        }
        K::Union => {
            let index = random.below(ty.member_count());
            match ty.member_label(index) {
                None => value.set_to_default_member().unwrap(),
                Some(label) => {
                    let mut discriminator = value.discriminator().unwrap();
                    match value.discriminator_kind().unwrap() {
                        K::Enum => discriminator
                            .set_ordinal(label.try_into().unwrap())
                            .unwrap(),
                        K::Boolean => discriminator.insert(&(label == 1)).unwrap(),
                        K::Char => discriminator
                            .insert(&Char(label.try_into().unwrap()))
                            .unwrap(),
                        K::Short => discriminator
                            .insert(&i16::try_from(label).unwrap())
                            .unwrap(),
                        K::UShort => discriminator
                            .insert(&u16::try_from(label).unwrap())
                            .unwrap(),
                        K::Long => discriminator
                            .insert(&i32::try_from(label).unwrap())
                            .unwrap(),
                        K::ULong => discriminator
                            .insert(&u32::try_from(label).unwrap())
                            .unwrap(),
                        K::LongLong => discriminator
                            .insert(&i64::try_from(label).unwrap())
                            .unwrap(),
                        _ => discriminator
                            .insert(&u64::try_from(label).unwrap())
                            .unwrap(),
                    }
                    value.set_discriminator(&discriminator).unwrap();
                }
            }
            if value.has_no_active_member().unwrap() || depth > 8 {
                return;
            }
            fill(value.member().unwrap(), random, depth + 1);
            return;
        }
        K::Value | K::ValueBox if depth < 3 && random.below(4) > 0 => {
            // Only the program knows the others.
            let _ = value.set_to_value();
        }
        _ => {}
    }
    let mut index = 0;
    while value.seek(index) {
        fill(
            value.current_component().unwrap().unwrap(),
            random,
            depth + 1,
        );
        index += 1;
    }
}

fn read(file: &str, include: &str) -> IdlTypes {
    let mut options = zorb_idl::Options::default();
    options.include_dirs.push(PathBuf::from(include));
    options
        .defines
        .push(("WITH_LONG_DOUBLE".to_owned(), "1".to_owned()));
    IdlTypes::from_files(&[PathBuf::from(file)], &options).unwrap()
}

#[test]
fn anys_of_every_type_of_the_interop_idl_are_json_there_and_back() {
    let rich = read(
        "../../tests/interop/rich.idl",
        "../../tests/interop/include",
    );
    let interop = read(
        "../../tests/interop/interop.idl",
        "../../tests/interop/include",
    );
    let mut seen = 0;
    for (id, ty) in rich.iter().chain(interop.iter()) {
        let text = serde_json::to_string(ty).unwrap();
        assert_eq!(
            &serde_json::from_str::<TypeCode>(&text).unwrap(),
            ty,
            "{id}"
        );
        let is_here = matches!(
            ty.unaliased().kind(),
            TcKind::Native | TcKind::LocalInterface
        );
        for seed in (1..8).filter(|_| !is_here) {
            let any = some(
                ty,
                &mut Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)),
            );
            let text = serde_json::to_string(&any).unwrap();
            let again: Any =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{id}: {error}\n{text}"));
            assert_eq!(again, any, "{text}");
            assert_eq!(again.type_code(), ty);
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

fn check<T: IdlValue + Serialize + DeserializeOwned + Debug>() {
    let ty = TypeCode::of::<T>();
    for seed in 1..24 {
        let any = some(
            &ty,
            &mut Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)),
        );
        let value: T = any
            .extract()
            .unwrap_or_else(|error| panic!("{ty}: {error:#}"));
        let text = serde_json::to_string(&value).unwrap();
        let again: T =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{ty}: {error}\n{text}"));
        // Values of value types are equal if they are one value; what is sent of them is compared.
        assert_eq!(
            Any::new(&again).unwrap(),
            Any::new(&value).unwrap(),
            "{text}"
        );
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
    }
}

macro_rules! check {
    ($($ty:ty)*) => {$( check::<$ty>(); )*};
}

#[test]
fn every_type_of_the_rich_interop_idl_is_json_there_and_back() {
    use rich::*;
    check!(
        Mismatch Suit Point LongSeq StringSeq ByLong ByShort ByUShort ByULong ByBig ByLongLong ByChar ByBoolean
        ByTruth BySuit ByOwn ByLongSeq SuitPair Unions TreeSeq Tree ExprSeq Op Expr Chain Row Block Cuboid Plainly
        Price Small Huge Digit Ratio PriceSeq Bill LongDoubleSeq Option<Value<Plain>> Option<Value<Base>>
        Option<Value<Derived>> Option<Value<Longer>> Option<Value<Longest>> Option<Value<Empty>> Option<Value<Node>>
        NodeSeq MaybePlain PlainSeq Holder Option<Value<LongBox>> Option<Value<TextBox>> Option<Value<WideBox>>
        Option<Value<PointBox>> Option<Value<ListBox>> Option<Value<UnionBox>> Option<Value<Boxes>> Spoilt Tag
        TagAgain WTag AnySeq Lists Detailed Mixed Kind
    );
    let account = Account {
        quiet_balance: -7,
        owner: "Ada".to_owned(),
    };
    let text = serde_json::to_string(&account).unwrap();
    assert_eq!(serde_json::from_str::<Account>(&text).unwrap(), account);
}

#[test]
fn every_type_of_the_interop_idl_is_json_there_and_back() {
    use interop::types::*;
    check!(
        interop::Mismatch Suit Tag Odd Inner InnerPair Outer OctetSeq BooleanSeq CharSeq ShortSeq UShortSeq LongSeq
        ULongSeq LongLongSeq ULongLongSeq FloatSeq DoubleSeq StringSeq TagSeq SuitSeq OddSeq InnerSeq OuterSeq PairSeq
        LongSeqSeq ShortCube ShortList TwoTags TwoLists Bundle Cube Names OddPair Paths Row Rows WTag WCharSeq
        WStringSeq WideBundle shapes::Colour shapes::Point shapes::Path shapes::Corners shapes::Broken
    );
}

#[tokio::test]
async fn references_are_text_and_are_read_for_an_orb() {
    let orb = Orb::builder().build().await.unwrap();
    let url = "corbaloc::127.0.0.1:1/Node";
    let node: interop::NodeRef = orb.string_to_object(url).await.unwrap().unchecked_narrow();
    let nodes: Vec<Option<interop::NodeRef>> = vec![Some(node), None];
    let text = serde_json::to_string(&nodes).unwrap();
    assert!(
        text.starts_with("[\"IOR:") && text.ends_with(",null]"),
        "{text}"
    );
    let outside = serde_json::from_str::<Vec<Option<interop::NodeRef>>>(&text).unwrap_err();
    assert!(outside.to_string().contains("with_orb"), "{outside}");
    let again: Vec<Option<interop::NodeRef>> =
        zorb::serde::with_orb(&orb, || serde_json::from_str(&text)).unwrap();
    assert_eq!(again, nodes);
    let any = Any::new(&nodes).unwrap();
    let text = serde_json::to_string(&any).unwrap();
    let again: Any = zorb::serde::with_orb(&orb, || serde_json::from_str(&text)).unwrap();
    assert_eq!(
        again.extract::<Vec<Option<interop::NodeRef>>>().unwrap(),
        nodes
    );
}

#[test]
fn values_in_cycles_and_of_derived_types_are_errors() {
    use rich::{Base, Derived, Node};
    let ring = Value::new(Node {
        name: "ring".to_owned(),
        others: Vec::new(),
        next: None,
    });
    ring.write().next = Some(ring.clone());
    let error = serde_json::to_string(&ring).unwrap_err();
    assert!(error.to_string().contains("in a cycle"), "{error}");
    ring.write().next = None;
    let base = Base {
        id: 1,
        name: String::new(),
    };
    let derived = Value::new(Derived { base, more: 0.5 }).upcast::<Base>();
    let error = serde_json::to_string(&derived).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("found one of IDL:zorb.test/Rich/Derived"),
        "{error}"
    );
}

#[test]
fn json_that_is_no_value_of_its_type_is_refused() {
    for text in [
        "{}",
        r#"{"value":1,"type":[{"simple":"long"}]}"#,
        r#"{"type":[{"simple":"long"}]}"#,
        r#"{"type":[{"simple":"long"}],"value":"x"}"#,
        r#"{"type":[{"simple":"long"}],"value":1,"more":1}"#,
        r#"{"type":[{"simple":"interface"}],"value":1}"#,
        r#"{"type":[],"value":1}"#,
        r#"{"type":[{"alias":["IDL:A:1.0","A",0]}],"value":1}"#,
        r#"{"type":[{"struct":["IDL:S:1.0","S",[["s",0]]]}],"value":{}}"#,
        r#"{"type":[{"struct":["IDL:S:1.0","S",[["x",1]]]},{"simple":"long"}],"value":{"y":1}}"#,
        r#"{"type":[{"struct":["IDL:S:1.0","S",[["x",1]]]},{"simple":"long"}],"value":{"x":1,"x":1}}"#,
        r#"{"type":[{"struct":["IDL:S:1.0","S",[["x",1]]]},{"simple":"long"}],"value":{}}"#,
        r#"{"type":[{"struct":["IDL:S:1.0","S",[["x",7]]]}],"value":{}}"#,
        r#"{"type":[{"enum":["IDL:E:1.0","E",["a"]]}],"value":"b"}"#,
        r#"{"type":[{"fixed":[3,1]}],"value":"100"}"#,
        r#"{"type":[{"string":2}],"value":"abc"}"#,
        r#"{"type":[{"sequence":[1,1]},{"simple":"octet"}],"value":[1,2]}"#,
        r#"{"type":[{"array":[1,2]},{"simple":"octet"}],"value":[1]}"#,
    ] {
        assert!(serde_json::from_str::<Any>(text).is_err(), "{text}");
    }
    let deep = (0..200).fold("1".to_owned(), |inner, _| {
        format!(r#"{{"type":[{{"simple":"any"}}],"value":{inner}}}"#)
    });
    assert!(serde_json::from_str::<Any>(&deep).is_err());
}
