//! Real-time CORBA: requests with priorities, and thread pools with a lane for each priority (Real-time CORBA 1.2,
//! formal/05-01-04).
//!
//! A request has a [`Priority`] from 0 to 32,767; larger is more urgent. The [`RtPolicies`] of a POA select the source
//! of the priority ([`PriorityModel`]) and the [`Threadpool`] that runs its requests. Each lane of a pool has threads,
//! a reactor, an endpoint and a queue of its own, so that no request waits behind a less urgent one, from the socket to
//! the servant:
//!
//! ```text
//!   client at 20,000 ──▶ endpoint ──▶ reactor ──▶ queue ──▶ threads   lane 20,000 ─┐
//!                                                                                  ├──▶ servants of the POA
//!   client at     10 ──▶ endpoint ──▶ reactor ──▶ queue ──▶ threads   lane     10 ─┘
//! ```
//!
//! | CORBA | here |
//! |---|---|
//! | `RTCORBA::RTORB` | [`RtOrb`], from [`Orb::rt_orb`](crate::Orb::rt_orb) |
//! | `RTCORBA::Current` | [`RtCurrent`], from [`Orb::rt_current`](crate::Orb::rt_current) |
//! | `RTCORBA::PriorityMapping` | [`Builder::priority_mapping`](crate::Builder::priority_mapping) |
//! | `RTCORBA::PriorityTransform` | [`PriorityTransform`] |
//! | TAO's `NetworkPriorityMapping` and `enable_network_priority` | [`Builder::network_priority_mapping`](crate::Builder::network_priority_mapping) |
//! | `RTCORBA::Mutex` | [`executor::RtMutex`](crate::executor), [`RtOrb::create_mutex`] and TAO's named ones (Linux) |
//! | TAO's PriorityMappingManager and NetworkPriorityMappingManager | the mappings are given to the [builder](crate::Builder::priority_mapping), and stay |
//! | `RTPortableServer::POA` | [`Poa::create_rt_poa`](crate::Poa::create_rt_poa) and its relatives |
//! | PriorityModelPolicy, ThreadpoolPolicy, PriorityBandedConnectionPolicy, ServerProtocolPolicy, ClientProtocolPolicy of a POA | [`RtPolicies`] |
//! | PriorityBandedConnectionPolicy, ClientProtocolPolicy, PrivateConnectionPolicy of a client | [`PolicyOverrides`](crate::policy::PolicyOverrides) |
//! | `RTCORBA::Protocol` with its properties | [`Protocol`](crate::policy::Protocol), [`TcpProtocolProperties`] |
//!
//! Native priorities are those of the ORB's [`scheduling`](crate::Builder::scheduling) policy. Without one, priorities
//! order queues and select lanes, and every thread keeps its initial scheduling.
//!
//! ```
//! use zorb::executor::Priority;
//! use zorb::real_time::{PriorityModelPolicy, RtPolicies, ThreadpoolLane, ThreadpoolOptions};
//! use zorb::{Orb, Policies};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let orb = Orb::builder().build().await?;
//! let lanes = [
//!     ThreadpoolLane::new(Priority(10), 2).listen("iiop://127.0.0.1:0"),
//!     ThreadpoolLane::new(Priority(20_000), 1).listen("iiop://127.0.0.1:0"),
//! ];
//! let pool = orb.rt_orb().create_threadpool(ThreadpoolOptions::with_lanes(lanes)).await?;
//! let policies = RtPolicies::new()
//!     .priority_model(PriorityModelPolicy::client_propagated(Priority(10)))
//!     .threadpool(&pool);
//! let poa = orb.root_poa().create_rt_poa("control", Policies::default(), policies, None)?;
//! # drop(poa);
//! # Ok(()) }
//! ```

mod contexts;
mod exposed;
#[cfg(target_os = "linux")]
mod mutexes;
#[cfg(target_os = "linux")]
mod named_mutexes;
mod network;
mod plan;
mod poa;
mod policies;
mod reference;
mod registry;
mod rt_current;
mod rt_orb;
mod running;
mod selection;
mod settings;
mod start;
mod threadpool;
mod threadpool_error;

#[cfg(target_os = "linux")]
pub use named_mutexes::MutexNotFound;
pub use network::{LinearNetworkMapping, NetworkPriorityMapping};
pub(crate) use poa::ChildOptions;
pub use policies::{PriorityModelPolicy, RtPolicies};
pub use rt_current::RtCurrent;
pub use rt_orb::{DestroyThreadpoolError, RtOrb};
pub use settings::PriorityTransform;
pub use threadpool::{Threadpool, ThreadpoolLane, ThreadpoolOptions};
pub use threadpool_error::ThreadpoolError;
pub use zorb_executor::Priority;
pub use zorb_giop::{
    PriorityBand, PriorityModel, TcpProtocolProperties, UnixDomainProtocolProperties,
};

pub(crate) use contexts::priority_context;
pub(crate) use exposed::Exposed;
pub(crate) use network::NetworkMapping;
pub(crate) use plan::Planned;
pub(crate) use policies::Scheduled;
pub(crate) use reference::make_ior;
pub(crate) use registry::RealTime;
pub(crate) use running::{Running, at as at_priority};
pub(crate) use selection::{Selection, has_bands, priority_of_call, select};
pub(crate) use settings::RealTimeSettings;
