//! Object URLs: `IOR:`, `corbaloc:`, `corbaname:`, `file:`.
//!
//! Parsing contacts nothing. Source: CORBA 3.3 Part 2, Interoperability, "Object URLs"; Naming Service specification
//! for `corbaname`.

use crate::exception::{CompletionStatus, SystemException};
use crate::fault::Fault;
use crate::header::Version;
use crate::ior::{Ior, IorError};
use crate::printable::Printable;
use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;
use std::borrow::Cow;

/// The port of an address that names none.
///
/// Source: CORBA 3.3 Part 2, corbaloc:iiop URL.
pub const DEFAULT_PORT: u16 = 2809;
/// The key of `rir:` and `corbaname:` when they name none.
pub const DEFAULT_KEY: &str = "NameService";

/// A parsed object URL.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (object URLs).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectUrl {
    /// `IOR:` and digits.
    Ior(Ior),
    /// `corbaloc:`: addresses and an object key.
    Corbaloc(Corbaloc),
    /// `corbaname:`: a naming context and a name to resolve there.
    Corbaname {
        /// The naming context.
        context: Corbaloc,
        /// The stringified name, escapes undone; empty for the context itself. A name that is not UTF-8 is read as ISO
        /// 8859-1, which omniNames writes.
        name: String,
    },
    /// `file:`: an absolute path of a file that holds any of these.
    File(String),
}

/// The scheme of an object URL.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (object URLs).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UrlScheme {
    /// `IOR:`.
    Ior,
    /// `corbaloc:`.
    Corbaloc,
    /// `corbaname:`.
    Corbaname,
    /// `file:`.
    File,
}

impl fmt::Display for UrlScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ior => "IOR:",
            Self::Corbaloc => "corbaloc:",
            Self::Corbaname => "corbaname:",
            Self::File => "file:",
        })
    }
}

impl ObjectUrl {
    /// Returns the scheme of the URL.
    #[must_use]
    pub const fn scheme(&self) -> UrlScheme {
        match self {
            Self::Ior(_) => UrlScheme::Ior,
            Self::Corbaloc(_) => UrlScheme::Corbaloc,
            Self::Corbaname { .. } => UrlScheme::Corbaname,
            Self::File(_) => UrlScheme::File,
        }
    }
}

/// Addresses and their common object key.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (object URLs).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corbaloc {
    /// The addresses, to be tried in order.
    pub addresses: Vec<CorbalocAddress>,
    /// The object key, with its escapes (`%2f`) undone.
    pub key: Vec<u8>,
}

/// One address of a `corbaloc`.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (object URLs).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CorbalocAddress {
    /// `rir:`: the initial reference named by the key.
    Rir,
    /// `iiop:` or nothing.
    Iiop {
        /// The highest GIOP version to use; 1.0 unless stated.
        version: Version,
        /// Host, without brackets; empty means this host.
        host: String,
        /// Port; 2809 unless stated.
        port: u16,
    },
    /// `uiop:`: a UNIX socket, in TAO's syntax.
    Uiop {
        /// The highest GIOP version to use; 1.0 unless stated.
        version: Version,
        /// The socket's path.
        path: String,
    },
    /// Another protocol, whose addresses its transport reads.
    Other {
        /// The text before the colon, in lower case.
        protocol: String,
        /// The highest GIOP version to use; 1.0 unless stated.
        version: Version,
        /// The address, as it is written.
        address: String,
    },
}

impl CorbalocAddress {
    /// Returns the protocol, the highest GIOP version to use and the text of the address; `None` for `rir:`, which has
    /// none.
    #[must_use]
    pub fn location(&self) -> Option<(&str, Version, Cow<'_, str>)> {
        Some(match self {
            Self::Rir => return None,
            Self::Iiop {
                version,
                host,
                port,
            } => {
                let address = format!("{}:{port}", WrittenHost(host));
                ("iiop", *version, Cow::Owned(address))
            }
            Self::Uiop { version, path } => ("uiop", *version, Cow::Borrowed(path)),
            Self::Other {
                protocol,
                version,
                address,
            } => (protocol, *version, Cow::Borrowed(address)),
        })
    }
}

