//! Sequences and arrays: counts, limits, what is borrowed and what is shared.

use crate::common::*;
use bytes::{Bytes, BytesMut};
use std::borrow::Cow;
use zorb_cdr::{
    Array, BigEndian, BoundedSeq, BoundedStr, ByteOrder, Codec, Dec, Decode, DecodeError,
    DecodeErrorKind, Decoder, Enc, EncodeErrorKind, Encoder, Frame, Gather, KEEP_SHARES_FROM,
    Limits, LittleEndian, NativeEndian, Octets, OctetsRef, SHARE_FROM, Seq, cdr_struct,
};

/// A struct that contains itself, as IDL allows through a sequence.
#[derive(Debug, PartialEq, Default)]
struct Node {
    value: i16,
    children: Vec<Self>,
}
cdr_struct!(Node { value: i16, children: Vec<Node> });

fn chain(depth: usize) -> Node {
    (0..depth).fold(Node::default(), |inner, _| Node {
        value: 1,
        children: vec![inner],
    })
}

#[test]
fn a_sequence_is_a_count_and_its_elements() {
    assert_eq!(big(&vec![1_u16, 2]), [0, 0, 0, 2, 0, 1, 0, 2]);
    assert_eq!(little(&[1_u8, 2, 3][..]), [3, 0, 0, 0, 1, 2, 3]);
    assert_eq!(
        big(&vec![String::from("a")]),
        [0, 0, 0, 1, 0, 0, 0, 2, b'a', 0]
    );
    assert_eq!(
        big(&vec![vec![7_u8], vec![]]),
        [0, 0, 0, 2, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0]
    );
}

