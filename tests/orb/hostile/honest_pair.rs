//! A server with one servant, and a client that behaves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use zorb::{Builder, Bytes, Interface, OctetsRef, Orb, SystemException};
use zorb_giop::ior::IiopProfile;

zorb::idl! {
    module Hostile {
        interface Target {
            exception Refused { string why; };
            typedef sequence<long> Longs;
            typedef sequence<octet> Blob;

            long twice(in long n);
            string greet(in string who) raises (Refused);
            wstring widen(in wstring text);
            long sum(in Longs numbers);
            Blob large(in unsigned long octets);
            /// The same, when the test says so.
            Blob large_later(in unsigned long octets);
            unsigned long swallow(in Blob octets);
            void panic_at_once();
            void panic_later();
            /// Returns when the test says so.
            void wait();
            oneway void forget(in long n);
            /// `wait`, one way.
            oneway void forget_later();
        };
    };
}

pub(crate) use hostile::target::{GreetError, Refused};
pub(crate) use hostile::{Target, TargetRef, TargetServant};

/// How long anything may take before it counts as a hang. Not a measure of speed.
const HANG: Duration = Duration::from_secs(60);

/// Fails instead of waiting for ever.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, future)
        .await
        .expect("this should not take so long: something hangs")
}

/// A test's view of the servant, and its means to control it.
pub(crate) struct Subject {
    /// Calls of `large` so far.
    pub(crate) large: AtomicUsize,
    /// Arguments of `forget`, in the order of its calls.
    pub(crate) forgotten: Mutex<Vec<i32>>,
    entered: mpsc::UnboundedSender<()>,
    gate: Semaphore,
    left: mpsc::UnboundedSender<()>,
}

impl Subject {
    /// Lets as many upcalls of `wait` return at once.
    pub(crate) fn open(&self, upcalls: usize) {
        self.gate.add_permits(upcalls);
    }

    /// From now on they wait.
    pub(crate) fn shut(&self) {
        self.gate.forget_permits(usize::MAX);
    }
}

/// The servant.
struct Servant(Arc<Subject>);

impl Target for Servant {
    async fn twice(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n.wrapping_mul(2))
    }

    async fn greet(&self, who: &str) -> Result<String, GreetError> {
        if who.is_empty() {
            return Err(Refused {
                why: "none there".to_owned(),
            }
            .into());
        }
        Ok(format!("hello {who}"))
    }

    async fn widen(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    async fn sum(&self, numbers: &[i32]) -> Result<i32, SystemException> {
        Ok(numbers.iter().sum())
    }

    async fn large(&self, octets: u32) -> Result<Bytes, SystemException> {
        self.0.large.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes::from(vec![7; octets as usize]))
    }

    async fn large_later(&self, octets: u32) -> Result<Bytes, SystemException> {
        self.wait().await?;
        Ok(Bytes::from(vec![7; octets as usize]))
    }

    async fn swallow(&self, octets: OctetsRef<'_>) -> Result<u32, SystemException> {
        Ok(octets.len() as u32)
    }

    async fn panic_at_once(&self) -> Result<(), SystemException> {
        panic!("at once, as asked");
    }

    async fn panic_later(&self) -> Result<(), SystemException> {
        tokio::task::yield_now().await;
        panic!("later, as asked");
    }

    async fn forget(&self, n: i32) -> Result<(), SystemException> {
        self.0.forgotten.lock().unwrap().push(n);
        Ok(())
    }

    async fn forget_later(&self) -> Result<(), SystemException> {
        self.0.entered.send(()).expect("the test listens");
        self.0.gate.acquire().await.expect("never closed").forget();
        Ok(())
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.0.entered.send(()).expect("the test listens");
        self.0.gate.acquire().await.expect("never closed").forget();
        self.0.left.send(()).expect("the test listens");
        Ok(())
    }
}

