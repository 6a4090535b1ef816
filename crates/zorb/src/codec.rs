//! Codecs: values as encapsulations, for the data of service contexts and of components.

use crate::orb::Orb;
use bytes::Bytes;
use core::fmt;
use zorb_cdr::{
    Any, ByteOrder, Context, DecodeError, Decoder, EncapsulationVisitor, EncodeError, Encoder,
    NativeEndian, TypeCode, WireFormat,
};
use zorb_giop::{CompletionStatus, Fault, SystemException, Version};

/// The format of a [`Codec`]: `IOP::Encoding`.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`IOP::Encoding`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the specification has these")]
pub struct Encoding {
    /// The format: [`CDR_ENCAPS`](Self::CDR_ENCAPS).
    pub format: i16,
    /// The version of GIOP by whose rules text is encoded.
    pub version: Version,
}

impl Encoding {
    /// The format of CDR encapsulations: `IOP::ENCODING_CDR_ENCAPS`.
    #[doc(alias = "ENCODING_CDR_ENCAPS")]
    pub const CDR_ENCAPS: i16 = 0;

    /// Encapsulations of this version of GIOP.
    #[must_use]
    pub const fn cdr(version: Version) -> Self {
        Self {
            format: Self::CDR_ENCAPS,
            version,
        }
    }
}

/// The error for an encoding that this ORB does not have: `IOP::CodecFactory::UnknownEncoding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected encoding 0 (CDR) of GIOP 1.0 to 1.2, found encoding {} of GIOP {}.{}", .0.format, .0.version.major, .0.version.minor)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct UnknownEncoding(pub Encoding);

/// BAD_PARAM, COMPLETED_NO.
impl From<UnknownEncoding> for SystemException {
    fn from(error: UnknownEncoding) -> Self {
        Fault::BadParameter(error.to_string()).raise(CompletionStatus::No)
    }
}

/// The error of a [`Codec`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The value cannot be encoded, such as a native one: `InvalidTypeForEncoding`.
    #[error("the value cannot be encoded: {0}")]
    InvalidTypeForEncoding(EncodeError),
    /// The octets are not an encapsulation of such a value: `FormatMismatch`, and `TypeMismatch` for a value of a known type.
    #[error("the octets are not such an encapsulation: {0}")]
    FormatMismatch(DecodeError),
}

/// MARSHAL or BAD_PARAM, COMPLETED_NO.
impl From<CodecError> for SystemException {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::InvalidTypeForEncoding(error) => Fault::Encode(error),
            CodecError::FormatMismatch(error) => Fault::Decode(error),
        }
        .raise(CompletionStatus::No)
    }
}

/// The factory of codecs: `IOP::CodecFactory`.
#[derive(Debug, Clone)]
pub struct CodecFactory(Option<Orb>);

impl Orb {
    /// The factory of codecs, whose references belong to this ORB. Costs a reference count.
    #[must_use]
    #[doc(alias = "CodecFactory")]
    pub fn codec_factory(&self) -> CodecFactory {
        CodecFactory(Some(self.clone()))
    }
}

impl CodecFactory {
    pub(crate) const fn of(orb: Option<Orb>) -> Self {
        Self(orb)
    }

    /// Makes a codec.
    ///
    /// # Errors
    /// [`UnknownEncoding`] for another format than [`Encoding::CDR_ENCAPS`], and for versions other than 1.0 to 1.2.
    pub fn create_codec(&self, encoding: Encoding) -> Result<Codec, UnknownEncoding> {
        let known = Version::V1_0..=Version::HIGHEST;
        if encoding.format != Encoding::CDR_ENCAPS || !known.contains(&encoding.version) {
            return Err(UnknownEncoding(encoding));
        }
        Ok(Codec {
            orb: self.0.clone(),
            format: WireFormat {
                minor: encoding.version.minor,
                ..WireFormat::default()
            },
        })
    }
}

/// Converts values to octets and back: `IOP::Codec`.
///
/// ```
/// use zorb::codec::Encoding;
/// use zorb::{Any, TypeCode, Version};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let orb = zorb::Orb::builder().build().await?;
/// let codec = orb.codec_factory().create_codec(Encoding::cdr(Version::V1_2))?;
/// let octets = codec.encode_value(&Any::new(&7_i32)?)?;
/// let decoded = codec.decode_value(&octets, &TypeCode::of::<i32>())?;
/// assert_eq!(decoded.extract::<i32>()?, 7);
/// # orb.shutdown(true).await?;
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
/// ```
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`IOP::Codec`).
pub struct Codec {
    orb: Option<Orb>,
    format: WireFormat,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

struct WholeAny<'a>(Option<&'a dyn Context>);

impl<'de> EncapsulationVisitor<'de> for WholeAny<'de> {
    type Output = Any;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Any, DecodeError> {
        if let Some(context) = self.0 {
            d.attach(context);
        }
        d.get()
    }
}

struct ValueOf<'a>(Option<&'a dyn Context>, &'a TypeCode);

impl<'de> EncapsulationVisitor<'de> for ValueOf<'de> {
    type Output = Any;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<Any, DecodeError> {
        if let Some(context) = self.0 {
            d.attach(context);
        }
        Any::decode_value(self.1, d)
    }
}

impl Codec {
    fn context(&self) -> Option<&dyn Context> {
        self.orb.as_ref().map(|orb| orb as &dyn Context)
    }

    /// Encodes a value with its TypeCode, as an encapsulation. Allocates.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`] for a value that cannot be encoded.
    pub fn encode(&self, value: &Any) -> Result<Bytes, CodecError> {
        zorb_cdr::encode_encapsulation(self.format, |e: &mut Encoder<NativeEndian>| e.put(value))
            .map(Bytes::from)
            .map_err(CodecError::InvalidTypeForEncoding)
    }

    /// Decodes an encapsulation of a TypeCode and its value.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`] for other octets.
    pub fn decode(&self, octets: &[u8]) -> Result<Any, CodecError> {
        zorb_cdr::decode_encapsulation(octets, self.format, WholeAny(self.context()))
            .map_err(CodecError::FormatMismatch)
    }

    /// Encodes a value without its TypeCode, as an encapsulation. Allocates.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`] for a value that cannot be encoded.
    pub fn encode_value(&self, value: &Any) -> Result<Bytes, CodecError> {
        zorb_cdr::encode_encapsulation(self.format, |e: &mut Encoder<NativeEndian>| {
            value.encode_value(e)
        })
        .map(Bytes::from)
        .map_err(CodecError::InvalidTypeForEncoding)
    }

    /// Decodes an encapsulation of a value of this type.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`] for other octets.
    pub fn decode_value(&self, octets: &[u8], ty: &TypeCode) -> Result<Any, CodecError> {
        zorb_cdr::decode_encapsulation(octets, self.format, ValueOf(self.context(), ty))
            .map_err(CodecError::FormatMismatch)
    }
}
