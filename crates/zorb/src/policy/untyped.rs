//! Policies by type and wire value (`CORBA::Policy`), in anys, service contexts and references.

use super::buffering::{BufferingConstraint, ReadConstraint};
use super::factory::{OtherPolicies, OtherPolicy};
use super::overrides::PolicyOverrides;
use super::policy_values::{read_policies, read_ticks, read_time, write_policies, write_time};
use super::protocols::Protocol;
use super::values::{BidirectionalPolicy, RebindMode, SyncScope};
use crate::real_time::PriorityModelPolicy;
use bytes::Bytes;
use core::fmt;
use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;
use zorb_cdr::{Any, ByteOrder, DecodeError, Decoder, EncapsulationVisitor, TcKind, WireFormat};
use zorb_giop::ior::{
    ComponentTag, IiopProfile, ProfileAddress, ProfileBody, ProfileTag, UiopProfile,
    decode_encapsulation, encapsulate,
};
use zorb_giop::{
    CompletionStatus, Fault, Ior, PriorityBand, ServiceContext, ServiceContextId, SystemException,
};

/// Units of 100 ns from 15 October 1582, where `TimeBase::TimeT` begins, to the beginning of 1970.
const GREGORIAN_TO_UNIX: u64 = 122_192_928_000_000_000;
/// Nanoseconds of a unit of `TimeBase::TimeT`.
const UNIT_NANOSECONDS: u64 = 100;

/// The type of a policy: `CORBA::PolicyType`.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::PolicyType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a number, known or not")]
pub struct PolicyType(pub u32);

impl PolicyType {
    /// `Messaging::RebindPolicy`: whether a call follows forwards and connects again.
    /// [`PolicyOverrides::rebind`](super::PolicyOverrides::rebind) sets it.
    pub const REBIND: Self = Self(23);
    /// `Messaging::SyncScopePolicy`: the point that a one-way call waits for.
    /// [`PolicyOverrides::sync_scope`](super::PolicyOverrides::sync_scope) sets it.
    pub const SYNC_SCOPE: Self = Self(24);
    /// `Messaging::RequestStartTimePolicy`: the point in time before which a request is not sent, a `TimeBase::UtcT`.
    /// [`PolicyOverrides::request_start_time`](super::PolicyOverrides::request_start_time) sets it.
    pub const REQUEST_START_TIME: Self = Self(27);
    /// `Messaging::RequestEndTimePolicy`: the point in time by which a request has to be sent, a `TimeBase::UtcT`.
    /// [`PolicyOverrides::request_end_time`](super::PolicyOverrides::request_end_time) sets it.
    pub const REQUEST_END_TIME: Self = Self(28);
    /// `Messaging::ReplyStartTimePolicy`: the point in time until which a reply is held, a `TimeBase::UtcT`.
    /// [`PolicyOverrides::reply_start_time`](super::PolicyOverrides::reply_start_time) sets it.
    pub const REPLY_START_TIME: Self = Self(29);
    /// `Messaging::ReplyEndTimePolicy`: the point in time by which a reply has to be there, a `TimeBase::UtcT`.
    /// [`PolicyOverrides::reply_end_time`](super::PolicyOverrides::reply_end_time) sets it.
    pub const REPLY_END_TIME: Self = Self(30);
    /// `Messaging::RelativeRequestTimeoutPolicy`: the time in which a request has to be sent, a `TimeBase::TimeT` in units of
    /// 100 ns. [`PolicyOverrides::relative_request_timeout`](super::PolicyOverrides::relative_request_timeout) sets it.
    pub const RELATIVE_REQUEST_TIMEOUT: Self = Self(31);
    /// `Messaging::RelativeRoundtripTimeoutPolicy`: the time in which a call has to end, a `TimeBase::TimeT` in units of 100 ns.
    /// [`PolicyOverrides::relative_round_trip_timeout`](super::PolicyOverrides::relative_round_trip_timeout) sets it.
    pub const RELATIVE_ROUND_TRIP_TIMEOUT: Self = Self(32);
    /// `BiDirPolicy::BidirectionalPolicy`: whether both ends of a connection may send requests.
    pub const BIDIRECTIONAL: Self = Self(37);
    /// `RTCORBA::ServerProtocolPolicy`: the protocols that the references of a POA's objects offer, and their order.
    pub const SERVER_PROTOCOL: Self = Self(42);
    /// `RTCORBA::ClientProtocolPolicy`: the protocols that a client tries, and their order.
    /// [`PolicyOverrides::client_protocols`](super::PolicyOverrides::client_protocols) sets it.
    pub const CLIENT_PROTOCOL: Self = Self(43);
    /// `RTCORBA::PriorityModelPolicy`: whether the server or the client states the priority of a request.
    pub const PRIORITY_MODEL: Self = Self(40);
    /// `RTCORBA::ThreadpoolPolicy`: the thread pool that executes the requests of a POA.
    pub const THREADPOOL: Self = Self(41);
    /// `RTCORBA::PriorityBandedConnectionPolicy`: the bands of priorities that have a connection each.
    /// [`PolicyOverrides::priority_bands`](super::PolicyOverrides::priority_bands) sets it.
    pub const PRIORITY_BANDED_CONNECTION: Self = Self(45);
    /// `TAO::BufferingConstraintPolicy`: the number, octets and time for which one-way requests are buffered.
    /// [`PolicyOverrides::buffering`](super::PolicyOverrides::buffering) sets it.
    pub const BUFFERING_CONSTRAINT: Self = Self(0x5441_0001);
    /// `RTCORBA::PrivateConnectionPolicy`: whether a reference has a connection of its own.
    pub const PRIVATE_CONNECTION: Self = Self(44);

