//! Filters: constraints on events, and the objects by which clients make and use them.
//!
//! Source: OMG Notification Service Specification 1.1, CosNotifyFilter (3.2).

use crate::channel::Channel;
use crate::cos_notification::{EventType, Property, StructuredEvent};
use crate::cos_notify_comm::NotifySubscribeRef;
use crate::cos_notify_filter::{
    self as cos, CallbackNotFound, ConstraintExp, ConstraintInfo, ConstraintNotFound, FilterRef,
    FilterServant, InvalidConstraint, InvalidGrammar, InvalidValue, MappingConstraintInfo,
    MappingConstraintPair, MappingFilterRef, MappingFilterServant, filter, filter_factory,
    mapping_filter,
};
use crate::etcl::{Budget, Constraint};
use crate::event::{ANY_TYPE, Event};
use crate::informer::{Informer, Told};
use crate::stored::{self, Row};
use crate::types::{Changes, EventTypes, MAX_EVENT_TYPE_OCTETS, MAX_EVENT_TYPES, is_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use zorb::{Any, Interface, SystemException, SystemExceptionKind, TcKind, TypeCode};

/// The grammar that there is.
pub(crate) const GRAMMAR: &str = "EXTENDED_TCL";
/// Constraints of a filter.
pub(crate) const MAX_CONSTRAINTS: usize = 1_000;
/// Octets of the constraints of a filter, with the types that they name.
pub(crate) const MAX_FILTER_OCTETS: usize = 64 * 1024;
/// Filters of a channel that clients have made.
pub(crate) const MAX_FILTERS: usize = 1_000;
/// Callbacks of a filter.
pub(crate) const MAX_CALLBACKS: usize = 64;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A constraint of a filter, and what it maps to.
#[derive(Debug)]
pub(crate) struct Rule<V> {
    text: ConstraintExp,
    constraint: Constraint,
    value: V,
}

impl<V: Mapped> Rule<V> {
    fn new(text: &ConstraintExp, value: V) -> Result<Arc<Self>, InvalidConstraint> {
        let invalid = || InvalidConstraint {
            constr: text.clone(),
        };
        let is_short =
            |ty: &EventType| ty.domain_name.len().max(ty.type_name.len()) <= MAX_EVENT_TYPE_OCTETS;
        if text.event_types.len() > MAX_EVENT_TYPES || !text.event_types.iter().all(is_short) {
            return Err(invalid());
        }
        let constraint = text.constraint_expr.parse().map_err(|_| invalid())?;
        Ok(Arc::new(Self {
            text: text.clone(),
            constraint,
            value,
        }))
    }

    fn octets(&self) -> usize {
        let types = self.text.event_types.iter();
        let types = types.map(|ty| ty.domain_name.len().saturating_add(ty.type_name.len()));
        let value = self.value.to_any().value_octets();
        let own = self.text.constraint_expr.len().saturating_add(value);
        types.fold(own, usize::saturating_add)
    }

    fn is_met(&self, ty: (&str, &str), event: &Any, budget: &Budget) -> bool {
        let types = &self.text.event_types;
        let is_of_type =
            |pattern| budget.take(ty.0.len().max(ty.1.len())).is_some() && is_of(ty, pattern);
        (types.is_empty() || types.iter().any(is_of_type))
            && self.constraint.matches_within(event, budget)
    }
}

/// Constraints with their ids.
type Numbered<V> = Vec<(i32, Arc<Rule<V>>)>;

/// The constraints of a filter, by id.
#[derive(Debug)]
struct Rules<V> {
    by_id: BTreeMap<i32, Arc<Rule<V>>>,
    last: i32,
}

impl<V> Clone for Rules<V> {
    fn clone(&self) -> Self {
        Self {
            by_id: self.by_id.clone(),
            last: self.last,
        }
    }
}

fn too_many() -> SystemException {
    SystemExceptionKind::ImpLimit.into()
}

impl<V: Mapped> Rules<V> {
    fn check(&self) -> Result<(), SystemException> {
        let octets = self.by_id.values().map(|rule| rule.octets());
        let octets = octets.fold(0, usize::saturating_add);
        match self.by_id.len() > MAX_CONSTRAINTS || octets > MAX_FILTER_OCTETS {
            true => Err(too_many()),
            false => Ok(()),
        }
    }

    /// Adds constraints; their ids.
    fn add(&mut self, rules: Vec<Arc<Rule<V>>>) -> Result<Vec<i32>, SystemException> {
        let mut ids = Vec::with_capacity(rules.len());
        for rule in rules {
            self.last = self.last.checked_add(1).ok_or_else(too_many)?;
            self.by_id.insert(self.last, rule);
            ids.push(self.last);
        }
        self.check()?;
        Ok(ids)
    }

    fn modify<E: From<ConstraintNotFound> + From<SystemException>>(
        &mut self,
        removed: &[i32],
        changed: Vec<(i32, Arc<Rule<V>>)>,
    ) -> Result<(), E> {
        for id in removed {
            let removed = self.by_id.remove(id);
            removed.ok_or(ConstraintNotFound { id: *id })?;
        }
        for (id, rule) in changed {
            let place = self.by_id.get_mut(&id);
            *place.ok_or(ConstraintNotFound { id })? = rule;
        }
        Ok(self.check()?)
    }

    fn find(&self, ids: &[i32]) -> Result<Numbered<V>, ConstraintNotFound> {
        let find = |id: &i32| {
            let rule = self.by_id.get(id).ok_or(ConstraintNotFound { id: *id })?;
            Ok((*id, Arc::clone(rule)))
        };
        ids.iter().map(find).collect()
    }

    fn all(&self) -> Numbered<V> {
        let all = self.by_id.iter();
        all.map(|(id, rule)| (*id, Arc::clone(rule))).collect()
    }

    /// The types that the constraints name: all, where one names none.
    fn types(&self) -> BTreeSet<(String, String)> {
        let mut types = BTreeSet::new();
        for rule in self.by_id.values() {
            let named =
                EventTypes::from_stored(rule.text.event_types.is_empty(), &rule.text.event_types);
            types.extend(named.keys());
        }
        types
    }
}

/// What constraints of a filter map to: nothing, or a value.
pub(crate) trait Mapped: Clone + Send + Sync + 'static {
    const IS_MAPPING: bool;
    fn to_any(&self) -> Any;
    fn of_any(any: &Any) -> Self;
}

