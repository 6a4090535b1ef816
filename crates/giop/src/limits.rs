//! The limits of one message and of one connection, by name.

/// Limits on the messages of one connection's peer.
///
/// These count octets of messages. Memory is counted elsewhere, and for all connections together
/// (`zorb_connection::MemoryLimit`): a buffer may have twice the capacity of its contents, and a peer may have many
/// connections. An announced length takes no memory; buffers grow with the octets that have come
/// ([`Reader`](crate::Reader)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Octets of one message, header included, fragments put together.
    pub max_message_octets: usize,
    /// Messages of which some, but not all, fragments have arrived (GIOP 1.2 may interleave them).
    pub max_partial_messages: usize,
    /// Octets of all messages of which some, but not all, fragments have arrived.
    pub max_partial_octets: usize,
}

impl Limits {
    /// Default of [`max_message_octets`](Self::max_message_octets), 64 MiB: well above the messages of ORBs by default
    /// (omniORB stops at 2 MiB). It does not bound the memory of a server, each of whose connections may have as much.
    pub const DEFAULT_MAX_MESSAGE_OCTETS: usize = 64 << 20;
    /// Default of [`max_partial_messages`](Self::max_partial_messages): GlassFish interleaves the fragments of as many
    /// replies as it has worker threads, which by default is far fewer.
    pub const DEFAULT_MAX_PARTIAL_MESSAGES: usize = 64;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_octets: Self::DEFAULT_MAX_MESSAGE_OCTETS,
            max_partial_messages: Self::DEFAULT_MAX_PARTIAL_MESSAGES,
            max_partial_octets: Self::DEFAULT_MAX_MESSAGE_OCTETS,
        }
    }
}
