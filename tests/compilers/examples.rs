//! The examples as their readers start them: processes of their own, several at a time, ended by
//! what they say to each other.
//!
//! Without omniNames the test that needs it passes and says that it was skipped.

use crate::support::{Ended, Running, have, passed};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Where cargo puts the examples. `cargo test` builds them, `cargo test --test compilers` does not.
fn example(name: &str) -> Command {
    static PROGRAMS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--examples", "--message-format=json"]);
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
        let built = build.output().expect("cargo is there");
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{said}");
        cargo_metadata::Message::parse_stream(built.stdout.as_slice())
            .filter_map(|message| match message.expect("cargo speaks JSON") {
                cargo_metadata::Message::CompilerArtifact(artifact) => Some((
                    artifact.target.name,
                    artifact.executable?.into_std_path_buf(),
                )),
                _ => None,
            })
            .collect()
    });
    let program = programs.get(name);
    let mut command = Command::new(program.unwrap_or_else(|| panic!("no example {name}")));
    // The environment's options are no part of the tests.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ORB") {
            command.env_remove(name);
        }
    }
    command
}

fn start(name: &str, args: &[&str]) -> Running {
    let mut command = example(name);
    command.args(args);
    Running::command(command)
}

/// Runs a program to its end.
fn run(name: &str, args: &[&str]) -> Ended {
    start(name, args).finish()
}

/// Starts a server and waits until it has written its reference.
fn serve(name: &str, args: &[&str]) -> Running {
    let mut server = start(name, args);
    let written = server.find(|line| line.starts_with("reference written to ").then_some(()));
    assert!(written.is_some(), "{server:?}");
    server
}

/// A file in a folder that goes away with the test.
fn file(name: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let path = path.to_str().expect("a plain name").to_owned();
    (folder, path)
}

#[test]
fn a_transport_of_one_s_own_carries_calls_late_lossy_and_cut() {
    let lines = run("pipe", &[]).success();
    for expected in [
        "serving at pipe://echo: IOR:",
        "no transport for profile 0x5a4f52f0",
        "plain: \"hello\" -> \"HELLO\"",
        "slow and lossy: \"over there\" -> \"OVER THERE\"",
        "corbaloc:pipe:1.2@echo/Echo",
        "COMM_FAILURE",
        "cut: \"three\" -> \"THREE\"",
        "all ORBs are down",
    ] {
        let is_said = lines.iter().any(|line| line.contains(expected));
        assert!(is_said, "no {expected} in {lines:#?}");
    }
}

