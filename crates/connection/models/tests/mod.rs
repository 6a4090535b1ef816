//! Models of the state that threads share. Loom runs each model in every schedule up to a number of preemptions, with every
//! value that an atomic load may return.

mod lease;
pub(crate) mod outbound;
mod permit;
mod waker;

pub(crate) use crate::sync::thread::{Task, model};
