//! The response flags of a one-way request, by its SyncScope.

use crate::policy::SyncScope;
use zorb_giop::{ResponseFlags, Version};

/// The response flags, if the server is to reply.
pub(super) const fn response(scope: SyncScope) -> Option<ResponseFlags> {
    match scope {
        SyncScope::None | SyncScope::WithTransport => None,
        SyncScope::WithServer => Some(ResponseFlags::WithServer),
        SyncScope::WithTarget => Some(ResponseFlags::WithTarget),
    }
}

/// The response flags that a request of this version has for the wanted ones.
pub(super) fn supported(wanted: ResponseFlags, version: Version) -> ResponseFlags {
    match wanted {
        ResponseFlags::WithServer if version < Version::V1_2 => ResponseFlags::WithTarget,
        wanted => wanted,
    }
}
