//! The half of a bidirectional connection that a message belongs to, by its header.

use super::Half;

/// Octets of a message header.
const HEADER_OCTETS: usize = 12;
/// Octets of a Fragment of GIOP 1.2 that decide its half: message header and request id.
const FRAGMENT_HEADER_OCTETS: usize = 16;

/// The recipient of octets: the half of the connection that they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipient {
    One(Half),
    /// The connection as a whole: CloseConnection, MessageError.
    Both,
}

/// Finds the messages in received octets, and the half that each belongs to.
#[derive(Debug, Clone)]
pub(super) struct Router {
    /// The beginning of a message whose half is not known yet.
    head: [u8; FRAGMENT_HEADER_OCTETS],
    have: usize,
    /// Octets of the current message that are still to come.
    left: u32,
    /// The recipient of the current message.
    recipient: Recipient,
    /// The half of the last message of GIOP 1.1 that fragments follow: those fragments have no request id.
    cut: Half,
    /// Whether this end opened the connection: its requests have even ids.
    opened_here: bool,
    /// The received octets were no header, so that no further message can be found in the stream.
    is_lost: bool,
}

impl Router {
    pub(super) const fn new(opened_here: bool) -> Self {
        Self {
            head: [0; FRAGMENT_HEADER_OCTETS],
            have: 0,
            left: 0,
            recipient: Recipient::One(Half::Server),
            cut: Half::Server,
            opened_here,
            is_lost: false,
        }
    }

    /// Whether a header has begun whose half is not known yet.
    pub(super) const fn is_undecided(&self) -> bool {
        self.have > 0
    }

    /// Hands out octets by their halves, in order. The beginning of a header is kept until its half is known.
    pub(super) fn route(&mut self, mut octets: &[u8], mut give: impl FnMut(Recipient, &[u8])) {
        while !octets.is_empty() {
            if self.is_lost {
                return give(self.recipient, octets);
            }
            if self.left > 0 {
                let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                let (own, rest) = octets.split_at(left.min(octets.len()));
                give(self.recipient, own);
                self.left = self
                    .left
                    .saturating_sub(u32::try_from(own.len()).unwrap_or(u32::MAX));
                octets = rest;
                continue;
            }
            let wanted = self.wanted();
            let missing = wanted.saturating_sub(self.have).min(octets.len());
            let (more, rest) = octets.split_at(missing);
            octets = rest;
            for octet in more {
                if let Some(place) = self.head.get_mut(self.have) {
                    *place = *octet;
                }
                self.have = self.have.saturating_add(1);
            }
            if self.have < wanted || self.have < self.wanted() {
                continue;
            }
            self.decide();
            let head = self.head;
            give(self.recipient, head.get(..self.have).unwrap_or_default());
            self.have = 0;
        }
    }

    /// Octets of the header that decide the half of the message.
    fn wanted(&self) -> usize {
        let [_, _, _, _, _, minor, _, kind, ..] = self.head;
        let is_long = self.have >= HEADER_OCTETS && kind == 7 && minor >= 2 && self.size() >= 4;
        match is_long && self.is_header() {
            true => FRAGMENT_HEADER_OCTETS,
            false => HEADER_OCTETS,
        }
    }

    fn is_header(&self) -> bool {
        self.head.starts_with(b"GIOP")
    }

    fn number(&self, octets: [u8; 4]) -> u32 {
        match self.head[6] & 1 {
            0 => u32::from_be_bytes(octets),
            _ => u32::from_le_bytes(octets),
        }
    }

    fn size(&self) -> u32 {
        let [_, _, _, _, _, _, _, _, a, b, c, d, ..] = self.head;
        self.number([a, b, c, d])
    }

    fn decide(&mut self) {
        let [_, _, _, _, _, minor, flags, kind, ..] = self.head;
        let read = self.have.saturating_sub(HEADER_OCTETS);
        self.left = self
            .size()
            .saturating_sub(u32::try_from(read).unwrap_or(u32::MAX));
        let half = match kind {
            1 | 4 => Half::Client,
            5 | 6 => {
                self.recipient = Recipient::Both;
                return;
            }
            // Fragments of 1.2 name the request: one of this end, to whose reply they belong, or one of the peer.
            7 if self.have == FRAGMENT_HEADER_OCTETS => {
                let [.., a, b, c, d] = self.head;
                let is_even = self.number([a, b, c, d]) & 1 == 0;
                match is_even == self.opened_here {
                    true => Half::Client,
                    false => Half::Server,
                }
            }
            7 => self.cut,
            // Requests; the server's half also reports messages of unknown kinds.
            _ => Half::Server,
        };
        if minor < 2 && flags & 2 != 0 {
            self.cut = half;
        }
        self.recipient = Recipient::One(half);
        // The server's half reports octets that are no header, and the connection ends.
        self.is_lost = !self.is_header();
        if self.is_lost {
            self.recipient = Recipient::One(Half::Server);
        }
    }
}

/// Finds the ends of messages in the octets that are sent.
#[derive(Debug, Default)]
pub(super) struct Boundary {
    head: [u8; HEADER_OCTETS],
    have: usize,
    left: u32,
}

