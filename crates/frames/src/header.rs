//! The header of a datagram.

const MAGIC: [u8; 4] = *b"ZAV1";

/// Octets of a datagram before its piece of a frame.
pub const HEADER: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) stream: u32,
    pub(crate) sequence: u32,
    pub(crate) piece: u16,
    pub(crate) pieces: u16,
    pub(crate) timestamp: u64,
}

impl Header {
    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&MAGIC);
        to.extend_from_slice(&self.stream.to_be_bytes());
        to.extend_from_slice(&self.sequence.to_be_bytes());
        to.extend_from_slice(&self.piece.to_be_bytes());
        to.extend_from_slice(&self.pieces.to_be_bytes());
        to.extend_from_slice(&self.timestamp.to_be_bytes());
    }

    /// Reads the header of a datagram, and returns it with the piece behind it. `None` if it is none.
    pub(crate) fn read(datagram: &[u8]) -> Option<(Self, &[u8])> {
        let rest = datagram.strip_prefix(&MAGIC)?;
        let (stream, rest) = rest.split_first_chunk()?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let (piece, rest) = rest.split_first_chunk()?;
        let (pieces, rest) = rest.split_first_chunk()?;
        let (timestamp, octets) = rest.split_first_chunk()?;
        let header = Self {
            stream: u32::from_be_bytes(*stream),
            sequence: u32::from_be_bytes(*sequence),
            piece: u16::from_be_bytes(*piece),
            pieces: u16::from_be_bytes(*pieces),
            timestamp: u64::from_be_bytes(*timestamp),
        };
        Some((header, octets))
    }
}
