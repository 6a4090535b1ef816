//! Calls, handshakes and idle connections over TLS, beside tokio-rustls alone: the measurements behind `cargo xtask claims
//! tls`. Each prints a line of JSON.
//!
//! - `calls`: the median time of a call, and of the same octets over tokio-rustls.
//! - `omniorb`: the median time of a call, and of omniORB's over its own TLS, with servants that look at every octet.
//! - `handshakes`: full handshakes a second of a client that does one after the other.
//! - `idle`: the memory of a connection that does nothing, at either end; and connections that are left in CLOSE_WAIT when the other
//!   end is killed.
//! - `reload`: calls that fail while the server's certificate is replaced.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

use clap::{Parser, Subcommand};
use serde_json::json;
use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use zorb::tls::rustls::client::Resumption;
use zorb::tls::rustls::pki_types::pem::PemObject;
use zorb::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use zorb::tls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use zorb::tls::{Tls, TlsOptions};
use zorb::{Builder, OctetsRef, Orb, SystemException};
use zorb_floor::digest;

type Failure = Box<dyn std::error::Error + Send + Sync>;

zorb::idl! {
    typedef sequence<octet> Data;

    interface Sink {
        void nothing();
        void take(in Data octets);
        /// Adds all of them up, as omniORB's servant does.
        unsigned long long add(in Data octets);
        /// Reads the files of its certificate again.
        void reload();
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
    /// Times calls beside omniORB's.
    Omniorb {
        /// Of each kind, in each of seven rounds.
        #[arg(long, default_value_t = 3_000)]
        calls: usize,
    },
    /// Replaces the server's certificate under load.
    Reload {
        /// How often.
        #[arg(long, default_value_t = 200)]
        times: u64,
    },
    /// Opens connections to a server, says so, and stays.
    #[command(hide = true)]
    Hold {
        reference: String,
        trust: PathBuf,
        connections: usize,
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
        What::Omniorb { calls } => tokio::spawn(beside_omniorb(calls)).await?,
        What::Reload { times } => tokio::spawn(replace(times)).await?,
        What::Hold {
            reference,
            trust,
            connections,
        } => hold(&reference, &trust, connections).await,
        What::Handshakes { count } => tokio::spawn(count_handshakes(count)).await?,
        What::Idle { connections } => tokio::spawn(weigh(connections)).await?,
    }
}

struct Servant(Tls);

impl Sink for Servant {
    async fn nothing(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn take(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn add(&self, octets: OctetsRef<'_>) -> Result<u64, SystemException> {
        Ok(digest::octets(&octets))
    }

    async fn reload(&self) -> Result<(), SystemException> {
        let read = self.0.reload();
        read.map_err(|why| SystemException::internal(&*why.to_string()))
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
    let orb = Orb::builder().transport(Arc::new(tls.clone()));
    let orb = orb.listen("ssliop://127.0.0.1:0").build().await?;
    let poa = orb.root_poa();
    let reference: SinkRef = poa.activate(SinkServant::new(Servant(tls)))?;
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
        let file = folder.path().join("server.pem");
        fs::write(&file, certificate()?)?;
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

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.pem")
    }

    /// A configuration of a client of this server, which resumes no session.
    fn client(&self) -> Result<Arc<ClientConfig>, Failure> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(self.certificate())? {
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

/// A certificate for 127.0.0.1, which is its own authority, and its key.
fn certificate() -> Result<String, Failure> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    Ok(made.cert.pem() + &made.signing_key.serialize_pem())
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

/// A client with room for so many connections to a server.
fn wide(tls: Tls, connections: usize) -> Builder {
    Orb::builder()
        .transport(Arc::new(tls))
        // Each reference its own.
        .connections_to_endpoint(1 << 20)
        .max_connections_to_host(connections + 1)
}

/// Another connection, over which a call has gone.
async fn another(orb: &Orb, reference: &str) -> Result<SinkRef, Failure> {
    let sink: SinkRef = orb.string_to_object(reference).await?.unchecked_narrow();
    sink.nothing().await?;
    Ok(sink)
}

async fn hold(reference: &str, trust: &Path, connections: usize) -> Result<(), Failure> {
    let orb = wide(Tls::new(TlsOptions::default().trust(trust))?, connections);
    let orb = orb.build().await?;
    let mut held = Vec::new();
    for _ in 0..connections {
        held.push(another(&orb, reference).await?);
    }
    println!("{}", orb.outgoing_connections());
    orb.run().await;
    Ok(())
}

/// Sockets of a process that are in CLOSE_WAIT: their peers have gone, and they are open.
fn close_wait(process: u32) -> Result<usize, Failure> {
    let mut own = std::collections::HashSet::new();
    for file in fs::read_dir(format!("/proc/{process}/fd"))? {
        // It may have been closed meanwhile.
        let Ok(target) = fs::read_link(file?.path()) else {
            continue;
        };
        let inode = target
            .to_str()
            .and_then(|name| name.strip_prefix("socket:["));
        own.extend(inode.map(|inode| inode.trim_end_matches(']').to_owned()));
    }
    let all = fs::read_to_string(format!("/proc/{process}/net/tcp"))?;
    let lines = all.lines().skip(1).filter(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(3) == Some(&"08") && fields.get(9).is_some_and(|inode| own.contains(*inode))
    });
    Ok(lines.count())
}

/// Sockets of a process that are in CLOSE_WAIT still, some time after their peer was killed.
async fn left_behind(process: u32) -> Result<usize, Failure> {
    let begun = Instant::now();
    loop {
        // The kernel says so to all of them before it ends the peer.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let left = close_wait(process)?;
        if left == 0 || begun.elapsed() > Duration::from_secs(20) {
            return Ok(left);
        }
    }
}

async fn weigh(connections: usize) -> Result<(), Failure> {
    let mut remote = Remote::start()?;
    let orb = wide(remote.tls()?, connections).build().await?;
    let mut held = Vec::new();
    let first = another(&orb, &remote.reference).await?;
    let (before, there) = (resident()?, first.memory().await?);
    for _ in 1..connections {
        held.push(another(&orb, &remote.reference).await?);
    }
    let (after, there_after) = (resident()?, first.memory().await?);
    let each = |before: u64, after: u64| {
        let connections = u64::try_from(connections).unwrap_or(u64::MAX);
        after.saturating_sub(before).checked_div(connections)
    };
    let outgoing = orb.outgoing_connections();
    // Of the server, when a client of another process is killed.
    let mut client = Command::new(std::env::current_exe()?)
        .arg("hold")
        .arg(&remote.reference)
        .arg(remote.certificate())
        .arg(connections.to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let output = client.stdout.take().ok_or("no output")?;
    BufReader::new(output).read_line(&mut line)?;
    let held_elsewhere: usize = line.trim().parse()?;
    client.kill()?;
    client.wait()?;
    let of_server = left_behind(remote.process.id()).await?;
    // Of this client, when the server is killed.
    remote.process.kill()?;
    remote.process.wait()?;
    let of_client = left_behind(std::process::id()).await?;
    println!(
        "{}",
        json!({
            "outgoing": outgoing, "held_elsewhere": held_elsewhere,
            "client_octets": each(before, after), "server_octets": each(there, there_after),
            "close_wait": of_server + of_client,
        })
    );
    Ok(())
}

/// omniORB's transport for TLS, which its programs load when they start.
const OMNIORB_TLS: &str = "/usr/lib/x86_64-linux-gnu/libomnisslTP4.so.2";

/// omniORB's programs of the benchmark, with certificates.
struct Omniorb {
    folder: tempfile::TempDir,
    server: Child,
}

impl Omniorb {
    fn program(name: &str) -> PathBuf {
        let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers/omniorb/build");
        build.join(name)
    }

    fn is_there() -> bool {
        Path::new(OMNIORB_TLS).exists() && Self::program("client").exists()
    }

    /// The server asks for no certificate, as ours does not; the client checks the server's.
    fn command(folder: &Path, program: &str, verifies: &str) -> Command {
        let file = folder.join("omniorb.pem");
        let mut command = Command::new(Self::program(program));
        command
            .env("LD_PRELOAD", OMNIORB_TLS)
            // It loads the key only if there is a password.
            .args(["-ORBsslKeyPassword", "none", "-ORBsslKeyFile"])
            .arg(&file)
            .arg("-ORBsslCAFile")
            .arg(&file)
            .args(["-ORBsslVerifyMode", verifies]);
        command
    }

    fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("omniorb.pem"), certificate()?)?;
        let mut server = Self::command(folder.path(), "server", "none");
        server.args(["-ORBsupportCurrent", "0", "--over", "ssl", "--ior", "-"]);
        let mut server = server.stdout(Stdio::piped()).spawn()?;
        let mut reference = String::new();
        let output = server.stdout.take().ok_or("no output")?;
        BufReader::new(output).read_line(&mut reference)?;
        fs::write(folder.path().join("ior"), reference)?;
        Ok(Self { folder, server })
    }

    /// The median time of calls, in nanoseconds.
    fn median(&self, op: &str, size: usize, calls: usize) -> Result<u64, Failure> {
        let mut client = Self::command(self.folder.path(), "client", "peer");
        client.args(["-ORBclientTransportRule", "* ssl", "--op", op]);
        let output = client
            .arg("--ior")
            .arg(self.folder.path().join("ior"))
            .args(["--size", &size.to_string(), "--iters", &calls.to_string()])
            .stderr(Stdio::inherit())
            .output()?;
        let said: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let median = said.get("p50_ns").and_then(serde_json::Value::as_u64);
        Ok(median.ok_or("omniORB's client has measured nothing")?)
    }
}

impl Drop for Omniorb {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

async fn beside_omniorb(calls: usize) -> Result<(), Failure> {
    if !Omniorb::is_there() {
        let why = "omniORB's programs and its TLS are not there: cargo xtask peers";
        println!("{}", json!({ "unmeasurable": why }));
        return Ok(());
    }
    let (remote, omniorb) = (Remote::start()?, Omniorb::start()?);
    let orb = wide(remote.tls()?, 1).build().await?;
    let sink = another(&orb, &remote.reference).await?;
    let data = vec![7; LONG];
    let expected = digest::octets(&data);
    let add = async || match sink.add(&data[..]).await? == expected {
        true => Ok(()),
        false => Err(Failure::from("another sum")),
    };
    let [mut nothing, mut octet, mut theirs, mut their_octet] = [const { Vec::new() }; 4];
    // The first round warms up.
    for round in 0..=ROUNDS {
        let times = [
            median(calls, async || Ok(sink.nothing().await?)).await?,
            omniorb.median("noparams", 0, calls)?,
            median(calls, add).await?,
            omniorb.median("octet", LONG, calls)?,
        ];
        if round > 0 {
            let all = [&mut nothing, &mut theirs, &mut octet, &mut their_octet];
            all.into_iter()
                .zip(times)
                .for_each(|(all, time)| all.push(time));
        }
    }
    println!(
        "{}",
        json!({
            "noparams_ns": middle(nothing)?, "noparams_omniorb_ns": middle(theirs)?,
            "octet_ns": middle(octet)?, "octet_omniorb_ns": middle(their_octet)?,
        })
    );
    Ok(())
}

/// Clients at a time while certificates are replaced.
const CALLERS: usize = 4;

/// Certificates that clients trust at a time while the server's is replaced.
const TRUSTED: usize = 8;

async fn replace(times: u64) -> Result<(), Failure> {
    let remote = Remote::start()?;
    // The certificates, each its own authority, that clients trust: the last ones. All have one name, and webpki tries a hundred
    // signatures at most.
    let trust = remote.folder.path().join("trust.pem");
    fs::copy(remote.certificate(), &trust)?;
    let mut trusted = VecDeque::from([fs::read_to_string(remote.certificate())?]);
    let done = Arc::new(AtomicBool::new(false));
    let (calls, failed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut callers = tokio::task::JoinSet::new();
    let tls = Tls::new(TlsOptions::default().trust(&trust))?;
    for _ in 0..CALLERS {
        let (tls, reference) = (tls.clone(), remote.reference.clone());
        let (done, calls, failed) = (Arc::clone(&done), Arc::clone(&calls), Arc::clone(&failed));
        callers.spawn(async move {
            while !done.load(Ordering::Relaxed) {
                let orb = wide(tls.clone(), 1).build().await?;
                let sink: SinkRef = orb.string_to_object(&reference).await?.unchecked_narrow();
                for _ in 0..10 {
                    calls.fetch_add(1, Ordering::Relaxed);
                    if let Err(error) = sink.nothing().await {
                        eprintln!("{error:#}");
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
                orb.shutdown(true).await?;
            }
            Ok::<_, Failure>(())
        });
    }
    let steady = Orb::builder().transport(Arc::new(remote.tls()?));
    let steady = steady.build().await?;
    let steady = another(&steady, &remote.reference).await?;
    for _ in 0..times {
        let next = certificate()?;
        // The clients trust it before the server has it.
        trusted.push_back(next.clone());
        if trusted.len() > TRUSTED {
            trusted.pop_front();
        }
        fs::write(
            &trust,
            trusted.iter().map(String::as_str).collect::<String>(),
        )?;
        tls.reload()?;
        let file = remote.folder.path().join("next.pem");
        fs::write(&file, next)?;
        fs::rename(file, remote.certificate())?;
        calls.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = steady.reload().await {
            eprintln!("{error:#}");
            failed.fetch_add(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    done.store(true, Ordering::Relaxed);
    while let Some(caller) = callers.join_next().await {
        caller??;
    }
    let [calls, failed] = [&calls, &failed].map(|count| count.load(Ordering::Relaxed));
    println!("{}", json!({ "calls": calls, "failed": failed }));
    Ok(())
}
