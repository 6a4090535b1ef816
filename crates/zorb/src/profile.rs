//! From references to endpoints and back: which profile leads where.

use crate::addresses::{Body, carries_giop, read_component, read_profile, write_component};
use crate::real_time::Exposed;
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use zorb_cdr::{CharSet, EncodeError, EncodeErrorKind};
use zorb_connection::PeerOrb;
use zorb_giop::codeset::{CodeSetInfo, CodeSets, ServerText};
use zorb_giop::ior::{ComponentTag, ORB_TYPE, TaggedComponent, encapsulate};
use zorb_giop::{Ior, PriorityBand, Version};
use zorb_poa::{Index, InstanceId, ObjectKey, Path};
use zorb_transport::{AddressComponent, Addressing, Endpoint, Holds, Registry};

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
    /// Real-time policies of the object's POA.
    pub(crate) real_time: Option<Arc<Exposed>>,
    /// The priorities that its connection is for.
    pub(crate) band: Option<PriorityBand>,
    /// Properties of the transport that its connection has, by name; the last of a name counts.
    pub(crate) properties: Vec<(Cow<'static, str>, String)>,
}

/// Which ORB made a reference of this ORB type.
fn peer_orb(orb_type: Option<u32>) -> PeerOrb {
    match orb_type {
        Some(OMNIORB_ORB_TYPE) => PeerOrb::OmniOrb,
        Some(_) => PeerOrb::Other,
        None => PeerOrb::Unknown,
    }
}

/// The code sets for text, where the server leaves the choice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextCodeSets {
    /// The native set that the operator named.
    pub(crate) native: Option<CharSet>,
    /// The set of one reference, whatever its server states.
    pub(crate) of_reference: Option<CharSet>,
    /// With servers that state none.
    pub(crate) unstated: CodeSets,
}

impl TextCodeSets {
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

/// Every way to reach the object that a transport of ours knows, in the order of the
/// reference. Malformed profiles lead nowhere.
///
/// `highest` is the highest GIOP version to use.
pub(crate) fn candidates(ior: &Ior, highest: Version, transports: &Registry) -> Vec<Candidate> {
    candidates_for(ior, highest, transports, TextCodeSets::DEFAULT)
}

/// The candidates of a reference, with the code sets that text is to travel in.
pub(crate) fn candidates_for(
    ior: &Ior,
    highest: Version,
    transports: &Registry,
    text: TextCodeSets,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for (index, profile) in ior.profiles.iter().enumerate() {
        let Some((_, Ok(body))) = read_profile(profile, transports) else {
            continue;
        };
        let real_time = Exposed::of(&body, profile.tag);
        for endpoint in endpoints(&body, profile.tag.0, transports) {
            if endpoint.leads_nowhere().is_some()
                || !(transports.get(endpoint.scheme())).is_some_and(|t| carries_giop(&**t))
                || !seen.insert((endpoint.clone(), body.object_key.clone()))
            {
                continue;
            }
            let mut way = candidate(&body, highest, text, endpoint, index);
            way.real_time.clone_from(&real_time);
            found.push(way);
            if found.len() == MAX_CANDIDATES {
                return found;
            }
        }
    }
    found
}

/// The endpoints that a profile names: in components for peers that know other transports, which are on the same host and
/// better than what the profile is for, then the address of the profile, then its further addresses. A component is read
/// when its turn comes: a peer may have written more of them than are ever tried.
fn endpoints<'a>(
    body: &'a Body,
    profile: u32,
    transports: &'a Registry,
) -> impl Iterator<Item = Endpoint> + 'a {
    // Our own references name each endpoint in a profile, in the order that the server wants.
    let ours = body.orb_type() == Some(ORB_TYPE);
    let read = move |further: bool| {
        body.components.iter().flat_map(move |component| {
            address_components(transports, profile, component.tag.0)
                .filter(move |(addressing, held)| {
                    let is_further = addressing.profile() == Some(profile);
                    is_further == further && (is_further || !ours || held.holds != Holds::Every)
                })
                .flat_map(|(addressing, held)| read_component(held, addressing, &component.data))
        })
    };
    read(false)
        .chain(core::iter::once(body.endpoint.clone()))
        .chain(read(true))
}

