//! Object keys: the adapter and object, in octets that are opaque to every other ORB.
//!
//! ```text
//!  transient, ids by the system       transient, ids by the user     persistent
//!  0  "ZRB"  1                        0  "ZRB"  3                    0  "ZRB"  2
//!  4  ORB instance                    4  ORB instance                4  octets of the path: n
//! 12  adapter slot, generation       12  adapter slot, generation    8  path: server id, POA names,
//! 20  object slot, generation        20  object id …                    each counted by 4 octets
//! 28                                                                8+n object id …
//!
//!  authenticated
//!  0  "ZRB"  4
//!  4  code: 16 octets
//! 20  key of one of the kinds above …
//! ```
//! All numbers are big-endian. An authenticated key contains another one, and a code over all octets of that (keyed
//! BLAKE3, the first 16 octets), which cannot be made without the server's secret. Any other key is a *plain* key, such
//! as the `Bank` of `corbaloc::host/Bank`.
//!
//! Finding the adapter of a persistent key needs no parsing: the path is looked up as one string of octets. Its parts
//! are counted, so that it is unambiguous for all names.

use crate::seal::CODE_LEN;
use crate::table::Index;
use arrayvec::ArrayVec;
use bytes::Bytes;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
const MAGIC: [u8; 3] = *b"ZRB";
/// A transient key, valid as long as the ORB instance that made it; adapter and object are indexes.
const KIND_INDEXED: u8 = 1;
/// A persistent key, which outlives the process.
const KIND_PERSISTENT: u8 = 2;
/// A transient key, valid as long as the ORB instance that made it; the object has an id of the application.
const KIND_NAMED: u8 = 3;
/// An authenticated key: a key of another kind and its code.
const KIND_SEALED: u8 = 4;
/// Octets below this one are reserved for kinds of later versions. They are not printable, so that a plain key may be a
/// word that begins with "ZRB".
const KINDS: u8 = 0x20;

/// Octets of the key of a transient object whose id the adapter assigns.
const INDEXED_LEN: usize = 28;

/// The id of one run of the server, drawn at random when an ORB starts. So a transient reference of an earlier run is
/// OBJECT_NOT_EXIST, and does not denote another object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId(pub u64);

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InstanceId({:016x})", self.0)
    }
}

/// A parsed object key. Its octets are opaque to every other ORB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "dispatch handles every kind")]
pub enum ObjectKey<'a> {
    /// A key of a transient adapter that assigns ids: two indexes.
    Indexed {
        /// The run of the server that made the key.
        instance: InstanceId,
        /// The index of the adapter.
        adapter: Index,
        /// The index of the object in its map.
        object: Index,
    },
    /// A key of a transient adapter whose ids the application assigns.
    Named {
        /// The run of the server that made the key.
        instance: InstanceId,
        /// The index of the adapter.
        adapter: Index,
        /// The id of the object in its adapter.
        id: &'a [u8],
    },
    /// A key of a persistent adapter.
    Persistent {
        /// The server and the adapter: an encoded [`Path`].
        path: &'a [u8],
        /// The id of the object in its adapter.
        id: &'a [u8],
    },
    /// A key of an adapter with authenticated keys, which cannot be guessed.
    Sealed {
        /// The code, by which the server verifies that it has made the key.
        code: &'a [u8; CODE_LEN],
        /// The octets of a key of another kind, to be trusted only if the code is right.
        key: &'a [u8],
    },
    /// A key that the application chose as a whole, or that another ORB has made.
    Plain(&'a [u8]),
}

