//! Digests of a servant's arguments, so that no ORB is fast by not looking at them.
//!
//! Sums, since they cost next to nothing (a processor adds several words at a time) and every field changes them. The
//! same sums are in the C++ programs.

/// Folds every octet: their number, and the sum of them as words of eight, the last few one by one.
#[must_use]
pub fn octets(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks::<8>();
    let words = words.iter().fold(0, |sum: u64, word| {
        sum.wrapping_add(u64::from_le_bytes(*word))
    });
    let rest = rest
        .iter()
        .fold(0, |sum: u64, octet| sum.wrapping_add(u64::from(*octet)));
    (octets.len() as u64).wrapping_add(words).wrapping_add(rest)
}

/// Looks at the length and both ends only: for measuring who copies, since reading is instructions too.
#[must_use]
pub fn ends(octets: &[u8]) -> u64 {
    let end = |octet: Option<&u8>| u64::from(octet.copied().unwrap_or_default());
    (octets.len() as u64) << 16 | end(octets.first()) << 8 | end(octets.last())
}

/// Folds every long.
#[must_use]
pub fn longs(longs: &[i32]) -> u64 {
    let sum = longs
        .iter()
        .fold(0, |sum: u32, long| sum.wrapping_add(long.cast_unsigned()));
    (longs.len() as u64).wrapping_add(u64::from(sum))
}

/// The fields of one struct of `bench.idl`; the digest of a sequence of them is their number and the sum of these.
#[must_use]
#[inline]
pub fn bin_struct(s: i16, c: u8, l: i32, o: u8, d: f64) -> u64 {
    let small = u64::from(l.cast_unsigned())
        | u64::from(s.cast_unsigned()) << 32
        | u64::from(c) << 48
        | u64::from(o) << 56;
    small.wrapping_add(d.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octet_counts() {
        for len in [1, 7, 8, 9, 64, 65] {
            let zeros = vec![0; len];
            for at in 0..len {
                let mut other = zeros.clone();
                other[at] = 1;
                assert_ne!(octets(&zeros), octets(&other), "octet {at} of {len}");
            }
        }
    }

    #[test]
    fn the_length_counts() {
        assert_ne!(octets(&[0; 8]), octets(&[0; 9]));
        assert_ne!(longs(&[0; 2]), longs(&[0; 3]));
        assert_ne!(ends(&[0; 8]), ends(&[0; 9]));
    }

    #[test]
    fn every_field_of_a_struct_counts() {
        let digests = [
            bin_struct(0, 0, 0, 0, 0.0),
            bin_struct(1, 0, 0, 0, 0.0),
            bin_struct(0, 1, 0, 0, 0.0),
            bin_struct(0, 0, 1, 0, 0.0),
            bin_struct(0, 0, 0, 1, 0.0),
            bin_struct(0, 0, 0, 0, 1.0),
        ];
        for (n, one) in digests.iter().enumerate() {
            assert!(!digests[..n].contains(one), "{n}");
        }
    }

    #[test]
    fn the_sums_are_those_of_the_other_languages() {
        assert_eq!(octets(&[1, 0, 0, 0, 0, 0, 0, 1, 5]), 9 + 1 + (1 << 56) + 5);
        assert_eq!(longs(&[-1, 2]), 2 + 1);
    }
}
