//! At which points an attribute of a request is available.

use zorb_giop::{CompletionStatus, Fault, SystemException};

/// A point at which an ORB calls interceptors.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (interception points).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these ten")]
pub enum InterceptionPoint {
    /// A client is about to send a request.
    SendRequest,
    /// A client is about to ask for the reply to an earlier request.
    SendPoll,
    /// A client has a reply without an exception.
    ReceiveReply,
    /// A client's call ends with an exception.
    ReceiveException,
    /// An attempt of a client's call ends otherwise.
    ReceiveOther,
    /// A server has found the object of a request.
    ReceiveRequestServiceContexts,
    /// A server is about to call the servant.
    ReceiveRequest,
    /// A server is about to send a reply without an exception.
    SendReply,
    /// A server is about to send an exception.
    SendException,
    /// A request ends otherwise at its server.
    SendOther,
}

/// An attribute of requests: its name, and the points that have it, in the order of [`InterceptionPoint`], one digit each, those
/// of the client first.
pub(super) struct Attribute(&'static str, u16);

impl Attribute {
    /// Checks that a point has the attribute.
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 14, if it does not.
    #[inline]
    pub(super) fn at(&self, point: InterceptionPoint) -> Result<(), SystemException> {
        let digit = 9_u16.saturating_sub(point as u16);
        match self.1.checked_shr(digit.into()).unwrap_or(0) & 1 {
            0 => Err(self.is_missing()),
            _ => Ok(()),
        }
    }

    #[cold]
    fn is_missing(&self) -> SystemException {
        Fault::WrongInterceptionPoint(self.0).raise(CompletionStatus::No)
    }

    /// The error for an attribute that is not known for the call.
    #[cold]
    pub(super) fn is_unknown(&self) -> SystemException {
        Fault::NotAvailableToInterceptor(self.0).raise(CompletionStatus::No)
    }
}

pub(super) const SYNC_SCOPE: Attribute = Attribute("sync_scope", 0b10111_11111);
pub(super) const ARGUMENTS: Attribute = Attribute("arguments", 0b10100_01100);
pub(super) const RESULTS: Attribute = Attribute("result", 0b00100_00100);
pub(super) const REPLY_STATUS: Attribute = Attribute("reply_status", 0b00111_00111);
pub(super) const FORWARD: Attribute = Attribute("forward_reference", 0b00001_00001);
pub(super) const REQUEST_CONTEXT: Attribute =
    Attribute("get_request_service_context", 0b10111_11111);
pub(super) const REPLY_CONTEXT: Attribute = Attribute("get_reply_service_context", 0b00111_00111);
pub(super) const ADD_REQUEST_CONTEXT: Attribute =
    Attribute("add_request_service_context", 0b10000_00000);
pub(super) const RECEIVED_EXCEPTION: Attribute = Attribute("received_exception", 0b00010_00000);
pub(super) const EFFECTIVE_COMPONENT: Attribute =
    Attribute("get_effective_component", 0b10111_00000);
pub(super) const REQUEST_POLICY: Attribute = Attribute("get_request_policy", 0b10111_00000);
pub(super) const SENDING_EXCEPTION: Attribute = Attribute("sending_exception", 0b00000_00010);
pub(super) const OBJECT: Attribute = Attribute("object_id", 0b00000_01111);
pub(super) const ADAPTER: Attribute = Attribute("adapter_id", 0b00000_01111);
pub(super) const INTERFACE: Attribute = Attribute("target_most_derived_interface", 0b00000_01000);
