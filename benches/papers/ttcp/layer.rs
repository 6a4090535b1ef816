//! The transport layer alone: the floor's messages over the traits that an ORB uses.

use bytes::{Buf, BytesMut};
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;
use zorb::transport::{Connection, Registry};
use zorb_floor::message::{HEAD, Kind, folded, head, parse};
use zorb_floor::write_whole;
use zorb_papers::dialogue::{self, Failure};
use zorb_papers::place::{Server, transports};
use zorb_papers::sockets::{farewell, fold};

/// Octets that are made room for at a time, if the message is not longer.
const ROOM: usize = 64 << 10;

/// One end of a connection.
pub(crate) struct End {
    connection: Box<dyn Connection>,
    received: BytesMut,
}

fn registry(queue: Option<usize>) -> Registry {
    let (tcp, unix) = transports(queue);
    let mut registry = Registry::empty();
    registry.insert(Arc::new(tcp));
    registry.insert(Arc::new(unix));
    registry
}

impl End {
    fn new(connection: Box<dyn Connection>) -> Self {
        Self {
            connection,
            received: BytesMut::with_capacity(ROOM),
        }
    }

    /// Connects to the endpoint that a server wrote.
    pub(crate) async fn connect(reference: &str, queue: Option<usize>) -> Result<Self, Failure> {
        let endpoint = reference.trim().parse()?;
        Ok(Self::new(registry(queue).connect(&endpoint).await?))
    }

    /// Sends a whole message.
    pub(crate) async fn send(&self, message: &[u8]) -> io::Result<()> {
        let mut rest = message;
        while !rest.is_empty() {
            match self.connection.try_write(&[IoSlice::new(rest)]) {
                Ok(taken) => rest = rest.get(taken..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    poll_fn(|cx| self.connection.poll_write_ready(cx)).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message, and its octets with the head; `None` when the other end is gone.
    pub(crate) async fn receive(&mut self) -> io::Result<Option<(Kind, BytesMut)>> {
        loop {
            let lacking = match self.received.first_chunk::<HEAD>() {
                None => HEAD - self.received.len(),
                Some(head) => {
                    let (kind, body) = parse(head)?;
                    let whole = HEAD + body;
                    if self.received.len() >= whole {
                        return Ok(Some((kind, self.received.split_to(whole))));
                    }
                    whole - self.received.len()
                }
            };
            self.received.reserve(lacking.max(ROOM));
            let Self {
                connection,
                received,
            } = self;
            if poll_fn(|cx| connection.poll_read(cx, received)).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Serves one connection; true when it is to be the last.
async fn serve_one(mut end: End) -> io::Result<bool> {
    while let Some((kind, mut message)) = end.receive().await? {
        message.advance(HEAD);
        match kind {
            Kind::OneWay => fold(folded(&message)),
            Kind::Sync => end.send(&head(Kind::Reply, 0)).await?,
            Kind::Shutdown => return Ok(true),
            Kind::Void | Kind::Echo | Kind::Reply => return Err(ErrorKind::InvalidData.into()),
        }
    }
    Ok(false)
}

/// Serves until a client asks for the end.
pub(crate) async fn serve(server: Server) -> Result<(), Failure> {
    let endpoint = server.endpoint()?.parse()?;
    let listener = registry(server.common.queue).listen(&endpoint).await?;
    write_whole(&server.common.ior, &listener.endpoint().to_string())?;
    loop {
        let connection = poll_fn(|cx| listener.poll_accept(cx)).await?;
        tokio::spawn(async move {
            if let Ok(true) = serve_one(End::new(connection)).await {
                // The reader of the pipe may have ended.
                let _ = dialogue::say(&farewell().to_json());
                std::process::exit(0);
            }
        });
    }
}
