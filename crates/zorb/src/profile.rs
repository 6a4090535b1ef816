//! From references to endpoints and back: which profile leads where.

use crate::endpoints::host_name;
use bytes::Bytes;
use std::collections::HashSet;
use std::path::PathBuf;
use zorb_cdr::{
    ByteOrder, CharSet, DecodeError, Decoder, EncapsulationVisitor, EncodeError, EncodeErrorKind,
    Encoder, NativeEndian, WireFormat,
};
use zorb_connection::PeerOrb;
use zorb_giop::codeset::{CodeSetInfo, CodeSets, ServerText};
use zorb_giop::ior::{
    ComponentTag, IiopAddress, IiopProfile, ORB_TYPE, ProfileBody, ProfileTag, TaggedComponent,
    TaggedProfile, UiopAddress, UiopProfile, decode_encapsulation, encapsulate,
};
use zorb_giop::{Ior, Version};
use zorb_poa::{Index, InstanceId, ObjectKey, Path};
use zorb_transport::Endpoint;

/// The ORB type in omniORB's references: `ATT` and a NUL.
const OMNIORB_ORB_TYPE: u32 = 0x4154_5400;

/// Ways to an object that are tried at most: each may take the whole connect timeout, and a
/// hostile reference could name any number.
const MAX_CANDIDATES: usize = 32;

/// One way to reach an object.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) endpoint: Endpoint,
    pub(crate) key: Bytes,
    /// The index of its profile in the reference.
    pub(crate) profile: usize,
    /// The version to use: the lower of the profile's and ours.
    pub(crate) version: Version,
    /// How text travels.
    pub(crate) code_sets: CodeSets,
    /// Whether that is agreed on: the server stated code sets, and requests state the choice.
    pub(crate) stated: bool,
    pub(crate) peer: PeerOrb,
    /// Whether long messages reach it in fragments only: ORBs of GlassFish's family. They do not
    /// say what they are, but that they know RMI's stream formats.
    pub(crate) needs_fragments: bool,
}

/// Which ORB made a reference of this ORB type.
fn peer_orb(orb_type: Option<u32>) -> PeerOrb {
    match orb_type {
        Some(OMNIORB_ORB_TYPE) => PeerOrb::OmniOrb,
        Some(_) => PeerOrb::Other,
        None => PeerOrb::Unknown,
    }
}

/// In which code sets text is to travel, as far as that is not the server's to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    /// The native set that the operator named.
    pub(crate) native: Option<CharSet>,
    /// The set of one reference, whatever its server states.
    pub(crate) of_reference: Option<CharSet>,
    /// With servers that state none.
    pub(crate) unstated: CodeSets,
}

impl Text {
    const DEFAULT: Self = Self {
        native: None,
        of_reference: None,
        unstated: CodeSets::UNSTATED,
    };

    /// The code sets of a connection to a server, and whether its requests state them.
    fn choose(self, server: ServerText<'_>) -> (CodeSets, bool) {
        let chosen = CodeSets::for_server(server, self.of_reference.or(self.native));
        match (chosen, self.of_reference) {
            (Some(chosen), None) => (chosen, true),
            (Some(chosen), Some(set)) if chosen.char_set == set => (chosen, true),
            // A set that the server does not state cannot be agreed on.
            (_, Some(char_set)) => {
                let unstated = CodeSets {
                    char_set,
                    ..self.unstated
                };
                (unstated, false)
            }
            (None, None) => (self.unstated, false),
        }
    }
}

/// Every way to reach the object that a transport of ours may know, in the order of the
/// reference. Malformed profiles lead nowhere.
///
/// `highest` is the highest GIOP version to use.
pub(crate) fn candidates(ior: &Ior, highest: Version) -> Vec<Candidate> {
    candidates_for(ior, highest, Text::DEFAULT)
}

/// The same, with the code sets that text is to travel in.
pub(crate) fn candidates_for(ior: &Ior, highest: Version, text: Text) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (index, profile) in ior.profiles.iter().enumerate() {
        let before = found.len();
        match profile.tag {
            ProfileTag::INTERNET_IOP => {
                if let Ok(body) = IiopProfile::from_tagged(profile) {
                    iiop_candidates(&body, highest, text, &mut found);
                }
            }
            ProfileTag::UIOP => {
                if let Ok(body) = UiopProfile::from_tagged(profile) {
                    let endpoint = Endpoint::uiop(&body.address.path);
                    found.push(candidate(&body, highest, text, endpoint));
                }
            }
            _ => {}
        }
        found
            .iter_mut()
            .skip(before)
            .for_each(|candidate| candidate.profile = index);
    }
    let mut seen = HashSet::new();
    found.retain(|way| seen.insert((way.endpoint.clone(), way.key.clone())));
    found.truncate(MAX_CANDIDATES);
    found
}

