//! The system calls of a stream socket, with all unsafe code of the crate.
//!
//! rustix moves octets, and on Linux it makes the system call itself. The wrappers of the C library are cancellation
//! points, which cost each call of a program with threads two atomic operations and some sixty instructions. Threads of
//! Rust are never cancelled.
#![expect(
    unsafe_code,
    reason = "promises that only the caller of the operating system can give"
)]

use std::{
    io::{self, IoSlice},
    os::fd::AsRawFd,
    sync::Arc,
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use rustix::{
    io::{Errno, retry_on_intr},
    net::{self, RecvFlags, SendAncillaryBuffer, SendFlags},
};
use socket2::Socket;
use tokio::io::{Interest, unix::AsyncFd};

/// Registers a socket with the current runtime's reactor, for transports over sockets of their own.
///
/// # Errors
/// The operating system refuses.
///
/// # Panics
/// Outside a runtime, and inside one that was built without I/O.
pub fn register<S: OwnsSocket>(socket: S, interest: Interest) -> io::Result<AsyncFd<S>> {
    // SAFETY: the descriptor must be valid, and stay open and the same, as long as the `AsyncFd` has it. `S` is a
    // `Socket` or an `Arc` of one, and nothing else, since `OwnsSocket` cannot be implemented elsewhere. A `Socket` owns its
    // descriptor, opens it before it exists and closes it when it is dropped, and its `as_raw_fd` returns this one
    // always; an `Arc` returns that of its `Socket`, which it keeps. The `AsyncFd` owns the `Socket`, or a share of it,
    // from here on; others have it by shared reference only, which cannot close it.
    let registered = unsafe { AsyncFd::register_with_interest(socket, interest) };
    Ok(registered?)
}

/// A handle that keeps a socket open: the socket itself, or a share of it. No other type can implement it.
pub trait OwnsSocket: AsRawFd + sealed::Sealed {}
impl OwnsSocket for Socket {}
impl OwnsSocket for Arc<Socket> {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Socket {}
    impl Sealed for super::Arc<super::Socket> {}
}

/// Receives into the spare capacity of `buf`; returns the number of octets, 0 being the end of the stream. Without any
/// octets it returns `WouldBlock`: at once, or, if `wait`, when the socket's timeout has passed.
///
/// The octets are not zeroed first: for a buffer of 64 KiB that costs more than a small message does.
#[inline]
pub(crate) fn receive(socket: &Socket, buf: &mut BytesMut, wait: bool) -> io::Result<usize> {
    let flags = if wait {
        RecvFlags::empty()
    } else {
        RecvFlags::DONTWAIT
    };
    loop {
        match receive_with(socket, buf, flags) {
            // A signal handler has interrupted the call. Calls that do not wait hardly ever see that.
            Err(Errno::INTR) => {}
            received => return received.map_err(|errno| refused(buf, errno)),
        }
    }
}

/// Waits and receives as [`receive`] does, but returns `Interrupted` when a signal comes first. A further call would
/// begin the socket's timeout anew.
pub(crate) fn receive_once(socket: &Socket, buf: &mut BytesMut) -> io::Result<usize> {
    receive_with(socket, buf, RecvFlags::empty()).map_err(|errno| refused(buf, errno))
}

#[inline]
fn receive_with(socket: &Socket, buf: &mut BytesMut, flags: RecvFlags) -> Result<usize, Errno> {
    let spare = buf.spare_capacity_mut();
    if spare.is_empty() {
        // recv() would return 0 here, which means the end of the stream.
        return Err(Errno::INVAL);
    }
    let (_, received) = net::recv(socket, spare, flags)?;
    // SAFETY: `advance_mut` asks that the next `received` octets are initialised and lie within the capacity.
    // recv(2) has returned how many octets it stored at the beginning of the region that it was given, which was the
    // whole of `buf`'s spare capacity and begins where `advance_mut` counts from; it stores no more than the region
    // holds, and reports no more without MSG_TRUNC, which this call does not pass. Nothing has touched `buf` since.
    unsafe {
        buf.advance_mut(received);
    }
    Ok(received)
}

/// Returns the error of a failed receive for its callers.
#[cold]
fn refused(buf: &mut BytesMut, errno: Errno) -> io::Error {
    if buf.spare_capacity_mut().is_empty() {
        let reason = "no room in the buffer to read into";
        return io::Error::new(io::ErrorKind::InvalidInput, reason);
    }
    errno.into()
}

/// Sends as much of `chunks` as fits, in order, by one system call, without SIGPIPE and without waiting.
///
/// A Rust program ignores SIGPIPE, but a library that a C program loads cannot decide that.
#[inline]
pub(crate) fn send(socket: &Socket, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
    if let [chunk] = chunks {
        return Ok(retry_on_intr(|| net::send(socket, chunk, SEND_FLAGS))?);
    }
    let chunks = chunks.get(..MAX_CHUNKS).unwrap_or(chunks);
    Ok(retry_on_intr(|| {
        let mut nothing = SendAncillaryBuffer::default();
        net::sendmsg(socket, chunks, &mut nothing, SEND_FLAGS)
    })?)
}

/// Sets the number of unread octets that make a socket readable (`SO_RCVLOWAT`): a poller is not woken for fewer. The
/// end of the stream and errors make it readable in any case.
pub(crate) fn set_low_water(socket: &Socket, octets: libc::c_int) -> io::Result<()> {
    set_int(socket, libc::SO_RCVLOWAT, octets)
}

/// Sends packets to hosts of directly connected networks only (`SO_DONTROUTE`).
pub(crate) fn set_dont_route(socket: &Socket) -> io::Result<()> {
    set_int(socket, libc::SO_DONTROUTE, 1)
}

/// Sets an option of the socket level whose value is an int.
fn set_int(socket: &Socket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, as `Socket` owns it. The value that is pointed to is a local of the size that is
    // passed, an int; setsockopt(2) reads it before it returns, and keeps no pointer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const value).cast(),
            SIZE_OF_INT,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets the congestion control (`TCP_CONGESTION`). Accepted connections inherit that of their listener.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) fn set_congestion_control(socket: &Socket, name: &str) -> io::Result<()> {
    Ok(net::sockopt::set_tcp_congestion(socket, name)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) fn set_congestion_control(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets how long octets may stay without an acknowledgement (`TCP_USER_TIMEOUT`), in milliseconds. Accepted connections
/// inherit that of their listener.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn set_user_timeout(socket: &Socket, limit: Duration) -> io::Result<()> {
    let limit = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
    Ok(net::sockopt::set_tcp_user_timeout(socket, limit)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn set_user_timeout(_: &Socket, _: Duration) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[expect(clippy::cast_possible_truncation, reason = "an int has few octets")]
const SIZE_OF_INT: libc::socklen_t = size_of::<libc::c_int>() as libc::socklen_t;

/// The flags of each send. The socket itself is blocking, for callers that wait in it.
const SEND_FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::from_bits_retain(
    libc::MSG_NOSIGNAL.cast_unsigned(),
));

/// Most chunks of one send: UIO_MAXIOV of Linux and IOV_MAX of the BSDs; sendmsg() refuses more.
const MAX_CHUNKS: usize = 1024;
