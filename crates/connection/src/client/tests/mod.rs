//! Clients against a peer that the test plays.

mod blocked_callers;
mod buffered_one_ways;
mod calls;
mod driver_and_lease;
mod ends;
mod one_way_batches;
mod silence;
mod together;
