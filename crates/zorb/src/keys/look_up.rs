//! Looking up the object of a key, at adapters, in the table of plain keys, and by the key resolver.

use super::{Bound, Found, LOOKUP_TIMEOUT};
use crate::orb::OrbInner;
use crate::profile::describe_key;
use crate::serve::enter;
use bytes::Bytes;
use core::future::poll_fn;
use core::pin::pin;
use std::sync::Arc;
use zorb_connection::Counter;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException};
use zorb_poa::{KeyOwner, Missing, ObjectKey};
use zorb_shares::HostKey;

impl OrbInner {
    /// An entry of the table of plain keys.
    pub(super) fn bound(&self, key: &[u8], ior: Ior) -> Bound {
        Bound {
            key: Bytes::copy_from_slice(key),
            own: self.local_key(&ior),
            ior: Arc::new(ior),
        }
    }

    /// Looks a key up without waiting.
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Result<Found, Missing> {
        match self.adapters().locate(key) {
            Ok(object) => Ok(Found::Object(object)),
            Err(Missing::Adapter) => self.find_beyond(key),
            Err(missing) => Err(missing),
        }
    }

    /// Looks a key up for a peer. While the server is starting, a missing persistent object is TRANSIENT: after
    /// OBJECT_NOT_EXIST a client may delete its reference.
    #[inline]
    pub(crate) fn find_for_peer(&self, key: &[u8]) -> Result<Found, SystemException> {
        match self.find(key) {
            Ok(found) => Ok(found),
            Err(_) => self.missing_for_peer(key),
        }
    }

    #[cold]
    fn missing_for_peer(&self, key: &[u8]) -> Result<Found, SystemException> {
        let adapters = self.adapters();
        let may_begin = adapters.key_owner(key) == KeyOwner::AnyServer && !adapters.has_begun();
        // A server that has begun by now may have made the object since the look-up.
        let missing = match self.find(key) {
            Ok(found) => return Ok(found),
            Err(missing) => missing,
        };
        match self.missing(key, missing) {
            Err(_) if may_begin => Err(Fault::Starting.raise(CompletionStatus::No)),
            found => found,
        }
    }

    /// The exception for a missing object. If the POA manager of its adapter is not active, the manager's state decides
    /// first, and a request that it holds is looked up again.
    #[cold]
    fn missing(&self, key: &[u8], missing: Missing) -> Result<Found, SystemException> {
        let held = match missing {
            Missing::Object => self.adapters().held_missing(key),
            _ => None,
        };
        held.map(Found::Object).ok_or_else(|| missing.raise())
    }

    #[cold]
    fn find_beyond(&self, key: &[u8]) -> Result<Found, Missing> {
        let keys = self.keys();
        match ObjectKey::parse(key) {
            Some(ObjectKey::Plain(key)) => {
                if let Some(bound) = keys.table.find(key) {
                    return bound.find(self.adapters());
                }
            }
            Some(ObjectKey::Persistent { .. } | ObjectKey::Sealed { .. }) => {
                if self.adapters().is_too_deep(key) {
                    return Err(Missing::Adapter);
                }
                if self.adapters().may_be_activated(key) {
                    return Ok(Found::Unknown(Bytes::copy_from_slice(key)));
                }
                // An activator may have finished making the adapter since the look-up.
                match self.adapters().locate(key) {
                    Ok(object) => return Ok(Found::Object(object)),
                    Err(Missing::Adapter) => {}
                    Err(missing) => return Err(missing),
                }
            }
            // A transient key of an earlier run, or no valid key.
            _ => return Err(Missing::Adapter),
        }
        match keys.resolver.load().is_some() {
            true => Ok(Found::Unknown(Bytes::copy_from_slice(key))),
            false => Err(Missing::Adapter),
        }
    }

    /// Looks a key up for a call within this process, calling the resolver if necessary; never returns [`Found::Unknown`].
    pub(crate) async fn find_or_ask(&self, key: &[u8]) -> Result<Found, SystemException> {
        match self.find(key) {
            Ok(Found::Unknown(key)) => self.ask(key, HostKey::THIS_PROCESS).await,
            Ok(found) => Ok(found),
            Err(missing) => self.missing(key, missing),
        }
    }

    /// Calls the adapter activators and the key resolver for a client of `host`, within the limits on look-ups; never returns
    /// [`Found::Unknown`]. Dropping the future drops these calls, and makes room for another look-up.
    pub(crate) async fn ask(&self, key: Bytes, host: HostKey) -> Result<Found, SystemException> {
        // The servant has not begun in any of these cases.
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let keys = self.keys();
        let _place = keys.lookups.take(host).map_err(|full| {
            self.count(Counter::PendingRequestsRefused);
            let overload = format!("too many keys are being looked up: {full}");
            raise(Fault::Overload(overload))
        })?;
        let answer = self.look_up(key);
        let too_slow = {
            // Callers in the same process may be outside any runtime, so the ORB's provides the timer.
            let _runtime = self.lane().handle().enter();
            tokio::time::sleep(LOOKUP_TIMEOUT)
        };
        tokio::select! {
            biased;
            found = answer => found,
            () = self.stopped() => Err(raise(Fault::Inactive)),
            () = too_slow => {
                self.count(Counter::PendingRequestsRefused);
                let slow = format!("the look-up of the key took more than {LOOKUP_TIMEOUT:?}");
                Err(raise(Fault::Overload(slow)))
            }
        }
    }

    /// Calls activators to make missing adapters, then the key resolver.
    async fn look_up(&self, key: Bytes) -> Result<Found, SystemException> {
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let failed = |_| raise(Fault::AdapterActivatorFailed);
        let shown = || Some(describe_key(&key));
        {
            let mut made = pin!(self.adapters().activate_path(&key));
            poll_fn(|cx| match enter(self, shown, || made.as_mut().poll(cx)) {
                Ok(poll) => poll,
                Err(panic) => Err(failed(panic)).into(),
            })
            .await?;
        }
        match self.adapters().locate(&key) {
            Ok(object) => return Ok(Found::Object(object)),
            Err(Missing::Adapter) => {}
            Err(missing) => return self.missing(&key, missing),
        }
        let Some(resolver) = self.keys().resolver.load_full() else {
            return Err(Missing::Adapter.raise());
        };
        let panicked = |_| raise(Fault::KeyResolverPanicked);
        let mut lookup = enter(self, shown, || resolver(key.clone())).map_err(panicked)?;
        let ior = poll_fn(|cx| match enter(self, shown, || lookup.as_mut().poll(cx)) {
            Ok(poll) => poll,
            Err(panic) => Err(panicked(panic)).into(),
        })
        .await?;
        ior.filter(|ior| !ior.is_nil())
            .ok_or(Missing::Adapter)
            // The empty key is unused: this `Bound` is not in the table.
            .and_then(|ior| self.bound(&[], ior).find(self.adapters()))
            .map_err(Missing::raise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Orb;

    #[test]
    fn an_object_that_is_made_while_a_peer_asks_for_it_is_found() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let found = runtime.block_on(async {
            let orb = Orb::builder().build().await.unwrap();
            let inner = orb.inner();
            // The first look-up of `find_for_peer`; the server is ready before the second.
            assert!(matches!(inner.find(b"door"), Err(Missing::Adapter)));
            let elsewhere = "corbaloc:iiop:host.example:2809/door";
            let elsewhere = orb.string_to_object(elsewhere).await.unwrap();
            orb.key_table().bind("door", &elsewhere).unwrap();
            orb.root_poa().the_poa_manager().activate().unwrap();
            inner.missing_for_peer(b"door").is_ok()
        });
        assert!(found);
    }
}