/// Why each profile of a reference leads nowhere, for people.
pub(crate) fn describe_unusable(ior: &Ior) -> String {
    let why: Vec<String> = ior
        .profiles
        .iter()
        .map(|profile| match profile.tag {
            ProfileTag::INTERNET_IOP => match IiopProfile::from_tagged(profile) {
                Ok(body) => {
                    let IiopAddress { host, port } = &body.address;
                    let lack = if host.is_empty() {
                        "empty host"
                    } else {
                        "port 0"
                    };
                    format!("IIOP {host}:{port}: {lack}")
                }
                Err(error) => format!("IIOP: {error}"),
            },
            ProfileTag::UIOP => match UiopProfile::from_tagged(profile) {
                Ok(body) => format!("UIOP {}", body.address.path),
                Err(error) => format!("UIOP: {error}"),
            },
            ProfileTag(tag) => format!("unknown profile 0x{tag:08x}"),
        })
        .collect();
    why.join(", ")
}

fn iiop_candidates(body: &IiopProfile, highest: Version, text: Text, found: &mut Vec<Candidate>) {
    // omniORB's UNIX socket: on the same host only, and then better than TCP. Our own references
    // name their sockets in profiles, in the order that the server wants.
    let ours = orb_type(body) == Some(ORB_TYPE);
    for component in &body.components {
        if component.tag == ComponentTag::OMNIORB_UNIX
            && !ours
            && let Ok((host, path)) = read(&component.data, OmniUnix)
            && host_name().is_some_and(|ours| ours.as_bytes() == host)
        {
            found.push(candidate(body, highest, text, Endpoint::uiop(path)));
        }
    }
    let mut lead_to = |host: &str, port: u16| {
        // An empty host is illegal, and port 0 says that there is no plain port.
        if !host.is_empty() && port != 0 {
            found.push(candidate(body, highest, text, Endpoint::iiop(host, port)));
        }
    };
    lead_to(&body.address.host, body.address.port);
    for component in &body.components {
        match component.tag {
            ComponentTag::ALTERNATE_IIOP_ADDRESS => {
                if let Ok((host, port)) = read(&component.data, Alternate) {
                    lead_to(&host, port);
                }
            }
            ComponentTag::TAO_ENDPOINTS => {
                let endpoints: Result<Vec<(String, u16, i16)>, _> =
                    decode_encapsulation(&component.data);
                for (host, port, _priority) in endpoints.unwrap_or_default() {
                    lead_to(&host, port);
                }
            }
            _ => {}
        }
    }
}

fn candidate<A: zorb_giop::ior::ProfileAddress>(
    body: &ProfileBody<A>,
    highest: Version,
    text: Text,
    endpoint: Endpoint,
) -> Candidate {
    let version = body.version.min(highest);
    let info = body
        .component(ComponentTag::CODE_SETS)
        .and_then(|data| CodeSetInfo::from_component(data).ok());
    let knows_rmi = body
        .component(ComponentTag::RMI_CUSTOM_MAX_STREAM_FORMAT)
        .is_some();
    let (code_sets, stated) = text.choose(ServerText {
        stated: info.as_ref(),
        orb_type: orb_type(body),
        knows_rmi,
        version,
    });
    Candidate {
        endpoint,
        key: body.object_key.clone(),
        profile: 0,
        version,
        code_sets,
        stated,
        peer: peer_orb(orb_type(body)),
        needs_fragments: orb_type(body).is_none() && knows_rmi,
    }
}

/// Which ORB made the reference, if it says so.
fn orb_type<A: zorb_giop::ior::ProfileAddress>(body: &ProfileBody<A>) -> Option<u32> {
    decode_encapsulation(body.component(ComponentTag::ORB_TYPE)?).ok()
}

/// The endpoints that a reference leads to, for traces.
pub(crate) fn describe_endpoints(ior: &Ior) -> String {
    let endpoints: Vec<String> = (candidates(ior, Version::HIGHEST).iter())
        .map(|candidate| candidate.endpoint.to_string())
        .collect();
    endpoints.join(",")
}

/// Octets of a key that are shown.
const KEY_SHOWN: usize = 32;