impl<'a> ObjectKey<'a> {
    /// Parses a key; `None` for octets that have the prefix of zorb's keys, and are otherwise malformed.
    #[must_use]
    pub fn parse(octets: &'a [u8]) -> Option<Self> {
        if !is_reserved(octets) {
            return Some(Self::Plain(octets));
        }
        let (head, rest) = octets.split_first_chunk::<4>()?;
        let [_, _, _, kind] = *head;
        match kind {
            KIND_INDEXED if octets.len() == INDEXED_LEN => {
                let (instance, adapter, rest) = born_with(rest)?;
                let (object, _) = index(rest)?;
                Some(Self::Indexed {
                    instance,
                    adapter,
                    object,
                })
            }
            KIND_NAMED => {
                let (instance, adapter, id) = born_with(rest)?;
                Some(Self::Named {
                    instance,
                    adapter,
                    id,
                })
            }
            KIND_PERSISTENT => {
                let (path, id) = counted(rest)?;
                Some(Self::Persistent { path, id })
            }
            KIND_SEALED => {
                let (code, key) = rest.split_first_chunk()?;
                Some(Self::Sealed { code, key })
            }
            _ => None,
        }
    }

    /// Encodes the key, in one allocation of its size.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let octets = match *self {
            Self::Indexed {
                instance,
                adapter,
                object,
            } => [
                &MAGIC[..],
                &[KIND_INDEXED],
                &instance.0.to_be_bytes(),
                adapter.octets().as_flattened(),
                object.octets().as_flattened(),
            ]
            .concat(),
            Self::Named {
                instance,
                adapter,
                id,
            } => [
                &MAGIC[..],
                &[KIND_NAMED],
                &instance.0.to_be_bytes(),
                adapter.octets().as_flattened(),
                id,
            ]
            .concat(),
            Self::Persistent { path, id } => {
                [&MAGIC[..], &[KIND_PERSISTENT], &count(path), path, id].concat()
            }
            Self::Sealed { code, key } => [&MAGIC[..], &[KIND_SEALED], code, key].concat(),
            Self::Plain(key) => key.to_vec(),
        };
        octets.into()
    }

    /// The key within an authenticated one, whether its code is right or not; a key of another kind itself. `None` for
    /// an authenticated key within another, which no server makes.
    #[must_use]
    pub fn unsealed(self) -> Option<Self> {
        match self {
            Self::Sealed { key, .. } => {
                Self::parse(key).filter(|within| !matches!(within, Self::Sealed { .. }))
            }
            other => Some(other),
        }
    }

    /// Whether the key becomes invalid with the ORB instance that made it.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self.unsealed(),
            Some(Self::Indexed { .. } | Self::Named { .. })
        )
    }
}

/// Whether octets have the prefix of keys that zorb makes, so that they are no plain key.
#[must_use]
pub fn is_reserved(octets: &[u8]) -> bool {
    octets
        .strip_prefix(&MAGIC)
        .and_then(<[u8]>::first)
        .is_some_and(|kind| *kind < KINDS)
}

/// The instance, the adapter, and the remaining octets.
fn born_with(octets: &[u8]) -> Option<(InstanceId, Index, &[u8])> {
    let (instance, rest) = octets.split_first_chunk::<8>()?;
    let (adapter, rest) = index(rest)?;
    Some((InstanceId(u64::from_be_bytes(*instance)), adapter, rest))
}

fn index(octets: &[u8]) -> Option<(Index, &[u8])> {
    let (slot, rest) = octets.split_first_chunk::<4>()?;
    let (generation, rest) = rest.split_first_chunk::<4>()?;
    let index = Index {
        slot: u32::from_be_bytes(*slot),
        generation: u32::from_be_bytes(*generation),
    };
    Some((index, rest))
}

fn counted(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = octets.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)
}

/// The count of a part's octets, which stands before it.
fn count(part: &[u8]) -> [u8; 4] {
    // A part of 4 GiB fits into no message, so the reference could not be written anyway.
    u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes()
}

impl Index {
    /// The index as an object id: the last octets of an [`ObjectKey::Indexed`].
    pub(crate) fn to_id(self) -> ObjectId {
        ObjectId::from(self.octets().as_flattened())
    }

    const fn octets(self) -> [[u8; 4]; 2] {
        [self.slot.to_be_bytes(), self.generation.to_be_bytes()]
    }

