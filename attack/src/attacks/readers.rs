//! Clients that ask and do not listen.

use super::fragments::{closed, open};
use crate::Failure;
use crate::scene::Scene;

/// The group of the attackers' hosts.
const ATTACKERS: u8 = 13;
/// Octets of replies that one connection asks for at most.
const ASKED: usize = 16 << 20;
/// Requests of one connection at most.
const REQUESTS: u32 = 4_096;

/// Octets of a reply beside the octets that it gives, with padding.
const REPLY_OCTETS: u64 = 28;
/// Octets that the buffers of the two sockets of a connection take before a peer that does not read is noticed.
const SOCKET_OCTETS: u64 = 2 << 20;

/// Requests for replies of 0 octets to 1 MiB, one size on each connection; none is read.
pub(crate) fn unread(scene: &mut Scene) -> Result<(), Failure> {
    const SIZES: [u32; 5] = [0, 36, 4 << 10, 64 << 10, 1 << 20];
    let wanted = scene.sized(10_000, 200);
    let mut rng = scene.rng.clone();
    let target = scene.target.clone();
    let mut harmless = 0;
    let mut flood = open(&target, ATTACKERS, wanted, |_| {
        let size = rng.choice(SIZES).unwrap_or_default();
        let requests = (ASKED as u32 / size.max(1)).min(REQUESTS);
        // Octets in the sockets' buffers are neither held nor waited for.
        let replies = u64::from(requests) * (u64::from(size) + REPLY_OCTETS);
        harmless += usize::from(replies <= SOCKET_OCTETS);
        let mut all = Vec::new();
        for id in 0..requests {
            all.append(&mut target.request(id, "give", |e| e.put(&size))?);
        }
        Ok(all)
    })?;
    flood.pour();
    closed(scene, &mut flood, harmless)
}
