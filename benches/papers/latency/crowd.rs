//! Many connections to a server, without an ORB: every server has the same client.

use crate::flavor::Failure;
use std::io::{Read, Write};
use std::net::TcpStream;
use zorb::Bytes;
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{Ior, RequestBuilder, ResponseFlags, Version};

/// The connections, and a request that fits all of them: each has one request at a time.
#[derive(Debug)]
pub(crate) struct Crowd {
    address: (String, u16),
    request: Vec<u8>,
    streams: Vec<TcpStream>,
    /// Calls so far, on all of them.
    pub(crate) calls: usize,
}

/// Octets of a GIOP header.
const HEAD: usize = 12;

impl Crowd {
    /// Finds the server of a stringified reference.
    ///
    /// # Errors
    /// It is none, or of another protocol.
    pub(crate) fn new(reference: &str) -> Result<Self, Failure> {
        let digits = reference.trim().strip_prefix("IOR:").ok_or("no IOR")?;
        let ior = Ior::from_hex(digits)?;
        let profile = IiopProfile::from_tagged(ior.profiles.first().ok_or("a nil reference")?)?;
        let key: Bytes = profile.object_key;
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: 1,
            response: ResponseFlags::WithTarget,
            key: &key,
            operation: "sendNoParams_2way",
            contexts: &[],
        };
        let encoder = Encoder::<LittleEndian>::new(WireFormat::default());
        Ok(Self {
            address: (profile.address.host.to_string(), profile.address.port),
            request: request.encode(encoder, |_| Ok(()))?.to_vec(),
            streams: Vec::new(),
            calls: 0,
        })
    }

    /// Sees to it that there are so many, each of which has been used.
    ///
    /// # Errors
    /// There are more, or the server takes no more.
    pub(crate) fn grow(&mut self, count: usize) -> Result<(), Failure> {
        if self.streams.len() > count {
            return Err(format!("there are {} connections already", self.streams.len()).into());
        }
        while self.streams.len() < count {
            let (host, port) = &self.address;
            let stream = TcpStream::connect((host.as_str(), *port))?;
            stream.set_nodelay(true)?;
            self.streams.push(stream);
            self.call(self.streams.len() - 1)?;
        }
        Ok(())
    }

    /// A call on one of them.
    ///
    /// # Errors
    /// The connection's, or the reply is an exception.
    pub(crate) fn call(&mut self, at: usize) -> Result<(), Failure> {
        let stream = self.streams.get_mut(at).ok_or("no such connection")?;
        stream.write_all(&self.request)?;
        let mut reply = [0; 256];
        let mut read = 0;
        loop {
            let some = stream.read(&mut reply[read..])?;
            if some == 0 {
                return Err("the server has closed the connection".into());
            }
            read += some;
            let Some(size) = reply[..read].get(8..HEAD) else {
                continue;
            };
            let size = u32::from_le_bytes(size.try_into()?) as usize;
            if read >= HEAD + size {
                break;
            }
        }
        // Kind 1 is a reply; its status is behind the request's id, and 0 if all is well.
        if reply[7] != 1 || reply[16..20] != [0; 4] {
            return Err("the reply is no result".into());
        }
        self.calls += 1;
        Ok(())
    }
}
