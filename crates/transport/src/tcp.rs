use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use tokio::net::TcpSocket;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::{
    BoxFuture, Capabilities, Connection, Endpoint, Listener, Operation, Transport, TransportError,
    stream::{Acceptor, BACKLOG, STREAM, StreamConnection},
    sys,
};

/// TCP: endpoints `iiop://host:port`.
///
/// A host name is resolved by the system's resolver (on a thread of its own), and its addresses are
/// tried in its order, to connect as well as to listen; the error tells of all of them. To connect, the next address is
/// tried as soon as one has failed, and beside it when it has been silent for a quarter of a second: whichever
/// answers first is taken. Of very many addresses the first 16 are tried.
///
/// `[::]` is every interface for IPv4 too, whatever the system's default (`net.ipv6.bindv6only`).
#[derive(Clone, Debug)]
pub struct Tcp {
    options: TcpOptions,
    /// One permit for every thread that may ask the resolver.
    resolving: Arc<Semaphore>,
}

impl Tcp {
    /// TCP with these options for every connection and listener.
    #[must_use]
    pub fn new(options: TcpOptions) -> Self {
        Self {
            options,
            resolving: Arc::new(Semaphore::new(MAX_RESOLVING)),
        }
    }
}

impl Default for Tcp {
    fn default() -> Self {
        Self::new(TcpOptions::default())
    }
}

/// How TCP sockets are set up. The default: no delay, keepalive after two minutes, and everything else as the operating
/// system has it.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    nodelay: bool,
    keepalive: Option<Duration>,
    send_buffer: Option<usize>,
    receive_buffer: Option<usize>,
    congestion_control: Option<&'static str>,
}

impl TcpOptions {
    /// Whether small writes go out at once (`TCP_NODELAY`, the default), rather than wait for the acknowledgement
    /// of those before: a request would wait for a reply that waits for it.
    #[must_use]
    pub const fn nodelay(self, nodelay: bool) -> Self {
        Self { nodelay, ..self }
    }

    /// Asks a silent peer for a sign of life after this time (`SO_KEEPALIVE`; whole seconds), and then every 15 seconds; a
    /// connection whose peer does not answer as often as the operating system asks (nine times on Linux) is lost. 120 seconds
    /// unless set: a peer that has vanished is noticed within five minutes, and gateways that forget idle connections are
    /// reminded.
    #[must_use]
    pub const fn keepalive(self, idle: Duration) -> Self {
        Self {
            keepalive: Some(idle),
            ..self
        }
    }

    /// Never asks a silent peer for a sign of life: where each packet costs something.
    #[must_use]
    pub const fn without_keepalive(self) -> Self {
        Self {
            keepalive: None,
            ..self
        }
    }

    /// The kernel's buffer for octets that are not acknowledged yet (`SO_SNDBUF`, in octets; Linux doubles it).
    /// Setting it turns automatic tuning off.
    #[must_use]
    pub const fn send_buffer(self, octets: usize) -> Self {
        Self {
            send_buffer: Some(octets),
            ..self
        }
    }

    /// The kernel's buffer for octets that are not read yet (`SO_RCVBUF`, in octets; Linux doubles it). Setting it
    /// turns automatic tuning off.
    #[must_use]
    pub const fn receive_buffer(self, octets: usize) -> Self {
        Self {
            receive_buffer: Some(octets),
            ..self
        }
    }

    /// What decides how fast octets leave, by its name (`TCP_CONGESTION`, where the operating system has that). The system's
    /// unless set, which it tells in `net.ipv4.tcp_congestion_control`; one that it does not have or does not let this
    /// program use is an error of connecting and listening.
    ///
    /// On Linux `reno` is always there. Where the system's is BBR, which paces what is sent, it makes a difference between
    /// two programs on one CPU of a machine: twice as many one-way calls with 64 KiB, and less than half as many of those
    /// that have hardly any octets, which pacing joins.
    #[must_use]
    pub const fn congestion_control(self, name: &'static str) -> Self {
        Self {
            congestion_control: Some(name),
            ..self
        }
    }

