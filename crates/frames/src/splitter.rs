//! The sending end: datagrams of frames.

use crate::header::{HEADER, Header};
use std::io;

/// Makes datagrams of the frames of a stream.
#[derive(Debug)]
pub struct Splitter {
    stream: u32,
    sequence: u32,
    /// Octets of a frame in a datagram.
    room: usize,
    datagram: Vec<u8>,
}

impl Splitter {
    /// A stream of this number, whose datagrams have at most so many octets. `None` if that is no more than a [header](crate::HEADER).
    ///
    /// 1,400 octets pass most networks in one packet; a frame of AAL5 may have 65,535.
    #[must_use]
    pub fn new(stream: u32, max_datagram: usize) -> Option<Self> {
        let room = max_datagram.checked_sub(HEADER).filter(|room| *room > 0)?;
        Some(Self {
            stream,
            sequence: 0,
            room,
            datagram: Vec::with_capacity(max_datagram.min(u16::MAX.into())),
        })
    }

    /// Sets the number of the next frame, 0 unless set: frames behind a change of the sender go on where those of another one ended.
    #[must_use]
    pub const fn beginning_at(mut self, sequence: u32) -> Self {
        self.sequence = sequence;
        self
    }

    /// Returns the number of the next frame: without [`beginning_at`](Self::beginning_at), how many there were, modulo 2³².
    #[must_use]
    pub const fn next_sequence(&self) -> u32 {
        self.sequence
    }

    /// Sends a frame, by a call of `send` for each datagram. Allocates nothing.
    ///
    /// # Errors
    /// `InvalidInput` for a frame of more than 65,535 pieces, of which nothing is sent. The first error of `send`, behind which the rest
    /// of the frame is left out: it is lost, and the next one has the next number.
    pub fn send(
        &mut self,
        timestamp: u64,
        frame: &[u8],
        mut send: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let pieces = frame.len().div_ceil(self.room).max(1);
        let pieces = u16::try_from(pieces).map_err(|_| {
            let why = "the frame has more than 65535 pieces";
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let mut rest = frame;
        for piece in 0..pieces {
            let (octets, behind) = rest.split_at(rest.len().min(self.room));
            rest = behind;
            let header = Header {
                stream: self.stream,
                sequence,
                piece,
                pieces,
                timestamp,
            };
            self.datagram.clear();
            header.write(&mut self.datagram);
            self.datagram.extend_from_slice(octets);
            send(&self.datagram)?;
        }
        Ok(())
    }
}