#[test]
fn an_empty_sequence_is_not_padded_for_the_elements_it_has_not() {
    assert_eq!(big(&(Vec::<f64>::new(), 1_u8)), [0, 0, 0, 0, 1]);
    let read = decode::<BigEndian, (Vec<f64>, u8)>(&[0, 0, 0, 0, 1], modern());
    assert_eq!(read, Ok((vec![], 1)));
    let read = decode::<BigEndian, (Cow<'_, [f64]>, u8)>(&[0, 0, 0, 0, 1], modern());
    assert_eq!(read.unwrap().1, 1);
    assert_eq!(big(&(Vec::<(u8, f64)>::new(), 1_u8)), [0, 0, 0, 0, 1]);
}

#[test]
fn an_array_has_no_count() {
    assert_eq!(big(&[1_u16, 2]), [0, 1, 0, 2]);
    assert_eq!(
        big(&(1_u8, [[1_u16, 2], [3, 4]])),
        [1, 0, 0, 1, 0, 2, 0, 3, 0, 4]
    );
    assert_eq!(
        decode::<BigEndian, [[u16; 2]; 2]>(&[0, 1, 0, 2, 0, 3, 0, 4], modern()),
        Ok([[1, 2], [3, 4]])
    );
    let names = [String::from("a"), String::from("b")];
    assert_eq!(
        decode::<BigEndian, [String; 2]>(&big(&names), modern()),
        Ok(names)
    );
    assert!(decode::<BigEndian, [u64; 2]>(&[0; 15], modern()).is_err());
    assert!(decode::<BigEndian, [String; 2]>(&[0, 0, 0, 1, 0], modern()).is_err());
    assert_eq!(big(&[1_u32; 0]), []);
}

#[test]
fn an_array_in_a_box_is_read_as_any_other_and_only_when_it_is_there() {
    fn boxed<C: Codec, const N: usize>(octets: &[u8]) -> Result<Box<[C::Value; N]>, DecodeError> {
        let mut d = Decoder::<BigEndian>::from_slice(octets, modern());
        let read = Array::<C, N>::decode_boxed(&mut d)?;
        assert_eq!(d.remaining(), 0);
        Ok(read)
    }
    assert_eq!(*boxed::<u16, 2>(&[0, 1, 0, 2]).unwrap(), [1, 2]);
    let pairs = boxed::<[u16; 2], 2>(&[0, 1, 0, 2, 0, 3, 0, 4]);
    assert_eq!(*pairs.unwrap(), [[1, 2], [3, 4]]);
    let names = [String::from("a"), String::from("b")];
    assert_eq!(
        *boxed::<BoundedStr<5>, 2>(&big(&names)[..14]).unwrap(),
        names
    );
    // As many as there are, or the process would end here for want of memory.
    let short = boxed::<u64, { 1 << 40 }>(&[0; 15]).unwrap_err();
    assert!(matches!(
        short.kind(),
        DecodeErrorKind::Truncated { left: 15, .. }
    ));
    let long = boxed::<BoundedStr<0>, 2>(&big(&names)).unwrap_err();
    assert!(matches!(
        long.kind(),
        DecodeErrorKind::BoundExceeded { bound: 0, .. }
    ));
}

#[test]
fn a_count_that_cannot_fit_is_refused() {
    let max = [0xff; 12];
    fn refused<T: for<'de> Decode<'de>>(octets: &[u8]) {
        assert!(matches!(
            fault::<T>(octets).0,
            DecodeErrorKind::CountTooLarge { .. }
        ));
    }
    refused::<Vec<u8>>(&max);
    refused::<Vec<f64>>(&max);
    refused::<Vec<String>>(&max);
    refused::<Vec<Node>>(&max);
    refused::<Vec<[u64; 1000]>>(&max);
    refused::<Bytes>(&max);
    refused::<Vec<()>>(&max);
    refused::<Dec<Seq<BoundedStr<5>>>>(&max);
    // Three strings need twelve octets at least.
    refused::<Vec<String>>(&[0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // A count that fits by the minimum may still be too much.
    let kind = fault::<Vec<String>>(&[0, 0, 0, 2, 0, 0, 0, 5, b'a', b'b', b'c', b'd']).0;
    assert!(matches!(
        kind,
        DecodeErrorKind::CountTooLarge { count: 5, .. }
    ));
}

#[test]
fn octets_owed_to_elements_still_to_come_are_not_counted_twice() {
    // The outer sequence takes all 16 octets for its four elements, so the first may not have any.
    let octets = [0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(
        fault::<Vec<Vec<u8>>>(&octets),
        (DecodeErrorKind::CountTooLarge { count: 1, left: 0 }, 4)
    );
    // The last one may have what is left.
    let octets = big(&vec![vec![], vec![], vec![1_u8, 2, 3]]);
    assert!(decode::<BigEndian, Vec<Vec<u8>>>(&octets, modern()).is_ok());
}

#[test]
fn elements_without_octets_have_a_limit_of_their_own() {
    let count = |count: u32| count.to_be_bytes();
    let read = |count: [u8; 4], limits| {
        Decoder::<BigEndian>::from_slice(&count, modern())
            .with_limits(limits)
            .get::<Vec<()>>()
            .map(|v| v.len())
    };
    assert_eq!(read(count(65536), Limits::default()), Ok(65536));
    assert!(read(count(65537), Limits::default()).is_err());
    let limits = Limits::default().with_max_empty_elements(2);
    assert_eq!(read(count(2), limits), Ok(2));
    assert!(read(count(3), limits).is_err());
}

#[test]
fn all_elements_without_octets_together_are_bounded_by_the_length_of_the_message() {
    let read = |sequences: u32| {
        let mut octets = sequences.to_be_bytes().to_vec();
        (0..sequences).for_each(|_| octets.extend(65_536_u32.to_be_bytes()));
        let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
        d.get::<Vec<Vec<()>>>().map(|v| v.len())
    };
    assert_eq!(read(3), Ok(3));
    let kind = read(1_000).map_err(|error| error.kind());
    assert!(
        matches!(kind, Err(DecodeErrorKind::TooMuchMemory { .. })),
        "{kind:?}"
    );
}

#[test]
fn nesting_has_a_limit_and_the_stack_suffices_for_it() {
    let limit = usize::from(Limits::DEPTH);
    let test = move || {
        // The innermost node has an empty sequence too.
        let deepest = big(&chain(limit - 1));
        assert_eq!(
            decode::<BigEndian, Node>(&deepest, modern()),
            Ok(chain(limit - 1))
        );
        let too_deep = big(&chain(limit));
        let kind = DecodeErrorKind::TooDeep {
            limit: Limits::DEPTH,
        };
        assert_eq!(fault::<Node>(&too_deep).0, kind);
        // Thousands of levels in a message of a few kilobytes.
        assert_eq!(
            fault::<Node>(&[0, 0, 0, 0, 0, 0, 0, 1].repeat(10_000)).0,
            kind
        );
    };
    std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();

    let limits = Limits::default().with_max_depth(3);
    let octets = big(&chain(2));
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern()).with_limits(limits);
    assert!(d.get::<Node>().is_ok());
    let octets = big(&chain(3));
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern()).with_limits(limits);
    assert!(d.get::<Node>().is_err());
}

#[test]
fn depth_counts_levels_and_not_siblings() {
    let wide = Node {
        value: 0,
        children: (0..1000).map(|_| chain(1)).collect(),
    };
    assert_eq!(decode::<BigEndian, Node>(&big(&wide), modern()), Ok(wide));
}

#[test]
fn bounds_count_elements() {
    type Two = BoundedSeq<u16, 2>;
    assert!(encode_at::<BigEndian>(&Enc::<Two>(&[1, 2]), 0, modern()).is_ok());
    let e = encode_at::<BigEndian>(&Enc::<Two>(&[1, 2, 3]), 0, modern()).unwrap_err();
    assert_eq!(
        e.kind(),
        EncodeErrorKind::BoundExceeded { bound: 2, found: 3 }
    );
    assert!(!e.is_data_conversion());
    assert_eq!(
        decode::<BigEndian, Dec<Two>>(&big(&vec![1_u16, 2]), modern())
            .unwrap()
            .0,
        [1, 2]
    );
    let e = decode::<BigEndian, Dec<Two>>(&big(&vec![1_u16, 2, 3]), modern()).unwrap_err();
    assert_eq!(
        e.kind(),
        DecodeErrorKind::BoundExceeded { bound: 2, found: 3 }
    );
}

#[test]
fn codecs_nest() {
    type Grid = BoundedSeq<Array<Seq<BoundedStr<4>>, 2>, 3>;
    let grid = vec![
        [vec!["a".to_owned()], vec![]],
        [vec![], vec!["four".to_owned()]],
    ];
    let octets = encode_at::<BigEndian>(&Enc::<Grid>(&grid), 0, modern()).unwrap();
    assert_eq!(octets, big(&grid));
    assert_eq!(
        decode::<BigEndian, Dec<Grid>>(&octets, modern()).unwrap().0,
        grid
    );
    let mut bad = grid;
    bad[1][0].push("five!".to_owned());
    assert!(encode_at::<BigEndian>(&Enc::<Grid>(&bad), 0, modern()).is_err());
    assert!(decode::<BigEndian, Dec<Grid>>(&big(&bad), modern()).is_err());
}

#[test]
fn numbers_are_borrowed_where_they_lie_aligned_in_native_order() {
    let values: Vec<u32> = (1..100).collect();
    let mut e = Encoder::<NativeEndian>::new(modern());
    e.put(&values).unwrap();
    let octets = e.finish().to_vec();
    // One of these four begins at a multiple of four in memory.
    let mut room = vec![0; octets.len() + 4];
    let mut borrowed = 0;
    for shift in 0..4 {
        room[shift..shift + octets.len()].copy_from_slice(&octets);
        let read = decode::<NativeEndian, Cow<'_, [u32]>>(&room[shift..], modern()).unwrap();
        assert_eq!(*read, values);
        borrowed += usize::from(matches!(read, Cow::Borrowed(_)));
    }
    assert_eq!(borrowed, 1);
    let swapped = if cfg!(target_endian = "little") {
        big(&values)
    } else {
        little(&values)
    };
    let read = if cfg!(target_endian = "little") {
        decode::<BigEndian, Cow<'_, [u32]>>(&swapped, modern())
    } else {
        decode::<LittleEndian, Cow<'_, [u32]>>(&swapped, modern())
    };
    assert!(matches!(read.unwrap(), Cow::Owned(read) if read == values));
}

#[test]
fn a_vec_is_used_again() {
    let octets = big(&vec![1_i32, 2, 3]);
    let mut values: Vec<i32> = Vec::with_capacity(8);
    let place = values.as_ptr();
    for _ in 0..3 {
        values.clear();
        Decoder::<BigEndian>::from_slice(&octets, modern())
            .read_into(&mut values)
            .unwrap();
        assert_eq!(values, [1, 2, 3]);
    }
    assert_eq!(values.as_ptr(), place);
}

fn keep(frame: &Frame) -> Bytes {
    let read = Decoder::<BigEndian>::new(frame, modern()).get::<OctetsRef<'_>>();
    read.unwrap().keep()
}

fn shares(frame: &Frame, octets: &Bytes) -> bool {
    frame.octets().as_ptr_range().contains(&octets.as_ptr())
}

#[test]
fn large_octets_are_kept_without_copying_and_small_ones_copied() {
    let large = Frame::new(big(&vec![7_u8; KEEP_SHARES_FROM]).into());
    assert!(shares(&large, &keep(&large)));
    assert_eq!(keep(&large), vec![7; KEEP_SHARES_FROM]);
    let read = Decoder::<BigEndian>::new(&large, modern())
        .get::<Bytes>()
        .unwrap();
    assert!(shares(&large, &read));

    let small = Frame::new(big(&vec![7_u8; KEEP_SHARES_FROM - 1]).into());
    assert!(!shares(&small, &keep(&small)));
    assert_eq!(keep(&small), vec![7; KEEP_SHARES_FROM - 1]);
}

#[test]
fn a_small_part_of_a_large_frame_does_not_pin_it() {
    let part = vec![7_u8; KEEP_SHARES_FROM];
    let frame = Frame::new(big(&(part.clone(), vec![0_u8; 100 * KEEP_SHARES_FROM])).into());
    assert!(!shares(&frame, &keep(&frame)));
    assert_eq!(keep(&frame), part);
}

#[test]
fn octets_outside_a_frame_are_copied_when_kept() {
    let octets = big(&vec![7_u8; 2 * KEEP_SHARES_FROM]);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(
        d.get::<OctetsRef<'_>>().unwrap().keep(),
        vec![7; 2 * KEEP_SHARES_FROM]
    );
}

#[test]
fn large_bytes_go_out_from_where_they_are() {
    let large = Bytes::from(vec![1_u8; SHARE_FROM]);
    let small = Bytes::from(vec![2_u8; SHARE_FROM - 1]);
    let mut e = Encoder::<BigEndian>::new(modern());
    e.write_u8(9);
    e.put(&small).unwrap();
    e.put(&Octets::from(&large)).unwrap();
    e.write_u8(8);
    e.put(&Octets::from(large.clone())).unwrap();
    e.write_u64(7);
    let position = e.position();
    let gather = e.finish();
    assert_eq!(gather.len(), position);
    let chunks: Vec<&[u8]> = gather.chunks().collect();
    assert_eq!(chunks.len(), 5);
    assert_eq!(chunks[1].as_ptr(), large.as_ptr());
    assert_eq!(chunks[3].as_ptr(), large.as_ptr());
    assert!(gather.as_single().is_none());
    let expected = big(&(
        9_u8,
        small.to_vec(),
        large.to_vec(),
        8_u8,
        large.to_vec(),
        7_u64,
    ));
    assert_eq!(gather.to_vec(), expected);
    assert_eq!(gather.into_bytes(), expected);
}

#[test]
fn alignment_goes_on_behind_shared_octets() {
    for extra in 0..8 {
        let shared = Bytes::from(vec![1_u8; SHARE_FROM + extra]);
        let octets = big(&(&shared, 1_u8, 1.0_f64));
        assert_eq!(octets, big(&(shared.to_vec(), 1_u8, 1.0_f64)));
    }
}

#[test]
fn numbers_are_patched_on_either_side_of_shared_octets() {
    let shared = Bytes::from(vec![1_u8; SHARE_FROM]);
    let mut e = Encoder::<LittleEndian>::new(modern());
    e.write_u32(0);
    e.append_shared(&shared);
    let behind = e.position();
    e.write_u32(0);
    e.patch_u32(0, 0x0102_0304);
    e.patch_u32(behind, 0x0506_0708);
    e.patch_u8(behind + 3, 0xff);
    let octets = e.finish().to_vec();
    assert_eq!(octets[..4], [4, 3, 2, 1]);
    assert_eq!(octets[behind..], [8, 7, 6, 0xff]);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "nothing to patch at octet"))]
