//! What services keep of a connection.

use core::any::Any;
use core::fmt;
use std::sync::OnceLock;

/// A place for one value that a service keeps of a connection, such as its security contexts. It is dropped with the connection.
#[derive(Default)]
pub struct Kept(OnceLock<Box<dyn Any + Send + Sync>>);

impl Kept {
    /// Returns the value, made at the first call; `None` if a value of another type is kept.
    pub fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_used = self.0.get().is_some();
        f.write_str(if is_used { "Kept" } else { "Nothing" })
    }
}
