//! The transport over TCP.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    sync::atomic::{AtomicU32, Ordering},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpSocket;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::{
    Address, AddressFilter, Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener,
    NotPermitted, Operation, Properties, Property, PropertyError, Transport, TransportError,
    stream::{Acceptor, BACKLOG, STREAM, StreamConnection, connection},
};

mod host_port;
mod names;
mod options;
mod unserved;

pub use host_port::{TcpAddress, TcpAddressing};
use names::Unresolved;
pub use options::TcpOptions;
use unserved::Unserved;

/// TCP: endpoints `iiop://host:port`.
///
/// A host name is resolved by the system's resolver (on a thread of its own). Its addresses are tried in the resolver's
/// order, to connect as well as to listen; the error names all of them. To connect, the next address is tried as soon
/// as one has failed, or beside it when it has been silent for a quarter of a second. The first address that answers is
/// taken. At most 16 addresses of a host are tried. An address that has accepted a connection and has not served on it
/// ([`Transport::note_served`]) is tried after the others for 30 s.
///
/// A name is resolved anew for each connection. After a failure the resolver is not asked for the name again for a
/// tenth of a second, and after further failures for up to 5 s.
///
/// `[::]` listens on every interface for IPv4 too, whatever the system's default (`net.ipv6.bindv6only`).
#[derive(Clone, Debug)]
pub struct Tcp {
    options: TcpOptions,
    /// The addresses that are connected to, and those of clients; `None` for all.
    filter: Option<AddressFilter>,
    /// One permit for every thread that may ask the resolver.
    resolving: Arc<Semaphore>,
    unresolved: Unresolved,
    /// Asks the resolver, which blocks.
    resolver: fn(&str, u16) -> io::Result<Vec<SocketAddr>>,
    unserved: Unserved,
    /// Connections from a range of ports. Each begins its search one port behind that of the one before.
    ports_tried: Arc<AtomicU32>,
}

impl Tcp {
    /// Makes TCP with these options for every connection and listener.
    #[must_use]
    pub fn new(options: TcpOptions) -> Self {
        Self {
            options,
            filter: None,
            resolving: Arc::new(Semaphore::new(MAX_RESOLVING)),
            unresolved: Unresolved::default(),
            resolver: ask_system,
            unserved: Unserved::default(),
            ports_tried: Arc::default(),
        }
    }
}

impl Default for Tcp {
    fn default() -> Self {
        Self::new(TcpOptions::default())
    }
}

impl Transport for Tcp {
    fn addressing(&self) -> &dyn Addressing {
        &TcpAddressing
    }

    fn capabilities(&self) -> Capabilities {
        STREAM
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(self.connect_until(endpoint, None))
    }

    fn connect_within<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(self.connect_until(endpoint, Some(limit)))
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let fail =
                |operation| move |cause| TransportError::new(operation, endpoint.clone(), cause);
            let addresses = self
                .resolve(endpoint)
                .await
                .map_err(fail(Operation::Resolve))?;
            let mut failed = Vec::new();
            for address in addresses {
                match self.listen_on(endpoint, address) {
                    Ok(listener) => return Ok(Box::new(listener) as Box<dyn Listener>),
                    Err(error) => failed.push((address, error)),
                }
            }
            Err(fail(Operation::Listen)(all_failed(failed)))
        })
    }

    fn properties(&self) -> &'static [Property] {
        &options::PROPERTIES
    }

    fn note_served(&self, peer: &Address, serves: bool) {
        if let Address::Inet(peer) = peer {
            self.unserved.note(*peer, serves, Instant::now());
        }
    }

    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        Ok(Arc::new(
            self.having(self.options.clone().set(name, value)?),
        ))
    }

    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        let (options, filter) = (properties.get::<TcpOptions>(), properties.get());
        if options.is_none() && filter.is_none() {
            return None;
        }
        let mut tcp = self.having(options.unwrap_or(&self.options).clone());
        tcp.filter = filter.or(self.filter.as_ref()).cloned();
        Some(Arc::new(tcp))
    }
}

impl Tcp {
    /// Returns TCP with other options; the limit of resolver threads is shared.
    fn having(&self, options: TcpOptions) -> Self {
        Self {
            options,
            filter: self.filter.clone(),
            resolving: Arc::clone(&self.resolving),
            unresolved: self.unresolved.clone(),
            resolver: self.resolver,
            unserved: self.unserved.clone(),
            ports_tried: Arc::clone(&self.ports_tried),
        }
    }

