//! Addresses of transports in object references: the transport encodes the address, this module the profile or
//! component around it.
//!
//! A profile is an encapsulation of the GIOP version, the address, the object key and, from 1.1 on, components; a
//! component that holds an address is an encapsulation too. Transports come from a [`Registry`], so this module names
//! none. Source: CORBA 3.3 Part 2, Interoperability Architecture, and IIOP IOR Profiles. The profiles of TAO's
//! transports have the same form.

use bytes::Bytes;
use zorb_cdr::{
    ByteOrder, DecodeError, Decoder, EncapsulationVisitor, EncodeError, EncodeErrorKind, Encoder,
    NativeEndian, WireFormat,
};
use zorb_giop::Version;
use zorb_giop::ior::{
    ComponentTag, ProfileTag, TaggedComponent, TaggedProfile, decode_encapsulation, encapsulate,
};
use zorb_transport::{
    AddressComponent, AddressError, AddressReader, AddressWriter, Addressing, Delivery, Endpoint,
    Registry, Transport,
};

/// The body of a profile whose address a transport reads and writes.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    /// The highest GIOP version that the server accepts by this profile.
    pub(crate) version: Version,
    /// The endpoint that the server listens to.
    pub(crate) endpoint: Endpoint,
    /// The key of the object at this endpoint.
    pub(crate) object_key: Bytes,
    /// Tagged components, unknown ones included.
    pub(crate) components: Vec<TaggedComponent>,
}

impl Body {
    /// Reads the body of a profile; `addressing` reads the address in it.
    ///
    /// # Errors
    /// The reason, as text.
    pub(crate) fn read(
        profile: &TaggedProfile,
        addressing: &dyn Addressing,
    ) -> Result<Self, String> {
        let read = zorb_cdr::decode_encapsulation(
            &profile.data,
            WireFormat::default(),
            ReadBody(addressing),
        );
        read.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Writes the body as a profile.
    ///
    /// # Errors
    /// When the transport cannot write the address.
    pub(crate) fn to_tagged(
        &self,
        addressing: &dyn Addressing,
    ) -> Result<TaggedProfile, EncodeError> {
        let Some(tag) = addressing.profile() else {
            return Err(EncodeErrorKind::Expected("a transport that references can name").into());
        };
        let data = encapsulate(|e| {
            e.write_u8(self.version.major);
            e.write_u8(self.version.minor);
            let written = addressing.write(&self.endpoint, &mut Writer(e));
            written.map_err(|_| not_written())?;
            e.write_octets(&self.object_key)?;
            // The body of a profile of version 1.0 ends with the object key.
            if self.version >= Version::V1_1 {
                e.put(&self.components)?;
            }
            Ok(())
        })?;
        let tag = ProfileTag(tag);
        Ok(TaggedProfile { tag, data })
    }

    /// The data of the first component with this tag.
    pub(crate) fn component(&self, tag: ComponentTag) -> Option<&Bytes> {
        let found = self.components.iter().find(|c| c.tag == tag);
        found.map(|c| &c.data)
    }

    /// The type of the ORB that made the reference (TAG_ORB_TYPE), if the profile states it.
    pub(crate) fn orb_type(&self) -> Option<u32> {
        decode_encapsulation(self.component(ComponentTag::ORB_TYPE)?).ok()
    }
}

/// The transport whose profile this is, and the body. `None` if no transport has this profile's tag.
pub(crate) fn read_profile<'a>(
    profile: &TaggedProfile,
    transports: &'a Registry,
) -> Option<(&'a dyn Transport, Result<Body, String>)> {
    let transport = &**transports.by_profile(profile.tag.0)?;
    Some((transport, Body::read(profile, transport.addressing())))
}

/// Whether a transport can carry GIOP, which needs a reliable stream of octets.
pub(crate) fn carries_giop(transport: &dyn Transport) -> bool {
    let capabilities = transport.capabilities();
    capabilities.delivery() == Delivery::Stream && capabilities.is_reliable()
}

/// The endpoints that a component holds; empty if the component is malformed.
pub(crate) fn read_component(
    component: AddressComponent,
    addressing: &dyn Addressing,
    data: &[u8],
) -> Vec<Endpoint> {
    let visitor = ReadComponent(component, addressing);
    let read = zorb_cdr::decode_encapsulation(data, WireFormat::default(), visitor);
    read.unwrap_or_default()
}

