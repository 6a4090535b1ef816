//! The form of messages between alike peers. Sans I/O.
//!
//! ```text
//! octets  0       4       8       10     11   12
//!         │ length │  id   │ number │ kind │ 0 │ `length` octets …
//! ```
//! All numbers are in the byte order that both ends have.
//!
//! | kind | what follows | id | number |
//! |---|---|---|---|
//! | whole | a message of GIOP | 0 | 0 |
//! | named | a message of GIOP, whose first `id` octets have this number from now on | octets of its prefix | the next one that is free |
//! | numbered | the rest of a message behind the prefix of this number | the request id | |
//!
//! The prefix of a request is its header up to the end of the operation's name, that of a reply ends behind its status. A number
//! stands for all of it but the size of the message and the request id.

use bytes::BufMut;
use std::io;

/// Octets of a frame before those of the message.
pub(crate) const FRAME: usize = 12;
/// Octets of a header of GIOP.
pub(crate) const GIOP_HEADER: usize = 12;
/// Where the size of a message is, and behind it the request id.
const SIZE_AT: usize = 8;
/// Behind the request id.
const ID_END: usize = 16;
/// The most numbers of a direction of a connection. Further prefixes have none.
pub(crate) const MAX_NUMBERS: usize = 256;
/// The most octets of all prefixes that have numbers in a direction of a connection, which its receiver keeps for the peer.
pub(crate) const MAX_PREFIXES_OCTETS: usize = 16 << 10;
/// The longest prefix that has a number. Object keys and names of operations have tens of octets.
pub(crate) const MAX_PREFIX: usize = 1 << 10;
/// The end of the prefix of a reply: behind its status.
const REPLY_PREFIX: usize = 20;

const REQUEST: u8 = 0;
const REPLY: u8 = 1;

/// A frame as it is sent.
pub(crate) type FrameOctets = [u8; FRAME];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole,
    Named,
    Numbered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) length: u32,
    pub(crate) id: u32,
    pub(crate) number: u16,
    pub(crate) kind: Kind,
}

impl Frame {
    pub(crate) const fn to_octets(self) -> FrameOctets {
        let [l0, l1, l2, l3] = self.length.to_ne_bytes();
        let [i0, i1, i2, i3] = self.id.to_ne_bytes();
        let [n0, n1] = self.number.to_ne_bytes();
        let kind = match self.kind {
            Kind::Whole => 0,
            Kind::Named => 1,
            Kind::Numbered => 2,
        };
        [l0, l1, l2, l3, i0, i1, i2, i3, n0, n1, kind, 0]
    }

    /// # Errors
    /// `InvalidData` for octets that are no frame.
    pub(crate) fn of(octets: &FrameOctets) -> io::Result<Self> {
        let [l0, l1, l2, l3, i0, i1, i2, i3, n0, n1, kind, zero] = *octets;
        let kind = match (kind, zero) {
            (0, 0) => Kind::Whole,
            (1, 0) => Kind::Named,
            (2, 0) => Kind::Numbered,
            _ => return Err(invalid("expected a frame of zorb's native messages")),
        };
        Ok(Self {
            length: u32::from_ne_bytes([l0, l1, l2, l3]),
            id: u32::from_ne_bytes([i0, i1, i2, i3]),
            number: u16::from_ne_bytes([n0, n1]),
            kind,
        })
    }
}

#[cold]
pub(crate) fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The octets of a whole message that begins here, by its header. `None` if that is not there, or is none.
#[inline]
pub(crate) fn message_octets(octets: &[u8]) -> Option<usize> {
    let [g, i, o, p, major, _, flags, _, s0, s1, s2, s3] = *octets.first_chunk()?;
    if [g, i, o, p, major] != *b"GIOP\x01" {
        return None;
    }
    let size = match flags & 1 {
        0 => u32::from_be_bytes([s0, s1, s2, s3]),
        _ => u32::from_le_bytes([s0, s1, s2, s3]),
    };
    usize::try_from(size).ok()?.checked_add(GIOP_HEADER)
}

/// The octets of a prefix, which a number may stand for, without the size and the request id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix(Box<[u8]>);

impl Prefix {
    pub(crate) const fn octets(&self) -> usize {
        self.0.len()
    }