    /// Whether the type is one of the specification that this ORB does not support.
    fn is_unsupported(self) -> bool {
        // RequestPriority, ReplyPriority, Routing, MaxHops, QueueOrder.
        matches!(self.0, 25 | 26 | 33..=35)
    }
}

impl fmt::Display for PolicyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::REBIND => "RebindPolicy",
            Self::SYNC_SCOPE => "SyncScopePolicy",
            Self::REQUEST_START_TIME => "RequestStartTimePolicy",
            Self::REQUEST_END_TIME => "RequestEndTimePolicy",
            Self::REPLY_START_TIME => "ReplyStartTimePolicy",
            Self::REPLY_END_TIME => "ReplyEndTimePolicy",
            Self::RELATIVE_REQUEST_TIMEOUT => "RelativeRequestTimeoutPolicy",
            Self::RELATIVE_ROUND_TRIP_TIMEOUT => "RelativeRoundtripTimeoutPolicy",
            Self::BIDIRECTIONAL => "BidirectionalPolicy",
            Self::SERVER_PROTOCOL => "ServerProtocolPolicy",
            Self::CLIENT_PROTOCOL => "ClientProtocolPolicy",
            Self::PRIORITY_MODEL => "PriorityModelPolicy",
            Self::THREADPOOL => "ThreadpoolPolicy",
            Self::PRIORITY_BANDED_CONNECTION => "PriorityBandedConnectionPolicy",
            Self::PRIVATE_CONNECTION => "PrivateConnectionPolicy",
            Self::BUFFERING_CONSTRAINT => "BufferingConstraintPolicy",
            Self(number) => return write!(f, "policy type {number}"),
        };
        f.write_str(name)
    }
}

/// Whether a list of policies replaces the existing overrides or is added to them: `CORBA::SetOverrideType`.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::SetOverrideType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum SetOverrideType {
    /// Replaces all policies that were set.
    SetOverride,
    /// Adds the policies, replacing those of the same types; policies of other types stay.
    AddOverride,
}

/// The reason why a policy cannot be created: `CORBA::PolicyErrorCode` (CORBA 3.3 part 1, section 8.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these five")]
#[repr(i16)]
pub enum PolicyErrorReason {
    /// The type is unknown (BAD_POLICY).
    BadPolicy = 0,
    /// The type is known and not supported (UNSUPPORTED_POLICY).
    UnsupportedPolicy = 1,
    /// The value is not of the type that the policy has (BAD_POLICY_TYPE).
    BadPolicyType = 2,
    /// The value is out of range (BAD_POLICY_VALUE).
    BadPolicyValue = 3,
    /// The value is valid and not supported (UNSUPPORTED_POLICY_VALUE).
    UnsupportedPolicyValue = 4,
}