/// An object key in a few characters, for traces: what tells one object of zorb's from another, or text, or the first
/// octets.
pub(crate) fn describe_key(key: &[u8]) -> String {
    match ObjectKey::parse(key) {
        Some(ObjectKey::Indexed {
            instance,
            adapter,
            object,
        }) => {
            let (slot, generation) = (object.slot, object.generation);
            return format!("{}/{slot}.{generation}", life(instance, adapter));
        }
        Some(ObjectKey::Named {
            instance,
            adapter,
            id,
        }) => return format!("{}/{}", life(instance, adapter), short(id)),
        Some(ObjectKey::Persistent { path, id }) => {
            if let Some(path) = Path::parse(path) {
                let path = [&[path.server_id], &path.names[..]].concat().join("/");
                return format!("zorb:{}/{}", short(path.as_bytes()), short(id));
            }
        }
        Some(ObjectKey::Plain(_)) | None => {}
    }
    short(key)
}

fn life(instance: InstanceId, adapter: Index) -> String {
    format!(
        "zorb:{:016x}/{}.{}",
        instance.0, adapter.slot, adapter.generation
    )
}

/// The first octets, as text.
fn short(key: &[u8]) -> String {
    match key.get(..KEY_SHOWN) {
        Some(first) if key.len() > KEY_SHOWN => {
            format!("{}…({} octets)", first.escape_ascii(), key.len())
        }
        _ => key.escape_ascii().to_string(),
    }
}

/// Host and port of a component for another address; `None` if it is malformed.
pub(crate) fn alternate_address(data: &[u8]) -> Option<(String, u16)> {
    read(data, Alternate).ok()
}

/// Host and path of omniORB's component for a UNIX socket; `None` if it is malformed.
pub(crate) fn omniorb_socket(data: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    use std::os::unix::ffi::OsStringExt;
    let (host, path) = read(data, OmniUnix).ok()?;
    Some((host.to_vec(), path.into_os_string().into_vec()))
}

struct Alternate;

impl<'de> EncapsulationVisitor<'de> for Alternate {
    type Output = (String, u16);
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        let host = String::from_utf8_lossy(d.read_raw_string()?).into_owned();
        Ok((host, d.read_u16()?))
    }
}

struct OmniUnix;

impl<'de> EncapsulationVisitor<'de> for OmniUnix {
    type Output = (&'de [u8], PathBuf);
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        use std::os::unix::ffi::OsStrExt;
        let host = d.read_raw_string()?;
        let path = std::ffi::OsStr::from_bytes(d.read_raw_string()?);
        Ok((host, path.into()))
    }
}

fn read<'de, V: EncapsulationVisitor<'de>>(
    data: &'de [u8],
    visitor: V,
) -> Result<V::Output, DecodeError> {
    zorb_cdr::decode_encapsulation(data, WireFormat::default(), visitor)
}

/// Where this ORB can be reached, as its references say.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The highest GIOP version that references name.
    pub(crate) version: Version,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) native_char_set: CharSet,
}

/// Makes a reference to an object of this ORB: one IIOP profile for the TCP endpoints (the first
/// in the body, the others as alternate addresses), one UIOP profile for each UNIX socket, in the
/// order in which they were asked for. For omniORB, which does not know UIOP, the IIOP profile
/// names the UNIX sockets too; when there is no TCP endpoint, it says so with port 0.
pub(crate) fn make_ior(
    type_id: &str,
    key: &Bytes,
    published: &Published,
) -> Result<Ior, EncodeError> {
    let components = vec![
        component(ComponentTag::ORB_TYPE, |e| {
            e.write_u32(ORB_TYPE);
            Ok(())
        })?,
        CodeSetInfo::native_in(published.native_char_set).to_component()?,
    ];
    let version = published.version;
    let mut profiles = Vec::new();
    let mut iiop: Option<(usize, IiopProfile)> = None;
    let mut sockets = Vec::new();
    for endpoint in &published.endpoints {
        match endpoint {
            Endpoint::Iiop { host, port } => match &mut iiop {
                None => {
                    let address = IiopAddress {
                        host: host.clone(),
                        port: *port,
                    };
                    let body = body(address, version, key, &components);
                    iiop = Some((profiles.len(), body));
                    // Its place; it is written when all its components are known.
                    profiles.push(TaggedProfile {
                        tag: ProfileTag::INTERNET_IOP,
                        data: Bytes::new(),
                    });
                }
                Some((_, body)) => {
                    let alternate = component(ComponentTag::ALTERNATE_IIOP_ADDRESS, |e| {
                        e.write_raw_string(host.as_bytes())?;
                        e.write_u16(*port);
                        Ok(())
                    })?;
                    body.components.push(alternate);
                }
            },
            Endpoint::Uiop { path } => {
                let path = path.to_string_lossy().into_owned();
                let address = UiopAddress { path: path.clone() };
                profiles.push(body(address, version, key, &components).to_tagged()?);
                sockets.push(path);
            }
            // No transport of ours has another kind of endpoint yet; one that is left out would be missed by clients only.
            _ => {
                return Err(
                    EncodeErrorKind::Expected("an endpoint of TCP or of UNIX sockets").into(),
                );
            }
        }
    }
    if let (false, Some(host)) = (sockets.is_empty(), host_name()) {
        let (_, body) = iiop.get_or_insert_with(|| {
            profiles.push(TaggedProfile {
                tag: ProfileTag::INTERNET_IOP,
                data: Bytes::new(),
            });
            let address = IiopAddress {
                host: host.clone(),
                port: 0,
            };
            (profiles.len() - 1, body(address, version, key, &components))
        });
        for path in sockets {
            body.components
                .push(component(ComponentTag::OMNIORB_UNIX, |e| {
                    e.write_raw_string(host.as_bytes())?;
                    e.write_raw_string(path.as_bytes())
                })?);
        }
    }
    if let Some((at, body)) = iiop {
        profiles[at] = body.to_tagged()?;
    }
    Ok(Ior {
        type_id: type_id.to_owned(),
        profiles,
    })
}

