//! Circuits as a transport.
use std::{
    collections::BTreeMap,
    fmt,
    future::poll_fn,
    io::{self, IoSlice},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use bytes::BytesMut;
use socket2::Socket;
use zorb_transport::{
    Address, AddressError, AddressReader, AddressWriter, Addressing, BoxFuture, Capabilities,
    Connection, Endpoint, EndpointAddress, HostId, Listener, Operation, ReadOutcome, Transport,
    TransportError,
};

use crate::{
    address::{AtmAddress, CircuitId, Class, MAX_PCR, Quality},
    circuit::Circuit,
    session::{Config, Statistics},
    sys,
};

/// The scheme of ATM endpoints.
pub(crate) const SCHEME: &str = "atm";

/// The tag of profiles with ATM addresses: `ZATM`. The OMG has assigned none for permanent circuits.
pub const PROFILE_ATM: u32 = 0x5a41_544d;

/// Permanent virtual circuits (AF_ATMPVC) as a transport: see the [crate's documentation](crate).
#[derive(Clone, Debug, Default)]
pub struct Atm {
    options: AtmOptions,
    addressing: AtmAddressing,
    network: Network,
}

impl Atm {
    /// Makes the transport with these options.
    #[must_use]
    pub fn new(options: AtmOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Returns the frame statistics of a circuit that this process has open; `None` if it has not.
    #[must_use]
    pub fn statistics(&self, circuit: CircuitId) -> Option<Statistics> {
        Some(self.open(circuit)?.statistics())
    }

    /// Returns the quality of service that the kernel has for a circuit that this process has open (`SO_ATMQOS`): of
    /// frames that are sent, then of frames that are received. A device may have changed what was asked for.
    ///
    /// # Errors
    /// `NotFound` if this process does not have the circuit open; `InvalidData` for a quality that [`Quality`] cannot
    /// state; other errors of the operating system.
    pub fn quality(&self, circuit: CircuitId) -> io::Result<[Quality; 2]> {
        let Some(open) = self.open(circuit) else {
            let text = format!("the circuit {circuit} is not open in this process");
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        };
        open.quality()
    }

    fn open(&self, circuit: CircuitId) -> Option<Arc<Circuit>> {
        self.network.circuits().get(&circuit)?.circuit.upgrade()
    }

    /// Opens a circuit, or joins the owners that have it open.
    fn join(&self, id: CircuitId, quality: &Quality) -> io::Result<Arc<Circuit>> {
        if let Some(open) = self.network.circuits().get(&id)
            && let Some(circuit) = open.circuit.upgrade()
            && circuit.join()
        {
            if open.quality == *quality {
                return Ok(circuit);
            }
            circuit.leave();
            let text = format!("this process has the circuit {id} open with another quality");
            return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
        }
        let mut config = self.options.config.clone();
        config.max_sdu = quality.sdu().map_or(config.max_sdu, usize::from);
        let socket = (self.network.open)(id, quality, config.max_sdu)?;
        config.receive_buffer = sys::set_receive_buffer(&socket, self.options.receive_buffer)?;
        let network = self.network;
        let circuit = Circuit::start(socket, config, move |ended| network.ended(id, ended))?;
        let open = Open {
            circuit: Arc::downgrade(&circuit),
            quality: *quality,
        };
        self.network.circuits().insert(id, open);
        Ok(circuit)
    }

    /// Joins a circuit as [`join`](Self::join) does, and waits while a circuit that this process or another has just
    /// closed is not free yet.
    async fn wait_to_join(&self, id: CircuitId, quality: &Quality) -> io::Result<Arc<Circuit>> {
        let until = Instant::now().checked_add(FREED_WITHIN);
        loop {
            match self.join(id, quality) {
                Err(error)
                    if error.kind() == io::ErrorKind::AddrInUse
                        && until.is_some_and(|until| Instant::now() < until) =>
                {
                    tokio::time::sleep(FREED_TURN).await;
                }
                result => return result,
            }
        }
    }
}

/// Time in which a closed circuit becomes free, and the interval of tries: a process that ends closes its circuits in a
/// moment.
const FREED_WITHIN: Duration = Duration::from_millis(500);
const FREED_TURN: Duration = Duration::from_millis(20);

/// Options of opening circuits, besides their quality of service, which is part of their address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtmOptions {
    receive_buffer: usize,
    config: Config,
}

impl AtmOptions {
    /// Default of the [receive buffer](Self::receive_buffer), in octets.
    pub const DEFAULT_RECEIVE_BUFFER: usize = 4 << 20;

    /// Sets the size of the kernel's buffer for frames that were not read yet, in octets of its memory (`SO_RCVBUF`); 4 MiB by
    /// default. The peer never has more in flight, so it bounds the rate: it should hold the frames of a round trip.
    /// Linux reduces it to `net.core.rmem_max` for processes without CAP_NET_ADMIN, and doubles it.
    #[must_use]
    pub fn receive_buffer(self, octets: usize) -> Self {
        Self {
            receive_buffer: octets,
            ..self
        }
    }

    /// Sets the configuration of the session layer: its times and bounds. Its largest frame applies to circuits whose
    /// address has none. Its receive buffer is ignored, since the kernel's size applies.
    #[must_use]
    pub fn session(self, config: Config) -> Self {
        Self { config, ..self }
    }
}

impl Default for AtmOptions {
    fn default() -> Self {
        Self {
            receive_buffer: Self::DEFAULT_RECEIVE_BUFFER,
            config: Config::default(),
        }
    }
}

/// The circuits that this process has open. A circuit has one socket, so its users share it.
#[derive(Clone, Copy)]
struct Network {
    open: fn(CircuitId, &Quality, usize) -> io::Result<Socket>,
    circuits: &'static Mutex<BTreeMap<CircuitId, Open>>,
}

struct Open {
    circuit: Weak<Circuit>,
    quality: Quality,
}

impl Network {
    fn circuits(&self) -> MutexGuard<'static, BTreeMap<CircuitId, Open>> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(self, id: CircuitId, circuit: &Circuit) {
        let mut circuits = self.circuits();
        let is_it = |open: &Open| std::ptr::eq(open.circuit.as_ptr(), circuit);
        if circuits.get(&id).is_some_and(is_it) {
            circuits.remove(&id);
        }
        drop(circuits);
        circuit.end();
    }
}

