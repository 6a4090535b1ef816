//! The server of `latency.idl`: as many servants as its client asks for, each with an object id that the POA gives it.
//!
//! `papers-latency-server --ior FILE [--runtime …]` writes the reference of its `Control`, serves until that is told
//! to shut down, and prints what all servants were sent.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod common;
#[path = "../../programs/flavor.rs"]
#[allow(dead_code, reason = "what its programs can do is not asked here")]
mod flavor;

use clap::Parser;
use common::{
    BinStruct, Control, ControlServant, Hundred, HundredRef, HundredServant, One, OneRef,
    OneServant, TcpSequence, TcpSequenceRef, TcpSequenceServant, Ten, TenRef, TenServant,
    digest_chars, digest_doubles, digest_shorts, digest_structs, with_operations,
};
use flavor::{Failure, Life};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zorb::{Builder, Char, OctetsRef, Orb, SystemException};
use zorb_floor::report::Farewell;
use zorb_floor::{digest, publish};

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

/// What all servants were sent, folded.
#[derive(Default)]
struct Folded {
    calls: AtomicU64,
    digest: AtomicU64,
}

/// One of many servants: all have the same to say.
#[derive(Clone)]
struct Servant(Arc<Folded>);

type Served = Result<(), SystemException>;

impl Servant {
    fn fold(&self, digest: u64) -> Served {
        self.0.digest.fetch_add(digest, Ordering::Relaxed);
        self.0.calls.fetch_add(1, Ordering::Relaxed);
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
    servant: Servant,
}

impl Controller {
    /// So many servants more, in the root POA.
    fn add<R>(
        &self,
        count: u32,
        activate: impl Fn(Servant) -> Result<R, zorb::Error>,
    ) -> Result<Vec<Option<R>>, SystemException> {
        (0..count)
            .map(|_| Ok(Some(activate(self.servant.clone())?)))
            .collect()
    }
}

impl Control for Controller {
    async fn add_sequences(
        &self,
        count: u32,
    ) -> Result<Vec<Option<TcpSequenceRef>>, SystemException> {
        let poa = self.orb.root_poa();
        self.add(count, |servant| {
            poa.activate(TcpSequenceServant::new(servant))
        })
    }

    async fn add_ones(&self, count: u32) -> Result<Vec<Option<OneRef>>, SystemException> {
        let poa = self.orb.root_poa();
        self.add(count, |servant| poa.activate(OneServant::new(servant)))
    }

    async fn add_tens(&self, count: u32) -> Result<Vec<Option<TenRef>>, SystemException> {
        let poa = self.orb.root_poa();
        self.add(count, |servant| poa.activate(TenServant::new(servant)))
    }

    async fn add_hundreds(&self, count: u32) -> Result<Vec<Option<HundredRef>>, SystemException> {
        let poa = self.orb.root_poa();
        self.add(count, |servant| poa.activate(HundredServant::new(servant)))
    }

    async fn shutdown(&self) -> Served {
        let Servant(folded) = &self.servant;
        let farewell = Farewell {
            calls: folded.calls.load(Ordering::Relaxed),
            digest: folded.digest.load(Ordering::Relaxed),
            allocations: None,
            allocated_octets: None,
        };
        println!("{}", farewell.to_json());
        self.orb.shutdown(false).await
    }
}

async fn serve(options: Options, mut builder: Builder) -> Result<(), Failure> {
    if let Some(most) = options.max_connections {
        builder = builder.max_connections(most);
    }
    let builder = builder.listen("iiop://127.0.0.1:0");
    let orb = options.life.start(builder).await?;
    let poa = orb.root_poa();
    let control = poa.activate(ControlServant::new(Controller {
        orb: orb.clone(),
        servant: Servant(Arc::default()),
    }))?;
    poa.the_poa_manager().activate()?;
    publish(&options.ior, &orb.object_to_string(&control))?;
    orb.run().await;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    flavor::run(options.life, None, |builder| serve(options, builder))
}
