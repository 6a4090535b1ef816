//! Converts references to endpoints, and endpoints to the profiles of references.

use crate::addresses::{
    Body, carries_giop, read_component, read_prioritised, read_profile, write_component,
};
use crate::protection;
use crate::real_time::Exposed;
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};
use tokio::time::Instant;
use zorb_cdr::{CharSet, EncodeError, EncodeErrorKind};
use zorb_connection::PeerOrb;
use zorb_giop::codeset::{CodeSetInfo, CodeSets, ServerText};
use zorb_giop::ior::{
    ComponentTag, JACORB_ORB_TYPE, ORB_TYPE, ProfileTag, TaggedComponent, encapsulate,
};
use zorb_giop::security::Protected;
use zorb_giop::{Ior, PriorityBand, Version};
use zorb_poa::{Index, InstanceId, ObjectKey, Path};
use zorb_transport::{
    AddressComponent, Addressing, Endpoint, Protection, Registry, WrittenEndpoints,
};

/// The ORB type in omniORB's references: `ATT` and a NUL.
const OMNIORB_ORB_TYPE: u32 = 0x4154_5400;

/// The limit on endpoints of a reference that are tried: each may take the whole connect timeout, and a hostile
/// reference could name any number.
pub(crate) const MAX_CANDIDATES: usize = 32;

/// One endpoint by which an object can be reached.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) endpoint: Endpoint,
    pub(crate) key: Bytes,
    /// The index of its profile in the reference.
    pub(crate) profile: usize,
    /// The GIOP version to use: the lower of the profile's and this ORB's.
    pub(crate) version: Version,
    /// The code sets of the connection.
    pub(crate) code_sets: CodeSets,
    /// Whether the code sets are negotiated: the server states its sets, and requests state the choice.
    pub(crate) stated: bool,
    pub(crate) peer: PeerOrb,
    /// Whether the peer accepts long messages in fragments only. So do ORBs of GlassFish's family, which are recognised
    /// by TAG_RMI_CUSTOM_MAX_STREAM_FORMAT without an ORB type.
    pub(crate) needs_fragments: bool,
    /// Real-time policies of the object's POA.
    pub(crate) real_time: Option<Arc<Exposed>>,
    /// The band of priorities of its connection, if it has one.
    pub(crate) band: Option<PriorityBand>,
    /// Transport properties of its connection, by name; the last of a name counts.
    pub(crate) properties: Vec<(Cow<'static, str>, String)>,
    /// When the endpoint was last found not to serve, if that was lately.
    pub(crate) unserved_since: Option<Instant>,
    /// Whether it is an address without protection of a profile that names endpoints with protection, too. It is used
    /// only where the client's protocols name it.
    pub(crate) beside_protected: bool,
}

/// The ORB that made a reference with this ORB type, or with RMI's stream formats.
fn peer_orb(orb_type: Option<u32>, knows_rmi: bool) -> PeerOrb {
    match orb_type {
        Some(OMNIORB_ORB_TYPE) => PeerOrb::OmniOrb,
        Some(JACORB_ORB_TYPE) => PeerOrb::JacOrb,
        Some(_) => PeerOrb::Other,
        None if knows_rmi => PeerOrb::GlassFish,
        None => PeerOrb::Unknown,
    }
}

/// The preferences for code sets of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextCodeSets {
    /// The native set that was configured.
    pub(crate) native: Option<CharSet>,
    /// The set that was chosen for one reference, whatever its server states.
    pub(crate) of_reference: Option<CharSet>,
    /// The sets with servers that state none.
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
            // A set that the server does not state cannot be negotiated.
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

/// The endpoints of a reference that this ORB's transports can connect to, in the order of the reference. Malformed
/// profiles are ignored.
///
/// `highest` is the highest GIOP version to use.
pub(crate) fn candidates(ior: &Ior, highest: Version, transports: &Registry) -> Vec<Candidate> {
    candidates_for(ior, highest, transports, TextCodeSets::DEFAULT)
}

/// The candidates of a reference, with code sets chosen by `text`.
pub(crate) fn candidates_for(
    ior: &Ior,
    highest: Version,
    transports: &Registry,
    text: TextCodeSets,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    // A key may be long, and its profile may name the same endpoint any number of times.
    let mut keys = HashMap::new();
    for (index, profile) in ior.profiles.iter().enumerate() {
        let Some((transport, Ok(body))) = read_profile(profile, transports) else {
            continue;
        };
        let real_time = Exposed::of(&body, transport.addressing());
        let key = *keys.entry(body.object_key.clone()).or_insert(index);
        let protected = protection::of(&body, profile.tag);
        let is_usable = |endpoint: &Endpoint| {
            endpoint.unreachable_reason().is_none()
                && (transports.get(endpoint.scheme())).is_some_and(|t| carries_giop(&**t))
        };
        let is_protected = protection::endpoints(&protected, &body.endpoint, transports)
            .any(|endpoint| is_usable(&endpoint));
        for (kind, endpoint) in endpoints(&body, transport.addressing(), transports, &protected) {
            let is_plain = kind == EndpointKind::OfProfile;
            if !is_usable(&endpoint)
                || (is_plain && protected.is_demanded)
                || !seen.insert((endpoint.clone(), key))
            {
                continue;
            }
            let mut candidate = candidate(&body, highest, text, endpoint, index);
            candidate.beside_protected = is_plain && is_protected;
            candidate.real_time.clone_from(&real_time);
            found.push(candidate);
            if found.len() == MAX_CANDIDATES {
                return found;
            }
        }
    }
    found
}

