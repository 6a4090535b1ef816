//! Bodies of messages that are passed on without being decoded, and headers in their byte order.

use crate::header::{HEADER_LEN, Message};
use crate::reply::ReplySlot;
use core::fmt;
use zorb_cdr::{
    ByteOrder, DecodeError, Decoder, Encode, EncodeError, EncodeErrorKind, Encoder, Endian,
    WCharSet, WireFormat,
};

/// Data in a body is aligned by its offset from the start of the message, at most to this.
const ALIGNMENT: usize = 8;

/// The arguments of a request, or the results or the user exception of a reply, as they lie in their message: in its byte
/// order, and aligned as they are in it.
///
/// It encodes as the same octets: the header of the message that it is written into is turned to its byte order. A clone
/// costs a reference count. A gateway passes bodies on so, without knowing their types.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message, Reply message).
#[derive(Clone)]
pub struct RawBody {
    message: Message,
    start: usize,
    format: WireFormat,
}

impl RawBody {
    /// Takes the body of a message, which begins at offset `start`. `format`: that of the connection.
    #[must_use]
    pub fn new(message: &Message, start: usize, format: WireFormat) -> Self {
        Self {
            message: message.clone(),
            start,
            format,
        }
    }

    /// Takes the body of a reply. `None` if there is no reply.
    #[must_use]
    pub fn of_reply(reply: &ReplySlot, format: WireFormat) -> Option<Self> {
        let (message, start) = reply.to_message()?;
        Some(Self {
            message,
            start,
            format,
        })
    }

    /// Returns the octets, up to the end of the message.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        self.message
            .frame
            .octets()
            .get(self.start..)
            .unwrap_or_default()
    }

    /// Returns the byte order of the octets.
    #[must_use]
    pub const fn endian(&self) -> Endian {
        self.message.header.endian
    }

    /// Returns the code sets and the GIOP version by which the octets are read.
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Returns a decoder of the octets. `O` has to be their [byte order](Self::endian).
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the body begins behind the end of the message.
    pub fn decoder<O: ByteOrder>(&self) -> Result<Decoder<'_, O>, DecodeError> {
        Decoder::at(&self.message.frame, self.start, self.format)
    }

    /// Checks that the octets mean the same in a message of another format, behind `position` octets of it.
    fn check(&self, format: WireFormat, position: usize) -> Result<(), EncodeError> {
        let own = self.format;
        // Where one side has no set for wide text, none is in the body, or its receiver refuses it.
        let none = [own.wchar_set, format.wchar_set].contains(&WCharSet::None);
        let wide = own.wchar_set == format.wchar_set || none;
        let refused = if own.minor.min(2) != format.minor.min(2) {
            "a body of the GIOP version of the connection"
        } else if own.char_set != format.char_set || !wide {
            "a body in the code sets of the connection"
        } else if !self.message.frame.fragment_starts().is_empty() {
            "a body that did not come in fragments of GIOP 1.1"
        } else if self.start % ALIGNMENT != position % ALIGNMENT {
            "a body with the alignment of the message"
        } else {
            return Ok(());
        };
        Err(EncodeErrorKind::Expected(refused).into())
    }
}

impl fmt::Debug for RawBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawBody")
            .field("octets", &self.octets().len())
            .field("endian", &self.endian())
            .field("format", &self.format)
            .finish()
    }
}

/// Bodies are equal if their octets are, and their byte order and format.
impl PartialEq for RawBody {
    fn eq(&self, other: &Self) -> bool {
        self.endian() == other.endian()
            && self.format == other.format
            && self.octets() == other.octets()
    }
}

/// Writes the octets as they are, and turns the header before them to their byte order. Refuses a message whose GIOP version,
/// code sets or alignment would give them another meaning.
impl Encode for RawBody {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        let octets = self.octets();
        if octets.is_empty() {
            return Ok(());
        }
        self.check(e.format(), e.position())?;
        if self.endian() != e.endian() {
            let reversed = e.reverse(|octets| Header::<O>::new(octets)?.reverse());
            reversed.ok_or(EncodeErrorKind::Expected("a header that can be read"))?;
        }
        let start = self.message.frame.len().saturating_sub(octets.len());
        e.append_shared(&self.message.frame.bytes().slice(start..));
        Ok(())
    }
}

