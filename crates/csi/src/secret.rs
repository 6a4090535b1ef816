//! Octets that nobody else should see.

use core::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Octets that are wiped when they are dropped, and that `Debug` does not show: passwords, and tokens that hold them.
///
/// Comparing two takes as long wherever they differ; their lengths are not hidden.
#[derive(Clone, Default)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Returns the octets.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether there are no octets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl AsRef<[u8]> for Secret {
    /// So that shared octets ([`bytes::Bytes::from_owner`]) are wiped with their last clone.
    fn as_ref(&self) -> &[u8] {
        self.expose()
    }
}

impl From<Vec<u8>> for Secret {
    /// Takes the octets as they are, without a copy that would stay behind.
    fn from(octets: Vec<u8>) -> Self {
        Self(Zeroizing::new(octets))
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&[u8]> for Secret {
    fn from(octets: &[u8]) -> Self {
        octets.to_vec().into()
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown_and_compares_by_its_octets() {
        let secret = Secret::from("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_eq!(secret, Secret::from(b"hunter2".to_vec()));
        assert_ne!(secret, Secret::from("hunter3"));
        assert_ne!(secret, Secret::default());
    }
}