/// The error for a policy that cannot be created: `CORBA::PolicyError`.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::PolicyError`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{policy_type} cannot be created: {}", match self.reason {
    PolicyErrorReason::BadPolicy => "the type is unknown",
    PolicyErrorReason::UnsupportedPolicy => "the type is not supported",
    PolicyErrorReason::BadPolicyType => "the value is not of the policy's type",
    PolicyErrorReason::BadPolicyValue => "the value is out of range",
    PolicyErrorReason::UnsupportedPolicyValue => "the value is not supported",
})]
#[non_exhaustive]
pub struct PolicyError {
    /// The type of the policy that was to be created.
    pub policy_type: PolicyType,
    /// The reason of the refusal.
    pub reason: PolicyErrorReason,
}

/// A policy with its value, of any type that this ORB supports: `CORBA::Policy`. For programs that choose policies at
/// run time; others use the methods of [`PolicyOverrides`], one for each policy.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::Policy`).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// The steps that the ORB may take to reach an object again: see [`PolicyOverrides::rebind`].
    Rebind(RebindMode),
    /// The point at which one-way calls return: see [`PolicyOverrides::sync_scope`].
    SyncScope(SyncScope),
    /// The time before which no request is sent: see [`PolicyOverrides::request_start_time`].
    RequestStartTime(SystemTime),
    /// The time by which a request has to be sent: see [`PolicyOverrides::request_end_time`].
    RequestEndTime(SystemTime),
    /// The time before which no reply is delivered: see [`PolicyOverrides::reply_start_time`].
    ReplyStartTime(SystemTime),
    /// The time by which a reply has to arrive: see [`PolicyOverrides::reply_end_time`].
    ReplyEndTime(SystemTime),
    /// The time limit for sending a request, from the beginning of the call: see [`PolicyOverrides::relative_request_timeout`].
    RelativeRequestTimeout(Duration),
    /// The time limit for a reply, from the beginning of the call: see [`PolicyOverrides::relative_round_trip_timeout`].
    RelativeRoundTripTimeout(Duration),
    /// Whether a connection carries requests in both directions: see [`PolicyOverrides::bidirectional`].
    Bidirectional(BidirectionalPolicy),
    /// The protocols that references offer: see
    /// [`RtPolicies::server_protocols`](crate::real_time::RtPolicies::server_protocols). For POAs only. Cannot be
    /// created from an any.
    ServerProtocol(Arc<[Protocol]>),
    /// The protocols by which the ORB may connect: see [`PolicyOverrides::client_protocols`].
    /// Cannot be created from an any.
    ClientProtocol(Arc<[Protocol]>),
    /// The limits within which one-way requests wait for others: see [`PolicyOverrides::buffering`].
    BufferingConstraint(BufferingConstraint),
    /// A connection for the reference and its clones: see [`PolicyOverrides::private_connection`]. It has no
    /// value, and cannot be created from an any.
    PrivateConnection,
    /// The source of the priority of requests: see
    /// [`RtPolicies::priority_model`](crate::real_time::RtPolicies::priority_model). For POAs only. Cannot be
    /// created from an any, as in TAO.
    PriorityModel(PriorityModelPolicy),
    /// The id of the thread pool: see [`RtPolicies::threadpool`](crate::real_time::RtPolicies::threadpool). For POAs only.
    Threadpool(u32),
    /// The bands of priorities that share a connection: see [`PolicyOverrides::priority_bands`].
    PriorityBands(Arc<[PriorityBand]>),
    /// A policy of a type that the application defines.
    Other(OtherPolicy),
}

