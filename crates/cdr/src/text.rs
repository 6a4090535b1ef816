//! Strings and wide strings.

use crate::{
    ByteOrder, CharSet, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind,
    Encoder, Endian, WCharSet, layout::BLOCK,
};
use alloc::{borrow::Cow, string::String, vec::Vec};

/// The byte order mark as a unit.
const MARK: u16 = 0xfeff;
/// The byte order mark read in the wrong order.
const SWAPPED_MARK: u16 = 0xfffe;

/// Whether there is a zero octet.
pub(crate) fn has_nul(octets: &[u8]) -> bool {
    memchr::memchr(0, octets).is_some()
}

/// Returns the number of characters of the text, counted a vector at a time.
fn count_chars(text: &str) -> usize {
    sum(text, |octet| u8::from(!is_continuation(octet)))
}

/// Returns the number of UTF-16 units of the text, counted a vector at a time: one for each character, and another one
/// for those of four octets.
pub(crate) fn count_units(text: &str) -> usize {
    sum(text, |octet| {
        u8::from(!is_continuation(octet)).wrapping_add(u8::from(octet >= 0xf0))
    })
}

#[inline(always)]
const fn is_continuation(octet: u8) -> bool {
    octet & 0xc0 == 0x80
}

/// Returns the sum of `f` over all octets. `f` returns 2 at most, so that the sum of 64 octets fits into one.
#[inline(always)]
fn sum(text: &str, f: impl Fn(u8) -> u8) -> usize {
    let (blocks, rest) = text.as_bytes().as_chunks::<64>();
    let add = |octets: &[u8]| {
        let sum = octets
            .iter()
            .fold(0_u8, |sum, octet| sum.wrapping_add(f(*octet)));
        usize::from(sum)
    };
    blocks
        .iter()
        .fold(add(rest), |sum, block| sum.saturating_add(add(block)))
}

/// Returns the text of UTF-16 units; an error if one of them is zero or half of a pair.
#[inline(always)]
fn text_of_units(
    units: &[[u8; 2]],
    load: impl Fn([u8; 2]) -> u16,
) -> Result<String, DecodeErrorKind> {
    // One pass over all units, a vector at a time, finds whether there is a NUL and whether all are ASCII.
    let (mut is_ascii, mut has_nul) = (true, false);
    for unit in units {
        let unit = load(*unit);
        is_ascii &= unit < 0x80;
        has_nul |= unit == 0;
    }
    if has_nul {
        return Err(DecodeErrorKind::EmbeddedNul);
    }
    if is_ascii {
        let octets = units
            .iter()
            .map(|unit| load(*unit).to_le_bytes())
            .map(|[low, _]| low);
        // The second check is cheap.
        return String::from_utf8(octets.collect::<Vec<u8>>())
            .map_err(|_| DecodeErrorKind::InvalidUtf8);
    }
    let mut text = String::with_capacity(units.len());
    for c in char::decode_utf16(units.iter().map(|unit| load(*unit))) {
        let c = c.map_err(|error| DecodeErrorKind::LoneSurrogate {
            unit: error.unpaired_surrogate(),
        })?;
        text.push(c);
    }
    Ok(text)
}

/// The units of a wstring, and their byte order.
struct WideUnits<'de> {
    units: &'de [[u8; 2]],
    endian: Endian,
}

impl<'de, O: ByteOrder> Decoder<'de, O> {
    /// Reads a CDR string and returns its octets without the terminator, in whichever code set they are.
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

