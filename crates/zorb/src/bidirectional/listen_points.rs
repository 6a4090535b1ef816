//! The service context BI_DIR_IIOP: the endpoints at which a client is called on the connection that it has opened
//! (`IIOP::BiDirIIOPServiceContext`; CORBA 3.3 Part 2, section 9.8).
//!
//! The fuzz targets compile this file by its path, so it names nothing of the crate.

use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncapsulationVisitor, WireFormat};
use zorb_giop::ior::encapsulate;
use zorb_giop::{ServiceContext, ServiceContextId};
use zorb_transport::{Addressing, Endpoint, TcpAddressing};

/// Listen points that are taken of one context: an ORB listens at a few endpoints. Further ones are ignored.
pub(crate) const MAX_LISTEN_POINTS: usize = 16;

/// The service context with the TCP endpoints among `endpoints`; `None` if there are none.
pub(crate) fn listen_points(endpoints: &[Endpoint]) -> Option<ServiceContext> {
    let points: Vec<(&str, u16)> = (endpoints.iter())
        .filter(|endpoint| endpoint.scheme() == TcpAddressing.scheme())
        .filter_map(|endpoint| Some((endpoint.host()?, endpoint.port()?)))
        .collect();
    if points.is_empty() {
        return None;
    }
    let data = encapsulate(|e| {
        e.write_count(points.len())?;
        for (host, port) in &points {
            e.write_raw_string(host.as_bytes())?;
            e.write_u16(*port);
        }
        Ok(())
    });
    let id = ServiceContextId::BI_DIR_IIOP;
    data.ok().map(|data| ServiceContext { id, data })
}

/// The hosts and ports of a context.
#[derive(Debug, PartialEq)]
pub(crate) struct ListenPoints {
    pub(crate) taken: Vec<(String, u16)>,
    /// Whether the context has no more of them.
    pub(crate) is_whole: bool,
}

impl ListenPoints {
    /// Reads the data of a context.
    ///
    /// # Errors
    /// The data is malformed.
    pub(crate) fn read(context: &[u8]) -> Result<Self, DecodeError> {
        zorb_cdr::decode_encapsulation(context, WireFormat::default(), Visitor)
    }
}

struct Visitor;

impl EncapsulationVisitor<'_> for Visitor {
    type Output = ListenPoints;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<Self::Output, DecodeError> {
        // The least size of an element: the length of a host, and its terminator.
        let count = d.read_count(5)?;
        let taken: Vec<_> = (0..count.min(MAX_LISTEN_POINTS))
            .map(|_| {
                let host = String::from_utf8_lossy(d.read_raw_string()?).into_owned();
                Ok((host, d.read_u16()?))
            })
            .collect::<Result<_, DecodeError>>()?;
        let is_whole = taken.len() == count;
        Ok(ListenPoints { taken, is_whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_points_are_the_tcp_endpoints_that_references_name() {
        let endpoints = [
            Endpoint::iiop("a.example", 1),
            Endpoint::uiop("/x"),
            Endpoint::iiop("::1", 2),
        ];
        let context = listen_points(&endpoints).unwrap();
        let points = [("a.example".to_owned(), 1), ("::1".to_owned(), 2)];
        let read = ListenPoints::read(&context.data).unwrap();
        assert_eq!((read.taken.as_slice(), read.is_whole), (&points[..], true));
        assert_eq!(listen_points(&[Endpoint::uiop("/x")]), None);
    }

    #[test]
    fn what_claims_to_hold_many_points_is_read_up_to_a_limit_or_not_at_all() {
        assert!(ListenPoints::read(&[0, 0, 0, 0, 255, 255, 255, 255]).is_err());
        assert!(ListenPoints::read(&[]).is_err());
        let many = vec![Endpoint::iiop("h", 9); 5 * MAX_LISTEN_POINTS];
        let context = listen_points(&many).unwrap();
        let read = ListenPoints::read(&context.data).unwrap();
        assert_eq!(read.taken.len(), MAX_LISTEN_POINTS);
        assert!(!read.is_whole);
    }
}