/// The component that names an endpoint, if the transport writes one.
///
/// # Errors
/// When the transport cannot write the address.
pub(crate) fn write_component(
    component: AddressComponent,
    addressing: &dyn Addressing,
    endpoint: &Endpoint,
) -> Result<Option<TaggedComponent>, EncodeError> {
    let mut is_written = false;
    let data = encapsulate(|e| {
        let written = addressing.write_component(component, endpoint, &mut Writer(e));
        is_written = written.map_err(|_| not_written())?;
        Ok(())
    })?;
    let tag = ComponentTag(component.tag);
    Ok(is_written.then_some(TaggedComponent { tag, data }))
}

/// Most endpoints of one component that are read, which bounds the loop whatever count a peer states.
const MAX_PRIORITISED: usize = 64;
/// The priority of an endpoint that has none, as TAO writes it.
const NO_PRIORITY: i16 = -1;

/// Makes the component of the endpoints of a profile with the priorities at which they serve requests, as TAO states them
/// ([`ComponentTag::TAO_ENDPOINTS`]): each is the address as the profile has it, and a priority.
///
/// # Errors
/// When the transport cannot write an address.
pub(crate) fn write_prioritised(
    addressing: &dyn Addressing,
    endpoints: &[(Endpoint, i16)],
) -> Result<TaggedComponent, EncodeError> {
    let data = encapsulate(|e| {
        e.write_count(endpoints.len())?;
        endpoints.iter().try_for_each(|(endpoint, priority)| {
            let written = addressing.write(endpoint, &mut Writer(e));
            written.map_err(|_| not_written())?;
            e.write_i16(*priority);
            Ok(())
        })
    })?;
    let tag = ComponentTag::TAO_ENDPOINTS;
    Ok(TaggedComponent { tag, data })
}

/// Reads the endpoints of a profile with their priorities; none if the component is malformed. An endpoint may have no
/// priority.
pub(crate) fn read_prioritised(
    addressing: &dyn Addressing,
    data: &[u8],
) -> Vec<(Endpoint, Option<i16>)> {
    let visitor = ReadPrioritised(addressing);
    let read = zorb_cdr::decode_encapsulation(data, WireFormat::default(), visitor);
    read.unwrap_or_default()
}

struct ReadPrioritised<'a>(&'a dyn Addressing);

impl<'de> EncapsulationVisitor<'de> for ReadPrioritised<'_> {
    type Output = Vec<(Endpoint, Option<i16>)>;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        // An endpoint has at least one octet of address, and a priority.
        let count = d.read_count(3)?;
        let mut read = Vec::new();
        for _ in 0..count.min(MAX_PRIORITISED) {
            let Ok(endpoint) = self.0.read(&mut Reader(d)) else {
                return Ok(Vec::new());
            };
            let priority = d.read_i16()?;
            read.push((endpoint, (priority > NO_PRIORITY).then_some(priority)));
        }
        Ok(read)
    }
}

fn not_written() -> EncodeError {
    EncodeErrorKind::Expected("an address that its transport can write").into()
}

struct ReadBody<'a>(&'a dyn Addressing);

impl<'de> EncapsulationVisitor<'de> for ReadBody<'_> {
    type Output = Result<Body, String>;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        let version = Version {
            major: d.read_u8()?,
            minor: d.read_u8()?,
        };
        let endpoint = match self.0.read(&mut Reader(d)) {
            Ok(endpoint) => endpoint,
            Err(error) => return Ok(Err(error.to_string())),
        };
        Ok(Ok(Body {
            version,
            endpoint,
            object_key: Bytes::copy_from_slice(d.read_octets()?),
            components: match version >= Version::V1_1 {
                true => d.get()?,
                false => Vec::new(),
            },
        }))
    }
}

struct ReadComponent<'a>(AddressComponent, &'a dyn Addressing);

impl<'de> EncapsulationVisitor<'de> for ReadComponent<'_> {
    type Output = Vec<Endpoint>;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        Ok((self.1.read_component(self.0, &mut Reader(d))).unwrap_or_default())
    }
}

/// The CDR decoder as an [`AddressReader`].
struct Reader<'a, 'de, O: ByteOrder>(&'a mut Decoder<'de, O>);

