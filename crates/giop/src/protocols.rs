//! Protocols and their properties, as a reference states them for its clients: the value of a ClientProtocolPolicy in
//! TAG_POLICIES.

use crate::ior::{ProfileTag, encapsulate, in_encapsulation};
use bytes::Bytes;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncapsulationVisitor, EncodeError};

/// Most protocols of one policy that are read, which bounds the loop whatever count a peer states.
const MAX_READ: usize = 64;
/// The tags of GIOP over shared memory and over datagrams, which are TAO's.
const SHMIOP: ProfileTag = ProfileTag(0x5441_4f02);
const DIOP: ProfileTag = ProfileTag(0x5441_4f04);

/// Properties of TCP sockets: `RTCORBA::TCPProtocolProperties`.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these five"
)]
pub struct TcpProtocolProperties {
    /// Octets of the kernel's send buffer; 0 leaves it to the system.
    pub send_buffer_size: i32,
    /// Octets of the kernel's receive buffer; 0 leaves it to the system.
    pub recv_buffer_size: i32,
    /// Whether the kernel sends keepalive probes to a silent peer.
    pub keep_alive: bool,
    /// Whether packets go to hosts of directly connected networks only.
    pub dont_route: bool,
    /// Whether small writes are sent at once (TCP_NODELAY).
    pub no_delay: bool,
}

impl Default for TcpProtocolProperties {
    /// Returns buffers of the system's size, no delay, and keepalive probes.
    fn default() -> Self {
        Self {
            send_buffer_size: 0,
            recv_buffer_size: 0,
            keep_alive: true,
            dont_route: false,
            no_delay: true,
        }
    }
}

/// Properties of UNIX sockets: TAO's `RTCORBA::UnixDomainProtocolProperties`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "TAO has these two")]
pub struct UnixDomainProtocolProperties {
    /// Octets of the kernel's send buffer; 0 leaves it to the system.
    pub send_buffer_size: i32,
    /// Octets of the kernel's receive buffer; 0 leaves it to the system.
    pub recv_buffer_size: i32,
}

/// Properties of a protocol's transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportProperties {
    /// The properties of TCP connections.
    Tcp(TcpProtocolProperties),
    /// The properties of connections by UNIX sockets.
    Unix(UnixDomainProtocolProperties),
    /// The protocol has no properties, or only unknown ones.
    None,
}

/// A protocol that clients may use; its place in its list is its rank: `RTCORBA::Protocol`.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the specification has these")]
pub struct StatedProtocol {
    /// The tag of the profiles of the protocol.
    pub profile: ProfileTag,
    /// Properties of its transport. GIOP's own properties take no octets.
    pub properties: TransportProperties,
}

/// Names of properties, as transports have them in text.
const SEND_BUFFER: &str = "send_buffer";
const RECEIVE_BUFFER: &str = "receive_buffer";
const KEEP_ALIVE: &str = "keepalive";
const DONT_ROUTE: &str = "dont_route";
const NO_DELAY: &str = "nodelay";

impl TransportProperties {
    /// Returns the properties that references state for this profile, from a transport's properties in text: `value` has the
    /// value of a name, if it is set. A profile for which no structure is known has none.
    #[must_use]
    pub fn from_named<'a>(profile: ProfileTag, value: impl Fn(&str) -> Option<&'a str>) -> Self {
        let size = |name| (value(name).and_then(|octets| octets.parse().ok())).unwrap_or(0);
        match profile {
            ProfileTag::INTERNET_IOP => Self::Tcp(TcpProtocolProperties {
                send_buffer_size: size(SEND_BUFFER),
                recv_buffer_size: size(RECEIVE_BUFFER),
                keep_alive: value(KEEP_ALIVE) != Some("0"),
                dont_route: value(DONT_ROUTE) == Some("1"),
                no_delay: value(NO_DELAY) != Some("0"),
            }),
            ProfileTag::UIOP => Self::Unix(UnixDomainProtocolProperties {
                send_buffer_size: size(SEND_BUFFER),
                recv_buffer_size: 0,
            }),
            _ => Self::None,
        }
    }

    /// Returns the properties by name and value, as transports have them in text. Those that leave a choice to the transport are
    /// left out: buffers of 0 octets or less, and keepalive probes, of which a transport knows the interval. So is the receive
    /// buffer of UNIX sockets, as the kernel buffers only at the sending end.
    #[must_use]
    pub fn to_named(self) -> Vec<(&'static str, String)> {
        let mut named = Vec::new();
        let flag = |is_set| String::from(if is_set { "1" } else { "0" });
        let mut buffer = |name, octets: i32| {
            if octets > 0 {
                named.push((name, octets.to_string()));
            }
        };
        match self {
            Self::Tcp(of) => {
                buffer(SEND_BUFFER, of.send_buffer_size);
                buffer(RECEIVE_BUFFER, of.recv_buffer_size);
                named.push((DONT_ROUTE, flag(of.dont_route)));
                named.push((NO_DELAY, flag(of.no_delay)));
                if !of.keep_alive {
                    named.push((KEEP_ALIVE, flag(false)));
                }
            }
            Self::Unix(of) => buffer(SEND_BUFFER, of.send_buffer_size),
            Self::None => {}
        }
        named
    }
}

