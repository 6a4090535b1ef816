//! How two processes come to share memory: over a UNIX socket, on which the client sends what both will have.
//!
//! ```text
//! client                                            server
//!   │ "ZSHM", version, capacity (little-endian)       │
//!   │ with two descriptors: memory, room's socket     │
//!   ├────────────────────────────────────────────────►│ looks at credentials, seals, size; maps
//! ```
//!
//! The client does not wait for an answer: what it writes is in its ring when the server takes that. A server that does not closes
//! the socket, which ends the connection.

use crate::connection::{Agreed, process};
use crate::options::ShmOptions;
use crate::ring::{Direction, segment_octets};
use crate::sys::Segment;
use crate::transport::named;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use socket2::{Domain, Socket, Type};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use tokio::io::Interest;
use zorb_transport::{Address, register};

const MAGIC: [u8; 4] = *b"ZSHM";
const VERSION: u32 = 1;
const HELLO: usize = 12;

/// Offers memory to the server at the other end of a socket.
pub(crate) fn offer(socket: Socket, options: &ShmOptions, peer: Address) -> io::Result<Agreed> {
    permit(&socket, options)?;
    let capacity = options.capacity();
    let (segment, memory) = Segment::new(segment_octets(capacity))?;
    let (room, of_server) = Socket::pair(Domain::UNIX, Type::STREAM, None)?;
    let mut hello = [0; HELLO];
    let numbers = [MAGIC, VERSION.to_le_bytes(), capacity.to_le_bytes()];
    for (to, from) in hello.iter_mut().zip(numbers.as_flattened()) {
        *to = *from;
    }
    let descriptors = [memory.as_fd(), of_server.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    // The first octets of a new socket find room.
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let sent = rustix::net::sendmsg(&socket, &[IoSlice::new(&hello)], &mut ancillary, flags)?;
    if sent != HELLO {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(Agreed {
        segment,
        capacity,
        socket,
        room,
        sends: Direction::ToServer,
        local: named_process(Some(std::process::id())),
        peer,
    })
}

/// Takes the memory that the client at the other end of a socket offers.
pub(crate) async fn take(
    socket: Socket,
    options: &ShmOptions,
    local: Address,
) -> io::Result<Agreed> {
    permit(&socket, options)?;
    let mut hello = [0; HELLO];
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    let socket = when_readable(socket, |socket| {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut into = [IoSliceMut::new(&mut hello)];
        let received = rustix::net::recvmsg(socket, &mut into, &mut ancillary, flags)?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        // A hello comes in one piece, as it was sent.
        match received.bytes {
            HELLO => Ok(()),
            _ => Err(Errno::PROTO),
        }
    })
    .await?;
    let (segment, capacity, room) = agree(&hello, descriptors, options)?;
    let peer = named_process(process(&socket).and_then(|it| it.process));
    Ok(Agreed {
        segment,
        capacity,
        socket,
        room,
        sends: Direction::ToClient,
        local,
        peer,
    })
}

/// The address of a client, which has no name but its process.
fn named_process(id: Option<u32>) -> Address {
    match id {
        Some(id) => named(&format!("shm://(process {id})")),
        None => named("shm://(unnamed)"),
    }
}

fn agree(
    hello: &[u8; HELLO],
    descriptors: Vec<OwnedFd>,
    options: &ShmOptions,
) -> io::Result<(Segment, u32, Socket)> {
    let refused = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    let (numbers, _) = hello.as_chunks();
    let [magic, version, capacity] = *numbers else {
        return Err(refused("no hello"));
    };
    if magic != MAGIC || u32::from_le_bytes(version) != VERSION {
        return Err(refused("not a client of this version"));
    }
    let capacity = u32::from_le_bytes(capacity);
    if !options.takes(capacity) {
        return Err(refused("the rings have no permitted size"));
    }
    let Ok([memory, room]) = <[OwnedFd; 2]>::try_from(descriptors) else {
        return Err(refused("there are not two descriptors"));
    };
    let segment = Segment::of_peer(&memory, segment_octets(capacity))?;
    let room = Socket::from(room);
    // What is no socket has no type.
    if room.r#type()? != Type::STREAM {
        return Err(refused("the second descriptor is no stream"));
    }
    Ok((segment, capacity, room))
}

/// Whether the process at the other end may share memory with this one.
fn permit(socket: &Socket, options: &ShmOptions) -> io::Result<()> {
    let user = process(socket).map(|it| it.user);
    if options.permits(user) {
        return Ok(());
    }
    let why = "the peer is of another user: the property users=any permits that";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Receives by `receive` once there is something.
async fn when_readable(
    socket: Socket,
    mut receive: impl FnMut(&Socket) -> Result<(), Errno>,
) -> io::Result<Socket> {
    let socket = Arc::new(socket);
    let registered = register(Arc::clone(&socket), Interest::READABLE)?;
    loop {
        let mut readable = registered.readable().await?;
        match receive(&socket) {
            Err(Errno::AGAIN | Errno::INTR) => readable.clear_ready(),
            received => {
                received?;
                break;
            }
        }
    }
    drop(registered);
    Arc::try_unwrap(socket).map_err(|_| io::Error::other("the socket is registered still"))
}
