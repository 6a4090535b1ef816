//! From text to references: object URLs and initial references.

use crate::error::Error;
use crate::naming;
use crate::object::ObjectRef;
use crate::orb::Orb;
use zorb_giop::ior::{IiopAddress, ProfileBody, UiopAddress};
use zorb_giop::url::{Corbaloc, CorbalocAddress, ObjectUrl};
use zorb_giop::{CompletionStatus, Fault, Ior, Version};

/// References that lead to references (a file with a `corbaloc:rir:` in it, and so on) end here.
const MAX_INDIRECTIONS: usize = 8;
/// A file with a reference in it is no longer than this.
const MAX_FILE_OCTETS: u64 = 1 << 20;

impl Orb {
    /// Reads an object URL: `IOR:…`, `corbaloc:…`, `corbaname:…` or `file:///…`.
    ///
    /// Only `corbaname:` with a name contacts anybody: the naming service is asked.
    ///
    /// # Errors
    /// [`Error::Url`] for text that is none (BAD_PARAM with its minor code), INV_OBJREF for a nil
    /// reference, and for `corbaname:` whatever the naming service raises.
    ///
    /// # Cancel safety
    /// Safe: nothing has an effect.
    pub async fn string_to_object(&self, text: &str) -> Result<ObjectRef, Error> {
        self.read_url(text.to_owned(), 0).await
    }

    /// The initial reference of that name, as given to
    /// [`initial_reference`](crate::Builder::initial_reference).
    ///
    /// # Errors
    /// [`Error::InvalidName`] when there is none, and whatever reading its URL fails with.
    ///
    /// # Cancel safety
    /// Safe: nothing has an effect.
    pub async fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, Error> {
        let url = self.initial_url(name)?;
        self.read_url(url, 0).await
    }

    /// The names that [`resolve_initial_references`](Self::resolve_initial_references) knows.
    #[must_use]
    pub fn list_initial_services(&self) -> Vec<String> {
        self.inner()
            .settings()
            .initial_references
            .keys()
            .cloned()
            .collect()
    }

    fn initial_url(&self, name: &str) -> Result<String, Error> {
        self.inner()
            .settings()
            .initial_references
            .get(name)
            .cloned()
            .ok_or_else(|| Error::InvalidName(name.to_owned()))
    }

    async fn read_url(&self, mut text: String, mut depth: usize) -> Result<ObjectRef, Error> {
        loop {
            depth += 1;
            if depth > MAX_INDIRECTIONS {
                return Err(Error::InvalidName(text));
            }
            match text.parse::<ObjectUrl>()? {
                ObjectUrl::Ior(ior) => return self.not_nil(ior),
                ObjectUrl::Corbaloc(corbaloc) => match self.corbaloc(&corbaloc)? {
                    Location::Ior(ior) => return self.not_nil(ior),
                    Location::Url(url) => text = url,
                },
                ObjectUrl::Corbaname { context, name } => {
                    let context = match self.corbaloc(&context)? {
                        Location::Ior(ior) => self.not_nil(ior)?,
                        Location::Url(url) => Box::pin(self.read_url(url, depth)).await?,
                    };
                    if name.is_empty() {
                        return Ok(context);
                    }
                    return naming::resolve_url(&context, &name).await;
                }
                ObjectUrl::File(path) => text = self.read_file(&path).await?,
                other => {
                    return Err(Error::InvalidName(format!("{other:?}")));
                }
            }
        }
    }

    /// A reference made from its parts. Nil leads nowhere: calls on it are INV_OBJREF.
    #[must_use]
    pub fn object(&self, ior: Ior) -> ObjectRef {
        ObjectRef::new(self.clone(), ior)
    }

    fn not_nil(&self, ior: Ior) -> Result<ObjectRef, Error> {
        if ior.is_nil() {
            return Err(Fault::NilReference.raise(CompletionStatus::No).into());
        }
        Ok(self.object(ior))
    }

    async fn read_file(&self, path: &str) -> Result<String, Error> {
        let asked = path.to_owned();
        // The caller may have no runtime; the ORB has.
        let read = self.inner().lane().handle().spawn_blocking(move || {
            use std::io::Read;
            let mut text = String::new();
            std::fs::File::open(&asked)?
                .take(MAX_FILE_OCTETS)
                .read_to_string(&mut text)?;
            Ok(text)
        });
        read.await
            .unwrap_or_else(|panic| Err(std::io::Error::other(panic)))
            .map_err(|cause| Error::File {
                path: path.to_owned(),
                cause,
            })
    }

    fn corbaloc(&self, corbaloc: &Corbaloc) -> Result<Location, Error> {
        if corbaloc.addresses == [CorbalocAddress::Rir] {
            let name = String::from_utf8_lossy(&corbaloc.key);
            return Ok(Location::Url(self.initial_url(&name)?));
        }
        let encode = |error| Fault::Encode(error).raise(CompletionStatus::No);
        let mut profiles = Vec::new();
        for address in &corbaloc.addresses {
            let profile = match address {
                CorbalocAddress::Iiop {
                    version,
                    host,
                    port,
                } => body(
                    *version,
                    &corbaloc.key,
                    IiopAddress {
                        // An empty host means this one.
                        host: if host.is_empty() {
                            "localhost".to_owned()
                        } else {
                            host.clone()
                        },
                        port: *port,
                    },
                )
                .to_tagged(),
                CorbalocAddress::Uiop { version, path } => {
                    body(*version, &corbaloc.key, UiopAddress { path: path.clone() }).to_tagged()
                }
                _ => continue,
            };
            profiles.push(profile.map_err(encode)?);
        }
        Ok(Location::Ior(Ior {
            type_id: String::new(),
            profiles,
        }))
    }
}

enum Location {
    Ior(Ior),
    Url(String),
}

fn body<A>(version: Version, key: &[u8], address: A) -> ProfileBody<A> {
    ProfileBody {
        version,
        address,
        object_key: bytes::Bytes::copy_from_slice(key),
        components: Vec::new(),
    }
}
