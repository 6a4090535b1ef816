//! Work in proportion: what a peer sends is read, looked up, compared and printed at a cost that is linear in its octets.
//!
//! Each case makes an input of about so many octets that would be slow if some step cost more than that: long names that
//! many parts refer to, parts that each look at all others. `tests/work.rs` counts what a case costs at n and at 4n.

use bytes::Bytes;
use std::fmt::{Display, Write};
use std::hint::black_box;
use zorb::{Orb, Value};
use zorb_cdr::{
    Any, BigEndian, CharSet, Decode, Decoder, Encoder, Endian, Frame, LittleEndian, TypeCode,
    WireFormat,
};
use zorb_giop::codeset::{CodeSetInfo, CodeSets};
use zorb_giop::ior::{
    ComponentTag, IiopAddress, ProfileBody, ProfileTag, TaggedComponent, TaggedProfile,
    decode_encapsulation, encapsulate,
};
use zorb_giop::{
    ExposedPolicies, Ior, Limits, MessageHeader, MessageKind, Reader, RequestBuilder,
    RequestHeader, ResponseFlags, ServiceContext, ServiceContextId, SystemException, Version,
};
use zorb_poa::{InstanceId, ObjectAdapter, ObjectKey, Path, Policies};

/// Does the work of a case.
pub type Work = Box<dyn FnOnce()>;

/// Makes an input of about so many octets, and the work that is done with it.
pub type Case = fn(usize) -> Work;

/// All cases by name.
pub const CASES: &[(&str, Case)] = &[
    ("keys of many names", many_names),
    ("keys of long names of adapters that exist", long_names),
    ("codes in keys", codes),
    ("contexts of a request", contexts),
    ("the context of code sets", code_sets_context),
    ("contexts of lists", crate::contexts::work),
    ("security contexts", crate::csi::work),
    ("profiles of a reference", profiles),
    ("components of a profile", components),
    ("an endpoint that a profile repeats", repeated_endpoint),
    ("components of other kinds", other_components),
    ("members of a TypeCode", members),
    ("indirections of a TypeCode", indirections),
    ("labels of a union", labels),
    ("enumerators that many members refer to", enumerators),
    ("comparing TypeCodes", comparing),
    ("printing TypeCodes without names", nameless),
    ("printing long names", long_type_names),
    ("anys", anys),
    ("printing anys", printing_anys),
    ("comparing anys", comparing_anys),
    ("anys of values whose type has a long id", values_in_anys),
    (
        "sequences of elements that may take no octets",
        empty_elements,
    ),
    ("values", values),
    ("values in memory", crate::in_memory::work),
    ("values that refer to a long id", long_ids),
    ("values that refer to each other", shared_values),
    ("chunks of values", chunks),
    ("text of code sets", text),
    ("fragments", fragments),
    ("exceptions", exceptions),
];

/// Octets of a TypeCode or another encapsulation with a length in front, as they stand within another one.
struct Octets(Vec<u8>);

/// Octets in little-endian, aligned as in a stream that begins with them.
impl Octets {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn u32(&mut self, n: usize) -> &mut Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        let n = u32::try_from(n).expect("few");
        self.0.extend(n.to_le_bytes());
        self
    }

    /// A string with its NUL.
    fn string(&mut self, text: &str) -> &mut Self {
        self.u32(text.len() + 1);
        self.0.extend(text.as_bytes());
        self.0.push(0);
        self
    }

    /// An encapsulation, whose alignment begins anew. All of its parts are aligned to four octets at most, and it begins at
    /// such a place, so it is written where it stands: indirections within it count from there.
    fn encapsulation(&mut self, contents: impl FnOnce(&mut Self)) -> &mut Self {
        self.u32(0);
        let begin = self.0.len();
        // The byte order.
        self.0.push(1);
        contents(self);
        let size = u32::try_from(self.0.len() - begin).expect("few");
        let at = begin - 4;
        self.0[at..begin].copy_from_slice(&size.to_le_bytes());
        self
    }

    /// An indirection to a place.
    fn indirection(&mut self, to: usize) -> &mut Self {
        self.u32(u32::MAX as usize);
        let back = i32::try_from(self.0.len() - to).expect("few");
        self.0.extend((-back).to_le_bytes());
        self
    }

    fn frame(self) -> Frame {
        Frame::new(Bytes::from(self.0))
    }
}