#[test]
fn one_application_moves_from_protocol_to_protocol_by_configuration() {
    let lines = run("protocols", &[]).success();
    for expected in [
        "TCP: iiop://127.0.0.1:",
        "UNIX socket: uiop://@",
        "GIOPlite over TCP: iioplite://127.0.0.1:",
        "GIOPlite over UNIX socket: uioplite://@",
    ] {
        let went = |line: &String| line.starts_with(expected) && line.contains(", a small call ");
        assert!(lines.iter().any(went), "no {expected} in {lines:#?}");
    }
    // With ATM or without: `cargo xtask test atm` has it where it can be had.
    let atm = lines.iter().find(|line| line.starts_with("ATM: "));
    let atm = atm.expect("a line for each protocol");
    assert!(
        atm.contains("atm://1.0.100") && (atm.contains("AF_ATMPVC") || atm.contains("small call")),
        "{atm}"
    );

    let none = run("protocols", &["no.conf"]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(
        none.lines,
        ["protocols: cannot read no.conf: No such file or directory (os error 2)"]
    );
}

#[test]
fn quickstart_shows_a_balance_an_exception_and_a_callback() {
    let lines = run("quickstart", &[]).success();
    for expected in ["withdraw(2.50)", "InsufficientFunds", "IOR:"] {
        assert!(
            lines.iter().any(|line| line.contains(expected)),
            "no {expected} in {lines:#?}"
        );
    }
}

#[test]
fn a_socket_that_an_operation_opens_has_the_same_octets_as_calls_and_a_film_goes_on_behind_lost_frames()
 {
    let lines = run("studio", &["2"]).success();
    let [by_calls, beside, again, film] = lines.as_slice() else {
        panic!("{lines:#?}");
    };
    assert!(by_calls.starts_with("by calls of 256 KiB: 67108864 octets, "));
    assert!(beside.starts_with("by a socket beside them: 134217728 octets, "));
    assert!(!beside.ends_with(" and 0 calls meanwhile"), "{beside}");
    assert_eq!(again, "with the same ticket again: 0 octets");
    let numbers: Vec<u32> = film
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let [sent, seen, last, lost, late] = numbers.as_slice() else {
        panic!("{film}");
    };
    assert!(
        last < sent && seen + lost + late == last + 1 && *lost > 0,
        "{film}"
    );
}

#[test]
fn lanes_keep_the_calls_of_a_controller_and_a_sensor_apart_from_a_logger_s() {
    let lines = run("lanes", &[]).success();
    for expected in ["with lanes:", "one queue and one thread:"] {
        let title = lines.iter().position(|line| line.starts_with(expected));
        let title = title.unwrap_or_else(|| panic!("no {expected} in {lines:#?}"));
        let pictures = [("controller", 1), ("    sensor", 2)];
        for (name, behind) in pictures {
            let line = &lines[title + behind];
            let is_drawn = line.contains('█') && line.contains("| median ");
            assert!(line.starts_with(name) && is_drawn, "{name}: {lines:#?}");
        }
    }
}

#[test]
fn blocking_threads_share_a_connection_and_a_servant_that_blocks_holds_up_no_other() {
    let lines = run("blocking", &[]).success();
    for expected in [
        "4000 deposits",
        "gets the event of 4000",
        "all ORBs are down",
    ] {
        assert!(
            lines.iter().any(|line| line.contains(expected)),
            "no {expected} in {lines:#?}"
        );
    }
}

const FIRST_VISIT: [&str; 6] = [
    "found IDL:examples.zorb/Bank/Teller:1.0",
    "Ada has 75.00, Grace has 25.00",
    "  Ada  +100.00 salary",
    "  Ada   -25.00 to Grace",
    "withdrawing 1000.00: InsufficientFunds, 925.00 missing",
    "looking for Eve: NoSuchAccount \"Eve\"",
];

#[test]
fn the_bank_is_found_by_file_and_serves_several_clients() {
    let (_folder, ior) = file("bank.ior");
    let server = serve("bank_server", &[&ior]);
    assert_eq!(run("bank_client", &[&ior]).success(), FIRST_VISIT);
    let clients: Vec<_> = (0..4).map(|_| start("bank_client", &[&ior])).collect();
    for client in clients {
        let lines = client.finish().success();
        assert_eq!(lines[0], FIRST_VISIT[0]);
        assert_eq!(lines.last().map(String::as_str), Some(FIRST_VISIT[5]));
    }
    let lines = run("bank_client", &[&ior]).success();
    assert_eq!(lines[1], "Ada has 450.00, Grace has 150.00", "six visits");

    assert!(
        run("bank_client", &[&ior, "--shutdown"])
            .success()
            .is_empty()
    );
    let lines = server.finish().success();
    let expected = [
        "opened an account for Ada",
        "opened an account for Grace",
        "asked to shut down",
        "the bank is closed",
    ];
    assert_eq!(lines[lines.len() - 4..], expected);

    // The file is still there, without a server behind it.
    let failed = fails("bank_client", &[&ior]);
    let endpoint = lines[0]
        .strip_prefix("listening on ")
        .expect("it says where");
    let expected = format!("cannot connect to {endpoint}: Connection refused");
    assert!(
        failed.contains("TRANSIENT") && failed.contains(&expected),
        "{failed}"
    );
}

#[test]
fn the_bank_is_called_by_a_gateway_that_does_not_know_it() {
    let (folder, ior) = file("bank.ior");
    let gate = folder.path().join("gate.ior");
    let gate = gate.to_str().expect("a plain name");
    let server = serve("bank_server", &[&ior]);
    let gateway = serve("gateway", &[&ior, gate]);
    assert_eq!(run("bank_client", &[gate]).success(), FIRST_VISIT);
    assert!(run("bank_client", &[gate, "--shutdown"]).status.success());
    let lines = gateway.finish().success();
    for expected in [
        "open passed on",
        "find passed on, and it raised an exception",
        "the gateway is closed",
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "no {expected} in {lines:#?}"
        );
    }
    server.finish().success();
}