    /// Whether a message begins with it, whatever its size and request id.
    #[inline]
    pub(crate) fn begins(&self, message: &[u8]) -> bool {
        let Some(begin) = message.get(..self.0.len()) else {
            return false;
        };
        begin.get(ID_END..) == self.0.get(ID_END..) && begin.get(..SIZE_AT) == self.0.get(..SIZE_AT)
    }

    /// The request id of a message that begins with it.
    pub(crate) fn id(message: &[u8]) -> u32 {
        let id = message.get(GIOP_HEADER..).and_then(<[u8]>::first_chunk);
        u32::from_ne_bytes(id.copied().unwrap_or_default())
    }

    /// Writes the prefix of a message with this id, of which `rest` octets follow it.
    ///
    /// # Errors
    /// `InvalidData` if no message is so long.
    pub(crate) fn write(
        &self,
        id: u32,
        rest: u32,
        to: &mut (impl BufMut + AsMut<[u8]>),
    ) -> io::Result<()> {
        let behind_header = self.0.len().saturating_sub(GIOP_HEADER);
        let size = u32::try_from(behind_header).ok();
        let size = size.and_then(|size| size.checked_add(rest));
        let size = size.ok_or_else(|| invalid("expected a message of at most 4 GiB"))?;
        let before = to.as_mut().len();
        to.put_slice(&self.0);
        let written = to.as_mut().get_mut(before..).unwrap_or_default();
        let places = written.get_mut(SIZE_AT..ID_END).unwrap_or_default();
        for (place, octet) in
            (places.iter_mut()).zip(size.to_ne_bytes().into_iter().chain(id.to_ne_bytes()))
        {
            *place = octet;
        }
        Ok(())
    }
}

/// The end of the prefix of a message that may have a number: a request or reply of GIOP 1.2 in this machine's byte order, whose
/// header is here. `None` for others.
pub(crate) fn prefix_end(message: &[u8]) -> Option<usize> {
    let [.., minor, flags, kind, _, _, _, _] = *message.first_chunk::<GIOP_HEADER>()?;
    let is_native = flags == u8::from(cfg!(target_endian = "little"));
    if minor != 2 || !is_native {
        return None;
    }
    let end = match kind {
        REPLY => REPLY_PREFIX,
        REQUEST => {
            let number = |at: usize| {
                let octets = message.get(at..).and_then(<[u8]>::first_chunk);
                usize::try_from(u32::from_ne_bytes(*octets?)).ok()
            };
            // Behind the id: flags and three octets; the disposition, 0 for a key, and two of padding; the key's length.
            let [a, b] = *message.get(20..)?.first_chunk()?;
            if [a, b] != [0, 0] {
                return None;
            }
            let key_end = number(24)?.checked_add(28)?;
            let name_at = key_end.checked_next_multiple_of(4)?;
            let name_end = number(name_at)?.checked_add(name_at)?.checked_add(4)?;
            name_end.checked_next_multiple_of(4)?
        }
        _ => return None,
    };
    (end <= MAX_PREFIX && end <= message.len()).then_some(end)
}

/// Whether so many octets can be the prefix of a message of that length.
pub(crate) fn is_prefix(octets: usize, message: usize) -> bool {
    (REPLY_PREFIX..=MAX_PREFIX.min(message)).contains(&octets)
}

/// The prefixes that have numbers, in their order.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    prefixes: Vec<Prefix>,
    octets: usize,
}

impl Numbers {
    /// The next number, if a prefix of so many octets may have it.
    pub(crate) fn next(&self, octets: usize) -> Option<usize> {
        let all = self.octets.saturating_add(octets);
        let next = self.prefixes.len();
        (next < MAX_NUMBERS && all <= MAX_PREFIXES_OCTETS).then_some(next)
    }

