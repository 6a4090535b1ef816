//! Models of what threads share: loom runs each in every schedule up to a number of preemptions, with every value that
//! an atomic load may return.

mod lease;
pub(crate) mod outbound;
mod permit;
mod waker;

pub(crate) use crate::sync::thread::{Task, model};
