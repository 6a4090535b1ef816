//! A naming context of our own: what a server may do, and omniNames and JacORB's do not.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use zorb::naming::cos_naming::naming_context::{
    AlreadyBound, BindContextError, BindError, BindNewContextError, CannotProceed, DestroyError,
    InvalidName, NotEmpty, NotFound, NotFoundReason, RebindContextError, RebindError, ResolveError,
    UnbindError,
};
use zorb::naming::cos_naming::{
    Binding, BindingIterator, BindingIteratorRef, BindingIteratorServant, BindingList, BindingType,
    NameComponent, NamingContext, NamingContextRef, NamingContextServant,
};
use zorb::naming::{Name, NamingClient};
use zorb::{CompletionStatus, Interface, ObjectRef, Orb, SystemException, SystemExceptionKind};

/// The exception that every operation with a name raises.
#[derive(Clone)]
pub(crate) enum Raises {
    NotFound(NotFoundReason, Vec<NameComponent>),
    /// Go on there, with the name less that many components.
    CannotProceed(Option<NamingContextRef>, usize),
    /// Go on there, with that name.
    Elsewhere(NamingContextRef, Vec<NameComponent>),
    InvalidName,
    AlreadyBound,
    System(SystemException),
    /// Nothing is bound, until a client makes a context or binds an object: then that is bound, and
    /// CannotProceed is raised with this context and the whole name. JacORB's service does so when
    /// two calls bind one name at the same time.
    Overtaken,
}

/// A context that raises the same whatever is asked, and lists as many bindings as it is set to.
pub(crate) struct Odd {
    pub(crate) orb: Orb,
    pub(crate) raises: Raises,
    pub(crate) bindings: u32,
    /// Receives every call to an iterator: its name, and how many bindings it gave.
    pub(crate) calls: UnboundedSender<(&'static str, usize)>,
    /// Where calls to list and its iterators wait until they may go on.
    pub(crate) gate: Arc<Semaphore>,
    /// The context itself, and whether a client was overtaken in it.
    pub(crate) overtaken: Overtaken,
}

#[derive(Default)]
pub(crate) struct Overtaken {
    me: Arc<OnceLock<NamingContextRef>>,
    bound: AtomicBool,
}

impl Odd {
    pub(crate) fn raising(orb: &Orb, raises: Raises) -> NamingClient {
        let odd = Self {
            orb: orb.clone(),
            raises,
            bindings: 0,
            calls: tokio::sync::mpsc::unbounded_channel().0,
            gate: Arc::new(Semaphore::new(0)),
            overtaken: Overtaken::default(),
        };
        odd.serve()
    }

    pub(crate) fn serve(self) -> NamingClient {
        let poa = self.orb.root_poa();
        let me = self.overtaken.me.clone();
        let context: NamingContextRef = poa
            .activate(NamingContextServant::new(self))
            .expect("the ORB listens");
        me.set(context.clone()).expect("served once");
        NamingClient::new(context)
    }

    /// Where a name leads, where a client was overtaken: each component to this context again.
    fn bound(&self) -> Option<ObjectRef> {
        let bound = self.overtaken.bound.load(Ordering::Relaxed);
        bound.then(|| self.overtaken.me.get().expect("served").as_object().clone())
    }

    /// The exception for `n`: the set one, or that of a client that has just been overtaken.
    fn raises(&self, n: &[NameComponent]) -> Raises {
        match &self.raises {
            Raises::Overtaken if n.len() == 1 => {
                self.overtaken.bound.store(true, Ordering::Relaxed);
                Raises::CannotProceed(self.overtaken.me.get().cloned(), 0)
            }
            Raises::Overtaken => Raises::NotFound(NotFoundReason::MissingNode, n.to_vec()),
            raises => raises.clone(),
        }
    }
}

macro_rules! raise {
    ($self:ident, $n:ident, $error:ident $(, $bound:ident)?) => {
        match $self.raises($n) {
            Raises::NotFound(why, rest_of_name) => NotFound { why, rest_of_name }.into(),
            Raises::CannotProceed(cxt, less) => {
                let rest_of_name = $n[less..].to_vec();
                CannotProceed { cxt, rest_of_name }.into()
            }
            Raises::Elsewhere(cxt, rest_of_name) => {
                let cxt = Some(cxt);
                CannotProceed { cxt, rest_of_name }.into()
            }
            Raises::InvalidName => InvalidName {}.into(),
            $(Raises::AlreadyBound => $bound {}.into(),)?
            Raises::System(exception) => exception.into(),
            #[allow(unreachable_patterns, reason = "not every operation raises it")]
            Raises::AlreadyBound | Raises::Overtaken => unlisted().into(),
        }
    };
}

fn unlisted() -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, CompletionStatus::No)
}

