//! `sequence<octet>`, borrowed from a message or to be sent.

use crate::Frame;
use alloc::vec::Vec;
use bytes::Bytes;
use core::{fmt, ops::Deref};

/// [`OctetsRef::keep`] shares the frame from this many octets on; below, a copy costs no more than the
/// reference count and the cache misses of a shared one.
pub const KEEP_SHARES_FROM: usize = 1024;

/// [`OctetsRef::keep`] shares a frame only if that pins at most this many times the octets that are kept. So a service
/// which keeps small parts of large messages needs memory in proportion to these parts.
pub const KEEP_PINS_AT_MOST: usize = 8;

/// Octets of a message, borrowed from its frame.
///
/// A servant gets it for `in sequence<octet>`. It derefs to `[u8]`; [`keep`](Self::keep) makes octets that outlive the
/// call.
#[derive(Clone, Copy)]
pub struct OctetsRef<'de> {
    octets: &'de [u8],
    frame: Option<&'de Frame>,
}

impl<'de> OctetsRef<'de> {
    /// Makes a reference to octets of no frame: keeping them copies them.
    #[must_use]
    pub const fn new(octets: &'de [u8]) -> Self {
        Self {
            octets,
            frame: None,
        }
    }

    /// Makes a reference to all octets of a frame, which keeping them may share.
    #[doc(hidden)]
    #[must_use]
    pub fn whole(frame: &'de Frame) -> Self {
        Self::of_frame(frame.octets(), Some(frame))
    }

    pub(crate) const fn of_frame(octets: &'de [u8], frame: Option<&'de Frame>) -> Self {
        Self { octets, frame }
    }

    /// Returns the octets, for as long as the frame lives.
    #[must_use]
    pub const fn as_slice(&self) -> &'de [u8] {
        self.octets
    }

    /// Returns the octets as an owned value.
    ///
    /// Large ones ([`KEEP_SHARES_FROM`]) share the message they came in, without copying, unless they are a small
    /// part of it ([`KEEP_PINS_AT_MOST`]). All others are copied, which allocates.
    #[must_use]
    pub fn keep(&self) -> Bytes {
        match self.frame {
            Some(frame)
                if self.octets.len() >= KEEP_SHARES_FROM
                    && frame.len() / KEEP_PINS_AT_MOST <= self.octets.len() =>
            {
                frame.bytes().slice_ref(self.octets)
            }
            _ => Bytes::copy_from_slice(self.octets),
        }
    }
}

impl Deref for OctetsRef<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.octets
    }
}

impl AsRef<[u8]> for OctetsRef<'_> {
    fn as_ref(&self) -> &[u8] {
        self.octets
    }
}

impl PartialEq for OctetsRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.octets == other.octets
    }
}

impl Eq for OctetsRef<'_> {}

impl PartialEq<[u8]> for OctetsRef<'_> {
    fn eq(&self, other: &[u8]) -> bool {
        self.octets == other
    }
}

impl PartialEq<&[u8]> for OctetsRef<'_> {
    fn eq(&self, other: &&[u8]) -> bool {
        self.octets == *other
    }
}

impl fmt::Debug for OctetsRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OctetsRef({} octets)", self.octets.len())
    }
}

impl<'de> From<OctetsRef<'de>> for &'de [u8] {
    fn from(octets: OctetsRef<'de>) -> Self {
        octets.octets
    }
}

/// Octets to be sent: borrowed, or shared and then not copied when they are many
/// (see [`SHARE_FROM`](crate::SHARE_FROM)).
///
/// Stubs take `impl Into<Octets<'_>>` for `in sequence<octet>`.
#[derive(Clone)]
pub struct Octets<'a>(Source<'a>);

#[derive(Clone)]
enum Source<'a> {
    Borrowed(&'a [u8]),
    Shared(Bytes),
    SharedRef(&'a Bytes),
}

impl Octets<'_> {
    /// Returns the octets if they can be shared.
    #[doc(hidden)]
    #[must_use]
    pub const fn shared(&self) -> Option<&Bytes> {
        match &self.0 {
            Source::Borrowed(_) => None,
            Source::Shared(bytes) => Some(bytes),
            Source::SharedRef(bytes) => Some(bytes),
        }
    }
}

impl Deref for Octets<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Source::Borrowed(octets) => octets,
            Source::Shared(bytes) => bytes,
            Source::SharedRef(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Octets<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Octets({} octets)", self.len())
    }
}

impl<'a> From<&'a [u8]> for Octets<'a> {
    fn from(octets: &'a [u8]) -> Self {
        Self(Source::Borrowed(octets))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Octets<'a> {
    fn from(octets: &'a [u8; N]) -> Self {
        Self(Source::Borrowed(octets))
    }
}

impl<'a> From<&'a Vec<u8>> for Octets<'a> {
    fn from(octets: &'a Vec<u8>) -> Self {
        Self(Source::Borrowed(octets))
    }
}

impl From<Vec<u8>> for Octets<'_> {
    fn from(octets: Vec<u8>) -> Self {
        Self(Source::Shared(octets.into()))
    }
}

impl From<Bytes> for Octets<'_> {
    fn from(octets: Bytes) -> Self {
        Self(Source::Shared(octets))
    }
}

impl<'a> From<&'a Bytes> for Octets<'a> {
    fn from(octets: &'a Bytes) -> Self {
        Self(Source::SharedRef(octets))
    }
}

impl<'a> From<OctetsRef<'a>> for Octets<'a> {
    fn from(octets: OctetsRef<'a>) -> Self {
        Self(Source::Borrowed(octets.octets))
    }
}
