//! Real-time CORBA on the wire: the contexts RTCorbaPriority and RTCorbaPriorityRange, the policies that
//! references state (TAG_POLICIES), and the endpoints with priorities of TAO's component.

use crate::context::{ServiceContext, ServiceContextId, ServiceContexts};
use crate::exception::{SystemExceptionKind as Kind, minor};
use crate::ior::{
    ComponentTag, TaggedComponent, decode_encapsulation, encapsulate, in_encapsulation,
};
use crate::protocols::StatedProtocol;
use zorb_cdr::{ByteOrder, Decode, DecodeError, Decoder, EncapsulationVisitor, EncodeError};

/// The operation by which a client binds a connection to a range of priorities before its first request.
pub const BIND_PRIORITY_BAND: &str = "_bind_priority_band";

/// `PRIORITY_MODEL_POLICY_TYPE`.
const PRIORITY_MODEL: u32 = 40;
/// `CLIENT_PROTOCOL_POLICY_TYPE`.
const CLIENT_PROTOCOL: u32 = 43;
/// `PRIORITY_BANDED_CONNECTION_POLICY_TYPE`.
const PRIORITY_BANDED_CONNECTION: u32 = 45;
/// Most policies of a reference and bands of one policy that are read, which bounds the loops whatever counts a peer
/// states.
const MAX_READ: usize = 256;

/// The source of a request's priority: `RTCORBA::PriorityModel`.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum PriorityModel {
    /// The client: a request runs at the priority that the client sends with it in the context RTCorbaPriority.
    #[doc(alias = "CLIENT_PROPAGATED")]
    ClientPropagated,
    /// The server: a request runs at the priority that the server declares for the object, in the reference.
    #[doc(alias = "SERVER_DECLARED")]
    ServerDeclared,
}

/// A range of priorities that share a connection: `RTCORBA::PriorityBand`.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a range has two ends")]
pub struct PriorityBand {
    /// The lowest priority of the band, at least 0.
    pub low: i16,
    /// The highest priority of the band, itself included.
    pub high: i16,
}

impl PriorityBand {
    /// Whether a priority lies in the band.
    #[must_use]
    pub const fn contains(self, priority: i16) -> bool {
        self.low <= priority && priority <= self.high
    }

    /// Whether the band is valid: 0 ≤ low ≤ high.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        0 <= self.low && self.low <= self.high
    }

    /// Makes the context RTCorbaPriorityRange that binds a connection to the band. Allocates its 6 octets. The result is
    /// always `Ok`, since a band has a fixed size.
    pub fn to_context(self) -> Result<ServiceContext, EncodeError> {
        Ok(ServiceContext {
            id: ServiceContextId::RT_CORBA_PRIORITY_RANGE,
            data: encapsulate(|e| e.put(&(self.low, self.high)))?,
        })
    }

    /// Reads the band from the context RTCorbaPriorityRange of a request.
    ///
    /// # Errors
    /// [`RealTimeFault::MalformedContext`] if there is none, or more than one, or it is not a band.
    pub fn of_request(contexts: &ServiceContexts<'_>) -> Result<Self, RealTimeFault> {
        let id = ServiceContextId::RT_CORBA_PRIORITY_RANGE;
        let (low, high): (i16, i16) = single(contexts, id)?
            .ok_or(RealTimeFault::MalformedContext("no RTCorbaPriorityRange"))?;
        let band = Self { low, high };
        match band.is_valid() {
            true => Ok(band),
            false => Err(RealTimeFault::MalformedContext(
                "an RTCorbaPriorityRange that is no range",
            )),
        }
    }
}

impl<'de> Decode<'de> for PriorityBand {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let (low, high) = d.get()?;
        Ok(Self { low, high })
    }
}

/// Makes the context RTCorbaPriority of a request that is made at this priority, and of the reply to it. Allocates its
/// 4 octets. The result is always `Ok`, since a priority has a fixed size.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
pub fn priority_context(priority: i16) -> Result<ServiceContext, EncodeError> {
    Ok(ServiceContext {
        id: ServiceContextId::RT_CORBA_PRIORITY,
        data: encapsulate(|e| {
            e.write_i16(priority);
            Ok(())
        })?,
    })
}

/// Reads the priority of a context RTCorbaPriority; `None` for another context, or one that cannot be read.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[must_use]
pub fn stated_priority(context: &ServiceContext) -> Option<i16> {
    match context.id {
        ServiceContextId::RT_CORBA_PRIORITY => decode_encapsulation(&context.data).ok(),
        _ => None,
    }
}

