//! The end of a connection: its driver does here what its [`Life`] requires.

use super::link::{Link, READS_PER_TURN};
use bytes::BytesMut;
use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io::IoSlice;
use zorb_cdr::{BigEndian, Encoder, WireFormat};
pub(crate) use zorb_giop::ConnectionEnd as End;
use zorb_giop::{
    CompletionStatus, Fault, Life, LifeAction, LifeEvent, Limits, MessageKind, Reader,
    ReplyBuilder, ReplyStatus, RequestHeader, ResponseFlags, Version, empty_message,
};
use zorb_transport::Connection;

/// The time for a peer to read why the connection is closed.
const LINGER: Duration = Duration::from_secs(2);
/// Upper bound of [`Link::finish`], with a margin.
pub(crate) const FINISHED_WITHIN: Duration = LINGER.saturating_mul(Life::MAX_WAITS + 1);
/// Octets discarded at a time while lingering. A small number: a peer that broke the protocol gets no large buffer.
const DISCARDED_OCTETS: usize = 4 << 10;
/// Octets of a refused connection that are discarded. The requests that a client sends at once are far fewer.
const MAX_UNREAD_OCTETS: usize = 1 << 20;
/// Octets of a request that is answered, on a connection that is not permitted.
const MAX_REFUSED_OCTETS: usize = 64 << 10;

/// A snapshot of the counts of a connection: messages and octets received, octets written.
pub(crate) struct Progress {
    messages: u64,
    octets: u64,
    /// Octets written.
    written: u64,
}

impl Progress {
    pub(crate) const fn new(messages: u64, octets: u64, written: u64) -> Self {
        Self {
            messages,
            octets,
            written,
        }
    }

    /// Whether nothing that keeps the connection open has happened since `before`. An unfinished message keeps it open if at
    /// least a buffer of octets has come in that time.
    pub(crate) fn is_stuck_since(&self, before: &Self) -> bool {
        let octets = self.octets.wrapping_sub(before.octets);
        self.messages == before.messages
            && octets < Reader::READ_OCTETS as u64
            && self.written == before.written
    }
}

impl Link {
    /// Ready when nothing has happened for `limit`, at the latest after twice that, and `may_end` agrees. To be polled
    /// after the reads. Costs a timer per `limit`, and nothing per message.
    pub(crate) async fn idle(
        &self,
        limit: Option<Duration>,
        may_end: impl Fn(Duration) -> bool,
    ) -> End {
        let Some(limit) = limit else {
            return core::future::pending().await;
        };
        let mut before = self.progress();
        loop {
            tokio::time::sleep(limit).await;
            let now = self.progress();
            if now.is_stuck_since(&before) && may_end(limit) {
                return End::Idle(limit);
            }
            before = now;
        }
    }

    /// Ready a [linger](LINGER) after a write has failed, so that the reads may find an end that the peer has sent before. To
    /// be polled together with the reads, whose task a failure wakes.
    pub(crate) async fn failed(&self) -> End {
        let cause = poll_fn(|_| match self.outbound.failure() {
            Some(cause) => Poll::Ready(cause.clone()),
            None => Poll::Pending,
        })
        .await;
        tokio::time::sleep(LINGER).await;
        End::Lost(cause)
    }

    /// Sends the last message of a life, if this is the action that the life requires.
    pub(crate) fn say_last(&self, action: LifeAction) {
        if let LifeAction::SendLast(kind, version) = action {
            self.send_empty(kind, version);
        }
    }

    /// Takes a life that has ended to its close: writes what is queued, waits a bounded time until the peer has read it, and closes.
    /// `is_orderly`: whether the peer may still read.
    pub(crate) async fn finish(
        &self,
        is_orderly: bool,
        mut on: impl FnMut(LifeEvent) -> LifeAction,
    ) {
        if is_orderly {
            self.write_batch();
            loop {
                let written = self.outbound.written_octets();
                // A connection that fails meanwhile ends the wait.
                let closed = poll_fn(|cx| self.poll_linger(&mut on, cx));
                if tokio::time::timeout(LINGER, closed).await.is_ok() {
                    break;
                }
                let moved = self.outbound.written_octets() != written;
                if on(LifeEvent::Late { moved }) == LifeAction::Close {
                    break;
                }
            }
        }
        self.stream.close();
        // Upcalls that still run keep the connection alive, but not its output.
        self.outbound.forget();
        self.outbound.wake_all();
    }

