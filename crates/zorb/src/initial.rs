//! From text to references: object URLs and initial references.

mod file;

use crate::addresses::Body;
use crate::error::Error;
use crate::interface::Interface;
use crate::naming;
use crate::object::ObjectRef;
use crate::orb::Orb;
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use zorb_giop::url::{Corbaloc, CorbalocAddress, ObjectUrl, UrlError, UrlScheme, escape};
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException, SystemExceptionKind, minor};

/// References that lead to references (a file with a `corbaloc:rir:` in it, and so on) end here.
const MAX_INDIRECTIONS: usize = 8;

impl Orb {
    /// Reads an object URL: `IOR:…`, `corbaloc:…`, `corbaname:…` or `file:///…`.
    ///
    /// Only `corbaname:` with a name contacts anybody: the naming service is asked. A `file:` has
    /// to be a regular one of at most 1 MiB; no error shows what it holds.
    ///
    /// **Text from outside:** the text decides which file is read and which address is
    /// called. [`permitted_url_schemes`](crate::Builder::permitted_url_schemes) says what such text may
    /// begin with; [`UrlError::SchemeNotPermitted`] is the answer to all other.
    ///
    /// A `corbaloc:` with several addresses (`corbaloc:iiop:1.2@one:2809,iiop:1.2@two:2809/Bank`)
    /// leads to the first that can be connected to, whenever a connection is needed. The default
    /// port is 2809, an empty host is this one, IPv6 addresses stand in brackets, and what a key
    /// cannot say plainly is `%` and two hexadecimal digits.
    ///
    /// **An address without a version means GIOP 1.0**, as the specification has it and as omniORB
    /// reads it: say `1.2@` before the host unless the server is that old. And no `corbaloc` says
    /// which code sets the server has. So, whatever the version, strings travel in ISO 8859-1 and
    /// wide strings not at all, until the server forwards to a full reference or gives one as a
    /// result.
    ///
    /// # Errors
    /// [`Error::Url`] for text that is none (BAD_PARAM with its minor code), INV_OBJREF for a nil
    /// reference, and for `corbaname:` whatever the naming service raises.
    ///
    /// # Cancel safety
    /// Safe: nothing has an effect.
    pub async fn string_to_object(&self, text: &str) -> Result<ObjectRef, Error> {
        self.read_url(
            text.to_owned(),
            0,
            self.inner().settings().url_schemes.as_deref(),
        )
        .await
    }

    /// The initial reference of that name. Looked for, in this order, among those that were
    /// [registered](Self::register_initial_reference), those given by
    /// [`initial_reference`](crate::Builder::initial_reference) or `-ORBInitRef`, and where
    /// [`default_initial_reference`](crate::Builder::default_initial_reference) or
    /// `-ORBDefaultInitRef` says that all others are.
    ///
    /// The root POA is no object that could be called from elsewhere:
    /// [`root_poa`](Self::root_poa) gives it.
    ///
    /// # Errors
    /// [`Error::InvalidName`] when there is none, and whatever reading its URL fails with.
    ///
    /// # Cancel safety
    /// Safe: nothing has an effect.
    pub async fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, Error> {
        match self.initial(name)? {
            Location::Ior(ior) => self.not_nil(ior),
            Location::Url(url) => self.read_url(url, 0, None).await,
        }
    }

    /// Makes an object an initial reference of this ORB, known to
    /// [`resolve_initial_references`](Self::resolve_initial_references) and to URLs that begin with
    /// `corbaloc:rir:`. It goes before one of the same name that was configured. Other processes
    /// learn nothing of it.
    ///
    /// # Errors
    /// [`Error::InvalidName`] for an empty name and for one that is registered already, BAD_PARAM
    /// for a nil reference.
    pub fn register_initial_reference(
        &self,
        name: &str,
        object: &impl Interface,
    ) -> Result<(), Error> {
        let ior = object.as_object().ior();
        if ior.is_nil() {
            return Err(SystemException::new(
                SystemExceptionKind::BadParam,
                minor::NIL_INITIAL_REFERENCE,
                CompletionStatus::No,
            )
            .with_detail("a nil reference cannot be an initial reference")
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

    /// The names of the initial references that were registered or configured one by one. What
    /// there is behind the default prefix is not known.
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

    /// Follows object URLs to a reference. `permitted`: the schemes that `text`, and what files lead to, may have;
    /// `None` for all. What the builder or the operator has named as an initial reference may have any.
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
                    "more urls that lead to urls than are followed",
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
            // An address without a transport does not either.
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

    /// A reference made from its parts. Nil leads nowhere: calls on it are INV_OBJREF.
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
        // The caller may have no runtime; the ORB has.
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
            profiles.push(body.to_tagged(addressing).map_err(encode)?);
        }
        Ok(Location::Ior(Ior {
            type_id: String::new(),
            profiles,
        }))
    }
}

/// Describes the error in a file's text, without any part of it: the path may have come from outside, and the error may go
/// back there.
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

/// The URL of an initial reference that only the default prefix leads to.
fn default_url(prefix: &str, name: &str) -> String {
    let delimiter = match prefix.chars().last() {
        // Another thread has set it.
        Some('/' | '|' | '#') => "",
        // A path holds slashes, so there the key is set off by a bar.
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

/// Whether initial references can be found behind that prefix.
///
/// # Errors
/// Expected and found value.
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
        Err(error) => Err(error.to_string()),
    }
}

enum Location {
    Ior(Ior),
    Url(String),
}