impl Policy {
    /// Creates a policy from a value of the type that the specification assigns (`ORB::create_policy`):
    ///
    /// | policy | IDL type of the value |
    /// |---|---|
    /// | RebindPolicy, SyncScopePolicy | `short` |
    /// | BidirectionalPolicy | `unsigned short` |
    /// | ThreadpoolPolicy | `unsigned long` |
    /// | PriorityBandedConnectionPolicy | sequence of `RTCORBA::PriorityBand` |
    /// | start and end times | `TimeBase::UtcT` |
    /// | relative timeouts | `TimeBase::TimeT` (units of 100 ns) |
    /// | BufferingConstraintPolicy | `TAO::BufferingConstraint` |
    ///
    /// # Errors
    /// [`PolicyError`] with the reason: see [`PolicyErrorReason`].
    ///
    /// ```
    /// use zorb::Any;
    /// use zorb::policy::{Policy, PolicyErrorReason, PolicyType, SyncScope};
    ///
    /// let value = Any::new(&2_i16).expect("a number");
    /// let scope = Policy::create(PolicyType::SYNC_SCOPE, &value);
    /// assert_eq!(scope, Ok(Policy::SyncScope(SyncScope::WithServer)));
    /// let error = Policy::create(PolicyType::RELATIVE_REQUEST_TIMEOUT, &value).unwrap_err();
    /// assert_eq!(error.reason, PolicyErrorReason::BadPolicyType);
    /// ```
    #[doc(alias = "create_policy")]
    pub fn create(policy_type: PolicyType, value: &Any) -> Result<Self, PolicyError> {
        use PolicyErrorReason as Reason;
        let refused = |reason| PolicyError {
            policy_type,
            reason,
        };
        let expected = match policy_type {
            PolicyType::REBIND | PolicyType::SYNC_SCOPE => TcKind::Short,
            PolicyType::REQUEST_START_TIME
            | PolicyType::REQUEST_END_TIME
            | PolicyType::REPLY_START_TIME
            | PolicyType::REPLY_END_TIME
            | PolicyType::BUFFERING_CONSTRAINT => TcKind::Struct,
            PolicyType::RELATIVE_REQUEST_TIMEOUT | PolicyType::RELATIVE_ROUND_TRIP_TIMEOUT => {
                TcKind::ULongLong
            }
            PolicyType::BIDIRECTIONAL => TcKind::UShort,
            PolicyType::THREADPOOL => TcKind::ULong,
            PolicyType::PRIORITY_BANDED_CONNECTION => TcKind::Sequence,
            PolicyType::PRIORITY_MODEL => return Err(refused(Reason::BadPolicyValue)),
            PolicyType::SERVER_PROTOCOL
            | PolicyType::CLIENT_PROTOCOL
            | PolicyType::PRIVATE_CONNECTION => {
                return Err(refused(Reason::BadPolicyType));
            }
            unsupported if unsupported.is_unsupported() => {
                return Err(refused(Reason::UnsupportedPolicy));
            }
            _ => return Err(refused(Reason::BadPolicy)),
        };
        if value.type_code().unaliased().kind() != expected {
            return Err(refused(Reason::BadPolicyType));
        }
        let octets =
            encapsulate(|e| value.encode_value(e)).map_err(|_| refused(Reason::BadPolicyType))?;
        Self::from_value(policy_type, &octets)
    }

    /// Reads the value of a policy from its wire form: an encapsulation.
    fn from_value(policy_type: PolicyType, octets: &[u8]) -> Result<Self, PolicyError> {
        use PolicyErrorReason as Reason;
        let refused = |reason| PolicyError {
            policy_type,
            reason,
        };
        let malformed = |_| refused(Reason::BadPolicyType);
        let short = || read(octets, Short).map_err(malformed);
        let time = || {
            let ticks = read_time(octets).map_err(malformed)?;
            // The clock of this host cannot express times before 1970 or beyond its range.
            (ticks.checked_sub(GREGORIAN_TO_UNIX))
                .and_then(|ticks| SystemTime::UNIX_EPOCH.checked_add(duration(ticks)))
                .ok_or_else(|| refused(Reason::UnsupportedPolicyValue))
        };
        let timeout = || read_ticks(octets).map(duration).map_err(malformed);
        Ok(match policy_type {
            PolicyType::REBIND => Self::Rebind(match short()? {
                0 => RebindMode::Transparent,
                1 => RebindMode::NoRebind,
                2 => RebindMode::NoReconnect,
                _ => return Err(refused(Reason::BadPolicyValue)),
            }),
            PolicyType::SYNC_SCOPE => Self::SyncScope(match short()? {
                0 => SyncScope::None,
                1 => SyncScope::WithTransport,
                2 => SyncScope::WithServer,
                3 => SyncScope::WithTarget,
                // Negative values are extensions of vendors.
                ..0 => return Err(refused(Reason::UnsupportedPolicyValue)),
                _ => return Err(refused(Reason::BadPolicyValue)),
            }),
            PolicyType::BIDIRECTIONAL => Self::Bidirectional(match short()? {
                0 => BidirectionalPolicy::Normal,
                1 => BidirectionalPolicy::Both,
                _ => return Err(refused(Reason::BadPolicyValue)),
            }),
            PolicyType::REQUEST_START_TIME => Self::RequestStartTime(time()?),
            PolicyType::REQUEST_END_TIME => Self::RequestEndTime(time()?),
            PolicyType::REPLY_START_TIME => Self::ReplyStartTime(time()?),
            PolicyType::REPLY_END_TIME => Self::ReplyEndTime(time()?),
            PolicyType::RELATIVE_REQUEST_TIMEOUT => Self::RelativeRequestTimeout(timeout()?),
            PolicyType::RELATIVE_ROUND_TRIP_TIMEOUT => Self::RelativeRoundTripTimeout(timeout()?),
            PolicyType::BUFFERING_CONSTRAINT => {
                let constraint = read(octets, ReadConstraint).map_err(malformed)?;
                let bad = || refused(Reason::BadPolicyValue);
                Self::BufferingConstraint(constraint.ok_or_else(bad)?)
            }
            PolicyType::THREADPOOL => {
                Self::Threadpool(decode_encapsulation(octets).map_err(malformed)?)
            }
            PolicyType::PRIORITY_BANDED_CONNECTION => {
                let bands: Vec<PriorityBand> = decode_encapsulation(octets).map_err(malformed)?;
                if bands.is_empty() || !bands.iter().all(|band| band.is_valid()) {
                    return Err(refused(Reason::BadPolicyValue));
                }
                Self::PriorityBands(bands.into())
            }
            _ => return Err(refused(Reason::BadPolicy)),
        })
    }