impl StatedProtocol {
    /// Encodes the value of the policy, as TAO writes it.
    ///
    /// # Errors
    /// Too many protocols for a sequence.
    pub(crate) fn encode(protocols: &[Self]) -> Result<Bytes, EncodeError> {
        encapsulate(|e| {
            e.write_count(protocols.len())?;
            protocols.iter().try_for_each(|protocol| {
                e.write_u32(protocol.profile.0);
                match protocol.properties {
                    TransportProperties::Tcp(of) => {
                        let flags = (of.keep_alive, of.dont_route, of.no_delay);
                        e.put(&(of.send_buffer_size, of.recv_buffer_size))?;
                        e.put(&flags)
                    }
                    TransportProperties::Unix(of) => {
                        e.put(&(of.send_buffer_size, of.recv_buffer_size))
                    }
                    TransportProperties::None => Ok(()),
                }
            })
        })
    }

    /// Reads the value of the policy. Protocols behind one of an unknown tag are left out, since the length of its
    /// properties is unknown.
    ///
    /// # Errors
    /// It is malformed.
    pub(crate) fn decode(value: &[u8]) -> Result<Vec<Self>, DecodeError> {
        in_encapsulation(value, ReadProtocols)
    }
}

struct ReadProtocols;

impl<'de> EncapsulationVisitor<'de> for ReadProtocols {
    type Output = Vec<StatedProtocol>;

    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Self::Output, DecodeError> {
        let count = d.read_count(4)?;
        let mut read = Vec::new();
        for _ in 0..count.min(MAX_READ) {
            let profile = ProfileTag(d.read_u32()?);
            let properties = match profile {
                ProfileTag::INTERNET_IOP => TransportProperties::Tcp(tcp(d)?),
                ProfileTag::UIOP => {
                    let (send_buffer_size, recv_buffer_size) = d.get()?;
                    TransportProperties::Unix(UnixDomainProtocolProperties {
                        send_buffer_size,
                        recv_buffer_size,
                    })
                }
                SHMIOP => {
                    tcp(d)?;
                    // The size of the segment, the names of its file and its lock.
                    let _: i32 = d.get()?;
                    d.read_raw_string()?;
                    d.read_raw_string()?;
                    TransportProperties::None
                }
                DIOP => TransportProperties::None,
                _ => {
                    let properties = TransportProperties::None;
                    read.push(StatedProtocol {
                        profile,
                        properties,
                    });
                    break;
                }
            };
            read.push(StatedProtocol {
                profile,
                properties,
            });
        }
        Ok(read)
    }
}

fn tcp<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<TcpProtocolProperties, DecodeError> {
    let (send_buffer_size, recv_buffer_size) = d.get()?;
    let (keep_alive, dont_route, no_delay) = d.get()?;
    Ok(TcpProtocolProperties {
        send_buffer_size,
        recv_buffer_size,
        keep_alive,
        dont_route,
        no_delay,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three protocols, in big-endian order: TCP, shared memory, UNIX sockets.
    const STATED: &[u8] = &[
        0, 0, 0, 0, 0, 0, 0, 3, // three protocols
        0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x40, 0, 1, 0, 1, 0, // TCP, and a gap
        0x54, 0x41, 0x4f, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, // shared memory
        0, 0, 0x10, 0, 0, 0, 0, 2, b'f', 0, 0, 0, 0, 0, 0, 2, b'l', 0, 0, 0, // its names
        0x54, 0x41, 0x4f, 0, 0, 0, 0, 3, 0, 0, 0, 4, // UNIX sockets
    ];

    fn tcp(properties: TcpProtocolProperties) -> StatedProtocol {
        StatedProtocol {
            profile: ProfileTag::INTERNET_IOP,
            properties: TransportProperties::Tcp(properties),
        }
    }

    const UNIX: StatedProtocol = StatedProtocol {
        profile: ProfileTag::UIOP,
        properties: TransportProperties::Unix(UnixDomainProtocolProperties {
            send_buffer_size: 3,
            recv_buffer_size: 4,
        }),
    };

    #[test]
    fn protocols_are_read_as_tao_writes_them() {
        let first = tcp(TcpProtocolProperties {
            send_buffer_size: 0x8000,
            recv_buffer_size: 0x4000,
            ..TcpProtocolProperties::default()
        });
        let shared = StatedProtocol {
            profile: SHMIOP,
            properties: TransportProperties::None,
        };
        assert_eq!(
            StatedProtocol::decode(STATED),
            Ok(vec![first, shared, UNIX])
        );
        for cut in 0..STATED.len() {
            assert!(StatedProtocol::decode(&STATED[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn protocols_come_back_from_what_is_written() {
        let routed = tcp(TcpProtocolProperties {
            keep_alive: false,
            dont_route: true,
            ..TcpProtocolProperties::default()
        });
        let other = StatedProtocol {
            profile: ProfileTag(77),
            properties: TransportProperties::None,
        };
        for protocols in [&[][..], &[routed], &[UNIX, routed, other]] {
            let value = StatedProtocol::encode(protocols).unwrap();
            assert_eq!(StatedProtocol::decode(&value).unwrap(), protocols);
        }
        // Properties of an unknown protocol have no known end.
        let value = StatedProtocol::encode(&[other, UNIX]).unwrap();
        assert_eq!(StatedProtocol::decode(&value).unwrap(), [other]);
        // A count of more protocols than the octets can hold.
        assert!(StatedProtocol::decode(&[0, 0, 0, 0, 255, 255, 255, 255]).is_err());
    }
}
