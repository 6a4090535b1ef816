//! Types of events: those that suppliers offer, and those that consumers subscribe to.
//!
//! Source: OMG Notification Service Specification 1.1, NotifyPublish and NotifySubscribe (3.3), event types in constraints (3.2).

use crate::cos_notification::EventType;
use crate::cos_notify_comm::InvalidEventType;
use std::collections::{BTreeMap, BTreeSet};
use zorb::{SystemException, SystemExceptionKind};

/// Types that an admin or proxy names.
pub(crate) const MAX_EVENT_TYPES: usize = 1_000;
/// Octets of a domain or of the name of a type.
pub(crate) const MAX_EVENT_TYPE_OCTETS: usize = 1_024;

/// The name that stands for all types.
const ALL: &str = "%ALL";

/// A type as a set has it: domain and name.
pub(crate) type Key = (String, String);

fn key(ty: &EventType) -> Key {
    (ty.domain_name.clone(), ty.type_name.clone())
}

fn event_type((domain_name, type_name): &Key) -> EventType {
    EventType {
        domain_name: domain_name.clone(),
        type_name: type_name.clone(),
    }
}

/// Whether a name is that of a pattern, in which `*` stands for any characters. Costs the product of both lengths at most.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(rest) = name.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    let mut rest = rest;
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at.saturating_add(piece.len())..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether the name of a type stands for all of its domain.
fn is_every(name: &str) -> bool {
    matches!(name, "" | "*" | ALL)
}

fn is_all(ty: &EventType) -> bool {
    matches!(ty.domain_name.as_str(), "" | "*") && is_every(&ty.type_name)
}

/// Whether a type is one of a pattern. An empty name, `*` and `%ALL` stand for all.
pub(crate) fn is_of((domain, name): (&str, &str), pattern: &EventType) -> bool {
    let is_domain = pattern.domain_name.is_empty() || is_like(domain, &pattern.domain_name);
    is_domain && (is_every(&pattern.type_name) || is_like(name, &pattern.type_name))
}

/// The types that an admin or proxy names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventTypes {
    has_all: bool,
    named: BTreeSet<Key>,
}

/// What has come and gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) added: BTreeSet<Key>,
    pub(crate) removed: BTreeSet<Key>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Goes on with further changes.
    pub(crate) fn extend(&mut self, further: &Self) {
        for key in &further.added {
            self.removed.remove(key);
            self.added.insert(key.clone());
        }
        for key in &further.removed {
            self.added.remove(key);
            self.removed.insert(key.clone());
        }
    }

    pub(crate) fn lists(&self) -> (Vec<EventType>, Vec<EventType>) {
        let list = |keys: &BTreeSet<Key>| keys.iter().map(event_type).collect();
        (list(&self.added), list(&self.removed))
    }
}

/// Why types are not changed.
pub(crate) enum NotChanged {
    Invalid(InvalidEventType),
    System(SystemException),
}

impl From<SystemException> for NotChanged {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl EventTypes {
    /// All types.
    pub(crate) fn all() -> Self {
        Self {
            has_all: true,
            named: BTreeSet::new(),
        }
    }

    /// What is stored.
    pub(crate) fn from_stored(has_all: bool, named: &[EventType]) -> Self {
        let named = named.iter().map(key).collect();
        Self { has_all, named }
    }

    pub(crate) fn has_all(&self) -> bool {
        self.has_all
    }

    pub(crate) fn named(&self) -> Vec<EventType> {
        self.named.iter().map(event_type).collect()
    }

    /// The names, with one for all types.
    pub(crate) fn keys(&self) -> BTreeSet<Key> {
        let mut keys = self.named.clone();
        if self.has_all {
            keys.insert(("*".to_owned(), ALL.to_owned()));
        }
        keys
    }

