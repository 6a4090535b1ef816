//! The ORB beside other ORBs and their tools: omniORB, JacORB, their naming services, tshark, network namespaces.
//!
//! Without a peer's programs its tests pass and say that they were skipped; those that need none always run.

mod allocations;
mod ami;
mod bulk;
mod caller;
mod digest;
mod gateway;
mod ifr;
mod interop;
mod matrix;
mod names;
mod naming;
mod peers;
mod references;
mod rich;
mod runner;
mod tap;
mod times;
mod tshark;

#[path = "../support/anew.rs"]
mod anew;
#[path = "../../crates/tls/tests/support/mod.rs"]
mod certificates;
#[path = "../support/jacorb.rs"]
mod jacorb_names;
#[path = "../support/mod.rs"]
mod support;
