//! The client of `rich.idl`: calls everything and checks every rule.

mod any_cells;
mod rich_data_cells;
mod value_cells;

pub(crate) use crate::rich::rich_idl::rich::PeerRef;
use crate::runner::{self, cells};

/// The ORBs and references that a cell runs with.
pub(crate) type World = runner::World<PeerRef>;
pub(crate) type Cell = runner::Cell<PeerRef>;

cells! {
    DATA: rich_data_cells::{ unions, unions_together, recursive, fixed }
    CONTEXT: rich_data_cells::{ context }
    /// Not for peers that forget with which discriminator a default member, or nothing, came.
    DEFAULTS: rich_data_cells::{ union_defaults }
    /// Not for peers whose labels end at 2^31.
    BIG_LABELS: rich_data_cells::{ big_labels }
    VALUES: value_cells::{
        values, value_inheritance, graphs, boxes, value_operations, value_base, abstract_interfaces, values_in_exceptions,
    }
    TRUNCATION: value_cells::{ truncation }
    BOXES: value_cells::{ boxes_alone, boxes_as_value_base }
    CUSTOM: value_cells::{ custom_values }
    /// Not with peers that lose count of many values.
    MANY_VALUES: value_cells::{ long_rings }
    /// Not in GIOP 1.0, and not in 1.1.
    WIDE: rich_data_cells::{ anonymous }
    WIDE_VALUES: value_cells::{ wide_boxes }
    ANYS: any_cells::{
        any_numbers, any_texts, any_constructed, any_objects, any_nested, any_sequence, any_wrong, mixed, type_codes,
    }
    /// Not in GIOP 1.0, and not in 1.1.
    WIDE_ANYS: any_cells::{ any_wide }
    UNION_ANYS: any_cells::{ any_unions, union_type_codes }
    /// Not with peers whose compiler makes other TypeCodes of the same IDL.
    ODD_TYPES: any_cells::{ odd_type_codes }
    /// Neither that, nor in GIOP 1.0 and 1.1.
    ODD_WIDE_ANYS: any_cells::{ any_anonymous }
    EXCEPTION_ANYS: any_cells::{ any_exception }
    VALUE_ANYS: any_cells::{ any_values }
    TRUNCATABLE_ANYS: any_cells::{ any_truncatable }
    BOX_ANYS: any_cells::{ any_boxes }
}
