//! Calls over circuits of ATM, between ORBs on interfaces 0 and 1: for a kernel that has them. `cargo xtask test atm`
//! runs this in a virtual machine; elsewhere each test says that it is skipped.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use zorb::{Bytes, OctetsRef, Orb, SystemException, SystemExceptionKind as Kind};
use zorb_atm::session::Config;
use zorb_atm::{Atm, AtmOptions};

#[path = "../peers/digest.rs"]
mod digest;
#[path = "../../crates/atm/vm/faults.rs"]
mod faults;
mod interop;
#[path = "../peers/peers.rs"]
#[expect(dead_code, reason = "no program of another ORB is started here")]
mod peers;
#[path = "../peers/runner.rs"]
mod runner;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "no program of another ORB is started here")]
mod support;
use faults::{Fault, have_atm};

/// The application of the example `protocols`.
#[path = "../../examples/protocols/weather.rs"]
mod weather;

zorb::idl! {
    module Circuits {
        typedef sequence<octet> Blob;
        interface Ledger {
            /// Enters `number`, and gives the octets back.
            Blob turn(in long number, in Blob octets);
            oneway void enter(in long number, in Blob octets);
            /// The numbers that were entered, in order, and the octets in all.
            string entries(out unsigned long long octets);
        };
    };
}

use circuits::{Ledger, LedgerRef, LedgerServant};

/// The calls that a server has got.
#[derive(Default)]
struct Book(Mutex<(Vec<i32>, u64)>);

impl Book {
    fn put(&self, number: i32, octets: usize) {
        let mut book = self.0.lock().unwrap();
        book.0.push(number);
        book.1 += octets as u64;
    }
}

impl Ledger for Book {
    async fn turn(&self, number: i32, octets: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        self.put(number, octets.len());
        Ok(Bytes::copy_from_slice(&octets))
    }

    async fn enter(&self, number: i32, octets: OctetsRef<'_>) -> Result<(), SystemException> {
        assert!(octets.iter().all(|octet| *octet == number as u8));
        self.put(number, octets.len());
        Ok(())
    }

    async fn entries(&self) -> Result<(String, u64), SystemException> {
        let book = self.0.lock().unwrap();
        Ok((listed(&book.0), book.1))
    }
}

fn listed(numbers: &[i32]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i32::to_string).collect();
    numbers.join(" ")
}

fn atm() -> Arc<Atm> {
    let mut config = Config::default();
    config.open_timeout = Duration::from_secs(2);
    config.keep_alive = Duration::from_millis(500);
    config.dead_after = Duration::from_secs(2);
    Arc::new(Atm::new(AtmOptions::default().session(config)))
}

async fn server(vci: u16) -> (Orb, String) {
    let builder = Orb::builder().transport(atm());
    let orb = builder
        .listen(format!("atm://1.0.{vci}?peer=0.0.{vci}"))
        .build()
        .await
        .unwrap();
    let poa = orb.root_poa();
    let servant = LedgerServant::new(Book::default());
    let ledger: LedgerRef = poa.activate(servant).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = orb.object_to_string(&ledger);
    (orb, reference)
}

async fn client(reference: &str) -> (Orb, LedgerRef) {
    let orb = Orb::builder().transport(atm()).build().await.unwrap();
    let ledger = orb.string_to_object(reference).await.unwrap();
    (orb, ledger.unchecked_narrow())
}

fn octets(number: i32, length: usize) -> Vec<u8> {
    vec![number as u8; length]
}

const SIZES: [usize; 9] = [0, 1, 40, 1_500, 9_180, 32_384, 65_536, 300_000, 1 << 20];

/// Two-way and one-way calls of every size; then the ledgers are compared.
async fn every_size(vci: u16) {
    let (_server, reference) = server(vci).await;
    let (_client, ledger) = client(&reference).await;
    let (mut numbers, mut sum) = (Vec::new(), 0);
    for (number, length) in (0..).zip(SIZES) {
        let sent = octets(number, length);
        let back = ledger.turn(number, &sent).await.unwrap();
        assert!(back == sent, "{length} octets come back");
        ledger
            .enter(100 + number, &octets(100 + number, length))
            .await
            .unwrap();
        numbers.extend([number, 100 + number]);
        sum += 2 * length as u64;
    }
    let entries = ledger.entries().await.unwrap();
    assert_eq!(entries, (listed(&numbers), sum));
}

#[tokio::test]
async fn calls_of_every_size_are_entered_once_and_in_order() {
    if have_atm("calls") {
        every_size(300).await;
    }
}

