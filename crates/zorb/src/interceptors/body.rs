//! The body of a reply, as interceptors of both sides read it.

use crate::decoding::ReplyContext;
use crate::orb::OrbInner;
use zorb_cdr::{BigEndian, ByteOrder, Decode, DecodeError, Endian, LittleEndian, WireFormat};
use zorb_giop::{CompletionStatus, Fault, Ior, OperationError, ReplySlot, SystemException};

/// A reply, and how its body is decoded.
pub(super) struct Body<'a> {
    pub(super) reply: &'a ReplySlot,
    pub(super) format: WireFormat,
    pub(super) orb: &'a OrbInner,
}

/// The exception for a body that cannot be decoded: the operation was carried out.
fn malformed(error: DecodeError) -> SystemException {
    Fault::Decode(error).raise(CompletionStatus::Yes)
}

impl Body<'_> {
    const fn context(&self) -> ReplyContext<'_> {
        ReplyContext {
            orb: self.orb,
            deadline: None,
        }
    }

    fn decode<T: for<'de> Decode<'de>>(&self) -> Result<T, SystemException> {
        let context = self.context();
        let decoded = match self.reply.endian() {
            Endian::Big => (self.reply).read::<BigEndian, _>(self.format, &context, |d| d.get()),
            Endian::Little => {
                (self.reply).read::<LittleEndian, _>(self.format, &context, |d| d.get())
            }
        };
        decoded.and_then(|decoded| decoded).map_err(malformed)
    }

    /// The results of an operation.
    pub(super) fn results<R: for<'de> Decode<'de>>(&self) -> Result<R, SystemException> {
        self.decode()
    }

    /// The repository id of an exception.
    pub(super) fn exception_id(&self) -> Result<String, SystemException> {
        self.decode()
    }

    /// A system exception.
    pub(super) fn system_exception(&self) -> Result<SystemException, SystemException> {
        self.decode()
    }

    /// The reference of a forward.
    pub(super) fn forward(&self) -> Result<Ior, SystemException> {
        self.decode()
    }

    /// A user exception.
    pub(super) fn user_exception<E: OperationError>(&self) -> Result<E, SystemException> {
        match self.reply.endian() {
            Endian::Big => self.user_exception_in::<BigEndian, E>(),
            Endian::Little => self.user_exception_in::<LittleEndian, E>(),
        }
    }

    fn user_exception_in<O: ByteOrder, E: OperationError>(&self) -> Result<E, SystemException> {
        let context = self.context();
        let read = self.reply.read::<O, _>(self.format, &context, |d| {
            let id = d.read_raw_string()?;
            let read = E::decode_user(id, d).transpose()?;
            let unlisted = || Fault::UnlistedException(String::from_utf8_lossy(id).into_owned());
            Ok(read.ok_or_else(|| unlisted().raise(CompletionStatus::Yes)))
        });
        read.and_then(|read| read).map_err(malformed)?
    }
}
