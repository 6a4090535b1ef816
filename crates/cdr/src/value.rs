//! Definitions for reading and writing values (of value types): their tags, and handles of those that are shared.
//!
//! ```text
//! value      | tag | codebase? | ids? | state                                    |
//! in chunks  | tag | codebase? | ids? | size | octets… | nested value | size | octets… | -depth |
//! null       | 0 |
//! again      | 0xffffffff | offset to the tag of an earlier value |
//! ```

use alloc::sync::Arc;
use core::any::Any;

/// A value that may occur in a message more than once, in the container that its owner uses.
pub type Shared = Arc<dyn Any + Send + Sync>;

/// The lowest value tag; the flags are added to it.
pub(crate) const TAG: u32 = 0x7fff_ff00;
/// The highest value tag.
pub(crate) const LAST_TAG: u32 = 0x7fff_ffff;
/// Flag: the URL of a codebase follows.
pub(crate) const CODEBASE: u32 = 1;
/// The mask of the two flags for type information.
pub(crate) const TYPE_INFO: u32 = 6;
/// Flag of a value tag: one repository id follows.
pub(crate) const ONE_ID: u32 = 2;
/// Flag of a value tag: a list of repository ids follows, the most derived first.
pub(crate) const ID_LIST: u32 = 6;
/// Flag: the state is in chunks.
pub(crate) const CHUNKED: u32 = 8;
/// The flags of a tag.
pub(crate) const KNOWN_FLAGS: u32 = CODEBASE | TYPE_INFO | CHUNKED;
/// The number in place of a value, a repository id or a list of those that marks an indirection to an earlier one; its
/// offset follows.
pub(crate) const INDIRECTION: u32 = 0xffff_ffff;
