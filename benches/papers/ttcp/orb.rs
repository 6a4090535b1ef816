//! The receiver in zorb.

use crate::payload::{BinStruct, Ttcp, TtcpServant, digest_chars, digest_structs};
use crate::place::Server;
use zorb::{Char, OctetsRef, Orb, SystemException};
use zorb_floor::{digest, publish};
use zorb_papers::dialogue::{self, Failure};
use zorb_papers::sockets::{farewell, fold};

struct Receiver {
    orb: Orb,
}

impl Ttcp for Receiver {
    async fn send_chars(&self, data: &[Char]) -> Result<(), SystemException> {
        fold(digest_chars(data));
        Ok(())
    }

    async fn send_octets(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
        fold(digest::octets(&data));
        Ok(())
    }

    async fn send_string(&self, data: &str) -> Result<(), SystemException> {
        fold(digest::octets(data.as_bytes()));
        Ok(())
    }

    async fn send_structs(&self, data: &[BinStruct]) -> Result<(), SystemException> {
        fold(digest_structs(data));
        Ok(())
    }

    async fn sync(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn nothing_1way(&self) -> Result<(), SystemException> {
        fold(1);
        Ok(())
    }

    async fn nothing_2way(&self) -> Result<(), SystemException> {
        fold(1);
        Ok(())
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        // Nobody is left to be told of a broken pipe.
        let _ = dialogue::say(&farewell().to_json());
        self.orb.shutdown(false).await
    }
}

/// Serves so many objects until one is told to end.
pub(crate) async fn serve(server: Server, servants: usize) -> Result<(), Failure> {
    let builder = server.common.builder().listen(server.endpoint()?);
    let orb = builder.build().await?;
    let poa = orb.root_poa();
    let mut references = Vec::with_capacity(servants);
    for _ in 0..servants {
        let receiver = TtcpServant::new(Receiver { orb: orb.clone() });
        references.push(orb.object_to_string(&poa.activate(receiver)?));
    }
    poa.the_poa_manager().activate()?;
    publish(&server.common.ior, &references.join("\n"))?;
    orb.run().await;
    Ok(())
}