    /// Connects, within a limit if there is one.
    async fn connect_until(
        &self,
        endpoint: &Endpoint,
        limit: Option<Duration>,
    ) -> Result<Box<dyn Connection>, TransportError> {
        let fail = |operation| move |cause| TransportError::new(operation, endpoint.clone(), cause);
        // Without a limit, and where nothing has to be waited for, it needs no clock.
        let end = async {
            match limit {
                Some(limit) => {
                    tokio::time::sleep(limit).await;
                    limit
                }
                None => std::future::pending().await,
            }
        };
        let late = |operation, limit| TransportError::late(operation, endpoint.clone(), limit);
        let mut end = std::pin::pin!(end);
        let mut addresses = tokio::select! {
            biased;
            found = self.resolve(endpoint) => found.map_err(fail(Operation::Resolve))?,
            limit = &mut end => {
                self.gave_up_resolving(endpoint);
                return Err(late(Operation::Resolve, limit));
            }
        };
        if let Some(filter) = &self.filter {
            addresses.retain(|address| filter.permits(address.ip()));
            if addresses.is_empty() {
                let refused = io::Error::new(io::ErrorKind::PermissionDenied, NotPermitted);
                return Err(fail(Operation::Connect)(refused));
            }
        }
        tokio::select! {
            biased;
            connected = self.connect_in_order(addresses) => match connected {
                Ok(connection) => Ok(Box::new(connection)),
                Err(cause) => Err(fail(Operation::Connect)(cause)),
            },
            limit = end => Err(late(Operation::Connect, limit)),
        }
    }

    /// Connects to one of the addresses. Those that have lately accepted connections without serving on them come last.
    async fn connect_in_order(&self, addresses: Vec<SocketAddr>) -> io::Result<StreamConnection> {
        let addresses = self.unserved.in_order(addresses, Instant::now());
        self.connect_to_any(&addresses).await
    }

    /// Connects to the first of the addresses that answers, with a head start for the earlier ones.
    async fn connect_to_any(&self, addresses: &[SocketAddr]) -> io::Result<StreamConnection> {
        // Most hosts have one address, which needs no tasks and no clock.
        if let [only] = addresses {
            return self.connect_to(*only).await;
        }
        let mut next = addresses.iter().copied();
        // Dropping the set cancels the attempts that are still under way.
        let mut attempts = JoinSet::new();
        let mut failed = Vec::new();
        loop {
            if let Some(address) = next.next() {
                let tcp = self.clone();
                attempts.spawn(async move { (address, tcp.connect_to(address).await) });
            }
            let tried = if next.len() == 0 {
                attempts.join_next().await
            } else {
                match tokio::time::timeout(HEAD_START, attempts.join_next()).await {
                    Ok(tried) => tried,
                    // The address is silent, so the next one is tried beside it.
                    Err(_) => continue,
                }
            };
            match tried {
                Some(Ok((_, Ok(connection)))) => return Ok(connection),
                Some(Ok((address, Err(error)))) => failed.push((address, error)),
                Some(Err(gone)) => return Err(io::Error::other(gone)),
                None => return Err(all_failed(failed)),
            }
        }
    }

    async fn connect_to(&self, address: SocketAddr) -> io::Result<StreamConnection> {
        let Some(ports) = self.options.ports() else {
            let socket = self.socket_towards(address)?;
            self.options.bind_towards(&socket, address, 0)?;
            return self.connect_by(socket, address).await;
        };
        let (first, last) = (u32::from(*ports.start()), u32::from(*ports.end()));
        let count = last.saturating_sub(first).saturating_add(1);
        let begin = self.ports_tried.fetch_add(1, Ordering::Relaxed);
        for step in 0..count {
            // A step never waits, and there may be 65,535 of them, so each takes from the task's budget.
            tokio::task::coop::consume_budget().await;
            let offset = begin.wrapping_add(step).checked_rem(count);
            let port = first.saturating_add(offset.unwrap_or_default());
            let port = u16::try_from(port).unwrap_or(u16::MAX);
            let socket = self.socket_towards(address)?;
            match self.options.bind_towards(&socket, address, port) {
                // A listener has the port.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => continue,
                bound => bound?,
            }
            match self.connect_by(socket, address).await {
                // A connection to the same address has the port.
                Err(error) if is_taken(&error) => {}
                connected => return connected,
            }
        }
        let none = format!("none of the ports {first} to {last} is free");
        Err(io::Error::new(io::ErrorKind::AddrInUse, none))
    }

