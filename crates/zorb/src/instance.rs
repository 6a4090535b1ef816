//! The id of one life of a server.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};
use zorb_poa::{InstanceId, KeyProtection, KeySecret, ObjectAdapter, Policies};

/// An id for this run of a server, from the seed of the operating system, the process and the time.
pub(crate) fn random_instance() -> InstanceId {
    // The operating system seeds `RandomState` once for each thread, and it counts up from there. Process id and time
    // distinguish forked processes.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    if let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) {
        hasher.write_u128(now.as_nanos());
    }
    InstanceId(hasher.finish())
}

/// Draws a random secret for the authentication codes of this run of a server, if the policies need one and none is
/// set. If the operating system has no random octets, adapters with codes are refused.
pub(crate) fn ensure_key_secret(adapters: &ObjectAdapter, policies: Policies) {
    if policies.key_protection != KeyProtection::Authenticated || adapters.has_key_secret() {
        return;
    }
    let mut octets = [0; 32];
    if getrandom::fill(&mut octets).is_ok() {
        adapters.set_key_secret(KeySecret::of_this_life(octets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lives_have_different_ids() {
        assert_ne!(random_instance(), random_instance());
    }
}
