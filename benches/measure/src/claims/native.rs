//! `cargo xtask claims native`: shared memory beside omniORB's UNIX sockets, and messages by number beside GIOP; and what `bench-native`
//! measures: shared memory beside what it is made of.

use super::speed::{NOPARAMS, Ratio, STRUCT, ratios};
use super::{ClaimsOptions, programs as claimed, table1};
use crate::measure::place::Placement::Split;
use crate::measure::programs;
use crate::row::Aim::AtMost;
use crate::row::Row;

const RATIOS: [Ratio; 4] = [
    Ratio {
        about: "spinning",
        work: NOPARAMS,
        of: "zorb-dedicated-spin-shm",
        to: "omni-unix",
        placement: Split,
        aim: AtMost(0.2),
    },
    // Both threads park: shared memory on a futex, the raw programs in `recv`.
    Ratio {
        about: "parked",
        work: NOPARAMS,
        of: "zorb-blocking-shm",
        to: "raw-unix",
        placement: Split,
        aim: AtMost(1.0),
    },
    Ratio {
        about: "noparams",
        work: NOPARAMS,
        of: "zorb-dedicated-native",
        to: "zorb-dedicated",
        placement: Split,
        aim: AtMost(0.9),
    },
    Ratio {
        about: "struct",
        work: STRUCT,
        of: "zorb-dedicated-native",
        to: "zorb-dedicated",
        placement: Split,
        aim: AtMost(0.7),
    },
];

/// Measures the claims that are asked for.
///
/// # Errors
/// Nothing could be built, or a program failed.
pub(super) fn rows(options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    programs::ready()?;
    options.compare.wait();
    let mut rows = ratios("native", &RATIOS, options)?;
    rows.extend(claimed::rows("native", options)?);
    rows.extend(table1::rows(options)?);
    Ok(rows)
}
