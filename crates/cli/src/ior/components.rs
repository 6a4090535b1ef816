//! The components of a profile.

use super::octets::{encapsulation, or_fault, text};
use super::tables;
use super::tree::{Item, escaped, hex};
use zorb_cdr::{ByteOrder, DecodeError, Decoder};
use zorb_csi::gss::{ExportedName, oid};
use zorb_giop::Version;
use zorb_giop::codeset::{CodeSetInfo, CodeSets, ServerText};

/// Levels of components within components, such as a secure transport in a list of mechanisms.
const MAX_DEPTH: usize = 4;

/// The properties of a reference that the explanation of a component depends on.
#[derive(Clone, Copy)]
pub(crate) struct Of {
    /// The version that zorb would speak.
    pub(crate) version: Version,
    /// The ORB type of the ORB that made the reference.
    pub(crate) orb_type: Option<u32>,
    /// Whether the profile has the component of RMI's stream formats.
    pub(crate) knows_rmi: bool,
}

/// Explains one component. `base`: the offset of its data in the reference.
pub(crate) fn explain(tag: u32, data: &[u8], base: usize, of: Of) -> Item {
    explain_at(tag, data, base, of, 0)
}

fn explain_at(tag: u32, data: &[u8], base: usize, of: Of, depth: usize) -> Item {
    let name = tables::component(tag);
    let shown = if tag > 0xffff {
        format!("{tag:#x}")
    } else {
        tag.to_string()
    };
    let title = title(tag)
        .or(name)
        .map_or_else(|| format!("Component {shown}"), str::to_owned);
    let mut item = Item::element("components", title, "")
        .with("tag", tag)
        .with("name", name.unwrap_or("unknown"))
        .note(match name {
            Some(name) => format!("{name}, {shown}"),
            None => format!("unknown, {} octets", data.len()),
        });
    match tag {
        0 => orb_type(&mut item, data, base),
        1 => code_sets(&mut item, data, base, of),
        2 => policies(&mut item, data, base),
        3 => address(&mut item, data, base),
        20 => ssl(&mut item, data, base),
        25 => java_codebase(&mut item, data, base),
        27 => ft_group(&mut item, data, base),
        28 | 29 => flag(&mut item, data, base),
        33 => security(&mut item, data, base, of, depth),
        34 => {
            item.set_text("no secure transport");
        }
        36 => tls(&mut item, data, base),
        38 => stream_format(&mut item, data, base),
        39 => group(&mut item, data, base),
        0x4154_5401 => bidirectional(&mut item, data, base),
        0x4154_5402 => unix(&mut item, data, base),
        0x4154_5403 => {
            item.set_text(hex(data));
        }
        0x5441_4f02 => tao_endpoints(&mut item, data, base),
        _ => {
            item.set_dump(data);
        }
    }
    if item.has_faults() {
        item.set_dump(data);
    }
    item
}

/// The title of a component in the output.
fn title(tag: u32) -> Option<&'static str> {
    Some(match tag {
        0 => "ORB type",
        1 => "Code sets",
        2 => "Policies",
        3 => "Alternate address",
        20 => "SSL",
        25 => "Java codebase",
        27 => "Fault-tolerant group",
        28 => "Primary of its group",
        29 => "Heartbeat",
        33 => "Security mechanisms",
        34 => "Transport",
        36 => "TLS",
        38 => "RMI stream format",
        39 => "Multicast group",
        0x4154_5401 => "Bidirectional",
        0x4154_5402 => "UNIX socket",
        0x4154_5403 => "Persistent id",
        0x5441_4f02 => "TAO endpoints",
        _ => return None,
    })
}

/// The ORB type in a component TAG_ORB_TYPE.
pub(crate) fn orb_number(data: &[u8]) -> Option<u32> {
    zorb_giop::ior::decode_encapsulation(data).ok()
}

fn orb_type(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| d.read_u32());
    let Some(number) = read.and_then(|read| or_fault(item, "ORB type", base, read)) else {
        return;
    };
    let spelt = number.to_be_bytes();
    let known = tables::orb_type(number);
    item.set_text(format!(
        "{} ({number:#010x}, \"{}\")",
        known.unwrap_or("not known here"),
        escaped(&spelt)
    ));
    item.set_json(known.map_or_else(|| number.into(), serde_json::Value::from));
}

fn code_set(id: u32) -> String {
    match tables::code_set(id) {
        Some(name) => name,
        None => format!("unknown ({id:#010x})"),
    }
}

