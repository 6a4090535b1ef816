use std::{
    error::Error, ffi::OsString, fmt, os::unix::ffi::OsStrExt, os::unix::ffi::OsStringExt,
    path::PathBuf, str::FromStr,
};

/// Where a peer listens, as people write it and before any IOR profile: `iiop://host:port`, `uiop:///path`.
///
/// [`Display`](fmt::Display) and [`FromStr`] are each other's inverse:
/// - a host is a name or an address; a colon in it means IPv6 and is written in brackets, `iiop://[::1]:2809`. Port 0
///   is for listening only, and means any free port.
/// - a path is written as it is, but for the octets that text cannot carry (controls, what is not UTF-8) and `%`
///   itself, which are `%` and two hexadecimal digits.
///
/// ```
/// use zorb_transport::Endpoint;
///
/// let endpoint: Endpoint = "iiop://[::1]:2809".parse()?;
/// assert_eq!(endpoint, Endpoint::iiop("::1", 2809));
/// assert_eq!(Endpoint::uiop("/run/bank.sock").to_string(), "uiop:///run/bank.sock");
/// # Ok::<(), zorb_transport::ParseEndpointError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Endpoint {
    /// TCP.
    Iiop {
        /// A host name, an IPv4 address, or an IPv6 address without brackets.
        host: String,
        /// The port; 0 asks a listener to take any that is free.
        port: u16,
    },
    /// A UNIX stream socket.
    Uiop {
        /// Where in the file system. Absolute when it comes from text; what is relative is relative to the current
        /// directory.
        path: PathBuf,
    },
}

impl Endpoint {
    /// A TCP endpoint; an IPv6 address goes without brackets.
    #[must_use]
    pub fn iiop(host: impl Into<String>, port: u16) -> Self {
        Self::Iiop {
            host: host.into(),
            port,
        }
    }

    /// A UNIX socket.
    #[must_use]
    pub fn uiop(path: impl Into<PathBuf>) -> Self {
        Self::Uiop { path: path.into() }
    }

    /// What stands before `://`, and finds the transport in a [`Registry`](crate::Registry).
    #[must_use]
    pub const fn scheme(&self) -> &'static str {
        match self {
            Self::Iiop { .. } => IIOP,
            Self::Uiop { .. } => UIOP,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme())?;
        match self {
            Self::Iiop { host, port } => {
                let is_address = host.contains(':');
                f.write_str(if is_address { "[" } else { "" })?;
                for character in host.chars() {
                    // A reference may name a host with line ends in it, which must not reach a log.
                    if character.is_control() {
                        write!(f, "%{:02X}", u32::from(character))?;
                    } else {
                        fmt::Write::write_char(f, character)?;
                    }
                }
                write!(f, "{}:{port}", if is_address { "]" } else { "" })
            }
            Self::Uiop { path } => {
                for chunk in path.as_os_str().as_bytes().utf8_chunks() {
                    for character in chunk.valid().chars() {
                        // Both are ASCII, so the character's number is its one octet.
                        if character == '%' || character.is_ascii_control() {
                            write!(f, "%{:02X}", u32::from(character))?;
                        } else {
                            fmt::Write::write_char(f, character)?;
                        }
                    }
                    for octet in chunk.invalid() {
                        write!(f, "%{octet:02X}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Endpoint {
    type Err = ParseEndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |problem| ParseEndpointError {
            text: text.into(),
            problem,
        };
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| fail(Problem::NoScheme))?;
        if scheme.eq_ignore_ascii_case(IIOP) {
            host_and_port(rest).map_err(fail)
        } else if scheme.eq_ignore_ascii_case(UIOP) {
            path(rest).map_err(fail)
        } else {
            Err(fail(Problem::UnknownScheme))
        }
    }
}

/// Text that is not an [`Endpoint`]; the message says what was expected and quotes the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseEndpointError {
    text: Box<str>,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    NoScheme,
    UnknownScheme,
    NoPort,
    BadPort,
    BadHost,
    OpenBracket,
    RelativePath,
    NulInPath,
    BadEscape,
}

impl fmt::Display for ParseEndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = match self.problem {
            Problem::NoScheme => "iiop://host:port or uiop:///path",
            Problem::UnknownScheme => "one of the schemes iiop and uiop",
            Problem::NoPort => "a colon and a port after the host",
            Problem::BadPort => "a port from 0 to 65535",
            Problem::BadHost => "a host name, an IPv4 address, or an IPv6 address in brackets",
            Problem::OpenBracket => "a closing bracket after the IPv6 address",
            Problem::RelativePath => "an absolute path",
            Problem::NulInPath => "a path without NUL",
            Problem::BadEscape => "two hexadecimal digits after each percent sign",
        };
        write!(f, "expected {expected}, found {:?}", self.text)
    }
}

impl Error for ParseEndpointError {}

