//! Object keys: the ORB that made them, and their meaning to that ORB.
//!
//! A key is opaque to every ORB but its server, so the explanation is for people only. The layouts of other ORBs are from
//! their own tools (omniORB's `catior -o`) or sources.

use super::octets::text;
use super::tree::{Item, escaped, hex};
use zorb_poa::{Index, InstanceId, ObjectKey, Path, is_reserved};

/// The prefix of TAO's keys: `^t`, `^a`, `^o` and a NUL.
const TAO_PREFIX: [u8; 4] = [0x14, 0x01, 0x0f, 0x00];
/// The prefix of keys of GlassFish, and of the former ORB of the JDK.
const GLASSFISH_PREFIX: [u8; 4] = [0xaf, 0xab, 0xcb, 0x00];
/// omniORB's separator before the name of each POA.
const OMNIORB_NAME: u8 = 0xff;
/// omniORB's prefix of the stamp of a transient POA.
const OMNIORB_STAMP: u8 = 0xfe;
/// Octets of the stamp of a transient POA, of omniORB and TAO.
const STAMP_LEN: usize = 8;
/// Octets of the hints in TAO's persistent keys.
const HINT_LEN: usize = 8;

/// Explains a key: its octets, the ORB that made it, and its parts.
pub(crate) fn explain(key: &[u8], orb: Option<&str>) -> Item {
    let octets = match key.len() {
        1 => "1 octet".to_owned(),
        len => format!("{len} octets"),
    };
    let mut item = Item::new("object_key", "Object key", format!("\"{}\"", escaped(key)))
        .note(octets)
        .json(escaped(key))
        .with("hex", hex(key));
    if key.is_empty() {
        item.set_text("empty");
        return item;
    }
    if !key.iter().all(|octet| matches!(octet, 0x20..=0x7e)) {
        item.push(Item::new("hex", "in hex", hex(key)));
    }
    if let Some(owner) = owner(key, orb) {
        item.push(owner);
    }
    item
}

fn owner(key: &[u8], orb: Option<&str>) -> Option<Item> {
    zorb(key)
        .or_else(|| tao(key))
        .or_else(|| {
            key.starts_with(&GLASSFISH_PREFIX)
                .then(|| made_by("GlassFish or the JDK's ORB"))
        })
        .or_else(|| omniorb(key))
        .or_else(|| (orb == Some("JacORB")).then(|| jacorb(key)).flatten())
        .or_else(|| plain(key))
}

fn made_by(orb: &str) -> Item {
    Item::new("key_of", "made by", orb)
}

fn fact(item: &mut Item, key: &'static str, label: &str, value: impl ToString) {
    item.push(Item::new(key, label, value));
}

/// The kind of zorb's authenticated keys, which contain another key and its code.
const SEALED: u8 = 4;

fn zorb(key: &[u8]) -> Option<Item> {
    if !is_reserved(key) {
        return None;
    }
    let rest = key.strip_prefix(b"ZRB")?;
    let mut item = made_by("zorb");
    match ObjectKey::parse(key) {
        Some(ObjectKey::Indexed {
            instance,
            adapter,
            object,
        }) => {
            transient(&mut item, instance, adapter);
            fact(&mut item, "object", "object", place(object));
        }
        Some(ObjectKey::Named {
            instance,
            adapter,
            id,
        }) => {
            transient(&mut item, instance, adapter);
            fact(&mut item, "object", "object id", escaped(id));
        }
        Some(ObjectKey::Persistent { path, id }) => {
            let kind = "persistent: lives as long as its server gives it out";
            fact(&mut item, "kind", "kind", kind);
            match Path::parse(path) {
                Some(path) => {
                    let server = match path.server_id.as_str() {
                        "" => "without an id",
                        id => id,
                    };
                    fact(&mut item, "server", "server", server);
                    fact(&mut item, "path", "POA path", path.names.join("/"));
                }
                None => item.fault("the path of its POA is not what zorb writes"),
            }
            fact(&mut item, "object", "object id", escaped(id));
        }
        Some(ObjectKey::Sealed { code, key }) => {
            let code: String = code.iter().map(|octet| format!("{octet:02x}")).collect();
            fact(&mut item, "code", "code", code);
            match zorb(key) {
                Some(within) if key.get(3) != Some(&SEALED) => item.push(within),
                _ => item.fault("there is no zorb key with the code"),
            }
        }
        Some(ObjectKey::Plain(_)) | None => {
            let kind = rest
                .first()
                .map_or_else(|| "none".to_owned(), u8::to_string);
            item.fault(format_args!("no zorb key of kind {kind} looks like this"));
        }
    }
    Some(item)
}

fn transient(item: &mut Item, instance: InstanceId, adapter: Index) {
    let kind = "transient: dies with the ORB that made it";
    fact(item, "kind", "kind", kind);
    fact(
        item,
        "instance",
        "ORB's life",
        format!("{:016x}", instance.0),
    );
    fact(item, "adapter", "adapter", place(adapter));
}

fn place(index: Index) -> String {
    format!("slot {}, generation {}", index.slot, index.generation)
}

