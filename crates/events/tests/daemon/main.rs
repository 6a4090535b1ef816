//! The program `zorb-events`, as processes with clients: what it delivers, what it keeps, what it refuses, how it ends.

#[path = "../common/mod.rs"]
mod common;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

mod channels;
mod full_disk;
mod hostile_filters;
mod kills;
mod lives;
mod notify;
mod packaging;
mod slow;
mod typed;

#[zorb::idl_file("tests/plant.idl")]
mod plant {}
