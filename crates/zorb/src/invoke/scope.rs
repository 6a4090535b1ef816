//! The response flags of a one-way request, by its SyncScope.

use crate::policy::SyncScope;
use zorb_giop::{ResponseFlags, Version};

/// The response flags; `None` if the server sends no reply.
pub(super) const fn response(scope: SyncScope) -> Option<ResponseFlags> {
    match scope {
        SyncScope::None | SyncScope::WithTransport => None,
        SyncScope::WithServer => Some(ResponseFlags::WithServer),
        SyncScope::WithTarget => Some(ResponseFlags::WithTarget),
    }
}

/// The response flags in a request of this GIOP version. Versions before 1.2 have no WITH_SERVER and wait for the
/// target.
pub(super) fn supported(wanted: ResponseFlags, version: Version) -> ResponseFlags {
    match wanted {
        ResponseFlags::WithServer if version < Version::V1_2 => ResponseFlags::WithTarget,
        wanted => wanted,
    }
}
