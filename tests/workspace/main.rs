//! The workspace itself: which crate may depend on which, and which module on which.

mod arrows;
mod modules;
