//! Service contexts: data of requests and replies beside their arguments and results.

use crate::header::Message;
use crate::ior::{encapsulate, in_encapsulation};
use bytes::Bytes;
use zorb_cdr::{
    ByteOrder, DecodeError, Decoder, EncapsulationVisitor, Encode, EncodeError, Encoder, Endian,
    Frame, WireFormat,
};

/// The id of a service context. Unknown ids are kept, never refused.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (service contexts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceContextId(pub u32);

impl ServiceContextId {
    /// Returns its name in the specification or at its vendor; `None` if it is unknown.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES
            .iter()
            .find(|(id, _)| *id == self.0)
            .map(|(_, name)| *name)
    }

    /// The negotiated transmission code sets.
    pub const CODE_SETS: Self = Self(1);
    /// The client's own listening points (bidirectional GIOP).
    pub const BI_DIR_IIOP: Self = Self(5);
    /// Policies of the client for this call (Messaging): their types and values.
    pub const INVOCATION_POLICIES: Self = Self(7);
    /// The priority of a request, or of the reply to it (Real-time CORBA).
    pub const RT_CORBA_PRIORITY: Self = Self(10);
    /// The range of priorities that a connection is bound to.
    pub const RT_CORBA_PRIORITY_RANGE: Self = Self(11);
    /// The highest stream format of RMI that the sender can read. Only ORBs derived from Sun's send it.
    pub const RMI_CUSTOM_MAX_STREAM_FORMAT: Self = Self(17);
    /// The first of the 16 ids of zorb's own service contexts, from 0x5a4f0000 to 0x5a4f000f (`ZO`, which the OMG has assigned
    /// to nobody). An ORB can be given another range.
    pub const ZORB_RANGE: Self = Self(0x5a4f_0000);
    /// The time that is left for a request until its reply is of no use: the second of zorb's [own](Self::ZORB_RANGE).
    ///
    /// An encapsulation of an unsigned long long, in units of 100 ns from when the request was sent; clocks of two hosts
    /// need not agree. A server orders its queues by it, and need not begin a request whose time has passed.
    pub const DEADLINE: Self = Self(0x5a4f_0001);
    /// The W3C trace context of a request, as an encapsulation of two strings, `traceparent` and `tracestate`: the third of
    /// zorb's [own](Self::ZORB_RANGE).
    pub const TRACE_CONTEXT: Self = Self(0x5a4f_0002);
    /// Text that explains an exception (an encapsulated wstring).
    pub const EXCEPTION_DETAIL_MESSAGE: Self = Self(14);
}

/// The names of known service contexts, by id.
const NAMES: [(u32, &str); 31] = [
    (0, "TransactionService"),
    (1, "CodeSets"),
    (2, "ChainBypassCheck"),
    (3, "ChainBypassInfo"),
    (4, "LogicalThreadId"),
    (5, "BI_DIR_IIOP"),
    (6, "SendingContextRunTime"),
    (7, "INVOCATION_POLICIES"),
    (8, "FORWARDED_IDENTITY"),
    (9, "UnknownExceptionInfo"),
    (10, "RTCorbaPriority"),
    (11, "RTCorbaPriorityRange"),
    (12, "FT_GROUP_VERSION"),
    (13, "FT_REQUEST"),
    (14, "ExceptionDetailMessage"),
    (15, "SecurityAttributeService"),
    (16, "ActivityService"),
    (17, "RMICustomMaxStreamFormat"),
    (18, "ACCESS_SESSION_ID"),
    (19, "SERVICE_SESSION_ID"),
    (20, "FIREWALL_PATH"),
    (21, "FIREWALL_PATH_RESP"),
    (0x4154_5404, "omniORB restricted connection"),
    (0x4a41_4301, "JacORB padding"),
    (0x4a41_4302, "JacORB proxy"),
    (0x4e45_4f00, "NEO"),
    (0x5441_0005, "TAO reply network priority"),
    (0x5441_4f00, "TAO padding"),
    (0x504f_0000, "PolyORB"),
    (0x5a4f_0001, "zorb deadline"),
    (0x5a4f_0002, "zorb trace context"),
];

