//! Allocations are counted. Alone in its file, since an allocator is for the whole program.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can only be had this way"
)]

use bytes::{Bytes, BytesMut};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    borrow::Cow,
    cell::Cell,
    sync::Arc,
};
use zorb_cdr::{
    Any, Array, BigEndian, ByteOrder, Char, Codec, Dec, Decode, DecodeError, DecodeErrorKind,
    Decoder, Enc, Encoder, Fixed, Frame, LittleEndian, Map, NativeEndian, OctetsRef, SHARE_FROM,
    Seq, Shared, TypeCode, WideStr, WireFormat, cdr_struct, cdr_union,
};

struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static OCTETS: Cell<usize> = const { Cell::new(0) };
    /// Allocations that have not been freed, their octets, and the most that these have been.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// Memory held grows by `change` octets, modulo the size of the address space.
fn hold(change: usize) {
    let held = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(change));
        held.get()
    });
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.unwrap_or(0))));
}

fn count(octets: usize) {
    // A thread that is ending has no counters any more.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    let _ = OCTETS.try_with(|all| all.set(all.get() + octets));
}

// SAFETY: every call goes to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        let _ = LIVE.try_with(|live| live.set(live.get() + 1));
        hold(layout.size());
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        let _ = LIVE.try_with(|live| live.set(live.get() - 1));
        hold(layout.size().wrapping_neg());
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        hold(size.wrapping_sub(layout.size()));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls and octets while `f` ran.
fn counted<R>(f: impl FnOnce() -> R) -> (usize, usize, R) {
    let before = (CALLS.get(), OCTETS.get());
    let result = f();
    (CALLS.get() - before.0, OCTETS.get() - before.1, result)
}

/// Octets that `f` holds at most while it runs, and those that its result holds.
fn held_by<R>(f: impl FnOnce() -> R) -> (usize, usize, R) {
    let before = HELD.get();
    PEAK.set(before);
    let result = f();
    (PEAK.get() - before, HELD.get() - before, result)
}

#[derive(Debug, PartialEq, Clone, Copy)]
struct BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64,
}
cdr_struct!(BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64
});

const SAMPLE: BinStruct = BinStruct {
    s: 1,
    c: Char(b'c'),
    l: 2,
    o: 3,
    d: 4.0,
};
const DIGIT: Fixed<1, 0> = Fixed::constant(7);

