//! Measures the speed of the compiler: `cargo run --release -p zorb-idl --features format --example speed`.
//!
//! You should see one line per measurement, `name value`: seconds for IDL files of 10,000 and 200,000 lines that
//! `benches/programs/idl_text.rs` writes, the best of some runs. On Linux they are seconds of CPU time, so that other load
//! of the machine counts little. With a file name it writes the 10,000 lines there.

#[path = "../../../benches/programs/idl_text.rs"]
mod idl_text;

use std::time::Instant;
use zorb_idl::{Options, check_str, compile_str};

/// The shortest of `runs`, in seconds.
fn best(runs: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let (begin, used) = (Instant::now(), processor());
        run();
        match (used, processor()) {
            (Some(before), Some(after)) => after - before,
            _ => begin.elapsed().as_secs_f64(),
        }
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The CPU time of this thread, in seconds; `None` where the system does not report it.
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = stat.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

#[expect(clippy::print_stdout, reason = "that is what it is for")]
fn main() {
    let options = Options::default();
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, idl_text::text(10_000)).expect("the file can be written");
        return;
    }
    for (lines, runs) in [(10_000, 5), (200_000, 1)] {
        let text = idl_text::text(lines);
        let name = format!("{}k", lines / 1_000);
        let checked = best(runs, || {
            check_str("model.idl", &text, &options).expect("the IDL is sound");
        });
        println!("check-{name} {checked:.4}");
        println!("check-{name}-mb-s {:.1}", mega(text.len()) / checked);
        let mut tokens = None;
        let expanded = best(runs, || {
            tokens = compile_str("model.idl", &text, &options).ok();
        });
        println!("expand-{name} {expanded:.4}");
        if let Some(output) = tokens.filter(|_| lines == 10_000) {
            let mut octets = 0;
            let formatted = best(1, || octets = zorb_idl::format(output.tokens.clone()).len());
            println!("format-{name} {formatted:.4}");
            println!("rust-{name}-mb {:.2}", mega(octets));
        }
    }
}

/// A number of octets, in millions.
fn mega(octets: usize) -> f64 {
    u32::try_from(octets).map_or(f64::NAN, f64::from) / 1e6
}
