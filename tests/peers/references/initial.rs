//! Initial references: registered, configured, behind a default prefix.

use crate::references::{DEAD, PlaceRef, Server, client, place};
use crate::support::{Running, have};
use std::path::Path;
use zorb::{Error, Ior, Orb, SystemExceptionKind as Kind, minor};

async fn named(orb: &Orb, id: &str) -> String {
    let object = orb.resolve_initial_references(id).await;
    let place: PlaceRef = object.unwrap_or_else(|e| panic!("{e}")).unchecked_narrow();
    place.name().await.unwrap()
}

#[tokio::test]
async fn registered_ones_go_before_configured_ones_and_those_before_the_default() {
    let [registered, configured, default] = [
        Server::start("registered", "iiop://127.0.0.1:0").await,
        Server::start("configured", "iiop://127.0.0.1:0").await,
        Server::start("default", "iiop://127.0.0.1:0").await,
    ];
    // The one id that leads to a place behind any prefix, since it is the key.
    let id = zorb_giop::ior::IiopProfile::from_tagged(&default.place.as_ref().ior().profiles[0]);
    let id = String::from_utf8(id.unwrap().object_key.to_vec()).expect("the key is text");
    let mut arguments = vec![
        "-ORBInitRef".to_owned(),
        format!("{id}={}", configured.reference()),
        "-ORBInitRef".to_owned(),
        format!("Other={}", configured.reference()),
    ];
    let prefix = format!("corbaloc:iiop:1.2@{DEAD},iiop:1.2@{}", default.address());
    let plain = Orb::builder()
        .default_initial_reference(&prefix)
        .build()
        .await
        .unwrap();
    assert_eq!(named(&plain, &id).await, "default");
    let orb = Orb::builder()
        .initial_reference("Other", "corbaloc::nowhere.invalid/Other")
        .default_initial_reference(&prefix)
        .args(&mut arguments)
        .build()
        .await
        .unwrap();
    assert_eq!(named(&orb, &id).await, "configured");
    assert_eq!(named(&orb, "Other").await, "configured");
    orb.register_initial_reference(&id, &registered.place)
        .unwrap();
    assert_eq!(named(&orb, &id).await, "registered");
    let url = format!("corbaloc:rir:/{}", zorb_giop::url::escape(id.as_bytes()));
    assert_eq!(place(&orb, &url).await.name().await.unwrap(), "registered");
    let mut names = vec!["Other".to_owned(), id];
    names.sort();
    assert_eq!(orb.list_initial_services(), names);
}

#[tokio::test]
async fn a_default_prefix_leads_to_the_plain_keys_of_a_server() {
    let server = Server::start("bank", "iiop://127.0.0.1:0").await;
    let keys = server.orb.key_table();
    keys.bind("Bank/a b", &server.place).unwrap();
    let address = server.address();
    for prefix in [
        format!("corbaloc:iiop:1.2@{address}"),
        format!("corbaloc::{DEAD},:{address}/"),
    ] {
        let mut arguments = vec!["-ORBDefaultInitRef".to_owned(), prefix];
        let orb = Orb::builder().args(&mut arguments).build().await.unwrap();
        assert_eq!(named(&orb, "Bank/a b").await, "bank");
        // Whether there is such an object, only the server knows.
        let unset = orb.resolve_initial_references("Unset").await.unwrap();
        let error = unset.is_a("IDL:X:1.0").await.unwrap_err();
        assert_eq!(error.kind, Kind::ObjectNotExist);
    }
}

