//! The server.

use crate::Failure;
use crate::idl::papers::white_box::{BinStruct, Box as Boxes, BoxServant};
use std::hint::black_box;
use std::path::PathBuf;
use zorb::{OctetsRef, Orb, SystemException};
use zorb_giop::probe;
use zorb_papers::steps::of_server;

struct Servant {
    orb: Orb,
    /// The time of a mark.
    cost: f64,
}

impl Boxes for Servant {
    async fn noparams(&self) -> Result<(), SystemException> {
        black_box(self);
        Ok(())
    }

    async fn octets(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
        black_box(data.last());
        Ok(())
    }

    async fn structs(&self, data: &[BinStruct]) -> Result<(), SystemException> {
        black_box(data.last());
        Ok(())
    }

    async fn forget(&self) -> Result<(), SystemException> {
        drop(probe::take());
        Ok(())
    }

    async fn steps(&self) -> Result<String, SystemException> {
        let steps = of_server(&probe::take(), self.cost);
        // Names and numbers have no way not to be JSON.
        Ok(serde_json::to_string(&steps).unwrap_or_default())
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        self.orb.shutdown(false).await
    }
}

/// Serves until a client ends it.
pub(crate) async fn serve(ior: PathBuf, unix: Option<PathBuf>) -> Result<(), Failure> {
    let endpoint = match unix {
        Some(path) => format!("uiop://{}", std::path::absolute(path)?.display()),
        None => "iiop://127.0.0.1:0".to_owned(),
    };
    let orb = Orb::builder().listen(endpoint).build().await?;
    let servant = Servant {
        orb: orb.clone(),
        cost: probe::cost(),
    };
    let poa = orb.root_poa();
    let object = poa.activate(BoxServant::new(servant))?;
    poa.the_poa_manager().activate()?;
    zorb_floor::publish(&ior, &orb.object_to_string(&object))?;
    orb.run().await;
    Ok(())
}
