//! What is allocated, counted. Alone in its file, since an allocator is for the whole program.

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
    Any, BigEndian, Char, Decode, Decoder, Encoder, Frame, NativeEndian, OctetsRef, SHARE_FROM,
    Shared, WireFormat, cdr_struct,
};

struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static OCTETS: Cell<usize> = const { Cell::new(0) };
    /// Allocations that have not been freed, and their octets.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
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
        let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(layout.size())));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        let _ = LIVE.try_with(|live| live.set(live.get() - 1));
        let _ = HELD.try_with(|held| held.set(held.get().wrapping_sub(layout.size())));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        let change = size.wrapping_sub(layout.size());
        let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(change)));
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

#[test]
fn the_steady_state_allocates_nothing() {
    let value = BinStruct {
        s: 1,
        c: Char(b'c'),
        l: 2,
        o: 3,
        d: 4.0,
    };
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

/// What the peer of a server could have it hold: an any of one octet takes 8 octets of a message.
#[test]
fn small_anys_hold_no_more_than_a_small_multiple_of_their_octets() {
    let anys = vec![Any::new(&7_u8).unwrap(); 10_000];
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(&anys[..]).unwrap();
    let frame = Frame::new(e.finish().into_bytes());
    let before = HELD.get();
    let decoded = Vec::<Any>::decode(&mut Decoder::<NativeEndian>::new(
        &frame,
        WireFormat::default(),
    ));
    let held = HELD.get() - before;
    assert_eq!(decoded.unwrap(), anys);
    let most = 16 * frame.octets().len();
    assert!(
        held <= most,
        "{held} octets are held for {}",
        frame.octets().len()
    );
}
