//! Shared memory as a transport of zorb: two processes of one host put their messages into rings of memory that both have
//! mapped, and copy nothing through the kernel.
//!
//! [`Shm`] is a transport of its own, made of the public items of `zorb-transport` alone. It listens on a UNIX socket, over which
//! client and server agree:
//!
//! ```
//! use std::sync::Arc;
//! use zorb::Orb;
//! use zorb_shm::Shm;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Orb::builder()
//!     .transport(Arc::new(Shm::default()))
//!     .listen("shm://@quotes")
//!     .listen("iiop://127.0.0.1:0")
//!     .build()
//!     .await?;
//! assert_eq!(server.endpoints()[0].scheme(), "shm");
//! # Ok(()) }
//! ```
//!
//! References name it beside the other endpoints, in a profile that other ORBs ignore; a client that has registered it too takes
//! it first if its policy says so.
//!
//! While a reader spins (`WaitPolicy`) a message costs no system call. A task that has parked is woken by an octet on the socket, a
//! thread by a futex. Large values need not be copied at all: [`Shm::with_pool`].
//! The memory is made by the client, sealed in its size, and all there from the start; a peer can write any nonsense into it, and
//! gets an error for that. A peer that is killed ends its socket, and so the connection; nothing of it is left behind, since
//! the memory has no name.
#![cfg_attr(
    not(any(test, zorb_model)),
    deny(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]
#![cfg_attr(
    any(zorb_model, miri),
    allow(dead_code, reason = "models need the rings, and not all of them")
)]

#[cfg(not(target_os = "linux"))]
compile_error!("zorb-shm shares memory by sealed descriptors, which only Linux has");

// Models, and what Miri runs, are of the rings alone, over a segment of their own.
#[cfg(not(any(zorb_model, miri)))]
mod connection;
#[cfg(not(any(zorb_model, miri)))]
mod handshake;
#[cfg(not(any(zorb_model, miri)))]
mod listener;
#[cfg(not(any(zorb_model, miri)))]
mod options;
#[cfg(not(any(zorb_model, miri)))]
mod pool;
mod ring;
#[cfg(not(zorb_model))]
mod sys;
#[cfg(not(any(zorb_model, miri)))]
mod transport;

#[cfg(not(any(zorb_model, miri)))]
pub use {
    options::ShmOptions,
    pool::{Loan, Place, Pool, Value},
    transport::Shm,
};

#[cfg(zorb_model)]
#[path = "../models/tests/mod.rs"]
mod models;
#[cfg(zorb_model)]
#[path = "../models/sys.rs"]
mod sys;
#[cfg(zorb_model)]
#[path = "../../executor/models/threads.rs"]
mod threads;
