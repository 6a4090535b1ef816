//! Security mechanisms in references: the components that name endpoints for TLS, and what a client has to do there.
//!
//! A server publishes a port for TLS in [`SslSecTrans`], or a list of mechanisms in [`SecMechList`], each with a
//! transport (as a rule [`TlsSecTrans`]), a way to authenticate clients, and rules for asserted identities. Source:
//! CORBA 3.3 Part 2, Secure Interoperability (module `CSIIOP`); `SSLIOP::SSL` is of the CORBA Security Service 1.8.

use crate::ior::{
    ComponentTag, TaggedComponent, decode_encapsulation, encapsulate, in_encapsulation,
};
use bytes::Bytes;
use core::fmt;
use core::ops::BitOr;
use zorb_cdr::{
    ByteOrder, Decode, DecodeError, Decoder, EncapsulationVisitor, EncodeError, Encoder,
    NativeEndian,
};

/// Protections of a connection or a request, as bits: `Security::AssociationOptions`. A server states those that it
/// supports, and those that it requires of clients. Unknown bits are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a number of the specification with names"
)]
pub struct AssociationOptions(pub u16);

impl AssociationOptions {
    /// Requests without protection are accepted.
    pub const NO_PROTECTION: Self = Self(1);
    /// Changes are detected.
    pub const INTEGRITY: Self = Self(2);
    /// Others cannot read the octets.
    pub const CONFIDENTIALITY: Self = Self(4);
    /// Repetitions are detected.
    pub const DETECT_REPLAY: Self = Self(8);
    /// Another order of messages is detected.
    pub const DETECT_MISORDERING: Self = Self(0x10);
    /// The server proves its identity.
    pub const ESTABLISH_TRUST_IN_TARGET: Self = Self(0x20);
    /// The client proves its identity.
    pub const ESTABLISH_TRUST_IN_CLIENT: Self = Self(0x40);
    /// The client's rights are not passed on.
    pub const NO_DELEGATION: Self = Self(0x80);
    /// Requests for another principal are accepted.
    pub const IDENTITY_ASSERTION: Self = Self(0x400);

    /// The protections of the octets of every connection by TLS.
    pub const OF_TLS: Self = Self(0x1e);
    /// The bits that no connection without protection can satisfy.
    const PROTECTIVE: u16 = 0x7e;

    /// Whether all of these bits are set.
    #[must_use]
    pub const fn contains(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Whether one of the bits is set that a connection without protection cannot satisfy: integrity, confidentiality,
    /// detection of replay and misordering, trust in target or client.
    #[must_use]
    pub const fn demands_protection(self) -> bool {
        self.0 & Self::PROTECTIVE != 0
    }
}

impl BitOr for AssociationOptions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for AssociationOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The body of `TAG_SSL_SEC_TRANS`: the port for TLS on the host of the profile, and what is supported and required
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these three"
)]
pub struct SslSecTrans {
    /// What the server supports.
    pub supports: AssociationOptions,
    /// What the server requires.
    pub requires: AssociationOptions,
    /// The port on the host of the profile.
    pub port: u16,
}

/// Octets of the component as the specification has it; VisiBroker writes the options as `unsigned long`s.
const SSL_OCTETS: usize = 8;

impl SslSecTrans {
    /// Encodes the component: 8 octets.
    ///
    /// # Errors
    /// None is known.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|e| {
            e.write_u16(self.supports.0);
            e.write_u16(self.requires.0);
            e.write_u16(self.port);
            Ok(())
        })?;
        let tag = ComponentTag::SSL_SEC_TRANS;
        Ok(TaggedComponent { tag, data })
    }

    /// Reads the data of the component, in the form of the specification or in VisiBroker's, whose options are
    /// `unsigned long`s. The length tells them apart, as in omniORB.
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the data end early.
    pub fn from_component(data: &[u8]) -> Result<Self, DecodeError> {
        in_encapsulation(data, ReadSsl(data.len() <= SSL_OCTETS))
    }
}

/// Reads `SSLIOP::SSL`; `true` for the form of the specification.
struct ReadSsl(bool);

impl<'de> EncapsulationVisitor<'de> for ReadSsl {
    type Output = SslSecTrans;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<SslSecTrans, DecodeError> {
        let mut options = || {
            Ok(AssociationOptions(match self.0 {
                true => d.read_u16()?,
                // There are twelve options; the upper half holds none.
                false => u16::try_from(d.read_u32()? & 0xffff).unwrap_or_default(),
            }))
        };
        Ok(SslSecTrans {
            supports: options()?,
            requires: options()?,
            port: d.read_u16()?,
        })
    }
}

