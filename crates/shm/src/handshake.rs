//! How two processes come to share memory: over a UNIX socket, on which the client sends what both will have.
//!
//! ```text
//! client                                            server
//!   │ "ZSHM", version, capacity of a ring, octets and │
//!   │ name of the pool (little-endian); with two or   │
//!   │ three descriptors: memory, room's socket, pool  │
//!   ├────────────────────────────────────────────────►│ looks at credentials, seals, size; maps
//!   │          an octet: 0, or why it does not share  │
//!   │◄────────────────────────────────────────────────┤
//! ```
//!
//! A client is not connected before the server has answered. So a refusal is a failure to connect, behind which the client uses the
//! next endpoint of a reference, and not the end of a connection on which requests may have been served.

use crate::connection::{Agreed, process};
use crate::options::ShmOptions;
use crate::pool::{Mapped, NAME, Name, Pool, Pools};
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
const VERSION: u32 = 3;
const HELLO: usize = 20 + NAME;
/// Descriptors that come with it.
const DESCRIPTORS: usize = 3;

/// Why a server does not share memory with a client: the octet with which it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The hello is not one of this version.
    Hello = 1,
    /// The rings have no permitted size.
    Rings = 2,
    Pool = 3,
    User = 4,
    /// The descriptors are not those that belong to the hello, or cannot be used.
    Descriptors = 5,
}

/// The answer to a client whose memory was taken.
const TAKEN: u8 = 0;

/// What a client is told.
const REFUSALS: [(Refusal, io::ErrorKind, &str); 5] = [
    (
        Refusal::Hello,
        io::ErrorKind::ConnectionRefused,
        "it does not know this version of shared memory",
    ),
    (
        Refusal::Rings,
        io::ErrorKind::ConnectionRefused,
        "its property max_ring_octets permits no rings of this size",
    ),
    (
        Refusal::Pool,
        io::ErrorKind::ConnectionRefused,
        "its property max_pool_octets permits no pool of this size",
    ),
    (
        Refusal::User,
        io::ErrorKind::PermissionDenied,
        "this process is of another user, and its property is users=same",
    ),
    (
        Refusal::Descriptors,
        io::ErrorKind::ConnectionRefused,
        "it cannot use the memory",
    ),
];

/// The error of a client that was given this answer. `None` if its memory was taken.
fn refusal(answer: u8) -> Option<io::Error> {
    if answer == TAKEN {
        return None;
    }
    let known = REFUSALS
        .iter()
        .find(|(refusal, ..)| *refusal as u8 == answer);
    let (kind, why) = known.map_or(
        (io::ErrorKind::ConnectionRefused, "it does not say why"),
        |(_, kind, why)| (*kind, *why),
    );
    Some(io::Error::new(
        kind,
        format!("the server does not share memory: {why}"),
    ))
}

