//! Big-endian requests of ours. An `Orb` writes in the byte order of its machine, so this is a small
//! client of its own on the encoder and decoder that ORBs on big-endian machines use.

use crate::idl::interop::types::{Bundle, Inner, Odd, Outer, WideBundle};
use crate::jacorb::JACORB;
use crate::matrix::Talk;
use crate::omniorb::OMNIORB;
use crate::peers::{Brand, Over, Way, profile};
use crate::rules::{Value, digest_of};
use crate::samples::{Dice, Sample, bundle, wide_bundle};
use crate::support::{HANG, passed};
use std::io::{Read, Write};
use std::net::TcpStream;
use zorb::{Bytes, Ior};
use zorb_cdr::{
    BigEndian, CharSet, Decode, Decoder, Encode, Encoder, Endian, LittleEndian, WireFormat,
};
use zorb_giop::codeset::{CodeSetInfo, CodeSets};
use zorb_giop::ior::ComponentTag;
use zorb_giop::{
    Limits, Message, MessageKind, Reader, ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags,
    ServiceContext, Version,
};

struct Caller {
    stream: TcpStream,
    reader: Reader,
    version: Version,
    key: Bytes,
    format: WireFormat,
    contexts: Vec<ServiceContext>,
    requests: u32,
    /// The order of the replies.
    order: &'static str,
}

impl Caller {
    fn to(reference: &str, order: &'static str) -> Self {
        let digits = reference.strip_prefix("IOR:").expect("a reference");
        let profile = profile(&Ior::from_hex(digits).expect("a reference"));
        let address = (profile.address.host.as_str(), profile.address.port);
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(HANG)).expect("not zero");
        let info = profile.component(ComponentTag::CODE_SETS);
        let info = info.map(|data| CodeSetInfo::from_component(data).expect("code sets"));
        let agreed = CodeSets::negotiate(info.as_ref());
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
    fn echo<T>(&mut self, operation: &str, a: &T, b: &T)
    where
        T: Value<Owned = T> + Encode + for<'de> Decode<'de>,
    {
        let message = self.reply(operation, |e| {
            e.put(a).expect("a");
            e.put(b).expect("b");
            e.put(&digest_of_two(a, b)).expect("the check");
        });
        let header = ReplyHeader::read(&message).expect("a reply");
        assert_eq!(header.request_id, self.requests);
        assert_eq!(header.status, ReplyStatus::NoException, "{operation}");
        let found: (T, T, T) = match message.header.endian {
            Endian::Big => {
                assert_eq!(self.order, "be");
                Decoder::<BigEndian>::at(&message.frame, header.body, self.format).and_then(read)
            }
            Endian::Little => {
                assert_eq!(self.order, "le");
                Decoder::<LittleEndian>::at(&message.frame, header.body, self.format).and_then(read)
            }
        }
        .expect("a result");
        let same = |what, x: &T, y: &T| {
            assert_eq!(
                digest_of_two(x, x),
                digest_of_two(y, y),
                "{operation}: {what}"
            );
        };
        same("result", &found.0, &a.twisted());
        same("inout", &found.1, a);
        same("out", &found.2, b);
    }
}

fn digest_of_two<T: Value>(a: &T, b: &T) -> u64 {
    digest_of(|d| {
        a.feed(d);
        b.feed(d);
    })
}

fn read<T: for<'de> Decode<'de>, O: zorb_cdr::ByteOrder>(
    mut d: Decoder<'_, O>,
) -> Result<(T, T, T), zorb_cdr::DecodeError> {
    Ok((d.get()?, d.get()?, d.get()?))
}

fn sequences<T>(caller: &mut Caller, operation: &str)
where
    T: Sample + Value<Owned = T> + Clone,
    Vec<T>: Value<Owned = Vec<T>> + Encode + for<'de> Decode<'de>,
{
    let mut d = Dice(7);
    for (n, m) in [(0, 0), (1, 0), (2, 1), (8, 7), (33, 32), (500, 3)] {
        let (a, b): (Vec<T>, Vec<T>) = (d.many(n, T::sample), d.many(m, T::sample));
        caller.echo(operation, &a, &b);
    }
}

type Cell = (&'static str, fn(&mut Caller));

const CELLS: [Cell; 5] = [
    ("basic", |caller| {
        for v in [0, 1, 0x1234_5678, i32::MIN, -1] {
            caller.echo("echo_long", &v, &!v);
            caller.echo("echo_double", &f64::from(v), &0.1);
            caller.echo("echo_longlong", &(i64::from(v) << 20), &i64::MAX);
        }
        caller.echo("echo_short", &0x1234_i16, &-2);
        caller.echo("echo_float", &1.5_f32, &-0.0);
        caller.echo("echo_boolean", &true, &false);
    }),
    ("strings", |caller| {
        let text = |text: &str| text.to_owned();
        caller.echo("echo_string", &text("The quick brown fox"), &text(""));
        caller.echo("echo_string", &text("naïve café"), &text("ÄÖÜß"));
        sequences::<String>(caller, "echo_strings");
    }),
    ("structs", |caller| {
        let mut d = Dice(3);
        for _ in 0..8 {
            caller.echo("echo_odd", &Odd::sample(&mut d), &Odd::sample(&mut d));
            caller.echo("echo_outer", &Outer::sample(&mut d), &Outer::sample(&mut d));
        }
    }),
    ("bundles", |caller| {
        let mut d = Dice(4);
        for n in 0..9 {
            let (a, b): (Bundle, Bundle) = (bundle(&mut d, n), bundle(&mut d, n * 5 % 7));
            caller.echo("echo_bundle", &a, &b);
        }
    }),
    ("struct_sequences", |caller| {
        sequences::<Odd>(caller, "echo_odds");
        sequences::<Inner>(caller, "echo_inners");
        sequences::<Outer>(caller, "echo_outers");
    }),
];

const WIDE: Cell = ("wide_structs", |caller| {
    let mut d = Dice(23);
    for n in 0..9 {
        let (a, b): (WideBundle, WideBundle) =
            (wide_bundle(&mut d, n), wide_bundle(&mut d, n * 5 % 7));
        caller.echo("echo_wide", &a, &b);
    }
});

fn check(brand: &'static Brand, giop: &'static str, cells: &[Cell]) {
    let talk = Talk::new(giop, Over::Tcp);
    let prefix = talk.prefix(("zorb", "be"), (brand.name, brand.order));
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, talk.over, talk.args_of(brand));
    let (_server, reference) = way.start();
    let mut caller = Caller::to(&reference, brand.order);
    assert!(
        giop.ends_with(&caller.version.minor.to_string()),
        "{prefix}"
    );
    if giop == "1.0" {
        assert_eq!(caller.format.char_set, CharSet::Latin1);
    }
    for (name, cell) in cells {
        cell(&mut caller);
        passed(&format!("{prefix}/{name}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_big_endian_requests_are_understood_by_omniorb() {
    check(&OMNIORB, "1.0", &CELLS);
    check(&OMNIORB, "1.1", &CELLS);
    check(&OMNIORB, "1.2", &[&CELLS[..], &[WIDE]].concat());
}

/// But for text beyond ASCII, for which an `Orb` knows in which set JacORB answers.
#[tokio::test(flavor = "multi_thread")]
async fn our_big_endian_requests_are_understood_by_jacorb() {
    let cells = CELLS.into_iter().filter(|(name, _)| *name != "strings");
    let cells: Vec<Cell> = cells.chain([WIDE]).collect();
    check(&JACORB, "1.2", &cells);
}