/// Kinds of TypeCodes.
const TK_NULL: usize = 0;
const TK_LONG: usize = 3;
const TK_ANY: usize = 11;
const TK_STRUCT: usize = 15;
const TK_UNION: usize = 16;
const TK_ENUM: usize = 17;
const TK_SEQUENCE: usize = 19;
const TK_VALUE: usize = 29;

fn decode<T: for<'de> Decode<'de>>(frame: &Frame) -> T {
    let mut d = Decoder::<LittleEndian>::at(frame, 0, WireFormat::DEFAULT).expect("a start");
    d.get().expect("it can be read")
}

/// Decodes what need not be valid.
fn try_decode<T: for<'de> Decode<'de>>(frame: &Frame) -> Option<T> {
    let mut d = Decoder::<LittleEndian>::at(frame, 0, WireFormat::DEFAULT).ok()?;
    d.get().ok()
}

fn print(shown: impl Display) {
    let mut text = String::new();
    write!(text, "{shown:#}").expect("a string takes all");
    black_box(text);
}

fn key(names: Vec<String>) -> Bytes {
    let path = Path {
        server_id: String::new(),
        names,
    };
    let path = path.to_bytes();
    let key = ObjectKey::Persistent {
        path: &path,
        id: b"7",
    };
    key.to_bytes()
}

fn look_up(server: &ObjectAdapter, key: &[u8]) {
    black_box(server.locate(key).is_ok());
    black_box(server.key_owner(key));
    black_box(server.is_too_deep(key));
    black_box(server.may_be_activated(key));
    black_box(server.held_missing(key).is_some());
}

fn many_names(n: usize) -> Work {
    let server = ObjectAdapter::new(InstanceId(1), "");
    let key = key(vec![String::new(); n / 4]);
    Box::new(move || {
        look_up(&server, &key);
        if let Some(ObjectKey::Persistent { path, .. }) = ObjectKey::parse(&key) {
            black_box(Path::parse(path));
        }
    })
}

/// As many adapters as may be below each other exist, but for the last of them.
fn long_names(n: usize) -> Work {
    let server = ObjectAdapter::new(InstanceId(1), "");
    let most = ObjectAdapter::DEFAULT_MAX_DEPTH;
    let names: Vec<_> = (0..most)
        .map(|level| format!("{level:0width$}", width = n / most))
        .collect();
    let mut poa = server.root().clone();
    for name in names.iter().take(most - 1) {
        let made = server.create(&poa, name, Policies::PERSISTENT, None);
        poa = made.expect("a POA");
    }
    let key = key(names);
    Box::new(move || look_up(&server, &key))
}

fn codes(n: usize) -> Work {
    let server = ObjectAdapter::new(InstanceId(1), "");
    let key = b"ZRB\x04 a code of zorb's".repeat(n / 20);
    Box::new(move || look_up(&server, &key))
}

fn contexts(n: usize) -> Work {
    let context = |n: usize| ServiceContext {
        id: ServiceContextId(u32::try_from(n).expect("few")),
        data: Bytes::new(),
    };
    let contexts: Vec<_> = (100..100 + n / 8).map(context).collect();
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 1,
        response: ResponseFlags::WithTarget,
        key: b"key",
        operation: "operation",
        contexts: &contexts,
    };
    let encoder = Encoder::<LittleEndian>::new(WireFormat::DEFAULT);
    let octets = request.encode(encoder, |_| Ok(())).expect("a request");
    let mut reader = Reader::new(Limits::default());
    reader.reserve().expect("room");
    reader.buffer().extend_from_slice(&octets.to_vec());
    let message = reader.next().expect("a message").expect("all of it");
    Box::new(move || {
        let header = RequestHeader::read(&message).expect("a header");
        for id in [ServiceContextId::CODE_SETS, ServiceContextId::BI_DIR_IIOP] {
            black_box(header.contexts.get(id));
        }
        black_box(zorb_giop::propagated_priority(&header.contexts).is_ok());
    })
}

fn code_sets_context(n: usize) -> Work {
    let data = vec![1; n];
    Box::new(move || {
        black_box(CodeSets::from_context(&data).is_ok());
        black_box(zorb_giop::exception_detail(&data));
    })
}

fn profiles(n: usize) -> Work {
    let mut octets = Octets::new();
    octets.string("IDL:a:1.0").u32(n / 8);
    for tag in 0..n / 8 {
        octets.u32(tag).u32(0);
    }
    let frame = octets.frame();
    let orb = orb();
    Box::new(move || {
        let ior: Ior = decode(&frame);
        bind(&orb, ior);
    })
}

