//! Pipes within one process, as a transport: endpoints `pipe://name`.
//!
//! This is what there is to a transport: an address with its text and its octets in a reference ([`PipeAddressing`]), a
//! listener ([`PipeListener`]), a connection ([`End`]), and the value that is registered ([`Pipe`]).

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    io::{self, IoSlice},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::{Buf, Bytes, BytesMut};
use tokio::{runtime::Handle, time::Instant};
use zorb::transport::{
    Address, AddressError, AddressReader, AddressWriter, Addressing, BoxFuture, Capabilities,
    Connection, Endpoint, EndpointAddress, HostId, Listener, Operation, Property, PropertyError,
    Transport, TransportError,
};

// ---- The address -------------------------------------------------------------------------------

/// The name of a pipe: letters, digits, dots and hyphens.
#[derive(Debug, Clone)]
pub(crate) struct PipeAddress(String);

impl fmt::Display for PipeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl EndpointAddress for PipeAddress {
    // The same name in another process is another pipe, so a peer that names one is not followed unless
    // `Builder::unix_sockets_of_peers` says so.
    fn is_local_name(&self) -> bool {
        true
    }
}

/// How pipes are named in text and in references.
#[derive(Debug)]
pub(crate) struct PipeAddressing;

/// The tag of the profiles. One that is given away belongs to the OMG's list of vendors' tags.
const PIPE_PROFILE: u32 = 0x5a4f_52f0;
/// Octets of a name at most: a reference may hold any number.
const MAX_NAME_OCTETS: usize = 64;

fn named(name: &str) -> Result<Endpoint, AddressError> {
    let is_right = |octet: u8| octet.is_ascii_alphanumeric() || b".-".contains(&octet);
    if name.is_empty() || name.len() > MAX_NAME_OCTETS || !name.bytes().all(is_right) {
        return Err(AddressError::expected(
            "a name of 1 to 64 letters, digits, dots and hyphens",
        ));
    }
    Ok(Endpoint::new("pipe", PipeAddress(name.to_owned())))
}

fn name(endpoint: &Endpoint) -> Result<&str, AddressError> {
    let address: Option<&PipeAddress> = endpoint.address();
    let address = address.ok_or_else(|| AddressError::expected("an endpoint of a pipe"));
    address.map(|address| &*address.0)
}

impl Addressing for PipeAddressing {
    fn scheme(&self) -> &'static str {
        "pipe"
    }

    fn forms(&self) -> &'static [&'static str] {
        &["pipe://name"]
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        named(text)
    }

    fn profile(&self) -> Option<u32> {
        Some(PIPE_PROFILE)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        to.write_string(name(endpoint)?.as_bytes())
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        let octets = from.read_string()?;
        let text = str::from_utf8(octets).map_err(|_| AddressError::expected("a name in ASCII"))?;
        named(text)
    }
}

// ---- The transport -----------------------------------------------------------------------------

/// Pipes in memory. Clones, and those with other properties, share one table of names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipe {
    table: Arc<Mutex<Table>>,
    faults: Faults,
}

/// How the connections that are made through a transport fail.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    /// How long octets are under way.
    delay: Duration,
    /// Of so many frames one is lost, and sent again a while later; what was written behind it waits, as it is a stream. 0: none.
    loss: u32,
    /// After so many octets in one direction the pipe breaks. 0: never.
    cut: usize,
}

type Table = BTreeMap<String, Weak<Queue>>;

/// How long it takes until a lost frame is sent again.
const RESEND_AFTER: Duration = Duration::from_millis(20);

/// Octets that one direction holds.
const ROOM: usize = 256 << 10;

/// Connections that wait to be accepted.
const BACKLOG: usize = 1_024;

const PROPERTIES: [Property; 3] = [
    Property {
        name: "delay",
        values: "milliseconds",
        default: "0",
    },
    Property {
        name: "loss",
        values: "of how many frames one is lost, 0 for none",
        default: "0",
    },
    Property {
        name: "cut",
        values: "octets, 0 for never",
        default: "0",
    },
];

