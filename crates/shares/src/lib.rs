//! Limits by host on the places that the clients of a server share.
//!
//! A server has a bounded number of places of each kind: requests that it holds, keys that it looks up, requests that wait
//! for a thread. A client that takes all of them locks the others out. So each kind of place has these three properties:
//!
//! - **A host has a share.** [`Counts`] counts the places that are taken, in all and by host, and says whether a host may
//!   take another. The rule is that of [`FreePlaces`]: the last quarter is kept for hosts that hold few places, or none.
//! - **A client that goes leaves its places.** A [`Client`] knows whether its connection has ended. Whatever waits in a place
//!   waits for [`Client::gone`] as well, or is [asked](Client::is_gone) when there is no room for another.
//! - **What finds no place is refused at once**: no function here waits for room.
//!
//! ```
//! use zorb_shares::{Client, HostKey, Shares};
//!
//! let lookups = Shares::new(4);
//! let (one, other) = (HostKey::unique(), HostKey::unique());
//! let mut taken: Vec<_> = (0..3).map(|_| lookups.take(one).unwrap()).collect();
//! // The last place is for another host.
//! assert!(lookups.take(one).is_err());
//! let _of_other = lookups.take(other).unwrap();
//! // A place is free when it is dropped.
//! taken.clear();
//! assert!(lookups.take(one).is_ok());
//! ```

#![forbid(unsafe_code)]

mod cancellation;
mod client;
mod counts;

pub use cancellation::{CancelReason, Cancellation, WaitCancelled};
pub use client::{Client, Gone, HostKey, departures};
pub use counts::{Counts, FreePlaces, Full, Place, Shares};
