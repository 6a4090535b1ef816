//! The program, started for a test, and suppliers and consumers of it.

#[allow(dead_code, reason = "each test uses a part of it")]
pub(crate) mod notify;

use crate::support::{Ended, HANG, Running};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::{Any, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_events::cos_event_channel_admin::{
    ConsumerAdminRef, EventChannelRef, ProxyPullConsumerRef, ProxyPullSupplierRef,
    ProxyPushConsumerRef, ProxyPushSupplierRef, SupplierAdminRef,
};
use zorb_events::cos_event_comm::{
    Disconnected, PullConsumer, PullConsumerServant, PullSupplier, PullSupplierRef,
    PullSupplierServant, PushConsumer, PushConsumerRef, PushConsumerServant, PushSupplier,
    PushSupplierServant, pull_supplier::PullError, pull_supplier::TryPullError,
    push_consumer::PushError,
};

/// The program while it runs. Dropping it kills it (SIGKILL).
pub(crate) struct Daemon {
    running: Running,
    /// The `corbaloc` of its channel.
    pub(crate) url: String,
}

/// The program with these arguments, on a free port unless they name one.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb-events"));
    if !args.contains(&"--listen") {
        command.args(["--listen", "iiop://127.0.0.1:0"]);
    }
    command.args(args);
    command
}

impl Daemon {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::started(command(args)).unwrap_or_else(|running| panic!("{running:?}"))
    }

    /// The program, or what it printed when it ended before it was ready.
    pub(crate) fn started(command: Command) -> Result<Self, Running> {
        let mut running = Running::command(command);
        let url = running.find(|line| {
            let rest = line.strip_prefix("zorb-events is ready: ")?;
            Some(rest.split(' ').next()?.to_owned())
        });
        match url {
            Some(url) => Ok(Self { running, url }),
            None => Err(running),
        }
    }

    /// A program that keeps its events in a folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::start(&["--data", folder.to_str().expect("a plain name")])
    }

    /// The same where it listened before.
    pub(crate) fn again(folder: &Path, address: &str) -> Self {
        let folder = folder.to_str().expect("a plain name");
        Self::start(&["--data", folder, "--listen", &format!("iiop://{address}")])
    }

    pub(crate) fn id(&self) -> u32 {
        self.running.id()
    }

    /// Ends it by SIGTERM.
    pub(crate) fn terminate(self) -> Ended {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        kill_process(id.expect("a process"), Signal::TERM).expect("it runs");
        self.running.finish()
    }

    /// Host and port.
    pub(crate) fn address(&self) -> String {
        let rest = self.url.strip_prefix("corbaloc:").expect("a corbaloc");
        let rest = rest.split_once('/').expect("a key").0;
        let address = rest
            .rsplit_once('@')
            .map_or(&rest[1..], |(_, address)| address);
        address.to_owned()
    }

    /// Its channel.
    pub(crate) async fn channel(&self, orb: &Orb) -> Channel {
        Channel::at(orb, &self.url).await
    }
}

/// An ORB that calls and is called.
pub(crate) async fn orb() -> Orb {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = builder.build().await.expect("a free port");
    orb.root_poa()
        .the_poa_manager()
        .activate()
        .expect("it is new");
    orb
}

/// A channel, wherever it is.
#[derive(Clone)]
pub(crate) struct Channel {
    pub(crate) orb: Orb,
    pub(crate) reference: EventChannelRef,
    pub(crate) consumers: ConsumerAdminRef,
    pub(crate) suppliers: SupplierAdminRef,
}

impl Channel {
    pub(crate) async fn at(orb: &Orb, url: &str) -> Self {
        let object = orb.string_to_object(url).await.expect("a reference");
        let reference: EventChannelRef = object.narrow().await.expect("it answers").expect(url);
        Self::of(orb, reference).await
    }

    pub(crate) async fn of(orb: &Orb, reference: EventChannelRef) -> Self {
        Self {
            orb: orb.clone(),
            consumers: reference.for_consumers().await.unwrap().unwrap(),
            suppliers: reference.for_suppliers().await.unwrap().unwrap(),
            reference,
        }
    }

    /// A proxy to push to.
    pub(crate) async fn push_proxy(&self) -> ProxyPushConsumerRef {
        let proxy = self.suppliers.obtain_push_consumer().await.unwrap();
        let proxy = proxy.unwrap();
        proxy.connect_push_supplier(None).await.unwrap();
        proxy
    }

    /// A proxy to pull from.
    pub(crate) async fn pull_proxy(&self) -> ProxyPullSupplierRef {
        let proxy = self.consumers.obtain_pull_supplier().await.unwrap();
        let proxy = proxy.unwrap();
        proxy.connect_pull_consumer(None).await.unwrap();
        proxy
    }

    /// A consumer that is pushed to.
    pub(crate) async fn consumer(&self) -> (Received, ProxyPushSupplierRef) {
        let (received, consumer) = Received::new(&self.orb);
        let proxy = self.consumers.obtain_push_supplier().await.unwrap();
        let proxy = proxy.unwrap();
        proxy.connect_push_consumer(&consumer).await.unwrap();
        (received, proxy)
    }

    /// A supplier that is pulled from.
    pub(crate) async fn supplier(&self) -> (Offered, ProxyPullConsumerRef) {
        let (offered, supplier) = Offered::new(&self.orb);
        let proxy = self.suppliers.obtain_pull_consumer().await.unwrap();
        let proxy = proxy.unwrap();
        proxy.connect_pull_supplier(&supplier).await.unwrap();
        (offered, proxy)
    }
}

/// An event with a number.
pub(crate) fn event(number: u32) -> Any {
    Any::new(&number).unwrap()
}