impl NamingContext for Odd {
    async fn bind(&self, n: &[NameComponent], _: Option<ObjectRef>) -> Result<(), BindError> {
        if n.len() > 1 && self.bound().is_some() {
            return Ok(());
        }
        Err(raise!(self, n, BindError, AlreadyBound))
    }

    async fn rebind(&self, n: &[NameComponent], _: Option<ObjectRef>) -> Result<(), RebindError> {
        Err(raise!(self, n, RebindError))
    }

    async fn bind_context(
        &self,
        n: &[NameComponent],
        _: Option<NamingContextRef>,
    ) -> Result<(), BindContextError> {
        Err(raise!(self, n, BindContextError, AlreadyBound))
    }

    async fn rebind_context(
        &self,
        n: &[NameComponent],
        _: Option<NamingContextRef>,
    ) -> Result<(), RebindContextError> {
        Err(raise!(self, n, RebindContextError))
    }

    async fn resolve(&self, n: &[NameComponent]) -> Result<Option<ObjectRef>, ResolveError> {
        match self.bound() {
            Some(bound) => Ok(Some(bound)),
            None => Err(raise!(self, n, ResolveError)),
        }
    }

    async fn unbind(&self, n: &[NameComponent]) -> Result<(), UnbindError> {
        Err(raise!(self, n, UnbindError))
    }

    async fn new_context(&self) -> Result<Option<NamingContextRef>, SystemException> {
        Ok(None)
    }

    async fn bind_new_context(
        &self,
        n: &[NameComponent],
    ) -> Result<Option<NamingContextRef>, BindNewContextError> {
        Err(raise!(self, n, BindNewContextError, AlreadyBound))
    }

    async fn destroy(&self) -> Result<(), DestroyError> {
        Err(NotEmpty {}.into())
    }

    async fn list(
        &self,
        how_many: u32,
    ) -> Result<(BindingList, Option<BindingIteratorRef>), SystemException> {
        let pass = self.gate.acquire().await.expect("never closed");
        pass.forget();
        let iterator = Counting {
            left: Mutex::new((0..self.bindings).map(|n| (n, binding(n))).collect()),
            calls: self.calls.clone(),
            gate: self.gate.clone(),
        };
        let first = iterator.take("list", how_many);
        if iterator.left.lock().unwrap().is_empty() {
            return Ok((first, None));
        }
        let servant = BindingIteratorServant::new(iterator);
        Ok((first, Some(self.orb.root_poa().activate(servant)?)))
    }
}

/// An iterator that reports its calls.
struct Counting {
    left: Mutex<BTreeMap<u32, Binding>>,
    calls: UnboundedSender<(&'static str, usize)>,
    gate: Arc<Semaphore>,
}

impl Counting {
    fn take(&self, operation: &'static str, how_many: u32) -> Vec<Binding> {
        let mut left = self.left.lock().unwrap();
        let taken: Vec<_> = (0..how_many).map_while(|_| left.pop_first()).collect();
        // The receiver may be gone.
        let _ = self.calls.send((operation, taken.len()));
        taken.into_iter().map(|(_, binding)| binding).collect()
    }
}

impl BindingIterator for Counting {
    async fn next_one(&self) -> Result<(bool, Binding), SystemException> {
        Err(unlisted())
    }

    async fn next_n(&self, how_many: u32) -> Result<(bool, BindingList), SystemException> {
        let pass = self.gate.acquire().await.expect("never closed");
        pass.forget();
        let taken = self.take("next_n", how_many);
        Ok((!taken.is_empty(), taken))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.take("destroy", 0);
        Ok(())
    }
}

fn binding(n: u32) -> Binding {
    let id = format!("{n:04}");
    let binding_name = Name(vec![NameComponent {
        id,
        kind: String::new(),
    }]);
    Binding {
        binding_name: binding_name.0,
        binding_type: BindingType::Nobject,
    }
}