/// What kind of endpoint a profile names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndpointKind {
    /// One of the profile's own transport: its address, or a further one.
    OfProfile,
    /// One of another transport, in a component: on the same host, or with protection.
    Beside,
}

/// The endpoints that a profile names, in five groups. First come components with addresses of other transports, which
/// are on the same host and faster, then the addresses with protection. Then come the address of the profile, its further
/// addresses, and those in TAO's form. Components are read lazily: a peer may have written more of them than are tried.
fn endpoints<'a>(
    body: &'a Body,
    addressing: &'a dyn Addressing,
    transports: &'a Registry,
    protected: &'a Protected,
) -> impl Iterator<Item = (EndpointKind, Endpoint)> + 'a {
    let profile = addressing.profile().unwrap_or_default();
    // References of zorb name each endpoint in a profile, too, in the server's order.
    let ours = body.orb_type() == Some(ORB_TYPE);
    let read = move |further: bool| {
        body.components.iter().flat_map(move |component| {
            address_components(transports, profile, component.tag.0)
                .filter(move |(addressing, held)| {
                    let is_further = addressing.profile() == Some(profile);
                    is_further == further
                        && (is_further || !ours || held.written != WrittenEndpoints::All)
                })
                .flat_map(|(addressing, held)| read_component(held, addressing, &component.data))
        })
    };
    let of_tao = body.component(ComponentTag::TAO_ENDPOINTS).into_iter();
    let plain = core::iter::once(body.endpoint.clone())
        .chain(read(true))
        .chain(
            of_tao
                .flat_map(|data| read_prioritised(addressing, data))
                .map(|(endpoint, _)| endpoint),
        );
    read(false)
        .chain(protection::endpoints(protected, &body.endpoint, transports))
        .map(|endpoint| (EndpointKind::Beside, endpoint))
        .chain(plain.map(|endpoint| (EndpointKind::OfProfile, endpoint)))
}

/// The transports whose addresses may be in components tagged `tag` of profiles tagged `profile`.
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

