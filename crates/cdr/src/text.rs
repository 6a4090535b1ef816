//! Strings and wide strings.

use crate::{
    ByteOrder, CharSet, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind,
    Encoder, WCharSet,
};
use alloc::{borrow::Cow, string::String};

/// The byte order mark as a unit.
const MARK: u16 = 0xfeff;
/// The byte order mark read in the wrong order.
const SWAPPED_MARK: u16 = 0xfffe;

/// How the octets of a UTF-16 unit become one.
type LoadUnit = fn([u8; 2]) -> u16;

/// Whether there is a zero octet. Written so that the compiler checks a vector at a time.
pub(crate) fn has_nul(octets: &[u8]) -> bool {
    let (blocks, rest) = octets.as_chunks::<64>();
    let in_block = |block: &[u8; 64]| {
        block
            .iter()
            .fold(0_u8, |found, o| found | u8::from(*o == 0))
            != 0
    };
    blocks.iter().any(in_block) || rest.contains(&0)
}

impl<'de, O: ByteOrder> Decoder<'de, O> {
    /// The octets of a CDR string without its terminator, whatever their code set.
    ///
    /// A length of 0, which is malformed but sent by some ORBs, is read as an empty string.
    ///
    /// # Errors
    /// [`CountTooLarge`](DecodeErrorKind::CountTooLarge) if it claims more octets than there are,
    /// [`MissingNul`](DecodeErrorKind::MissingNul), [`EmbeddedNul`](DecodeErrorKind::EmbeddedNul).
    pub fn read_raw_string(&mut self) -> Result<&'de [u8], DecodeError> {
        let len = self.read_count(1)?;
        match self.take(len)?.split_last() {
            None => Ok(&[]),
            Some((0, text)) if has_nul(text) => {
                Err(self.error_behind(len, DecodeErrorKind::EmbeddedNul))
            }
            Some((0, text)) => Ok(text),
            Some((found, _)) => {
                Err(self.error_behind(1, DecodeErrorKind::MissingNul { found: *found }))
            }
        }
    }

    /// A string, converted from the code set of the connection: borrowed if it is UTF-8 or ASCII, else allocated.
    ///
    /// # Errors
    /// As [`read_raw_string`](Self::read_raw_string), and [`InvalidUtf8`](DecodeErrorKind::InvalidUtf8).
    pub fn read_str(&mut self) -> Result<Cow<'de, str>, DecodeError> {
        let octets = self.read_raw_string()?;
        match (core::str::from_utf8(octets), self.format().char_set) {
            (Ok(text), CharSet::Utf8 | CharSet::Stored) => Ok(Cow::Borrowed(text)),
            // Only ASCII means the same in both.
            (Ok(text), CharSet::Latin1) if text.is_ascii() => Ok(Cow::Borrowed(text)),
            (_, CharSet::Latin1) => {
                Ok(Cow::Owned(octets.iter().copied().map(char::from).collect()))
            }
            (Err(e), CharSet::Utf8 | CharSet::Stored) => {
                // Behind the bad octets there are those after them and the terminator.
                let rest = octets
                    .len()
                    .saturating_sub(e.valid_up_to())
                    .saturating_add(1);
                Err(self.error_behind(rest, DecodeErrorKind::InvalidUtf8))
            }
        }
    }

    /// A wstring.
    ///
    /// GIOP 1.2: a byte order mark at the start is obeyed and dropped; without one the units are big endian, whatever
    /// the order of the message (UCS-2: units in the order of the message, and no mark). GIOP 1.1: units in the order of the message, the last of them zero (a length of 0 is
    /// read as empty).
    ///
    /// # Errors
    /// [`WideInGiop1_0`](DecodeErrorKind::WideInGiop1_0), [`WideRefused`](DecodeErrorKind::WideRefused) without a code set,
    /// [`LoneSurrogate`](DecodeErrorKind::LoneSurrogate), and errors of length and termination.
    pub fn read_wide_string(&mut self) -> Result<String, DecodeError> {
        let (load, units) = self.read_wide_units()?;
        let terminator = if self.format().minor < 2 { 2 } else { 0 };
        let octets = units.as_flattened().len().saturating_add(terminator);
        let units = units.iter().map(|unit| load(*unit));
        if units.clone().any(|unit| unit == 0) {
            return Err(self.error_behind(octets, DecodeErrorKind::EmbeddedNul));
        }
        char::decode_utf16(units)
            .collect::<Result<String, _>>()
            .map_err(|lone| {
                let unit = lone.unpaired_surrogate();
                self.error_behind(octets, DecodeErrorKind::LoneSurrogate { unit })
            })
    }

    /// The units of a wstring, without mark and terminator, and how to load one.
    fn read_wide_units(&mut self) -> Result<(LoadUnit, &'de [[u8; 2]]), DecodeError> {
        self.wide_allowed()?;
        if self.format().minor >= 2 {
            let len = self.read_count(1)?;
            let (units, odd) = self.take(len)?.as_chunks::<2>();
            if !odd.is_empty() {
                return Err(self.wide_length(len));
            }
            return Ok(match self.format().wchar_set {
                WCharSet::Ucs2 => (O::load_u16, units),
                _ => unmarked(units),
            });
        }
        let count = self.read_count(2)?;
        let (units, _) = self.take(count.saturating_mul(2))?.as_chunks::<2>();
        let text = match units.split_last() {
            None => units,
            Some((last, text)) if O::load_u16(*last) == 0 => text,
            Some((last, _)) => {
                let found = O::load_u16(*last);
                return Err(self.error_behind(2, DecodeErrorKind::MissingWideNul { found }));
            }
        };
        Ok((O::load_u16, text))
    }

    /// A wchar, as one UTF-16 unit.
    ///
    /// GIOP 1.2: an octet with the number of octets that follow, which is 2 (big endian) or 4 (a mark and a unit in the
    /// order it tells). GIOP 1.1: an unsigned short.
    ///
    /// # Errors
    /// [`WideInGiop1_0`](DecodeErrorKind::WideInGiop1_0), [`WideRefused`](DecodeErrorKind::WideRefused) without a code set,
    /// [`WideLength`](DecodeErrorKind::WideLength) if the length is another.
    pub fn read_wide_char(&mut self) -> Result<u16, DecodeError> {
        self.wide_allowed()?;
        if self.format().minor < 2 {
            return self.read_u16();
        }
        let len = usize::from(self.read_u8()?);
        let (units, odd) = self.take(len)?.as_chunks::<2>();
        match (units, odd) {
            ([unit], []) if self.format().wchar_set == WCharSet::Ucs2 => Ok(O::load_u16(*unit)),
            ([unit], []) => Ok(u16::from_be_bytes(*unit)),
            ([_, _], []) => match unmarked(units) {
                (load, [unit]) => Ok(load(*unit)),
                _ => Err(self.wide_length(len)),
            },
            _ => Err(self.wide_length(len)),
        }
    }

    fn wide_allowed(&self) -> Result<(), DecodeError> {
        if self.format().minor == 0 {
            return Err(self.error(DecodeErrorKind::WideInGiop1_0));
        }
        if self.format().wchar_set == WCharSet::None {
            return Err(self.error(DecodeErrorKind::WideRefused));
        }
        Ok(())
    }

    #[cold]
    fn wide_length(&self, len: usize) -> DecodeError {
        self.error_behind(
            len,
            DecodeErrorKind::WideLength {
                found: u32::try_from(len).unwrap_or(u32::MAX),
            },
        )
    }
}

