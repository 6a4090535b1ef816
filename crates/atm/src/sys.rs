//! The system calls of AF_ATMPVC sockets, with all unsafe code of the crate.
//!
//! The layouts are those of `linux/atm.h` and `linux/atmpvc.h`, which have never changed since Linux has ATM.
#![expect(
    unsafe_code,
    reason = "promises that only the caller of the operating system can give"
)]

use std::{
    io::{self, IoSlice},
    os::fd::AsRawFd,
};

use bytes::{BufMut, BytesMut};
use rustix::{
    buffer::spare_capacity,
    io::{Errno, retry_on_intr},
    net::{self, RecvFlags, SendAncillaryBuffer, SendFlags, sockopt},
};
use socket2::{Domain, Protocol, Socket, Type};

use crate::address::{CircuitId, Class, Quality};

const AF_ATMPVC: libc::c_int = 8;
const ATM_AAL5: u8 = 5;
const SOL_ATM: libc::c_int = 264;
const SO_ATMQOS: libc::c_int = 0x4202_0054;
const ATM_UBR: u8 = 1;
const ATM_CBR: u8 = 2;

/// `struct sockaddr_atmpvc`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Name {
    family: u16,
    padding: u16,
    itf: i16,
    vpi: i16,
    vci: i32,
}
const _: () = assert!(size_of::<Name>() == 12 && align_of::<Name>() == 4);

/// `struct atm_trafprm`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Traffic {
    class: u8,
    padding: [u8; 3],
    max_pcr: i32,
    pcr: i32,
    min_pcr: i32,
    max_cdv: i32,
    max_sdu: i32,
    /// Fields of ABR alone.
    abr: [u32; 4],
}
const _: () = assert!(size_of::<Traffic>() == 40 && align_of::<Traffic>() == 4);

/// `struct atm_qos`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Qos {
    transmit: Traffic,
    receive: Traffic,
    aal: u8,
    padding: [u8; 3],
}
const _: () = assert!(size_of::<Qos>() == 84 && align_of::<Qos>() == 4);

/// Opens a circuit. Each read or write is one AAL5 frame, and none blocks.
pub(crate) fn open(circuit: CircuitId, quality: &Quality, max_sdu: usize) -> io::Result<Socket> {
    let family = Domain::from(AF_ATMPVC);
    let protocol = Protocol::from(i32::from(ATM_AAL5));
    let socket = Socket::new(family, Type::DGRAM, Some(protocol)).map_err(|error| {
        explained(
            error,
            libc::EAFNOSUPPORT,
            io::ErrorKind::Unsupported,
            || {
                "this kernel has no ATM sockets (AF_ATMPVC); on Linux they are in the module atm"
                    .into()
            },
        )
    })?;
    socket.set_nonblocking(true)?;
    let too_many = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let peak = i32::try_from(quality.peak_cell_rate().unwrap_or(0)).map_err(too_many)?;
    let traffic = Traffic {
        class: match quality.class() {
            Class::Ubr => ATM_UBR,
            Class::Cbr => ATM_CBR,
        },
        max_pcr: peak,
        pcr: peak,
        max_sdu: i32::try_from(max_sdu).map_err(too_many)?,
        ..Traffic::default()
    };
    let qos = Qos {
        transmit: traffic,
        receive: traffic,
        aal: ATM_AAL5,
        ..Qos::default()
    };
    set_qos(&socket, &qos)?;
    // The kernel reports room when a whole frame fits, and counts twice the size that is asked for.
    socket.set_send_buffer_size(max_sdu.saturating_mul(2))?;
    bind(&socket, circuit).map_err(|error| {
        let error = explained(error, libc::ENODEV, io::ErrorKind::NotFound, || {
            format!("there is no ATM interface {}", circuit.interface())
        });
        let error = explained(error, libc::EADDRINUSE, io::ErrorKind::AddrInUse, || {
            format!("the circuit {circuit} is open in another process or in another way")
        });
        explained(error, libc::EPERM, io::ErrorKind::PermissionDenied, || {
            "circuits below 32 need the capability CAP_NET_BIND_SERVICE".into()
        })
    })?;
    Ok(socket)
}

fn explained(
    error: io::Error,
    code: i32,
    kind: io::ErrorKind,
    text: impl FnOnce() -> String,
) -> io::Error {
    match error.raw_os_error() {
        Some(found) if found == code => io::Error::new(kind, format!("{} ({error})", text())),
        _ => error,
    }
}

