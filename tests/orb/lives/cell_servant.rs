//! A servant that waits, blocks, panics, calls others and ends its ORB.

use crate::anew::{anywhere, listening};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use zorb::{CompletionStatus, Orb, SystemException, SystemExceptionKind};

zorb::idl! {
    module Lives {
        interface Cell {
            long add(in long a, in long b);
            /// Returns when the test says so.
            long wait(in long value);
            /// `other.add`, called while this is being called.
            long add_by(in Cell other, in long a, in long b);
            /// The same, by `depth` calls from one to the other and back.
            long add_far(in Cell other, in Cell back, in long depth);
            /// The sum, counted on a thread that may block.
            long add_blocking(in long a, in long b);
            void panic_now();
            void panic_later();
            void end(in boolean wait);
            oneway void note(in long value);
        };
    };
}

pub(crate) use lives::{Cell, CellRef, CellServant};

/// A bound against hangs, not a measurement.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no hang")
}

pub(crate) struct Servant {
    orb: Orb,
    /// Permits for `wait` to return.
    pub(crate) gate: Semaphore,
    /// `wait` has begun.
    pub(crate) entered: Notify,
    /// `wait`s that are over.
    pub(crate) left: AtomicUsize,
    pub(crate) left_one: Notify,
    pub(crate) notes: AtomicUsize,
}

impl Servant {
    pub(crate) fn new(orb: &Orb) -> Arc<Self> {
        Arc::new(Self {
            orb: orb.clone(),
            gate: Semaphore::new(0),
            entered: Notify::new(),
            left: AtomicUsize::new(0),
            left_one: Notify::new(),
            notes: AtomicUsize::new(0),
        })
    }
}

impl Cell for Servant {
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a.wrapping_add(b))
    }

    async fn wait(&self, value: i32) -> Result<i32, SystemException> {
        self.entered.notify_one();
        self.gate.acquire().await.expect("never closed").forget();
        self.left.fetch_add(1, Ordering::Relaxed);
        self.left_one.notify_one();
        Ok(value)
    }

    async fn add_by(&self, other: Option<CellRef>, a: i32, b: i32) -> Result<i32, SystemException> {
        other.expect("a cell").add(a, b).await
    }

    async fn add_far(
        &self,
        other: Option<CellRef>,
        back: Option<CellRef>,
        depth: i32,
    ) -> Result<i32, SystemException> {
        let other = other.expect("a cell");
        if depth == 0 {
            return other.add(0, 1).await;
        }
        Ok(other.add_far(back, &other, depth - 1).await? + 1)
    }

    async fn add_blocking(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        let sum = tokio::task::spawn_blocking(move || a.wrapping_add(b));
        Ok(sum.await.expect("it does not panic"))
    }

    async fn panic_now(&self) -> Result<(), SystemException> {
        panic!("now, as asked");
    }

    async fn panic_later(&self) -> Result<(), SystemException> {
        tokio::task::yield_now().await;
        panic!("later, as asked");
    }

    async fn end(&self, wait: bool) -> Result<(), SystemException> {
        self.orb.shutdown(wait).await
    }

    async fn note(&self, value: i32) -> Result<(), SystemException> {
        self.notes
            .fetch_add(usize::try_from(value).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }
}

/// An ORB with one cell.
pub(crate) async fn server() -> (Orb, Arc<Servant>, CellRef) {
    server_at(&anywhere()).await
}

pub(crate) async fn server_at(endpoint: &str) -> (Orb, Arc<Servant>, CellRef) {
    one_cell(listening(|| Orb::builder().listen(endpoint)).await)
}

/// The same of an ORB that listens.
pub(crate) fn one_cell(orb: Orb) -> (Orb, Arc<Servant>, CellRef) {
    let servant = Servant::new(&orb);
    let poa = orb.root_poa();
    let cell = poa.activate(CellServant::from_arc(Arc::clone(&servant)));
    poa.the_poa_manager().activate().unwrap();
    (orb, servant, cell.unwrap())
}

/// An ORB that listens nowhere.
pub(crate) async fn client() -> Orb {
    Orb::builder().build().await.unwrap()
}

/// The same object as another ORB sees it.
pub(crate) async fn from_afar(orb: &Orb, cell: &CellRef) -> CellRef {
    let object = orb.string_to_object(&cell.to_string()).await.unwrap();
    object.unchecked_narrow()
}

/// The kind of an exception, without its text.
pub(crate) fn seen<T: std::fmt::Debug>(
    outcome: Result<T, SystemException>,
) -> (SystemExceptionKind, u32, CompletionStatus) {
    let e = outcome.unwrap_err();
    (e.kind, e.minor, e.completed)
}
