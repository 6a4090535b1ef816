//! Nodes that are somewhere else.

use super::{Peer, Raises};
use crate::interop::idl::interop::{self, NodeRef};
use crate::interop::nodes::host_node;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use zorb::{Forward, Interface, SystemException};

impl Peer {
    /// A forward that is counted whenever a client gets it.
    fn counted(
        &self,
        to: impl Fn() -> Result<NodeRef, SystemException> + Send + Sync + 'static,
    ) -> Forward {
        let forwarded: Arc<AtomicU32> = Arc::clone(&self.forwarded);
        Forward::by(move || {
            forwarded.fetch_add(1, Ordering::Relaxed);
            Ok(to()?.as_object().clone())
        })
    }

    fn forward(&self, to: NodeRef) -> Forward {
        self.counted(move || Ok(to.clone()))
    }
}

impl interop::Forwards for Peer {
    async fn forwarder(&self, hops: u32) -> Raises<Option<NodeRef>> {
        let mut node = self.home.clone();
        for _ in 0..hops {
            node = self.orb.root_poa().create_forward(self.forward(node))?;
        }
        Ok(Some(node))
    }

    async fn forwarder_for_good(&self) -> Raises<Option<NodeRef>> {
        let forward = self.forward(self.home.clone()).permanent();
        Ok(Some(self.orb.root_poa().create_forward(forward)?))
    }

    async fn forward_loop(&self) -> Raises<Option<NodeRef>> {
        let last: Arc<OnceLock<NodeRef>> = Arc::default();
        let back = Arc::clone(&last);
        let poa = self.orb.root_poa();
        let first: NodeRef = poa.create_forward(
            self.counted(move || Ok(back.get().expect("set before the first call").clone())),
        )?;
        let node: NodeRef = poa.create_forward(self.forward(first.clone()))?;
        last.set(node).expect("it is set once");
        Ok(Some(first))
    }

    async fn forward_to_nowhere(&self) -> Raises<Option<NodeRef>> {
        let (gone, _) = host_node(&self.orb, "gone", false);
        let poa = self.orb.root_poa();
        poa.deactivate_object(&gone)?;
        Ok(Some(poa.create_forward(self.forward(gone))?))
    }

    async fn forwarded(&self) -> Raises<u32> {
        Ok(self.forwarded.load(Ordering::Relaxed))
    }
}