    /// Gives a prefix the next number.
    pub(crate) fn push(&mut self, prefix: &[u8]) {
        self.octets = self.octets.saturating_add(prefix.len());
        self.prefixes.push(Prefix(prefix.into()));
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Prefix> {
        self.prefixes.get(number)
    }
}

/// The places of [`NumbersByPrefix`]: twice as many as numbers, so that few are between a prefix and its place.
pub(crate) const PLACES: usize = 2 * MAX_NUMBERS;

/// The prefixes that have numbers, which are found by what they are: in as many steps with [`MAX_NUMBERS`] of them as with one.
#[derive(Debug, Default)]
pub(crate) struct NumbersByPrefix {
    pub(crate) prefixes: Numbers,
    /// Each number at the first free place from that of its prefix on; allocated by the first.
    places: Option<Box<[Option<u16>; PLACES]>>,
}

impl NumbersByPrefix {
    /// Gives a prefix the next number.
    pub(crate) fn push(&mut self, prefix: &[u8]) {
        let number = u16::try_from(self.prefixes.prefixes.len()).ok();
        self.prefixes.push(prefix);
        let places = (self.places).get_or_insert_with(|| Box::new([None; PLACES]));
        for place in from_place_of(prefix) {
            if let Some(free @ None) = places.get_mut(place) {
                *free = number;
                return;
            }
        }
    }

    /// The number that a message begins with.
    pub(crate) fn find(&self, message: &[u8]) -> Option<(usize, &Prefix)> {
        let places = self.places.as_ref()?;
        let prefix = message.get(..prefix_end(message)?)?;
        for place in from_place_of(prefix) {
            let number = usize::from((*places.get(place)?)?);
            let found = self.prefixes.get(number)?;
            if found.octets() == prefix.len() && found.begins(message) {
                return Some((number, found));
            }
        }
        None
    }
}

/// All places, from that of a prefix on, whatever its size and request id.
fn from_place_of(prefix: &[u8]) -> impl Iterator<Item = usize> {
    // As in FxHash, of which a few multiplications are enough here: whoever sends chooses its own prefixes.
    let hash = |hash: u64, octets: &[u8]| {
        let mut word = [0; 8];
        for (place, octet) in word.iter_mut().zip(octets) {
            *place = *octet;
        }
        (hash.rotate_left(5) ^ u64::from_ne_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    let octets = prefix.get(ID_END..).unwrap_or_default();
    let (words, rest) = octets.as_chunks::<8>();
    let hashed = words.iter().fold(0, |all, word| hash(all, word));
    let hashed = hash(hashed, rest) >> 32;
    let first = usize::try_from(hashed).unwrap_or_default();
    (0..PLACES).map(move |step| first.wrapping_add(step) % PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request's prefix, with this key and name.
    fn prefix(key: usize, name: &str) -> Vec<u8> {
        let mut octets = b"GIOP\x01\x02\0\0".to_vec();
        octets[6] = u8::from(cfg!(target_endian = "little"));
        octets.extend_from_slice(&[0; 8]);
        octets.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
        octets.extend_from_slice(&8_u32.to_ne_bytes());
        octets.extend_from_slice(&key.to_ne_bytes()[..8]);
        octets.extend_from_slice(&(name.len() as u32 + 1).to_ne_bytes());
        octets.extend_from_slice(name.as_bytes());
        octets.push(0);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    }

    #[test]
    fn a_number_is_found_in_a_few_steps_among_as_many_as_there_may_be() {
        let names = ["ping", "pong", "send_a_long_name", "x"];
        let prefixes = (0..MAX_NUMBERS).map(|n| prefix(n / 4, names[n % 4]));
        let prefixes: Vec<_> = prefixes.collect();
        let mut numbers = NumbersByPrefix::default();
        for prefix in &prefixes {
            assert!(numbers.find(prefix).is_none());
            numbers.push(prefix);
        }
        let mut steps = 0;
        for (number, prefix) in prefixes.iter().enumerate() {
            let mut message = prefix.clone();
            // Whatever its size and request id, and what follows.
            message[8..16].fill(0xa5);
            message.extend_from_slice(b"arguments");
            let found = numbers.find(&message).map(|(number, _)| number);
            assert_eq!(found, Some(number));
            let places = numbers.places.as_ref().unwrap();
            let at = from_place_of(prefix).position(|at| places[at] == Some(number as u16));
            steps += at.unwrap() + 1;
        }
        assert!(steps < 3 * MAX_NUMBERS, "{steps} steps");
        assert!(numbers.find(&prefix(MAX_NUMBERS, "ping")).is_none());
    }
}
