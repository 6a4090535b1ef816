//! Where the two ends of an experiment's program are: options that they share, and what of them an ORB is told.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::Arc;
use zorb::transport::{Tcp, TcpOptions, Unix, UnixOptions};
use zorb::{Builder, Orb, SyncScope, Version};

/// What octets go over.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Over {
    Orb,
    /// The traits of `zorb-transport`, with the floor's messages.
    Transport,
    /// Blocking ones, with the floor's messages.
    Sockets,
}

/// What both ends are told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// The file with the server's references.
    #[arg(long)]
    pub(crate) ior: PathBuf,
    /// What octets go over.
    #[arg(long, default_value = "orb")]
    pub(crate) over: Over,
    /// Octets of the socket queues; the operating system's unless given.
    #[arg(long)]
    pub(crate) queue: Option<usize>,
    /// Sockets are asked again and again for a while before anybody sleeps, as an ORB of ours does.
    #[arg(long)]
    pub(crate) spin: bool,
    /// Echoed by clients; accepted of both, as by every peer.
    #[arg(long, default_value = "zorb")]
    pub(crate) peer: String,
}

/// What a server is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Server {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Listen on a UNIX socket instead of TCP.
    #[arg(long)]
    pub(crate) unix: Option<PathBuf>,
    /// The address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,
}

impl Server {
    /// The endpoint that it listens on.
    pub(crate) fn endpoint(&self) -> std::io::Result<String> {
        Ok(match &self.unix {
            Some(path) => format!("uiop://{}", std::path::absolute(path)?.display()),
            None => format!("iiop://{}:0", self.host),
        })
    }
}

/// What a client is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Client {
    #[command(flatten)]
    pub(crate) common: Common,
    /// One-way calls are done when they are in a buffer of the ORB's, which writes many at once.
    #[arg(long)]
    pub(crate) join: bool,
    /// The highest minor version of GIOP that is spoken.
    #[arg(long)]
    pub(crate) giop_minor: Option<u8>,
}

/// TCP and UNIX sockets with queues of that length.
pub(crate) fn transports(queue: Option<usize>) -> (Tcp, Unix) {
    let (mut tcp, mut unix) = (TcpOptions::default(), UnixOptions::default());
    if let Some(octets) = queue {
        tcp = tcp.send_buffer(octets).receive_buffer(octets);
        // There is no receive queue of its own.
        unix = unix.send_buffer(octets);
    }
    (Tcp::new(tcp), Unix::new(unix))
}

impl Common {
    /// An ORB with such queues.
    pub(crate) fn builder(&self) -> Builder {
        let (tcp, unix) = transports(self.queue);
        Orb::builder()
            .transport(Arc::new(tcp))
            .transport(Arc::new(unix))
    }
}

impl Client {
    /// An ORB that calls as it is told.
    pub(crate) fn builder(&self) -> Builder {
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
