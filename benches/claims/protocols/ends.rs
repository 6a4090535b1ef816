//! The two ends: a server in a process of its own, and clients.

use crate::idl::bench::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use zorb::{Bytes, OctetsRef, Orb, SystemException};

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Clients whose one-way calls a server counts apart.
pub(crate) const CLIENTS: usize = 16;

/// Serves the benchmark's interface. Of one-way octets that begin with a client's number and that of the call, it
/// checks the order.
#[derive(Default)]
pub(crate) struct Server {
    orb: Option<Orb>,
    /// The next call of each client.
    next: [AtomicU64; CLIENTS],
    /// Calls that were not the next one.
    astray: AtomicU64,
}

impl Server {
    fn check(&self, data: &[u8]) {
        let Some((client, rest)) = data.split_first_chunk::<4>() else {
            return;
        };
        let Some((number, _)) = rest.split_first_chunk::<8>() else {
            return;
        };
        let client = u32::from_be_bytes(*client) as usize;
        if let Some(next) = self.next.get(client)
            && next.fetch_add(1, Ordering::Relaxed) != u64::from_be_bytes(*number)
        {
            self.astray.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Ttcp for Server {
    async fn send_no_params_2way(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_no_params_1way(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_octet_seq_2way(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_long_seq_2way(&self, _: &[i32]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_struct_seq_2way(&self, _: &[BinStruct]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn send_octet_seq_1way(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
        self.check(&data);
        Ok(())
    }

    async fn send_struct_seq_1way(&self, _: &[BinStruct]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn sync(&self) -> Result<(), SystemException> {
        Ok(())
    }

    /// The calls of each client, and how many were astray, where the text is `count`.
    async fn echo_string(&self, text: &str) -> Result<String, SystemException> {
        if text != "count" {
            return Ok(text.to_owned());
        }
        let counts = self.next.iter().map(|next| next.load(Ordering::Relaxed));
        let sum: u64 = counts.sum();
        Ok(format!("{sum} {}", self.astray.load(Ordering::Relaxed)))
    }

    async fn echo_struct_seq(&self, data: &[BinStruct]) -> Result<Vec<BinStruct>, SystemException> {
        Ok(data.to_vec())
    }

    async fn echo_octet_seq(&self, data: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        Ok(Bytes::copy_from_slice(&data))
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        match &self.orb {
            Some(orb) => orb.shutdown(false).await,
            None => Ok(()),
        }
    }
}

/// The endpoint of every server.
const ENDPOINT: &str = "iiop://127.0.0.1:0";

/// The server's process.
pub(crate) async fn serve() -> Result<(), Failure> {
    let orb = Orb::builder().listen(ENDPOINT).build().await?;
    let poa = orb.root_poa();
    let server = Server {
        orb: Some(orb.clone()),
        ..Server::default()
    };
    let reference: TtcpRef = poa.activate(TtcpServant::new(server))?;
    poa.the_poa_manager().activate()?;
    println!("{}", orb.object_to_string(&reference));
    orb.run().await;
    Ok(())
}

/// A server in another process, which is killed when this is dropped.
pub(crate) struct Remote {
    process: Child,
    /// Its reference.
    pub(crate) reference: String,
}

impl Remote {
    pub(crate) fn start() -> Result<Self, Failure> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut reference = String::new();
        BufReader::new(output).read_line(&mut reference)?;
        if reference.is_empty() {
            return Err("the server has not begun to serve".into());
        }
        let reference = reference.trim().to_owned();
        Ok(Self { process, reference })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The object of a reference.
pub(crate) async fn by(orb: &Orb, reference: &str) -> Result<TtcpRef, Failure> {
    Ok(orb.string_to_object(reference).await?.unchecked_narrow())
}
