//! Properties that hold for any octets, as plain functions.
//!
//! Each module has a `run` that panics when its promise is broken. libFuzzer calls it from
//! `fuzz_targets`; `tests/replay.rs` calls it with every file of `corpus/<target>` and with some
//! mutations of each, so that the promises are kept under plain `cargo test`.
//!
//! ```text
//! cd fuzz && cargo +nightly fuzz run giop --features libfuzzer -- -max_total_time=120
//! ```
//! `seed.py` makes the seeds of the corpora, mostly from what was recorded in `../tests/wire`.
//! Files called `found-…` broke a promise once; those named by a hash are what a fuzzer added, the
//! fewest that reach everything it reached (`-set_cover_merge=1`).
//!
//! `work` has inputs that are slow unless all work is in proportion to octets; `tests/work.rs` counts.
//!
//! The programs count what they allocate: decoding is to hold, and while it goes on to take, no more memory than the
//! octets pay for.

pub mod any;
pub mod atm;
pub mod cdr;
mod contexts;
pub mod csi;
pub mod giop;
pub mod idl;
pub mod in_memory;
pub mod lite;
mod memory;
pub mod native;
pub mod reference;
pub mod server;
pub mod values;
pub mod work;

#[allow(dead_code, reason = "other programs count otherwise")]
#[expect(
    unsafe_code,
    reason = "an allocator that counts can only be had this way"
)]
#[path = "../../tests/support/counting.rs"]
mod counting;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Octets that this thread asks the allocator for while it works, freed again or not.
pub fn allocated_by(work: impl FnOnce()) -> usize {
    counting::allocated_by(work).0
}

/// A target: it takes octets, and panics when its promise is broken.
pub type Target = fn(&[u8]);

/// Every target by name, which is that of its corpus too.
pub const TARGETS: &[(&str, Target)] = &[
    ("any", any::run),
    ("atm", atm::run),
    ("cdr", cdr::run),
    ("csi", csi::run),
    ("giop", giop::run),
    ("idl", idl::run),
    ("in_memory", in_memory::run),
    ("lite", lite::run),
    ("native", native::run),
    ("reference", reference::run),
    ("server", server::run),
    ("values", values::run),
];
