//! Events as the payloads of messages.

use core::str::FromStr;
use serde_json::Value;
use zorb::cdr::{ByteOrder, Decode, Decoder, EncapsulationVisitor, NativeEndian, WireFormat};
use zorb::{Any, Bytes, DecodeError, EncodeError};

/// What payloads are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Payload {
    /// JSON, as `zorb events` has it: text, a number or a truth value by itself, other events with their types beside them.
    /// Whatever else is received is an event of type string, or of octets if it is no text.
    #[default]
    Json,
    /// The `any` as an encapsulation: its `TypeCode` and its value, as a Codec of CORBA writes it.
    Cdr,
}

/// A malformed name of a [`Payload`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected json or cdr, found {0:?}")]
pub struct UnknownPayload(String);

impl FromStr for Payload {
    type Err = UnknownPayload;

    fn from_str(text: &str) -> Result<Self, UnknownPayload> {
        match text {
            "json" => Ok(Self::Json),
            "cdr" => Ok(Self::Cdr),
            _ => Err(UnknownPayload(text.to_owned())),
        }
    }
}

/// Why an event has no payload, or a payload no event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// JSON cannot have it.
    #[error("no JSON of it")]
    Json(#[from] serde_json::Error),
    /// CDR cannot have it.
    #[error("no CDR of it")]
    Encode(#[from] EncodeError),
    /// The octets are no event.
    #[error("no event")]
    Decode(#[from] DecodeError),
}

/// Reads an event.
struct ReadAny;

impl<'de> EncapsulationVisitor<'de> for ReadAny {
    type Output = Any;

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<Any, DecodeError> {
        Any::decode(decoder)
    }
}

impl Payload {
    /// The payload of an event.
    ///
    /// # Errors
    /// The event has no such form.
    pub fn encode(self, event: &Any) -> Result<Bytes, PayloadError> {
        match self {
            Self::Json => {
                let json = serde_json::to_value(event)?;
                // What has a type by itself is what others expect.
                let value = &json["value"];
                let is_plain = Self::plain(value).is_some_and(|plain| plain == *event);
                let json = if is_plain { value } else { &json };
                Ok(json.to_string().into())
            }
            Self::Cdr => {
                let format = WireFormat::default();
                let octets =
                    zorb::cdr::encode_encapsulation::<NativeEndian>(format, |e| e.put(event))?;
                Ok(octets.into())
            }
        }
    }

    /// The event of a payload.
    ///
    /// # Errors
    /// The octets are no event; of JSON none is.
    pub fn decode(self, payload: &[u8]) -> Result<Any, PayloadError> {
        match self {
            Self::Cdr => {
                let format = WireFormat::default();
                Ok(zorb::cdr::decode_encapsulation(payload, format, ReadAny)?)
            }
            Self::Json => {
                let Ok(text) = core::str::from_utf8(payload) else {
                    return Ok(Any::new(&payload.to_vec())?);
                };
                let json = serde_json::from_str::<Value>(text).ok();
                if let Some(event) = json.as_ref().and_then(Self::plain) {
                    return Ok(event);
                }
                if let Ok(event) = serde_json::from_str::<Any>(text) {
                    return Ok(event);
                }
                // No string of CORBA has a NUL.
                match text.contains('\0') {
                    true => Ok(Any::new(&payload.to_vec())?),
                    false => Ok(Any::new(text)?),
                }
            }
        }
    }

    /// The event of a value that has a type by itself.
    fn plain(json: &Value) -> Option<Any> {
        let event = match json {
            Value::String(text) if !text.contains('\0') => Any::new(text),
            Value::Bool(truth) => Any::new(truth),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => match i32::try_from(whole) {
                    Ok(whole) => Any::new(&whole),
                    Err(_) => Any::new(&whole),
                },
                None => Any::new(&number.as_f64()?),
            },
            _ => return None,
        };
        event.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_after_a_way_there_and_back() {
        let events = [
            Any::new("text").unwrap(),
            Any::new("").unwrap(),
            Any::new(&7_i32).unwrap(),
            Any::new(&7_u16).unwrap(),
            Any::new(&i64::MIN).unwrap(),
            Any::new(&1.5_f64).unwrap(),
            Any::new(&true).unwrap(),
            Any::new(&vec![1_u8, 2]).unwrap(),
        ];
        for event in &events {
            for payload in [Payload::Json, Payload::Cdr] {
                let octets = payload.encode(event).unwrap();
                assert_eq!(payload.decode(&octets).unwrap(), *event, "{octets:?}");
            }
        }
        assert_eq!(Payload::Json.encode(&events[0]).unwrap(), "\"text\"");
        assert_eq!(Payload::Json.encode(&events[2]).unwrap(), "7");
    }

    #[test]
    fn whatever_is_received_as_json_is_an_event_and_no_octets_are_a_panic() {
        let text = |text: &str| Any::new(text).unwrap();
        for (payload, event) in [
            ("{\"pump\": 3}", text("{\"pump\": 3}")),
            ("hot", text("hot")),
            ("", text("")),
            ("{\"type\": \"none\"}", text("{\"type\": \"none\"}")),
            ("\"a\\u0000b\"", text("\"a\\u0000b\"")),
            ("12", Any::new(&12_i32).unwrap()),
        ] {
            assert_eq!(Payload::Json.decode(payload.as_bytes()).unwrap(), event);
        }
        let octets = Any::new(&vec![0xff_u8, 0]).unwrap();
        assert_eq!(Payload::Json.decode(&[0xff, 0]).unwrap(), octets);
        let whole = Payload::Cdr.encode(&text("text")).unwrap();
        for end in 0..whole.len() {
            assert!(Payload::Cdr.decode(&whole[..end]).is_err(), "{end}");
        }
    }
}