/// Longest explanation of an exception that is read, in octets. A stack trace of a Java server is some kilobytes.
pub const MAX_EXCEPTION_DETAIL_OCTETS: usize = 1 << 16;

/// Reads the text of an [`EXCEPTION_DETAIL_MESSAGE`](ServiceContextId::EXCEPTION_DETAIL_MESSAGE) context with all of
/// its lines. A peer has chosen it, so it may have control characters. `None` when it is malformed, empty, or longer
/// than [`MAX_EXCEPTION_DETAIL_OCTETS`].
#[must_use]
#[cold]
pub fn exception_detail(data: &[u8]) -> Option<String> {
    struct Text;
    impl<'de> EncapsulationVisitor<'de> for Text {
        type Output = String;
        fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<String, DecodeError> {
            d.read_wide_string()
        }
    }
    if data.len() > MAX_EXCEPTION_DETAIL_OCTETS {
        return None;
    }
    let text = in_encapsulation(data, Text).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// The most characters of a detail that are sent with an exception; the rest is cut off.
pub const MAX_SENT_DETAIL_CHARACTERS: usize = 1024;

/// Makes the [`EXCEPTION_DETAIL_MESSAGE`](ServiceContextId::EXCEPTION_DETAIL_MESSAGE) context with the first
/// [`MAX_SENT_DETAIL_CHARACTERS`] of a text, or with its part before a NUL; `None` if there is nothing to be sent.
#[cold]
pub(crate) fn exception_detail_context(text: &str) -> Option<ServiceContext> {
    let whole = text.split('\0').next().unwrap_or_default();
    let end = whole.char_indices().nth(MAX_SENT_DETAIL_CHARACTERS);
    let text = end.and_then(|(end, _)| whole.get(..end)).unwrap_or(whole);
    if text.trim().is_empty() {
        return None;
    }
    let data = encapsulate(|e| e.write_wide_str(text)).ok()?;
    Some(ServiceContext {
        id: ServiceContextId::EXCEPTION_DETAIL_MESSAGE,
        data,
    })
}

/// One service context: an id and an encapsulation.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (service contexts).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceContext {
    /// The service that the context belongs to.
    pub id: ServiceContextId,
    /// Its data, the octet of the byte order first.
    pub data: Bytes,
}

impl Encode for ServiceContext {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_u32(self.id.0);
        e.write_octets(&self.data)
    }
}

/// The contexts of a received message, read in place.
///
/// Their structure was checked when the header was read, so that iterating over them cannot fail. Each look-up walks
/// the list.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (service contexts).
#[derive(Debug, Clone, Copy)]
pub struct ServiceContexts<'a> {
    frame: &'a Frame,
    position: usize,
    count: usize,
    endian: Endian,
    format: WireFormat,
}

impl<'a> ServiceContexts<'a> {
    /// Checks a service context list, and leaves `d` behind it.
    pub(crate) fn read<O: ByteOrder>(
        d: &mut Decoder<'a, O>,
        frame: &'a Frame,
    ) -> Result<Self, DecodeError> {
        // A context has at least an id and the length of its data.
        const MIN_CONTEXT_OCTETS: usize = 8;
        let count = d.read_count(MIN_CONTEXT_OCTETS)?;
        let position = d.position();
        for _ in 0..count {
            d.read_u32()?;
            d.read_octets()?;
        }
        Ok(Self {
            frame,
            position,
            count,
            endian: O::ENDIAN,
            format: d.format(),
        })
    }

    /// Returns an empty list, whose count ends at `position`.
    pub(crate) fn none<O: ByteOrder>(message: &'a Message, position: usize) -> Self {
        Self {
            frame: &message.frame,
            position,
            count: 0,
            endian: O::ENDIAN,
            format: message.header_format(),
        }
    }

