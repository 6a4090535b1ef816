//! The rules of DynAny, kind by kind, and values that go through it unchanged.

use proptest::prelude::*;
use std::sync::LazyLock;
use zorb_cdr::{Any, TcKind, TypeCode, WChar};
use zorb_dynamic::{DynAny, DynAnyError, IdlTypes};

const IDL: &str = "
    module M {
        enum Colour { red, green, deep_blue };
        typedef fixed<5, 2> Price;
        typedef string<4> Code;
        struct Point { long x; double y; Colour tint; };
        struct Line { Point from; Point to; sequence<short, 3> marks; Code tag; };
        struct Nothing {};
        union Pick switch (short) { case 1: case 2: string words; case 3: Point at; default: boolean other; };
        union Maybe switch (Colour) { case green: long number; };
        union All switch (boolean) { case TRUE: long yes; case FALSE: string no; };
        typedef long Row[3];
        exception Refused { string why; };
        valuetype Base { public short id; };
        valuetype Node : Base { public string name; public Node next; };
        valuetype Box string;
        abstract valuetype Shape {};
        typedef sequence<Point> Points;
    };
";

fn ty(name: &str) -> TypeCode {
    static TYPES: LazyLock<IdlTypes> = LazyLock::new(|| {
        IdlTypes::from_text("m.idl", IDL).unwrap_or_else(|error| panic!("{error}"))
    });
    let ty = TYPES.by_name(&format!("M::{name}"));
    ty.unwrap_or_else(|| panic!("no {name}"))
}

fn made(name: &str) -> DynAny {
    DynAny::from_type_code(&ty(name)).unwrap()
}

fn shown(value: &DynAny) -> String {
    value.to_any().unwrap().to_string()
}

fn mismatch<T: std::fmt::Debug>(result: Result<T, DynAnyError>) {
    assert!(
        matches!(result, Err(DynAnyError::TypeMismatch(_))),
        "{result:?}"
    );
}

fn invalid<T: std::fmt::Debug>(result: Result<T, DynAnyError>) {
    assert!(
        matches!(result, Err(DynAnyError::InvalidValue(_))),
        "{result:?}"
    );
}

#[test]
fn values_made_of_a_type_alone_have_the_defaults_of_the_specification() {
    for (name, text) in [
        ("Colour", "M::Colour::red"),
        ("Price", "M::Price 0.00"),
        ("Point", "M::Point { x: 0, y: 0.0, tint: M::Colour::red }"),
        ("Nothing", "M::Nothing {}"),
        ("Pick", "M::Pick { case 1: words: \"\" }"),
        ("Maybe", "M::Maybe { case green: number: 0 }"),
        ("Row", "M::Row [0, 0, 0]"),
        ("Refused", "M::Refused { why: \"\" }"),
        ("Node", "null"),
        ("Box", "null"),
        ("Points", "M::Points []"),
    ] {
        let shown = shown(&made(name));
        assert_eq!(shown, text, "{name}");
    }
    let nil = DynAny::from_type_code(&TypeCode::interface("IDL:A:1.0", "A")).unwrap();
    assert!(shown(&nil).contains("nil"), "{}", shown(&nil));
}

#[test]
fn positions_go_from_the_first_component_to_none() {
    let mut point = made("Point");
    assert_eq!(point.component_count(), 3);
    // The first component is the current one.
    point.insert(&7_i32).unwrap();
    assert!(point.next_component());
    point.insert(&1.5_f64).unwrap();
    assert!(point.next_component() && !point.next_component());
    assert!(point.current_component().unwrap().is_none());
    invalid(point.insert(&1_i32));
    invalid(point.get::<i32>());
    assert!(!point.seek(-1) && !point.seek(3) && point.seek(1));
    assert_eq!(point.get::<f64>(), Ok(1.5));
    point.rewind();
    assert_eq!(point.get::<i32>(), Ok(7));
    let mut nothing = made("Nothing");
    assert_eq!(nothing.component_count(), 0);
    assert!(!nothing.seek(0) && nothing.current_component().unwrap().is_none());
    for leaf in ["Colour", "Price", "Code"] {
        let mut leaf = made(leaf);
        assert_eq!(leaf.component_count(), 0);
        mismatch(leaf.current_component());
    }
}

