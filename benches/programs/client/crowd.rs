//! Connections that have been used once and do nothing any more.

use crate::client::options::Options;
use crate::flavor::Failure;
use std::io::{Read, Write};
use std::net::TcpStream;
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{
    Ior, Limits, MessageKind, Reader, ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags,
    Version, buffers,
};

/// Makes `options.size` connections with a call on each, prints `ready`, and keeps them until its input ends.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let reference = zorb_floor::reference(&options.ior)?;
    let digits = reference.trim().strip_prefix("IOR:").ok_or("no IOR")?;
    let ior = Ior::from_hex(digits)?;
    let profile = IiopProfile::from_tagged(ior.profiles.first().ok_or("a nil reference")?)?;
    let mut crowd = Vec::with_capacity(options.size);
    for _ in 0..options.size {
        let address = (profile.address.host.as_str(), profile.address.port);
        let mut stream = TcpStream::connect(address)?;
        call(&mut stream, &profile.object_key)?;
        crowd.push(stream);
    }
    println!("ready");
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// One call without parameters.
fn call(stream: &mut TcpStream, key: &[u8]) -> Result<(), Failure> {
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 1,
        response: ResponseFlags::WithTarget,
        key,
        operation: "sendNoParams_2way",
        contexts: &[],
    };
    let encoder = Encoder::<LittleEndian>::with_buffer(buffers::take(), WireFormat::default());
    stream.write_all(&request.encode(encoder, |_| Ok(()))?.to_vec())?;
    let mut reader = Reader::new(Limits::default());
    loop {
        if let Some(message) = reader.next()? {
            let is_reply = message.header.kind == MessageKind::Reply;
            return match is_reply && ReplyHeader::read(&message)?.status == ReplyStatus::NoException
            {
                true => Ok(()),
                false => Err("no reply without an exception".into()),
            };
        }
        let mut some = [0; 256];
        let read = stream.read(&mut some)?;
        if read == 0 {
            return Err("the server has closed the connection".into());
        }
        reader.buffer().extend_from_slice(&some[..read]);
    }
}