    /// Whether clients may set the policy for their calls.
    pub(super) const fn may_be_overridden(&self) -> bool {
        !matches!(
            self,
            Self::PriorityModel(_) | Self::Threadpool(_) | Self::ServerProtocol(_)
        )
    }

    /// Returns the type of the policy, as the specification numbers it.
    #[must_use]
    pub const fn policy_type(&self) -> PolicyType {
        match self {
            Self::Rebind(_) => PolicyType::REBIND,
            Self::SyncScope(_) => PolicyType::SYNC_SCOPE,
            Self::RequestStartTime(_) => PolicyType::REQUEST_START_TIME,
            Self::RequestEndTime(_) => PolicyType::REQUEST_END_TIME,
            Self::ReplyStartTime(_) => PolicyType::REPLY_START_TIME,
            Self::ReplyEndTime(_) => PolicyType::REPLY_END_TIME,
            Self::RelativeRequestTimeout(_) => PolicyType::RELATIVE_REQUEST_TIMEOUT,
            Self::RelativeRoundTripTimeout(_) => PolicyType::RELATIVE_ROUND_TRIP_TIMEOUT,
            Self::Bidirectional(_) => PolicyType::BIDIRECTIONAL,
            Self::ServerProtocol(_) => PolicyType::SERVER_PROTOCOL,
            Self::ClientProtocol(_) => PolicyType::CLIENT_PROTOCOL,
            Self::PrivateConnection => PolicyType::PRIVATE_CONNECTION,
            Self::BufferingConstraint(_) => PolicyType::BUFFERING_CONSTRAINT,
            Self::PriorityModel(_) => PolicyType::PRIORITY_MODEL,
            Self::Threadpool(_) => PolicyType::THREADPOOL,
            Self::PriorityBands(_) => PolicyType::PRIORITY_BANDED_CONNECTION,
            Self::Other(other) => other.policy_type(),
        }
    }

    pub(super) fn set_in(&self, set: &mut PolicyOverrides) {
        match self.clone() {
            Self::Rebind(mode) => set.rebind = Some(mode),
            Self::SyncScope(scope) => set.sync_scope = Some(scope),
            Self::RequestStartTime(time) => set.request_start = Some(time),
            Self::RequestEndTime(time) => set.request_end = Some(time),
            Self::ReplyStartTime(time) => set.reply_start = Some(time),
            Self::ReplyEndTime(time) => set.reply_end = Some(time),
            Self::RelativeRequestTimeout(limit) => set.request_timeout = Some(limit),
            Self::RelativeRoundTripTimeout(limit) => set.round_trip_timeout = Some(limit),
            Self::Bidirectional(policy) => set.bidirectional = Some(policy),
            Self::ClientProtocol(protocols) => set.client_protocols = Some(protocols),
            Self::PrivateConnection => set.private_connection = Some(true),
            Self::BufferingConstraint(constraint) => set.buffering = Some(constraint),
            Self::PriorityBands(bands) => set.priority_bands = Some(bands),
            Self::Other(other) => {
                let others = set.others.take().unwrap_or_default();
                set.others = Some(others.with(other));
            }
            // Clients cannot override them.
            Self::PriorityModel(_) | Self::Threadpool(_) | Self::ServerProtocol(_) => {}
        }
    }
}

