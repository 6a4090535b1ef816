//! The parts of `bench-client`.

pub(crate) mod crowd;
pub(crate) mod measure;
pub(crate) mod operation;
pub(crate) mod options;
pub(crate) mod payload;