fn set_qos(socket: &Socket, qos: &Qos) -> io::Result<()> {
    const SIZE: libc::socklen_t = 84;
    const { assert!(size_of::<Qos>() == SIZE as usize) };
    // SAFETY: the descriptor is open, as `Socket` owns it. The value pointed to is a live `Qos`, which is laid out as
    // the `struct atm_qos` that SO_ATMQOS reads, without uninitialised octets since its padding is fields of it, and of
    // the size that is passed; setsockopt(2) reads it before it returns, and keeps no pointer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            SOL_ATM,
            SO_ATMQOS,
            (&raw const *qos).cast(),
            SIZE,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the quality that the kernel has for an open circuit: of what is sent, then of what is received.
pub(crate) fn quality(socket: &Socket) -> io::Result<[Quality; 2]> {
    let qos = get_qos(socket)?;
    Ok([quality_of(&qos.transmit)?, quality_of(&qos.receive)?])
}

fn quality_of(traffic: &Traffic) -> io::Result<Quality> {
    let unknown = || {
        let text = format!(
            "expected a traffic class of 1 or 2 and frames of 256 to 65535 octets, found class {} and {} octets",
            traffic.class, traffic.max_sdu
        );
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let mut quality = Quality::default().with_class(match traffic.class {
        ATM_UBR => Class::Ubr,
        ATM_CBR => Class::Cbr,
        _ => return Err(unknown()),
    });
    // The kernel writes no limit as 0 or as -1.
    if let Ok(cells @ 1..) = u32::try_from(traffic.max_pcr) {
        quality = quality.with_peak_cell_rate(cells);
    }
    let octets = u32::try_from(traffic.max_sdu).ok();
    octets
        .and_then(|octets| quality.with_sdu(octets))
        .ok_or_else(unknown)
}

fn get_qos(socket: &Socket) -> io::Result<Qos> {
    const SIZE: libc::socklen_t = 84;
    const { assert!(size_of::<Qos>() == SIZE as usize) };
    let mut qos = Qos::default();
    let mut size = SIZE;
    // SAFETY: the descriptor is open, as `Socket` owns it. The value pointed to is a live `Qos`, borrowed exclusively, of
    // the size that `size` states, which is live and exclusive too; getsockopt(2) writes no more octets of it than that,
    // and keeps no pointer. `Qos` consists of integers, so whatever the kernel writes is one.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            SOL_ATM,
            SO_ATMQOS,
            (&raw mut qos).cast(),
            &raw mut size,
        )
    };
    match result {
        0 => Ok(qos),
        _ => Err(io::Error::last_os_error()),
    }
}

fn bind(socket: &Socket, circuit: CircuitId) -> io::Result<()> {
    const SIZE: libc::socklen_t = 12;
    const { assert!(size_of::<Name>() == SIZE as usize) };
    const FAMILY: u16 = 8;
    let name = Name {
        family: FAMILY,
        padding: 0,
        itf: circuit.interface().cast_signed(),
        vpi: i16::from(circuit.vpi()),
        vci: i32::from(circuit.vci()),
    };
    // SAFETY: the descriptor is open, as `Socket` owns it. The name pointed to is a live `Name`, which is laid out as
    // the `struct sockaddr_atmpvc` that a socket of AF_ATMPVC reads, without uninitialised octets since its padding is
    // a field of it, and of the size that is passed; bind(2) reads it before it returns, and keeps no pointer.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const name).cast(), SIZE) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Asks for a receive buffer of `octets` octets, beyond the system's limit if the process may. Returns the size against
/// which the kernel counts frames.
pub(crate) fn set_receive_buffer(socket: &Socket, octets: usize) -> io::Result<u64> {
    if sockopt::set_socket_recv_buffer_size_force(socket, octets).is_err() {
        socket.set_recv_buffer_size(octets)?;
    }
    let size = socket.recv_buffer_size()?;
    Ok(u64::try_from(size).unwrap_or(0))
}

/// Receives a frame behind the contents of `frame`, within its capacity. Returns its octets; 0 if the interface is
/// gone.
pub(crate) fn receive(socket: &Socket, frame: &mut Vec<u8>) -> Result<usize, Errno> {
    let flags = RecvFlags::DONTWAIT;
    retry_on_intr(|| net::recv(socket, spare_capacity(frame), flags)).map(|(received, _)| received)
}

/// Receives a frame in two parts: its first octets into `head`, and the others behind the contents of `buf`, within its
/// capacity. Returns its octets; 0 if the interface is gone.
pub(crate) fn receive_parts(
    socket: &Socket,
    head: &mut [u8],
    buf: &mut BytesMut,
) -> Result<usize, Errno> {
    let spare = buf.spare_capacity_mut();
    let mut parts = [
        libc::iovec {
            iov_base: head.as_mut_ptr().cast(),
            iov_len: head.len(),
        },
        libc::iovec {
            iov_base: spare.as_mut_ptr().cast(),
            iov_len: spare.len(),
        },
    ];
    // SAFETY: `msghdr` consists of integers and pointers, for which zeros are valid: null pointers and lengths of 0.
    let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    let received = retry_on_intr(|| {
        // SAFETY: the descriptor is open, as `Socket` owns it. `message` is a live `msghdr` with the two live entries of
        // `parts`, which name the whole of `head` and of `buf`'s spare capacity, both borrowed exclusively until after
        // the call; it names no address and no ancillary data. recvmsg(2) writes within these regions, reads neither,
        // and keeps no pointer.
        let received =
            unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        usize::try_from(received)
            .map_err(|_| Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
    })?;
    let behind = received.saturating_sub(head.len());
    // SAFETY: `advance_mut` asks that the next `behind` octets are initialised and lie within the capacity. recvmsg(2)
    // has returned how many octets it stored, which fill `head` first, then the region of `buf`'s spare capacity from its
    // beginning; without MSG_TRUNC it reports no more than it stored. Nothing has touched `buf` since.
    unsafe {
        buf.advance_mut(behind);
    }
    Ok(received)
}

/// Receives a frame as [`receive`] does, and blocks until there is one, or the socket's time limit has passed.
pub(crate) fn receive_blocking(socket: &Socket, frame: &mut Vec<u8>) -> Result<usize, Errno> {
    net::recv(socket, spare_capacity(frame), RecvFlags::empty()).map(|(received, _)| received)
}

/// Sends a frame of two parts, without waiting.
///
/// Where the interface is gone the kernel raises SIGPIPE in spite of the flag. A Rust program ignores it, and so must a
/// program in another language that loads this library.
pub(crate) fn send(socket: &Socket, head: &[u8], payload: &[u8]) -> Result<usize, Errno> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    if payload.is_empty() {
        return retry_on_intr(|| net::send(socket, head, flags));
    }
    let parts = [IoSlice::new(head), IoSlice::new(payload)];
    retry_on_intr(|| {
        let mut nothing = SendAncillaryBuffer::default();
        net::sendmsg(socket, &parts, &mut nothing, flags)
    })
}
