//! Messages as `tracing` events of the target `zorb::giop`.
//!
//! TRACE has an event for every message, when it is queued or has been read, with its headers decoded; DEBUG has the
//! beginnings and ends of connections. Without a subscriber, a message costs the relaxed load and the branch of
//! [`is_on`].
//!
//! Of a body, a trace shows only the data of the ORB itself (exceptions, forwards), unless
//! [`Settings::trace_payload`](crate::Settings::trace_payload) permits more.

use super::end::End;
use bytes::{Bytes, BytesMut};
use core::fmt::{self, Write};
use tracing::level_filters::LevelFilter;
use tracing::{Level, debug, enabled, trace, warn};
use zorb_cdr::{BigEndian, DecodeError, Decoder, Endian, Frame, Gather, LittleEndian, WireFormat};
use zorb_giop::{
    HEADER_LEN, Ior, LocateReply, LocateRequestHeader, Message, MessageHeader, MessageKind,
    ProtocolError, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts,
    SystemException, TargetAddress,
};
use zorb_transport::{Connection, Endpoint};

/// Octets of a message that its headers are decoded from. Longer headers are reported as cut short.
const DECODED_OCTETS: usize = 64 << 10;
/// Octets of a malformed message that are shown whatever the settings: its header and the next four octets, which are never
/// the body of a well-formed message.
const OFFENDING: usize = HEADER_LEN + 4;
/// Octets in a row of a dump.
const ROW: usize = 16;

/// Functions by which a trace shows data that only the ORB can read.
#[derive(Debug, Clone, Copy)]
pub struct Describe {
    /// Describes an object key, in a few characters.
    pub key: fn(&[u8]) -> String,
    /// Describes a reference, by its endpoints.
    pub reference: fn(&Ior) -> String,
}

/// Parts of a message that a trace shows beside its headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Octets of the message.
    pub(crate) payload: usize,
    pub(crate) describe: Describe,
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// Whether a subscriber takes messages.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    // Called twice for each message; usually no subscriber has so fine a level.
    LevelFilter::current() >= LevelFilter::TRACE && is_wanted()
}

#[cold]
fn is_wanted() -> bool {
    enabled!(target: "zorb::giop", Level::TRACE)
}

/// Reports a message that is about to be queued.
#[inline]
pub(crate) fn sending(stream: &dyn Connection, message: &Gather, shown: Shown) {
    if is_on() {
        report_outgoing(stream, message, shown);
    }
}

/// Reports a message that has been read to its end.
#[inline]
pub(crate) fn received(stream: &dyn Connection, message: &Message, shown: Shown) {
    if is_on() {
        report(
            stream,
            Direction::In,
            message,
            message.frame.octets(),
            shown,
        );
    }
}

/// Reports a fragment that has been read.
#[inline]
pub(crate) fn received_fragment(stream: &dyn Connection, header: &MessageHeader, octets: &[u8]) {
    if is_on() {
        report_fragment(stream, Direction::In, header, octets, octets.len());
    }
}

/// Reports a fragment that is queued.
#[inline]
pub(crate) fn sending_fragment(stream: &dyn Connection, piece: &Gather) {
    if is_on() {
        let octets = beginning(piece, HEADER_LEN + 4);
        if let Some(Ok(header)) = octets.first_chunk().map(MessageHeader::parse) {
            report_fragment(stream, Direction::Out, &header, &octets, piece.len());
        }
    }
}

#[cold]
fn report_fragment(
    stream: &dyn Connection,
    direction: Direction,
    header: &MessageHeader,
    octets: &[u8],
    len: usize,
) {
    let id = if header.version >= zorb_giop::Version::V1_2 {
        octets
            .get(HEADER_LEN..)
            .and_then(|rest| rest.first_chunk::<4>())
    } else {
        // Only the first piece has a request id, at an offset that varies.
        None
    };
    trace!(
        target: "zorb::giop",
        peer = %stream.peer(),
        giop = %header.version,
        order = order(header.endian),
        octets = len,
        request_id = id.map(|id| match header.endian {
            Endian::Big => u32::from_be_bytes(*id),
            Endian::Little => u32::from_le_bytes(*id),
        }),
        more_follow = header.more_fragments,
        "{direction} a fragment: {}",
        header.kind,
    );
}

/// Reports that the peer broke the protocol. `octets`: the first of the offending octets.
#[cold]
pub(crate) fn broken(
    stream: &dyn Connection,
    error: &ProtocolError,
    octets: Option<&[u8]>,
    payload: usize,
) {
    let octets = octets.unwrap_or(&[]);
    debug!(
        target: "zorb::giop",
        peer = %stream.peer(),
        error = %format_args!("{error:#}"),
        octets = %Dump(octets, OFFENDING.max(payload)),
        "the peer broke the protocol"
    );
}

/// Reports that a server listens.
pub(crate) fn listening(endpoint: &Endpoint) {
    debug!(target: "zorb::giop", %endpoint, "listening");
}

/// Reports that a client has got its connection.
pub(crate) fn connected(endpoint: &Endpoint) {
    debug!(target: "zorb::giop", %endpoint, "connected");
}

