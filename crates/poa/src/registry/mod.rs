//! All adapters of an ORB, and the look-up of an object key.

mod tree;

use crate::adapter::{Adapter, AdapterError, AdapterOptions, Common, Scheme};
use crate::deactivation::{Deactivations, DestructionGuard};
use crate::key::{InstanceId, ObjectId, ObjectKey, Path};
use crate::manager::{PoaManager, PoaManagerState};
use crate::managers::Managers;
use crate::missing::Missing;
use crate::names::Names;
use crate::object::ActiveObject;
use crate::policy::{IdAssignment, IdUniqueness, KeyProtection, Lifespan, Policies};
use crate::seal::KeySecret;
use crate::servant_manager::{InterfaceSource, OffReactor};
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use crate::table::{Index, Table};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use tree::Tree;

/// The owner of a key, as far as its octets tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing in between")]
pub enum KeyOwner {
    /// A key of this run of this server.
    ThisServer,
    /// A key of another server, or of an earlier run of this one.
    OtherServer,
    /// A plain key, which any server may use: the endpoint of the reference decides.
    AnyServer,
}

/// The id of the root POA's manager.
const ROOT_MANAGER: &str = "RootPOAManager";

/// All adapters of one ORB, and the look-up of objects by their keys.
#[derive(Debug)]
pub struct ObjectAdapter {
    instance: InstanceId,
    server_id: String,
    /// The prefix of this server's paths.
    path_prefix: Bytes,
    /// The transient adapters, by the index in their keys.
    transient: Table<Adapter>,
    /// The persistent adapters, by the path in their keys.
    persistent: Names<Arc<Adapter>>,
    /// For look-ups by name; requests to adapters that exist do not use it.
    tree: Mutex<Tree>,
    max_depth: usize,
    root: Arc<Adapter>,
    plain: Arc<Adapter>,
    /// Whether a manager that is not HOLDING has been found.
    begun: AtomicBool,
    common: Arc<Common>,
    managers: Managers,
    /// Destroyed persistent adapters whose upcalls have not ended. Their ids stay taken until then.
    ending: Mutex<HashMap<Vec<String>, Weak<Deactivations>>>,
}

impl ObjectAdapter {
    /// The name of the adapter whose object ids are the whole keys.
    pub const PLAIN_NAME: &'static str = "INSPOA";

    /// The limit on the depth of an adapter, unless [set](Self::with_max_depth): the names from below the root to it.
    pub const DEFAULT_MAX_DEPTH: usize = 64;

    /// A server with the two adapters that always exist, under one manager in the HOLDING state: the root, and the
    /// adapter of [plain keys](Self::plain). `server_id` becomes a part of persistent keys.
    #[must_use]
    pub fn new(instance: InstanceId, server_id: &str) -> Self {
        let transient = Table::new();
        let manager = Arc::new(PoaManager::new());
        let common = Arc::<Common>::default();
        let make = |index| {
            Adapter::new(
                Vec::new(),
                Scheme::Transient(index),
                Policies::ROOT,
                instance,
                Arc::clone(&manager),
                &common,
                None,
                AdapterOptions::default(),
            )
        };
        let root = transient.insert_with(make).map_or_else(
            |_| {
                make(Index {
                    slot: 0,
                    generation: 0,
                })
            },
            |(_, root)| root,
        );
        let plain = Adapter::new(
            vec![Self::PLAIN_NAME.to_owned()],
            Scheme::Plain,
            Policies::PERSISTENT.with_id_uniqueness(IdUniqueness::Multiple),
            instance,
            Arc::clone(&manager),
            &common,
            None,
            AdapterOptions::default(),
        );
        let managers = Managers::default();
        manager.set_id(|| ROOT_MANAGER.to_owned());
        managers.register(&manager);
        let mut tree = Tree::default();
        tree.insert(&root, &plain);
        Self {
            instance,
            server_id: server_id.to_owned(),
            path_prefix: Path {
                server_id: server_id.to_owned(),
                names: Vec::new(),
            }
            .to_bytes(),
            transient,
            persistent: Names::of_long_names(),
            tree: Mutex::new(tree),
            max_depth: Self::DEFAULT_MAX_DEPTH,
            root,
            plain,
            begun: AtomicBool::new(false),
            common,
            managers,
            ending: Mutex::default(),
        }
    }

    /// Limits the depth of adapters, for [`create`](Self::create) and for the keys of requests: one that names more
    /// adapters than this is unknown, and no activator is asked. [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH) unless
    /// set.
    #[must_use]
    pub const fn with_max_depth(mut self, names: usize) -> Self {
        self.max_depth = names;
        self
    }

