//! Cells, and how they are run: for the client of any IDL whose `Peer` has what [`Peer`] asks for.

use crate::peers::Way;
use crate::support::{HANG, passed};
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zorb::{CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_giop::OperationError;

/// The interface that peers serve and call: what every IDL of the matrix has.
pub(crate) trait Peer: Interface + Send + Sync + Sized + 'static {
    /// Registers what the client's ORB needs to know.
    fn prepare(orb: &Orb);

    /// Activates our servant.
    fn serve(orb: &Orb) -> Self;

    /// Asks the server for the name of its ORB.
    fn orb_name(&self) -> impl Future<Output = Result<String, SystemException>> + Send;
}

/// The peer of a reference, for the ORB of a client whose own objects can be called back from now on.
pub(crate) async fn connected<P: Peer>(orb: &Orb, reference: &str) -> P {
    P::prepare(orb);
    orb.root_poa()
        .the_poa_manager()
        .activate()
        .expect("not inactive");
    let object = orb.string_to_object(reference).await.expect("a reference");
    object.narrow().await.expect("it answers").expect("a Peer")
}

/// The ORBs and references that a cell runs with.
pub(crate) struct World<P> {
    pub(crate) orb: Orb,
    pub(crate) peer: P,
    /// How to start another server of the same kind; `None` when the server is one of ours.
    pub(crate) way: Option<Way>,
    /// Whether strings travel as UTF-8 or as ISO 8859-1.
    pub(crate) utf8: bool,
    /// The part of octets, elements and calls that a cell uses, one in so many: more than 1 where each instruction costs
    /// much.
    pub(crate) one_in: usize,
}

impl<P> World<P> {
    /// As many of `all` as are enough.
    pub(crate) const fn enough(&self, all: usize) -> usize {
        all / self.one_in
    }
}

/// One subject; a failed check panics.
pub(crate) struct Cell<P> {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Arc<World<P>>) -> Run,
}

pub(crate) type Run = Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident: $module:ident::{$($cell:ident),+ $(,)?})+) => {$(
        $(#[$doc])*
        pub(crate) const $name: &[Cell] = &[
            $(Cell { name: stringify!($cell), run: |world| Box::pin($module::$cell(world)) }),+
        ];
    )+};
}
pub(crate) use cells;

/// Runs cells one after the other, and fails at the end if one did. Those that pass are noted as
/// `prefix/name`, unless both sides are ours: such a cell is in no list.
pub(crate) async fn run<P: Peer>(world: World<P>, prefix: &str, groups: &[&[Cell<P>]]) {
    let world = Arc::new(world);
    let mut failed = Vec::new();
    let lacking = world
        .way
        .as_ref()
        .map_or(&[][..], |way| way.brand.server_lacks);
    for cell in groups.iter().copied().flatten() {
        if lacking.contains(&cell.name) {
            continue;
        }
        // A task of its own: its panic is an answer.
        let task = tokio::spawn((cell.run)(Arc::clone(&world)));
        let stop = task.abort_handle();
        match tokio::time::timeout(HANG, task).await {
            Ok(Ok(())) if world.way.is_none() => {}
            Ok(Ok(())) => passed(&format!("{prefix}/{}", cell.name)),
            Ok(Err(_)) => failed.push(format!("{prefix}/{}", cell.name)),
            Err(_) => {
                stop.abort();
                failed.push(format!("{prefix}/{} hangs", cell.name));
            }
        }
    }
    let shutdown = tokio::time::timeout(HANG, world.orb.shutdown(true)).await;
    shutdown
        .expect("the client's ORB shuts down")
        .expect("outside any upcall");
    assert!(failed.is_empty(), "cells that failed: {failed:#?}");
}

/// That a call came to this system exception, whatever its minor code.
#[track_caller]
pub(crate) fn raised<T: Debug, E: OperationError + Debug>(
    outcome: Result<T, E>,
    kind: SystemExceptionKind,
    completed: impl Into<Option<CompletionStatus>>,
) -> SystemException {
    let error = outcome.expect_err("an exception is due");
    let Some(exception) = error.system() else {
        panic!("expected {kind}, found {error:?}");
    };
    assert_eq!(exception.kind, kind, "{exception}");
    if let Some(completed) = completed.into() {
        assert_eq!(exception.completed, completed, "{exception}");
    }
    exception.clone()
}
