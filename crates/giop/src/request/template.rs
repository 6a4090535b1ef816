//! The beginnings of requests that are written once and copied.

use super::{
    ID_POSITION, RESPONSE_BEHIND_ID, ResponseFlags, TargetAddress, finish_in, write_contexts,
    write_header, write_operation, write_whom,
};
use crate::context::ServiceContext;
use crate::header::{HEADER_LEN, MessageKind, Version};
use core::marker::PhantomData;
use zorb_cdr::{ByteOrder, EncodeError, Encoder, Gather, WireFormat};

const ID_POSITION_BEFORE_1_2: usize = HEADER_LEN + 4;

/// The beginning of all requests of one version to one object, up to the operation's name: written once, copied into
/// each of them as one block.
///
/// What it makes is octet by octet what [`RequestBuilder`](crate::RequestBuilder) makes.
///
/// ```
/// use zorb_cdr::{Encoder, NativeEndian, WireFormat};
/// use zorb_giop::{RequestBuilder, RequestTemplate, ResponseFlags, TargetAddress, Version};
///
/// let (version, request_id, response) = (Version::V1_2, 7, ResponseFlags::WithTarget);
/// let template = RequestTemplate::<NativeEndian>::new(version, &TargetAddress::Key(b"Bank"), b"Bank")?;
/// let e = || Encoder::new(WireFormat::default());
/// let message = template.encode(e(), request_id, response, "deposit", &[], |e| e.put(&10.0_f64))?;
///
/// let (key, operation, contexts) = (&b"Bank"[..], "deposit", &[][..]);
/// let builder = RequestBuilder { version, request_id, response, key, operation, contexts };
/// assert_eq!(message.to_vec(), builder.encode(e(), |e| e.put(&10.0_f64))?.to_vec());
/// # Ok::<(), zorb_cdr::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RequestTemplate<O> {
    version: Version,
    /// A message without service contexts, request id and response flags 0.
    octets: Box<[u8]>,
    order: PhantomData<O>,
}

impl<O: ByteOrder> RequestTemplate<O> {
    /// The beginning of requests to `target`; before GIOP 1.2, which knows keys only, to `key`.
    ///
    /// # Errors
    /// A profile or reference that cannot be encoded, or a key longer than 4 GiB.
    pub fn new(
        version: Version,
        target: &TargetAddress<'_>,
        key: &[u8],
    ) -> Result<Self, EncodeError> {
        let mut e = Encoder::<O>::new(WireFormat::default());
        write_header(&mut e, version, MessageKind::Request);
        if version < Version::V1_2 {
            e.write_count(0)?;
        }
        e.write_u32(0);
        e.write_u8(0);
        write_whom(&mut e, version, target, key)?;
        Ok(Self {
            version,
            octets: e.finish().to_vec().into(),
            order: PhantomData,
        })
    }

    /// The version that is written.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Writes the message, in one pass into `e`, which must be new (position 0).
    ///
    /// # Errors
    /// Whatever `arguments` fails with, or a message longer than 4 GiB.
    #[inline]
    pub fn encode(
        &self,
        mut e: Encoder<O>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext],
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        self.encode_in(&mut e, request_id, response, operation, contexts, arguments)?;
        Ok(e.finish())
    }

    /// The same in place: `e` has the message then, if it is not an error.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    #[inline(always)]
    pub fn encode_in(
        &self,
        e: &mut Encoder<O>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext],
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.begin_in(e, request_id, response, operation, contexts)?;
        finish_in(e, self.version, arguments)
    }

    /// All up to the arguments.
    #[inline]
    fn begin_in(
        &self,
        e: &mut Encoder<O>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext],
    ) -> Result<(), EncodeError> {
        let is_1_2 = self.version >= Version::V1_2;
        let id_at = if is_1_2 {
            e.append(&self.octets);
            ID_POSITION
        } else if contexts.is_empty() {
            e.append(&self.octets);
            ID_POSITION_BEFORE_1_2
        } else {
            // They come first. What follows has no alignment above 4.
            e.append(self.octets.get(..HEADER_LEN).unwrap_or_default());
            write_contexts(e, contexts)?;
            e.align(4);
            let id_at = e.position();
            let behind = self.octets.get(ID_POSITION_BEFORE_1_2..);
            e.append(behind.unwrap_or_default());
            id_at
        };
        e.patch_u32(id_at, request_id);
        e.patch_u8(
            id_at.saturating_add(RESPONSE_BEHIND_ID),
            response.in_version(self.version),
        );
        write_operation(e, self.version, operation, contexts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ior::TaggedProfile;
    use crate::{RequestBuilder, ServiceContextId};
    use bytes::Bytes;
    use zorb_cdr::{BigEndian, LittleEndian};

    fn both<O: ByteOrder>(
        version: Version,
        response: ResponseFlags,
        target: &TargetAddress<'_>,
        key: &[u8],
        operation: &str,
        contexts: &[ServiceContext],
    ) -> [Vec<u8>; 2] {
        let e = || Encoder::<O>::new(WireFormat::default());
        let arguments = |e: &mut Encoder<O>| e.put(&(7_u8, "text", 1.5_f64));
        let builder = RequestBuilder {
            version,
            request_id: 0x0102_0304,
            response,
            key,
            operation,
            contexts,
        };
        let template = RequestTemplate::<O>::new(version, target, key).unwrap();
        let id = builder.request_id;
        let written = builder.encode_for(target, e(), arguments).unwrap().to_vec();
        let empty = builder
            .encode_for(target, e(), |_| Ok(()))
            .unwrap()
            .to_vec();
        let copied = template.encode(e(), id, response, operation, contexts, |_| Ok(()));
        assert_eq!(copied.unwrap().to_vec(), empty);
        let copied = template.encode(e(), id, response, operation, contexts, arguments);
        [written, copied.unwrap().to_vec()]
    }

    #[test]
    fn a_request_that_is_copied_is_the_one_that_is_written() {
        let data = Bytes::from_static(&[1, 0, 0]);
        let id = ServiceContextId::CODE_SETS;
        let context = ServiceContext { id, data };
        for minor in 0..=2 {
            let version = Version { major: 1, minor };
            for key in [&b""[..], b"k", b"Bank", b"a longer key"] {
                let profile = TargetAddress::Profile(TaggedProfile {
                    tag: crate::ior::ProfileTag(0),
                    data: Bytes::copy_from_slice(key),
                });
                for target in [TargetAddress::Key(key), profile] {
                    for response in [
                        ResponseFlags::None,
                        ResponseFlags::WithServer,
                        ResponseFlags::WithTarget,
                    ] {
                        for contexts in [&[][..], core::slice::from_ref(&context)] {
                            for name in ["", "deposit", "x", "_get_owner", &"n".repeat(200)] {
                                let [written, copied] = both::<BigEndian>(
                                    version, response, &target, key, name, contexts,
                                );
                                assert_eq!(written, copied);
                                let [written, copied] = both::<LittleEndian>(
                                    version, response, &target, key, name, contexts,
                                );
                                assert_eq!(written, copied);
                            }
                        }
                    }
                }
            }
        }
    }
}
