//! The form in which a request addresses its target.

use crate::ProtocolError;

/// The form in which a request of GIOP 1.2 addresses its target: `GIOP::AddressingDisposition`.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressingDisposition {
    /// By the object key, which every ORB sends first, and which is the only form of GIOP 1.0 and 1.1.
    #[doc(alias = "KeyAddr")]
    Key = 0,
    /// By a whole profile.
    #[doc(alias = "ProfileAddr")]
    Profile = 1,
    /// By the whole reference.
    #[doc(alias = "ReferenceAddr")]
    Reference = 2,
}

impl AddressingDisposition {
    /// Returns the disposition of this number: 0, 1 or 2.
    ///
    /// # Errors
    /// [`BadAddressing`](ProtocolError::BadAddressing) for any other number.
    pub fn from_wire(disposition: i16) -> Result<Self, ProtocolError> {
        match disposition {
            0 => Ok(Self::Key),
            1 => Ok(Self::Profile),
            2 => Ok(Self::Reference),
            other => Err(ProtocolError::BadAddressing(other)),
        }
    }
}
