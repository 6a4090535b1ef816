//! The workspace itself: who may depend on whom.

mod arrows;
