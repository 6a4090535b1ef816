//! Interoperable object references.
//!
//! Unknown parts — profiles and components of other ORBs — are kept octet for octet
//! and survive a round trip. Source: CORBA 3.3 Part 2, Interoperability Architecture and IIOP.

use crate::header::Version;
use bytes::Bytes;
use core::fmt;
use zorb_cdr::{
    ByteOrder, Decode, DecodeError, Decoder, EncapsulationVisitor, Encode, EncodeError, Encoder,
    NativeEndian, WireFormat,
};

/// The repository id that every object answers to.
pub const OBJECT_REPOSITORY_ID: &str = "IDL:omg.org/CORBA/Object:1.0";

/// The tag of a profile, which names its protocol.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (interoperable object references).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProfileTag(pub u32);

impl ProfileTag {
    /// `TAG_INTERNET_IOP`: GIOP over TCP.
    pub const INTERNET_IOP: Self = Self(0);
    /// Components that several profiles share.
    pub const MULTIPLE_COMPONENTS: Self = Self(1);
    /// GIOP over UNIX sockets, in TAO's format.
    pub const UIOP: Self = Self(0x5441_4f00);
}

impl fmt::Debug for ProfileTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProfileTag({:#x})", self.0)
    }
}

/// The tag of a component.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (interoperable object references).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComponentTag(pub u32);

impl ComponentTag {
    /// `TAG_ORB_TYPE`: the ORB that made the reference, as a number assigned by the OMG.
    pub const ORB_TYPE: Self = Self(0);
    /// `TAG_CODE_SETS`: the code sets of the server, for `char` and `wchar` data.
    pub const CODE_SETS: Self = Self(1);
    /// Policies that the object's adapter exposes to clients (Messaging).
    pub const POLICIES: Self = Self(2);
    /// Another host and port of the same object.
    pub const ALTERNATE_IIOP_ADDRESS: Self = Self(3);
    /// TAG_SSL_SEC_TRANS: a port of the same host that speaks TLS, in a profile whose own port may be 0.
    pub const SSL_SEC_TRANS: Self = Self(20);
    /// TAG_CSI_SEC_MECH_LIST: mechanisms of CSIv2, with the addresses that speak TLS (CORBA 3.3 Part 2, Secure
    /// Interoperability).
    pub const CSI_SEC_MECH_LIST: Self = Self(33);
    /// TAG_NULL_TAG: a mechanism of CSIv2 without a transport of its own.
    pub const NULL_TAG: Self = Self(34);
    /// TAG_TLS_SEC_TRANS: addresses that speak TLS.
    pub const TLS_SEC_TRANS: Self = Self(36);
    /// The highest stream format of RMI that the server can read; see the service context of that name.
    pub const RMI_CUSTOM_MAX_STREAM_FORMAT: Self = Self(38);
    /// omniORB's UNIX socket: host name and path.
    pub const OMNIORB_UNIX: Self = Self(0x4154_5402);
    /// All endpoints of a profile as TAO writes them, that of the body included: a sequence of
    /// host, port and priority.
    pub const TAO_ENDPOINTS: Self = Self(0x5441_4f02);
    /// The platform of a server that zorb runs on: see [`Platform`](crate::platform::Platform).
    pub const ZORB_PLATFORM: Self = Self(0x5a4f_5201);
}

impl fmt::Debug for ComponentTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComponentTag({:#x})", self.0)
    }
}

/// The ORB type in zorb's references: `ZORB`.
pub const ORB_TYPE: u32 = 0x5a4f_5242;

/// The ORB type in JacORB's references: `JAC` and a NUL.
pub const JACORB_ORB_TYPE: u32 = 0x4a41_4300;

/// One way to reach an object: a tag and an encapsulation.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (interoperable object references).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaggedProfile {
    /// The tag, which names the protocol of the profile.
    pub tag: ProfileTag,
    /// The encapsulation of the profile's body, byte-order octet first.
    pub data: Bytes,
}

/// A component of a profile: a tag and, mostly, an encapsulation.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (interoperable object references).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaggedComponent {
    /// The tag, which determines the meaning of the data.
    pub tag: ComponentTag,
    /// The data, in a form that depends on the tag: an encapsulation as a rule.
    pub data: Bytes,
}

/// An interoperable object reference.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (interoperable object references).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Ior {
    /// Repository id of the most derived interface known to the ORB that made the reference; empty
    /// when unknown.
    pub type_id: String,
    /// The ways to reach the object, in the server's order of preference.
    pub profiles: Vec<TaggedProfile>,
}

impl Ior {
    /// The nil reference: an empty type id, and no profiles.
    pub const NIL: Self = Self {
        type_id: String::new(),
        profiles: Vec::new(),
    };

