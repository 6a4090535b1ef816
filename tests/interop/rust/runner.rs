//! Cells, and how they are run: for the client of any IDL, which has a `World` for them to run in.

use crate::client::World;
use crate::support::{HANG, passed};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use zorb::{CompletionStatus, SystemException, SystemExceptionKind};
use zorb_giop::OperationError;

/// One subject; a failed check panics.
pub(crate) struct Cell {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Arc<World>) -> Run,
}

pub(crate) type Run = Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident: $module:ident::{$($cell:ident),+ $(,)?})+) => {$(
        $(#[$doc])*
        pub(crate) const $name: &[$crate::runner::Cell] = &[
            $($crate::runner::Cell { name: stringify!($cell), run: |world| Box::pin($module::$cell(world)) }),+
        ];
    )+};
}
pub(crate) use cells;

/// Runs cells one after the other, and fails at the end if one did. Those that pass are noted as
/// `prefix/name`, unless both sides are ours, which is no cell of anybody's list.
pub(crate) async fn run(world: World, prefix: &str, groups: &[&[Cell]]) {
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
