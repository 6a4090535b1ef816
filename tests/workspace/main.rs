//! The workspace itself: which crate may depend on which, and which module on which; names and words.

mod arrows;
mod modules;
mod page;
mod words;