    /// The limit on the depth of adapters.
    pub(crate) const fn max_depth(&self) -> usize {
        self.max_depth
    }

    /// Sets the ORB to which the adapters belong, once: [`Adapter::owner`] returns it.
    pub fn set_owner(&self, owner: Weak<dyn core::any::Any + Send + Sync>) {
        let _ = self.common.owner.set(owner);
    }

    /// Sets the function that runs blocking upcalls whose servants are found by servant managers during the request.
    /// Of active objects [`ActiveObject::blocks`] is known before the upcall. To be called once, before requests come: a
    /// second call has no effect.
    pub fn set_off_reactor(&self, off_reactor: OffReactor) {
        let _ = self.common.off_reactor.set(off_reactor);
    }

    /// Sets the function that answers `_interface` requests, once, before requests come. Without it they are INTF_REPOS.
    pub fn set_interface_source(&self, source: InterfaceSource) {
        let _ = self.common.interfaces.set(source);
    }

    /// Sets the secret of codes in keys ([`KeyProtection`]), once, before the first adapter with such keys is created.
    pub fn set_key_secret(&self, secret: KeySecret) {
        let _ = self.common.secret.set(secret);
    }

    /// Whether the secret of codes in keys is set.
    #[must_use]
    pub fn has_key_secret(&self) -> bool {
        self.common.secret.get().is_some()
    }

    /// Returns the id of this run of the server, which stands in transient object keys. The same key in a later run is
    /// thus unknown, OBJECT_NOT_EXIST.
    #[must_use]
    pub fn instance(&self) -> InstanceId {
        self.instance
    }

    /// Returns the id of the server in persistent object keys, which has to be the same in every run.
    #[must_use]
    pub fn server_id(&self) -> &str {
        &self.server_id
    }

    /// Returns the root POA, the ancestor of all adapters.
    #[must_use]
    pub fn root(&self) -> &Arc<Adapter> {
        &self.root
    }

    /// The adapter of plain keys, whose object ids are the whole keys, as `Bank` in `corbaloc::host/Bank`.
    #[must_use]
    pub fn plain(&self) -> &Arc<Adapter> {
        &self.plain
    }