/// The body of `TAG_TLS_SEC_TRANS`: addresses for TLS, and what is supported and required there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these three"
)]
pub struct TlsSecTrans {
    /// What the server supports.
    pub supports: AssociationOptions,
    /// What the server requires.
    pub requires: AssociationOptions,
    /// Hosts and ports.
    pub addresses: Vec<(String, u16)>,
}

impl TlsSecTrans {
    /// Encodes the component, for the transport of a [mechanism](SecMech::transport).
    ///
    /// # Errors
    /// A host contains a NUL.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|e| {
            e.write_u16(self.supports.0);
            e.write_u16(self.requires.0);
            e.write_count(self.addresses.len())?;
            for (host, port) in &self.addresses {
                e.write_raw_string(host.as_bytes())?;
                e.write_u16(*port);
            }
            Ok(())
        })?;
        let tag = ComponentTag::TLS_SEC_TRANS;
        Ok(TaggedComponent { tag, data })
    }

    /// Reads the data of the component.
    ///
    /// # Errors
    /// The data end early, or a host is malformed.
    pub fn from_component(data: &[u8]) -> Result<Self, DecodeError> {
        decode_encapsulation(data)
    }
}

impl<'de> Decode<'de> for TlsSecTrans {
    const MIN_SIZE: usize = 8;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let supports = AssociationOptions(d.read_u16()?);
        let requires = AssociationOptions(d.read_u16()?);
        let mut addresses = Vec::new();
        // An address has at least the length of its host, a NUL and a port.
        for _ in 0..d.read_count(7)? {
            let host = String::from_utf8_lossy(d.read_raw_string()?).into_owned();
            addresses.push((host, d.read_u16()?));
        }
        Ok(Self {
            supports,
            requires,
            addresses,
        })
    }
}

/// How clients authenticate within a request: `CSIIOP::AS_ContextSec`. The default is that they do not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these four"
)]
pub struct ClientAuthentication {
    /// What the server supports.
    pub supports: AssociationOptions,
    /// What the server requires.
    pub requires: AssociationOptions,
    /// The mechanism: an object identifier in DER, with its tag and length.
    pub mechanism: Bytes,
    /// The name that the server has in the mechanism.
    pub target_name: Bytes,
}

/// How clients assert identities within a request: `CSIIOP::SAS_ContextSec`. The default is that they do not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these five"
)]
pub struct Attributes {
    /// What the server supports.
    pub supports: AssociationOptions,
    /// What the server requires.
    pub requires: AssociationOptions,
    /// Authorities of privileges, each with the syntax of its name.
    pub privilege_authorities: Vec<(u32, Bytes)>,
    /// Mechanisms of names: object identifiers in DER.
    pub naming_mechanisms: Vec<Bytes>,
    /// The types of identity tokens, as bits.
    pub identity_types: u32,
}

/// One of the mechanisms by which a server can be called: `CSIIOP::CompoundSecMech`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these four"
)]
pub struct SecMech {
    /// What the server requires, in all layers.
    pub requires: AssociationOptions,
    /// The transport: `TAG_TLS_SEC_TRANS`, or `TAG_NULL_TAG` for the address of the profile.
    pub transport: TaggedComponent,
    /// How clients authenticate within requests.
    pub client_authentication: ClientAuthentication,
    /// How clients assert identities within requests.
    pub attributes: Attributes,
}

impl SecMech {
    /// Makes the mechanism of a transport alone.
    ///
    /// # Errors
    /// A host contains a NUL.
    pub fn over_tls(transport: &TlsSecTrans) -> Result<Self, EncodeError> {
        Ok(Self {
            requires: transport.requires,
            transport: transport.to_component()?,
            client_authentication: ClientAuthentication::default(),
            attributes: Attributes::default(),
        })
    }

    /// Returns the transport by TLS; `None` if the transport is another one, or malformed.
    #[must_use]
    pub fn tls(&self) -> Option<TlsSecTrans> {
        let is_tls = self.transport.tag == ComponentTag::TLS_SEC_TRANS;
        is_tls.then(|| TlsSecTrans::from_component(&self.transport.data).ok())?
    }
}

