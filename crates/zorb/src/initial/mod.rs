//! Object URLs and initial references: converts text to references, and back.

mod file;

use crate::addresses::Body;
use crate::error::Error;
use crate::interface::Interface;
use crate::naming;
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::protection;
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use zorb_giop::url::{Corbaloc, CorbalocAddress, ObjectUrl, UrlError, UrlScheme, escape};
use zorb_giop::{CompletionStatus, Fault, Ior};

/// The limit on URLs that are followed in a row, such as a file that holds a `corbaloc:rir:`.
const MAX_INDIRECTIONS: usize = 8;

impl Orb {
    /// Reads an object URL: `IOR:…`, `corbaloc:…`, `corbaname:…` or `file:///…`.
    ///
    /// Only `corbaname:` with a name makes a call: it resolves the name at the naming service. A `file:` URL has to
    /// name a regular file of at most 1 MiB; no error shows its contents.
    ///
    /// **Text from outside:** the text decides which file is read and which address is called.
    /// [`permitted_url_schemes`](crate::Builder::permitted_url_schemes) limits the schemes of such text; others are
    /// [`UrlError::SchemeNotPermitted`].
    ///
    /// A `corbaloc:` with several addresses (`corbaloc:iiop:1.2@one:2809,iiop:1.2@two:2809/Bank`) uses the first one
    /// that accepts a connection, whenever a connection is needed. The default port is 2809, an empty host is this one,
    /// IPv6 addresses are in brackets, and other octets of a key are written as `%` and two hexadecimal digits.
    ///
    /// **An address without a version means GIOP 1.0**, as in the specification and in omniORB: write `1.2@` before the
    /// host unless the server is that old. A `corbaloc` states no code sets. So, whatever the version, strings travel
    /// in ISO 8859-1 and wide strings cannot travel, until the server forwards to a full reference or returns one.
    ///
    /// Costs an allocation for each profile, and the I/O of a file or of a naming service.
    ///
    /// Source: CORBA 3.3 Part 2, ORB Interoperability Architecture (object URLs); the OMG Naming Service for
    /// `corbaname:`.
    ///
    /// # Errors
    /// [`Error::Url`] for text that is no object URL (BAD_PARAM with its minor code), [`Error::File`] for a file that
    /// cannot be read or holds none, INV_OBJREF for a nil reference, and for `corbaname:` the exceptions of the naming
    /// service.
    ///
    /// # Cancel safety
    /// Safe: no step has a lasting effect.
    pub async fn string_to_object(&self, text: &str) -> Result<ObjectRef, Error> {
        self.read_url(
            text.to_owned(),
            0,
            self.inner().settings().url_schemes.as_deref(),
        )
        .await
    }

    /// Stringifies a reference in the form that every ORB reads: `IOR:…`.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::ORB`).
    #[must_use]
    pub fn object_to_string(&self, object: &impl Interface) -> String {
        object.as_object().to_string()
    }

    /// The initial reference of that name. The ORB looks, in this order, among the
    /// [registered](Self::register_initial_reference) ones, among those of
    /// [`initial_reference`](crate::Builder::initial_reference) or `-ORBInitRef`, and at the prefix of
    /// [`default_initial_reference`](crate::Builder::default_initial_reference) or `-ORBDefaultInitRef`.
    ///
    /// The root POA has no object reference: [`root_poa`](Self::root_poa) returns it.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::ORB`).
    ///
    /// # Errors
    /// [`Error::InvalidName`] when there is none, and the errors of [`string_to_object`](Self::string_to_object) for
    /// its URL.
    ///
    /// # Cancel safety
    /// Safe: no step has a lasting effect.
    pub async fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, Error> {
        match self.initial(name)? {
            Location::Ior(ior) => self.not_nil(ior),
            Location::Url(url) => self.read_url(url, 0, None).await,
        }
    }

    /// Makes an object an initial reference of this ORB, known to
    /// [`resolve_initial_references`](Self::resolve_initial_references) and to URLs that begin with `corbaloc:rir:`. It
    /// takes precedence over a configured one of the same name. It is known in this process only.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::ORB`).
    ///
    /// # Errors
    /// [`Error::InvalidName`] for an empty name, for `RootPOA` and for a name that is registered already; BAD_PARAM for
    /// a nil reference.
    pub fn register_initial_reference(
        &self,
        name: &str,
        object: &impl Interface,
    ) -> Result<(), Error> {
        let ior = object.as_object().ior();
        if ior.is_nil() {
            return Err(Fault::NilInitialReference
                .raise(CompletionStatus::No)
                .into());
        }
        if name.is_empty() {
            return Err(invalid(name, "expected a name, found none"));
        }
        if let Some(why) = local(name) {
            return Err(invalid(name, why));
        }
        match self.inner().initial_references().entry(name.to_owned()) {
            Entry::Occupied(_) => Err(invalid(name, "registered already")),
            Entry::Vacant(free) => {
                free.insert(ior.clone());
                Ok(())
            }
        }
    }

