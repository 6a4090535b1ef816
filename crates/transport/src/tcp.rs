use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use tokio::net::{TcpSocket, lookup_host};

use crate::{
    BoxFuture, Capabilities, Connection, Endpoint, Listener, Operation, Transport, TransportError,
    stream::{Acceptor, BACKLOG, STREAM, StreamConnection},
};

/// TCP: endpoints `iiop://host:port`.
///
/// A host name is resolved by the system's resolver (on a thread of tokio's blocking pool), and all its addresses are
/// tried in its order, to connect as well as to listen; the error is that of the last one.
#[derive(Clone, Debug, Default)]
pub struct Tcp {
    options: TcpOptions,
}

impl Tcp {
    /// TCP with these options for every connection and listener.
    #[must_use]
    pub const fn new(options: TcpOptions) -> Self {
        Self { options }
    }
}

/// How TCP sockets are set up. The default: no delay, and everything else as the operating system has it.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    nodelay: bool,
    keepalive: Option<Duration>,
    send_buffer: Option<usize>,
    receive_buffer: Option<usize>,
}

impl TcpOptions {
    /// Whether small writes go out at once (`TCP_NODELAY`, the default), rather than wait for the acknowledgement
    /// of those before: a request would wait for a reply that waits for it.
    #[must_use]
    pub const fn nodelay(self, nodelay: bool) -> Self {
        Self { nodelay, ..self }
    }

    /// Asks a silent peer for a sign of life after this time (`SO_KEEPALIVE`; whole seconds). Off by default.
    #[must_use]
    pub const fn keepalive(self, idle: Duration) -> Self {
        Self {
            keepalive: Some(idle),
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

    /// Buffer sizes count from before the connection is made, since they decide on the window's scale.
    fn before_connecting(&self, socket: &Socket) -> io::Result<()> {
        if let Some(octets) = self.send_buffer {
            socket.set_send_buffer_size(octets)?;
        }
        if let Some(octets) = self.receive_buffer {
            socket.set_recv_buffer_size(octets)?;
        }
        Ok(())
    }

    fn when_connected(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_nodelay(self.nodelay)?;
        match self.keepalive {
            Some(idle) => socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle)),
            None => Ok(()),
        }
    }
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            nodelay: true,
            keepalive: None,
            send_buffer: None,
            receive_buffer: None,
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
            let addresses = resolve(endpoint).await.map_err(fail(Operation::Resolve))?;
            let mut last = no_address();
            for address in addresses {
                match self.connect_to(address).await {
                    Ok(connection) => return Ok(Box::new(connection) as Box<dyn Connection>),
                    Err(error) => last = error,
                }
            }
            Err(fail(Operation::Connect)(last))
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let fail =
                |operation| move |cause| TransportError::new(operation, endpoint.clone(), cause);
            let addresses = resolve(endpoint).await.map_err(fail(Operation::Resolve))?;
            let mut last = no_address();
            for address in addresses {
                match self.listen_on(endpoint, address) {
                    Ok(listener) => return Ok(Box::new(listener) as Box<dyn Listener>),
                    Err(error) => last = error,
                }
            }
            Err(fail(Operation::Listen)(last))
        })
    }
}

impl Tcp {
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

async fn resolve(endpoint: &Endpoint) -> io::Result<Vec<SocketAddr>> {
    Ok(lookup_host(host_and_port(endpoint)?).await?.collect())
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

fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the host name has no address")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