fn shared_octets_are_not_patched() {
    let shared = Bytes::from(vec![1_u8; SHARE_FROM]);
    let mut e = Encoder::<LittleEndian>::new(modern());
    e.write_u64(0);
    e.append_shared(&shared);
    e.patch_u32(SHARE_FROM + 2, u32::MAX);
    assert!(e.finish().to_vec().iter().all(|octet| *octet < 2));
}

#[test]
fn a_buffer_is_used_again() {
    let mut buffer = BytesMut::with_capacity(4096);
    let place = buffer.as_ptr();
    for round in 0..3_u32 {
        let mut e = Encoder::<BigEndian>::with_buffer(buffer, modern());
        e.write_u32(round);
        e.write_octets(&[1; 1000]).unwrap();
        let gather = e.finish();
        assert_eq!(gather.as_single().map(<[u8]>::len), Some(1008));
        assert_eq!(gather.chunks().count(), 1);
        buffer = gather.into_buffer();
        assert_eq!(buffer[..4], round.to_be_bytes());
    }
    assert_eq!(buffer.as_ptr(), place);
}

#[test]
fn a_gather_can_be_made_of_octets() {
    let octets = Bytes::from_static(b"octets");
    let gather = Gather::from(octets.clone());
    assert_eq!(gather.as_single(), Some(&b"octets"[..]));
    assert_eq!(gather.into_bytes().as_ptr(), octets.as_ptr());
    let gather = Gather::from(BytesMut::from(&b"more"[..]));
    assert_eq!(
        (gather.len(), gather.into_bytes()),
        (4, Bytes::from_static(b"more"))
    );
    assert!(Gather::default().is_empty());
    assert_eq!(Gather::default().chunks().count(), 0);
}

#[test]
fn a_decoder_is_not_confused_by_an_iterator_that_fails() {
    struct Refusing;
    impl<'de> Decode<'de> for Refusing {
        const MIN_SIZE: usize = 1;
        fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
            match d.read_u8()? {
                0 => Err(d.error_behind(1, DecodeErrorKind::Expected("anything but zero"))),
                _ => Ok(Self),
            }
        }
    }
    assert_eq!(
        fault::<[Refusing; 3]>(&[1, 0, 1]),
        (DecodeErrorKind::Expected("anything but zero"), 1)
    );
    assert_eq!(fault::<Vec<Refusing>>(&[0, 0, 0, 2, 1, 0]).1, 5);
}

#[test]
fn a_decoder_is_usable_again_behind_an_error() {
    // The inner count is too large; what the sequences were owed is forgotten.
    let octets = [0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 3, 1, 2, 3];
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    let ahead = d.clone();
    assert!(d.get::<Vec<Vec<u8>>>().is_err());
    assert_eq!(d.position(), 8);
    assert_eq!(d.get::<Vec<u8>>(), Ok(vec![1, 2, 3]));
    assert_eq!(ahead.position(), 0);
}