    /// Whether this is the nil reference, which has no profiles.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.profiles.is_empty()
    }

    /// Returns the reference as `IOR:` and hexadecimal digits, in lower case: two for each octet.
    ///
    /// # Errors
    /// [`EmbeddedNul`](zorb_cdr::EncodeErrorKind::EmbeddedNul) if the type id contains a NUL.
    pub fn to_ior_string(&self) -> Result<String, EncodeError> {
        let octets = encapsulate(|e| e.put(self))?;
        let mut text = String::with_capacity(octets.len().saturating_mul(2).saturating_add(4));
        text.push_str("IOR:");
        for octet in octets.iter() {
            for nibble in [octet >> 4, octet & 0xf] {
                text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
        Ok(text)
    }

    /// Reads the digits behind `IOR:`, in upper or lower case.
    ///
    /// # Errors
    /// [`OddDigits`](IorError::OddDigits) or [`NotHex`](IorError::NotHex) unless the text is pairs of hexadecimal digits;
    /// [`Malformed`](IorError::Malformed) if the octets are not a reference.
    pub fn from_hex(digits: &str) -> Result<Self, IorError> {
        let digits = digits.as_bytes();
        if !digits.len().is_multiple_of(2) {
            return Err(IorError::OddDigits(digits.len()));
        }
        let mut octets = Vec::with_capacity(digits.len() / 2);
        for (index, pair) in digits.chunks_exact(2).enumerate() {
            let mut octet = 0u8;
            for digit in pair {
                let value = char::from(*digit)
                    .to_digit(16)
                    .and_then(|d| u8::try_from(d).ok())
                    .ok_or_else(|| IorError::NotHex {
                        digit: char::from(*digit),
                        at: index.saturating_mul(2),
                    })?;
                octet = octet << 4 | value;
            }
            octets.push(octet);
        }
        Ok(decode_encapsulation(&Bytes::from(octets))?)
    }
}

/// Why a stringified reference cannot be read.
///
/// An error of decoding is the [`source`](core::error::Error::source), and `Display` does not show it. The alternate form
/// (`{:#}`) shows both.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IorError {
    /// An odd number of digits.
    #[error("expected pairs of hexadecimal digits, found {0} digits")]
    OddDigits(usize),
    /// A character that is not a hexadecimal digit.
    #[error("expected a hexadecimal digit, found {digit:?} at {at}")]
    NotHex {
        /// The value found.
        digit: char,
        /// Its index, counted from behind the colon.
        at: usize,
    },
    /// The octets are not a reference.
    #[error(fmt = malformed)]
    Malformed(#[source] DecodeError),
}

fn malformed(error: &DecodeError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("malformed reference")?;
    match f.alternate() {
        true => write!(f, ": {error}"),
        false => Ok(()),
    }
}

impl From<DecodeError> for IorError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl Encode for Ior {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_raw_string(self.type_id.as_bytes())?;
        e.put(&self.profiles)
    }
}

impl<'de> Decode<'de> for Ior {
    const MIN_SIZE: usize = 8;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        // Repository ids are ISO 8859-1 whatever the negotiated code set.
        let type_id = latin1(d.read_raw_string()?);
        Ok(Self {
            type_id,
            profiles: d.get()?,
        })
    }
}

macro_rules! tagged {
    ($name:ident, $tag:ident) => {
        impl Encode for $name {
            fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
                e.write_u32(self.tag.0);
                e.write_octets(&self.data)
            }
        }

        impl<'de> Decode<'de> for $name {
            const MIN_SIZE: usize = 8;

            fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
                Ok(Self {
                    tag: $tag(d.read_u32()?),
                    // A copy: references outlive the message they came in.
                    data: Bytes::copy_from_slice(d.read_octets()?),
                })
            }
        }
    };
}

tagged!(TaggedProfile, ProfileTag);
tagged!(TaggedComponent, ComponentTag);

fn latin1(octets: &[u8]) -> String {
    match core::str::from_utf8(octets) {
        Ok(text) => text.to_owned(),
        Err(_) => octets.iter().copied().map(char::from).collect(),
    }
}

/// The body of IIOP and UIOP profiles, which differ in the address only: version, address, object key, and from 1.1 on
/// components.
///
/// Source: CORBA 3.3 Part 2, Interoperability Architecture and IIOP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileBody<A> {
    /// The highest GIOP version the server takes through this profile.
    pub version: Version,
    /// The address at which the server listens.
    pub address: A,
    /// The key of the object at that address.
    pub object_key: Bytes,
    /// Tagged components, unknown ones included.
    pub components: Vec<TaggedComponent>,
}

/// Host and port of an IIOP profile.
///
/// Source: CORBA 3.3 Part 2, Interoperability Architecture and IIOP.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IiopAddress {
    /// A name, a dotted IPv4 address, or an IPv6 address without brackets.
    pub host: String,
    /// The TCP port; 0 with a security component means that there is no plain port.
    pub port: u16,
}

/// The socket's path in a UIOP profile, which is TAO's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UiopAddress {
    /// The path of the socket in the file system, which TAO calls the rendezvous point.
    pub path: String,
}

/// An IIOP profile body.
///
/// Source: CORBA 3.3 Part 2, Interoperability Architecture and IIOP.
pub type IiopProfile = ProfileBody<IiopAddress>;
/// A UIOP profile body, in TAO's format.
pub type UiopProfile = ProfileBody<UiopAddress>;

