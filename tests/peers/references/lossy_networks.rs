//! Networks that lose packets, some of them or all: every call ends with its right result or exception, and what the
//! client has called is what the server has served.
//!
//! Needs root, iproute2 and, for packets that are lost at random, nftables.

use crate::references::namespaces::{Host, pair};
use crate::support::{Running, have, passed, process};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use zorb::{Interface, OctetsRef, Orb, SyncScope, SystemException};

zorb::idl! {
    module Losses {
        typedef sequence<octet> Blob;
        struct Ledger {
            unsigned long paid;
            unsigned long rung;
            unsigned long long octets;
        };
        interface Till {
            /// The sum of the octets.
            unsigned long pay(in Blob coins);
            oneway void ring(in Blob coins);
            /// The calls served so far.
            Ledger closed();
        };
    };
}

use losses::{Ledger, Till, TillRef, TillServant};

const REFERENCE: &str = "ZORB_TEST_TILL";
const SERVES: &str = "ZORB_TEST_TILL_SERVES";
const CONNECT_TIMEOUT: &str = "ZORB_TEST_CONNECT_TIMEOUT";

/// The time limit of a call that cannot end well, in milliseconds.
const LIMIT: &str = "500";

/// The time within which TCP sends again what was lost.
const PATIENCE: Duration = Duration::from_secs(60);

const EMPTY: Ledger = Ledger {
    paid: 0,
    rung: 0,
    octets: 0,
};

struct Drawer(Mutex<Ledger>);

impl Till for Drawer {
    async fn pay(&self, coins: OctetsRef<'_>) -> Result<u32, SystemException> {
        let mut ledger = self.0.lock().unwrap();
        ledger.paid += 1;
        ledger.octets += coins.len() as u64;
        Ok(sum(&coins))
    }

    async fn ring(&self, coins: OctetsRef<'_>) -> Result<(), SystemException> {
        let mut ledger = self.0.lock().unwrap();
        ledger.rung += 1;
        ledger.octets += coins.len() as u64;
        Ok(())
    }

    async fn closed(&self) -> Result<Ledger, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }
}

fn sum(coins: &[u8]) -> u32 {
    coins.iter().map(|coin| u32::from(*coin)).sum()
}

/// A server on the one host, and a client on the other, which makes the calls that a test names.
struct Shop {
    server: Host,
    client: Host,
    _serves: Running,
    reference: String,
}

impl Shop {
    fn open(what: &str) -> Option<Self> {
        let (server, client) = pair(what)?;
        server.address("eth0", "192.0.2.1/24");
        client.address("eth0", "192.0.2.2/24");
        let mut command = server.command(&process(module_path!(), "a_till_of_another_test"));
        command.env(SERVES, "iiop://192.0.2.1:2810");
        let mut serves = Running::command(command);
        let reference = serves.reference().expect("the server serves");
        Some(Self {
            server,
            client,
            _serves: serves,
            reference,
        })
    }

    fn customer(&self, connect_timeout: &str) -> Customer {
        let program = process(module_path!(), "a_customer_of_another_test");
        let mut command = self.client.command(&program);
        command
            .env(REFERENCE, &self.reference)
            .env(CONNECT_TIMEOUT, connect_timeout);
        let (runs, input) = Running::spawn(command, Stdio::piped());
        let input = input.expect("a pipe");
        Customer { runs, input }
    }
}

/// A client that makes a call for each line of its input.
struct Customer {
    runs: Running,
    input: ChildStdin,
}

impl Customer {
    fn asked(&mut self, what: &str) -> String {
        writeln!(self.input, "{what}").expect("it reads");
        let heard = |line: &str| Some(line.split_once("heard: ")?.1.to_owned());
        self.runs.find(heard).expect("an outcome of the call")
    }
}

/// Has a host lose one of twenty packets that come from the other, and count them.
fn lose(host: &Host) {
    host.run(
        "nft 'add table ip weather; \
         add chain ip weather in { type filter hook input priority filter; }; \
         add rule ip weather in ip saddr 192.0.2.0/24 numgen random mod 20 0 counter drop'",
    );
}

