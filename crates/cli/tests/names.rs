//! `zorb names` against omniNames, from an empty service to an empty service, and against a service of this process.
//!
//! Without omniORB the tests against omniNames pass, and print that they were skipped.

#[path = "../../tls/tests/support/mod.rs"]
mod certificates;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;
use support::{Running, have};
use tempfile::TempDir;
use zorb::Orb;
use zorb::permissions::OperationRules;
use zorb::tls::{Tls, TlsOptions};
use zorb_named::store::EmbeddedStore;
use zorb_named::{NamingService, SERVICE_KEY, Settings};

struct World {
    _service: Running,
    _folder: TempDir,
    /// The root context.
    ior: String,
}

impl World {
    fn start(what: &str) -> Option<Self> {
        let omni_names = Path::new("omniNames");
        if !have(what, &[omni_names]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().to_str().unwrap();
        let here = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
        let args = [&["-start", "-ignoreport", "-logdir", log], &here[..]].concat();
        let mut service = Running::start(omni_names, &args);
        let ior = service.reference().expect("omniNames says where it is");
        Some(Self {
            _service: service,
            _folder: folder,
            ior,
        })
    }

    /// Host and port of the service.
    fn ior_endpoint(&self) -> String {
        let zorb = Path::new(env!("CARGO_BIN_EXE_zorb"));
        let explained = Running::start(zorb, &["ping", "-c", "1", &self.ior]).finish();
        let explained = explained.success();
        let (_, endpoint) = explained[0].split_once("iiop://").expect("an endpoint");
        endpoint.to_owned()
    }

    fn run(&self, args: &[&str]) -> (bool, Vec<String>) {
        let (status, lines) = run_at(&self.ior, args);
        (status == Some(0), lines)
    }

    /// Runs a command that has to succeed, and returns its output.
    #[track_caller]
    fn ok(&self, args: &[&str]) -> Vec<String> {
        let (success, lines) = self.run(args);
        assert!(success, "{args:?}: {lines:#?}");
        lines
    }

    /// Runs a command that has to fail, with this text in its output.
    #[track_caller]
    fn fails(&self, args: &[&str], expected: &[&str]) {
        let (success, lines) = self.run(args);
        let said = lines.join("\n");
        assert!(!success, "{args:?}: {said}");
        for each in expected {
            assert!(said.contains(each), "{each}: {said}");
        }
    }
}

/// Runs `zorb names` at a service, and returns its exit status and its output.
fn run_at(service: &str, args: &[&str]) -> (Option<i32>, Vec<String>) {
    let args = [&["names", "-n", service], args].concat();
    let ended = Running::start(Path::new(env!("CARGO_BIN_EXE_zorb")), &args).finish();
    (ended.status.code(), ended.lines)
}

/// Runs a command that has to succeed at a service, and returns its output.
#[track_caller]
fn ok_at(service: &str, args: &[&str]) -> Vec<String> {
    let (status, lines) = run_at(service, args);
    assert_eq!(status, Some(0), "{args:?}: {lines:#?}");
    lines
}

/// A naming service in this process, and its port.
async fn serve(endpoint: &str) -> (Orb, NamingService<EmbeddedStore>, u16) {
    let orb = Orb::builder().listen(endpoint).build().await.unwrap();
    let store = EmbeddedStore::in_memory().unwrap();
    let service = NamingService::start(&orb, store, Settings::default()).unwrap();
    let port = (orb.endpoints().iter()).find_map(|endpoint| endpoint.port());
    (orb, service, port.unwrap_or_default())
}

const BANK: &str = "corbaloc:iiop:1.2@bank.zorb.test:2810/Bank";

#[test]
fn names_are_bound_listed_resolved_and_taken_away() {
    let Some(w) = World::start("zorb names") else {
        return;
    };
    assert_eq!(w.ok(&["list"]), [""; 0]);
    w.fails(
        &["bind", "bank/savings.account", BANK],
        &[
            "\"bank\" is not bound",
            "--parents makes the contexts on the way",
        ],
    );
    w.ok(&["mkcontext", "bank"]);
    w.fails(&["mkcontext", "bank"], &["\"bank\" is bound already"]);
    w.ok(&["mkcontext", "--parents", "bank"]);
    w.ok(&["bind", "bank/savings.account", BANK]);
    w.fails(
        &["bind", "bank/savings.account", BANK],
        &["is bound already", "--rebind` replaces what is bound"],
    );
    let other = "corbaloc:iiop:1.2@bank.zorb.test:2811/Other";
    w.ok(&["bind", "--rebind", "bank/savings.account", other]);
    w.ok(&["bind", "--parents", "bank/old/1999.account", BANK]);
    // A context that is bound below itself.
    w.ok(&["bind", "--context", "bank/old/up", &w.ior]);

    assert_eq!(w.ok(&["list"]), ["bank/"]);
    assert_eq!(w.ok(&["list", "bank"]), ["old/", "savings.account"]);
    assert_eq!(
        w.ok(&["list", "--recursive"]),
        [
            "bank/",
            "  old/",
            "    1999.account",
            "    up/  is a context above",
            "  savings.account",
        ]
    );
    let long = w.ok(&["list", "-l", "bank"]);
    assert!(
        long[0].starts_with("old/  IDL:omg.org/CosNaming/NamingContextExt:1.0  iiop://127.0.0.1:"),
        "{long:#?}"
    );
    assert_eq!(
        long[1],
        "savings.account  unknown type  iiop://bank.zorb.test:2811"
    );

    let resolved = w.ok(&["resolve", "bank/savings.account"]);
    let zorb = Path::new(env!("CARGO_BIN_EXE_zorb"));
    let explained = Running::start(zorb, &["ior", &resolved[0]])
        .finish()
        .success();
    let explained = explained.join("\n");
    assert!(explained.contains("bank.zorb.test:2811"), "{explained}");
    assert!(explained.contains("\"Other\""), "{explained}");

    w.fails(
        &["rmcontext", "bank"],
        &["context \"bank\" is not empty", "zorb names list -r 'bank'"],
    );
    // The names of a context may be reached by it alone.
    w.fails(
        &["unbind", "bank/old"],
        &[
            "context \"bank/old\" has names",
            "`zorb names list -r 'bank/old'` shows them; --force unbinds it all the same",
        ],
    );
    assert_eq!(w.ok(&["unbind", "bank/savings.account"]), resolved);
    let old = w.ok(&["resolve", "bank/old"]);
    assert_eq!(w.ok(&["unbind", "--force", "bank/old"]), old);
    w.ok(&["bind", "--context", "bank/old", &old[0]]);
    w.ok(&["unbind", "--force", "bank/old/up"]);
    w.ok(&["unbind", "bank/old/1999.account"]);
    w.ok(&["rmcontext", "bank/old"]);
    w.ok(&["remove_context", "bank"]);
    assert_eq!(w.ok(&["list"]), [""; 0]);
}

#[test]
fn each_way_to_fail_is_reported_in_a_line_with_what_to_look_at() {
    let Some(w) = World::start("zorb names, its errors") else {
        return;
    };
    w.fails(
        &["resolve", "absent"],
        &[
            "\"absent\" is not found",
            "`zorb names list` shows what is bound there",
        ],
    );
    w.fails(&["unbind", "absent"], &["\"absent\" is not found"]);
    w.fails(
        &["resolve", "a//b"],
        &["invalid name \"a//b\": expected a component"],
    );
    w.fails(
        &["bind", "x", "bank"],
        &["expected IOR:, corbaloc:", "found \"bank\": No such file"],
    );
    // What a message or hint shows is what is typed, and so it can be typed again.
    let odd = r"o'clock\.12\/a\\b.k";
    w.fails(
        &["resolve", &format!("{odd}/x")],
        &[&format!("\"{odd}\" is not bound")],
    );
    w.ok(&["mkcontext", odd]);
    w.fails(
        &["resolve", &format!("{odd}/x")],
        &[
            &format!("\"x\" is not bound in \"{odd}\""),
            r"`zorb names list 'o'\''clock\.12\/a\\b.k'` shows",
        ],
    );
    assert_eq!(w.ok(&["list"]), [format!("{odd}/")]);
    w.ok(&["rmcontext", odd]);
    // Names are untrusted text.
    w.ok(&["bind", "red\x1b[31m", BANK]);
    assert_eq!(w.ok(&["list"]), ["red\\u{1b}[31m"]);
    w.ok(&["bind", "bank", BANK]);
    w.fails(&["bind", "bank/x", BANK], &["bank"]);
    w.fails(&["rmcontext", "bank"], &["bank"]);
}

#[test]
fn a_naming_service_that_is_not_there_is_reported_with_where_it_was_looked_for() {
    let zorb = Path::new(env!("CARGO_BIN_EXE_zorb"));
    let run = |args: &[&str]| Running::start(zorb, args).finish();
    for args in [
        &["names", "-n", "corbaloc::127.0.0.1:1/NameService", "list"][..],
        &[
            "names",
            "list",
            "-ORBInitRef",
            "NameService=corbaloc::127.0.0.1:1/NameService",
        ],
    ] {
        let ended = run(args);
        let said = ended.lines.join("\n");
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("iiop://127.0.0.1:1"), "{said}");
        assert!(said.contains("no server listens there"), "{said}");
    }
    for (service, expected) in [
        (
            "localhost:2809",
            &[
                "--nameservice",
                "found \"localhost:2809\": No such file",
                "a naming service at that address is corbaloc::localhost:2809/NameService",
            ][..],
        ),
        (
            "ns.ior",
            &["--nameservice", "found \"ns.ior\": No such file"],
        ),
        (
            "corbaloc::[localhost]/NameService",
            &["--nameservice", "expected an IPv6 address between [ and ]"],
        ),
    ] {
        let ended = run(&["names", "-n", service, "list"]);
        let said = ended.lines.join("\n");
        assert_eq!(ended.status.code(), Some(1), "{said}");
        for each in expected {
            assert!(said.contains(each), "{each}: {said}");
        }
        assert!(!said.contains("-ORBInitRef"), "{said}");
    }
    let wrong = run(&["names", "-ORBInitRef", "NameService", "list"]);
    let said = wrong.lines.join("\n");
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("expected NAME=URL"), "{said}");
}

