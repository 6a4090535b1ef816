//! The client of `interop.idl`: calls everything and checks every rule.

mod data;
mod ends;
mod objects;
mod waits;
mod wide;

use crate::idl::interop::PeerRef;
use crate::peers::Way;
use crate::support::{HANG, passed};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use zorb::{CompletionStatus, Orb, SystemException, SystemExceptionKind};
use zorb_giop::OperationError;

/// What a cell runs in.
pub(crate) struct World {
    pub(crate) orb: Orb,
    pub(crate) peer: PeerRef,
    /// How to start another server of the same kind; `None` when the server is one of ours.
    pub(crate) way: Option<Way>,
    /// Whether strings travel as UTF-8 or as ISO 8859-1.
    pub(crate) utf8: bool,
}

/// One subject; a failed check panics.
pub(crate) struct Cell {
    name: &'static str,
    run: fn(Arc<World>) -> Run,
}

type Run = Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident: $module:ident::{$($cell:ident),+ $(,)?})+) => {$(
        $(#[$doc])*
        pub(crate) const $name: &[Cell] = &[
            $(Cell { name: stringify!($cell), run: |world| Box::pin($module::$cell(world)) }),+
        ];
    )+};
}

cells! {
    DATA: data::{
        basic, nans, mixed, mismatch, constants, strings, latin1, latin1_char, enums, structs, bundles,
        sequences, struct_sequences, nested_sequences, bounded, beyond_bounds, arrays,
        large_octets, large_strings, large_structs, big_messages,
    }
    OBJECTS: objects::{
        attributes, exceptions, system_exceptions, retried_exceptions, undeclared, bad_operation,
        references, pseudo_operations, inheritance, callbacks, keywords,
    }
    WAITS: waits::{ oneways, gates, timeout, cancel, concurrent }
    /// Not in GIOP 1.0.
    WIDE: wide::{
        wide_chars, wide_halves, wide_strings, wide_marks, wide_sequences, wide_structs,
        wide_bounded, widen_narrow, large_wide_strings,
    }
    /// Only where there is no wide text.
    NOT_WIDE: wide::{ wide_refused }
    /// Only for strings that travel as UTF-8 to a server that keeps them so.
    UNICODE: data::{ strings, latin1, unicode }
    /// Only for servers that keep strings in UTF-8, where we are told of it.
    UNICODE_BY_CORBALOC: data::{ unicode_by_corbaloc }
    WIDE_UNICODE: wide::{ widen_narrow, widen_narrow_unicode }
    /// Only for servers that keep strings in ISO 8859-1, or where they travel so.
    LATIN1: data::{ strings, latin1, unfit }
    LATIN1_CHAR: data::{ latin1_char }
    /// Only for servers that keep strings in ISO 8859-5.
    CYRILLIC: data::{ strings, cyrillic, unfit, unfit_reply }
    /// The same where there is wide text.
    WIDE_LATIN1: data::{ unfit_reply }
    /// Only for servers that keep to omniORB's default limit.
    TOO_BIG: data::{ too_big, too_big_by_corbaloc }
    /// Only for servers without that limit.
    VERY_BIG: data::{ very_big_messages }
    /// The least that says that both sides reach each other.
    BASIC: data::{ basic }
    CALLBACKS: objects::{ callbacks }
    /// Only for servers that forward.
    FORWARDS: ends::{ forward, forward_loop, forward_to_nowhere, locate }
    /// Only for servers in a process of their own.
    ENDS: ends::{ corbaloc, server_dies, stale_reference, restart, shutdown }
}

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
fn raised<T: Debug, E: OperationError + Debug>(
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
