//! Fairness among peers, by two rules.
//!
//! **What a host may hold.** Connections, pending upcalls and memory are shared by all hosts. Each has a limit in all, the last part
//! of which is kept for hosts that hold few: [`FreePlaces::admit`](zorb_shares::FreePlaces::admit) decides, whatever is held. A host that asks
//! for more gets a place later, or an exception, or loses its own connection; never that of another host.
//!
//! | held | unit | few | kept for those with few | beyond it |
//! |---|---|---|---|---|
//! | connections | one | | a sixth: the limit of one host ([`ServerLimits`]) | CloseConnection |
//! | connections being refused | one | one | a quarter | closed without a word |
//! | pending upcalls | one | 64 | a quarter ([`ServerLimits`]) | they wait, or TRANSIENT ([`Overload`]) |
//! | memory | octet | 256 KiB, or a 256th | an eighth ([`MemoryLimit`]) | the connection that asks ends |
//!
//! **Who is closed when memory is short.** Of the peers that make the ORB hold memory and are slow, those that hold most, until
//! there is enough ([`to_evict`]). A peer is slow if it makes the ORB wait, by a message that has begun or by output that it does not
//! read, and fewer octets move than would release what it holds in [some seconds](pace). While memory is not short, only a peer that
//! hardly moves at all is closed.

mod hosts;
mod memory;
mod pace;

pub(crate) use hosts::{HostPermit, Hosts, NotAdmitted, Refusal, UpcallPlace};
pub use hosts::{Overload, ServerLimits};
#[cfg(all(test, not(zorb_model)))]
pub(crate) use memory::CONNECTION_OCTETS;
pub use memory::MemoryLimit;
pub(crate) use memory::{MemoryShare, PENDING_OVERHEAD, PeerMemory, PendingMemory, Reserved};
pub(crate) use pace::Evicted;
#[cfg(not(zorb_model))]
pub(crate) use pace::{PaceMonitor, PaceSample, to_evict};