fn code_sets(item: &mut Item, data: &[u8], base: usize, of: Of) {
    fn part<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<(u32, Vec<u32>), DecodeError> {
        Ok((d.read_u32()?, d.get()?))
    }
    let parts = encapsulation!(item, data, base, |d| {
        let mut parts = Vec::new();
        for (key, label) in [("char", "char"), ("wchar", "wchar")] {
            let Some((native, conversion)) = or_fault(item, label, base, part(d)) else {
                break;
            };
            parts.push((key, native, conversion));
        }
        parts
    });
    for (key, native, conversion) in parts.unwrap_or_default() {
        let names: Vec<String> = conversion.iter().copied().map(code_set).collect();
        let native_name = match native {
            0 => "none stated".to_owned(),
            native => code_set(native),
        };
        let converts = if names.is_empty() {
            "converts nothing".to_owned()
        } else {
            format!("converts {}", names.join(", "))
        };
        let mut part = Item::new(key, key, format!("{native_name}; {converts}"));
        let json = serde_json::json!({
            "native": native, "native_name": native_name,
            "conversion": conversion, "conversion_names": names,
        });
        part.set_json(json);
        item.push(part);
    }
    if let Ok(info) = CodeSetInfo::from_component(data)
        && let Some(chosen) = CodeSets::for_server(
            ServerText {
                stated: Some(&info),
                orb_type: of.orb_type,
                knows_rmi: of.knows_rmi,
                version: of.version,
            },
            None,
        )
    {
        let narrow = match chosen.char_set {
            zorb_cdr::CharSet::Latin1 => "ISO 8859-1",
            _ => "UTF-8",
        };
        let wide = match chosen.wchar_set {
            zorb_cdr::WCharSet::Utf16 => "UTF-16",
            zorb_cdr::WCharSet::Ucs2 => "UCS-2",
            _ => "refused",
        };
        item.push(Item::new(
            "with_zorb",
            "zorb sends",
            format!("string in {narrow}, wstring in {wide}"),
        ));
    }
}

fn policies(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| {
        let count = or_fault(item, "number of policies", base, d.read_u32()).unwrap_or(0);
        let mut all = Vec::new();
        for _ in 0..count {
            let Some(kind) = or_fault(item, "policy type", base, d.read_u32()) else {
                break;
            };
            let Some(value) = or_fault(item, "policy value", base, d.read_octets()) else {
                break;
            };
            all.push((kind, value.to_vec(), base + d.position() - value.len()));
        }
        all
    });
    for (kind, value, at) in read.unwrap_or_default() {
        let name = tables::policy(kind).map_or_else(|| "unknown".to_owned(), str::to_owned);
        let mut policy = Item::element("policies", name, "")
            .note(format_args!("policy type {kind}"))
            .with("type", kind);
        match kind {
            40 => priority_model(&mut policy, &value, at),
            _ => policy.set_dump(&value),
        }
        item.push(policy);
    }
}

fn priority_model(item: &mut Item, value: &[u8], base: usize) {
    let read = encapsulation!(item, value, base, |d| {
        d.read_u32().and_then(|model| Ok((model, d.read_i16()?)))
    });
    if let Some((model, priority)) = read.and_then(|r| or_fault(item, "priority model", base, r)) {
        let model = match model {
            0 => "CLIENT_PROPAGATED".to_owned(),
            1 => "SERVER_DECLARED".to_owned(),
            other => format!("unknown model {other}"),
        };
        item.set_text(format!("{model}, priority {priority}"));
    }
}

fn read_address<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<(String, u16), DecodeError> {
    Ok((text(d.read_raw_string()?), d.read_u16()?))
}

/// Host and port in the usual notation, with brackets around an IPv6 address.
pub(crate) fn host_port(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn address(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| read_address(d));
    if let Some((host, port)) = read.and_then(|read| or_fault(item, "address", base, read)) {
        item.set_text(host_port(&host, port));
        item.set_json(serde_json::json!({ "host": host, "port": port }));
    }
}

fn requires(item: &mut Item, supports: u16, requires: u16) {
    for (key, label, bits) in [
        ("supports", "supports", supports),
        ("requires", "requires", requires),
    ] {
        item.push(
            Item::new(key, label, tables::association_options(bits))
                .note(format_args!("{bits:#06x}")),
        );
    }
}

