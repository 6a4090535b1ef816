//! The transcripts of `zorb` in docs/tools.md and docs/tracing.md: every command is run, against an omniNames of this test,
//! and its output is compared.
//!
//! Addresses, times and object keys differ from machine to machine, and are not compared. Without omniORB the test passes,
//! and prints that it was skipped.

#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::process::Command;
use support::{Running, have};
use zorb_giop::Ior;
use zorb_giop::ior::IiopProfile;

const TOOLS: &str = include_str!("../../../docs/tools.md");
const TRACING: &str = include_str!("../../../docs/tracing.md");
/// A reference, and the output of `zorb ior` for it.
const EXPLAINED: &str = include_str!("ior/omniorb-unix.txt");

/// The commands in the text blocks of a page, each with its output there.
fn transcripts(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands = Vec::new();
    for block in page.split("\n```text\n$ ").skip(1) {
        let (block, _) = block.split_once("\n```").expect("the end of a block");
        for command in block.split("\n$ ") {
            let mut lines = command.lines();
            let command = lines.next().expect("a command");
            commands.push((command, lines.collect()));
        }
    }
    commands
}

/// A line without the parts that differ from run to run: endpoints and times.
fn same(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let same = words.iter().enumerate().map(|(n, &word)| {
        let is_time = words.get(n + 1).is_some_and(|next| next.starts_with("ms"));
        match word.find("iiop://") {
            Some(at) => {
                let colon = if word.ends_with(':') { ":" } else { "" };
                format!("{}iiop://…{colon}", &word[..at])
            }
            None if is_time => "…".to_owned(),
            None => word.to_owned(),
        }
    });
    same.collect::<Vec<_>>().join(" ")
}

/// The lines of two streams, sorted, as their order is not fixed.
fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn what_zorb_ior_says_on_the_page_is_what_it_says() {
    let commands = transcripts(TOOLS);
    let (command, said) = &commands[0];
    let digits = command
        .strip_prefix("zorb ior ")
        .and_then(|ior| ior.strip_suffix('…'))
        .expect("the beginning of a reference");
    let (reference, explained) = EXPLAINED.split_once("\n\n").expect("two paragraphs");
    assert!(reference.contains(digits), "{digits}");
    assert_eq!(said.join("\n"), explained.trim_end());
}

#[test]
fn what_the_other_commands_say_on_the_pages_is_what_they_say() {
    let omni_names = Path::new("omniNames");
    if !have("the transcripts of zorb", &[omni_names]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().to_str().unwrap();
    let here = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
    let args = [&["-start", "-ignoreport", "-logdir", log], &here[..]].concat();
    let mut omni_names = Running::start(omni_names, &args);
    let service = omni_names.reference().expect("omniNames says where it is");
    let service = Ior::from_hex(service.trim_start_matches("IOR:")).unwrap();
    let service = IiopProfile::from_tagged(&service.profiles[0]).unwrap();
    let port = service.address.port;

    // A reference to an account whose server is not running.
    let account = "IOR:010000001500000049444c3a42616e6b2f4163636f756e743a312e300000000001000000\
        000000001c000000010100000a0000003132372e302e302e3100010004000000426f6f6b";
    std::fs::write(folder.path().join("account.ior"), account).unwrap();

    let commands = [transcripts(TOOLS), transcripts(TRACING)].concat();
    let mut run = 0;
    for (command, expected) in commands {
        if command.starts_with("zorb ior IOR:") {
            continue;
        }
        let command = command
            .replace("/srv/", &format!("{log}/"))
            .replace("127.0.0.1:47200", &format!("127.0.0.1:{port}"))
            .replace("::localhost", &format!("::127.0.0.1:{port}"));
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "zorb");
        let mut zorb = Command::new(env!("CARGO_BIN_EXE_zorb"));
        zorb.args(&words[1..]).env_remove("ZORB_NAMESERVICE");
        // For a command with -n, the variable names a wrong service: the output shows that the option has precedence.
        let service = format!("NameService=corbaloc::127.0.0.1:{port}/NameService");
        zorb.env(
            "ORBInitRef",
            if words.contains(&"-n") {
                "NameService=corbaloc::127.0.0.1:1/x"
            } else {
                &service
            },
        );
        let said = Running::command(zorb).finish().lines;
        let said: Vec<String> = said.iter().map(|line| same(line)).collect();
        let expected: Vec<String> = expected.iter().map(|line| same(line)).collect();
        assert_eq!(sorted(said), sorted(expected), "{command}");
        run += 1;
    }
    assert!(run >= 8, "{run} commands");
}
