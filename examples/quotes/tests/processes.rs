//! The application as its users start it: processes of their own, one of which is killed, and a browser.

#[path = "../../../tests/support/browser.rs"]
mod browser;
#[expect(dead_code, reason = "other tests use more of the support")]
#[path = "../../../tests/support/mod.rs"]
mod support;

use browser::{Browser, http};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use support::{Running, have, passed};
use tempfile::TempDir;

/// A market, its folder, and the endpoint that it has in every run.
struct Market {
    folder: TempDir,
    endpoint: String,
    /// The page of its metrics, in this run.
    metrics: String,
    server: Option<Running>,
}

impl Market {
    fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let endpoint = "iiop://127.0.0.1:0".to_owned();
        let server = None;
        let mut market = Self {
            folder,
            endpoint,
            metrics: String::new(),
            server,
        };
        market.start();
        market
    }

    fn start(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quotes-server"));
        command.args(["-ORBListenEndpoints", &self.endpoint, "--data"]);
        command.arg(self.folder.path());
        command.args(["--metrics", "127.0.0.1:0"]);
        let mut server = Running::command(command);
        let metrics = server.find(|line| Some(line.strip_prefix("metrics at ")?.to_owned()));
        self.metrics = metrics.unwrap_or_else(|| panic!("{server:?}"));
        let endpoint = server.find(|line| Some(line.strip_prefix("listening on ")?.to_owned()));
        self.endpoint = endpoint.unwrap_or_else(|| panic!("{server:?}"));
        let written = server.find(|line| line.starts_with("reference written").then_some(()));
        assert!(written.is_some(), "{server:?}");
        self.server = Some(server);
    }

    /// kill -9, and waits until it is gone.
    fn kill(&mut self) {
        self.server = None;
    }

    fn reference(&self) -> String {
        let file = self.folder.path().join("market.ior");
        file.to_str().expect("a plain name").to_owned()
    }

    fn client(&self, args: &[&str]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quotes-client"));
        command.arg(self.reference()).args(args);
        Running::command(command)
    }

    /// Runs a client that has to succeed.
    fn run(&self, args: &[&str]) -> Vec<String> {
        self.client(args).finish().success()
    }

    /// A client that watches.
    fn watcher(&self) -> Running {
        let mut watcher = self.client(&["watch"]);
        let ready = watcher.find(|line| (line == "watching").then_some(()));
        assert!(ready.is_some(), "{watcher:?}");
        watcher
    }

    fn web(&self) -> Web {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quotes-web"));
        command.args([&self.reference(), "--http", "127.0.0.1:0"]);
        let mut program = Running::command(command);
        let url = program.find(|line| line.starts_with("http://").then(|| line.to_owned()));
        let url = url.unwrap_or_else(|| panic!("{program:?}"));
        let mut web = Web { program, url };
        web.says("watching");
        web
    }
}

fn send(program: &Running, signal: Signal) {
    let id = i32::try_from(program.id()).expect("a process id");
    kill_process(Pid::from_raw(id).expect("a process"), signal).expect("it runs");
}

struct Web {
    program: Running,
    url: String,
}

impl Web {
    fn says(&mut self, text: &str) {
        let said = self.program.find(|line| (line == text).then_some(()));
        assert!(said.is_some(), "{:?}", self.program);
    }

    /// The status, and the body if it is JSON.
    fn get(&self, path: &str) -> (u16, Value) {
        http("GET", &format!("{}{path}", self.url), None)
    }

    fn put(&self, path: &str, body: Value) -> (u16, Value) {
        http("PUT", &format!("{}{path}", self.url), Some(body))
    }
}

fn row(symbol: &str, price: &str) -> String {
    format!("{symbol:8} {price:>10}")
}

#[test]
fn a_price_that_was_acknowledged_survives_kill_9_and_clients_go_on() {
    let mut market = Market::open();
    market.run(&["publish", "ZRB", "12.5"]);
    let reference = std::fs::read_to_string(market.reference()).expect("written");
    market.kill();
    market.start();
    let again = std::fs::read_to_string(market.reference()).expect("written");
    assert_eq!(again, reference);
    market.run(&["publish", "ZRB", "13"]);
    assert_eq!(
        market.run(&["history", "ZRB"]),
        [row("ZRB", "13.00"), row("ZRB", "12.50")]
    );
    assert_eq!(market.run(&["last"]), [row("ZRB", "13.00")]);
}

#[test]
fn what_the_market_refuses_is_said_in_one_line() {
    let market = Market::open();
    let cases: [(&[&str], &str); 2] = [
        (&["publish", "ZRB", "--", "-1"], "BadPrice price=-1.0"),
        (&["history", "NONE"], "UnknownSymbol symbol=\"NONE\""),
    ];
    for (args, expected) in cases {
        let ended = market.client(args).finish();
        assert_eq!(ended.status.code(), Some(1));
        assert_eq!(ended.lines, [format!("quotes-client: {expected}")]);
    }
}

