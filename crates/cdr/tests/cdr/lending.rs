//! Octets that stay where the caller has them until they are sent.

use zorb_cdr::{
    BigEndian, ByteOrder, Encode, Encoder, Gather, NativeEndian, Octets, SHARE_FROM, WireFormat,
};

fn lending<O: ByteOrder>(value: &impl Encode) -> Gather {
    let mut e = Encoder::<O>::new(WireFormat::default()).lending();
    e.append(b"head");
    e.put_lent(value).unwrap();
    // Behind it nothing is lent.
    e.put(value).unwrap();
    e.align(4);
    let at = e.position();
    e.write_u32(0);
    e.patch_u32(at, 0x0102_0304);
    e.finish()
}

fn copying<O: ByteOrder>(value: &impl Encode) -> Vec<u8> {
    let mut e = Encoder::<O>::new(WireFormat::default());
    e.append(b"head");
    e.put(value).unwrap();
    e.put(value).unwrap();
    e.write_u32(0x0102_0304);
    e.finish().to_vec()
}

fn octets(len: usize) -> Vec<u8> {
    (0..len).map(|i| i as u8).collect()
}

fn with<'a>(gather: &'a Gather, lent: &'a [u8]) -> Vec<u8> {
    gather.chunks_with(lent).collect::<Vec<_>>().concat()
}

#[test]
fn what_is_lent_is_sent_as_what_is_copied_whatever_stands_around_it() {
    for len in [SHARE_FROM, SHARE_FROM + 1, SHARE_FROM + 7] {
        let data = octets(len);
        let shared = bytes::Bytes::from(octets(len));
        let value = (
            true,
            Octets::from(&shared),
            Octets::from(&data),
            2.5_f64,
            &data[..3],
            "text",
        );
        let mut gather = lending::<NativeEndian>(&value);
        assert!(gather.is_lent() && gather.lacks(&data));
        assert_eq!(gather.len(), copying::<NativeEndian>(&value).len());
        assert_eq!(with(&gather, &data), copying::<NativeEndian>(&value));
        // It is not copied.
        assert!(
            gather
                .chunks_with(&data)
                .any(|chunk| chunk.as_ptr() == data.as_ptr())
        );
        assert!(gather.settle(&data) && !gather.is_lent());
        assert_eq!(gather.to_vec(), copying::<NativeEndian>(&value));
    }
}

#[test]
fn numbers_are_lent_in_the_order_of_the_machine_only() {
    let numbers: Vec<i64> = (0..SHARE_FROM as i64).collect();
    let value = (7_u8, numbers.as_slice(), 7_u8);
    let gather = lending::<NativeEndian>(&value);
    let lent = value.lent().unwrap();
    assert_eq!(lent.len(), 8 * numbers.len());
    assert_eq!(with(&gather, lent), copying::<NativeEndian>(&value));
    if !NativeEndian::ENDIAN.is_little() {
        return;
    }
    let gather = lending::<BigEndian>(&value);
    assert!(!gather.is_lent());
    assert_eq!(gather.to_vec(), copying::<BigEndian>(&value));
}

#[test]
fn one_argument_is_lent_once() {
    let (data, others) = (octets(SHARE_FROM), octets(SHARE_FROM));
    let value = (data.as_slice(), data.as_slice(), others.as_slice());
    let gather = lending::<NativeEndian>(&value);
    let count = |octets: &[u8]| {
        let chunks = gather.chunks_with(&data);
        chunks
            .filter(|chunk| chunk.as_ptr() == octets.as_ptr())
            .count()
    };
    assert_eq!((count(&data), count(&others)), (1, 0));
    assert_eq!(with(&gather, &data), copying::<NativeEndian>(&value));
}

#[test]
fn what_is_small_or_shared_or_not_asked_for_is_not_lent() {
    let (small, large) = (octets(SHARE_FROM - 1), octets(SHARE_FROM));
    assert!(!lending::<NativeEndian>(&(small.as_slice(), "text")).is_lent());
    assert!(!lending::<NativeEndian>(&Octets::from(large.clone())).is_lent());
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put_lent(&large.as_slice()).unwrap();
    assert!(!e.finish().is_lent());
}

#[test]
fn other_octets_than_those_lent_are_not_taken_for_them() {
    let (data, same) = (octets(SHARE_FROM), octets(SHARE_FROM));
    let mut gather = lending::<NativeEndian>(&data.as_slice());
    assert!(!gather.lacks(&same) && !gather.settle(&same) && !gather.settle(&data[1..]));
    assert!(gather.settle(&data));
}
