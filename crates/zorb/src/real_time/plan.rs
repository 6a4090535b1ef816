//! Planning a request to a POA with real-time policies: its priority, pool and lane.

use super::contexts::priority_context;
use super::policies::Scheduled;
use super::running::{self, Holder, Running};
use super::settings::{RealTimeSettings, raise};
use super::threadpool::Pool;
use std::sync::Arc;
use zorb_executor::Priority;
use zorb_giop::{
    CompletionStatus, Fault, PriorityBand, RealTimeFault, ServiceContext, ServiceContexts,
    SystemException, propagated_priority,
};
use zorb_poa::ActiveObject;

/// Where and at which priority a request runs.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The priority of the upcall.
    pub(crate) priority: Priority,
    /// The priority of the lane that runs it.
    pub(crate) lane: Priority,
    /// The pool of the POA, if it has one.
    pub(crate) pool: Option<Arc<Pool>>,
    /// The priority context of the reply.
    pub(crate) echo: Option<ServiceContext>,
}

impl Planned {
    /// The state of RTCurrent for the upcall.
    pub(crate) fn running(&self) -> Running {
        let holder = match self.pool {
            Some(_) => Holder::Upcall,
            None => Holder::Task,
        };
        Running {
            priority: self.priority,
            holder,
            lane: self.lane_id(),
        }
    }

    /// Identifies the lane among those of all pools.
    fn lane_id(&self) -> Option<(usize, Priority)> {
        let pool = self.pool.as_ref()?;
        let lane = match pool.lane_priorities() {
            Some(_) => self.lane,
            None => Priority::MIN,
        };
        Some((pool.address(), lane))
    }

    /// Whether a call from the current thread runs on that thread: in the same lane, or without a pool.
    pub(crate) fn runs_here(&self) -> bool {
        self.pool.is_none() || self.lane_id() == running::lane()
    }

    /// The priority to restore on the caller's thread after a call that runs there at another priority, in a pool
    /// without lanes.
    pub(crate) fn priority_to_restore(&self) -> Option<Priority> {
        let pool = self.pool.as_ref()?;
        let own = running::priority()?;
        (pool.lane_priorities().is_none() && own != self.priority).then_some(own)
    }
}

impl Scheduled {
    /// Plans a request with these service contexts, on a connection that is bound to a `band` or to none.
    ///
    /// # Errors
    /// MARSHAL for a malformed or doubled RTCorbaPriority; DATA_CONVERSION, minor code 2, for a priority that cannot be
    /// mapped; NO_RESOURCES, minor code 2, for one that no lane serves or that is outside of the band, also if it is
    /// the object's; UNKNOWN if the transform refuses it. All are COMPLETED_NO.
    pub(crate) fn plan(
        &self,
        settings: &RealTimeSettings,
        object: &ActiveObject,
        contexts: Option<&ServiceContexts<'_>>,
        band: Option<PriorityBand>,
    ) -> Result<Planned, SystemException> {
        let propagated = match contexts {
            Some(contexts) if self.is_client_propagated() => {
                propagated_priority(contexts).map_err(raise)?
            }
            _ => None,
        };
        if let Some(band) = band
            && self.model.is_some()
        {
            // A request without a context has the priority of its object, which the band has to contain, too.
            let priority = propagated.or_else(|| object.priority()).unwrap_or_default();
            if !band.contains(priority) {
                return Err(raise(RealTimeFault::OutsideBand { priority, band }));
            }
        }
        let mut planned = self.plan_at(settings, object, propagated.map(Priority))?;
        let echo = propagated.map(priority_context).transpose();
        planned.echo = echo.map_err(|error| Fault::Encode(error).raise(CompletionStatus::No))?;
        Ok(planned)
    }

    /// Plans a call with the caller's priority, if it has one. Only CLIENT_PROPAGATED uses that priority.
    ///
    /// # Errors
    /// Returns the errors of [`plan`](Self::plan).
    pub(crate) fn plan_at(
        &self,
        settings: &RealTimeSettings,
        object: &ActiveObject,
        propagated: Option<Priority>,
    ) -> Result<Planned, SystemException> {
        let declared = Priority(object.priority().unwrap_or_default());
        let wanted = propagated
            .filter(|_| self.is_client_propagated())
            .unwrap_or(declared);
        let priority = match (&settings.transform, &self.model) {
            (Some(transform), Some(_)) => (transform.inbound(wanted, &object.id()))
                .ok_or_else(|| raise(RealTimeFault::NotTransformed(wanted.0)))?,
            _ => wanted,
        };
        if self.model.is_some() {
            settings.native(priority)?;
        }
        let lane =
            (self.lane_of(priority)).ok_or_else(|| raise(RealTimeFault::NoLane(priority.0)))?;
        Ok(Planned {
            priority,
            lane,
            pool: self.pool.clone(),
            echo: None,
        })
    }

    /// The band that a request states, to bind its connection to.
    ///
    /// # Errors
    /// MARSHAL for a malformed, doubled or missing RTCorbaPriorityRange; INV_POLICY if the POA has no priority model,
    /// or no lane in the band.
    pub(crate) fn bind_band(
        &self,
        contexts: Option<&ServiceContexts<'_>>,
    ) -> Result<PriorityBand, SystemException> {
        let refused = |why: String| Err(Fault::PolicyConflict(why).raise(CompletionStatus::No));
        let band = match contexts {
            Some(contexts) => PriorityBand::of_request(contexts).map_err(raise)?,
            None => return Err(raise(RealTimeFault::MalformedContext("no contexts"))),
        };
        if self.model.is_none() {
            return refused("the object's POA has no priority model".to_owned());
        }
        let lanes = self.pool.as_ref().and_then(|pool| pool.lane_priorities());
        match lanes {
            Some(lanes) if !lanes.clone().any(|lane| band.contains(lane.0)) => refused(format!(
                "no lane of the object's POA has a priority from {} to {}",
                band.low, band.high
            )),
            _ => Ok(band),
        }
    }
}
