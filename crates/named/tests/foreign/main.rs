//! Clients of other ORBs at `zorb-named`. Without omniORB or JacORB the tests pass, and print what they skipped.

#[path = "../../../../tests/support/browser.rs"]
mod browser;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../common/mod.rs"]
mod common;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

use browser::Browser;
use common::Daemon;
use std::path::Path;
use support::{Running, have, passed};

/// Runs omniORB's `nameclt`; its exit status and what it prints.
fn nameclt(daemon: &Daemon, args: &[&str]) -> (bool, Vec<String>) {
    let init = format!("NameService=corbaloc::{}/NameService", daemon.address());
    let args = [&["-advanced", "-ORBInitRef", &init], args].concat();
    let ended = Running::start(Path::new("nameclt"), &args).finish();
    (ended.status.success(), ended.lines)
}

#[test]
fn nameclt_does_everything_that_it_does_with_omninames() {
    let cell = "nameclt-zorbnames/all";
    if !have(cell, &[Path::new("nameclt"), Path::new("catior")]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let daemon = Daemon::in_folder(folder.path());
    let object = "corbaloc:iiop:1.2@bank.zorb.test:2810/Account";
    let ok = |daemon: &Daemon, args: &[&str]| {
        let (success, lines) = nameclt(daemon, args);
        assert!(success, "{args:?}: {lines:?}");
        lines
    };
    let fails = |args: &[&str], expected: &str| {
        let (success, lines) = nameclt(&daemon, args);
        let said = lines.join("\n");
        assert!(!success && said.contains(expected), "{args:?}: {said}");
    };
    assert_eq!(ok(&daemon, &["list"]), [""; 0]);
    ok(&daemon, &["bind_new_context", "bank.dir"]);
    ok(&daemon, &["bind", r"bank.dir/a\.b.account", object]);
    fails(&["bind", r"bank.dir/a\.b.account", object], "AlreadyBound");
    ok(&daemon, &["rebind", r"bank.dir/a\.b.account", object]);
    assert_eq!(ok(&daemon, &["list"]), ["bank.dir/"]);
    assert_eq!(ok(&daemon, &["list", "bank.dir"]), [r"a\.b.account"]);
    fails(&["resolve", "absent"], "NotFound");
    fails(&["resolve", "a//b"], "InvalidName");
    let printed = ok(&daemon, &["resolve", r"bank.dir/a\.b.account"]);
    let explained = Running::start(Path::new("catior"), &printed)
        .finish()
        .success();
    let explained = explained.join("\n");
    assert!(
        explained.contains("bank.zorb.test 2810 \"Account\""),
        "{explained}"
    );
    let root = ok(&daemon, &["bind_context", "bank.dir/up", &daemon.url]);
    assert!(root.is_empty(), "{root:?}");
    assert_eq!(ok(&daemon, &["list", "bank.dir/up"]), ["bank.dir/"]);
    fails(&["remove_context", "bank.dir"], "NotEmpty");
    let hundreds: Vec<String> = (0..250).map(|n| format!("n{n:03}")).collect();
    ok(&daemon, &["bind_new_context", "many"]);
    for name in &hundreds {
        ok(&daemon, &["bind", &format!("many/{name}"), object]);
    }
    assert_eq!(ok(&daemon, &["list", "many"]), hundreds);
    daemon.terminate();

    let daemon = Daemon::in_folder(folder.path());
    assert_eq!(ok(&daemon, &["list"]), ["bank.dir/", "many/"]);
    ok(&daemon, &["unbind", r"bank.dir/a\.b.account"]);
    ok(&daemon, &["unbind", "bank.dir/up"]);
    ok(&daemon, &["remove_context", "bank.dir"]);
    assert_eq!(ok(&daemon, &["list"]), ["many/"]);
    passed(cell);
}

#[test]
fn every_operation_works_from_jacorb() {
    let cell = "jacorb-zorbnames/all";
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/build/jacorb/names");
    if !have(cell, &[&program]) {
        return;
    }
    let daemon = Daemon::start(&[]);
    let url = format!(
        "NameService=corbaloc:iiop:1.2@{}/NameService",
        daemon.address()
    );
    let lines = Running::start(&program, &["-ORBInitRef", &url])
        .finish()
        .success();
    for cell in ["objects", "contexts", "text", "iterators"] {
        let expected = format!("cell {cell} ok");
        assert!(lines.contains(&expected), "{expected}: {lines:?}");
    }
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn chromium_browses_the_names_and_runs_none_of_them() {
    let cell = "chromium-zorbnames/page";
    if !have(cell, &[Path::new("chromium"), Path::new("chromedriver")]) {
        return;
    }
    let daemon = Daemon::start(&["--page", "127.0.0.1:0"]);
    let names = daemon.client().await;
    let orb = common::client_orb().await;
    // A name that would be a script, and change the title, if it were not escaped.
    let odd = r"<img src=x onerror=document\.title=1>";
    names.bind_new_context(odd).await.unwrap();
    for n in 0..201 {
        let name = format!("{odd}/account{n:03}");
        names
            .bind(&name, &common::object(&orb, n).await)
            .await
            .unwrap();
    }
    let page = daemon
        .ready
        .split("page at ")
        .nth(1)
        .expect("it says where");
    tokio::task::block_in_place(|| {
        let browser = Browser::open(page.trim());
        let script = |script: &str| {
            browser.command(
                "execute/sync",
                serde_json::json!({ "script": script, "args": [] }),
            )
        };
        let rows = "return [...document.querySelectorAll('tbody tr')].map((row) => row.cells[0].textContent)";
        assert_eq!(script(rows), serde_json::json!([odd]));
        script("document.querySelector('tbody a').click()");
        let here = script(
            "return [document.title, document.querySelectorAll('tbody tr').length, document.images.length]",
        );
        assert_eq!(here, serde_json::json!(["Names", 200, 0]));
        script("document.getElementById('more').click()");
        assert_eq!(script(rows), serde_json::json!(["account200"]));
    });
    passed(cell);
}
