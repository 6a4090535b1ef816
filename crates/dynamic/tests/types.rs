//! TypeCodes of IDL text.

use zorb_cdr::{Any, Decoder, Encoder, NativeEndian, TcKind, TypeCode, WireFormat};
use zorb_dynamic::{DynAny, IdlTypes};

const IDL: &str = r#"
    #pragma prefix "example.com"
    module M {
        enum Colour { RED, deep_blue };
        typedef sequence<wstring<4>, 3> Words;
        typedef Words WordsAgain;
        struct Node;
        typedef sequence<Node> Nodes;
        struct Node { Colour tint; Nodes kids; fixed<7, 2> price; long double exact; Object thing; };
        union Expr switch (Colour) {
            case RED: case deep_blue: sequence<Expr> both;
        };
        union Pick switch (long) { case -3: case 4: octet raw[2][3]; default: any other; };
        exception Refused { string why; Pick chosen; };
        interface Bank { void open() raises (Refused); };
        abstract interface Shown {};
        local interface Here {};
        native Token;
        valuetype Base { public short id; private string name; };
        valuetype Later;
        valuetype Derived : truncatable Base { public Derived next; public Later late; public ValueBase any_value; };
        valuetype Later { public Derived early; };
        abstract valuetype Shape { double area(); };
        custom valuetype Special { public long stamp; };
        valuetype Box sequence<long>;
        bitset Bits { bitfield<3> low; };
        struct WithBits { Bits part; };
        struct Around { sequence<WithBits> all; };
        typedef map<long, string> Table;
        typedef CORBA::TypeCode Kind;
        const long N = 3;
    };
"#;

fn types() -> IdlTypes {
    let idl = format!("#include <orb.idl>\n{IDL}");
    IdlTypes::from_text("m.idl", &idl).unwrap_or_else(|error| panic!("{error}"))
}

fn ty(name: &str) -> TypeCode {
    let id = format!("IDL:example.com/M/{name}:1.0");
    types().by_id(&id).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn types_are_what_the_idl_says() {
    for (name, text) in [
        ("Colour", "enum M::Colour { RED, deep_blue }"),
        ("WordsAgain", "typedef M::Words M::WordsAgain"),
        ("Words", "typedef sequence<wstring<4>, 3> M::Words"),
        (
            "Refused",
            "exception M::Refused { string why; M::Pick chosen; }",
        ),
        ("Bank", "interface M::Bank"),
        ("Shown", "abstract interface M::Shown"),
        ("Here", "local interface M::Here"),
        ("Token", "native M::Token"),
    ] {
        let shown = format!("{:#}", ty(name)).replace("example.com::", "");
        assert_eq!(shown, text);
    }
    let node = ty("Node");
    assert_eq!(node.member_count(), 5);
    let kids = node.member_type(1).unwrap();
    assert_eq!(kids.name(), Some("Nodes"));
    assert_eq!(kids.unaliased().content_type(), Some(node.clone()));
    assert_eq!(
        node.member_type(2).unwrap().digits_and_scale(),
        Some((7, 2))
    );
    let pick = ty("Pick");
    assert_eq!(pick.default_index(), Some(2));
    assert_eq!(
        (pick.member_label(0), pick.member_label(1)),
        (Some(-3), Some(4))
    );
    let raw = pick.member_type(0).unwrap();
    assert_eq!(raw.to_string(), "octet[2][3]");
    let derived = ty("Derived");
    assert_eq!(derived.type_modifier(), Some(3));
    assert_eq!(derived.concrete_base_type(), Some(ty("Base")));
    assert_eq!(derived.member_type(0), Some(derived.clone()));
    let later = derived.member_type(1).unwrap();
    assert_eq!(later.member_type(0), Some(derived));
    assert_eq!(ty("Base").member_is_public(1), Some(false));
    assert_eq!(ty("Special").type_modifier(), Some(1));
    assert_eq!(ty("Shape").type_modifier(), Some(2));
    assert_eq!(
        ty("Box").content_type().unwrap().to_string(),
        "sequence<long>"
    );
    assert_eq!(ty("Kind").unaliased().kind(), TcKind::TypeCode);
}

#[test]
fn what_has_no_type_code_is_not_found() {
    let types = types();
    for name in ["Bits", "WithBits", "Around", "Table", "N", "Nothing"] {
        assert_eq!(
            types.by_id(&format!("IDL:example.com/M/{name}:1.0")),
            None,
            "{name}"
        );
        assert_eq!(types.by_name(&format!("M::{name}")), None, "{name}");
    }
    assert_eq!(types.by_name("::M::Colour"), Some(ty("Colour")));
    assert!(
        types
            .iter()
            .any(|(id, _)| id == "IDL:example.com/M/Box:1.0")
    );
}

#[test]
fn every_type_survives_its_way_over_the_wire() {
    let types = types();
    for (id, ty) in types.iter() {
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(ty).unwrap();
        let octets = e.finish().to_vec();
        let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
        assert_eq!(d.get::<TypeCode>().as_ref(), Ok(ty), "{id}");
    }
}

#[test]
fn values_of_every_type_are_made_and_sent() {
    let types = types();
    for (id, ty) in types.iter() {
        let kind = ty.unaliased().kind();
        let made = DynAny::from_type_code(ty);
        if matches!(kind, TcKind::Native | TcKind::LocalInterface) {
            assert!(made.is_err(), "{id}");
            continue;
        }
        let any = made.unwrap().to_any().unwrap();
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&any).unwrap();
        let octets = e.finish().to_vec();
        let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
        assert_eq!(d.get::<Any>().as_ref(), Ok(&any), "{id}");
    }
}

#[test]
fn operations_are_described_with_their_types() {
    use zorb_dynamic::zorb_idl::description::{DefinitionKind, Direction};
    let idl = "interface Bank {
        exception Poor { double balance; };
        double withdraw(in double amount, inout string note, out long number) raises (Poor);
        oneway void ping();
        attribute long rank;
    };";
    let types = IdlTypes::from_text("bank.idl", idl).unwrap();
    let bank = types.description().by_id("IDL:Bank:1.0").unwrap();
    let DefinitionKind::Interface(bank) = &bank.kind else {
        panic!("{bank:?}");
    };
    let names: Vec<_> = bank.operations.iter().map(|it| &*it.wire_name).collect();
    assert_eq!(names, ["withdraw", "ping", "_get_rank", "_set_rank"]);
    let withdraw = &bank.operations[0];
    let directions: Vec<_> = withdraw.parameters.iter().map(|it| it.direction).collect();
    assert_eq!(
        directions,
        [Direction::In, Direction::InOut, Direction::Out]
    );
    let result = withdraw.result.as_ref().and_then(|ty| types.type_code(ty));
    assert_eq!(result.unwrap().kind(), TcKind::Double);
    let raised = types.description().get(withdraw.raises[0]).unwrap();
    assert_eq!(raised.scoped_name, "Bank::Poor");
    assert!(bank.operations[1].is_oneway && bank.operations[2].is_attribute);
}

#[test]
fn a_fault_in_the_idl_is_reported_at_its_place() {
    let error = IdlTypes::from_text("m.idl", "struct S { Missing m; };").unwrap_err();
    assert!(error.to_string().contains("m.idl:1:12"), "{error}");
}
