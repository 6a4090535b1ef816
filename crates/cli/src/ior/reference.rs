//! A whole reference: type id, profiles, addresses.

use super::octets::{byte_order, encapsulation, or_fault, text};
use super::tree::{Item, escaped};
use super::{components, keys, tables};
use components::host_port;
use std::net::IpAddr;
use zorb_cdr::{ByteOrder, DecodeError, Decoder};
use zorb_giop::Version;
use zorb_giop::ior::{ComponentTag, OBJECT_REPOSITORY_ID, TaggedComponent};
use zorb_giop::security::Protected;
use zorb_giop::url::{Corbaloc, CorbalocAddress};

/// Explains the octets of a reference, after `IOR:`. Malformed parts are reported, and the rest is still explained.
pub(crate) fn explain(octets: &[u8]) -> Item {
    let mut item = Item::element("references", "Object reference", "")
        .with("octets", octets.len())
        .note(format_args!(
            "IOR, {} octets, {}",
            octets.len(),
            byte_order(octets)
        ));
    let read = encapsulation!(item, octets, 0, |d| {
        let type_id = or_fault(&mut item, "type id", 0, d.read_raw_string()).map(text);
        if let Some(type_id) = &type_id {
            item.push(explain_type(type_id));
        }
        let count =
            type_id.and_then(|_| or_fault(&mut item, "number of profiles", 0, d.read_u32()));
        let mut profiles = Vec::new();
        for _ in 0..count.unwrap_or(0) {
            let Some(tag) = or_fault(&mut item, "profile tag", 0, d.read_u32()) else {
                break;
            };
            let begins = d.position();
            match d.read_octets() {
                Ok(data) => profiles.push((tag, data.to_vec(), d.position() - data.len())),
                Err(error) => {
                    item.fault(format_args!(
                        "length of profile {} (tag {tag:#x}): {} at octet {}",
                        profiles.len() + 1,
                        error.kind(),
                        error.offset()
                    ));
                    // The length is wrong, but the beginning of the profile may still be readable.
                    let rest = octets.get(begins.next_multiple_of(4) + 4..).unwrap_or(&[]);
                    profiles.push((tag, rest.to_vec(), octets.len() - rest.len()));
                    break;
                }
            }
        }
        (count, profiles, d.remaining())
    });
    let Some((count, profiles, left)) = read else {
        return item;
    };
    if count == Some(0) {
        let nil = Item::new("nil", "Nil", "no profiles: a nil reference leads nowhere").json(true);
        item.push(nil);
    }
    let of = profiles.len();
    for (index, (tag, data, base)) in profiles.iter().enumerate() {
        item.push(profile(*tag, data, *base, &format!("{} of {of}", index + 1)).section());
    }
    if left > 0 && !item.is_malformed() {
        item = item.hint(format_args!(
            "{left} octets behind the last profile are not used"
        ));
    }
    item
}

fn explain_type(type_id: &str) -> Item {
    let item = Item::new("type_id", "Type id", format!("{type_id:?}")).json(type_id);
    match type_id {
        "" => item.note("not stated: the object has to be asked"),
        OBJECT_REPOSITORY_ID => item.note("any object"),
        id if id.starts_with("IDL:") || id.starts_with("RMI:") || id.starts_with("DCE:") => item,
        _ => item.hint("not in a format that the specification knows (IDL:, RMI:, DCE:, LOCAL:)"),
    }
}

fn profile(tag: u32, data: &[u8], base: usize, which: &str) -> Item {
    let protocol = match tag {
        0 => "IIOP",
        1 => "components of all profiles",
        2 => "SCCP",
        3 | 0x5441_4f0c => "multicast (MIOP)",
        0x5441_4f00 => "UIOP, a UNIX socket",
        0x5441_4f02 => "SHMIOP, shared memory",
        0x5441_4f04 => "DIOP, UDP",
        0x5441_4f05 => "COIOP, within one process",
        0x5441_4f0e => "SCIOP, SCTP",
        _ => "of an unknown protocol",
    };
    let number = if tag > 0xffff {
        format!("{tag:#x}")
    } else {
        tag.to_string()
    };
    let mut item = Item::element("profiles", format!("Profile {which}: {protocol}"), "")
        .with("tag", tag)
        .with("name", tables::profile(tag).unwrap_or("unknown"))
        .note(format_args!(
            "{}, {number}, {} octets, {}",
            tables::profile(tag).unwrap_or("unknown tag"),
            data.len(),
            byte_order(data)
        ));
    match tag {
        0 | 0x5441_4f02 | 0x5441_4f04 | 0x5441_4f0e => body(&mut item, data, base, Address::Inet),
        3 | 0x5441_4f0c => body(&mut item, data, base, Address::Group),
        0x5441_4f00 => body(&mut item, data, base, Address::Unix),
        1 => {
            let found = encapsulation!(item, data, base, |d| read_components(&mut item, d, base));
            explain_components(&mut item, &found.unwrap_or_default(), Version::HIGHEST);
        }
        _ => item.set_dump(data),
    }
    if item.has_faults() {
        item.set_dump(data);
    }
    item
}