    /// The owner of a key: this server, another one, or any.
    #[must_use]
    pub fn key_owner(&self, key: &[u8]) -> KeyOwner {
        match ObjectKey::parse(key).and_then(ObjectKey::unsealed) {
            Some(ObjectKey::Indexed { instance, .. } | ObjectKey::Named { instance, .. }) => {
                if instance == self.instance {
                    KeyOwner::ThisServer
                } else {
                    KeyOwner::OtherServer
                }
            }
            Some(ObjectKey::Persistent { path, .. }) if path.starts_with(&self.path_prefix) => {
                KeyOwner::AnyServer
            }
            Some(ObjectKey::Plain(_)) => KeyOwner::AnyServer,
            _ => KeyOwner::OtherServer,
        }
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a child of `parent` (`PortableServer::POA::create_POA`). `manager`: a shared manager; `None` for a new
    /// one, in the HOLDING state.
    ///
    /// # Errors
    /// [`AdapterError::InvalidPolicy`], [`AdapterError::AlreadyExists`], [`AdapterError::TooDeep`],
    /// [`AdapterError::Full`], and [`AdapterError::Destroyed`] of the parent.
    pub fn create(
        &self,
        parent: &Adapter,
        name: &str,
        policies: Policies,
        manager: Option<Arc<PoaManager>>,
    ) -> Result<Arc<Adapter>, AdapterError> {
        self.create_with(parent, name, policies, manager, AdapterOptions::default())
    }

    /// Makes a child of `parent` as [`create`](Self::create) does, with options: scheduled upcalls, or a fixed set of
    /// ids.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create), and [`AdapterError::WrongPolicy`] for a set of ids without
    /// USER_ID and RETAIN.
    pub fn create_with(
        &self,
        parent: &Adapter,
        name: &str,
        policies: Policies,
        manager: Option<Arc<PoaManager>>,
        options: AdapterOptions,
    ) -> Result<Arc<Adapter>, AdapterError> {
        policies.validate()?;
        if policies.key_protection == KeyProtection::Authenticated {
            let needed = policies.lifespan == Lifespan::Persistent;
            let secret = self.common.secret.get();
            if secret.is_none_or(|secret| needed && !secret.outlives_the_server()) {
                return Err(AdapterError::NoKeySecret);
            }
        }
        let keeps_ids = policies.retains() && policies.id_assignment == IdAssignment::User;
        if options.ids.is_some() && !keeps_ids {
            return Err(AdapterError::WrongPolicy(
                "a fixed set of object ids needs USER_ID and RETAIN",
            ));
        }
        if parent.path.len() >= self.max_depth {
            return Err(AdapterError::TooDeep(self.max_depth));
        }
        let path = below(parent, name);
        let mut tree = self.tree();
        // Checked under the lock, as destroying the parent destroys its children.
        if parent.is_destroyed() {
            return Err(match parent.has_ended() {
                true => AdapterError::Destroyed,
                false => AdapterError::BeingDestroyed,
            });
        }
        if tree.child(parent, name).is_some() {
            return Err(AdapterError::AlreadyExists(name.to_owned()));
        }
        let manager = manager.unwrap_or_default();
        self.managers.register(&manager);
        let ending = match policies.lifespan {
            Lifespan::Transient => None,
            Lifespan::Persistent => self
                .ending()
                .remove(&path)
                .and_then(|ending| ending.upgrade()),
        };
        let make = |scheme| {
            Adapter::new(
                path.clone(),
                scheme,
                policies,
                self.instance,
                manager,
                &self.common,
                ending,
                options.clone(),
            )
        };
        let adapter = match policies.lifespan {
            Lifespan::Transient => {
                let make = |index| make(Scheme::Transient(index));
                self.transient.insert_with(make)?.1
            }
            Lifespan::Persistent => {
                let key = Path {
                    server_id: self.server_id.clone(),
                    names: path.clone(),
                }
                .to_bytes();
                let adapter = make(Scheme::Persistent(key));
                if parent.child_activations.is_taken(&ObjectId::from(name)) {
                    adapter.hide();
                }
                self.persistent.replace(Arc::clone(&adapter));
                adapter
            }
        };
        tree.insert(parent, &adapter);
        Ok(adapter)
    }

    /// The child of this name, if it exists. Does not call an adapter activator.
    #[must_use]
    pub fn find(&self, parent: &Adapter, name: &str) -> Option<Arc<Adapter>> {
        if parent.is_destroyed() {
            return None;
        }
        self.tree().child(parent, name).cloned()
    }

    /// The children of an adapter, sorted by name.
    #[must_use]
    pub fn children(&self, parent: &Adapter) -> Vec<Arc<Adapter>> {
        let mut children: Vec<_> = match parent.is_destroyed() {
            true => Vec::new(),
            false => self.tree().children(parent).cloned().collect(),
        };
        children.sort_by(|one, other| one.name().cmp(other.name()));
        children
    }

    /// The parent of an adapter; `None` for the root, and if the parent has been destroyed.
    #[must_use]
    pub fn parent(&self, child: &Adapter) -> Option<Arc<Adapter>> {
        let (_, above) = child.path.split_last()?;
        self.at(&self.tree(), above).cloned()
    }

    /// The adapter with this path from below the root; the root for an empty path.
    fn at<'a>(&'a self, tree: &'a Tree, path: &[String]) -> Option<&'a Arc<Adapter>> {
        (path.iter()).try_fold(&self.root, |parent, name| tree.child(parent, name))
    }

    /// Walks down from an adapter along `names`, as far as there are adapters that are not being made: the last of
    /// these, and the names that are left.
    pub(crate) fn walk<'n, N: AsRef<str>>(
        &self,
        from: &Arc<Adapter>,
        names: &'n [N],
    ) -> (Arc<Adapter>, &'n [N]) {
        let tree = self.tree();
        let (mut at, mut left) = (from, names);
        while let Some((name, behind)) = left.split_first()
            && let Some(child) = tree.child(at, name.as_ref())
            && !child.is_being_made()
        {
            (at, left) = (child, behind);
        }
        (Arc::clone(at), left)
    }

    /// Returns the POA managers of the adapters, which are found by their ids.
    #[must_use]
    pub fn managers(&self) -> &Managers {
        &self.managers
    }

    /// Destroys an adapter and those below it (`PortableServer::POA::destroy`), and etherealizes their objects.
    /// Requests for their objects are OBJECT_NOT_EXIST from now on. References of transient adapters stay invalid;
    /// those of persistent ones work again when the adapter is made again, by the application or by its parent's
    /// activator. Held requests are looked up again, as new ones are. The root and the adapter of plain keys are not
    /// destroyed.
    pub fn destroy(&self, adapter: &Arc<Adapter>) {
        self.destroy_with(adapter, true);
    }

