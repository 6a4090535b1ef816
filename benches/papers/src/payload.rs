//! The interface, what is sent, and what a servant makes of it.

/// The throughput experiment's interface.
#[zorb::idl_file("ttcp.idl")]
pub mod idl {}

pub use idl::papers::throughput::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use zorb::Char;
use zorb_floor::digest;

/// Octets of a struct in CDR.
pub const STRUCT: usize = 24;

/// The type of what is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `sequence<char>`.
    Chars,
    /// `sequence<octet>`.
    Octets,
    /// `string`.
    Text,
    /// `sequence<BinStruct>`.
    Structs,
}

/// One buffer, as the argument of its [kind](Kind).
#[derive(Debug)]
pub enum Payload {
    /// Of [`Kind::Chars`].
    Chars(Vec<Char>),
    /// Of [`Kind::Octets`].
    Octets(Vec<u8>),
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Structs`].
    Structs(Vec<BinStruct>),
}

impl std::str::FromStr for Kind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Ok(match name {
            "chars" => Self::Chars,
            "octets" => Self::Octets,
            "string" => Self::Text,
            "structs" => Self::Structs,
            _ => return Err(()),
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the pattern wraps, as every peer's does"
)]
impl Payload {
    /// A buffer of so many octets, with the contents that every peer's has: as many structs as fit, but one at least.
    pub fn new(kind: Kind, octets: usize) -> Self {
        let letter = |i: usize| b'a' + (i % 26) as u8;
        match kind {
            Kind::Chars => Self::Chars((0..octets).map(|i| Char(letter(i))).collect()),
            Kind::Octets => Self::Octets((0..octets).map(|i| i as u8).collect()),
            Kind::Text => Self::Text((0..octets).map(|i| char::from(letter(i))).collect()),
            Kind::Structs => Self::Structs(
                (0..(octets / STRUCT).max(1))
                    .map(|i| BinStruct {
                        s: i as i16,
                        c: Char(letter(i)),
                        l: i as i32,
                        o: i as u8,
                        d: i as f64,
                    })
                    .collect(),
            ),
        }
    }

    /// Octets of it as CDR has them.
    pub fn octets(&self) -> usize {
        match self {
            Self::Chars(chars) => chars.len(),
            Self::Octets(octets) => octets.len(),
            Self::Text(text) => text.len(),
            Self::Structs(structs) => STRUCT * structs.len(),
        }
    }

    /// The digest that a servant adds for one call with it.
    pub fn digest(&self) -> u64 {
        match self {
            Self::Chars(chars) => digest_chars(chars),
            Self::Octets(octets) => digest::octets(octets),
            Self::Text(text) => digest::octets(text.as_bytes()),
            Self::Structs(structs) => digest_structs(structs),
        }
    }
}

/// Folds every char, as octets are.
pub fn digest_chars(chars: &[Char]) -> u64 {
    let (words, rest) = chars.as_chunks::<8>();
    let words = words.iter().fold(0, |sum: u64, word| {
        sum.wrapping_add(u64::from_le_bytes(word.map(|char| char.0)))
    });
    let rest: u64 = rest.iter().map(|char| u64::from(char.0)).sum();
    (chars.len() as u64).wrapping_add(words).wrapping_add(rest)
}

/// Folds every field of every struct.
pub fn digest_structs(structs: &[BinStruct]) -> u64 {
    structs.iter().fold(structs.len() as u64, |sum, each| {
        sum.wrapping_add(digest::bin_struct(each.s, each.c.0, each.l, each.o, each.d))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chars_are_folded_as_octets_are() {
        for len in [0, 1, 7, 8, 9, 100] {
            let Payload::Chars(chars) = Payload::new(Kind::Chars, len) else {
                panic!("chars were asked for")
            };
            let octets: Vec<u8> = chars.iter().map(|char| char.0).collect();
            assert_eq!(digest_chars(&chars), digest::octets(&octets));
        }
    }

    #[test]
    fn a_buffer_is_as_long_as_it_is_said_to_be() {
        assert_eq!(Payload::new(Kind::Octets, 1).octets(), 1);
        assert_eq!(Payload::new(Kind::Structs, 1024).octets(), 42 * STRUCT);
        assert_eq!(Payload::new(Kind::Structs, 1).octets(), STRUCT);
        assert_eq!(Payload::new(Kind::Text, 7).octets(), 7);
    }
}
