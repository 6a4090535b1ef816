//! Measuring programs from outside: what they are, where they run, what they took.

pub(crate) mod awake;
pub(crate) mod dialogue;
pub(crate) mod instructions;
pub(crate) mod machine;
pub(crate) mod peer;
pub(crate) mod place;
pub(crate) mod programs;
pub(crate) mod quiet;
pub(crate) mod run;
pub(crate) mod statistics;
pub(crate) mod system_calls;
pub(crate) mod tools;
