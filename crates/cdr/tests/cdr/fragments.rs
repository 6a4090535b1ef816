//! GIOP 1.1 fragments, in each of which alignment restarts.

use crate::common::*;
use std::borrow::Cow;
use zorb_cdr::{
    BigEndian, Char, Decode, DecodeErrorKind, Decoder, Encode, Frame, LittleEndian, NativeEndian,
    OctetsRef, cdr_struct,
};

#[derive(Debug, PartialEq, Clone)]
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

fn read<'de, T: Decode<'de>>(frame: &'de Frame) -> Result<T, zorb_cdr::DecodeError> {
    Decoder::<BigEndian>::at(frame, 12, minor(1))?.get()
}

#[test]
fn alignment_restarts_at_index_12_of_each_fragment() {
    // 12 + 2 octets, then a double that index 12 puts 4 octets off; in the frame it would be 2.
    let frame = fragmented::<BigEndian>(&[&|e| e.write_u16(1), &|e| e.write_f64(2.0)]);
    assert_eq!(
        (frame.len(), frame.fragment_starts()),
        (12 + 2 + 4 + 8, &[14][..])
    );
    assert_eq!(read::<(u16, f64)>(&frame), Ok((1, 2.0)));
}

#[test]
fn padding_at_the_end_of_a_fragment_is_skipped() {
    // Some senders pad before they see that the primitive does not fit.
    for pad in 0..4 {
        let frame = fragmented::<BigEndian>(&[
            &|e| {
                e.write_u8(1);
                e.append(&vec![0xff; pad]);
            },
            &|e| e.write_u32(2),
        ]);
        assert_eq!(read::<(u8, u32)>(&frame), Ok((1, 2)), "{pad} octets");
    }
}

#[test]
fn empty_fragments_do_no_harm() {
    let frame = fragmented::<BigEndian>(&[
        &|_| {},
        &|e| e.write_u16(1),
        &|_| {},
        &|_| {},
        &|e| e.write_f64(2.0),
        &|_| {},
    ]);
    assert_eq!(read::<(u16, f64)>(&frame), Ok((1, 2.0)));
    let mut d = Decoder::<BigEndian>::at(&frame, 12, minor(1)).unwrap();
    d.get::<(u16, f64)>().unwrap();
    let kind = d.read_u8().unwrap_err().kind();
    assert_eq!(kind, DecodeErrorKind::Truncated { needed: 1, left: 0 });
}

#[test]
fn a_split_primitive_is_refused() {
    let frame = fragmented::<BigEndian>(&[&|e| e.append(&[0, 0]), &|e| e.append(&[0, 1])]);
    let e = read::<u32>(&frame).unwrap_err();
    assert_eq!(
        (e.kind(), e.offset()),
        (DecodeErrorKind::SplitPrimitive, 12)
    );
}

#[test]
fn octets_and_text_go_across_in_one_piece() {
    let frame = fragmented::<BigEndian>(&[
        &|e| {
            e.write_u32(5);
            e.append(b"he");
        },
        &|e| e.append(b"l"),
        &|e| {
            e.append(b"l\0");
            e.write_u32(3);
            e.append(&[1]);
        },
        &|e| e.append(&[2, 3]),
        &|e| e.write_u64(9),
    ]);
    let (text, octets, number) = read::<(Cow<'_, str>, OctetsRef<'_>, u64)>(&frame).unwrap();
    assert!(matches!(text, Cow::Borrowed("hell")));
    assert_eq!((&*octets, number), (&[1, 2, 3][..], 9));
}

#[test]
fn decoding_starts_anywhere() {
    let frame = fragmented::<BigEndian>(&[&|e| e.write_u16(1), &|e| e.write_u64(2), &|e| {
        e.write_u16(3);
    }]);
    let mut d = Decoder::<BigEndian>::at(&frame, 14, minor(1)).unwrap();
    assert_eq!(d.read_u64(), Ok(2));
    assert_eq!(d.position(), 26);
    let mut d = Decoder::<BigEndian>::at(&frame, 26, minor(1)).unwrap();
    assert_eq!(d.read_u16(), Ok(3));
}