impl PolicyOverrides {
    /// The policies of the set that have a [`PolicyType`]. Policies of zorb's own have none and are left out.
    #[must_use]
    pub fn policies(&self) -> Vec<Policy> {
        let all = [
            self.rebind.map(Policy::Rebind),
            self.sync_scope.map(Policy::SyncScope),
            self.request_start.map(Policy::RequestStartTime),
            self.request_end.map(Policy::RequestEndTime),
            self.reply_start.map(Policy::ReplyStartTime),
            self.reply_end.map(Policy::ReplyEndTime),
            self.request_timeout.map(Policy::RelativeRequestTimeout),
            self.round_trip_timeout
                .map(Policy::RelativeRoundTripTimeout),
            self.bidirectional.map(Policy::Bidirectional),
            self.client_protocols.clone().map(Policy::ClientProtocol),
            (self.private_connection == Some(true)).then_some(Policy::PrivateConnection),
            self.priority_bands.clone().map(Policy::PriorityBands),
            self.buffering.map(Policy::BufferingConstraint),
        ];
        let others = self.others.iter().flat_map(OtherPolicies::iter);
        let others = others.map(|other| Policy::Other(other.clone()));
        all.into_iter().flatten().chain(others).collect()
    }
}

/// The duration of `ticks` units of 100 ns.
pub(super) fn duration(ticks: u64) -> Duration {
    let (seconds, rest) = (ticks / 10_000_000, ticks % 10_000_000);
    let rest = Duration::from_nanos(rest.saturating_mul(UNIT_NANOSECONDS));
    Duration::from_secs(seconds).saturating_add(rest)
}

/// A time as `TimeBase::TimeT`; the nearest encodable time for one before 1970 or out of range.
fn ticks(time: SystemTime) -> u64 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let ticks = since.as_nanos().checked_div(UNIT_NANOSECONDS.into());
    let ticks = ticks.map_or(0, |ticks| u64::try_from(ticks).unwrap_or(u64::MAX));
    ticks.saturating_add(GREGORIAN_TO_UNIX)
}

/// The time since the epoch of UNIX of a `TimeBase::TimeT`; zero for an earlier one.
pub(super) fn after_epoch(ticks: u64) -> Duration {
    duration(ticks.saturating_sub(GREGORIAN_TO_UNIX))
}

/// The context INVOCATION_POLICIES of a call: its start and end times, which a server or a router may act on (CORBA 3.3
/// part 2, section 9.7.2, and part 1, section 17.3.2). `None` if no such time is set. Relative timeouts are sent as
/// the times at which they end if the policies say so.
pub(crate) fn invocation_policies(policies: &PolicyOverrides) -> Option<ServiceContext> {
    let now = SystemTime::now();
    let sends = policies.sends_end_times == Some(true);
    let end = |absolute: Option<SystemTime>, relative: Option<Duration>| {
        let relative = relative.filter(|_| sends);
        let relative = relative.and_then(|relative| now.checked_add(relative));
        absolute.into_iter().chain(relative).min()
    };
    times_context([
        (PolicyType::REQUEST_START_TIME, policies.request_start),
        (
            PolicyType::REQUEST_END_TIME,
            end(policies.request_end, policies.request_timeout),
        ),
        (PolicyType::REPLY_START_TIME, policies.reply_start),
        (
            PolicyType::REPLY_END_TIME,
            end(policies.reply_end, policies.round_trip_timeout),
        ),
    ])
}

fn times_context<const N: usize>(
    times: [(PolicyType, Option<SystemTime>); N],
) -> Option<ServiceContext> {
    let times: Vec<_> = (times.into_iter())
        .filter_map(|(policy_type, time)| Some((policy_type.0, write_time(ticks(time?)).ok()?)))
        .collect();
    if times.is_empty() {
        return None;
    }
    let data = write_policies(&times).ok()?;
    Some(ServiceContext {
        id: ServiceContextId::INVOCATION_POLICIES,
        data,
    })
}