#[test]
fn what_nameclt_binds_zorb_sees_and_the_other_way_round() {
    let what = "zorb names and nameclt";
    let nameclt = Path::new("nameclt");
    if !have(what, &[nameclt]) {
        return;
    }
    let Some(w) = World::start(what) else { return };
    let theirs = |args: &[&str]| {
        let args = [&["-ior", &w.ior], args].concat();
        Running::start(nameclt, &args).finish().success()
    };
    w.ok(&["mkcontext", "zorb.dir"]);
    w.ok(&["bind", r"zorb.dir/a\.b", BANK]);
    assert_eq!(theirs(&["list", "zorb.dir"]), [r"a\.b"]);
    theirs(&["bind", "zorb.dir/theirs", &w.ior]);
    assert_eq!(w.ok(&["list", "zorb.dir"]), [r"a\.b", "theirs"]);
    assert_eq!(
        w.ok(&["resolve", "zorb.dir/theirs"]),
        theirs(&["resolve", "zorb.dir/theirs"])
    );
}

/// Everything that is bound, as the tests below bind it: objects, a shared context, one in a circle, one of another service.
fn fill(w: &World) {
    w.ok(&["bind", "--parents", r"bank/sa\.vings.account", BANK]);
    w.ok(&["bind", "--parents", "bank/old/two words.account", BANK]);
    w.ok(&["bind", "--parents", "bank/old/tab\tand back\\\\slash", BANK]);
    w.ok(&["bind", "bank/.kind", BANK]);
    w.ok(&["mkcontext", "empty"]);
    w.ok(&["bind", "--context", "bank/old/up", &w.ior]);
    let old = w.ok(&["resolve", "bank/old"]);
    w.ok(&["bind", "--context", "shared", &old[0]]);
    w.ok(&["mkcontext", "removed"]);
    w.ok(&["bind", "removed/object", BANK]);
    w.ok(&["unbind", "removed/object"]);
    w.ok(&["rmcontext", "removed"]);
    w.ok(&["bind", "changed", "corbaloc::other.zorb.test/Other"]);
    w.ok(&["bind", "--rebind", "changed", BANK]);
}

