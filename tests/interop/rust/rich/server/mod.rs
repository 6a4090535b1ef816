//! The servant of `rich.idl`: every comment there is a rule here.

mod data;
mod values;

pub(crate) use values::{described, thing};

use crate::idl::rich::{self, Control, PeerRef, PeerServant};
use zorb::{Orb, SystemException};

type Raises<T> = Result<T, SystemException>;

pub(crate) struct Peer {
    orb: Orb,
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
    crate::values::register(orb);
    let peer = Peer { orb: orb.clone() };
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