impl<O: ByteOrder> Encoder<O> {
    /// Writes octets as a CDR string, adding the terminator.
    ///
    /// # Errors
    /// [`EmbeddedNul`](EncodeErrorKind::EmbeddedNul), [`TooLong`](EncodeErrorKind::TooLong).
    pub fn write_raw_string(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        if has_nul(octets) {
            return Err(EncodeErrorKind::EmbeddedNul.into());
        }
        self.write_count(octets.len().saturating_add(1))?;
        let start = self.position();
        self.append(octets);
        self.write_u8(0);
        self.end_run(start);
        Ok(())
    }

    /// Writes a string in the code set of the connection.
    ///
    /// # Errors
    /// As [`write_raw_string`](Self::write_raw_string), and [`NotInCodeSet`](EncodeErrorKind::NotInCodeSet) for what
    /// Latin-1 has not.
    pub fn write_str(&mut self, text: &str) -> Result<(), EncodeError> {
        if self.format().char_set != CharSet::Latin1 || text.is_ascii() {
            return self.write_raw_string(text.as_bytes());
        }
        if has_nul(text.as_bytes()) {
            return Err(EncodeErrorKind::EmbeddedNul.into());
        }
        self.write_count(text.chars().count().saturating_add(1))?;
        let start = self.position();
        for c in text.chars() {
            match u8::try_from(u32::from(c)) {
                Ok(octet) => self.write_u8(octet),
                Err(_) => return Err(not_in_code_set(c)),
            }
        }
        self.write_u8(0);
        self.end_run(start);
        Ok(())
    }

