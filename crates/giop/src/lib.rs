//! GIOP without I/O: values to messages and back.
//!
//! This crate implements the General Inter-ORB Protocol 1.0, 1.1 and 1.2, interoperable object references, object URLs
//! and the CORBA system exceptions. It knows no socket, no clock and no task: octets and commands go in, octets and
//! messages come out, so every part of it can be fuzzed and tested on a simulated link.
//!
//! A connection is composed of three independent parts, so that no task needs one `&mut` for everything:
//!
//! ```text
//!  octets in ──► Reader ──► Message ──► Request / Reply / … headers (borrowed views)
//!                                             │ request id
//!  octets out ◄── RequestBuilder / reply::encode          ▼
//!                                       RequestTable (slots, generations, abandoned ids)
//! ```
//!
//! - [`Reader`] cuts the incoming octets into messages, assembles fragments and enforces every limit;
//! - [`RequestHeader`], [`ReplyHeader`] and their kin are stateless encoders and decoders;
//! - [`Fragments`] cuts encoded messages into fragments, without copying;
//! - [`RequestTable`] has the waiter of each expected reply.
//!
//! Sources: CORBA 3.3 Part 2 (Interoperability), the chapters on GIOP, IIOP and the
//! interoperability architecture.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a failing test may panic"
    )
)]

/// Runs `$body` with the type `$order` standing for the byte order named by `$endian`.
macro_rules! by_order {
    ($endian:expr, $order:ident => $body:expr) => {
        match $endian {
            ::zorb_cdr::Endian::Big => {
                type $order = ::zorb_cdr::BigEndian;
                $body
            }
            ::zorb_cdr::Endian::Little => {
                type $order = ::zorb_cdr::LittleEndian;
                $body
            }
        }
    };
}

mod addressing;
pub mod buffers;
mod cause;
pub mod codeset;
mod context;
mod error;
mod exception;
mod fault;
mod fragment;
mod header;
mod header_prefix;
pub mod ior;
mod life;
mod limits;
mod locate;
pub mod platform;
mod printable;
mod protocols;
mod raw_body;
mod reader;
mod real_time;
mod reply;
mod request;
pub mod security;
mod table;
pub mod url;
mod user;
mod vendor;

pub use addressing::AddressingDisposition;
pub use cause::{Cause, Chain};
pub use context::{
    MAX_EXCEPTION_DETAIL_OCTETS, MAX_SENT_DETAIL_CHARACTERS, ServiceContext, ServiceContextId,
    ServiceContexts, exception_detail,
};
pub use error::ProtocolError;
pub use exception::{CompletionStatus, Origin, SystemException, SystemExceptionKind, minor};
pub use fault::Fault;
pub use fragment::Fragments;
pub use header::{HEADER_LEN, Message, MessageHeader, MessageKind, Version, empty_message};
pub use header_prefix::RequestHeaderPrefix;
pub use ior::Ior;
pub use life::{ConnectionEnd, Life, LifeAction, LifeEvent, MessageFor, Role, Unanswered};
pub use limits::Limits;
pub use locate::{LocateReply, LocateRequestHeader, LocateStatus, cancel_request};
pub use printable::Printable;
pub use protocols::{
    StatedProtocol, TcpProtocolProperties, TransportProperties, UnixDomainProtocolProperties,
};
pub use raw_body::RawBody;
pub use reader::{Reader, Received, UnfinishedInput};
pub use real_time::{
    BIND_PRIORITY_BAND, ExposedPolicies, PriorityBand, PriorityModel, RealTimeFault,
    priority_context, propagated_priority, stated_priority,
};
pub use reply::{
    ReplyBuilder, ReplyHeader, ReplySlot, ReplyStatus, add_contexts, read_system_exception,
};
pub use request::{
    HeaderOffsets, RequestBuilder, RequestHeader, RequestTemplate, ResponseFlags, TargetAddress,
};
pub use table::{RequestId, RequestTable, TableFull};
pub use user::{OperationError, UserException};