const TREE: [&str; 11] = [
    "├── bank/",
    "│   ├── .kind",
    "│   ├── old/",
    "│   │   ├── tab\\tand back\\\\slash",
    "│   │   ├── two words.account",
    "│   │   └── up/  is a context above",
    r"│   └── sa\.vings.account",
    "├── changed",
    "├── empty/",
    "└── shared/",
    "    ├── tab\\tand back\\\\slash",
];

#[test]
fn an_export_and_a_live_service_and_the_data_file_of_omninames_are_imported_alike() {
    let Some(w) = World::start("zorb names import") else {
        return;
    };
    fill(&w);
    let tree = w.ok(&["tree"]);
    assert_eq!(tree[..11], TREE);
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let exported = w.ok(&["export"]);
    assert_eq!(exported.len(), 10, "{exported:#?}");
    let file = w._folder.path().join("names.json");
    std::fs::write(&file, exported.join("\n")).unwrap();
    let logs = std::fs::read_dir(w._folder.path()).unwrap();
    let log = logs
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "dat"))
        .expect("a data file");
    for source in [file.to_str().unwrap(), log.to_str().unwrap(), &w.ior] {
        let other = World::start("zorb names import").unwrap();
        assert_eq!(other.ok(&["import", source]), ["7 bound in 3 new contexts"]);
        assert_eq!(other.ok(&["tree"]), tree, "{source}");
        // It has no reference to a context of its own service, so that it is the same of each.
        let there = sorted(other.ok(&["export"]));
        assert_eq!(there, sorted(exported.clone()), "{source}");
        // Once more: what is bound stays, unless it is to be replaced.
        other.fails(
            &["import", source],
            &["7 of the names could not be bound", "--rebind replaces"],
        );
        other.ok(&["import", "--rebind", source]);
        assert_eq!(other.ok(&["tree"]), tree, "{source}");
    }
}

