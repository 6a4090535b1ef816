//! Starting and ending thread pools: threads, reactors of lanes, endpoints.

use super::network::CODE_POINT;
use super::settings::RealTimeSettings;
use super::threadpool::{Pool, PoolLane, ThreadpoolOptions};
use super::threadpool_error::ThreadpoolError;
use crate::endpoints::Listen;
use crate::error::Error;
use crate::options::{OptionError, Source};
use crate::orb::OrbInner;
use std::sync::{Arc, Mutex};
use zorb_connection::{Acceptor, Reactor};
use zorb_executor::{BuildError, Lane, Priority, Scheduling};
use zorb_transport::Listener;

/// Starts the reactors and the threads of a pool, and listens.
pub(super) async fn start(
    orb: &Arc<OrbInner>,
    id: u32,
    options: &ThreadpoolOptions,
) -> Result<Arc<Pool>, Error> {
    let settings = &orb.settings().real_time;
    let workers = options.workers(id, settings, orb.lane());
    // Checked before reactors are started, one for each lane.
    workers.check().map_err(ThreadpoolError::from)?;
    let mut reactors = Vec::new();
    let mut lanes: Vec<_> = options.lanes.iter().flatten().collect();
    lanes.sort_by_key(|lane| lane.threads.priority);
    for lane in &lanes {
        let priority = lane.threads.priority;
        reactors.push((priority, reactor(id, priority, settings)?));
    }
    let runtimes = reactors.iter();
    let runtimes = runtimes.map(|(priority, lane): &(_, Lane)| (*priority, lane.handle().clone()));
    let workers = workers.lane_runtimes(runtimes).build();
    let workers = workers.map_err(ThreadpoolError::from)?;
    let mut acceptors = Vec::new();
    let mut listening = Vec::new();
    for (lane, (priority, reactor)) in lanes.iter().zip(reactors) {
        let mut open = Vec::new();
        let reader = Reactor::of(&reactor);
        for text in &lane.listen {
            let (asked, listener) = listen(orb, &reactor, text, priority).await?;
            open.push((asked, listener.endpoint().clone()));
            let acceptor = Acceptor::new(listener).in_reactor(reader.clone());
            acceptors.push((acceptor, reactor.handle().clone()));
        }
        listening.push(PoolLane {
            priority,
            listening: open,
            reader,
            _reactor: reactor,
        });
    }
    let pool = Arc::new(Pool {
        id,
        workers,
        default_priority: options.default_priority,
        lanes: options.lanes.is_some().then_some(listening),
        stop: orb.stop_token().child_token(),
        users: Mutex::default(),
    });
    for (acceptor, home) in acceptors {
        orb.watch_served();
        let serving = Arc::clone(orb.serving());
        let run = acceptor.run(Arc::downgrade(orb), serving, pool.stop.clone());
        orb.track_in(&home, run);
    }
    Ok(pool)
}

/// Ends a pool: it accepts no more connections and requests. Its connections end with CloseConnection after their last
/// replies, so that their clients send further requests elsewhere.
pub(super) async fn close(pool: Arc<Pool>, orb: &OrbInner) {
    pool.stop.cancel();
    let readers: Vec<_> = (pool.lanes.iter().flatten())
        .map(|lane| lane.reader.clone())
        .collect();
    readers.iter().for_each(Reactor::stop);
    orb.serving().wake_all();
    let ending = Arc::clone(&pool);
    orb.track(async move {
        for reader in readers {
            reader.ended().await;
        }
        // The reactors end when the pool is dropped.
        drop(ending);
    });
    pool.workers.shutdown().await;
}

/// Starts the reactor of a lane, at the lane's native priority.
fn reactor(
    id: u32,
    priority: Priority,
    settings: &RealTimeSettings,
) -> Result<Lane, ThreadpoolError> {
    let name = format!("pool{id}-io{priority}");
    let unmappable = |_| BuildError::Unmappable {
        priority,
        scheduling: settings.scheduling,
    };
    if !priority.is_valid() {
        return Err(BuildError::PriorityOutOfRange(priority).into());
    }
    let (scheduling, native) = match settings.native(priority).map_err(unmappable)? {
        Some(native) => (settings.scheduling, native),
        None => (Scheduling::Inherited, zorb_executor::NativePriority(0)),
    };
    let started = Lane::dedicated_at(name, scheduling, native);
    started.map_err(|source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => BuildError::Scheduling {
            scheduling,
            native,
            source,
        }
        .into(),
        _ => ThreadpoolError::Reactor { priority, source },
    })
}

/// Listens in the reactor of a lane.
async fn listen(
    orb: &Arc<OrbInner>,
    reactor: &Lane,
    text: &str,
    priority: Priority,
) -> Result<(Listen, Box<dyn Listener>), Error> {
    let mut listen = Listen::read(text, orb.transports())
        .map_err(|why| OptionError::bad(Source::Builder, "listen", why))?;
    if let Some(code_point) = orb.settings().real_time.code_point(priority.0) {
        listen = listen.with_default(orb.transports(), CODE_POINT, &code_point);
    }
    let transport = orb.transports().get(listen.address.endpoint.scheme());
    if transport.is_none_or(|transport| transport.addressing().profile().is_none()) {
        return Err(ThreadpoolError::Endpoint(text.to_owned()).into());
    }
    if let Some(why) = orb.settings().rules.nobody(listen.endpoint()) {
        return Err(OptionError::bad(Source::Builder, "listen", why).into());
    }
    let orb = Arc::clone(orb);
    let asked = listen.clone();
    let open = async move {
        let rules = &orb.settings().rules;
        listen.open(orb.transports(), rules).await
    };
    let opened = reactor.spawn(open);
    match opened.await {
        Ok(opened) => Ok((asked, opened?)),
        Err(_) => Err(Error::Lane(zorb_executor::LaneError::NoRuntime)),
    }
}
