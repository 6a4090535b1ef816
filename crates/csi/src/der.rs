//! Lengths and elements of ASN.1's distinguished encoding, as far as GSS tokens and chains of certificates need them.

/// Appends a length in the fewest octets.
pub(crate) fn write_length(length: usize, out: &mut Vec<u8>) {
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => out.push(short),
        _ => {
            let octets = length.to_be_bytes();
            let skipped = octets.iter().take_while(|octet| **octet == 0).count();
            let used = octets.get(skipped..).unwrap_or_default();
            // At most 8.
            out.push(0x80 | u8::try_from(used.len()).unwrap_or_default());
            out.extend_from_slice(used);
        }
    }
}

/// Octets that [`write_length`] appends.
pub(crate) const fn length_octets(length: usize) -> usize {
    match length {
        0..=0x7f => 1,
        // 64 bits or fewer: the quotient is at most 8.
        _ => 1_usize.saturating_add(
            (usize::BITS.saturating_sub(length.leading_zeros())).div_ceil(8) as usize,
        ),
    }
}

/// Reads a length in the definite form, and returns it with the octets behind it.
pub(crate) fn read_length(octets: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = octets.split_first()?;
    if *first < 0x80 {
        return Some((usize::from(*first), rest));
    }
    let count = usize::from(*first & 0x7f);
    // 0x80 is the indefinite form.
    if count == 0 || count > 4 {
        return None;
    }
    let (length, rest) = rest.split_at_checked(count)?;
    let length = length
        .iter()
        .fold(0_u32, |all, octet| (all << 8) | u32::from(*octet));
    Some((usize::try_from(length).ok()?, rest))
}

/// Splits off an element with this tag: returns the octets of its value, those of the whole element, and those behind it.
pub(crate) fn split_element(octets: &[u8], tag: u8) -> Option<Element<'_>> {
    let (first, rest) = octets.split_first()?;
    if *first != tag {
        return None;
    }
    let (length, rest) = read_length(rest)?;
    let (value, behind) = rest.split_at_checked(length)?;
    let whole = octets.get(..octets.len().checked_sub(behind.len())?)?;
    Some(Element {
        value,
        whole,
        behind,
    })
}

/// An element that [`split_element`] has split off.
pub(crate) struct Element<'a> {
    /// The octets of its value.
    pub(crate) value: &'a [u8],
    /// All its octets.
    pub(crate) whole: &'a [u8],
    /// The octets behind it.
    pub(crate) behind: &'a [u8],
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_are_those_of_the_standard() {
        for (length, octets) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x81, 128]),
            (255, &[0x81, 255]),
            (256, &[0x82, 1, 0]),
            (65_536, &[0x83, 1, 0, 0]),
        ] {
            let mut out = Vec::new();
            write_length(length, &mut out);
            assert_eq!(out, octets);
            assert_eq!(length_octets(length), octets.len());
            assert_eq!(read_length(octets).unwrap(), (length, &[][..]));
        }
        for bad in [&[][..], &[0x80], &[0x82, 1], &[0x85, 0, 0, 0, 0, 1]] {
            assert_eq!(read_length(bad), None);
        }
    }

    proptest! {
        #[test]
        fn a_length_comes_back(length in 0..=u32::MAX) {
            let mut out = Vec::new();
            write_length(length as usize, &mut out);
            prop_assert_eq!(out.len(), length_octets(length as usize));
            prop_assert_eq!(read_length(&out).unwrap(), (length as usize, &[][..]));
        }
    }
}
