//! Events, as channels hold them.

use crate::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use crate::qos::{EventQos, Qos};
use crate::typed::TYPED;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use zorb::cdr::{ByteOrder, Decode, Decoder, EncapsulationVisitor, NativeEndian, WireFormat};
use zorb::{Any, DecodeError, EncodeError, TypeCode};

/// The name of the type of events that are anys.
pub(crate) const ANY_TYPE: &str = "%ANY";

/// Events that a channel holds, whichever queue has them.
pub(crate) type Held = Arc<AtomicUsize>;

/// What counts an event for as long as any queue has it.
#[derive(Debug)]
struct Hold(Held);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a supplier has sent.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Any(Any),
    Structured(StructuredEvent),
    /// The operation that it called, and its arguments.
    Typed(Vec<Property>),
}

/// What a supplier has sent, without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    Structured,
    Typed,
}

/// An event of a channel. Consumers share it.
#[derive(Debug)]
pub(crate) struct Event {
    /// What constraints are about, and consumers of anys get: for a structured event that one as a whole, for a call its
    /// properties.
    any: Any,
    /// What other consumers get, made when the first of them needs it.
    structured: OnceLock<StructuredEvent>,
    /// The properties of a call, if it is one, for consumers with an interface.
    call: OnceLock<Option<Vec<Property>>>,
    kind: Kind,
    /// What counts against the limits of queues.
    pub(crate) octets: usize,
    /// What its header says, and else its supplier's proxy.
    pub(crate) qos: EventQos,
    /// When the channel has got it, in microseconds since 1970.
    pub(crate) published: i64,
    _hold: Hold,
}

/// What an event costs besides its value, in memory.
const OVERHEAD: usize = 128;

impl Event {
    fn made(body: Body, published: i64, held: &Held) -> Result<Self, EncodeError> {
        let structured = OnceLock::new();
        let call = OnceLock::new();
        let (any, kind, qos) = match body {
            Body::Any(any) => (any, Kind::Any, EventQos::default()),
            Body::Typed(properties) => {
                let any = Any::with_type_code(properties_type(), &properties)?;
                let _ = call.set(Some(properties));
                (any, Kind::Typed, EventQos::default())
            }
            Body::Structured(event) => {
                let any = Any::new(&event)?;
                let qos = EventQos::of(&event.header.variable_header);
                let _ = structured.set(event);
                (any, Kind::Structured, qos)
            }
        };
        held.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            // Twice as much where both forms are there.
            octets: any
                .value_octets()
                .saturating_mul(1 + usize::from(kind != Kind::Any))
                .saturating_add(OVERHEAD),
            any,
            structured,
            call,
            kind,
            qos,
            published,
            _hold: Hold(Arc::clone(held)),
        })
    }

    /// The event of a supplier whose proxy has this quality of service.
    pub(crate) fn new(body: Body, proxy: &Qos, held: &Held) -> Result<Self, EncodeError> {
        let mut event = Self::made(body, now(), held)?;
        let qos = &mut event.qos;
        if !proxy.has_start_times() {
            qos.start = None;
        }
        if !proxy.has_stop_times() {
            qos.stop = None;
        }
        if qos.timeout.is_none() && proxy.timeout() > 0 {
            qos.timeout = Some(proxy.timeout());
        }
        if qos.priority.is_none() && proxy.priority() != 0 {
            qos.priority = Some(proxy.priority());
        }
        // An event cannot be more reliable than its channel.
        let is_persistent = qos.is_persistent != Some(false) && proxy.has_kept_events();
        qos.is_persistent = Some(is_persistent);
        Ok(event)
    }

    /// Whether it is to be on disk before its supplier has a reply.
    pub(crate) fn is_persistent(&self) -> bool {
        self.qos.is_persistent == Some(true)
    }

    /// The event as constraints see it.
    pub(crate) fn any(&self) -> &Any {
        &self.any
    }

    /// The event as a consumer of anys gets it. A structured event that says it is an any, with more in its header at most, is its
    /// remainder.
    pub(crate) fn plain(&self) -> &Any {
        match self.structured.get() {
            Some(event) if self.kind == Kind::Structured => {
                let is_any = self.event_type() == ("", ANY_TYPE);
                match is_any && event.filterable_data.is_empty() {
                    true => &event.remainder_of_body,
                    false => &self.any,
                }
            }
            _ => &self.any,
        }
    }

    /// The event as a consumer of structured events gets it. An any is its remainder, the properties of a call its filterable data.
    pub(crate) fn structured(&self) -> &StructuredEvent {
        self.structured.get_or_init(|| {
            let (filterable_data, remainder_of_body) = match (self.kind, self.call.get()) {
                (Kind::Typed, Some(Some(call))) => (call.clone(), Any::default()),
                _ => (Vec::new(), self.any.clone()),
            };
            StructuredEvent {
                header: EventHeader {
                    fixed_header: FixedEventHeader {
                        event_type: EventType {
                            domain_name: String::new(),
                            type_name: self.event_type().1.to_owned(),
                        },
                        event_name: String::new(),
                    },
                    variable_header: Vec::new(),
                },
                filterable_data,
                remainder_of_body,
            }
        })
    }

    /// The properties of the call that the event is: that of a typed supplier, a structured event of type `%TYPED`, an any with
    /// properties. They are looked at once.
    pub(crate) fn call(&self) -> Option<&[Property]> {
        let call = self.call.get_or_init(|| match self.structured.get() {
            Some(event) if self.kind == Kind::Structured => {
                let is_typed = event.header.fixed_header.event_type.type_name == TYPED;
                is_typed.then(|| event.filterable_data.clone())
            }
            _ => {
                let is_list = self.any.type_code().equivalent(properties_type());
                is_list.then(|| self.any.extract().ok()).flatten()
            }
        });
        call.as_deref()
    }

    /// Domain and name of its type.
    pub(crate) fn event_type(&self) -> (&str, &str) {
        match self.structured.get() {
            Some(event) if self.kind == Kind::Structured => {
                let ty = &event.header.fixed_header.event_type;
                (&ty.domain_name, &ty.type_name)
            }
            _ if self.kind == Kind::Typed => ("", TYPED),
            _ => ("", ANY_TYPE),
        }
    }

    /// When it is not delivered any more, in microseconds since 1970, if it lives for so many units of 100 ns.
    pub(crate) fn expires(&self, lifetime: Option<i64>) -> Option<i64> {
        let lifetime = lifetime.filter(|lifetime| *lifetime > 0);
        let over = lifetime.map(|lifetime| self.published.saturating_add(lifetime / 10));
        match (over, self.qos.stop) {
            (Some(over), Some(stop)) => Some(over.min(stop)),
            (over, stop) => over.or(stop),
        }
    }

    /// The event as it is stored.
    pub(crate) fn to_octets(&self) -> Result<Vec<u8>, EncodeError> {
        let qos = &self.qos;
        zorb::cdr::encode_encapsulation::<NativeEndian>(WireFormat::default(), |e| {
            e.put(&self.published)?;
            e.put(&qos.priority.unwrap_or(i16::MIN))?;
            for time in [qos.timeout, qos.start, qos.stop] {
                e.put(&time.unwrap_or(i64::MIN))?;
            }
            match (self.kind, self.structured.get()) {
                (Kind::Structured, Some(event)) => {
                    e.put(&STRUCTURED)?;
                    e.put(event)
                }
                (Kind::Typed, _) => {
                    e.put(&CALL)?;
                    e.put(&self.any)
                }
                _ => {
                    e.put(&ANY)?;
                    e.put(&self.any)
                }
            }
        })
    }

    /// The event of what is stored.
    pub(crate) fn from_octets(octets: &[u8], held: &Held) -> Option<Self> {
        let read = zorb::cdr::decode_encapsulation(octets, WireFormat::default(), ReadEvent);
        let (body, published, qos) = read.ok()?;
        let mut event = Self::made(body, published, held).ok()?;
        event.qos = qos;
        Some(event)
    }
}

