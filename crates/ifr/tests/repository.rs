//! A repository that is filled from IDL, read and written by its clients.

use zorb::{Any, Interface, Orb, SystemException, SystemExceptionKind as Kind, TypeCode, minor};
use zorb_dynamic::IdlTypes;
use zorb_dynamic::zorb_idl::description::DefinitionKind as DescriptionKind;
use zorb_ifr::ir::corba::{
    AttributeMode, ConstantDefRef, ContainerRef, DefinitionKind, IDLTypeRef, InterfaceDefRef,
    ModuleDefRef, OperationDescription, OperationMode, ParameterDescription, ParameterMode,
    PrimitiveKind, RepositoryRef, StructDefRef, StructMember, TypeDescription, UnionDefRef,
    UnionMember, ValueDefRef,
};
use zorb_ifr::{InterfaceRepository, ReadError};

const IDL: &str = r#"
module Bank {
    const long LIMIT = 500;
    enum Color { red, green };
    struct Money { long cents; string<3> currency; };
    typedef sequence<Money, 7> Purse;
    union Maybe switch (Color) { case red: long number; default: Purse some; };
    struct Tree { string name; sequence<Tree> kids; };
    exception Poor { Money missing; };
    interface Party { readonly attribute string name; };
    interface Account : Party {
        attribute Money limit;
        Money move(in Money by, inout string reason, out long number) raises (Poor) context ("user");
        oneway void poke(in long by);
    };
    valuetype Point { public long x; private long y; factory make(in long x); };
    typedef map<long, string> Map;
    interface Odd { void maps(in Map all); long fine(); };
};
"#;

fn types() -> IdlTypes {
    IdlTypes::from_text("bank.idl", IDL).unwrap()
}

/// A server with a repository, which its own ORB and a client read.
async fn repository() -> (Vec<Orb>, InterfaceRepository, [RepositoryRef; 2]) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let repository = InterfaceRepository::new(&server).unwrap();
    repository.add(&types()).unwrap();
    let local = repository.reference().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let text = server.object_to_string(&local);
    let remote = client.string_to_object(&text).await.unwrap();
    let remote = remote.narrow().await.unwrap().expect("a repository");
    (vec![server, client], repository, [local, remote])
}

async fn found<T: Interface>(repository: &RepositoryRef, id: &str) -> T {
    let found = repository.lookup_id(id).await.unwrap();
    let found = found.unwrap_or_else(|| panic!("no {id}"));
    let narrow = found.as_object().narrow().await.unwrap();
    narrow.unwrap_or_else(|| panic!("{id} is something else"))
}

