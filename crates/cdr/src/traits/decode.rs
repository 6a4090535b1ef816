//! The trait of values that are read, and the steps of reading many of them.

use crate::{
    ByteOrder, DecodeError, DecodeErrorKind, Decoder, Layout, Window, WireFormat, window::Faults,
};
use alloc::vec::Vec;

/// A value that can be read from CDR, perhaps borrowing from the message.
///
/// Generated code implements it by [`cdr_struct!`](crate::cdr_struct), [`cdr_enum!`](crate::cdr_enum)
/// and [`cdr_union!`](crate::cdr_union). By hand,
/// write [`MIN_SIZE`](Self::MIN_SIZE) and [`decode`](Self::decode) and leave the rest:
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BigEndian, ByteOrder, Decode, DecodeError, Decoder, WireFormat};
///
/// #[derive(Debug, PartialEq)]
/// enum Reading<'de> {
///     Value(f64),
///     Fault(std::borrow::Cow<'de, str>),
/// }
///
/// impl<'de> Decode<'de> for Reading<'de> {
///     const MIN_SIZE: usize = 1 + 4; // of the shorter branch, without padding
///
///     fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
///         Ok(if d.read_bool()? { Self::Value(d.get()?) } else { Self::Fault(d.get()?) })
///     }
/// }
///
/// let octets = [0, 0, 0, 0, 0, 0, 0, 4, b'h', b'o', b't', 0];
/// let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
/// assert_eq!(d.get::<Reading>()?, Reading::Fault("hot".into()));
/// # Ok::<(), DecodeError>(())
/// ```
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from CDR",
    note = "types come from IDL, or from `cdr_struct!`, `cdr_enum!` and `cdr_union!`; `usize` and `char` have no place in IDL"
)]
pub trait Decode<'de>: Sized {
    /// The least number of octets of a value, padding not counted. A sequence whose count cannot fit by this measure is
    /// refused before anything is allocated. Too small a number lets a peer have `size_of::<Self>() / MIN_SIZE` octets
    /// allocated for each that it sends; too large a number refuses valid messages.
    const MIN_SIZE: usize;

    /// The layout that all values share, or [`Layout::VARIABLE`]. Any other needs `decode_fixed`, which the macros
    /// implement.
    const LAYOUT: Layout = Layout::VARIABLE;

    /// Reads a value.
    ///
    /// # Errors
    /// An error if the octets are malformed: see [`DecodeErrorKind`].
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError>;

    /// Reads `len` values, where `len` is from [`Decoder::read_count`], and adds them to `values`.
    #[doc(hidden)]
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'de, O>,
        len: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), DecodeError> {
        decode_run(
            decoder,
            len,
            values,
            const { Self::MIN_SIZE },
            const { Self::LAYOUT },
            Self::decode,
            Self::decode_settled::<O>,
        )
    }

    /// Reads an array.
    #[doc(hidden)]
    fn decode_array<O: ByteOrder, const N: usize>(
        decoder: &mut Decoder<'de, O>,
    ) -> Result<[Self; N], DecodeError> {
        decode_array(
            decoder,
            const { Self::LAYOUT },
            Self::decode,
            Self::decode_fixed_array::<O, N>,
        )
    }

    /// Loads a value from a window of its layout. Only called where [`LAYOUT`](Self::LAYOUT) is fixed.
    ///
    /// An invalid value is [noted](Window::note), and any value returned in its place.
    #[doc(hidden)]
    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(_window: &mut Window<'_>) -> Self {
        not_fixed()
    }

    /// Loads values from windows one after the other, the first of which begins where another value ended. Appends
    /// them to `values`, which has room for them. Returns `false` if one of them is not a value of the type.
    #[doc(hidden)]
    #[inline(always)]
    fn decode_settled<O: ByteOrder>(
        octets: &[u8],
        format: WireFormat,
        values: &mut Vec<Self>,
    ) -> bool {
        load_all(
            octets,
            const { Self::LAYOUT },
            format,
            values,
            Self::decode_fixed::<O>,
        )
    }

    /// Loads an array from a window, as [`decode_fixed`](Self::decode_fixed) does.
    #[doc(hidden)]
    #[inline(always)]
    fn decode_fixed_array<O: ByteOrder, const N: usize>(window: &mut Window<'_>) -> [Self; N] {
        core::array::from_fn(|_| Self::decode_fixed::<O>(window))
    }
}

/// Takes the place of loading a type of varying layout from a window, which never happens.
#[inline(always)]
pub(crate) fn not_fixed<T>() -> T {
    #[expect(
        clippy::unreachable,
        reason = "windows are opened only for types whose layout is fixed, and the macros that say so load them, too"
    )]
    {
        unreachable!()
    }
}

/// Reserves room for `len` more values; returns an error where an allocation would abort.
#[inline]
pub(crate) fn reserve<T, O>(
    decoder: &Decoder<'_, O>,
    len: usize,
    values: &mut Vec<T>,
) -> Result<(), DecodeError> {
    values
        .try_reserve_exact(len)
        .map_err(|_| decoder.error(DecodeErrorKind::NoMemory { count: len }))
}

/// Elements that are read before time is looked at again.
const BATCH: usize = 1024;