impl Mapped for () {
    const IS_MAPPING: bool = false;

    fn to_any(&self) -> Any {
        Any::default()
    }

    fn of_any(_: &Any) {}
}

impl Mapped for Any {
    const IS_MAPPING: bool = true;

    fn to_any(&self) -> Any {
        self.clone()
    }

    fn of_any(any: &Any) -> Self {
        any.clone()
    }
}

/// The servant of a filter.
pub(crate) struct FilterObject<V> {
    channel: Arc<Channel>,
    pub(crate) number: u32,
    rules: Mutex<Arc<Rules<V>>>,
    default: V,
    callbacks: Mutex<Callbacks>,
    is_destroyed: AtomicBool,
    /// Held by the change that is being stored.
    changing: tokio::sync::Mutex<()>,
    used: Mutex<Instant>,
}

/// A filter of events.
pub(crate) type Filter = FilterObject<()>;
/// A filter that gives events a priority or a lifetime.
pub(crate) type MappingFilter = FilterObject<Any>;

#[derive(Default)]
struct Callbacks {
    by_id: BTreeMap<i32, (NotifySubscribeRef, Arc<Informer>)>,
    last: i32,
}

impl<V> std::fmt::Debug for FilterObject<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilterObject")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// A filter as its channel knows it.
pub(crate) trait AnyFilter: Send + Sync {
    fn used(&self) -> Instant;
    /// Takes its object away, and its row in the store.
    fn end(&self);
}

impl<V: Mapped> AnyFilter for FilterObject<V> {
    fn used(&self) -> Instant {
        *locked(&self.used)
    }

    fn end(&self) {
        if !self.is_destroyed.swap(true, Ordering::Relaxed) {
            self.channel.end_filter(self.number);
        }
    }
}

impl<V: Mapped> FilterObject<V> {
    fn new(channel: &Arc<Channel>, number: u32, default: V) -> Arc<Self> {
        Arc::new(Self {
            channel: Arc::clone(channel),
            number,
            rules: Mutex::new(Arc::new(Rules {
                by_id: BTreeMap::new(),
                last: 0,
            })),
            default,
            callbacks: Mutex::default(),
            is_destroyed: AtomicBool::new(false),
            changing: tokio::sync::Mutex::default(),
            used: Mutex::new(Instant::now()),
        })
    }