/// An ORB that listens, so that references may be to its own objects.
fn orb() -> Orb {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let orb = runtime.block_on(Orb::builder().listen("iiop://127.0.0.1:0").build());
    // The ORB needs it as long as it lives.
    core::mem::forget(runtime);
    orb.expect("an ORB")
}

/// Reads all endpoints of a reference: an entry of the key table may be to an object of the same ORB.
fn bind(orb: &Orb, ior: Ior) {
    let object = orb.object(ior);
    black_box(orb.key_table().bind("bound", &object).is_ok());
    print(&object);
}

fn profile(key: Vec<u8>, components: Vec<TaggedComponent>) -> Ior {
    let body = ProfileBody {
        version: Version::V1_2,
        address: IiopAddress {
            host: "192.0.2.1".to_owned(),
            port: 2809,
        },
        object_key: key.into(),
        components,
    };
    Ior {
        type_id: "IDL:a:1.0".to_owned(),
        profiles: vec![body.to_tagged().expect("a profile")],
    }
}

fn components(n: usize) -> Work {
    let component = |tag: usize| TaggedComponent {
        tag: ComponentTag(u32::try_from(tag).expect("few")),
        data: Bytes::new(),
    };
    let ior = profile(
        b"key".to_vec(),
        (1000..1000 + n / 8).map(component).collect(),
    );
    let orb = orb();
    Box::new(move || bind(&orb, ior))
}

/// The key is long, and the profile has the same further address again and again.
fn repeated_endpoint(n: usize) -> Work {
    let data = encapsulate(|e| {
        e.write_raw_string(b"192.0.2.2")?;
        e.write_u16(2809);
        Ok(())
    });
    let component = TaggedComponent {
        tag: ComponentTag::ALTERNATE_IIOP_ADDRESS,
        data: data.expect("an address"),
    };
    let ior = profile(vec![b'k'; n / 2], vec![component; n / 64]);
    let orb = orb();
    Box::new(move || bind(&orb, ior))
}

fn other_components(n: usize) -> Work {
    let mut many = Octets::new();
    many.0.push(1);
    many.u32(n / 4);
    for id in 0..n / 4 {
        many.u32(0x0001_0002 + id);
    }
    many.u32(0);
    let ids = many.0;
    Box::new(move || {
        if let Ok(info) = CodeSetInfo::from_component(&ids) {
            black_box(CodeSets::negotiate(Some(&info), None));
        }
        black_box(ExposedPolicies::from_component(&ids));
        black_box(zorb_giop::platform::Platform::from_component(&ids).is_ok());
        black_box(decode_encapsulation::<Ior>(&ids).is_ok());
        let tagged = TaggedProfile {
            tag: ProfileTag::MULTIPLE_COMPONENTS,
            data: Bytes::copy_from_slice(&ids),
        };
        black_box(tagged.object_key());
    })
}

/// A struct with members of no name, of type `null`.
fn members(n: usize) -> Work {
    let mut octets = Octets::new();
    octets.u32(TK_STRUCT).encapsulation(|e| {
        e.string("IDL:S:1.0").string("S").u32(n / 12);
        for _ in 0..n / 12 {
            e.string("").u32(TK_LONG);
        }
    });
    let frame = octets.frame();
    Box::new(move || type_code(&frame))
}

/// Reads a TypeCode, and does with it what can be done.
fn type_code(frame: &Frame) {
    let ty: TypeCode = decode(frame);
    let mut e = Encoder::<BigEndian>::new(WireFormat::DEFAULT);
    e.put(&ty).expect("what was read can be written");
    black_box(e.finish());
    print(&ty);
    black_box(format!("{ty:?}"));
}

/// Structs that have members of all earlier structs, as far as there are octets.
fn nested_structs(octets: &mut Octets, n: usize) {
    octets.u32(TK_STRUCT).encapsulation(|e| {
        let (each, structs) = (16, n / 400);
        e.string("IDL:S:1.0").string("S").u32(structs);
        let mut begun = Vec::new();
        for number in 0..structs {
            e.string("").u32(TK_STRUCT);
            begun.push(e.0.len() - 4);
            e.encapsulation(|e| {
                e.string("").string("").u32(each);
                for member in 0..each {
                    e.string("");
                    match number.checked_sub(1 + member % 4).map(|at| begun[at]) {
                        Some(to) => e.indirection(to),
                        None => e.u32(TK_LONG),
                    };
                }
            });
        }
    });
}