/// Reports that a client could not connect.
pub(crate) fn not_connected(endpoint: &Endpoint, error: &dyn fmt::Display) {
    debug!(target: "zorb::giop", %endpoint, error = %format_args!("{error:#}"), "not connected");
}

/// Reports that a server has accepted a connection.
pub(crate) fn accepted(stream: &dyn Connection) {
    debug!(target: "zorb::giop", peer = %stream.peer(), local = %stream.local(), "accepted");
}

/// Reports that a connection has ended, at either end.
pub(crate) fn ended(stream: &dyn Connection, endpoint: &Endpoint, end: &End) {
    debug!(target: "zorb::giop", peer = %stream.peer(), %endpoint, %end, "connection ended");
}

/// Reports to the server's administrator that a client broke the protocol. `omitted`: such lines left out before.
pub(crate) fn refused(stream: &dyn Connection, error: &ProtocolError, omitted: u64) {
    warn!(
        target: "zorb::giop",
        peer = %stream.peer(),
        error = %format_args!("{error:#}"),
        omitted,
        "protocol error"
    );
}

/// A copy of the first octets of a message.
fn beginning(message: &Gather, wanted: usize) -> Bytes {
    let mut octets = BytesMut::with_capacity(message.len().min(wanted));
    for chunk in message.chunks() {
        let left = wanted.saturating_sub(octets.len());
        octets.extend_from_slice(chunk.get(..left).unwrap_or(chunk));
    }
    octets.freeze()
}

#[cold]
fn report_outgoing(stream: &dyn Connection, message: &Gather, shown: Shown) {
    let octets = beginning(message, DECODED_OCTETS.max(shown.payload));
    let header = octets.first_chunk().map(MessageHeader::parse);
    let Some(Ok(header)) = header else {
        return;
    };
    let looked_at = Message {
        header,
        frame: Frame::new(octets.clone()),
    };
    report(stream, Direction::Out, &looked_at, &octets, shown);
}

/// The fields of an event, from the headers of a message.
#[derive(Default)]
struct Fields {
    request_id: Option<u32>,
    response: Option<&'static str>,
    operation: Option<String>,
    key: Option<String>,
    contexts: Option<String>,
    status: Option<&'static str>,
    exception: Option<String>,
    forward: Option<String>,
    malformed: Option<String>,
}

#[cold]
fn report(
    stream: &dyn Connection,
    direction: Direction,
    message: &Message,
    octets: &[u8],
    Shown { payload, describe }: Shown,
) {
    let mut fields = Fields::default();
    if let Err(error) = fields.read(message, describe) {
        fields.malformed = Some(format!("{error:#}"));
    }
    let header = &message.header;
    let kind = header.kind;
    let size = usize::try_from(header.size).unwrap_or(usize::MAX);
    trace!(
        target: "zorb::giop",
        peer = %stream.peer(),
        giop = %header.version,
        order = order(header.endian),
        octets = size.saturating_add(HEADER_LEN),
        request_id = fields.request_id,
        response = fields.response,
        operation = fields.operation,
        key = fields.key.map(tracing::field::display),
        contexts = fields.contexts.map(tracing::field::display),
        status = fields.status,
        exception = fields.exception.map(tracing::field::display),
        forward = fields.forward.map(tracing::field::display),
        malformed = fields.malformed.map(tracing::field::display),
        payload = (payload > 0).then(|| tracing::field::display(Dump(octets, payload))),
        "{direction} {kind}",
    );
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::In => "received",
            Self::Out => "sending",
        })
    }
}

fn order(endian: Endian) -> &'static str {
    match endian {
        Endian::Big => "big-endian",
        Endian::Little => "little-endian",
    }
}

