//! Copying value types in anys, whose state their TypeCode describes or whose Rust type is registered.

use super::{
    STORED,
    walk::{Walk, Walked},
};
use crate::{
    AnyDecoder, AnyEncoder, ByteOrder, CopyError, CopyState, DecodeError, DecodeErrorKind, Decoder,
    Encoder, KnownValue, Limits, NativeEndian, Shared, ValueHead, ValueStart,
    context::{Copied, IDENTITY_OCTETS},
    encoder::WRITTEN_VALUE_OCTETS,
    typecode::{TcKind, data::TypeRef},
};
use alloc::{sync::Arc, vec::Vec};

/// Types in a chain of a value type and its bases that are followed: as many as the IDL compiler permits. A TypeCode may
/// state a type as its own base, so the chain may have no end.
pub(super) const MAX_CHAIN: usize = Limits::VALUE_IDS as usize;

/// The modifier of a value type with custom marshalling.
pub(super) const CUSTOM: i64 = 1;
/// The modifier of a value type without state.
pub(super) const ABSTRACT: i64 = 2;
/// The modifier of a value type that is truncatable to its base.
const TRUNCATABLE: i64 = 3;

const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

/// Octets of memory that the identity of a copied value takes, with its place among the values that were written.
const COPIED_OCTETS: usize = IDENTITY_OCTETS + WRITTEN_VALUE_OCTETS;

/// The form in which a value of an any is copied.
pub(super) enum Chosen {
    /// The type that the any's TypeCode states.
    Stated,
    /// A type that this program has registered.
    Known(KnownValue),
}

/// Returns the type as which a value is copied: the most derived registered type of its repository ids, or the type
/// that the any's TypeCode states. A registered type precedes the TypeCode, since the TypeCodes of JacORB leave bases
/// out.
pub(super) fn choose<I: ByteOrder>(
    ty: TypeRef<'_>,
    ids: &[&[u8]],
    d: &Decoder<'_, I>,
) -> Result<Chosen, DecodeError> {
    let has_state = has_state(ty);
    let stated = ty.id().as_bytes();
    // A TypeCode without state does not show which types are derived from it, so it accepts all.
    let is_one = |known: &KnownValue| {
        !has_state
            || bases(known.ty.view())
                .take(MAX_CHAIN)
                .any(|base| base.id() == ty.id())
    };
    let find = |id: &[u8]| {
        let known = core::str::from_utf8(id)
            .ok()
            .and_then(|id| d.value_type(id));
        match known.filter(is_one) {
            Some(known) => Some(Chosen::Known(known)),
            None => (has_state && id == stated && ty.number() != CUSTOM).then_some(Chosen::Stated),
        }
    };
    let found = match ids {
        [] if has_state => find(stated),
        ids => ids.iter().find_map(|id| find(id)),
    };
    found.ok_or_else(|| d.error(DecodeErrorKind::NoValueFactory))
}

/// Whether a value can be of exactly this type, rather than of a derived one.
fn has_state(ty: TypeRef<'_>) -> bool {
    match ty.kind() {
        TcKind::ValueBox => true,
        TcKind::Value | TcKind::Event => ty.number() != ABSTRACT && ty.id() != VALUE_BASE,
        _ => false,
    }
}

/// What a value of the any is, beside a value of another any.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Values {
    /// Another value, so that the any has all that it needs.
    #[default]
    OfAny,
    /// Maybe the same: both are arguments of one message.
    OfMessage,
    /// Nothing of it is written.
    Skipped,
}

