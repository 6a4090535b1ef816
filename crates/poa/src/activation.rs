//! Adapter activators, which make adapters on demand.

use crate::adapter::Adapter;
use crate::key::{ObjectId, ObjectKey, Parts};
use crate::manager::{HoldOutcome, PoaManagerState};
use crate::missing::Missing;
use crate::registry::ObjectAdapter;
use core::future::poll_fn;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_shares::HostKey;

impl ObjectAdapter {
    /// The names of the adapters that a persistent key of this server names. `None` for other keys, and for a key that
    /// names more adapters than there may be: it is parsed no further than that.
    fn names<'a>(&self, key: &'a [u8]) -> Option<Vec<&'a str>> {
        let parsed = ObjectKey::parse(key).and_then(|parsed| self.open(parsed));
        let Some(ObjectKey::Persistent { path, .. }) = parsed else {
            return None;
        };
        let mut parts = Parts::new(path);
        if parts.next()?? != self.server_id() {
            return None;
        }
        let names = parts.by_ref().take(self.max_depth());
        let names = names.collect::<Option<_>>()?;
        parts.next().is_none().then_some(names)
    }

    /// The adapter in which the first of `names`, of a path that begins below `from`, may be made or is being made; the
    /// names with it and behind it. `None` if no adapter is missing, or none will be made.
    fn to_be_made<'n>(
        &self,
        from: &Arc<Adapter>,
        names: &'n [&'n str],
    ) -> Option<(Arc<Adapter>, &'n [&'n str])> {
        let (parent, left) = self.walk(from, names);
        let name = left.first()?;
        let may_come = parent.adapter_activator().is_some() || self.find(&parent, name).is_some();
        may_come.then_some((parent, left))
    }

    /// Whether a key names more adapters than may be below each other ([`with_max_depth`](Self::with_max_depth)), so that
    /// no server with this limit has made it. Parses no more names than that.
    #[must_use]
    pub fn is_too_deep(&self, key: &[u8]) -> bool {
        let parsed = ObjectKey::parse(key).and_then(ObjectKey::unsealed);
        let Some(ObjectKey::Persistent { path, .. }) = parsed else {
            return false;
        };
        // The server's id stands before the names.
        let beyond = self.max_depth().saturating_add(1);
        Parts::new(path).nth(beyond).is_some()
    }

    /// Whether [`activate_path`](Self::activate_path) may make the adapter that a key names, which was not found. Costs a
    /// walk along the names of the key, as far as there are adapters.
    #[must_use]
    pub fn may_be_activated(&self, key: &[u8]) -> bool {
        let names = self.names(key);
        names.is_some_and(|names| self.to_be_made(self.root(), &names).is_some())
    }

    /// Makes the adapters that a key names by their activators, outermost first. One request at a time does so for each
    /// name; other requests for that adapter, and for those below it, wait until its activator is done.
    ///
    /// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::AdapterActivator`).
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if an activator returns `false`, or does not make the adapter; OBJ_ADAPTER if it raises a
    /// system exception; the exceptions by which the parents' managers refuse requests.
    ///
    /// # Cancel safety
    /// Safe: adapters made so far stay. A running activator is dropped, and the next request calls it again.
    pub async fn activate_path(&self, key: &[u8]) -> Result<(), SystemException> {
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let names = self.names(key).unwrap_or_default();
        let mut missing = self.to_be_made(self.root(), &names);
        while let Some((parent, [name, below @ ..])) = missing {
            admitted(&parent).await?;
            let made = match parent.is_destroyed() {
                true => None,
                false => match self.activate_child(&parent, name).await {
                    Ok(Some(made)) => Some(made).filter(|made| !made.is_destroyed()),
                    Ok(None) => return Err(Missing::Adapter.raise()),
                    Err(_) => return Err(raise(Fault::AdapterActivatorFailed)),
                },
            };
            missing = match made {
                Some(made) => self.to_be_made(&made, below),
                // One that has been destroyed has left the tree, and another one may be in its place.
                None => self.to_be_made(self.root(), &names),
            };
        }
        Ok(())
    }

    /// The child of this name, made by the adapter activator if it is missing; `None` if there is no activator, or it
    /// makes none.
    ///
    /// # Errors
    /// The exception that the activator raises.
    ///
    /// # Cancel safety
    /// Safe: the activator is dropped, and an adapter that it has made stays.
    pub async fn activate_child(
        &self,
        parent: &Arc<Adapter>,
        name: &str,
    ) -> Result<Option<Arc<Adapter>>, SystemException> {
        let id = ObjectId::from(name);
        let _guard = parent.child_activations.begin(&id).await;
        let _made = CreatedAdapter {
            server: self,
            parent,
            name,
        };
        // An earlier request may have made it while this one waited for its turn.
        if let Some(found) = self.find(parent, name) {
            return Ok(Some(found));
        }
        let Some(activator) = parent.adapter_activator() else {
            return Ok(None);
        };
        match activator.unknown_adapter(name.to_owned()).await? {
            true => Ok(self.find(parent, name)),
            false => Ok(None),
        }
    }
}