/// Why an object URL cannot be read.
///
/// An error of decoding is the [`source`](core::error::Error::source), and `Display` does not show it. The alternate form
/// (`{:#}`) shows both.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The scheme is unknown.
    #[error("expected IOR:, corbaloc:, corbaname: or file:, found \"{}\"", Printable(.0))]
    BadScheme(String),
    /// A scheme that the settings of the ORB do not permit here.
    #[error("object urls that begin with {0} are not permitted here")]
    SchemeNotPermitted(UrlScheme),
    /// A protocol, host, port or version is malformed.
    #[error("bad address \"{}\": {why}", Printable(address))]
    BadAddress {
        /// The address.
        address: String,
        /// The reason.
        why: &'static str,
    },
    /// Another error behind the scheme.
    #[error("bad object url: {0}")]
    BadSchemeSpecificPart(&'static str),
    /// The text behind `IOR:` is not a stringified reference.
    #[error(transparent)]
    BadIor(#[from] IorError),
}

/// BAD_PARAM with the minor code of `string_to_object`, COMPLETED_NO: nothing has been contacted.
impl From<UrlError> for SystemException {
    fn from(error: UrlError) -> Self {
        Fault::Url(error).raise(CompletionStatus::No)
    }
}

/// Strips a scheme, in upper or lower case.
fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let (head, rest) = (text.get(..scheme.len())?, text.get(scheme.len()..)?);
    head.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// Returns the object URLs of a text: one a line, without white space around it. Empty lines are skipped.
///
/// The digits of a stringified reference may go on in further lines and have white space between them, as mail programs
/// and terminals break them. A byte order mark at the beginning is skipped.
///
/// ```
/// let text = "corbaloc::host/Bank\n\nIOR:0000\n  0000\n";
/// assert_eq!(zorb_giop::url::urls_in(text), ["corbaloc::host/Bank", "IOR:00000000"]);
/// ```
#[must_use]
pub fn urls_in(text: &str) -> Vec<Cow<'_, str>> {
    let mut urls: Vec<Cow<'_, str>> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match urls.last_mut() {
            Some(last) if strip_scheme(last, "IOR:").is_some() && is_wrapped_hex(line) => {
                last.to_mut().extend(line.split_ascii_whitespace());
            }
            _ if strip_scheme(line, "IOR:").is_some_and(is_wrapped_hex) => {
                urls.push(Cow::Owned(line.split_ascii_whitespace().collect()));
            }
            _ => urls.push(Cow::Borrowed(line)),
        }
    }
    urls
}

/// Whether the text has hexadecimal digits and white space only.
fn is_wrapped_hex(text: &str) -> bool {
    text.bytes()
        .all(|octet| octet.is_ascii_hexdigit() || octet.is_ascii_whitespace())
}

/// Most characters of a text that an error shows.
const MAX_SHOWN: usize = 80;

/// The beginning of a text, for an error.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl FromStr for ObjectUrl {
    type Err = UrlError;

    /// Reads a text with one object URL, as [`urls_in`] finds it.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        match &*urls_in(text) {
            [url] => Self::parse(url),
            [] => Err(UrlError::BadScheme(String::new())),
            _ => Err(UrlError::BadSchemeSpecificPart(
                "expected one url, found several lines",
            )),
        }
    }
}

impl ObjectUrl {
    fn parse(text: &str) -> Result<Self, UrlError> {
        if let Some(digits) = strip_scheme(text, "IOR:") {
            return Ok(Self::Ior(Ior::from_hex(digits)?));
        }
        if let Some(rest) = strip_scheme(text, "corbaloc:") {
            return Ok(Self::Corbaloc(Corbaloc::parse(rest, None)?));
        }
        if let Some(rest) = strip_scheme(text, "corbaname:") {
            let (context, name) = rest.split_once('#').unwrap_or((rest, ""));
            // Octets that are not UTF-8 are omniNames' ISO 8859-1.
            let name = String::from_utf8(unescape(name)?)
                .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect());
            return Ok(Self::Corbaname {
                context: Corbaloc::parse(context, Some(DEFAULT_KEY))?,
                name,
            });
        }
        if let Some(rest) = strip_scheme(text, "file:") {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if !path.starts_with('/') {
                return Err(UrlError::BadSchemeSpecificPart(
                    "expected an absolute path behind file://",
                ));
            }
            return Ok(Self::File(path.to_owned()));
        }
        Err(UrlError::BadScheme(shortened(text)))
    }
}