#[test]
fn the_bank_is_found_by_the_naming_service() {
    let cell = "omninames/examples";
    let omni_names = Path::new("omniNames");
    if !have(cell, &[omni_names]) {
        return;
    }
    let (folder, ior) = file("bank.ior");
    let log = folder.path().to_str().expect("a plain name");
    let here = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
    let args = [&["-start", "-ignoreport", "-logdir", log], &here[..]].concat();
    let mut names = Running::start(omni_names, &args);
    let service = names.reference().expect("omniNames says where it is");
    let service = format!("NameService={service}");
    let by_name = ["--name", "examples/bank.teller", "-ORBInitRef", &service];

    let failed = fails("bank_client", &by_name);
    let expected = "\"examples/bank.teller\" is not found: \"examples\" is not bound";
    assert_eq!(failed, format!("bank_client: {expected}"));

    // The environment does as well as an argument.
    let mut client = example("bank_client");
    client.args(&by_name[..2]).env("ORBInitRef", &service);
    let ended = Running::command(client).finish();
    assert_eq!(ended.lines, [format!("bank_client: {expected}")]);

    // Twice: the second life takes the place of the first.
    for life in ["first", "second"] {
        let server = serve("bank_server", &[&by_name[..], &[&ior]].concat());
        assert_eq!(
            run("bank_client", &by_name).success(),
            FIRST_VISIT,
            "{life} life"
        );
        assert!(
            run("bank_client", &[&by_name[..], &["--shutdown"]].concat())
                .success()
                .is_empty()
        );
        assert_eq!(
            server.finish().success().last().unwrap(),
            "the bank is closed"
        );
        let failed = fails("bank_client", &by_name);
        assert!(
            failed.contains("cannot connect to iiop://127.0.0.1:"),
            "{failed}"
        );
    }
    passed(cell);
}

#[test]
fn a_server_that_is_killed_has_kept_what_it_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (store, ior, receipts) = (path("store"), path("store/office.ior"), path("receipts"));
    let endpoint = format!("uiop://{}", path("socket"));
    // A tenth of the accounts that it makes by default.
    let of_size = ["--accounts", "100000"];
    let listens = ["-ORBListenEndpoints", &endpoint];
    let start = || {
        serve(
            "store_server",
            &[&[&*store][..], &of_size, &listens].concat(),
        )
    };
    let visit = ["a deposit: 0 and 250 are 250", "branch 99 has 250"];

    let mut server = start();
    let expected = ["100000 accounts", visit[0], visit[1], "no account 100000"];
    assert_eq!(run("store_client", &[&ior]).success(), expected);
    let reference = std::fs::read(&ior).expect("the server wrote it");
    for life in ["first", "second"] {
        let depositing = [&ior, "--deposit-until-lost", &receipts];
        let mut client = self::start("store_client", &depositing);
        let many = client.find(|line| (line == "1000 acknowledged").then_some(()));
        assert!(many.is_some(), "{client:?}");
        // Killed, in the middle of transactions.
        drop(server);
        let lines = client.finish().success();
        assert!(lines.last().unwrap().contains(" in doubt"), "{lines:?}");

        server = start();
        assert_eq!(
            std::fs::read(&ior).expect("again"),
            reference,
            "{life} life"
        );
        let lines = run("store_client", &[&ior, "--audit", &receipts]).success();
        let expected = "128 accounts are as acknowledged";
        assert!(lines[0].starts_with(expected), "{life} life: {lines:?}");
    }
    assert_eq!(
        run("store_client", &[&ior]).success()[1],
        "a deposit: 250 and 250 are 500"
    );
    let end = run("store_client", &[&ior, "--shutdown"]).success();
    assert!(end.is_empty(), "{end:?}");
    let lines = server.finish().success();
    let expected = [
        "branch 99 is activated",
        "asked to shut down",
        "branch 99 is put away",
        "the bank is closed",
    ];
    assert_eq!(lines[lines.len() - 4..], expected);
}

