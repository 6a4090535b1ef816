//! A set of properties, and what may be done with each.
//!
//! Operations on several properties do what they can: those without an error are defined or deleted, by one transaction, and the
//! others are in `MultipleExceptions`.

use crate::cos_property_service::{
    self as cos, ConflictingProperty, ConstraintNotSupported, ExceptionReason, FixedProperty,
    InvalidPropertyName, MultipleExceptions, PropertyDef, PropertyException, PropertyMode,
    PropertyModeType, PropertyNotFound, ReadOnlyProperty, UnsupportedMode, UnsupportedProperty,
    UnsupportedTypeCode, property_set, property_set_def,
};
use crate::iterators::Iterators;
use crate::service::Shared;
use crate::store::{Change, DEFAULT_MODE, octets_of_property};
use crate::stored::RemovableSet;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zorb::{Any, SystemException, SystemExceptionKind, TypeCode};

/// Octets of a property's name.
pub(crate) const MAX_NAME_OCTETS: usize = 4_096;
/// Octets of names and values in a reply, before an iterator has the rest.
pub(crate) const MAX_LISTED_OCTETS: usize = 1024 * 1024;
/// Octets of the properties that a client asks for by their names: it may name a large one again and again.
pub(crate) const MAX_FOUND_OCTETS: usize = 16 * 1024 * 1024;
/// Types that the constraints of a set may name: each value that is defined is compared with all of them.
pub(crate) const MAX_ALLOWED_TYPES: usize = 64;

/// A property without its name.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) value: Any,
    pub(crate) mode: PropertyModeType,
}

/// What may be in a set. Where there are no types and no properties named, all may.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    pub(crate) types: Vec<TypeCode>,
    allowed: HashMap<String, Property>,
}

impl Constraints {
    pub(crate) fn new(types: Vec<TypeCode>, defs: Vec<PropertyDef>) -> Self {
        let allowed = defs.into_iter().map(|def| {
            let property = Property {
                value: def.property_value,
                mode: def.property_mode,
            };
            (def.property_name, property)
        });
        Self {
            types,
            allowed: allowed.collect(),
        }
    }

    /// Constraints of a client: each property has a name of its own, a type that is allowed, and a mode.
    pub(crate) fn of_client(
        types: &[TypeCode],
        defs: &[PropertyDef],
    ) -> Result<Self, ConstraintNotSupported> {
        if types.len() > MAX_ALLOWED_TYPES {
            return Err(ConstraintNotSupported {});
        }
        let this = Self::new(types.to_vec(), defs.to_vec());
        let is_supported = this.allowed.len() == defs.len()
            && defs.iter().all(|def| {
                is_name(&def.property_name)
                    && def.property_mode != PropertyModeType::Undefined
                    && this.allows_type(def.property_value.type_code())
            });
        match is_supported {
            true => Ok(this),
            false => Err(ConstraintNotSupported {}),
        }
    }

    pub(crate) fn defs(&self) -> Vec<PropertyDef> {
        let all = self.allowed.iter();
        let mut all: Vec<_> = all
            .map(|(name, property)| PropertyDef {
                property_name: name.clone(),
                property_value: property.value.clone(),
                property_mode: property.mode,
            })
            .collect();
        all.sort_by(|one, other| one.property_name.cmp(&other.property_name));
        all
    }

    fn allows_type(&self, ty: &TypeCode) -> bool {
        self.types.is_empty() || self.types.iter().any(|allowed| allowed.equivalent(ty))
    }

