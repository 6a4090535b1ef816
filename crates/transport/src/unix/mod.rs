//! The transport over UNIX stream sockets.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::ffi::OsStrExt,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown},
    path::{Path, PathBuf},
    sync::Arc,
    task::{Context, Poll},
    thread,
    time::Duration,
};

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::task::spawn_blocking;

use crate::{
    Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener, Operation, Properties,
    Property, PropertyError, Transport, TransportError,
    stream::{Acceptor, BACKLOG, LOCAL_STREAM, StreamConnection, connection},
};

mod socket_path;

pub use socket_path::{UnixAddress, UnixAddressing};

/// UNIX stream sockets: endpoints `uiop:///path`, and `uiop://@name` in the abstract namespace.
///
/// A listener that finds a socket at its path connects to it. If a listener answers, it fails with `AddrInUse`;
/// otherwise it replaces the stale socket. It holds a lock on the directory for that moment, so that two servers that
/// start together do not remove each other's socket. Any process that may read a directory may lock it, so a lock that
/// another one keeps delays a listener by two seconds, and no longer. A listener never removes a file that is no
/// socket. When it is dropped it removes its own socket, and only its own.
///
/// The permissions of the socket ([`UnixOptions::mode`]) and of the directories above it decide who may connect. A
/// directory that other users may write to is unsafe for a socket, since they may put one of their own there first.
#[derive(Clone, Debug, Default)]
pub struct Unix {
    options: UnixOptions,
}

impl Unix {
    /// Makes UNIX sockets with these options for every connection and listener.
    #[must_use]
    pub const fn new(options: UnixOptions) -> Self {
        Self { options }
    }

    /// Connects a socket to the listener at `endpoint`, for transports that begin over one.
    ///
    /// # Errors
    /// As [`connect`](Transport::connect), without the endpoint.
    ///
    /// # Cancel safety
    /// Dropping the future closes the socket.
    pub async fn connect_socket(&self, endpoint: &Endpoint) -> io::Result<Socket> {
        let (socket, _) = self.connected(endpoint).await?;
        Ok(socket)
    }

    /// Opens `endpoint`, for transports that begin over sockets.
    ///
    /// # Errors
    /// As [`listen`](Transport::listen), without the endpoint.
    ///
    /// # Cancel safety
    /// As `listen`.
    pub async fn listen_socket(&self, endpoint: &Endpoint) -> io::Result<UnixSockets> {
        let address = unix_address(endpoint)?;
        let options = self.options.clone();
        let (socket, file, endpoint) = match address.path() {
            Some(path) => {
                // An absolute path stays valid after a change of the current directory.
                let path = std::path::absolute(path)?;
                let (socket, file) = unblocked(move || bind(&path, &options)).await?;
                let endpoint = Endpoint::uiop(&file.path);
                (socket, Some(file), endpoint)
            }
            None => (bind_abstract(address)?, None, endpoint.clone()),
        };
        Ok(UnixSockets {
            acceptor: Acceptor::new(socket)?,
            endpoint,
            options: self.options.clone(),
            _file: file,
        })
    }

    async fn connected(&self, endpoint: &Endpoint) -> io::Result<(Socket, SockAddr)> {
        let address = socket_address(unix_address(endpoint)?)?;
        let socket = connect(&address).await?;
        self.options.prepare(&socket)?;
        Ok((socket, address))
    }
}

/// Options of UNIX sockets. By default all are as the operating system sets them.
#[derive(Clone, Debug, Default)]
pub struct UnixOptions {
    send_buffer: Option<usize>,
    mode: Option<u32>,
    owner: Option<u32>,
    group: Option<u32>,
}

impl UnixOptions {
    /// Sets the permissions of a listener's socket, such as `0o660`: users that may write to it may connect. Unless
    /// set, they are `0o777` less the umask of the process. They hold before the first client can connect.
    #[must_use]
    pub const fn mode(self, mode: u32) -> Self {
        Self {
            mode: Some(mode),
            ..self
        }
    }

    /// Sets the user that a listener's socket belongs to; that of the process unless set. Another user needs a
    /// privilege (`CAP_CHOWN`), without which listening fails.
    #[must_use]
    pub const fn owner(self, user: u32) -> Self {
        Self {
            owner: Some(user),
            ..self
        }
    }