    pub(crate) fn from_id(id: &[u8]) -> Option<Self> {
        index(id).and_then(|(index, rest)| rest.is_empty().then_some(index))
    }
}

/// The path of a persistent adapter: the server's id, and the names of the adapters from below the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// The server id given to [`ObjectAdapter::new`](crate::ObjectAdapter::new); empty unless set.
    pub server_id: String,
    /// Names of adapters, outermost first.
    pub names: Vec<String>,
}

impl Path {
    /// Parses the path in a persistent key; `None` for octets that no zorb ORB has written.
    #[must_use]
    pub fn parse(octets: &[u8]) -> Option<Self> {
        let mut parts = Parts::new(octets);
        let server_id = parts.next()??.to_owned();
        let names: Option<_> = parts.map(|name| name.map(str::to_owned)).collect();
        Some(Self {
            server_id,
            names: names?,
        })
    }

    /// Encodes the path as it is in keys.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let names = self.names.iter().map(String::as_str);
        let parts = core::iter::once(self.server_id.as_str()).chain(names);
        let mut octets = Vec::new();
        for part in parts.map(str::as_bytes) {
            octets.extend_from_slice(&count(part));
            octets.extend_from_slice(part);
        }
        octets.into()
    }
}

/// The parts of an encoded [`Path`], where they lie: the server's id, then the names. A malformed one is `None`, and the
/// last.
pub(crate) struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    pub(crate) const fn new(path: &'a [u8]) -> Self {
        Self(path)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Option<&'a str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let part = counted(self.0).and_then(|(part, rest)| {
            self.0 = rest;
            str::from_utf8(part).ok()
        });
        if part.is_none() {
            self.0 = &[];
        }
        Some(part)
    }
}

/// The id of an object within its adapter: any octets, including none at all.
///
/// ```
/// # extern crate zorb_poa as zorb;
/// use zorb::ObjectId;
///
/// let id = ObjectId::from("account 4711");
/// assert_eq!(id.as_ref(), b"account 4711");
/// ```
///
/// An id of up to 20 octets is kept without an allocation; clones of a longer one share its octets.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::ObjectId`).
#[derive(Clone)]
pub struct ObjectId(IdOctets);

/// The most octets of an id that is kept without an allocation: as many as fit into the size of [`Bytes`].
const SHORT_ID: usize = 20;

#[derive(Clone)]
enum IdOctets {
    /// Up to [`SHORT_ID`] octets.
    Short(ArrayVec<u8, SHORT_ID>),
    Long(Bytes),
}

const _: () = assert!(size_of::<ObjectId>() == size_of::<Bytes>());

impl AsRef<[u8]> for ObjectId {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            IdOctets::Short(octets) => octets,
            IdOctets::Long(octets) => octets,
        }
    }
}

impl Default for ObjectId {
    fn default() -> Self {
        Self(IdOctets::Short(ArrayVec::new()))
    }
}

impl PartialEq for ObjectId {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for ObjectId {}

impl PartialOrd for ObjectId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(other.as_ref())
    }
}

impl Hash for ObjectId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl From<&str> for ObjectId {
    fn from(id: &str) -> Self {
        Self::from(id.as_bytes())
    }
}

impl From<&[u8]> for ObjectId {
    fn from(id: &[u8]) -> Self {
        Self(match ArrayVec::try_from(id) {
            Ok(short) => IdOctets::Short(short),
            Err(_) => IdOctets::Long(Bytes::copy_from_slice(id)),
        })
    }
}

impl From<Bytes> for ObjectId {
    fn from(id: Bytes) -> Self {
        match id.len() {
            ..=SHORT_ID => Self::from(&*id),
            _ => Self(IdOctets::Long(id)),
        }
    }
}

impl fmt::Display for ObjectId {
    /// Writes the id as text, with other octets escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_ref().escape_ascii())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId(\"{self}\")")
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use core::hash::BuildHasher;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn octets() -> impl Strategy<Value = Vec<u8>> {
        vec(any::<u8>(), 0..40)
    }