    /// Destroys an adapter and those below it, as [`destroy`](Self::destroy). `etherealize_objects`: whether servant
    /// activators etherealize the objects. Returns the destroyed adapters, children first: [`Adapter::completed`] waits
    /// for their upcalls.
    pub fn destroy_with(
        &self,
        adapter: &Arc<Adapter>,
        etherealize_objects: bool,
    ) -> Vec<Arc<Adapter>> {
        if Arc::ptr_eq(adapter, &self.root) || Arc::ptr_eq(adapter, &self.plain) {
            return Vec::new();
        }
        let mut tree = self.tree();
        // The handle of a destroyed adapter must not destroy its successor of the same name.
        if adapter.is_destroyed() {
            return vec![Arc::clone(adapter)];
        }
        let mut removed = tree.remove_below(adapter, &self.plain);
        if let Some((_, above)) = adapter.path.split_last()
            && let Some(parent) = self.at(&tree, above).cloned()
        {
            tree.remove(&parent, adapter);
            removed.push(Arc::clone(adapter));
        }
        self.end(tree, removed, etherealize_objects)
    }

    fn ending(&self) -> MutexGuard<'_, HashMap<Vec<String>, Weak<Deactivations>>> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends adapters that have been removed from the tree, and returns them, children first.
    fn end(
        &self,
        tree: MutexGuard<'_, Tree>,
        mut removed: Vec<Arc<Adapter>>,
        etherealize_objects: bool,
    ) -> Vec<Arc<Adapter>> {
        removed.sort_by_key(|adapter| core::cmp::Reverse(adapter.path.len()));
        let mark = |adapter: Arc<Adapter>| {
            let destruction = adapter.mark_destroyed(etherealize_objects);
            match &adapter.scheme {
                Scheme::Transient(index) => {
                    let _ = self.transient.remove(*index);
                }
                Scheme::Persistent(key) => {
                    self.persistent.remove(key);
                    let deactivations = Arc::downgrade(adapter.deactivations());
                    self.ending().insert(adapter.path.clone(), deactivations);
                }
                Scheme::Plain => {}
            }
            (adapter, destruction)
        };
        let marked: Vec<_> = removed.into_iter().map(mark).collect();
        // Counted before another adapter can be created in place of one of these.
        self.common.changes.count();
        // Dropped servants run code of the application.
        drop(tree);
        let clear = |(adapter, destruction): (Arc<Adapter>, DestructionGuard)| {
            adapter.clear(destruction, etherealize_objects);
            adapter
        };
        let gone = marked.into_iter().map(clear).collect();
        self.ending().retain(|_, ending| ending.strong_count() > 0);
        gone
    }

