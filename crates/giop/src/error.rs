//! Violations of the protocol by a peer.

use crate::AddressingDisposition;
use crate::header::{MessageKind, Version};
use core::fmt;
use zorb_cdr::DecodeError;

/// The peer broke the protocol; the connection cannot go on.
///
/// The answer to every one of these is a MessageError message and the end of the connection.
///
/// An error of decoding is the [`source`](core::error::Error::source), and `Display` does not show it. The alternate form
/// (`{:#}`) shows both.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The message does not begin with `GIOP`. HTTP and TLS are called so. The octets are in the trace only: the text must
    /// not repeat the greeting of another service.
    #[error("expected the magic \"GIOP\", found {}", speaks(*found))]
    BadMagic {
        /// The four octets in its place.
        found: [u8; 4],
    },
    /// A GIOP version that this ORB does not speak.
    #[error("GIOP {0} is not supported")]
    UnsupportedVersion(Version),
    /// A message type that no GIOP version has.
    #[error("message type {0} does not exist")]
    UnknownMessageKind(u8),
    /// A message longer than [`Limits::max_message_octets`](crate::Limits::max_message_octets).
    #[error("message of {octets} octets is over the limit of {limit} (max_message_octets)")]
    MessageTooLarge {
        /// The announced length, header and earlier fragments included.
        octets: usize,
        /// The limit.
        limit: usize,
    },
    /// More unfinished messages than [`Limits::max_partial_messages`](crate::Limits::max_partial_messages).
    #[error("over {limit} unfinished fragmented messages (max_partial_messages)")]
    TooManyPartialMessages {
        /// The limit.
        limit: usize,
    },
    /// Unfinished messages hold more than [`Limits::max_partial_octets`](crate::Limits::max_partial_octets).
    #[error("unfinished fragmented messages hold over {limit} octets (max_partial_octets)")]
    TooManyPartialOctets {
        /// The limit.
        limit: usize,
    },
    /// A Fragment that continues nothing.
    #[error("fragment continues no message")]
    UnexpectedFragment,
    /// "More fragments follow" on a message that may not have any.
    #[error("{kind} of GIOP {version} cannot be fragmented")]
    NotFragmentable {
        /// The message.
        kind: MessageKind,
        /// Its version.
        version: Version,
    },
    /// Another message between two GIOP 1.1 fragments, or a second message with the same id.
    #[error("{kind} interrupts a fragmented message")]
    FragmentsInterrupted {
        /// The message that came instead.
        kind: MessageKind,
    },
    /// A message that this side never gets (a Reply sent to a server, for instance).
    #[error("{kind} is not for this side of the connection")]
    WrongDirection {
        /// The message.
        kind: MessageKind,
    },
    /// A Reply to a LocateRequest, or a LocateReply to a Request.
    #[error("{kind} to a request that waits for another kind of reply")]
    WrongReply {
        /// The message.
        kind: MessageKind,
    },
    /// The header of the message cannot be read.
    #[error(fmt = malformed)]
    Malformed {
        /// The message.
        kind: MessageKind,
        /// The error and its position.
        #[source]
        error: DecodeError,
    },
    /// Response flags that the specification forbids.
    #[error("response flags {0:#04x} do not exist")]
    BadResponseFlags(u8),
    /// A status that the specification does not have.
    #[error("status {status} does not exist in a {kind}")]
    BadStatus {
        /// The message.
        kind: MessageKind,
        /// The value found.
        status: u32,
    },
    /// A server asks for an addressing in which the request has been sent to it already.
    #[error("asks for addressing by {}, in which the request was sent already", describe(*wanted))]
    AddressingInCircles {
        /// The wanted addressing.
        wanted: AddressingDisposition,
    },
    /// A target address of a kind that the specification does not have.
    #[error("target addressing {0} does not exist")]
    BadAddressing(i16),
}

fn malformed(kind: &MessageKind, error: &DecodeError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "malformed {kind} header")?;
    match f.alternate() {
        true => write!(f, ": {error}"),
        false => Ok(()),
    }
}

/// The protocol of a peer that does not speak GIOP, by the first octets of it.
const fn speaks(found: [u8; 4]) -> &'static str {
    match &found {
        b"HTTP" => "an HTTP response: the peer is a web server",
        // The SETTINGS frame with which every server of HTTP/2 begins.
        [0, 0, _, 4] => "HTTP/2: the peer is a web server",
        b"GET " | b"HEAD" | b"POST" | b"PUT " | b"DELE" | b"OPTI" | b"PATC" | b"CONN" | b"TRAC"
        | b"PRI " => "an HTTP request: the peer is a web client",
        [0x16, 3, ..] => "a TLS handshake: the peer speaks TLS to a port without it",
        [0x14 | 0x15 | 0x17, 3, ..] => "a TLS record: the peer expects TLS on this port",
        _ => "something else",
    }
}

/// The part of a reference that a target address has in this disposition.
fn describe(wanted: AddressingDisposition) -> &'static str {
    match wanted {
        AddressingDisposition::Key => "object key",
        AddressingDisposition::Profile => "profile",
        AddressingDisposition::Reference => "object reference",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::ObjectUrl;
    use crate::{Chain, SystemException};
    use core::error::Error;
    use zorb_cdr::DecodeErrorKind;

    #[test]
    fn the_error_of_decoding_is_the_source_and_part_of_the_alternate_form() {
        let broken = ProtocolError::Malformed {
            kind: MessageKind::Request,
            error: DecodeError::new(DecodeErrorKind::EmbeddedNul, 20),
        };
        let url = "IOR:000000".parse::<ObjectUrl>().unwrap_err();
        let raised = SystemException::from(url.clone());
        for (error, text) in [
            (&broken as &dyn Error, "malformed Request header"),
            (&url, "malformed reference"),
        ] {
            let source = error.source().unwrap();
            assert!(source.is::<DecodeError>());
            assert_eq!(error.to_string(), text);
            assert_eq!(format!("{error:#}"), format!("{text}: {source}"));
            assert_eq!(Chain(error).to_string(), format!("{error:#}"));
        }
        assert_eq!(raised.detail(), Some("malformed reference"));
        assert!(format!("{raised:#}").ends_with(&format!("{url:#}")));
    }

    #[test]
    fn web_servers_and_tls_are_called_so() {
        for (found, expected) in [
            (*b"HTTP", "a web server"),
            ([0, 0, 0x12, 4], "a web server"),
            (*b"POST", "a web client"),
            ([0x16, 3, 1, 2], "speaks TLS to a port without it"),
            ([0x15, 3, 3, 0], "expects TLS"),
            (*b"SSH-", "found something else"),
        ] {
            let text = ProtocolError::BadMagic { found }.to_string();
            assert!(text.contains(expected), "{text}");
            assert!(
                text.starts_with("expected the magic \"GIOP\", found "),
                "{text}"
            );
        }
    }

    #[test]
    fn an_addressing_is_described_by_the_part_of_the_reference() {
        let error = ProtocolError::AddressingInCircles {
            wanted: AddressingDisposition::Profile,
        };
        assert_eq!(
            error.to_string(),
            "asks for addressing by profile, in which the request was sent already"
        );
    }
}
