//! The transport: endpoints of shared memory, and the properties of its connections.

use crate::connection::{CAPABILITIES, ShmConnection};
use crate::handshake;
use crate::listener::ShmListener;
use crate::options::ShmOptions;
use crate::pool::{Place, Pool, Pools, Value};
use std::io;
use std::sync::Arc;
use zorb_transport::{
    Address, Addressing, AddressingOver, BoxFuture, Capabilities, Connection, Endpoint, HostId,
    Listener, Operation, Properties, Property, PropertyError, Transport, TransportError, Unix,
};

/// The tag of profiles of shared memory, in the range of zorb's own tags. The address is that of a UNIX socket.
const PROFILE: u32 = 0x5a4f_5220;

/// Shared memory: endpoints `shm:///path` and `shm://@name`, the names of the UNIX socket over which peers agree.
///
/// Costs two descriptors for each connection, and twice [`ShmOptions::ring_octets`] of memory, which count with the memory of all
/// connections of each ORB.
#[derive(Clone, Debug)]
pub struct Shm {
    options: ShmOptions,
    sockets: Unix,
    addressing: AddressingOver,
    /// Of this process.
    pool: Option<Pool>,
    /// Of the clients of its listeners.
    pools: Arc<Pools>,
}

impl Default for Shm {
    fn default() -> Self {
        Self::new(ShmOptions::default())
    }
}

impl Shm {
    /// Shared memory with these options for every connection and listener.
    #[must_use]
    pub fn new(options: ShmOptions) -> Self {
        let sockets = Unix::default();
        Self {
            options,
            addressing: AddressingOver::new("shm", PROFILE, Arc::new(sockets.clone())),
            sockets,
            pool: None,
            pools: Arc::default(),
        }
    }

    /// Shares a pool of so many octets with every server that it connects to, beside the rings: for values that are so large that
    /// their copies count. Of a call only their [`Place`]s travel, whatever their size:
    ///
    /// ```
    /// use zorb_shm::{Place, Shm};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// // The client. Its ORB has a clone of `shm`, as its transport.
    /// let shm = Shm::default().with_pool(1 << 20)?;
    /// let pool = shm.pool().expect("it has one");
    /// let loan = pool.loan(600_000)?;
    /// loan.value().write_at(0, &[7; 600_000])?;
    /// let place = loan.place().to_octets();
    /// // shelf.put(&place).await?, and then:
    /// drop(loan);
    ///
    /// // The servant, with a clone of the server's transport.
    /// # let shm = Shm::default();
    /// let place = Place::from_octets(&place).expect("a place");
    /// if let Some(value) = shm.value(&place) {
    ///     let mut begin = [0; 64];
    ///     value.read_at(0, &mut begin)?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// The servant writes results in the same way, into a loan whose place it was told. The pool counts with the memory of each
    /// connection. Costs a descriptor.
    ///
    /// # Errors
    /// There is not so much memory, or no descriptor is left.
    pub fn with_pool(self, octets: usize) -> io::Result<Self> {
        Ok(Self {
            pool: Some(Pool::new(octets)?),
            ..self
        })
    }

    /// Returns the pool of this process; `None` without [`with_pool`](Self::with_pool).
    #[must_use]
    pub const fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// Returns the value at a place that a client has sent. `None` if no client with that pool is connected to a listener of this
    /// transport or of its clones, or if the place does not lie within the pool.
    #[must_use]
    pub fn value(&self, place: &Place) -> Option<Value> {
        self.pools.find(&place.pool)?.value(place)
    }

    fn plain<'a>(
        &self,
        operation: Operation,
        endpoint: &'a Endpoint,
    ) -> Result<&'a Endpoint, TransportError> {
        self.addressing.unwrap(endpoint).ok_or_else(|| {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "not an endpoint shm://…");
            TransportError::new(operation, endpoint.clone(), cause)
        })
    }
}

impl Transport for Shm {
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
            let plain = self.plain(Operation::Connect, endpoint)?;
            let connected = async {
                let socket = self.sockets.connect_socket(plain).await?;
                let peer = named(&endpoint.to_string());
                let agreed = handshake::offer(socket, &self.options, self.pool.as_ref(), peer);
                ShmConnection::new(agreed.await?)
            };
            match connected.await {
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
            let plain = self.plain(Operation::Listen, endpoint)?;
            match self.sockets.listen_socket(plain).await {
                Ok(sockets) => {
                    let given = self.addressing.wrap(sockets.endpoint().clone());
                    let listener =
                        ShmListener::new(sockets, given, self.options, Arc::clone(&self.pools));
                    Ok(Box::new(listener) as Box<dyn Listener>)
                }
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
        let options = self.options.having(name, value);
        let options = options.ok_or_else(|| PropertyError::value(*property, value))?;
        Ok(Arc::new(Self {
            options,
            ..self.clone()
        }))
    }

    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        let options = *properties.get::<ShmOptions>()?;
        Some(Arc::new(Self {
            options,
            ..self.clone()
        }))
    }
}

/// The names of the properties in text, with their values.
const PROPERTIES: [Property; 4] = [
    Property {
        name: "ring_octets",
        values: "a power of two from 4096 to 268435456",
        default: "262144",
    },
    Property {
        name: "max_ring_octets",
        values: "from 4096 to 268435456",
        default: "4194304",
    },
    Property {
        name: "max_pool_octets",
        values: "a number",
        default: "16777216",
    },
    Property {
        name: "users",
        values: "same or any",
        default: "same",
    },
];

pub(crate) fn named(name: &str) -> Address {
    Address::Other {
        name: name.into(),
        host: HostId::Local,
    }
}