#[test]
fn a_value_of_the_wrong_type_and_one_that_is_too_long_are_refused() {
    let mut line = made("Line");
    // The current component has components itself.
    mismatch(line.insert(&7_i32));
    mismatch(line.get::<i32>());
    let from = line.current_component().unwrap().unwrap();
    mismatch(from.insert(&1.5_f64));
    mismatch(from.get::<f64>());
    from.insert(&7_i32).unwrap();
    line.seek(3);
    invalid(line.insert("five5"));
    line.insert("four").unwrap();
    mismatch(line.insert(&WChar(65)));
    assert!(shown(&line).contains("x: 7") && shown(&line).contains("\"four\""));
    mismatch(line.from_any(&Any::new(&7_i32).unwrap()));
    invalid(line.from_any(&Any::default()));
    mismatch(line.assign(&made("Point")));
    let mut other = made("Line");
    assert!(!other.equal(&line) && !other.equal(&made("Point")));
    other.assign(&line).unwrap();
    assert!(other.equal(&line));
    let mut any = DynAny::from_type_code(&TypeCode::of_kind(TcKind::Any).unwrap()).unwrap();
    any.insert(&line.to_any().unwrap()).unwrap();
    assert_eq!(any.get::<Any>(), line.to_any());
}

#[test]
fn a_clone_is_a_deep_copy() {
    let mut line = made("Line");
    let copy = line.clone();
    line.current_component()
        .unwrap()
        .unwrap()
        .insert(&7_i32)
        .unwrap();
    assert!(shown(&line).contains("x: 7") && !shown(&copy).contains("x: 7"));
}

#[test]
fn enumerators_are_set_by_name_and_by_ordinal() {
    let mut colour = made("Colour");
    colour.set_enumerator("deep_blue").unwrap();
    assert_eq!(
        (colour.enumerator(), colour.ordinal()),
        (Ok("deep_blue"), Ok(2))
    );
    colour.set_ordinal(1).unwrap();
    assert_eq!(colour.enumerator(), Ok("green"));
    invalid(colour.set_enumerator("blue"));
    invalid(colour.set_ordinal(3));
    assert_eq!(colour.enumerator(), Ok("green"));
    for mut other in [made("Price"), made("Point")] {
        mismatch(other.set_ordinal(0));
        mismatch(other.set_enumerator("red"));
        mismatch(other.ordinal());
        mismatch(other.enumerator().map(str::to_owned));
    }
}

#[test]
fn decimal_numbers_are_cut_behind_the_point_and_refused_before_it() {
    let mut price = made("Price");
    for (text, whole, value) in [
        ("1.5", true, "1.50"),
        ("-123.45d", true, "-123.45"),
        (" +007.000D", true, "7.00"),
        (".25", true, "0.25"),
        ("-0.001", false, "0.00"),
        ("999.999", false, "999.99"),
        ("-1.", true, "-1.00"),
    ] {
        assert_eq!(price.set_decimal(text), Ok(whole), "{text}");
        assert_eq!(price.decimal().unwrap(), value, "{text}");
    }
    invalid(price.set_decimal("1000"));
    for text in ["", ".", "1e3", "1.2.3", "one", "--1"] {
        mismatch(price.set_decimal(text));
    }
    assert_eq!(price.decimal().unwrap(), "-1.00");
    mismatch(made("Point").set_decimal("1"));
    mismatch(made("Point").decimal());
}

#[test]
fn members_have_names_and_are_set_together() {
    let mut point = made("Point");
    assert_eq!(point.current_member_name().unwrap(), "x");
    point.seek(2);
    assert_eq!(point.current_member_name().unwrap(), "tint");
    assert_eq!(point.current_member_kind(), Ok(TcKind::Enum));
    point.seek(-1);
    invalid(point.current_member_name());
    invalid(point.current_member_kind());
    let mut members = point.members().unwrap();
    members[0].1 = Any::new(&9_i32).unwrap();
    let given: Vec<_> = members
        .iter()
        .map(|(name, any)| (&**name, any.clone()))
        .collect();
    point.set_members(&given).unwrap();
    assert!(shown(&point).contains("x: 9"));
    assert_eq!(point.get::<i32>(), Ok(9));
    invalid(point.set_members(&given[1..]));
    let mut named = given.clone();
    named[1].0 = "z";
    mismatch(point.set_members(&named));
    named[1].0 = "";
    point.set_members(&named).unwrap();
    named[1].1 = Any::new(&1_i32).unwrap();
    mismatch(point.set_members(&named));
    mismatch(made("Row").members());
    mismatch(made("Pick").current_member_name());
}