    fn of_row(channel: &Arc<Channel>, number: u32, row: &stored::Filter) -> Option<Arc<Self>> {
        let filter = Self::new(channel, number, V::of_any(&row.default_value));
        let mut rules = Rules {
            by_id: BTreeMap::new(),
            last: row.last,
        };
        for info in &row.constraints {
            let rule = Rule::new(&info.constraint_expression, V::of_any(&info.value));
            rules.by_id.insert(info.constraint_id, rule.ok()?);
        }
        *locked(&filter.rules) = Arc::new(rules);
        Some(filter)
    }

    pub(crate) fn channel_id(&self) -> u32 {
        self.channel.id
    }

    /// Whether its client has destroyed it.
    pub(crate) fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Ordering::Relaxed)
    }

    fn touch(&self) {
        *locked(&self.used) = Instant::now();
    }

    async fn store(&self) -> Result<(), SystemException> {
        let (last, all) = {
            let rules = locked(&self.rules);
            (rules.last, rules.all())
        };
        let row = Row::OfFilter(stored::Filter {
            is_mapping: V::IS_MAPPING,
            default_value: self.default.to_any(),
            last,
            constraints: all.into_iter().map(|one| mapping_info(&one)).collect(),
        });
        self.channel.store(self.number, &row, None, None).await
    }

    /// Changes the constraints, all or none, and stores them.
    async fn change<R: Send, E: From<SystemException> + Send>(
        &self,
        change: impl FnOnce(&mut Rules<V>) -> Result<R, E> + Send,
    ) -> Result<R, E> {
        self.touch();
        let _changing = self.changing.lock().await;
        let before = Arc::clone(&locked(&self.rules));
        let mut after = Rules::clone(&before);
        let made = change(&mut after)?;
        let mut changes = Changes::default();
        let (old, new) = (before.types(), after.types());
        changes.added.extend(new.difference(&old).cloned());
        changes.removed.extend(old.difference(&new).cloned());
        *locked(&self.rules) = Arc::new(after);
        if let Err(exception) = self.store().await {
            *locked(&self.rules) = before;
            return Err(exception.into());
        }
        for (callback, informer) in locked(&self.callbacks).by_id.values() {
            informer.inform(callback.as_object(), &changes);
        }
        Ok(made)
    }

    /// The first constraint that an event meets.
    pub(crate) fn met(
        &self,
        ty: (&str, &str),
        event: &Any,
        budget: &Budget,
    ) -> Option<Arc<Rule<V>>> {
        let rules = Arc::clone(&locked(&self.rules));
        let mut rules = rules.by_id.values();
        rules.find(|rule| rule.is_met(ty, event, budget)).cloned()
    }

    /// The same for what a client asks about.
    fn asked(&self, ty: (&str, &str), event: &Any) -> Option<Arc<Rule<V>>> {
        self.touch();
        self.met(ty, event, &Budget::default())
    }

    fn asked_structured(
        &self,
        event: &StructuredEvent,
    ) -> Result<Option<Arc<Rule<V>>>, SystemException> {
        let any = Any::new(event).map_err(not_encoded)?;
        let ty = &event.header.fixed_header.event_type;
        Ok(self.asked((&ty.domain_name, &ty.type_name), &any))
    }

    fn asked_typed(&self, event: &[Property]) -> Result<Option<Arc<Rule<V>>>, SystemException> {
        let any = Any::new(&event.to_vec()).map_err(not_encoded)?;
        Ok(self.asked(("", crate::typed::TYPED), &any))
    }
}

fn not_encoded(error: zorb::EncodeError) -> SystemException {
    SystemException::from(SystemExceptionKind::Marshal).with_detail(error)
}

impl MappingFilter {
    /// What an event is mapped to, and whether by a constraint.
    pub(crate) fn map(&self, event: &Event, budget: &Budget) -> (bool, Any) {
        self.result(self.met(event.event_type(), event.any(), budget))
    }

    fn result(&self, rule: Option<Arc<Rule<Any>>>) -> (bool, Any) {
        match rule {
            Some(rule) => (true, rule.value.clone()),
            None => (false, self.default.clone()),
        }
    }

    /// Whether values of this kind come of it.
    pub(crate) fn is_of(&self, kind: TcKind) -> bool {
        self.default.type_code().unaliased().kind() == kind
    }