/// The context INVOCATION_POLICIES with these times.
#[cfg(test)]
pub(super) fn write_end_times(
    request_end: Option<SystemTime>,
    reply_end: Option<SystemTime>,
) -> Option<ServiceContext> {
    times_context([
        (PolicyType::REQUEST_END_TIME, request_end),
        (PolicyType::REPLY_END_TIME, reply_end),
    ])
}

/// The policies that the profiles of a reference state (TAG_POLICIES), by type and value. Malformed components are
/// ignored.
pub(crate) fn exposed(ior: &Ior) -> BTreeSet<(u32, Bytes)> {
    let mut found = BTreeSet::new();
    for profile in &ior.profiles {
        // Profiles of IIOP and UIOP only.
        let data = match profile.tag {
            ProfileTag::INTERNET_IOP => stated(IiopProfile::from_tagged(profile)),
            ProfileTag::UIOP => stated(UiopProfile::from_tagged(profile)),
            _ => None,
        };
        if let Some(policies) = data.and_then(|data| read_policies(&data).ok()) {
            found.extend(policies);
        }
    }
    found
}

fn stated<A: ProfileAddress, E>(body: Result<ProfileBody<A>, E>) -> Option<Bytes> {
    let data = body.ok()?.component(ComponentTag::POLICIES)?.to_vec();
    Some(data.into())
}

fn read<'de, V: EncapsulationVisitor<'de>>(
    octets: &'de [u8],
    visitor: V,
) -> Result<V::Output, DecodeError> {
    zorb_cdr::decode_encapsulation(octets, WireFormat::default(), visitor)
}

struct Short;

impl EncapsulationVisitor<'_> for Short {
    type Output = i16;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<i16, DecodeError> {
        d.get()
    }
}

/// BAD_PARAM, COMPLETED_NO.
impl From<PolicyError> for SystemException {
    fn from(error: PolicyError) -> Self {
        Fault::BadParameter(error.to_string()).raise(CompletionStatus::No)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_units_of_100_ns_since_1582() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_500_000_700);
        assert_eq!(ticks(time), GREGORIAN_TO_UNIX + 15_000_007);
        assert_eq!(duration(15_000_007), Duration::from_nanos(1_500_000_700));
        let policies = PolicyOverrides::new().request_end_time(time);
        let context = invocation_policies(&policies).unwrap();
        let values = read_policies(&context.data).unwrap();
        let [(policy_type, value)] = &*values else {
            panic!("{values:?}");
        };
        let read = Policy::from_value(PolicyType(*policy_type), value).unwrap();
        assert_eq!(read, Policy::RequestEndTime(time));
        assert_eq!(invocation_policies(&PolicyOverrides::new()), None);
    }

    #[test]
    fn what_cannot_be_created_says_why() {
        use PolicyErrorReason as Reason;
        let short = |value: i16| Any::new(&value).unwrap();
        let refused = |policy_type, value: &Any| {
            Policy::create(PolicyType(policy_type), value)
                .unwrap_err()
                .reason
        };
        assert_eq!(refused(23, &short(3)), Reason::BadPolicyValue);
        assert_eq!(refused(24, &short(4)), Reason::BadPolicyValue);
        assert_eq!(refused(24, &short(-2)), Reason::UnsupportedPolicyValue);
        assert_eq!(
            refused(23, &Any::new(&1_i32).unwrap()),
            Reason::BadPolicyType
        );
        assert_eq!(refused(32, &short(1)), Reason::BadPolicyType);
        assert_eq!(
            refused(27, &Any::new(&1_u64).unwrap()),
            Reason::BadPolicyType
        );
        assert_eq!(
            refused(34, &Any::new(&1_u16).unwrap()),
            Reason::UnsupportedPolicy
        );
        assert_eq!(refused(9_999, &short(1)), Reason::BadPolicy);
        let limit = Policy::create(PolicyType(31), &Any::new(&20_000_000_u64).unwrap());
        assert_eq!(
            limit,
            Ok(Policy::RelativeRequestTimeout(Duration::from_secs(2)))
        );
    }
}
