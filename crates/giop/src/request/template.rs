//! The beginnings of requests that are written once and copied.

use super::{
    BODY_ALIGNMENT, ID_POSITION, RESPONSE_BEHIND_ID, ResponseFlags, TargetAddress, finish_in, seal,
    write_contexts, write_header, write_operation, write_target,
};
use crate::context::ServiceContext;
use crate::header::{HEADER_LEN, MessageKind, Version};
use core::marker::PhantomData;
use std::sync::OnceLock;
use zorb_cdr::{ByteOrder, EncodeError, Encoder, Gather, WireFormat};

const ID_POSITION_BEFORE_1_2: usize = HEADER_LEN + 4;

/// The beginning of all requests of one version to one object, up to the operation's name: written once, copied into
/// each of them as one block.
///
/// Its requests are octet by octet those of [`RequestBuilder`](crate::RequestBuilder).
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
    /// The beginnings of requests for operations that were called, up to the arguments. Filled in order.
    ready: [OnceLock<Box<Ready>>; MAX_READY],
    /// Set by the first request: an object that is called once keeps nothing ready.
    called: OnceLock<()>,
    order: PhantomData<O>,
}

/// Operations of one object whose request headers a template keeps. The number is small, since the search is linear and
/// the headers are kept as long as the reference. Headers of further operations are composed of the object's part and
/// the name each time.
const MAX_READY: usize = 6;

/// The longest beginning that is kept ready, in octets: a key and a name of usual length have a fifth of it.
const MAX_READY_OCTETS: usize = 512;

/// The beginning of a request for one operation, which differs from others in its id only.
#[derive(Debug, Clone)]
struct Ready {
    /// The operation's name.
    operation: Box<str>,
    response: ResponseFlags,
    /// A message without arguments, of request id 0, and the padding between it and arguments.
    octets: Box<[u8]>,
    /// Octets of the message without the padding.
    len: usize,
}

impl Ready {
    #[inline]
    fn is_for(&self, operation: &str, response: ResponseFlags) -> bool {
        self.response == response && is_same(self.operation.as_bytes(), operation.as_bytes())
    }
}

/// Whether two names are the same. Those of usual length, which is from 8 to 32 octets, are compared as two numbers,
/// without a call.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        8..=16 => ends(one).map(u64::from_ne_bytes) == ends(other).map(u64::from_ne_bytes),
        17..=32 => ends(one).map(u128::from_ne_bytes) == ends(other).map(u128::from_ne_bytes),
        _ => one == other,
    }
}

/// Returns the first and the last `N` octets; zeros if there are fewer.
#[inline]
fn ends<const N: usize>(name: &[u8]) -> [[u8; N]; 2] {
    match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => [*first, *last],
        _ => [[0; N]; 2],
    }
}

