//! The life of a connection, from its first message to its last.
//!
//! ```text
//!            Stop                 Drained, End                  Written                PeerClosed, Late
//!   OPEN ──────────► DRAINING ───────────────────► CLOSING ───────────────► LINGERING ──────────────────► CLOSED
//!    │                  │                             ▲  └── Late ───────────────────────────────────────► ▲
//!    │                  └── Received, End, Lost ──┐   │                                                    │
//!    └── Received, End, Lost ─────────────────────┴───┴── an end of which the peer learns nothing ─────────┘
//! ```
//!
//! | state | what goes on |
//! |---|---|
//! | open | messages in both directions |
//! | draining | nothing more is read; upcalls end, and their replies are sent |
//! | closing | the end is known; what is queued is being sent, CloseConnection or MessageError last |
//! | lingering | all is sent; the peer reads it, and what it still sends is discarded |
//! | closed | the stream is closed in both directions |
//!
//! A socket that is closed with octets unread resets its connection, and the peer may then lose the last message. So the
//! write side is closed first, and the stream when the peer has closed its side, or after a bounded time.
//!
//! The messages of a connection are cut and assembled by its [`Reader`](crate::Reader), and the requests that wait for replies are in its
//! [`RequestTable`](crate::RequestTable).
//!
//! Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (connection management, CloseConnection and MessageError messages).

use crate::{Cause, MessageKind, ProtocolError, Version};
use core::fmt;
use core::time::Duration;

/// Why a connection has ended.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "each driver decides on every end")]
pub enum ConnectionEnd {
    /// The peer sent CloseConnection: requests without a reply were not and will not be processed.
    Closed,
    /// The stream ended or failed without a message.
    Lost(Cause),
    /// The peer broke the protocol, and gets MessageError.
    Broken(ProtocolError),
    /// The peer sent MessageError.
    Refused,
    /// The ORB shut down.
    ShutDown,
    /// There was no traffic for this long.
    Idle(Duration),
    /// It was idle, and another connection needed its place.
    Purged,
    /// Its last reference is gone, or another connection has its place.
    Released,
    /// There is no thread to serve it, and none of its requests was read.
    NoThread,
    /// No octet came in this time after a call had timed out, although the peer was asked.
    Silent(Duration),
}

/// What becomes of the requests of a connection that has ended, which have no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Unanswered {
    /// The peer has processed none of them.
    NotProcessed,
    /// Those that were sent whole may have been processed.
    PerhapsIfSent,
    /// They may have been processed: what is queued is sent before the peer learns of the end.
    Perhaps,
}

impl ConnectionEnd {
    /// Whether the peer has ended the connection, or does not serve on it.
    #[must_use]
    pub const fn is_of_peer(&self) -> bool {
        match self {
            Self::Closed | Self::Lost(_) | Self::Broken(_) | Self::Refused | Self::Silent(_) => {
                true
            }
            Self::ShutDown | Self::Idle(_) | Self::Purged | Self::Released | Self::NoThread => {
                false
            }
        }
    }

    /// Whether the peer may still read: the connection is closed in order. Otherwise nothing more is written.
    #[must_use]
    pub const fn is_orderly(&self) -> bool {
        match self {
            Self::Closed | Self::Lost(_) | Self::Refused | Self::Silent(_) => false,
            Self::Broken(_)
            | Self::ShutDown
            | Self::Idle(_)
            | Self::Purged
            | Self::Released
            | Self::NoThread => true,
        }
    }

    /// What becomes of requests without a reply.
    #[must_use]
    pub const fn unanswered(&self) -> Unanswered {
        match self {
            // An idle connection has no such request.
            Self::Closed | Self::Idle(_) | Self::Purged | Self::Released | Self::NoThread => {
                Unanswered::NotProcessed
            }
            Self::Broken(_) | Self::ShutDown => Unanswered::Perhaps,
            Self::Lost(_) | Self::Refused | Self::Silent(_) => Unanswered::PerhapsIfSent,
        }
    }
}

impl fmt::Display for ConnectionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed by the peer"),
            Self::Lost(cause) => write!(f, "{cause:#}"),
            Self::Broken(error) => write!(f, "protocol error: {error:#}"),
            Self::Refused => f.write_str("the peer answered with MessageError"),
            Self::ShutDown => f.write_str("the ORB shut down"),
            Self::Idle(limit) => write!(f, "nothing happened on it for {limit:?}"),
            Self::Purged => f.write_str("idle, and another connection needed its place"),
            Self::Released => f.write_str("no reference has it any more"),
            Self::NoThread => f.write_str("there is no thread to serve it"),
            Self::Silent(limit) => write!(
                f,
                "the peer sent nothing for {limit:?}, not even an answer to a LocateRequest"
            ),
        }
    }
}