/// The transports with addresses in such components of such profiles.
pub(crate) fn address_components(
    transports: &Registry,
    profile: u32,
    tag: u32,
) -> impl Iterator<Item = (&dyn Addressing, AddressComponent)> {
    transports.iter().flat_map(move |transport| {
        let addressing = transport.addressing();
        let here = move |held: &&AddressComponent| held.profile == profile && held.tag == tag;
        let held = addressing.components().iter().filter(here);
        held.map(move |held| (addressing, *held))
    })
}

/// Why each profile of a reference leads nowhere, for people.
pub(crate) fn describe_unusable(ior: &Ior, transports: &Registry) -> String {
    let shown = ior.profiles.iter().take(MAX_CANDIDATES);
    let mut why: Vec<String> = shown
        .map(|profile| match read_profile(profile, transports) {
            None => format!("no transport for profile 0x{:08x}", profile.tag.0),
            Some((transport, Err(error))) => format!("{}: {error}", transport.scheme()),
            Some((transport, Ok(body))) => {
                let lack = match body.endpoint.leads_nowhere() {
                    Some(lack) => lack,
                    None if !carries_giop(transport) => "GIOP needs a reliable stream",
                    None => "not usable",
                };
                format!("{}: {lack}", body.endpoint)
            }
        })
        .collect();
    let more = ior.profiles.len().saturating_sub(why.len());
    if more > 0 {
        why.push(format!("{more} more"));
    }
    why.join(", ")
}

fn candidate(
    body: &Body,
    highest: Version,
    text: TextCodeSets,
    endpoint: Endpoint,
    profile: usize,
) -> Candidate {
    let version = body.version.min(highest);
    let info = body
        .component(ComponentTag::CODE_SETS)
        .and_then(|data| CodeSetInfo::from_component(data).ok());
    let knows_rmi = body
        .component(ComponentTag::RMI_CUSTOM_MAX_STREAM_FORMAT)
        .is_some();
    let orb_type = body.orb_type();
    let (code_sets, stated) = text.choose(ServerText {
        stated: info.as_ref(),
        orb_type,
        knows_rmi,
        version,
    });
    Candidate {
        endpoint,
        key: body.object_key.clone(),
        profile,
        version,
        code_sets,
        stated,
        peer: peer_orb(orb_type),
        needs_fragments: orb_type.is_none() && knows_rmi,
        real_time: None,
        band: None,
        properties: Vec::new(),
    }
}

/// The endpoints that a reference leads to, for traces. Of transports that an application has registered only the tags of
/// their profiles are shown, as a trace belongs to no ORB.
pub(crate) fn describe_endpoints(ior: &Ior) -> String {
    static TRANSPORTS: LazyLock<Registry> = LazyLock::new(Registry::default);
    let ways = candidates(ior, Version::HIGHEST, &TRANSPORTS);
    let endpoints: Vec<String> = (ways.iter())
        .map(|candidate| candidate.endpoint.to_string())
        .collect();
    if endpoints.is_empty() && !ior.is_nil() {
        return describe_unusable(ior, &TRANSPORTS);
    }
    endpoints.join(",")
}

/// Octets of a key that are shown.
const KEY_SHOWN: usize = 32;

/// An object key in a few characters, for traces: what distinguishes objects of zorb's, or text, or the first
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
        Some(ObjectKey::Sealed { key, .. }) if ObjectKey::parse(key).is_some_and(is_named) => {
            return format!("{} with a code", describe_key(key));
        }
        Some(ObjectKey::Sealed { .. } | ObjectKey::Plain(_)) | None => {}
    }
    short(key)
}