impl Corbaloc {
    fn parse(text: &str, default_key: Option<&str>) -> Result<Self, UrlError> {
        if let Some(path) = strip_scheme(text, "uiop:") {
            // A path holds slashes, so a bar separates the key.
            let (address, key) = path.split_once('|').ok_or_else(|| UrlError::BadAddress {
                address: text.to_owned(),
                why: "expected | between path and key",
            })?;
            let (version, path) = version(address)?;
            if path.is_empty() {
                return Err(bad_address(text, "expected a path"));
            }
            return Ok(Self {
                addresses: vec![CorbalocAddress::Uiop {
                    version,
                    path: path.to_owned(),
                }],
                key: unescape(key)?,
            });
        }
        if let (Some((protocol, rest)), Some((_, key))) =
            (other_protocol(text), text.split_once('|'))
        {
            // Its addresses may hold slashes and commas too.
            let address = rest.split_once('|').map_or(rest, |(address, _)| address);
            let key = unescape(key)?;
            let default = default_key.filter(|_| key.is_empty());
            return Ok(Self {
                addresses: vec![other(text, protocol, address)?],
                key: default.map_or(key, |default| default.into()),
            });
        }
        let (addresses, key) = match text.split_once('/') {
            Some((addresses, key)) => (addresses, unescape(key)?),
            None => (text, Vec::new()),
        };
        let addresses = addresses
            .split(',')
            .map(address)
            .collect::<Result<Vec<_>, _>>()?;
        let is_rir = addresses.contains(&CorbalocAddress::Rir);
        if is_rir && addresses.len() > 1 {
            return Err(UrlError::BadSchemeSpecificPart("rir: stands alone"));
        }
        let key = match (key.is_empty(), default_key) {
            (true, Some(default)) => default.as_bytes().to_vec(),
            (true, None) if is_rir => DEFAULT_KEY.as_bytes().to_vec(),
            _ => key,
        };
        Ok(Self { addresses, key })
    }
}

fn bad_address(address: &str, why: &'static str) -> UrlError {
    UrlError::BadAddress {
        address: address.to_owned(),
        why,
    }
}

/// Splits a protocol that is not known here from the text behind its colon.
fn other_protocol(text: &str) -> Option<(&str, &str)> {
    let (protocol, rest) = text.split_once(':')?;
    let is_name = protocol.starts_with(|c: char| c.is_ascii_alphabetic())
        && protocol.bytes().all(|octet| octet.is_ascii_alphanumeric());
    let is_known = ["iiop", "uiop", "rir"]
        .iter()
        .any(|known| protocol.eq_ignore_ascii_case(known));
    // A host and its port look like this if the colon before them is missing.
    let is_host = rest.bytes().all(|octet| octet.is_ascii_digit());
    (is_name && !is_known && !is_host).then_some((protocol, rest))
}

fn other(text: &str, protocol: &str, rest: &str) -> Result<CorbalocAddress, UrlError> {
    let (version, address) = version(rest)?;
    if address.is_empty() || address.contains(',') {
        return Err(bad_address(
            text,
            "expected one address behind the protocol",
        ));
    }
    Ok(CorbalocAddress::Other {
        protocol: protocol.to_ascii_lowercase(),
        version,
        address: address.to_owned(),
    })
}

