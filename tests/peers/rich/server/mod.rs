//! The servant of `rich.idl`: every comment there is a rule here.

mod served_anys;
mod served_rich_data;
mod served_values;

pub(crate) use served_values::{described, thing};

use crate::rich::rich_idl::rich::{self, Control, PeerRef, PeerServant};
use std::sync::{Arc, OnceLock};
use zorb::{Orb, SystemException};

type Raises<T> = Result<T, SystemException>;

pub(crate) struct Peer {
    orb: Orb,
    /// The reference of the caller.
    itself: Arc<OnceLock<PeerRef>>,
}

impl rich::Peer for Peer {}

impl Control for Peer {
    async fn orb_name(&self) -> Raises<String> {
        Ok("zorb".to_owned())
    }

    async fn shutdown(&self) -> Raises<()> {
        self.orb.shutdown(false).await
    }
}

/// Serves a peer; the reference is what other programs are given.
pub(crate) fn serve(orb: &Orb) -> PeerRef {
    crate::rich::values::register(orb);
    let itself = Arc::new(OnceLock::new());
    let peer = Peer {
        orb: orb.clone(),
        itself: Arc::clone(&itself),
    };
    let poa = orb.root_poa();
    let reference = poa
        .activate(PeerServant::new(peer))
        .expect("the ORB listens");
    itself.get_or_init(|| reference.clone());
    orb.key_table()
        .bind("Interop", &reference)
        .expect("the only peer of this ORB");
    poa.the_poa_manager()
        .activate()
        .expect("the manager is not inactive");
    reference
}