/// The packets that a host has lost.
fn lost(host: &Host) -> u64 {
    let mut list = Command::new("nft");
    list.args(["list", "table", "ip", "weather"]);
    let listed = host.command(&list).output().expect("nft runs");
    let text = String::from_utf8(listed.stdout).expect("text");
    let packets = text.split_once("counter packets ").expect("a counter").1;
    let number = packets.split(' ').next().and_then(|word| word.parse().ok());
    number.expect("a number")
}

#[test]
fn every_call_through_a_network_that_loses_packets_is_served_once() {
    let what = "references/lossy_network";
    if !have(what, &[Path::new("nft")]) {
        return;
    }
    let Some(shop) = Shop::open(what) else {
        return;
    };
    for host in [&shop.server, &shop.client] {
        lose(host);
    }
    let mut customer = shop.customer("60000");
    let (mut paid, mut rung) = (0, 0);
    // Until both hosts have lost some.
    loop {
        let heard = customer.asked("load");
        let (own, served) = heard.split_once(" and ").expect("two ledgers");
        assert_eq!(own, served);
        paid += 100;
        rung += 60;
        assert!(
            own.contains(&format!("paid: {paid}, rung: {rung}")),
            "{own}"
        );
        if lost(&shop.server).min(lost(&shop.client)) >= 5 {
            break;
        }
    }
    passed(what);
}

#[test]
fn calls_end_with_the_right_exception_while_their_route_is_a_black_hole_and_work_when_it_is_back() {
    let what = "references/black_hole";
    let Some(shop) = Shop::open(what) else {
        return;
    };
    const TO_SERVER: [&str; 2] = ["blackhole", "192.0.2.1/32"];
    const TO_CLIENT: [&str; 2] = ["blackhole", "192.0.2.2/32"];
    let route = |host: &Host, verb: &str, route: [&str; 2]| {
        host.ip(&[&["route", verb][..], &route].concat());
    };
    let transient = "TRANSIENT, COMPLETED_NO";

    // The client's own system knows that there is no way.
    route(&shop.client, "add", TO_SERVER);
    let mut customer = shop.customer("60000");
    for call in ["pay 0", "ring 0"] {
        assert_eq!(customer.asked(call), transient);
    }
    route(&shop.client, "del", TO_SERVER);
    assert_eq!(customer.asked("pay 0"), "done");

    // The server's answers are lost, so that nothing is heard of it: the connect timeout passes, or the limit of the call.
    let mut hasty = shop.customer(LIMIT);
    let mut patient = shop.customer("3600000");
    route(&shop.server, "add", TO_CLIENT);
    for call in ["pay", "ring"] {
        assert_eq!(hasty.asked(&format!("{call} 0")), transient);
        let late = patient.asked(&format!("{call} {LIMIT}"));
        assert_eq!(late, "TIMEOUT, COMPLETED_NO");
    }
    route(&shop.server, "del", TO_CLIENT);
    for customer in [&mut hasty, &mut patient] {
        assert_eq!(customer.asked("pay 0"), "done");
        assert_eq!(customer.asked("ring 0"), "done");
    }

    // Under an open connection: requests are lost on their way, or replies are. The first call that is late leaves the
    // connection silent, and those behind it find no way for another one.
    for (host, black, no_way) in [
        (&shop.client, TO_SERVER, transient),
        (&shop.server, TO_CLIENT, "TIMEOUT, COMPLETED_NO"),
    ] {
        route(host, "add", black);
        let late = customer.asked(&format!("pay {LIMIT}"));
        assert_eq!(late, "TIMEOUT, COMPLETED_MAYBE", "{black:?}");
        for call in ["ring", "pay"] {
            let late = customer.asked(&format!("{call} {LIMIT}"));
            assert_eq!(late, no_way, "{black:?}");
        }
        route(host, "del", black);
        assert_eq!(customer.asked("pay 0"), "done", "{black:?}");
        assert_eq!(customer.asked("ring 0"), "done", "{black:?}");
    }
    // TCP delivers what was late once the route is back, each request once.
    let expected = format!("paid: {}, rung: {}", 1 + 2 + 2 * 2, 2 + 2);
    let begun = Instant::now();
    let mut closed = customer.asked("closed");
    while !closed.contains(&expected) && begun.elapsed() < PATIENCE {
        closed = customer.asked("closed");
    }
    assert!(closed.contains(&expected), "{closed}");
    passed(what);
}

