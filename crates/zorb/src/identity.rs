//! Equivalence of references: whether their profiles lead to the same object.
//!
//! An ORB that passes a reference on encodes it anew: in the other byte order, with other padding in encapsulations,
//! with another order of profiles or components. So the decoded endpoint and object key are compared, for each
//! transport of this ORB; the endpoint of IIOP is host and port. A profile with port 0 names its destination in its
//! components (a port for TLS, or a UNIX socket), so these are compared too. Profiles of other protocols are compared
//! by their octets.
//!
//! Data that does not distinguish objects is ignored: the repository id, the GIOP version, code sets, the ORB's type,
//! further addresses of a profile.

use crate::addresses::{Body, read_component, read_profile};
use crate::object::ObjectRef;
use crate::profile::address_components;
use bytes::Bytes;
use zorb_giop::Ior;
use zorb_giop::ior::{ComponentTag, ProfileTag, TaggedComponent};
use zorb_giop::security::Protected;
use zorb_transport::{Endpoint, Registry};

impl ObjectRef {
    /// Whether the two references certainly lead to the same object. No server is called, and `false` does not prove
    /// that the objects differ.
    ///
    /// Compares decoded profiles, since an ORB that passes a reference on encodes it anew: host, port and object key of
    /// IIOP profiles, path and key of UNIX sockets, in any order. For profiles with port 0, which name their
    /// destination in a component, the components are compared too; for other protocols the octets. The repository id,
    /// the GIOP version, code sets and further addresses of a profile do not count.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface, Equivalence Testing. Costs some allocations unless the two are clones or the same octets.
    #[must_use]
    #[doc(alias = "_is_equivalent")]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        core::ptr::eq(self.ior(), other.ior())
            || self.ior().profiles == other.ior().profiles
            || self.identities() == other.identities()
    }

    /// A hash that [equivalent](Self::is_equivalent) references share, between 0 and `maximum`; the same in every
    /// process. Costs some allocations.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::Object`, `hash`).
    #[must_use]
    #[doc(alias = "_hash")]
    pub fn hash_value(&self, maximum: u32) -> u32 {
        use core::hash::{Hash, Hasher};
        // The default keys are fixed, so the value is the same in every process.
        #[expect(deprecated, reason = "the stable hasher is the point here")]
        let mut hasher = core::hash::SipHasher::new();
        self.identities().hash(&mut hasher);
        let range = u64::from(maximum).saturating_add(1);
        let value = hasher.finish().checked_rem(range);
        value.map_or(maximum, |value| u32::try_from(value).unwrap_or(maximum))
    }

    fn identities(&self) -> Vec<Identity> {
        identities(self.ior(), self.transports())
    }
}

impl PartialEq for ObjectRef {
    /// Compares by [`is_equivalent`](Self::is_equivalent). Costs some allocations unless the two are clones.
    fn eq(&self, other: &Self) -> bool {
        self.is_equivalent(other)
    }
}

impl Eq for ObjectRef {}

impl core::hash::Hash for ObjectRef {
    /// Equivalent references have the same hash: see [`hash_value`](Self::hash_value). The hash covers no mutable state
    /// of a reference, so references can be keys of maps despite clippy's lint `mutable_key_type`.
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.identities().hash(state);
    }
}

/// The address and object key of a profile.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Identity {
    Known {
        endpoint: ComparableEndpoint,
        key: Bytes,
        /// The destinations in its components, if the profile's own address has port 0.
        component_destinations: Vec<ComponentDestination>,
    },
    /// The tag and octets of a profile of an unknown protocol, or of a malformed one.
    Other(u32, Bytes),
}

/// An endpoint in comparable form.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ComparableEndpoint {
    scheme: &'static str,
    /// The host in lower case, since host names ignore case, or the whole address where there is no host.
    address: String,
    port: Option<u16>,
}

impl ComparableEndpoint {
    fn of(endpoint: &Endpoint) -> Self {
        Self {
            scheme: endpoint.scheme(),
            address: match endpoint.host() {
                Some(host) => host.to_ascii_lowercase(),
                None => endpoint.text().to_owned(),
            },
            port: endpoint.port(),
        }
    }
}

