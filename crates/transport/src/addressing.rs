//! Addresses of a transport: as text, and as octets in an object reference.
use std::{borrow::Cow, error::Error, fmt};

use crate::{Endpoint, ParseEndpointError};

/// The syntax of one transport's addresses: in the text of endpoints, and in object references.
///
/// A [`Transport`](crate::Transport) has one ([`Transport::addressing`](crate::Transport::addressing)); it has no
/// state, and several transports may share one. It reads and writes only the address in a reference. The ORB writes the
/// GIOP version before it, the object key and the components behind it, and keeps profiles and components whose tags no
/// transport claims unchanged.
///
/// # For implementers
/// 1. [`parse`](Self::parse) reads the text that [`Display`](fmt::Display) writes of its result as an equal endpoint.
/// 2. [`read`](Self::read) reads the octets that [`write`](Self::write) writes as an equal endpoint, in either byte order.
/// 3. Text comes from operators, and octets from peers. Any of them gives an endpoint or an error, without a
///    panic, a look-up of a name, or an allocation that is larger than the input.
///
/// The crate's conformance suite checks the first two over any transport.
pub trait Addressing: Send + Sync + fmt::Debug {
    /// Returns the scheme of its endpoints, such as `iiop` and `uiop`, in lower case. Text may have it in any case.
    fn scheme(&self) -> &'static str;

    /// Returns the forms of text that it reads, for messages: `iiop://host:port`.
    fn forms(&self) -> &'static [&'static str];

    /// Reads the text behind `scheme://`.
    ///
    /// # Errors
    /// The text is not an address of this transport; the error states the expected form.
    fn parse(&self, text: &str) -> Result<Endpoint, AddressError>;

    /// Reads a whole text of an endpoint to listen on, with options and in other syntaxes if the transport has any.
    /// `None` for text that is not for this transport.
    ///
    /// # Errors
    /// The text begins as one for this transport, but is malformed; the error states expected and found text.
    fn parse_listen(&self, text: &str) -> Option<Result<ListenAddress, ParseEndpointError>> {
        let address = strip_scheme(text, self.scheme())?;
        let read = self.parse(address).map(ListenAddress::from);
        Some(read.map_err(|error| error.in_text(text)))
    }

    /// Reads the address of a `corbaloc`: the text behind `scheme:` and the version. The default is
    /// [`parse`](Self::parse), for transports without defaults of their own there.
    ///
    /// # Errors
    /// The text is not an address of this transport; the error states the expected form.
    fn parse_corbaloc(&self, text: &str) -> Result<Endpoint, AddressError> {
        self.parse(text)
    }

    /// Writes an endpoint as the address of a `corbaloc`, without scheme and version.
    fn corbaloc(&self, endpoint: &Endpoint) -> String {
        endpoint.text().to_owned()
    }

    /// Returns the tag of its profiles in object references. `None` if references cannot name its endpoints.
    ///
    /// Tags are assigned by the OMG. Source: CORBA 3.3 Part 2, Standard Profiles.
    fn profile(&self) -> Option<u32> {
        None
    }

    /// Writes the address in the body of a profile, behind the version and before the object key.
    ///
    /// # Errors
    /// The address cannot be written, or belongs to another transport.
    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        let _ = (endpoint, to);
        Err(AddressError::expected(
            "a transport whose addresses stand in profiles",
        ))
    }

    /// Reads the octets that [`write`](Self::write) writes. Octets behind them are ignored.
    ///
    /// # Errors
    /// The octets are cut short or are not an address, or no address of this transport stands in profiles.
    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        let _ = from;
        Err(AddressError::expected(
            "a transport whose addresses stand in profiles",
        ))
    }

    /// Returns the components of profiles that hold addresses of this transport too.
    fn components(&self) -> &'static [AddressComponent] {
        &[]
    }

    /// Writes an address as the data of a component, behind its byte order. Returns whether the component is to be
    /// written at all.
    ///
    /// # Errors
    /// The address cannot be written, or belongs to another transport.
    fn write_component(
        &self,
        component: AddressComponent,
        endpoint: &Endpoint,
        to: &mut dyn AddressWriter,
    ) -> Result<bool, AddressError> {
        let _ = (component, endpoint, to);
        Ok(false)
    }

    /// Reads the endpoints that a component leads to.
    ///
    /// # Errors
    /// The octets are cut short or hold no address.
    fn read_component(
        &self,
        component: AddressComponent,
        from: &mut dyn AddressReader,
    ) -> Result<Vec<Endpoint>, AddressError> {
        let _ = (component, from);
        Ok(Vec::new())
    }

    /// Returns the protection that all connections of the transport have; `None` if they have none, or if the transport
    /// is not set up to make or accept any.
    ///
    /// Endpoints of a transport with protection are host and port, and stand in profiles of IIOP: the ORB reads and
    /// writes TAG_SSL_SEC_TRANS and TAG_CSI_SEC_MECH_LIST for it, and makes its endpoints of the
    /// [placeholder](Self::placeholder_endpoint). It needs no profile and no component of its own. Where a reference
    /// names such an endpoint, the ORB does not use the address beside it that has no protection.
    fn protection(&self) -> Option<Protection> {
        None
    }

    /// Returns a placeholder endpoint, at which no server listens, for a profile that exists only for its components.
    /// `None` if no such profile is made.
    fn placeholder_endpoint(&self) -> Option<Endpoint> {
        None
    }
}

