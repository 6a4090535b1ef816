//! The request processing policy of an adapter.

use super::Adapter;
use crate::policy::{Policies, RequestProcessing};
use crate::servant_manager::{Activator, AnyLocator};
use crate::skeleton::Skeleton;
use crate::sync::ArcSwapOption;
use core::fmt;
use std::sync::Arc;

/// The request processing policy, with the default servant or servant manager that it uses.
#[derive(Debug)]
pub(super) enum Processing {
    ActiveObjectMapOnly,
    DefaultServant(ArcSwapOption<Set<dyn Skeleton>>),
    Activator(ArcSwapOption<Set<dyn Activator>>),
    Locator(ArcSwapOption<Set<dyn AnyLocator<Adapter>>>),
}

/// A default servant or servant manager that the application has set.
pub(super) struct Set<T: ?Sized>(pub(super) Arc<T>);

impl<T: ?Sized> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Set")
    }
}

impl Processing {
    pub(super) fn of(policies: Policies) -> Self {
        match (policies.request_processing, policies.retains()) {
            (RequestProcessing::ActiveObjectMapOnly, _) => Self::ActiveObjectMapOnly,
            (RequestProcessing::DefaultServant, _) => Self::DefaultServant(ArcSwapOption::empty()),
            (RequestProcessing::ServantManager, true) => Self::Activator(ArcSwapOption::empty()),
            (RequestProcessing::ServantManager, false) => Self::Locator(ArcSwapOption::empty()),
        }
    }

    pub(super) fn is_map_only(&self) -> bool {
        matches!(self, Self::ActiveObjectMapOnly)
    }

    pub(super) fn is_activator(&self) -> bool {
        matches!(self, Self::Activator(_))
    }

    /// Drops the servant manager and the default servant.
    pub(super) fn clear(&self) {
        match self {
            Self::ActiveObjectMapOnly => {}
            Self::DefaultServant(servant) => servant.store(None),
            Self::Activator(activator) => activator.store(None),
            Self::Locator(locator) => locator.store(None),
        }
    }
}