    /// The names of the initial references that were registered or configured one by one, sorted. References at the
    /// default prefix cannot be listed.
    #[must_use]
    pub fn list_initial_services(&self) -> Vec<String> {
        let registered: Vec<String> = self.inner().initial_references().keys().cloned().collect();
        let configured = &self.inner().settings().initial_references;
        let names: BTreeSet<_> = registered
            .into_iter()
            .chain(configured.keys().cloned())
            .collect();
        names.into_iter().collect()
    }

    fn initial(&self, name: &str) -> Result<Location, Error> {
        if let Some(ior) = self.inner().initial_references().get(name) {
            return Ok(Location::Ior(ior.clone()));
        }
        if let Some(why) = local(name) {
            return Err(invalid(name, why));
        }
        let settings = self.inner().settings();
        if let Some(url) = settings.initial_references.get(name) {
            return Ok(Location::Url(url.clone()));
        }
        match &settings.default_initial_reference {
            Some(prefix) => Ok(Location::Url(default_url(prefix, name))),
            None => Err(invalid(
                name,
                "not known: name it with Orb::builder().initial_reference, -ORBInitRef or register_initial_reference",
            )),
        }
    }

    /// Follows object URLs to a reference. `permitted`: the schemes that `text`, and URLs in files, may have; `None`
    /// for all. Initial references that the builder or the operator has named may have any scheme.
    async fn read_url(
        &self,
        mut text: String,
        mut depth: usize,
        mut permitted: Option<&[UrlScheme]>,
    ) -> Result<ObjectRef, Error> {
        // The file that `text` was read from; the first, if files lead to files.
        let mut file: Option<String> = None;
        loop {
            depth = depth.saturating_add(1);
            if depth > MAX_INDIRECTIONS {
                return Err(UrlError::BadSchemeSpecificPart(
                    "too many URLs that lead to another URL",
                )
                .into());
            }
            let url = text.parse::<ObjectUrl>().and_then(|url| {
                let scheme = url.scheme();
                match permitted.is_none_or(|permitted| permitted.contains(&scheme)) {
                    true => Ok(url),
                    false => Err(UrlError::SchemeNotPermitted(scheme)),
                }
            });
            let url = match (url, &file) {
                (Ok(url), _) => url,
                (Err(error), None) => return Err(error.into()),
                (Err(error), Some(path)) => {
                    let path = path.clone();
                    let cause = file::not_a_reference(describe_without_contents(&error));
                    return Err(Error::File { path, cause });
                }
            };
            // An error in an address of a file must not show the file's contents either.
            let place = |corbaloc: &Corbaloc| {
                self.corbaloc(corbaloc)
                    .map_err(|error| match (error, &file) {
                        (Error::Url(error), Some(path)) => Error::File {
                            path: path.clone(),
                            cause: file::not_a_reference(describe_without_contents(&error)),
                        },
                        (error, _) => error,
                    })
            };
            match url {
                ObjectUrl::Ior(ior) => return self.not_nil(ior),
                ObjectUrl::Corbaloc(corbaloc) => match place(&corbaloc)? {
                    Location::Ior(ior) => return self.not_nil(ior),
                    Location::Url(url) => (text, permitted) = (url, None),
                },
                ObjectUrl::Corbaname { context, name } => {
                    let context = match place(&context)? {
                        Location::Ior(ior) => self.not_nil(ior)?,
                        Location::Url(url) => Box::pin(self.read_url(url, depth, None)).await?,
                    };
                    if name.is_empty() {
                        return Ok(context);
                    }
                    return naming::resolve_url(&context, &name).await;
                }
                ObjectUrl::File(path) => {
                    let shown = file.get_or_insert_with(|| path.clone());
                    text = self.read_file(&path, shown).await?;
                }
                _ => return Err(UrlError::BadScheme(text.chars().take(40).collect()).into()),
            }
        }
    }

    /// Makes a reference from an IOR. Calls on a nil reference are INV_OBJREF.
    #[must_use]
    pub fn object(&self, ior: Ior) -> ObjectRef {
        let inner = self.inner();
        inner.named_sockets().remember(&ior, inner.transports());
        ObjectRef::new(self.clone(), ior)
    }

    fn not_nil(&self, ior: Ior) -> Result<ObjectRef, Error> {
        if ior.is_nil() {
            return Err(Fault::NilReference.raise(CompletionStatus::No).into());
        }
        Ok(self.object(ior))
    }