    /// Makes a socket that is to connect to `host_port`.
    fn socket_towards(&self, address: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_nonblocking(true)?;
        self.options.before_connecting(&socket, address)?;
        Ok(socket)
    }

    async fn connect_by(
        &self,
        socket: Socket,
        address: SocketAddr,
    ) -> io::Result<StreamConnection> {
        let stream = TcpSocket::from_std_stream(socket.into())
            .connect(address)
            .await?;
        self.finish(stream.into_std()?.into())
    }

    fn finish(&self, socket: Socket) -> io::Result<StreamConnection> {
        let peer = socket.peer_addr()?;
        // The kernel connects a socket to itself when it picks, for our end, the port without a listener to which the
        // socket connects. On the loopback interface that happens to clients that retry until their server is back.
        if socket.local_addr()?.as_socket() == peer.as_socket() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        self.options.when_connected(&socket)?;
        StreamConnection::new(socket, &peer)
    }

    fn listen_on(&self, endpoint: &Endpoint, address: SocketAddr) -> io::Result<TcpListener> {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        if address.is_ipv6() && address.ip().is_unspecified() {
            socket.set_only_v6(false)?;
        }
        self.options.before_binding(&socket)?;
        self.options.before_connecting(&socket, address)?;
        // Each new connection gets these again; here an error shows that the operating system does not accept them.
        self.options.when_connected(&socket)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        let asked = tcp_address(endpoint)?;
        let given = socket.local_addr()?.as_socket();
        let port = given.map_or_else(|| asked.port(), |given| given.port());
        Ok(TcpListener {
            acceptor: Acceptor::new(socket)?,
            endpoint: Endpoint::iiop(asked.host(), port),
            options: self.options.clone(),
            filter: self.filter.clone(),
        })
    }
}

#[derive(Debug)]
struct TcpListener {
    acceptor: Acceptor,
    endpoint: Endpoint,
    options: TcpOptions,
    filter: Option<AddressFilter>,
}

/// Connections that are refused before other tasks of the worker run.
const REFUSED_PER_TURN: usize = 64;

impl Listener for TcpListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        for _ in 0..REFUSED_PER_TURN {
            let prepare = |socket: &Socket| self.options.when_connected(socket);
            let accepted = self.acceptor.poll_accept(cx, prepare);
            let accepted = accepted.map(|accepted| connection(accepted?));
            match (&self.filter, &accepted) {
                (Some(filter), Poll::Ready(Ok(client))) if is_refused(filter, &**client) => {}
                _ => return accepted,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Tcp {
    async fn resolve(&self, endpoint: &Endpoint) -> io::Result<Vec<SocketAddr>> {
        let (host, port) = (tcp_address(endpoint)?.host(), tcp_address(endpoint)?.port());
        if let Ok(address) = host.parse() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        self.unresolved.check(host, Instant::now())?;
        let (name, resolver) = (host.to_owned(), self.resolver);
        let found = self.aside(move || resolver(&name, port)).await;
        self.unresolved.note(host, Instant::now(), &found);
        found
    }

    /// Notes a name that was not resolved in time, so that further connects do not each occupy a thread that waits.
    fn gave_up_resolving(&self, endpoint: &Endpoint) {
        if let Some(host) = endpoint.host() {
            let late = io::Error::new(io::ErrorKind::TimedOut, "no name server answered in time");
            self.unresolved.note::<()>(host, Instant::now(), &Err(late));
        }
    }

    /// Asks the resolver on a detached thread. The resolver cannot be interrupted, and may take half a minute when no
    /// name server answers. On tokio's blocking threads it would delay for as long a runtime that is dropped.
    async fn aside<T: Send + 'static>(
        &self,
        ask: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let permit = Arc::clone(&self.resolving).acquire_owned().await;
        let (tell, answer) = oneshot::channel();
        std::thread::Builder::new()
            .name("zorb-resolve".to_owned())
            .spawn(move || {
                let answer = ask();
                drop(permit);
                // The receiver is gone when connecting has timed out.
                let _ = tell.send(answer);
            })?;
        answer
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the resolver's thread has panicked")))
    }
}

/// The addresses of a name, by the system's resolver.
fn ask_system(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((name, port)
        .to_socket_addrs()?
        .take(MAX_ADDRESSES)
        .collect())
}

/// Whether the filter refuses a client.
fn is_refused(filter: &AddressFilter, client: &dyn Connection) -> bool {
    match client.peer() {
        Address::Inet(address) => !filter.permits(address.ip()),
        _ => false,
    }
}

fn tcp_address(endpoint: &Endpoint) -> io::Result<&TcpAddress> {
    host_port::address(endpoint).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

/// Whether a connection to the same address has the port that a socket is bound to.
fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrInUse, AddrNotAvailable};
    matches!(error.kind(), AddrInUse | AddrNotAvailable)
}

