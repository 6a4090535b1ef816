//! The places of the two ends of an experiment's program: options that they share, and the settings of an ORB that
//! follow from them.

use crate::dialogue::{self, Failure};
use crate::sockets;
use clap::{Args, ValueEnum};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zorb::transport::{Tcp, TcpOptions, Unix, UnixOptions};
use zorb::{Builder, Orb, SyncScope, SystemException, SystemExceptionKind, Version, minor};
use zorb_giop_lite::GiopLite;

/// Runs work to its end as programs with a runtime do: from a task of the default one. Calls are made from there, and
/// what blocks it has its thread for itself.
///
/// # Errors
/// The work's.
pub fn in_a_task(
    work: impl Future<Output = Result<(), Failure>> + Send + 'static,
) -> Result<(), Failure> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build()?;
    runtime.block_on(async { tokio::spawn(work).await? })
}

/// Serves what `activate` makes until a servant has the ORB end: the file gets the references that it returns, a line
/// each.
///
/// # Errors
/// The ORB does not listen, a servant is not activated, or the file cannot be written.
pub async fn serve(
    orb: Orb,
    ior: &Path,
    activate: impl FnOnce(&Orb) -> Result<Vec<String>, Failure>,
) -> Result<(), Failure> {
    let references = activate(&orb)?;
    orb.root_poa().the_poa_manager().activate()?;
    zorb_floor::publish(ior, &references.join("\n"))?;
    orb.run().await;
    Ok(())
}

/// Ends a server: prints what all of its servants were sent, and shuts the ORB down.
///
/// # Errors
/// The ORB's.
pub async fn take_leave(orb: &Orb) -> Result<(), SystemException> {
    // The reader of the pipe may have ended.
    let _ = dialogue::say(&sockets::farewell().to_json());
    orb.shutdown(false).await
}

/// How long a server may take to say that it ends.
pub const FAREWELL: Duration = Duration::from_secs(10);

/// Makes a call, and again while it is refused because there is no room for it, as a one-way call of SYNC_NONE may be.
/// Other tasks have their turn in between.
///
/// # Errors
/// The call's, but for that one.
pub async fn with_room<F: Future<Output = Result<(), SystemException>>>(
    mut call: impl FnMut() -> F,
) -> Result<(), SystemException> {
    const NO_ROOM: (SystemExceptionKind, u32) =
        (SystemExceptionKind::Transient, minor::REQUEST_DISCARDED);
    loop {
        match call().await {
            Err(refused) if (refused.kind, refused.minor) == NO_ROOM => {
                tokio::task::yield_now().await;
            }
            done => return done,
        }
    }
}

/// The result of a call that ends a server. COMM_FAILURE is none: the server may be gone before its reply has left.
///
/// # Errors
/// The call's, but for that one.
pub fn check_shutdown(called: Result<(), SystemException>) -> Result<(), Failure> {
    match called {
        Err(e) if e.kind != SystemExceptionKind::CommFailure => Err(e.into()),
        _ => Ok(()),
    }
}

/// The endpoint of a server of one machine: a UNIX socket at that path, or a free port of that host.
///
/// # Errors
/// There is no current folder for the path to be in.
pub fn endpoint(unix: Option<&Path>, host: &str) -> std::io::Result<String> {
    Ok(match unix {
        Some(path) => format!("uiop://{}", std::path::absolute(path)?.display()),
        None => format!("iiop://{host}:0"),
    })
}

/// The transport below.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Over {
    /// An ORB.
    Orb,
    /// The traits of `zorb-transport`, with the floor's messages.
    Transport,
    /// Blocking ones, with the floor's messages.
    Sockets,
}

/// Options of both ends.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// The file with the server's references.
    #[arg(long)]
    pub ior: PathBuf,
    /// The transport below.
    #[arg(long, default_value = "orb")]
    pub over: Over,
    /// Octets of the socket queues; the operating system's unless given.
    #[arg(long)]
    pub queue: Option<usize>,
    /// Sockets are asked again and again for a while before a thread parks, as in an ORB of ours.
    #[arg(long)]
    pub spin: bool,
    /// Echoed by clients; accepted of both, as by every peer.
    #[arg(long, default_value = "zorb")]
    pub peer: String,
}

/// Options of a server.
#[derive(Args, Clone, Debug)]
pub struct Server {
    /// Options of both ends.
    #[command(flatten)]
    pub common: Common,
    /// Listen on a UNIX socket instead of TCP.
    #[arg(long)]
    pub unix: Option<PathBuf>,
    /// The address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    /// Listen with the messages of GIOPlite.
    #[arg(long)]
    pub lite: bool,
}

impl Server {
    /// The endpoint that it listens on.
    ///
    /// # Errors
    /// Returns the errors of [`endpoint`].
    pub fn endpoint(&self) -> std::io::Result<String> {
        let plain = endpoint(self.unix.as_deref(), &self.host)?;
        Ok(match self.lite {
            true => plain.replacen("://", "lite://", 1),
            false => plain,
        })
    }

    /// Serves with an ORB: see [`serve`].
    ///
    /// # Errors
    /// Returns the errors of [`serve`].
    pub async fn with_orb(
        &self,
        activate: impl FnOnce(&Orb) -> Result<Vec<String>, Failure>,
    ) -> Result<(), Failure> {
        let builder = self.common.builder().listen(self.endpoint()?);
        serve(builder.build().await?, &self.common.ior, activate).await
    }

    /// Serves the floor's messages over sockets, and ends the process after a farewell.
    ///
    /// # Errors
    /// Returns the errors of [`sockets::serve_all`].
    pub fn over_sockets(&self) -> Result<(), Failure> {
        let Common {
            ior, queue, spin, ..
        } = &self.common;
        sockets::serve_all(ior, &self.host, self.unix.as_deref(), *queue, *spin)?;
        Ok(())
    }
}

/// Options of a client.
#[derive(Args, Clone, Debug)]
pub struct Client {
    /// Options of both ends.
    #[command(flatten)]
    pub common: Common,
    /// One-way calls are done when they are in a buffer of the ORB's, which writes many at once.
    #[arg(long)]
    pub join: bool,
    /// The highest minor version of GIOP that is spoken.
    #[arg(long)]
    pub giop_minor: Option<u8>,
}

/// TCP and UNIX sockets with queues of that length.
#[must_use]
pub fn transports(queue: Option<usize>) -> (Tcp, Unix) {
    let (mut tcp, mut unix) = (TcpOptions::default(), UnixOptions::default());
    if let Some(octets) = queue {
        tcp = tcp.send_buffer(octets).receive_buffer(octets);
        // There is no receive queue of its own.
        unix = unix.send_buffer(octets);
    }
    (Tcp::new(tcp), Unix::new(unix))
}

impl Common {
    /// An ORB with such queues, which also speaks GIOPlite, over sockets with the default ones.
    pub fn builder(&self) -> Builder {
        let (tcp, unix) = transports(self.queue);
        Orb::builder()
            .transport(Arc::new(tcp))
            .transport(Arc::new(unix))
            .transport(Arc::new(GiopLite::over_tcp()))
            .transport(Arc::new(GiopLite::over_unix()))
    }
}

impl Client {
    /// An ORB for calls with these options.
    pub fn builder(&self) -> Builder {
        let mut builder = self.common.builder();
        if self.join {
            builder = builder.sync_scope(SyncScope::None);
        }
        if let Some(minor) = self.giop_minor {
            builder = builder.max_giop_version(Version { major: 1, minor });
        }
        builder
    }
}