#[tokio::test]
async fn definitions_of_idl_are_read_as_the_idl_has_them() {
    let (_orbs, _, repositories) = repository().await;
    let types = types();
    for repository in &repositories {
        let bank: ModuleDefRef = found(repository, "IDL:Bank:1.0").await;
        let contents = bank.contents(DefinitionKind::DkAll, true).await.unwrap();
        let mut names = Vec::new();
        for contained in contents.into_iter().flatten() {
            names.push(contained.name().await.unwrap());
        }
        let expected = [
            "LIMIT", "Color", "Money", "Purse", "Maybe", "Tree", "Poor", "Party", "Account",
            "Point", "Odd",
        ];
        assert_eq!(names, expected, "a map has no TypeCode");
        let described = bank
            .describe_contents(DefinitionKind::DkStruct, true, 1)
            .await
            .unwrap();
        assert_eq!(
            (described.len(), described[0].kind),
            (1, DefinitionKind::DkStruct)
        );
        let money: TypeDescription = described[0].value.extract().unwrap();
        assert_eq!(
            (&*money.id, &*money.defined_in),
            ("IDL:Bank/Money:1.0", "IDL:Bank:1.0")
        );
        // Every type is the one that the IDL compiler makes.
        for (id, ty) in types.iter() {
            let contained = repository.lookup_id(id).await.unwrap().unwrap();
            let described = contained.describe().await.unwrap();
            let found = match described.kind {
                DefinitionKind::DkException
                | DefinitionKind::DkInterface
                | DefinitionKind::DkValue => {
                    let ty = contained
                        .as_object()
                        .request("_get_type")
                        .returns(TypeCode::of::<TypeCode>());
                    ty.invoke()
                        .await
                        .unwrap()
                        .result
                        .unwrap()
                        .extract::<TypeCode>()
                        .unwrap()
                }
                _ => described.value.extract::<TypeDescription>().unwrap().type_,
            };
            assert_eq!(&found, ty, "{id}");
            let canonical = repository.get_canonical_typecode(ty).await.unwrap();
            assert_eq!(&canonical, ty, "{id}");
        }
        let limit: ConstantDefRef = found(repository, "IDL:Bank/LIMIT:1.0").await;
        assert_eq!(limit.value().await.unwrap().extract::<i32>().unwrap(), 500);
        assert_eq!(limit.absolute_name().await.unwrap(), "::Bank::LIMIT");
        let maybe: UnionDefRef = found(repository, "IDL:Bank/Maybe:1.0").await;
        let labels = maybe.members().await.unwrap();
        assert_eq!(labels[0].label.enumerator(), Some("red"));
        assert_eq!(labels[1].label.extract::<u8>().unwrap(), 0);
        let point: ValueDefRef = found(repository, "IDL:Bank/Point:1.0").await;
        let point = point.describe_value().await.unwrap();
        let members: Vec<_> = point
            .members
            .iter()
            .map(|it| (&*it.name, it.access))
            .collect();
        assert_eq!(members, [("x", 1), ("y", 0)]);
        assert_eq!(point.initializers[0].name, "make");
    }
}

#[tokio::test]
async fn an_interface_is_described_with_what_it_inherits() {
    let (_orbs, _, repositories) = repository().await;
    for repository in &repositories {
        let account: InterfaceDefRef = found(repository, "IDL:Bank/Account:1.0").await;
        let all = account.describe_interface().await.unwrap();
        let names: Vec<_> = all.operations.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["move", "poke"]);
        let attributes = all.attributes.iter();
        let attributes: Vec<_> = attributes.map(|it| (&*it.name, it.mode)).collect();
        let (normal, readonly) = (AttributeMode::AttrNormal, AttributeMode::AttrReadonly);
        assert_eq!(attributes, [("limit", normal), ("name", readonly)]);
        assert_eq!(all.base_interfaces, ["IDL:Bank/Party:1.0"]);
        let moved: &OperationDescription = &all.operations[0];
        let parameters = moved.parameters.iter();
        let parameters: Vec<_> = parameters.map(|it| (&*it.name, it.mode)).collect();
        let (i, io, o) = (
            ParameterMode::ParamIn,
            ParameterMode::ParamInout,
            ParameterMode::ParamOut,
        );
        assert_eq!(parameters, [("by", i), ("reason", io), ("number", o)]);
        assert_eq!(
            (&moved.contexts[..], moved.mode),
            (&["user".to_owned()][..], OperationMode::OpNormal)
        );
        assert_eq!(moved.exceptions[0].id, "IDL:Bank/Poor:1.0");
        assert_eq!(all.operations[1].mode, OperationMode::OpOneway);
        for (id, expected) in [
            ("IDL:Bank/Party:1.0", true),
            ("IDL:Bank/Account:1.0", true),
            ("IDL:omg.org/CORBA/Object:1.0", true),
            ("IDL:Bank/Odd:1.0", false),
        ] {
            assert_eq!(account.is_a(id).await.unwrap(), expected, "{id}");
        }
        let inherited = account
            .lookup("name")
            .await
            .unwrap()
            .expect("it is inherited");
        assert_eq!(
            inherited.absolute_name().await.unwrap(),
            "::Bank::Party::name"
        );
        let found = repository.lookup("::Bank::Account::move").await.unwrap();
        assert_eq!(
            found.unwrap().id().await.unwrap(),
            "IDL:Bank/Account/move:1.0"
        );
        assert!(repository.lookup("Bank::Nothing").await.unwrap().is_none());
        assert!(
            repository
                .lookup_id("IDL:Nothing:1.0")
                .await
                .unwrap()
                .is_none()
        );
        let kinds = (DefinitionKind::DkAll, true);
        let named = repository
            .lookup_name("name", -1, kinds.0, kinds.1)
            .await
            .unwrap();
        assert_eq!(named.len(), 1);
        // What has no TypeCode is left out, and the rest is there.
        let odd: InterfaceDefRef = self::found(repository, "IDL:Bank/Odd:1.0").await;
        assert_eq!(
            odd.describe_interface().await.unwrap().operations[0].name,
            "fine"
        );
    }
}