impl<O: ByteOrder> RequestTemplate<O> {
    /// Makes the beginning of requests to `target`, or to `key` before GIOP 1.2, which has keys only.
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
        write_target(&mut e, version, target, key)?;
        Ok(Self {
            version,
            octets: e.finish().to_vec().into(),
            ready: Default::default(),
            called: OnceLock::new(),
            order: PhantomData,
        })
    }

    /// Returns the version that is written.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Writes the message, in one pass into `e`, which must be new (position 0).
    ///
    /// # Errors
    /// The error of `arguments`; [`TooLong`](zorb_cdr::EncodeErrorKind::TooLong) for a message longer than 4 GiB.
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

    /// Encodes a request in place: on success `e` has the message.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode).
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
        if contexts.is_empty()
            && let Some(ready) = self.ready(operation, response)
        {
            return self.encode_ready(ready, e, request_id, arguments);
        }
        self.begin_in(e, request_id, response, operation, contexts)?;
        finish_in(e, self.version, arguments)
    }

    /// Returns the beginning of a request for this operation, if it is kept.
    #[inline(always)]
    fn ready(&self, operation: &str, response: ResponseFlags) -> Option<&Ready> {
        for place in &self.ready {
            let ready = place.get()?;
            if ready.is_for(operation, response) {
                return Some(ready);
            }
        }
        None
    }

    #[inline(always)]
    fn encode_ready(
        &self,
        ready: &Ready,
        e: &mut Encoder<O>,
        request_id: u32,
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        e.append(&ready.octets);
        e.patch_u32(self.id_at(), request_id);
        if self.version == Version::V1_1 {
            // `Fragments` may cut the message there later.
            e.remember_runs();
        }
        arguments(e)?;
        if e.position() == ready.octets.len() {
            // The size is filled in already, and the padding before arguments is not sent.
            e.truncate(ready.len);
            return Ok(());
        }
        seal(e)
    }

    /// Returns the offset of the request id in a message without service contexts.
    #[inline]
    const fn id_at(&self) -> usize {
        match self.version.has_contexts_last() {
            true => ID_POSITION,
            false => ID_POSITION_BEFORE_1_2,
        }
    }

    /// Writes a request that is not kept ready, up to the arguments, and keeps the beginning for the next one.
    #[cold]
    fn begin_in(
        &self,
        e: &mut Encoder<O>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext],
    ) -> Result<(), EncodeError> {
        if contexts.is_empty() && self.called.set(()).is_err() {
            self.keep(response, operation);
        }
        let is_1_2 = self.version >= Version::V1_2;
        let id_at = if is_1_2 {
            e.append(&self.octets);
            ID_POSITION
        } else if contexts.is_empty() {
            e.append(&self.octets);
            ID_POSITION_BEFORE_1_2
        } else {
            // The contexts come first. The fields behind them are aligned to 4 at most.
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

    /// Keeps the beginning for further calls of the operation, if there is a place left and it is not too long.
    fn keep(&self, response: ResponseFlags, operation: &str) {
        let is_free = |place: &OnceLock<_>| place.get().is_none();
        let least = self.octets.len().saturating_add(operation.len());
        if least > MAX_READY_OCTETS || !self.ready.last().is_some_and(is_free) {
            return;
        }
        // The sender reports an operation that cannot be encoded.
        if let Ok(ready) = self.prepare(response, operation)
            && ready.octets.len() <= MAX_READY_OCTETS
        {
            let mut ready = Box::new(ready);
            for place in &self.ready {
                match place.set(ready) {
                    Ok(()) => return,
                    Err(mine) => ready = mine,
                }
                // Another thread may have been faster.
                if place
                    .get()
                    .is_some_and(|there| there.is_for(operation, response))
                {
                    return;
                }
            }
        }
    }

    fn prepare(&self, response: ResponseFlags, operation: &str) -> Result<Ready, EncodeError> {
        let mut e = Encoder::<O>::new(WireFormat::default());
        e.append(&self.octets);
        e.patch_u8(
            self.id_at().saturating_add(RESPONSE_BEHIND_ID),
            response.in_version(self.version),
        );
        write_operation(&mut e, self.version, operation, &[])?;
        let len = e.position();
        seal(&mut e)?;
        if self.version.has_contexts_last() {
            e.align(BODY_ALIGNMENT);
        }
        Ok(Ready {
            operation: operation.into(),
            response,
            octets: e.finish().to_vec().into(),
            len,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ior::TaggedProfile;
    use crate::{RequestBuilder, ServiceContextId};
    use bytes::Bytes;
    use zorb_cdr::{BigEndian, LittleEndian, NativeEndian};

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
        // The request is written a first time, when it is kept, and when it is ready.
        for times in 0..3 {
            let copied = template.encode(e(), id, response, operation, contexts, arguments);
            assert_eq!(copied.unwrap().to_vec(), written, "{times}");
            let copied = template.encode(e(), id, response, operation, contexts, |_| Ok(()));
            assert_eq!(copied.unwrap().to_vec(), empty, "{times}");
        }
        let is_kept = contexts.is_empty() && written.len() < MAX_READY_OCTETS;
        assert_eq!(template.ready(operation, response).is_some(), is_kept);
        let copied = template.encode(e(), id, response, operation, contexts, arguments);
        [written, copied.unwrap().to_vec()]
    }

    #[test]
    fn no_more_beginnings_are_kept_than_there_are_places() {
        let target = TargetAddress::Key(b"key");
        let template =
            RequestTemplate::<NativeEndian>::new(Version::V1_2, &target, b"key").unwrap();
        let two_way = ResponseFlags::WithTarget;
        let encode = |operation: &str, response| {
            let e = Encoder::new(WireFormat::default());
            let builder = RequestBuilder {
                version: Version::V1_2,
                request_id: 7,
                response,
                key: b"key",
                operation,
                contexts: &[],
            };
            let copied = template.encode(e, 7, response, operation, &[], |e| e.put(&true));
            let e = Encoder::<NativeEndian>::new(WireFormat::default());
            let written = builder.encode(e, |e| e.put(&true)).unwrap().to_vec();
            assert_eq!(copied.unwrap().to_vec(), written);
        };
        encode("once", two_way);
        assert!(template.ready.iter().all(|place| place.get().is_none()));
        encode("long".repeat(MAX_READY_OCTETS).as_str(), two_way);
        assert!(template.ready.iter().all(|place| place.get().is_none()));
        // Names that differ in one octet, wherever it is; and an operation that is called in two ways.
        let names: Vec<String> = (0..40)
            .map(|at| (0..40).map(|i| if i == at { 'x' } else { 'y' }).collect())
            .collect();
        for _ in 0..3 {
            for name in &names {
                for len in [0, 1, 7, 8, 9, 16, 17, 40] {
                    encode(&name[..len], two_way);
                    encode(&name[..len], ResponseFlags::None);
                }
            }
        }
        assert!(template.ready.iter().all(|place| place.get().is_some()));
        assert!(template.ready("", two_way).is_some());
        assert!(template.ready(&names[39], two_way).is_none());
    }

    #[test]
    fn names_are_the_same_if_all_their_octets_are() {
        for len in 0..40 {
            let name = vec![b'x'; len];
            assert!(is_same(&name, &name.clone()));
            assert!(!is_same(&name, &vec![b'x'; len + 1]));
            for at in 0..len {
                let mut other = name.clone();
                other[at] = b'y';
                assert!(!is_same(&name, &other), "{len} {at}");
            }
        }
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