/// The body of `TAG_CSI_SEC_MECH_LIST`: mechanisms in the order of the server's preference
/// (`CSIIOP::CompoundSecMechList`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_structs, reason = "the specification has these two")]
pub struct SecMechList {
    /// Whether the server keeps security contexts for further requests of a connection.
    pub stateful: bool,
    /// The mechanisms.
    pub mechanisms: Vec<SecMech>,
}

impl SecMechList {
    /// Encodes the component.
    ///
    /// # Errors
    /// More octets than a sequence can have.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|e| {
            e.put(&self.stateful)?;
            e.write_count(self.mechanisms.len())?;
            (self.mechanisms.iter()).try_for_each(|mechanism| write_mechanism(mechanism, e))
        })?;
        let tag = ComponentTag::CSI_SEC_MECH_LIST;
        Ok(TaggedComponent { tag, data })
    }

    /// Reads the data of the component. Costs work and memory in proportion to the data.
    ///
    /// # Errors
    /// The data end early, or are malformed.
    pub fn from_component(data: &[u8]) -> Result<Self, DecodeError> {
        decode_encapsulation(data)
    }
}

fn write_mechanism(of: &SecMech, e: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
    e.write_u16(of.requires.0);
    e.put(&of.transport)?;
    let client = &of.client_authentication;
    e.write_u16(client.supports.0);
    e.write_u16(client.requires.0);
    e.write_octets(&client.mechanism)?;
    e.write_octets(&client.target_name)?;
    let attributes = &of.attributes;
    e.write_u16(attributes.supports.0);
    e.write_u16(attributes.requires.0);
    e.write_count(attributes.privilege_authorities.len())?;
    for (syntax, name) in &attributes.privilege_authorities {
        e.write_u32(*syntax);
        e.write_octets(name)?;
    }
    e.write_count(attributes.naming_mechanisms.len())?;
    for mechanism in &attributes.naming_mechanisms {
        e.write_octets(mechanism)?;
    }
    e.write_u32(attributes.identity_types);
    Ok(())
}

impl<'de> Decode<'de> for SecMechList {
    const MIN_SIZE: usize = 5;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let stateful = d.read_bool()?;
        let mut mechanisms = Vec::new();
        for _ in 0..d.read_count(SecMech::MIN_SIZE)? {
            mechanisms.push(d.get()?);
        }
        Ok(Self {
            stateful,
            mechanisms,
        })
    }
}

impl<'de> Decode<'de> for SecMech {
    /// The four options of two octets, four lengths and three numbers of four; the padding may be missing.
    const MIN_SIZE: usize = 38;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        fn octets<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Bytes, DecodeError> {
            d.read_octets().map(Bytes::copy_from_slice)
        }
        Ok(Self {
            requires: AssociationOptions(d.read_u16()?),
            transport: d.get()?,
            client_authentication: ClientAuthentication {
                supports: AssociationOptions(d.read_u16()?),
                requires: AssociationOptions(d.read_u16()?),
                mechanism: octets(d)?,
                target_name: octets(d)?,
            },
            attributes: Attributes {
                supports: AssociationOptions(d.read_u16()?),
                requires: AssociationOptions(d.read_u16()?),
                privilege_authorities: {
                    let count = d.read_count(8)?;
                    (0..count)
                        .map(|_| Ok((d.read_u32()?, octets(d)?)))
                        .collect::<Result<_, DecodeError>>()?
                },
                naming_mechanisms: {
                    let count = d.read_count(4)?;
                    (0..count)
                        .map(|_| octets(d))
                        .collect::<Result<_, DecodeError>>()?
                },
                identity_types: d.read_u32()?,
            },
        })
    }
}

/// The endpoints for TLS that the components of a profile name, and whether clients may do without.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Protected {
    /// Hosts and ports, in the order of the server's preference; `None` for the host of the profile.
    pub addresses: Vec<(Option<String>, u16)>,
    /// Whether the profile demands protection of every client: the address of the profile itself must not be used.
    pub is_demanded: bool,
}

impl Protected {
    /// Reads the components of a profile. Malformed ones name nothing, and demand protection where their tag alone says
    /// that there is some: a client that cannot read them must not send requests without protection for that reason.
    #[must_use]
    pub fn of(components: &[TaggedComponent]) -> Self {
        let mut found = Self::default();
        for component in components {
            match component.tag {
                ComponentTag::CSI_SEC_MECH_LIST => found.add_mechanisms(&component.data),
                ComponentTag::SSL_SEC_TRANS => found.add_ssl(&component.data),
                // Its place is within a mechanism; outside, it can mean nothing else.
                ComponentTag::TLS_SEC_TRANS => found.add_tls(&component.data),
                _ => {}
            }
        }
        found
    }

