//! Bindings: the connection, or the local object, of the calls of a reference.

use super::layouts::Layouts;
use crate::real_time::Selection;
use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::runtime::Id;
use zorb_cdr::{NativeEndian, WireFormat};
use zorb_connection::{ClientConnection, OrderKey, Orders, Turn};
use zorb_giop::ior::TaggedProfile;
use zorb_giop::{AddressingDisposition, Ior, RequestTemplate, TargetAddress, Version};

/// The limit on kept bindings of other priorities and runtimes.
const MAX_KEPT: usize = 64;

/// The binding that a reference shares with its clones.
#[derive(Debug, Default)]
pub(super) struct BindingSlot {
    pub(super) current: ArcSwapOption<Binding>,
    /// Whether the reference was bound before, so that binding it again is a rebind.
    pub(super) established: AtomicBool,
    /// Whether the connections are for this reference and its clones alone.
    is_private: AtomicBool,
    /// Bindings of other priorities and runtimes, where the object has a priority model.
    kept: Mutex<Vec<Arc<Binding>>>,
    /// The number of the slot, from 1 on; 0 until it is first bound.
    number: AtomicU32,
    /// The order of collocated one-way calls; allocated by the first, since most references make none.
    one_ways: OnceLock<Box<Orders>>,
}

impl BindingSlot {
    /// The turn of a collocated one-way call.
    pub(super) fn one_way_turn(&self) -> Turn {
        let orders = self.one_ways.get_or_init(Box::default);
        orders.turn(OrderKey::OneWays)
    }

    pub(super) fn store(&self, binding: &Arc<Binding>) {
        let before = self.current.swap(Some(Arc::clone(binding)));
        self.established.store(true, Ordering::Relaxed);
        if self.is_private.load(Ordering::Relaxed)
            && let Some(Target::Remote(before)) = before.as_ref().map(|before| &before.target)
            && !matches!(&binding.target,
                Target::Remote(now) if Arc::ptr_eq(&now.connection, &before.connection))
        {
            // Calls in progress on the old connection go on.
            before.connection.release_if_idle();
        }
        if let Some(before) = before
            && before.selection.is_some()
        {
            self.keep(&before);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<Binding>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a binding for calls of its priority and its runtime.
    pub(super) fn keep(&self, binding: &Arc<Binding>) {
        let mut kept = self.kept();
        kept.retain(|other| other.is_open() && !Arc::ptr_eq(other, binding));
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push(Arc::clone(binding));
    }

    /// The priority selection of a kept binding.
    pub(super) fn kept_selection(&self) -> Option<Selection> {
        self.kept().first()?.selection.clone()
    }

    /// The binding that is kept for calls at this priority from this runtime.
    pub(super) fn find_kept(&self, reactor: Id, priority: Option<i16>) -> Option<Arc<Binding>> {
        let kept = self.kept();
        let covers = |binding: &&Arc<Binding>| {
            let selection = binding.selection.as_ref();
            binding.is_usable(reactor)
                && selection.is_some_and(|selection| selection.covers(priority))
        };
        kept.iter().find(covers).cloned()
    }

    /// The number of the slot. It selects one of several connections to an endpoint, or identifies a private one.
    pub(super) fn number(&self) -> usize {
        static BOUND: AtomicU32 = AtomicU32::new(0);
        let mut number = self.number.load(Ordering::Relaxed);
        if number == 0 {
            let next = BOUND.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
            // Another caller may have set it at the same time: the first number stays.
            let set = (self.number).compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed);
            number = set.map_or_else(|other| other, |_| next);
        }
        number as usize
    }

    /// Marks the connections as private to this reference and its clones.
    pub(super) fn keep_private(&self) {
        self.is_private.store(true, Ordering::Relaxed);
    }
}

impl Drop for BindingSlot {
    fn drop(&mut self) {
        if *self.is_private.get_mut() {
            let kept = core::mem::take(&mut *self.kept());
            for binding in kept.into_iter().chain(self.current.swap(None)) {
                if let Target::Remote(remote) = &binding.target {
                    remote.connection.release();
                }
            }
        }
    }
}

/// A binding for the duration of one call. Borrowed from the reference, which saves a reference count.
pub(crate) struct BindingGuard(pub(super) Guard<Option<Arc<Binding>>>);

impl BindingGuard {
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Binding>> {
        self.0.as_ref()
    }
}

impl From<Arc<Binding>> for BindingGuard {
    fn from(binding: Arc<Binding>) -> Self {
        Self(Guard::from_inner(Some(binding)))
    }
}

/// The resolved destination of calls.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    pub(crate) target: Target,
    pub(crate) key: Bytes,
    pub(crate) version: Version,
    /// The addressing disposition that the server needs.
    pub(super) addressing: AddressingDisposition,
    /// The reference that was bound: the original one or that of a forward.
    pub(super) reference: Ior,
    pub(super) profile: usize,
    /// The runtime whose callers may use the binding.
    pub(super) reactor: Id,
    /// The priorities of its calls, where the object has a priority model.
    pub(crate) selection: Option<Selection>,
    /// Whether the object was found by a forward.
    pub(crate) forwarded: bool,
    /// What the object has said of the layouts of operations.
    pub(crate) layouts: Layouts,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// An object of this ORB.
    Local,
    Remote(Remote),
}

/// An object of another ORB.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) connection: Arc<ClientConnection>,
    /// The common prefix of all requests to the object.
    pub(crate) requests: RequestTemplate<NativeEndian>,
}

impl Binding {
    /// The target address of a request, in the server's addressing disposition.
    pub(crate) fn address(&self) -> TargetAddress<'_> {
        match self.addressing {
            AddressingDisposition::Key => TargetAddress::Key(&self.key),
            AddressingDisposition::Profile => match self.reference.profiles.get(self.profile) {
                Some(profile) => TargetAddress::Profile(profile.clone()),
                None => TargetAddress::Key(&self.key),
            },
            AddressingDisposition::Reference => TargetAddress::Reference {
                selected: u32::try_from(self.profile).unwrap_or(u32::MAX),
                ior: Box::new(self.reference.clone()),
            },
        }
    }

    /// The code sets and GIOP version by which messages to the target are encoded.
    pub(crate) fn format(&self) -> WireFormat {
        match &self.target {
            Target::Remote(remote) => remote.connection.format(self.version),
            Target::Local => WireFormat::default(),
        }
    }

    /// The reference that was bound: the original one or that of a forward.
    pub(crate) const fn reference(&self) -> &Ior {
        &self.reference
    }

    /// The profile by which requests go.
    pub(crate) fn effective_profile(&self) -> Option<&TaggedProfile> {
        self.reference.profiles.get(self.profile)
    }

    fn is_open(&self) -> bool {
        match &self.target {
            Target::Local => true,
            Target::Remote(remote) => remote.connection.is_usable(),
        }
    }

    /// Whether calls from a runtime can use the binding, even if its peer is silent.
    pub(super) fn is_open_for(&self, reactor: Id) -> bool {
        match &self.target {
            Target::Local => true,
            Target::Remote(remote) => self.reactor == reactor && !remote.connection.is_over(),
        }
    }

    pub(crate) fn is_usable(&self, reactor: Id) -> bool {
        match &self.target {
            Target::Local => true,
            Target::Remote(remote) => self.reactor == reactor && remote.connection.is_usable(),
        }
    }
}
