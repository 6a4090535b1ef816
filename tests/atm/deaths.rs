//! Servers that die and interfaces that are unplugged: what calls say of it, and what was done of them.

use super::{Book, LedgerRef, client, octets, serving};
use crate::faults::{self, Fault, have_atm};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use tokio::sync::mpsc;
use zorb::{CompletionStatus as Completed, Orb, SystemException, SystemExceptionKind as Kind};

/// The file of the ledger of a server that is another process, which outlives it.
const FILE: &str = "ZORB_TEST_LEDGER";

/// A server that is another process; it prints its reference.
#[tokio::test]
#[ignore = "a process that another test starts"]
#[expect(clippy::print_stdout, reason = "the test that starts it reads this")]
async fn serve() {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true);
    let file = file.open(std::env::var_os(FILE).unwrap()).unwrap();
    let book = Book {
        file: Some(file),
        ..Book::default()
    };
    let (_orb, reference) = serving("1.0.305?peer=0.0.305", Arc::new(book)).await;
    println!("\n{reference}");
    std::future::pending().await
}

struct Server {
    child: Child,
    reference: String,
}

impl Server {
    fn start(file: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "deaths::serve", "--ignored", "--nocapture"]);
        command.env(FILE, file).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
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

/// The numbers that the servers of a file have entered, in all their lives.
struct Entered(PathBuf);

impl Entered {
    fn anew(name: &str) -> Self {
        let file = std::env::temp_dir().join(name);
        // One of an earlier run.
        let _ = fs::remove_file(&file);
        Self(file)
    }

    fn numbers(&self) -> Vec<i32> {
        let text = fs::read_to_string(&self.0).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }
}

/// Calls `hold` with `number`, and waits until the server has entered it. The call goes on.
async fn held(ledger: &LedgerRef, number: i32) -> Held {
    let call = ledger.clone();
    let call = tokio::spawn(async move { call.hold(number).await });
    let number = number.to_string();
    loop {
        let (entries, _) = ledger.entries().await.unwrap();
        if entries.split(' ').any(|entry| entry == number) {
            return Held(call);
        }
    }
}

/// A call that was entered and is not answered.
struct Held(tokio::task::JoinHandle<Result<(), SystemException>>);

impl Held {
    async fn outcome(self) -> (Kind, Completed) {
        said(&self.0.await.unwrap().unwrap_err())
    }
}

fn said(exception: &SystemException) -> (Kind, Completed) {
    (exception.kind, exception.completed)
}

/// The end of the connection below a call that the server may have got.
const LOST: (Kind, Completed) = (Kind::CommFailure, Completed::Maybe);
/// No connection to send a call over.
const UNREACHED: (Kind, Completed) = (Kind::Transient, Completed::No);

#[tokio::test]
async fn a_server_that_dies_is_an_exception_and_its_successor_is_called() {
    if !have_atm("calls") {
        return;
    }
    let entered = Entered::anew("dies");
    let first = Server::start(&entered.0);
    let (orb, ledger) = client(&first.reference).await;
    assert_eq!(&ledger.turn(1, &[7]).await.unwrap()[..], [7]);
    let call = held(&ledger, 2).await;
    drop(first);
    assert_eq!(call.outcome().await, LOST);
    // The connection is known to be lost, and there is no other.
    let error = ledger.turn(3, &[7]).await.unwrap_err();
    assert_eq!(said(&error), UNREACHED, "{error}");
    let second = Server::start(&entered.0);
    let anew = orb.string_to_object(&second.reference).await.unwrap();
    let anew: LedgerRef = anew.unchecked_narrow();
    // The reference to the former life leads to this one, too.
    for (number, ledger) in [(4, &anew), (5, &ledger)] {
        assert_eq!(&ledger.turn(number, &[8, 9]).await.unwrap()[..], [8, 9]);
    }
    assert_eq!(ledger.entries().await.unwrap(), ("4 5".to_owned(), 4));
    assert_eq!(entered.numbers(), [1, 2, 4, 5], "in both lives");
}

/// Serves a book at the second interface of a pair to a client at the first one.
async fn over_pair(first: u16) -> (Arc<Book>, Orb, Orb, LedgerRef) {
    let book = Arc::new(Book::default());
    let second = first + 1;
    let address = format!("{second}.0.306?peer={first}.0.306");
    let (server, reference) = serving(&address, Arc::clone(&book)).await;
    let (client, ledger) = client(&reference).await;
    (book, server, client, ledger)
}

