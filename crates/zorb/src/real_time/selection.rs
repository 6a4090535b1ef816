//! Which connections calls at a priority take.

use super::network::CODE_POINT;
use super::running;
use super::settings::{RealTimeSettings, raise};
use crate::profile::Candidate;
use std::sync::Arc;
use zorb_executor::Priority;
use zorb_giop::{
    CompletionStatus, Fault, PriorityBand, PriorityModel, RealTimeFault, SystemException,
};
use zorb_poa::ActiveObject;

/// Which calls a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Selected {
    /// Connections for every priority.
    Any,
    /// Connections without a priority.
    Unprioritised,
    /// Connections of one priority.
    Priority(i16),
    /// Connections of a band of priorities.
    Band(PriorityBand),
}

/// The priority model of a binding.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    selected: Selected,
    model: PriorityModel,
}

impl Selection {
    /// The band that the connection is bound to.
    pub(crate) const fn band(&self) -> Option<PriorityBand> {
        match self.selected {
            Selected::Band(band) => Some(band),
            _ => None,
        }
    }

    /// Whether calls at this priority may use the binding.
    pub(crate) fn covers(&self, priority: Option<i16>) -> bool {
        match (self.selected, priority) {
            (Selected::Any, _) | (Selected::Unprioritised, None) => true,
            (Selected::Priority(own), Some(priority)) => own == priority,
            (Selected::Band(band), Some(priority)) => band.contains(priority),
            // With SERVER_DECLARED the band is that of the object.
            (Selected::Band(_), None) => true,
            _ => false,
        }
    }

    /// The priority that a call made now is sent with.
    ///
    /// # Errors
    /// As [`priority_of_call`].
    pub(crate) fn priority(
        &self,
        settings: &RealTimeSettings,
    ) -> Result<Option<i16>, SystemException> {
        let priority = priority_of_call(settings, self.model)?;
        Ok(priority.map(|priority| priority.0))
    }
}

/// The priority of a call that is made now: that of RTCurrent, else that of the thread's native priority, as the outbound
/// transform leaves it. `None` with SERVER_DECLARED, and in an ORB without a real-time scheduling where no priority has
/// been set.
///
/// # Errors
/// DATA_CONVERSION, minor code 2, if the native priority of the thread maps to none; UNKNOWN if the transform refuses it.
pub(crate) fn priority_of_call(
    settings: &RealTimeSettings,
    model: PriorityModel,
) -> Result<Option<Priority>, SystemException> {
    if model == PriorityModel::ServerDeclared {
        return Ok(None);
    }
    let priority = match running::priority() {
        Some(priority) => Some(priority),
        None => settings.of_this_thread()?,
    };
    let (Some(wanted), Some(transform)) = (priority, &settings.transform) else {
        return Ok(priority);
    };
    // In an upcall only.
    let Some(object) = ActiveObject::current(ActiveObject::id) else {
        return Ok(Some(wanted));
    };
    match transform.outbound(wanted, &object) {
        Some(priority) => Ok(Some(priority)),
        None => Err(raise(RealTimeFault::NotTransformed(wanted.0))),
    }
}

/// Whether the server of one of the ways has priority bands.
pub(crate) fn has_bands(ways: &[Candidate]) -> bool {
    let mut exposed = ways.iter().filter_map(|way| way.real_time.as_ref());
    exposed.any(|exposed| !exposed.policies.bands.is_empty())
}

/// Has the connection by a way carry messages of this priority only, so that its packets may have a code point. One that the
/// ClientProtocolPolicy states stays.
fn mark(settings: &RealTimeSettings, way: &mut Candidate, priority: Option<i16>) {
    if way.properties.iter().any(|(name, _)| name == CODE_POINT) {
        return;
    }
    let code_point = priority.and_then(|priority| settings.code_point(priority));
    if let Some(code_point) = code_point {
        way.properties.push((CODE_POINT.into(), code_point));
    }
}

/// Leaves the ways that a call which is made now may take: the endpoints of its priority, or those in the band of it.
/// `overriding`: the bands of the client's own policy. `None` for references without real-time policies.
///
/// # Errors
/// INV_POLICY if client and server both have bands, or the client alone and the server has no priority model; if the priority
/// lies in no band; if no endpoint has it. As [`priority_of_call`].
pub(crate) fn select(
    settings: &RealTimeSettings,
    ways: &mut Vec<Candidate>,
    overriding: Option<&[PriorityBand]>,
) -> Result<Option<Selection>, SystemException> {
    let refused = |why: String| Err(Fault::PolicyConflict(why).raise(CompletionStatus::No));
    let overriding = overriding.unwrap_or_default();
    let exposed = ways.iter().find_map(|way| way.real_time.clone());
    let Some((exposed, (model, declared))) =
        exposed.and_then(|exposed| Some((Arc::clone(&exposed), exposed.model()?)))
    else {
        return match overriding {
            [] => Ok(None),
            _ => refused("priority bands need an object with a priority model".to_owned()),
        };
    };
    let own = &exposed.policies.bands;
    let bands = match (own.is_empty(), overriding.is_empty()) {
        (false, false) => return refused("both client and server have priority bands".to_owned()),
        (false, true) => own,
        (true, _) => overriding,
    };
    let of_way = |way: &Candidate| {
        let stated = way.real_time.as_ref();
        stated.and_then(|exposed| exposed.priority(&way.endpoint))
    };
    let priority = priority_of_call(settings, model)?.map(|priority| priority.0);
    let selection = |selected| Ok(Some(Selection { selected, model }));
    if !bands.is_empty() {
        let priority = priority.unwrap_or(declared);
        let Some(band) = bands.iter().find(|band| band.contains(priority)) else {
            return refused(format!("priority {priority} lies in no priority band"));
        };
        ways.retain(|way| of_way(way).is_none_or(|lane| band.contains(lane)));
        if ways.is_empty() {
            return Err(raise(RealTimeFault::NoLane(priority)));
        }
        for way in ways.iter_mut() {
            way.band = Some(*band);
            mark(settings, way, Some(of_way(way).unwrap_or(band.high)));
        }
        return selection(Selected::Band(*band));
    }
    let has_lanes = ways.iter().any(|way| of_way(way).is_some());
    for way in ways.iter_mut() {
        let declared = (model == PriorityModel::ServerDeclared).then_some(declared);
        mark(settings, way, of_way(way).or(declared));
    }
    match (model, priority) {
        (PriorityModel::ServerDeclared, _) => selection(Selected::Any),
        _ if !has_lanes => selection(Selected::Any),
        (_, None) => selection(Selected::Unprioritised),
        (_, Some(priority)) => {
            ways.retain(|way| of_way(way).is_none_or(|lane| lane == priority));
            if ways.is_empty() {
                return refused(format!(
                    "the reference has no endpoint of priority {priority}"
                ));
            }
            selection(Selected::Priority(priority))
        }
    }
}
