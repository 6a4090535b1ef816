//! Reading of octets that may be malformed: the well-formed part is decoded, and the place of the fault is reported.

use super::tree::Item;
use zorb_cdr::DecodeError;

/// Text of a string on the wire: decoded as UTF-8 if it is valid UTF-8, else as ISO 8859-1.
pub(crate) fn text(octets: &[u8]) -> String {
    match std::str::from_utf8(octets) {
        Ok(text) => text.to_owned(),
        Err(_) => octets.iter().copied().map(char::from).collect(),
    }
}

/// The value of a read; a failure adds a fault to `item`, with `what` was read and the place in the reference.
pub(crate) fn or_fault<T>(
    item: &mut Item,
    what: &str,
    base: usize,
    read: Result<T, DecodeError>,
) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(error) => {
            let at = base + error.offset();
            item.fault(format_args!("{what}: {} at octet {at}", error.kind()));
            None
        }
    }
}

/// Reads an encapsulation in its own byte order by `$body`, with the decoder `$d` after the byte order octet. `None`, and a
/// fault in `$item`, if there is no such octet.
macro_rules! encapsulation {
    ($item:expr, $octets:expr, $base:expr, |$d:ident| $body:expr) => {{
        let octets: &[u8] = $octets;
        let format = ::zorb_cdr::WireFormat::default();
        match octets.first() {
            None => {
                $item.fault(format_args!(
                    "expected an encapsulation, found no octet at octet {}",
                    $base
                ));
                None
            }
            Some(order) => {
                if *order > 1 {
                    $item.fault(format_args!(
                        "expected a byte order of 0 or 1, found {order} at octet {}; read as little-endian",
                        $base
                    ));
                }
                // The byte order octet is octet 0 of the encapsulation, from which alignment counts.
                if *order == 0 {
                    let mut decoder =
                        ::zorb_cdr::Decoder::<::zorb_cdr::BigEndian>::from_slice(octets, format);
                    let _ = decoder.take(1);
                    let $d = &mut decoder;
                    Some($body)
                } else {
                    let mut decoder =
                        ::zorb_cdr::Decoder::<::zorb_cdr::LittleEndian>::from_slice(octets, format);
                    let _ = decoder.take(1);
                    let $d = &mut decoder;
                    Some($body)
                }
            }
        }
    }};
}
pub(crate) use encapsulation;

/// The name of the byte order that the first octet states.
pub(crate) fn byte_order(octets: &[u8]) -> &'static str {
    match octets.first() {
        Some(0) => "big-endian",
        Some(_) => "little-endian",
        None => "no byte order",
    }
}
