//! Addresses of UNIX sockets: paths, and names of the abstract namespace.
use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use crate::{
    AddressComponent, AddressError, AddressReader, AddressWriter, Addressing, Endpoint,
    EndpointAddress, ListenAddress, ParseEndpointError, WrittenEndpoints,
    addressing::{strip, strip_scheme, text_of},
    endpoint::{unescape, write_escaped},
    system::host_name,
};

/// The address of a UNIX socket: its path in the file system, or its name in the abstract namespace.
///
/// A path is written unchanged, except for octets that text cannot have (controls, octets that are not UTF-8) and `%`
/// itself, which are `%` and two hexadecimal digits. `@` precedes an abstract name. Only Linux has abstract sockets.
/// They belong to the network namespace, have no permissions, and are gone when the last process closes them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnixAddress {
    name: Name,
    /// The host of the socket, if it is not this one.
    elsewhere: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    Path(PathBuf),
    Abstract(Box<[u8]>),
}

impl UnixAddress {
    /// Makes the address of the socket at a path. A path from text is absolute; a relative one is relative to the
    /// current directory.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            name: Name::Path(path.into()),
            elsewhere: None,
        }
    }

    /// Makes the address of the socket with an abstract name, which is any octets but NUL.
    #[must_use]
    pub fn named(name: impl Into<Vec<u8>>) -> Self {
        Self {
            name: Name::Abstract(name.into().into()),
            elsewhere: None,
        }
    }

    /// Returns the path; `None` of an abstract name.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.name {
            Name::Path(path) => Some(path),
            Name::Abstract(_) => None,
        }
    }

    /// Returns the abstract name; `None` of a path.
    #[must_use]
    pub fn abstract_name(&self) -> Option<&[u8]> {
        match &self.name {
            Name::Path(_) => None,
            Name::Abstract(name) => Some(name),
        }
    }

    /// Returns the octets of the path, or `@` and the name.
    fn octets(&self) -> Vec<u8> {
        match &self.name {
            Name::Path(path) => path.as_os_str().as_bytes().to_vec(),
            Name::Abstract(name) => [b"@", &name[..]].concat(),
        }
    }

    /// Returns the address that is written as these octets.
    fn of(mut octets: Vec<u8>) -> Self {
        if octets.first() == Some(&b'@') {
            octets.remove(0);
            return Self::named(octets);
        }
        Self::at(OsString::from_vec(octets))
    }
}

impl Endpoint {
    /// Makes the endpoint of the UNIX socket at a path.
    #[must_use]
    pub fn uiop(path: impl Into<PathBuf>) -> Self {
        Self::new(SCHEME, UnixAddress::at(path))
    }

    /// Makes the endpoint `uiop://@name`: a socket in Linux's abstract namespace, to which every process of the network
    /// namespace may connect. The name is not checked here: an empty one leads nowhere, and one that the system refuses
    /// fails in `connect` or `listen`.
    #[must_use]
    pub fn uiop_abstract(name: impl Into<Vec<u8>>) -> Self {
        Self::new(SCHEME, UnixAddress::named(name))
    }
}

impl fmt::Display for UnixAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A host in front is in no text that is read: the socket is on another host, and cannot be reached from here.
        let host = self.elsewhere.as_deref().unwrap_or_default();
        write_escaped(f, host, char::is_control)?;
        for chunk in self.octets().utf8_chunks() {
            // Both are ASCII, so the character's number is its one octet.
            let escaped = |c: char| c == '%' || c.is_ascii_control();
            write_escaped(f, chunk.valid(), escaped)?;
            for octet in chunk.invalid() {
                write!(f, "%{octet:02X}")?;
            }
        }
        Ok(())
    }
}

impl EndpointAddress for UnixAddress {
    fn is_local_name(&self) -> bool {
        true
    }

    fn unreachable_reason(&self) -> Option<&'static str> {
        match &self.name {
            _ if self.elsewhere.is_some() => Some("a socket of another host"),
            Name::Path(path) if path.as_os_str().is_empty() => Some("empty path"),
            Name::Abstract(name) if name.is_empty() => Some("empty name"),
            _ => None,
        }
    }
}

/// The syntax of UNIX sockets' addresses: `uiop:///path` or `uiop://@name`. In references each is in a profile of
/// TAO's, and also in omniORB's component of IIOP profiles.
///
/// Listening also understands omniORB's `giop:unix:/path`.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to it")]
pub struct UnixAddressing;