    /// The mode of a property, or why it may not be there.
    fn mode(
        &self,
        name: &str,
        value: &Any,
        mode: Option<PropertyModeType>,
    ) -> Result<PropertyModeType, ExceptionReason> {
        if !self.allows_type(value.type_code()) {
            return Err(ExceptionReason::UnsupportedTypeCode);
        }
        if mode == Some(PropertyModeType::Undefined) {
            return Err(ExceptionReason::UnsupportedMode);
        }
        if self.allowed.is_empty() {
            return Ok(mode.unwrap_or(DEFAULT_MODE));
        }
        let allowed = self.allowed.get(name);
        let allowed = allowed.ok_or(ExceptionReason::UnsupportedProperty)?;
        if !allowed.value.type_code().equivalent(value.type_code()) {
            return Err(ExceptionReason::UnsupportedTypeCode);
        }
        match mode {
            Some(mode) if mode != allowed.mode => Err(ExceptionReason::UnsupportedMode),
            _ => Ok(allowed.mode),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_OCTETS
}

fn is_fixed(mode: PropertyModeType) -> bool {
    matches!(
        mode,
        PropertyModeType::FixedNormal | PropertyModeType::FixedReadonly
    )
}

fn is_read_only(mode: PropertyModeType) -> bool {
    matches!(
        mode,
        PropertyModeType::ReadOnly | PropertyModeType::FixedReadonly
    )
}

/// What a property costs in memory, besides its value.
const OVERHEAD: usize = 128;

/// What a property counts for.
fn cost(name: &str, value: &Any) -> usize {
    let octets = value.value_octets().saturating_add(name.len());
    octets.saturating_add(OVERHEAD)
}

/// What some properties count for together.
pub(crate) fn costs(properties: &BTreeMap<String, Property>) -> usize {
    let costs = properties.iter().map(|(name, it)| cost(name, &it.value));
    costs.fold(0, usize::saturating_add)
}

/// Octets that all sets have.
#[derive(Debug, Default)]
pub(crate) struct Held(AtomicUsize);

impl Held {
    /// Counts octets, if there is room for them.
    pub(crate) fn take(&self, octets: usize, max: usize) -> Result<(), SystemException> {
        let take = |held: usize| held.checked_add(octets).filter(|held| *held <= max);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken
            .map(|_| ())
            .map_err(|_| SystemExceptionKind::NoResources.into())
    }

    pub(crate) fn give_back(&self, octets: usize) {
        let give = |held: usize| Some(held.saturating_sub(octets));
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, give);
    }
}

/// A set.
pub(crate) struct Set {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    constraints: Constraints,
    /// Octets of the constraints.
    constraints_octets: usize,
    properties: Mutex<BTreeMap<String, Property>>,
    /// Held by the change that is being stored.
    changing: tokio::sync::Mutex<bool>,
}

/// A change of a property that a request asks for.
enum Wanted {
    Define(Any, Option<PropertyModeType>),
    Mode(PropertyModeType),
    Delete,
}

impl Set {
    pub(crate) fn new(
        shared: Arc<Shared>,
        number: u64,
        (constraints, constraints_octets): (Constraints, usize),
        properties: BTreeMap<String, Property>,
    ) -> Self {
        Self {
            shared,
            number,
            constraints,
            constraints_octets,
            properties: Mutex::new(properties),
            changing: tokio::sync::Mutex::new(false),
        }
    }

    fn properties(&self) -> MutexGuard<'_, BTreeMap<String, Property>> {
        self.properties
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The first properties of a set that is not there yet: all, or none.
    pub(crate) fn initial(
        constraints: &Constraints,
        defs: impl IntoIterator<Item = (String, Any, Option<PropertyModeType>)>,
    ) -> Result<BTreeMap<String, Property>, MultipleExceptions> {
        let mut properties = BTreeMap::new();
        let mut exceptions = Vec::new();
        for (name, value, mode) in defs {
            match after(
                constraints,
                properties.get(&name),
                &name,
                Wanted::Define(value, mode),
            ) {
                Ok(Some(property)) => {
                    properties.insert(name, property);
                }
                Ok(None) => {}
                Err(reason) => exceptions.push(exception(reason, name)),
            }
        }
        match exceptions.is_empty() {
            true => Ok(properties),
            false => Err(MultipleExceptions { exceptions }),
        }
    }