    fn add_ssl(&mut self, data: &[u8]) {
        let Ok(ssl) = SslSecTrans::from_component(data) else {
            self.is_demanded = true;
            return;
        };
        self.is_demanded |= ssl.requires.demands_protection();
        self.add(None, ssl.port);
    }

    fn add_tls(&mut self, data: &[u8]) {
        let Ok(tls) = TlsSecTrans::from_component(data) else {
            self.is_demanded = true;
            return;
        };
        self.is_demanded |= tls.requires.demands_protection();
        for (host, port) in tls.addresses {
            self.add(Some(host), port);
        }
    }

    fn add_mechanisms(&mut self, data: &[u8]) {
        let Ok(list) = SecMechList::from_component(data) else {
            self.is_demanded = true;
            return;
        };
        let mut all_demand = !list.mechanisms.is_empty();
        for mechanism in &list.mechanisms {
            let tls = mechanism.tls();
            let demands = match &tls {
                Some(tls) => tls.requires.demands_protection(),
                // Of another transport or a malformed one, only the sum of the layers is known.
                None => {
                    mechanism.transport.tag != ComponentTag::NULL_TAG
                        && mechanism.requires.demands_protection()
                }
            };
            all_demand &= demands;
            if let Some(tls) = tls {
                for (host, port) in tls.addresses {
                    self.add(Some(host), port);
                }
            }
        }
        self.is_demanded |= all_demand;
    }