    fn rule<E: From<InvalidConstraint> + From<InvalidValue>>(
        &self,
        constr: &ConstraintExp,
        value: &Any,
    ) -> Result<Arc<Rule<Any>>, E> {
        if !value.type_code().equivalent(self.default.type_code()) {
            return Err(InvalidValue {
                constr: constr.clone(),
                value: value.clone(),
            }
            .into());
        }
        Ok(Rule::new(constr, value.clone())?)
    }
}

fn info((id, rule): &(i32, Arc<Rule<()>>)) -> ConstraintInfo {
    ConstraintInfo {
        constraint_expression: rule.text.clone(),
        constraint_id: *id,
    }
}

fn mapping_info<V: Mapped>((id, rule): &(i32, Arc<Rule<V>>)) -> MappingConstraintInfo {
    MappingConstraintInfo {
        constraint_expression: rule.text.clone(),
        constraint_id: *id,
        value: rule.value.to_any(),
    }
}

impl cos::Filter for Filter {
    async fn constraint_grammar(&self) -> Result<String, SystemException> {
        Ok(GRAMMAR.to_owned())
    }

    async fn add_constraints(
        &self,
        constraint_list: &[ConstraintExp],
    ) -> Result<Vec<ConstraintInfo>, filter::AddConstraintsError> {
        let made = constraint_list.iter().map(|text| Rule::new(text, ()));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        let ids = self.change(|rules| rules.add(made)).await?;
        let infos = ids.into_iter().zip(constraint_list);
        Ok(infos
            .map(|(constraint_id, text)| ConstraintInfo {
                constraint_expression: text.clone(),
                constraint_id,
            })
            .collect())
    }

    async fn modify_constraints(
        &self,
        del_list: &[i32],
        modify_list: &[ConstraintInfo],
    ) -> Result<(), filter::ModifyConstraintsError> {
        let made = modify_list.iter().map(|info| {
            let rule = Rule::new(&info.constraint_expression, ())?;
            Ok((info.constraint_id, rule))
        });
        let made = made.collect::<Result<Vec<_>, InvalidConstraint>>()?;
        self.change(|rules| rules.modify(del_list, made)).await
    }

    async fn get_constraints(
        &self,
        id_list: &[i32],
    ) -> Result<Vec<ConstraintInfo>, filter::GetConstraintsError> {
        self.touch();
        let found = locked(&self.rules).find(id_list)?;
        Ok(found.iter().map(info).collect())
    }

    async fn get_all_constraints(&self) -> Result<Vec<ConstraintInfo>, SystemException> {
        self.touch();
        Ok(locked(&self.rules).all().iter().map(info).collect())
    }

    async fn remove_all_constraints(&self) -> Result<(), SystemException> {
        self.change(|rules| {
            rules.by_id.clear();
            Ok(())
        })
        .await
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.end();
        Ok(())
    }

    async fn match_(&self, filterable_data: &Any) -> Result<bool, filter::MatchError> {
        Ok(self.asked(("", ANY_TYPE), filterable_data).is_some())
    }

    async fn match_structured(
        &self,
        filterable_data: &StructuredEvent,
    ) -> Result<bool, filter::MatchStructuredError> {
        Ok(self.asked_structured(filterable_data)?.is_some())
    }

    async fn match_typed(
        &self,
        filterable_data: &[Property],
    ) -> Result<bool, filter::MatchTypedError> {
        Ok(self.asked_typed(filterable_data)?.is_some())
    }

    async fn attach_callback(
        &self,
        callback: Option<NotifySubscribeRef>,
    ) -> Result<i32, SystemException> {
        self.touch();
        let callback = callback.ok_or(SystemExceptionKind::BadParam)?;
        let mut callbacks = locked(&self.callbacks);
        if callbacks.by_id.len() >= MAX_CALLBACKS {
            return Err(too_many());
        }
        callbacks.last = callbacks.last.checked_add(1).ok_or_else(too_many)?;
        let id = callbacks.last;
        let informer = Informer::new(Told::Subscriptions);
        callbacks.by_id.insert(id, (callback, informer));
        Ok(id)
    }

    async fn detach_callback(&self, callback: i32) -> Result<(), filter::DetachCallbackError> {
        self.touch();
        let detached = locked(&self.callbacks).by_id.remove(&callback);
        detached.ok_or(CallbackNotFound {})?;
        Ok(())
    }

