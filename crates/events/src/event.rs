//! Events, as channels hold them.

use zorb::cdr::{ByteOrder, Decode, Decoder, EncapsulationVisitor, NativeEndian, WireFormat};
use zorb::{Any, DecodeError, EncodeError};

/// What a supplier has sent.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Any(Any),
}

/// An event of a channel. Consumers share it.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) body: Body,
    /// What counts against the limits of queues.
    pub(crate) octets: usize,
    pub(crate) priority: i16,
    /// When it is not delivered any more, in microseconds since 1970.
    pub(crate) expires: Option<i64>,
}

/// What an event costs besides its value, in memory.
const OVERHEAD: usize = 128;

impl Event {
    pub(crate) fn new(body: Body) -> Self {
        let Body::Any(any) = &body;
        let octets = any.value_octets().saturating_add(OVERHEAD);
        Self {
            body,
            octets,
            priority: 0,
            expires: None,
        }
    }

    /// The event as a consumer of anys gets it.
    pub(crate) fn to_any(&self) -> Any {
        let Body::Any(any) = &self.body;
        any.clone()
    }

    /// The event as it is stored.
    pub(crate) fn to_octets(&self) -> Result<Vec<u8>, EncodeError> {
        zorb::cdr::encode_encapsulation::<NativeEndian>(WireFormat::default(), |e| {
            e.put(&self.priority)?;
            e.put(&self.expires.unwrap_or(i64::MAX))?;
            let Body::Any(any) = &self.body;
            e.put(&ANY)?;
            e.put(any)
        })
    }

    /// The event of what is stored.
    pub(crate) fn from_octets(octets: &[u8]) -> Result<Self, DecodeError> {
        zorb::cdr::decode_encapsulation(octets, WireFormat::default(), ReadEvent)
    }
}

/// The octet that says what a stored event is.
const ANY: u8 = 0;

struct ReadEvent;

impl<'de> EncapsulationVisitor<'de> for ReadEvent {
    type Output = Event;

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<Event, DecodeError> {
        let priority = i16::decode(decoder)?;
        let expires = i64::decode(decoder)?;
        let _kind = u8::decode(decoder)?;
        let body = Body::Any(Any::decode(decoder)?);
        let mut event = Event::new(body);
        event.priority = priority;
        event.expires = (expires != i64::MAX).then_some(expires);
        Ok(event)
    }
}

/// Now, in microseconds since 1970.
pub(crate) fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_micros()).unwrap_or(i64::MAX))
}
