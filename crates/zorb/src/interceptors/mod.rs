//! Portable interceptors: code that sees every call of an ORB, as a client and as a server, and may add service
//! contexts to it, forward it, or end it with an exception.
//!
//! A [`ClientRequestInterceptor`] sees the calls that an ORB makes, a [`ServerRequestInterceptor`] those that it serves,
//! collocated calls included, which pass both. They are registered with the [builder](crate::Builder::client_interceptor)
//! and stay for the life of the ORB.
//!
//! ```
//! use zorb::interceptors::{ClientRequestInfo, ClientRequestInterceptor, Interception};
//! use zorb::interceptors::{ServiceContext, ServiceContextId};
//! use zorb::Bytes;
//!
//! struct Tenant;
//!
//! const TENANT: ServiceContextId = ServiceContextId(0x4d59_0001);
//!
//! impl ClientRequestInterceptor for Tenant {
//!     fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
//!         let context = ServiceContext { id: TENANT, data: Bytes::from_static(b"\0acme") };
//!         info.add_request_service_context(context, false).into()
//!     }
//! }
//!
//! # async fn example() -> Result<(), zorb::Error> {
//! let orb = zorb::Orb::builder().client_interceptor(Tenant).build().await?;
//! # Ok(()) }
//! ```
//!
//! **Order.** The starting points (`send_request`; `receive_request_service_contexts`, then `receive_request`) run in the
//! order of registration, the ending points in reverse. An interceptor gets an ending point if its (first) starting point
//! has succeeded: exactly one for each attempt of a call. An attempt that the ORB repeats, since it was forwarded or its
//! connection was closed, begins anew with `send_request`.
//!
//! **Outcomes.** A point may end with a system exception, and most may end with a forward ([`Interrupt`]): of a client, the
//! call goes to the other object; of a server, its client is told to. The interceptors that are left see that outcome. A
//! panic is UNKNOWN, and is logged.
//!
//! **Waiting.** A point returns an [`Interception`], which has ended, or waits as a future: an interceptor that asks an
//! authority for permission holds neither the thread that reads the connection nor another call. One that has ended costs no
//! allocation. A call's time limit covers its interceptors.
//!
//! **Calls within interceptors** pass the interceptors, too. [`Orb::without_interceptors`](crate::Orb::without_interceptors)
//! makes calls that do not; a [slot](PiCurrent) of the calling task tells interceptors apart what they see. Calls within
//! interceptors of calls within interceptors … end with IMP_LIMIT beyond [`MAX_NESTED`] levels.
//!
//! **Cancellation.** The future of a call that is dropped runs no ending point: nobody is left to wait for it. What has to
//! happen in any case belongs into the `Drop` of a value.
//!
//! Requests that are refused before a servant is looked for (no such object, a POA manager that does not serve) reach no server
//! interceptor.
//!
//! Source: CORBA 3.3 Part 1, Portable Interceptors.

mod body;
mod client_info;
mod initializer;
mod ior;
mod point;
mod registered;
mod scope;
mod server_info;
mod slots;
mod traits;
mod validity;

pub use client_info::ClientRequestInfo;
pub use initializer::{OrbInitInfo, OrbInitializer, PostInit, register_orb_initializer};
pub use ior::{AdapterState, IorInfo, IorInterceptor};
pub use point::{Interception, Interrupt, ReplyStatus};
pub use scope::MAX_NESTED;
pub use server_info::ServerRequestInfo;
pub use slots::{InvalidSlot, PiCurrent, SlotId};
pub use traits::{ClientRequestInterceptor, ServerRequestInterceptor};
pub use validity::InterceptionPoint;
pub use zorb_giop::ior::{ComponentTag, ProfileTag, TaggedComponent, TaggedProfile};
pub use zorb_giop::{ServiceContext, ServiceContextId};

pub(crate) use client_info::{CallInProgress, ClientEnd, ClientFlow};
pub(crate) use initializer::Initializers;
pub(crate) use ior::Established;
pub(crate) use point::{at_point, finished, run};
pub(crate) use registered::Interceptors;
pub(crate) use scope::Nested;
pub(crate) use server_info::{ServerEnd, ServerFlow};
pub(crate) use slots::{current as current_slots, with as with_slots};