#[test]
fn the_steady_state_allocates_nothing() {
    let value = SAMPLE;
    let values = [value; 100];
    let text = "text".repeat(100);
    let octets = [7_u8; 1000];
    let mut buffer = BytesMut::with_capacity(1 << 14);
    let mut list = Vec::with_capacity(100);
    let (calls, _, ()) = counted(|| {
        let mut e = Encoder::<NativeEndian>::with_buffer(
            std::mem::take(&mut buffer),
            WireFormat::default(),
        );
        e.put(&(1_u8, value, &values[..], &text, [1_i32; 3]))
            .unwrap();
        e.encapsulation(|e| e.put("inside")).unwrap();
        e.write_octets(&octets).unwrap();
        buffer = e.finish().into_buffer();
    });
    assert_eq!(calls, 0);
    let frame = Frame::new(buffer.freeze());
    let (calls, _, ()) = counted(|| {
        let mut d = Decoder::<NativeEndian>::new(&frame, WireFormat::default());
        assert_eq!(d.get::<(u8, BinStruct)>(), Ok((1, value)));
        d.read_into(&mut list).unwrap();
        assert!(matches!(d.get::<Cow<'_, str>>().unwrap(), Cow::Borrowed(t) if t == text));
        assert_eq!(d.get::<[i32; 3]>(), Ok([1; 3]));
        assert_eq!(d.read_octets().unwrap().len(), 1 + 3 + 4 + 7);
        assert_eq!(&*d.get::<OctetsRef<'_>>().unwrap(), octets);
    });
    assert_eq!((calls, &list[..]), (0, &values[..]));
}

#[test]
fn an_encoder_that_is_used_up_leaves_nothing_behind() {
    let value: Shared = Arc::new(());
    let shared = Bytes::from(vec![7_u8; SHARE_FROM]);
    let writes: [fn(&mut Encoder<BigEndian>, &Shared, &Bytes); 5] = [
        |_, _, _| {},
        |e, _, _| e.put("plain").unwrap(),
        |e, _, _| {
            e.remember_runs();
            e.put(&[1_i32; 100][..]).unwrap();
        },
        |e, value, _| {
            let mark = e.begin_value(value, &["IDL:Value:1.0"], false).unwrap();
            e.end_value(mark.unwrap()).unwrap();
        },
        |e, _, shared| {
            for _ in 0..3 {
                e.append_shared(shared);
            }
        },
    ];
    // How a message is taken out, or not.
    let takes: [fn(&mut Encoder<BigEndian>) -> BytesMut; 4] = [
        Encoder::take_buffer,
        |e| e.take().into_buffer(),
        |e| {
            let buffer = e.take_buffer();
            e.put("more").unwrap();
            buffer
        },
        |_| BytesMut::with_capacity(1 << 10),
    ];
    for write in writes {
        for take in takes {
            let mut buffer = BytesMut::with_capacity(1 << 10);
            // Whatever is made once is made by the first.
            let mut live = None;
            for _ in 0..10 {
                let mut e = Encoder::with_buffer(buffer, WireFormat::default());
                write(&mut e, &value, &shared);
                buffer = take(&mut e);
                drop(e);
                assert_eq!(*live.get_or_insert_with(|| LIVE.get()), LIVE.get());
            }
        }
    }
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn a_refused_count_allocates_nothing() {
    fn refused<T: for<'de> Decode<'de>>() {
        let octets = [0x7f; 64];
        let (calls, _, result) = counted(|| {
            Decoder::<BigEndian>::from_slice(&octets, WireFormat::default())
                .get::<T>()
                .is_err()
        });
        assert_eq!((calls, result), (0, true), "{}", std::any::type_name::<T>());
    }
    refused::<Vec<u8>>();
    refused::<Vec<u64>>();
    refused::<Vec<BinStruct>>();
    refused::<Vec<String>>();
    refused::<Vec<Vec<Vec<u8>>>>();
    refused::<String>();
    refused::<Bytes>();
}

/// A struct that contains itself.
#[derive(Debug)]
struct Node {
    children: Vec<Self>,
}
cdr_struct!(Node { children: Vec<Node> });

#[test]
fn memory_is_in_proportion_to_the_message() {
    // Every count claims as much as it may, level within level.
    let len = 1 << 16;
    for divisor in [4, 5, 8, 100] {
        let mut octets = vec![0; len];
        for (n, count) in octets.chunks_exact_mut(4).enumerate() {
            let left = len - 4 * (n + 1);
            count.copy_from_slice(&u32::try_from(left / divisor).unwrap().to_be_bytes());
        }
        let (_, allocated, result) = counted(|| {
            Decoder::<BigEndian>::from_slice(&octets, WireFormat::default())
                .get::<Node>()
                .is_err()
        });
        assert!(result);
        // 24 octets for 4, as the docs of `Limits` say.
        assert!(allocated <= 6 * len, "{allocated} octets for {len}");
        assert!(allocated > 0);
    }
}

#[cfg(feature = "serde")]
#[test]
fn memory_is_in_proportion_to_the_message_for_serde_too() {
    #[derive(serde::Deserialize)]
    struct Nest(#[expect(dead_code, reason = "only decoded")] Vec<Self>);

    let len = 1 << 14;
    let mut octets = vec![0; len];
    for (n, count) in octets.chunks_exact_mut(4).enumerate() {
        let left = len - 4 * (n + 1);
        count.copy_from_slice(&u32::try_from(left).unwrap().to_be_bytes());
    }
    let (_, allocated, result) = counted(|| {
        zorb_cdr::from_bytes::<BigEndian, Nest>(&octets, WireFormat::default()).is_err()
    });
    assert!(result);
    // An element is taken to have one octet at least, and takes 24 in memory.
    assert!(allocated <= 24 * len + 1024, "{allocated} octets for {len}");
    assert!(allocated > 0);
}

/// The memory that a peer could make a server hold: an any of one octet takes 8 octets of a message.
#[test]
fn small_anys_hold_no_more_than_a_small_multiple_of_their_octets() {
    let anys = vec![Any::new(&7_u8).unwrap(); 10_000];
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(&anys[..]).unwrap();
    let frame = Frame::new(e.finish().into_bytes());
    let before = HELD.get();
    let decoded = Decoder::<NativeEndian>::new(&frame, WireFormat::default()).get::<Vec<Any>>();
    let held = HELD.get() - before;
    assert_eq!(decoded.unwrap(), anys);
    let most = 16 * frame.octets().len();
    assert!(
        held <= most,
        "{held} octets are held for {}",
        frame.octets().len()
    );
}

/// Seven million of them are in 28 MiB.
#[test]
fn small_anys_of_a_sequence_allocate_nothing_each() {
    let octet = Any::new(&7_u8).unwrap();
    let long = Any::new(&7_i64).unwrap();
    let text = Any::new("nine long").unwrap();
    let ty = Any::new(octet.type_code()).unwrap();
    for any in [Any::default(), octet, long, text, ty] {
        let anys = vec![any; 10_000];
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&anys[..]).unwrap();
        let frame = Frame::new(e.finish().into_bytes());
        let (calls, _, decoded) = counted(|| {
            Decoder::<NativeEndian>::new(&frame, WireFormat::default()).get::<Vec<Any>>()
        });
        assert_eq!(decoded.unwrap(), anys);
        assert!(
            calls < 10,
            "{calls} allocations for anys of {}",
            anys[0].type_code()
        );
    }
}

/// A union that takes one octet of a message without its member, and 4 KiB of memory with or without it.
#[expect(
    clippy::large_enum_variant,
    reason = "IDL's unions are such enums, and what they cost is tested"
)]
enum Sparse {
    Numbers([i32; 1024]),
    Nothing,
}
cdr_union!(Sparse: bool {
    one { Numbers(Array<i32, 1024>) = [true] }
    several {}
    last Nothing = [false];
});

/// A union as an IDL without optional members has it.
#[derive(Debug)]
enum Optional {
    Text(String),
    Nothing,
}
cdr_union!(Optional: bool {
    one { Text(String) = [true] }
    several {}
    last Nothing = [false];
});

/// Octets of memory that a message of `len` may be decoded to: as `Limits` promises, and what is not counted.
const fn budget(len: usize) -> usize {
    17 * len + (256 << 10)
}

/// A count, `elements` octets of elements without a member, and the same again.
fn twice(count: u32, elements: usize) -> Vec<u8> {
    let mut octets = count.to_le_bytes().to_vec();
    octets.extend(vec![0; elements]);
    octets.resize(octets.len().next_multiple_of(4), 0);
    octets.extend_from_within(..);
    octets
}

/// Decodes a `T` that would take more memory than its octets pay for.
fn refuse<T: for<'de> Decode<'de>>(octets: &[u8], what: &str) {
    let frame = Frame::new(Bytes::copy_from_slice(octets));
    let (peak, _, decoded) = held_by(|| {
        let mut d = Decoder::<LittleEndian>::new(&frame, WireFormat::default());
        d.get::<T>().err().map(|error| error.kind())
    });
    assert!(
        peak <= budget(octets.len()),
        "{peak} octets are held for {} of {what}",
        octets.len()
    );
    assert!(
        matches!(decoded, Some(DecodeErrorKind::TooMuchMemory { .. })),
        "{what}: {decoded:?}"
    );
}

/// Any byte order's decoder, one level of encapsulation below the message.
struct Inside<T>(T);

impl<'de, T: for<'d> Decode<'d>> Decode<'de> for Inside<T> {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        d.read_encapsulated::<T>().map(Self)
    }
}

#[test]
fn memory_that_a_message_does_not_pay_for_is_refused_before_it_is_held() {
    let unions = twice(8 << 10, 8 << 10);
    refuse::<Vec<Sparse>>(&unions, "unions with a large member");
    refuse::<Vec<[Sparse; 4]>>(&twice(2 << 10, 8 << 10), "arrays of such unions");
    refuse::<Vec<(bool, Sparse)>>(&twice(8 << 10, 16 << 10), "structs of such unions");
    refuse::<Dec<Map<u16, Sparse>>>(
        &{
            let mut octets = 1000_u32.to_le_bytes().to_vec();
            for key in 0..1000_u16 {
                octets.extend(key.to_le_bytes());
                octets.extend([0; 2]);
            }
            octets
        },
        "a map to such unions",
    );
    // Each sequence of its own is small enough.
    let few = 60_u32.to_le_bytes().into_iter().chain([0; 60]);
    let mut many = 100_u32.to_le_bytes().to_vec();
    (0..100).for_each(|_| many.extend(few.clone()));
    refuse::<Vec<Vec<Sparse>>>(&many, "sequences of such unions");
    // So is each encapsulation.
    let mut many = 100_u32.to_le_bytes().to_vec();
    for _ in 0..100 {
        many.extend(68_u32.to_le_bytes());
        many.extend([1, 0, 0, 0]);
        many.extend(few.clone());
    }
    refuse::<Vec<Inside<Vec<Sparse>>>>(&many, "encapsulations of such unions");
    let array = vec![0; 2000];
    let frame = Frame::new(Bytes::from(array));
    let (peak, _, refused) = held_by(|| {
        let mut d = Decoder::<LittleEndian>::new(&frame, WireFormat::default());
        Array::<Sparse, 1000>::decode_boxed(&mut d).is_err()
    });
    assert!(refused && peak <= budget(2000), "{peak} octets");
}

#[cfg(feature = "serde")]
#[test]
fn values_of_serde_are_refused_too_before_they_are_held() {
    #[derive(serde::Deserialize)]
    #[allow(dead_code, reason = "decoded only")]
    struct Large(Option<[[u64; 32]; 16]>);

    let octets = twice(8 << 10, 8 << 10);
    // serde's vectors begin with up to 1 MiB, and grow to twice their size.
    let most = 2 * budget(octets.len()) + (1 << 20);
    let (peak, _, error) = held_by(|| {
        zorb_cdr::from_bytes::<LittleEndian, Vec<Large>>(&octets, WireFormat::default()).err()
    });
    assert!(peak <= most, "{peak} octets");
    assert!(format!("{:#}", error.unwrap()).contains("of memory"));
}

/// Writes a value and reads it again, which holds at most 16 octets for one of the message.
fn passes<C: Codec>(value: &C::Borrowed, what: &str) {
    let mut e = Encoder::<LittleEndian>::new(WireFormat::default());
    e.put(&Enc::<C>(value)).unwrap();
    let frame = Frame::new(e.finish().into_bytes());
    let (_, held, decoded) = held_by(|| {
        let mut d = Decoder::<LittleEndian>::new(&frame, WireFormat::default());
        d.get::<Dec<C>>()
    });
    if let Err(error) = decoded {
        panic!("{what}: {error}");
    }
    let len = frame.octets().len();
    assert!(
        held <= budget(len),
        "{held} octets are held for {len} of {what}"
    );
}

#[test]
fn large_messages_that_pay_for_what_they_hold_are_read() {
    const MANY: usize = 50_000;
    passes::<Bytes>(&Bytes::from(vec![7; 64 << 20]), "octets");
    passes::<Seq<f64>>(&vec![0.5; MANY], "doubles");
    passes::<Seq<BinStruct>>(&vec![SAMPLE; MANY], "structs");
    passes::<Seq<Fixed<1, 0>>>(&vec![DIGIT; MANY], "digits");
    passes::<Seq<(Fixed<1, 0>, u8)>>(&vec![(DIGIT, 7); MANY], "digits and octets");
    passes::<Seq<String>>(&vec![String::new(); MANY], "empty strings");
    passes::<Seq<String>>(&vec!["some text".to_owned(); MANY], "strings");
    passes::<Seq<WideStr>>(&vec!["ein Würfel".to_owned(); MANY], "wide strings");
    passes::<Seq<Seq<String>>>(&vec![vec![String::new()]; MANY], "sequences of strings");
    passes::<Seq<Any>>(&vec![Any::default(); MANY], "anys of nothing");
    passes::<Seq<Any>>(&vec![Any::new(&7_u8).unwrap(); MANY], "anys of octets");
    passes::<Seq<Any>>(&vec![Any::new("").unwrap(); MANY], "anys of strings");
    passes::<Seq<Any>>(&vec![Any::new(&DIGIT).unwrap(); 20_000], "anys of digits");
    let short = TypeCode::string(4);
    let bounded = Any::with_type_code(&short, "four").unwrap();
    passes::<Seq<Any>>(&vec![bounded; MANY], "anys of bounded strings");
    let octet = TypeCode::of_kind(zorb_cdr::TcKind::Octet).unwrap();
    let structure = TypeCode::structure("", "", &[("", octet.clone()), ("", short)]);
    passes::<Seq<TypeCode>>(&vec![structure; MANY], "TypeCodes");
    let map = (0..60_000_u16).map(|key| (key, key.to_string())).collect();
    passes::<Map<u16, String>>(&map, "entries of a map");
}

#[test]
fn thousands_of_unions_without_their_members_are_read() {
    let octets = twice(10_000, 10_000);
    let mut d = Decoder::<LittleEndian>::from_slice(&octets, WireFormat::default());
    assert_eq!(d.get::<Vec<Optional>>().unwrap().len(), 10_000);
    let octets = twice(60, 60);
    let mut d = Decoder::<LittleEndian>::from_slice(&octets, WireFormat::default());
    assert_eq!(d.get::<Vec<Sparse>>().unwrap().len(), 60);
}