/// What one end of a connection does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum Role {
    /// Sends requests, and receives their replies.
    Client,
    /// Receives requests, and sends their replies.
    Server,
    /// Both (bidirectional GIOP).
    Both,
}

/// The part of an end that a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum MessageFor {
    /// The caller that waits for it: Reply, LocateReply.
    Caller,
    /// The object that it names, or the upcall that it cancels: Request, LocateRequest, CancelRequest.
    Servant,
}

impl Role {
    /// The part of an end of this role that a message of the kind is for.
    ///
    /// # Errors
    /// The end of the connection, by the message, or by a message that such an end never gets.
    #[inline]
    pub const fn receives(self, kind: MessageKind) -> Result<MessageFor, ConnectionEnd> {
        match (kind, self) {
            (MessageKind::Reply | MessageKind::LocateReply, Self::Client | Self::Both) => {
                Ok(MessageFor::Caller)
            }
            (
                MessageKind::Request | MessageKind::LocateRequest | MessageKind::CancelRequest,
                Self::Server | Self::Both,
            ) => Ok(MessageFor::Servant),
            (MessageKind::CloseConnection, _) => Err(ConnectionEnd::Closed),
            (MessageKind::MessageError, _) => Err(ConnectionEnd::Refused),
            (
                MessageKind::Request
                | MessageKind::LocateRequest
                | MessageKind::CancelRequest
                | MessageKind::Reply
                | MessageKind::LocateReply
                | MessageKind::Fragment,
                _,
            ) => Err(ConnectionEnd::Broken(ProtocolError::WrongDirection {
                kind,
            })),
        }
    }

    /// The last message that an end of this role sends. `spoken`: the highest version of its messages; before GIOP 1.2 only
    /// servers send CloseConnection.
    fn last_message(self, end: &ConnectionEnd, spoken: Version) -> Option<(MessageKind, Version)> {
        match end {
            ConnectionEnd::Broken(ProtocolError::UnsupportedVersion(_)) => {
                Some((MessageKind::MessageError, Version::HIGHEST))
            }
            // The peer may not understand the version that its message claimed.
            ConnectionEnd::Broken(_) => Some((MessageKind::MessageError, Version::V1_0)),
            ConnectionEnd::ShutDown
            | ConnectionEnd::Idle(_)
            | ConnectionEnd::Purged
            | ConnectionEnd::Released
            | ConnectionEnd::NoThread => match self {
                Self::Client | Self::Both if spoken >= Version::V1_2 => {
                    Some((MessageKind::CloseConnection, Version::V1_2))
                }
                Self::Server | Self::Both => Some((MessageKind::CloseConnection, Version::V1_0)),
                Self::Client => None,
            },
            ConnectionEnd::Closed
            | ConnectionEnd::Lost(_)
            | ConnectionEnd::Refused
            | ConnectionEnd::Silent(_) => None,
        }
    }
}

/// What has happened to a connection.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "nothing else changes its life")]
pub enum LifeEvent {
    /// The ORB stops: what was received is served, and nothing more is read.
    Stop,
    /// No request of the peer is pending.
    Drained,
    /// The connection ends. `spoken`: the highest version of the messages of this end.
    End {
        /// Why it ends.
        end: ConnectionEnd,
        /// The highest GIOP version of the messages of this end.
        spoken: Version,
    },
    /// All that was queued has been written.
    Written,
    /// So many octets have come and were discarded.
    Discarded(usize),
    /// The peer has closed its side, or the stream has failed.
    PeerClosed,
    /// The time for the peer is over. `moved`: whether it has taken octets in that time.
    Late {
        /// Whether octets were written in that time.
        moved: bool,
    },
}

/// What a driver has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a driver does each of these")]
pub enum LifeAction {
    /// Nothing: the life goes on as it is.
    Nothing,
    /// Read nothing more, and report when no request is pending.
    Drain,
    /// Send this message behind all others, and report when all is written.
    SendLast(MessageKind, Version),
    /// Report when all is written.
    Flush,
    /// Close the write side, and discard what comes.
    CloseWriteSide,
    /// Close the stream.
    Close,
}

#[derive(Debug, Clone)]
enum State {
    Open,
    Draining,
    Closing {
        end: ConnectionEnd,
        waits: u32,
    },
    Lingering {
        end: ConnectionEnd,
        waits: u32,
        left: usize,
    },
    Closed {
        end: ConnectionEnd,
        cut_short: bool,
    },
}

/// The life of one connection: events in, actions out. It knows no clock and no stream.
#[derive(Debug, Clone)]
pub struct Life {
    role: Role,
    state: State,
}

