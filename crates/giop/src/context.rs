//! Service contexts: out-of-band data that travels with requests and replies.

use bytes::Bytes;
use zorb_cdr::{
    ByteOrder, DecodeError, Decoder, Encode, EncodeError, Encoder, Endian, Frame, WireFormat,
};

/// Which service a context belongs to. Unknown ids are kept, never refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceContextId(pub u32);

impl ServiceContextId {
    /// What the specification, or the vendor, calls it.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES
            .iter()
            .find(|(id, _)| *id == self.0)
            .map(|(_, name)| *name)
    }

    /// The negotiated transmission code sets.
    pub const CODE_SETS: Self = Self(1);
    /// The client's own listening points (bidirectional GIOP).
    pub const BI_DIR_IIOP: Self = Self(5);
    /// Real-time CORBA priority.
    pub const RT_CORBA_PRIORITY: Self = Self(10);
    /// The highest stream format of RMI that the sender knows: only ORBs that came out of Sun's say it.
    pub const RMI_CUSTOM_MAX_STREAM_FORMAT: Self = Self(17);
    /// Text that explains an exception (an encapsulated wstring).
    pub const EXCEPTION_DETAIL_MESSAGE: Self = Self(14);
}

/// For people to read.
const NAMES: [(u32, &str); 29] = [
    (0, "TransactionService"),
    (1, "CodeSets"),
    (2, "ChainBypassCheck"),
    (3, "ChainBypassInfo"),
    (4, "LogicalThreadId"),
    (5, "BI_DIR_IIOP"),
    (6, "SendingContextRunTime"),
    (7, "INVOCATION_POLICIES"),
    (8, "FORWARDED_IDENTITY"),
    (9, "UnknownExceptionInfo"),
    (10, "RTCorbaPriority"),
    (11, "RTCorbaPriorityRange"),
    (12, "FT_GROUP_VERSION"),
    (13, "FT_REQUEST"),
    (14, "ExceptionDetailMessage"),
    (15, "SecurityAttributeService"),
    (16, "ActivityService"),
    (17, "RMICustomMaxStreamFormat"),
    (18, "ACCESS_SESSION_ID"),
    (19, "SERVICE_SESSION_ID"),
    (20, "FIREWALL_PATH"),
    (21, "FIREWALL_PATH_RESP"),
    (0x4154_5404, "omniORB restricted connection"),
    (0x4a41_4301, "JacORB padding"),
    (0x4a41_4302, "JacORB proxy"),
    (0x4e45_4f00, "NEO"),
    (0x5441_0005, "TAO reply network priority"),
    (0x5441_4f00, "TAO padding"),
    (0x504f_0000, "PolyORB"),
];

/// One service context: an id and an encapsulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceContext {
    /// Whose it is.
    pub id: ServiceContextId,
    /// What it says, byte order octet first.
    pub data: Bytes,
}

impl Encode for ServiceContext {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_u32(self.id.0);
        e.write_octets(&self.data)
    }
}

/// The contexts of a received message, read where they lie.
///
/// They were walked once when the header was read, so going through them cannot fail. Costs
/// nothing until asked.
#[derive(Debug, Clone, Copy)]
pub struct ServiceContexts<'a> {
    frame: &'a Frame,
    position: usize,
    count: usize,
    endian: Endian,
    format: WireFormat,
}

impl<'a> ServiceContexts<'a> {
    /// Reads over a service context list, leaving `d` behind it.
    pub(crate) fn read<O: ByteOrder>(
        d: &mut Decoder<'a, O>,
        frame: &'a Frame,
    ) -> Result<Self, DecodeError> {
        // An id and the length of the data.
        const MIN_CONTEXT_OCTETS: usize = 8;
        let count = d.read_count(MIN_CONTEXT_OCTETS)?;
        let position = d.position();
        for _ in 0..count {
            d.read_u32()?;
            d.read_octets()?;
        }
        Ok(Self {
            frame,
            position,
            count,
            endian: O::ENDIAN,
            format: d.format(),
        })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The data of the first context with this id.
    #[must_use]
    pub fn get(&self, id: ServiceContextId) -> Option<&'a [u8]> {
        if self.is_empty() {
            return None;
        }
        let mut found = None;
        self.for_each(|each, data| {
            if each == id && found.is_none() {
                found = Some(data);
            }
        });
        found
    }

    /// Copies all of them, unknown ones included.
    #[must_use]
    pub fn to_vec(&self) -> Vec<ServiceContext> {
        let mut all = Vec::with_capacity(self.count);
        self.for_each(|id, data| {
            all.push(ServiceContext {
                id,
                data: Bytes::copy_from_slice(data),
            });
        });
        all
    }

    fn for_each(&self, mut each: impl FnMut(ServiceContextId, &'a [u8])) {
        let walked: Result<(), DecodeError> = by_order!(self.endian, O => {
            Decoder::<'a, O>::at(self.frame, self.position, self.format).and_then(|mut d| {
                for _ in 0..self.count {
                    let id = ServiceContextId(d.read_u32()?);
                    each(id, d.read_octets()?);
                }
                Ok(())
            })
        });
        debug_assert!(walked.is_ok(), "the list was walked when it was read");
    }
}