/// Whether a key says of itself which object it names.
fn is_named(key: ObjectKey<'_>) -> bool {
    !matches!(key, ObjectKey::Sealed { .. } | ObjectKey::Plain(_))
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

/// Where this ORB can be reached, as its references say.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The highest GIOP version that references name.
    pub(crate) version: Version,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) native_char_set: CharSet,
    /// The platform component of references, if any.
    pub(crate) platform: Option<TaggedComponent>,
    /// No profile that leads nowhere is made for components of endpoints to stand in.
    pub(crate) only_reachable: bool,
}

/// The components of every profile of this ORB.
pub(crate) fn common_components(
    published: &Published,
) -> Result<Vec<TaggedComponent>, EncodeError> {
    let mut components = vec![
        TaggedComponent {
            tag: ComponentTag::ORB_TYPE,
            data: encapsulate(|e| {
                e.write_u32(ORB_TYPE);
                Ok(())
            })?,
        },
        CodeSetInfo::native_in(published.native_char_set).to_component()?,
    ];
    components.extend(published.platform.clone());
    Ok(components)
}

/// Makes a reference to an object of this ORB: a profile for each endpoint, in the order in which they were asked for, but for those
/// of a transport that has further ones in components, which share one profile. Besides, endpoints stand in
/// components for peers that know no such profile; where there is no profile for those to stand in, one is made that leads
/// nowhere else.
pub(crate) fn make_ior(
    type_id: &str,
    key: &Bytes,
    published: &Published,
    transports: &Registry,
) -> Result<Ior, EncodeError> {
    make_ior_with(type_id, key, published, transports, None)
}

/// Makes a reference that states policies as well.
pub(crate) fn make_ior_with(
    type_id: &str,
    key: &Bytes,
    published: &Published,
    transports: &Registry,
    policies: Option<TaggedComponent>,
) -> Result<Ior, EncodeError> {
    let mut components = common_components(published)?;
    components.extend(policies);
    let body = |endpoint: &Endpoint| Body {
        version: published.version,
        endpoint: endpoint.clone(),
        object_key: key.clone(),
        components: components.clone(),
    };
    let mut profiles: Vec<(&dyn Addressing, Body)> = Vec::new();
    let mut besides = Vec::new();
    for endpoint in &published.endpoints {
        // An endpoint that is left out here would be missed by clients only.
        let Some(transport) = transports.get(endpoint.scheme()) else {
            return Err(EncodeErrorKind::Expected("an endpoint of a transport").into());
        };
        let addressing = transport.addressing();
        let holds = |what| move |held: &&AddressComponent| held.holds == what;
        let mut held = addressing.components().iter();
        let further = held.clone().find(holds(Holds::Further));
        let same =
            |(other, _): &&mut (&dyn Addressing, Body)| other.scheme() == addressing.scheme();
        match (further, profiles.iter_mut().find(same)) {
            (Some(held), Some((_, body))) => {
                body.components
                    .extend(write_component(*held, addressing, endpoint)?);
            }
            _ => profiles.push((addressing, body(endpoint))),
        }
        if let Some(held) = held.find(holds(Holds::Every)) {
            besides.push((addressing, *held, endpoint));
        }
    }
    for (addressing, held, endpoint) in besides {
        let Some(component) = write_component(held, addressing, endpoint)? else {
            continue;
        };
        let there = (profiles.iter()).position(|(other, _)| other.profile() == Some(held.profile));
        let at = match (there, transports.by_profile(held.profile)) {
            (Some(at), _) => at,
            (None, Some(other))
                if !published.only_reachable
                    && let Some(nowhere) = other.addressing().nowhere() =>
            {
                let at = profiles.len();
                profiles.push((other.addressing(), body(&nowhere)));
                at
            }
            _ => continue,
        };
        if let Some((_, body)) = profiles.get_mut(at) {
            body.components.push(component);
        }
    }
    let profiles = profiles
        .iter()
        .map(|(addressing, body)| body.to_tagged(*addressing))
        .collect::<Result<_, _>>()?;
    Ok(Ior {
        type_id: type_id.to_owned(),
        profiles,
    })
}

#[cfg(test)]
mod tests;