/// The kind of the address between version and key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    /// Host and port.
    Inet,
    /// A multicast address and a port, and no key.
    Group,
    /// The path of a UNIX socket.
    Unix,
}

type Components = Vec<(u32, Vec<u8>, usize)>;

/// Explains a profile body, as far as it is readable: version, address, key, and from 1.1 on components.
fn body(item: &mut Item, data: &[u8], base: usize, kind: Address) {
    let found = encapsulation!(item, data, base, |d| {
        let version = d.read_u8().and_then(|major| {
            Ok(Version {
                major,
                minor: d.read_u8()?,
            })
        });
        let version = or_fault(item, "version", base, version);
        let text_of = |read: Result<&[u8], DecodeError>| read.map(text);
        let host = version.and_then(|_| {
            let what = if kind == Address::Unix {
                "path"
            } else {
                "host"
            };
            or_fault(item, what, base, text_of(d.read_raw_string()))
        });
        let port = match (&host, kind) {
            (Some(_), Address::Inet | Address::Group) => or_fault(item, "port", base, d.read_u16()),
            (Some(_), Address::Unix) => Some(0),
            (None, _) => None,
        };
        let key = match (port, kind) {
            (Some(_), Address::Group) => Some(Vec::new()),
            (Some(_), _) => or_fault(item, "object key", base, d.read_octets()).map(<[u8]>::to_vec),
            (None, _) => None,
        };
        let components = match (&key, version) {
            // A body of version 1.0 ends with the key. That of a group has no key, and components in every version.
            (Some(_), Some(version)) if version >= Version::V1_1 || kind == Address::Group => {
                read_components(item, d, base)
            }
            _ => Vec::new(),
        };
        (version, host, port, key, components)
    });
    let Some((version, host, port, key, components)) = found else {
        return;
    };
    if let Some(version) = version {
        item.push(explain_version(version));
    }
    if let Some(host) = &host {
        match (kind, port) {
            (Address::Unix, _) => item.push(Item::new("path", "Path", host)),
            (_, port) => item.push(explain_address(host, port, has_security(&components))),
        }
    }
    let orb = orb_type(&components).and_then(tables::orb_type);
    if let Some(key) = key.as_ref().filter(|_| kind != Address::Group) {
        item.push(keys::explain(key, orb));
    }
    if let (Some(version), Some(host), Some(port), Some(key)) = (version, host, port, key)
        && kind != Address::Group
        && !host.is_empty()
        && (kind == Address::Unix || port != 0)
    {
        item.push(as_url(version, host, port, key, kind));
    }
    explain_components(item, &components, version.unwrap_or(Version::HIGHEST));
    if kind == Address::Inet
        && let Some(connects) = explain_protection(&components, port.unwrap_or(0))
    {
        item.push(connects);
    }
}

/// How a client of zorb connects where the components are about protection, and why.
fn explain_protection(components: &Components, port: u16) -> Option<Item> {
    let components: Vec<TaggedComponent> = (components.iter())
        .map(|(tag, data, _)| TaggedComponent {
            tag: ComponentTag(*tag),
            data: data.clone().into(),
        })
        .collect();
    let found = Protected::of(&components);
    let (by_tls, demanded) = (!found.addresses.is_empty(), found.is_demanded);
    let text = match (by_tls, demanded, port) {
        (false, false, _) => return None,
        (false, true, _) => "not at all: protection is required, and there is no address for TLS",
        (true, true, _) => "by TLS alone: the server requires protection",
        (true, false, 0) => "by TLS alone: there is no plain port",
        (true, false, _) => {
            "by TLS where it has certificates for that, by the plain port without: the server requires no protection"
        }
    };
    Some(Item::new("connects", "zorb connects", text))
}

fn explain_version(version: Version) -> Item {
    let item = Item::new("version", "GIOP version", version);
    if version.is_supported() || (version.major == 1 && version.minor == 3) {
        item
    } else {
        item.hint("no ORB speaks this version")
    }
}

/// Whether the components name a secure transport, so that the port in the profile may be 0.
fn has_security(components: &Components) -> bool {
    components
        .iter()
        .any(|(tag, ..)| matches!(tag, 20 | 33 | 36))
}

fn explain_address(host: &str, port: Option<u16>, is_secure: bool) -> Item {
    let shown = port.map_or_else(|| host.to_owned(), |port| host_port(host, port));
    let mut item = Item::new("address", "Address", shown)
        .json(serde_json::json!({ "host": host, "port": port }));
    let address = host.parse::<IpAddr>().ok();
    if host.is_empty() {
        item = item.hint("an empty host is illegal: no client can connect");
    } else if address.is_some_and(|address| address.is_unspecified()) {
        item = item.hint(
            "the address a server listens at, and none to connect to: the server has to publish another",
        );
    } else if address.is_some_and(|address| address.is_loopback())
        || host.eq_ignore_ascii_case("localhost")
    {
        item = item.hint("loopback: only clients on the server's own host get there");
    }
    match port {
        Some(0) if is_secure => item.hint("no plain port, only a secure one"),
        Some(0) => item.hint("port 0: no TCP, unless a component says otherwise"),
        _ => item,
    }
}