    /// Writes a wstring.
    ///
    /// GIOP 1.2: big endian **without a mark**, which is what every ORB has to read by default and what JacORB sends.
    /// Only a text that itself begins with what looks like a mark gets one, since the receiver would drop the
    /// character otherwise. GIOP 1.1: units in byte order `O`, with a terminator.
    ///
    /// # Errors
    /// [`WideInGiop1_0`](EncodeErrorKind::WideInGiop1_0), [`WideRefused`](EncodeErrorKind::WideRefused) without a code set,
    /// [`EmbeddedNul`](EncodeErrorKind::EmbeddedNul), [`TooLong`](EncodeErrorKind::TooLong).
    pub fn write_wide_str(&mut self, text: &str) -> Result<(), EncodeError> {
        self.wide_allowed()?;
        if has_nul(text.as_bytes()) {
            return Err(EncodeErrorKind::EmbeddedNul.into());
        }
        let is_ucs2 = self.format().wchar_set == WCharSet::Ucs2;
        if is_ucs2 && let Some(c) = text.chars().find(|c| c.len_utf16() > 1) {
            return Err(EncodeError::new(EncodeErrorKind::NotInCodeSet {
                found: u32::from(c),
                set: "UCS-2",
            }));
        }
        let units = text.encode_utf16();
        let count = units.clone().count();
        if self.format().minor < 2 {
            self.write_count(count.saturating_add(1))?;
            let start = self.position();
            units.for_each(|unit| self.write_u16(unit));
            self.write_u16(0);
            self.end_run(start);
            return Ok(());
        }
        if is_ucs2 {
            self.write_count(count.saturating_mul(2))?;
            units.for_each(|unit| self.append(&O::store_u16(unit)));
            return Ok(());
        }
        let mark = matches!(units.clone().next(), Some(MARK | SWAPPED_MARK)).then_some(MARK);
        self.write_count(
            count
                .saturating_add(usize::from(mark.is_some()))
                .saturating_mul(2),
        )?;
        for unit in mark.into_iter().chain(units) {
            self.append(&unit.to_be_bytes());
        }
        Ok(())
    }

    /// Writes a wchar: GIOP 1.2 as the octet 2 and a big-endian unit, GIOP 1.1 as an unsigned short.
    ///
    /// # Errors
    /// [`WideInGiop1_0`](EncodeErrorKind::WideInGiop1_0), [`WideRefused`](EncodeErrorKind::WideRefused) without a code set.
    pub fn write_wide_char(&mut self, unit: u16) -> Result<(), EncodeError> {
        self.wide_allowed()?;
        if self.format().minor < 2 {
            self.write_u16(unit);
        } else {
            let [first, second] = match self.format().wchar_set {
                WCharSet::Ucs2 => O::store_u16(unit),
                _ => unit.to_be_bytes(),
            };
            self.append(&[2, first, second]);
        }
        Ok(())
    }

    fn wide_allowed(&self) -> Result<(), EncodeError> {
        if self.format().minor == 0 {
            return Err(EncodeErrorKind::WideInGiop1_0.into());
        }
        if self.format().wchar_set == WCharSet::None {
            return Err(EncodeErrorKind::WideRefused.into());
        }
        Ok(())
    }
}

#[cold]
pub(crate) fn not_in_code_set(c: char) -> EncodeError {
    EncodeError::new(EncodeErrorKind::NotInCodeSet {
        found: u32::from(c),
        set: "ISO 8859-1",
    })
}

/// How to load units that may begin with a mark, and the units behind it.
fn unmarked(units: &[[u8; 2]]) -> (LoadUnit, &[[u8; 2]]) {
    match units.split_first() {
        Some((first, rest)) => match u16::from_be_bytes(*first) {
            MARK => (u16::from_be_bytes, rest),
            SWAPPED_MARK => (u16::from_le_bytes, rest),
            _ => (u16::from_be_bytes, units),
        },
        None => (u16::from_be_bytes, units),
    }
}