fn tao(key: &[u8]) -> Option<Item> {
    let rest = key.strip_prefix(&TAO_PREFIX)?;
    let mut item = made_by("TAO");
    // Keys of the IOR table and of other adapters end here.
    let (Some([root, ids, lifespan]), Some(rest)) = (rest.first_chunk(), rest.get(3..)) else {
        return Some(item);
    };
    let is_root = match root {
        b'R' => true,
        b'N' => false,
        _ => return Some(item),
    };
    let is_persistent = match lifespan {
        b'P' => true,
        b'T' => false,
        _ => return Some(item),
    };
    let has_user_ids = match ids {
        b'U' => true,
        b'S' => false,
        _ => return Some(item),
    };
    fact(
        &mut item,
        "poa",
        "POA",
        if is_root { "the root" } else { "not the root" },
    );
    fact(
        &mut item,
        "lifespan",
        "lifespan",
        if is_persistent {
            "persistent"
        } else {
            "transient"
        },
    );
    fact(
        &mut item,
        "id_assignment",
        "ids",
        if has_user_ids {
            "assigned by the user"
        } else {
            "assigned by the system"
        },
    );
    if !is_persistent {
        if let Some((stamp, rest)) = rest.split_at_checked(STAMP_LEN) {
            fact(&mut item, "created", "POA created", hex(stamp));
            fact(&mut item, "rest", "POA and id", escaped(rest));
        }
    } else if has_user_ids {
        let read = || {
            let (size, rest) = rest.split_first_chunk::<4>()?;
            let size = usize::try_from(u32::from_be_bytes(*size)).ok()?;
            if is_root {
                return Some((&[][..], rest));
            }
            rest.split_at_checked(size)
        };
        if let Some((names, id)) = read() {
            let (name_hint, names) = tao_hint(names);
            let (id_hint, id) = tao_hint(id);
            if !is_root {
                let path: Vec<String> = names
                    .split(|octet| *octet == 0)
                    .filter(|name| !name.is_empty())
                    .map(text)
                    .collect();
                fact(&mut item, "path", "POA path", path.join("/"));
            }
            fact(&mut item, "object", "object id", escaped(id));
            let hints = [
                ("path_hint", "POA hint", name_hint),
                ("object_hint", "id hint", id_hint),
            ];
            for (key, label, hint) in hints {
                if let Some(hint) = hint {
                    fact(&mut item, key, label, hex(hint));
                }
            }
        }
    }
    Some(item)
}

/// The hint before a path or an id, and the octets after it. TAO writes a hint, the place in its tables to look first,
/// unless its options `-ORBActiveHintInPOANames` and `-ORBActiveHintInIds` are 0.
///
/// A hint is an index and a generation, each of four octets in the byte order of the server. Both are usually below 65,536,
/// so that two octets of each are zero, unlike those of names.
fn tao_hint(octets: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let is_small = |half: &[u8; 4]| matches!(half, [0, 0, _, _] | [_, _, 0, 0]);
    match octets.split_first_chunk::<HINT_LEN>() {
        Some((hint, rest)) if !rest.is_empty() && hint.as_chunks::<4>().0.iter().all(is_small) => {
            (Some(hint), rest)
        }
        _ => (None, octets),
    }
}

/// Explains a key of omniORB: `ff NAME` for each POA below the root, `fe` and a stamp if the POA is transient, and the id.
fn omniorb(key: &[u8]) -> Option<Item> {
    let mut path = vec!["root".to_owned()];
    let mut rest = key;
    if !matches!(key.first(), Some(&OMNIORB_NAME | &OMNIORB_STAMP)) {
        return None;
    }
    while let Some(named) = rest.strip_prefix(&[OMNIORB_NAME]) {
        let end = named
            .iter()
            .position(|octet| matches!(*octet, 0 | OMNIORB_NAME | OMNIORB_STAMP))?;
        let (name, behind) = named.split_at_checked(end)?;
        path.push(text(name));
        rest = behind;
    }
    let stamp = match rest.strip_prefix(&[OMNIORB_STAMP]) {
        Some(stamped) => {
            let (stamp, behind) = stamped.split_at_checked(STAMP_LEN)?;
            rest = behind;
            Some(stamp)
        }
        None => None,
    };
    // In a key of omniORB, the id begins with a NUL.
    if rest.first() != Some(&0) {
        return None;
    }
    let mut item = made_by("omniORB");
    fact(&mut item, "path", "POA", path.join("/"));
    match stamp {
        Some(stamp) => {
            fact(
                &mut item,
                "kind",
                "kind",
                "transient: dies with the process that made it",
            );
            fact(&mut item, "instance", "process", hex(stamp));
        }
        None => fact(&mut item, "kind", "kind", "persistent"),
    }
    fact(&mut item, "object", "object id", hex(rest));
    Some(item)
}

/// Explains a key of JacORB: `IMPLEMENTATION/POA/…/ID`, with `&` before an escaped octet.
fn jacorb(key: &[u8]) -> Option<Item> {
    let parts: Vec<&[u8]> = key.split(|octet| *octet == b'/').collect();
    let [server, path @ .., id] = &parts[..] else {
        return None;
    };
    let mut item = made_by("JacORB");
    let is_drawn = !server.is_empty() && server.iter().all(u8::is_ascii_digit);
    let kind = if is_drawn {
        "transient: the server is a number, drawn when it started"
    } else {
        "persistent: the server has a name"
    };
    fact(&mut item, "server", "server", escaped(server));
    fact(&mut item, "kind", "kind", kind);
    let path: Vec<String> = path.iter().map(|name| escaped(name)).collect();
    let path = match path.is_empty() {
        true => "the root".to_owned(),
        false => path.join("/"),
    };
    fact(&mut item, "path", "POA path", path);
    fact(&mut item, "object", "object id", escaped(id));
    Some(item)
}

fn plain(key: &[u8]) -> Option<Item> {
    key.iter().all(u8::is_ascii_graphic).then(|| {
        Item::new(
            "key_of",
            "kind",
            "plain: a name that people can write in a corbaloc",
        )
    })
}
