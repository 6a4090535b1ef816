//! Two ORBs, and an object of one as the other sees it.

use std::time::Duration;
use zorb::{Interface, Orb};

/// A bound against hangs, not a measurement.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no hang")
}

pub(crate) async fn orb() -> Orb {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb
}

/// The object behind a reference of another ORB.
pub(crate) async fn from_afar<I: Interface + std::fmt::Display>(orb: &Orb, reference: &I) -> I {
    let object = orb.string_to_object(&reference.to_string()).await.unwrap();
    object.unchecked_narrow()
}
