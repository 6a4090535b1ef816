//! Values (of value types) in anys: as far as their TypeCode tells what their state is.

use super::walk::{Walk, Walked};
use crate::{
    ByteOrder, DecodeError, DecodeErrorKind, Decoder, EncodeErrorKind, Encoder, Shared, ValueStart,
    typecode::{TcKind, data::TypeRef},
};
use alloc::{sync::Arc, vec::Vec};

/// Bases of bases of a value type: IDL's own limit on them is less.
const MAX_BASES: usize = 64;

/// Custom marshalling, as the modifier of a TypeCode.
const CUSTOM: i64 = 1;
/// Truncatable to its base.
const TRUNCATABLE: i64 = 3;

/// A value that is being copied: what says that two of them are the same.
struct Copied {
    /// Something, so that each has a place in memory of its own.
    _place: u8,
}

impl Walk {
    /// A value: shared with others of the same any, null, or new.
    ///
    /// It has to be of the type of its TypeCode, or truncatable to that: nothing tells what the state of another one is.
    #[inline(never)]
    pub(super) fn value<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let head = match d.begin_value()? {
            ValueStart::New(head) => head,
            ValueStart::Null => {
                e.write_null_value();
                return Ok(());
            }
            // Where it was written before; what is outside of the any was not.
            ValueStart::Again(shared) => {
                let written = e.begin_value(&shared, &[], false);
                let written = written.and_then(|mark| match mark {
                    None => Ok(()),
                    Some(_) => Err(EncodeErrorKind::Expected(
                        "a value that shares nothing outside of its any",
                    )
                    .into()),
                });
                return self.wrote(written, d);
            }
        };
        let copied: Shared = Arc::new(Copied { _place: 0 });
        d.share_value(&head, Arc::clone(&copied));
        let known = head.ids().is_empty() || head.ids().contains(&from.id().as_bytes());
        if !known || from.number() == CUSTOM {
            return Err(d.error(DecodeErrorKind::NoValueFactory));
        }
        let mark = match e.begin_value(&copied, &ids(to), false) {
            Ok(mark) => mark,
            Err(error) => return self.wrote(Err(error), d),
        };
        self.state(from, to, d, e)?;
        d.end_value(head)?;
        let written = mark.map_or(Ok(()), |mark| e.end_value(mark));
        self.wrote(written, d)
    }

    /// What an abstract interface stands for: an object, or null. Of a value nothing says what its state is.
    #[inline(never)]
    pub(super) fn abstraction<I: ByteOrder, P: ByteOrder>(
        &mut self,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let is_object = d.read_bool()?;
        e.write_bool(is_object);
        if is_object {
            return self.reference(d, e);
        }
        match d.begin_value()? {
            ValueStart::Null => {
                e.write_null_value();
                Ok(())
            }
            _ => Err(d.error(DecodeErrorKind::NoValueFactory)),
        }
    }

    /// The state: that of the bases first.
    fn state<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        if from.kind() == TcKind::ValueBox {
            return self.copy(from.content(), to.content(), d, e);
        }
        let (from, to) = (lineage(from, d)?, lineage(to, d)?);
        if from.len() != to.len() {
            return Err(d.error(DecodeErrorKind::Expected("as many bases as the type has")));
        }
        let mut levels = from.into_iter().zip(to).rev();
        levels.try_for_each(|(from, to)| self.members(from, to, d, e))
    }
}

/// A value type and the bases whose state it has, itself first.
pub(super) fn lineage<'t, I: ByteOrder>(
    ty: TypeRef<'t>,
    d: &Decoder<'_, I>,
) -> Result<Vec<TypeRef<'t>>, DecodeError> {
    let all: Vec<_> = bases(ty).take(MAX_BASES).collect();
    match all.len() < MAX_BASES {
        true => Ok(all),
        false => Err(d.error(DecodeErrorKind::Expected(
            "a value type of at most 64 bases",
        ))),
    }
}

/// A value type and its bases, without end if it is its own.
fn bases(ty: TypeRef<'_>) -> impl Iterator<Item = TypeRef<'_>> {
    core::iter::successors(Some(ty), |ty| {
        let base = ty.content().unaliased();
        matches!(base.kind(), TcKind::Value | TcKind::Event).then_some(base)
    })
}

/// The repository ids that a value goes out with: its own, and those of the bases that it may be truncated to.
fn ids(ty: TypeRef<'_>) -> Vec<&str> {
    let mut ids = Vec::new();
    for ty in bases(ty).take(MAX_BASES) {
        ids.push(ty.id());
        if ty.kind() == TcKind::ValueBox || ty.number() != TRUNCATABLE {
            break;
        }
    }
    ids
}

/// Whether values of type `from` are values of type `to`, since they are derived from it.
pub(super) fn derives(from: TypeRef<'_>, to: TypeRef<'_>) -> bool {
    let is_value = matches!(
        from.kind(),
        TcKind::Value | TcKind::ValueBox | TcKind::Event
    );
    let any_value = to.kind() == TcKind::Value && to.id() == "IDL:omg.org/CORBA/ValueBase:1.0";
    let mut bases = bases(from).take(MAX_BASES);
    is_value && (any_value || bases.any(|base| !base.id().is_empty() && base.id() == to.id()))
}
