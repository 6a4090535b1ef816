//! The two ends: a server in a process of its own, and clients.

use crate::idl::bench::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zorb::policy::{PolicyOverrides, Protocol};
use zorb::{Builder, Bytes, OctetsRef, Orb, SystemException};
use zorb_atm::Atm;
use zorb_giop_lite::GiopLite;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Every protocol: the scheme of its endpoints.
pub(crate) const SCHEMES: [&str; 4] = ["iiop", "uiop", "iioplite", "uioplite"];

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

/// The settings of every ORB of these programs.
pub(crate) fn builder() -> Builder {
    Orb::builder()
        .transport(Arc::new(GiopLite::over_tcp()))
        .transport(Arc::new(GiopLite::over_unix()))
        .transport(Arc::new(Atm::default()))
}

/// A server in this process, and its reference.
pub(crate) async fn server(
    builder: Builder,
    endpoints: &[String],
) -> Result<(Orb, String), Failure> {
    let builder = endpoints
        .iter()
        .fold(builder, |builder, endpoint| builder.listen(endpoint));
    let orb = builder.build().await?;
    let poa = orb.root_poa();
    let server = Server {
        orb: Some(orb.clone()),
        ..Server::default()
    };
    let reference: TtcpRef = poa.activate(TtcpServant::new(server))?;
    poa.the_poa_manager().activate()?;
    let text = orb.object_to_string(&reference);
    Ok((orb, text))
}

/// The server's process.
pub(crate) async fn serve(endpoints: Vec<String>) -> Result<(), Failure> {
    let (orb, reference) = server(builder(), &endpoints).await?;
    println!("{reference}");
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
    pub(crate) fn start(endpoints: &[String]) -> Result<Self, Failure> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .args(endpoints)
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

/// Endpoints of all protocols, with sockets in this folder.
pub(crate) fn endpoints(folder: &std::path::Path) -> Vec<String> {
    let endpoint = |scheme: &&str| match scheme.starts_with('u') {
        true => format!("{scheme}://{}", folder.join(*scheme).display()),
        false => format!("{scheme}://127.0.0.1:0"),
    };
    SCHEMES.iter().map(endpoint).collect()
}

/// A folder for sockets.
pub(crate) struct Folder(pub(crate) std::path::PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self, Failure> {
        let name = format!("zorb-protocols-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The folder has only a few empty files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The object of a reference, called by one protocol.
pub(crate) async fn by(orb: &Orb, reference: &str, scheme: &str) -> Result<TtcpRef, Failure> {
    let protocol = PolicyOverrides::new().client_protocols([Protocol::new(scheme.to_owned())]);
    let object = orb.string_to_object(reference).await?;
    Ok(object.with_policies(&protocol).unchecked_narrow())
}
