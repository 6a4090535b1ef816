//! The registry of transports, by the scheme of an endpoint.

use std::{collections::BTreeMap, io, str::FromStr, sync::Arc, time::Duration};

use crate::{
    BoxFuture, Connection, Endpoint, ListenAddress, Listener, Operation, ParseEndpointError,
    Properties, Tcp, Transport, TransportError, Unix,
};

/// The transports of an ORB, found by the scheme of an endpoint. A clone copies the table and shares the transports.
///
/// The default has [`Tcp`] for `iiop` and [`Unix`] for `uiop`, both with their default options.
#[derive(Clone, Debug)]
pub struct Registry {
    transports: BTreeMap<&'static str, Arc<dyn Transport>>,
}

impl Registry {
    /// Makes a registry without any transport.
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

    /// Returns the transport for a scheme, which has to be in lower case; `None` if the registry has none.
    #[must_use]
    pub fn get(&self, scheme: &str) -> Option<&Arc<dyn Transport>> {
        self.transports.get(scheme)
    }

    /// Returns the schemes of the transports, in alphabetical order.
    pub fn schemes(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.transports.keys().copied()
    }

    /// Returns the transports, in the order of their schemes.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Transport>> + '_ {
        self.transports.values()
    }

    /// Returns the transport whose addresses are in profiles with this tag; if several claim it, the first by their
    /// schemes.
    #[must_use]
    pub fn by_profile(&self, tag: u32) -> Option<&Arc<dyn Transport>> {
        self.iter()
            .find(|transport| transport.addressing().profile() == Some(tag))
    }

    /// Reads an endpoint of any of the transports.
    ///
    /// # Errors
    /// Expected and found text: the forms of all transports, their schemes, or the address that the scheme
    /// asks for.
    pub fn parse(&self, text: &str) -> Result<Endpoint, ParseEndpointError> {
        let Some((scheme, address)) = text.split_once("://") else {
            return Err(ParseEndpointError::new(self.forms(), text));
        };
        match self.get(&scheme.to_ascii_lowercase()) {
            Some(transport) => (transport.addressing())
                .parse(address)
                .map_err(|error| error.in_text(text)),
            None => {
                let schemes: Vec<_> = self.schemes().collect();
                let expected = format!("one of the schemes {}", enumeration(&schemes, "and"));
                Err(ParseEndpointError::new(expected, text))
            }
        }
    }

    /// Reads an endpoint to listen on, in any of the syntaxes that the transports know.
    ///
    /// # Errors
    /// The errors of [`parse`](Self::parse).
    pub fn parse_listen(&self, text: &str) -> Result<ListenAddress, ParseEndpointError> {
        let read = self
            .iter()
            .find_map(|transport| transport.addressing().parse_listen(text));
        read.unwrap_or_else(|| self.parse(text).map(ListenAddress::from))
    }

    /// Returns the transports with these properties, each with those of its types.
    #[must_use]
    pub fn with_properties(&self, properties: &Properties) -> Self {
        let mut changed = self.clone();
        for transport in self.iter() {
            if let Some(transport) = transport.with_properties(properties) {
                changed.insert(transport);
            }
        }
        changed
    }

    fn forms(&self) -> String {
        let forms: Vec<_> = self
            .iter()
            .flat_map(|transport| transport.addressing().forms())
            .copied()
            .collect();
        enumeration(&forms, "or")
    }

    /// Connects by the transport that `endpoint` needs; see [`Transport::connect`].
    ///
    /// # Errors
    /// Returns the errors of the transport; an error of kind [`Unsupported`](std::io::ErrorKind::Unsupported) if the
    /// registry has none for the scheme.
    ///
    /// # Cancel safety
    /// Dropping the future closes the sockets that it has opened.
    pub fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        match self.get(endpoint.scheme()) {
            Some(transport) => transport.connect(endpoint),
            None => Box::pin(async { Err(no_transport(Operation::Connect, endpoint)) }),
        }
    }

    /// Connects within a time limit by the transport that `endpoint` needs; see [`Transport::connect_within`].
    ///
    /// # Errors
    /// Returns the errors of the transport; an error of kind [`Unsupported`](std::io::ErrorKind::Unsupported) if the
    /// registry has none for the scheme.
    ///
    /// # Cancel safety
    /// Dropping the future closes the sockets that it has opened.
    pub fn connect_within<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        match self.get(endpoint.scheme()) {
            Some(transport) => transport.connect_within(endpoint, limit),
            None => Box::pin(async { Err(no_transport(Operation::Connect, endpoint)) }),
        }
    }

    /// Listens by the transport that `endpoint` needs; see [`Transport::listen`].
    ///
    /// # Errors
    /// Returns the errors of the transport; an error of kind [`Unsupported`](std::io::ErrorKind::Unsupported) if the
    /// registry has none for the scheme.
    ///
    /// # Cancel safety
    /// Dropping the future closes the sockets that it has opened.
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

/// Parses as [`Registry::parse`] of the default registry does.
impl FromStr for Endpoint {
    type Err = ParseEndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Registry::default().parse(text)
    }
}

/// Joins items as in `a, b or c`, with `word` before the last.
fn enumeration(items: &[&str], word: &str) -> String {
    match items {
        [] => "a registered transport".to_owned(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} {word} {last}", before.join(", ")),
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
    fn a_registry_lists_the_schemes_of_its_transports() {
        assert_eq!(Registry::empty().schemes().count(), 0);
        let schemes: Vec<_> = Registry::default().schemes().collect();
        assert_eq!(schemes, ["iiop", "uiop"]);
    }
}