    async fn get_callbacks(&self) -> Result<Vec<i32>, SystemException> {
        Ok(locked(&self.callbacks).by_id.keys().copied().collect())
    }
}

impl cos::MappingFilter for MappingFilter {
    async fn constraint_grammar(&self) -> Result<String, SystemException> {
        Ok(GRAMMAR.to_owned())
    }

    async fn value_type(&self) -> Result<TypeCode, SystemException> {
        Ok(self.default.type_code().clone())
    }

    async fn default_value(&self) -> Result<Any, SystemException> {
        Ok(self.default.clone())
    }

    async fn add_mapping_constraints(
        &self,
        pair_list: &[MappingConstraintPair],
    ) -> Result<Vec<MappingConstraintInfo>, mapping_filter::AddMappingConstraintsError> {
        let made = pair_list
            .iter()
            .map(|pair| self.rule(&pair.constraint_expression, &pair.result_to_set));
        let made = made.collect::<Result<Vec<_>, mapping_filter::AddMappingConstraintsError>>()?;
        let ids = self.change(|rules| rules.add(made)).await?;
        let infos = ids.into_iter().zip(pair_list);
        Ok(infos
            .map(|(constraint_id, pair)| MappingConstraintInfo {
                constraint_expression: pair.constraint_expression.clone(),
                constraint_id,
                value: pair.result_to_set.clone(),
            })
            .collect())
    }

    async fn modify_mapping_constraints(
        &self,
        del_list: &[i32],
        modify_list: &[MappingConstraintInfo],
    ) -> Result<(), mapping_filter::ModifyMappingConstraintsError> {
        let made = modify_list.iter().map(|info| {
            let rule = self.rule(&info.constraint_expression, &info.value);
            rule.map(|rule| (info.constraint_id, rule))
        });
        let made =
            made.collect::<Result<Vec<_>, mapping_filter::ModifyMappingConstraintsError>>()?;
        self.change(|rules| rules.modify(del_list, made)).await
    }

    async fn get_mapping_constraints(
        &self,
        id_list: &[i32],
    ) -> Result<Vec<MappingConstraintInfo>, mapping_filter::GetMappingConstraintsError> {
        self.touch();
        let found = locked(&self.rules).find(id_list)?;
        Ok(found.iter().map(mapping_info).collect())
    }

    async fn get_all_mapping_constraints(
        &self,
    ) -> Result<Vec<MappingConstraintInfo>, SystemException> {
        self.touch();
        Ok(locked(&self.rules).all().iter().map(mapping_info).collect())
    }

    async fn remove_all_mapping_constraints(&self) -> Result<(), SystemException> {
        self.change(|rules| {
            rules.by_id.clear();
            Ok(())
        })
        .await
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.end();
        Ok(())
    }

    async fn match_(
        &self,
        filterable_data: &Any,
    ) -> Result<(bool, Any), mapping_filter::MatchError> {
        Ok(self.result(self.asked(("", ANY_TYPE), filterable_data)))
    }

    async fn match_structured(
        &self,
        filterable_data: &StructuredEvent,
    ) -> Result<(bool, Any), mapping_filter::MatchStructuredError> {
        Ok(self.result(self.asked_structured(filterable_data)?))
    }

    async fn match_typed(
        &self,
        filterable_data: &[Property],
    ) -> Result<(bool, Any), mapping_filter::MatchTypedError> {
        Ok(self.result(self.asked_typed(filterable_data)?))
    }
}

/// The filters that clients have made, and that are served.
#[derive(Default)]
pub(crate) struct Filters(BTreeMap<u32, Weak<dyn AnyFilter>>);

impl Filters {
    pub(crate) fn remove(&mut self, number: u32) {
        self.0.remove(&number);
    }

    pub(crate) fn all(&self) -> Vec<Arc<dyn AnyFilter>> {
        self.0.values().filter_map(Weak::upgrade).collect()
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MAX_FILTERS
    }
}