#[test]
fn what_is_no_source_of_names_is_reported_with_its_line() {
    let Some(w) = World::start("zorb names import, its errors") else {
        return;
    };
    let file = w._folder.path().join("names");
    let path = file.to_str().unwrap();
    for (text, expected) in [
        ("port 1\nbind x\n", "names, line 2: expected create, bind"),
        ("{}", "line 1: expected a name"),
        (
            "{\"name\":\"a//b\",\"new_context\":true}",
            "line 1: name \"a//b\": expected a component",
        ),
        ("{\"name\":\"a\"}", "line 1: expected object, new_context"),
        ("{\"name\":\"a\",\"object\":\"IOR:0\"}", "line 1: "),
        ("what", "line 1: expected value"),
    ] {
        std::fs::write(&file, text).unwrap();
        w.fails(&["import", path], &[expected]);
    }
    w.fails(
        &["import", "absent.json"],
        &["cannot read absent.json: No such file"],
    );
    w.fails(
        &["import", "corbaloc::127.0.0.1:1/NameService"],
        &["no server listens there"],
    );
    assert_eq!(w.ok(&["list"]), [""; 0]);
}

#[test]
fn ping_says_which_bound_objects_are_gone_or_silent_and_changes_nothing() {
    let Some(w) = World::start("zorb names ping") else {
        return;
    };
    let port = w.ior_endpoint();
    w.ok(&["bind", "there", &format!("corbaloc::{port}/NameService")]);
    assert_eq!(w.ok(&["ping"]), ["1 asked: 1 there, 0 gone, 0 silent"]);
    w.ok(&[
        "bind",
        "--parents",
        "bank/gone",
        &format!("corbaloc::{port}/Absent"),
    ]);
    w.ok(&["bind", "bank/silent", "corbaloc::127.0.0.1:1/Bank"]);
    let args = ["names", "-n", &w.ior, "ping"];
    let ended = Running::start(Path::new(env!("CARGO_BIN_EXE_zorb")), &args).finish();
    assert_eq!(ended.status.code(), Some(3));
    let said = ended.lines.join("\n");
    for expected in [
        "bank/gone  gone: iiop://",
        "bank/silent  silent: TRANSIENT",
        "3 asked: 1 there, 1 gone, 1 silent",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(w.ok(&["list", "bank"]), ["gone", "silent"]);
}

/// Binds names in contexts within contexts, a shared one and one in a circle, and checks that they are moved and asked as
/// what they are, however the service is named.
fn is_one_service(named: &[String]) {
    let first = &named[0];
    ok_at(
        first,
        &[
            "bind",
            "--parents",
            "a/b/nowhere",
            "corbaloc::127.0.0.1:1/Bank",
        ],
    );
    let shared = ok_at(first, &["resolve", "a/b"]);
    ok_at(first, &["bind", "--context", "shared", &shared[0]]);
    let above = ok_at(first, &["resolve", "a"]);
    ok_at(first, &["bind", "--context", "a/b/up", &above[0]]);
    for service in named {
        let exported = ok_at(service, &["export"]);
        assert_eq!(exported.len(), 5, "{service}: {exported:#?}");
        let count = |text: &str| exported.iter().filter(|line| line.contains(text)).count();
        assert_eq!(count("new_context"), 2, "{service}: {exported:#?}");
        assert_eq!(count("same_context"), 2, "{service}: {exported:#?}");
        let (status, said) = run_at(service, &["ping"]);
        assert_eq!(status, Some(3), "{said:#?}");
        let last = said.last().unwrap();
        assert_eq!(
            last, "1 asked: 0 there, 0 gone, 1 silent",
            "{service}: {said:#?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contexts_are_those_of_the_service_however_its_url_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("names");
    let socket = socket.to_str().unwrap();
    for (endpoint, addresses) in [
        ("iiop://127.0.0.1:0", &["127.0.0.1", "localhost"][..]),
        ("iiop://0.0.0.0:0", &["localhost", "127.0.0.1", "127.0.0.2"]),
        ("iiop://localhost:0", &["127.0.0.1", "localhost"]),
    ] {
        let (_orb, _service, port) = serve(endpoint).await;
        let named: Vec<String> = (addresses.iter())
            .map(|address| format!("corbaloc::{address}:{port}/NameService"))
            .collect();
        is_one_service(&named);
    }
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb
        .listen(format!("uiop://{socket}"))
        .build()
        .await
        .unwrap();
    let store = EmbeddedStore::in_memory().unwrap();
    let _service = NamingService::start(&orb, store, Settings::default()).unwrap();
    let here = orb.corbaloc_url(SERVICE_KEY).unwrap();
    is_one_service(&[format!("corbaloc:uiop:{socket}|NameService"), here]);
}

#[test]
fn contexts_are_those_of_omninames_however_its_url_names_it() {
    let Some(w) = World::start("zorb names export, by another address") else {
        return;
    };
    let endpoint = w.ior_endpoint();
    let port = endpoint.rsplit_once(':').unwrap().1;
    is_one_service(&[
        w.ior.clone(),
        format!("corbaloc::localhost:{port}/NameService"),
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_by_another_address_outlives_the_old_service() {
    let (old_orb, _old, old_port) = serve("iiop://127.0.0.1:0").await;
    let (_orb, _new, port) = serve("iiop://127.0.0.1:0").await;
    let [old, new] = [old_port, port].map(|port| format!("corbaloc::localhost:{port}/NameService"));
    ok_at(&old, &["bind", "--parents", "a/b/account", BANK]);
    let imported = ok_at(&new, &["import", &old]);
    assert_eq!(imported, ["1 bound in 2 new contexts"]);
    old_orb.shutdown(true).await.unwrap();
    ok_at(&new, &["resolve", "a/b/account"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn contexts_of_other_services_are_counted_on_standard_error() {
    let (other_orb, other, other_port) = serve("iiop://127.0.0.1:0").await;
    let (_orb, _service, port) = serve("iiop://127.0.0.1:0").await;
    let [url, elsewhere] =
        [port, other_port].map(|port| format!("corbaloc::localhost:{port}/NameService"));
    ok_at(&elsewhere, &["mkcontext", "below"]);
    let theirs = other_orb.object_to_string(other.root());
    ok_at(&url, &["bind", "--context", "theirs", &theirs]);
    let exported = ok_at(&url, &["export"]);
    let foreign = |line: &String| line.contains("\"foreign_context\":\"IOR:");
    assert!(exported.iter().any(foreign), "{exported:#?}");
    let said = "1 context of another service, by its reference: its names are not followed";
    assert!(
        exported.iter().any(|line| line.contains(said)),
        "{exported:#?}"
    );
    assert_eq!(exported.len(), 2, "{exported:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_over_tls_is_called_with_the_certificates_of_the_options() {
    let authority = certificates::Authority::new("CA");
    let certificate = authority.issue("names", &["127.0.0.1", "localhost"]);
    let tls = TlsOptions::default().certificate(&certificate, &certificate);
    let orb = Orb::builder().transport(Arc::new(Tls::new(tls).unwrap()));
    let orb = orb.listen("ssliop://127.0.0.1:0").build().await.unwrap();
    let store = EmbeddedStore::in_memory().unwrap();
    let _service = NamingService::start(&orb, store, Settings::default()).unwrap();
    let port = orb.endpoints()[0].port().unwrap();
    let url = format!("corbaloc:ssliop:localhost:{port}/NameService");
    let trust = authority.trust();
    let tls = ["--tls", trust.to_str().unwrap()];
    let bind = ["bind", "--parents", "a/b/account", BANK];
    ok_at(&url, &[&tls, &bind[..]].concat());
    let exported = ok_at(&url, &[&["export"], &tls[..]].concat());
    assert_eq!(exported.len(), 3, "{exported:#?}");
    // Each of the two may stand before the command or behind it.
    let own = ["list", "--certificate", certificate.to_str().unwrap()];
    ok_at(&url, &[&tls, &own[..]].concat());
    let (status, said) = run_at(&url, &own);
    assert_eq!(status, Some(1), "{said:#?}");
    assert!(said.join("\n").contains("ssliop.trust=FILE"), "{said:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_answers_by_an_exception_is_not_silent() {
    let (_orb, _service, port) = serve("iiop://127.0.0.1:0").await;
    let url = format!("corbaloc::127.0.0.1:{port}/NameService");
    // Without a rule everything is refused.
    let refusing = Orb::builder().server_interceptor(OperationRules::new(Vec::new()));
    let refusing = refusing.listen("iiop://127.0.0.1:0").build().await.unwrap();
    let store = EmbeddedStore::in_memory().unwrap();
    let _guarded = NamingService::start(&refusing, store, Settings::default()).unwrap();
    let guarded = refusing.corbaloc_url(SERVICE_KEY).unwrap();
    ok_at(&url, &["bind", "guarded", &guarded]);
    let (status, said) = run_at(&url, &["ping"]);
    assert_eq!(status, Some(3), "{said:#?}");
    assert!(
        said[0].starts_with("guarded  answered: NO_PERMISSION"),
        "{said:#?}"
    );
    let count = "1 asked: 0 there, 0 gone, 0 silent, 1 answered otherwise";
    assert_eq!(said[1], count, "{said:#?}");
}