impl Transport for Pipe {
    fn addressing(&self) -> &dyn Addressing {
        &PipeAddressing
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream().with_gather()
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let fail = |cause| TransportError::new(Operation::Connect, endpoint.clone(), cause);
            let connected = self.connect_to(endpoint).map_err(fail)?;
            Ok(Box::new(connected) as Box<dyn Connection>)
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let fail = |cause| TransportError::new(Operation::Listen, endpoint.clone(), cause);
            let name = name(endpoint).map_err(|error| fail(invalid(error)))?;
            let mut table = lock(&self.table);
            if table
                .get(name)
                .is_some_and(|queue| queue.strong_count() > 0)
            {
                return Err(fail(io::ErrorKind::AddrInUse.into()));
            }
            let queue = Arc::new(Queue::default());
            table.insert(name.to_owned(), Arc::downgrade(&queue));
            let endpoint = endpoint.clone();
            Ok(Box::new(PipeListener { queue, endpoint }) as Box<dyn Listener>)
        })
    }

    fn properties(&self) -> &'static [Property] {
        &PROPERTIES
    }

    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        let Some(property) = PROPERTIES.iter().find(|property| property.name == name) else {
            return Err(PropertyError::unknown(name, value, &PROPERTIES));
        };
        let number: u32 = value
            .parse()
            .map_err(|_| PropertyError::value(*property, value))?;
        let mut pipe = self.clone();
        match name {
            "delay" => pipe.faults.delay = Duration::from_millis(number.into()),
            "loss" => pipe.faults.loss = number,
            _ => pipe.faults.cut = number as usize,
        }
        Ok(Arc::new(pipe))
    }
}