/// Reads the priority that a client has sent with a request; `None` if it has sent none.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
///
/// # Errors
/// [`RealTimeFault::MalformedContext`] if it cannot be read or is there twice, [`RealTimeFault::Unmappable`] if it is negative.
pub fn propagated_priority(contexts: &ServiceContexts<'_>) -> Result<Option<i16>, RealTimeFault> {
    match single(contexts, ServiceContextId::RT_CORBA_PRIORITY)? {
        Some(priority) if priority < 0 => Err(RealTimeFault::Unmappable(priority)),
        priority => Ok(priority),
    }
}

/// Reads the value of the only context with this id.
fn single<T: for<'de> Decode<'de>>(
    contexts: &ServiceContexts<'_>,
    id: ServiceContextId,
) -> Result<Option<T>, RealTimeFault> {
    if contexts.is_empty() {
        return Ok(None);
    }
    let (mut found, mut count) = (None, 0_usize);
    contexts.for_each(|each, data| {
        if each == id {
            count = count.saturating_add(1);
            found = Some(decode_encapsulation(data));
        }
    });
    match (count, found) {
        (0, _) | (_, None) => Ok(None),
        (1, Some(Ok(value))) => Ok(Some(value)),
        (1, Some(Err(_))) => Err(RealTimeFault::MalformedContext(
            "a priority that cannot be read",
        )),
        _ => Err(RealTimeFault::MalformedContext("two contexts of one kind")),
    }
}

/// The real-time policies that a reference states: those of its object's POA that clients have to know.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "no other policies are stated")]
pub struct ExposedPolicies {
    /// The priority model, and the server's priority: that of the object with SERVER_DECLARED, that of requests without one
    /// with CLIENT_PROPAGATED.
    pub priority_model: Option<(PriorityModel, i16)>,
    /// The bands of PriorityBandedConnectionPolicy; none without it.
    pub bands: Vec<PriorityBand>,
    /// The protocols of ClientProtocolPolicy, the first one first; none without it.
    pub client_protocols: Vec<StatedProtocol>,
}

impl ExposedPolicies {
    /// Makes the component of these policies, as TAO writes it; `None` if there are none.
    ///
    /// # Errors
    /// Too many bands or protocols for a sequence.
    pub fn to_component(&self) -> Result<Option<TaggedComponent>, EncodeError> {
        let mut values = Vec::new();
        if let Some((model, priority)) = self.priority_model {
            let model = match model {
                PriorityModel::ClientPropagated => 0_u32,
                PriorityModel::ServerDeclared => 1,
            };
            values.push((PRIORITY_MODEL, encapsulate(|e| e.put(&(model, priority)))?));
        }
        if !self.client_protocols.is_empty() {
            values.push((
                CLIENT_PROTOCOL,
                StatedProtocol::encode(&self.client_protocols)?,
            ));
        }
        if !self.bands.is_empty() {
            let bands = encapsulate(|e| {
                e.write_count(self.bands.len())?;
                (self.bands.iter()).try_for_each(|band| e.put(&(band.low, band.high)))
            })?;
            values.push((PRIORITY_BANDED_CONNECTION, bands));
        }
        if values.is_empty() {
            return Ok(None);
        }
        let data = encapsulate(|e| {
            e.write_count(values.len())?;
            values.iter().try_for_each(|(policy_type, value)| {
                e.write_u32(*policy_type);
                e.write_octets(value)
            })
        })?;
        let tag = ComponentTag::POLICIES;
        Ok(Some(TaggedComponent { tag, data }))
    }

    /// Reads the real-time policies from their component. Malformed ones count as absent, and of two of one type the
    /// first counts.
    #[must_use]
    pub fn from_component(data: &[u8]) -> Self {
        let mut read = Self::default();
        // The parts before a malformed one have been read.
        let _ = in_encapsulation(data, ReadPolicies(&mut read));
        read
    }
}

struct ReadPolicies<'a>(&'a mut ExposedPolicies);