#[tokio::test]
async fn an_application_is_moved_here_by_an_option_alone() {
    if have_atm("calls") {
        let option = "-ORBListenEndpoints atm://1.0.307?peer=0.0.307";
        let seen = weather::observe(|| Orb::builder().transport(atm()), option).await;
        let seen = seen.unwrap();
        assert!(seen.starts_with("atm://1.0.307"), "{seen}");
    }
}

#[tokio::test]
async fn so_they_are_where_one_frame_in_ten_is_lost() {
    if have_atm("calls") {
        let _fault = Fault::set("drop_every", 10);
        every_size(301).await;
    }
}

#[tokio::test]
async fn so_they_are_on_a_narrow_line() {
    if have_atm("calls") {
        let _fault = Fault::set("rate", 60_000);
        every_size(302).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_get_their_own_answers() {
    if !have_atm("calls") {
        return;
    }
    let (_server, reference) = server(303).await;
    let (_client, ledger) = client(&reference).await;
    let mut callers = Vec::new();
    for caller in 0..64 {
        let ledger = ledger.clone();
        callers.push(tokio::spawn(async move {
            for turn in 0..8 {
                let number = caller * 8 + turn;
                let sent = octets(number, (number as usize * 97) % 5_000);
                let back = ledger.turn(number, &sent).await.unwrap();
                assert!(back == sent, "the answer to {number}");
            }
        }));
    }
    for caller in callers {
        caller.await.unwrap();
    }
    let (entries, _) = ledger.entries().await.unwrap();
    let mut numbers: Vec<i32> = entries.split(' ').map(|n| n.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..512).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_flood_of_one_ways_is_entered_whole_and_in_order() {
    if !have_atm("calls") {
        return;
    }
    let (_server, reference) = server(304).await;
    let (_client, ledger) = client(&reference).await;
    let before = faults::dropped();
    for number in 0..150 {
        ledger.enter(number, &octets(number, 65_536)).await.unwrap();
    }
    let entries = ledger.entries().await.unwrap();
    let numbers: Vec<_> = (0..150).collect();
    assert_eq!(entries, (listed(&numbers), 150 * 65_536));
    let overruns = faults::dropped() - before;
    assert_eq!(overruns, 0, "frames that the kernel had no room for");
}

/// A server that is another process; it prints its reference.
#[tokio::test]
#[ignore = "a process that another test starts"]
#[expect(clippy::print_stdout, reason = "the test that starts it reads this")]
async fn serve() {
    let (_orb, reference) = server(305).await;
    println!("\n{reference}");
    std::future::pending().await
}

struct Server {
    child: Child,
    reference: String,
}

impl Server {
    fn start() -> Self {
        use std::io::{BufRead, BufReader};
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "serve", "--ignored", "--nocapture"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let reference = lines.find(|line| line.starts_with("IOR:")).unwrap();
        Self { child, reference }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test]
async fn a_server_that_dies_is_an_exception_and_its_successor_is_called() {
    if !have_atm("calls") {
        return;
    }
    let first = Server::start();
    let (orb, ledger) = client(&first.reference).await;
    assert_eq!(&ledger.turn(1, &[7]).await.unwrap()[..], [7]);
    drop(first);
    let error = ledger.turn(2, &[7]).await.unwrap_err();
    let gone = [Kind::CommFailure, Kind::Transient];
    assert!(gone.contains(&error.kind), "{error}");
    let second = Server::start();
    let anew = orb.string_to_object(&second.reference).await.unwrap();
    let anew: LedgerRef = anew.unchecked_narrow();
    assert_eq!(&anew.turn(3, &[8, 9]).await.unwrap()[..], [8, 9]);
    assert_eq!(anew.entries().await.unwrap(), ("3".to_owned(), 2));
}

#[tokio::test]
async fn a_call_through_an_interface_that_is_unplugged_is_an_exception() {
    if !have_atm("calls") {
        return;
    }
    let orb = Orb::builder()
        .transport(atm())
        .listen("atm://3.0.306?peer=2.0.306");
    let server = orb.build().await.unwrap();
    let poa = server.root_poa();
    let servant = LedgerServant::new(Book::default());
    let ledger: LedgerRef = poa.activate(servant).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&ledger);
    let (_client, ledger) = client(&reference).await;
    ledger.turn(1, &[]).await.unwrap();
    Fault::once("unplug", 3);
    let error = ledger.turn(2, &[]).await.unwrap_err();
    let gone = [Kind::CommFailure, Kind::Transient];
    assert!(gone.contains(&error.kind), "{error}");
}
