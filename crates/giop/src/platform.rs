//! The platform of a server, as a component of its references, which is reserved for peers that can do without
//! marshalling.
//!
//! The component is zorb's own ([`ComponentTag::ZORB_PLATFORM`]); other ORBs keep it and pass it on. It changes no
//! protocol yet: a server that states protocol 0 speaks GIOP and nothing else.

use crate::ior::{ComponentTag, TaggedComponent, decode_encapsulation, encapsulate};
use bytes::Bytes;
use zorb_cdr::{ByteOrder, Decode, DecodeError, Decoder, EncodeError};

/// The platform of a server.
///
/// On the wire it is an encapsulation: octet 1 if little-endian, octet size of a pointer, octet largest alignment of a
/// number, unsigned short protocol, string ABI, sequence of octets host. Octets behind these are ignored, and are for
/// later versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Platform {
    /// Whether numbers are little-endian.
    pub is_little_endian: bool,
    /// The size of a pointer, in octets.
    pub pointer_octets: u8,
    /// The alignment of the number that needs most, in octets.
    pub max_alignment: u8,
    /// The version of a protocol beside GIOP for peers of one platform; 0 for none.
    pub protocol: u16,
    /// Processor, operating system and environment: `x86_64-linux-gnu`. At most [`MAX_ABI_OCTETS`](Self::MAX_ABI_OCTETS).
    pub abi: String,
    /// The identity of a host until it is restarted; empty where the system has none.
    /// At most [`MAX_HOST_OCTETS`](Self::MAX_HOST_OCTETS).
    pub host: Bytes,
}

impl Platform {
    /// The limit on the name of an ABI, in octets; readers cut a longer one.
    pub const MAX_ABI_OCTETS: usize = 128;
    /// The limit on the identity of a host, in octets; readers cut a longer one.
    pub const MAX_HOST_OCTETS: usize = 64;

    /// Returns the platform of this process, on a host of that identity.
    #[must_use]
    pub fn of_this_process(host: Bytes) -> Self {
        let environment = match (cfg!(target_env = "gnu"), cfg!(target_env = "musl")) {
            (true, _) => "gnu",
            (_, true) => "musl",
            _ => "other",
        };
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        Self {
            is_little_endian: cfg!(target_endian = "little"),
            pointer_octets: octets(size_of::<usize>()),
            max_alignment: octets(align_of::<u128>()),
            protocol: 0,
            abi: format!("{arch}-{os}-{environment}"),
            host,
        }
    }

    /// Encodes the platform as the component of a reference.
    ///
    /// # Errors
    /// [`EmbeddedNul`](zorb_cdr::EncodeErrorKind::EmbeddedNul) if the name of the ABI contains a NUL.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|e| {
            e.write_u8(u8::from(self.is_little_endian));
            e.write_u8(self.pointer_octets);
            e.write_u8(self.max_alignment);
            e.write_u16(self.protocol);
            e.write_raw_string(self.abi.as_bytes())?;
            e.write_octets(&self.host)
        })?;
        let tag = ComponentTag::ZORB_PLATFORM;
        Ok(TaggedComponent { tag, data })
    }

    /// Reads the platform from the data of its component.
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the data end early, and the errors of a string.
    pub fn from_component(data: &[u8]) -> Result<Self, DecodeError> {
        decode_encapsulation(data)
    }

    /// Whether both platforms have one memory layout of values: byte order, pointers, alignment and ABI are the same.
    #[must_use]
    pub fn is_compatible_with(&self, other: &Self) -> bool {
        let layout = |of: &Self| (of.is_little_endian, of.pointer_octets, of.max_alignment);
        layout(self) == layout(other) && self.abi == other.abi
    }

    /// Whether both platforms state the same host; false if the identity of the host is unknown.
    #[must_use]
    pub fn is_on_host_of(&self, other: &Self) -> bool {
        !self.host.is_empty() && self.host == other.host
    }
}

fn octets(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

impl<'de> Decode<'de> for Platform {
    const MIN_SIZE: usize = 16;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let is_little_endian = d.read_u8()? != 0;
        let (pointer_octets, max_alignment) = (d.read_u8()?, d.read_u8()?);
        let protocol = d.read_u16()?;
        let bounded = |octets: &'de [u8], most: usize| octets.get(..most).unwrap_or(octets);
        let abi = bounded(d.read_raw_string()?, Self::MAX_ABI_OCTETS);
        let host = bounded(d.read_octets()?, Self::MAX_HOST_OCTETS);
        Ok(Self {
            is_little_endian,
            pointer_octets,
            max_alignment,
            protocol,
            abi: String::from_utf8_lossy(abi).into_owned(),
            host: Bytes::copy_from_slice(host),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this_platform() -> Platform {
        Platform::of_this_process(Bytes::from_static(b"0b6e2f34"))
    }

    #[test]
    fn what_is_said_of_a_platform_is_read_again_and_longer_forms_too() {
        let this = this_platform();
        let component = this.to_component().unwrap();
        assert_eq!(component.tag, ComponentTag::ZORB_PLATFORM);
        let read = Platform::from_component(&component.data).unwrap();
        assert_eq!(read, this);
        assert!(read.is_compatible_with(&this));
        let later = [&component.data[..], b"more"].concat();
        assert_eq!(Platform::from_component(&later), Ok(this.clone()));
        for cut in 0..component.data.len() {
            assert!(Platform::from_component(&component.data[..cut]).is_err());
        }
        assert!(component.data.len() < 100);
    }

    #[test]
    fn platforms_differ_by_what_values_look_like_and_hosts_by_what_they_say() {
        let this = this_platform();
        let mut other = this.clone();
        other.host = Bytes::from_static(b"another");
        assert!(this.is_compatible_with(&other) && !this.is_on_host_of(&other));
        other = this.clone();
        other.is_little_endian = !this.is_little_endian;
        assert!(!this.is_compatible_with(&other));
        // Two platforms that state no host are not on one.
        (other.host, other.abi) = (Bytes::new(), String::new());
        assert!(!other.is_on_host_of(&other.clone()));
    }

    #[test]
    fn long_names_are_cut() {
        let mut this = this_platform();
        this.abi = "x".repeat(70_000);
        this.host = vec![1; 70_000].into();
        let read = Platform::from_component(&this.to_component().unwrap().data).unwrap();
        assert_eq!(read.abi.len(), Platform::MAX_ABI_OCTETS);
        assert_eq!(read.host.len(), Platform::MAX_HOST_OCTETS);
    }
}