impl Fields {
    fn read(&mut self, message: &Message, describe: Describe) -> Result<(), ProtocolError> {
        match message.header.kind {
            MessageKind::Request => {
                let header = RequestHeader::read(message)?;
                self.request_id = Some(header.request_id);
                self.response = Some(match header.response {
                    ResponseFlags::None => "none",
                    ResponseFlags::WithServer => "with-server",
                    ResponseFlags::WithTarget => "with-target",
                });
                self.operation = Some(String::from_utf8_lossy(header.operation).into_owned());
                self.target(&header.target, describe);
                self.contexts(&header.contexts);
            }
            MessageKind::Reply => {
                let header = ReplyHeader::read(message)?;
                self.request_id = Some(header.request_id);
                self.contexts(&header.contexts);
                self.status = Some(match header.status {
                    ReplyStatus::NoException => "NO_EXCEPTION",
                    ReplyStatus::UserException => "USER_EXCEPTION",
                    ReplyStatus::SystemException => "SYSTEM_EXCEPTION",
                    ReplyStatus::LocationForward => "LOCATION_FORWARD",
                    ReplyStatus::LocationForwardPerm => "LOCATION_FORWARD_PERM",
                    ReplyStatus::NeedsAddressingMode => "NEEDS_ADDRESSING_MODE",
                });
                if let Err(error) = self.body(message, header.status, header.body, describe) {
                    self.malformed = Some(error.to_string());
                }
            }
            MessageKind::LocateRequest => {
                let header = LocateRequestHeader::read(message)?;
                self.request_id = Some(header.request_id);
                self.target(&header.target, describe);
            }
            MessageKind::LocateReply => {
                let (id, reply) = LocateReply::read(message)?;
                self.request_id = Some(id);
                self.status = Some(match &reply {
                    LocateReply::UnknownObject => "UNKNOWN_OBJECT",
                    LocateReply::ObjectHere => "OBJECT_HERE",
                    LocateReply::ObjectForward(_) => "OBJECT_FORWARD",
                    LocateReply::ObjectForwardPerm(_) => "OBJECT_FORWARD_PERM",
                    LocateReply::SystemException(_) => "LOC_SYSTEM_EXCEPTION",
                    LocateReply::NeedsAddressingMode(_) => "LOC_NEEDS_ADDRESSING_MODE",
                });
                match reply {
                    LocateReply::ObjectForward(ior) | LocateReply::ObjectForwardPerm(ior) => {
                        self.forward(&ior, describe);
                    }
                    LocateReply::SystemException(exception) => {
                        self.exception = Some(exception.to_string());
                    }
                    _ => {}
                }
            }
            MessageKind::CancelRequest => self.request_id = Some(message.cancelled_request()?),
            MessageKind::CloseConnection | MessageKind::MessageError | MessageKind::Fragment => {}
        }
        Ok(())
    }

    fn target(&mut self, target: &TargetAddress<'_>, describe: Describe) {
        let how = match target {
            TargetAddress::Key(key) => {
                self.key = Some((describe.key)(key));
                return;
            }
            TargetAddress::Profile(_) => "by profile",
            TargetAddress::Reference { .. } => "by reference",
        };
        let key = target.object_key().map(|key| (describe.key)(&key));
        self.key = Some(format!("{} {how}", key.unwrap_or_default()));
    }

    fn contexts(&mut self, contexts: &ServiceContexts<'_>) {
        if contexts.is_empty() {
            return;
        }
        let names: Vec<String> = contexts
            .to_vec()
            .iter()
            .map(|context| match context.id.name() {
                Some(name) => name.to_owned(),
                None => format!("{:#010x}", context.id.0),
            })
            .collect();
        self.contexts = Some(names.join(","));
    }

    /// The ORB's own data in the body of a reply.
    fn body(
        &mut self,
        message: &Message,
        status: ReplyStatus,
        at: usize,
        describe: Describe,
    ) -> Result<(), DecodeError> {
        macro_rules! read {
            ($d:ident => $read:expr) => {{
                let format = WireFormat::default();
                match message.header.endian {
                    Endian::Big => {
                        let mut $d = Decoder::<BigEndian>::at(&message.frame, at, format)?;
                        $read?
                    }
                    Endian::Little => {
                        let mut $d = Decoder::<LittleEndian>::at(&message.frame, at, format)?;
                        $read?
                    }
                }
            }};
        }
        match status {
            ReplyStatus::UserException => {
                let id = read!(d => d.read_raw_string());
                self.exception = Some(id.escape_ascii().to_string());
            }
            ReplyStatus::SystemException => {
                let exception = read!(d => d.get::<SystemException>());
                self.exception = Some(exception.to_string());
            }
            ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                let ior = read!(d => d.get::<Ior>());
                self.forward(&ior, describe);
            }
            ReplyStatus::NoException | ReplyStatus::NeedsAddressingMode => {}
        }
        Ok(())
    }

    fn forward(&mut self, ior: &Ior, describe: Describe) {
        // Text of a peer: line ends and control characters are escaped.
        self.forward = Some((describe.reference)(ior).escape_debug().to_string());
    }
}

/// Octets, at most as many as the second field says, in rows of offset, digits and text.
struct Dump<'a>(&'a [u8], usize);

impl fmt::Display for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.get(..self.1).unwrap_or(self.0);
        for (row, chunk) in shown.chunks(ROW).enumerate() {
            write!(f, "\n  {:04x} ", row.saturating_mul(ROW))?;
            for octet in chunk {
                write!(f, " {octet:02x}")?;
            }
            let missing = ROW.saturating_sub(chunk.len()).saturating_mul(3);
            write!(f, "{:missing$}  ", "")?;
            for octet in chunk {
                f.write_char(match octet {
                    0x20..=0x7e => char::from(*octet),
                    _ => '.',
                })?;
            }
        }
        match self.0.len().saturating_sub(shown.len()) {
            0 => Ok(()),
            more => write!(f, "\n  … {more} more octets"),
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_offset_digits_and_text_and_a_bound() {
        let octets: Vec<u8> = (0x3a..0x5a).collect();
        assert_eq!(
            Dump(&octets, 18).to_string(),
            "\n  0000  3a 3b 3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49  :;<=>?@ABCDEFGHI\
             \n  0010  4a 4b                                            JK\
             \n  … 14 more octets"
        );
        assert_eq!(Dump(&[], 18).to_string(), "");
    }
}
