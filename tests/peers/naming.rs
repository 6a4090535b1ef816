//! A real omniNames, through `zorb::naming`, through URLs, and as omniORB's own tools see it.
//!
//! And JacORB's name server. Without omniORB and JacORB these tests pass and say what they skipped.

use crate::support::{Running, have, passed};
use std::path::Path;
use tempfile::TempDir;
use zorb::naming::Name;
use zorb::naming::cos_naming::naming_context::{
    BindError, DestroyError, NotFoundReason, RebindError, ResolveError, UnbindError,
};
use zorb::naming::cos_naming::{Binding, BindingType, NamingContextExtRef};
use zorb::{Error, Interface, Orb, SystemException, SystemExceptionKind};

zorb::idl! {
    module Naming {
        interface Greeter { string greet(); };
    };
}

use naming::{Greeter, GreeterRef, GreeterServant};

struct Greets(&'static str);

impl Greeter for Greets {
    async fn greet(&self) -> Result<String, SystemException> {
        Ok(self.0.to_owned())
    }
}

/// omniNames, and an ORB that knows it.
struct World {
    _names: Running,
    _folder: TempDir,
    /// Host and port of omniNames.
    address: String,
    orb: Orb,
    root: NamingContextExtRef,
}

impl World {
    /// `None` when there is no omniNames, or none of the `tools`.
    async fn start(cell: &str, tools: &[&str]) -> Option<Self> {
        let omni_names = Path::new("omniNames");
        let mut programs = vec![omni_names];
        programs.extend(tools.iter().map(Path::new));
        if !have(cell, &programs) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for omniNames");
        let log = folder.path().to_str().expect("a plain name");
        let here = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
        let args = [&["-start", "-ignoreport", "-logdir", log], &here[..]].concat();
        let mut names = Running::start(omni_names, &args);
        let reference = names
            .reference()
            .expect("omniNames says where its root context is");

        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .initial_reference("NameService", &reference)
            .build()
            .await
            .expect("the ORB listens");
        orb.root_poa()
            .the_poa_manager()
            .activate()
            .expect("not inactive");
        let object = orb
            .resolve_initial_references("NameService")
            .await
            .expect("a reference");
        let explained = format!("{object:?}");
        let root = object
            .narrow()
            .await
            .expect("it answers")
            .expect("a naming context");
        // The debugging form names the endpoint: `… ["iiop://127.0.0.1:2809"] …`.
        let address = explained
            .split("iiop://")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let address = address.expect("a TCP endpoint").to_owned();
        Some(Self {
            _names: names,
            _folder: folder,
            address,
            orb,
            root,
        })
    }

    fn greeter(&self, greeting: &'static str) -> GreeterRef {
        let servant = GreeterServant::new(Greets(greeting));
        self.orb
            .root_poa()
            .activate(servant)
            .expect("the ORB listens")
    }

    /// The answer of the object bound to `name`.
    async fn greeting(&self, name: &str) -> String {
        let object = self
            .root
            .resolve(&parse(name))
            .await
            .expect("bound")
            .expect("not nil");
        greeting(&object).await
    }

    /// Runs `nameclt`, which has to succeed, and gives what it prints.
    fn nameclt(&self, args: &[&str]) -> Vec<String> {
        let url = format!("NameService=corbaloc:iiop:1.2@{}/NameService", self.address);
        let args = [&["-advanced", "-ORBInitRef", &url], args].concat();
        Running::start(Path::new("nameclt"), &args)
            .finish()
            .success()
    }
}

fn parse(name: &str) -> Name {
    name.parse().expect("a name")
}

async fn greeting(object: &impl Interface) -> String {
    let greeter: GreeterRef = object.as_object().unchecked_narrow();
    greeter.greet().await.expect("the greeter is ours")
}

/// Names and types of bindings, in the order of the names.
fn show(bindings: &[Binding]) -> Vec<(String, BindingType)> {
    let one = |b: &Binding| (Name(b.binding_name.clone()).to_string(), b.binding_type);
    let mut shown: Vec<_> = bindings.iter().map(one).collect();
    shown.sort();
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_bound_is_resolved_listed_replaced_and_unbound() {
    let cell = "omninames/bind_resolve";
    let Some(w) = World::start(cell, &[]).await else {
        return;
    };
    let root = &w.root;
    let context = root
        .bind_new_context(&parse("zorb"))
        .await
        .unwrap()
        .expect("a context");
    let again = root.bind_new_context(&parse("zorb")).await;
    assert!(matches!(again, Err(error) if error.to_string().contains("AlreadyBound")));

    let (first, second) = (w.greeter("first"), w.greeter("second"));
    let peer = parse("zorb/peer.kind");
    root.bind(&peer, &first).await.unwrap();
    assert!(matches!(
        root.bind(&peer, &second).await,
        Err(BindError::AlreadyBound(_))
    ));
    assert_eq!(w.greeting("zorb/peer.kind").await, "first");
    root.rebind(&peer, &second).await.unwrap();
    assert_eq!(w.greeting("zorb/peer.kind").await, "second");
    assert!(
        root.resolve(&peer)
            .await
            .unwrap()
            .unwrap()
            .is_equivalent(second.as_object())
    );
    // The root would have to be gone through by a name that leads to no context.
    let through = root.rebind(&parse("zorb/peer.kind/below"), &first).await;
    let Err(RebindError::NotFound(e)) = through else {
        panic!("expected NotFound, found {through:?}");
    };
    assert_eq!(e.why, NotFoundReason::NotContext);

    // Characters that mean something in names, and one beyond ASCII.
    for name in [r"zorb/a\.b\/c", "zorb/.kind", "zorb/naïve"] {
        context
            .bind(&Name(parse(name)[1..].to_vec()), &first)
            .await
            .unwrap();
        assert_eq!(w.greeting(name).await, "first");
        let said = root.to_string(&parse(name)).await.unwrap();
        assert_eq!(
            said,
            parse(name).to_string(),
            "both write it in the same way"
        );
        assert_eq!(root.to_name(&said).await.unwrap(), *parse(name));
        let object = root.resolve_str(&said).await.unwrap().expect("not nil");
        assert_eq!(greeting(&object).await, "first");
    }
    root.bind_context(&parse("zorb/up"), root).await.unwrap();

    let object = |name: &str| (name.to_owned(), BindingType::Nobject);
    let mut expected = vec![object(".kind"), object(r"a\.b\/c"), object("naïve")];
    expected.push(object("peer.kind"));
    expected.push(("up".to_owned(), BindingType::Ncontext));
    let (all, rest) = context.list(100).await.unwrap();
    assert_eq!((show(&all), rest), (expected.clone(), None));
    // The same through an iterator.
    let (mut found, rest) = context.list(2).await.unwrap();
    assert_eq!(found.len(), 2);
    let rest = rest.expect("an iterator over the rest");
    loop {
        let (more, next) = rest.next_n(2).await.unwrap();
        if !more {
            break;
        }
        found.extend(next);
    }
    rest.destroy().await.unwrap();
    assert_eq!(show(&found), expected);

    assert!(matches!(
        context.destroy().await,
        Err(DestroyError::NotEmpty(_))
    ));
    for (name, _) in &expected {
        context.unbind(&parse(name)).await.unwrap();
    }
    let gone = root.resolve(&peer).await;
    let Err(ResolveError::NotFound(e)) = gone else {
        panic!("expected NotFound, found {gone:?}");
    };
    assert_eq!(
        (e.why, e.rest_of_name.as_slice()),
        (NotFoundReason::MissingNode, &peer[1..])
    );
    assert!(matches!(
        root.unbind(&peer).await,
        Err(UnbindError::NotFound(_))
    ));
    assert!(matches!(
        root.unbind(&Name::default()).await,
        Err(UnbindError::InvalidName(_))
    ));
    context.destroy().await.unwrap();
    root.unbind(&parse("zorb")).await.unwrap();
    let (left, _) = root.list(100).await.unwrap();
    assert_eq!(show(&left), []);
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn nameclt_lists_and_resolves_what_we_bind_and_we_what_it_binds() {
    let cell = "omninames/nameclt";
    let Some(w) = World::start(cell, &["nameclt"]).await else {
        return;
    };
    let greeter = w.greeter("hello");
    w.root.bind_new_context(&parse("zorb")).await.unwrap();
    w.root
        .bind(&parse("zorb/peer.kind"), &greeter)
        .await
        .unwrap();
    assert_eq!(w.nameclt(&["list"]), ["zorb/"]);
    assert_eq!(w.nameclt(&["list", "zorb"]), ["peer.kind"]);
    let printed = w.nameclt(&["resolve", "zorb/peer.kind"]);
    let resolved = w.orb.string_to_object(&printed[0]).await.unwrap();
    assert_eq!(resolved.ior(), greeter.as_object().ior());

    let ours = w.orb.object_to_string(&greeter);
    w.nameclt(&["bind", "zorb/theirs", &ours]);
    assert_eq!(w.greeting("zorb/theirs").await, "hello");
    w.nameclt(&["unbind", "zorb/peer.kind"]);
    let gone = w.root.resolve(&parse("zorb/peer.kind")).await;
    assert!(matches!(gone, Err(ResolveError::NotFound(_))));
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn corbaname_and_corbaloc_lead_to_what_is_bound() {
    let cell = "omninames/corbaname";
    let Some(w) = World::start(cell, &[]).await else {
        return;
    };
    let greeter = w.greeter("by name");
    w.root.bind_new_context(&parse("zorb")).await.unwrap();
    w.root
        .bind(&parse("zorb/a peer.kind"), &greeter)
        .await
        .unwrap();
    let address = &w.address;
    for url in [
        format!("corbaname::{address}#zorb/a%20peer.kind"),
        format!("corbaname:iiop:1.2@{address}/NameService#zorb/a%20peer.kind"),
        "corbaname:rir:#zorb/a%20peer.kind".to_owned(),
        // The first address leads nowhere.
        format!("corbaname::127.0.0.1:1,:{address}#zorb/a%20peer.kind"),
    ] {
        let object = w.orb.string_to_object(&url).await.unwrap();
        assert_eq!(greeting(&object).await, "by name", "{url}");
    }
    for url in [
        format!("corbaloc::{address}/NameService"),
        format!("corbaloc:iiop:1.2@{address}/NameService"),
        "corbaloc:rir:/NameService".to_owned(),
        format!("corbaname::{address}"),
    ] {
        let object = w.orb.string_to_object(&url).await.unwrap();
        let context: NamingContextExtRef = object.narrow().await.unwrap().expect("a context");
        let object = context
            .resolve(&parse("zorb/a peer.kind"))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(greeting(&object).await, "by name", "{url}");
    }
    let url = format!("corbaname::{address}#absent");
    match w.orb.string_to_object(&url).await {
        Err(Error::System(e)) => assert_eq!(e.kind, SystemExceptionKind::BadParam, "{e}"),
        other => panic!("expected BAD_PARAM, found {other:?}"),
    }
    passed(cell);
}

/// Runs `catior` on a reference of an ORB that listens there, and looks for these lines.
async fn check_catior(cell: &str, endpoint: &str, expected: &[&str]) {
    let catior = Path::new("catior");
    if !have(cell, &[catior]) {
        return;
    }
    let orb = Orb::builder()
        .listen(endpoint)
        .build()
        .await
        .expect("the ORB listens");
    let greeter = orb
        .root_poa()
        .activate(GreeterServant::new(Greets("")))
        .expect("it listens");
    let reference = orb.object_to_string(&greeter);
    let said = Running::start(catior, &[reference])
        .finish()
        .success()
        .join("\n");
    let code_sets = [
        "TAG_ORB_TYPE (unknown) (ZORB)",
        "char native code set:       UTF-8",
        "char conversion code sets:  ISO-8859-1",
        "wchar native code set:      UTF-16",
    ];
    let always = ["Type ID: \"IDL:Naming/Greeter:1.0\""];
    for line in always.iter().chain(&code_sets).chain(expected) {
        assert!(said.contains(line), "no {line:?} in\n{said}");
    }
    passed(cell);
}

#[tokio::test]
async fn catior_explains_a_reference_that_leads_over_tcp() {
    let expected = ["1. IIOP 1.2 127.0.0.1 ", " \"ZRB\\x01"];
    check_catior("catior/tcp", "iiop://127.0.0.1:0", &expected).await;
}

#[tokio::test]
async fn catior_explains_a_reference_that_leads_over_a_unix_socket() {
    let folder = tempfile::tempdir().expect("a folder for a socket");
    let socket = folder.path().join("zorb");
    // omniORB knows its own way of naming the socket, and leaves the common one alone.
    let path = format!("{}\n", socket.display());
    let uiop = "1. Unrecognised profile tag: 0x54414f00";
    let expected = [
        uiop,
        "2. IIOP 1.2 ",
        "TAG_OMNIORB_UNIX_TRANS ",
        path.as_str(),
    ];
    check_catior(
        "catior/unix",
        &format!("uiop://{}", socket.display()),
        &expected,
    )
    .await;
}

/// A reference that only the name of an interface, an address and a plain key make.
#[tokio::test(flavor = "multi_thread")]
async fn genior_makes_a_reference_that_leads_to_a_plain_key() {
    let cell = "genior/tcp";
    let genior = Path::new("genior");
    if !have(cell, &[genior]) {
        return;
    }
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .expect("the ORB listens");
    let poa = orb.root_poa();
    let greeter = poa
        .activate(GreeterServant::new(Greets("by its plain key")))
        .expect("it listens");
    orb.key_table()
        .bind("Greeter", &greeter)
        .expect("the only one");
    poa.the_poa_manager().activate().expect("not inactive");
    let endpoint = orb.endpoints()[0].to_string();
    let (_, port) = endpoint.rsplit_once(':').expect("host and port");
    let args = ["IDL:Naming/Greeter:1.0", "127.0.0.1", port, "Greeter"];
    let made = Running::start(genior, &args).finish().success().join("");

    let client = Orb::builder().build().await.expect("a client");
    let object = client.string_to_object(made.trim()).await.expect("an IOR");
    assert_eq!(object.ior().type_id, GreeterRef::REPOSITORY_ID);
    assert_eq!(greeting(&object).await, "by its plain key");
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_name_server_keeps_what_we_bind() {
    let cell = "jacorbnames/bind_resolve";
    let Some(names) = crate::jacorb_names::NameServer::start(cell) else {
        return;
    };
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .initial_reference("NameService", &names.root)
        .build()
        .await
        .expect("the ORB listens");
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().expect("not inactive");
    let greeter = poa
        .activate(GreeterServant::new(Greets("from JacORB's")))
        .expect("the ORB listens");
    let object = orb.resolve_initial_references("NameService").await.unwrap();
    let root: NamingContextExtRef = object.narrow().await.unwrap().expect("a naming context");
    root.bind(&parse("peer.kind"), &greeter).await.unwrap();
    let found = root.resolve(&parse("peer.kind")).await.unwrap().unwrap();
    assert_eq!(found.ior(), greeter.as_object().ior());
    assert_eq!(greeting(&found).await, "from JacORB's");
    passed(cell);
}