/// The server, and the client that has to be served whatever others do.
pub(crate) struct World {
    pub(crate) server: Orb,
    pub(crate) subject: Arc<Subject>,
    target: TargetRef,
    bystander: Orb,
    seen: TargetRef,
    entered: mpsc::UnboundedReceiver<()>,
    left: mpsc::UnboundedReceiver<()>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_with(|builder| builder).await
    }

    pub(crate) async fn start_with(configure: impl FnOnce(Builder) -> Builder) -> Self {
        let server = configure(Orb::builder().listen("iiop://127.0.0.1:0"));
        let server = server.build().await.unwrap();
        let (entered_here, entered) = mpsc::unbounded_channel();
        let (left_here, left) = mpsc::unbounded_channel();
        let subject = Arc::new(Subject {
            large: AtomicUsize::new(0),
            forgotten: Mutex::default(),
            entered: entered_here,
            gate: Semaphore::new(0),
            left: left_here,
        });
        let servant = TargetServant::new(Servant(Arc::clone(&subject)));
        let target = server.root_poa().activate(servant).unwrap();
        server.root_poa().the_poa_manager().activate().unwrap();
        let bystander = Orb::builder().build().await.unwrap();
        let seen = reach(&bystander, &server.object_to_string(&target)).await;
        let world = Self {
            server,
            subject,
            target,
            bystander,
            seen,
            entered,
            left,
        };
        world.serves().await;
        world
    }

    /// The well-behaved client makes a call and gets the right answer.
    pub(crate) async fn serves(&self) {
        assert_eq!(within(self.seen.twice(21)).await, Ok(42));
    }

    /// The reference as text.
    pub(crate) fn reference(&self) -> String {
        self.server.object_to_string(&self.target)
    }

    pub(crate) fn ior(&self) -> zorb::Ior {
        self.target.as_object().ior().clone()
    }

    /// The well-behaved client's ORB.
    pub(crate) fn bystander(&self) -> &Orb {
        &self.bystander
    }

    pub(crate) fn profile(&self) -> IiopProfile {
        let profiles = &self.target.as_object().ior().profiles;
        IiopProfile::from_tagged(&profiles[0]).unwrap()
    }

    pub(crate) fn key(&self) -> Bytes {
        self.profile().object_key
    }

    pub(crate) fn port(&self) -> u16 {
        self.profile().address.port
    }

    /// Another servant that does the same.
    pub(crate) fn servant(&self) -> TargetServant<impl Target> {
        TargetServant::new(Servant(Arc::clone(&self.subject)))
    }

    /// A server with the same servant and a thread for each connection, and the profile of its reference.
    pub(crate) async fn on_threads(
        &self,
        configure: fn(Builder) -> Builder,
    ) -> (zorb::blocking::Orb, IiopProfile) {
        let servant = self.servant();
        let building = tokio::task::spawn_blocking(move || {
            let builder = configure(Orb::builder().listen("iiop://127.0.0.1:0"));
            let orb = builder.build_blocking().unwrap();
            let target = orb.root_poa().activate(servant).unwrap();
            orb.root_poa().the_poa_manager().activate().unwrap();
            (orb, target)
        });
        let (orb, target) = building.await.unwrap();
        let profile = IiopProfile::from_tagged(&target.as_object().ior().profiles[0]);
        (orb, profile.unwrap())
    }

    /// Upcalls of `wait` that have begun since the last look.
    pub(crate) fn entered_so_far(&mut self) -> usize {
        core::iter::from_fn(|| self.entered.try_recv().ok()).count()
    }

    /// An upcall of `wait` has begun.
    pub(crate) async fn entered(&mut self) {
        within(self.entered.recv()).await.unwrap();
    }

    /// Lets one `wait` return, and waits until it has.
    pub(crate) async fn let_go(&mut self) {
        self.subject.gate.add_permits(1);
        within(self.left.recv()).await.unwrap();
    }

    /// All other peers are served to the last, and the server ends in order.
    pub(crate) async fn end(self) {
        self.serves().await;
        within(self.bystander.shutdown(true)).await.unwrap();
        within(self.server.shutdown(true)).await.unwrap();
    }
}

/// The object, taken to be what it is.
pub(crate) async fn reach(orb: &Orb, reference: &str) -> TargetRef {
    let object = orb.string_to_object(reference).await.unwrap();
    object.unchecked_narrow()
}