impl Boundary {
    /// Whether the last message is whole.
    pub(super) const fn is_at_end(&self) -> bool {
        self.have == 0 && self.left == 0
    }

    /// Advances past octets that were sent.
    pub(super) fn advance(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() {
            if self.left > 0 {
                let sent = u32::try_from(octets.len())
                    .unwrap_or(u32::MAX)
                    .min(self.left);
                self.left = self.left.saturating_sub(sent);
                octets = octets.get(sent as usize..).unwrap_or_default();
                continue;
            }
            let missing = HEADER_OCTETS.saturating_sub(self.have).min(octets.len());
            let (more, rest) = octets.split_at(missing);
            octets = rest;
            for (place, octet) in self.head.iter_mut().skip(self.have).zip(more) {
                *place = *octet;
            }
            self.have = self.have.saturating_add(missing);
            if self.have == HEADER_OCTETS {
                let [_, _, _, _, _, _, flags, _, a, b, c, d] = self.head;
                self.left = match flags & 1 {
                    0 => u32::from_be_bytes([a, b, c, d]),
                    _ => u32::from_le_bytes([a, b, c, d]),
                };
                self.have = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(minor: u8, flags: u8, kind: u8, body: &[u8]) -> Vec<u8> {
        let size = u32::try_from(body.len()).unwrap();
        let size = match flags & 1 {
            0 => size.to_be_bytes(),
            _ => size.to_le_bytes(),
        };
        [b"GIOP\x01", &[minor, flags, kind][..], &size, body].concat()
    }

    /// The octets of each half if they arrive in pieces of `step`.
    fn routed(opened_here: bool, octets: &[u8], step: usize) -> [Vec<u8>; 2] {
        let mut router = Router::new(opened_here);
        let [mut client, mut server] = [Vec::new(), Vec::new()];
        for piece in octets.chunks(step) {
            router.route(piece, |recipient, octets| {
                if recipient != Recipient::One(Half::Server) {
                    client.extend_from_slice(octets);
                }
                if recipient != Recipient::One(Half::Client) {
                    server.extend_from_slice(octets);
                }
            });
        }
        assert!(!router.is_undecided());
        [client, server]
    }

    #[test]
    fn each_half_gets_its_messages_however_they_are_cut() {
        let request = message(2, 1, 0, b"a request");
        let reply = message(2, 0, 1, b"a reply");
        let cancel = message(2, 0, 2, b"1234");
        let located = message(2, 1, 4, b"located");
        let of_even = message(2, 0, 7, b"\x00\x00\x00\x08more");
        let of_odd = message(2, 1, 7, b"\x09\x00\x00\x00more");
        let empty = message(2, 0, 3, b"");
        let close = message(2, 0, 5, b"");
        let all = [
            &request, &reply, &of_even, &cancel, &of_odd, &located, &empty, &close,
        ];
        let octets: Vec<u8> = all.into_iter().flatten().copied().collect();
        for opened_here in [true, false] {
            let (to_client, to_server) = match opened_here {
                true => (&of_even, &of_odd),
                false => (&of_odd, &of_even),
            };
            let client: Vec<u8> = match opened_here {
                true => [&reply, to_client, &located, &close]
                    .into_iter()
                    .flatten()
                    .copied()
                    .collect(),
                false => [&reply, to_client, &located, &close]
                    .into_iter()
                    .flatten()
                    .copied()
                    .collect(),
            };
            let mut server = vec![&request];
            match opened_here {
                true => server.extend([&cancel, to_server]),
                false => server.extend([to_server, &cancel]),
            }
            server.extend([&empty, &close]);
            let server: Vec<u8> = server.into_iter().flatten().copied().collect();
            for step in [1, 2, 5, 11, 12, 13, 16, 17, octets.len()] {
                let [got_client, got_server] = routed(opened_here, &octets, step);
                assert_eq!((&got_client, &got_server), (&client, &server), "{step}");
            }
        }
    }

    #[test]
    fn fragments_of_1_1_follow_their_message_and_what_is_no_message_goes_to_the_server_s_half() {
        let reply = message(1, 2, 1, b"begins");
        let more = message(1, 0, 7, b"ends");
        let octets = [reply, more].concat();
        let [client, server] = routed(true, &octets, 3);
        assert_eq!((client, server), (octets, Vec::new()));
        let nonsense = b"SSH-2.0-OpenSSH_9.9\r\n and more of it";
        let [client, server] = routed(true, nonsense, 7);
        assert_eq!((client, server), (Vec::new(), nonsense.to_vec()));
    }

    #[test]
    fn a_message_ends_where_its_header_says() {
        let octets = [message(2, 1, 0, b"12345"), message(2, 0, 1, b"")].concat();
        let mut boundary = Boundary::default();
        let mut ends = Vec::new();
        for (index, octet) in octets.iter().enumerate() {
            boundary.advance(&[*octet]);
            if boundary.is_at_end() {
                ends.push(index + 1);
            }
        }
        assert_eq!(ends, [17, octets.len()]);
        boundary.advance(&octets);
        assert!(boundary.is_at_end());
        boundary.advance(&octets[..13]);
        assert!(!boundary.is_at_end());
    }
}
