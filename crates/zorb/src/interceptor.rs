//! Interception points: hooks around each request, on the client's and the server's side.
//!
//! An [`Interceptor`] can add to every call: service contexts of a transaction or a trace, deadlines, priorities,
//! counters. The points are those of portable interceptors (CORBA 3.3 part 1, section 16.3), with one exception:
//! `receive_request` is called once a request has been admitted, so that held and refused requests do not count as
//! begun. Every kind of call passes them: two-way and one-way, through a connection or collocated, marshalled or not.
//! LocateRequest passes none of them, and `_bind_priority_band` passes those of the server alone.
//! Without an interceptor each point costs one branch.

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
    /// Called before a request is encoded, once for each attempt: again if the call is forwarded or sent again.
    ///
    /// # Errors
    /// The exception with which the call ends; nothing is sent.
    fn send_request(&self, request: &mut ClientRequestInfo<'_>) -> Result<(), SystemException>;

    /// Called when an attempt has ended.
    fn receive_reply(&self, request: &ClientRequestInfo<'_>, reply: ReplyInfo<'_>);

    /// Called when a request has been admitted, before its servant is called.
    ///
    /// # Errors
    /// The exception that the reply carries; the servant is not called.
    fn receive_request(&self, request: &mut ServerRequestInfo) -> Result<(), SystemException>;

    /// Called before the reply is sent, if the client expects one: when the servant has returned, or when the worker
    /// pool's queue has no room for the upcall. Called once for each request that `receive_request` has passed, however
    /// it ends.
    fn send_reply(&self, request: &mut ServerRequestInfo, status: ReplyStatus);
}

/// A request on the client's side.
#[derive(Debug)]
pub(crate) struct ClientRequestInfo<'a> {
    /// The operation's name on the wire.
    pub(crate) operation: &'a str,
    pub(crate) response: ResponseFlags,
    /// Whether the object is in the same ORB.
    pub(crate) is_collocated: bool,
    /// The deadline of the call. The ORB does not send it; an interceptor can, in a service context.
    pub(crate) deadline: Option<Instant>,
    /// The CORBA priority that the request states (RTCorbaPriority).
    pub(crate) priority: Option<i16>,
    /// Service contexts of the request, besides those of the connection.
    pub(crate) contexts: &'a mut Vec<ServiceContext>,
}

/// The outcome of an attempt.
#[derive(Debug)]
pub(crate) enum ReplyInfo<'a> {
    /// A reply and its service contexts. One-way requests have one in a forward only.
    Reply(ReplyStatus, Vec<ServiceContext>),
    /// A one-way request has been sent.
    Sent,
    /// The attempt failed without a reply.
    Failed(&'a CallError),
}

/// A request on the server's side.
#[derive(Debug)]
pub(crate) struct ServerRequestInfo {
    /// The operation's name on the wire.
    pub(crate) operation: String,
    pub(crate) response: ResponseFlags,
    /// Whether the client is in the same ORB.
    pub(crate) is_collocated: bool,
    /// Service contexts of the request.
    pub(crate) contexts: Vec<ServiceContext>,
    /// The deadline that the request states: after it, its client has no use for the reply.
    pub(crate) deadline: Option<Instant>,
    /// The priority at which a worker pool runs the upcall.
    pub(crate) priority: Priority,
    /// Service contexts of the reply.
    pub(crate) reply_contexts: Vec<ServiceContext>,
}
