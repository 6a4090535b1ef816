//! Bidirectional GIOP: a connection on which both ends send requests (CORBA 3.3 Part 2, section 9.8).
//!
//! Such a connection has one link, one reader and one life, and two roles at this end: a
//! [client's](super::client::ClientConnection), which sends requests and receives their replies, and a
//! [server's](super::server::ServerConnection), which receives requests of the peer and replies to them.
//!
//! ```text
//!   ClientConnection                      ServerConnection
//!     │ callers     ▲ replies               ▲ requests  │ replies
//!     │             └──── the reader ──► inbox          │
//!     └──────────────► Link: Outbound ◄─────────────────┘
//! ```
//!
//! Whoever holds the read lease reads for both roles: a caller that waits for its reply, or the driver of the server's role. It
//! hands replies to their waiters, and puts requests into the inbox, from which the driver of the server's role takes them. The
//! lease is not held while a request is served: a servant may call the peer on the same connection, and other callers read on.
//! With a full inbox nothing is read until the driver has taken requests out of it.
//!
//! The driver of the server's role reads, writes what a full socket has stopped, and ends the connection. The driver of the
//! client's role keeps the timers of its calls, and takes all of that over when the ORB stops serving while its calls go on
//! ([`BidirectionalConnection::leave`]).
//!
//! The end that opened the connection sends even request ids, the other one odd ids, so that the fragments of a request and of a
//! reply are told apart.

mod connection;
mod offer;

pub use connection::BidirectionalConnection;
pub use offer::{Offer, OfferTo};
