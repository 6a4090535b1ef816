//! The interceptors that applications write.

use super::client_info::ClientRequestInfo;
use super::point::Interception;
use super::server_info::ServerRequestInfo;
use zorb_giop::SystemException;

/// An interceptor of the calls that an ORB makes. Every method does nothing unless it is written.
///
/// See [the module](super) for order, outcomes and waiting. Source: CORBA 3.3 Part 1, Portable Interceptors
/// (`PortableInterceptor::ClientRequestInterceptor`).
pub trait ClientRequestInterceptor: Send + Sync + 'static {
    /// The name, unique among the client interceptors of an ORB; empty for an anonymous one, of which there may be several.
    fn name(&self) -> &str {
        ""
    }

    /// Before a request is sent: may add service contexts to it, forward it or end it.
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }

    /// In place of [`send_request`](Self::send_request) for a request that asks for the reply to an earlier one (time-independent
    /// invocation). This ORB makes no such requests, so it calls this never.
    fn send_poll<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let _ = info;
        Interception::CONTINUE
    }

    /// After a reply without an exception has arrived, and before the caller has it.
    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let _ = info;
        Interception::CONTINUE
    }

    /// When the call ends with an exception: of the servant, of either ORB, or of another interceptor. A forward sends the
    /// call elsewhere, unless its time is over.
    fn receive_exception<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }

    /// When the attempt ends otherwise: the call is forwarded or sent again, or is a one-way call without a reply.
    fn receive_other<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }
}

/// An interceptor of the calls that an ORB serves. Every method does nothing unless it is written.
///
/// See [the module](super) for order, outcomes and waiting. Source: CORBA 3.3 Part 1, Portable Interceptors
/// (`PortableInterceptor::ServerRequestInterceptor`).
pub trait ServerRequestInterceptor: Send + Sync + 'static {
    /// The name, unique among the server interceptors of an ORB; empty for an anonymous one, of which there may be several.
    fn name(&self) -> &str {
        ""
    }

    /// When the object of a request has been found, before its servant is looked for: the place for service contexts, whose
    /// content goes into [slots](ServerRequestInfo::set_slot) for the servant.
    fn receive_request_service_contexts<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }

    /// Before the servant is called.
    fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }

    /// After the servant has returned without an exception, before the reply is sent.
    fn send_reply<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let _ = info;
        Interception::CONTINUE
    }

    /// When the request ends with an exception: of the servant, of the ORB, or of another interceptor.
    fn send_exception<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }

    /// When the request ends otherwise: its client is forwarded, or waits for no result.
    fn send_other<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let _ = info;
        Interception::CONTINUE
    }

    /// Whether the methods block their thread, for instance in a database driver without async. The upcalls of the ORB then
    /// run on threads that may block, as those of [`Blocking`](crate::Blocking) servants; calls within the ORB run on their
    /// caller's.
    fn blocks(&self) -> bool {
        false
    }
}