fn refused<T: core::fmt::Debug>(outcome: Result<T, SystemException>) -> (Kind, u32) {
    let exception = outcome.unwrap_err();
    (exception.kind, exception.minor)
}

#[tokio::test]
async fn clients_write_definitions_and_contradictions_are_refused() {
    let (_orbs, _, repositories) = repository().await;
    for (at, repository) in repositories.iter().enumerate() {
        let id = |name: &str| format!("IDL:New{at}/{name}:1.0");
        let name = format!("New{at}");
        let module = repository
            .create_module(&id("New"), &name, "1.0")
            .await
            .unwrap()
            .unwrap();
        let long = repository
            .get_primitive(PrimitiveKind::PkLong)
            .await
            .unwrap()
            .unwrap();
        let long: IDLTypeRef = long.as_object().unchecked_narrow();
        let member = |name: &str, ty: &IDLTypeRef| StructMember {
            name: name.to_owned(),
            type_: TypeCode::of::<i32>(),
            type_def: Some(ty.clone()),
        };
        let (node, x) = (id("Node"), [member("x", &long)]);
        let node = module.create_struct(&node, "Node", "1.0", &x).await;
        let node: StructDefRef = node.unwrap().unwrap();
        let itself: IDLTypeRef = node.as_object().unchecked_narrow();
        // A struct of itself is refused, and a sequence of it is not.
        let closed = refused(node.set_members(&[member("again", &itself)]).await);
        assert_eq!(closed.0, Kind::BadTypecode);
        assert_eq!(node.members().await.unwrap()[0].name, "x");
        let kids = repository
            .create_sequence(0, &itself)
            .await
            .unwrap()
            .unwrap();
        let kids: IDLTypeRef = kids.as_object().unchecked_narrow();
        node.set_members(&[member("kids", &kids)]).await.unwrap();
        let ty = node.type_().await.unwrap();
        let expected = TypeCode::sequence(&TypeCode::recursive(&id("Node")), 0);
        assert_eq!(
            ty,
            TypeCode::structure(&id("Node"), "Node", &[("kids", expected)])
        );

        let kind = Kind::BadParam;
        let twice = module.create_module(&id("Node"), "Other", "1.0").await;
        assert_eq!(refused(twice), (kind, minor::REPOSITORY_ID_DEFINED));
        let used = module.create_module(&id("Other"), "node", "1.0").await;
        assert_eq!(refused(used), (kind, minor::NAME_USED));
        let container: ContainerRef = node.as_object().unchecked_narrow();
        let module_in_struct = container.create_module(&id("In"), "In", "1.0").await;
        assert_eq!(refused(module_in_struct), (kind, minor::NOT_A_CONTAINER));
        let union = |label: Any| UnionMember {
            name: "a".to_owned(),
            label,
            type_: TypeCode::of::<i32>(),
            type_def: Some(long.clone()),
        };
        let two = [
            union(Any::new(&1_i32).unwrap()),
            union(Any::new(&1_i32).unwrap()),
        ];
        let labels = module.create_union(&id("U"), "U", "1.0", &long, &two).await;
        assert_eq!(refused(labels), (kind, minor::DUPLICATE_LABEL));
        let text = [union(Any::new("1").unwrap())];
        let labels = module
            .create_union(&id("U"), "U", "1.0", &long, &text)
            .await;
        assert_eq!(refused(labels), (kind, minor::WRONG_LABEL_TYPE));
        let value = Any::new("text").unwrap();
        let constant = module
            .create_constant(&id("C"), "C", "1.0", &long, &value)
            .await;
        assert_eq!(refused(constant).0, kind);
        assert_eq!(
            refused(module.create_alias(&id("A"), "A", "1.0", None).await).0,
            kind
        );

        let base = module
            .create_interface(&id("Base"), "Base", "1.0", &[])
            .await
            .unwrap()
            .unwrap();
        let bases = [Some(base.clone())];
        let derived = module
            .create_interface(&id("I"), "I", "1.0", &bases)
            .await
            .unwrap()
            .unwrap();
        let cycle = base.set_base_interfaces(&[Some(derived.clone())]).await;
        assert_eq!(refused(cycle).0, kind);
        let mode = AttributeMode::AttrNormal;
        base.create_attribute(&id("Base/a"), "a", "1.0", &long, mode)
            .await
            .unwrap()
            .unwrap();
        let clash = derived
            .create_attribute(&id("I/a"), "a", "1.0", &long, mode)
            .await;
        assert_eq!(refused(clash), (kind, minor::INHERITED_NAME_CLASH));
        let parameter = ParameterDescription {
            name: "x".to_owned(),
            type_: TypeCode::of::<i32>(),
            type_def: Some(long.clone()),
            mode: ParameterMode::ParamOut,
        };
        let oneway = OperationMode::OpOneway;
        let (one, out) = (id("I/o"), [parameter]);
        let one = derived
            .create_operation(&one, "o", "1.0", &long, oneway, &out, &[], &[])
            .await;
        assert_eq!(refused(one), (kind, minor::ONEWAY_WITH_RESULT));

        let kind = Kind::BadInvOrder;
        assert_eq!(
            refused(repository.destroy().await),
            (kind, minor::INDESTRUCTIBLE)
        );
        assert_eq!(refused(long.destroy().await), (kind, minor::INDESTRUCTIBLE));
        assert_eq!(
            refused(base.destroy().await),
            (kind, minor::DEFINITION_IN_USE)
        );
        module
            .destroy()
            .await
            .unwrap_or_else(|error| assert_eq!(error.kind, kind, "kids refer to Node"));
        kids.destroy()
            .await
            .unwrap_or_else(|error| assert_eq!(error.kind, kind));
        derived.destroy().await.unwrap();
        base.destroy().await.unwrap();
        assert_eq!(refused(base.name().await).0, Kind::ObjectNotExist);
        assert!(repository.lookup_id(&id("Base")).await.unwrap().is_none());
    }
}