fn address(text: &str) -> Result<CorbalocAddress, UrlError> {
    if text.eq_ignore_ascii_case("rir:") {
        return Ok(CorbalocAddress::Rir);
    }
    if let Some((protocol, rest)) = other_protocol(text) {
        return other(text, protocol, rest);
    }
    let Some(rest) = text
        .strip_prefix(':')
        .or_else(|| strip_scheme(text, "iiop:"))
    else {
        return Err(bad_address(text, "expected iiop:, uiop:, rir: or a colon"));
    };
    let (version, host_port) = version(rest)?;
    let (host, port) = if let Some(bracketed) = host_port.strip_prefix('[') {
        let (host, rest) = bracketed
            .split_once(']')
            .ok_or_else(|| bad_address(text, "expected ] behind an IPv6 address"))?;
        let host = ipv6_in_brackets(host)
            .ok_or_else(|| bad_address(text, "expected an IPv6 address between [ and ]"))?;
        match rest.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if rest.is_empty() => (host, None),
            None => return Err(bad_address(text, "expected a colon and a port behind ]")),
        }
    } else {
        let (host, port) = match host_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_port, None),
        };
        if host.contains(['[', ']']) {
            // The URL could not be written again, since brackets enclose an IPv6 address.
            return Err(bad_address(text, "expected no bracket inside the host"));
        }
        if port.is_some_and(|port| port.contains(':')) {
            return Err(bad_address(
                text,
                "expected one colon, or an IPv6 address between [ and ]",
            ));
        }
        (Cow::Borrowed(host), port)
    };
    let port = match port {
        None | Some("") => DEFAULT_PORT,
        // `parse` accepts a sign as well.
        Some(port) => Some(port)
            .filter(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
            .ok_or(())
            .and_then(|port| port.parse().map_err(|_| ()))
            .map_err(|()| bad_address(text, "expected a port between 0 and 65535"))?,
    };
    Ok(CorbalocAddress::Iiop {
        version,
        host: host.into_owned(),
        port,
    })
}

/// Reads what stands between brackets in the address of a URL: an IPv6 address, and behind `%` its zone. The percent sign
/// may be escaped as `%25`, as in URLs of the Web; `None` for any other text.
///
/// Source: RFC 6874, which the specification of `corbaloc` precedes.
fn ipv6_in_brackets(text: &str) -> Option<Cow<'_, str>> {
    let Some((address, zone)) = text.split_once('%') else {
        return text.parse::<Ipv6Addr>().is_ok().then_some(text.into());
    };
    address.parse::<Ipv6Addr>().ok()?;
    // `%25` alone is the zone of that index.
    let plain = zone.strip_prefix("25").filter(|zone| !zone.is_empty());
    let is_zone = |zone: &str| {
        let is_end = |c: char| c.is_whitespace() || c.is_control() || "/?#@[]%,|".contains(c);
        !zone.is_empty() && !zone.contains(is_end)
    };
    match plain {
        Some(plain) => is_zone(plain).then(|| format!("{address}%{plain}").into()),
        None => is_zone(zone).then_some(text.into()),
    }
}

/// A host as URLs write it: an IPv6 address in brackets, as [`ipv6_in_brackets`] reads it.
struct WrittenHost<'a>(&'a str);

impl fmt::Display for WrittenHost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_once('%') {
            _ if !self.0.contains(':') => f.write_str(self.0),
            // Without the escape, other ORBs read it too. The zone "25" and those that begin so need the escape.
            Some((address, zone)) if zone.starts_with("25") && zone != "25" => {
                write!(f, "[{address}%25{zone}]")
            }
            _ => write!(f, "[{}]", self.0),
        }
    }
}