#[tokio::test]
async fn what_cannot_be_registered_or_resolved_is_said() {
    let server = Server::start("x", "iiop://127.0.0.1:0").await;
    let orb = client().await;
    orb.register_initial_reference("X", &server.place).unwrap();
    let register = |name: &str| {
        orb.register_initial_reference(name, &server.place)
            .unwrap_err()
    };
    for (name, why) in [
        ("X", "initial reference \"X\": registered already"),
        ("", "initial reference \"\": expected a name, found none"),
        (
            "RootPOA",
            "initial reference \"RootPOA\": an adapter is no object reference here: orb.root_poa() gives it",
        ),
    ] {
        let error = register(name);
        assert!(matches!(error, Error::InvalidName { .. }));
        assert_eq!(error.to_string(), why);
    }
    let nil = orb.object(Ior {
        type_id: String::new(),
        profiles: Vec::new(),
    });
    let Err(Error::System(error)) = orb.register_initial_reference("Y", &nil) else {
        panic!("nil is refused");
    };
    assert_eq!(
        (error.kind, error.minor),
        (Kind::BadParam, minor::NIL_INITIAL_REFERENCE)
    );
    for name in ["RootPOA", "Y"] {
        let error = orb.resolve_initial_references(name).await.unwrap_err();
        assert!(matches!(error, Error::InvalidName { .. }), "{error}");
    }
    let circle = Orb::builder()
        .initial_reference("A", "corbaloc:rir:/B")
        .initial_reference("B", "corbaname:rir:/A")
        .build()
        .await
        .unwrap();
    let error = circle
        .resolve_initial_references("A")
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("URLs that lead to another URL"), "{error}");
}

#[tokio::test]
async fn an_orb_with_registered_references_can_end() {
    let server = Server::start("x", "iiop://127.0.0.1:0").await;
    server
        .orb
        .register_initial_reference("X", &server.place)
        .unwrap();
    let address = server.address();
    drop(server);
    // Nothing keeps the ORB alive, so its port is closed.
    let orb = client().await;
    let gone = place(&orb, &format!("corbaloc::{address}/X")).await;
    while gone.name().await.is_ok_and(|name| !name.is_empty()) {}
    assert_eq!(gone.name().await.unwrap_err().kind, Kind::Transient);
}

#[tokio::test(flavor = "multi_thread")]
async fn omninames_is_found_by_every_option_and_url() {
    let what = "omniNames by options";
    if !have(what, &[Path::new("omniNames")]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().to_str().unwrap();
    let arguments = [
        "-start",
        "-ignoreport",
        "-logdir",
        log,
        "-ORBendPoint",
        "giop:tcp:127.0.0.1:",
    ];
    let mut names = Running::start(Path::new("omniNames"), &arguments);
    let root = names.reference().expect("omniNames says where it is");
    let server = Server::start("found", "iiop://127.0.0.1:0").await;
    let orb = client().await;
    let object = orb.string_to_object(&root).await.unwrap();
    let body = crate::references::profile(&object);
    let address = format!("{}:{}", body.address.host, body.address.port);
    let context: zorb::naming::cos_naming::NamingContextRef = object.unchecked_narrow();
    // Every character that a URL or a stringified name takes for its own.
    let name: zorb::naming::Name = r"a\/b #%é\.x.kind".parse().unwrap();
    context.rebind(&name, server.place.as_ref()).await.unwrap();
    let escaped = zorb_giop::url::escape(name.to_string().as_bytes());

    for option in [
        [
            "-ORBInitRef".to_owned(),
            format!("NameService=corbaloc::1.2@{DEAD},:1.2@{address}/NameService"),
        ],
        [
            "-ORBInitRef".to_owned(),
            format!("NameService=corbaname::1.2@{address}"),
        ],
        [
            "-ORBDefaultInitRef".to_owned(),
            format!("corbaloc::1.2@{address}"),
        ],
    ] {
        let mut arguments = option.to_vec();
        let orb = Orb::builder().args(&mut arguments).build().await.unwrap();
        assert!(arguments.is_empty());
        for url in [
            format!("corbaname:rir:#{escaped}"),
            format!("corbaname:rir:/NameService#{escaped}"),
            format!("corbaname::1.2@{DEAD},:1.2@{address}#{escaped}"),
            format!("corbaname::1.2@{address}/NameService#{escaped}"),
        ] {
            assert_eq!(
                place(&orb, &url).await.name().await.unwrap(),
                "found",
                "{option:?} {url}"
            );
        }
    }
    // A name as a prefix.
    let inner: zorb::naming::Name = "inner".parse().unwrap();
    let inner = context.bind_new_context(&inner).await.unwrap();
    let inner = inner.expect("a context");
    let place_name: zorb::naming::Name = "Place".parse().unwrap();
    inner
        .rebind(&place_name, server.place.as_ref())
        .await
        .unwrap();
    let orb = Orb::builder()
        .default_initial_reference(format!("corbaname::1.2@{address}#inner"))
        .build()
        .await
        .unwrap();
    assert_eq!(named(&orb, "Place").await, "found");
}