impl Pipe {
    fn connect_to(&self, endpoint: &Endpoint) -> io::Result<End> {
        let name = name(endpoint).map_err(invalid)?;
        let queue = lock(&self.table).get(name).and_then(Weak::upgrade);
        let queue = queue.ok_or(io::ErrorKind::ConnectionRefused)?;
        let directions: [Arc<Direction>; 2] = Default::default();
        let address = |name: String| Address::Other {
            name: name.into(),
            host: HostId::Local,
        };
        let here = address(format!("pipe://(client of {name})"));
        let there = address(endpoint.to_string());
        let home = Handle::current();
        let end = |incoming: &Arc<Direction>, outgoing: &Arc<Direction>, local, peer| End {
            incoming: Arc::clone(incoming),
            outgoing: Arc::clone(outgoing),
            faults: self.faults,
            home: home.clone(),
            local,
            peer,
        };
        let [up, down] = &directions;
        let server = end(up, down, there.clone(), here.clone());
        let mut waiting = lock(&queue.0);
        if waiting.ends.len() >= BACKLOG {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        waiting.ends.push_back(server);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
        Ok(end(down, up, here, there))
    }
}

fn invalid(error: AddressError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// ---- The listener ------------------------------------------------------------------------------

/// The connections that wait to be accepted at one name.
#[derive(Debug, Default)]
struct Queue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    ends: VecDeque<End>,
    waker: Option<Waker>,
}

#[derive(Debug)]
struct PipeListener {
    queue: Arc<Queue>,
    endpoint: Endpoint,
}

impl Listener for PipeListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let mut waiting = lock(&self.queue.0);
        if let Some(end) = waiting.ends.pop_front() {
            return Poll::Ready(Ok(Box::new(end)));
        }
        waiting.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

// ---- The connection ----------------------------------------------------------------------------

/// One direction of a connection: frames on their way, and who waits at either end.
#[derive(Debug, Default)]
struct Direction(Mutex<Way>);

#[derive(Debug, Default)]
struct Way {
    /// Written octets, and the time of their arrival.
    frames: VecDeque<(Instant, Bytes)>,
    octets: usize,
    /// Frames and octets that were ever written.
    written: (u32, usize),
    /// Nothing more is written; what is under way still arrives.
    ended: bool,
    /// The reader is gone.
    unread: bool,
    broken: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Way {
    /// Reads arrived octets into `buf`.
    fn read(&mut self, buf: &mut BytesMut) -> io::Result<usize> {
        let room = buf.capacity() - buf.len();
        if room == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if self.unread {
            return Ok(0);
        }
        let Some((due, frame)) = self.frames.front_mut() else {
            return match (self.broken, self.ended) {
                (true, _) => Err(io::ErrorKind::ConnectionReset.into()),
                (_, true) => Ok(0),
                _ => Err(io::ErrorKind::WouldBlock.into()),
            };
        };
        if *due > Instant::now() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = frame.len().min(room);
        buf.extend_from_slice(&frame[..count]);
        frame.advance(count);
        if frame.is_empty() {
            self.frames.pop_front();
        }
        self.octets -= count;
        if let Some(waker) = self.writer.take() {
            waker.wake();
        }
        Ok(count)
    }

    fn write(&mut self, chunks: &[IoSlice<'_>], faults: Faults) -> io::Result<usize> {
        if self.ended || self.unread || self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut most = ROOM.saturating_sub(self.octets);
        if chunks.iter().all(|chunk| chunk.is_empty()) {
            return Ok(0);
        }
        if faults.cut > 0 {
            most = most.min(faults.cut - self.written.1);
        }
        if most == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut frame = BytesMut::new();
        for chunk in chunks {
            let count = chunk.len().min(most - frame.len());
            frame.extend_from_slice(&chunk[..count]);
        }
        let count = frame.len();
        self.written = (self.written.0.wrapping_add(1), self.written.1 + count);
        let mut under_way = faults.delay;
        if faults.loss > 0 && self.written.0.is_multiple_of(faults.loss) {
            under_way += RESEND_AFTER;
        }
        self.frames
            .push_back((Instant::now() + under_way, frame.freeze()));
        self.octets += count;
        if faults.cut > 0 && self.written.1 == faults.cut {
            self.broken = true;
        }
        self.wake_reader();
        Ok(count)
    }

    /// Wakes the reader if a read would end.
    fn wake_reader(&mut self) {
        let is_under_way = (self.frames.front()).is_some_and(|(due, _)| *due > Instant::now());
        if !is_under_way && let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    /// Wakes the tasks that wait at either end.
    fn wake(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
        if let Some(waker) = self.writer.take() {
            waker.wake();
        }
    }
}

/// One end of a connection.
#[derive(Debug)]
struct End {
    incoming: Arc<Direction>,
    outgoing: Arc<Direction>,
    faults: Faults,
    /// Where the clock is that wakes a reader when something has arrived.
    home: Handle,
    local: Address,
    peer: Address,
}

impl Connection for End {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        let mut way = lock(&self.incoming.0);
        match way.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                way.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            read => Poll::Ready(read),
        }
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        lock(&self.incoming.0).read(buf)
    }

    fn deregister(&self) {
        lock(&self.incoming.0).reader = None;
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut way = lock(&self.outgoing.0);
        let written = way.write(chunks, self.faults);
        let due = way.frames.back().map(|frame| frame.0);
        let is_broken = way.broken;
        drop(way);
        let is_delayed = !self.faults.delay.is_zero() || self.faults.loss > 0;
        if let (Ok(1..), Some(due)) = (&written, due)
            && is_delayed
        {
            // `sleep_until` ends at once for a frame that has arrived meanwhile.
            let outgoing = Arc::downgrade(&self.outgoing);
            self.home.spawn(async move {
                tokio::time::sleep_until(due).await;
                if let Some(outgoing) = outgoing.upgrade() {
                    lock(&outgoing.0).wake_reader();
                }
            });
        }
        if is_broken {
            // Both directions break.
            let mut back = lock(&self.incoming.0);
            back.broken = true;
            back.wake();
        }
        written
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut way = lock(&self.outgoing.0);
        if way.octets < ROOM || way.ended || way.unread || way.broken {
            return Poll::Ready(Ok(()));
        }
        way.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    fn shutdown_write(&self) -> io::Result<()> {
        let mut way = lock(&self.outgoing.0);
        way.ended = true;
        way.wake();
        Ok(())
    }

    fn close(&self) {
        let mut way = lock(&self.outgoing.0);
        way.ended = true;
        way.wake();
        drop(way);
        let mut way = lock(&self.incoming.0);
        way.unread = true;
        way.wake();
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream().with_gather()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.close();
    }
}