/// A call that has been entered when an interface of the pair is unplugged, and one that begins afterwards.
async fn unplugged(first: u16, interface: u16) {
    let (book, _server, _client, ledger) = over_pair(first).await;
    ledger.turn(1, &[]).await.unwrap();
    let call = held(&ledger, 2).await;
    Fault::once("unplug", interface.into());
    assert_eq!(call.outcome().await, LOST);
    let error = ledger.turn(3, &[]).await.unwrap_err();
    assert_eq!(said(&error), UNREACHED, "{error}");
    assert_eq!(book.numbers(), [1, 2]);
}

// An interface that is gone does not come back, so each of these has a pair of its own.

#[tokio::test]
async fn a_call_to_an_interface_that_is_unplugged_is_an_exception() {
    if have_atm("calls") {
        unplugged(2, 3).await;
    }
}

#[tokio::test]
async fn a_call_from_an_interface_that_is_unplugged_is_an_exception() {
    if have_atm("calls") {
        unplugged(4, 4).await;
    }
}

/// The number of a call, and its outcome at the caller.
type Outcome = (i32, Result<(), (Kind, Completed)>);

/// Calls one after the other until `enough`, each with a number that no other call has.
async fn call_on(
    ledger: LedgerRef,
    numbers: Arc<AtomicI32>,
    enough: Arc<AtomicBool>,
    outcomes: mpsc::UnboundedSender<Outcome>,
) {
    while !enough.load(Ordering::Relaxed) {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let sent = octets(number, number as usize * 97 % 5_000);
        let outcome = match ledger.turn(number, &sent).await {
            Ok(back) => {
                assert!(back == sent, "the answer to {number}");
                Ok(())
            }
            Err(exception) => Err(said(&exception)),
        };
        outcomes.send((number, outcome)).unwrap();
    }
}

/// Takes outcomes until enough calls from number `since` on were done.
async fn done(
    since: i32,
    outcomes: &mut mpsc::UnboundedReceiver<Outcome>,
    callers_ledger: &mut Vec<Outcome>,
) {
    let mut left = 60;
    while left > 0 {
        let outcome = outcomes.recv().await.unwrap();
        left -= usize::from(outcome.0 >= since && outcome.1.is_ok());
        callers_ledger.push(outcome);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_calls_over_a_death_none_is_lost_that_was_done_and_none_is_done_twice() {
    const CALLERS: usize = 8;
    if !have_atm("calls") {
        return;
    }
    let entered = Entered::anew("load");
    let first = Server::start(&entered.0);
    let (_client, ledger) = client(&first.reference).await;
    let before = (faults::count("lost"), faults::count("doubled"));
    let faults_of_frames = (Fault::set("drop_every", 25), Fault::set("double_every", 6));
    let (sender, mut outcomes) = mpsc::unbounded_channel();
    let (numbers, enough) = (
        Arc::new(AtomicI32::new(1)),
        Arc::new(AtomicBool::new(false)),
    );
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        let (numbers, enough) = (Arc::clone(&numbers), Arc::clone(&enough));
        let calls = call_on(ledger.clone(), numbers, enough, sender.clone());
        callers.push(tokio::spawn(calls));
    }
    drop(sender);
    let mut callers_ledger = Vec::new();
    done(0, &mut outcomes, &mut callers_ledger).await;
    // This call is surely done, and its caller cannot know.
    let call = held(&ledger, 0).await;
    drop(first);
    callers_ledger.push((0, Err(call.outcome().await)));
    let _second = Server::start(&entered.0);
    let since = numbers.load(Ordering::Relaxed);
    done(since, &mut outcomes, &mut callers_ledger).await;
    enough.store(true, Ordering::Relaxed);
    while let Some(outcome) = outcomes.recv().await {
        callers_ledger.push(outcome);
    }
    for caller in callers {
        caller.await.unwrap();
    }
    drop(faults_of_frames);
    assert!(faults::count("lost") > before.0 && faults::count("doubled") > before.1);
    compare(&callers_ledger, &entered.numbers());
}

/// Compares the ledgers of the callers and of the servers.
fn compare(callers_ledger: &[Outcome], entered: &[i32]) {
    let mut times = BTreeMap::new();
    for number in entered {
        *times.entry(*number).or_insert(0) += 1;
    }
    let mut lost = 0;
    for (number, outcome) in callers_ledger {
        let times = times.remove(number).unwrap_or(0);
        // A connection is lost below a call, or there is none.
        let gone = [Kind::CommFailure, Kind::Transient];
        let fits = match outcome {
            Ok(()) => times == 1,
            Err((kind, Completed::No)) => gone.contains(kind) && times == 0,
            Err(LOST) => {
                lost += 1;
                times <= 1
            }
            Err(_) => false,
        };
        assert!(
            fits,
            "{number} was entered {times} times, its caller: {outcome:?}"
        );
    }
    assert!(
        times.is_empty(),
        "entered, but called by no caller: {times:?}"
    );
    assert!(lost > 1, "callers whose calls the death met");
}
