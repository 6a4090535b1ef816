//! References to objects of POAs with real-time policies.

use super::policies::Scheduled;
use crate::addresses::{Body, write_prioritised};
use crate::endpoints::CurrentEndpoints;
use crate::profile::{self, Published, common_components};
use bytes::Bytes;
use zorb_cdr::{EncodeError, EncodeErrorKind};
use zorb_giop::ior::TaggedComponent;
use zorb_giop::{Ior, PriorityModel};
use zorb_poa::{Adapter, ObjectId, UpcallScheduling};
use zorb_transport::{Endpoint, Registry};

/// Makes a reference to an object of a POA with real-time policies: with the endpoints of its lanes, or, without any,
/// those of the ORB. `None` if there is no endpoint.
pub(crate) fn make_ior(
    current: &CurrentEndpoints,
    transports: &Registry,
    adapter: &Adapter,
    scheduled: &Scheduled,
    type_id: &str,
    key: &Bytes,
) -> Result<Option<Ior>, EncodeError> {
    let id = adapter.id_in(key);
    let priority = scheduled.priority_of(id.as_ref().map_or(&[][..], ObjectId::as_ref));
    let policies = scheduled.exposed(priority).to_component()?;
    let mut lanes = endpoints(scheduled, priority, current);
    scheduled.order_endpoints(&mut lanes, |(endpoint, _)| endpoint);
    let published = current.published();
    if !lanes.is_empty() {
        return with_lanes(&published, transports, type_id, key, &lanes, policies).map(Some);
    }
    if published.endpoints.is_empty() {
        return Ok(None);
    }
    let mut published = Published::clone(&published);
    scheduled.order_endpoints(&mut published.endpoints, |endpoint| endpoint);
    profile::make_ior_with(type_id, key, &published, transports, policies).map(Some)
}

/// The endpoints of the lanes that serve an object. With SERVER_DECLARED only the lane of its priority; with bands only
/// lanes within a band.
fn endpoints(
    scheduled: &Scheduled,
    priority: i16,
    current: &CurrentEndpoints,
) -> Vec<(Endpoint, i16)> {
    let Some(pool) = &scheduled.pool else {
        return Vec::new();
    };
    let declared =
        (scheduled.model).is_some_and(|policy| policy.model == PriorityModel::ServerDeclared);
    let own = (scheduled.lane_of(zorb_executor::Priority(priority))).filter(|_| declared);
    let bands = &scheduled.bands;
    let serves = |lane: i16| match own {
        Some(own) => own.0 == lane,
        None => bands.is_empty() || bands.iter().any(|band| band.contains(lane)),
    };
    let all = pool
        .published(current)
        .map(|(lane, endpoint)| (endpoint, lane.0));
    all.filter(|(_, lane)| serves(*lane)).collect()
}

/// Makes a profile for each transport. It states all endpoints of the transport with their priorities, as TAO's
/// profiles do.
fn with_lanes(
    published: &Published,
    transports: &Registry,
    type_id: &str,
    key: &Bytes,
    lanes: &[(Endpoint, i16)],
    policies: Option<TaggedComponent>,
) -> Result<Ior, EncodeError> {
    let mut components = common_components(published)?;
    components.extend(policies);
    let mut profiles = Vec::new();
    let mut schemes: Vec<&str> = Vec::new();
    for (first, _) in lanes {
        if schemes.contains(&first.scheme()) {
            continue;
        }
        schemes.push(first.scheme());
        let Some(transport) = transports.get(first.scheme()) else {
            return Err(EncodeErrorKind::Expected("an endpoint of a transport").into());
        };
        let addressing = transport.addressing();
        let of_profile = lanes.iter().filter(|(of, _)| of.scheme() == first.scheme());
        let stated: Vec<_> = of_profile.cloned().collect();
        let mut components = components.clone();
        components.push(write_prioritised(addressing, &stated)?);
        let body = Body {
            version: published.version,
            endpoint: first.clone(),
            object_key: key.clone(),
            components,
        };
        profiles.push(body.to_tagged(addressing)?);
    }
    Ok(Ior {
        type_id: type_id.to_owned(),
        profiles,
    })
}
