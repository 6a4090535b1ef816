//! References to several servers, and the connections to them: which server is called, how many connections there are,
//! and what becomes of calls when a server dies or starts anew.

use crate::anew::{anywhere, listening};
use crate::savings::{AccountRef, account, in_time};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use zorb::policy::{EndpointOrder, Policy, PolicyOverrides, PolicyType};
use zorb::transport::{
    Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener, Tcp, Transport,
    TransportError,
};
use zorb::{
    Builder, CompletionStatus as Completed, Counter, Interface, ObjectRef, Orb, Policies,
    SystemException, SystemExceptionKind as Kind,
};

/// A server of an account whose owner is called so, at an address of its own: a port of 127.0.0.1 that it gives up may
/// go to another test.
async fn server(owner: &str) -> (Orb, AccountRef) {
    let orb = Orb::builder().listen(anywhere()).build().await;
    let orb = orb.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let account = orb.root_poa().activate(account(owner)).unwrap();
    (orb, account)
}

async fn from_afar<T: Interface>(client: &Orb, object: &T) -> T {
    let text = object.as_object().to_string();
    in_time(client.string_to_object(&text))
        .await
        .unwrap()
        .unchecked_narrow()
}

/// Three servers, whose owners are called 0, 1 and 2, and a reference to all of them.
async fn three(client: &Orb) -> ([Orb; 3], AccountRef) {
    let mut orbs = Vec::new();
    let mut references = Vec::new();
    for owner in ["0", "1", "2"] {
        let (orb, account) = server(owner).await;
        references.push(from_afar(client, &account).await);
        orbs.push(orb);
    }
    let group = ObjectRef::group(references.iter().map(Interface::as_object)).unwrap();
    let orbs: Result<[Orb; 3], _> = orbs.try_into();
    (orbs.unwrap(), group.unchecked_narrow())
}

async fn client(builder: Builder) -> Orb {
    builder.build().await.unwrap()
}

fn order(order: EndpointOrder) -> PolicyOverrides {
    PolicyOverrides::new().endpoint_order(order)
}

/// The same reference, bound by itself.
async fn anew(client: &Orb, reference: &AccountRef) -> AccountRef {
    from_afar(client, reference).await
}

#[tokio::test]
async fn a_group_is_called_at_its_first_server_and_at_the_next_when_that_is_gone() {
    let client = client(Orb::builder()).await;
    let (servers, group) = three(&client).await;
    for (number, server) in servers.into_iter().enumerate() {
        for _ in 0..3 {
            assert_eq!(in_time(group.owner()).await.unwrap(), number.to_string());
        }
        server.shutdown(true).await.unwrap();
    }
    let error = in_time(group.owner()).await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Transient, Completed::No)
    );
    // One reference of text, as another program gets it, is the group.
    assert_eq!(
        anew(&client, &group).await.as_object().ior().profiles.len(),
        3
    );
    let twice = ObjectRef::group([group.as_object(), group.as_object()]).unwrap();
    assert_eq!(twice.ior(), group.as_object().ior());
    let none = ObjectRef::group([]).unwrap_err();
    assert_eq!(none.kind, Kind::InvObjref);
}

#[tokio::test]
async fn clients_spread_over_a_group_by_chance_and_each_keeps_to_its_server() {
    let spread = order(EndpointOrder::Random);
    let client = client(Orb::builder().policies(&spread)).await;
    let (_servers, group) = three(&client).await;
    let mut called = HashMap::<String, u32>::new();
    for _ in 0..90 {
        let own = anew(&client, &group).await;
        let owner = in_time(own.owner()).await.unwrap();
        assert_eq!(in_time(own.owner()).await.unwrap(), owner);
        *called.entry(owner).or_default() += 1;
    }
    // One in 10^15 runs has a server without any of 90.
    assert_eq!(called.len(), 3, "{called:?}");
    // The calls of one task, each of which chooses for itself.
    let plain = group.with_policies(&order(EndpointOrder::OfReference));
    let mut owners = HashSet::new();
    for _ in 0..90 {
        let owner = spread.scope(plain.owner());
        assert_eq!(
            in_time(owner).await.unwrap(),
            "0",
            "the object's policy comes first"
        );
        let owner = spread.scope(group.owner());
        owners.insert(in_time(owner).await.unwrap());
    }
    assert_eq!(owners.len(), 3);
}