pub(crate) fn number(any: &Any) -> u32 {
    any.extract().expect("a number")
}

/// What a consumer has been pushed; `None` when it was disconnected.
pub(crate) struct Received {
    events: UnboundedReceiver<Option<Any>>,
    shared: Arc<Pushed>,
}

struct Pushed {
    events: UnboundedSender<Option<Any>>,
    /// Whether it answers that it is not connected.
    is_gone: AtomicBool,
    /// Held by a test that has it not answer.
    stalled: Arc<tokio::sync::Mutex<()>>,
    fails_with: Mutex<Option<SystemExceptionKind>>,
}

impl Received {
    pub(crate) fn new(orb: &Orb) -> (Self, PushConsumerRef) {
        let (sender, events) = unbounded_channel();
        let shared = Arc::new(Pushed {
            events: sender,
            is_gone: AtomicBool::new(false),
            stalled: Arc::default(),
            fails_with: Mutex::new(None),
        });
        let servant = PushConsumerServant::from_arc(Arc::clone(&shared));
        let consumer = orb.root_poa().activate(servant).unwrap();
        (Self { events, shared }, consumer)
    }

    pub(crate) async fn next(&mut self) -> Option<Any> {
        let next = tokio::time::timeout(HANG, self.events.recv()).await;
        next.expect("an event comes").expect("a servant")
    }

    pub(crate) async fn number(&mut self) -> u32 {
        number(&self.next().await.expect("not disconnected"))
    }

    /// So many numbers.
    pub(crate) async fn numbers(&mut self, count: usize) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(self.number().await);
        }
        numbers
    }

    /// What has come, without waiting.
    pub(crate) fn so_far(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        while let Ok(Some(any)) = self.events.try_recv() {
            numbers.push(number(&any));
        }
        numbers
    }

    /// Answers from now on that it is not connected.
    pub(crate) fn leave(&self) {
        self.shared.is_gone.store(true, Ordering::Relaxed);
    }

    /// Answers nothing as long as the guard is held.
    pub(crate) async fn stall(&self) -> tokio::sync::OwnedMutexGuard<()> {
        Arc::clone(&self.shared.stalled).lock_owned().await
    }

    /// Answers with an exception from now on, or no longer.
    pub(crate) fn fail(&self, with: Option<SystemExceptionKind>) {
        *self.shared.fails_with.lock().unwrap() = with;
    }
}

impl PushConsumer for Pushed {
    async fn push(&self, data: &Any) -> Result<(), PushError> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(Disconnected {}.into());
        }
        if let Some(kind) = *self.fails_with.lock().unwrap() {
            return Err(SystemException::from(kind).into());
        }
        let _answers = self.stalled.lock().await;
        let _ = self.events.send(Some(data.clone()));
        Ok(())
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        let _ = self.events.send(None);
        Ok(())
    }
}

/// What a supplier has for those that pull.
pub(crate) struct Offered {
    events: UnboundedSender<Any>,
    disconnected: UnboundedReceiver<()>,
}

struct Pulled {
    events: tokio::sync::Mutex<UnboundedReceiver<Any>>,
    disconnected: UnboundedSender<()>,
}

impl Offered {
    pub(crate) fn new(orb: &Orb) -> (Self, PullSupplierRef) {
        let (events, pulled) = unbounded_channel();
        let (sender, disconnected) = unbounded_channel();
        let servant = PullSupplierServant::new(Pulled {
            events: tokio::sync::Mutex::new(pulled),
            disconnected: sender,
        });
        let supplier = orb.root_poa().activate(servant).unwrap();
        let offered = Self {
            events,
            disconnected,
        };
        (offered, supplier)
    }

    pub(crate) fn offer(&self, number: u32) {
        self.events.send(event(number)).expect("a servant");
    }

    pub(crate) async fn disconnected(&mut self) {
        let told = tokio::time::timeout(HANG, self.disconnected.recv()).await;
        told.expect("it is told");
    }
}

impl PullSupplier for Pulled {
    async fn pull(&self) -> Result<Any, PullError> {
        let event = self.events.lock().await.recv().await;
        Ok(event.ok_or(Disconnected {})?)
    }

    async fn try_pull(&self) -> Result<(Any, bool), TryPullError> {
        Ok(match self.events.lock().await.try_recv() {
            Ok(event) => (event, true),
            Err(_) => (Any::default(), false),
        })
    }

    async fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        let _ = self.disconnected.send(());
        Ok(())
    }
}

/// A peer that counts how often it was told that it is disconnected.
pub(crate) struct Told(pub(crate) UnboundedSender<()>);

impl PushSupplier for Told {
    async fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        let _ = self.0.send(());
        Ok(())
    }
}

impl PullConsumer for Told {
    async fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        let _ = self.0.send(());
        Ok(())
    }
}

pub(crate) fn told_supplier(
    orb: &Orb,
) -> (
    zorb_events::cos_event_comm::PushSupplierRef,
    UnboundedReceiver<()>,
) {
    let (sender, told) = unbounded_channel();
    let servant = PushSupplierServant::new(Told(sender));
    (orb.root_poa().activate(servant).unwrap(), told)
}

pub(crate) fn told_consumer(
    orb: &Orb,
) -> (
    zorb_events::cos_event_comm::PullConsumerRef,
    UnboundedReceiver<()>,
) {
    let (sender, told) = unbounded_channel();
    let servant = PullConsumerServant::new(Told(sender));
    (orb.root_poa().activate(servant).unwrap(), told)
}

/// Whether an object says that it does not exist.
pub(crate) async fn is_gone(object: &impl Interface) -> bool {
    object.as_object().non_existent().await.expect("it answers")
}