#[test]
fn a_discriminator_selects_a_member_with_its_default() {
    let mut pick = made("Pick");
    assert_eq!(pick.component_count(), 2);
    assert_eq!(pick.discriminator_kind(), Ok(TcKind::Short));
    pick.member().unwrap().insert("kept").unwrap();
    let mut label = pick.discriminator().unwrap();
    label.insert(&2_i16).unwrap();
    // The other label of the same member.
    pick.set_discriminator(&label).unwrap();
    assert_eq!(shown(&pick), "M::Pick { case 2: words: \"kept\" }");
    label.insert(&3_i16).unwrap();
    pick.set_discriminator(&label).unwrap();
    assert_eq!(pick.member_name().unwrap(), "at");
    assert_eq!(pick.member_kind(), Ok(TcKind::Struct));
    // The member is the current component.
    pick.current_component()
        .unwrap()
        .unwrap()
        .insert(&5_i32)
        .unwrap();
    assert!(shown(&pick).contains("x: 5"));
    pick.set_to_default_member().unwrap();
    assert_eq!(pick.member_name().unwrap(), "other");
    assert_eq!(shown(&pick), "M::Pick { case 0: other: false }");
    mismatch(pick.set_to_no_active_member());
    mismatch(pick.set_discriminator(&made("Colour")));
}

#[test]
fn a_union_may_have_no_member() {
    let mut maybe = made("Maybe");
    assert_eq!(maybe.has_no_active_member(), Ok(false));
    maybe.set_to_no_active_member().unwrap();
    assert_eq!(maybe.has_no_active_member(), Ok(true));
    assert_eq!(maybe.component_count(), 1);
    invalid(maybe.member());
    invalid(maybe.member_name());
    invalid(maybe.member_kind());
    assert_eq!(shown(&maybe), "M::Maybe { case red }");
    mismatch(maybe.set_to_default_member());
    let mut all = made("All");
    mismatch(all.set_to_no_active_member());
    mismatch(all.set_to_default_member());
    for operation in [
        DynAny::set_to_default_member,
        DynAny::set_to_no_active_member,
    ] {
        mismatch(operation(&mut made("Point")));
    }
    mismatch(made("Point").discriminator());
}

#[test]
fn a_change_of_the_discriminator_by_its_component_is_found_when_it_does_not_fit() {
    let mut pick = made("Pick");
    pick.seek(0);
    pick.insert(&3_i16).unwrap();
    invalid(pick.to_any());
}

#[test]
fn a_sequence_grows_and_shrinks() {
    let mut points = made("Points");
    assert_eq!(points.length(), Ok(0));
    assert!(points.current_component().unwrap().is_none());
    points.set_length(2).unwrap();
    // The first new element is the current one.
    points
        .current_component()
        .unwrap()
        .unwrap()
        .insert(&1_i32)
        .unwrap();
    points.seek(1);
    points
        .current_component()
        .unwrap()
        .unwrap()
        .insert(&2_i32)
        .unwrap();
    points.set_length(3).unwrap();
    let current = points.current_component().unwrap().unwrap();
    assert_eq!(current.get::<i32>(), Ok(2));
    points.set_length(1).unwrap();
    assert!(points.current_component().unwrap().is_none());
    assert!(shown(&points).contains("x: 1") && !shown(&points).contains("x: 2"));
    points.set_length(2).unwrap();
    let current = points.current_component().unwrap().unwrap();
    assert_eq!(current.get::<i32>(), Ok(0));
    assert_eq!(points.set_length(usize::MAX), Err(DynAnyError::TooLarge));
    let mut line = made("Line");
    line.seek(2);
    let marks = line.current_component().unwrap().unwrap();
    invalid(marks.set_length(4));
    let one = Any::new(&1_i16).unwrap();
    marks.set_elements(&[one.clone(), one.clone()]).unwrap();
    invalid(marks.set_elements(&[(); 4].map(|()| one.clone())));
    mismatch(marks.set_elements(&[Any::new(&1_i32).unwrap()]));
    assert_eq!(marks.elements().unwrap(), [one.clone(), one]);
    assert!(shown(&line).contains("[1, 1]"));
}

#[test]
fn an_array_has_as_many_elements_as_its_type() {
    let mut row = made("Row");
    let one = Any::new(&1_i32).unwrap();
    row.set_elements(&[(); 3].map(|()| one.clone())).unwrap();
    invalid(row.set_elements(&[one.clone(), one]));
    mismatch(row.set_length(3));
    mismatch(row.length());
    assert_eq!(shown(&row), "M::Row [1, 1, 1]");
    mismatch(made("Point").elements());
}

