//! The messages of the floor: a head of twelve octets, as long as GIOP's, and as many as an ORB would send behind it.

use crate::digest;

/// Octets of a head.
pub const HEAD: usize = 12;

/// Octets that are read at a time, if the message is not longer.
pub const READ_OCTETS: usize = 16 << 10;

/// The request of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Kind {
    /// An answer without a body.
    Void,
    /// The body, back.
    Echo,
    /// Nothing.
    OneWay,
    /// An answer without a body, and no look at anything: everything before it was served.
    Sync,
    /// The end of the server.
    Shutdown,
    /// Is an answer.
    Reply,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Void,
        Self::Echo,
        Self::OneWay,
        Self::Sync,
        Self::Shutdown,
        Self::Reply,
    ];

    /// The kind and the length of the body of an operation with so many elements; `None` for an unknown one.
    #[must_use]
    pub fn of(op: &str, size: usize) -> Option<(Self, usize)> {
        let kind = match op {
            "shutdown" => return Some((Self::Shutdown, 0)),
            _ if op.starts_with("oneway_") => Self::OneWay,
            _ if op.starts_with("echo") => Self::Echo,
            _ => Self::Void,
        };
        let octets = match op.trim_start_matches("oneway_").trim_start_matches("echo") {
            "noparams" => 0,
            "octet" | "string" | "char" => size,
            "short" => 2 * size,
            "long" => 4 * size,
            "double" => 8 * size,
            "struct" => 24 * size,
            _ => return None,
        };
        Some((kind, octets))
    }
}

/// The head of a message.
#[must_use]
pub fn head(kind: Kind, body: usize) -> [u8; HEAD] {
    let mut head = *b"FLOO\0\0\0\0\0\0\0\0";
    head[4] = kind as u8;
    let body = u32::try_from(body).unwrap_or(u32::MAX);
    head[8..].copy_from_slice(&body.to_le_bytes());
    head
}

/// The contents of a head: kind and length of the body.
///
/// # Errors
/// It is none.
pub fn parse(head: &[u8; HEAD]) -> std::io::Result<(Kind, usize)> {
    let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == head[4]);
    let [.., a, b, c, d] = *head;
    match kind {
        Some(kind) if head.starts_with(b"FLOO") => {
            Ok((kind, u32::from_le_bytes([a, b, c, d]) as usize))
        }
        _ => Err(std::io::ErrorKind::InvalidData.into()),
    }
}

/// A whole message; the body has the contents of every peer's octets.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the pattern wraps")]
pub fn message(kind: Kind, body: usize) -> Vec<u8> {
    let octets = (0..body).map(|i| i as u8);
    head(kind, body).into_iter().chain(octets).collect()
}

/// The digest that the server makes of a message, and that the client expects.
#[must_use]
pub fn folded(body: &[u8]) -> u64 {
    if body.is_empty() {
        1
    } else {
        digest::octets(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_it_was_made_of() {
        let head = head(Kind::Echo, 70_000);
        assert_eq!(parse(&head).unwrap(), (Kind::Echo, 70_000));
        assert!(parse(b"GIOP\0\0\0\0\0\0\0\0").is_err());
        assert!(parse(b"FLOO\x09\0\0\0\0\0\0\0").is_err());
    }

    #[test]
    fn bodies_are_as_long_as_the_elements_of_an_orb() {
        assert_eq!(Kind::of("noparams", 9), Some((Kind::Void, 0)));
        assert_eq!(Kind::of("struct", 2), Some((Kind::Void, 48)));
        assert_eq!(Kind::of("long", 2), Some((Kind::Void, 8)));
        assert_eq!(Kind::of("echostring", 5), Some((Kind::Echo, 5)));
        assert_eq!(Kind::of("oneway_octet", 5), Some((Kind::OneWay, 5)));
        assert_eq!(Kind::of("else", 5), None);
    }
}
