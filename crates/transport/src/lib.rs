//! Transports, which carry octets to a peer and know nothing of their meaning.
//!
//! A [`Transport`] turns an [`Endpoint`] (`iiop://host:port`, `uiop:///path`) into a [`Connection`] or a [`Listener`];
//! a [`Registry`] finds the transport for an endpoint's scheme. The adapters here are [`Tcp`] and [`Unix`]; others
//! implement the same traits, and own their scheme, the syntax of their addresses ([`Addressing`]), and their part of
//! an object reference. A transport states its abilities in its [`Capabilities`], so that a messaging protocol can use
//! any transport that fits it.
//!
//! All of it is made for a caller that polls. A connection never blocks (but in [`Connection::read_blocking`]), never
//! spawns a task, and has no buffer of its own. One task may read it while another writes to it, and a write calls the
//! kernel directly, without a reactor. Connections belong to the tokio runtime inside which they were made (their
//! *home*): that runtime's reactor wakes the waiting task, whichever thread polls.
//!
//! ```
//! # mod zorb { pub extern crate zorb_transport as transport; }
//! use std::{future::poll_fn, io::IoSlice};
//! use bytes::BytesMut;
//! use zorb::transport::Registry;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
//! let registry = Registry::default();
//! let listener = registry.listen(&"iiop://127.0.0.1:0".parse()?).await?;
//! let client = registry.connect(listener.endpoint()).await?;
//! let server = poll_fn(|cx| listener.poll_accept(cx)).await?;
//!
//! assert_eq!(client.try_write(&[IoSlice::new(b"he"), IoSlice::new(b"llo")])?, 5);
//! let mut received = BytesMut::with_capacity(64);
//! poll_fn(|cx| server.poll_read(cx, &mut received)).await?;
//! assert_eq!(&received[..], b"hello");
//! # Ok(()) })
//! # }
//! ```
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
compile_error!("zorb-transport waits for file descriptors and is for UNIX-like systems only");

mod address;
mod addressing;
mod addressing_over;
mod capabilities;
#[cfg(feature = "conformance")]
pub mod conformance;
mod endpoint;
mod error;
mod property;
mod registry;
mod rules;
mod stream;
mod sys;
mod system;
mod tcp;
mod traits;
mod unix;

pub use address::{
    Address, HostId, PeerCertificate, PeerIdentity, Principal, ProcessCredentials, SubjectName,
};
pub use addressing::{
    AddressComponent, AddressError, AddressReader, AddressWriter, Addressing, ListenAddress,
    Protection, WrittenEndpoints,
};
pub use addressing_over::AddressingOver;
pub use capabilities::{Capabilities, Delivery};
pub use endpoint::{Endpoint, EndpointAddress, ParseEndpointError};
pub use error::{Operation, TransportError};
pub use property::{Properties, Property, PropertyError};
pub use registry::Registry;
pub use rules::{AddressFilter, NotPermitted, Rule, Rules, RulesError};
pub use sys::{OwnsSocket, register};
pub use system::host_name;
pub use tcp::{Tcp, TcpAddress, TcpAddressing, TcpOptions};
pub use traits::{BoxFuture, Connection, Listener, ReadOutcome, Transport};
pub use unix::{Unix, UnixAddress, UnixAddressing, UnixOptions, UnixSockets};
