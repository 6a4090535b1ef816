//! The server of `latency.idl`: as many servants as its client asks for, each with an object id that the POA gives it.
//!
//! `papers-latency-server --ior FILE [--runtime …]` writes the reference of its `Control`, serves until that is asked
//! to shut down, and prints what all servants were sent.

#[path = "../../programs/flavor.rs"]
mod flavor;

use clap::Parser;
use flavor::{Failure, Life};
use std::path::PathBuf;
use zorb::{Builder, Char, OctetsRef, Orb, SystemException};
use zorb_floor::digest;
use zorb_papers::latency::{
    BinStruct, Control, ControlServant, Hundred, HundredRef, HundredServant, One, OneRef,
    OneServant, TcpSequence, TcpSequenceRef, TcpSequenceServant, Ten, TenRef, TenServant,
    digest_chars, digest_doubles, digest_shorts, digest_structs,
};
use zorb_papers::{place, sockets, with_operations};

#[derive(Parser)]
#[command(args_override_self = true)]
struct Options {
    /// Where to write the reference
    #[arg(long)]
    ior: PathBuf,
    #[command(flatten)]
    life: Life,
    /// Connections that are served at a time; the ORB's default unless given
    #[arg(long)]
    max_connections: Option<usize>,
}

/// One of many servants: all have the same to say.
#[derive(Clone, Copy)]
struct Servant;

type Served = Result<(), SystemException>;

impl Servant {
    fn fold(self, digest: u64) -> Served {
        sockets::fold(digest);
        Ok(())
    }
}

impl TcpSequence for Servant {
    async fn send_no_params_2way(&self) -> Served {
        self.fold(1)
    }

    async fn send_short_seq_2way(&self, tcp_seq: &[i16]) -> Served {
        self.fold(digest_shorts(tcp_seq))
    }

    async fn send_char_seq_2way(&self, tcp_seq: &[Char]) -> Served {
        self.fold(digest_chars(tcp_seq))
    }

    async fn send_long_seq_2way(&self, tcp_seq: &[i32]) -> Served {
        self.fold(digest::longs(tcp_seq))
    }

    async fn send_octet_seq_2way(&self, tcp_seq: OctetsRef<'_>) -> Served {
        self.fold(digest::octets(&tcp_seq))
    }

    async fn send_double_seq_2way(&self, tcp_seq: &[f64]) -> Served {
        self.fold(digest_doubles(tcp_seq))
    }

    async fn send_struct_seq_2way(&self, tcp_seq: &[BinStruct]) -> Served {
        self.fold(digest_structs(tcp_seq))
    }

    async fn send_no_params_1way(&self) -> Served {
        self.fold(1)
    }

    async fn send_short_seq_1way(&self, tcp_seq: &[i16]) -> Served {
        self.fold(digest_shorts(tcp_seq))
    }

    async fn send_char_seq_1way(&self, tcp_seq: &[Char]) -> Served {
        self.fold(digest_chars(tcp_seq))
    }

    async fn send_long_seq_1way(&self, tcp_seq: &[i32]) -> Served {
        self.fold(digest::longs(tcp_seq))
    }

    async fn send_octet_seq_1way(&self, tcp_seq: OctetsRef<'_>) -> Served {
        self.fold(digest::octets(&tcp_seq))
    }

    async fn send_double_seq_1way(&self, tcp_seq: &[f64]) -> Served {
        self.fold(digest_doubles(tcp_seq))
    }

    async fn send_struct_seq_1way(&self, tcp_seq: &[BinStruct]) -> Served {
        self.fold(digest_structs(tcp_seq))
    }

    async fn sync(&self) -> Served {
        Ok(())
    }
}

/// Every operation of the interface does the same.
macro_rules! fold_all {
    ($interface:ident, $reference:ident, $($number:literal $operation:ident)*) => {
        impl $interface for Servant {
            $(async fn $operation(&self) -> Served {
                self.fold(1)
            })*
        }
    };
}

with_operations!(One, fold_all);
with_operations!(Ten, fold_all);
with_operations!(Hundred, fold_all);

struct Controller {
    orb: Orb,
}

impl Controller {
    /// So many servants more, in the root POA.
    fn add<R>(
        count: u32,
        activate: impl Fn(Servant) -> Result<R, zorb::Error>,
    ) -> Result<Vec<Option<R>>, SystemException> {
        (0..count).map(|_| Ok(Some(activate(Servant)?))).collect()
    }
}

impl Control for Controller {
    async fn add_sequences(
        &self,
        count: u32,
    ) -> Result<Vec<Option<TcpSequenceRef>>, SystemException> {
        let poa = self.orb.root_poa();
        Self::add(count, |servant| {
            poa.activate(TcpSequenceServant::new(servant))
        })
    }

    async fn add_ones(&self, count: u32) -> Result<Vec<Option<OneRef>>, SystemException> {
        let poa = self.orb.root_poa();
        Self::add(count, |servant| poa.activate(OneServant::new(servant)))
    }

    async fn add_tens(&self, count: u32) -> Result<Vec<Option<TenRef>>, SystemException> {
        let poa = self.orb.root_poa();
        Self::add(count, |servant| poa.activate(TenServant::new(servant)))
    }

    async fn add_hundreds(&self, count: u32) -> Result<Vec<Option<HundredRef>>, SystemException> {
        let poa = self.orb.root_poa();
        Self::add(count, |servant| poa.activate(HundredServant::new(servant)))
    }

    async fn shutdown(&self) -> Served {
        place::take_leave(&self.orb).await
    }
}

async fn serve(options: Options, mut builder: Builder) -> Result<(), Failure> {
    if let Some(most) = options.max_connections {
        builder = builder.max_connections(most);
    }
    let builder = builder.listen("iiop://127.0.0.1:0");
    let orb = options.life.start(builder).await?;
    let activate = |orb: &Orb| {
        let controller = Controller { orb: orb.clone() };
        let control = orb.root_poa().activate(ControlServant::new(controller))?;
        Ok(vec![orb.object_to_string(&control)])
    };
    place::serve(orb, &options.ior, activate).await
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    flavor::run(options.life, None, |builder| serve(options, builder))
}
