//! Calls over circuits of ATM, between ORBs on interfaces 0 and 1: for a kernel that has them. `cargo xtask test atm`
//! runs this in a virtual machine; elsewhere each test says that it is skipped.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zorb::{Bytes, OctetsRef, Orb, Policies, SystemException};
use zorb_atm::session::Config;
use zorb_atm::{Atm, AtmOptions, CircuitId, Class, Quality};

mod deaths;
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
mod streams;
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
            /// Enters `number`, and never answers.
            void hold(in long number);
            /// The numbers that were entered, in order, and the octets in all.
            string entries(out unsigned long long octets);
        };
    };
}

use circuits::{Ledger, LedgerRef, LedgerServant};

/// The calls that a server has got.
#[derive(Default)]
struct Book {
    calls: Mutex<(Vec<i32>, u64)>,
    /// Where each number is written, too, by a process that is killed.
    file: Option<File>,
}

impl Book {
    fn put(&self, number: i32, octets: usize) {
        let mut calls = self.calls.lock().unwrap();
        calls.0.push(number);
        calls.1 += octets as u64;
        if let Some(mut file) = self.file.as_ref() {
            file.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
    }

    fn numbers(&self) -> Vec<i32> {
        self.calls.lock().unwrap().0.clone()
    }
}

impl Ledger for Book {
    async fn turn(&self, number: i32, octets: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        self.put(number, octets.len());
        Ok(Bytes::copy_from_slice(&octets))
    }

    async fn enter(&self, number: i32, octets: OctetsRef<'_>) -> Result<(), SystemException> {
        assert!(octets[..] == self::octets(number, octets.len()));
        self.put(number, octets.len());
        Ok(())
    }

    async fn hold(&self, number: i32) -> Result<(), SystemException> {
        self.put(number, 0);
        std::future::pending().await
    }

    async fn entries(&self) -> Result<(String, u64), SystemException> {
        let calls = self.calls.lock().unwrap();
        Ok((listed(&calls.0), calls.1))
    }
}

fn listed(numbers: &[i32]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i32::to_string).collect();
    numbers.join(" ")
}

/// Circuits whose ends are found dead soon. A peer on a busy machine may take seconds to grant a session.
fn atm() -> Arc<Atm> {
    let mut config = Config::default();
    config.keep_alive = Duration::from_millis(500);
    config.dead_after = Duration::from_secs(2);
    Arc::new(Atm::new(AtmOptions::default().session(config)))
}

async fn server(vci: u16) -> (Orb, String) {
    serving(&format!("1.0.{vci}?peer=0.0.{vci}"), Arc::default()).await
}

/// Serves a book at an address, by a reference that is the same in every run.
async fn serving(address: &str, book: Arc<Book>) -> (Orb, String) {
    let builder = Orb::builder().transport(atm());
    let builder = builder.listen(format!("atm://{address}"));
    let orb = builder.build().await.unwrap();
    let root = orb.root_poa();
    let poa = root.create_poa_with("books", Policies::PERSISTENT, None);
    let poa = poa.unwrap();
    let servant = LedgerServant::from_arc(book);
    let ledger: LedgerRef = poa.activate_object_with_id("book", servant).unwrap();
    for poa in [root, poa] {
        poa.the_poa_manager().activate().unwrap();
    }
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
    for number in 0..100 {
        ledger.enter(number, &octets(number, 65_536)).await.unwrap();
    }
    let entries = ledger.entries().await.unwrap();
    let numbers: Vec<_> = (0..100).collect();
    assert_eq!(entries, (listed(&numbers), 100 * 65_536));
    let overruns = faults::dropped() - before;
    assert_eq!(overruns, 0, "frames that the kernel had no room for");
}

#[tokio::test]
async fn the_kernel_has_the_quality_that_a_reference_states_at_both_ends() {
    if !have_atm("calls") {
        return;
    }
    let address = "1.0.308?peer=0.0.308&qos=cbr&pcr=100000&sdu=9180";
    let (_server, reference) = serving(address, Arc::default()).await;
    let (_client, ledger) = client(&reference).await;
    ledger.turn(1, &octets(1, 50_000)).await.unwrap();
    let asked = Quality::default()
        .with_class(Class::Cbr)
        .with_peak_cell_rate(100_000)
        .with_sdu(9_180)
        .unwrap();
    for interface in [0, 1] {
        let circuit = CircuitId::new(interface, 0, 308).unwrap();
        // Of what is sent, and of what is received.
        assert_eq!(atm().quality(circuit).unwrap(), [asked; 2]);
    }
}
