//! The traits of serde for references and values, with feature `serde`: IDL data as JSON and the like.
//!
//! Generated types derive the traits on request (`derive("serde::Serialize", "serde::Deserialize")`); characters, decimal
//! numbers, TypeCodes and anys have them, see [`cdr::serde`](crate::cdr::serde). References are their stringified IORs, and
//! are read within [`with_orb`]. Values of value types are their states, as trees: a value that stands in two places is
//! written twice, and read as two. A value in a cycle, and a value of a derived type in place of its base, is an error.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! zorb::idl! {
//!     #![idl(derive("serde::Serialize", "serde::Deserialize"))]
//!     module Shop {
//!         struct Item { string name; fixed<7, 2> price; };
//!     };
//! }
//!
//! let text = r#"{"name":"tea","price":"3.20"}"#;
//! let item: shop::Item = serde_json::from_str(text)?;
//! assert_eq!(item.price.to_string(), "3.20");
//! assert_eq!(serde_json::to_string(&item)?, text);
//! # Ok::<(), serde_json::Error>(())
//! ```

use crate::orb::Orb;
use crate::value::{Concrete, Value, ValueState};
use crate::{Interface, ObjectRef};
use core::cell::{Cell, RefCell};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use zorb_giop::url::ObjectUrl;

/// Values within each other that are written or read. Each takes some kilobytes of stack.
const MAX_DEPTH: u32 = 128;

thread_local! {
    static ORB: RefCell<Option<Orb>> = const { RefCell::new(None) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Reads references for this ORB, which sends their calls, while `read` runs on this thread. They are treated as those that
/// peers have named.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use zorb::{ObjectRef, Orb};
///
/// let orb = Orb::builder().build().await?;
/// let bank = orb.string_to_object("corbaloc::bank:2809/Bank").await?;
/// let text = serde_json::to_string(&bank)?;
/// let again: ObjectRef = zorb::serde::with_orb(&orb, || serde_json::from_str(&text))?;
/// assert_eq!(again, bank);
/// # Ok(()) }
/// ```
pub fn with_orb<R>(orb: &Orb, read: impl FnOnce() -> R) -> R {
    /// Restores the ORB before, also when the thread unwinds.
    struct Restore(Option<Orb>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ORB.set(self.0.take());
        }
    }
    let _restore = Restore(ORB.replace(Some(orb.clone())));
    zorb_cdr::serde::with_context(Arc::new(orb.clone()), read)
}

/// The stringified IOR.
impl Serialize for ObjectRef {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// Reads a stringified IOR, within [`with_orb`].
impl<'de> Deserialize<'de> for ObjectRef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let orb = ORB.with_borrow(Clone::clone);
        let orb = orb.ok_or_else(|| {
            D::Error::custom("a reference is read within `zorb::serde::with_orb`")
        })?;
        match text.parse::<ObjectUrl>().map_err(D::Error::custom)? {
            ObjectUrl::Ior(ior) if !ior.is_nil() => Ok(Self::received(orb, ior)),
            _ => Err(D::Error::custom(
                "expected `IOR:` and a reference that is not nil",
            )),
        }
    }
}

/// Writes a typed reference. For generated code.
///
/// # Errors
/// Those of the serializer.
#[doc(hidden)]
pub fn serialize_reference<S: Serializer>(
    reference: &impl Interface,
    s: S,
) -> Result<S::Ok, S::Error> {
    reference.as_object().serialize(s)
}

/// Reads a typed reference. For generated code.
///
/// # Errors
/// Those of an [`ObjectRef`].
#[doc(hidden)]
pub fn deserialize_reference<'de, R: Interface, D: Deserializer<'de>>(d: D) -> Result<R, D::Error> {
    ObjectRef::deserialize(d).map(R::unchecked_narrow)
}

/// One more value within others; `None` beyond [`MAX_DEPTH`].
fn deeper<R>(run: impl FnOnce() -> R) -> Option<R> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get().saturating_sub(1));
        }
    }
    let depth = DEPTH.get().saturating_add(1);
    if depth > MAX_DEPTH {
        return None;
    }
    DEPTH.set(depth);
    let _leave = Leave;
    Some(run())
}

const TOO_DEEP: &str = "values within each other more than 128 levels deep, or in a cycle";

/// The state of the value.
impl<T: ValueState + Serialize> Serialize for Value<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.repository_id() != T::REPOSITORY_ID {
            let (found, expected) = (self.repository_id(), T::REPOSITORY_ID);
            return Err(S::Error::custom(format_args!(
                "expected a value of type {expected} itself, found one of {found}"
            )));
        }
        let state = self
            .try_read()
            .ok_or_else(|| S::Error::custom("a value without a state"))?;
        deeper(|| (*state).serialize(s)).unwrap_or_else(|| Err(S::Error::custom(TOO_DEEP)))
    }
}

/// A new value of that state.
impl<'de, T: Concrete + Deserialize<'de>> Deserialize<'de> for Value<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let state = deeper(|| T::deserialize(d));
        state
            .unwrap_or_else(|| Err(D::Error::custom(TOO_DEEP)))
            .map(Self::new)
    }
}
