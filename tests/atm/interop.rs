//! `tests/interop/interop.idl` between two ORBs of ours: every messaging over circuits, with the cells of `tests/peers/interop`.

#[path = "../peers/interop/client/mod.rs"]
#[expect(dead_code, reason = "some cells are of other ORBs' servers")]
mod client;
#[path = "../peers/interop/columns.rs"]
mod columns;
#[path = "../peers/interop/idl.rs"]
mod idl;
#[path = "../peers/interop/nodes.rs"]
mod nodes;
#[path = "../peers/interop/rules.rs"]
mod rules;
#[path = "../peers/interop/samples.rs"]
mod samples;
#[path = "../peers/interop/server/mod.rs"]
mod server;

use crate::faults::have_atm;
use columns::{Row, Side, every_messaging};
use std::sync::atomic::{AtomicU16, Ordering};

/// Circuits that no other test has.
static NEXT: AtomicU16 = AtomicU16::new(400);

/// The client's own objects, which are called back, are at interface 0.
const CIRCUITS: Row = Row {
    name: "circuits",
    lite: ("atmlite", 0x5a4f_52f2),
    transport: || crate::atm(),
    address: |_, side| {
        let vci = NEXT.fetch_add(1, Ordering::Relaxed);
        match side {
            Side::Server => format!("1.0.{vci}?peer=0.0.{vci}"),
            Side::Client => format!("0.0.{vci}?peer=1.0.{vci}"),
        }
    },
    // The machine is emulated. A seventh of the combinations of what system exceptions say has each part of them.
    one_in: 7,
};

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_carries_the_interop_idl_over_circuits() {
    if have_atm("calls") {
        every_messaging(CIRCUITS).await;
    }
}