#[test]
fn a_value_is_null_or_has_the_members_of_its_bases_first() {
    let mut node = made("Node");
    assert_eq!(node.is_null(), Ok(true));
    assert_eq!(node.component_count(), 0);
    invalid(node.members());
    invalid(node.insert(&1_i16));
    node.set_to_value().unwrap();
    assert_eq!(node.component_count(), 3);
    assert_eq!(node.current_member_name().unwrap(), "id");
    node.insert(&7_i16).unwrap();
    node.seek(1);
    node.insert("first").unwrap();
    node.seek(2);
    let next = node.current_component().unwrap().unwrap();
    next.set_to_value().unwrap();
    next.seek(1);
    next.insert("second").unwrap();
    let text = shown(&node);
    assert_eq!(
        text,
        "M::Node { id: 7, name: \"first\", next: M::Node { id: 0, name: \"second\", next: null } }"
    );
    let again = DynAny::new(&node.to_any().unwrap()).unwrap();
    assert!(again.equal(&node));
    node.set_to_null().unwrap();
    assert_eq!(
        (shown(&node), node.is_null()),
        ("null".to_owned(), Ok(true))
    );
    mismatch(made("Shape").set_to_value());
    mismatch(made("Point").is_null());
    mismatch(made("Point").set_to_null());
}

#[test]
fn a_box_holds_a_value_or_is_null() {
    let mut boxed = made("Box");
    invalid(boxed.boxed_value());
    mismatch(boxed.set_boxed_value(&Any::new(&7).unwrap()));
    let text = Any::new("text").unwrap();
    boxed.set_boxed_value(&text).unwrap();
    assert_eq!(boxed.boxed_value(), Ok(text));
    assert_eq!(boxed.is_null(), Ok(false));
    assert_eq!(boxed.get::<String>().unwrap(), "text");
    boxed.set_to_null().unwrap();
    assert_eq!(boxed.is_null(), Ok(true));
    mismatch(made("Node").boxed_value());
}

#[test]
fn type_codes_that_lie_or_ask_for_much_are_refused() {
    let long = TypeCode::of_kind(TcKind::Long).unwrap();
    let mut large = long;
    for _ in 0..4 {
        large = TypeCode::array(&large, 60_000);
    }
    assert_eq!(
        DynAny::from_type_code(&large).unwrap_err(),
        DynAnyError::TooLarge
    );
    let inner = TypeCode::recursive("IDL:S:1.0");
    let endless = TypeCode::structure("IDL:S:1.0", "S", &[("s", inner)]);
    for ty in [
        endless,
        TypeCode::recursive("IDL:S:1.0"),
        TypeCode::fixed(32, 0),
        TypeCode::fixed(0, 0),
        TypeCode::enumeration("IDL:E:1.0", "E", &[]),
    ] {
        let made = DynAny::from_type_code(&ty);
        assert!(
            matches!(made, Err(DynAnyError::InconsistentTypeCode(_))),
            "{ty:?}: {made:?}"
        );
    }
}

/// Takes a value apart and puts each of its parts in again, so that all of it is composed anew.
fn rebuild(value: &mut DynAny) -> Result<(), DynAnyError> {
    for index in 0..i32::try_from(value.component_count()).unwrap() {
        value.seek(index);
        let component = value.current_component()?.unwrap();
        rebuild(component)?;
        let any = component.to_any()?;
        component.from_any(&any)?;
    }
    Ok(())
}

fn points() -> impl Strategy<Value = Any> {
    let point = (any::<i32>(), any::<f64>(), 0..3_usize).prop_map(|(x, y, tint)| {
        let tint = Any::of_enumerator(&ty("Colour"), ["red", "green", "deep_blue"][tint]);
        let members = [Any::new(&x).unwrap(), Any::new(&y).unwrap(), tint.unwrap()];
        Any::of_members(&ty("Point"), &members).unwrap()
    });
    point.boxed()
}

fn picks() -> impl Strategy<Value = Any> {
    (any::<i16>(), ".*", points(), any::<bool>()).prop_map(|(label, words, point, other)| {
        let words = words.replace('\0', "");
        let member = match label {
            1 | 2 => Any::new(&words).unwrap(),
            3 => point,
            _ => Any::new(&other).unwrap(),
        };
        Any::of_union(&ty("Pick"), i128::from(label), Some(&member)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn a_value_that_is_taken_apart_and_put_together_is_the_same(
        values in proptest::collection::vec(points(), 0..5),
        pick in picks(),
        id in any::<i16>(),
    ) {
        let sequence = Any::of_elements(&ty("Points"), &values).unwrap();
        let null = Any::of_value(&ty("Node"), None).unwrap();
        let members = |next| [Any::new(&id).unwrap(), Any::new("n").unwrap(), next];
        let last = Any::of_value(&ty("Node"), Some(&members(null))).unwrap();
        let first = Any::of_value(&ty("Node"), Some(&members(last))).unwrap();
        for any in [sequence, pick, first] {
            let mut value = DynAny::new(&any).unwrap();
            prop_assert_eq!(value.to_any().unwrap(), any.clone());
            rebuild(&mut value).unwrap();
            prop_assert_eq!(value.to_any().unwrap(), any);
        }
    }
}