impl Default for Network {
    fn default() -> Self {
        static CIRCUITS: Mutex<BTreeMap<CircuitId, Open>> = Mutex::new(BTreeMap::new());
        Self {
            open: sys::open,
            circuits: &CIRCUITS,
        }
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

impl Transport for Atm {
    fn addressing(&self) -> &dyn Addressing {
        &self.addressing
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let connection = async {
                let address = address(endpoint)?;
                let near = address.at_the_peer();
                let circuit = self.wait_to_join(near, address.quality()).await?;
                let left = Joined(Some(&circuit));
                let session = circuit.open()?;
                left.stay();
                // The connection is dropped with this future, or when opening fails.
                let connection = AtmConnection {
                    circuit: Arc::clone(&circuit),
                    session,
                    local: named(&AtmAddress::new(near)),
                    peer: named(address),
                };
                poll_fn(|cx| circuit.poll_open(cx, session)).await?;
                io::Result::Ok(Box::new(connection) as Box<dyn Connection>)
            };
            connection
                .await
                .map_err(|cause| TransportError::new(Operation::Connect, endpoint.clone(), cause))
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let listener = async {
                let address = *address(endpoint)?;
                let joined = self.wait_to_join(address.circuit(), address.quality());
                let circuit = joined.await?;
                let left = Joined(Some(&circuit));
                circuit.listen()?;
                left.stay();
                io::Result::Ok(Box::new(AtmListener {
                    circuit,
                    endpoint: endpoint.clone(),
                    address,
                }) as Box<dyn Listener>)
            };
            listener
                .await
                .map_err(|cause| TransportError::new(Operation::Listen, endpoint.clone(), cause))
        })
    }
}

/// A circuit that was joined. Dropping this leaves it, unless [`stay`](Joined::stay) was called.
struct Joined<'a>(Option<&'a Circuit>);

impl Joined<'_> {
    fn stay(mut self) {
        self.0 = None;
    }
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        if let Some(circuit) = self.0 {
            circuit.leave();
        }
    }
}

const CAPABILITIES: Capabilities = Capabilities::stream().with_gather();

fn address(endpoint: &Endpoint) -> io::Result<&AtmAddress> {
    endpoint.address().ok_or_else(|| {
        let reason = "not an endpoint of the ATM transport";
        io::Error::new(io::ErrorKind::InvalidInput, reason)
    })
}

fn named(address: &AtmAddress) -> Address {
    // A circuit leads to one host.
    let host = HostId::Named(format!("{SCHEME} {address}").into());
    let name = format!("{SCHEME}://{address}").into();
    Address::Other { name, host }
}

/// The result of a read that has registered its waker if it found no octets.
fn pending(read: io::Result<ReadOutcome>) -> Poll<io::Result<ReadOutcome>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        read => Poll::Ready(read),
    }
}