    /// Changes properties, by one transaction: those that can be; the others, with what is wrong with them.
    async fn change(
        &self,
        wanted: Vec<(String, Wanted)>,
    ) -> Result<Vec<PropertyException>, SystemException> {
        let is_removed = self.changing.lock().await;
        if *is_removed {
            return Err(SystemExceptionKind::ObjectNotExist.into());
        }
        let (mut exceptions, mut changed) = (Vec::new(), BTreeMap::new());
        let (mut more, mut less, mut new) = (0_usize, 0_usize, 0_usize);
        let count = {
            let properties = self.properties();
            for (name, wanted) in wanted {
                // The one before in this request counts.
                let before = match changed.get(&name) {
                    Some(changed) => Option::as_ref(changed),
                    None => properties.get(&name),
                };
                match after(&self.constraints, before, &name, wanted) {
                    Ok(property) => {
                        changed.insert(name, property);
                    }
                    Err(reason) => exceptions.push(exception(reason, name)),
                }
            }
            for (name, after) in &changed {
                let before = properties.get(name);
                less = less.saturating_add(before.map_or(0, |it| cost(name, &it.value)));
                more = more.saturating_add(after.as_ref().map_or(0, |it| cost(name, &it.value)));
                new = new.saturating_add(usize::from(before.is_none() && after.is_some()));
            }
            properties.len()
        };
        if changed.is_empty() {
            return Ok(exceptions);
        }
        let settings = &self.shared.settings;
        if new > 0 && count.saturating_add(new) > settings.max_properties {
            return Err(SystemExceptionKind::NoResources.into());
        }
        let grows = more.saturating_sub(less);
        self.shared.held.take(grows, settings.max_octets)?;
        let rows = changed.iter().map(|(name, property)| {
            let octets = property.as_ref().map(octets_of_property).transpose()?;
            Ok((name.clone(), octets))
        });
        let rows: Result<Vec<_>, SystemException> = rows.collect();
        let stored = match rows {
            Ok(changed) => {
                let set = self.number;
                let change = Change::Properties { set, changed };
                self.shared.store.change(change).await
            }
            Err(exception) => Err(exception),
        };
        if let Err(exception) = stored {
            self.shared.held.give_back(grows);
            return Err(exception);
        }
        self.shared.held.give_back(less.saturating_sub(more));
        let mut properties = self.properties();
        for (name, property) in changed {
            match property {
                Some(property) => properties.insert(name, property),
                None => properties.remove(&name),
            };
        }
        Ok(exceptions)
    }

    /// Changes one property.
    async fn change_one<E: From<SystemException>>(
        &self,
        name: &str,
        wanted: Wanted,
        raise: impl FnOnce(ExceptionReason) -> E,
    ) -> Result<(), E> {
        let mut exceptions = self.change(vec![(name.to_owned(), wanted)]).await?;
        match exceptions.pop() {
            None => Ok(()),
            Some(exception) => Err(raise(exception.reason)),
        }
    }

    async fn change_all<E: From<SystemException> + From<MultipleExceptions>>(
        &self,
        wanted: Vec<(String, Wanted)>,
    ) -> Result<(), E> {
        let exceptions = self.change(wanted).await?;
        match exceptions.is_empty() {
            true => Ok(()),
            false => Err(MultipleExceptions { exceptions }.into()),
        }
    }

    fn find(&self, name: &str) -> Result<Property, ExceptionReason> {
        if !is_name(name) {
            return Err(ExceptionReason::InvalidPropertyName);
        }
        let found = self.properties().get(name).cloned();
        found.ok_or(ExceptionReason::PropertyNotFound)
    }