/// The address and the key as an object URL.
fn as_url(version: Version, host: String, port: u16, key: Vec<u8>, kind: Address) -> Item {
    let address = match kind {
        Address::Unix => CorbalocAddress::Uiop {
            version,
            path: host,
        },
        _ => CorbalocAddress::Iiop {
            version,
            host,
            port,
        },
    };
    let url = Corbaloc {
        addresses: vec![address],
        key,
    };
    Item::new("url", "As a URL", url.to_string())
}

fn read_components<O: ByteOrder>(
    item: &mut Item,
    d: &mut Decoder<'_, O>,
    base: usize,
) -> Components {
    let mut all = Vec::new();
    // The first missing component ends the loop, whatever the count is.
    let count = or_fault(item, "number of components", base, d.read_u32()).unwrap_or(0);
    for index in 1..=count {
        let read = d
            .read_u32()
            .and_then(|tag| Ok((tag, d.read_octets()?.to_vec())));
        let what = format!("component {index} of {count}");
        let Some((tag, data)) = or_fault(item, &what, base, read) else {
            break;
        };
        let at = base + d.position() - data.len();
        all.push((tag, data, at));
    }
    all
}

/// The tag of the component TAG_RMI_CUSTOM_MAX_STREAM_FORMAT.
const RMI_STREAM_FORMAT: u32 = 38;

/// The ORB type of the ORB that made the reference, if the components name it.
fn orb_type(all: &Components) -> Option<u32> {
    let (_, data, _) = all.iter().find(|(tag, ..)| *tag == 0)?;
    components::orb_number(data)
}

fn explain_components(item: &mut Item, all: &Components, version: Version) {
    let of = components::Of {
        version: version.min(Version::HIGHEST),
        orb_type: orb_type(all),
        knows_rmi: all.iter().any(|(tag, ..)| *tag == RMI_STREAM_FORMAT),
    };
    for (tag, data, base) in all {
        item.push(components::explain(*tag, data, *base, of));
    }
}

/// The parts of a `corbaloc:` URL.
pub(crate) fn explain_corbaloc(url: &Corbaloc) -> Item {
    let mut item = Item::element("references", "Object URL", "").note("corbaloc");
    corbaloc(&mut item, url);
    item
}

/// The parts of a `corbaname:` URL.
pub(crate) fn explain_corbaname(context: &Corbaloc, name: &str) -> Item {
    let mut item = Item::element("references", "Object URL", "").note("corbaname");
    let mut asked = Item::new("context", "Naming context", "");
    corbaloc(&mut asked, context);
    item.push(asked);
    match name {
        "" => item.push(Item::new("name", "Name", "none: the context itself").json("")),
        name => match name.parse::<zorb::naming::Name>() {
            Err(error) => {
                let mut said = Item::new("name", "Name", name);
                said.fault(error);
                item.push(said);
            }
            Ok(parsed) => {
                let mut said = Item::new("name", "Name", name);
                for component in parsed.iter() {
                    said.push(
                        Item::element(
                            "components",
                            "component",
                            format!("id \"{}\"", component.id),
                        )
                        .note(format_args!("kind \"{}\"", component.kind))
                        .json(serde_json::json!({
                            "id": component.id, "kind": component.kind,
                        })),
                    );
                }
                item.push(said);
            }
        },
    }
    item
}

fn corbaloc(item: &mut Item, url: &Corbaloc) {
    for address in &url.addresses {
        let said = match address {
            CorbalocAddress::Rir => Item::element(
                "addresses",
                "Address",
                "an initial reference of the ORB that reads it",
            )
            .note("rir:"),
            CorbalocAddress::Iiop {
                version,
                host,
                port,
            } => {
                let shown = if host.is_empty() { "localhost" } else { host };
                Item::element("addresses", "Address", host_port(shown, *port))
                    .note(format_args!("IIOP {version}"))
                    .json(serde_json::json!({
                        "host": shown, "port": port, "version": version.to_string(),
                    }))
            }
            CorbalocAddress::Uiop { version, path } => Item::element("addresses", "Path", path)
                .note(format_args!("UIOP {version}"))
                .json(serde_json::json!({ "path": path, "version": version.to_string() })),
            _ => Item::element("addresses", "Address", format!("{address:?}")),
        };
        item.push(said);
    }
    if url.addresses == [CorbalocAddress::Rir] {
        item.push(Item::new("initial_reference", "Name", escaped(&url.key)));
    } else {
        item.push(keys::explain(&url.key, None));
    }
}
