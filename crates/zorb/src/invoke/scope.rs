//! How far a one-way call is followed.

use zorb_giop::{ResponseFlags, Version};

/// When a one-way call is done, as its caller sees it: `Messaging::SyncScope`.
///
/// Calls through one reference arrive in their order, whatever the scope, as long as its connection lives; but a long one
/// of scope `None` that is cut into [fragments](crate::Builder::max_fragment_octets) is passed by shorter ones after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(alias = "SyncScopePolicy")]
#[non_exhaustive]
pub enum SyncScope {
    /// At once, when it is queued (SYNC_NONE): its caller waits neither for the connection nor for room. Small ones are
    /// joined, so that many of them leave by one system call: when 16 KiB wait, or with the next call of another scope,
    /// or after a millisecond or two.
    ///
    /// At most 1 MiB waits on a connection, and as much for all connections of an ORB that are still to be made. One for
    /// which there is no room is TRANSIENT, COMPLETED_NO, and
    /// [counted](crate::Orb::one_ways_refused): a sender that is faster than its receiver goes on after a pause, or has
    /// another scope. Those that are lost with the connection are not reported, those whose connection cannot be made
    /// are counted, and those that still wait when the program ends without
    /// [`Orb::shutdown`](crate::Orb::shutdown) are lost too.
    None,
    /// When it is handed to the operating system (SYNC_WITH_TRANSPORT): one system call for a lone one.
    #[default]
    WithTransport,
    /// When the server says that it has arrived, before the servant is called (SYNC_WITH_SERVER). Costs a round trip.
    /// In GIOP 1.0 and 1.1, which cannot say so, as `WithTarget`.
    WithServer,
    /// When the servant is done (SYNC_WITH_TARGET). Costs what a call with a reply does, and is told of its system
    /// exceptions.
    WithTarget,
}

impl SyncScope {
    /// What to ask of the server, if it is to answer.
    pub(super) fn response(self) -> Option<ResponseFlags> {
        match self {
            Self::None | Self::WithTransport => None,
            Self::WithServer => Some(ResponseFlags::WithServer),
            Self::WithTarget => Some(ResponseFlags::WithTarget),
        }
    }
}

/// The response flags that a request of this version has for the wanted ones.
pub(super) fn supported(wanted: ResponseFlags, version: Version) -> ResponseFlags {
    match wanted {
        ResponseFlags::WithServer if version < Version::V1_2 => ResponseFlags::WithTarget,
        wanted => wanted,
    }
}