impl Life {
    /// The most times that a peer gets for messages queued before, while it goes on reading them.
    pub const MAX_WAITS: u32 = 5;
    /// Octets discarded in all. A peer that is about to read why the connection ends has no more in flight than the buffers of
    /// two sockets hold: some 10 MiB with the largest buffers of the system. A peer that sends more does not read.
    pub const MAX_DISCARDED_OCTETS: usize = 16 << 20;

    /// The life of a connection that has just been opened.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self {
            role,
            state: State::Open,
        }
    }

    /// Why the connection has ended, if it has.
    #[must_use]
    #[inline]
    pub const fn end(&self) -> Option<&ConnectionEnd> {
        match &self.state {
            State::Open | State::Draining => None,
            State::Closing { end, .. }
            | State::Lingering { end, .. }
            | State::Closed { end, .. } => Some(end),
        }
    }

    /// Whether the connection has not ended.
    #[must_use]
    #[inline]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Draining)
    }

    /// Whether the peer went on sending until the connection was closed, beyond the
    /// [limit](Self::MAX_DISCARDED_OCTETS).
    #[must_use]
    pub const fn is_cut_short(&self) -> bool {
        matches!(
            self.state,
            State::Closed {
                cut_short: true,
                ..
            }
        )
    }

    /// Goes on with an event. Of several ends the first counts.
    pub fn on(&mut self, event: LifeEvent) -> LifeAction {
        let (next, action) = match (self.take(), event) {
            (State::Open, LifeEvent::Stop) => (State::Draining, LifeAction::Drain),
            (State::Draining, LifeEvent::Drained) => {
                self.ends(ConnectionEnd::ShutDown, Version::V1_0)
            }
            (State::Open | State::Draining, LifeEvent::End { end, spoken }) => {
                self.ends(end, spoken)
            }
            (State::Closing { end, waits }, LifeEvent::Written) => {
                let left = Self::MAX_DISCARDED_OCTETS;
                (
                    State::Lingering { end, waits, left },
                    LifeAction::CloseWriteSide,
                )
            }
            (State::Lingering { end, waits, left }, LifeEvent::Discarded(octets)) => {
                match left.checked_sub(octets).filter(|left| *left > 0) {
                    Some(left) => (State::Lingering { end, waits, left }, LifeAction::Nothing),
                    None => closed(end, true),
                }
            }
            (State::Closing { end, waits }, LifeEvent::Late { moved: true })
                if waits < Self::MAX_WAITS =>
            {
                let waits = waits.saturating_add(1);
                (State::Closing { end, waits }, LifeAction::Nothing)
            }
            (State::Lingering { end, waits, left }, LifeEvent::Late { moved: true })
                if waits < Self::MAX_WAITS =>
            {
                let waits = waits.saturating_add(1);
                (State::Lingering { end, waits, left }, LifeAction::Nothing)
            }
            (
                State::Closing { end, .. } | State::Lingering { end, .. },
                LifeEvent::PeerClosed | LifeEvent::Late { .. },
            ) => closed(end, false),
            (
                state @ (State::Open | State::Draining),
                LifeEvent::Stop
                | LifeEvent::Drained
                | LifeEvent::Written
                | LifeEvent::Discarded(_)
                | LifeEvent::PeerClosed
                | LifeEvent::Late { .. },
            )
            | (
                state @ (State::Closing { .. } | State::Lingering { .. }),
                LifeEvent::Stop
                | LifeEvent::Drained
                | LifeEvent::End { .. }
                | LifeEvent::Written
                | LifeEvent::Discarded(_),
            )
            | (state @ State::Closed { .. }, _) => (state, LifeAction::Nothing),
        };
        self.state = next;
        action
    }

    fn take(&mut self) -> State {
        core::mem::replace(&mut self.state, State::Open)
    }

    fn ends(&self, end: ConnectionEnd, spoken: Version) -> (State, LifeAction) {
        if !end.is_orderly() {
            return closed(end, false);
        }
        let action = match self.role.last_message(&end, spoken) {
            Some((kind, version)) => LifeAction::SendLast(kind, version),
            None => LifeAction::Flush,
        };
        (State::Closing { end, waits: 1 }, action)
    }
}

