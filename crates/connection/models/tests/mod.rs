//! Models of the state that threads share. Loom runs each model in every schedule up to a number of preemptions, with every
//! value that an atomic load may return.

mod lease;
pub(crate) mod outbound;
mod permit;
mod waker;

pub(crate) use crate::sync::thread::{Task, model};

use crate::sync::writes;
use loom::thread::{Builder, JoinHandle};
use std::io::IoSlice;

/// The stack of a thread, in words: calls and drivers need more than loom's default.
const STACK_WORDS: usize = 0x8000;

/// Explores `body` without the write side of its connections, which has models of its own.
pub(crate) fn model_of_reads(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    writes::unexplored(|| model(preemptions, body));
}

/// Spawns a thread whose stack is large enough for a call or a driver.
pub(crate) fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let builder = Builder::new().stack_size(STACK_WORDS);
    builder.spawn(run).unwrap()
}

/// The messages in one write, each whole.
pub(crate) fn messages(slices: &[IoSlice<'_>]) -> Vec<Vec<u8>> {
    let octets: Vec<u8> = (slices.iter())
        .flat_map(|slice| slice.iter().copied())
        .collect();
    let (mut rest, mut messages) = (&*octets, Vec::new());
    while let Some(size) = rest.get(8..12) {
        let size = u32::from_ne_bytes(size.try_into().unwrap());
        let (message, behind) = rest.split_at(12 + usize::try_from(size).unwrap());
        messages.push(message.to_vec());
        rest = behind;
    }
    messages
}
