//! Requests and servants whose types come from IDL text.

use std::sync::Arc;
use zorb::{
    Any, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, ObjectRef, Orb,
    ParameterMode, RequestError, SystemException, SystemExceptionKind as Kind, TypeCode,
};
use zorb_dynamic::{DynAny, IdlTypes, SignatureError};

const IDL: &str = r#"
module Bank {
    struct Money { long cents; string<3> currency; };
    exception Poor { Money missing; };
    typedef map<long, string> Map;
    interface Party { readonly attribute string name; };
    interface Account : Party {
        attribute Money limit;
        Money move(in Money by, inout string reason, out long number, in Account to) raises (Poor);
        string who(in long first) context ("user", "app.*");
        oneway void poke(in long by);
        void maps(in Map all);
    };
    interface Hidden;
};
"#;

const ACCOUNT: &str = "IDL:Bank/Account:1.0";

fn types() -> IdlTypes {
    IdlTypes::from_text("bank.idl", IDL).unwrap()
}

fn money(types: &IdlTypes, cents: i32, currency: &str) -> Any {
    let mut money = DynAny::from_type_code(&types.by_id("IDL:Bank/Money:1.0").unwrap()).unwrap();
    money.insert(&cents).unwrap();
    money.next_component();
    money.insert(currency).unwrap();
    money.to_any().unwrap()
}

#[test]
fn a_signature_has_what_the_idl_says() {
    let types = types();
    let signature = types.signature(ACCOUNT, "move").unwrap();
    let money = types.by_id("IDL:Bank/Money:1.0").unwrap();
    assert_eq!(signature.result.as_ref(), Some(&money));
    let parameters = signature.parameters.iter();
    let parameters: Vec<_> = parameters.map(|it| (&*it.name, it.mode)).collect();
    let (i, io, o) = (ParameterMode::In, ParameterMode::InOut, ParameterMode::Out);
    assert_eq!(
        parameters,
        [("by", i), ("reason", io), ("number", o), ("to", i)]
    );
    assert_eq!(
        signature.raises,
        [types.by_id("IDL:Bank/Poor:1.0").unwrap()]
    );
    assert_eq!((signature.is_oneway, &signature.context), (false, &None));
    // Of a base, of attributes, of a one-way operation, with a context.
    assert_eq!(
        types.signature(ACCOUNT, "_get_name").unwrap().result,
        Some(TypeCode::string(0))
    );
    let set = types.signature(ACCOUNT, "_set_limit").unwrap();
    assert_eq!((set.result, set.parameters[0].ty.clone()), (None, money));
    assert!(types.signature(ACCOUNT, "poke").unwrap().is_oneway);
    let who = types.signature(ACCOUNT, "who").unwrap();
    assert_eq!(who.context.unwrap(), ["user", "app.*"]);
    assert!(types.derives(ACCOUNT, "IDL:Bank/Party:1.0") && types.derives(ACCOUNT, ACCOUNT));
    assert!(!types.derives("IDL:Bank/Party:1.0", ACCOUNT));
}

#[test]
fn what_the_idl_does_not_have_is_an_exception() {
    let types = types();
    for (interface, operation, kind) in [
        ("IDL:Bank/Nothing:1.0", "move", Kind::IntfRepos),
        // Declared, not defined; and no interface.
        ("IDL:Bank/Hidden:1.0", "move", Kind::IntfRepos),
        ("IDL:Bank/Money:1.0", "move", Kind::IntfRepos),
        (ACCOUNT, "take", Kind::BadOperation),
        (ACCOUNT, "name", Kind::BadOperation),
        ("IDL:Bank/Party:1.0", "move", Kind::BadOperation),
        (ACCOUNT, "maps", Kind::BadTypecode),
    ] {
        let error = types.signature(interface, operation).unwrap_err();
        assert_eq!(
            SystemException::from(error).kind,
            kind,
            "{interface} {operation}"
        );
    }
    let error = types.signature(ACCOUNT, "take").unwrap_err();
    assert!(matches!(error, SignatureError::UnknownOperation { .. }));
}

/// Serves an account by the IDL alone.
struct Account(IdlTypes);

impl DynamicServant for Account {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let signature = self.0.signature(ACCOUNT, &request.operation());
        let signature = signature.map_err(SystemException::from)?;
        let (arguments, context) = request.arguments_of(&signature)?;
        let text = |text: &str| Any::new(text).map_err(SystemException::from);
        match &*signature.operation {
            "_get_name" => signature.reply(Some(text("ada")?), vec![]),
            "move" => {
                let reason: String = arguments[1].extract().map_err(SystemException::from)?;
                if reason == "rent" {
                    let poor = self.0.by_id("IDL:Bank/Poor:1.0").unwrap();
                    let poor = Any::of_members(&poor, &[money(&self.0, 5, "EUR")]);
                    return Err(RequestError::User(poor.map_err(SystemException::from)?));
                }
                let reason = text(&reason.to_uppercase())?;
                // A short where a long is expected.
                let number = Any::new(&7_i32).map_err(SystemException::from)?;
                signature.reply(Some(arguments[0].clone()), vec![reason, number])
            }
            "who" => {
                let context = context.unwrap();
                signature.reply(Some(text(context.get("user").unwrap_or("nobody"))?), vec![])
            }
            "_get_limit" => signature.reply(Some(text("a lot")?), vec![]),
            _ => signature.reply(None, vec![]),
        }
    }
}

