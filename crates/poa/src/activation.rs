//! Adapters that are made when they are looked for.

use crate::adapter::Adapter;
use crate::key::{ObjectId, ObjectKey, Path};
use crate::manager::{Held, State};
use crate::missing::Missing;
use crate::registry::ObjectAdapter;
use crate::servant_manager::AdapterActivator;
use core::future::poll_fn;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, SystemException};

impl ObjectAdapter {
    /// The deepest adapter there is on the way to the one that a key names, its activator, and the name that is missing below it.
    fn missing_child(
        &self,
        key: &[u8],
    ) -> Option<(Arc<Adapter>, Arc<dyn AdapterActivator>, String)> {
        let Some(ObjectKey::Persistent { path, .. }) = ObjectKey::parse(key) else {
            return None;
        };
        let path = Path::parse(path)?;
        if path.server_id != self.server_id() || self.at(&path.names).is_some() {
            return None;
        }
        let depth = (0..path.names.len()).rev();
        let mut above = depth.filter_map(|depth| Some((depth, self.at(path.names.get(..depth)?)?)));
        let (depth, parent) = above.next()?;
        let activator = parent.adapter_activator()?;
        let name = path.names.get(depth)?.clone();
        Some((parent, activator, name))
    }

    /// Whether [`activate_path`](Self::activate_path) may make the adapter that a key names, which was not found.
    #[must_use]
    pub fn may_be_activated(&self, key: &[u8]) -> bool {
        self.missing_child(key).is_some()
    }

    /// Has the adapters made that a key names, outermost first. One request is at work at a time for each name; others wait.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if an activator says that there is no such adapter, or does not make it; OBJ_ADAPTER if it raises a system
    /// exception; what the states of the parents' managers mean for requests.
    pub async fn activate_path(&self, key: &[u8]) -> Result<(), SystemException> {
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        while let Some((parent, _, name)) = self.missing_child(key) {
            admitted(&parent).await?;
            match self.activate_child(&parent, &name).await {
                Ok(Some(_)) => {}
                Ok(None) => return Err(Missing::Adapter.raise()),
                Err(_) => return Err(raise(Fault::AdapterActivatorFailed)),
            }
        }
        Ok(())
    }

    /// The child of that name, made by the adapter activator if there is none; `None` if there is no activator, or it says so.
    ///
    /// # Errors
    /// What the activator raises.
    pub async fn activate_child(
        &self,
        parent: &Arc<Adapter>,
        name: &str,
    ) -> Result<Option<Arc<Adapter>>, SystemException> {
        let id = ObjectId::from(name);
        let _turn = parent.child_turns.turn(&id).await;
        // The request that had the turn before may have made it.
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

/// Waits while the manager of an adapter holds requests.
async fn admitted(parent: &Adapter) -> Result<(), SystemException> {
    let mut held = parent.manager().hold();
    loop {
        match parent.manager().state() {
            State::Holding => {}
            state => return state.admit(),
        }
        if let Held::Full = poll_fn(|cx| held.poll_changed(cx.waker())).await {
            let full = Fault::Overload("too many requests are held".to_owned());
            return Err(full.raise(CompletionStatus::No));
        }
        if parent.is_destroyed() {
            return Err(Missing::Adapter.raise());
        }
    }
}
