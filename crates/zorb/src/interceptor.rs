//! Interception points: the places of a call at which its request is whole, on either side.
//!
//! An [`Interceptor`] adds to every call: service contexts of a transaction or a trace, deadlines, priorities, counters. The
//! points are those of portable interceptors (CORBA 3.3 part 1, section 16.3), with one
//! exception: `receive_request` comes once a request has been admitted, so that no request which is held or refused is
//! counted as begun. Every kind of call passes them: two-way and one-way, through a connection or collocated, marshalled or
//! not. An ORB without an interceptor pays one branch at each.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "only the tests have an interceptor so far")
)]

#[cfg(test)]
mod tests;

use core::fmt;
use std::time::Instant;
use zorb_connection::CallError;
use zorb_executor::Priority;
use zorb_giop::{ReplyStatus, ResponseFlags, ServiceContext, SystemException};

/// An interceptor of every call of an ORB, as client and as server. Runs within the call: it must not block.
pub(crate) trait Interceptor: fmt::Debug + Send + Sync {
    /// A request is about to be encoded. Called once for each attempt: a call that is forwarded or sent again is seen again.
    ///
    /// # Errors
    /// The exception that the call ends with; nothing is sent then.
    fn send_request(&self, request: &mut ClientRequestInfo<'_>) -> Result<(), SystemException>;

    /// An attempt has ended.
    fn receive_reply(&self, request: &ClientRequestInfo<'_>, reply: ReplyInfo<'_>);

    /// A request has been admitted, and its servant is about to be called.
    ///
    /// # Errors
    /// The exception that the request is answered with; the servant is not called then.
    fn receive_request(&self, request: &mut ServerRequestInfo) -> Result<(), SystemException>;

    /// The servant has done its work, or the worker pool's queue has no room for the upcall; the reply is about to be sent,
    /// if the client wants one. Once for each request that `receive_request` has let pass, also for one that ends otherwise.
    fn send_reply(&self, request: &mut ServerRequestInfo, status: ReplyStatus);
}

/// A request on the client's side.
#[derive(Debug)]
pub(crate) struct ClientRequestInfo<'a> {
    /// The operation's name on the wire.
    pub(crate) operation: &'a str,
    pub(crate) response: ResponseFlags,
    /// The object is in the same ORB.
    pub(crate) is_collocated: bool,
    /// The deadline of the call. The ORB keeps that to itself; a server learns it from a service context of the
    /// interceptor's.
    pub(crate) deadline: Option<Instant>,
    /// Service contexts of the request, beside those of the connection.
    pub(crate) contexts: &'a mut Vec<ServiceContext>,
}

/// How an attempt has ended.
#[derive(Debug)]
pub(crate) enum ReplyInfo<'a> {
    /// With a reply and its service contexts. One-way requests have none but in a forward.
    Reply(ReplyStatus, Vec<ServiceContext>),
    /// A one-way request has been sent.
    Sent,
    /// Without a reply.
    Failed(&'a CallError),
}

/// A request on the server's side.
#[derive(Debug)]
pub(crate) struct ServerRequestInfo {
    /// The operation's name on the wire.
    pub(crate) operation: String,
    pub(crate) response: ResponseFlags,
    /// The client is in the same ORB.
    pub(crate) is_collocated: bool,
    /// Service contexts of the request.
    pub(crate) contexts: Vec<ServiceContext>,
    /// With which the worker pool runs the upcall, where there is one.
    pub(crate) priority: Priority,
    /// Service contexts of the reply.
    pub(crate) reply_contexts: Vec<ServiceContext>,
}