/// Makes the adapter that an activator has created visible to requests, when the activator is done or dropped.
struct CreatedAdapter<'a> {
    server: &'a ObjectAdapter,
    parent: &'a Adapter,
    name: &'a str,
}

impl Drop for CreatedAdapter<'_> {
    fn drop(&mut self) {
        if let Some(child) = self.server.find(self.parent, self.name) {
            child.show();
        }
    }
}

/// Waits while the manager of an adapter holds requests, or until the adapter has been destroyed.
async fn admitted(parent: &Adapter) -> Result<(), SystemException> {
    // The look-ups have places of their own, with shares by host.
    let mut held = parent.manager().hold(HostKey::THIS_PROCESS);
    loop {
        match parent.manager().state() {
            PoaManagerState::Holding => {}
            state => return state.admit(),
        }
        if let HoldOutcome::Full(full) = poll_fn(|cx| held.poll_changed(cx.waker())).await {
            let full = Fault::Overload(format!("too many requests are held: {full}"));
            return Err(full.raise(CompletionStatus::No));
        }
        if parent.is_emptied() {
            return Ok(());
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use crate::key::Path;
    use crate::policy::Policies;
    use crate::servant_manager::{AdapterActivator, Boxed};
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    use std::sync::Weak;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Makes the child, and returns once `goes_on` is set.
    struct Slow {
        server: Weak<ObjectAdapter>,
        goes_on: Arc<AtomicBool>,
    }

    impl AdapterActivator for Slow {
        fn unknown_adapter(&self, name: String) -> Boxed<Result<bool, SystemException>> {
            let server = self.server.upgrade().unwrap();
            let (root, goes_on) = (Arc::clone(server.root()), Arc::clone(&self.goes_on));
            Box::pin(async move {
                let manager = Some(Arc::clone(root.manager()));
                server
                    .create(&root, &name, Policies::PERSISTENT, manager)
                    .unwrap();
                poll_fn(|_| match goes_on.load(Ordering::Relaxed) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await;
                Ok(true)
            })
        }
    }

    fn server() -> (Arc<ObjectAdapter>, Arc<AtomicBool>) {
        let server = Arc::new(ObjectAdapter::new(crate::key::InstanceId(1), ""));
        server.root().manager().activate().unwrap();
        let goes_on = Arc::<AtomicBool>::default();
        let activator = Slow {
            server: Arc::downgrade(&server),
            goes_on: Arc::clone(&goes_on),
        };
        server
            .root()
            .set_adapter_activator(Some(Arc::new(activator)))
            .unwrap();
        (server, goes_on)
    }

    fn key(server: &ObjectAdapter, names: &[&str]) -> bytes::Bytes {
        let path = Path {
            server_id: server.server_id().to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        let path = path.to_bytes();
        ObjectKey::Persistent {
            path: &path,
            id: b"7",
        }
        .to_bytes()
    }

    #[test]
    fn requests_wait_for_an_adapter_that_its_activator_is_still_making() {
        let (server, goes_on) = server();
        let (own, below) = (key(&server, &["bank"]), key(&server, &["bank", "branch"]));
        let mut cx = Context::from_waker(Waker::noop());
        let mut first = pin!(server.activate_path(&own));
        assert!(first.as_mut().poll(&mut cx).is_pending());
        // The activator finds the adapter; requests do not yet.
        assert!(server.find(server.root(), "bank").is_some());
        let mut others = [&own, &below].map(|key| {
            assert_eq!(server.locate(key).unwrap_err(), Missing::Adapter);
            assert!(server.may_be_activated(key));
            Box::pin(server.activate_path(key))
        });
        for other in &mut others {
            assert!(other.as_mut().poll(&mut cx).is_pending());
        }
        goes_on.store(true, Ordering::Relaxed);
        assert_eq!(first.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
        assert_eq!(server.locate(&own).unwrap_err(), Missing::Object);
        assert!(!server.may_be_activated(&own));
        let [to_it, below_it] = &mut others;
        assert_eq!(to_it.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
        // The adapter exists now, without an activator.
        assert_eq!(below_it.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
        assert_eq!(server.locate(&below).unwrap_err(), Missing::Adapter);
    }

    #[test]
    fn an_activator_that_is_given_up_leaves_the_adapter_to_requests() {
        let (server, _) = server();
        let key = key(&server, &["bank"]);
        let mut cx = Context::from_waker(Waker::noop());
        {
            let mut first = pin!(server.activate_path(&key));
            assert!(first.as_mut().poll(&mut cx).is_pending());
        }
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
    }
}
