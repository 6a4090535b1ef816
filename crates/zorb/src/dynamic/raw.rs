//! Requests and replies whose bodies are passed on without being decoded.

use super::request::RequestError;
use crate::object::ObjectRef;
use zorb_cdr::{
    Any, BigEndian, ByteOrder, Context, DecodeError, Decoder, Encode, EncodeError, Encoder, Endian,
    LittleEndian, TypeCode,
};
use zorb_giop::{CompletionStatus, Fault, RawBody, ReplySlot, ReplyStatus, SystemException};
use zorb_poa::DecodeArguments;

/// Values one after the other.
#[derive(Debug, Clone)]
pub(super) struct Values(pub(super) Vec<Any>);

impl Encode for Values {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        self.0.iter().try_for_each(|value| value.encode_value(e))
    }
}

/// Decodes values of these types, one after the other.
pub(super) struct Types<'t, I>(pub(super) I, pub(super) core::marker::PhantomData<&'t ()>);

impl<'t, I: Iterator<Item = &'t TypeCode>> Types<'t, I> {
    pub(super) fn new(types: impl IntoIterator<IntoIter = I>) -> Self {
        Self(types.into_iter(), core::marker::PhantomData)
    }
}

impl<'a, 't, I: Iterator<Item = &'t TypeCode>> DecodeArguments<'a> for Types<'t, I> {
    type Arguments = Vec<Any>;

    fn decode<O: ByteOrder>(self, d: &mut Decoder<'a, O>) -> Result<Vec<Any>, DecodeError> {
        self.0.map(|ty| Any::decode_value(ty, d)).collect()
    }
}

/// The reply to a request that was passed on: the body of its results, or of its user exception.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reply has one of the two")]
pub enum RawReply {
    /// The result, and the values of `inout` and `out` parameters.
    Results(RawBody),
    /// A user exception: its repository id, and its members.
    Exception(RawBody),
}

impl RawReply {
    /// The body, whatever it holds.
    #[must_use]
    pub const fn body(&self) -> &RawBody {
        match self {
            Self::Results(body) | Self::Exception(body) => body,
        }
    }
}

impl ObjectRef {
    /// Calls an operation with arguments as they lie in another message, and returns its results or its user exception as they
    /// lie in the reply. Nothing is decoded, so any operation of any interface can be passed on, such as `_is_a`. The request is
    /// sent in the byte order of the arguments.
    ///
    /// The arguments keep their meaning only in the same GIOP version and code sets:
    /// [`with_char_code_set`](Self::with_char_code_set) has the calls of a reference use those of the arguments.
    /// The octets are not copied if they are many.
    ///
    /// # Errors
    /// The exceptions of the target and of the ORB; BAD_PARAM, COMPLETED_NO, if the arguments would have another meaning in this
    /// request.
    ///
    /// # Cancel safety
    /// Safe for the connection, as for calls of stubs. The caller does not learn whether the operation was carried out.
    pub async fn invoke_raw(
        &self,
        operation: &str,
        arguments: &RawBody,
    ) -> Result<RawReply, SystemException> {
        let mut reply = ReplySlot::new();
        let (format, _) = (self.invoke_untyped(operation, arguments, &mut reply)).await?;
        let body = RawBody::of_reply(&reply, format);
        let body = body.ok_or_else(|| {
            let missing = Fault::Internal("a reply without a message".to_owned());
            missing.raise(CompletionStatus::Yes)
        })?;
        Ok(match reply.status() {
            ReplyStatus::UserException => RawReply::Exception(body),
            _ => RawReply::Results(body),
        })
    }

    /// Calls a one-way operation with arguments as they lie in another message: see [`invoke_raw`](Self::invoke_raw). With
    /// SYNC_NONE, it is ready when the request has been written, too.
    ///
    /// # Errors
    /// A system exception that is raised before the point that the [`SyncScope`](crate::SyncScope) of the reference waits for.
    ///
    /// # Cancel safety
    /// Safe for the connection. The caller does not learn whether the request was sent.
    pub async fn send_raw(
        &self,
        operation: &str,
        arguments: &RawBody,
    ) -> Result<(), SystemException> {
        self.invoke_oneway_at_once(operation, arguments).await
    }

    /// Decodes values of these types from a body, such as the arguments of a request that was to be passed on. The ORB of the
    /// reference resolves references among them.
    ///
    /// # Errors
    /// MARSHAL if the octets are not values of these types; DATA_CONVERSION for text that has no form here.
    pub fn decode_raw<'t>(
        &self,
        body: &RawBody,
        types: impl IntoIterator<Item = &'t TypeCode>,
    ) -> Result<Vec<Any>, RequestError> {
        let context = self.reply_context(None);
        let types = Types::new(types);
        let decoded = match body.endian() {
            Endian::Big => decode::<BigEndian, _>(body, &context, types),
            Endian::Little => decode::<LittleEndian, _>(body, &context, types),
        };
        decoded.map_err(|error| Fault::Decode(error).raise(CompletionStatus::Maybe).into())
    }
}

fn decode<'a, O: ByteOrder, D: DecodeArguments<'a>>(
    body: &'a RawBody,
    context: &'a dyn Context,
    decode: D,
) -> Result<D::Arguments, DecodeError> {
    decode.decode(&mut body.decoder::<O>()?.with_context(context))
}
