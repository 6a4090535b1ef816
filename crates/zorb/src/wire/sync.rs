//! What the smallest parts synchronise by; the models in `tests/models.rs` put loom's in its place.

pub(super) use core::sync::atomic::{AtomicU8, Ordering};
pub(super) use std::sync::Mutex;