    /// Reads a string, converted from the code set of the connection: borrowed if it is UTF-8 or ASCII, else allocated.
    ///
    /// # Errors
    /// The errors of [`read_raw_string`](Self::read_raw_string), and [`InvalidUtf8`](DecodeErrorKind::InvalidUtf8).
    pub fn read_str(&mut self) -> Result<Cow<'de, str>, DecodeError> {
        let octets = self.read_raw_string()?;
        match (simdutf8::basic::from_utf8(octets), self.format().char_set) {
            (Ok(text), CharSet::Utf8 | CharSet::Stored) => Ok(Cow::Borrowed(text)),
            // ISO 8859-1 and UTF-8 agree on ASCII only.
            (Ok(text), CharSet::Latin1) if text.is_ascii() => Ok(Cow::Borrowed(text)),
            (_, CharSet::Latin1) => {
                // Characters beyond ASCII take two octets of UTF-8.
                self.charge_memory(octets.len())?;
                let mut text = String::with_capacity(octets.len());
                text.extend(octets.iter().copied().map(char::from));
                Ok(Cow::Owned(text))
            }
            (Err(_), CharSet::Utf8 | CharSet::Stored) => Err(self.invalid_utf8(octets)),
        }
    }

    /// Returns the error of text that is not UTF-8, of which all but the terminator has been read.
    #[cold]
    fn invalid_utf8(&self, octets: &[u8]) -> DecodeError {
        // The vectorized check does not return the position.
        let valid = core::str::from_utf8(octets).map_or_else(|e| e.valid_up_to(), str::len);
        // Behind the bad octets there are those after them and the terminator.
        let rest = octets.len().saturating_sub(valid).saturating_add(1);
        self.error_behind(rest, DecodeErrorKind::InvalidUtf8)
    }

    /// Reads a wstring.
    ///
    /// GIOP 1.2: a byte order mark at the start sets the byte order and is dropped. Without a mark the units are big
    /// endian, whatever the order of the message. UCS-2 has no mark, and its units are in the order of the message.
    /// GIOP 1.1: units in the order of the message, the last of them zero (a length of 0 is read as empty).
    ///
    /// # Errors
    /// [`WideInGiop1_0`](DecodeErrorKind::WideInGiop1_0), [`WideRefused`](DecodeErrorKind::WideRefused) without a code set,
    /// [`LoneSurrogate`](DecodeErrorKind::LoneSurrogate), and errors of length and termination.
    pub fn read_wide_string(&mut self) -> Result<String, DecodeError> {
        let WideUnits { units, endian } = self.read_wide_units()?;
        match endian {
            Endian::Big => text_of_units(units, u16::from_be_bytes),
            Endian::Little => text_of_units(units, u16::from_le_bytes),
        }
        .map_err(|kind| {
            let terminator = if self.format().minor < 2 { 2 } else { 0 };
            let octets = units.as_flattened().len().saturating_add(terminator);
            self.error_behind(octets, kind)
        })
    }

    /// Reads the units of a wstring, without mark and terminator, and their byte order.
    fn read_wide_units(&mut self) -> Result<WideUnits<'de>, DecodeError> {
        self.wide_allowed()?;
        if self.format().minor >= 2 {
            let len = self.read_count(1)?;
            let (units, odd) = self.take(len)?.as_chunks::<2>();
            if !odd.is_empty() {
                return Err(self.wide_length(len));
            }
            return Ok(match self.format().wchar_set {
                WCharSet::Ucs2 => WideUnits {
                    units,
                    endian: O::ENDIAN,
                },
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
        Ok(WideUnits {
            units: text,
            endian: O::ENDIAN,
        })
    }

    /// Reads a wchar, as one UTF-16 unit.
    ///
    /// GIOP 1.2: an octet with the number of octets that follow, which is 2 (big endian) or 4 (a mark and a unit in
    /// that mark's byte order). GIOP 1.1: an unsigned short.
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
                WideUnits {
                    units: [unit],
                    endian: Endian::Big,
                } => Ok(u16::from_be_bytes(*unit)),
                WideUnits {
                    units: [unit],
                    endian: Endian::Little,
                } => Ok(u16::from_le_bytes(*unit)),
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
    /// The errors of [`write_raw_string`](Self::write_raw_string), and [`NotInCodeSet`](EncodeErrorKind::NotInCodeSet)
    /// for characters that Latin-1 lacks.
    pub fn write_str(&mut self, text: &str) -> Result<(), EncodeError> {
        if self.format().char_set != CharSet::Latin1 || text.is_ascii() {
            return self.write_raw_string(text.as_bytes());
        }
        if has_nul(text.as_bytes()) {
            return Err(EncodeErrorKind::EmbeddedNul.into());
        }
        let count = count_chars(text);
        self.write_count(count.saturating_add(1))?;
        let start = self.position();
        for (place, c) in self.run_mut(count).iter_mut().zip(text.chars()) {
            *place = u8::try_from(u32::from(c)).map_err(|_| not_in_code_set(c))?;
        }
        self.write_u8(0);
        self.end_run(start);
        Ok(())
    }

    /// Writes a wstring.
    ///
    /// GIOP 1.2: big endian **without a mark**, which every ORB has to read by default and which JacORB sends. Only a
    /// text whose first character looks like a mark gets one, since the receiver would drop the character otherwise.
    /// GIOP 1.1: units in byte order `O`, with a terminator.
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
        let count = count_units(text);
        if self.format().minor < 2 {
            self.write_count(count.saturating_add(1))?;
            let start = self.position();
            self.append_units(text, count, O::store_u16);
            self.write_u16(0);
            self.end_run(start);
            return Ok(());
        }
        if is_ucs2 {
            self.write_count(count.saturating_mul(2))?;
            self.append_units(text, count, O::store_u16);
            return Ok(());
        }
        let has_mark = matches!(text.encode_utf16().next(), Some(MARK | SWAPPED_MARK));
        self.write_count(
            count
                .saturating_add(usize::from(has_mark))
                .saturating_mul(2),
        )?;
        if has_mark {
            self.append(&MARK.to_be_bytes());
        }
        self.append_units(text, count, u16::to_be_bytes);
        Ok(())
    }

    /// Appends the `count` UTF-16 units that a text has.
    #[inline(always)]
    fn append_units(&mut self, text: &str, count: usize, store: impl Fn(u16) -> [u8; 2]) {
        // A text of as many units as octets is ASCII, which the compiler widens a vector at a time.
        if count == text.len() {
            self.reserve(count.saturating_mul(2));
            for octets in text.as_bytes().chunks(BLOCK / 2) {
                let (places, _) = self
                    .run_mut(octets.len().saturating_mul(2))
                    .as_chunks_mut::<2>();
                for (place, octet) in places.iter_mut().zip(octets) {
                    *place = store(u16::from(*octet));
                }
            }
            return;
        }
        let (places, _) = self.run_mut(count.saturating_mul(2)).as_chunks_mut::<2>();
        for (place, unit) in places.iter_mut().zip(text.encode_utf16()) {
            *place = store(unit);
        }
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

/// Returns the units behind the mark with which they may begin, and their byte order.
fn unmarked(units: &[[u8; 2]]) -> WideUnits<'_> {
    let first = units
        .split_first()
        .map(|(first, rest)| (u16::from_be_bytes(*first), rest));
    let (endian, units) = match first {
        Some((MARK, rest)) => (Endian::Big, rest),
        Some((SWAPPED_MARK, rest)) => (Endian::Little, rest),
        _ => (Endian::Big, units),
    };
    WideUnits { units, endian }
}
