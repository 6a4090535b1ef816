//! The workspace itself: which crate may depend on which, and which module on which; names, words and documents.

mod arrows;
mod documents;
mod modules;
mod nameable;
mod page;
mod words;
