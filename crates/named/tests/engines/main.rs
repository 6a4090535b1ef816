//! Several services as one namespace, over clusters of etcd and of NATS that the tests start. Without the engines that `cargo xtask peers`
//! builds they pass, and print what they skipped.

#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/anew.rs"]
mod anew;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/conformance.rs"]
mod conformance;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

#[path = "../../../tls/tests/support/mod.rs"]
mod certificates;
mod cluster;
mod failures;
mod jwt;
mod network;
mod secured;
mod together;
