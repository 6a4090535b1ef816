//! Which of the objects that are bound answer.

use crate::service::NamingService;
use crate::store::{Found, PageLimits, Store, StoreError, Target};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, SystemTime};
use tokio::task::JoinSet;
use zorb::naming::Name;
use zorb::naming::cos_naming::BindingType;
use zorb::{ObjectRef, SystemExceptionKind};

/// How long an object may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Objects that are asked at a time.
const ASKED_AT_A_TIME: usize = 16;
/// Names that are read at a time.
const READ_AT_A_TIME: PageLimits = PageLimits {
    names: 256,
    octets: usize::MAX,
};

/// A binding whose object did not answer. It stays bound: an object that does not answer now may do so later, and one that is
/// gone may be bound on purpose.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stale {
    /// Since when it did not answer, as far as it was asked.
    pub since: SystemTime,
    /// Whether its server says that it does not exist; otherwise it is not known.
    pub is_gone: bool,
    /// Its answer, or why there is none.
    pub why: String,
}

/// The bindings that are stale, by their names from the root.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    stale: BTreeMap<String, Stale>,
}

impl Liveness {
    /// The bindings that were stale in the last round.
    #[must_use]
    pub fn stale(&self) -> &BTreeMap<String, Stale> {
        &self.stale
    }

    /// Asks every object that a name of the service leads to, and every context of another service, whether it is there. Changes no
    /// binding. Costs a call for each, to wherever clients have bound a name to; holds the ids of the contexts and what is stale.
    ///
    /// # Errors
    /// The error of the store; the marks stay as they were.
    ///
    /// # Cancel safety
    /// The marks stay as they were.
    pub async fn ask<S: Store>(&mut self, service: &NamingService<S>) -> Result<(), StoreError> {
        let store = service.store();
        let mut round = Round {
            before: &self.stale,
            stale: BTreeMap::new(),
            tasks: JoinSet::new(),
        };
        let mut seen = HashSet::from([store.root()]);
        let mut next = VecDeque::from([(store.root(), Name::default())]);
        while let Some((context, path)) = next.pop_front() {
            let mut after = None;
            // A context that is gone has no names.
            while let Some(page) = store.list(context, after.as_ref(), READ_AT_A_TIME).await? {
                for (key, binding_type) in &page.names {
                    let Found::Bound(binding) = store.get(context, key).await? else {
                        continue;
                    };
                    let component = key.component().ok_or(StoreError::Malformed)?;
                    let name = Name([path.as_slice(), &[component]].concat());
                    let is_context = *binding_type == BindingType::Ncontext;
                    match binding.target {
                        Target::Context(context) if is_context => {
                            if seen.insert(context) {
                                next.push_back((context, name));
                            }
                        }
                        Target::Context(_) => {}
                        target => {
                            if let Ok(Some(object)) = service.object(&target) {
                                round.ask(name, object).await;
                            }
                        }
                    }
                }
                after = page.end();
                if !page.has_more {
                    break;
                }
            }
        }
        while round.join().await {}
        self.stale = round.stale;
        Ok(())
    }
}

struct Round<'a> {
    before: &'a BTreeMap<String, Stale>,
    stale: BTreeMap<String, Stale>,
    tasks: JoinSet<(String, Option<(bool, String)>)>,
}

impl Round<'_> {
    async fn ask(&mut self, name: Name, object: ObjectRef) {
        while self.tasks.len() >= ASKED_AT_A_TIME {
            self.join().await;
        }
        self.tasks
            .spawn(async move { (name.to_string(), ask(&object).await) });
    }

    /// Takes an answer; whether there was one to wait for.
    async fn join(&mut self) -> bool {
        let Some(done) = self.tasks.join_next().await else {
            return false;
        };
        if let Ok((name, Some((is_gone, why)))) = done {
            let before = self.before.get(&name);
            if before.is_none() {
                tracing::warn!(name, why, "the object that is bound does not answer");
            }
            let since = before.map_or_else(SystemTime::now, |before| before.since);
            let stale = Stale {
                since,
                is_gone,
                why,
            };
            self.stale.insert(name, stale);
        }
        true
    }
}

/// `None` if the object is there; else whether it is gone, and why that is known or not.
async fn ask(object: &ObjectRef) -> Option<(bool, String)> {
    let object = object.with_round_trip_timeout(ANSWER_WITHIN);
    match object.non_existent().await {
        Ok(false) => None,
        Ok(true) => Some((true, SystemExceptionKind::ObjectNotExist.to_string())),
        // Some servers do not know the operation; they answer.
        Err(exception) if exception.kind == SystemExceptionKind::BadOperation => None,
        Err(exception) => {
            let is_gone = exception.kind == SystemExceptionKind::ObjectNotExist;
            Some((is_gone, format!("{exception:#}")))
        }
    }
}
