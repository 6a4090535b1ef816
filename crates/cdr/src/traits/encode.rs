//! The trait of values that are written, and the steps of writing many of them.

use crate::{
    ByteOrder, EncodeError, EncodeErrorKind, Encoder, Layout, Lent, WindowMut, WireFormat,
    layout::block, window::Faults,
};

/// A value that can be written as CDR.
///
/// Generated code implements it by [`cdr_struct!`](crate::cdr_struct), [`cdr_enum!`](crate::cdr_enum)
/// and [`cdr_union!`](crate::cdr_union). By hand,
/// write [`encode`](Self::encode) and leave the rest:
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{ByteOrder, Encode, EncodeError, Encoder};
///
/// /// A union with a boolean discriminator.
/// enum Reading {
///     Value(f64),
///     Fault(String),
/// }
///
/// impl Encode for Reading {
///     fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
///         match self {
///             Self::Value(value) => e.put(&(true, *value)),
///             Self::Fault(text) => e.put(&(false, text)),
///         }
///     }
/// }
/// ```
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as CDR",
    note = "types come from IDL, or from `cdr_struct!`, `cdr_enum!` and `cdr_union!`; `usize` and `char` have no place in IDL"
)]
pub trait Encode {
    /// The layout that all values share, if it is fixed: see [`Decode::LAYOUT`](crate::Decode::LAYOUT).
    #[doc(hidden)]
    const ENCODED: Layout = Layout::VARIABLE;

    /// Appends the value, behind the padding that its alignment needs.
    ///
    /// # Errors
    /// An error if the value has no form on the wire: see [`EncodeErrorKind`]. The encoder may hold a part of the value
    /// then, and has to be dropped.
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError>;

    /// Writes values one after the other, without a count.
    #[doc(hidden)]
    fn encode_slice<O: ByteOrder>(
        values: &[Self],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        encode_run(
            values,
            encoder,
            const { Self::ENCODED },
            Self::encode,
            Self::encode_settled::<O>,
        )
    }

    /// Stores values into windows one after the other, the first of which begins where another value ended. Returns
    /// `false` if one of them has no form on the wire.
    #[doc(hidden)]
    #[inline]
    fn encode_settled<O: ByteOrder>(
        values: &[Self],
        octets: &mut [u8],
        format: WireFormat,
    ) -> Result<bool, EncodeError>
    where
        Self: Sized,
    {
        let layout = const { Self::ENCODED };
        store_all(values, octets, layout, format, |value, window| {
            value.encode_fixed::<O>(window)
        })
    }

    /// Encodes the value, but may leave out octets that lie in memory in the form of the wire: the first
    /// [`SHARE_FROM`](crate::SHARE_FROM) or more of a sequence. They are in `lent` afterwards, and are sent from where
    /// they are ([`Encoder::take_lending`]). Nothing is left out if `lent` is taken already.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode).
    #[doc(hidden)]
    #[inline(always)]
    fn encode_lent<'a, O: ByteOrder>(
        &'a self,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        let _ = lent;
        self.encode(encoder)
    }

    /// Encodes values one after the other, as [`encode_lent`](Self::encode_lent) does.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode).
    #[doc(hidden)]
    #[inline(always)]
    fn encode_slice_lent<'a, O: ByteOrder>(
        values: &'a [Self],
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        let _ = lent;
        Self::encode_slice(values, encoder)
    }

    /// Stores the value into a window of its layout. Only called where [`ENCODED`](Self::ENCODED) is fixed.
    ///
    /// A character that has no form on the wire is noted as a fault, but stored.
    #[doc(hidden)]
    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, _window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        Err(EncodeErrorKind::Expected("a type of fixed layout").into())
    }
}

/// Writes values of a type: straight stores where the layout is fixed, else one after the other.
#[inline(always)]
pub(crate) fn encode_run<O: ByteOrder, T>(
    values: &[T],
    encoder: &mut Encoder<O>,
    layout: Layout,
    one: impl Fn(&T, &mut Encoder<O>) -> Result<(), EncodeError>,
    settled: impl Fn(&[T], &mut [u8], WireFormat) -> Result<bool, EncodeError>,
) -> Result<(), EncodeError> {
    let stride = layout.stride();
    let mut rest = values;
    if stride == 0 {
        return rest.iter().try_for_each(|value| one(value, encoder));
    }
    // The first value leads to the index from which all others have one layout.
    if !layout.is_settled_at(encoder.index())
        && let Some((first, others)) = values.split_first()
    {
        one(first, encoder)?;
        rest = others;
    }
    let format = encoder.format();
    encoder.reserve(rest.len().saturating_mul(stride));
    let most = block(stride);
    while !rest.is_empty() {
        let (values, others) = rest.split_at(rest.len().min(most));
        let octets = encoder.run_mut(values.len().saturating_mul(stride));
        if !settled(values, octets, format)? {
            break;
        }
        rest = others;
    }
    // The values that are left are written again, to find the one that has no form on the wire.
    rest.iter().try_for_each(|value| one(value, encoder))
}

/// Implements [`Encode::encode_settled`] for any type.
#[inline(always)]
pub(crate) fn store_all<T>(
    values: &[T],
    octets: &mut [u8],
    layout: Layout,
    format: WireFormat,
    fixed: impl Fn(&T, &mut WindowMut<'_>) -> Result<(), EncodeError>,
) -> Result<bool, EncodeError> {
    let mut faults = Faults::default();
    for (value, window) in values
        .iter()
        .zip(octets.chunks_exact_mut(layout.stride().max(1)))
    {
        let mut window = WindowMut::new(window, layout.settled(), format);
        fixed(value, &mut window)?;
        window.flush()?;
        faults.add(window.faults());
    }
    Ok(!faults.are_in(format))
}

/// Implements [`Encode::encode_settled`] for a type whose stride and phase are constants of the macros, as
/// [`__load_all`](crate::__load_all) does for decoding.
#[doc(hidden)]
#[inline(always)]
pub fn __store_all<
    T: Encode,
    O: ByteOrder,
    const STRIDE: usize,
    const PHASE: usize,
    const GROUP: usize,
>(
    values: &[T],
    octets: &mut [u8],
    format: WireFormat,
) -> Result<bool, EncodeError> {
    let mut faults = Faults::default();
    let mut store = |(value, octets): (&T, &mut [u8; STRIDE])| {
        let mut window = WindowMut::new(octets, PHASE, format);
        value.encode_fixed::<O>(&mut window)?;
        window.flush()?;
        faults.add(window.faults());
        Ok::<(), EncodeError>(())
    };
    let (windows, _) = octets.as_chunks_mut::<STRIDE>();
    let (groups, rest) = values.as_chunks::<GROUP>();
    let (places, places_of_rest) = windows.as_chunks_mut::<GROUP>();
    for (values, octets) in groups.iter().zip(places) {
        values.iter().zip(octets).try_for_each(&mut store)?;
    }
    rest.iter().zip(places_of_rest).try_for_each(store)?;
    Ok(!faults.are_in(format))
}
