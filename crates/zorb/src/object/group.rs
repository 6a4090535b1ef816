//! Group references: one reference to an object of several servers.

use super::ObjectRef;
use zorb_connection::NamedBy;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException};

impl ObjectRef {
    /// Merges references to one object of several servers: the result has the profiles of all references, in their
    /// order. Its calls go to one of the servers, chosen by [`EndpointOrder`](crate::policy::EndpointOrder), and to the
    /// next when that accepts no more connections. A call that a server may have executed is not sent to another one:
    /// it is COMM_FAILURE, COMPLETED_MAYBE.
    ///
    /// The servers have to share their state, or have none: zorb does not compare their replies. A profile of several
    /// references is taken once. The type id and the ORB are those of the first reference. The result can be
    /// stringified and sent as any other reference: other ORBs try the profiles in their order.
    ///
    /// # Errors
    /// INV_OBJREF if there is no reference, or one of them is nil.
    #[doc(alias = "merge_iors")]
    pub fn group<'a>(
        references: impl IntoIterator<Item = &'a Self>,
    ) -> Result<Self, SystemException> {
        let nil = || Fault::NilReference.raise(CompletionStatus::No);
        let mut references = references.into_iter().peekable();
        let orb = references.peek().ok_or_else(nil)?.orb().clone();
        let mut group: Option<Ior> = None;
        let mut named_by = NamedBy::Application;
        for reference in references {
            if reference.0.named_by == NamedBy::Peer {
                named_by = NamedBy::Peer;
            }
            let ior = reference.ior();
            if ior.is_nil() {
                return Err(nil());
            }
            let Some(group) = &mut group else {
                group = Some(ior.clone());
                continue;
            };
            for profile in &ior.profiles {
                if !group.profiles.contains(profile) {
                    group.profiles.push(profile.clone());
                }
            }
        }
        Ok(Self::named_by(orb, group.ok_or_else(nil)?, named_by))
    }
}