    /// Ready when another driver has written all queued messages, or after a while.
    pub(crate) async fn drained(&self) {
        let written = poll_fn(|cx| self.outbound.poll_empty(cx));
        let _ = tokio::time::timeout(LINGER, written).await;
    }

    /// Ready when the stream is to be closed.
    fn poll_linger(
        &self,
        on: &mut impl FnMut(LifeEvent) -> LifeAction,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        self.outbound.driver.register(cx.waker());
        match self.outbound.poll_unblock(&*self.stream, cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(_)) => {
                let _ = on(LifeEvent::PeerClosed);
                return Poll::Ready(());
            }
            Poll::Ready(Ok(())) => {}
        }
        if self.outbound.poll_empty(cx).is_pending() {
            return Poll::Pending;
        }
        if on(LifeEvent::Written) == LifeAction::CloseWriteSide
            && self.stream.shutdown_write().is_err()
        {
            let _ = on(LifeEvent::PeerClosed);
            return Poll::Ready(());
        }
        let mut discarded = BytesMut::with_capacity(DISCARDED_OCTETS);
        for _ in 0..READS_PER_TURN {
            let event = match self.stream.poll_read(cx, &mut discarded) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0) | Err(_)) => LifeEvent::PeerClosed,
                Poll::Ready(Ok(octets)) => LifeEvent::Discarded(octets),
            };
            discarded.clear();
            if on(event) == LifeAction::Close {
                return Poll::Ready(());
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Sends CloseConnection on a stream that nothing has been read from or written to, waits a bounded time until the peer has
/// read it, and closes.
pub(crate) async fn send_close(stream: Box<dyn Connection>) {
    send_last(
        stream,
        &empty_message(MessageKind::CloseConnection, Version::V1_0),
    )
    .await;
}

/// Answers the first request on a stream with NO_PERMISSION, ends the stream as [`send_close`] does, and closes. The answer
/// is left out for a peer whose request does not come in time, or is long.
pub(crate) async fn send_not_permitted(stream: Box<dyn Connection>) {
    let answered = tokio::time::timeout(LINGER, not_permitted(&*stream)).await;
    let mut last = answered.ok().flatten().unwrap_or_default();
    last.extend_from_slice(&empty_message(MessageKind::CloseConnection, Version::V1_0));
    send_last(stream, &last).await;
}

/// The reply to the first request on a stream.
async fn not_permitted(stream: &dyn Connection) -> Option<Vec<u8>> {
    let mut limits = Limits::default();
    limits.max_message_octets = MAX_REFUSED_OCTETS;
    let mut reader = Reader::new(limits);
    let message = loop {
        if let Some(message) = reader.next().ok()? {
            break message;
        }
        reader.reserve().ok()?;
        let read = poll_fn(|cx| stream.poll_read(cx, reader.buffer())).await;
        if read.ok()? == 0 {
            return None;
        }
    };
    if message.header.kind != MessageKind::Request {
        return None;
    }
    let request = RequestHeader::read(&message).ok()?;
    if request.response == ResponseFlags::None {
        return None;
    }
    let exception = Fault::NotPermitted(String::new()).raise(CompletionStatus::No);
    let reply = ReplyBuilder {
        version: message.header.version,
        request_id: request.request_id,
        status: ReplyStatus::SystemException,
        contexts: &[],
    };
    let encoder = Encoder::<BigEndian>::new(WireFormat::default());
    let reply = reply.encode(encoder, |e| e.put(&exception)).ok()?;
    Some(reply.to_vec())
}

/// Sends these octets, waits a bounded time until the peer has read them, and closes.
async fn send_last(stream: Box<dyn Connection>, message: &[u8]) {
    // A new socket has room for the message.
    if (stream.try_write(&[IoSlice::new(message)])).is_ok_and(|written| written == message.len())
        && stream.shutdown_write().is_ok()
    {
        let mut discarded = BytesMut::with_capacity(DISCARDED_OCTETS);
        let mut octets = 0;
        let discard = poll_fn(|cx| {
            loop {
                discarded.clear();
                match stream.poll_read(cx, &mut discarded) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(()),
                    Poll::Ready(Ok(read)) => octets = read.saturating_add(octets),
                }
                if octets > MAX_UNREAD_OCTETS {
                    return Poll::Ready(());
                }
            }
        });
        let _ = tokio::time::timeout(LINGER, discard).await;
    }
    stream.close();
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use crate::link::tests::shown;
    use crate::mock::{Acts, Mock};
    use core::pin::Pin;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::io;
    use std::sync::{Arc, Mutex};
    use tokio::time::{Instant, Sleep};
    use zorb_giop::{ProtocolError, Role};

    /// Octets that the peer takes at a time.
    const TAKES: usize = 1000;

    /// A peer that takes some octets each second.
    #[derive(Debug)]
    struct Slow {
        next: Mutex<Pin<Box<Sleep>>>,
        taken: AtomicUsize,
    }

    impl Acts for Arc<Slow> {
        fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let mut next = self.next.lock().unwrap();
            if Instant::now() < next.deadline() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            next.as_mut().reset(Instant::now() + Duration::from_secs(1));
            let octets = slices.iter().map(|slice| slice.len()).sum::<usize>();
            let takes = octets.min(TAKES);
            self.taken.fetch_add(takes, Ordering::Relaxed);
            Ok(takes)
        }

        fn poll_room(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.next.lock().unwrap().as_mut().poll(cx).map(Ok)
        }
    }

    /// A peer that sends for ever, and counts the octets read from it.
    #[derive(Debug, Default)]
    struct Talker(AtomicUsize);

    impl Acts for Arc<Talker> {
        fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            Ok(slices.iter().map(|slice| slice.len()).sum())
        }

        fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
            let octets = buffer.capacity() - buffer.len();
            buffer.resize(buffer.capacity(), 0);
            self.0.fetch_add(octets, Ordering::Relaxed);
            Ok(octets)
        }
    }

    /// Ends a connection whose peer has broken the protocol.
    async fn end(link: &Link) -> Life {
        let mut life = Life::new(Role::Server);
        let action = life.on(LifeEvent::End {
            end: End::Broken(ProtocolError::UnexpectedFragment),
            spoken: Version::V1_0,
        });
        link.say_last(action);
        link.finish(true, |event| life.on(event)).await;
        life
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_peer_that_never_stops_sending_a_bounded_number_of_octets_is_read() {
        let talker = Arc::new(Talker::default());
        let stream = Box::new(Mock::new(Arc::clone(&talker)));
        let link = Link::new(stream, None, shown());
        assert!(end(&link).await.is_cut_short());
        let discarded = talker.0.load(Ordering::Relaxed);
        assert_eq!(discarded, Life::MAX_DISCARDED_OCTETS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_goes_on_taking_a_large_message_hears_why_we_close_behind_it() {
        let slow = Arc::new(Slow {
            next: Mutex::new(Box::pin(tokio::time::sleep(Duration::ZERO))),
            taken: AtomicUsize::new(0),
        });
        let stream = Box::new(Mock::new(Arc::clone(&slow)));
        let link = Link::new(stream, None, shown());
        let format = WireFormat::default();
        let mut message = Encoder::<zorb_cdr::NativeEndian>::new(format);
        message.append(&[7; 6 * TAKES]);
        let _ = link.send(message.finish());
        end(&link).await;
        let said = empty_message(MessageKind::MessageError, Version::V1_0).len();
        assert_eq!(slow.taken.load(Ordering::Relaxed), 6 * TAKES + said);
    }
}
