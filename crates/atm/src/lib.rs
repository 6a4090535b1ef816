//! ATM permanent virtual circuits as a transport: streams of octets over AAL5 frames of AF_ATMPVC sockets.
//!
//! A circuit of the kernel joins exactly two ends. It has no accept and no end of file, and loses frames without
//! notice. The [session layer](session) provides connections over it. [`Atm`] is the transport; it is registered with
//! an ORB (`Orb::builder().transport(Arc::new(Atm::default()))`) and has the scheme `atm`.
//!
//! # Addresses
//! An endpoint names the circuit as the listening end does, `atm://interface.vpi.vci`. Its parameters are for the
//! connecting end ([`AtmAddress`]): that end's numbers of the circuit, and the quality of service. A server listens on
//! one circuit for each host that it serves; a circuit carries up to 128 sessions of one process at either end.
//! References have a profile for each.
//!
//! # What it needs
//! Linux with ATM (the module `atm`, and a device's driver); elsewhere opening fails with `Unsupported`. No privileges
//! are needed for channels from 32 on. With CAP_NET_ADMIN the receive buffer may be larger than `net.core.rmem_max`.
//!
//! # Cost
//! A small message each way costs a frame each way, since data frames carry acknowledgements. A session keeps the
//! octets that it has written until they are acknowledged, and writing copies them once. Reading copies them once, too,
//! but for large frames that come in sequence while their reader waits, on a circuit with one session.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

#[cfg(not(unix))]
compile_error!("zorb-atm waits for file descriptors and is for UNIX-like systems only");

mod address;
mod circuit;
mod raw;
pub mod session;
mod sys;
mod transport;

pub use address::{AtmAddress, CircuitId, Class, Quality, Unreadable};
pub use raw::FrameSocket;
pub use transport::{Atm, AtmAddressing, AtmOptions, PROFILE_ATM};
