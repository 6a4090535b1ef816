//! The header of a value before its state: tag, codebase, repository ids; and the indirections that stand for them.

use super::{
    Ids,
    value_reader::{STRING_OCTETS, VALUE_OCTETS, list_octets},
};
use crate::{
    DecodeError, DecodeErrorKind, Decoder, Limits,
    limits::ID_TOO_LONG,
    value::{CHUNKED, CODEBASE, ID_LIST, INDIRECTION, KNOWN_FLAGS, ONE_ID, TAG, TYPE_INFO},
};
use alloc::vec::Vec;

impl<'de, O> Decoder<'de, O> {
    /// Reads the parts after a tag: codebase and repository ids.
    pub(super) fn value_head(&mut self, tag: u32) -> Result<(Ids<'de>, bool), DecodeError> {
        let chunked = tag & CHUNKED != 0;
        let type_info = tag & TYPE_INFO;
        if tag & !(TAG | KNOWN_FLAGS) != 0 || !matches!(type_info, 0 | ONE_ID | ID_LIST) {
            return Err(self.error_behind(4, DecodeErrorKind::Expected("a value tag")));
        }
        if self.chunk_depth() > 0 && !chunked {
            let kind = DecodeErrorKind::Expected("a value in chunks inside of one in chunks");
            return Err(self.error_behind(4, kind));
        }
        self.count_values(1)?;
        self.count_steps(1)?;
        self.charge_memory(VALUE_OCTETS)?;
        if tag & CODEBASE != 0 {
            self.shared_string("codebase")?;
        }
        let ids: Ids<'de> = match type_info {
            ONE_ID => Ids::One([self.repository_id()?]),
            ID_LIST => self.id_list()?,
            _ => Ids::None,
        };
        Ok((ids, chunked))
    }

    /// Counts `more` values, or work that costs as much as they.
    pub(super) fn count_values(&mut self, more: u32) -> Result<(), DecodeError> {
        if let Some(values) = &mut self.values {
            values.count = values.count.saturating_add(more);
            if values.count > Limits::VALUES {
                let limit = Limits::VALUES;
                return Err(self.error_behind(4, DecodeErrorKind::TooManyValues { limit }));
            }
        }
        Ok(())
    }

    fn id_list(&mut self) -> Result<Ids<'de>, DecodeError> {
        let count = self.raw_u32()?;
        let at = self.pos.wrapping_sub(4);
        if count == INDIRECTION {
            let target = self.indirection()?;
            let list = self.values.as_ref().and_then(|v| v.list(target));
            return list.ok_or_else(|| {
                let of = "list of repository ids";
                self.error_behind(8, DecodeErrorKind::BadIndirection { of, target })
            });
        }
        if count == 0 || count > Limits::VALUE_IDS {
            let left = self.remaining();
            return Err(self.error_behind(4, DecodeErrorKind::CountTooLarge { count, left }));
        }
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.repository_id()?);
        }
        self.charge_memory(list_octets(ids.len()))?;
        let ids: Ids<'de> = Ids::List(ids.into());
        if let Some(values) = &mut self.values {
            values.note_list(at, ids.clone());
        }
        Ok(ids)
    }

    fn repository_id(&mut self) -> Result<&'de [u8], DecodeError> {
        let id = self.shared_string("repository id")?;
        match id.len() <= Limits::ID_OCTETS {
            true => Ok(id),
            false => Err(self.error(DecodeErrorKind::Expected(ID_TOO_LONG))),
        }
    }

    /// Reads a string that may be an indirection to an earlier one.
    fn shared_string(&mut self, of: &'static str) -> Result<&'de [u8], DecodeError> {
        let len = self.raw_u32()?;
        let at = self.pos.wrapping_sub(4);
        if len == INDIRECTION {
            let target = self.indirection()?;
            let string = self.values.as_ref().and_then(|v| v.string(target));
            return string.ok_or_else(|| {
                self.error_behind(8, DecodeErrorKind::BadIndirection { of, target })
            });
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let octets = self.take(len)?;
        let text = match octets.split_last() {
            None => octets,
            Some((0, text)) => text,
            Some((found, _)) => {
                return Err(self.error_behind(1, DecodeErrorKind::MissingNul { found: *found }));
            }
        };
        self.charge_memory(STRING_OCTETS)?;
        if let Some(values) = &mut self.values {
            values.note_string(at, text);
        }
        Ok(text)
    }

    /// Reads the offset of an indirection and returns the position that it leads to. An offset counts from its own
    /// position.
    pub(super) fn indirection(&mut self) -> Result<usize, DecodeError> {
        let offset = self.raw_u32()?.cast_signed();
        let offset = isize::try_from(offset).unwrap_or(isize::MAX);
        Ok(self.pos.wrapping_sub(4).wrapping_add_signed(offset))
    }

    /// Reads an unsigned long, in the byte order that [`ValueReader`](super::ValueReader) notes.
    pub(super) fn raw_u32(&mut self) -> Result<u32, DecodeError> {
        let octets = self.primitive::<4>()?;
        Ok(match &self.values {
            Some(values) if values.little => u32::from_le_bytes(octets),
            _ => u32::from_be_bytes(octets),
        })
    }
}
