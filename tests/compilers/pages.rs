//! The programs that README.md and the pages for users of other ORBs show, as their readers would
//! start them: copied out of the page, built, and run as processes that call each other.
//!
//! The pages are the only copy there is. As doc tests of `zorb` they are compiled, but not run.

use crate::rustc::rustc;
use crate::support::{Running, have, passed};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zorb_giop::Ior;
use zorb_giop::ior::IiopProfile;

/// The programs of a page, built, in the order of the page.
struct Page {
    folder: TempDir,
    programs: Vec<PathBuf>,
}

impl Page {
    fn build(page: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(&path).expect("the page is there");
        let folder = tempfile::tempdir().expect("a folder");
        let mut building = Vec::new();
        for (n, program) in programs(&text).enumerate() {
            let source = folder.path().join(format!("program{n}.rs"));
            std::fs::write(&source, program).expect("written");
            let built = folder.path().join(format!("program{n}"));
            let mut compiler = rustc(&source);
            compiler.arg("--crate-type=bin").arg("-o").arg(&built);
            let compiler = Running::command(compiler);
            building.push((compiler, built));
        }
        let programs = building.into_iter().map(|(compiler, built)| {
            compiler.finish().success();
            built
        });
        let programs = programs.collect();
        Self { folder, programs }
    }

    /// Starts the n-th program, in the page's own folder.
    fn start(&self, n: usize, args: &[&str]) -> Running {
        let mut command = Command::new(&self.programs[n]);
        command.args(args).current_dir(self.folder.path());
        Running::command(command)
    }

    /// Runs the n-th program to its end: what it says, and whether it succeeded.
    fn run(&self, n: usize, args: &[&str]) -> (bool, Vec<String>) {
        let ended = self.start(n, args).finish();
        (ended.status.success(), ended.lines)
    }
}

/// The page's blocks of Rust that are whole programs.
fn programs(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("\n```rust").skip(1).filter_map(|block| {
        let (_attributes, code) = block.split_once('\n')?;
        Some(code.split_once("\n```")?.0)
    });
    blocks.filter(|code| code.contains("fn main()"))
}

/// The output that the page shows below a program: the block of text before `heading`.
fn shown<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let (above, _) = page.split_once(heading).expect("that heading");
    let (_, block) = above.rsplit_once("\n```text\n").expect("a block");
    let (block, _) = block.split_once("\n```").expect("its end");
    block.lines().collect()
}

const README: &str = include_str!("../../README.md");
const FIRST_CALL: &str = include_str!("../../docs/book/first-call.md");
const MAPPING: &str = include_str!("../../docs/mapping.md");

#[test]
fn the_server_and_the_client_of_the_readme_do_what_it_says() {
    let page = Page::build("README.md");
    // The first one asks a naming service that does not exist.
    assert_eq!(
        page.programs.len(),
        3,
        "a short client, a server and a client"
    );
    let (success, lines) = page.run(2, &[]);
    assert!(!success, "there is no account.ior yet: {lines:?}");

    let mut server = page.start(1, &[]);
    let ready = server.find(|line| line.starts_with("listening on iiop://").then_some(()));
    assert!(ready.is_some(), "{server:?}");
    let expected = shown(README, "\n## How fast\n");
    assert_eq!(page.run(2, &[]), (true, strings(&expected)));
    let again = strings(&["balance: 20.00", "980.00 missing"]);
    assert_eq!(page.run(2, &[]), (true, again));
}

#[test]
fn the_first_chapter_of_the_book_does_what_it_says() {
    let page = Page::build("docs/book/first-call.md");
    assert_eq!(page.programs.len(), 2, "a server and a client");
    let mut server = page.start(0, &[]);
    let ready = server.find(|line| line.starts_with("listening on iiop://").then_some(()));
    assert!(ready.is_some(), "{server:?}");
    let expected = shown(FIRST_CALL, "\n## From here\n");
    assert_eq!(page.run(1, &[]), (true, strings(&expected)));
}

#[test]
fn the_server_of_the_page_about_the_internet_is_called_over_tls_and_renewed() {
    if !have("the page about the Internet", &[Path::new("openssl")]) {
        return;
    }
    const INTERNET: &str = include_str!("../../docs/internet.md");
    let page = Page::build("docs/internet.md");
    assert_eq!(page.programs.len(), 2, "a server and a client");
    let commands = INTERNET.split("\n```sh\n").skip(1);
    let commands: Vec<&str> = commands
        .map(|block| block.split_once("\n```").unwrap().0)
        .collect();
    let (renewal, before) = commands.split_last().unwrap();
    let run = |commands: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-euc", commands])
            .current_dir(page.folder.path());
        Running::command(shell).finish().success();
    };
    before.iter().for_each(|commands| run(commands));
    let mut server = page.start(0, &[]);
    let url = server.find(|line| {
        line.starts_with("corbaloc:ssliop:")
            .then(|| line.to_owned())
    });
    let url = url.unwrap_or_else(|| panic!("{server:?}"));
    let said = (true, strings(&shown(INTERNET, "\nA program that takes")));
    assert_eq!(page.run(1, &[&url]), said);
    run(renewal);
    assert_eq!(page.run(1, &[&url]), said);
    // With a certificate of another authority, or without one, there is no way in.
    run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=alice \
         -addext basicConstraints=critical,CA:FALSE -keyout alice.key -out alice.pem 2> stranger.log",
    );
    let (success, lines) = page.run(1, &[&url]);
    assert!(
        !success && lines.join(" ").contains("certificate"),
        "{lines:?}"
    );
    // Without TLS there is none either.
    let (_, port) = url.split_once("localhost:").unwrap();
    let port = port.split_once('/').unwrap().0.parse().unwrap();
    let mut plain = TcpStream::connect(("127.0.0.1", port)).unwrap();
    plain.write_all(b"GIOP\x01\x02\x01\x00\0\0\0\0").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert_eq!(answer[0], 0x15, "an alert of TLS: {answer:?}");
    // And the client connects to nothing else.
    let (success, lines) = page.run(1, &[&url.replace("ssliop", "iiop")]);
    assert!(
        !success && lines.join(" ").contains("is not permitted"),
        "{lines:?}"
    );
}