zorb::idl! {
    #pragma prefix "zorb.test"
    module Shown { interface Thing { long size(); }; interface Hidden {}; };
}

struct Thing;

impl shown::Thing for Thing {
    async fn size(&self) -> Result<i32, SystemException> {
        Ok(7)
    }
}

impl shown::Hidden for Thing {}

#[tokio::test]
async fn every_servant_has_an_interface_when_its_orb_has_a_repository() {
    let (orbs, repository, _) = repository().await;
    let poa = orbs[0].root_poa();
    let thing = poa.activate(shown::ThingServant::new(Thing)).unwrap();
    let hidden = poa.activate(shown::HiddenServant::new(Thing)).unwrap();
    let idl = r#"
        #pragma prefix "zorb.test"
        module Shown { interface Thing { long size(); }; };
    "#;
    repository
        .add(&IdlTypes::from_text("shown.idl", idl).unwrap())
        .unwrap();
    for orb in &orbs {
        let seen = async |object: &zorb::ObjectRef| {
            let text = orbs[0].object_to_string(object);
            orb.string_to_object(&text).await.unwrap()
        };
        let remote = seen(thing.as_object()).await;
        let none = refused(remote.get_interface().await);
        assert_eq!(none, (Kind::IntfRepos, minor::NO_INTERFACE_REPOSITORY));
    }
    let reference = repository.reference().unwrap();
    orbs[0]
        .register_initial_reference(zorb_ifr::NAME, &reference)
        .unwrap();
    for orb in &orbs {
        let seen = async |object: &zorb::ObjectRef| {
            let text = orbs[0].object_to_string(object);
            orb.string_to_object(&text).await.unwrap()
        };
        let interface = seen(thing.as_object()).await.get_interface().await.unwrap();
        let interface: InterfaceDefRef = interface.unwrap().unchecked_narrow();
        assert_eq!(interface.absolute_name().await.unwrap(), "::Shown::Thing");
        let described = interface.describe_interface().await.unwrap();
        assert_eq!(described.operations[0].name, "size");
        let missing = seen(hidden.as_object()).await.get_interface().await;
        assert_eq!(
            refused(missing),
            (Kind::IntfRepos, minor::NO_REPOSITORY_ENTRY)
        );
    }
}