    /// Returns the number of service contexts in the header.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the header has no service contexts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the data of the first context with this id.
    #[must_use]
    #[inline]
    pub fn get(&self, id: ServiceContextId) -> Option<&'a [u8]> {
        if self.count == 0 {
            return None;
        }
        self.find(id)
    }

    fn find(&self, id: ServiceContextId) -> Option<&'a [u8]> {
        let mut found = None;
        self.for_each(|each, data| {
            if each == id && found.is_none() {
                found = Some(data);
            }
        });
        found
    }

    /// Copies all contexts, unknown ones included.
    #[must_use]
    pub fn to_vec(&self) -> Vec<ServiceContext> {
        let mut all = Vec::with_capacity(self.count);
        self.for_each(|id, data| {
            all.push(ServiceContext {
                id,
                data: Bytes::copy_from_slice(data),
            });
        });
        all
    }

    pub(crate) fn for_each(&self, mut each: impl FnMut(ServiceContextId, &'a [u8])) {
        let walked: Result<(), DecodeError> = by_order!(self.endian, O => {
            Decoder::<'a, O>::at(self.frame, self.position, self.format).and_then(|mut d| {
                for _ in 0..self.count {
                    let id = ServiceContextId(d.read_u32()?);
                    each(id, d.read_octets()?);
                }
                Ok(())
            })
        });
        debug_assert!(walked.is_ok(), "the list was walked when it was read");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the data that JacORB 3.9 sends in any version of GIOP: big-endian, the length in octets, no mark.
    fn from_jacorb(text: &str) -> Vec<u8> {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let length = u32::try_from(units.len()).unwrap().to_be_bytes();
        [&[0; 4], &length[..], &units].concat()
    }

    #[test]
    fn what_jacorb_says_of_an_exception_is_read() {
        let recorded = b"\0\0\0\0\0\0\0\x1c\0t\0a\0l\0k\0 \0n\0o\0t\0 \0f\0o\0u\0n\0d";
        assert_eq!(from_jacorb("talk not found"), recorded);
        assert_eq!(exception_detail(recorded).unwrap(), "talk not found");
    }

    #[test]
    fn an_explanation_keeps_its_lines_and_commands_no_terminal_where_it_is_shown() {
        use crate::{SystemException, SystemExceptionKind};
        let said = "one\x1b[2J\n\tat two\n";
        let text = exception_detail(&from_jacorb(said)).unwrap();
        assert_eq!(text, said);
        let shown = SystemException::from(SystemExceptionKind::Unknown).with_detail(text);
        assert_eq!(
            shown.to_string(),
            "UNKNOWN (minor 0x0, COMPLETED_NO): one\\u{1b}[2J …"
        );
    }

    #[test]
    fn what_is_sent_of_an_exception_is_read_up_to_a_limit() {
        let sent = |text: &str| {
            let context = exception_detail_context(text)?;
            assert_eq!(context.id, ServiceContextId::EXCEPTION_DETAIL_MESSAGE);
            exception_detail(&context.data)
        };
        assert_eq!(sent("nur für Gäste 🎫").unwrap(), "nur für Gäste 🎫");
        assert_eq!(sent("before\0behind").unwrap(), "before");
        assert_eq!(sent(" \n"), None);
        let long = "🎫".repeat(MAX_SENT_DETAIL_CHARACTERS + 1);
        let read = sent(&long).unwrap();
        assert_eq!(read.chars().count(), MAX_SENT_DETAIL_CHARACTERS);
    }

    #[test]
    fn an_explanation_that_is_none_is_none() {
        let long = "x".repeat(MAX_EXCEPTION_DETAIL_OCTETS / 2);
        for data in [
            &[][..],
            &[0, 0, 0, 0, 0, 0, 0, 99, 0, b'a'],
            &from_jacorb(""),
            &from_jacorb(" \n"),
            &from_jacorb(&long),
        ] {
            assert_eq!(exception_detail(data), None);
        }
    }
}