    /// Buffer sizes count from before the connection is made, since they decide on the window's scale; and a connection
    /// that has been paced once remains so.
    fn before_connecting(&self, socket: &Socket) -> io::Result<()> {
        if let Some(octets) = self.send_buffer {
            socket.set_send_buffer_size(octets)?;
        }
        if let Some(octets) = self.receive_buffer {
            socket.set_recv_buffer_size(octets)?;
        }
        if let Some(name) = self.congestion_control {
            sys::set_congestion_control(socket, name)?;
        }
        Ok(())
    }

    fn when_connected(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_nodelay(self.nodelay)?;
        let Some(idle) = self.keepalive else {
            return Ok(());
        };
        let keepalive = TcpKeepalive::new().with_time(idle);
        socket.set_tcp_keepalive(&keepalive.with_interval(PROBE_INTERVAL))
    }
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            nodelay: true,
            keepalive: Some(KEEPALIVE),
            send_buffer: None,
            receive_buffer: None,
            congestion_control: None,
        }
    }
}

impl Transport for Tcp {
    fn scheme(&self) -> &'static str {
        "iiop"
    }

    fn capabilities(&self) -> Capabilities {
        STREAM
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let fail =
                |operation| move |cause| TransportError::new(operation, endpoint.clone(), cause);
            let addresses = self
                .resolve(endpoint)
                .await
                .map_err(fail(Operation::Resolve))?;
            match self.connect_to_any(&addresses).await {
                Ok(connection) => Ok(Box::new(connection) as Box<dyn Connection>),
                Err(cause) => Err(fail(Operation::Connect)(cause)),
            }
        })
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
}

impl Tcp {
    /// Connects to whichever of the addresses answers first, with a head start for the earlier ones.
    async fn connect_to_any(&self, addresses: &[SocketAddr]) -> io::Result<StreamConnection> {
        // As a rule there is one, which needs no tasks and no clock.
        if let [only] = addresses {
            return self.connect_to(*only).await;
        }
        let mut next = addresses.iter().copied();
        // Dropping it gives up what is still under way.
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
                    // Silence: the next one is tried beside it.
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
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_nonblocking(true)?;
        self.options.before_connecting(&socket)?;
        let stream = TcpSocket::from_std_stream(socket.into())
            .connect(address)
            .await?;
        self.finish(stream.into_std()?.into())
    }

    fn finish(&self, socket: Socket) -> io::Result<StreamConnection> {
        let peer = socket.peer_addr()?;
        // The kernel joins a socket to itself when the port that nobody listens on happens to be the one that it
        // picks for our end. On the loopback interface that is no rare event for a client that keeps trying until
        // its server is back.
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
        // Or a restarted server would have to wait a minute for the connections of its earlier life to expire.
        socket.set_reuse_address(true)?;
        self.options.before_connecting(&socket)?;
        // Each new connection gets these again; here it shows whether the operating system takes them at all.
        self.options.when_connected(&socket)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        let (host, asked) = host_and_port(endpoint)?;
        let given = socket.local_addr()?.as_socket();
        let port = given.map_or(asked, |given| given.port());
        Ok(TcpListener {
            acceptor: Acceptor::new(socket)?,
            endpoint: Endpoint::iiop(host, port),
            options: self.options.clone(),
        })
    }
}

#[derive(Debug)]
struct TcpListener {
    acceptor: Acceptor,
    endpoint: Endpoint,
    options: TcpOptions,
}