/// Splits `major.minor@` off.
fn version(text: &str) -> Result<(Version, &str), UrlError> {
    let Some((version, rest)) = text.split_once('@') else {
        return Ok((Version::V1_0, text));
    };
    let parsed = version.split_once('.').and_then(|(major, minor)| {
        Some(Version {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    });
    match parsed {
        Some(version) if version.major == 1 => Ok((version, rest)),
        Some(_) => Err(bad_address(text, "expected a version 1.x before the @")),
        None => Err(bad_address(text, "expected major.minor before the @")),
    }
}

/// Undoes `%` escapes.
fn unescape(text: &str) -> Result<Vec<u8>, UrlError> {
    let mut octets = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(octet) = octets.next() {
        if octet != b'%' {
            plain.push(octet);
            continue;
        }
        let mut value = 0u8;
        for _ in 0..2 {
            let digit = octets
                .next()
                .and_then(|digit| char::from(digit).to_digit(16))
                .and_then(|digit| u8::try_from(digit).ok())
                .ok_or(UrlError::BadSchemeSpecificPart(
                    "expected two hexadecimal digits behind %",
                ))?;
            value = value << 4 | digit;
        }
        plain.push(value);
    }
    Ok(plain)
}

/// Writes octets as the key of an object URL, escaped where they must be.
///
/// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (object URLs).
#[must_use]
pub fn escape(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    for octet in octets {
        if octet.is_ascii_alphanumeric() || b";/:?@&=+$,-_.!~*'()".contains(octet) {
            text.push(char::from(*octet));
        } else {
            use fmt::Write;
            // Writing to a String cannot fail.
            let _ = write!(text, "%{octet:02x}");
        }
    }
    text
}

impl fmt::Display for Corbaloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("corbaloc:")?;
        let mut delimiter = '/';
        for (index, address) in self.addresses.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match address {
                CorbalocAddress::Rir => f.write_str("rir:")?,
                CorbalocAddress::Iiop {
                    version,
                    host,
                    port,
                } => write!(f, "iiop:{version}@{}:{port}", WrittenHost(host))?,
                CorbalocAddress::Uiop { version, path } => {
                    delimiter = '|';
                    write!(f, "uiop:{version}@{path}")?;
                }
                CorbalocAddress::Other {
                    protocol,
                    version,
                    address,
                } => {
                    if address.contains('/') {
                        delimiter = '|';
                    }
                    write!(f, "{protocol}:{version}@{address}")?;
                }
            }
        }
        write!(f, "{delimiter}{}", escape(&self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::{SystemExceptionKind, minor};

    fn iiop(minor: u8, host: &str, port: u16) -> CorbalocAddress {
        CorbalocAddress::Iiop {
            version: Version { major: 1, minor },
            host: host.to_owned(),
            port,
        }
    }

    #[test]
    fn a_corbaloc_is_read_with_all_its_addresses() {
        for (text, addresses, key) in [
            ("corbaloc::host/Bank", vec![iiop(0, "host", 2809)], "Bank"),
            (
                "corbaloc:iiop:1.2@host:99/a%20b",
                vec![iiop(2, "host", 99)],
                "a b",
            ),
            (
                "CORBALOC::h:1,iiop:1.1@[::1]:2/k/l",
                vec![iiop(0, "h", 1), iiop(1, "::1", 2)],
                "k/l",
            ),
            ("corbaloc:rir:", vec![CorbalocAddress::Rir], "NameService"),
            ("corbaloc:rir:/", vec![CorbalocAddress::Rir], "NameService"),
            (
                "corbaloc:rir:/TradingService",
                vec![CorbalocAddress::Rir],
                "TradingService",
            ),
            ("corbaloc::h", vec![iiop(0, "h", 2809)], ""),
            ("corbaloc::/k", vec![iiop(0, "", 2809)], "k"),
        ] {
            let Ok(ObjectUrl::Corbaloc(read)) = text.parse() else {
                panic!("{text} is a corbaloc");
            };
            assert_eq!(
                (read.addresses, read.key),
                (addresses, key.into()),
                "{text}"
            );
        }
        let Ok(ObjectUrl::Corbaloc(read)) = "corbaloc:uiop:1.2@/tmp/x y|k".parse() else {
            panic!("uiop is read");
        };
        assert_eq!(read.to_string(), "corbaloc:uiop:1.2@/tmp/x y|k");
    }

    #[test]
    fn addresses_of_other_protocols_are_kept_as_they_are_written() {
        for (text, address, key, anew) in [
            (
                "corbaloc:ATM:0.0.42/k",
                "0.0.42",
                "k",
                "corbaloc:atm:1.0@0.0.42/k",
            ),
            ("corbaloc:shm:1.2@/a/b,c|k", "/a/b,c", "k", ""),
            (
                "corbaloc:shm:1.2@/a/b|k",
                "/a/b",
                "k",
                "corbaloc:shm:1.2@/a/b|k",
            ),
        ] {
            let Ok(ObjectUrl::Corbaloc(read)) = text.parse() else {
                assert!(anew.is_empty(), "{text} is a corbaloc");
                continue;
            };
            let (_, _, found) = read.addresses[0].location().unwrap();
            assert_eq!((&*found, &read.key[..]), (address, key.as_bytes()));
            assert_eq!(read.to_string(), anew);
        }
        let two = "corbaloc::h,atm:1.2@itf.1/k".parse();
        let Ok(ObjectUrl::Corbaloc(two)) = two else {
            panic!("two addresses")
        };
        assert_eq!(two.to_string(), "corbaloc:iiop:1.0@h:2809,atm:1.2@itf.1/k");
    }

    #[test]
    fn digits_broken_over_lines_are_one_reference_and_other_lines_are_urls_of_their_own() {
        let ior = Ior {
            type_id: "IDL:Bank/Account:1.0".to_owned(),
            profiles: Vec::new(),
        };
        let text = ior.to_ior_string().unwrap();
        let (head, tail) = text.split_at(21);
        for wrapped in [
            format!("{head}\n{tail}"),
            format!("  {head}\r\n\t{tail}\r\n"),
            format!("{head} {tail}\n\n"),
            format!("IOR:\n{}", &text[4..]),
            format!("\u{feff}{text}\n"),
        ] {
            let url = wrapped.parse::<ObjectUrl>();
            assert_eq!(url, Ok(ObjectUrl::Ior(ior.clone())), "{wrapped:?}");
            assert_eq!(urls_in(&wrapped), [text.as_str()]);
        }
        let several = format!("corbaloc::h/k\n{head}\n{tail}\nfile:///x\n00\n");
        let expected = ["corbaloc::h/k", &text, "file:///x", "00"];
        assert_eq!(urls_in(&several), expected);
        assert_eq!(urls_in(" \n"), [""; 0]);
    }

    #[test]
    fn the_zone_of_an_ipv6_address_may_be_escaped_and_is_written_so_that_it_is_read_again() {
        for (text, host, anew) in [
            ("fe80::1%eth0", "fe80::1%eth0", "fe80::1%eth0"),
            ("fe80::1%25eth0", "fe80::1%eth0", "fe80::1%eth0"),
            ("fe80::1%25", "fe80::1%25", "fe80::1%25"),
            ("fe80::1%2525x", "fe80::1%25x", "fe80::1%2525x"),
        ] {
            let Ok(ObjectUrl::Corbaloc(read)) = format!("corbaloc::[{text}]:9/k").parse() else {
                panic!("{text} is an address");
            };
            assert_eq!(read.addresses, [iiop(0, host, 9)]);
            assert_eq!(read.to_string(), format!("corbaloc:iiop:1.0@[{anew}]:9/k"));
            let (_, _, address) = read.addresses[0].location().unwrap();
            assert_eq!(address, format!("[{anew}]:9"));
        }
    }

    #[test]
    fn a_corbaname_has_a_context_and_a_name() {
        let url: ObjectUrl = "corbaname::h:5#a/b%20c.d".parse().unwrap();
        let ObjectUrl::Corbaname { context, name } = url else {
            panic!("a corbaname");
        };
        assert_eq!(context.key, b"NameService");
        assert_eq!(context.addresses, [iiop(0, "h", 5)]);
        assert_eq!(name, "a/b c.d");
        for name in ["corbaname::h#caf%c3%a9", "corbaname::h#caf%e9"] {
            let url = name.parse::<ObjectUrl>().unwrap();
            assert!(
                matches!(&url, ObjectUrl::Corbaname { name, .. } if name == "caf\u{e9}"),
                "{url:?}"
            );
        }
        let url: ObjectUrl = "corbaname:rir:".parse().unwrap();
        assert!(matches!(url, ObjectUrl::Corbaname { name, .. } if name.is_empty()));
    }

    #[test]
    fn each_mistake_has_its_minor_code_and_says_what_was_found() {
        for (text, minor, message) in [
            (
                "hello",
                minor::BAD_SCHEME,
                "expected IOR:, corbaloc:, corbaname: or file:, found \"hello\"",
            ),
            (
                "corbaloc:foo:1.2@/k",
                minor::BAD_ADDRESS,
                "bad address \"foo:1.2@\": expected one address behind the protocol",
            ),
            (
                "corbaloc:f-o:h/k",
                minor::BAD_ADDRESS,
                "bad address \"f-o:h\": expected iiop:, uiop:, rir: or a colon",
            ),
            (
                "corbaloc::h:66000/k",
                minor::BAD_ADDRESS,
                "bad address \":h:66000\": expected a port between 0 and 65535",
            ),
            (
                "corbaloc::h:+1/k",
                minor::BAD_ADDRESS,
                "bad address \":h:+1\": expected a port between 0 and 65535",
            ),
            (
                "corbaloc::[host]:1/k",
                minor::BAD_ADDRESS,
                "bad address \":[host]:1\": expected an IPv6 address between [ and ]",
            ),
            (
                "corbaloc::[127.0.0.1]/k",
                minor::BAD_ADDRESS,
                "bad address \":[127.0.0.1]\": expected an IPv6 address between [ and ]",
            ),
            (
                "corbaloc::[fe80::1%]/k",
                minor::BAD_ADDRESS,
                "bad address \":[fe80::1%]\": expected an IPv6 address between [ and ]",
            ),
            (
                "corbaloc::fe80::1:99/k",
                minor::BAD_ADDRESS,
                "bad address \":fe80::1:99\": expected one colon, or an IPv6 address between [ and ]",
            ),
            (
                "localhost:2809",
                minor::BAD_SCHEME,
                "expected IOR:, corbaloc:, corbaname: or file:, found \"localhost:2809\"",
            ),
            (
                r"C:\refs\bank.ior",
                minor::BAD_SCHEME,
                r#"expected IOR:, corbaloc:, corbaname: or file:, found "C:\refs\bank.ior""#,
            ),
            (
                "corbaloc::h/k\ncorbaloc::h/l",
                minor::BAD_SCHEME_SPECIFIC_PART,
                "bad object url: expected one url, found several lines",
            ),
            (
                "IOR:00\nzz",
                minor::BAD_SCHEME_SPECIFIC_PART,
                "bad object url: expected one url, found several lines",
            ),
            (
                "corbaloc::[::1/k",
                minor::BAD_ADDRESS,
                "bad address \":[::1\": expected ] behind an IPv6 address",
            ),
            (
                "corbaloc::2.0@h/k",
                minor::BAD_ADDRESS,
                "bad address \"2.0@h\": expected a version 1.x before the @",
            ),
            (
                "corbaloc::h/%4",
                minor::BAD_SCHEME_SPECIFIC_PART,
                "bad object url: expected two hexadecimal digits behind %",
            ),
            (
                "corbaloc:rir:,:h/k",
                minor::BAD_SCHEME_SPECIFIC_PART,
                "bad object url: rir: stands alone",
            ),
            (
                "IOR:0",
                minor::BAD_URL,
                "expected pairs of hexadecimal digits, found 1 digits",
            ),
            (
                "IOR:0g",
                minor::BAD_URL,
                "expected a hexadecimal digit, found 'g' at 0",
            ),
        ] {
            let error = text.parse::<ObjectUrl>().unwrap_err();
            assert_eq!(error.to_string(), message);
            let exception = SystemException::from(error);
            assert_eq!(
                (exception.kind, exception.minor),
                (SystemExceptionKind::BadParam, minor)
            );
        }
    }

    #[test]
    fn escaping_and_unescaping_are_inverse_for_all_octets() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unescape(&escape(&all)).unwrap(), all);
    }
}
