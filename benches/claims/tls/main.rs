//! Calls, handshakes and idle connections over TLS, beside tokio-rustls alone: the measurements behind `cargo xtask claims
//! tls`. Each prints a line of JSON.
//!
//! - `calls`: the median time of a call, and of the same octets over tokio-rustls.
//! - `handshakes`: full handshakes a second of a client that does one after the other.
//! - `idle`: the memory of a connection that does nothing, at either end.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

use clap::{Parser, Subcommand};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use zorb::tls::rustls::client::Resumption;
use zorb::tls::rustls::pki_types::pem::PemObject;
use zorb::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use zorb::tls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use zorb::tls::{Tls, TlsOptions};
use zorb::{OctetsRef, Orb, SystemException};

type Failure = Box<dyn std::error::Error + Send + Sync>;

zorb::idl! {
    typedef sequence<octet> Data;

    interface Sink {
        void nothing();
        void take(in Data octets);
        /// Octets of resident memory of the server's process.
        unsigned long long memory();
    };
}

/// Octets of a long call.
const LONG: usize = 64 << 10;
/// Octets of a request beside its data, and of a reply, as GIOP has them.
const REQUEST: usize = 76;
const REPLY: usize = 24;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Serves, and prints its reference and the port of tokio-rustls.
    Serve {
        /// A file with a certificate for 127.0.0.1 and its key.
        file: PathBuf,
    },
    /// Times calls.
    Calls {
        /// Of each kind, in each of seven rounds.
        #[arg(long, default_value_t = 3_000)]
        calls: usize,
    },
    /// Counts handshakes.
    Handshakes {
        /// In each of seven rounds.
        #[arg(long, default_value_t = 500)]
        count: usize,
    },
    /// Weighs idle connections.
    Idle {
        /// Their number.
        #[arg(long, default_value_t = 5_000)]
        connections: usize,
    },
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    match Options::parse().what {
        What::Serve { file } => serve(&file).await,
        What::Calls { calls } => tokio::spawn(time_calls(calls)).await?,
        What::Handshakes { count } => tokio::spawn(count_handshakes(count)).await?,
        What::Idle { connections } => tokio::spawn(weigh(connections)).await?,
    }
}

struct Servant;

impl Sink for Servant {
    async fn nothing(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn take(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn memory(&self) -> Result<u64, SystemException> {
        resident().map_err(|why| SystemException::internal(&*why.to_string()))
    }
}

/// Octets of resident memory of this process.
fn resident() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    Ok(kib.ok_or("no VmRSS")?.parse::<u64>()? * 1024)
}

/// The server's process: the ORB, and tokio-rustls alone.
async fn serve(file: &Path) -> Result<(), Failure> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file)?.collect();
    let key = PrivateKeyDer::from_pem_file(file)?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain?, key)?;
    config.send_tls13_tickets = 1;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                stream.set_nodelay(true)?;
                answer(acceptor.accept(stream).await?).await
            });
        }
    });
    let tls = Tls::new(TlsOptions::default().certificate(file, file))?;
    let orb = Orb::builder().transport(Arc::new(tls));
    let orb = orb.listen("ssliop://127.0.0.1:0").build().await?;
    let poa = orb.root_poa();
    let reference: SinkRef = poa.activate(SinkServant::new(Servant))?;
    poa.the_poa_manager().activate()?;
    println!("{} {port}", orb.object_to_string(&reference));
    orb.run().await;
    Ok(())
}

/// Reads messages with their length in front, and answers each.
async fn answer(mut stream: server::TlsStream<TcpStream>) -> std::io::Result<()> {
    let mut message = vec![0; LONG + REQUEST];
    let reply = [0; REPLY];
    loop {
        let length = stream.read_u32().await?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(place) = message.get_mut(..length) else {
            return Ok(());
        };
        stream.read_exact(place).await?;
        stream.write_all(&reply).await?;
    }
}

/// A server in another process, which is killed when this is dropped.
struct Remote {
    process: Child,
    reference: String,
    port: u16,
    folder: tempfile::TempDir,
}

impl Remote {
    fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let file = folder.path().join("server.pem");
        fs::write(&file, made.cert.pem() + &made.signing_key.serialize_pem())?;
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let said = line.trim().split_once(' ');
        let (reference, port) = said.ok_or("the server has not begun to serve")?;
        let (reference, port) = (reference.to_owned(), port.parse()?);
        Ok(Self {
            process,
            reference,
            port,
            folder,
        })
    }

    /// A configuration of a client of this server, which resumes no session.
    fn client(&self) -> Result<Arc<ClientConfig>, Failure> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(self.folder.path().join("server.pem"))? {
            roots.add(certificate?)?;
        }
        let mut config = ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config))
    }

    fn tls(&self) -> Result<Tls, Failure> {
        Ok(Tls::new(
            TlsOptions::default().client_config(self.client()?),
        )?)
    }

    async fn alone(
        &self,
        config: &Arc<ClientConfig>,
    ) -> Result<client::TlsStream<TcpStream>, Failure> {
        let connector = TlsConnector::from(Arc::clone(config));
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("127.0.0.1")?;
        Ok(connector.connect(name, stream).await?)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const ROUNDS: usize = 7;

fn middle(mut all: Vec<u64>) -> Result<u64, Failure> {
    all.sort_unstable();
    Ok(*all.get(all.len() / 2).ok_or("nothing was measured")?)
}

/// The median of the times of this many calls.
async fn median<F: Future<Output = Result<(), Failure>>>(
    calls: usize,
    mut call: impl FnMut() -> F,
) -> Result<u64, Failure> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let begun = Instant::now();
        call().await?;
        times.push(u64::try_from(begun.elapsed().as_nanos())?);
    }
    middle(times)
}