fn closed(end: ConnectionEnd, cut_short: bool) -> (State, LifeAction) {
    (State::Closed { end, cut_short }, LifeAction::Close)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: ConnectionEnd = ConnectionEnd::ShutDown;

    fn ends(end: ConnectionEnd) -> LifeEvent {
        LifeEvent::End {
            end,
            spoken: Version::V1_2,
        }
    }

    fn all_ends() -> [ConnectionEnd; 10] {
        [
            ConnectionEnd::Closed,
            ConnectionEnd::Lost(Cause::new("gone")),
            ConnectionEnd::Broken(ProtocolError::UnexpectedFragment),
            ConnectionEnd::Refused,
            ConnectionEnd::ShutDown,
            ConnectionEnd::Idle(Duration::ZERO),
            ConnectionEnd::Purged,
            ConnectionEnd::Released,
            ConnectionEnd::NoThread,
            ConnectionEnd::Silent(Duration::ZERO),
        ]
    }

    #[test]
    fn a_server_that_stops_drains_says_so_and_lingers() {
        let mut life = Life::new(Role::Server);
        assert_eq!(life.on(LifeEvent::Drained), LifeAction::Nothing);
        assert_eq!(life.on(LifeEvent::Stop), LifeAction::Drain);
        assert!(life.is_open());
        let close = LifeAction::SendLast(MessageKind::CloseConnection, Version::V1_0);
        assert_eq!(life.on(LifeEvent::Drained), close);
        assert!(matches!(life.end(), Some(ConnectionEnd::ShutDown)));
        assert_eq!(life.on(LifeEvent::Written), LifeAction::CloseWriteSide);
        assert_eq!(life.on(LifeEvent::Discarded(7)), LifeAction::Nothing);
        assert_eq!(life.on(LifeEvent::PeerClosed), LifeAction::Close);
        assert!(!life.is_cut_short());
        assert_eq!(life.on(LifeEvent::Stop), LifeAction::Nothing);
    }

    #[test]
    fn before_giop_1_2_a_client_closes_without_a_word() {
        for (spoken, action) in [
            (Version::V1_1, LifeAction::Flush),
            (
                Version::V1_2,
                LifeAction::SendLast(MessageKind::CloseConnection, Version::V1_2),
            ),
        ] {
            let mut life = Life::new(Role::Client);
            let end = ConnectionEnd::Released;
            assert_eq!(life.on(LifeEvent::End { end, spoken }), action);
        }
    }

    #[test]
    fn a_peer_that_does_not_serve_is_told_nothing_and_one_that_breaks_the_protocol_is() {
        for end in all_ends() {
            let mut life = Life::new(Role::Server);
            let (is_orderly, is_broken) =
                (end.is_orderly(), matches!(end, ConnectionEnd::Broken(_)));
            let expected = match (is_orderly, is_broken) {
                (false, _) => LifeAction::Close,
                (true, true) => LifeAction::SendLast(MessageKind::MessageError, Version::V1_0),
                (true, false) => LifeAction::SendLast(MessageKind::CloseConnection, Version::V1_0),
            };
            assert_eq!(life.on(ends(end)), expected);
        }
    }

    #[test]
    fn of_several_ends_the_first_counts() {
        let mut life = Life::new(Role::Client);
        let _ = life.on(ends(STOP));
        for end in all_ends() {
            assert_eq!(life.on(ends(end)), LifeAction::Nothing);
        }
        assert!(matches!(life.end(), Some(ConnectionEnd::ShutDown)));
    }

    #[test]
    fn a_peer_that_reads_on_gets_some_time_and_one_that_does_not_gets_none() {
        for written in [false, true] {
            let begun = || {
                let mut life = Life::new(Role::Server);
                let _ = life.on(ends(STOP));
                if written {
                    let _ = life.on(LifeEvent::Written);
                }
                life
            };
            let mut life = begun();
            for _ in 1..Life::MAX_WAITS {
                assert_eq!(
                    life.on(LifeEvent::Late { moved: true }),
                    LifeAction::Nothing
                );
            }
            assert_eq!(life.on(LifeEvent::Late { moved: true }), LifeAction::Close);
            assert_eq!(
                begun().on(LifeEvent::Late { moved: false }),
                LifeAction::Close
            );
        }
    }

    #[test]
    fn a_peer_that_never_stops_sending_is_cut_short() {
        let mut life = Life::new(Role::Client);
        let _ = life.on(ends(STOP));
        let _ = life.on(LifeEvent::Written);
        let some = Life::MAX_DISCARDED_OCTETS / 2;
        assert_eq!(life.on(LifeEvent::Discarded(some)), LifeAction::Nothing);
        assert_eq!(life.on(LifeEvent::Discarded(some)), LifeAction::Close);
        assert!(life.is_cut_short());
    }

    #[test]
    fn each_role_gets_its_own_messages() {
        let kinds = (0..=u8::MAX).filter_map(MessageKind::from_octet);
        let mut of = [0; 2];
        for kind in kinds {
            let ours = [Role::Client, Role::Server].map(|role| role.receives(kind).is_ok());
            let both = Role::Both.receives(kind);
            assert_eq!(both.is_ok(), ours[0] != ours[1], "{kind}");
            of = [0, 1].map(|role: usize| of[role] + usize::from(ours[role]));
        }
        assert_eq!(of, [2, 3]);
    }
}
