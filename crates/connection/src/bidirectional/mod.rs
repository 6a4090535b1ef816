//! Bidirectional GIOP: a connection on which both ends send requests (CORBA 3.3 Part 2, section 9.8).
//!
//! A bidirectional connection has two halves: a [client's](super::client::ClientConnection), with the replies to requests of
//! this end, and a [server's](super::server::ServerConnection), with the requests of the peer. Each works as on a connection
//! of its own. Below them, [`BidirectionalConnection`] distributes the messages of the stream, and lets the halves write one whole message
//! after the other.
//!
//! ```text
//!   ClientConnection      ServerConnection
//!          │ HalfStream          │ HalfStream        each a `Connection`
//!          └───────┬─────────────┘
//!              BidirectionalConnection: Router in, Boundary out
//!                  │
//!               the stream
//! ```
//!
//! The end that opened the connection sends even request ids, the other one odd ids; each half's table of requests takes
//! its ids accordingly. A connection that is not bidirectional uses neither `BidirectionalConnection` nor its locks.

mod half;
mod offer;
mod route;

pub use half::BidirectionalConnection;
pub(crate) use half::Half;
pub use offer::{Offer, OfferTo, Split};