fn ssl(item: &mut Item, data: &[u8], base: usize) {
    fn options<O: ByteOrder>(d: &mut Decoder<'_, O>, is_long: bool) -> Result<u32, DecodeError> {
        match is_long {
            true => d.read_u32(),
            false => d.read_u16().map(u32::from),
        }
    }
    // The form of the specification has 8 octets; VisiBroker's options are unsigned longs.
    let is_long = data.len() > 8;
    let read = encapsulation!(item, data, base, |d| {
        options(d, is_long).and_then(|supports| Ok((supports, options(d, is_long)?, d.read_u16()?)))
    });
    if let Some((supported, required, port)) = read.and_then(|r| or_fault(item, "SSL", base, r)) {
        let form = if is_long {
            ", in VisiBroker's form"
        } else {
            ""
        };
        item.set_text(format!("port {port} of the same host{form}"));
        item.set_json(serde_json::json!({ "port": port }));
        let bits = |all: u32| u16::try_from(all & 0xffff).unwrap_or_default();
        requires(item, bits(supported), bits(required));
    }
}

fn tls(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| {
        or_fault(item, "supports", base, d.read_u16())
            .zip(or_fault(item, "requires", base, d.read_u16()))
            .map(|(supported, required)| {
                let count = or_fault(item, "number of addresses", base, d.read_u32());
                let mut addresses = Vec::new();
                for _ in 0..count.unwrap_or(0) {
                    let Some(address) = or_fault(item, "address", base, read_address(d)) else {
                        break;
                    };
                    addresses.push(address);
                }
                (supported, required, addresses)
            })
    });
    let Some((supported, required, addresses)) = read.flatten() else {
        return;
    };
    for (host, port) in addresses {
        item.push(
            Item::element("addresses", "address", host_port(&host, port))
                .json(serde_json::json!({ "host": host, "port": port })),
        );
    }
    requires(item, supported, required);
}

fn java_codebase(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| d.read_raw_string().map(text));
    if let Some(codebase) = read.and_then(|read| or_fault(item, "codebase", base, read)) {
        item.set_text(codebase);
    }
}

fn flag(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| d.read_bool());
    if let Some(yes) = read.and_then(|read| or_fault(item, "flag", base, read)) {
        item.set_text(if yes { "yes" } else { "no" });
        item.set_json(yes);
    }
}

fn stream_format(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| d.read_u8());
    if let Some(version) = read.and_then(|read| or_fault(item, "version", base, read)) {
        item.set_text(format!("version {version}"));
        item.set_json(version);
    }
}

fn ft_group(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| {
        d.take(2)
            .and_then(|_| Ok((text(d.read_raw_string()?), d.read_u64()?, d.read_u32()?)))
    });
    if let Some((domain, id, version)) = read.and_then(|r| or_fault(item, "group", base, r)) {
        item.set_text(format!(
            "group {id} of domain {domain:?}, version {version}"
        ));
        item.set_json(serde_json::json!({ "domain": domain, "id": id, "version": version }));
    }
}

fn group(item: &mut Item, data: &[u8], base: usize) {
    // TAG_GROUP has the same fields as TAG_FT_GROUP.
    ft_group(item, data, base);
}

fn bidirectional(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| d.read_raw_string().map(text));
    if let Some(address) = read.and_then(|read| or_fault(item, "address", base, read)) {
        item.set_text(address);
    }
}

fn unix(item: &mut Item, data: &[u8], base: usize) {
    let read = encapsulation!(item, data, base, |d| {
        d.read_raw_string()
            .and_then(|host| Ok((text(host), text(d.read_raw_string()?))))
    });
    if let Some((host, path)) = read.and_then(|read| or_fault(item, "socket", base, read)) {
        item.set_text(format!("{path} on host {host}"));
        item.set_json(serde_json::json!({ "host": host, "path": path }));
    }
}

fn tao_endpoints(item: &mut Item, data: &[u8], base: usize) {
    fn endpoint<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<(String, u16, i16), DecodeError> {
        Ok((text(d.read_raw_string()?), d.read_u16()?, d.read_i16()?))
    }
    let read = encapsulation!(item, data, base, |d| {
        let count = or_fault(item, "number of endpoints", base, d.read_u32()).unwrap_or(0);
        let mut all = Vec::new();
        for _ in 0..count {
            let Some(each) = or_fault(item, "endpoint", base, endpoint(d)) else {
                break;
            };
            all.push(each);
        }
        all
    });
    for (host, port, priority) in read.unwrap_or_default() {
        item.push(
            Item::element("endpoints", "endpoint", host_port(&host, port))
                .note(format_args!("priority {priority}"))
                .json(serde_json::json!({ "host": host, "port": port, "priority": priority })),
        );
    }
}