    /// Sets the group that a listener's socket belongs to. Unless set, it is that of the process or of the directory,
    /// by the system's rules. Without a privilege it has to be a group of the process.
    #[must_use]
    pub const fn group(self, group: u32) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    /// Gives a socket that was bound and does not listen yet its owner and its permissions.
    fn protect(&self, path: &Path) -> io::Result<()> {
        if self.owner.is_some() || self.group.is_some() {
            lchown(path, self.owner, self.group)?;
        }
        match self.mode {
            Some(mode) => fs::set_permissions(path, fs::Permissions::from_mode(mode & MODE_BITS)),
            None => Ok(()),
        }
    }

    /// Sets the size of the kernel's buffer for octets that the peer has not read yet (`SO_SNDBUF`, in octets; Linux
    /// doubles it). It is the only buffer: sent octets are queued at the receiver, on the sender's account.
    #[must_use]
    pub const fn send_buffer(self, octets: usize) -> Self {
        Self {
            send_buffer: Some(octets),
            ..self
        }
    }

    /// Returns the options with one property, set by its text.
    fn having(self, name: &str, value: &str) -> Option<Self> {
        Some(match name {
            "send_buffer" => self.send_buffer(value.parse().ok()?),
            "mode" => self.mode(u32::from_str_radix(value, 8).ok()?),
            "owner" => self.owner(value.parse().ok()?),
            "group" => self.group(value.parse().ok()?),
            _ => return None,
        })
    }

    fn prepare(&self, socket: &Socket) -> io::Result<()> {
        match self.send_buffer {
            Some(octets) => socket.set_send_buffer_size(octets),
            None => Ok(()),
        }
    }
}

impl Transport for Unix {
    fn addressing(&self) -> &dyn Addressing {
        &UnixAddressing
    }

    fn capabilities(&self) -> Capabilities {
        LOCAL_STREAM
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let connection = async {
                let (socket, address) = self.connected(endpoint).await?;
                StreamConnection::new(socket, &address)
            };
            match connection.await {
                Ok(connection) => Ok(Box::new(connection) as Box<dyn Connection>),
                Err(cause) => Err(TransportError::new(
                    Operation::Connect,
                    endpoint.clone(),
                    cause,
                )),
            }
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            match self.listen_socket(endpoint).await {
                Ok(listener) => Ok(Box::new(listener) as Box<dyn Listener>),
                Err(cause) => Err(TransportError::new(
                    Operation::Listen,
                    endpoint.clone(),
                    cause,
                )),
            }
        })
    }

    fn properties(&self) -> &'static [Property] {
        &PROPERTIES
    }

    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        let Some(property) = PROPERTIES.iter().find(|property| property.name == name) else {
            return Err(PropertyError::unknown(name, value, &PROPERTIES));
        };
        let options = self.options.clone().having(name, value);
        let options = options.ok_or_else(|| PropertyError::value(*property, value))?;
        Ok(Arc::new(Self { options }))
    }

    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        let options = properties.get::<UnixOptions>()?.clone();
        Some(Arc::new(Self { options }))
    }
}

/// A listening UNIX socket that hands out the sockets of its peers: [`Unix::listen_socket`].
#[derive(Debug)]
pub struct UnixSockets {
    acceptor: Acceptor,
    endpoint: Endpoint,
    options: UnixOptions,
    _file: Option<SocketFile>,
}

impl UnixSockets {
    /// Takes the socket of the next peer. One task at a time may wait.
    ///
    /// # Errors
    /// As [`poll_accept`](Listener::poll_accept) of a listener.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Socket>> {
        let prepare = |socket: &Socket| self.options.prepare(socket);
        let accepted = self.acceptor.poll_accept(cx, prepare);
        accepted.map_ok(|(socket, _)| socket)
    }

    /// Returns the endpoint on which it listens.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Listener for UnixSockets {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let prepare = |socket: &Socket| self.options.prepare(socket);
        let accepted = self.acceptor.poll_accept(cx, prepare);
        accepted.map(|accepted| connection(accepted?))
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// The name of a bound socket in the file system, removed with its owner unless another socket has taken the name by
/// then.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|there| there == self.identity) {
            // A failure has no consequence: the next listener replaces a stale socket.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the device and inode of the file at `path`: two files are the same if and only if these are.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

