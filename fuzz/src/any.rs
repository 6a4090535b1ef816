//! Anys and the values in them: what was read can be looked at, taken apart and printed; what was written of it reads
//! the same again; and neither does a value ever cost much more than the octets it came in.

use crate::memory;
use bytes::Bytes;
use zorb_cdr::{
    Any, AnyDecoder, AnyEncoder, BigEndian, ByteOrder, Context, CopyError, Decode, DecodeError,
    Decoder, Encode, Encoder, Frame, KnownValue, Limits, LittleEndian, StaticType, TcKind,
    TypeCode, WireFormat,
};
use zorb_dynamic::{DynAny, DynAnyError};

/// Anys of one message that are looked at.
const MOST: usize = 64;

/// Value types as an ORB would know them: those of `tests/interop/rich.idl`, whose anys the corpus begins with.
struct Registry;

const TRUNCATABLE: i16 = 3;
const CUSTOM: i16 = 1;

static BASE: StaticType = StaticType::Value(
    TcKind::Value,
    "IDL:zorb.test/Rich/Base:1.0",
    "Base",
    0,
    &StaticType::Null,
    &[
        ("id", &StaticType::Short, 1),
        ("name", &StaticType::String(0), 1),
    ],
);
static DERIVED: StaticType = StaticType::Value(
    TcKind::Value,
    "IDL:zorb.test/Rich/Derived:1.0",
    "Derived",
    0,
    &BASE,
    &[("more", &StaticType::Double, 1)],
);
static LONGER: StaticType = StaticType::Value(
    TcKind::Value,
    "IDL:zorb.test/Rich/Longer:1.0",
    "Longer",
    TRUNCATABLE,
    &BASE,
    &[("extra", &StaticType::LongLong, 1), ("inner", &BASE, 1)],
);
static SPECIAL: StaticType = StaticType::Value(
    TcKind::Value,
    "IDL:zorb.test/Rich/Special:1.0",
    "Special",
    CUSTOM,
    &StaticType::Null,
    &[],
);

/// A custom state: a number, and an any.
fn copy(d: AnyDecoder<'_, '_>, e: AnyEncoder<'_>) -> Result<(), CopyError> {
    fn read<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<(u32, Any), DecodeError> {
        Ok((d.get()?, d.get()?))
    }
    let (number, any) = match d {
        AnyDecoder::Big(d) => read(d),
        AnyDecoder::Little(d) => read(d),
    }
    .map_err(CopyError::Read)?;
    match e {
        AnyEncoder::Big(e) => e.put(&number).and_then(|()| e.put(&any)),
        AnyEncoder::Little(e) => e.put(&number).and_then(|()| e.put(&any)),
    }
    .map_err(CopyError::Write)
}

impl Context for Registry {
    fn as_any(&self) -> &(dyn core::any::Any + Send + Sync) {
        self
    }

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        let known = [&BASE, &DERIVED, &LONGER, &SPECIAL];
        let ty = known
            .into_iter()
            .find(|ty| TypeCode::from_static(ty).id() == Some(id))?;
        let is_custom = core::ptr::eq(ty, &raw const SPECIAL);
        let ty = TypeCode::from_static(ty);
        let custom = is_custom.then_some(copy as zorb_cdr::CopyState);
        Some(KnownValue { ty, custom })
    }
}

fn format() -> WireFormat {
    WireFormat::default()
}

/// The anys from a position on, with what the registry knows.
fn read<O: ByteOrder>(frame: &Frame, start: usize) -> Vec<Any> {
    let Ok(d) = Decoder::<O>::at(frame, start, format()) else {
        return Vec::new();
    };
    decode(d.with_context(&Registry))
}

fn decode<O: ByteOrder>(mut d: Decoder<'_, O>) -> Vec<Any> {
    let mut anys = Vec::with_capacity(MOST);
    anys.extend(core::iter::from_fn(|| Any::decode(&mut d).ok()).take(MOST));
    anys
}

/// Anys, and the bound on their memory.
fn read_measured<O: ByteOrder>(frame: &Frame, start: usize) -> Vec<Any> {
    let Ok(d) = Decoder::<O>::at(frame, start, format()) else {
        return Vec::new();
    };
    let d = d.with_context(&Registry).with_limits(memory::limits());
    // Places of anys that are not there belong to none of the octets.
    let places = MOST * size_of::<Any>();
    memory::measured(frame.len() + places, || decode(d))
}