impl<'de> EncapsulationVisitor<'de> for ReadPolicies<'_> {
    type Output = ();

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<(), DecodeError> {
        // A policy has at least a type and the length of its value.
        let count = d.read_count(8)?;
        for _ in 0..count.min(MAX_READ) {
            let (policy_type, value) = (d.read_u32()?, d.read_octets()?);
            match policy_type {
                PRIORITY_MODEL if self.0.priority_model.is_none() => {
                    self.0.priority_model = match decode_encapsulation::<(u32, i16)>(value) {
                        Ok((0, priority)) => Some((PriorityModel::ClientPropagated, priority)),
                        Ok((1, priority)) => Some((PriorityModel::ServerDeclared, priority)),
                        _ => None,
                    };
                }
                CLIENT_PROTOCOL if self.0.client_protocols.is_empty() => {
                    if let Ok(protocols) = StatedProtocol::decode(value) {
                        self.0.client_protocols = protocols;
                    }
                }
                PRIORITY_BANDED_CONNECTION if self.0.bands.is_empty() => {
                    if let Ok(bands) = in_encapsulation(value, ReadBands) {
                        self.0.bands = bands;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

struct ReadBands;

impl<'de> EncapsulationVisitor<'de> for ReadBands {
    type Output = Vec<PriorityBand>;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        let count = d.read_count(PriorityBand::MIN_SIZE)?;
        (0..count.min(MAX_READ)).map(|_| d.get()).collect()
    }
}

/// Faults of priorities and lanes. [`Fault::RealTime`](crate::Fault::RealTime) raises them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RealTimeFault {
    /// A context of Real-time CORBA is malformed, missing, or there twice: MARSHAL.
    #[error("expected one context with a priority, found {0}")]
    MalformedContext(&'static str),
    /// The mapping has no native priority for this one, or does not map it back: DATA_CONVERSION, minor code 2.
    #[error("priority {0} maps to no native priority")]
    Unmappable(i16),
    /// The mapping has no priority for that of the thread: DATA_CONVERSION, minor code 2.
    #[error("the native priority {0} of this thread maps to no priority")]
    UnmappableNative(i32),
    /// A priority below 0: BAD_PARAM.
    #[error("expected a priority from 0 to 32767, found {0}")]
    OutOfRange(i16),
    /// RTCurrent has no priority yet: INITIALIZE.
    #[error("no priority has been set for this thread or task")]
    NoPriority,
    /// The mapping has no native priority at all: INITIALIZE, minor code 1.
    #[error("the priority mapping has no priority for any native one of the scheduling policy")]
    RangeTooNarrow,
    /// The thread pool has no lane of the priority: NO_RESOURCES, minor code 2.
    #[error("no lane of the thread pool serves priority {0}")]
    NoLane(i16),
    /// The connection of the request is bound to other priorities: NO_RESOURCES, minor code 2.
    #[error("priority {priority} is outside of {} to {}, which its connection is bound to", band.low, band.high)]
    OutsideBand {
        /// The priority of the request.
        priority: i16,
        /// The band of the connection.
        band: PriorityBand,
    },
    /// The object has another priority already: BAD_INV_ORDER, minor code 18.
    #[error("the object has priority {0} already")]
    PriorityAssigned(i16),
    /// A priority transform has refused a priority: UNKNOWN.
    #[error("the priority transform refused priority {0}")]
    NotTransformed(i16),
    /// The operating system refuses a priority: NO_PERMISSION.
    #[error("{0}")]
    Refused(String),
    /// A policy that clients cannot override: NO_PERMISSION.
    #[error("{0} cannot be overridden by clients")]
    NotOverridable(String),
    /// A thread pool that a POA uses is to be destroyed: BAD_INV_ORDER.
    #[error("thread pool {0} is used by a POA")]
    ThreadpoolInUse(u32),
}

impl RealTimeFault {
    /// Returns the kind of its exception, and the minor code.
    pub(crate) const fn exception(&self) -> (Kind, u32) {
        match self {
            Self::MalformedContext(_) => (Kind::Marshal, 0),
            Self::Unmappable(_) | Self::UnmappableNative(_) => {
                (Kind::DataConversion, minor::PRIORITY_NOT_MAPPABLE)
            }
            Self::OutOfRange(_) => (Kind::BadParam, 0),
            Self::NoPriority => (Kind::Initialize, 0),
            Self::RangeTooNarrow => (Kind::Initialize, minor::PRIORITY_RANGE_TOO_NARROW),
            Self::NoLane(_) | Self::OutsideBand { .. } => {
                (Kind::NoResources, minor::NO_CONNECTION_FOR_PRIORITY)
            }
            Self::PriorityAssigned(_) => (Kind::BadInvOrder, minor::PRIORITY_ASSIGNED),
            Self::NotTransformed(_) => (Kind::Unknown, 0),
            Self::Refused(_) | Self::NotOverridable(_) => (Kind::NoPermission, 0),
            Self::ThreadpoolInUse(_) => (Kind::BadInvOrder, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ior::ProfileTag;
    use crate::protocols::TransportProperties;
    use bytes::Bytes;

    #[test]
    fn policies_are_written_as_tao_writes_them() {
        let policies = ExposedPolicies {
            priority_model: Some((PriorityModel::ServerDeclared, 7)),
            bands: vec![PriorityBand { low: 5, high: 9 }],
            client_protocols: Vec::new(),
        };
        let component = policies.to_component().unwrap().unwrap();
        assert_eq!(component.tag, ComponentTag::POLICIES);
        assert_eq!(ExposedPolicies::from_component(&component.data), policies);
        // Big-endian, with a policy of another type between them.
        let data: &[u8] = &[
            0, 0, 0, 0, 0, 0, 0, 3, // three policies
            0, 0, 0, 40, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 7, 0, 0, // model
            0, 0, 0, 37, 0, 0, 0, 2, 0, 0, 0, 0, // another
            0, 0, 0, 45, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 5, 0, 9, // bands
        ];
        assert_eq!(ExposedPolicies::from_component(data), policies);
        for cut in 0..data.len() {
            let read = ExposedPolicies::from_component(&data[..cut]);
            assert!(read.bands.is_empty(), "{cut}");
        }
        let with_protocols = ExposedPolicies {
            client_protocols: vec![StatedProtocol {
                profile: ProfileTag(7),
                properties: TransportProperties::None,
            }],
            ..policies
        };
        let component = with_protocols.to_component().unwrap().unwrap();
        assert_eq!(
            ExposedPolicies::from_component(&component.data),
            with_protocols
        );
        let none = ExposedPolicies::default();
        assert_eq!(none.to_component().unwrap(), None);
        // A count of more policies than the octets can hold.
        assert_eq!(
            ExposedPolicies::from_component(&[0, 0, 0, 0, 255, 255, 255, 255]),
            none
        );
    }

    #[test]
    fn of_doubled_policies_the_first_counts_and_what_contradicts_itself_is_absent() {
        let model = |model, priority| -> (u32, Vec<u8>) {
            (40, vec![0, 0, 0, 0, 0, 0, 0, model, 0, priority])
        };
        let band =
            |low, high| -> (u32, Vec<u8>) { (45, vec![0, 0, 0, 0, 0, 0, 0, 1, 0, low, 0, high]) };
        let read = |values: &[(u32, Vec<u8>)]| {
            let component = encapsulate(|e| {
                e.write_count(values.len())?;
                values.iter().try_for_each(|(policy_type, value)| {
                    e.write_u32(*policy_type);
                    e.write_octets(value)
                })
            });
            ExposedPolicies::from_component(&component.unwrap())
        };
        let seven = Some((PriorityModel::ServerDeclared, 7));
        let doubled = read(&[model(1, 7), band(0, 9), model(0, 3), band(10, 20)]);
        assert_eq!(doubled.priority_model, seven);
        assert_eq!(doubled.bands, [PriorityBand { low: 0, high: 9 }]);
        // A model that does not exist, an empty value, and one that is cut short: the next one counts.
        for malformed in [
            model(2, 3),
            (40, Vec::new()),
            (40, vec![0, 0, 0, 0, 0, 0, 0, 1, 0]),
        ] {
            let only = read(std::slice::from_ref(&malformed));
            assert_eq!(only, ExposedPolicies::default(), "{malformed:?}");
            assert_eq!(read(&[malformed, model(1, 7)]).priority_model, seven);
        }
        // No priority lies in a band whose ends are exchanged.
        let exchanged = read(&[model(0, 7), band(9, 5)]);
        assert!((0..=i16::MAX).all(|priority| !exchanged.bands[0].contains(priority)));
    }

    #[test]
    fn contexts_have_the_octets_of_the_specification() {
        let context = priority_context(258).unwrap();
        assert_eq!(context.id, ServiceContextId::RT_CORBA_PRIORITY);
        assert_eq!(stated_priority(&context), Some(258));
        for data in [&[][..], &[0, 0, 1], &[0, 0]] {
            let data = Bytes::copy_from_slice(data);
            let cut = ServiceContext { data, ..context };
            assert_eq!(stated_priority(&cut), None, "{cut:?}");
        }
        let order = u8::from(cfg!(target_endian = "little"));
        let native = 258_i16.to_ne_bytes();
        assert_eq!(
            context.data,
            Bytes::from(vec![order, 0, native[0], native[1]])
        );
        let range = PriorityBand { low: 1, high: 2 }.to_context().unwrap();
        assert_eq!((range.id.0, range.data.len()), (11, 6));
    }
}
