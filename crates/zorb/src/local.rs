//! Local objects, and values of native types.

use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;
use zorb_cdr::{
    ByteOrder, Codec, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder,
    Layout, SendCodec,
};

/// A value of an IDL `native` type: it holds any Rust value of the application.
///
/// Clones share the value, and `==` compares identity. A native value stays in its process: sending it is MARSHAL.
/// Where an IDL type always holds the same Rust type, `native("M::X" = path)` of [`idl_file`](macro@crate::idl_file)
/// generates that type instead. A clone costs a reference count.
///
/// ```
/// use zorb::Native;
///
/// let cookie = Native::new(7_u32);
/// assert_eq!(cookie.downcast_ref::<u32>(), Some(&7));
/// assert_eq!(cookie.downcast_ref::<String>(), None);
/// assert!(cookie == cookie.clone() && cookie != Native::new(7_u32));
/// ```
#[derive(Clone)]
pub struct Native(Arc<dyn Any + Send + Sync>);

impl Native {
    /// Makes a native value that holds `value`, which any clone can read. Allocates.
    pub fn new<T: Any + Send + Sync>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Returns the value as a `T`; `None` if it is of another type. Costs a comparison of type ids.
    #[must_use]
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}

impl PartialEq for Native {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Native {}

/// The codec of local values, which refuses to marshal, so that types with local members have a codec as others do.
#[derive(Debug)]
pub struct LocalCodec<T>(PhantomData<fn() -> T>);

impl<T> Codec for LocalCodec<T> {
    type Value = T;
    type Borrowed = T;
    const MIN_SIZE: usize = 1;
    const LAYOUT: Layout = Layout::VARIABLE;

    fn encode<O: ByteOrder>(_: &T, _: &mut Encoder<O>) -> Result<(), EncodeError> {
        Err(EncodeErrorKind::Local.into())
    }

    fn decode<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<T, DecodeError> {
        Err(d.error(DecodeErrorKind::Local))
    }
}

impl<T: Send + 'static> SendCodec for LocalCodec<T> {}
