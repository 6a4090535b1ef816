//! Octets that stay where the caller has them until they are sent.

use zorb_cdr::{
    BigEndian, ByteOrder, Encode, Encoder, Lending, Lent, NativeEndian, Octets, SHARE_FROM,
    WireFormat,
};

/// Encodes the value with octets left out, and once more with none; gives the encoder and what is left out.
fn lending<'a, O: ByteOrder>(value: &'a impl Encode) -> (Encoder<O>, Option<Lent<'a>>) {
    let mut e = Encoder::<O>::new(WireFormat::default());
    let mut lent = None;
    e.append(b"head");
    value.encode_lent(&mut e, &mut lent).unwrap();
    e.put(value).unwrap();
    e.align(4);
    let at = e.position();
    e.write_u32(0);
    e.patch_u32(at, 0x0102_0304);
    (e, lent)
}

/// The message of a value of which octets are left out.
fn lent<'a>(value: &'a impl Encode) -> Lending<'a> {
    let (mut e, lent) = lending::<NativeEndian>(value);
    e.take_lending(lent.expect("octets that are left out"))
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

fn octets_of(message: &Lending<'_>) -> Vec<u8> {
    message.chunks().collect::<Vec<_>>().concat()
}

/// How many pieces of the message begin where these octets do.
fn pieces_at(message: &Lending<'_>, octets: &[u8]) -> usize {
    let at = |chunk: &&[u8]| chunk.as_ptr() == octets.as_ptr();
    message.chunks().filter(at).count()
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
        let message = lent(&value);
        let copied = copying::<NativeEndian>(&value);
        assert_eq!(message.len(), copied.len());
        assert_eq!(octets_of(&message), copied);
        assert_eq!(pieces_at(&message, &data), 1);
        assert_eq!(message.into_whole().to_vec(), copied);
    }
}

#[test]
fn numbers_are_lent_in_the_order_of_the_machine_only() {
    let numbers: Vec<i64> = (0..SHARE_FROM as i64).collect();
    let value = (7_u8, numbers.as_slice(), 7_u8);
    let message = lent(&value);
    assert_eq!(octets_of(&message), copying::<NativeEndian>(&value));
    if !NativeEndian::ENDIAN.is_little() {
        return;
    }
    let (e, lent) = lending::<BigEndian>(&value);
    assert!(lent.is_none());
    assert_eq!(e.finish().to_vec(), copying::<BigEndian>(&value));
}

#[test]
fn one_argument_is_lent_once() {
    let (data, others) = (octets(SHARE_FROM), octets(SHARE_FROM));
    let value = (data.as_slice(), data.as_slice(), others.as_slice());
    let message = lent(&value);
    let pieces = [pieces_at(&message, &data), pieces_at(&message, &others)];
    assert_eq!(pieces, [1, 0]);
    assert_eq!(octets_of(&message), copying::<NativeEndian>(&value));
}

#[test]
fn what_is_small_or_shared_or_inside_a_value_is_not_left_out() {
    let (small, large) = (octets(SHARE_FROM - 1), octets(SHARE_FROM));
    assert!(
        lending::<NativeEndian>(&(small.as_slice(), "text"))
            .1
            .is_none()
    );
    assert!(
        lending::<NativeEndian>(&Octets::from(large.clone()))
            .1
            .is_none()
    );
    assert!(lending::<NativeEndian>(&[large]).1.is_none());
}
