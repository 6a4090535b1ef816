//! Values in memory: any octets are values of the type or an error, take no more memory than the octets, and are the same octets
//! when they are written, and the same values by way of CDR.

use crate::allocated_by;
use crate::work::Work;
use std::borrow::Borrow;
use std::fmt::Debug;
use zorb::cdr::{
    Array, BigEndian, ByteOrder, Codec, Dec, Decode, Decoder, Enc, Encode, Encoder, InMemory,
    LittleEndian, NativeEndian, Seq, WireFormat,
};

zorb::idl! {
    #![idl(in_memory("Fuzz::Sample"))]
    module Fuzz {
        enum State { idle, busy, done };
        struct Part { boolean valid; octet channel; wchar sign; };
        struct Sample { State now; Part parts[2]; long count; double level; };
    };
}

use fuzz::Sample;

/// What a decoder takes beside the values: an error, and a few octets for each sequence.
const BESIDE: usize = 4 << 10;

/// Takes the first octet for how far the others are from a multiple of 16 in memory.
pub fn run(data: &[u8]) {
    let Some((shift, octets)) = data.split_first() else {
        return;
    };
    let shift = usize::from(shift % 16);
    let mut shifted = vec![0; shift];
    shifted.extend_from_slice(octets);
    let octets = shifted.get(shift..).unwrap_or_default();
    check::<Seq<InMemory<Sample>>>(octets);
    check::<InMemory<Sample>>(octets);
    check::<Array<InMemory<Sample>, 3>>(octets);
    // In the other byte order there are none.
    let is_error = match cfg!(target_endian = "little") {
        true => is_error_in::<BigEndian>(octets),
        false => is_error_in::<LittleEndian>(octets),
    };
    assert!(is_error);
}

/// Values that are not aligned, and so checked one by one.
pub(crate) fn work(octets: usize) -> Work {
    let count = octets / size_of::<Sample>();
    let mut shifted = vec![0; 1];
    shifted.extend_from_slice(&u32::try_from(count).expect("few").to_ne_bytes());
    shifted.resize(1 + 8 + count * size_of::<Sample>(), 0);
    Box::new(move || {
        let octets = shifted.get(1..).unwrap_or_default();
        let mut d = Decoder::<NativeEndian>::from_slice(octets, WireFormat::default());
        let read = d.get::<Dec<Seq<InMemory<Sample>>>>();
        assert_eq!(read.map(|Dec(values)| values.len()), Ok(count));
    })
}

fn is_error_in<O: ByteOrder>(octets: &[u8]) -> bool {
    let mut d = Decoder::<O>::from_slice(octets, WireFormat::default());
    d.get::<Dec<InMemory<Sample>>>().is_err()
}

fn check<C: Codec>(octets: &[u8])
where
    C::Value: Debug + Encode + for<'de> Decode<'de>,
{
    let mut d = Decoder::<NativeEndian>::from_slice(octets, WireFormat::default());
    let mut read = None;
    let taken = allocated_by(|| read = d.get::<Dec<C>>().ok());
    assert!(taken <= octets.len() + BESIDE, "{taken} octets");
    let Some(Dec(values)) = read else { return };
    let end = d.position();
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(&Enc::<C>(<C::Value as Borrow<C::Borrowed>>::borrow(
        &values,
    )))
    .expect("values in memory have a form");
    let written = e.finish().to_vec();
    // But for the padding behind a count, they are the same.
    let same =
        |octets: &[u8]| [octets.get(..4), octets.get(8..)].map(|part| part.map(<[u8]>::to_vec));
    assert_eq!(same(&written), same(octets.get(..end).unwrap_or_default()));
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(&values).expect("they have a form in CDR");
    let in_cdr = e.finish().to_vec();
    let mut d = Decoder::<NativeEndian>::from_slice(&in_cdr, WireFormat::default());
    let again: C::Value = d.get().expect("CDR is read");
    // By their text, as a number that is none is not equal to itself.
    assert_eq!(format!("{again:?}"), format!("{values:?}"));
}
