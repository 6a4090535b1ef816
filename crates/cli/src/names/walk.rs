//! Everything that is bound in a naming service: each binding once, though contexts may be bound several times and in circles.

use super::Failure;
use std::collections::{HashMap, HashSet, VecDeque};
use tokio::task::JoinSet;
use zorb::naming::{Entry, Name, NamingClient, NamingError};
use zorb::transport::Endpoint;
use zorb::{Interface, ObjectRef};

/// Calls that are made at a time.
pub(super) const AT_A_TIME: usize = 32;

/// What is bound to a name, by its path from the root.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) name: Name,
    pub(super) bound: Bound,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    /// An object; `None` for nil.
    Object(Option<ObjectRef>),
    /// A context of the service. Its names follow.
    NewContext,
    /// The context that another name before this one leads to; the root for the empty name.
    SameContext(Name),
    /// A context of another service.
    ForeignContext(ObjectRef),
}

/// A walk through a service, context by context.
pub(super) struct Walk {
    /// The endpoints of the service: contexts at others are of another one.
    endpoints: HashSet<Endpoint>,
    /// The contexts of the service, by what their keys say: the same one has several references where the service has several addresses.
    seen: HashMap<Vec<Vec<u8>>, Name>,
    next: VecDeque<(NamingClient, Name)>,
    /// Names that contexts of other services are bound to.
    foreign: usize,
}

impl Walk {
    /// A walk from the root. Costs a call, or two where a name is bound.
    pub(super) async fn new(root: &NamingClient) -> Result<Self, Failure> {
        let object = root.context().as_object();
        // What the root is found by need not be what the service calls itself: a host has many names and addresses. An iterator is a
        // reference that the service makes, and to ask for one changes no name.
        let (_, iterator) = root.context().list(0).await?;
        let mut endpoints = HashSet::from_iter(object.endpoints());
        if let Some(iterator) = iterator {
            endpoints.extend(iterator.as_object().endpoints());
            // It ends by itself, too.
            let _ = iterator.destroy().await;
        }
        Ok(Self {
            endpoints,
            seen: HashMap::from([(keys(object), Name::default())]),
            next: VecDeque::from([(root.clone(), Name::default())]),
            foreign: 0,
        })
    }

    /// Gives all bindings to `each`, those of a context behind that of the context itself. Returns how many names lead to contexts of other
    /// services, whose names it does not follow.
    pub(super) async fn run(
        mut self,
        mut each: impl AsyncFnMut(Item) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        while let Some((context, path)) = self.next.pop_front() {
            let mut bindings = context.list();
            loop {
                let mut entries = Vec::with_capacity(AT_A_TIME);
                while entries.len() < AT_A_TIME
                    && let Some(entry) = bindings.next().await?
                {
                    entries.push(entry);
                }
                if entries.is_empty() {
                    break;
                }
                for (entry, object) in resolved(&context, entries).await? {
                    let name = joined(&path, &entry.name);
                    let bound = self.bound(&name, &entry, object);
                    each(Item { name, bound }).await?;
                }
            }
        }
        Ok(self.foreign)
    }

    fn bound(&mut self, name: &Name, entry: &Entry, object: Option<ObjectRef>) -> Bound {
        let Some(context) = object.clone().filter(|_| entry.is_context()) else {
            return Bound::Object(object);
        };
        let endpoints = context.endpoints();
        if !endpoints.iter().any(|it| self.endpoints.contains(it)) {
            self.foreign = self.foreign.saturating_add(1);
            return Bound::ForeignContext(context);
        }
        let keys = keys(&context);
        if let Some(before) = self.seen.get(&keys) {
            return Bound::SameContext(before.clone());
        }
        self.seen.insert(keys, name.clone());
        let client = NamingClient::new(context.unchecked_narrow());
        self.next.push_back((client, name.clone()));
        Bound::NewContext
    }
}

/// The keys that a reference has, each once.
fn keys(object: &ObjectRef) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    for profile in &object.ior().profiles {
        let key = profile.object_key().map(|key| key.to_vec());
        keys.extend(key.filter(|key| !keys.contains(key)));
    }
    keys
}

/// Resolves the entries of a context at once. Those that were unbound meanwhile are left out.
async fn resolved(
    context: &NamingClient,
    entries: Vec<Entry>,
) -> Result<Vec<(Entry, Option<ObjectRef>)>, Failure> {
    let mut tasks = JoinSet::new();
    for (at, entry) in entries.into_iter().enumerate() {
        let context = context.clone();
        tasks.spawn(async move {
            let object = context.resolve::<ObjectRef>(&entry.name).await;
            (at, entry, object)
        });
    }
    let mut all = tasks.join_all().await;
    all.sort_by_key(|(at, ..)| *at);
    let mut found = Vec::with_capacity(all.len());
    for (_, entry, object) in all {
        match object {
            Ok(object) => found.push((entry, Some(object))),
            Err(NamingError::Nil { .. }) => found.push((entry, None)),
            Err(NamingError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

fn joined(path: &Name, name: &Name) -> Name {
    Name([path.as_slice(), name.as_slice()].concat())
}