    /// Reads a file. `shown`: the path that an error names.
    async fn read_file(&self, path: &str, shown: &str) -> Result<String, Error> {
        let asked = PathBuf::from(path);
        // The caller may be outside any runtime; the ORB has one.
        let read = (self.inner().lane().handle()).spawn_blocking(move || file::read(&asked));
        read.await
            .unwrap_or_else(|panic| Err(std::io::Error::other(panic)))
            .map_err(|cause| Error::File {
                path: shown.to_owned(),
                cause,
            })
    }

    fn corbaloc(&self, corbaloc: &Corbaloc) -> Result<Location, Error> {
        if corbaloc.addresses == [CorbalocAddress::Rir] {
            let name = String::from_utf8_lossy(&corbaloc.key);
            return self.initial(&name);
        }
        let encode = |error| Fault::Encode(error).raise(CompletionStatus::No);
        let mut profiles = Vec::new();
        for address in &corbaloc.addresses {
            let Some((protocol, version, text)) = address.location() else {
                continue;
            };
            let bad = |why| UrlError::BadAddress {
                address: format!("{protocol}:{text}"),
                why,
            };
            let transport = (self.inner().transports().get(protocol))
                .ok_or_else(|| bad("expected a protocol that a transport is registered for"))?;
            let addressing = transport.addressing();
            let endpoint = (addressing.parse_corbaloc(&text))
                .map_err(|_| bad("expected an address of the protocol's transport"))?;
            let body = Body {
                version,
                endpoint,
                object_key: bytes::Bytes::copy_from_slice(&corbaloc.key),
                components: Vec::new(),
            };
            if addressing.profile().is_none() && addressing.protection().is_none() {
                let why = "expected a transport that is set up to connect: ssliop needs the authorities that it trusts, -ORBTransportProperty ssliop.trust=FILE";
                return Err(bad(why).into());
            }
            let profile = protection::profile(body, addressing, self.inner().transports());
            profiles.push(profile.map_err(encode)?);
        }
        Ok(Location::Ior(Ior {
            type_id: String::new(),
            profiles,
        }))
    }
}

/// Describes the error in a file's text, without any part of the text: a peer may have chosen the path, and may receive
/// the error.
fn describe_without_contents(error: &UrlError) -> &'static str {
    match error {
        UrlError::BadScheme(_) => "expected IOR:, corbaloc:, corbaname: or file: in it",
        UrlError::BadAddress { why, .. } => why,
        UrlError::BadSchemeSpecificPart(why) => why,
        UrlError::BadIor(_) => "malformed reference",
        UrlError::SchemeNotPermitted(_) => "holds a url of a scheme that is not permitted",
        _ => "malformed url",
    }
}

/// The remedy for an initial reference that is not an object reference in zorb.
fn local(name: &str) -> Option<&'static str> {
    match name {
        "RootPOA" => Some("an adapter is no object reference here: orb.root_poa() gives it"),
        _ => None,
    }
}

fn invalid(name: &str, why: &'static str) -> Error {
    Error::InvalidName {
        name: name.to_owned(),
        why,
    }
}

/// The URL of an initial reference, made from the default prefix.
fn default_url(prefix: &str, name: &str) -> String {
    let delimiter = match prefix.chars().last() {
        // The prefix ends with a delimiter.
        Some('/' | '|' | '#') => "",
        // The path of a UNIX socket holds slashes, so a bar precedes the key.
        _ if is_unix(prefix) && !prefix.contains('|') => "|",
        _ => "/",
    };
    format!("{prefix}{delimiter}{}", escape(name.as_bytes()))
}

fn is_unix(prefix: &str) -> bool {
    prefix
        .get(.."corbaloc:uiop:".len())
        .is_some_and(|head| head.eq_ignore_ascii_case("corbaloc:uiop:"))
}

/// Checks that the prefix makes a valid object URL with any name.
///
/// # Errors
/// The expected and the found text.
pub(crate) fn check_default(prefix: &str) -> Result<(), String> {
    match default_url(prefix, "X").parse::<ObjectUrl>() {
        Ok(ObjectUrl::Corbaloc(context) | ObjectUrl::Corbaname { context, .. })
            if !context.addresses.contains(&CorbalocAddress::Rir) =>
        {
            Ok(())
        }
        Ok(_) => Err(format!(
            "expected the beginning of a corbaloc: or corbaname: url with an address, found {prefix:?}"
        )),
        Err(error) => Err(format!("{error:#}")),
    }
}

enum Location {
    Ior(Ior),
    Url(String),
}