#[test]
fn watchers_hear_every_price_and_one_that_is_gone_is_dropped() {
    let mut market = Market::open();
    let (mut one, other) = (market.watcher(), market.watcher());
    drop(other);
    for price in ["1", "2", "3"] {
        market.run(&["publish", "ZRB", price]);
    }
    for price in ["1.00", "2.00", "3.00"] {
        let heard = one.find(|line| (line == row("ZRB", price)).then_some(()));
        assert!(heard.is_some(), "{one:?}");
    }
    let server = market.server.as_mut().expect("it runs");
    let dropped = server.find(|line| line.starts_with("a watcher is dropped: ").then_some(()));
    assert!(dropped.is_some(), "{server:?}");

    send(&one, Signal::INT);
    one.finish().success();
    let server = market.server.take().expect("it runs");
    send(&server, Signal::TERM);
    let lines = server.finish().success();
    assert_eq!(
        lines.last().map(String::as_str),
        Some("the market is closed")
    );
}

#[test]
fn prometheus_reads_what_was_called_and_how_it_ended() {
    let market = Market::open();
    for _ in 0..2 {
        market.run(&["publish", "ZRB", "12.5"]);
    }
    market.client(&["history", "NONE"]).finish();
    let page = ureq::get(&market.metrics).call().expect("a page");
    let text = page.into_body().read_to_string().expect("text");
    for expected in [
        "# TYPE zorb_upcalls_total counter",
        "zorb_upcalls_total{operation=\"publish\",outcome=\"ok\"} 2",
        "zorb_upcalls_total{operation=\"history\",outcome=\"user_exception\"} 1",
        "# TYPE zorb_upcall_seconds histogram",
        "zorb_upcall_seconds_count{operation=\"publish\"} 2",
        "zorb_upcall_seconds_bucket{operation=\"publish\",le=\"+Inf\"} 2",
        "# TYPE zorb_connections_served gauge",
        "zorb_refusals_total{cause=\"upcalls_dropped\"} 0",
    ] {
        assert!(
            text.lines().any(|line| line == expected),
            "{expected}: {text}"
        );
    }
}

#[test]
fn the_web_front_gives_json_and_goes_on_when_its_market_comes_back() {
    let mut market = Market::open();
    let mut web = market.web();
    assert_eq!(web.put("/quotes/ZRB", json!(12.5)).0, 204);
    let (status, last) = web.get("/quotes");
    assert_eq!(
        (status, &last[0]["symbol"], &last[0]["price"]),
        (200, &json!("ZRB"), &json!(12.5))
    );
    assert_eq!(
        web.get("/quotes/NONE"),
        (404, json!({ "error": "no symbol NONE" }))
    );
    assert_eq!(
        web.put("/quotes/ZRB", json!(-4.0)),
        (422, json!({ "error": "-4 is no price" }))
    );

    market.kill();
    web.says("the market is away");
    assert_eq!(web.get("/health").0, 503);
    let (status, body) = web.get("/quotes");
    let error = body["error"].as_str().unwrap_or_default();
    assert!(status == 503 && error.contains("TRANSIENT"), "{body}");

    market.start();
    web.says("watching");
    assert_eq!(web.get("/health").0, 200);
    let agent = ureq::Agent::new_with_defaults();
    let events = agent.get(format!("{}/events", web.url)).call();
    let events = events.expect("a stream").into_body().into_reader();
    market.run(&["publish", "ZRB", "13"]);
    let mut lines = BufReader::new(events).lines();
    let event = lines.find_map(|line| Some(line.ok()?.strip_prefix("data: ")?.to_owned()));
    let event: Value = serde_json::from_str(&event.expect("an event")).expect("JSON");
    assert_eq!(event["price"], json!(13.0));
    send(&web.program, Signal::TERM);
    web.program.finish().success();
}

/// Waits until the table has exactly these rows: its script calls back when they are there.
fn shows(browser: &Browser, rows: &[[&str; 2]]) {
    let script = "
        const [wanted, done] = arguments, text = JSON.stringify(wanted);
        const look = () => {
            const rows = [...document.querySelectorAll('tbody tr')];
            const now = rows.map((row) => [...row.cells].slice(0, 2).map((it) => it.textContent));
            return JSON.stringify(now) === text && (done(now), true);
        };
        if (!look()) {
            const seen = new MutationObserver(() => look() && seen.disconnect());
            seen.observe(document.body, { subtree: true, childList: true });
        }";
    browser.command("execute/async", json!({ "script": script, "args": [rows] }));
}

#[test]
fn the_page_shows_prices_as_they_come_and_publishes_them() {
    let cell = "quotes/page";
    if !have(cell, &[Path::new("chromium"), Path::new("chromedriver")]) {
        return;
    }
    let market = Market::open();
    market.run(&["publish", "ZRB", "12.5"]);
    let web = market.web();
    let browser = Browser::open(&web.url);
    shows(&browser, &[["ZRB", "12.50"]]);
    market.run(&["publish", "ACE", "7"]);
    shows(&browser, &[["ACE", "7.00"], ["ZRB", "12.50"]]);
    let publish = "
        const form = document.getElementById('publish');
        form.symbol.value = '<b>'; form.price.value = '3';
        form.querySelector('button').click();";
    browser.command("execute/sync", json!({ "script": publish, "args": [] }));
    shows(
        &browser,
        &[["<b>", "3.00"], ["ACE", "7.00"], ["ZRB", "12.50"]],
    );
    passed(cell);
}
