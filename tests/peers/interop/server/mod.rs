//! The servant of `interop.idl`: every comment there is a rule here.

mod forwards;
mod rest;
mod served_data;
mod served_wide_text;

pub(crate) use served_data::{digest_of_constants, octet_at};

use crate::interop::idl::interop::{NodeRef, PeerRef, PeerServant};
use crate::interop::idl::shapes::Point;
use crate::interop::nodes::host_node;
use crate::runner;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use zorb::{CompletionStatus, Orb, SystemException, SystemExceptionKind};

/// How long the operations that wait do so, as the IDL says.
const PATIENCE: Duration = Duration::from_secs(20);

type Raises<T> = Result<T, SystemException>;

pub(crate) struct Peer {
    orb: Orb,
    home: NodeRef,
    attributes: Mutex<Attributes>,
    kept: Mutex<Option<NodeRef>>,
    used: AtomicI32,
    forwarded: Arc<AtomicU32>,
    waited_for: watch::Sender<WaitedFor>,
}

#[derive(Default)]
struct Attributes {
    number: i32,
    title: String,
    ready: bool,
    list: Vec<i32>,
    position: Option<Point>,
    companion: Option<NodeRef>,
    revision: u32,
}

/// Whatever some calls wait for and others change.
#[derive(Default)]
struct WaitedFor {
    notes: u32,
    total: u64,
    gates: HashMap<String, Gate>,
}

#[derive(Default)]
struct Gate {
    waiting: u32,
    opened: u32,
}

impl Peer {
    /// Waits until `change` makes something of it.
    async fn until<T>(&self, change: impl Fn(&mut WaitedFor) -> Option<T>) -> Raises<T> {
        let mut changes = self.waited_for.subscribe();
        let changed = async {
            loop {
                let mut changed = None;
                self.waited_for.send_if_modified(|it| {
                    changed = change(it);
                    changed.is_some()
                });
                if let Some(changed) = changed {
                    return changed;
                }
                changes
                    .changed()
                    .await
                    .expect("the sender is in the servant");
            }
        };
        let timeout = SystemException::new(SystemExceptionKind::Timeout, 0, CompletionStatus::No);
        tokio::time::timeout(PATIENCE, changed)
            .await
            .map_err(|_| timeout)
    }
}

impl runner::Peer for PeerRef {
    fn prepare(_: &Orb) {}

    fn serve(orb: &Orb) -> Self {
        serve(orb)
    }

    fn orb_name(&self) -> impl Future<Output = Result<String, SystemException>> + Send {
        self.orb_name()
    }
}

/// Serves a peer; the reference is what other programs are given.
pub(crate) fn serve(orb: &Orb) -> PeerRef {
    let (home, _) = host_node(orb, "home", false);
    let peer = Peer {
        orb: orb.clone(),
        home,
        attributes: Mutex::default(),
        kept: Mutex::default(),
        used: AtomicI32::new(0),
        forwarded: Arc::default(),
        waited_for: watch::Sender::default(),
    };
    let poa = orb.root_poa();
    let reference = poa
        .activate(PeerServant::new(peer))
        .expect("the ORB listens");
    orb.key_table()
        .bind("Interop", &reference)
        .expect("the only peer of this ORB");
    poa.the_poa_manager()
        .activate()
        .expect("the manager is not inactive");
    reference
}