    /// Properties behind a name, as many as asked for and as a reply has room for; and whether there are more.
    pub(crate) fn page(&self, behind: Option<&str>, max: usize) -> (Vec<cos::Property>, bool) {
        let properties = self.properties();
        let begin = behind.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = properties.range::<str, _>((begin, Bound::Unbounded));
        let mut page: Vec<cos::Property> = Vec::new();
        let mut octets: usize = 0;
        for (name, property) in rest.by_ref() {
            octets = octets.saturating_add(cost(name, &property.value));
            if page.len() >= max || (octets > MAX_LISTED_OCTETS && !page.is_empty()) {
                return (page, true);
            }
            page.push(cos::Property {
                property_name: name.clone(),
                property_value: property.value.clone(),
            });
        }
        (page, false)
    }

    /// The first page of all, and an iterator over the rest.
    fn listed<R>(
        self: &Arc<Self>,
        how_many: u32,
        rest: impl FnOnce(&Iterators, Arc<Self>, Option<String>) -> Result<R, zorb::Error>,
    ) -> Result<(Vec<cos::Property>, Option<R>), SystemException> {
        let max = usize::try_from(how_many).unwrap_or(usize::MAX);
        let (page, has_more) = self.page(None, max);
        let rest = match has_more {
            true => {
                let last = page.last().map(|last| last.property_name.clone());
                Some(rest(&self.shared.iterators, Arc::clone(self), last)?)
            }
            false => None,
        };
        Ok((page, rest))
    }
}

fn exception(reason: ExceptionReason, failing_property_name: String) -> PropertyException {
    PropertyException {
        reason,
        failing_property_name,
    }
}

/// What a property is after a change; `None` if it is not there.
fn after(
    constraints: &Constraints,
    before: Option<&Property>,
    name: &str,
    wanted: Wanted,
) -> Result<Option<Property>, ExceptionReason> {
    if !is_name(name) {
        return Err(ExceptionReason::InvalidPropertyName);
    }
    match (wanted, before) {
        (Wanted::Define(value, mode), None) => {
            let mode = constraints.mode(name, &value, mode)?;
            Ok(Some(Property { value, mode }))
        }
        (Wanted::Define(value, mode), Some(before)) => {
            if is_read_only(before.mode) {
                return Err(ExceptionReason::ReadOnlyProperty);
            }
            if !before.value.type_code().equivalent(value.type_code()) {
                return Err(ExceptionReason::ConflictingProperty);
            }
            constraints.mode(name, &value, mode)?;
            let mode = mode.unwrap_or(before.mode);
            Ok(Some(Property { value, mode }))
        }
        (Wanted::Mode(mode), Some(before)) => {
            constraints.mode(name, &before.value, Some(mode))?;
            let value = before.value.clone();
            Ok(Some(Property { value, mode }))
        }
        (Wanted::Delete, Some(before)) if is_fixed(before.mode) => {
            Err(ExceptionReason::FixedProperty)
        }
        (Wanted::Delete, Some(_)) => Ok(None),
        (Wanted::Mode(_) | Wanted::Delete, None) => Err(ExceptionReason::PropertyNotFound),
    }
}

/// An object's servant.
pub(crate) struct SetObject(pub(crate) Arc<Set>);

/// An exception of an operation, by its reason: what others than these say is INTERNAL.
macro_rules! raising {
    ($error:ty: $($reason:ident => $exception:ident),*) => {
        |reason: ExceptionReason| -> $error {
            match reason {
                $(ExceptionReason::$reason => $exception {}.into(),)*
                _ => SystemException::from(SystemExceptionKind::Internal).into(),
            }
        }
    };
}

impl cos::PropertySet for SetObject {
    async fn define_property(
        &self,
        property_name: &str,
        property_value: &Any,
    ) -> Result<(), property_set::DefinePropertyError> {
        let wanted = Wanted::Define(property_value.clone(), None);
        let raise = raising!(property_set::DefinePropertyError:
            InvalidPropertyName => InvalidPropertyName,
            ConflictingProperty => ConflictingProperty,
            UnsupportedTypeCode => UnsupportedTypeCode,
            UnsupportedProperty => UnsupportedProperty,
            ReadOnlyProperty => ReadOnlyProperty);
        self.0.change_one(property_name, wanted, raise).await
    }

