//! Sequence arguments of servants: borrowed from the message, or decoded into a recycled `Vec`.

use core::any::{Any, TypeId};
use core::cell::RefCell;
use core::fmt;
use core::ops::Deref;
use zorb_cdr::{ByteOrder, Codec, Decode, DecodeError, DecodeErrorKind, Decoder, Number};

/// Vectors kept per thread: a few suffice, one for each sequence argument of an upcall in progress.
const MAX_KEPT: usize = 16;
/// A vector of more octets is freed, so that one large message does not hold its memory for ever.
const MAX_KEPT_OCTETS: usize = 256 << 10;

/// A vector of any type with the id of that type, boxed so that returning it allocates nothing.
type Kept = (TypeId, Box<dyn Any>);

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// A sequence argument with elements of codec `C`, at most `MAX` of them, decoded into a vector that an earlier upcall on
/// this thread has returned. Decoding allocates memory for the elements' own contents only.
///
/// The vector returns to its thread's pool when this is dropped.
#[expect(
    clippy::box_collection,
    reason = "it is kept in a box, which would be allocated anew each time it is given back"
)]
pub struct Recycled<C: Codec<Value: 'static>, const MAX: u32 = { u32::MAX }>(
    Option<Box<Vec<C::Value>>>,
);

/// The vector of type `T` that was kept under `id`.
fn take<T: 'static>(id: TypeId) -> Option<Box<T>> {
    let taken = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let at = kept.iter().rposition(|(kind, _)| *kind == id)?;
        kept.swap_remove(at).1.downcast().ok()
    });
    taken.ok().flatten()
}

/// Keeps an emptied value with a capacity of so many octets.
fn keep<T: 'static>(id: TypeId, octets: usize, empty: Box<T>) {
    if octets == 0 || octets > MAX_KEPT_OCTETS {
        return;
    }
    // At thread exit the pool is gone, and the value is freed.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() >= MAX_KEPT {
            // The oldest one probably has a type that is not used any more.
            kept.remove(0);
        }
        kept.push((id, empty));
    });
}

impl<C: Codec<Value: 'static>, const MAX: u32> Recycled<C, MAX> {
    fn take() -> Self {
        Self(take(TypeId::of::<C::Value>()))
    }

    /// A copy of these elements, for a collocated call without a message. Allocates only for the clones of the elements.
    #[must_use]
    pub fn copied(elements: &[C::Value]) -> Self
    where
        C::Value: Clone,
    {
        let mut values = Self::take();
        if !elements.is_empty() {
            values.0.get_or_insert_default().extend_from_slice(elements);
        }
        values
    }

    fn read<O: ByteOrder>(decoder: &mut Decoder<'_, O>, len: usize) -> Result<Self, DecodeError> {
        let mut values = Self::take();
        C::decode_into(decoder, len, values.0.get_or_insert_default())?;
        Ok(values)
    }
}

impl<C: Codec<Value: 'static>, const MAX: u32> Drop for Recycled<C, MAX> {
    fn drop(&mut self) {
        let Some(mut values) = self.0.take() else {
            return;
        };
        // Elements are dropped before the vector is stored: their `Drop` may take one.
        values.clear();
        let octets = values.capacity().saturating_mul(size_of::<C::Value>());
        keep(TypeId::of::<C::Value>(), octets, values);
    }
}

/// Text in a `String` that an earlier collocated call on this thread has returned.
#[derive(Debug)]
#[expect(clippy::box_collection, reason = "a box is recycled with its string")]
pub struct RecycledText(Option<Box<String>>);

impl RecycledText {
    /// Returns a copy of `text`, in a recycled string if this thread has one; allocates otherwise.
    #[must_use]
    pub fn copied(text: &str) -> Self {
        if text.is_empty() {
            return Self(None);
        }
        let mut kept: Box<String> = take(TypeId::of::<Self>()).unwrap_or_default();
        kept.push_str(text);
        Self(Some(kept))
    }
}

impl Drop for RecycledText {
    fn drop(&mut self) {
        if let Some(mut text) = self.0.take() {
            text.clear();
            keep(TypeId::of::<Self>(), text.capacity(), text);
        }
    }
}

impl Deref for RecycledText {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_deref().map_or("", String::as_str)
    }
}

impl<'de, C: Codec<Value: 'static>, const MAX: u32> Decode<'de> for Recycled<C, MAX> {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let len = decoder.read_count(C::MIN_SIZE)?;
        if len as u64 > u64::from(MAX) {
            return Err(decoder.error(DecodeErrorKind::BoundExceeded {
                bound: MAX,
                found: len,
            }));
        }
        Self::read(decoder, len)
    }
}

impl<C: Codec<Value: 'static>, const MAX: u32> Deref for Recycled<C, MAX> {
    type Target = [C::Value];

    fn deref(&self) -> &[C::Value] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<C: Codec<Value: 'static>, const MAX: u32> fmt::Debug for Recycled<C, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recycled({} elements)", self.len())
    }
}

/// A sequence of numbers. It is borrowed from the message if it lies there aligned, in native byte order and in one piece;
/// otherwise it is decoded into a [`Recycled`] vector.
#[derive(Debug)]
pub enum Numbers<'de, T: Number> {
    /// The numbers in the message.
    Borrowed(&'de [T]),
    /// A copy, since the numbers were not aligned, in the other byte order, or in fragments.
    Copied(Recycled<T>),
}

