//! An object that says whether its server is ready, for load balancers and for `zorb ping --ready`.
//!
//! [`Orb::serve_health`] activates it under the plain key `Health`: `corbaloc:iiop:1.2@host:port/Health`. It says no until
//! the server is [ready](Readiness::set), and cannot be reached once the ORB shuts down.
//!
//! ```
//! # async fn run() -> Result<(), zorb::Error> {
//! use zorb::Orb;
//!
//! let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
//! let readiness = orb.serve_health()?;
//! // Open files, activate servants.
//! orb.root_poa().the_poa_manager().activate().expect("it was not deactivated");
//! readiness.set(true);
//! # assert!(readiness.is_ready());
//! # orb.shutdown(true).await?;
//! # Ok(()) }
//! # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
//! ```

pub use generated::all::zorb::*;

use crate::error::Error;
use crate::orb::Orb;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use zorb_giop::SystemException;

#[allow(missing_docs, reason = "documented here")]
mod generated {
    #[zorb_idl_macros::idl_file("idl/health.idl", crate = "crate")]
    pub mod all {}
}

/// The object id of the health object in [`Orb::ins_poa`], which is its plain key.
const KEY: &str = "Health";

/// Whether a server is ready, which its health object says. A clone is the same value.
#[derive(Debug, Clone, Default)]
#[must_use = "the server is not ready until this says so"]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Sets whether the server is ready.
    pub fn set(&self, is_ready: bool) {
        self.0.store(is_ready, Ordering::Release);
    }

    /// Whether the server is ready.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Health for Readiness {
    async fn ready(&self) -> Result<bool, SystemException> {
        Ok(self.is_ready())
    }
}

impl Orb {
    /// Activates the [health object](crate::health) of the server, which is not ready yet, in [`ins_poa`](Self::ins_poa). Requests
    /// reach it once the POA manager of the root POA is active.
    ///
    /// # Errors
    /// [`AdapterError::ObjectAlreadyActive`](crate::AdapterError::ObjectAlreadyActive) at a second call;
    /// [`Error::NoEndpoint`] when the ORB listens nowhere.
    pub fn serve_health(&self) -> Result<Readiness, Error> {
        let readiness = Readiness::default();
        let servant = HealthServant::new(readiness.clone());
        self.ins_poa().activate_object_with_id(KEY, servant)?;
        Ok(readiness)
    }
}
