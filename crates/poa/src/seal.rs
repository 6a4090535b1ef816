//! Authenticated keys, which cannot be guessed: a message authentication code over the key of an object, by a secret of the
//! server.
//!
//! The code is the first 16 octets of keyed BLAKE3. Without the secret, a guess of the code of an unknown key has one chance
//! in 2^128. A failed guess reveals nothing, as the octets are compared in constant time.

use crate::key::ObjectKey;
use bytes::Bytes;
use core::fmt;
use subtle::ConstantTimeEq;

/// Octets of a code.
pub(crate) const CODE_LEN: usize = 16;

/// The context string for deriving keys from secrets, so that no other use of the same secret derives the same key.
const CONTEXT: &str = "zorb 2026-11-24 codes in object keys";

/// The secret by which the codes in object keys are made. Its [`Debug`] output does not contain it.
#[derive(Clone)]
pub struct KeySecret {
    key: [u8; blake3::KEY_LEN],
    outlives: bool,
}

impl KeySecret {
    /// From a secret that the application gives in every run of the server: any octets with an entropy of at least 128 bits.
    #[must_use]
    pub fn from_application(secret: &[u8]) -> Self {
        Self {
            key: blake3::derive_key(CONTEXT, secret),
            outlives: true,
        }
    }

    /// From octets drawn at random in this run of the server, for transient references alone.
    #[must_use]
    pub fn of_this_life(random: [u8; blake3::KEY_LEN]) -> Self {
        Self {
            key: random,
            outlives: false,
        }
    }

    /// Whether the next run of the server has the same secret, so that persistent keys may use it.
    #[must_use]
    pub fn outlives_the_server(&self) -> bool {
        self.outlives
    }

    fn code(&self, key: &[u8]) -> [u8; CODE_LEN] {
        let code = blake3::keyed_hash(&self.key, key);
        let (first, _) = code.as_bytes().split_at(CODE_LEN);
        let mut octets = [0; CODE_LEN];
        octets.copy_from_slice(first);
        octets
    }

    /// The authenticated key: `key` with its code.
    pub(crate) fn seal(&self, key: &[u8]) -> Bytes {
        let code = self.code(key);
        let sealed = ObjectKey::Sealed { code: &code, key };
        sealed.to_bytes()
    }

    /// Whether `code` is the code of `key`. Takes one pass over the key, and the same time for every code.
    pub(crate) fn is_code_of(&self, code: &[u8; CODE_LEN], key: &[u8]) -> bool {
        self.code(key).ct_eq(code).into()
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySecret")
            .field("outlives", &self.outlives)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[test]
    fn a_code_depends_on_every_octet_and_on_the_secret() {
        let secret = KeySecret::from_application(b"correct horse battery staple");
        let key = [7_u8; 28];
        let code = secret.code(&key);
        assert!(secret.is_code_of(&code, &key));
        assert!(!KeySecret::from_application(b"another").is_code_of(&code, &key));
        assert!(!KeySecret::of_this_life([0; 32]).is_code_of(&code, &key));
        for at in 0..key.len() {
            let mut other = key;
            other[at] ^= 1;
            assert!(!secret.is_code_of(&code, &other), "{at}");
        }
        for at in 0..CODE_LEN {
            let mut other = code;
            other[at] ^= 0x80;
            assert!(!secret.is_code_of(&other, &key), "{at}");
        }
        assert_eq!(
            format!("{secret:?}"),
            "KeySecret { outlives: true, .. }",
            "a secret is not printed"
        );
    }
}
