//! Shared by the chores of the workspace and the programs that measure: running commands, the peers, and which interop
//! cells have passed.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    reason = "printing is what these commands are for"
)]

pub mod cells;
mod list;
pub mod machine;
pub mod peers;
mod sources;
pub mod step;
