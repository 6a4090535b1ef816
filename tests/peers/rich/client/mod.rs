//! The client of `rich.idl`: calls everything and checks every rule.

mod anys;
mod data;
mod values;

pub(crate) use crate::rich::idl::rich::PeerRef;
use crate::runner::{self, cells};

/// What a cell runs in.
pub(crate) type World = runner::World<PeerRef>;
pub(crate) type Cell = runner::Cell<PeerRef>;

cells! {
    DATA: data::{ unions, unions_together, recursive, fixed }
    CONTEXT: data::{ context }
    /// Not for peers that forget with which discriminator a default member, or nothing, came.
    DEFAULTS: data::{ union_defaults }
    /// Not for peers whose labels end at 2^31.
    BIG_LABELS: data::{ big_labels }
    VALUES: values::{
        values, value_inheritance, graphs, boxes, value_operations, value_base, abstract_interfaces, values_in_exceptions,
    }
    TRUNCATION: values::{ truncation }
    BOXES: values::{ boxes_alone, boxes_as_value_base }
    CUSTOM: values::{ custom_values }
    /// Not with peers that lose count of many values.
    MANY_VALUES: values::{ long_rings }
    /// Not in GIOP 1.0, and not in 1.1.
    WIDE: data::{ anonymous }
    WIDE_VALUES: values::{ wide_boxes }
    ANYS: anys::{
        any_numbers, any_texts, any_constructed, any_objects, any_nested, any_sequence, any_wrong, mixed, type_codes,
    }
    /// Not in GIOP 1.0, and not in 1.1.
    WIDE_ANYS: anys::{ any_wide }
    UNION_ANYS: anys::{ any_unions, union_type_codes }
    /// Not with peers whose compiler makes other TypeCodes of the same IDL.
    ODD_TYPES: anys::{ odd_type_codes }
    /// Neither that, nor in GIOP 1.0 and 1.1.
    ODD_WIDE_ANYS: anys::{ any_anonymous }
    EXCEPTION_ANYS: anys::{ any_exception }
    VALUE_ANYS: anys::{ any_values }
    TRUNCATABLE_ANYS: anys::{ any_truncatable }
    BOX_ANYS: anys::{ any_boxes }
}
