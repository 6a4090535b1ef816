//! The client of `rich.idl`: calls everything and checks every rule.

mod data;

pub(crate) use crate::idl::rich::PeerRef;
use crate::peers::Way;
pub(crate) use crate::runner::Cell;
use crate::runner::cells;
use zorb::Orb;

/// What a cell runs in.
pub(crate) struct World {
    pub(crate) orb: Orb,
    pub(crate) peer: PeerRef,
    /// How to start another server of the same kind; `None` when the server is one of ours.
    pub(crate) way: Option<Way>,
    /// Whether strings travel as UTF-8 or as ISO 8859-1.
    #[expect(dead_code, reason = "no text here is beyond ASCII")]
    pub(crate) utf8: bool,
}

cells! {
    DATA: data::{ unions, unions_together, recursive, fixed }
    /// Not for peers that forget with which discriminator a default member, or nothing, came.
    DEFAULTS: data::{ union_defaults }
    /// Not for peers whose labels end at 2^31.
    BIG_LABELS: data::{ big_labels }
    /// Not in GIOP 1.0, and not in 1.1.
    WIDE: data::{ anonymous }
}
