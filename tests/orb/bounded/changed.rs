//! Messages with anys, TypeCodes and values, good but for one place: each is answered, or the exception says that the
//! octets are wrong, at a bounded price.

use super::mill::{Choice, Count, DescribedRef, Handle, Leaf, MOST, Mill, Mix, Node, Note, Secret};
use std::collections::BTreeSet;
use std::path::Path;
use zorb::{Abstract, Any, Fixed, LongDouble, SystemExceptionKind as Kind, Value, minor};
use zorb_cdr::{BigEndian, Codec, Encoder, Endian, IdlReference, LittleEndian, WireFormat};
use zorb_giop::{Limits, MessageKind, Reader, RequestHeader};

/// A request that a good peer has sent, or could.
struct Good {
    operation: String,
    endian: Endian,
    body: Vec<u8>,
}

/// Anys and TypeCodes that omniORB and JacORB have sent.
fn recorded() -> Vec<Good> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let mut all = Vec::new();
    for (orb, what) in [
        ("jacorb-3.9", "anys"),
        ("jacorb-3.9", "types"),
        ("omniorb-4.2.5", "anys"),
        ("omniorb-4.2.5", "types"),
    ] {
        let file = folder.join(format!("{orb}-giop1.2-{what}.hex"));
        let text = std::fs::read_to_string(file).unwrap();
        let sent = text.lines().filter_map(|line| line.strip_prefix("> "));
        for line in sent {
            let digits = line.trim().as_bytes().chunks(2);
            let octets =
                digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16));
            let mut reader = Reader::new(Limits::default());
            reader.reserve().unwrap();
            reader.buffer().extend(octets.map(Result::unwrap));
            let message = reader.next().unwrap().expect("a message a line");
            if message.header.kind != MessageKind::Request {
                continue;
            }
            let header = RequestHeader::read(&message).unwrap();
            let operation = String::from_utf8(header.operation.to_vec()).unwrap();
            if matches!(&*operation, "check_any" | "check_type") {
                all.push(Good {
                    operation,
                    endian: message.header.endian,
                    body: message.frame.octets()[header.body..].to_vec(),
                });
            }
        }
    }
    // Every any and every type once: the other half is the same cell over again.
    let mut seen = BTreeSet::new();
    all.retain(|good| seen.insert((good.endian == Endian::Big, good.body.clone())));
    all
}

fn own() -> Vec<Good> {
    fn node(name: &str, left: Handle, right: Handle) -> Node {
        let name = name.to_owned();
        Node { name, left, right }
    }
    let shared = Value::new(node("shared", None, None));
    let leaf = Value::new(Leaf {
        base: node("leaf", Some(shared.clone()), None),
        weight: 0.5,
    });
    let root = Value::new(node("root", Some(leaf.upcast()), Some(shared.clone())));
    shared.write().right = Some(root.clone());
    let mix = Mix {
        which: Choice::More(vec![
            Choice::Text("text".to_owned()),
            Choice::More(Vec::new()),
        ]),
        price: "-123.45".parse::<Fixed<7, 2>>().unwrap(),
        exact: LongDouble::from(0.5),
        wide: "wide €".to_owned(),
        what: Any::new(&Any::new(&vec![1_i32, 2]).unwrap()).unwrap(),
        about: Some(Abstract::<DescribedRef>::Value(
            Value::new(Note {
                text: "note".to_owned(),
            })
            .upcast(),
        )),
        number: Some(Value::new(Count { value: 7 })),
    };
    let secret = Value::new(Secret {
        text: "secret".to_owned(),
        about: Some(leaf.upcast()),
    });
    let format = WireFormat::default();
    let mut all = Vec::new();
    let mut add = |operation: &str, e: Encoder<LittleEndian>| {
        all.push(Good {
            operation: operation.to_owned(),
            endian: Endian::Little,
            body: e.finish().to_vec(),
        });
    };
    let mut e = Encoder::new(format);
    <Value<Node> as IdlReference>::Codec::encode(&Some(root.clone()), &mut e).unwrap();
    add("walk", e);
    let mut e = Encoder::new(format);
    e.put(&mix).unwrap();
    add("grind", e);
    // Without the way back to itself, or it would be refused.
    shared.write().right = None;
    let mut e = Encoder::new(format);
    <Value<Secret> as IdlReference>::Codec::encode(&Some(secret), &mut e).unwrap();
    add("hide", e);
    let any = Any::new(&Some(root)).unwrap();
    let mut e = Encoder::new(format);
    e.write_u32(0);
    e.write_i32(0);
    e.put(&any).unwrap();
    add("check_any", e);
    all
}