/// TCP, with connects that take their time.
#[derive(Debug)]
struct Distant {
    tcp: Tcp,
    /// Milliseconds by port.
    delays: Arc<Mutex<HashMap<String, u64>>>,
}

impl Transport for Distant {
    fn addressing(&self) -> &dyn Addressing {
        self.tcp.addressing()
    }

    fn capabilities(&self) -> Capabilities {
        self.tcp.capabilities()
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        let delay = self
            .delays
            .lock()
            .unwrap()
            .get(&endpoint.to_string())
            .copied();
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(delay.unwrap_or_default())).await;
            self.tcp.connect(endpoint).await
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        self.tcp.listen(endpoint)
    }
}

#[tokio::test]
async fn the_nearest_server_of_a_group_is_called() {
    let delays: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
    let tcp = Tcp::default();
    let distant = Distant {
        tcp,
        delays: Arc::clone(&delays),
    };
    let client = client(Orb::builder().transport(Arc::new(distant))).await;
    let (servers, group) = three(&client).await;
    // The second one is nearer than the first one, and the third one is very far.
    for (server, delay) in servers.iter().zip([600, 100, 900]) {
        let endpoint = server.endpoints()[0].to_string();
        delays.lock().unwrap().insert(endpoint, delay);
    }
    assert_eq!(
        in_time(group.owner()).await.unwrap(),
        "0",
        "as it stands in the reference"
    );
    // A connection that is there already is no head start.
    let near = group.with_policies(&order(EndpointOrder::LeastLatency));
    assert_eq!(in_time(near.owner()).await.unwrap(), "1");
    // Once all have been measured, no other one is connected to.
    in_time(async {
        while client.outgoing_connections() < 3
            || servers
                .iter()
                .any(|server| server.connections_served() == 0)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let [_, second, _] = &servers;
    second.shutdown(true).await.unwrap();
    assert_eq!(in_time(near.owner()).await.unwrap(), "0");
    let again = anew(&client, &group).await;
    let again = again.with_policies(&order(EndpointOrder::LeastLatency));
    assert_eq!(in_time(again.owner()).await.unwrap(), "0");
}

#[tokio::test]
async fn private_connections_are_their_references_own_and_end_with_them() {
    let private = PolicyOverrides::new().private_connection(true);
    let client = client(Orb::builder()).await;
    let (server, account) = server("Ada").await;
    let account = from_afar(&client, &account).await;
    in_time(account.owner()).await.unwrap();
    let (first, second) = (
        account.with_policies(&private),
        account.with_policies(&private),
    );
    let clone = first.clone();
    for reference in [&first, &second, &clone, &account] {
        assert_eq!(in_time(reference.owner()).await.unwrap(), "Ada");
    }
    assert_eq!(server.connections_served(), 3);
    assert_eq!(
        first.as_object().policy(PolicyType::PRIVATE_CONNECTION),
        Some(Policy::PrivateConnection)
    );
    drop(first);
    in_time(clone.owner()).await.unwrap();
    drop((clone, second));
    in_time(async {
        while server.connections_served() > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    // At the task level each call has one.
    for _ in 0..3 {
        in_time(private.scope(account.owner())).await.unwrap();
    }
    in_time(async {
        while server.connections_served() > 1 || client.outgoing_connections() > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    assert_eq!(in_time(account.owner()).await.unwrap(), "Ada");
}

#[tokio::test]
async fn a_one_way_call_on_a_private_connection_arrives_though_its_reference_is_dropped() {
    let private = PolicyOverrides::new()
        .private_connection(true)
        .sync_scope(zorb::SyncScope::None);
    let client = client(Orb::builder()).await;
    let (_server, account) = server("Ada").await;
    let account = from_afar(&client, &account).await;
    for pokes in 1..=20 {
        let own = account.with_policies(&private);
        in_time(own.poke()).await.unwrap();
        drop(own);
        in_time(async {
            while account.pokes().await.unwrap() < pokes {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn references_spread_over_as_many_connections_to_an_endpoint_as_are_wanted() {
    let client = client(Orb::builder().connections_to_endpoint(3)).await;
    let (server, account) = server("Ada").await;
    let mut references = Vec::new();
    for _ in 0..30 {
        let reference = from_afar(&client, &account).await;
        in_time(reference.owner()).await.unwrap();
        references.push(reference);
    }
    assert_eq!(server.connections_served(), 3);
    for reference in &references {
        in_time(reference.owner()).await.unwrap();
    }
    assert_eq!(server.connections_served(), 3);
}

#[tokio::test]
async fn more_servers_than_connections_are_called_in_turn() {
    const SERVERS: usize = 8;
    let client = client(Orb::builder().max_outgoing_connections(3)).await;
    let mut servers = Vec::new();
    for number in 0..SERVERS {
        let (orb, account) = server(&number.to_string()).await;
        let account = from_afar(&client, &account).await;
        servers.push((orb, account));
    }
    for _ in 0..3 {
        for (number, (_, account)) in servers.iter().enumerate() {
            assert_eq!(in_time(account.owner()).await.unwrap(), number.to_string());
            assert!(client.outgoing_connections() <= 3);
        }
    }
    let counters = client.counters();
    assert_eq!(
        counters.get(Counter::OutgoingConnectionsPurged),
        (3 * SERVERS - 3) as u64
    );
    assert_eq!(counters.get(Counter::OutgoingConnectionsRefused), 0);
    // From many tasks at a time, whose calls are longer than their turns.
    let mut calls = tokio::task::JoinSet::new();
    for (number, (_, account)) in servers.iter().enumerate() {
        let account = account.clone();
        calls.spawn(async move {
            let mut refused = 0;
            for _ in 0..50 {
                match account.owner().await {
                    Ok(owner) => assert_eq!(owner, number.to_string()),
                    // All three were busy.
                    Err(error) => {
                        assert_eq!(
                            (error.kind, error.completed),
                            (Kind::Transient, Completed::No)
                        );
                        refused += 1;
                        tokio::task::yield_now().await;
                    }
                }
            }
            refused
        });
    }
    let refused: u64 = in_time(calls.join_all()).await.into_iter().sum();
    assert!(refused < 400, "{refused} of 400");
    assert!(client.outgoing_connections() <= 3);
}

/// The requests that the lives of a server have executed.
#[derive(Debug, Default)]
struct Ledger {
    executed: Mutex<HashMap<u32, u32>>,
}

zorb::idl! {
    module Ledgers {
        interface Writer {
            /// Notes the number.
            unsigned long write(in unsigned long number);
        };
    };
}

use ledgers::{Writer, WriterRef, WriterServant};

#[derive(Clone)]
struct Notes(Arc<Ledger>);

impl Writer for Notes {
    async fn write(&self, number: u32) -> Result<u32, SystemException> {
        *(self.0.executed.lock().unwrap()).entry(number).or_default() += 1;
        Ok(number)
    }
}

/// A life of a server at an endpoint, in a runtime of its own, which takes all of its sockets with it.
struct Life {
    runtime: Option<Runtime>,
    orb: Orb,
    writer: WriterRef,
}

impl Life {
    fn begin(endpoint: &str, ledger: &Arc<Ledger>) -> Self {
        let runtime = Runtime::new().unwrap();
        let (orb, writer) = runtime.block_on(async {
            let orb = listening(|| Orb::builder().listen(endpoint)).await;
            let poa = orb.root_poa();
            let poa = poa
                .create_poa_with("writers", Policies::PERSISTENT, None)
                .unwrap();
            let servant = WriterServant::new(Notes(Arc::clone(ledger)));
            let writer = poa.activate_object_with_id("writer", servant).unwrap();
            poa.the_poa_manager().activate().unwrap();
            (orb, writer)
        });
        Self {
            runtime: Some(runtime),
            orb,
            writer,
        }
    }

    fn endpoint(&self) -> String {
        self.orb.endpoints()[0].to_string()
    }

    /// Ends it as a killed process ends.
    fn kill(mut self) {
        drop(self.runtime.take());
    }
}

/// The outcomes that callers have seen.
#[derive(Debug, Default)]
struct Seen {
    done: Vec<u32>,
    not_done: Vec<u32>,
    in_doubt: Vec<u32>,
}

/// Callers that call one after the other until they are stopped.
struct Load {
    stop: Arc<AtomicBool>,
    calling: tokio::task::JoinSet<Seen>,
    /// A permit for each call that was done.
    done: Arc<Semaphore>,
}

impl Load {
    /// `reference`: that of each caller.
    fn begin(callers: usize, reference: impl Fn() -> WriterRef) -> Self {
        let next = Arc::new(AtomicU32::new(0));
        let (stop, done) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(Semaphore::new(0)),
        );
        let mut calling = tokio::task::JoinSet::new();
        for _ in 0..callers {
            let (writer, next) = (reference(), Arc::clone(&next));
            let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
            calling.spawn(async move {
                let mut seen = Seen::default();
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    match writer.write(number).await {
                        Ok(written) => {
                            assert_eq!(written, number);
                            seen.done.push(number);
                            done.add_permits(1);
                        }
                        Err(error) if error.completed == Completed::No => {
                            seen.not_done.push(number);
                            assert_eq!(error.kind, Kind::Transient, "{error}");
                            tokio::task::yield_now().await;
                        }
                        Err(error) => {
                            assert_eq!(
                                (error.kind, error.completed),
                                (Kind::CommFailure, Completed::Maybe),
                                "{error}"
                            );
                            seen.in_doubt.push(number);
                        }
                    }
                }
                seen
            });
        }
        Self {
            stop,
            calling,
            done,
        }
    }

    /// Ready when so many calls more are done.
    async fn go_on(&self, calls: u32) {
        // Earlier requests do not count.
        let _ = self.done.forget_permits(usize::MAX);
        in_time(self.done.acquire_many(calls))
            .await
            .unwrap()
            .forget();
    }

    async fn end(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Seen::default();
        for seen in in_time(self.calling.join_all()).await {
            all.done.extend(seen.done);
            all.not_done.extend(seen.not_done);
            all.in_doubt.extend(seen.in_doubt);
        }
        all
    }
}

/// Compares the ledgers of both sides: nothing is executed twice, nothing is lost, and nothing is executed that its
/// caller may take for not executed.
fn compare(seen: &Seen, ledger: &Ledger) {
    let executed = ledger.executed.lock().unwrap();
    let twice = executed.iter().find(|(_, times)| **times > 1);
    assert_eq!(twice, None, "executed twice");
    let lost = seen
        .done
        .iter()
        .find(|number| !executed.contains_key(number));
    assert_eq!(lost, None, "lost");
    let done = seen
        .not_done
        .iter()
        .find(|number| executed.contains_key(number));
    assert_eq!(done, None, "COMPLETED_NO, and executed");
}

#[test]
fn a_server_that_is_killed_and_started_again_under_load_loses_and_doubles_nothing() {
    let ledger = Arc::<Ledger>::default();
    let mut life = Life::begin(&anywhere(), &ledger);
    let endpoint = life.endpoint();
    let runtime = Runtime::new().unwrap();
    let (seen, life) = runtime.block_on(async {
        let client = client(Orb::builder()).await;
        let writer = from_afar(&client, &life.writer).await;
        let load = Load::begin(32, || writer.clone());
        for _ in 0..5 {
            load.go_on(200).await;
            let (ledger, endpoint) = (Arc::clone(&ledger), endpoint.clone());
            let next = tokio::task::spawn_blocking(move || {
                life.kill();
                Life::begin(&endpoint, &ledger)
            });
            life = next.await.unwrap();
        }
        load.go_on(200).await;
        (load.end().await, life)
    });
    compare(&seen, &ledger);
    assert!(seen.done.len() >= 1200);
    // Each caller has one call at a time.
    assert!(seen.in_doubt.len() <= 32 * 5, "{}", seen.in_doubt.len());
    life.kill();
}

#[test]
fn when_one_of_three_servers_is_killed_no_call_fails_that_was_not_sent() {
    let runtime = Runtime::new().unwrap();
    for order in [EndpointOrder::Random, EndpointOrder::OfReference] {
        let ledger = Arc::<Ledger>::default();
        let mut lives: Vec<Life> = (0..3).map(|_| Life::begin(&anywhere(), &ledger)).collect();
        let seen = runtime.block_on(async {
            let policies = PolicyOverrides::new().endpoint_order(order);
            let client = client(Orb::builder().policies(&policies)).await;
            let mut references = Vec::new();
            for life in &lives {
                references.push(from_afar(&client, &life.writer).await);
            }
            let group = ObjectRef::group(references.iter().map(Interface::as_object)).unwrap();
            // Each caller has a binding of its own.
            let load = Load::begin(32, || client.object(group.ior().clone()).unchecked_narrow());
            load.go_on(500).await;
            let killed = lives.remove(0);
            tokio::task::spawn_blocking(move || killed.kill())
                .await
                .unwrap();
            load.go_on(2000).await;
            load.end().await
        });
        compare(&seen, &ledger);
        assert_eq!(seen.not_done, [0; 0], "{order:?}: there were two others");
        assert!(seen.in_doubt.len() <= 32, "{}", seen.in_doubt.len());
        lives.into_iter().for_each(Life::kill);
    }
}
