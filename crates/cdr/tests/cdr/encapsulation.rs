//! Encapsulations: their own byte order and alignment.

use crate::common::*;
use bytes::Bytes;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, EncapsulationVisitor,
    Encoder, Endian, Frame, KEEP_SHARES_FROM, Limits, LittleEndian, OctetsRef, SHARE_FROM,
    decode_encapsulation, encode_encapsulation,
};

struct Inside;

impl EncapsulationVisitor<'_> for Inside {
    type Output = (Endian, usize, f64, usize);

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<Self::Output, DecodeError> {
        Ok((
            d.endian(),
            d.position(),
            d.read_f64()?,
            d.absolute_position(),
        ))
    }
}

#[test]
fn alignment_restarts_inside_and_goes_on_outside() {
    let mut e = Encoder::<BigEndian>::new(modern());
    e.write_u8(1);
    e.encapsulation(|e| {
        e.write_f64(1.0);
        e.write_u8(2);
        Ok(())
    })
    .unwrap();
    e.write_u16(3);
    let octets = e.finish().to_vec();
    let mut expected = vec![1, 0, 0, 0, 0, 0, 0, 17];
    expected.extend([0; 8]); // the flag and 7 octets of padding
    expected.extend(1.0_f64.to_be_bytes());
    expected.extend([2, 0, 0, 3]);
    assert_eq!(octets, expected);

    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(d.read_u8(), Ok(1));
    assert_eq!(d.encapsulation(Inside), Ok((Endian::Big, 1, 1.0, 24)));
    assert_eq!(d.read_u16(), Ok(3));
}

#[test]
fn an_encapsulation_has_its_own_order() {
    let inside = encode_encapsulation::<LittleEndian>(modern(), |e| e.put(&2.0_f64)).unwrap();
    assert_eq!(inside[0], 1);
    let octets = big(&inside);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(d.encapsulation(Inside).unwrap().0, Endian::Little);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(d.read_encapsulated::<f64>(), Ok(2.0));
    assert_eq!(
        decode_encapsulation(&inside, modern(), Inside).unwrap().2,
        2.0
    );
}

#[test]
fn shared_octets_inside_are_counted() {
    for extra in 0..8 {
        let shared = Bytes::from(vec![1; SHARE_FROM + extra]);
        let mut e = Encoder::<BigEndian>::new(modern());
        e.write_u16(1);
        e.encapsulation(|e| e.put(&(&shared, 1.0_f64))).unwrap();
        e.put(&2.0_f64).unwrap();
        let octets = e.finish().to_vec();
        let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
        assert_eq!(d.read_u16(), Ok(1));
        assert_eq!(d.read_encapsulated::<(Bytes, f64)>(), Ok((shared, 1.0)));
        assert_eq!(d.read_f64(), Ok(2.0));
        assert_eq!(d.remaining(), 0);
    }
}

#[test]
fn encapsulations_nest() {
    let mut e = Encoder::<LittleEndian>::new(modern());
    e.encapsulation(|e| {
        e.write_u16(1);
        e.encapsulation(|e| e.put("deep"))?;
        e.put(&2_u64)
    })
    .unwrap();
    let octets = e.finish().to_vec();
    struct Outer;
    impl EncapsulationVisitor<'_> for Outer {
        type Output = (u16, String, u64);
        fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<Self::Output, DecodeError> {
            Ok((d.get()?, d.read_encapsulated()?, d.get()?))
        }
    }
    let mut d = Decoder::<LittleEndian>::from_slice(&octets, modern());
    assert_eq!(d.encapsulation(Outer).unwrap(), (1, "deep".to_owned(), 2));
}

#[test]
fn a_malformed_encapsulation_is_refused() {
    let read = |octets: &[u8]| {
        let mut d = Decoder::<BigEndian>::from_slice(octets, modern());
        d.read_encapsulated::<u32>()
            .map_err(|e| (e.kind(), e.offset()))
    };
    // No byte order, too little inside, too little outside.
    let truncated = |needed, left| DecodeErrorKind::Truncated { needed, left };
    assert_eq!(read(&[0, 0, 0, 0]), Err((truncated(1, 0), 4)));
    assert_eq!(read(&[0, 0, 0, 4, 0, 0, 0, 0]), Err((truncated(7, 3), 5)));
    assert_eq!(
        read(&[0, 0, 0, 5, 0, 0, 0, 0]),
        Err((DecodeErrorKind::CountTooLarge { count: 5, left: 4 }, 0))
    );
    assert!(decode_encapsulation(&[], modern(), Inside).is_err());
}

#[test]
fn context_and_frame_are_there_inside() {
    let data = vec![7_u8; KEEP_SHARES_FROM];
    let inside = encode_encapsulation::<BigEndian>(modern(), |e| e.put(&data)).unwrap();
    let frame = Frame::new(big(&inside).into());
    struct Keep;
    impl EncapsulationVisitor<'_> for Keep {
        type Output = (Bytes, bool);
        fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<Self::Output, DecodeError> {
            Ok((d.get::<OctetsRef<'_>>()?.keep(), d.context().is_some()))
        }
    }
    let mut d = Decoder::<BigEndian>::new(&frame, modern()).with_context(&());
    let (kept, context) = d.encapsulation(Keep).unwrap();
    assert!(context);
    assert!(frame.octets().as_ptr_range().contains(&kept.as_ptr()));
}

#[test]
fn encapsulations_count_as_nesting() {
    struct Russian;
    impl<'de> Decode<'de> for Russian {
        const MIN_SIZE: usize = 4;
        fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
            d.read_encapsulated()
        }
    }
    let mut octets = Vec::new();
    for _ in 0..1000 {
        octets = encode_encapsulation::<BigEndian>(modern(), |e| e.put(&octets)).unwrap();
    }
    let octets = big(&octets);
    assert_eq!(
        fault::<Russian>(&octets).0,
        DecodeErrorKind::TooDeep {
            limit: Limits::DEPTH
        }
    );
}
