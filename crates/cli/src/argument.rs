//! References on the command line: an object URL, or the name of a file with one.

use std::fmt;
use std::io;
use std::path::Path;
use zorb_giop::url::{ObjectUrl, UrlScheme};

/// The schemes of object URLs.
const SCHEMES: [UrlScheme; 4] = [
    UrlScheme::Ior,
    UrlScheme::Corbaloc,
    UrlScheme::Corbaname,
    UrlScheme::File,
];

/// An argument that names an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// An object URL, by its scheme.
    Url(&'a str),
    /// A file.
    File(&'a str),
}

/// An argument that is neither an object URL nor a file.
#[derive(Debug)]
pub(crate) struct NoArgument {
    text: String,
    /// Why there is no such file.
    why: io::Error,
}

impl<'a> Argument<'a> {
    /// Tells URLs from files by their scheme.
    pub(crate) fn read(text: &'a str) -> Result<Self, NoArgument> {
        let begins = text.trim_start_matches('\u{feff}').trim_start();
        let has = |scheme: &UrlScheme| {
            let scheme = scheme.to_string();
            let head = begins.get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(&scheme))
        };
        if SCHEMES.iter().any(has) {
            return Ok(Self::Url(text));
        }
        match std::fs::metadata(text) {
            Ok(found) if !found.is_dir() => Ok(Self::File(text)),
            Ok(_) => Err(io::ErrorKind::IsADirectory.into()),
            Err(why) => Err(why),
        }
        .map_err(|why| NoArgument {
            text: text.to_owned(),
            why,
        })
    }

    /// Returns the object URL, well formed as far as that shows without reading a file.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn url(text: &'a str) -> Result<String, String> {
        let url = match Self::read(text).map_err(|error| error.to_string())? {
            Self::Url(url) => url.to_owned(),
            Self::File(path) => match std::path::absolute(Path::new(path)) {
                Ok(path) => format!("file://{}", path.display()),
                Err(error) => return Err(format!("cannot read {path}: {error}")),
            },
        };
        match url.parse::<ObjectUrl>() {
            Ok(_) => Ok(url),
            Err(error) => Err(format!("{error:#}")),
        }
    }
}

impl fmt::Display for NoArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, why } = self;
        write!(f, "expected ")?;
        for scheme in SCHEMES {
            write!(f, "{scheme}, ")?;
        }
        write!(f, "or a file, found \"{text}\": {why}")
    }
}

/// The address in a text that looks like one, `host:port` or `iiop://host:port`.
pub(crate) fn host_port(text: &str) -> Option<&str> {
    let address = text.strip_prefix("iiop://").unwrap_or(text);
    let (host, port) = address.rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|octet| octet.is_ascii_digit());
    let is_host = !host.is_empty() && !host.contains(['/', '\\', '@', ',', ' ']);
    let is_whole = !host.contains(':') || (host.starts_with('[') && host.ends_with(']'));
    (is_port && is_host && is_whole).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_a_url_by_its_scheme_or_else_a_file() {
        for url in [
            "IOR:00",
            "ior:00",
            " corbaloc::h/k",
            "corbaname::h#a",
            "FILE:///x",
        ] {
            assert_eq!(Argument::read(url).unwrap(), Argument::Url(url));
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bank:2809");
        std::fs::write(&file, "IOR:00").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(Argument::read(file).unwrap(), Argument::File(file));
        assert_eq!(Argument::url(file), Ok(format!("file://{file}")));
    }

    #[test]
    fn what_is_neither_is_reported_as_it_is_typed_with_what_is_missing() {
        for (text, why) in [
            ("bank.ior", "found \"bank.ior\": No such file or directory"),
            ("localhost:2809", "found \"localhost:2809\": No such file"),
            (r"C:\bank.ior", r#"found "C:\bank.ior": No such file"#),
            ("/", "found \"/\": is a directory"),
        ] {
            let error = Argument::url(text).unwrap_err();
            assert!(error.contains(why), "{error}");
            assert!(error.starts_with("expected IOR:, corbaloc:, corbaname:, file:, or a file"));
        }
    }

    #[test]
    fn a_host_and_a_port_are_known_as_an_address() {
        for (text, address) in [
            ("localhost:2809", Some("localhost:2809")),
            ("iiop://h:1", Some("h:1")),
            ("[::1]:2809", Some("[::1]:2809")),
            ("::1:2809", None),
            ("localhost", None),
            ("bank.ior", None),
            ("http://h:80", None),
            ("h:", None),
        ] {
            assert_eq!(host_port(text), address, "{text}");
        }
    }
}
