//! The names in an X.509 certificate: its subject, and the alternative names.
//!
//! A reader of DER that goes as far as the names need. The certificate has been verified, or has not, by rustls; whatever
//! its octets are, they give names or none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use zorb_transport::SubjectName;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
const BOOLEAN: u8 = 0x01;
const OCTET_STRING: u8 = 0x04;
const BMP_STRING: u8 = 0x1e;
const UTF8_STRING: u8 = 0x0c;
/// `[0]`, the version; `[3]`, the extensions.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// id-ce-subjectAltName, 2.5.29.17.
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// The names of the attributes of a subject (RFC 4514, section 3, and the e-mail address of PKCS #9).
const ATTRIBUTES: [(&[u8], &str); 10] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 9], "STREET"),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25],
        "DC",
    ),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1],
        "UID",
    ),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1],
        "emailAddress",
    ),
];

/// The subject as text (RFC 4514) and the alternative names of a certificate in DER; `None` if it is not one.
pub(crate) fn names(certificate: &[u8]) -> Option<(String, Vec<SubjectName>)> {
    let mut outer = Der(Der(certificate).expect(SEQUENCE)?);
    let mut fields = Der(outer.expect(SEQUENCE)?);
    if fields.tag() == Some(VERSION) {
        fields.next()?;
    }
    // The serial number, the algorithm, the issuer, and the validity.
    for _ in 0..4 {
        fields.next()?;
    }
    let subject = subject(fields.expect(SEQUENCE)?)?;
    let mut names = Vec::new();
    while let Some((tag, content)) = fields.next() {
        if tag == EXTENSIONS {
            names = alternative_names(Der(content).expect(SEQUENCE)?)?;
        }
    }
    Some((subject, names))
}

/// The subject, the last of its parts first (RFC 4514, section 2.1).
fn subject(name: &[u8]) -> Option<String> {
    let mut sets = Vec::new();
    let mut all = Der(name);
    while !all.0.is_empty() {
        let mut attributes = Der(all.expect(SET)?);
        let mut set = Vec::new();
        while !attributes.0.is_empty() {
            let mut attribute = Der(attributes.expect(SEQUENCE)?);
            let kind = attribute.expect(OBJECT_IDENTIFIER)?;
            let (tag, value) = attribute.next()?;
            set.push(format!(
                "{}={}",
                attribute_name(kind),
                escaped(&text(tag, value))
            ));
        }
        sets.push(set.join("+"));
    }
    sets.reverse();
    Some(sets.join(","))
}

fn attribute_name(kind: &[u8]) -> String {
    let known = ATTRIBUTES.iter().find(|(known, _)| *known == kind);
    known.map_or_else(|| dotted(kind), |(_, name)| (*name).to_owned())
}