    /// Whether any manager has left HOLDING. Before that, the server may still be creating its adapters and objects, so
    /// a missing persistent object may come to exist. A look-up after it has returned true finds all objects that were
    /// made before the manager left HOLDING. Costs a walk over the adapters until it is true, and a load afterwards.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        if self.begun.load(Ordering::Acquire) {
            return true;
        }
        let begun = |adapter: &Arc<Adapter>| adapter.manager().state() != PoaManagerState::Holding;
        let begun = begun(&self.root) || self.tree().all().any(begun);
        self.begun.fetch_or(begun, Ordering::Release);
        begun
    }

    /// Makes every manager INACTIVE, so that held requests are refused.
    pub fn deactivate_managers(&self) {
        self.root.manager().deactivate();
        let managers: Vec<_> = (self.tree().all())
            .map(|adapter| Arc::clone(adapter.manager()))
            .collect();
        for manager in managers {
            manager.deactivate();
        }
    }

    /// Removes every object, and drops its servant once the upcalls on it have ended; later requests are
    /// OBJECT_NOT_EXIST.
    pub fn clear(&self) {
        let mut tree = self.tree();
        let removed = tree.remove_below(&self.root, &self.plain);
        self.end(tree, removed, true);
        for adapter in [&self.root, &self.plain] {
            adapter.clear(adapter.mark_destroyed(true), true);
        }
    }

    /// An active object for which `is_it` returns `true`. Takes time in proportion to the active objects of all
    /// adapters.
    #[must_use]
    pub fn find_object(&self, is_it: impl Fn(&ActiveObject) -> bool) -> Option<Arc<ActiveObject>> {
        let below: Vec<_> = self.tree().all().map(Arc::clone).collect();
        [&self.root]
            .into_iter()
            .chain(&below)
            .find_map(|adapter| adapter.entries().into_iter().find(|object| is_it(object)))
    }

    /// The number of events that may have changed the target of a key, for caches of targets. While it is the same as
    /// before a [`locate`](Self::locate), the result of that is valid, unless it was [for one
    /// request](ActiveObject::is_for_one_request). Costs one load.
    #[must_use]
    #[inline]
    pub fn changes(&self) -> u64 {
        self.common.changes.so_far()
    }

    /// The key within an authenticated one, if its code is right; any other key itself.
    pub(crate) fn open<'a>(&self, parsed: ObjectKey<'a>) -> Option<ObjectKey<'a>> {
        if let ObjectKey::Sealed { code, key } = parsed
            && !self.common.secret.get()?.is_code_of(code, key)
        {
            return None;
        }
        parsed.unsealed()
    }

    /// Finds the object that `key` names, in constant time for any number of adapters and objects. Transient objects
    /// with SYSTEM_ID take two look-ups by index, wait-free. Others take a hash table for the id, and persistent ones
    /// another for the path. With a default servant or a servant manager, an object that is not active is found, too.
    ///
    /// # Errors
    /// [`Missing`]. It [raises](Missing::raise) OBJECT_NOT_EXIST for a key of another ORB or of another life of this
    /// one, for a wrong or missing code, for a destroyed adapter, and for an object that is not active. It raises
    /// OBJ_ADAPTER if the default servant or servant manager is not set.
    #[inline]
    pub fn locate(&self, key: &[u8]) -> Result<Arc<ActiveObject>, Missing> {
        match ObjectKey::parse(key) {
            Some(sealed @ ObjectKey::Sealed { .. }) => {
                self.locate_parsed(Some(self.open(sealed).ok_or(Missing::Adapter)?), true)
            }
            parsed => self.locate_parsed(parsed, false),
        }
    }

    /// Finds the object of a parsed key. `sealed`: whether the key had a right code. Adapters whose keys have no codes
    /// reject such a key.
    #[inline]
    fn locate_parsed(
        &self,
        parsed: Option<ObjectKey<'_>>,
        sealed: bool,
    ) -> Result<Arc<ActiveObject>, Missing> {
        let named = |adapter: &Adapter, id| match adapter.is_sealed() == sealed {
            true => adapter.named(id),
            false => None,
        };
        let object = match parsed {
            Some(ObjectKey::Indexed {
                instance,
                adapter,
                object,
            }) if instance == self.instance => {
                self.transient
                    .with(adapter, |adapter| match adapter.is_sealed() == sealed {
                        true => adapter.indexed(object),
                        false => None,
                    })
            }
            Some(ObjectKey::Named {
                instance,
                adapter,
                id,
            }) if instance == self.instance => {
                (self.transient).with(adapter, |adapter| named(adapter, id))
            }
            Some(ObjectKey::Persistent { path, id }) => {
                let made = |adapter: &Arc<Adapter>| !adapter.is_being_made();
                (self.persistent.find(path).filter(made)).map(|adapter| named(&adapter, id))
            }
            // The caller asks the key resolver for a plain key that is not found here.
            Some(ObjectKey::Plain(id)) if !sealed => self.plain.named(id).map(Some),
            _ => None,
        };
        object.ok_or(Missing::Adapter)?.ok_or(Missing::Object)
    }
}

impl ObjectAdapter {
    /// A temporary object for one that [`locate`](Self::locate) has not found, if the adapter's manager is not ACTIVE:
    /// by the specification, the manager holds, discards or refuses requests before their objects are looked up.
    #[must_use]
    pub fn held_missing(&self, key: &[u8]) -> Option<Arc<ActiveObject>> {
        match self.open(ObjectKey::parse(key)?)? {
            ObjectKey::Indexed {
                adapter, object, ..
            } => (self.transient).with(adapter, |adapter| {
                adapter.held_missing(object.to_id().as_ref())
            })?,
            ObjectKey::Named { adapter, id, .. } => {
                (self.transient).with(adapter, |adapter| adapter.held_missing(id))?
            }
            ObjectKey::Persistent { path, id } => self.persistent.find(path)?.held_missing(id),
            ObjectKey::Sealed { .. } | ObjectKey::Plain(_) => None,
        }
    }
}

fn below(parent: &Adapter, name: &str) -> Vec<String> {
    let mut path = parent.path.clone();
    path.push(name.to_owned());
    path
}

#[cfg(all(test, not(zorb_model)))]
mod ending;
#[cfg(all(test, not(zorb_model)))]
mod fixed;
#[cfg(all(test, not(zorb_model)))]
mod forged;
#[cfg(all(test, not(zorb_model)))]
mod incarnating;
#[cfg(all(test, not(zorb_model)))]
mod tests;
