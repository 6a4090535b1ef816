//! The panic hook that keeps to the limits of the log.

use crate::current;
use std::panic;
use std::sync::Once;
use zorb_connection::{Counter, Counters};

/// Limits what the process prints about panics in upcalls: ten of them in ten seconds, as the log has of each cause.
///
/// A panic of a servant ends its request with UNKNOWN, is counted ([`Counter::Panics`]) and logged within that limit. Before,
/// Rust's panic hook prints it, with a backtrace if `RUST_BACKTRACE` asks for one: a client that makes a servant panic again
/// and again fills the disk that standard error goes to. Programs whose servants may panic call this once at their start,
/// behind [`std::panic::set_hook`] if they have a hook of their own.
///
/// The hook that was there before is called for every panic outside of upcalls, and for those within upcalls up to the limit.
/// Upcalls are those of servants, servant managers, forwards and key resolvers, of all ORBs of the process; not the tasks and
/// threads that they start. A second call does nothing. A panic costs a lock more; nothing else costs anything.
///
/// # Panics
/// If the thread is panicking.
///
/// ```
/// zorb::install_panic_hook();
/// ```
pub fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        let panics = Counters::default();
        panic::set_hook(Box::new(move |panic| {
            // No log line here: the panic may be one of the code that writes the log. That of the upcall says how many were
            // left out.
            if !current::is_upcall() || panics.report(Counter::Panics).is_some() {
                before(panic);
            }
        }));
    });
}