/// The header of a request in byte order `O`, which is turned to the other one from its front to its end.
struct Header<'a, O> {
    octets: &'a mut [u8],
    at: usize,
    minor: u8,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: ByteOrder> Header<'a, O> {
    /// `None` for fewer octets than a message has at least.
    fn new(octets: &'a mut [u8]) -> Option<Self> {
        let [_, _, _, _, _, minor, flags, kind, _, _, _, _] =
            octets.first_chunk_mut::<HEADER_LEN>()?;
        *flags ^= 1;
        let (minor, kind) = (*minor, *kind);
        (kind == 0).then_some(Self {
            octets,
            at: HEADER_LEN,
            minor,
            order: core::marker::PhantomData,
        })
    }

    /// Turns all numbers between the message header, whose size is filled in later, and the body.
    fn reverse(mut self) -> Option<()> {
        if self.minor >= 2 {
            self.long()?;
            self.skip(4)?;
            match self.short()? {
                0 => self.sequence()?,
                1 => self.tagged()?,
                _ => {
                    self.long()?;
                    self.sequence()?;
                    self.list()?;
                }
            }
            self.sequence()?;
            return self.list();
        }
        self.list()?;
        self.long()?;
        self.skip(1)?;
        self.sequence()?;
        self.sequence()?;
        self.sequence()
    }

    fn skip(&mut self, octets: usize) -> Option<()> {
        self.at = self.at.checked_add(octets)?;
        Some(())
    }

    fn short(&mut self) -> Option<u16> {
        self.at = self.at.checked_next_multiple_of(2)?;
        let octets = self.octets.get_mut(self.at..)?.first_chunk_mut()?;
        let value = O::load_u16(*octets);
        octets.reverse();
        self.skip(2)?;
        Some(value)
    }

    fn long(&mut self) -> Option<u32> {
        self.at = self.at.checked_next_multiple_of(4)?;
        let octets = self.octets.get_mut(self.at..)?.first_chunk_mut()?;
        let value = O::load_u32(*octets);
        octets.reverse();
        self.skip(4)?;
        Some(value)
    }

    /// Octets with their number before them, or text.
    fn sequence(&mut self) -> Option<()> {
        let octets = usize::try_from(self.long()?).ok()?;
        self.skip(octets)
    }

    /// A profile or a service context. Its data have a byte order of their own.
    fn tagged(&mut self) -> Option<()> {
        self.long()?;
        self.sequence()
    }

    fn list(&mut self) -> Option<()> {
        for _ in 0..self.long()? {
            self.tagged()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Ior, MessageHeader, RequestBuilder, RequestHeader, ResponseFlags, ServiceContext,
        ServiceContextId, TargetAddress, Version,
        ior::{ProfileTag, TaggedProfile},
    };
    use bytes::Bytes;
    use zorb_cdr::{BigEndian, CharSet, Frame, LittleEndian};

    fn message(octets: Vec<u8>) -> Message {
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        let frame = Frame::new(octets.into());
        Message { header, frame }
    }

    /// A request whose body is two numbers that need alignment, or another body.
    fn request<O: ByteOrder>(
        version: Version,
        target: &TargetAddress<'_>,
        operation: &str,
        contexts: &[ServiceContext],
        body: Option<&RawBody>,
    ) -> Result<Message, EncodeError> {
        let builder = RequestBuilder {
            version,
            request_id: 0x0102_0304,
            response: ResponseFlags::WithTarget,
            key: b"key",
            operation,
            contexts,
        };
        let format = WireFormat {
            minor: version.minor,
            ..WireFormat::default()
        };
        let encoded = builder.encode_for(target, Encoder::<O>::new(format), |e| match body {
            Some(body) => e.put(body),
            None => e.put(&7_u8).and_then(|()| e.put(&1.5_f64)),
        });
        encoded.map(|octets| message(octets.to_vec()))
    }

    fn body(message: &Message, format: WireFormat) -> RawBody {
        let start = RequestHeader::read(message).unwrap().body;
        RawBody::new(message, start, format)
    }

    fn targets() -> [TargetAddress<'static>; 3] {
        let profile = TaggedProfile {
            tag: ProfileTag(0),
            data: Bytes::from_static(b"a profile"),
        };
        let ior = Ior {
            type_id: "IDL:A:1.0".to_owned(),
            profiles: vec![profile.clone(), profile.clone()],
        };
        [
            TargetAddress::Key(b"key"),
            TargetAddress::Profile(profile),
            TargetAddress::Reference {
                selected: 1,
                ior: Box::new(ior),
            },
        ]
    }

    #[test]
    fn a_body_is_sent_in_its_own_byte_order_and_the_header_with_it() {
        let context = |octets: &'static [u8]| ServiceContext {
            id: ServiceContextId(0x0405),
            data: Bytes::from_static(octets),
        };
        let some = [context(b"\x00abc"), context(&[7; 20_000])];
        for minor in 0..=2 {
            let version = Version { major: 1, minor };
            let format = WireFormat {
                minor,
                ..WireFormat::default()
            };
            for target in targets() {
                for contexts in [&[][..], &some] {
                    let big = request::<BigEndian>(version, &target, "turn", contexts, None);
                    let big = big.unwrap();
                    let passed = body(&big, format);
                    let little =
                        request::<LittleEndian>(version, &target, "turn", contexts, Some(&passed));
                    assert_eq!(little.unwrap().frame.octets(), big.frame.octets());
                    let same =
                        request::<BigEndian>(version, &target, "turn", contexts, Some(&passed));
                    assert_eq!(same.unwrap().frame.octets(), big.frame.octets());
                    let mut d = passed.decoder::<BigEndian>().unwrap();
                    assert_eq!(d.get::<u8>().unwrap(), 7);
                    assert_eq!(d.get::<f64>().unwrap().to_bits(), 1.5_f64.to_bits());
                }
            }
        }
    }

    #[test]
    fn a_message_that_would_give_a_body_another_meaning_is_refused() {
        let key = TargetAddress::Key(b"key");
        let whole = request::<BigEndian>(Version::V1_2, &key, "turn", &[], None).unwrap();
        let sent = |version, operation: &str, format| {
            let body = body(&whole, format);
            request::<BigEndian>(version, &key, operation, &[], Some(&body))
        };
        let format = WireFormat::default();
        assert!(sent(Version::V1_2, "any_other_name", format).is_ok());
        let latin1 = WireFormat {
            char_set: CharSet::Latin1,
            ..format
        };
        for (format, expected) in [
            (latin1, "code sets"),
            (WireFormat { minor: 1, ..format }, "version"),
        ] {
            let refused = sent(Version::V1_2, "turn", format).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        // Before GIOP 1.2 a body begins wherever the header ends.
        let before = WireFormat { minor: 1, ..format };
        let names: Vec<String> = (1..17).map(|octets| "n".repeat(octets)).collect();
        let mut aligned = names
            .iter()
            .map(|name| sent(Version::V1_1, name, before).is_ok());
        assert!(aligned.clone().any(|is| is) && aligned.any(|is| !is));
    }

    #[test]
    fn an_empty_body_fits_into_every_message() {
        let empty = RawBody::new(
            &message(b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00".to_vec()),
            12,
            WireFormat::default(),
        );
        let key = TargetAddress::Key(b"key");
        let sent = request::<LittleEndian>(Version::V1_0, &key, "turn", &[], Some(&empty));
        assert_eq!(sent.unwrap().header.endian, Endian::Little);
    }

    #[test]
    fn what_is_no_header_is_not_reversed() {
        for octets in [
            &b""[..],
            b"GIOP\x01\x02\x00\x00",
            b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00\x00",
            &[0xff; 40],
        ] {
            let mut octets = octets.to_vec();
            let reversed = Header::<BigEndian>::new(&mut octets).and_then(Header::reverse);
            assert_eq!(reversed, None);
        }
    }
}
