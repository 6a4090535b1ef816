//! Policies of calls at three levels, named as in CORBA Messaging (CORBA 3.3 part 1, chapter 17).
//!
//! The policies of a call are looked up at the object reference, then at the task, then at the ORB; the most specific
//! level that sets a policy decides. All three levels take the same [`PolicyOverrides`]:
//!
//! | level | set by | CORBA's name |
//! |---|---|---|
//! | object | [`ObjectRef::with_policies`](crate::ObjectRef::with_policies) | `_set_policy_overrides` |
//! | task | [`PolicyOverrides::scope`] | PolicyCurrent |
//! | ORB | [`Builder::policies`](crate::Builder::policies) | ORBPolicyManager |
//!
//! CORBA's PolicyCurrent belongs to a thread. An asynchronous call may go on in another thread after each `await`, so
//! the scope belongs to a future instead: it applies while that future is polled, on any thread.
//!
//! A call whose reference and ORB set no time limit pays one branch for policies, as long as the program has entered no
//! scope.
//!
//! ```
//! use std::time::Duration;
//! use zorb::policy::PolicyOverrides;
//! # async fn example(account: zorb::ObjectRef) -> Result<(), zorb::SystemException> {
//! let patient = PolicyOverrides::new().relative_round_trip_timeout(Duration::from_secs(30));
//! let hasty = PolicyOverrides::new().relative_round_trip_timeout(Duration::from_secs(1));
//! patient
//!     .scope(async {
//!         // Within 30 seconds,
//!         account.non_existent().await?;
//!         // and within one.
//!         account.with_policies(&hasty).non_existent().await
//!     })
//!     .await?;
//! # Ok(()) }
//! ```

mod buffering;
mod call_contexts;
mod deadline_context;
mod factory;
mod overrides;
mod policy_values;
mod protocols;
pub(crate) mod task_level;
pub(crate) mod times;
mod untyped;
mod values;

pub use buffering::BufferingConstraint;
pub use call_contexts::ReplyContexts;
pub use factory::{OtherPolicy, PolicyFactory};
pub use overrides::PolicyOverrides;
pub use protocols::Protocol;
pub use untyped::{Policy, PolicyError, PolicyErrorReason, PolicyType, SetOverrideType};
pub use values::{BidirectionalPolicy, EndpointOrder, RebindMode, SyncScope};

pub(crate) use call_contexts::RequestContexts;
pub(crate) use deadline_context::{TimeStated, deadline_left, deadline_of, times_of};
pub(crate) use overrides::Levels;
pub(crate) use times::conflict;
pub(crate) use untyped::{exposed, invocation_policies};