fn indirections(n: usize) -> Work {
    let mut octets = Octets::new();
    nested_structs(&mut octets, n);
    let frame = octets.frame();
    Box::new(move || {
        let ty: TypeCode = decode(&frame);
        let mut e = Encoder::<BigEndian>::new(WireFormat::DEFAULT);
        e.put(&ty).expect("what was read can be written");
        black_box(e.finish());
    })
}

/// The text of structs without a name would be longer than any memory.
fn nameless(n: usize) -> Work {
    let mut octets = Octets::new();
    nested_structs(&mut octets, n);
    let frame = octets.frame();
    Box::new(move || type_code(&frame))
}

fn comparing(n: usize) -> Work {
    let mut octets = Octets::new();
    nested_structs(&mut octets, n);
    let frame = octets.frame();
    Box::new(move || {
        let [one, other]: [TypeCode; 2] = [decode(&frame), decode(&frame)];
        black_box(one == other);
        black_box(one.equivalent(&other));
    })
}

/// A sequence of unions, each with another label.
fn labels(n: usize) -> Work {
    let count = n / 32;
    let mut octets = Octets::new();
    octets.u32(TK_SEQUENCE).encapsulation(|e| {
        e.u32(TK_UNION).encapsulation(|e| {
            e.string("IDL:U:1.0").string("U").u32(TK_LONG);
            e.u32(u32::MAX as usize).u32(count);
            for label in 0..count {
                e.u32(label).string("").u32(TK_LONG);
            }
        });
        e.u32(0);
    });
    octets.u32(count);
    for label in 0..count {
        octets.u32(label).u32(7);
    }
    let frame = octets.frame();
    Box::new(move || any(&frame))
}

/// Reads an any, and does with it what can be done.
fn any(frame: &Frame) {
    let any: Any = decode(frame);
    let mut e = Encoder::<BigEndian>::new(WireFormat::DEFAULT);
    e.put(&any).expect("what was read can be written");
    black_box(e.finish());
    print(&any);
    black_box(any.elements().count());
    black_box(any.members().len());
}

fn enumerators(n: usize) -> Work {
    let mut octets = Octets::new();
    octets.u32(TK_STRUCT).encapsulation(|e| {
        let members = n / 24;
        e.string("IDL:S:1.0").string("S").u32(members);
        e.string("").u32(TK_ENUM);
        let begun = e.0.len() - 4;
        e.encapsulation(|e| {
            e.string("").string("").u32(n / 16);
            for _ in 0..n / 16 {
                e.string("");
            }
        });
        for _ in 1..members {
            e.string("").indirection(begun);
        }
    });
    let frame = octets.frame();
    Box::new(move || {
        let [one, other]: [TypeCode; 2] = [decode(&frame), decode(&frame)];
        black_box(one == other);
        black_box(one.equivalent(&other));
        type_code(&frame);
    })
}

/// Half of the octets is a name, which all members of the value have.
fn long_type_names(n: usize) -> Work {
    let mut octets = Octets::new();
    let members = n / 32;
    octets.u32(TK_STRUCT).encapsulation(|e| {
        e.string("IDL:S:1.0").string("S").u32(members);
        e.string("").u32(TK_ENUM);
        let begun = e.0.len() - 4;
        e.encapsulation(|e| {
            e.string("").string(&"n".repeat(n / 4)).u32(1);
            e.string(&"e".repeat(n / 4));
        });
        for _ in 1..members {
            e.string("").indirection(begun);
        }
    });
    for _ in 0..members {
        octets.u32(0);
    }
    let frame = octets.frame();
    Box::new(move || any(&frame))
}

fn sequence_of_anys(n: usize) -> Frame {
    let mut octets = Octets::new();
    octets.u32(TK_SEQUENCE).encapsulation(|e| {
        e.u32(TK_ANY).u32(0);
    });
    octets.u32(n / 8);
    for number in 0..n / 8 {
        octets.u32(TK_LONG).u32(number);
    }
    octets.frame()
}

fn anys(n: usize) -> Work {
    let frame = sequence_of_anys(n);
    Box::new(move || {
        let any: Any = decode(&frame);
        for element in any.elements() {
            black_box(element.extract::<Any>().is_ok());
        }
    })
}

