//! Running programs and measuring them.

pub(crate) mod awake;
pub(crate) mod instructions;
pub(crate) mod machine;
pub(crate) mod peer;
pub(crate) mod place;
pub(crate) mod programs;
pub(crate) mod quiet;
pub(crate) mod run;
pub(crate) mod statistics;
pub(crate) mod tools;
