//! The receiving side: frames become messages of GIOP again, however the stream is cut. Sans I/O.

use super::frame::{FRAME, Frame, Kind, Numbers, invalid, is_prefix};
use bytes::{Buf, BytesMut};
use std::io;

/// Octets that are received at a time, before they are passed on.
const READ_OCTETS: usize = 4 << 10;
/// Octets of a message that are received where they are wanted, if so many are still to come.
const DIRECT: usize = 2 << 10;

/// Turns the frames of a connection into messages.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    numbers: Numbers,
    /// Octets that were received and not passed on.
    received: BytesMut,
    /// A prefix that is being passed on, and how much of it has been.
    prefix: Vec<u8>,
    passed: usize,
    /// Octets of the message at hand that are still to be passed on as they come.
    body: usize,
    /// Octets of the prefix that is to have a number, and those of it that have come.
    named: Option<(usize, Vec<u8>)>,
}

/// Octets that may be appended without an allocation.
fn room(buffer: &BytesMut) -> usize {
    buffer.capacity().saturating_sub(buffer.len())
}

impl Receiver {
    /// A receiver of octets that begin with these.
    pub(crate) fn behind(received: BytesMut) -> Self {
        Self {
            received,
            ..Self::default()
        }
    }

    /// Whether no octets can be passed on before more are received.
    pub(crate) fn waits(&self) -> bool {
        self.passed == self.prefix.len()
            && match self.body {
                0 => self.received.len() < FRAME,
                _ => self.received.is_empty(),
            }
    }

    /// Appends octets of messages to `to`, which it receives by `read`, and returns how many. 0 is the end of the stream.
    ///
    /// # Errors
    /// Those of `read`; `InvalidData` for octets that are no frame; `InvalidInput` if `to` has no room.
    pub(crate) fn read(
        &mut self,
        to: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if room(to) == 0 {
            // A result of 0 octets would mean the end of the stream.
            return Err(io::ErrorKind::InvalidInput.into());
        }
        loop {
            let octets = self.pass_on(to)?;
            if octets > 0 {
                return Ok(octets);
            }
            if self.body >= DIRECT && self.named.is_none() && self.received.is_empty() {
                return self.read_body(to, read);
            }
            self.received.reserve(READ_OCTETS);
            if read(&mut self.received)? == 0 {
                return Ok(0);
            }
        }
    }

    /// Receives octets of a body where they are wanted.
    fn read_body(
        &mut self,
        to: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let before = to.len();
        let octets = read(to)?;
        let of_body = octets.min(self.body);
        self.body = self.body.saturating_sub(of_body);
        let end = before.saturating_add(of_body);
        if let Some(behind) = to.get(end..).filter(|behind| !behind.is_empty()) {
            self.received.extend_from_slice(behind);
            to.truncate(end);
        }
        Ok(of_body)
    }

    /// Passes on what was received, while there is room; returns how many octets.
    fn pass_on(&mut self, to: &mut BytesMut) -> io::Result<usize> {
        let before = to.len();
        loop {
            let room = room(to);
            if room == 0 {
                break;
            }
            if let Some(rest) = (self.prefix.get(self.passed..)).filter(|rest| !rest.is_empty()) {
                let part = rest.get(..room).unwrap_or(rest);
                to.extend_from_slice(part);
                self.passed = self.passed.saturating_add(part.len());
            } else if self.body > 0 {
                let here: &[u8] = &self.received;
                let most = self.body.min(room);
                let part = here.get(..most).unwrap_or(here);
                let octets = part.len();
                if octets == 0 {
                    break;
                }
                to.extend_from_slice(part);
                if let Some((wanted, named)) = &mut self.named {
                    let lacks = wanted.saturating_sub(named.len());
                    named.extend_from_slice(part.get(..lacks).unwrap_or(part));
                    if named.len() == *wanted {
                        self.numbers.push(named);
                        self.named = None;
                    }
                }
                self.received.advance(octets);
                self.body = self.body.saturating_sub(octets);
            } else if let Some(octets) = self.received.first_chunk() {
                match Frame::of(octets).and_then(|frame| self.begin(frame, to)) {
                    Ok(()) => self.received.advance(FRAME),
                    // Whole messages are passed on first; the next read finds the error again.
                    Err(_) if to.len() > before => break,
                    Err(error) => return Err(error),
                }
            } else {
                break;
            }
        }
        Ok(to.len().saturating_sub(before))
    }

    /// Begins a message by its frame, and passes on the prefix that it stands for if there is room.
    fn begin(&mut self, frame: Frame, to: &mut BytesMut) -> io::Result<()> {
        let length = usize::try_from(frame.length).map_err(io::Error::other)?;
        match frame.kind {
            Kind::Whole => {}
            Kind::Named => {
                let prefix = usize::try_from(frame.id).map_err(io::Error::other)?;
                let is_next = self.numbers.next(prefix) == Some(usize::from(frame.number));
                if !is_next || !is_prefix(prefix, length) {
                    return Err(invalid(
                        "expected the next number, for a prefix of its message",
                    ));
                }
                self.named = Some((prefix, Vec::with_capacity(prefix)));
            }
            Kind::Numbered => {
                let Some(prefix) = self.numbers.get(usize::from(frame.number)) else {
                    return Err(invalid("expected a number that stands for a prefix"));
                };
                self.prefix.clear();
                self.passed = 0;
                match prefix.octets() <= room(to) {
                    true => prefix.write(frame.id, frame.length, to)?,
                    false => prefix.write(frame.id, frame.length, &mut self.prefix)?,
                }
            }
        }
        self.body = length;
        Ok(())
    }
}
