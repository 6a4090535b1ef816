//! Big-endian requests of ours. An `Orb` writes in the byte order of its machine, so this is a small
//! client of its own on the encoder and decoder that ORBs on big-endian machines use.

use crate::digest::{Value, digest_of};
use crate::peers::profile;
use crate::support::HANG;
use std::io::{Read, Write};
use std::net::TcpStream;
use zorb::{Bytes, Ior};
use zorb_cdr::{BigEndian, Decode, Decoder, Encode, Encoder, Endian, LittleEndian, WireFormat};
use zorb_giop::codeset::{CodeSetInfo, CodeSets};
use zorb_giop::ior::ComponentTag;
use zorb_giop::{
    Limits, Message, MessageKind, Reader, ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags,
    ServiceContext, Version,
};

pub(crate) struct Caller {
    stream: TcpStream,
    reader: Reader,
    pub(crate) version: Version,
    key: Bytes,
    pub(crate) format: WireFormat,
    contexts: Vec<ServiceContext>,
    requests: u32,
    /// The order of the replies.
    order: &'static str,
}

impl Caller {
    pub(crate) fn to(reference: &str, order: &'static str) -> Self {
        let digits = reference.strip_prefix("IOR:").expect("a reference");
        let profile = profile(&Ior::from_hex(digits).expect("a reference"));
        let address = (profile.address.host.as_str(), profile.address.port);
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(HANG)).expect("not zero");
        let info = profile.component(ComponentTag::CODE_SETS);
        let info = info.map(|data| CodeSetInfo::from_component(data).expect("code sets"));
        let agreed = CodeSets::negotiate(info.as_ref(), None);
        let stated = info.is_some() && profile.version > Version::V1_0;
        Self {
            stream,
            reader: Reader::new(Limits::default()),
            version: profile.version,
            key: profile.object_key,
            format: WireFormat {
                minor: profile.version.minor,
                char_set: agreed.char_set,
                wchar_set: agreed.wchar_set,
                ..WireFormat::default()
            },
            contexts: stated
                .then(|| agreed.to_context().expect("no text in it"))
                .into_iter()
                .collect(),
            requests: 0,
            order,
        }
    }

    /// Sends one request and waits for its reply.
    fn reply(
        &mut self,
        operation: &str,
        arguments: impl FnOnce(&mut Encoder<BigEndian>),
    ) -> Message {
        self.requests += 1;
        let request = RequestBuilder {
            version: self.version,
            request_id: self.requests,
            response: ResponseFlags::WithTarget,
            key: &self.key,
            operation,
            contexts: &self.contexts,
        };
        let encoder = Encoder::<BigEndian>::new(self.format);
        let octets = request.encode(encoder, |e| {
            arguments(e);
            Ok(())
        });
        let octets = octets.expect("it can be encoded").to_vec();
        assert_eq!(octets[6] & 1, 0, "the request says that it is big-endian");
        self.stream.write_all(&octets).expect("the server reads");
        loop {
            if let Some(message) = self.reader.next().expect("a message of GIOP") {
                assert_eq!(message.header.kind, MessageKind::Reply);
                return message;
            }
            let mut some = [0; 8192];
            let n = self.stream.read(&mut some).expect("the server answers");
            assert!(n > 0, "{operation}: the server closed the connection");
            self.reader.buffer().extend_from_slice(&some[..n]);
        }
    }

    /// `T echo_xxx(in T a, inout T b, in unsigned long long check, out T c)`.
    pub(crate) fn ask<T>(&mut self, operation: &str, a: &T, b: &T, check: u64) -> (T, T, T)
    where
        T: Encode + for<'de> Decode<'de>,
    {
        let message = self.reply(operation, |e| {
            e.put(a).expect("a");
            e.put(b).expect("b");
            e.put(&check).expect("the check");
        });
        let header = ReplyHeader::read(&message).expect("a reply");
        assert_eq!(header.request_id, self.requests);
        assert_eq!(header.status, ReplyStatus::NoException, "{operation}");
        let found = match message.header.endian {
            Endian::Big => {
                assert_eq!(self.order, "be");
                Decoder::<BigEndian>::at(&message.frame, header.body, self.format).and_then(read)
            }
            Endian::Little => {
                assert_eq!(self.order, "le");
                Decoder::<LittleEndian>::at(&message.frame, header.body, self.format).and_then(read)
            }
        };
        found.expect("a result")
    }

    /// The same, checked by the rules.
    pub(crate) fn echo<T>(&mut self, operation: &str, a: &T, b: &T)
    where
        T: Value<Owned = T> + Encode + for<'de> Decode<'de>,
    {
        let both = |x: &T, y: &T| {
            digest_of(|d| {
                x.feed(d);
                y.feed(d);
            })
        };
        let found = self.ask(operation, a, b, both(a, b));
        let same = |what, x: &T, y: &T| assert_eq!(both(x, x), both(y, y), "{operation}: {what}");
        same("result", &found.0, &a.twisted());
        same("inout", &found.1, a);
        same("out", &found.2, b);
    }
}

fn read<T: for<'de> Decode<'de>, O: zorb_cdr::ByteOrder>(
    mut d: Decoder<'_, O>,
) -> Result<(T, T, T), zorb_cdr::DecodeError> {
    Ok((d.get()?, d.get()?, d.get()?))
}