/// Returns the error of a host whose addresses all failed. The kind is that of the last one.
fn all_failed(mut failed: Vec<(SocketAddr, io::Error)>) -> io::Error {
    let Some((address, last)) = failed.pop() else {
        return io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    };
    if failed.is_empty() {
        return last;
    }
    let kind = last.kind();
    failed.push((address, last));
    let causes: Vec<String> = failed
        .iter()
        .map(|(address, error)| format!("{address}: {error}"))
        .collect();
    io::Error::new(kind, causes.join(", "))
}

/// How long an address may stay silent before the next is tried beside it. RFC 8305 recommends this time.
const HEAD_START: Duration = Duration::from_millis(250);

/// Most threads that ask the resolver at a time; further names wait. A thread is stuck for long only if no name server
/// answers, and then more threads would not help.
const MAX_RESOLVING: usize = 64;

/// Most addresses of one host that are tried. A resolver may return any number of them.
const MAX_ADDRESSES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_that_hangs_holds_up_neither_its_runtime_nor_connects_by_address() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (asked, hears) = std::sync::mpsc::channel();
        let (answer, hanging) = std::sync::mpsc::channel::<()>();
        let hanging = Arc::new(std::sync::Mutex::new(hanging));
        let tcp = Tcp::default();
        for _ in 0..MAX_RESOLVING {
            let (tcp, asked, hanging) = (tcp.clone(), asked.clone(), Arc::clone(&hanging));
            runtime.spawn(async move {
                tcp.aside(move || {
                    asked.send(()).unwrap();
                    // Waits until the end of the test.
                    let _ = hanging.lock().unwrap().recv();
                    Ok(())
                })
                .await
            });
        }
        for _ in 0..MAX_RESOLVING {
            hears.recv().unwrap();
        }
        let numeric = runtime.block_on(tcp.resolve(&Endpoint::iiop("127.0.0.1", 7)));
        assert_eq!(numeric.unwrap(), ["127.0.0.1:7".parse().unwrap()]);
        // Dropping the runtime would wait forever for threads of its own.
        drop(runtime);
        drop(answer);
    }

    #[tokio::test]
    async fn a_name_that_is_not_resolved_in_time_is_told_from_a_host_that_does_not_answer() {
        let hanging = Tcp {
            resolver: |_, _| {
                loop {
                    std::thread::park();
                }
            },
            ..Tcp::default()
        };
        let limit = Duration::from_millis(1);
        let name = Endpoint::iiop("bank.example", 2809);
        let error = hanging.connect_within(&name, limit).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot resolve iiop://bank.example:2809 within 1ms"
        );
        // It is not asked for again at once, by which every call would occupy one more thread.
        let error = hanging.connect(&name).await.unwrap_err();
        assert_eq!(error.operation(), Operation::Resolve);
        let cause = error.cause().to_string();
        assert!(cause.contains("not asked again within"), "{cause}");

        let (silent, _silent) = silent();
        let address = Endpoint::iiop("127.0.0.1", silent.port());
        let error = hanging.connect_within(&address, limit).await.unwrap_err();
        assert_eq!(
            (error.operation(), error.limit()),
            (Operation::Connect, Some(limit))
        );
    }

    #[tokio::test]
    async fn a_connection_to_oneself_counts_as_no_listener() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        // The kernel would connect the socket to itself, by chance, on the port that it assigned.
        socket.connect(&socket.local_addr().unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        let error = Tcp::default().finish(socket).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    /// Returns an address where connecting is neither answered nor refused: the queue of its listener is full. The
    /// sockets keep it full.
    fn silent() -> (SocketAddr, [Socket; 2]) {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        // A queue of 0 holds one.
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let queued = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        queued.connect(&address).unwrap();
        (address.as_socket().unwrap(), [listener, queued])
    }

    /// Returns an address that has no listener, and gets none while the socket is open.
    fn dead() -> (SocketAddr, Socket) {
        let socket = Socket::new(Domain::IPV6, Type::STREAM, None).unwrap();
        socket
            .bind(&SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, 0)).into())
            .unwrap();
        (socket.local_addr().unwrap().as_socket().unwrap(), socket)
    }

    #[tokio::test]
    async fn an_address_that_is_dead_or_silent_does_not_keep_the_next_one_from_being_tried() {
        let live = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = live.local_addr().unwrap();
        let ((dead, _dead), (silent, _silent)) = (dead(), silent());
        let tcp = Tcp::default();
        for before in [&[dead][..], &[silent], &[silent, dead, silent]] {
            let addresses: Vec<_> = before.iter().copied().chain([address]).collect();
            let connection = tcp.connect_to_any(&addresses).await.unwrap();
            assert_eq!(*connection.peer(), Address::Inet(address), "{before:?}");
        }
    }

    #[tokio::test]
    async fn every_address_that_failed_is_reported_with_its_cause() {
        let (v6, _v6) = dead();
        let error = Tcp::default().connect_to_any(&[v6, v6]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let refused = format!("{v6}: Connection refused (os error 111)");
        assert_eq!(error.to_string(), format!("{refused}, {refused}"));
        let error = Tcp::default().connect_to_any(&[]).await.unwrap_err();
        assert_eq!(error.to_string(), "the host name has no address");
    }

    #[tokio::test]
    async fn connections_are_made_from_the_ports_of_the_range_and_from_no_other() {
        // An address that no other test has, so that its ports are free.
        let own = std::net::Ipv4Addr::new(127, 77, 19, 1);
        let listen = || std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (one, other) = (listen(), listen());
        let to = |listener: &std::net::TcpListener| {
            Endpoint::iiop("127.0.0.1", listener.local_addr().unwrap().port())
        };
        // A listener has the middle port.
        let _taken = std::net::TcpListener::bind((own, 30_002)).unwrap();
        let options = TcpOptions::default().set("local_ports", "30001-30003");
        let tcp = Tcp::new(options.unwrap().bind(own.into()));
        let mut ports = Vec::new();
        let mut kept = Vec::new();
        for listener in [&one, &one, &other, &other] {
            kept.push(tcp.connect(&to(listener)).await.unwrap());
            let (_, from) = listener.accept().unwrap();
            assert_eq!(from.ip(), own);
            ports.push(from.port());
        }
        ports[..2].sort_unstable();
        ports[2..].sort_unstable();
        assert_eq!(ports, [30_001, 30_003, 30_001, 30_003]);
        let error = tcp.connect(&to(&one)).await.unwrap_err();
        let text = error.cause().to_string();
        assert!(text.contains("none of the ports 30001 to 30003"), "{text}");
        for bad in ["", "0-9", "9-8", "1-70000", "a"] {
            assert!(
                TcpOptions::default().set("local_ports", bad).is_err(),
                "{bad}"
            );
        }
    }

    #[tokio::test]
    async fn a_range_of_ports_holds_for_ipv6() {
        let Ok(listener) = std::net::TcpListener::bind("[::1]:0") else {
            return eprintln!("skipped: this machine has no IPv6");
        };
        // The port is free now; if another program takes it, connecting fails.
        let free = std::net::TcpListener::bind("[::]:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let tcp = Tcp::new(TcpOptions::default().local_ports(port..=port));
        let endpoint = Endpoint::iiop("::1", listener.local_addr().unwrap().port());
        let _connection = tcp.connect(&endpoint).await.unwrap();
        assert_eq!(listener.accept().unwrap().1.port(), port);
    }

    #[tokio::test]
    async fn of_the_addresses_of_a_host_one_that_does_not_serve_is_connected_to_last() {
        let first = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let second = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
        let addresses = [&first, &second].map(|listener| listener.local_addr().unwrap());
        let tcp = Tcp::default();
        let connected = async || {
            let connection = tcp.connect_in_order(addresses.to_vec()).await.unwrap();
            connection.peer().clone()
        };
        let [one, other] = addresses.map(Address::Inet);
        assert_eq!(connected().await, one);
        // What one user of the transport finds, another one knows, too.
        let same = tcp.having(TcpOptions::default());
        same.note_served(&one, false);
        assert_eq!(connected().await, other);
        drop(second);
        assert_eq!(connected().await, one, "it is better than none");
        same.note_served(&one, true);
        assert_eq!(connected().await, one);
    }

    #[tokio::test]
    async fn everywhere_is_ipv4_and_ipv6() {
        let endpoint = Endpoint::iiop("::", 0);
        let listener = Tcp::default().listen(&endpoint).await.unwrap();
        let port = listener.endpoint().port().unwrap();
        for host in ["127.0.0.1", "::1"] {
            let endpoint = Endpoint::iiop(host, port);
            Tcp::default().connect(&endpoint).await.unwrap();
        }
    }
}