async fn time_calls(calls: usize) -> Result<(), Failure> {
    let remote = Remote::start()?;
    let orb = Orb::builder()
        .transport(Arc::new(remote.tls()?))
        .build()
        .await?;
    let sink: SinkRef = orb
        .string_to_object(&remote.reference)
        .await?
        .unchecked_narrow();
    let mut alone = remote.alone(&remote.client()?).await?;
    let data = vec![7; LONG];
    let [mut nothing, mut take, mut short, mut long] = [const { Vec::new() }; 4];
    // The first round warms up.
    for round in 0..=ROUNDS {
        let times = [
            median(calls, async || Ok(sink.nothing().await?)).await?,
            median(calls, async || Ok(sink.take(&data[..]).await?)).await?,
            exchanges(&mut alone, calls, REQUEST).await?,
            exchanges(&mut alone, calls, LONG + REQUEST).await?,
        ];
        if round > 0 {
            let all = [&mut nothing, &mut take, &mut short, &mut long];
            all.into_iter()
                .zip(times)
                .for_each(|(all, time)| all.push(time));
        }
    }
    println!(
        "{}",
        json!({
            "noparams_ns": middle(nothing)?, "noparams_alone_ns": middle(short)?,
            "octet_ns": middle(take)?, "octet_alone_ns": middle(long)?,
        })
    );
    Ok(())
}

/// The median time of messages of this length and their answers.
async fn exchanges(
    stream: &mut client::TlsStream<TcpStream>,
    calls: usize,
    octets: usize,
) -> Result<u64, Failure> {
    let mut message = u32::try_from(octets)?.to_be_bytes().to_vec();
    message.resize(octets + 4, 7);
    let mut reply = [0; REPLY];
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let begun = Instant::now();
        stream.write_all(&message).await?;
        stream.flush().await?;
        stream.read_exact(&mut reply).await?;
        times.push(u64::try_from(begun.elapsed().as_nanos())?);
    }
    middle(times)
}

async fn count_handshakes(count: usize) -> Result<(), Failure> {
    let remote = Remote::start()?;
    let (tls, config) = (Arc::new(remote.tls()?), remote.client()?);
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        for _ in 0..count {
            let orb = Orb::builder().transport(tls.clone()).build().await?;
            let sink: SinkRef = orb
                .string_to_object(&remote.reference)
                .await?
                .unchecked_narrow();
            sink.nothing().await?;
            orb.shutdown(true).await?;
        }
        let of_ours = begun.elapsed().as_nanos();
        let begun = Instant::now();
        for _ in 0..count {
            let mut stream = remote.alone(&config).await?;
            stream.write_u32(0).await?;
            stream.flush().await?;
            stream.read_exact(&mut [0; REPLY]).await?;
            stream.shutdown().await?;
        }
        if round > 0 {
            ours.push(u64::try_from(of_ours)?);
            alone.push(u64::try_from(begun.elapsed().as_nanos())?);
        }
    }
    println!(
        "{}",
        json!({ "ns": middle(ours)?, "alone_ns": middle(alone)? })
    );
    Ok(())
}

async fn weigh(connections: usize) -> Result<(), Failure> {
    let remote = Remote::start()?;
    let orb = Orb::builder()
        .transport(Arc::new(remote.tls()?))
        .connections_to_endpoint(connections)
        .max_connections_to_host(connections + 1)
        .build()
        .await?;
    let mut held = Vec::new();
    let one = || async {
        let object = orb.string_to_object(&remote.reference).await?;
        let sink: SinkRef = object.unchecked_narrow();
        sink.nothing().await?;
        Ok::<_, Failure>(sink)
    };
    let first = one().await?;
    let (before, there) = (resident()?, first.memory().await?);
    for _ in 1..connections {
        held.push(one().await?);
    }
    let (after, there_after) = (resident()?, first.memory().await?);
    let each = |before: u64, after: u64| {
        let connections = u64::try_from(connections).unwrap_or(u64::MAX);
        after.saturating_sub(before).checked_div(connections)
    };
    println!(
        "{}",
        json!({
            "outgoing": orb.outgoing_connections(),
            "client_octets": each(before, after), "server_octets": each(there, there_after),
        })
    );
    Ok(())
}