fn check<O: ByteOrder>(octets: &Bytes, start: usize) {
    let frame = Frame::new(octets.clone());
    let anys = read_measured::<O>(&frame, start);
    let mut e = Encoder::<O>::new(format());
    let mut written = 0;
    for any in &anys {
        let shown = any.to_string();
        assert!(!shown.is_empty(), "{any:?}");
        look(any);
        // Not all that can be kept can be sent: a char of another set than that of the connection.
        if any.encode(&mut e).is_err() {
            break;
        }
        written += 1;
    }
    if written < anys.len() {
        return;
    }
    let sent = e.finish().into_bytes();
    let most = octets.len().saturating_mul(2 * Limits::REREAD_OCTETS) + 65536;
    assert!(sent.len() <= most, "{} from {}", sent.len(), octets.len());
    let again = read::<O>(&Frame::new(sent), 0);
    assert_eq!(again, anys, "what was written reads otherwise");
    // As arguments, and again with what they have in common: each is there twice.
    let Some(arguments) = pass::<O>(&anys) else {
        return;
    };
    assert_eq!(arguments, anys, "arguments read otherwise");
    let twice = [&*arguments, &*arguments].concat();
    if let Some(again) = pass::<O>(&twice) {
        assert_eq!(again, twice, "arguments in common read otherwise");
        if let Some(again) = pass::<O>(&again) {
            assert_eq!(again, twice, "and again");
        }
    }
}

/// Writes the values as arguments of one message, and reads them again; `None` where that is beyond a limit of readers.
fn pass<O: ByteOrder>(anys: &[Any]) -> Option<Vec<Any>> {
    let mut e = Encoder::<O>::new(format());
    for any in anys {
        any.encode_value(&mut e).expect("it was sent with its type");
    }
    let frame = Frame::new(e.finish().into_bytes());
    let d = Decoder::<O>::at(&frame, 0, format()).expect("the first octet");
    let mut d = d.with_context(&Registry);
    let arguments = anys.iter();
    arguments
        .map(|any| Any::decode_value(any.type_code(), &mut d).ok())
        .collect()
}

/// Components that are taken apart and put together of one any.
const MOST_COMPONENTS: u32 = 256;

/// Takes an any apart as a `DynAny`: it comes out unchanged, and is the same when each of its parts is put in again, unless
/// values of value types are shared, of which each place gets a copy.
fn dynamic(any: &Any) {
    let Ok(mut value) = DynAny::new(any) else {
        return;
    };
    let mut left = MOST_COMPONENTS;
    let whole = rebuild(&mut value, &mut left);
    assert_eq!(
        value.to_any().as_ref(),
        Ok(any),
        "taken apart and put together"
    );
    if whole && left > 0 && !has_values(any.type_code(), &mut 64) {
        let mut replaced = DynAny::new(any).expect("as before");
        let components = replaced.component_count() > 0;
        if components && replace(&mut replaced).is_ok() {
            assert_eq!(replaced.to_any().as_ref(), Ok(any), "made of its parts");
        }
    }
    if let Ok(default) = DynAny::from_type_code(any.type_code()) {
        let made = default.to_any().expect("a default value");
        assert!(made.type_code().equivalent(any.type_code()));
    }
}

/// Visits all components; `false` if some cannot be looked at.
fn rebuild(value: &mut DynAny, left: &mut u32) -> bool {
    let mut index = 0;
    while value.seek(index) {
        let Some(next) = left.checked_sub(1) else {
            return false;
        };
        *left = next;
        match value.current_component() {
            Ok(Some(component)) => {
                if !rebuild(component, left) {
                    return false;
                }
            }
            _ => return false,
        }
        index += 1;
    }
    true
}

/// Puts each component in again, the innermost ones first.
fn replace(value: &mut DynAny) -> Result<(), DynAnyError> {
    let mut index = 0;
    while value.seek(index) {
        if let Ok(Some(component)) = value.current_component() {
            replace(component)?;
            let any = component.to_any()?;
            component.from_any(&any)?;
        }
        index += 1;
    }
    Ok(())
}

/// Whether values of a type may have values of value types in them, which may be shared; so if more than `looks` types would
/// have to be looked at.
fn has_values(ty: &TypeCode, looks: &mut u32) -> bool {
    let Some(left) = looks.checked_sub(1) else {
        return true;
    };
    *looks = left;
    let ty = ty.unaliased();
    match ty.kind() {
        TcKind::Value | TcKind::ValueBox | TcKind::Event | TcKind::AbstractInterface => true,
        TcKind::Sequence | TcKind::Array => ty
            .content_type()
            .is_none_or(|content| has_values(&content, looks)),
        TcKind::Struct | TcKind::Except | TcKind::Union => (0..ty.member_count()).any(|it| {
            ty.member_type(it)
                .is_none_or(|member| has_values(&member, looks))
        }),
        _ => false,
    }
}

/// Takes an any apart.
fn look(any: &Any) {
    dynamic(any);
    for (_, member) in any.members() {
        drop(member.to_string());
    }
    drop(any.selected());
    let _ = any.enumerator();
    for element in any.elements().take(MOST) {
        drop(element.extract::<Any>());
    }
}

/// The first octet decides about the byte order, the next two, little-endian, are where the anys begin in the rest.
pub fn run(data: &[u8]) {
    let [order, low, high, octets @ ..] = data else {
        return;
    };
    let start = usize::from(u16::from_le_bytes([*low, *high]));
    let octets = Bytes::copy_from_slice(octets);
    match order & 1 {
        0 => check::<BigEndian>(&octets, start),
        _ => check::<LittleEndian>(&octets, start),
    }
}