/// Reads `len` values of a type: one check and straight loads where the layout is fixed, else one after the other.
#[inline(always)]
pub(crate) fn decode_run<'de, O: ByteOrder, T>(
    decoder: &mut Decoder<'de, O>,
    len: usize,
    values: &mut Vec<T>,
    min_size: usize,
    layout: Layout,
    mut one: impl FnMut(&mut Decoder<'de, O>) -> Result<T, DecodeError>,
    settled: impl Fn(&[u8], WireFormat, &mut Vec<T>) -> bool,
) -> Result<(), DecodeError> {
    // Only elements that take more memory than octets of the message are charged. Where the product wraps, the address
    // space has no such room either.
    if size_of::<T>() > min_size {
        decoder.charge_memory(len.wrapping_mul(size_of::<T>()))?;
    }
    reserve(decoder, len, values)?;
    if !layout.is_fixed() {
        return decoder.nested(|decoder| {
            decoder.owe(len.saturating_mul(min_size));
            let mut left = len;
            while left > 0 {
                let batch = left.min(BATCH);
                left = left.wrapping_sub(batch);
                decoder.count_steps(batch)?;
                for _ in 0..batch {
                    decoder.repay(min_size);
                    values.push(one(decoder)?);
                }
            }
            Ok(())
        });
    }
    let mut rest = len;
    // The first element leads to the index from which all others have one layout. An exception is an element that ends
    // in another GIOP 1.1 fragment than it began in, where alignment counts anew.
    while rest > 0 && !layout.is_settled_at(decoder.index()) {
        values.push(one(decoder)?);
        rest = rest.saturating_sub(1);
    }
    let stride = layout.stride();
    let format = decoder.format();
    if stride != 0
        && let Some(octets) = decoder.run(rest.saturating_mul(stride))
    {
        let before = values.len();
        if settled(octets, format, values) {
            return Ok(());
        }
        // Reads the values again, to find the error and its position.
        values.truncate(before);
        decoder.rewind(octets.len());
    }
    // This loop finds the error, or the octets are too few in this GIOP 1.1 fragment or altogether, or the values take
    // none.
    for _ in 0..rest {
        values.push(one(decoder)?);
    }
    Ok(())
}

/// Implements [`Decode::decode_settled`] for any type.
#[inline(always)]
pub(crate) fn load_all<T>(
    octets: &[u8],
    layout: Layout,
    format: WireFormat,
    values: &mut Vec<T>,
    fixed: impl Fn(&mut Window<'_>) -> T,
) -> bool {
    for octets in octets.chunks_exact(layout.stride().max(1)) {
        let mut window = Window::new(octets, layout.settled(), format);
        values.push(fixed(&mut window));
        if window.is_faulty() {
            return false;
        }
    }
    true
}

/// Implements [`Decode::decode_settled`] for a type whose stride and phase are constants of the macros. The loop has no
/// early exit, so space is checked once and not for each value.
#[doc(hidden)]
#[inline(always)]
pub fn __load_all<
    'de,
    T: Decode<'de>,
    O: ByteOrder,
    const STRIDE: usize,
    const PHASE: usize,
    const GROUP: usize,
>(
    octets: &[u8],
    format: WireFormat,
    values: &mut Vec<T>,
) -> bool {
    let mut faults = Faults::default();
    let mut load = |octets: &[u8; STRIDE]| {
        let mut window = Window::new(octets, PHASE, format);
        // Called by name and not through a parameter, which rustc does not always inline.
        let value = T::decode_fixed::<O>(&mut window);
        faults.add(window.faults());
        value
    };
    let (windows, _) = octets.as_chunks::<STRIDE>();
    let (groups, rest) = windows.as_chunks::<GROUP>();
    values.extend(groups.iter().flatten().map(&mut load));
    values.extend(rest.iter().map(load));
    !faults.are_in(format)
}

/// Reads an array of a type, as [`decode_run`] does a sequence.
#[inline(always)]
pub(crate) fn decode_array<'de, O: ByteOrder, T, const N: usize>(
    decoder: &mut Decoder<'de, O>,
    layout: Layout,
    mut one: impl FnMut(&mut Decoder<'de, O>) -> Result<T, DecodeError>,
    fixed: impl Fn(&mut Window<'_>) -> [T; N],
) -> Result<[T; N], DecodeError> {
    if layout.is_fixed()
        && layout.is_settled_at(decoder.index())
        && let Some(octets) = decoder.run(layout.stride().saturating_mul(N))
    {
        let mut window = Window::new(octets, layout.settled(), decoder.format());
        let values = fixed(&mut window);
        if !window.is_faulty() {
            return Ok(values);
        }
        decoder.rewind(octets.len());
    }
    try_array(|| one(decoder))
}

/// Returns an array of the results of `f`, or its first error, after which `f` is not called again.
#[inline(always)]
pub(crate) fn try_array<T, E, const N: usize>(
    mut f: impl FnMut() -> Result<T, E>,
) -> Result<[T; N], E> {
    let mut fault = None;
    let slots: [Option<T>; N] = core::array::from_fn(|_| {
        if fault.is_some() {
            return None;
        }
        f().map_err(|e| fault = Some(e)).ok()
    });
    match fault {
        Some(fault) => Err(fault),
        None => Ok(slots.map(|slot| {
            #[expect(
                clippy::unreachable,
                reason = "a slot is empty only if there was a fault, and then we are not here"
            )]
            slot.unwrap_or_else(|| unreachable!())
        })),
    }
}