/// The octets that say what a stored event is.
const ANY: u8 = 0;
const STRUCTURED: u8 = 1;
const CALL: u8 = 2;

/// The type of the properties of a call.
fn properties_type() -> &'static TypeCode {
    static TYPE: OnceLock<TypeCode> = OnceLock::new();
    TYPE.get_or_init(|| {
        let id = "IDL:omg.org/CosNotification/PropertySeq:1.0";
        TypeCode::alias(id, "PropertySeq", &TypeCode::of::<Vec<Property>>())
    })
}

struct ReadEvent;

impl<'de> EncapsulationVisitor<'de> for ReadEvent {
    type Output = (Body, i64, EventQos);

    fn visit<O: ByteOrder>(
        self,
        decoder: &mut Decoder<'de, O>,
    ) -> Result<Self::Output, DecodeError> {
        let published = i64::decode(decoder)?;
        let priority = i16::decode(decoder)?;
        let mut times = [None; 3];
        for time in &mut times {
            *time = Some(i64::decode(decoder)?).filter(|time| *time != i64::MIN);
        }
        let [timeout, start, stop] = times;
        let body = match u8::decode(decoder)? {
            STRUCTURED => Body::Structured(StructuredEvent::decode(decoder)?),
            tag => {
                let any = Any::decode(decoder)?;
                match any.extract() {
                    Ok(properties) if tag == CALL => Body::Typed(properties),
                    _ => Body::Any(any),
                }
            }
        };
        let qos = EventQos {
            is_persistent: Some(true),
            priority: Some(priority).filter(|priority| *priority != i16::MIN),
            timeout,
            start,
            stop,
        };
        Ok((body, published, qos))
    }
}

/// Now, in microseconds since 1970.
pub(crate) fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_micros()).unwrap_or(i64::MAX))
}