impl<'de, T: Number> Decode<'de> for Numbers<'de, T> {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let len = decoder.read_count(size_of::<T>())?;
        Ok(match T::borrow(decoder, len)? {
            Some(numbers) => Self::Borrowed(numbers),
            None => Self::Copied(Recycled::read(decoder, len)?),
        })
    }
}

impl<T: Number> Deref for Numbers<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(numbers) => numbers,
            Self::Copied(numbers) => numbers,
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use zorb_cdr::{BigEndian, DecodeErrorKind, Encode, Encoder, LittleEndian, WireFormat};

    fn octets<O: ByteOrder>(value: &(impl Encode + ?Sized), start: usize) -> Vec<u8> {
        let mut e = Encoder::<O>::new(WireFormat::default());
        e.append(&vec![0xee; start]);
        e.put(value).unwrap();
        e.finish().to_vec()
    }

    fn decoder<O: ByteOrder>(octets: &[u8], start: usize) -> Decoder<'_, O> {
        let mut d = Decoder::from_slice(octets, WireFormat::default());
        d.take(start).unwrap();
        d
    }

    #[test]
    fn a_vector_is_used_again_and_comes_back_empty() {
        let long = octets::<BigEndian>(&[(1_u8, 2_u16), (3, 4)][..], 0);
        let short = octets::<BigEndian>(&[(5_u8, 6_u16)][..], 0);
        let first: Recycled<(u8, u16)> = decoder::<BigEndian>(&long, 0).get().unwrap();
        assert_eq!(*first, [(1, 2), (3, 4)]);
        let place = first.as_ptr();
        drop(first);
        let second: Recycled<(u8, u16)> = decoder::<BigEndian>(&short, 0).get().unwrap();
        assert_eq!((second.as_ptr(), &*second), (place, &[(5, 6)][..]));
        // While the vector is in use, another call gets another one.
        let third: Recycled<(u8, u16)> = decoder::<BigEndian>(&long, 0).get().unwrap();
        assert_ne!(third.as_ptr(), place);
    }

    #[test]
    fn what_went_wrong_half_way_leaves_nothing_behind() {
        let good = octets::<BigEndian>(&["a".to_owned(), "b".to_owned()][..], 0);
        for end in 0..good.len() {
            let read = decoder::<BigEndian>(&good[..end], 0).get::<Recycled<String>>();
            assert!(read.is_err(), "{end}");
        }
        let read: Recycled<String> = decoder::<BigEndian>(&good, 0).get().unwrap();
        assert_eq!(*read, ["a", "b"]);
    }

    #[test]
    fn a_count_that_lies_takes_no_memory() {
        let lie = [0xff, 0xff, 0xff, 0xf0, 1, 2, 3, 4];
        let error = decoder::<BigEndian>(&lie, 0)
            .get::<Recycled<(u16, u16)>>()
            .unwrap_err();
        assert!(matches!(
            error.kind(),
            DecodeErrorKind::CountTooLarge { .. }
        ));
        assert!(
            decoder::<BigEndian>(&lie, 0)
                .get::<Numbers<'_, i32>>()
                .is_err()
        );
    }

    #[test]
    fn a_bound_is_checked() {
        let two = octets::<BigEndian>(&[1_u64, 2][..], 0);
        assert!(
            decoder::<BigEndian>(&two, 0)
                .get::<Recycled<u64, 2>>()
                .is_ok()
        );
        let error = decoder::<BigEndian>(&two, 0)
            .get::<Recycled<u64, 1>>()
            .unwrap_err();
        assert_eq!(
            error.kind(),
            DecodeErrorKind::BoundExceeded { bound: 1, found: 2 }
        );
    }

    #[test]
    fn numbers_are_the_same_borrowed_or_copied() {
        fn check<O: ByteOrder>() {
            let values: Vec<i64> = (0..20).collect();
            for start in 0..16 {
                let octets = octets::<O>(&values, start);
                let read: Numbers<'_, i64> = decoder::<O>(&octets, start).get().unwrap();
                assert_eq!(*read, *values);
                let inside = octets.as_ptr_range();
                let is_inside = inside.contains(&read.as_ptr().cast());
                assert_eq!(is_inside, matches!(read, Numbers::Borrowed(_)));
                assert!(O::IS_NATIVE || !is_inside);
                for end in start..octets.len() {
                    let cut = decoder::<O>(&octets[..end], start).get::<Numbers<'_, i64>>();
                    assert!(cut.is_err());
                }
            }
            let nothing = octets::<O>(&[] as &[i64], 0);
            let read: Numbers<'_, i64> = decoder::<O>(&nothing, 0).get().unwrap();
            assert!(read.is_empty());
        }
        check::<BigEndian>();
        check::<LittleEndian>();
    }

    #[test]
    fn large_and_many_vectors_are_not_kept() {
        let large = octets::<BigEndian>(&vec![7_u16; MAX_KEPT_OCTETS / 2 + 1], 0);
        drop(decoder::<BigEndian>(&large, 0).get::<Recycled<u16>>());
        let kept = || KEPT.with_borrow(Vec::len);
        assert_eq!(kept(), 0);
        let small = octets::<BigEndian>(&[7_u16][..], 0);
        let many: Vec<_> = (0..=MAX_KEPT)
            .map(|_| decoder::<BigEndian>(&small, 0).get::<Recycled<u16>>())
            .collect();
        drop(many);
        assert_eq!(kept(), MAX_KEPT);
    }
}