fn printing_anys(n: usize) -> Work {
    let frame = sequence_of_anys(n);
    Box::new(move || any(&frame))
}

fn comparing_anys(n: usize) -> Work {
    let frame = sequence_of_anys(n);
    Box::new(move || {
        let [one, other]: [Any; 2] = [decode(&frame), decode(&frame)];
        black_box(one == other);
        black_box(one.is::<String>());
        black_box(one.extract::<Vec<i32>>().is_ok());
    })
}

/// Each value is of the type that the TypeCode states, whose id is as long as it may be.
fn values_in_anys(n: usize) -> Work {
    let mut octets = Octets::new();
    let long = (n / 2).min(zorb_cdr::Limits::ID_OCTETS);
    octets.u32(TK_SEQUENCE).encapsulation(|e| {
        e.u32(TK_VALUE).encapsulation(|e| {
            e.string(&"l".repeat(long)).string("");
            // No modifier.
            e.0.resize(e.0.len().next_multiple_of(2) + 2, 0);
            e.u32(TK_NULL).u32(1).string("").u32(TK_LONG);
            // A public member.
            e.0.extend(1_u16.to_le_bytes());
        });
        e.u32(0);
    });
    octets.u32(n / 8);
    for number in 0..n / 8 {
        octets.u32(VALUE - 2).u32(number);
    }
    let frame = octets.frame();
    Box::new(move || any(&frame))
}

/// Sequences without elements, whose type is structs within structs without any octets.
fn empty_elements(n: usize) -> Work {
    let mut octets = Octets::new();
    octets.u32(TK_SEQUENCE).encapsulation(|e| {
        e.u32(TK_SEQUENCE).encapsulation(|e| {
            let mut begun = None;
            fn level(e: &mut Octets, levels: usize, begun: &mut Option<usize>) {
                e.u32(TK_STRUCT);
                let here = e.0.len() - 4;
                e.encapsulation(|e| {
                    e.string("").string("").u32(2);
                    for _ in 0..2 {
                        e.string("");
                        match (levels, *begun) {
                            (0, _) => drop(e.u32(TK_NULL)),
                            (_, Some(to)) => drop(e.indirection(to)),
                            (_, None) => level(e, levels - 1, begun),
                        }
                    }
                });
                *begun = Some(here);
            }
            level(e, 12, &mut begun);
            e.u32(0);
        });
        e.u32(0);
    });
    octets.u32(n / 4);
    for _ in 0..n / 4 {
        octets.u32(0);
    }
    let frame = octets.frame();
    Box::new(move || black_box(try_decode::<Any>(&frame)).map_or((), print))
}

/// A tag of values: with one repository id, in chunks or not.
const VALUE: usize = 0x7fff_ff02;
const IN_CHUNKS: usize = 8;
const LIST: usize = 4;

zorb::idl! {
    module Worked {
        valuetype Node {
            public Node left;
            public Node right;
        };
        typedef sequence<Node> Nodes;
        struct All { Nodes them; };
    };
}

use worked::{All, Node};

const NODE: &str = "IDL:Worked/Node:1.0";

fn all(frame: &Frame) {
    let all = try_decode::<All>(frame);
    let mut e = Encoder::<BigEndian>::new(WireFormat::DEFAULT);
    if let Some(all) = &all {
        e.put(all).expect("what was read can be written");
    }
    black_box(e.finish());
    // Cycles are taken apart, as a program has to.
    for node in all.into_iter().flat_map(|all| all.them).flatten() {
        let node: Value<Node> = node;
        let mut state = node.write();
        (state.left, state.right) = (None, None);
    }
}

fn values(n: usize) -> Work {
    let mut octets = Octets::new();
    let count = n / 20;
    octets.u32(count);
    octets.u32(VALUE);
    let id = octets.0.len();
    octets.string(NODE).u32(0).u32(0);
    for _ in 1..count {
        octets.u32(VALUE).indirection(id).u32(0).u32(0);
    }
    let frame = octets.frame();
    Box::new(move || all(&frame))
}