    proptest! {
        #[test]
        fn ids_are_their_octets_whatever_they_are_made_of(one in octets(), other in octets()) {
            let (id, shared) = (ObjectId::from(&*one), ObjectId::from(Bytes::from(one.clone())));
            prop_assert_eq!(id.as_ref(), &*one);
            prop_assert_eq!(&id, &shared);
            let hashes = std::hash::RandomState::new();
            prop_assert_eq!(hashes.hash_one(&id), hashes.hash_one(&shared));
            prop_assert_eq!(id.cmp(&ObjectId::from(&*other)), one.cmp(&other));
        }

        #[test]
        fn a_key_survives_a_round_trip(code: [u8; 16], instance: u64, a: u32, b: u32, c: u32, d: u32,
                                       path in octets(), id in octets()) {
            let instance = InstanceId(instance);
            let adapter = Index { slot: a, generation: b };
            let object = Index { slot: c, generation: d };
            for key in [
                ObjectKey::Indexed { instance, adapter, object },
                ObjectKey::Named { instance, adapter, id: &id },
                ObjectKey::Persistent { path: &path, id: &id },
                ObjectKey::Sealed { code: &code, key: &id },
            ] {
                let octets = key.to_bytes();
                prop_assert_eq!(ObjectKey::parse(&octets), Some(key));
                prop_assert!(is_reserved(&octets));
            }
            prop_assert_eq!(Index::from_id(object.to_id().as_ref()), Some(object));
        }

        #[test]
        fn hostile_octets_are_a_plain_key_or_are_written_as_they_were_read(
            octets in prop_oneof![
                octets(),
                (0..8u8, octets()).prop_map(|(kind, rest)| [b"ZRB", &[kind][..], &rest].concat()),
                (octets(), any::<u8>()).prop_map(|(rest, len)| {
                    [b"ZRB\x02\0\0\0", &[len][..], &rest].concat()
                }),
            ],
        ) {
            match ObjectKey::parse(&octets) {
                Some(key) => prop_assert_eq!(&key.to_bytes()[..], &octets[..]),
                None => prop_assert!(is_reserved(&octets)),
            }
        }

        #[test]
        fn different_places_have_different_paths(
            one in ("[a/\0]{0,3}", vec("[a/\0]{0,3}", 0..4)),
            other in ("[a/\0]{0,3}", vec("[a/\0]{0,3}", 0..4)),
        ) {
            let path = |(server_id, names): (String, Vec<String>)| Path { server_id, names };
            let (one, other) = (path(one), path(other));
            prop_assert_eq!(one == other, one.to_bytes() == other.to_bytes());
            prop_assert_eq!(Path::parse(&one.to_bytes()), Some(one));
        }
    }

    #[test]
    fn a_persistent_key_is_the_same_octets_for_ever() {
        let path = Path {
            server_id: "bank".to_owned(),
            names: vec!["accounts".to_owned()],
        };
        let path = path.to_bytes();
        let key = ObjectKey::Persistent {
            path: &path,
            id: b"7",
        };
        assert_eq!(
            &key.to_bytes()[..],
            b"ZRB\x02\0\0\0\x14\0\0\0\x04bank\0\0\0\x08accounts7"
        );
    }

    #[test]
    fn a_plain_key_may_begin_with_our_letters_but_not_as_our_keys_do() {
        for plain in [&b""[..], b"Z", b"ZRB", b"ZRBank", b"ZRB 1", b"Bank\0"] {
            assert_eq!(ObjectKey::parse(plain), Some(ObjectKey::Plain(plain)));
        }
        for reserved in [&b"ZRB\0"[..], b"ZRB\x01", b"ZRB\x02\0\0\0\x01", b"ZRB\x1f"] {
            assert_eq!(ObjectKey::parse(reserved), None);
        }
    }
}
