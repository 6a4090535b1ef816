//! The baseline without an ORB: the floor's messages over blocking sockets, with queues of a given length.

use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use zorb_floor::blocking::{End, Stream, serve};
use zorb_floor::message::{Kind, head};
use zorb_floor::report::Farewell;
use zorb_floor::write_whole;

/// Asks for both queues of a socket to be so long, in octets; Linux doubles it, and counts its own bookkeeping in. It
/// has to be done before the socket connects or listens: the window's scale depends on it.
///
/// # Errors
/// The operating system's.
pub fn set_queues(socket: &Socket, octets: Option<usize>) -> io::Result<()> {
    let Some(octets) = octets else {
        return Ok(());
    };
    socket.set_send_buffer_size(octets)?;
    socket.set_recv_buffer_size(octets)
}

fn socket(to: Domain, queue: Option<usize>) -> io::Result<Socket> {
    let socket = Socket::new(to, Type::STREAM, None)?;
    set_queues(&socket, queue)?;
    Ok(socket)
}

/// Connects to what a server of the floor wrote: `tcp ADDRESS` or `unix PATH`. The end spins before it sleeps, or not.
///
/// # Errors
/// It is neither, or the connection is refused.
pub fn connect(reference: &str, queue: Option<usize>, spin: bool) -> io::Result<End> {
    let stream = match reference.trim().split_once(' ') {
        Some(("tcp", address)) => {
            let address: SocketAddr = address.parse().map_err(|_| ErrorKind::InvalidInput)?;
            let socket = socket(Domain::for_address(address), queue)?;
            socket.connect(&address.into())?;
            socket.set_tcp_nodelay(true)?;
            Stream::Tcp(socket.into())
        }
        Some(("unix", path)) => {
            let socket = socket(Domain::UNIX, queue)?;
            socket.connect(&SockAddr::unix(path)?)?;
            Stream::Unix(socket.into())
        }
        _ => return Err(ErrorKind::InvalidInput.into()),
    };
    Ok(End::new(stream, spin))
}

static CALLS: AtomicU64 = AtomicU64::new(0);
static DIGEST: AtomicU64 = AtomicU64::new(0);

/// Folds a message that was served.
pub fn fold(digest: u64) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    DIGEST.fetch_add(digest, Ordering::Relaxed);
}

/// The digest of the server by now.
#[must_use]
pub fn farewell() -> Farewell {
    Farewell {
        calls: CALLS.load(Ordering::Relaxed),
        digest: DIGEST.load(Ordering::Relaxed),
        allocations: None,
        allocated_octets: None,
    }
}

/// Serves, a thread for each connection, until a client asks for the end; then prints the digest and ends the process.
///
/// # Errors
/// It cannot listen, or not publish where.
pub fn serve_all(
    ior: &Path,
    host: &str,
    unix: Option<&Path>,
    queue: Option<usize>,
    spin: bool,
) -> io::Result<()> {
    let (listener, reference) = match unix {
        Some(path) => {
            let listener = socket(Domain::UNIX, queue)?;
            listener.bind(&SockAddr::unix(path)?)?;
            (listener, format!("unix {}", path.display()))
        }
        None => {
            let address = format!("{host}:0");
            let address: SocketAddr = address.parse().map_err(|_| ErrorKind::InvalidInput)?;
            let listener = socket(Domain::for_address(address), queue)?;
            listener.bind(&address.into())?;
            let bound = listener.local_addr()?.as_socket();
            let bound = bound.ok_or(ErrorKind::AddrNotAvailable)?;
            (listener, format!("tcp {bound}"))
        }
    };
    listener.listen(16)?;
    write_whole(ior, &reference)?;
    loop {
        let (socket, _) = listener.accept()?;
        let stream = if unix.is_some() {
            Stream::Unix(socket.into())
        } else {
            socket.set_tcp_nodelay(true)?;
            Stream::Tcp(socket.into())
        };
        std::thread::spawn(move || {
            // The error of a connection is dropped, unless the connection asked to end them all.
            if let Ok(true) = serve(End::new(stream, spin), fold) {
                let _ = crate::dialogue::say(&farewell().to_json());
                std::process::exit(0);
            }
        });
    }
}

/// Has the server end, and waits until it hangs up: then it has said what it says.
///
/// # Errors
/// The connection's.
pub fn stop(end: &mut End) -> io::Result<()> {
    end.send(&head(Kind::Shutdown, 0))?;
    end.receive(&mut Vec::new()).map(drop)
}