/// An object identifier as numbers with dots.
fn dotted(kind: &[u8]) -> String {
    let mut numbers = Vec::new();
    let mut number = 0_u64;
    for octet in kind {
        number = number.wrapping_shl(7) | u64::from(octet & 0x7f);
        if octet & 0x80 == 0 {
            match numbers.is_empty() {
                true => {
                    let first = (number / 40).min(2);
                    numbers.push(first);
                    numbers.push(number.saturating_sub(first.saturating_mul(40)));
                }
                false => numbers.push(number),
            }
            number = 0;
        }
    }
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

/// A string of any of the types that a name may have.
fn text(tag: u8, value: &[u8]) -> String {
    match tag {
        BMP_STRING => {
            let units = value.chunks_exact(2).map(|unit| match unit {
                [high, low] => u16::from_be_bytes([*high, *low]),
                _ => 0,
            });
            char::decode_utf16(units)
                .map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        UTF8_STRING => String::from_utf8_lossy(value).into_owned(),
        _ => latin1(value),
    }
}

/// Octets as text: UTF-8, or else ISO 8859-1.
fn latin1(octets: &[u8]) -> String {
    match std::str::from_utf8(octets) {
        Ok(text) => text.to_owned(),
        Err(_) => octets.iter().copied().map(char::from).collect(),
    }
}

/// A value with escapes, so that no two subjects have one text (RFC 4514, section 2.4), and without control characters.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let last = value.chars().count().saturating_sub(1);
    for (at, character) in value.chars().enumerate() {
        match character {
            '"' | '+' | ',' | ';' | '<' | '>' | '\\' | '=' => text.extend(['\\', character]),
            ' ' if at == 0 || at == last => text.push_str("\\ "),
            '#' if at == 0 => text.push_str("\\#"),
            control if control.is_control() => {
                let mut octets = [0; 4];
                for octet in control.encode_utf8(&mut octets).bytes() {
                    text.push_str(&format!("\\{octet:02X}"));
                }
            }
            other => text.push(other),
        }
    }
    text
}

fn alternative_names(extensions: &[u8]) -> Option<Vec<SubjectName>> {
    let mut all = Der(extensions);
    while !all.0.is_empty() {
        let mut extension = Der(all.expect(SEQUENCE)?);
        let kind = extension.expect(OBJECT_IDENTIFIER)?;
        if extension.tag() == Some(BOOLEAN) {
            extension.next()?;
        }
        let value = extension.expect(OCTET_STRING)?;
        if kind == SUBJECT_ALT_NAME {
            let mut names = Der(Der(value).expect(SEQUENCE)?);
            let mut found = Vec::new();
            while let Some((tag, value)) = names.next() {
                found.extend(general_name(tag, value));
            }
            return Some(found);
        }
    }
    Some(Vec::new())
}

/// A name of a kind that is reported.
fn general_name(tag: u8, value: &[u8]) -> Option<SubjectName> {
    Some(match tag {
        0x81 => SubjectName::Email(latin1(value)),
        0x82 => SubjectName::Dns(latin1(value)),
        0x86 => SubjectName::Uri(latin1(value)),
        0x87 => SubjectName::Ip(match value.len() {
            4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?)),
            _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?)),
        }),
        _ => return None,
    })
}

/// Octets in DER.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn tag(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The content of the next element, which has this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, content) = self.next()?;
        (found == tag).then_some(content)
    }

    /// Tag and content of the next element; `None` behind the last one, and where the octets end within it.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            short @ 0..=0x7f => (usize::from(*short), rest),
            // A certificate has fewer octets than the largest message of a handshake, so than three octets can count.
            long @ 0x81..=0x83 => {
                let (length, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
                let length = (length.iter()).fold(0, |all, octet| all << 8 | usize::from(*octet));
                (length, rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    fn certificate(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn subject_and_alternative_names_are_read() {
        let der = certificate(|params| {
            let name = &mut params.distinguished_name;
            name.push(DnType::CountryName, "DE");
            name.push(DnType::OrganizationName, "Ex, ample");
            name.push(DnType::CommonName, "Älice=1\n");
            name.push(DnType::CustomDnType(vec![1, 2, 840, 9]), "x");
            params.subject_alt_names = vec![
                SanType::DnsName("bank.example".try_into().unwrap()),
                SanType::IpAddress([127, 0, 0, 1].into()),
                SanType::IpAddress(Ipv6Addr::LOCALHOST.into()),
                SanType::Rfc822Name("a@b.example".try_into().unwrap()),
                SanType::URI("urn:x".try_into().unwrap()),
            ];
        });
        let (subject, names) = names(&der).unwrap();
        assert_eq!(subject, "1.2.840.9=x,CN=Älice\\=1\\0A,O=Ex\\, ample,C=DE");
        let names: Vec<String> = names.iter().map(SubjectName::to_string).collect();
        let expected = [
            "DNS:bank.example",
            "IP:127.0.0.1",
            "IP:::1",
            "email:a@b.example",
            "URI:urn:x",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_certificate_without_names_has_an_empty_subject() {
        assert_eq!(
            names(&certificate(|_| {})),
            Some((String::new(), Vec::new()))
        );
    }

    proptest::proptest! {
        #[test]
        fn octets_of_a_peer_are_names_or_none(
            octets in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            cut in 0..600_usize,
        ) {
            let _ = names(&octets);
            let der = certificate(|params| {
                params.subject_alt_names = vec![SanType::DnsName("a.example".try_into().unwrap())];
            });
            if cut < der.len() {
                assert_eq!(names(&der[..cut]), None);
                let mut bent = der.clone();
                bent[cut] ^= octets.first().copied().unwrap_or(0xff);
                let _ = names(&bent);
            }
        }
    }
}
