use std::{collections::BTreeMap, io, sync::Arc};

use crate::{
    BoxFuture, Connection, Endpoint, Listener, Operation, Tcp, Transport, TransportError, Unix,
};

/// The transports that an ORB knows, found by the scheme of an endpoint. Cloning is cheap enough for start-up, and
/// shares the transports.
///
/// The default has [`Tcp`] for `iiop` and [`Unix`] for `uiop`, both with their default options.
#[derive(Clone, Debug)]
pub struct Registry {
    transports: BTreeMap<&'static str, Arc<dyn Transport>>,
}

impl Registry {
    /// A registry without any transport.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            transports: BTreeMap::new(),
        }
    }

    /// Adds a transport under its scheme, and returns the one that was there before.
    pub fn insert(&mut self, transport: Arc<dyn Transport>) -> Option<Arc<dyn Transport>> {
        self.transports.insert(transport.scheme(), transport)
    }

    /// The transport for a scheme.
    #[must_use]
    pub fn get(&self, scheme: &str) -> Option<&Arc<dyn Transport>> {
        self.transports.get(scheme)
    }

    /// The schemes that there are transports for, in the order of the alphabet.
    pub fn schemes(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.transports.keys().copied()
    }

    /// Connects by whichever transport `endpoint` needs; see [`Transport::connect`].
    ///
    /// # Errors
    /// Those of the transport, and one of kind `Unsupported` when there is none for the scheme.
    ///
    /// # Cancel safety
    /// Dropping the future closes what was half open.
    pub fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        match self.get(endpoint.scheme()) {
            Some(transport) => transport.connect(endpoint),
            None => Box::pin(async { Err(no_transport(Operation::Connect, endpoint)) }),
        }
    }

    /// Listens by whichever transport `endpoint` needs; see [`Transport::listen`].
    ///
    /// # Errors
    /// Those of the transport, and one of kind `Unsupported` when there is none for the scheme.
    ///
    /// # Cancel safety
    /// Dropping the future closes what was half open.
    pub fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        match self.get(endpoint.scheme()) {
            Some(transport) => transport.listen(endpoint),
            None => Box::pin(async { Err(no_transport(Operation::Listen, endpoint)) }),
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        let mut registry = Self::empty();
        registry.insert(Arc::new(Tcp::default()));
        registry.insert(Arc::new(Unix::default()));
        registry
    }
}

fn no_transport(operation: Operation, endpoint: &Endpoint) -> TransportError {
    let cause = io::Error::new(io::ErrorKind::Unsupported, "no transport for this scheme");
    TransportError::new(operation, endpoint.clone(), cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_tells_the_schemes_of_its_transports() {
        assert_eq!(Registry::empty().schemes().count(), 0);
        let schemes: Vec<_> = Registry::default().schemes().collect();
        assert_eq!(schemes, ["iiop", "uiop"]);
    }
}