/// A mechanism of a compound list.
struct Mechanism {
    requires: u16,
    transport: (u32, Vec<u8>, usize),
    client_supports: u16,
    client_requires: u16,
    client_mechanism: Vec<u8>,
    target_name: Vec<u8>,
    attributes_support: u16,
    attributes_require: u16,
    naming_mechanisms: Vec<Vec<u8>>,
    identities: u32,
}

fn mechanism<O: ByteOrder>(d: &mut Decoder<'_, O>, base: usize) -> Result<Mechanism, DecodeError> {
    let requires = d.read_u16()?;
    let tag = d.read_u32()?;
    let transport = d.read_octets()?.to_vec();
    let at = base + d.position() - transport.len();
    let (client_supports, client_requires) = (d.read_u16()?, d.read_u16()?);
    let client_mechanism = d.read_octets()?.to_vec();
    let target_name = d.read_octets()?.to_vec();
    let (attributes_support, attributes_require) = (d.read_u16()?, d.read_u16()?);
    // Privilege authorities, each a syntax and a name.
    for _ in 0..d.read_count(8)? {
        d.read_u32()?;
        d.read_octets()?;
    }
    // Naming mechanisms, each an object identifier.
    let mut naming_mechanisms = Vec::new();
    for _ in 0..d.read_count(4)? {
        naming_mechanisms.push(d.read_octets()?.to_vec());
    }
    Ok(Mechanism {
        requires,
        transport: (tag, transport, at),
        client_supports,
        client_requires,
        client_mechanism,
        target_name,
        attributes_support,
        attributes_require,
        naming_mechanisms,
        identities: d.read_u32()?,
    })
}

/// The name of a mechanism of clients or of names, by its object identifier in DER.
fn mechanism_name(oid: &[u8]) -> &'static str {
    match oid {
        oid::GSSUP => "GSSUP, user name and password",
        other => oid::name(other).unwrap_or("unknown"),
    }
}

fn security(item: &mut Item, data: &[u8], base: usize, of: Of, depth: usize) {
    let read = encapsulation!(item, data, base, |d| {
        let stateful = or_fault(item, "stateful", base, d.read_bool());
        let count = or_fault(item, "number of mechanisms", base, d.read_u32()).unwrap_or(0);
        let mut all = Vec::new();
        for _ in 0..count {
            let Some(each) = or_fault(item, "mechanism", base, mechanism(d, base)) else {
                break;
            };
            all.push(each);
        }
        (stateful, all)
    });
    let Some((stateful, all)) = read else { return };
    if let Some(stateful) = stateful {
        item.set_text(if stateful { "stateful" } else { "stateless" });
    }
    for each in all {
        let mut shown = Item::element("mechanisms", "Mechanism", "");
        shown.push(
            Item::new(
                "requires",
                "requires",
                tables::association_options(each.requires),
            )
            .note(format_args!("{:#06x}", each.requires)),
        );
        let (tag, octets, at) = &each.transport;
        if depth < MAX_DEPTH {
            shown.push(explain_at(*tag, octets, *at, of, depth + 1));
        } else {
            shown.push(Item::new("transport", "Transport", "nested too deeply").dump(octets));
        }
        let mut client = Item::new("client_authentication", "client authentication", "");
        requires(&mut client, each.client_supports, each.client_requires);
        if !each.client_mechanism.is_empty() {
            let name = mechanism_name(&each.client_mechanism);
            client.push(Item::new("oid", "mechanism", name).note(hex(&each.client_mechanism)));
        }
        if !each.target_name.is_empty() {
            client.push(match ExportedName::from_octets(&each.target_name) {
                Ok(name) => Item::new("target_name", "target name", escaped(&name.name))
                    .note(format_args!("of {}", mechanism_name(&name.mechanism))),
                // JacORB's is no exported name.
                Err(_) => Item::new("target_name", "target name", escaped(&each.target_name))
                    .note("no exported name"),
            });
        }
        shown.push(client);
        let mut attributes = Item::new("attributes", "attributes", "");
        requires(
            &mut attributes,
            each.attributes_support,
            each.attributes_require,
        );
        for mechanism in &each.naming_mechanisms {
            let name = mechanism_name(mechanism);
            attributes.push(Item::element("names", "names of", name).note(hex(mechanism)));
        }
        attributes.push(
            Item::new(
                "identity_types",
                "identity types",
                tables::identity_types(each.identities),
            )
            .note(format_args!("{:#x}", each.identities)),
        );
        shown.push(attributes);
        item.push(shown);
    }
}