fn host_and_port(text: &str) -> Result<Endpoint, Problem> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(Problem::OpenBracket)?;
        let port = rest.strip_prefix(':').ok_or(Problem::NoPort)?;
        // Only what Display puts into brackets again.
        (
            host.contains(':').then_some(host).ok_or(Problem::BadHost)?,
            port,
        )
    } else {
        let (host, port) = text.rsplit_once(':').ok_or(Problem::NoPort)?;
        (
            (!host.contains(':'))
                .then_some(host)
                .ok_or(Problem::BadHost)?,
            port,
        )
    };
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || "/?#@[]\\,".contains(c);
    if host.is_empty() || host.contains(forbidden) {
        return Err(Problem::BadHost);
    }
    // u16::from_str takes a leading plus sign, which no port has.
    if !port.bytes().all(|octet| octet.is_ascii_digit()) {
        return Err(Problem::BadPort);
    }
    Ok(Endpoint::iiop(
        host,
        port.parse().map_err(|_| Problem::BadPort)?,
    ))
}

fn path(text: &str) -> Result<Endpoint, Problem> {
    if !text.starts_with('/') {
        return Err(Problem::RelativePath);
    }
    let mut path = Vec::with_capacity(text.len());
    let mut octets = text.bytes();
    while let Some(octet) = octets.next() {
        path.push(if octet == b'%' {
            let mut digit = || {
                octets
                    .next()
                    .and_then(|d| char::from(d).to_digit(16))
                    .ok_or(Problem::BadEscape)
            };
            let (high, low) = (digit()?, digit()?);
            u8::try_from(high << 4 | low).map_err(|_| Problem::BadEscape)?
        } else {
            octet
        });
    }
    if path.contains(&0) {
        return Err(Problem::NulInPath);
    }
    Ok(Endpoint::uiop(OsString::from_vec(path)))
}

const IIOP: &str = "iiop";
const UIOP: &str = "uiop";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_of_host_names_are_escaped() {
        let forged = Endpoint::iiop("a\r\nb\u{1b}", 1);
        assert_eq!(forged.to_string(), "iiop://a%0D%0Ab%1B:1");
    }

    #[test]
    fn endpoints_are_read_and_written_alike() {
        let check = |text: &str, expected: Endpoint| {
            assert_eq!(text.parse(), Ok(expected.clone()));
            assert_eq!(expected.to_string(), text);
        };
        check("iiop://localhost:2809", Endpoint::iiop("localhost", 2809));
        check("iiop://127.0.0.1:0", Endpoint::iiop("127.0.0.1", 0));
        check("iiop://[::1]:65535", Endpoint::iiop("::1", 65535));
        check("iiop://[fe80::1%eth0]:1", Endpoint::iiop("fe80::1%eth0", 1));
        check(
            "uiop:///tmp/with space/ü.sock",
            Endpoint::uiop("/tmp/with space/ü.sock"),
        );
        check("uiop:///tmp/100%25", Endpoint::uiop("/tmp/100%"));
        check(
            "uiop:///tmp/%0A%FFx",
            Endpoint::uiop(OsString::from_vec(b"/tmp/\n\xffx".into())),
        );
        check("uiop:///", Endpoint::uiop("/"));
    }

    #[test]
    fn schemes_are_read_in_any_case() {
        assert_eq!("IIOP://h:1".parse(), Ok(Endpoint::iiop("h", 1)));
        assert_eq!("Uiop:///p".parse(), Ok(Endpoint::uiop("/p")));
    }

    #[test]
    fn what_is_wrong_with_the_text_is_said() {
        let check = |text: &str, expected: &str| {
            let error = text.parse::<Endpoint>().expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("expected {expected}, found {text:?}")
            );
        };
        check("", "iiop://host:port or uiop:///path");
        check("localhost:1", "iiop://host:port or uiop:///path");
        check("http://localhost:1", "one of the schemes iiop and uiop");
        check("iiop://localhost", "a colon and a port after the host");
        check("iiop://[::1]", "a colon and a port after the host");
        check("iiop://[::1]2809", "a colon and a port after the host");
        for port in ["", "+1", "-1", "65536", "x", "1 ", "99999999999999999999"] {
            check(&format!("iiop://h:{port}"), "a port from 0 to 65535");
        }
        for host in [
            "",
            "::1",
            "a b",
            "a/b",
            "user@host",
            "[h]",
            "h]",
            "a,b",
            "[::1 ]",
            "[]",
        ] {
            check(
                &format!("iiop://{host}:1"),
                "a host name, an IPv4 address, or an IPv6 address in brackets",
            );
        }
        check("iiop://[::1:1", "a closing bracket after the IPv6 address");
        check("uiop://tmp/x", "an absolute path");
        check("uiop://", "an absolute path");
        check("uiop:///a%00", "a path without NUL");
        for escape in ["%", "%1", "%zz", "%+1", "%1ü"] {
            check(
                &format!("uiop:///{escape}"),
                "two hexadecimal digits after each percent sign",
            );
        }
    }

    proptest! {
        #[test]
        fn every_path_survives_being_written(octets in prop::collection::vec(1u8.., 0..64)) {
            let mut path = vec![b'/'];
            path.extend(octets);
            let endpoint = Endpoint::uiop(OsString::from_vec(path));
            prop_assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
        }

        #[test]
        fn whatever_is_read_is_written_as_an_equal_endpoint(text in "(iiop|uiop)://[\\[\\]:/a-z0-9%.é]{0,24}") {
            if let Ok(endpoint) = text.parse::<Endpoint>() {
                prop_assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
            }
        }
    }
}
