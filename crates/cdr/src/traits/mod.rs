//! The two traits of values on the wire.

mod decode;
mod encode;

#[doc(hidden)]
pub use decode::__load_all;
pub use decode::Decode;
pub(crate) use decode::{decode_array, decode_run, load_all, not_fixed, reserve, try_array};
#[doc(hidden)]
pub use encode::__store_all;
pub use encode::Encode;
pub(crate) use encode::{encode_run, store_all};
