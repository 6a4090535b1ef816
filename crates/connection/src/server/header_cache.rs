//! The request header cache. A request whose header matches an entry needs no parsing, and its target no look-up.

use super::super::owner::Owner;
use core::cell::Cell;
use zorb_cdr::{Gather, WireFormat};
use zorb_giop::{
    HeaderOffsets, Message, MessageHeader, RequestHeader, RequestHeaderPrefix, ServiceContextId,
};

/// The number of headers cached for a connection. It is small, since each costs memory, and parsing the headers of a client
/// that calls more operations in turn costs little.
pub(super) const ENTRIES: usize = 8;

/// The last reply to the messages of a read, which is sent behind the queued ones. It is nearly always the only one, and
/// then needs no queue.
#[derive(Default)]
pub(super) struct LastReply(Cell<Option<Gather>>);

impl LastReply {
    pub(super) fn take(&self) -> Option<Gather> {
        self.0.take()
    }

    /// Returns the reply that was the last one until now.
    #[inline]
    pub(super) fn replace(&self, reply: Gather) -> Option<Gather> {
        self.0.replace(Some(reply))
    }
}

/// What a driver keeps from one message to the next.
pub(super) struct DriverState<O: Owner> {
    pub(super) headers: RequestHeaderCache<O>,
    pub(super) last: LastReply,
}

impl<O: Owner> Default for DriverState<O> {
    fn default() -> Self {
        Self {
            headers: RequestHeaderCache::default(),
            last: LastReply::default(),
        }
    }
}

/// The repeated request headers of a connection, with their targets.
pub(super) struct RequestHeaderCache<O: Owner> {
    /// Tags of the last misses, the latest first. A header is cached when it comes the second time.
    missed: [u64; ENTRIES],
    /// Entries with their tags, the latest first.
    entries: [(u64, Option<Box<Entry<O>>>); ENTRIES],
    /// The index of the last hit, which the next request usually matches.
    last: usize,
}

struct Entry<O: Owner> {
    prefix: RequestHeaderPrefix,
    offsets: HeaderOffsets,
    format: WireFormat,
    target: O::Cached,
}

/// A request whose header is cached.
pub(super) struct Hit<O: Owner> {
    pub(super) offsets: HeaderOffsets,
    pub(super) format: WireFormat,
    pub(super) target: O::Target,
}

impl<O: Owner> Default for RequestHeaderCache<O> {
    fn default() -> Self {
        Self {
            missed: [0; ENTRIES],
            entries: [const { (0, None) }; ENTRIES],
            last: 0,
        }
    }
}

impl<O: Owner> Entry<O> {
    /// The hit for a contiguous message, if its header matches and the target is still valid.
    #[inline]
    fn hit(&self, header: &MessageHeader, octets: &[u8], owner: &O) -> Option<Hit<O>> {
        let (id, body) = self.prefix.match_prefix(header, octets)?;
        Some(Hit {
            target: owner.recall(&self.target)?,
            offsets: self.offsets.with_request(id, body),
            format: self.format,
        })
    }
}

impl<O: Owner> RequestHeaderCache<O> {
    /// The cached header of a request whose message is contiguous.
    #[inline]
    pub(super) fn find(
        &mut self,
        header: &MessageHeader,
        octets: &[u8],
        owner: &O,
    ) -> Option<Hit<O>> {
        let last = self.entries.get(self.last)?.1.as_deref();
        match last.and_then(|entry| entry.hit(header, octets, owner)) {
            None => self.find_among_others(header, octets, owner),
            hit => hit,
        }
    }

    fn find_among_others(
        &mut self,
        header: &MessageHeader,
        octets: &[u8],
        owner: &O,
    ) -> Option<Hit<O>> {
        let tag = RequestHeaderPrefix::tag(header, octets)?;
        let mut entries = self.entries.iter().enumerate();
        let (at, hit) = entries.find_map(|(at, (of, entry))| {
            let entry = entry.as_ref().filter(|_| *of == tag)?;
            Some((at, entry.hit(header, octets, owner)?))
        })?;
        self.last = at;
        Some(hit)
    }

    /// Notes a request that missed the cache. Its header is cached if it has come before, and the owner caches its target.
    /// Service contexts are no part of it.
    pub(super) fn remember(
        &mut self,
        message: &Message,
        header: &RequestHeader<'_>,
        format: WireFormat,
        target: &O::Target,
        owner: &O,
    ) {
        // An offer of endpoints is taken each time, so its request is parsed anyway.
        let has_offer = header.contexts.get(ServiceContextId::BI_DIR_IIOP).is_some();
        if has_offer || !message.frame.fragment_starts().is_empty() {
            return;
        }
        let Some(tag) = RequestHeaderPrefix::tag(&message.header, message.frame.octets()) else {
            return;
        };
        if !self.missed.contains(&tag) {
            self.missed.rotate_right(1);
            let [latest, ..] = &mut self.missed;
            *latest = tag;
            return;
        }
        if let Some((prefix, parsed)) = RequestHeaderPrefix::of(message)
            && let Some(target) = owner.cache(target)
        {
            let entry = Entry {
                prefix,
                offsets: HeaderOffsets::of(&parsed),
                format,
                target,
            };
            self.entries.rotate_right(1);
            let [latest, ..] = &mut self.entries;
            *latest = (tag, Some(Box::new(entry)));
        }
    }

    /// Forgets all headers: the code sets of the connection have changed.
    #[cold]
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