/// The destination that a component of a profile with port 0 names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ComponentDestination {
    Endpoint(ComparableEndpoint),
    /// Host and port for TLS.
    Protected(String, u16),
    Other(u32, Bytes),
}

/// The addresses and keys of all profiles of a reference, sorted and without duplicates.
///
/// Costs some allocations for each profile.
fn identities(ior: &Ior, transports: &Registry) -> Vec<Identity> {
    let mut found: Vec<Identity> = (ior.profiles.iter())
        .map(|profile| match read_profile(profile, transports) {
            Some((_, Ok(body))) => known(body, profile.tag.0, transports),
            _ => Identity::Other(profile.tag.0, profile.data.clone()),
        })
        .collect();
    // TAG_MULTIPLE_COMPONENTS holds components that profiles share and identifies no object beside other profiles.
    let shared = |identity: &Identity| matches!(identity, Identity::Other(tag, _) if *tag == ProfileTag::MULTIPLE_COMPONENTS.0);
    if !found.iter().all(shared) {
        found.retain(|identity| !shared(identity));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn known(body: Body, profile: u32, transports: &Registry) -> Identity {
    let leads = |component| destinations_of(component, &body.endpoint, profile, transports);
    let mut component_destinations: Vec<ComponentDestination> =
        match body.endpoint.unreachable_reason() {
            Some(_) => body.components.iter().flat_map(leads).collect(),
            None => Vec::new(),
        };
    component_destinations.sort_unstable();
    component_destinations.dedup();
    Identity::Known {
        endpoint: ComparableEndpoint::of(&body.endpoint),
        key: body.object_key,
        component_destinations,
    }
}

fn destinations_of(
    component: &TaggedComponent,
    endpoint: &Endpoint,
    profile: u32,
    transports: &Registry,
) -> Vec<ComponentDestination> {
    if matches!(
        component.tag,
        ComponentTag::ORB_TYPE
            | ComponentTag::CODE_SETS
            | ComponentTag::RMI_CUSTOM_MAX_STREAM_FORMAT
            | ComponentTag::ZORB_PLATFORM
    ) {
        return Vec::new();
    }
    let protected = Protected::of(core::slice::from_ref(component)).addresses;
    if !protected.is_empty() {
        let named = protected.into_iter().map(|(host, port)| {
            let host = host.as_deref().or_else(|| endpoint.host());
            let host = host.unwrap_or_default().to_ascii_lowercase();
            ComponentDestination::Protected(host, port)
        });
        return named.collect();
    }
    let found: Vec<_> = address_components(transports, profile, component.tag.0)
        .flat_map(|(addressing, held)| read_component(held, addressing, &component.data))
        .map(|endpoint| ComponentDestination::Endpoint(ComparableEndpoint::of(&endpoint)))
        .collect();
    match found.is_empty() {
        true => vec![ComponentDestination::Other(
            component.tag.0,
            component.data.clone(),
        )],
        false => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{BigEndian, ByteOrder, Encoder, LittleEndian, WireFormat};
    use zorb_giop::ior::IiopProfile;
    use zorb_giop::ior::TaggedProfile;

    /// A reference as different ORBs may write it: one IIOP profile with a component of 6 octets and padding.
    fn iiop_in<O: ByteOrder>(host: &str, port: u16, key: &[u8], garbage: u8) -> TaggedProfile {
        let component = |e: &mut Encoder<O>| {
            // Byte order, padding, an unsigned long: the ORB's type.
            let order = u8::from(O::ENDIAN == zorb_cdr::Endian::Little);
            let orb_type = 0x5441_4f00_u32;
            let value = match order {
                1 => orb_type.to_le_bytes(),
                _ => orb_type.to_be_bytes(),
            };
            let mut data = vec![order, garbage, garbage, garbage];
            data.extend(value);
            e.write_u32(0);
            e.write_octets(&data)
        };
        let mut e = Encoder::<O>::new(WireFormat::default());
        e.write_u8(u8::from(O::ENDIAN == zorb_cdr::Endian::Little));
        e.write_u8(1);
        e.write_u8(2);
        e.write_raw_string(host.as_bytes()).unwrap();
        e.write_u16(port);
        e.write_octets(key).unwrap();
        e.write_u32(1);
        component(&mut e).unwrap();
        TaggedProfile {
            tag: ProfileTag::INTERNET_IOP,
            data: Bytes::from(e.finish().to_vec()),
        }
    }

    fn of_default(ior: &Ior) -> Vec<Identity> {
        identities(ior, &Registry::default())
    }

    fn of(profiles: Vec<TaggedProfile>) -> Ior {
        Ior {
            type_id: String::new(),
            profiles,
        }
    }

    #[test]
    fn a_reference_that_was_written_anew_is_the_same() {
        let one = of(vec![
            iiop_in::<LittleEndian>("Host", 1, b"key", 0),
            iiop_in::<LittleEndian>("host", 2, b"key", 0),
        ]);
        let anew = of(vec![
            iiop_in::<BigEndian>("host", 2, b"key", 0xdd),
            iiop_in::<BigEndian>("host", 1, b"key", 0xee),
        ]);
        assert_ne!(one.profiles, anew.profiles);
        assert_eq!(of_default(&one), of_default(&anew));
    }

    #[test]
    fn host_port_and_key_tell_objects_apart() {
        let one = of(vec![iiop_in::<LittleEndian>("host", 1, b"key", 0)]);
        for other in [
            iiop_in::<LittleEndian>("other", 1, b"key", 0),
            iiop_in::<LittleEndian>("host", 2, b"key", 0),
            iiop_in::<LittleEndian>("host", 1, b"kez", 0),
        ] {
            assert_ne!(of_default(&one), of_default(&of(vec![other])));
        }
    }

    #[test]
    fn a_profile_without_a_port_is_known_by_its_components() {
        let with = |tag, octets: &'static [u8]| {
            let body = IiopProfile {
                version: zorb_giop::Version::V1_2,
                address: zorb_giop::ior::IiopAddress {
                    host: "h".to_owned(),
                    port: 0,
                },
                object_key: Bytes::from_static(b"key"),
                components: vec![TaggedComponent {
                    tag,
                    data: Bytes::from_static(octets),
                }],
            };
            of_default(&of(vec![body.to_tagged().unwrap()]))
        };
        let socket = |garbage: u8, name: u8| {
            // Byte order, padding, host "h", padding, path.
            let mut data = vec![
                1, garbage, garbage, garbage, 2, 0, 0, 0, b'h', 0, garbage, garbage,
            ];
            data.extend([2, 0, 0, 0, name, 0]);
            with(ComponentTag::OMNIORB_UNIX, data.leak())
        };
        assert_eq!(socket(0, b'a'), socket(7, b'a'));
        assert_ne!(socket(0, b'a'), socket(0, b'b'));
        // TLS: the port is in the component.
        let tls = |octets| with(ComponentTag(20), octets);
        assert_ne!(tls(&[0, 1]), tls(&[0, 2]));
        // Code sets are not part of an address.
        let sets = |octets| with(ComponentTag::CODE_SETS, octets);
        assert_eq!(sets(&[0, 1]), sets(&[0, 2]));
    }

    #[test]
    fn unknown_and_malformed_profiles_are_their_octets() {
        let unknown = |octets: &'static [u8]| {
            let data = Bytes::from_static(octets);
            of(vec![TaggedProfile {
                tag: ProfileTag(99),
                data,
            }])
        };
        assert_eq!(of_default(&unknown(b"a")), of_default(&unknown(b"a")));
        assert_ne!(of_default(&unknown(b"a")), of_default(&unknown(b"b")));
        let malformed = of(vec![TaggedProfile {
            tag: ProfileTag::INTERNET_IOP,
            data: Bytes::from_static(&[1, 1]),
        }]);
        assert_eq!(of_default(&malformed).len(), 1);
        // TAG_MULTIPLE_COMPONENTS beside another profile does not count.
        let mut with_shared = unknown(b"a");
        with_shared.profiles.push(TaggedProfile {
            tag: ProfileTag::MULTIPLE_COMPONENTS,
            data: Bytes::from_static(b"x"),
        });
        assert_eq!(of_default(&with_shared), of_default(&unknown(b"a")));
    }
}