#[tokio::test]
#[ignore = "the server of other tests, which start it"]
async fn a_till_of_another_test() {
    let Ok(endpoint) = std::env::var(SERVES) else {
        return;
    };
    let orb = Orb::builder().listen(endpoint).build().await.unwrap();
    let till: TillRef = (orb.root_poa())
        .activate(TillServant::new(Drawer(Mutex::new(EMPTY))))
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    eprintln!("{}", orb.object_to_string(&till));
    orb.run().await;
}

#[tokio::test]
#[ignore = "the client of other tests, which start it"]
async fn a_customer_of_another_test() {
    let Ok(reference) = std::env::var(REFERENCE) else {
        return;
    };
    let connect_timeout = std::env::var(CONNECT_TIMEOUT).unwrap().parse().unwrap();
    let orb = Orb::builder().connect_timeout(Duration::from_millis(connect_timeout));
    let orb = orb.build().await.unwrap();
    let till = orb.string_to_object(&reference).await.unwrap();
    let till: TillRef = till.unchecked_narrow();
    let mut own = EMPTY;
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (call, limit) = line.split_once(' ').unwrap_or((&line, "0"));
        let till = match limit.parse().unwrap() {
            0 => till.clone(),
            limit => till.with_round_trip_timeout(Duration::from_millis(limit)),
        };
        let acknowledged = till.with_sync_scope(SyncScope::WithServer);
        let heard = match call {
            "pay" => till.pay(&[1][..]).await.map(|_| "done".to_owned()),
            "ring" => acknowledged
                .ring(&[1][..])
                .await
                .map(|()| "done".to_owned()),
            "closed" => till.closed().await.map(|served| format!("{served:?}")),
            "load" => load(&till, &mut own).await,
            other => panic!("{other}"),
        };
        match heard {
            Ok(heard) => eprintln!("heard: {heard}"),
            Err(error) => eprintln!("heard: {}, {}", error.kind, error.completed),
        }
    }
}

/// Two-way and one-way calls of all scopes and many sizes, at the same time; gives the ledgers of both sides.
async fn load(till: &TillRef, own: &mut Ledger) -> Result<String, SystemException> {
    const SCOPES: [SyncScope; 4] = [
        SyncScope::None,
        SyncScope::WithTransport,
        SyncScope::WithServer,
        SyncScope::WithTarget,
    ];
    let mut tasks = Vec::new();
    for (task, scope) in SCOPES.into_iter().enumerate() {
        let till = till.clone();
        let rings = till.with_sync_scope(scope);
        tasks.push(tokio::spawn(async move {
            let mut octets = 0;
            for n in 0..25_usize {
                let coins = vec![(n + task) as u8; n * n * 20];
                assert_eq!(till.pay(&coins[..]).await?, sum(&coins));
                octets += coins.len() as u64;
                if n < 15 {
                    rings.ring(&coins[..]).await?;
                    octets += coins.len() as u64;
                }
            }
            Ok::<_, SystemException>(octets)
        }));
    }
    for task in tasks {
        own.octets += task.await.expect("every result is the right one")?;
        own.paid += 25;
        own.rung += 15;
    }
    // Behind every one-way call, as they share the connection.
    let served = till.closed().await?;
    Ok(format!("{own:?} and {served:?}"))
}