#[derive(Debug)]
struct AtmConnection {
    circuit: Arc<Circuit>,
    session: u64,
    local: Address,
    peer: Address,
}

impl Connection for AtmConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        let read = pending(self.circuit.read(self.session, buf, Some(cx), false));
        read.map_ok(|read| read.octets)
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        pending(self.circuit.read(self.session, buf, Some(cx), true))
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        let read = self.circuit.read(self.session, buf, None, false);
        read.map(|read| read.octets)
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(read) = self.poll_read(&mut cx, buf) {
                return read;
            }
            match until {
                None => thread::park(),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        self.circuit.deregister(self.session);
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                    thread::park_timeout(left);
                }
            }
        }
    }

    fn deregister(&self) {
        self.circuit.deregister(self.session);
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        self.circuit.write(self.session, chunks)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.circuit.poll_writable(cx, self.session).map(Ok)
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.circuit.shutdown_write(self.session)
    }

    fn close(&self) {
        self.circuit.close(self.session);
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }
}

/// Wakes a thread in a blocking read.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drop for AtmConnection {
    fn drop(&mut self) {
        self.circuit.release(self.session);
    }
}

#[derive(Debug)]
struct AtmListener {
    circuit: Arc<Circuit>,
    endpoint: Endpoint,
    address: AtmAddress,
}

impl Listener for AtmListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let accepted = self.circuit.poll_accept(cx);
        accepted.map_ok(|session| {
            Box::new(AtmConnection {
                circuit: Arc::clone(&self.circuit),
                session,
                local: named(&self.address),
                peer: named(&AtmAddress::new(self.address.at_the_peer())),
            }) as Box<dyn Connection>
        })
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Drop for AtmListener {
    fn drop(&mut self) {
        self.circuit.unlisten();
    }
}

impl EndpointAddress for AtmAddress {}

/// The syntax of ATM addresses: `atm://interface.vpi.vci?parameters` ([`AtmAddress`]). A profile of [`PROFILE_ATM`] has
/// the numbers of both ends, then the traffic class (1 UBR, 2 CBR), the peak cell rate and the largest frame, of which
/// 0 means unspecified.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to it")]
pub struct AtmAddressing;

impl Addressing for AtmAddressing {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn forms(&self) -> &'static [&'static str] {
        &["atm://interface.vpi.vci"]
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        let address: AtmAddress = text
            .parse()
            .map_err(|error: crate::Unreadable| error.0)
            .map_err(AddressError::expected)?;
        Ok(Endpoint::new(SCHEME, address))
    }

    fn profile(&self) -> Option<u32> {
        Some(PROFILE_ATM)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        let address: Option<&AtmAddress> = endpoint.address();
        let address = address.ok_or_else(|| AddressError::expected("an ATM endpoint"))?;
        for end in [address.circuit(), address.at_the_peer()] {
            to.write_u16(end.interface());
            to.write_u16(end.vci());
            to.write_u8(end.vpi());
        }
        let quality = address.quality();
        to.write_u8(match quality.class() {
            Class::Ubr => 1,
            Class::Cbr => 2,
        });
        to.write_u32(quality.peak_cell_rate().unwrap_or(0));
        to.write_u16(quality.sdu().unwrap_or(0));
        Ok(())
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        let mut end = || {
            let (interface, vci, vpi) = (from.read_u16()?, from.read_u16()?, from.read_u8()?);
            let circuit = CircuitId::new(interface, vpi, vci);
            circuit.ok_or_else(|| AddressError::expected("the numbers of a circuit"))
        };
        let (circuit, peer) = (end()?, end()?);
        let mut quality = Quality::default().with_class(match from.read_u8()? {
            1 => Class::Ubr,
            2 => Class::Cbr,
            _ => return Err(AddressError::expected("a traffic class of 1 or 2")),
        });
        match from.read_u32()? {
            0 => {}
            cells @ 1..=MAX_PCR => quality = quality.with_peak_cell_rate(cells),
            _ => return Err(AddressError::expected("a cell rate below 2³¹")),
        }
        match from.read_u16()? {
            0 => {}
            octets => {
                let sized = quality.with_sdu(octets.into());
                quality =
                    sized.ok_or_else(|| AddressError::expected("frames of 256 octets or more"))?;
            }
        }
        let address = AtmAddress::new(circuit).with_peer(peer);
        let address = address.with_quality(quality);
        let address = address.ok_or_else(|| AddressError::expected("a rate beside its class"))?;
        Ok(Endpoint::new(SCHEME, address))
    }
}

#[cfg(test)]
mod tests;
