//! The W3C trace context of a call, in a service context of zorb's own.

use core::fmt;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncapsulationVisitor, WireFormat};
use zorb_giop::ior::encapsulate;
use zorb_giop::{ServiceContext, ServiceContextId};

/// The most octets of a `tracestate` that are sent or read; W3C asks for 512 at least.
pub(crate) const MAX_TRACE_STATE_OCTETS: usize = 512;

/// Octets of a `traceparent` of version 00.
const PARENT_OCTETS: usize = 55;

/// The trace that a call belongs to, as W3C's Trace Context has it: the ids and flags of `traceparent`, and `tracestate`.
///
/// Requests carry it in the third of zorb's [own](ServiceContextId::ZORB_RANGE) service contexts, an encapsulation of two
/// strings: `traceparent` and `tracestate`. The OMG has no context for it.
///
/// ```
/// use zorb::TraceContext;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let context = TraceContext::parse(text, "").unwrap();
/// assert_eq!(context.to_string(), text);
/// assert!(context.is_sampled());
/// // Ids of zeros are invalid.
/// assert!(TraceContext::parse("00-00000000000000000000000000000000-b7ad6b7169203331-01", "").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The id of the trace. Not zero.
    pub trace_id: u128,
    /// The id of the span that has made the call. Not zero.
    pub span_id: u64,
    /// The flags; the lowest bit says that the trace is recorded.
    pub flags: u8,
    /// The `tracestate`: lists of vendors, passed on as they are.
    pub state: String,
}

impl TraceContext {
    /// Makes one of these ids; `None` if one of them is zero.
    #[must_use]
    pub fn new(trace_id: u128, span_id: u64, flags: u8) -> Option<Self> {
        (trace_id != 0 && span_id != 0).then_some(Self {
            trace_id,
            span_id,
            flags,
            state: String::new(),
        })
    }

    /// Reads a `traceparent` and a `tracestate`. Of versions after 00 the fields of 00 are read. `None` if the former is
    /// malformed; a `tracestate` that is too long or has control characters is left out.
    #[must_use]
    pub fn parse(parent: &str, state: &str) -> Option<Self> {
        let octets = parent.as_bytes();
        let fields = octets.get(..PARENT_OCTETS)?;
        let (version, rest) = fields.split_at_checked(2)?;
        let version = hex(version, 2)?;
        let is_whole = match version {
            0 => octets.len() == PARENT_OCTETS,
            0xff => false,
            _ => matches!(octets.get(PARENT_OCTETS), None | Some(b'-')),
        };
        if !is_whole {
            return None;
        }
        let mut rest = rest;
        let mut field = |digits: usize| {
            let (dash, behind) = rest.split_first()?;
            let (field, behind) = behind.split_at_checked(digits)?;
            rest = behind;
            hex(field, digits).filter(|_| *dash == b'-')
        };
        let (trace_id, span_id, flags) = (field(32)?, field(16)?, field(2)?);
        let mut context = Self::new(
            trace_id,
            u64::try_from(span_id).ok()?,
            u8::try_from(flags).ok()?,
        )?;
        if state.len() <= MAX_TRACE_STATE_OCTETS && !state.contains(|c: char| c.is_control()) {
            state.clone_into(&mut context.state);
        }
        Some(context)
    }

    /// Whether the trace is recorded.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }

    /// Returns the service context of this id, for requests that a program sends with a trace of its own making; `None` only
    /// beyond the longest message. A `tracestate` that is too long is left out.
    #[must_use]
    pub fn to_service_context(&self, id: ServiceContextId) -> Option<ServiceContext> {
        let parent = self.to_string();
        let state = match self.state.len() <= MAX_TRACE_STATE_OCTETS {
            true => &*self.state,
            false => "",
        };
        let data = encapsulate(|e| {
            e.write_raw_string(parent.as_bytes())?;
            e.write_raw_string(state.as_bytes())
        });
        Some(ServiceContext {
            id,
            data: data.ok()?,
        })
    }

    /// Reads the data of a service context; `None` if that is malformed.
    #[must_use]
    pub fn from_data(data: &[u8]) -> Option<Self> {
        struct Texts;
        impl<'de> EncapsulationVisitor<'de> for Texts {
            type Output = (&'de [u8], &'de [u8]);
            fn visit<O: ByteOrder>(
                self,
                d: &mut Decoder<'de, O>,
            ) -> Result<Self::Output, DecodeError> {
                Ok((d.read_raw_string()?, d.read_raw_string()?))
            }
        }
        let (parent, state) =
            zorb_cdr::decode_encapsulation(data, WireFormat::default(), Texts).ok()?;
        let state = core::str::from_utf8(state).unwrap_or_default();
        Self::parse(core::str::from_utf8(parent).ok()?, state)
    }
}

impl fmt::Display for TraceContext {
    /// Writes the `traceparent`, of version 00.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace_id,
            span_id,
            flags,
            ..
        } = self;
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

/// Reads so many digits, which are of lower case.
fn hex(digits: &[u8], count: usize) -> Option<u128> {
    if digits.len() != count {
        return None;
    }
    digits.iter().try_fold(0_u128, |number, digit| {
        let value = match digit {
            b'0'..=b'9' => digit.checked_sub(b'0')?,
            b'a'..=b'f' => digit.checked_sub(b'a')?.checked_add(10)?,
            _ => return None,
        };
        number.checked_mul(16)?.checked_add(value.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_trace_context_travels_as_two_strings() {
        let context = TraceContext::parse(PARENT, "vendor=1,other=x").unwrap();
        let sent = context.to_service_context(ServiceContextId(7)).unwrap();
        assert_eq!(TraceContext::from_data(&sent.data), Some(context.clone()));
        // As an ORB writes it that is big-endian.
        let mut octets = vec![0, 0, 0, 0, 0, 0, 0, 56];
        octets.extend(PARENT.as_bytes());
        octets.extend([0, 0, 0, 0, 17]);
        octets.extend(b"vendor=1,other=x\0");
        assert_eq!(TraceContext::from_data(&octets), Some(context));
    }

    #[test]
    fn what_is_no_trace_context_is_none() {
        let other = |from: &str, to: &str| TraceContext::parse(&PARENT.replace(from, to), "");
        assert!(other("01", "01").is_some());
        // Of a later version, what version 00 has is read.
        assert_eq!(other("00-0af", "cc-0af"), other("", ""));
        assert!(TraceContext::parse(&format!("cc{}-more", &PARENT[2..]), "").is_some());
        for (from, to) in [
            ("00-0af", "ff-0af"),
            ("0af7", "0AF7"),
            ("0af7", "0ag7"),
            ("b7ad6b7169203331", "0000000000000000"),
            ("-01", "-1"),
            ("-01", "-01-"),
            ("-01", ""),
            ("-b7", "_b7"),
        ] {
            assert_eq!(other(from, to), None, "{to}");
        }
        for malformed in [&[][..], &[0], &[1; 20], &[0xff; 64]] {
            assert_eq!(TraceContext::from_data(malformed), None);
        }
        let long = "x".repeat(MAX_TRACE_STATE_OCTETS + 1);
        for state in ["a\nb", &long] {
            assert_eq!(TraceContext::parse(PARENT, state).unwrap().state, "");
        }
    }
}
