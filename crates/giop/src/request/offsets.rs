//! The offsets of the parts of a received request's header.

use super::{RequestHeader, ResponseFlags};
use crate::context::ServiceContexts;
use crate::header::{HEADER_LEN, Message};
use zorb_cdr::{ByteOrder, DecodeError, Decoder, WireFormat};

/// Offsets of a request's header. They borrow nothing from the message, so that it can be moved.
#[derive(Debug, Clone, Copy)]
pub struct HeaderOffsets {
    request_id: u32,
    response: ResponseFlags,
    operation_at: u32,
    operation_octets: u32,
    body: u32,
}

impl HeaderOffsets {
    /// Returns the offsets of a parsed header.
    #[must_use]
    #[inline]
    pub fn of(header: &RequestHeader<'_>) -> Self {
        let at = u32::try_from(header.operation_at);
        let octets = u32::try_from(header.operation.len());
        // An offset beyond the longest message leaves the name empty, which no servant has.
        let (operation_at, operation_octets) = at.ok().zip(octets.ok()).unwrap_or_default();
        Self {
            request_id: header.request_id,
            response: header.response,
            operation_at,
            operation_octets,
            body: offset(header.body),
        }
    }

    /// Returns the offsets of another request whose header differs in its request id and the offset of its arguments
    /// only.
    #[must_use]
    #[inline]
    pub fn with_request(self, request_id: u32, body: usize) -> Self {
        Self {
            request_id,
            body: offset(body),
            ..self
        }
    }

    /// Returns the request id, which the client chose.
    #[must_use]
    #[inline]
    pub const fn request_id(&self) -> u32 {
        self.request_id
    }

    /// Whether a reply is wanted, and when.
    #[must_use]
    #[inline]
    pub const fn response(&self) -> ResponseFlags {
        self.response
    }

    /// Returns the offset of the arguments in the message.
    #[must_use]
    #[inline]
    pub const fn body(&self) -> usize {
        self.body as usize
    }

    /// Returns the name of the operation in the message.
    #[must_use]
    pub fn operation<'a>(&self, message: &'a Message) -> &'a [u8] {
        let behind = message.frame.octets().get(self.operation_at as usize..);
        let name = behind.and_then(|name| name.get(..self.operation_octets as usize));
        name.unwrap_or_default()
    }

    /// Returns the offset of the number of service contexts: the first field of the header, or the one behind the
    /// operation's name with its NUL.
    #[inline]
    fn contexts_at(&self, message: &Message) -> usize {
        match message.header.version.has_contexts_last() {
            false => HEADER_LEN,
            true => {
                let end =
                    (self.operation_at as usize).saturating_add(self.operation_octets as usize);
                end.saturating_add(1).next_multiple_of(4)
            }
        }
    }

    /// Whether the message has service contexts. Costs a few instructions, since the header is not parsed again.
    #[must_use]
    #[inline]
    pub fn has_contexts(&self, message: &Message) -> bool {
        let number = message
            .frame
            .octets()
            .get(self.contexts_at(message)..)
            .and_then(|behind| behind.first_chunk::<4>());
        number.is_some_and(|number| *number != [0; 4])
    }

    /// Returns the service contexts of the message, which are read where they lie. Costs a few instructions for a message
    /// without contexts, else a walk over their list.
    #[must_use]
    #[inline]
    pub fn contexts<'a>(&self, message: &'a Message) -> ServiceContexts<'a> {
        let at = self.contexts_at(message);
        let some = match self.has_contexts(message) {
            false => None,
            true => some_contexts(message, at),
        };
        match some {
            Some(contexts) => contexts,
            None => by_order!(message.header.endian, O => ServiceContexts::none::<O>(message, at)),
        }
    }

    /// Returns a decoder at the arguments. `O` has to be the message's byte order.
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the arguments begin behind the end of the message.
    #[inline]
    pub fn arguments<'a, O: ByteOrder>(
        &self,
        message: &'a Message,
        format: WireFormat,
    ) -> Result<Decoder<'a, O>, DecodeError> {
        Decoder::at(&message.frame, self.body(), format)
    }
}

#[inline(never)]
fn some_contexts(message: &Message, at: usize) -> Option<ServiceContexts<'_>> {
    by_order!(message.header.endian, O => {
        let mut d = Decoder::<O>::at(&message.frame, at, message.header_format()).ok()?;
        ServiceContexts::read(&mut d, &message.frame).ok()
    })
}

/// Returns an offset in a message, which is no longer than 4 GiB.
#[inline]
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