/// An address that a profile body can hold.
pub trait ProfileAddress: Sized {
    /// The profile's tag.
    const TAG: ProfileTag;
    /// Writes the address at its place in a profile's body, behind the version.
    ///
    /// # Errors
    /// [`EmbeddedNul`](zorb_cdr::EncodeErrorKind::EmbeddedNul) if the host or path contains a NUL.
    fn write<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError>;
    /// Reads the octets that [`write`](Self::write) writes.
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the octets end early, and the errors of a string.
    fn read<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Self, DecodeError>;
}

impl ProfileAddress for IiopAddress {
    const TAG: ProfileTag = ProfileTag::INTERNET_IOP;

    fn write<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_raw_string(self.host.as_bytes())?;
        e.write_u16(self.port);
        Ok(())
    }

    fn read<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Self, DecodeError> {
        Ok(Self {
            host: latin1(d.read_raw_string()?),
            port: d.read_u16()?,
        })
    }
}

impl ProfileAddress for UiopAddress {
    const TAG: ProfileTag = ProfileTag::UIOP;

    fn write<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_raw_string(self.path.as_bytes())
    }

    fn read<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Self, DecodeError> {
        Ok(Self {
            path: latin1(d.read_raw_string()?),
        })
    }
}

impl<A: ProfileAddress> ProfileBody<A> {
    /// Encodes the body as a profile with the tag of its address. A body of version 1.0 is written without components.
    ///
    /// # Errors
    /// [`EmbeddedNul`](zorb_cdr::EncodeErrorKind::EmbeddedNul) if the address contains a NUL.
    pub fn to_tagged(&self) -> Result<TaggedProfile, EncodeError> {
        let data = encapsulate(|e| {
            e.write_u8(self.version.major);
            e.write_u8(self.version.minor);
            self.address.write(e)?;
            e.write_octets(&self.object_key)?;
            // A 1.0 body ends with the key.
            if self.version >= Version::V1_1 {
                e.put(&self.components)?;
            }
            Ok(())
        })?;
        Ok(TaggedProfile { tag: A::TAG, data })
    }

    /// Decodes the body of a profile, whose tag has to be that of the address. Copies the object key.
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the body ends early, and the errors of address and components.
    pub fn from_tagged(profile: &TaggedProfile) -> Result<Self, DecodeError> {
        in_encapsulation(&profile.data, ReadProfile(core::marker::PhantomData))
    }

    /// Returns the data of the first component with this tag; `None` if the profile has none.
    #[must_use]
    pub fn component(&self, tag: ComponentTag) -> Option<&Bytes> {
        self.components
            .iter()
            .find(|c| c.tag == tag)
            .map(|c| &c.data)
    }
}

struct ReadProfile<A>(core::marker::PhantomData<A>);

impl<'de, A: ProfileAddress> EncapsulationVisitor<'de> for ReadProfile<A> {
    type Output = ProfileBody<A>;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        let version = Version {
            major: d.read_u8()?,
            minor: d.read_u8()?,
        };
        Ok(ProfileBody {
            version,
            address: A::read(d)?,
            object_key: Bytes::copy_from_slice(d.read_octets()?),
            components: if version >= Version::V1_1 {
                d.get()?
            } else {
                Vec::new()
            },
        })
    }
}

impl TaggedProfile {
    /// Returns the object key of an IIOP or UIOP profile; `None` for a profile of another tag and for malformed data. Decodes the
    /// profile and copies the key, so it allocates.
    #[must_use]
    pub fn object_key(&self) -> Option<Bytes> {
        match self.tag {
            ProfileTag::INTERNET_IOP => Some(IiopProfile::from_tagged(self).ok()?.object_key),
            ProfileTag::UIOP => Some(UiopProfile::from_tagged(self).ok()?.object_key),
            _ => None,
        }
    }
}

/// Decodes one value from an encapsulation: a byte-order octet, and the value in that byte order. Octets behind the value
/// are ignored.
///
/// # Errors
/// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the octets end before the value does, and the errors of `T`.
pub fn decode_encapsulation<T: for<'de> Decode<'de>>(data: &[u8]) -> Result<T, DecodeError> {
    struct Get<T>(core::marker::PhantomData<T>);
    impl<'de, T: Decode<'de>> EncapsulationVisitor<'de> for Get<T> {
        type Output = T;
        fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<T, DecodeError> {
            d.get()
        }
    }
    in_encapsulation(data, Get(core::marker::PhantomData))
}

/// Reads an encapsulation outside a message, in its own byte order.
pub(crate) fn in_encapsulation<'de, V: EncapsulationVisitor<'de>>(
    data: &'de [u8],
    visitor: V,
) -> Result<V::Output, DecodeError> {
    zorb_cdr::decode_encapsulation(data, WireFormat::default(), visitor)
}

/// Makes an encapsulation in the native byte order: the order octet, then the octets that `write` writes.
///
/// # Errors
/// The error of `write`.
pub fn encapsulate(
    write: impl FnOnce(&mut Encoder<NativeEndian>) -> Result<(), EncodeError>,
) -> Result<Bytes, EncodeError> {
    zorb_cdr::encode_encapsulation(WireFormat::default(), write).map(Bytes::from)
}