/// A member of the chat.
struct Member {
    screen: Running,
    keyboard: ChildStdin,
}

impl Member {
    fn join(ior: &str, name: &str, others: &str) -> Self {
        let mut command = example("chat_client");
        command.args([ior, name]);
        let (screen, keyboard) = Running::spawn(command, Stdio::piped());
        let mut member = Self {
            screen,
            keyboard: keyboard.expect("piped"),
        };
        member.sees(&format!("here: {others}"));
        member
    }

    fn types(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("it reads");
    }

    /// The next line has to be this one.
    fn sees(&mut self, expected: &str) {
        self.sees_in_any_order(&[expected]);
    }

    fn sees_in_any_order(&mut self, expected: &[&str]) {
        let next = |_: &&str| self.screen.find(|line| Some(line.to_owned()));
        let mut lines: Vec<_> = expected.iter().filter_map(next).collect();
        lines.sort();
        assert_eq!(lines, expected, "{:?}", self.screen);
    }

    fn quits(mut self) {
        self.types("/quit");
        self.screen.finish().success();
    }
}

#[test]
fn what_is_said_in_the_chat_is_heard_and_who_vanishes_harms_no_other() {
    let (_folder, ior) = file("chat.ior");
    let mut server = serve("chat_server", &[&ior]);
    let mut ada = Member::join(&ior, "Ada", "alone yet");
    let mut grace = Member::join(&ior, "Grace", "Ada");
    ada.sees("Grace: (has come)");
    let mallory = Member::join(&ior, "Mallory", "Ada, Grace");
    ada.sees("Mallory: (has come)");
    grace.sees("Mallory: (has come)");

    let taken = fails("chat_client", &[&ior, "Ada"]);
    assert_eq!(taken, "chat_client: NameTaken name=\"Ada\"");

    for n in 0..20 {
        ada.types(&format!("hello {n}"));
        grace.types(&format!("good day {n}"));
    }
    for n in 0..20 {
        ada.sees(&format!("Grace: good day {n}"));
        grace.sees(&format!("Ada: hello {n}"));
    }

    // The client is killed without a message to the server, perhaps while a line is on its way.
    drop(mallory);
    grace.types("are you there?");
    let dropped = server.find(|line| {
        line.contains("Mallory is dropped: ")
            .then(|| line.to_owned())
    });
    let dropped = dropped.expect("the server says so");
    assert!(dropped.contains("iiop://127.0.0.1:"), "{dropped}");
    ada.sees_in_any_order(&["Grace: are you there?", "Mallory: (is gone)"]);
    grace.sees("Mallory: (is gone)");
    ada.types("just the two of us");
    grace.sees("Ada: just the two of us");
    // The name is free again.
    let mut mallory = Member::join(&ior, "Mallory", "Ada, Grace");
    ada.sees("Mallory: (has come)");
    grace.sees("Mallory: (has come)");

    ada.quits();
    grace.sees("Ada: (has left)");
    mallory.sees("Ada: (has left)");
    // The end of the input is as good as /quit.
    drop(grace.keyboard);
    grace.screen.finish().success();
    mallory.sees("Grace: (has left)");

    assert!(
        run("chat_client", &[&ior, "--shutdown"])
            .success()
            .is_empty()
    );
    assert_eq!(
        server.finish().success().last().unwrap(),
        "the chat is over"
    );
    // The members that are left get the server's end.
    mallory.types("hello?");
    let ended = mallory.screen.finish();
    assert_eq!(ended.status.code(), Some(1));
    let said = ended.lines.join("\n");
    assert!(
        said.contains("chat_client: TRANSIENT") && said.contains("iiop://127.0.0.1:"),
        "{said}"
    );
}

