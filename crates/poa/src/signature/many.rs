//! The results of operations with more results than Rust's tuples have traits for.

use super::results::Results;
use core::fmt;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, Encoder, SendCodec};

/// The results of an operation with 13 to 32 results: a tuple, in the order of the IDL. More results are a tuple of
/// such groups, as in `(ManyResults((a, b, …)), last)`.
///
/// It implements `Debug` and `PartialEq`, which Rust's tuples of more than twelve members lack.
///
/// ```
/// use zorb_poa::ManyResults;
///
/// let results = ManyResults((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "thirteen"));
/// assert_eq!(results, results.clone());
/// assert!(format!("{results:?}").ends_with("12, \"thirteen\")"));
/// let ManyResults((first, ..)) = results;
/// assert_eq!(first, 1);
/// ```
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is a tuple, to be made and taken apart"
)]
pub struct ManyResults<T>(pub T);

impl<T: ShowAll> fmt::Debug for ManyResults<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show_all(f)
    }
}

impl<T: CompareAll> PartialEq for ManyResults<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.are_all(&other.0)
    }
}

/// Tuples whose members implement `Debug`.
pub trait ShowAll {
    /// Formats the members as a tuple.
    ///
    /// # Errors
    /// Returns the errors of the formatter.
    fn show_all(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Tuples whose members implement `PartialEq`.
pub trait CompareAll {
    /// Whether each member is equal to the other tuple's.
    fn are_all(&self, other: &Self) -> bool;
}

macro_rules! many {
    ($($codec:ident $value:ident $other:ident)*) => {
        impl<$($codec: fmt::Debug),*> ShowAll for ($($codec,)*) {
            fn show_all(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let ($($value,)*) = self;
                f.debug_tuple("")$(.field($value))*.finish()
            }
        }

        impl<$($codec: PartialEq),*> CompareAll for ($($codec,)*) {
            fn are_all(&self, other: &Self) -> bool {
                let (($($value,)*), ($($other,)*)) = (self, other);
                $($value == $other)&&*
            }
        }

        impl<$($codec: SendCodec),*> Results for ($($codec,)*) {
            type Values = ManyResults<($($codec::Value,)*)>;

            #[inline(always)]
            fn decode<Order: ByteOrder>(
                decoder: &mut Decoder<'_, Order>,
            ) -> Result<Self::Values, DecodeError> {
                Ok(ManyResults(($($codec::decode(decoder)?,)*)))
            }

            #[inline(always)]
            fn encode<Order: ByteOrder>(
                ManyResults(($($value,)*)): &Self::Values,
                encoder: &mut Encoder<Order>,
            ) -> Result<(), EncodeError> {
                $($codec::encode(core::borrow::Borrow::borrow($value), encoder)?;)*
                Ok(())
            }
        }
    };
}

/// Implements the traits for a tuple and each shorter one, down to thirteen members.
macro_rules! all_many {
    ($A:ident $a:ident $z:ident $B:ident $b:ident $y:ident $C:ident $c:ident $x:ident $D:ident $d:ident $w:ident
     $E:ident $e:ident $v:ident $F:ident $f:ident $u:ident $G:ident $g:ident $t:ident $H:ident $h:ident $s:ident
     $I:ident $i:ident $r:ident $J:ident $j:ident $q:ident $K:ident $k:ident $p:ident $L:ident $l:ident $o:ident) => {};
    ($codec:ident $value:ident $other:ident $($rest:ident $v:ident $o:ident)*) => {
        many!($codec $value $other $($rest $v $o)*);
        all_many!($($rest $v $o)*);
    };
}

all_many! {
    A a za B b zb C c zc D d zd E e ze F f zf G g zg H h zh I i zi J j zj K k zk L l zl M m zm N n zn O o zo P p zp Q q zq
    R r zr S s zs T t zt U u zu V v zv W w zw X x zx Y y zy Z z zz A1 a1 za1 B1 b1 zb1 C1 c1 zc1 D1 d1 zd1 E1 e1 ze1 F1 f1 zf1
}