fn unread(error: DecodeError) -> AddressError {
    AddressError::expected(format!("the address of a profile: {error}"))
}

impl<O: ByteOrder> AddressReader for Reader<'_, '_, O> {
    fn read_u8(&mut self) -> Result<u8, AddressError> {
        self.0.read_u8().map_err(unread)
    }
    fn read_u16(&mut self) -> Result<u16, AddressError> {
        self.0.read_u16().map_err(unread)
    }
    fn read_u32(&mut self) -> Result<u32, AddressError> {
        self.0.read_u32().map_err(unread)
    }
    fn read_u64(&mut self) -> Result<u64, AddressError> {
        self.0.read_u64().map_err(unread)
    }
    fn read_string(&mut self) -> Result<&[u8], AddressError> {
        self.0.read_raw_string().map_err(unread)
    }
    fn read_octets(&mut self) -> Result<&[u8], AddressError> {
        self.0.read_octets().map_err(unread)
    }
}

/// The CDR encoder as an [`AddressWriter`].
struct Writer<'a>(&'a mut Encoder<NativeEndian>);

fn unwritten(error: EncodeError) -> AddressError {
    AddressError::expected(error.to_string())
}

impl AddressWriter for Writer<'_> {
    fn write_u8(&mut self, value: u8) {
        self.0.write_u8(value);
    }
    fn write_u16(&mut self, value: u16) {
        self.0.write_u16(value);
    }
    fn write_u32(&mut self, value: u32) {
        self.0.write_u32(value);
    }
    fn write_u64(&mut self, value: u64) {
        self.0.write_u64(value);
    }
    fn write_string(&mut self, octets: &[u8]) -> Result<(), AddressError> {
        self.0.write_raw_string(octets).map_err(unwritten)
    }
    fn write_octets(&mut self, octets: &[u8]) -> Result<(), AddressError> {
        self.0.write_octets(octets).map_err(unwritten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_transport::{TcpAddressing, UnixAddressing};

    /// Two endpoints of an IIOP profile, in big-endian order, as TAO writes them: host, port and priority.
    const OF_TAO: &[u8] = &[
        0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, b'a', 0, 0x0a, 0xfa, 0, 7, 0, 0, 0, 0, 0, 2, b'b', 0,
        0x0a, 0xfb, 0xff, 0xff,
    ];

    #[test]
    fn endpoints_with_priorities_have_the_form_of_tao() {
        let expected = [
            (Endpoint::iiop("a", 2810), Some(7)),
            (Endpoint::iiop("b", 2811), None),
        ];
        assert_eq!(read_prioritised(&TcpAddressing, OF_TAO), expected);
        for cut in 0..OF_TAO.len() {
            let read = read_prioritised(&TcpAddressing, &OF_TAO[..cut]);
            assert_eq!(read, [], "{cut}");
        }
    }

    #[test]
    fn endpoints_of_any_transport_keep_their_priorities() {
        let check = |addressing: &dyn Addressing, endpoints: &[(Endpoint, i16)]| {
            let component = write_prioritised(addressing, endpoints).unwrap();
            assert_eq!(component.tag, ComponentTag::TAO_ENDPOINTS);
            let read = read_prioritised(addressing, &component.data);
            let expected: Vec<_> = (endpoints.iter())
                .map(|(endpoint, priority)| (endpoint.clone(), Some(*priority)))
                .collect();
            assert_eq!(read, expected);
        };
        let tcp = [("h", 1), ("::1", 65_535)].map(|(host, port)| Endpoint::iiop(host, port));
        check(&TcpAddressing, &tcp.map(|endpoint| (endpoint, 0)));
        check(&UnixAddressing, &[(Endpoint::uiop("/tmp/x"), i16::MAX)]);
    }

    proptest::proptest! {
        #[test]
        fn octets_of_a_peer_are_endpoints_or_nothing(
            octets in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        ) {
            for addressing in [&TcpAddressing as &dyn Addressing, &UnixAddressing] {
                let read = read_prioritised(addressing, &octets);
                proptest::prop_assert!(read.len() <= octets.len() / 3);
                for (endpoint, _) in read {
                    proptest::prop_assert_eq!(endpoint.scheme(), addressing.scheme());
                }
            }
        }
    }
}