/// The message of a program that has to fail. Its two outputs come in any order.
fn fails(name: &str, args: &[&str]) -> String {
    let ended = run(name, args);
    let said = ended.lines.join("\n");
    assert_eq!(ended.status.code(), Some(1), "{name} {args:?}: {said}");
    let by_name = |line: &&String| line.starts_with(&format!("{name}: "));
    let errors: Vec<_> = ended.lines.iter().filter(by_name).collect();
    assert_eq!(errors.len(), 1, "one line that says why: {said}");
    errors[0].clone()
}

#[test]
fn what_cannot_be_is_said_with_its_cause() {
    let (folder, ior) = file("chat.ior");
    let chat = serve("chat_server", &[&ior]);
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (garbage, nowhere) = (inside("garbage"), inside("no/such/folder/x.ior"));
    std::fs::write(&garbage, "hello\n").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("iiop://{}", taken.local_addr().unwrap());

    let closed = "cannot connect to iiop://127.0.0.1:1: Connection refused";
    let unreachable = "-ORBInitRef NameService=corbaloc::127.0.0.1:1/NameService";
    let not_a_room = "is no naming context but an object of IDL:examples.zorb/Chat/Room:1.0";
    for (line, pieces) in [
        (
            "bank_client /no/such/file",
            ["cannot read /no/such/file: ", "No such file"],
        ),
        (
            &format!("bank_client {garbage}"),
            [&garbage, "expected IOR:"],
        ),
        (
            "bank_client IOR:1234zz",
            ["expected a hexadecimal digit, ", "found 'z' at 4"],
        ),
        (
            &format!("bank_client {ior}"),
            ["is no Bank::Teller but ", "/Chat/Room:1.0"],
        ),
        (
            "bank_client corbaloc::127.0.0.1:1/Bank",
            ["TRANSIENT", closed],
        ),
        (
            "bank_client corbaloc::no-such-host.invalid/Bank",
            ["TRANSIENT", "no-such-host.invalid:2809"],
        ),
        (
            "bank_client corbaname::127.0.0.1:1#Bank",
            ["TRANSIENT", closed],
        ),
        (
            &format!("bank_client --name a {unreachable}"),
            ["the naming service failed: ", closed],
        ),
        (
            &format!("bank_client --name a -ORBInitRef NameService=file://{ior}"),
            ["what is at iiop://127.0.0.1:", not_a_room],
        ),
        (
            "bank_client --name a",
            [
                "cannot find the naming service: ",
                "-ORBInitRef NameService=",
            ],
        ),
        (
            &format!("bank_server --name a {unreachable}"),
            ["the naming service failed: ", closed],
        ),
        (
            &format!("bank_server {nowhere}"),
            ["cannot write ", "x.ior: No such file"],
        ),
        (
            &format!("chat_server {nowhere}"),
            ["cannot write ", "x.ior: No such file"],
        ),
        (
            &format!("bank_server x.ior -ORBListenEndpoints {taken}"),
            [&taken, "Address already in use"],
        ),
        (
            "bank_server x.ior -ORBListenEndpoints here",
            ["-ORBListenEndpoints", "here"],
        ),
        (
            "bank_server x.ior -ORBNoSuchOption 1",
            ["-ORBNoSuchOption", "-ORBInitRef"],
        ),
        (
            "chat_client /no/such/file Ada",
            ["cannot read /no/such/file: ", "No such file"],
        ),
        (
            "chat_client corbaloc::127.0.0.1:1/Chat Ada",
            ["TRANSIENT", closed],
        ),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let said = fails(words[0], &words[1..]);
        for piece in pieces {
            assert!(said.contains(piece), "{line}: no {piece:?} in {said:?}");
        }
    }
    for line in ["bank_client", &format!("chat_client {ior}"), "bank_server"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ended = run(words[0], &words[1..]);
        assert_eq!(ended.status.code(), Some(2), "{:?}", ended.lines);
        assert!(ended.lines.iter().any(|line| line.starts_with("Usage: ")));
    }
    run("chat_client", &[&ior, "--shutdown"]).success();
    chat.finish().success();
}