impl Walk {
    /// Copies a value, which is new, null, or shared with an earlier place of the same any.
    #[inline(never)]
    pub(super) fn value<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let Some((head, chosen, copied)) = self.begin(from, d, e)? else {
            return Ok(());
        };
        let (from, to, custom) = match &chosen {
            Chosen::Stated => (from, to, None),
            Chosen::Known(known) => {
                e.note_value_type(known);
                let ty = known.ty.view();
                (ty, ty, known.custom)
            }
        };
        let mark = match e.begin_value(&copied, &ids(to), custom.is_some()) {
            Ok(Some(mark)) => mark,
            Ok(None) => return self.skip(from, to, custom, d, head),
            Err(error) => return self.wrote(Err(error), d),
        };
        // Encoder and decoder run on the same stack.
        let levels = e.begin_on_same_stack();
        d.value_state(|d| self.state_of(from, to, custom, d, e))?;
        e.end_on_same_stack(levels);
        d.end_value(head)?;
        let written = e.end_value(mark);
        self.wrote(written, d)
    }

    /// Passes over the state of a value that an earlier any of the same message has.
    #[inline(never)]
    fn skip<'de, I: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        custom: Option<CopyState>,
        d: &mut Decoder<'de, I>,
        head: ValueHead<'de>,
    ) -> Walked {
        let outer = core::mem::replace(&mut self.values, Values::Skipped);
        let mut nothing = Encoder::<NativeEndian>::holding(STORED);
        let skipped = d.value_state(|d| self.state_of(from, to, custom, d, &mut nothing));
        self.values = outer;
        skipped?;
        d.end_value(head)
    }

    /// Copies the header before the state; `None` if no state follows.
    #[inline(never)]
    fn begin<'de, I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        d: &mut Decoder<'de, I>,
        e: &mut Encoder<P>,
    ) -> Result<Option<(ValueHead<'de>, Chosen, Shared)>, DecodeError> {
        let head = match d.begin_value()? {
            ValueStart::New(head) => head,
            ValueStart::Null => {
                e.write_null_value();
                return Ok(None);
            }
            ValueStart::Indirection(_) if self.values == Values::Skipped => return Ok(None),
            ValueStart::Indirection(shared) => match e.write_value_indirection(&shared) {
                Ok(true) => return Ok(None),
                // The value is outside of this any, which needs a copy of its own.
                Ok(false) => d.reread_value()?,
                Err(error) => return self.wrote(Err(error), d).map(|()| None),
            },
        };
        d.charge_memory(COPIED_OCTETS)?;
        let before = match self.values {
            // A later one may refer to a value within one that is skipped.
            Values::OfMessage | Values::Skipped => d.copied_value(&head),
            Values::OfAny => None,
        };
        let copied = before.unwrap_or_else(Copied::shared);
        d.share_value(&head, Arc::clone(&copied));
        let chosen = choose(from, head.ids(), d)?;
        // The ORB may have registered types that are derived from this one.
        e.note_context(|| d.kept_context());
        Ok(Some((head, chosen, copied)))
    }

    /// Copies the value of an abstract interface: an object reference or a value.
    #[inline(never)]
    pub(super) fn abstraction<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        let is_object = d.read_bool()?;
        e.write_bool(is_object);
        match is_object {
            true => self.reference(d, e),
            false => self.value(from, to, d, e),
        }
    }

    /// Copies the state, by the registered function if the type has custom marshalling.
    fn state_of<I: ByteOrder, P: ByteOrder>(
        &mut self,
        from: TypeRef<'_>,
        to: TypeRef<'_>,
        custom: Option<CopyState>,
        d: &mut Decoder<'_, I>,
        e: &mut Encoder<P>,
    ) -> Walked {
        match custom.map(|copy| copy(AnyDecoder::new(d), AnyEncoder::new(e))) {
            None => self.state(from, to, d, e),
            Some(Ok(())) => Ok(()),
            Some(Err(CopyError::Read(error))) => Err(error),
            Some(Err(CopyError::Write(error))) => self.wrote(Err(error), d),
        }
    }

    /// Copies the state, that of the bases first.
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
        for (from, to) in from.into_iter().zip(to).rev() {
            self.members(from, to, d, e)?;
        }
        Ok(())
    }
}

/// Returns a value type and the bases whose state it has, itself first.
pub(super) fn lineage<'t, I: ByteOrder>(
    ty: TypeRef<'t>,
    d: &Decoder<'_, I>,
) -> Result<Vec<TypeRef<'t>>, DecodeError> {
    let all: Vec<_> = bases(ty).take(MAX_CHAIN + 1).collect();
    match all.len() <= MAX_CHAIN {
        true => Ok(all),
        false => Err(d.error(DecodeErrorKind::Expected(
            "at most 64 value types that inherit from each other",
        ))),
    }
}

/// Iterates over a value type and its bases; without end if the type is its own base.
pub(super) fn bases(ty: TypeRef<'_>) -> impl Iterator<Item = TypeRef<'_>> {
    core::iter::successors(Some(ty), |ty| {
        let base = ty.content().unaliased();
        matches!(base.kind(), TcKind::Value | TcKind::Event).then_some(base)
    })
}

/// Returns the repository ids that are sent with a value: its own, and those of the bases to which it may be truncated.
pub(super) fn ids(ty: TypeRef<'_>) -> Vec<&str> {
    let mut ids = Vec::new();
    for ty in bases(ty).take(MAX_CHAIN) {
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
    let any_value = to.kind() == TcKind::Value && to.id() == VALUE_BASE;
    let mut bases = bases(from).take(MAX_CHAIN);
    is_value && (any_value || bases.any(|base| !base.id().is_empty() && base.id() == to.id()))
}
