//! The data file of omniNames: its names at the time of its last checkpoint, and all changes since.

use super::walk::{Bound, Item};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zorb::naming::Name;
use zorb::naming::cos_naming::NameComponent;
use zorb::{Bytes, Ior, Orb};

/// The key of the root context.
const ROOT: &[u8] = b"NameService";

/// Whether octets look like such a file.
pub(super) fn is_log(octets: &[u8]) -> bool {
    octets.starts_with(b"port ")
}

/// What is bound in a context: id and kind, whether it is a context, and the reference.
type Context = BTreeMap<(String, String), (bool, Ior)>;

/// Reads a file: each name once, and those of a context behind the context. Contexts that no name leads to are left out.
///
/// The file has no code set: octets that are not UTF-8 are taken for ISO 8859-1.
///
/// # Errors
/// A line is none of omniNames', with its number. A last line that was not written whole is left out.
pub(super) fn read(octets: &[u8], orb: &Orb) -> Result<Vec<Item>, String> {
    let mut contexts: BTreeMap<Bytes, Context> = BTreeMap::new();
    for (at, line) in octets.split_inclusive(|octet| *octet == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else {
            break;
        };
        let what = apply(line, &mut contexts);
        what.map_err(|why| format!("line {}: {why}", at.saturating_add(1)))?;
    }
    let mut seen = BTreeMap::from([(Bytes::from_static(ROOT), Name::default())]);
    let mut next = VecDeque::from([(Bytes::from_static(ROOT), Name::default())]);
    let mut items = Vec::new();
    let known: BTreeSet<Bytes> = contexts.keys().cloned().collect();
    while let Some((key, path)) = next.pop_front() {
        for ((id, kind), (is_context, ior)) in contexts.remove(&key).unwrap_or_default() {
            let mut name = path.clone();
            name.0.push(NameComponent { id, kind });
            let key = key_of(&ior).filter(|key| is_context && known.contains(key));
            let bound = match key {
                None if ior.is_nil() => Bound::Object(None),
                None if is_context => Bound::ForeignContext(orb.object(ior)),
                None => Bound::Object(Some(orb.object(ior))),
                Some(key) => match seen.get(&key) {
                    Some(before) => Bound::SameContext(before.clone()),
                    None => {
                        seen.insert(key.clone(), name.clone());
                        next.push_back((key, name.clone()));
                        Bound::NewContext
                    }
                },
            };
            items.push(Item { name, bound });
        }
    }
    Ok(items)
}

/// Does what a line says.
fn apply(line: &[u8], contexts: &mut BTreeMap<Bytes, Context>) -> Result<(), String> {
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [""] | ["port" | "persistent", _] => {}
        ["create", key] => {
            contexts.entry(octets_of(key)?).or_default();
        }
        ["bind", context, id, kind, binding_type, ior] => {
            let is_context = match binding_type {
                "ncontext" => true,
                "nobject" => false,
                other => return Err(format!("expected nobject or ncontext, found {other:?}")),
            };
            let context = context_of(context, contexts)?;
            let name = (id.to_owned(), kind.to_owned());
            context.insert(name, (is_context, reference(ior)?));
        }
        ["unbind", context, id, kind] => {
            let context = context_of(context, contexts)?;
            context.remove(&(id.to_owned(), kind.to_owned()));
        }
        ["destroy", context] => {
            let key = key_of(&reference(context)?);
            contexts.remove(&key.ok_or("expected a reference with a key")?);
        }
        _ => return Err("expected create, bind, unbind or destroy".to_owned()),
    }
    Ok(())
}

fn context_of<'c>(
    ior: &str,
    contexts: &'c mut BTreeMap<Bytes, Context>,
) -> Result<&'c mut Context, String> {
    let key = key_of(&reference(ior)?).ok_or("expected a reference with a key")?;
    let context = contexts.get_mut(&key);
    context.ok_or_else(|| "expected a context that was created before".to_owned())
}

fn reference(text: &str) -> Result<Ior, String> {
    let digits = text.strip_prefix("IOR:").ok_or("expected IOR:")?;
    Ior::from_hex(digits).map_err(|error| format!("{error:#}"))
}

/// The key of a context as the file has it: that of the root, and of others the id of the object, which in a key of omniORB's is
/// behind 0xff, the name of the POA and a NUL.
fn key_of(ior: &Ior) -> Option<Bytes> {
    let key = ior
        .profiles
        .iter()
        .find_map(|profile| profile.object_key())?;
    let id = key.strip_prefix(b"\xff").and_then(|rest| {
        let name = rest.iter().position(|octet| *octet == 0)?;
        rest.get(name.checked_add(1)?..)
    });
    match id {
        Some(id) => Some(Bytes::copy_from_slice(id)),
        None => Some(key),
    }
}

fn octets_of(digits: &str) -> Result<Bytes, String> {
    let octet = |at: usize| {
        let pair = digits.get(at..at.saturating_add(2))?;
        u8::from_str_radix(pair, 16).ok()
    };
    let octets: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(octet).collect();
    let octets = octets.ok_or_else(|| format!("expected pairs of digits, found {digits:?}"))?;
    Ok(octets.into())
}

/// The words of a line, between single spaces. A backslash is before a space or a backslash of a word, and before t and n for a
/// tab and the end of a line.
fn words(line: &[u8]) -> Vec<String> {
    let text = match str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().copied().map(char::from).collect(),
    };
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            ' ' => {
                words.push(String::new());
                continue;
            }
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        };
        if let Some(word) = words.last_mut() {
            word.push(plain);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_omninames_writes_them() {
        for (line, expected) in [
            (
                &b"bind I back\\\\slash  nobject I"[..],
                &["bind", "I", "back\\slash", "", "nobject", "I"][..],
            ),
            (
                b"bind I two\\ \\ sp\\  \\ \\  nobject I",
                &["bind", "I", "two  sp ", "  ", "nobject", "I"],
            ),
            (
                b"bind I   nobject I",
                &["bind", "I", "", "", "nobject", "I"],
            ),
            (b"x l\\nn\\tt", &["x", "l\nn\tt"]),
            (b"\xc3\xa9", &["é"]),
            (b"\xe9", &["é"]),
            (b"", &[""]),
        ] {
            assert_eq!(words(line), expected);
        }
    }

    #[tokio::test]
    async fn a_line_that_is_none_is_reported_by_its_number() {
        let orb = Orb::builder().build().await.unwrap();
        let create = "create 4e616d6553657276696365\n";
        for (line, expected) in [
            ("rebind x\n", "expected create, bind, unbind or destroy"),
            ("create 4e6\n", "expected pairs of digits, found \"4e6\""),
            ("bind IOR:0 a b nobject IOR:00\n", "expected "),
            ("destroy x\n", "expected IOR:"),
        ] {
            let error = read(format!("{create}{line}").as_bytes(), &orb).unwrap_err();
            assert!(error.starts_with("line 2: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        // What a crash has cut off is left out.
        let cut = format!("{create}bind IOR:01000");
        assert_eq!(read(cut.as_bytes(), &orb), Ok(vec![]));
    }
}