/// Connects without blocking; when the listener's queue is full, waits for room in it.
///
/// That wait has no readiness to register for. So it is a blocking connect on a thread of the blocking pool, in turns
/// short enough that an abandoned one does not keep a thread for long.
async fn connect(address: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    let mut result = socket.connect(address);
    if is_would_block(&result) {
        let socket = Arc::new(socket.try_clone()?);
        socket.set_nonblocking(false)?;
        socket.set_write_timeout(Some(QUEUE_TURN))?;
        while is_would_block(&result) {
            let (socket, address) = (Arc::clone(&socket), address.clone());
            result = unblocked(move || socket.connect(&address)).await;
        }
        socket.set_write_timeout(None)?;
        socket.set_nonblocking(true)?;
    }
    result.map(|()| socket)
}

fn is_would_block(result: &io::Result<()>) -> bool {
    result.as_ref().is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        )
    })
}

/// Binds and listens, and replaces a stale socket.
///
/// Another process could bind between the check for a stale socket and its removal, and between its bind and its listen
/// its socket looks stale; so a listener does all of it under a lock on the directory.
fn bind(path: &Path, options: &UnixOptions) -> io::Result<(Socket, SocketFile)> {
    let address = SockAddr::unix(path)?;
    let _lock = lock_directory(path);
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    match socket.bind(&address) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_stale(path, &address)? => {
            fs::remove_file(path)?;
            socket.bind(&address)?;
        }
        result => result?,
    }
    let file = SocketFile {
        path: path.into(),
        identity: identity(path)?,
    };
    // No client can connect before the socket listens.
    options.protect(path)?;
    socket.listen(BACKLOG)?;
    Ok((socket, file))
}

/// Whether a stream socket without a listener is at `path`. A socket of which that is unknown counts as in use.
fn is_stale(path: &Path, address: &SockAddr) -> io::Result<bool> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Ok(false);
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A blocking connect would wait while a live listener's queue is full.
    probe.set_nonblocking(true)?;
    Ok(probe
        .connect(address)
        .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused))
}

/// Locks the directory of `path` against other servers that bind there.
///
/// A directory that cannot be locked does not prevent listening: one that may not be read, a file system without locks,
/// and a lock that is not released. Any user who may read the directory could keep a server from starting by such a
/// lock. Without the lock, neither of two servers that replace a stale socket at the same moment is refused.
fn lock_directory(path: &Path) -> Option<fs::File> {
    let directory = fs::File::open(path.parent()?).ok()?;
    for _ in 0..LOCK_TRIES {
        match directory.try_lock() {
            Ok(()) => return Some(directory),
            Err(fs::TryLockError::WouldBlock) => thread::sleep(LOCK_TURN),
            Err(fs::TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// Runs a function that may block for a short time on tokio's blocking pool.
async fn unblocked<T: Send + 'static>(
    f: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(f)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn unix_address(endpoint: &Endpoint) -> io::Result<&UnixAddress> {
    socket_path::address(endpoint)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn socket_address(address: &UnixAddress) -> io::Result<SockAddr> {
    match (address.path(), address.abstract_name()) {
        (Some(path), _) => SockAddr::unix(path),
        // The system gives a socket without a name one of its own choice, so an empty name is refused.
        (None, None | Some([])) => Err(io::ErrorKind::InvalidInput.into()),
        (None, Some(name)) => {
            // A NUL in front makes the name abstract: unix(7).
            SockAddr::unix(OsStr::from_bytes(&[b"\0", name].concat()))
        }
    }
}

/// Binds an abstract name and listens. The system refuses a name that is taken, and frees it when the socket is closed.
fn bind_abstract(address: &UnixAddress) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&socket_address(address)?)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// The names of the properties in text, with their values.
const PROPERTIES: [Property; 4] = [
    Property {
        name: "send_buffer",
        values: "octets",
        default: "the operating system's",
    },
    Property {
        name: "mode",
        values: "octal digits",
        default: "what the umask leaves of 777",
    },
    Property {
        name: "owner",
        values: "the number of a user",
        default: "that of the process",
    },
    Property {
        name: "group",
        values: "the number of a group",
        default: "that of the process or the directory",
    },
];

/// Longest time of one blocking connect, for which a dropped attempt may keep a thread.
const QUEUE_TURN: Duration = Duration::from_millis(250);

/// The bits of a file's mode that are permissions.
const MODE_BITS: u32 = 0o7777;

/// The lock is held for a few system calls; two seconds of trying are for a very busy machine.
const LOCK_TRIES: u32 = 200;
const LOCK_TURN: Duration = Duration::from_millis(10);