    /// Takes types away and adds others.
    pub(crate) fn change(
        &mut self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotChanged> {
        let is_long =
            |ty: &&EventType| ty.domain_name.len().max(ty.type_name.len()) > MAX_EVENT_TYPE_OCTETS;
        if let Some(ty) = added.iter().chain(removed).find(is_long) {
            let type_ = ty.clone();
            return Err(NotChanged::Invalid(InvalidEventType { type_ }));
        }
        for ty in removed {
            match is_all(ty) {
                true => *self = Self::default(),
                false => {
                    self.named.remove(&key(ty));
                }
            }
        }
        for ty in added {
            match is_all(ty) {
                true => self.has_all = true,
                false => {
                    self.named.insert(key(ty));
                }
            }
        }
        if self.named.len() > MAX_EVENT_TYPES {
            return Err(SystemException::from(SystemExceptionKind::ImpLimit).into());
        }
        Ok(())
    }

    /// Whether an event of this type is one of them.
    pub(crate) fn matches(&self, ty: (&str, &str)) -> bool {
        self.has_all || self.named.iter().any(|key| is_of(ty, &event_type(key)))
    }
}

/// How many of a channel's clients name each type.
#[derive(Debug, Default)]
pub(crate) struct Named(BTreeMap<Key, usize>);

impl Named {
    /// Changes what one client names; what is new to all of them, and what none names any more.
    pub(crate) fn change(&mut self, before: &BTreeSet<Key>, after: &BTreeSet<Key>) -> Changes {
        let mut changes = Changes::default();
        for key in after.difference(before) {
            let count = self.0.entry(key.clone()).or_default();
            *count = count.saturating_add(1);
            if *count == 1 {
                changes.added.insert(key.clone());
            }
        }
        for key in before.difference(after) {
            if let Some(count) = self.0.get_mut(key) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.0.remove(key);
                    changes.removed.insert(key.clone());
                }
            }
        }
        changes
    }

    pub(crate) fn list(&self) -> Vec<EventType> {
        self.0.keys().map(event_type).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(domain: &str, name: &str) -> EventType {
        event_type(&(domain.to_owned(), name.to_owned()))
    }

    #[test]
    fn patterns_stand_for_the_types_that_the_specification_says() {
        let alarm = ("Telecom", "LinkAlarm");
        for pattern in [
            ty("*", "*"),
            ty("*", "%ALL"),
            ty("", ""),
            ty("Telecom", "*Alarm"),
            ty("Tele*", "Link*"),
            ty("*com", "L*A*m"),
            ty("Telecom", "LinkAlarm"),
            ty("Telecom", "%ALL"),
            ty("Tele*com", "*LinkAlarm*"),
        ] {
            assert!(is_of(alarm, &pattern), "{pattern:?}");
        }
        for pattern in [
            ty("Telecom", "Alarm"),
            ty("telecom", "*"),
            ty("Telecom*m", "*"),
            ty("*", "Link*Link*"),
            ty("Finance", "%ALL"),
        ] {
            assert!(!is_of(alarm, &pattern), "{pattern:?}");
        }
    }

    #[test]
    fn types_are_taken_away_before_others_are_added() {
        let mut types = EventTypes::all();
        let change = |types: &mut EventTypes, added: &[EventType], removed: &[EventType]| {
            assert!(types.change(added, removed).is_ok());
        };
        change(&mut types, &[ty("a", "x")], &[ty("*", "*")]);
        assert!(types.matches(("a", "x")) && !types.matches(("a", "y")));
        change(&mut types, &[ty("a", "y")], &[ty("a", "x")]);
        assert!(!types.matches(("a", "x")) && types.matches(("a", "y")));
        change(&mut types, &[ty("*", "%ALL")], &[]);
        assert!(types.matches(("b", "z")));
        change(&mut types, &[], &[ty("*", "%ALL")]);
        assert_eq!(types, EventTypes::default());
    }

    #[test]
    fn names_and_their_number_are_bounded() {
        let mut types = EventTypes::default();
        let long = "x".repeat(MAX_EVENT_TYPE_OCTETS + 1);
        let invalid = types.change(&[ty("a", &long)], &[]);
        assert!(matches!(invalid, Err(NotChanged::Invalid(_))));
        let many: Vec<_> = (0..=MAX_EVENT_TYPES)
            .map(|n| ty("a", &n.to_string()))
            .collect();
        assert!(matches!(
            types.change(&many, &[]),
            Err(NotChanged::System(_))
        ));
    }

    #[test]
    fn a_type_comes_with_the_first_that_names_it_and_goes_with_the_last() {
        let mut named = Named::default();
        let none = BTreeSet::new();
        let one = EventTypes::from_stored(false, &[ty("a", "x")]).keys();
        let both = EventTypes::from_stored(false, &[ty("a", "x"), ty("a", "y")]).keys();
        let changes = named.change(&none, &one).lists();
        assert_eq!(changes, (vec![ty("a", "x")], vec![]));
        let changes = named.change(&none, &both).lists();
        assert_eq!(changes, (vec![ty("a", "y")], vec![]));
        let changes = named.change(&one, &none);
        assert!(changes.is_empty());
        assert_eq!(named.list(), [ty("a", "x"), ty("a", "y")]);
        let changes = named.change(&both, &none).lists();
        assert_eq!(changes.1.len(), 2);
    }
}
