//! The receiver in zorb.

use zorb::{Char, OctetsRef, Orb, SystemException};
use zorb_floor::digest;
use zorb_papers::dialogue::Failure;
use zorb_papers::payload::{BinStruct, Ttcp, TtcpServant, digest_chars, digest_structs};
use zorb_papers::place::{Server, take_leave};
use zorb_papers::sockets::fold;

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
        take_leave(&self.orb).await
    }
}

/// Serves so many objects until a client ends one of them.
pub(crate) async fn serve(server: Server, servants: usize) -> Result<(), Failure> {
    let activate = |orb: &Orb| {
        let poa = orb.root_poa();
        let one = |_| {
            let receiver = TtcpServant::new(Receiver { orb: orb.clone() });
            Ok(orb.object_to_string(&poa.activate(receiver)?))
        };
        (0..servants).map(one).collect()
    };
    server.with_orb(activate).await
}