async fn account() -> (Orb, Orb, [ObjectRef; 2]) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let skeleton = DynamicSkeleton::from_arc(ACCOUNT, Arc::new(Account(types())));
    let account = server.root_poa().activate(skeleton).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let reference = server.object_to_string(&account);
    let remote = client.string_to_object(&reference).await.unwrap();
    (server, client, [account, remote])
}

#[tokio::test]
async fn an_object_is_called_and_served_by_idl_text_alone() {
    let types = types();
    let (_server, _client, both) = account().await;
    for account in both {
        let name = types.request(&account, ACCOUNT, "_get_name", &[]).unwrap();
        let name = name.invoke().await.unwrap().result.unwrap();
        assert_eq!(name.extract::<String>().unwrap(), "ada");
        let by = money(&types, 1250, "EUR");
        let arguments = |reason: &str| {
            let reason = Any::new(reason).unwrap();
            [by.clone(), reason, Any::new(&account).unwrap()]
        };
        let moved = types
            .request(&account, ACCOUNT, "move", &arguments("gift"))
            .unwrap();
        let moved = moved.invoke().await.unwrap();
        assert_eq!(moved.result.as_ref(), Some(&by));
        assert_eq!(
            moved.output("reason").unwrap().extract::<String>().unwrap(),
            "GIFT"
        );
        assert_eq!(moved.output("number").unwrap().extract::<i32>().unwrap(), 7);
        let poor = types
            .request(&account, ACCOUNT, "move", &arguments("rent"))
            .unwrap();
        let RequestError::User(poor) = poor.invoke().await.unwrap_err() else {
            panic!("a user exception");
        };
        assert_eq!(
            poor.to_string(),
            r#"Bank::Poor { missing: Bank::Money { cents: 5, currency: "EUR" } }"#
        );
        let who = types.signature(ACCOUNT, "who").unwrap();
        let who = who
            .request_named(&account, &[("first", Any::new(&1_i32).unwrap())])
            .unwrap();
        let context = [("user", "grace"), ("home", "/")].into_iter().collect();
        for (who, expected) in [
            (who.clone(), "nobody"),
            (who.context(&context, &["user", "app.*"]), "grace"),
        ] {
            let who = who.invoke().await.unwrap().result.unwrap();
            assert_eq!(who.extract::<String>().unwrap(), expected);
        }
    }
}

#[tokio::test]
async fn arguments_and_results_of_other_types_are_refused() {
    let types = types();
    let (_server, _client, [account, _]) = account().await;
    let signature = types.signature(ACCOUNT, "move").unwrap();
    let by = || money(&types, 1, "EUR");
    let text = |text: &str| Any::new(text).unwrap();
    let to = || Any::new(&account).unwrap();
    let refused = |arguments: &[Any]| {
        let refused = signature.request(&account, arguments).unwrap_err();
        assert_eq!(refused.kind, Kind::BadParam);
        refused.to_string()
    };
    let found = refused(&[by(), text("gift")]);
    assert!(found.contains("expected 3 arguments, found 2"), "{found}");
    let found = refused(&[text("gift"), text("gift"), to()]);
    assert!(
        found.contains(r#"argument "by": expected Bank::Money, found string"#),
        "{found}"
    );
    let found = refused(&[by(), text("gift"), by()]);
    assert!(found.contains(r#"argument "to""#), "{found}");
    let named = |arguments: &[(&str, Any)]| {
        let refused = signature.request_named(&account, arguments).unwrap_err();
        assert_eq!(refused.kind, Kind::BadParam);
        refused.to_string()
    };
    assert!(named(&[("by", by())]).contains(r#"argument "reason" is missing"#));
    assert!(named(&[("number", by())]).contains(r#"no argument "number""#));
    assert!(named(&[("by", by()), ("by", by())]).contains("twice"));
    // A bound that the text is beyond.
    let code = types
        .by_id("IDL:Bank/Money:1.0")
        .unwrap()
        .member_type(1)
        .unwrap();
    assert!(Any::with_type_code(&code, "EURO").is_err());
    // A servant that returns text as money.
    let limit = types.request(&account, ACCOUNT, "_get_limit", &[]).unwrap();
    let RequestError::System(internal) = limit.invoke().await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(internal.kind, Kind::Internal);
}