    fn add(&mut self, host: Option<String>, port: u16) {
        // Port 0 names no endpoint.
        if port != 0 {
            self.addresses.push((host, port));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One mechanism as the specification has it: TLS to h:2809, supports 0x66, requires 6, in big-endian order.
    const ONE_MECHANISM: [u8; 68] = [
        0, 0, 0, 0, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0x24, 0, 0, 0, 0x14, // TLS_SEC_TRANS
        0, 0, 0, 0x66, 0, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, b'h', 0, 0x0a, 0xf9, // AS
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // SAS
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    fn ssl(supports: u16, requires: u16, port: u16) -> SslSecTrans {
        SslSecTrans {
            supports: AssociationOptions(supports),
            requires: AssociationOptions(requires),
            port,
        }
    }

    fn tls(requires: u16, addresses: &[(&str, u16)]) -> TlsSecTrans {
        TlsSecTrans {
            supports: AssociationOptions(0x7e),
            requires: AssociationOptions(requires),
            addresses: (addresses.iter())
                .map(|(host, port)| ((*host).to_owned(), *port))
                .collect(),
        }
    }

    #[test]
    fn a_port_for_tls_is_read_in_the_form_of_the_specification_and_in_visibroker_s() {
        let check = |data: &[u8]| {
            assert_eq!(
                SslSecTrans::from_component(data),
                Ok(ssl(0x66, 6, 12_345)),
                "{data:?}"
            );
            for cut in 0..data.len() {
                assert!(SslSecTrans::from_component(&data[..cut]).is_err() || cut >= 8);
            }
        };
        check(&[0, 0, 0, 0x66, 0, 6, 0x30, 0x39]);
        check(&[1, 0, 0x66, 0, 6, 0, 0x39, 0x30]);
        check(&[0, 0, 0, 0, 0, 0, 0, 0x66, 0, 0, 0, 6, 0x30, 0x39]);
        check(&[1, 0, 0, 0, 0x66, 0, 0, 0, 6, 0, 0, 0, 0x39, 0x30]);
        let written = ssl(0x66, 6, 12_345).to_component().unwrap();
        assert_eq!(written.data.len(), SSL_OCTETS);
        check(&written.data);
    }

    #[test]
    fn mechanisms_are_read_as_the_specification_writes_them_and_written_so_that_they_are_read_again()
     {
        let list = SecMechList::from_component(&ONE_MECHANISM).unwrap();
        let [mechanism] = &list.mechanisms[..] else {
            panic!("{list:?}")
        };
        let read = mechanism.tls().unwrap();
        assert_eq!(read.addresses, [("h".to_owned(), 2809)]);
        assert_eq!(read.supports, AssociationOptions(0x66));
        assert!(mechanism.client_authentication.requires.0 == 0 && !list.stateful);
        for cut in 0..ONE_MECHANISM.len() {
            assert!(SecMechList::from_component(&ONE_MECHANISM[..cut]).is_err());
        }
        let mut full = list.clone();
        full.stateful = true;
        full.mechanisms[0].client_authentication = ClientAuthentication {
            supports: AssociationOptions::ESTABLISH_TRUST_IN_CLIENT,
            requires: AssociationOptions::ESTABLISH_TRUST_IN_CLIENT,
            mechanism: Bytes::from_static(b"\x06\x06\x67\x81\x02\x01\x01\x01"),
            target_name: Bytes::from_static(b"realm"),
        };
        full.mechanisms[0].attributes = Attributes {
            supports: AssociationOptions::IDENTITY_ASSERTION,
            requires: AssociationOptions(0),
            privilege_authorities: vec![(1, Bytes::from_static(b"who"))],
            naming_mechanisms: vec![Bytes::from_static(b"\x06\x01\x2a")],
            identity_types: 15,
        };
        full.mechanisms.push(list.mechanisms[0].clone());
        let written = full.to_component().unwrap();
        assert_eq!(SecMechList::from_component(&written.data), Ok(full));
    }

    #[test]
    fn a_profile_demands_protection_unless_it_says_that_clients_may_do_without() {
        let null = TaggedComponent {
            tag: ComponentTag::NULL_TAG,
            data: Bytes::new(),
        };
        let list = |mechanisms: Vec<SecMech>| {
            let stateful = false;
            let list = SecMechList {
                stateful,
                mechanisms,
            };
            list.to_component().unwrap()
        };
        let over = |requires, addresses: &[(&str, u16)]| {
            SecMech::over_tls(&tls(requires, addresses)).unwrap()
        };
        let mut plain = over(0, &[]);
        plain.transport = null;
        let mut login = over(6, &[("login", 4)]);
        login.client_authentication.requires = AssociationOptions::ESTABLISH_TRUST_IN_CLIENT;
        let check =
            |components: &[TaggedComponent], demanded, addresses: &[(Option<&str>, u16)]| {
                let found = Protected::of(components);
                let expected: Vec<_> = (addresses.iter())
                    .map(|(host, port)| (host.map(str::to_owned), *port))
                    .collect();
                assert_eq!((found.addresses, found.is_demanded), (expected, demanded));
            };
        check(&[], false, &[]);
        check(
            &[ssl(0x66, 0x66, 1).to_component().unwrap()],
            true,
            &[(None, 1)],
        );
        check(
            &[ssl(0x66, 1, 1).to_component().unwrap()],
            false,
            &[(None, 1)],
        );
        check(&[ssl(0, 0, 0).to_component().unwrap()], false, &[]);
        let both = [
            list(vec![over(6, &[("h", 2), ("i", 3)])]),
            ssl(6, 6, 1).to_component().unwrap(),
        ];
        check(&both, true, &[(Some("h"), 2), (Some("i"), 3), (None, 1)]);
        check(
            &[list(vec![over(6, &[("h", 2)]), plain])],
            false,
            &[(Some("h"), 2)],
        );
        check(&[list(vec![login])], true, &[(Some("login"), 4)]);
        check(&[list(vec![])], false, &[]);
        check(
            &[tls(6, &[("h", 2)]).to_component().unwrap()],
            true,
            &[(Some("h"), 2)],
        );
        for tag in [
            ComponentTag::SSL_SEC_TRANS,
            ComponentTag::CSI_SEC_MECH_LIST,
            ComponentTag::TLS_SEC_TRANS,
        ] {
            let data = Bytes::from_static(b"\0\0");
            check(&[TaggedComponent { tag, data }], true, &[]);
        }
    }

    proptest::proptest! {
        #[test]
        fn octets_of_a_peer_are_mechanisms_or_an_error(
            octets in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            at in 0..ONE_MECHANISM.len(),
        ) {
            let mut bent = ONE_MECHANISM;
            if let Some(octet) = octets.first() {
                bent[at] = *octet;
            }
            for data in [&octets[..], &bent] {
                let _ = SslSecTrans::from_component(data);
                if let Ok(list) = SecMechList::from_component(data) {
                    proptest::prop_assert!(list.mechanisms.len() <= data.len());
                    let written = list.to_component().unwrap();
                    proptest::prop_assert_eq!(SecMechList::from_component(&written.data), Ok(list));
                }
            }
        }
    }
}