impl Channel {
    /// Makes room for a filter: beyond [`MAX_FILTERS`] one goes that nothing uses and no client has called for long.
    fn make_room_for_filter(&self) -> Result<(), SystemException> {
        while locked(&self.filters).is_full() {
            let all = locked(&self.filters).all();
            let idle_for = self.context.settings.idle_for;
            // Its object has it, and this list.
            let unused = all.into_iter().filter(|filter| {
                Arc::strong_count(filter) <= 2 && filter.used().elapsed() >= idle_for
            });
            let oldest = unused.min_by_key(|filter| filter.used());
            oldest.ok_or(SystemExceptionKind::NoResources)?.end();
        }
        Ok(())
    }

    fn filter_id(&self, number: u32) -> String {
        self.object_id(&format!("f{number}"))
    }

    fn activate_filter(&self, filter: &Arc<Filter>) -> Result<(), SystemException> {
        let weak: Weak<Filter> = Arc::downgrade(filter);
        locked(&self.filters).0.insert(filter.number, weak);
        let servant = FilterServant::from_arc(Arc::clone(filter));
        let id = self.filter_id(filter.number);
        self.context.poa.activate_object_with_id(id, servant)?;
        Ok(())
    }

    fn activate_mapping_filter(&self, filter: &Arc<MappingFilter>) -> Result<(), SystemException> {
        let weak: Weak<MappingFilter> = Arc::downgrade(filter);
        locked(&self.filters).0.insert(filter.number, weak);
        let servant = MappingFilterServant::from_arc(Arc::clone(filter));
        let id = self.filter_id(filter.number);
        self.context.poa.activate_object_with_id(id, servant)?;
        Ok(())
    }

    /// Makes a filter of an earlier run again.
    pub(crate) fn restore_filter(
        self: &Arc<Self>,
        number: u32,
        row: &stored::Filter,
    ) -> Result<(), SystemException> {
        let malformed = || SystemException::from(SystemExceptionKind::PersistStore);
        match row.is_mapping {
            false => {
                let filter = FilterObject::of_row(self, number, row);
                self.activate_filter(&filter.ok_or_else(malformed)?)
            }
            true => {
                let filter = FilterObject::of_row(self, number, row);
                self.activate_mapping_filter(&filter.ok_or_else(malformed)?)
            }
        }
    }

    /// Takes a filter's object away at once, and its row in the store soon.
    fn end_filter(self: &Arc<Self>, number: u32) {
        locked(&self.filters).remove(number);
        let _ = self
            .context
            .poa
            .deactivate_object_with_id(self.filter_id(number));
        let channel = Arc::clone(self);
        tokio::spawn(async move { channel.remove_row(number).await });
    }

    /// The reference of a filter.
    pub(crate) fn filter_reference<T: Interface>(&self, number: u32) -> Result<T, zorb::Error> {
        let id = self.filter_id(number);
        self.context.poa.create_reference_with_id(id)
    }
}

impl<V: Mapped> FilterObject<V> {
    /// The reference of the filter.
    pub(crate) fn reference<T: Interface>(&self) -> Result<T, SystemException> {
        Ok(self.channel.filter_reference(self.number)?)
    }
}

/// The servant of the factory of filters of a channel.
pub(crate) struct FilterFactory(pub(crate) Arc<Channel>);

impl cos::FilterFactory for FilterFactory {
    async fn create_filter(
        &self,
        constraint_grammar: &str,
    ) -> Result<Option<FilterRef>, filter_factory::CreateFilterError> {
        if constraint_grammar != GRAMMAR {
            return Err(InvalidGrammar {}.into());
        }
        self.0.make_room_for_filter()?;
        let filter = Filter::new(&self.0, self.0.new_number(), ());
        self.0.activate_filter(&filter)?;
        if let Err(exception) = filter.store().await {
            filter.end();
            return Err(exception.into());
        }
        Ok(Some(filter.reference()?))
    }

    async fn create_mapping_filter(
        &self,
        constraint_grammar: &str,
        default_value: &Any,
    ) -> Result<Option<MappingFilterRef>, filter_factory::CreateMappingFilterError> {
        if constraint_grammar != GRAMMAR {
            return Err(InvalidGrammar {}.into());
        }
        if default_value.value_octets() > MAX_FILTER_OCTETS {
            return Err(too_many().into());
        }
        self.0.make_room_for_filter()?;
        let filter = MappingFilter::new(&self.0, self.0.new_number(), default_value.clone());
        self.0.activate_mapping_filter(&filter)?;
        if let Err(exception) = filter.store().await {
            filter.end();
            return Err(exception.into());
        }
        Ok(Some(filter.reference()?))
    }
}
