//! The smallest parts of a connection under loom, which tries every order in which threads can get in each other's way,
//! and every value that an atomic may still have for one of them.
//!
//! The very sources of the right to read and of writing are driven, with loom's atomics and locks in the place of the
//! real ones; of what is around them, the protocol.

#[path = "../../src/wire/right.rs"]
mod right;

#[path = "../../src/wire/mock.rs"]
mod mock;

#[expect(dead_code, reason = "the models do not count octets, nor cut messages")]
#[path = "../../src/wire/outbound/mod.rs"]
mod outbound;

mod reads;
mod sync;
mod writes;

/// Nobody listens.
mod trace {
    pub(crate) fn sending_piece(_: &dyn zorb_transport::Connection, _: &zorb_cdr::Gather) {}
}

/// Tries every order with up to so many interruptions where nobody had to let others run; all of
/// them would take hours.
fn model(interruptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    model.check(body);
}
