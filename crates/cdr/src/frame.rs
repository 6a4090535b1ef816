//! The octets of one message.

use alloc::sync::Arc;
use bytes::Bytes;

/// Octets of one whole message, or of one encapsulation, that can be shared.
///
/// Alignment counts from index 0, so a message is kept with its GIOP header, and an encapsulation with its
/// byte order octet. Cloning costs a reference count.
///
/// A GIOP 1.1 message assembled from fragments also has the index at which each fragment's data begins, since alignment
/// restarts there:
///
/// ```text
/// octets   | GIOP header | body of the first … | data of fragment 2 … | data of fragment 3 … |
/// index    0             12                    starts[0]              starts[1]
/// aligned  0             12                    12                     12
/// ```
#[derive(Clone, Debug, Default)]
pub struct Frame {
    octets: Bytes,
    starts: Option<Arc<[usize]>>,
}

impl Frame {
    /// Makes a frame of a message in one piece (or of GIOP 1.2 fragments, whose alignment goes on).
    #[must_use]
    pub const fn new(octets: Bytes) -> Self {
        Self {
            octets,
            starts: None,
        }
    }

    /// Makes a frame of GIOP 1.1 fragments, without the headers of all but the first.
    ///
    /// `starts` are the indexes in `octets` where the data of the later fragments begins, ascending; each counts as
    /// index 12 for alignment. With indexes out of range or order, decoding fails or returns wrong values.
    #[must_use]
    pub const fn with_fragment_starts(octets: Bytes, starts: Arc<[usize]>) -> Self {
        Self {
            octets,
            starts: Some(starts),
        }
    }

    /// Returns the octets of the frame, GIOP header included.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Returns the octets of the frame as `Bytes`, of which a clone costs a reference count.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.octets
    }

    /// Returns the number of octets of the frame, GIOP header included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.octets.len()
    }

    /// Whether the frame has no octets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// Returns the offsets in this frame at which the data of the second and later GIOP 1.1 fragments begin. Empty for a message
    /// in one part, and for other versions of GIOP.
    #[must_use]
    pub fn fragment_starts(&self) -> &[usize] {
        self.starts.as_deref().unwrap_or_default()
    }
}

impl From<Bytes> for Frame {
    fn from(octets: Bytes) -> Self {
        Self::new(octets)
    }
}