#[test]
fn the_echo_of_the_page_for_omniorb_users_echoes() {
    let page = Page::build("docs/from-omniorb.md");
    assert_eq!(page.programs.len(), 2, "a server and a client");
    let mut server = page.start(0, &["-ORBListenEndpoints", "iiop://127.0.0.1:0"]);
    let reference = server.reference();
    let reference = reference.unwrap_or_else(|| panic!("{server:?}"));
    assert_eq!(page.run(1, &[&reference]), (true, strings(&["Hello!"])));

    let (success, lines) = page.run(1, &[]);
    let expected = "Error: \"usage: client OBJECT-URL\"";
    assert_eq!((success, lines), (false, strings(&[expected])));
}

#[test]
fn the_hello_of_the_page_for_tao_users_is_found_by_ior_and_corbaloc() {
    let page = Page::build("docs/from-tao.md");
    assert_eq!(page.programs.len(), 2, "a server and a client");
    let said = (true, strings(&["string returned <Hello there!>"]));
    for by_key in [false, true] {
        let here = ["-ORBListenEndpoints", "iiop://127.0.0.1:0"];
        let mut server = page.start(0, &here);
        let reference = server.reference();
        let mut reference = reference.unwrap_or_else(|| panic!("{server:?}"));
        if by_key {
            reference = corbaloc(&reference, "Hello");
        }
        assert_eq!(page.run(1, &[&reference]), said, "{reference}");
        // The client has asked it to.
        server.finish().success();
    }
}

#[test]
fn the_good_day_of_the_page_for_jacorb_users_is_found_by_name() {
    let cell = "omninames/pages";
    let omni_names = Path::new("omniNames");
    if !have(cell, &[omni_names]) {
        return;
    }
    let page = Page::build("docs/from-jacorb.md");
    assert_eq!(page.programs.len(), 2, "a server and a client");
    let log = page.folder.path().to_str().expect("a plain name");
    let here = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
    let args = [&["-start", "-ignoreport", "-logdir", log], &here[..]].concat();
    let mut names = Running::start(omni_names, &args);
    let service = names.reference().expect("omniNames says where it is");
    // As the page says: from a file.
    std::fs::write(page.folder.path().join("ns.ior"), service).expect("written");
    let service = format!("NameService=file://{log}/ns.ior");
    let known = ["-ORBInitRef", &service];

    let (success, lines) = page.run(1, &known);
    assert!(!success && lines[0].contains("grid.example"), "{lines:?}");
    let mut server = page.start(0, &known);
    let ready = server.find(|line| line.starts_with("bound").then_some(()));
    assert!(ready.is_some(), "{server:?}");
    assert_eq!(page.run(1, &known), (true, strings(&["Hello World"])));
    passed(cell);
}

#[test]
fn idl_in_a_crate_of_its_own_is_used_as_the_page_of_the_mapping_says() {
    let (_, section) = MAPPING
        .split_once("\n### IDL in a crate of its own\n")
        .expect("the section");
    let (section, _) = section.split_once("\n### ").expect("its end");
    let blocks = section.split("\n```rust,ignore\n").skip(1);
    let blocks: Vec<_> = blocks
        .filter_map(|block| block.split_once("\n```"))
        .collect();
    let [(library, _), (program, _)] = blocks[..] else {
        panic!("a library and a program: {blocks:?}");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, text).expect("written");
        path
    };
    write("idl/bank.idl", include_str!("../../examples/bank.idl"));
    let library = write("src/lib.rs", library);
    let program = write("main.rs", program);
    let compiled = folder.path().join("libbank_idl.rlib");
    let mut compiler = rustc(&library);
    compiler.args(["--crate-name=bank_idl", "--crate-type=rlib", "-o"]);
    compiler
        .arg(&compiled)
        .env("CARGO_MANIFEST_DIR", folder.path());
    Running::command(compiler).finish().success();
    let built = folder.path().join("teller");
    let mut compiler = rustc(&program);
    compiler.arg(format!("--extern=bank_idl={}", compiled.display()));
    compiler.arg("-o").arg(&built);
    Running::command(compiler).finish().success();
    let ended = Running::command(Command::new(&built)).finish();
    let lines = strings(&["IDL:examples.zorb/Bank/Account:1.0"]);
    assert_eq!((ended.status.success(), ended.lines), (true, lines));
}

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

/// The URL of a key at the place that a reference leads to.
fn corbaloc(reference: &str, key: &str) -> String {
    let digits = reference.trim_start_matches("IOR:");
    let ior = Ior::from_hex(digits).expect("a reference");
    let profile = IiopProfile::from_tagged(&ior.profiles[0]).expect("it leads over IIOP");
    let address = profile.address;
    format!("corbaloc:iiop:1.2@{}:{}/{key}", address.host, address.port)
}