/// Offers memory to the server at the other end of a socket, and waits for its answer.
pub(crate) async fn offer(
    socket: Socket,
    options: &ShmOptions,
    pool: Option<&Pool>,
    peer: Address,
) -> io::Result<Agreed> {
    permit(&socket, options)?;
    let capacity = options.capacity();
    let (segment, memory) = Segment::new(segment_octets(capacity))?;
    let (room, of_server) = Socket::pair(Domain::UNIX, Type::STREAM, None)?;
    let of_pool = pool.map_or(0, Pool::octets);
    let mut hello = [0; HELLO];
    let parts: [&[u8]; 5] = [
        &MAGIC,
        &VERSION.to_le_bytes(),
        &capacity.to_le_bytes(),
        &(of_pool as u64).to_le_bytes(),
        &pool.map_or([0; NAME], Pool::name),
    ];
    for (to, from) in hello.iter_mut().zip(parts.into_iter().flatten()) {
        *to = *from;
    }
    let both = [memory.as_fd(), of_server.as_fd()];
    let pool = pool.map(|pool| pool.memory().as_fd());
    let descriptors: Vec<_> = both.into_iter().chain(pool).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    // The first octets of a new socket find room.
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let sent = rustix::net::sendmsg(&socket, &[IoSlice::new(&hello)], &mut ancillary, flags)?;
    if sent != HELLO {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let mut answer = [0];
    let socket = when_readable(socket, |socket| {
        // No more than the answer: bells may follow.
        match rustix::net::recv(socket, &mut answer, RecvFlags::DONTWAIT)? {
            (1, _) => Ok(()),
            _ => Err(Errno::CONNREFUSED),
        }
    })
    .await?;
    let [answer] = answer;
    if let Some(refused) = refusal(answer) {
        return Err(refused);
    }
    Ok(Agreed {
        segment,
        capacity,
        socket,
        room,
        pool: None,
        octets: segment_octets(capacity).saturating_add(of_pool),
        sends: Direction::ToServer,
        local: named_process(Some(std::process::id())),
        peer,
    })
}

/// Takes the memory that the client at the other end of a socket offers, which waits for [`welcome`]. Answers it if the memory is
/// not taken.
pub(crate) async fn take(
    socket: Socket,
    options: &ShmOptions,
    pools: &Pools,
    local: Address,
) -> io::Result<Agreed> {
    let mut hello = [0; HELLO];
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    let socket = when_readable(socket, |socket| {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
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
    let agreed = match permit(&socket, options) {
        Ok(()) => agree(&hello, descriptors, options),
        Err(error) => Err((Refusal::User, error)),
    };
    let Offer {
        segment,
        capacity,
        room,
        pool,
    } = match agreed {
        Ok(offer) => offer,
        Err((refusal, error)) => {
            answer(&socket, refusal as u8)?;
            return Err(error);
        }
    };
    let of_pool = pool.as_ref().map_or(0, |(_, pool)| pool.octets());
    let pool = pool.map(|(name, pool)| pools.keep(name, pool));
    let peer = named_process(process(&socket).and_then(|it| it.process));
    Ok(Agreed {
        segment,
        capacity,
        socket,
        room,
        pool,
        octets: segment_octets(capacity).saturating_add(of_pool),
        sends: Direction::ToClient,
        local,
        peer,
    })
}

/// Tells a client that its memory was taken.
pub(crate) fn welcome(agreed: &Agreed) -> io::Result<()> {
    answer(&agreed.socket, TAKEN)
}

fn answer(socket: &Socket, answer: u8) -> io::Result<()> {
    // The first octet of a socket finds room.
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    rustix::net::send(socket, &[answer], flags)?;
    Ok(())
}

/// The address of a client, which has no name but its process.
fn named_process(id: Option<u32>) -> Address {
    match id {
        Some(id) => named(&format!("shm://(process {id})")),
        None => named("shm://(unnamed)"),
    }
}

/// What a client offers, checked.
struct Offer {
    segment: Segment,
    capacity: u32,
    room: Socket,
    pool: Option<(Name, Mapped)>,
}

fn agree(
    hello: &[u8; HELLO],
    descriptors: Vec<OwnedFd>,
    options: &ShmOptions,
) -> Result<Offer, (Refusal, io::Error)> {
    let refused = |refusal, why| (refusal, io::Error::new(io::ErrorKind::InvalidData, why));
    let unusable = |error| (Refusal::Descriptors, error);
    let (numbers, name) = hello.split_at(HELLO.saturating_sub(NAME));
    let [magic, version, capacity, low, high] = first_numbers(numbers);
    let name = Name::try_from(name).map_err(|error| unusable(io::Error::other(error)))?;
    if magic != u32::from_le_bytes(MAGIC) || version != VERSION {
        return Err(refused(Refusal::Hello, "not a client of this version"));
    }
    if !options.takes(capacity) {
        let why = "the rings have no permitted size";
        return Err(refused(Refusal::Rings, why));
    }
    let of_pool = usize::try_from(u64::from(high) << 32 | u64::from(low));
    let of_pool = of_pool.ok().filter(|octets| options.takes_pool(*octets));
    let why = "the pool has no permitted size";
    let of_pool = of_pool.ok_or_else(|| refused(Refusal::Pool, why))?;
    let mut descriptors = descriptors.into_iter();
    let (Some(memory), Some(room), pool, None) = (
        descriptors.next(),
        descriptors.next(),
        descriptors.next(),
        descriptors.next(),
    ) else {
        let why = "there are not the descriptors that belong to a hello";
        return Err(refused(Refusal::Descriptors, why));
    };
    let pool = match (of_pool, pool) {
        (0, None) => None,
        (octets @ 1.., Some(memory)) => {
            Some((name, Mapped::new(&memory, octets).map_err(unusable)?))
        }
        _ => {
            let why = "a pool has octets and a descriptor";
            return Err(refused(Refusal::Descriptors, why));
        }
    };
    let segment = Segment::of_peer(&memory, segment_octets(capacity)).map_err(unusable)?;
    let room = Socket::from(room);
    // What is no socket has no type.
    if room.r#type().map_err(unusable)? != Type::STREAM {
        let why = "the second descriptor is no stream";
        return Err(refused(Refusal::Descriptors, why));
    }
    Ok(Offer {
        segment,
        capacity,
        room,
        pool,
    })
}

/// The numbers of a hello; zeros for those that are not there.
fn first_numbers(octets: &[u8]) -> [u32; 5] {
    let mut numbers = [0; 5];
    let (words, _) = octets.as_chunks();
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = u32::from_le_bytes(*word);
    }
    numbers
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