const OCTETS: [u8; 5] = [0, 2, 0x7f, 0x80, 0xff];
const LONGS: [u32; 16] = [
    0,
    1,
    11,
    15,
    16,
    21,
    29,
    30,
    0x7fff_ff00,
    0x7fff_ff0a,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff0,
    0xffff_fffc,
    0xffff_ffff,
    1 << 20,
];

/// The body changed in one place, in every way.
fn changed(good: &Good, salt: usize) -> Vec<Vec<u8>> {
    let body = &good.body;
    let mut all = Vec::new();
    let places = |step: usize| (0..body.len()).step_by(step).skip(salt % 3);
    let step = (body.len() / 12).max(1);
    for at in places(step) {
        all.push(body[..at].to_vec());
        let octet = OCTETS[(at + salt) % OCTETS.len()];
        for octet in [octet, body[at] ^ 1] {
            let mut body = body.clone();
            body[at] = octet;
            all.push(body);
        }
        let long = at & !3;
        for nth in 0..4 {
            let long_value = LONGS[(at / step * 4 + nth + salt) % LONGS.len()];
            let octets = match good.endian {
                Endian::Big => long_value.to_be_bytes(),
                Endian::Little => long_value.to_le_bytes(),
            };
            let mut body = body.clone();
            let end = body.len().min(long + 4);
            body[long..end].copy_from_slice(&octets[..end - long]);
            all.push(body);
        }
        // A piece of it somewhere else.
        let mut body = body.clone();
        let (from, to) = ((long / 2) & !3, long);
        let len = 8.min(body.len() - to);
        body.copy_within(from..from + len, to);
        all.push(body);
    }
    all
}

#[tokio::test]
async fn good_messages_that_were_changed_in_one_place_are_answered_or_malformed() {
    let mut mill = Mill::start().await;
    let mut good = own();
    good.extend(recorded());
    let (mut answered, mut malformed, mut conversions) = (0, 0, 0);
    for (salt, good) in good.iter().enumerate() {
        let bodies = changed(good, salt);
        let whole = (true, good.body.clone());
        let bodies = bodies.into_iter().map(|body| (false, body));
        for (is_whole, body) in core::iter::once(whole).chain(bodies) {
            let answer = match good.endian {
                Endian::Big => mill.answer::<BigEndian>(&good.operation, true, &body).await,
                Endian::Little => {
                    mill.answer::<LittleEndian>(&good.operation, true, &body)
                        .await
                }
            };
            match answer {
                Ok(()) => answered += 1,
                // Values of rich.idl, which this server does not know.
                Err(error) if error.minor == minor::NO_VALUE_FACTORY => malformed += 1,
                Err(error) if is_whole => panic!("{}: {error}", good.operation),
                Err(error) if error.kind == Kind::Marshal => malformed += 1,
                Err(error) if error.kind == Kind::DataConversion => conversions += 1,
                Err(error) => panic!("{} {body:02x?}: {error}", good.operation),
            }
            assert!(
                mill.most < MOST,
                "{} {body:02x?}: {} octets",
                good.operation,
                mill.most
            );
            let held = mill.held;
            assert!(
                held.peak < MOST && held.live < MOST,
                "{} {body:02x?}: {held:?}",
                good.operation
            );
        }
    }
    let seen = format!("{answered} answered, {malformed} malformed, {conversions} of other text");
    assert!(answered > 1000 && malformed > 1000, "{seen}");
}