#[test]
fn aligning_by_hand_goes_across() {
    let frame = fragmented::<BigEndian>(&[&|e| e.write_u8(1), &|e| e.put(&(2_u64, 3_u8)).unwrap()]);
    let mut d = Decoder::<BigEndian>::at(&frame, 13, minor(1)).unwrap();
    d.align(8).unwrap();
    assert_eq!(d.position(), 17);
    assert_eq!(d.take(8).unwrap(), 2_u64.to_be_bytes());
    d.align(8).unwrap();
    assert_eq!(d.read_u8(), Ok(3));
    assert!(d.align(8).is_err());
}

/// Elements in one message and in fragments cut behind every `cut` of them are the same.
fn check<T>(values: &[T])
where
    T: Encode + for<'de> Decode<'de> + PartialEq + std::fmt::Debug + Clone,
{
    for cut in 1..=values.len() {
        let head = |e: &mut zorb_cdr::Encoder<BigEndian>| {
            e.write_count(values.len()).unwrap();
        };
        let mut parts: Vec<BoxedPart<'_, BigEndian>> = vec![Box::new(head)];
        for chunk in values.chunks(cut) {
            parts.push(Box::new(move |e| {
                chunk.iter().for_each(|value| e.put(value).unwrap());
            }));
        }
        let parts: Vec<Part<'_, BigEndian>> = parts.iter().map(|part| &**part).collect();
        let frame = fragmented::<BigEndian>(&parts);
        assert_eq!(read::<Vec<T>>(&frame).unwrap(), values, "cut behind {cut}");
        let short = Frame::with_fragment_starts(
            frame.bytes().slice(..frame.len() - 1),
            frame.fragment_starts().into(),
        );
        assert!(read::<Vec<T>>(&short).is_err());
    }
}

#[test]
fn sequences_are_cut_between_elements() {
    check(&[1_u8, 2, 3, 4, 5]);
    check(&[1_i16, -2, 3, -4, 5]);
    check(&[1_u64, 2, 3, 4, 5]);
    check(&[true, false, true]);
    check(&["a".to_owned(), "bc".to_owned(), String::new()]);
    check(&[[1_u16, 2, 3], [4, 5, 6]]);
    check(&[(1_u8, 2.0_f64), (3, 4.0), (5, 6.0)]);
    let value = BinStruct {
        s: -2,
        c: Char(b'x'),
        l: 7,
        o: 9,
        d: 1.0,
    };
    check(&vec![value; 7]);
}

#[test]
fn a_struct_is_cut_between_members() {
    let value = BinStruct {
        s: -2,
        c: Char(b'x'),
        l: 7,
        o: 9,
        d: 1.5,
    };
    let frame = fragmented::<BigEndian>(&[
        &|e| {
            e.write_u32(2);
            e.put(&value).unwrap();
            e.put(&(value.s, value.c)).unwrap();
        },
        &|e| e.put(&(value.l, value.o)).unwrap(),
        &|e| e.put(&value.d).unwrap(),
    ]);
    assert_eq!(
        read::<Vec<BinStruct>>(&frame),
        Ok(vec![value.clone(), value])
    );
}

#[test]
fn borrowed_numbers_are_copied_where_they_are_cut() {
    let frame = fragmented::<NativeEndian>(&[&|e| e.put(&(4_u32, 1_u32, 2_u32)).unwrap(), &|e| {
        e.put(&(3_u32, 4_u32)).unwrap();
    }]);
    let mut d = Decoder::<NativeEndian>::at(&frame, 12, minor(1)).unwrap();
    assert!(matches!(d.get::<Cow<'_, [u32]>>().unwrap(), Cow::Owned(v) if v == [1, 2, 3, 4]));
}

#[test]
fn nonsense_fragment_starts_cause_no_panic() {
    let octets = bytes::Bytes::from(vec![0; 64]);
    for starts in [
        &[0][..],
        &[64],
        &[65],
        &[usize::MAX],
        &[30, 10],
        &[12, 12, 12],
        &[63, 64, 2],
    ] {
        let frame = Frame::with_fragment_starts(octets.clone(), starts.into());
        for position in 0..=64 {
            let Ok(mut d) = Decoder::<LittleEndian>::at(&frame, position, minor(1)) else {
                continue;
            };
            let _ = d.get::<(u8, u16, u64)>();
            let _ = d.get::<(String, Vec<f64>)>();
            let _ = d.align(8);
            let _ = d.take(d.remaining());
        }
    }
}