/// The types and operations of `types` are those of `expected`.
fn assert_same(types: &IdlTypes, expected: &IdlTypes) {
    for (id, ty) in expected.iter() {
        assert_eq!(types.by_id(id).as_ref(), Some(ty), "{id}");
    }
    for definition in expected.description().definitions() {
        let id = &definition.repository_id;
        let DescriptionKind::Interface(interface) = &definition.kind else {
            continue;
        };
        for operation in &interface.operations {
            let name = &operation.wire_name;
            if let Ok(signature) = expected.signature(id, name) {
                assert_eq!(
                    types.signature(id, name).as_ref(),
                    Ok(&signature),
                    "{id} {name}"
                );
            }
        }
        for base in &interface.ancestors {
            let base = &expected.description().get(*base).unwrap().repository_id;
            assert!(types.derives(id, base), "{id} {base}");
        }
    }
}

#[tokio::test]
async fn a_client_reads_a_repository_into_the_types_that_it_was_filled_from() {
    let (_orbs, _, repositories) = repository().await;
    for repository in &repositories {
        let read = zorb_ifr::read(repository).await.unwrap();
        assert_same(&read, &types());
        let limit = read.description().by_id("IDL:Bank/LIMIT:1.0").unwrap();
        assert_eq!(limit.scoped_name, "Bank::LIMIT");
    }
}

#[tokio::test]
async fn a_client_reads_modules_that_need_each_other_and_types_that_hold_themselves() {
    const IDL: &str = r#"
        module A { struct Early { long n; }; interface Later; typedef sequence<Later> Laters; };
        module B {
            #pragma prefix "example.com"
            typedef A::Early Again;
            union Node switch (char) { case 'a': case 'b': sequence<Node> kids; default: Again leaf; };
            valuetype Base { public long n; };
            valuetype Box string;
            valuetype Derived : truncatable Base { private Derived next; public Box text; };
        };
        module A {
            exception Bad { B::Node node; };
            interface Later {
                struct Inner { B::Derived value; long grid[2][3]; };
                enum Kind { first, second };
                Inner find(in Kind of, in B::Again again) raises (Bad) context ("user", "sys*");
            };
            struct interface_ { enum Local { here } where; fixed<5, 2> price; wstring<4> text; };
        };
        "#;
    let types = IdlTypes::from_text("odd.idl", IDL).unwrap();
    let (_orbs, local, repositories) = repository().await;
    local.add(&types).unwrap();
    for repository in &repositories {
        assert_same(&zorb_ifr::read(repository).await.unwrap(), &types);
    }
}

#[tokio::test]
async fn a_repository_whose_definitions_contradict_each_other_is_refused() {
    let (_orbs, _, [repository, _]) = repository().await;
    // A name that would be IDL of its own.
    let one = ["a".to_owned()];
    let created = repository.create_enum("IDL:E:1.0", "E { a }; interface F", "1.0", &one);
    let enumeration = created.await.unwrap().unwrap();
    let refused = zorb_ifr::read(&repository).await.unwrap_err();
    assert!(matches!(refused, ReadError::Name(_)), "{refused}");
    enumeration.set_name("E").await.unwrap();
    zorb_ifr::read(&repository).await.unwrap();
    // Two enumerators of one name.
    let two = ["a".to_owned(), "a".to_owned()];
    enumeration.set_members(&two).await.unwrap();
    let refused = zorb_ifr::read(&repository).await.unwrap_err();
    assert!(matches!(refused, ReadError::Contradiction(_)), "{refused}");
}
