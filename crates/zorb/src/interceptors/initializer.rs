//! ORB initialisers: code that adds interceptors and slots to ORBs that others build.

use super::ior::IorInterceptor;
use super::registered::Interceptors;
use super::slots::SlotId;
use super::traits::{ClientRequestInterceptor, ServerRequestInterceptor};
use crate::builder::Builder;
use crate::codec::CodecFactory;
use crate::orb::Orb;
use crate::orb_settings::Settings;
use crate::policy::{PolicyFactory, PolicyType};
use core::fmt;
use core::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// The future of [`OrbInitializer::post_init`].
pub type PostInit<'a> = Pin<Box<dyn Future<Output = Result<(), SystemException>> + Send + 'a>>;

/// Code that takes part in the start of an ORB: a library adds its interceptors so.
///
/// Registered for one ORB by [`Builder::initializer`], or for all ORBs that the process builds later by
/// [`register_orb_initializer`]. First `pre_init` runs for each, those of the process first, in the order of registration;
/// then the ORB is there, and `post_init` runs for each. It serves when all have succeeded; its interceptors see calls from
/// then on.
///
/// ```
/// use zorb::interceptors::{ClientRequestInterceptor, OrbInitInfo, OrbInitializer};
/// use zorb::SystemException;
///
/// struct Monitoring;
/// impl ClientRequestInterceptor for Monitoring {}
/// impl OrbInitializer for Monitoring {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
///         info.add_client_request_interceptor(std::sync::Arc::new(Monitoring));
///         Ok(())
///     }
/// }
///
/// # async fn example() -> Result<(), zorb::Error> {
/// let orb = zorb::Orb::builder().initializer(Monitoring).build().await?;
/// # Ok(()) }
/// ```
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`PortableInterceptor::ORBInitializer`).
#[doc(alias = "ORBInitializer")]
pub trait OrbInitializer: Send + Sync + 'static {
    /// Before the ORB is there.
    ///
    /// # Errors
    /// An exception is that of [`Builder::build`].
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// When the ORB is there, and initial references can be resolved ([`OrbInitInfo::orb`]); it passes no interceptors yet.
    ///
    /// # Errors
    /// An exception is that of [`Builder::build`].
    fn post_init<'a>(&'a self, info: &'a mut OrbInitInfo<'_>) -> PostInit<'a> {
        let _ = info;
        Box::pin(core::future::ready(Ok(())))
    }
}

static OF_PROCESS: Mutex<Vec<Arc<dyn OrbInitializer>>> = Mutex::new(Vec::new());

/// Has an initialiser take part in the start of every ORB that this process builds from now on.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`register_orb_initializer`).
pub fn register_orb_initializer(initializer: Arc<dyn OrbInitializer>) {
    (OF_PROCESS.lock())
        .unwrap_or_else(PoisonError::into_inner)
        .push(initializer);
}

/// The initialisers of an ORB.
#[derive(Default)]
pub(crate) struct Initializers(Vec<Arc<dyn OrbInitializer>>);

impl fmt::Debug for Initializers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Initializers").field(&self.0.len()).finish()
    }
}

impl Initializers {
    /// Those of the process, and of the builder.
    pub(crate) fn all(&mut self) -> Vec<Arc<dyn OrbInitializer>> {
        let of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = of_process.clone();
        all.append(&mut self.0);
        all
    }
}

/// An ORB that starts, as its initialisers see it: `PortableInterceptor::ORBInitInfo`.
///
/// It ends with the initialiser that has it: its use afterwards, which the specification has as OBJECT_NOT_EXIST, does not
/// compile.
#[doc(alias = "ORBInitInfo")]
pub struct OrbInitInfo<'a> {
    pub(crate) interceptors: &'a mut Interceptors,
    pub(crate) settings: Option<&'a mut Settings>,
    pub(crate) orb: Option<&'a Orb>,
    pub(crate) id: &'a str,
}

impl OrbInitInfo<'_> {
    /// The name of the ORB, set by [`Builder::id`].
    #[must_use]
    pub const fn orb_id(&self) -> &str {
        self.id
    }

    /// The ORB, in `post_init`; `None` in `pre_init`.
    #[must_use]
    #[doc(alias = "resolve_initial_references")]
    pub const fn orb(&self) -> Option<&Orb> {
        self.orb
    }

    /// The factory of codecs, whose references belong to the ORB; in `pre_init` to none, so that codecs cannot decode any.
    #[must_use]
    pub fn codec_factory(&self) -> CodecFactory {
        CodecFactory::of(self.orb.cloned())
    }

    /// Sets the object URL of an initial reference, as [`Builder::initial_reference`].
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 14, in `post_init`, which has [`Orb::register_initial_reference`].
    #[doc(alias = "register_initial_reference")]
    pub fn initial_reference(&mut self, name: &str, url: &str) -> Result<(), SystemException> {
        let Some(settings) = &mut self.settings else {
            let fault = Fault::WrongInterceptionPoint("register_initial_reference");
            return Err(fault.raise(CompletionStatus::No));
        };
        let references = &mut settings.initial_references;
        references.insert(name.to_owned(), url.to_owned());
        Ok(())
    }

    /// Adds an interceptor of the calls that the ORB makes. Two of one name are INITIALIZE when all initialisers have run.
    pub fn add_client_request_interceptor(&mut self, added: Arc<dyn ClientRequestInterceptor>) {
        self.interceptors.add_client(added);
    }

    /// Adds an interceptor of the calls that the ORB serves. Two of one name are INITIALIZE when all initialisers have run.
    pub fn add_server_request_interceptor(&mut self, added: Arc<dyn ServerRequestInterceptor>) {
        self.interceptors.add_server(added);
    }

    /// Adds an interceptor of the ORB's POAs. Two of one name are INITIALIZE when all initialisers have run.
    pub fn add_ior_interceptor(&mut self, added: Arc<dyn IorInterceptor>) {
        self.interceptors.add_ior(added);
    }

    /// Allocates a slot for a value that travels with calls: see [`PiCurrent`](super::PiCurrent).
    pub fn allocate_slot_id(&mut self) -> SlotId {
        self.interceptors.allocate_slot()
    }

    /// Registers the factory of a policy type, for [`Orb::create_policy`].
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 16, if the type has one.
    pub fn register_policy_factory(
        &mut self,
        policy_type: PolicyType,
        factory: Arc<dyn PolicyFactory>,
    ) -> Result<(), SystemException> {
        self.interceptors.add_policy_factory(policy_type, factory)
    }
}

impl fmt::Debug for OrbInitInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrbInitInfo")
            .field("orb_id", &self.id)
            .field("interceptors", &self.interceptors)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Adds an initialiser of this ORB, behind those that were added before.
    pub fn initializer(mut self, initializer: impl OrbInitializer) -> Self {
        self.settings.initializers.0.push(Arc::new(initializer));
        self
    }

    /// Adds an interceptor of the ORB's POAs, behind those that were added before. See
    /// [`interceptors`](crate::interceptors).
    #[doc(alias = "add_ior_interceptor")]
    pub fn ior_interceptor(mut self, interceptor: impl IorInterceptor) -> Self {
        self.settings.interceptors.add_ior(Arc::new(interceptor));
        self
    }
}