/// The ids of each value are a list of one that is unknown, and long, and one that is known.
fn long_ids(n: usize) -> Work {
    let mut octets = Octets::new();
    let count = n / 48;
    octets.u32(count).u32(VALUE + LIST + IN_CHUNKS);
    octets.u32(2);
    let list = octets.0.len() - 4;
    let long = (n / 2).min(zorb_cdr::Limits::ID_OCTETS);
    octets.string(&"l".repeat(long)).string(NODE);
    for number in 0..count {
        if number > 0 {
            octets.u32(VALUE + LIST + IN_CHUNKS).indirection(list);
        }
        octets.u32(8).u32(0).u32(0).u32(u32::MAX as usize);
    }
    let frame = octets.frame();
    Box::new(move || all(&frame))
}

/// Each refers to the one before, and the first to itself.
fn shared_values(n: usize) -> Work {
    let mut octets = Octets::new();
    let count = n / 28;
    octets.u32(count).u32(VALUE);
    let mut before = octets.0.len() - 4;
    let id = octets.0.len();
    octets.string(NODE).indirection(before).u32(0);
    for _ in 1..count {
        octets.u32(VALUE);
        let here = octets.0.len() - 4;
        octets.indirection(id).indirection(before).indirection(here);
        before = here;
    }
    let frame = octets.frame();
    Box::new(move || all(&frame))
}

/// One value with as many chunks as possible, and values in them that are skipped.
fn chunks(n: usize) -> Work {
    let mut octets = Octets::new();
    octets.u32(1).u32(VALUE + IN_CHUNKS).string(NODE);
    octets.u32(4).u32(0).u32(4).u32(0);
    for _ in 0..n / 24 {
        octets.u32(4).u32(7);
        octets.u32(0x7fff_ff00 + IN_CHUNKS).u32(4).u32(7);
        octets.u32((-2_i32).cast_unsigned() as usize);
    }
    octets.u32((-1_i32).cast_unsigned() as usize);
    let frame = octets.frame();
    Box::new(move || all(&frame))
}

fn text(n: usize) -> Work {
    let octets: Vec<u8> = (0..n).map(|at| 1 + (at % 127) as u8).collect();
    Box::new(move || {
        let mut with_nul = octets.clone();
        with_nul.push(0);
        for char_set in [CharSet::Utf8, CharSet::Latin1] {
            let format = WireFormat {
                char_set,
                ..WireFormat::DEFAULT
            };
            let len = u32::try_from(with_nul.len()).expect("few").to_le_bytes();
            let text = [&len[..], &with_nul].concat();
            let mut d = Decoder::<LittleEndian>::from_slice(&text, format);
            black_box(d.read_str().is_ok());
            let len = u32::try_from(octets.len()).expect("few").to_le_bytes();
            let wide = [&len[..], &octets].concat();
            let mut d = Decoder::<LittleEndian>::from_slice(&wide, format);
            black_box(d.read_wide_string().is_ok());
        }
    })
}

/// A message of GIOP 1.1 in fragments of an octet, and one of 1.2 in fragments of four.
fn fragments(n: usize) -> Work {
    let fragment = |minor: u8, kind: MessageKind, more: bool, body: &[u8]| {
        let header = MessageHeader {
            version: Version { major: 1, minor },
            endian: Endian::Little,
            more_fragments: more,
            kind,
            size: u32::try_from(body.len()).expect("few"),
        };
        [&header.to_octets()[..], body].concat()
    };
    let mut stream = fragment(1, MessageKind::Request, true, &[0; 64]);
    let mut later = fragment(2, MessageKind::Request, true, &[0; 64]);
    for number in 0..n / 32 {
        let more = number + 1 < n / 32;
        stream.extend(fragment(1, MessageKind::Fragment, more, &[0]));
        later.extend(fragment(2, MessageKind::Fragment, more, &[0; 8]));
    }
    stream.extend(later);
    Box::new(move || {
        let mut reader = Reader::new(Limits::default());
        let mut messages = 0;
        for piece in stream.chunks(4096) {
            reader.reserve().expect("room");
            reader.buffer().extend_from_slice(piece);
            while let Some(message) = reader.next().expect("messages") {
                black_box(RequestHeader::read(&message).is_ok());
                messages += 1;
            }
        }
        assert_eq!(messages, 2);
    })
}

fn exceptions(n: usize) -> Work {
    let mut octets = Octets::new();
    let id = format!("IDL:{}\r:1.0", "x\u{1b}".repeat(n / 4));
    octets.string(&id).u32(0).u32(0);
    let frame = octets.frame();
    Box::new(move || {
        let exception: SystemException = decode(&frame);
        print(&exception);
        print(exception.with_detail(&id));
    })
}
