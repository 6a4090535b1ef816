//! Lists of policies as octets (`Messaging::PolicyValueSeq`), in the context INVOCATION_POLICIES and in the component
//! TAG_POLICIES, and the times in them.
//!
//! The fuzz targets compile this file by its path, so it names nothing of the crate.

use bytes::Bytes;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncapsulationVisitor, EncodeError, WireFormat};
use zorb_giop::ior::encapsulate;

/// The limit on policies that are read from a peer's list: there are fewer types of them.
pub(crate) const MAX_READ: usize = 256;

/// Reads the types and values of a list, up to [`MAX_READ`] of them.
///
/// # Errors
/// The list is malformed.
pub(crate) fn read_policies(octets: &[u8]) -> Result<Vec<(u32, Bytes)>, DecodeError> {
    read(octets, PolicyValues)
}

/// Encodes a list of types and values.
///
/// # Errors
/// Too many policies for a sequence.
pub(crate) fn write_policies(policies: &[(u32, Bytes)]) -> Result<Bytes, EncodeError> {
    encapsulate(|e| {
        e.write_count(policies.len())?;
        policies.iter().try_for_each(|(policy_type, value)| {
            e.write_u32(*policy_type);
            e.write_octets(value)
        })
    })
}

/// Reads the time of a `TimeBase::UtcT`, in units of 100 ns.
///
/// # Errors
/// The value is malformed.
pub(crate) fn read_time(octets: &[u8]) -> Result<u64, DecodeError> {
    read(octets, UtcTime)
}

/// Encodes a `TimeBase::UtcT` of UTC that is exact.
///
/// # Errors
/// None: a time fits into every message.
pub(crate) fn write_time(ticks: u64) -> Result<Bytes, EncodeError> {
    encapsulate(|e| {
        e.write_u64(ticks);
        // The inaccuracy, in two parts, and the time zone.
        e.write_u32(0);
        e.write_u16(0);
        e.write_u16(0);
        Ok(())
    })
}

/// Reads a `TimeBase::TimeT`, in units of 100 ns.
///
/// # Errors
/// The value is malformed.
pub(crate) fn read_ticks(octets: &[u8]) -> Result<u64, DecodeError> {
    read(octets, Ticks)
}

fn read<'de, V: EncapsulationVisitor<'de>>(
    octets: &'de [u8],
    visitor: V,
) -> Result<V::Output, DecodeError> {
    zorb_cdr::decode_encapsulation(octets, WireFormat::default(), visitor)
}

struct Ticks;

impl EncapsulationVisitor<'_> for Ticks {
    type Output = u64;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<u64, DecodeError> {
        d.get()
    }
}

struct UtcTime;

impl EncapsulationVisitor<'_> for UtcTime {
    type Output = u64;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<u64, DecodeError> {
        let time = d.get()?;
        let _: (u32, u16, i16) = d.get()?;
        Ok(time)
    }
}

struct PolicyValues;

impl EncapsulationVisitor<'_> for PolicyValues {
    type Output = Vec<(u32, Bytes)>;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<Self::Output, DecodeError> {
        // The least size of an element: a type and the length of its value.
        let count = d.read_count(8)?;
        (0..count.min(MAX_READ))
            .map(|_| Ok((d.read_u32()?, Bytes::copy_from_slice(d.read_octets()?))))
            .collect()
    }
}