    async fn define_properties(
        &self,
        nproperties: &[cos::Property],
    ) -> Result<(), property_set::DefinePropertiesError> {
        let wanted = nproperties.iter().map(|one| {
            let wanted = Wanted::Define(one.property_value.clone(), None);
            (one.property_name.clone(), wanted)
        });
        self.0.change_all(wanted.collect()).await
    }

    async fn get_number_of_properties(&self) -> Result<u32, SystemException> {
        Ok(u32::try_from(self.0.properties().len()).unwrap_or(u32::MAX))
    }

    async fn get_all_property_names(
        &self,
        how_many: u32,
    ) -> Result<(Vec<String>, Option<cos::PropertyNamesIteratorRef>), SystemException> {
        let (page, rest) = self.0.listed(how_many, Iterators::names)?;
        let names = page.into_iter().map(|one| one.property_name);
        Ok((names.collect(), rest))
    }

    async fn get_property_value(
        &self,
        property_name: &str,
    ) -> Result<Any, property_set::GetPropertyValueError> {
        let raise = raising!(property_set::GetPropertyValueError:
            InvalidPropertyName => InvalidPropertyName,
            PropertyNotFound => PropertyNotFound);
        let found = self.0.find(property_name).map_err(raise)?;
        Ok(found.value)
    }

    async fn get_properties(
        &self,
        property_names: &[String],
    ) -> Result<(bool, Vec<cos::Property>), SystemException> {
        let (mut has_all, mut octets) = (true, 0_usize);
        let found = property_names.iter().map(|name| {
            let found = self.0.find(name);
            has_all &= found.is_ok();
            let property_value = found.map(|it| it.value).unwrap_or_default();
            octets = octets.saturating_add(cost(name, &property_value));
            let property_name = name.clone();
            match octets <= MAX_FOUND_OCTETS {
                true => Ok(cos::Property {
                    property_name,
                    property_value,
                }),
                false => Err(SystemException::from(SystemExceptionKind::NoResources)),
            }
        });
        let found: Result<Vec<_>, _> = found.collect();
        Ok((has_all, found?))
    }

    async fn get_all_properties(
        &self,
        how_many: u32,
    ) -> Result<(Vec<cos::Property>, Option<cos::PropertiesIteratorRef>), SystemException> {
        self.0.listed(how_many, Iterators::properties)
    }

    async fn delete_property(
        &self,
        property_name: &str,
    ) -> Result<(), property_set::DeletePropertyError> {
        let raise = raising!(property_set::DeletePropertyError:
            InvalidPropertyName => InvalidPropertyName,
            PropertyNotFound => PropertyNotFound,
            FixedProperty => FixedProperty);
        self.0
            .change_one(property_name, Wanted::Delete, raise)
            .await
    }

    async fn delete_properties(
        &self,
        property_names: &[String],
    ) -> Result<(), property_set::DeletePropertiesError> {
        let wanted = property_names.iter();
        let wanted = wanted.map(|name| (name.clone(), Wanted::Delete));
        self.0.change_all(wanted.collect()).await
    }

    async fn delete_all_properties(&self) -> Result<bool, SystemException> {
        let wanted: Vec<_> = {
            let properties = self.0.properties();
            let names = properties.keys().cloned();
            names.map(|name| (name, Wanted::Delete)).collect()
        };
        Ok(self.0.change(wanted).await?.is_empty())
    }

    async fn is_property_defined(
        &self,
        property_name: &str,
    ) -> Result<bool, property_set::IsPropertyDefinedError> {
        match self.0.find(property_name) {
            Ok(_) => Ok(true),
            Err(ExceptionReason::InvalidPropertyName) => Err(InvalidPropertyName {}.into()),
            Err(_) => Ok(false),
        }
    }
}

impl cos::PropertySetDef for SetObject {
    async fn get_allowed_property_types(&self) -> Result<Vec<TypeCode>, SystemException> {
        Ok(self.0.constraints.types.clone())
    }

