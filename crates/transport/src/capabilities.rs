//! The capabilities of a transport.

/// The unit in which octets of a connection arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// All octets, in order, and without marks between one write and the next.
    Stream,
    /// Frames: each write is one, which arrives whole or not at all.
    Datagram,
}

/// Capabilities of a transport, by which a messaging protocol decides whether to use it.
///
/// Built by [`stream`](Self::stream) or [`datagram`](Self::datagram) and the `with_` methods.
///
/// ```
/// # mod zorb { pub extern crate zorb_transport as transport; }
/// use zorb::transport::{Capabilities, Delivery};
///
/// const RADIO: Capabilities = Capabilities::datagram(1_500).with_priorities();
/// assert_eq!(RADIO.delivery(), Delivery::Datagram);
/// assert!(!RADIO.gathers());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    delivery: Delivery,
    max_frame: Option<usize>,
    gathers: bool,
    priorities: bool,
    reliable: bool,
    descriptor: bool,
    identity: bool,
}

impl Capabilities {
    /// Returns the capabilities of a reliable stream without a limit of a write, which neither gathers nor passes
    /// priorities.
    #[must_use]
    pub const fn stream() -> Self {
        Self {
            delivery: Delivery::Stream,
            max_frame: None,
            gathers: false,
            priorities: false,
            reliable: true,
            descriptor: false,
            identity: false,
        }
    }

    /// Returns the capabilities of frames of at most `max_frame` octets, which may get lost.
    #[must_use]
    pub const fn datagram(max_frame: usize) -> Self {
        Self {
            delivery: Delivery::Datagram,
            max_frame: Some(max_frame),
            gathers: false,
            priorities: false,
            reliable: false,
            descriptor: false,
            identity: false,
        }
    }

    /// Adds that a write of several chunks is one system call.
    #[must_use]
    pub const fn with_gather(self) -> Self {
        Self {
            gathers: true,
            ..self
        }
    }

    /// Adds that the network gives precedence by a priority that is sent with the octets.
    #[must_use]
    pub const fn with_priorities(self) -> Self {
        Self {
            priorities: true,
            ..self
        }
    }

    /// Adds that frames arrive, all of them once and in order, or the connection ends. A stream is reliable anyway.
    #[must_use]
    pub const fn with_reliability(self) -> Self {
        Self {
            reliable: true,
            ..self
        }
    }

    /// Adds that a connection has one descriptor of the operating system, so that connections count against the
    /// descriptors of the process.
    #[must_use]
    pub const fn with_descriptor(self) -> Self {
        Self {
            descriptor: true,
            ..self
        }
    }

    /// Adds that a connection may report who its peer is, such as its process or its certificate.
    #[must_use]
    pub const fn with_peer_identity(self) -> Self {
        Self {
            identity: true,
            ..self
        }
    }

    /// Returns whether octets arrive as a stream or as datagrams.
    #[must_use]
    pub const fn delivery(self) -> Delivery {
        self.delivery
    }

    /// Returns the largest frame in octets; `None` where there is no such limit.
    #[must_use]
    pub const fn max_frame(self) -> Option<usize> {
        self.max_frame
    }

    /// Whether several chunks are sent by one system call, so that gathering costs less than copying them together.
    #[must_use]
    pub const fn gathers(self) -> bool {
        self.gathers
    }

    /// Whether a priority is sent with the octets.
    #[must_use]
    pub const fn passes_priorities(self) -> bool {
        self.priorities
    }

    /// Whether written octets arrive, once and in order, unless the connection ends.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        self.reliable
    }

    /// Whether a connection takes a descriptor of the process.
    #[must_use]
    pub const fn has_descriptor(self) -> bool {
        self.descriptor
    }

    /// Whether a connection may report who its peer is.
    #[must_use]
    pub const fn reports_peer_identity(self) -> bool {
        self.identity
    }
}
