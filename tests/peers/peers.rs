//! The programs of other ORBs, and how they are started.

use crate::support::{self, Running, have};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use zorb::Ior;
use zorb_giop::ior::{ComponentTag, IiopProfile, decode_encapsulation};
use zorb_giop::security::SslSecTrans;

/// The transports between peers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Tcp,
    Unix,
    Tls,
}

/// Another ORB, with a server and a client of `interop.idl` that take the arguments which
/// `tests/interop/README.md` describes.
pub(crate) struct Brand {
    /// In names of cells.
    pub(crate) name: &'static str,
    /// The answer of its server to `orb_name`.
    pub(crate) orb_name: &'static str,
    /// The byte order it writes in: `le` or `be`.
    pub(crate) order: &'static str,
    /// How its two programs are called.
    pub(crate) programs: fn() -> Programs,
    /// The arguments that keep either program to this version of GIOP.
    pub(crate) limit: fn(giop: &str) -> Vec<String>,
    /// The arguments by which either program listens at this port of 127.0.0.1 for TLS alone.
    pub(crate) tls_at: fn(port: u16) -> [String; 2],
    /// Cells that our client does not run on its server; each with its reason.
    pub(crate) server_lacks: &'static [&'static str],
}

/// The two programs of an ORB.
pub(crate) struct Programs {
    pub(crate) server: Program,
    pub(crate) client: Program,
}

/// A program, with what stands before its arguments.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) program: PathBuf,
    pub(crate) before: Vec<String>,
    /// Files without which it does not run.
    pub(crate) needs: Vec<PathBuf>,
}

impl Program {
    pub(crate) fn start(&self, args: &[String]) -> Running {
        Running::command(self.command(args))
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.before).args(args);
        // The machine's configuration of omniORB is not part of a test.
        command.env("OMNIORB_CONFIG", "/dev/null");
        command
    }
}

impl Brand {
    /// `None`, and a word about it, when its programs have not been made; a failure when they have
    /// to be there.
    pub(crate) fn find(&self, what: &str) -> Option<Programs> {
        let programs = (self.programs)();
        let all = [&programs.server, &programs.client];
        let needed: Vec<&Path> = all
            .iter()
            .flat_map(|p| std::iter::once(&p.program).chain(&p.needs))
            .map(PathBuf::as_path)
            .collect();
        have(what, &needed).then_some(programs)
    }
}

/// Whether this machine has IPv6 at all; if not, says that `what` is skipped.
pub(crate) fn have_ipv6(what: &str) -> bool {
    let listens = TcpListener::bind("[::1]:0");
    if let Err(error) = &listens {
        eprintln!("{what}: skipped, no [::1] here: {error}");
    }
    listens.is_ok()
}

/// The byte order that we write in.
pub(crate) const OUR_ORDER: &str = if cfg!(target_endian = "big") {
    "be"
} else {
    "le"
};

/// One way of starting a server.
pub(crate) struct Way {
    pub(crate) brand: &'static Brand,
    server: Program,
    over: Over,
    args: Vec<String>,
    folder: TempDir,
    started: AtomicU32,
}

impl Way {
    pub(crate) fn new(
        brand: &'static Brand,
        programs: &Programs,
        over: Over,
        args: Vec<String>,
    ) -> Self {
        Self {
            brand,
            server: programs.server.clone(),
            over,
            args,
            folder: tempfile::tempdir().expect("a folder for sockets"),
            started: AtomicU32::new(0),
        }
    }

    /// A server, and the reference of its peer.
    pub(crate) fn start(&self) -> (Running, String) {
        // omniORB lets another server have its port afterwards only if it was given the number.
        let on_a_port = |place: &dyn Fn(u16) -> [String; 2]| {
            let command = |port| self.server.command(&self.args_at(&place(port)));
            let (server, _, reference) = Running::on_a_port(command, support::reference);
            (server, reference)
        };
        match self.over {
            Over::Tcp => on_a_port(&at_port),
            Over::Tls => on_a_port(&self.brand.tls_at),
            Over::Unix => {
                let place = ["--unix".to_owned(), self.path("socket")];
                self.start_at(&place).expect("the server serves")
            }
        }
    }

    /// A server at the very place of an earlier one, which has gone.
    pub(crate) fn start_again(&self, earlier: &Ior) -> (Running, String) {
        let place = match self.over {
            Over::Tcp => at_port(address(earlier).1),
            Over::Tls => (self.brand.tls_at)(address(earlier).1),
            Over::Unix => ["--unix".to_owned(), address(earlier).0],
        };
        self.start_at(&place).expect("the place is free again")
    }

    fn start_at(&self, place: &[String]) -> Option<(Running, String)> {
        let mut server = self.server.start(&self.args_at(place));
        let reference = server.reference()?;
        Some((server, reference))
    }

    fn args_at(&self, place: &[String]) -> Vec<String> {
        let mut args = vec!["--ior".to_owned(), self.path("ior")];
        args.extend_from_slice(place);
        args.extend_from_slice(&self.args);
        args
    }

    fn path(&self, name: &str) -> String {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(format!("{name}-{number}"));
        path.to_str()
            .expect("temporary folders have plain names")
            .to_owned()
    }

    /// The same peer by the plain key under which its server also serves it.
    pub(crate) fn corbaloc(&self, peer: &Ior) -> String {
        let (host, port) = address(peer);
        let version = profile(peer).version;
        match self.over {
            Over::Tcp => format!("corbaloc:iiop:{version}@{host}:{port}/Interop"),
            Over::Tls => format!("corbaloc:ssliop:{version}@{host}:{port}/Interop"),
            Over::Unix => format!("corbaloc:uiop:{version}@{host}|Interop"),
        }
    }
}

pub(crate) fn profile(reference: &Ior) -> IiopProfile {
    IiopProfile::from_tagged(&reference.profiles[0]).expect("an IIOP profile comes first")
}

/// The arguments by which a server listens at this port.
fn at_port(port: u16) -> [String; 2] {
    ["--port".to_owned(), port.to_string()]
}

/// Host and port of a reference, that for TLS where there is no other, or the socket's path and 0.
fn address(reference: &Ior) -> (String, u16) {
    let body = profile(reference);
    if let (0, Some(ssl)) = (
        body.address.port,
        body.component(ComponentTag::SSL_SEC_TRANS),
    ) {
        let ssl = SslSecTrans::from_component(ssl).expect("a port for TLS");
        return (body.address.host, ssl.port);
    }
    match body.component(ComponentTag::OMNIORB_UNIX) {
        Some(data) => {
            let (_host, path): (String, String) = decode_encapsulation(data).expect("two strings");
            (path, 0)
        }
        None => (body.address.host, body.address.port),
    }
}
