//! The selection of connections for calls with priorities.

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

/// The calls that may use a connection.
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
            // With SERVER_DECLARED the band is that of the object, and calls have no priority.
            (Selected::Band(_), None) => true,
            _ => false,
        }
    }

    /// The priority that a call from the current thread states.
    ///
    /// # Errors
    /// Returns the errors of [`priority_of_call`].
    pub(crate) fn priority(
        &self,
        settings: &RealTimeSettings,
    ) -> Result<Option<i16>, SystemException> {
        let priority = priority_of_call(settings, self.model)?;
        Ok(priority.map(|priority| priority.0))
    }
}

/// The priority of a call from the current thread: that of RTCurrent, else the thread's native one, mapped; then
/// changed by the outbound transform. `None` with SERVER_DECLARED, and without real-time scheduling if no priority has
/// been set.
///
/// # Errors
/// DATA_CONVERSION, minor code 2, if the native priority of the thread maps to none; UNKNOWN if the transform refuses
/// it.
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
    // The transform applies to calls from upcalls only.
    let Some(object) = ActiveObject::current(ActiveObject::id) else {
        return Ok(Some(wanted));
    };
    match transform.outbound(wanted, &object) {
        Some(priority) => Ok(Some(priority)),
        None => Err(raise(RealTimeFault::NotTransformed(wanted.0))),
    }
}

/// Whether a candidate's profile states priority bands.
pub(crate) fn has_bands(candidates: &[Candidate]) -> bool {
    let mut exposed = candidates
        .iter()
        .filter_map(|candidate| candidate.real_time.as_ref());
    exposed.any(|exposed| !exposed.policies.bands.is_empty())
}

/// Sets the code point of a priority on a candidate's connection, which then carries messages of this priority only. A
/// code point of the ClientProtocolPolicy takes precedence.
fn mark(settings: &RealTimeSettings, candidate: &mut Candidate, priority: Option<i16>) {
    if candidate
        .properties
        .iter()
        .any(|(name, _)| name == CODE_POINT)
    {
        return;
    }
    let code_point = priority.and_then(|priority| settings.code_point(priority));
    if let Some(code_point) = code_point {
        candidate.properties.push((CODE_POINT.into(), code_point));
    }
}

/// Removes the candidates that a call from the current thread must not use: keeps the endpoints of its priority, or of
/// its band. `overriding`: the bands of the client's own policy. Returns `None` for references without a priority
/// model.
///
/// # Errors
/// INV_POLICY if client and server both have bands, if the client has bands and the server no priority model, if no
/// band holds the priority, or if no endpoint has it. NO_RESOURCES, minor code 2, if no endpoint lies in the band.
/// Returns the errors of [`priority_of_call`].
pub(crate) fn select(
    settings: &RealTimeSettings,
    candidates: &mut Vec<Candidate>,
    overriding: Option<&[PriorityBand]>,
) -> Result<Option<Selection>, SystemException> {
    let refused = |why: String| Err(Fault::PolicyConflict(why).raise(CompletionStatus::No));
    let overriding = overriding.unwrap_or_default();
    let exposed = candidates
        .iter()
        .find_map(|candidate| candidate.real_time.clone());
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
    let priority_of = |candidate: &Candidate| {
        let stated = candidate.real_time.as_ref();
        stated.and_then(|exposed| exposed.priority(&candidate.endpoint))
    };
    let priority = priority_of_call(settings, model)?.map(|priority| priority.0);
    let selection = |selected| Ok(Some(Selection { selected, model }));
    if !bands.is_empty() {
        let priority = priority.unwrap_or(declared);
        let Some(band) = bands.iter().find(|band| band.contains(priority)) else {
            return refused(format!("priority {priority} lies in no priority band"));
        };
        candidates
            .retain(|candidate| priority_of(candidate).is_none_or(|lane| band.contains(lane)));
        if candidates.is_empty() {
            return Err(raise(RealTimeFault::NoLane(priority)));
        }
        for candidate in candidates.iter_mut() {
            candidate.band = Some(*band);
            mark(
                settings,
                candidate,
                Some(priority_of(candidate).unwrap_or(band.high)),
            );
        }
        return selection(Selected::Band(*band));
    }
    let has_lanes = candidates
        .iter()
        .any(|candidate| priority_of(candidate).is_some());
    for candidate in candidates.iter_mut() {
        let declared = (model == PriorityModel::ServerDeclared).then_some(declared);
        mark(settings, candidate, priority_of(candidate).or(declared));
    }
    match (model, priority) {
        (PriorityModel::ServerDeclared, _) => selection(Selected::Any),
        _ if !has_lanes => selection(Selected::Any),
        (_, None) => selection(Selected::Unprioritised),
        (_, Some(priority)) => {
            candidates
                .retain(|candidate| priority_of(candidate).is_none_or(|lane| lane == priority));
            if candidates.is_empty() {
                return refused(format!(
                    "the reference has no endpoint of priority {priority}"
                ));
            }
            selection(Selected::Priority(priority))
        }
    }
}