/// The protection of all connections of a transport, as references state it.
///
/// Source: CORBA 3.3 Part 2, Secure Interoperability (`CSIIOP::AssociationOptions`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the specification has these two")]
pub struct Protection {
    /// What a server supports, as bits: 2 integrity, 4 confidentiality, 8 and 0x10 no repeated and reordered messages,
    /// 0x20 that the server proves its identity, 0x40 that clients can prove theirs.
    pub supports: u16,
    /// What a server requires of clients, as the same bits. Where a server listens without protection, too, its
    /// references state that it requires nothing.
    pub requires: u16,
}

/// A component of profiles that holds addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "two tags, and what is done with them"
)]
pub struct AddressComponent {
    /// The tag of the profiles that it is in: the transport's own, or those of another.
    pub profile: u32,
    /// The tag of the component (`IOP::ComponentId`), assigned by the OMG.
    pub tag: u32,
    /// The endpoints of a reference that the ORB writes as such components; reading accepts any.
    pub written: WrittenEndpoints,
}

/// The endpoints that the ORB writes into a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the ORB has to know them all")]
pub enum WrittenEndpoints {
    /// The ORB writes every endpoint but the first, which is in the body: all endpoints of the transport share one profile.
    AllButFirst,
    /// The ORB writes every endpoint, besides the profile of each, for peers that do not know such profiles. It ignores the
    /// component in references that zorb has made.
    All,
}

/// An endpoint to listen on, with the options of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenAddress {
    /// The endpoint to listen on.
    pub endpoint: Endpoint,
    /// Number of ports to try, from the endpoint's own on; at least 1. TAO's `portspan`.
    pub ports: u16,
    /// The host that references name instead of the endpoint's own. TAO's `hostname_in_ior`.
    pub published_host: Option<String>,
    /// The port that references name instead of the endpoint's own, such as that of a port forwarding.
    pub published_port: Option<u16>,
    /// Properties of the transport for this endpoint, by their names: see
    /// [`Transport::with_property`](crate::Transport::with_property).
    pub properties: Vec<(String, String)>,
}

impl From<Endpoint> for ListenAddress {
    fn from(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            ports: 1,
            published_host: None,
            published_port: None,
            properties: Vec::new(),
        }
    }
}

/// Writes the parts of an address into a reference, in CDR and in the byte order of the reference.
pub trait AddressWriter {
    /// Writes an `octet`.
    fn write_u8(&mut self, value: u8);
    /// Writes an `unsigned short`: 2 octets behind padding to a multiple of 2.
    fn write_u16(&mut self, value: u16);
    /// Writes an `unsigned long`: 4 octets behind padding to a multiple of 4.
    fn write_u32(&mut self, value: u32);
    /// Writes an `unsigned long long`: 8 octets behind padding to a multiple of 8.
    fn write_u64(&mut self, value: u64);
    /// Writes a `string`: its length, `octets`, and a NUL that the writer adds.
    ///
    /// # Errors
    /// `octets` contain a NUL.
    fn write_string(&mut self, octets: &[u8]) -> Result<(), AddressError>;
    /// Writes a `sequence<octet>`: its length and `octets`.
    ///
    /// # Errors
    /// `octets` are more than 2³² − 1.
    fn write_octets(&mut self, octets: &[u8]) -> Result<(), AddressError>;
}

/// Reads the parts of an address from a reference, in CDR and in the byte order of the reference.
///
/// A method fails if the reference ends before the value does. Later calls after an error return unspecified values.
pub trait AddressReader {
    /// Reads an `octet`.
    ///
    /// # Errors
    /// The reference has ended.
    fn read_u8(&mut self) -> Result<u8, AddressError>;
    /// Reads an `unsigned short`: 2 octets behind padding to a multiple of 2.
    ///
    /// # Errors
    /// The reference ends before the value does.
    fn read_u16(&mut self) -> Result<u16, AddressError>;
    /// Reads an `unsigned long`: 4 octets behind padding to a multiple of 4.
    ///
    /// # Errors
    /// The reference ends before the value does.
    fn read_u32(&mut self) -> Result<u32, AddressError>;
    /// Reads an `unsigned long long`: 8 octets behind padding to a multiple of 8.
    ///
    /// # Errors
    /// The reference ends before the value does.
    fn read_u64(&mut self) -> Result<u64, AddressError>;
    /// Reads a `string`, and returns its octets without the NUL behind them. Copies nothing.
    ///
    /// # Errors
    /// The reference ends before the string does, or the string does not end with a NUL.
    fn read_string(&mut self) -> Result<&[u8], AddressError>;
    /// Reads a `sequence<octet>`. Copies nothing.
    ///
    /// # Errors
    /// The reference ends before the sequence does.
    fn read_octets(&mut self) -> Result<&[u8], AddressError>;
}

/// The error of an address that cannot be read or written: its text is what the address was expected to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(Cow<'static, str>);

impl AddressError {
    /// Makes an error of this expectation, such as `a port from 0 to 65535`.
    pub fn expected(what: impl Into<Cow<'static, str>>) -> Self {
        Self(what.into())
    }

    /// Returns the error with the whole text that was parsed.
    #[must_use]
    pub fn in_text(self, text: &str) -> ParseEndpointError {
        ParseEndpointError::new(self.0, text)
    }

    /// Returns the expectation, as the text behind "expected" in the message.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.0)
    }
}

impl Error for AddressError {}

/// Returns the text after `scheme://`, with the scheme in any case.
pub(crate) fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    strip(text, scheme)?.strip_prefix("://")
}

/// Strips a prefix in any case.
pub(crate) fn strip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns octets as text: UTF-8, or else ISO 8859-1.
pub(crate) fn text_of(octets: &[u8]) -> String {
    match std::str::from_utf8(octets) {
        Ok(text) => text.to_owned(),
        Err(_) => octets.iter().copied().map(char::from).collect(),
    }
}