/// The reason why each profile of a reference is unusable, as text.
pub(crate) fn describe_unusable(ior: &Ior, transports: &Registry) -> String {
    let shown = ior.profiles.iter().take(MAX_CANDIDATES);
    let mut why: Vec<String> = shown
        .map(|profile| match read_profile(profile, transports) {
            None => format!("no transport for profile 0x{:08x}", profile.tag.0),
            Some((transport, Err(error))) => format!("{}: {error}", transport.scheme()),
            Some((transport, Ok(body))) => {
                let protected = protection::of(&body, profile.tag);
                let lack = match body.endpoint.unreachable_reason() {
                    _ if protected.is_demanded => why_unprotected(&protected, transports),
                    Some(_) if !protected.addresses.is_empty() => {
                        why_unprotected(&protected, transports)
                    }
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

/// The reason why a profile with endpoints for TLS, or one that demands protection, is unusable.
fn why_unprotected(protected: &Protected, transports: &Registry) -> &'static str {
    let mut all = transports.iter();
    let has_transport = all.any(|transport| transport.addressing().protection().is_some());
    match (has_transport, protected.addresses.is_empty()) {
        (false, _) => "a secure endpoint only (TLS), for which there is no transport",
        (true, true) => "demands protection (TLS) at no address",
        (true, false) => "a secure endpoint only (TLS), at an address that is not usable",
    }
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
        peer: peer_orb(orb_type, knows_rmi),
        needs_fragments: orb_type.is_none() && knows_rmi,
        real_time: None,
        band: None,
        properties: Vec::new(),
        unserved_since: None,
        beside_protected: false,
    }
}

/// The endpoints of a reference, for traces. A trace belongs to no ORB, so for transports that an application has
/// registered it shows only the tags of their profiles.
pub(crate) fn describe_endpoints(ior: &Ior) -> String {
    static TRANSPORTS: LazyLock<Registry> = LazyLock::new(Registry::default);
    let candidates = candidates(ior, Version::HIGHEST, &TRANSPORTS);
    let endpoints: Vec<String> = (candidates.iter())
        .map(|candidate| candidate.endpoint.to_string())
        .collect();
    if endpoints.is_empty() && !ior.is_nil() {
        return describe_unusable(ior, &TRANSPORTS);
    }
    endpoints.join(",")
}

/// The limit on octets of a key in a trace.
const KEY_SHOWN: usize = 32;

/// An object key in a few characters, for traces: the parts of a key of zorb, or the first octets as text.
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

/// Whether a key is one of zorb's own forms without a code.
fn is_named(key: ObjectKey<'_>) -> bool {
    !matches!(key, ObjectKey::Sealed { .. } | ObjectKey::Plain(_))
}

fn life(instance: InstanceId, adapter: Index) -> String {
    format!(
        "zorb:{:016x}/{}.{}",
        instance.0, adapter.slot, adapter.generation
    )
}

/// The first octets of a key, as escaped text.
fn short(key: &[u8]) -> String {
    match key.get(..KEY_SHOWN) {
        Some(first) if key.len() > KEY_SHOWN => {
            format!("{}…({} octets)", first.escape_ascii(), key.len())
        }
        _ => key.escape_ascii().to_string(),
    }
}

/// The data of this ORB in its references: endpoints, GIOP version, code set, platform.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The highest GIOP version, which references state.
    pub(crate) version: Version,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) native_char_set: CharSet,
    /// The platform component of references, if any.
    pub(crate) platform: Option<TaggedComponent>,
    /// Whether to omit profiles without a usable address, which only hold components with endpoints of other
    /// transports.
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

/// Makes a reference to an object of this ORB, with a profile for each endpoint in the published order. Endpoints of a
/// transport that has further addresses in components share one profile. Some transports also write a component into
/// another transport's profile, for peers that do not know theirs; if there is no such profile, one without a usable
/// address is made for it.
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
    let mut protected: Vec<ProtectedEndpoints<'_>> = Vec::new();
    for endpoint in &published.endpoints {
        // An error here, since an omitted endpoint would show at clients only.
        let Some(transport) = transports.get(endpoint.scheme()) else {
            return Err(EncodeErrorKind::Expected("an endpoint of a transport").into());
        };
        let addressing = transport.addressing();
        if let Some(protection) = addressing.protection() {
            match protected
                .iter_mut()
                .find(|of| of.scheme == endpoint.scheme())
            {
                Some(of) => of.endpoints.push(endpoint),
                None => protected.push(ProtectedEndpoints {
                    scheme: endpoint.scheme(),
                    protection,
                    endpoints: vec![endpoint],
                    place: profiles.len(),
                }),
            }
            continue;
        }
        let writes = |what| move |held: &&AddressComponent| held.written == what;
        let mut held = addressing.components().iter();
        let further = held.clone().find(writes(WrittenEndpoints::AllButFirst));
        let same =
            |(other, _): &&mut (&dyn Addressing, Body)| other.scheme() == addressing.scheme();
        match (further, profiles.iter_mut().find(same)) {
            (Some(held), Some((_, body))) => {
                body.components
                    .extend(write_component(*held, addressing, endpoint)?);
            }
            _ => profiles.push((addressing, body(endpoint))),
        }
        if let Some(held) = held.find(writes(WrittenEndpoints::All)) {
            besides.push((addressing, *held, endpoint));
        }
    }
    for of in protected {
        let iiop = ProfileTag::INTERNET_IOP.0;
        let there = (profiles.iter_mut()).find(|(other, _)| other.profile() == Some(iiop));
        let named =
            |body: &Body| protection::components(of.protection, &body.endpoint, &of.endpoints);
        if let Some((_, body)) = there {
            let named = named(body)?;
            body.components.extend(named);
            // Profiles of IIOP 1.0 have no components.
            body.version = body.version.max(Version::V1_1);
            continue;
        }
        let closed = of
            .endpoints
            .first()
            .and_then(|first| protection::closed(first, transports));
        let Some((addressing, closed)) = closed else {
            return Err(EncodeErrorKind::Expected("a transport for profiles of IIOP").into());
        };
        let mut body = body(&closed);
        let named = named(&body)?;
        body.components.extend(named);
        body.version = body.version.max(Version::V1_1);
        profiles.insert(of.place.min(profiles.len()), (addressing, body));
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
                    && let Some(placeholder) = other.addressing().placeholder_endpoint() =>
            {
                let at = profiles.len();
                profiles.push((other.addressing(), body(&placeholder)));
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

/// The published endpoints of a transport with protection, which have no profile of their own.
struct ProtectedEndpoints<'a> {
    scheme: &'static str,
    protection: Protection,
    endpoints: Vec<&'a Endpoint>,
    /// The number of profiles before the first of them.
    place: usize,
}

#[cfg(test)]
mod tests;
