//! The program `zorb-named`, as processes with clients: what it keeps, what it refuses, how it ends.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/conformance.rs"]
mod conformance;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

mod bad_input;
mod full_disk;
mod kills;
mod lists;
mod liveness;
mod lives;
mod packaging;
mod page;
mod rules;
mod scale;
mod tls;

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_store_does_what_a_store_has_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = zorb_named::store::EmbeddedStore::open(folder.path()).unwrap();
    conformance::check(std::sync::Arc::new(store)).await;
    let store = zorb_named::store::EmbeddedStore::in_memory().unwrap();
    conformance::check(std::sync::Arc::new(store)).await;
}
