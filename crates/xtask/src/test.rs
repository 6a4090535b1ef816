//! `cargo xtask test`: everything, with nothing skipped.

use crate::step::{self, Done, root};
use crate::{cells, peers};
use std::fs;

/// Readies the peers, runs the workspace's tests and counts the interop cells.
///
/// # Errors
/// A peer cannot be made ready, a test fails, or other cells ran than are expected.
pub(crate) fn run(cargo_args: &[String]) -> Done {
    peers::ready()?;
    let record = cells::record();
    if let Some(folder) = record.parent() {
        fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    }
    fs::write(&record, "").map_err(|e| format!("cannot write {}: {e}", record.display()))?;

    let mut test = step::cargo();
    test.current_dir(root())
        .args(["test", "--workspace"])
        .args(cargo_args)
        .env("ZORB_PEERS", "require")
        .env("ZORB_CELLS", &record);
    let tested = step::run(&mut test);

    let cells = cells::show();
    tested?;
    cells
}