impl Listener for TcpListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        self.acceptor
            .poll_accept(cx, |socket| self.options.when_connected(socket))
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Tcp {
    async fn resolve(&self, endpoint: &Endpoint) -> io::Result<Vec<SocketAddr>> {
        let (host, port) = host_and_port(endpoint)?;
        if let Ok(address) = host.parse() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let host = host.to_owned();
        self.aside(move || {
            let found = (host.as_str(), port).to_socket_addrs()?;
            Ok(found.take(MAX_ADDRESSES).collect())
        })
        .await
    }

    /// Asks the resolver on a thread that nobody has to wait for. It cannot be interrupted and may take half a minute
    /// when no name server answers; tokio's blocking threads would hold up a runtime that is dropped for so long.
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
                // Whoever asked may have lost patience.
                let _ = tell.send(answer);
            })?;
        answer
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the resolver's thread has panicked")))
    }
}

fn host_and_port(endpoint: &Endpoint) -> io::Result<(&str, u16)> {
    match endpoint {
        Endpoint::Iiop { host, port } => Ok((host, *port)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not an endpoint of the TCP transport",
        )),
    }
}

/// What is said of a host none of whose addresses would do. The kind is that of the last one.
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

/// How long a connection is silent before the peer is asked whether it is there, unless set. Linux's two hours are longer
/// than many gateways remember an idle connection, and than an operator wants descriptors held by peers that have vanished.
const KEEPALIVE: Duration = Duration::from_secs(120);
/// How often it is asked again.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);

/// How long an address that neither answers nor refuses is waited for before the next is tried beside it. What RFC 8305
/// recommends.
const HEAD_START: Duration = Duration::from_millis(250);

/// Threads that ask the resolver at a time; further names wait. Each of them is stuck for long only if no name server
/// answers, and then more would not help.
const MAX_RESOLVING: usize = 64;

/// Addresses of one host that are tried: a resolver may give any number of them.
const MAX_ADDRESSES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_is_asked_whether_it_is_there_unless_told_otherwise() {
        let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let asked = |options: TcpOptions| {
            let socket = socket();
            options.when_connected(&socket).unwrap();
            let is_asked = socket.keepalive().unwrap();
            is_asked.then(|| socket.tcp_keepalive_time().unwrap())
        };
        assert_eq!(asked(TcpOptions::default()), Some(KEEPALIVE));
        let minute = Duration::from_secs(60);
        assert_eq!(asked(TcpOptions::default().keepalive(minute)), Some(minute));
        assert_eq!(asked(TcpOptions::default().without_keepalive()), None);
    }

    #[test]
    fn a_resolver_that_hangs_holds_up_neither_its_runtime_nor_whoever_is_told_an_address() {
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
                    // Until the end of the test.
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
        // This would wait for ever for threads of its own.
        drop(runtime);
        drop(answer);
    }

    #[tokio::test]
    async fn a_connection_to_oneself_is_nobody_listening() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        // What the kernel would do by chance for the port that it gave to us.
        socket.connect(&socket.local_addr().unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        let error = Tcp::default().finish(socket).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    /// An address where connecting is neither answered nor refused: the queue of its listener is full. The sockets
    /// keep it so.
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

    /// An address where nobody listens, and will not while the socket is there.
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
            assert_eq!(
                *connection.peer(),
                crate::Address::Inet(address),
                "{before:?}"
            );
        }
    }

    #[tokio::test]
    async fn every_address_that_failed_is_told_with_its_cause() {
        let (v6, _v6) = dead();
        let error = Tcp::default().connect_to_any(&[v6, v6]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let refused = format!("{v6}: Connection refused (os error 111)");
        assert_eq!(error.to_string(), format!("{refused}, {refused}"));
        let error = Tcp::default().connect_to_any(&[]).await.unwrap_err();
        assert_eq!(error.to_string(), "the host name has no address");
    }

    #[tokio::test]
    async fn everywhere_is_ipv4_and_ipv6() {
        let endpoint = Endpoint::iiop("::", 0);
        let listener = Tcp::default().listen(&endpoint).await.unwrap();
        let Endpoint::Iiop { port, .. } = *listener.endpoint() else {
            panic!("it listens to TCP");
        };
        for host in ["127.0.0.1", "::1"] {
            let endpoint = Endpoint::iiop(host, port);
            Tcp::default().connect(&endpoint).await.unwrap();
        }
    }
}
