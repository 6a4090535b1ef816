//! Peers that are told of types: one call at a time to each, which has all that has changed meanwhile.

use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::ObtainInfoMode;
use crate::supplier_proxy::DISCONNECT_TIMEOUT;
use crate::types::{Changes, Named};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zorb::{ObjectRef, SystemException, SystemExceptionKind};

/// What a peer is told: what is offered, or what is subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Offers,
    Subscriptions,
}

/// Tells one peer.
#[derive(Debug)]
pub(crate) struct Informer {
    told: Told,
    is_on: AtomicBool,
    /// What it has not been told; `None` while nobody tells it.
    pending: Mutex<Option<Changes>>,
}

impl Informer {
    pub(crate) fn new(told: Told) -> Arc<Self> {
        Arc::new(Self {
            told,
            is_on: AtomicBool::new(true),
            pending: Mutex::new(None),
        })
    }

    /// Whether it is told of changes from now on.
    pub(crate) fn turn(&self, on: bool) {
        self.is_on.store(on, Ordering::Relaxed);
    }

    /// What a client asks for: the types that there are, and whether its peer is told of changes.
    pub(crate) fn obtain(&self, mode: ObtainInfoMode, types: &Mutex<Named>) -> Vec<EventType> {
        let is_told = matches!(
            mode,
            ObtainInfoMode::AllNowUpdatesOn | ObtainInfoMode::NoneNowUpdatesOn
        );
        self.turn(is_told);
        match mode {
            ObtainInfoMode::AllNowUpdatesOff | ObtainInfoMode::AllNowUpdatesOn => {
                types.lock().unwrap_or_else(PoisonError::into_inner).list()
            }
            _ => Vec::new(),
        }
    }

    /// Tells a peer soon. One that has no such operation is told no more.
    pub(crate) fn inform(self: &Arc<Self>, peer: &ObjectRef, changes: &Changes) {
        if changes.is_empty() || !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(pending) = &mut *pending {
                pending.extend(changes);
                return;
            }
            *pending = Some(changes.clone());
        }
        let informer = Arc::clone(self);
        let peer = peer.with_round_trip_timeout(DISCONNECT_TIMEOUT);
        tokio::spawn(async move {
            while let Some((added, removed)) = informer.next() {
                if let Err(exception) = informer.tell(&peer, &added, &removed).await {
                    tracing::debug!(%exception, "a peer is not told of types");
                    if matches!(
                        exception.kind,
                        SystemExceptionKind::BadOperation
                            | SystemExceptionKind::NoImplement
                            | SystemExceptionKind::ObjectNotExist
                    ) {
                        informer.turn(false);
                    }
                }
            }
        });
    }

    fn next(&self) -> Option<(Vec<EventType>, Vec<EventType>)> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = pending.take().filter(|changes| !changes.is_empty())?;
        *pending = Some(Changes::default());
        Some(changes.lists())
    }

    async fn tell(
        &self,
        peer: &ObjectRef,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), SystemException> {
        use crate::cos_notify_comm::{
            NotifyPublishRef, NotifySubscribeRef, notify_publish::OfferChangeError,
            notify_subscribe::SubscriptionChangeError,
        };
        match self.told {
            Told::Offers => {
                let peer: NotifyPublishRef = peer.unchecked_narrow();
                match peer.offer_change(added, removed).await {
                    Err(OfferChangeError::System(exception)) => Err(exception),
                    _ => Ok(()),
                }
            }
            Told::Subscriptions => {
                let peer: NotifySubscribeRef = peer.unchecked_narrow();
                match peer.subscription_change(added, removed).await {
                    Err(SubscriptionChangeError::System(exception)) => Err(exception),
                    _ => Ok(()),
                }
            }
        }
    }
}
