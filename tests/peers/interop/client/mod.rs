//! The client of `interop.idl`: calls everything and checks every rule.

mod data_cells;
mod ends;
mod objects;
mod waits;
mod wide_text_cells;

pub(crate) use crate::interop::idl::interop::PeerRef;
use crate::runner::{self, cells, raised};

/// The ORBs and references that a cell runs with.
pub(crate) type World = runner::World<PeerRef>;
pub(crate) type Cell = runner::Cell<PeerRef>;

cells! {
    DATA: data_cells::{
        basic, nans, mixed, mismatch, constants, strings, latin1, latin1_char, enums, structs, bundles,
        sequences, struct_sequences, nested_sequences, bounded, beyond_bounds, arrays,
        large_octets, large_strings, large_structs, big_messages,
    }
    OBJECTS: objects::{
        attributes, exceptions, system_exceptions, retried_exceptions, undeclared, bad_operation,
        references, pseudo_operations, inheritance, callbacks, keywords,
    }
    WAITS: waits::{ oneways, gates, timeout, cancel, concurrent }
    /// Not in GIOP 1.0.
    WIDE: wide_text_cells::{
        wide_chars, wide_halves, wide_strings, wide_marks, wide_sequences, wide_structs,
        wide_bounded, widen_narrow, large_wide_strings,
    }
    /// Only where there is no wide text.
    NOT_WIDE: wide_text_cells::{ wide_refused }
    /// Only for strings that travel as UTF-8 to a server that keeps them so.
    UNICODE: data_cells::{ strings, latin1, unicode }
    /// Only for servers that keep strings in UTF-8, where an option says so.
    UNICODE_BY_CORBALOC: data_cells::{ unicode_by_corbaloc }
    WIDE_UNICODE: wide_text_cells::{ widen_narrow, widen_narrow_unicode }
    /// Only for servers that keep strings in ISO 8859-1, or where they travel so.
    LATIN1: data_cells::{ strings, latin1, unfit }
    LATIN1_CHAR: data_cells::{ latin1_char }
    /// Only for servers that keep strings in ISO 8859-5.
    CYRILLIC: data_cells::{ strings, cyrillic, unfit, unfit_reply }
    /// The same where there is wide text.
    WIDE_LATIN1: data_cells::{ unfit_reply }
    /// Only for servers that keep to omniORB's default limit.
    TOO_BIG: data_cells::{ too_big, too_big_by_corbaloc }
    /// Only for servers without that limit.
    VERY_BIG: data_cells::{ very_big_messages }
    /// The least that says that both sides reach each other.
    BASIC: data_cells::{ basic }
    CALLBACKS: objects::{ callbacks }
    /// Only for servers that forward.
    FORWARDS: ends::{ forward, forward_loop, forward_to_nowhere, locate }
    /// Only for servers in a process of their own.
    ENDS: ends::{ corbaloc, server_dies, stale_reference, restart, shutdown }
}
