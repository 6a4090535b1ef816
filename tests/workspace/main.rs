//! The workspace itself: which crate may depend on which, and which module on which; what comes into
//! crates without I/O; names, words and documents.

mod arrows;
mod documents;
mod inputs;
mod links;
mod modules;
mod nameable;
mod page;
mod words;