impl Addressing for UnixAddressing {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn forms(&self) -> &'static [&'static str] {
        &["uiop:///path", "uiop://@name"]
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        if !text.starts_with('/') && (!text.starts_with('@') || text.len() == 1) {
            return Err(AddressError::expected(
                "an absolute path, or @ and an abstract name",
            ));
        }
        let octets = unescape(text)?;
        if octets.contains(&0) {
            return Err(AddressError::expected("a path without NUL"));
        }
        Ok(Endpoint::new(SCHEME, UnixAddress::of(octets)))
    }

    fn parse_listen(&self, text: &str) -> Option<Result<ListenAddress, ParseEndpointError>> {
        if let Some(path) = strip(text, "giop:unix:") {
            let expected = || ParseEndpointError::new("giop:unix:/path", text);
            let path = path.starts_with('/').then_some(path).ok_or_else(expected);
            return Some(path.map(|path| Endpoint::uiop(path).into()));
        }
        let address = strip_scheme(text, SCHEME)?;
        let read = self.parse(address).map(ListenAddress::from);
        Some(read.map_err(|error| error.in_text(text)))
    }

    fn parse_corbaloc(&self, text: &str) -> Result<Endpoint, AddressError> {
        match text.is_empty() {
            true => Err(AddressError::expected("a path")),
            // Nothing is escaped, as in TAO's text.
            false => Ok(Endpoint::new(SCHEME, UnixAddress::of(text.into()))),
        }
    }

    fn corbaloc(&self, endpoint: &Endpoint) -> String {
        let address: Option<&UnixAddress> = endpoint.address();
        let octets = address.map(UnixAddress::octets).unwrap_or_default();
        String::from_utf8_lossy(&octets).into_owned()
    }

    fn profile(&self) -> Option<u32> {
        Some(UIOP)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        to.write_string(&address(endpoint)?.octets())
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        let octets = bounded(from.read_string()?)?;
        Ok(Endpoint::new(SCHEME, UnixAddress::of(octets)))
    }

    fn components(&self) -> &'static [AddressComponent] {
        &COMPONENTS
    }

    fn write_component(
        &self,
        _: AddressComponent,
        endpoint: &Endpoint,
        to: &mut dyn AddressWriter,
    ) -> Result<bool, AddressError> {
        let (Some(path), Some(host)) = (address(endpoint)?.path(), host_name()) else {
            return Ok(false);
        };
        to.write_string(host.as_bytes())?;
        to.write_string(path.as_os_str().as_bytes())?;
        Ok(true)
    }

    fn read_component(
        &self,
        _: AddressComponent,
        from: &mut dyn AddressReader,
    ) -> Result<Vec<Endpoint>, AddressError> {
        // The same path on another host is another socket.
        let host = text_of(from.read_string()?);
        let path = bounded(from.read_string()?)?;
        let mut address = UnixAddress::at(OsStr::from_bytes(&path));
        address.elsewhere = (host_name() != Some(host.clone())).then(|| host.into());
        Ok(vec![Endpoint::new(SCHEME, address)])
    }
}

/// Returns the address of a UNIX socket's endpoint.
pub(super) fn address(endpoint: &Endpoint) -> Result<&UnixAddress, AddressError> {
    let other = || AddressError::expected("an endpoint of the UNIX transport");
    endpoint.address().ok_or_else(other)
}

fn bounded(octets: &[u8]) -> Result<Vec<u8>, AddressError> {
    if octets.len() > MAX_PATH_OCTETS {
        let found = octets.len();
        return Err(AddressError::expected(format!(
            "a path of at most {MAX_PATH_OCTETS} octets, found {found}"
        )));
    }
    Ok(octets.to_vec())
}

const SCHEME: &str = "uiop";

/// Most octets of a path in a reference. The operating system takes about a hundred, and refuses to connect to a longer
/// one. A path of the file system has at most 4,096 on Linux.
const MAX_PATH_OCTETS: usize = 4_096;

/// TAO's profile for UNIX sockets.
const UIOP: u32 = 0x5441_4f00;
/// The profile with omniORB's component: TAG_INTERNET_IOP.
const INTERNET_IOP: u32 = 0;
/// omniORB's UNIX socket: string host, string path.
const OMNIORB_UNIX: u32 = 0x4154_5402;

const COMPONENTS: [AddressComponent; 1] = [AddressComponent {
    profile: INTERNET_IOP,
    tag: OMNIORB_UNIX,
    written: WrittenEndpoints::All,
}];
