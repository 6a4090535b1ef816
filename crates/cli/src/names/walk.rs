//! Everything that is bound in a naming service: each binding once, though contexts may be bound several times and in circles.

use super::Failure;
use crate::orb::endpoints_text;
use std::collections::{HashMap, VecDeque};
use tokio::task::JoinSet;
use zorb::naming::{Entry, Name, NamingClient, NamingError};
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
    /// The endpoints of the service: contexts with others are of another one.
    endpoints: String,
    seen: HashMap<ObjectRef, Name>,
    next: VecDeque<(NamingClient, Name)>,
}

impl Walk {
    pub(super) fn new(root: &NamingClient) -> Self {
        let object = root.context().as_object();
        Self {
            endpoints: endpoints_text(object.ior()),
            seen: HashMap::from([(object.clone(), Name::default())]),
            next: VecDeque::from([(root.clone(), Name::default())]),
        }
    }

    /// Gives all bindings to `each`, those of a context behind that of the context itself.
    pub(super) async fn run(
        mut self,
        mut each: impl AsyncFnMut(Item) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
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
        Ok(())
    }

    fn bound(&mut self, name: &Name, entry: &Entry, object: Option<ObjectRef>) -> Bound {
        let Some(context) = object.clone().filter(|_| entry.is_context()) else {
            return Bound::Object(object);
        };
        if let Some(before) = self.seen.get(&context) {
            return Bound::SameContext(before.clone());
        }
        if endpoints_text(context.ior()) != self.endpoints {
            return Bound::ForeignContext(context);
        }
        self.seen.insert(context.clone(), name.clone());
        let client = NamingClient::new(context.unchecked_narrow());
        self.next.push_back((client, name.clone()));
        Bound::NewContext
    }
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