fn body<A>(
    address: A,
    version: Version,
    key: &Bytes,
    components: &[TaggedComponent],
) -> ProfileBody<A> {
    ProfileBody {
        version,
        address,
        object_key: key.clone(),
        components: components.to_vec(),
    }
}

fn component(
    tag: ComponentTag,
    write: impl FnOnce(&mut Encoder<NativeEndian>) -> Result<(), EncodeError>,
) -> Result<TaggedComponent, EncodeError> {
    Ok(TaggedComponent {
        tag,
        data: encapsulate(write)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{CharSet, WCharSet};

    #[test]
    fn a_reference_leads_to_every_endpoint_in_the_order_asked_for() {
        let endpoints = vec![
            Endpoint::iiop("one", 1),
            Endpoint::uiop("/tmp/two"),
            Endpoint::iiop("::1", 3),
        ];
        let key = Bytes::from_static(b"key");
        let published = Published {
            version: Version::HIGHEST,
            endpoints: endpoints.clone(),
            native_char_set: CharSet::default(),
        };
        let ior = make_ior("IDL:X:1.0", &key, &published).unwrap();
        let found = candidates(&ior, Version::HIGHEST);
        let found_endpoints: Vec<_> = found.iter().map(|c| c.endpoint.clone()).collect();
        // Alternate addresses belong to the first TCP profile; what omniORB is told is for it alone.
        assert_eq!(
            found_endpoints,
            [
                endpoints[0].clone(),
                endpoints[2].clone(),
                endpoints[1].clone()
            ]
        );
        assert!(
            found
                .iter()
                .all(|c| c.key == key && c.stated && c.version == Version::V1_2)
        );
    }

    #[test]
    fn a_reference_with_endless_addresses_is_tried_in_bounds() {
        let endpoints = (1..1000).map(|port| Endpoint::iiop("host", port)).collect();
        let ior = make_ior(
            "",
            &Bytes::new(),
            &Published {
                version: Version::HIGHEST,
                endpoints,
                native_char_set: CharSet::default(),
            },
        )
        .unwrap();
        assert_eq!(candidates(&ior, Version::HIGHEST).len(), MAX_CANDIDATES);
    }

    #[test]
    fn tao_s_further_endpoints_are_tried_once_each_and_addresses_to_nowhere_never() {
        let address = IiopAddress {
            host: "one".to_owned(),
            port: 1,
        };
        let tao = component(ComponentTag::TAO_ENDPOINTS, |e| {
            e.put(&vec![
                ("one".to_owned(), 1u16, 0i16),
                ("two".to_owned(), 40_000, 0),
            ])
        });
        let nowhere = component(ComponentTag::ALTERNATE_IIOP_ADDRESS, |e| {
            e.write_raw_string(b"three")?;
            e.write_u16(0);
            Ok(())
        });
        let components = [nowhere.unwrap(), tao.unwrap()];
        let profile = body(address, Version::V1_2, &Bytes::new(), &components);
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![profile.to_tagged().unwrap()],
        };
        let found: Vec<_> = candidates(&ior, Version::HIGHEST)
            .into_iter()
            .map(|way| way.endpoint)
            .collect();
        assert_eq!(
            found,
            [Endpoint::iiop("one", 1), Endpoint::iiop("two", 40_000)]
        );
    }

    #[test]
    fn an_orb_held_to_an_old_version_states_and_uses_no_other() {
        let published = Published {
            version: Version::V1_0,
            endpoints: vec![Endpoint::iiop("h", 1)],
            native_char_set: CharSet::default(),
        };
        let old = make_ior("", &Bytes::new(), &published).unwrap();
        let new = Published {
            version: Version::HIGHEST,
            ..published
        };
        let new = make_ior("", &Bytes::new(), &new).unwrap();
        for (ior, highest, version) in [
            (&old, Version::HIGHEST, Version::V1_0),
            (&new, Version::V1_0, Version::V1_0),
            (&new, Version::V1_1, Version::V1_1),
        ] {
            let [way] = &candidates(ior, highest)[..] else {
                panic!("one way");
            };
            // GIOP 1.0 negotiates nothing.
            assert_eq!(
                (way.version, way.stated),
                (version, version > Version::V1_0)
            );
        }
    }

    #[test]
    fn omniorb_is_not_told_what_was_given_up() {
        let takes_cancels = |orb_type: Option<u32>| {
            let mut body = body(
                IiopAddress {
                    host: "h".to_owned(),
                    port: 1,
                },
                Version::HIGHEST,
                &Bytes::new(),
                &[],
            );
            body.components.extend(orb_type.map(|orb_type| {
                let write = |e: &mut Encoder<NativeEndian>| {
                    e.write_u32(orb_type);
                    Ok(())
                };
                component(ComponentTag::ORB_TYPE, write).unwrap()
            }));
            let endpoint = Endpoint::iiop("h", 1);
            candidate(&body, Version::HIGHEST, Text::DEFAULT, endpoint)
                .peer
                .takes_cancels()
        };
        assert!(takes_cancels(Some(ORB_TYPE)));
        // Who does not say may be omniORB.
        assert!(!takes_cancels(Some(OMNIORB_ORB_TYPE)) && !takes_cancels(None));
    }

    /// References as JacORB 3.9 writes them.
    #[test]
    fn text_for_jacorb_is_in_the_set_in_which_it_answers() {
        let natively_latin1 = "IOR:000000000000001F49444C3A7A6F72622E746573742F496E7465726F702F506565723A312E300000000000010000000000000078000102000000000A3132372E302E302E3100B4FF0000001E3436313734333836312F020243370F022A3818100630463814141B484C1B0000000000020000000000000008000000004A41430000000001000000240000000000010001000000020001000F0501000100010109000000020501000100010100";
        let natively_utf8 = "IOR:000000000000001F49444C3A7A6F72622E746573742F496E7465726F702F506565723A312E300000000000010000000000000078000102000000000A3132372E302E302E3100AF610000001F353030323537393636332F020303234C2119473F100630463814141B484C1B00000000020000000000000008000000004A4143000000000100000024000000000501000100000002000100010001000F00010109000000020501000100010100";
        for (reference, expected) in [
            // It offers to convert UTF-8, and then answers in ISO 8859-1.
            (natively_latin1, CharSet::Latin1),
            (natively_utf8, CharSet::Utf8),
        ] {
            let ior = Ior::from_hex(&reference[4..]).unwrap();
            let found = candidates(&ior, Version::HIGHEST);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].code_sets.char_set, expected);
            assert_eq!(found[0].code_sets.wchar_set, WCharSet::Utf16);
            assert_eq!(found[0].peer, PeerOrb::Other);
        }
    }

    #[test]
    fn foreign_and_malformed_profiles_lead_nowhere_and_do_no_harm() {
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![
                TaggedProfile {
                    tag: ProfileTag(99),
                    data: Bytes::from_static(b"whatever"),
                },
                TaggedProfile {
                    tag: ProfileTag::INTERNET_IOP,
                    data: Bytes::from_static(&[1, 1, 2, 0]),
                },
                TaggedProfile {
                    tag: ProfileTag::UIOP,
                    data: Bytes::new(),
                },
            ],
        };
        assert!(candidates(&ior, Version::HIGHEST).is_empty());
    }

    #[test]
    fn keys_are_short_whatever_they_are() {
        assert_eq!(describe_key(b"NameService"), "NameService");
        assert_eq!(describe_key(&[0xfe, 1, b'a']), "\\xfe\\x01a");
        assert_eq!(
            describe_key(&[b'k'; 40]),
            "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…(40 octets)"
        );
    }
}