    async fn get_allowed_properties(&self) -> Result<Vec<PropertyDef>, SystemException> {
        Ok(self.0.constraints.defs())
    }

    async fn define_property_with_mode(
        &self,
        property_name: &str,
        property_value: &Any,
        property_mode: PropertyModeType,
    ) -> Result<(), property_set_def::DefinePropertyWithModeError> {
        let wanted = Wanted::Define(property_value.clone(), Some(property_mode));
        let raise = raising!(property_set_def::DefinePropertyWithModeError:
            InvalidPropertyName => InvalidPropertyName,
            ConflictingProperty => ConflictingProperty,
            UnsupportedTypeCode => UnsupportedTypeCode,
            UnsupportedProperty => UnsupportedProperty,
            UnsupportedMode => UnsupportedMode,
            ReadOnlyProperty => ReadOnlyProperty);
        self.0.change_one(property_name, wanted, raise).await
    }

    async fn define_properties_with_modes(
        &self,
        property_defs: &[PropertyDef],
    ) -> Result<(), property_set_def::DefinePropertiesWithModesError> {
        let wanted = property_defs.iter().map(|one| {
            let wanted = Wanted::Define(one.property_value.clone(), Some(one.property_mode));
            (one.property_name.clone(), wanted)
        });
        self.0.change_all(wanted.collect()).await
    }

    async fn get_property_mode(
        &self,
        property_name: &str,
    ) -> Result<PropertyModeType, property_set_def::GetPropertyModeError> {
        let raise = raising!(property_set_def::GetPropertyModeError:
            InvalidPropertyName => InvalidPropertyName,
            PropertyNotFound => PropertyNotFound);
        let found = self.0.find(property_name).map_err(raise)?;
        Ok(found.mode)
    }

    async fn get_property_modes(
        &self,
        property_names: &[String],
    ) -> Result<(bool, Vec<PropertyMode>), SystemException> {
        let mut has_all = true;
        let found = property_names.iter().map(|name| {
            let found = self.0.find(name);
            has_all &= found.is_ok();
            PropertyMode {
                property_name: name.clone(),
                property_mode: found.map_or(PropertyModeType::Undefined, |it| it.mode),
            }
        });
        let found = found.collect();
        Ok((has_all, found))
    }

    async fn set_property_mode(
        &self,
        property_name: &str,
        property_mode: PropertyModeType,
    ) -> Result<(), property_set_def::SetPropertyModeError> {
        let raise = raising!(property_set_def::SetPropertyModeError:
            InvalidPropertyName => InvalidPropertyName,
            PropertyNotFound => PropertyNotFound,
            UnsupportedMode => UnsupportedMode);
        let wanted = Wanted::Mode(property_mode);
        self.0.change_one(property_name, wanted, raise).await
    }

    async fn set_property_modes(
        &self,
        property_modes: &[PropertyMode],
    ) -> Result<(), property_set_def::SetPropertyModesError> {
        let wanted = property_modes.iter().map(|one| {
            let wanted = Wanted::Mode(one.property_mode);
            (one.property_name.clone(), wanted)
        });
        self.0.change_all(wanted.collect()).await
    }
}

impl RemovableSet for SetObject {
    async fn remove(&self) -> Result<(), SystemException> {
        let mut is_removed = self.0.changing.lock().await;
        if core::mem::replace(&mut *is_removed, true) {
            return Err(SystemExceptionKind::ObjectNotExist.into());
        }
        let set = self.0.number;
        if let Err(exception) = self.0.shared.store.change(Change::Remove { set }).await {
            *is_removed = false;
            return Err(exception);
        }
        let properties = core::mem::take(&mut *self.0.properties());
        let octets = costs(&properties).saturating_add(self.0.constraints_octets);
        self.0.shared.held.give_back(octets);
        self.0.shared.forget(set);
        Ok(())
    }
}
