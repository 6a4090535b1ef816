//! Tests of served connections.

mod cache_hits;
mod held_memory;
mod pending_requests;
mod promotion;
mod requests;
mod thread_per_connection;
mod waiting_requests;

use zorb_cdr::NativeEndian;
use zorb_giop::{
    LocateRequestHeader, Message, ReplyHeader, ReplyStatus, SystemException, TargetAddress,
    Version, cancel_request,
};

/// The exception of a reply.
fn exception(message: &Message) -> SystemException {
    let (_, status, body) = ReplyHeader::head(message).unwrap();
    assert_eq!(status, ReplyStatus::SystemException);
    let format = zorb_cdr::WireFormat::default();
    let mut d = zorb_cdr::Decoder::<NativeEndian>::at(&message.frame, body, format).unwrap();
    zorb_giop::read_system_exception(&mut d).unwrap()
}

fn cancel(id: u32) -> Vec<u8> {
    let encoder = zorb_cdr::Encoder::<NativeEndian>::new(zorb_cdr::WireFormat::default());
    cancel_request(encoder, Version::V1_2, id).unwrap().to_vec()
}

fn locate(id: u32, key: &[u8]) -> Vec<u8> {
    let encoder = zorb_cdr::Encoder::<NativeEndian>::new(zorb_cdr::WireFormat::default());
    let target = TargetAddress::Key(key);
    let message = LocateRequestHeader::encode_for(encoder, Version::V1_2, id, key, &target);
    message.unwrap().to_vec()
}
