//! Requests in either byte order, over a blocking socket. An ORB of ours writes in the order of its machine; here are
//! the same encoder and the same decoder as they are on another one.

use crate::client::operation::{Kind, Operation};
use crate::client::options::{Endian, Options};
use crate::flavor::Failure;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;
use zorb::Bytes;
use zorb_cdr::{BigEndian, ByteOrder, EncodeError, Encoder, LittleEndian, WireFormat};
use zorb_floor::report::{Measured, nanoseconds};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{
    Ior, Limits, MessageKind, Reader, ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags,
    Version, buffers,
};

/// A connection and nothing else.
pub(crate) struct Caller {
    stream: TcpStream,
    reader: Reader,
    key: Bytes,
    requests: u32,
}

impl Caller {
    /// Connects to the first profile of the reference in the file.
    pub(crate) fn new(options: &Options) -> Result<Self, Failure> {
        let reference = zorb_floor::reference(&options.ior)?;
        let digits = reference.trim().strip_prefix("IOR:").ok_or("no IOR")?;
        let ior = Ior::from_hex(digits)?;
        let profile = ior.profiles.first().ok_or("a nil reference")?;
        let profile = IiopProfile::from_tagged(profile)?;
        let address = (profile.address.host.as_str(), profile.address.port);
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            reader: Reader::new(Limits::default()),
            key: profile.object_key,
            requests: 0,
        })
    }

    /// Sends a request and, if it has one, reads its reply, which has to be without an exception.
    pub(crate) fn call<O: ByteOrder>(
        &mut self,
        operation: &str,
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<(), Failure> {
        let one_way = operation.ends_with("_1way");
        self.requests += 1;
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: self.requests,
            response: if one_way {
                ResponseFlags::None
            } else {
                ResponseFlags::WithTarget
            },
            key: &self.key,
            operation,
            contexts: &[],
        };
        let encoder = Encoder::<O>::with_buffer(buffers::take(), WireFormat::default());
        let request = request.encode(encoder, arguments)?;
        match request.as_single() {
            Some(octets) => self.stream.write_all(octets)?,
            None => self.stream.write_all(&request.to_vec())?,
        }
        buffers::give(request.into_buffer());
        if one_way {
            return Ok(());
        }
        loop {
            if let Some(message) = self.reader.next()? {
                if message.header.kind != MessageKind::Reply {
                    return Err(format!("{:?} instead of a reply", message.header.kind).into());
                }
                let reply = ReplyHeader::read(&message)?;
                if reply.status != ReplyStatus::NoException || reply.request_id != self.requests {
                    return Err(format!("{operation}: {:?}", reply.status).into());
                }
                return Ok(());
            }
            let mut some = [0; 16 << 10];
            let read = self.stream.read(&mut some)?;
            if read == 0 {
                return Err(format!("{operation}: the server has closed the connection").into());
            }
            self.reader.buffer().extend_from_slice(&some[..read]);
        }
    }

    fn one<O: ByteOrder>(&mut self, operation: &Operation) -> Result<(), Failure> {
        let payload = &operation.payload;
        match operation.kind {
            Kind::NoParams => self.call::<O>("sendNoParams_2way", |_| Ok(())),
            Kind::Octet => self.call::<O>("sendOctetSeq_2way", |e| e.put(&payload.octets)),
            Kind::Long => self.call::<O>("sendLongSeq_2way", |e| e.put(&payload.longs)),
            Kind::Struct => self.call::<O>("sendStructSeq_2way", |e| e.put(&payload.structs)),
            Kind::EchoString => self.call::<O>("echoString", |e| e.put(&payload.string)),
            Kind::EchoStruct => self.call::<O>("echoStructSeq", |e| e.put(&payload.structs)),
            Kind::EchoOctet => self.call::<O>("echoOctetSeq", |e| e.put(&payload.octets)),
            Kind::OneWayNoParams => self.call::<O>("sendNoParams_1way", |_| Ok(())),
            Kind::OneWayOctet => self.call::<O>("sendOctetSeq_1way", |e| e.put(&payload.octets)),
            Kind::OneWayStruct => self.call::<O>("sendStructSeq_1way", |e| e.put(&payload.structs)),
        }
    }

    fn sync<O: ByteOrder>(&mut self) -> Result<(), Failure> {
        self.call::<O>("sync", |_| Ok(()))
    }
}

fn timed<O: ByteOrder>(options: &Options, operation: &Operation) -> Result<Measured, Failure> {
    let mut caller = Caller::new(options)?;
    for _ in 0..options.warmup {
        caller.one::<O>(operation)?;
    }
    caller.sync::<O>()?;
    let one_way = operation.is_one_way();
    let mut latencies = Vec::with_capacity(if one_way { 0 } else { options.iters });
    let start = Instant::now();
    let mut before = start;
    for _ in 0..options.iters {
        caller.one::<O>(operation)?;
        if !one_way {
            let now = Instant::now();
            latencies.push(nanoseconds(now - before));
            before = now;
        }
    }
    if one_way {
        caller.sync::<O>()?;
    }
    Ok(Measured {
        latencies,
        start,
        end: Instant::now(),
    })
}

/// Times the calls in the order that is asked for.
pub(crate) fn run(
    options: &Options,
    operation: &Operation,
    endian: Endian,
) -> Result<Vec<Measured>, Failure> {
    if options.threads > 1 || options.in_flight > 1 {
        return Err("--endian is for one call at a time".into());
    }
    let measured = match endian {
        Endian::Big => timed::<BigEndian>(options, operation)?,
        Endian::Little => timed::<LittleEndian>(options, operation)?,
    };
    Ok(vec![measured])
}
