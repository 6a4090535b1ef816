//! Circuits without the session layer.
use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use rustix::io::Errno;
use socket2::Socket;

use crate::{
    address::{CircuitId, Quality},
    session::Config,
    sys,
};

/// An open circuit whose frames are sent and received without sessions: a frame may be lost without notice. It is for
/// protocols that tolerate losses, and is the baseline for the cost of the [session layer](crate::session).
///
/// One process at each end opens a circuit, either so or with sessions.
///
/// # Cost
/// A system call for each frame.
#[derive(Debug)]
pub struct FrameSocket {
    socket: Socket,
    buffer: u64,
    max_sdu: usize,
}

impl FrameSocket {
    /// Opens a circuit. `receive_buffer` is the kernel's buffer for frames that were not read yet, as at
    /// [`AtmOptions::receive_buffer`](crate::AtmOptions::receive_buffer). Frames have at most the octets that `quality`
    /// states, or [`Config::MAX_SDU`].
    ///
    /// # Errors
    /// `Unsupported` where the kernel has no ATM, `NotFound` without such an interface, `AddrInUse` where the circuit is open.
    pub fn open(circuit: CircuitId, quality: &Quality, receive_buffer: usize) -> io::Result<Self> {
        let max_sdu = quality.sdu().map_or(Config::MAX_SDU, usize::from);
        let socket = sys::open(circuit, quality, max_sdu)?;
        socket.set_nonblocking(false)?;
        let buffer = sys::set_receive_buffer(&socket, receive_buffer)?;
        Ok(Self {
            socket,
            buffer,
            max_sdu,
        })
    }

    /// Returns the size of the receive buffer, in the unit of [`session::frame::cost`](crate::session::frame::cost). A
    /// frame that does not fit is lost.
    #[must_use]
    pub const fn receive_buffer(&self) -> u64 {
        self.buffer
    }

    /// Sends a frame of at most the octets that the circuit's [`Quality`] states. The call does not block.
    ///
    /// # Errors
    /// `WouldBlock` where the device is slower than the writer; `InvalidInput` or the operating system's error for a
    /// frame that is too long; `BrokenPipe` where the interface is gone.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        sys::send(&self.socket, frame, &[])?;
        Ok(())
    }

    /// Sets how long [`receive`](Self::receive) blocks at most; without a limit, the default, it blocks until a frame
    /// comes.
    ///
    /// # Errors
    /// The operating system's error, for a limit of zero.
    pub fn set_receive_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(limit)
    }

    /// Receives a frame, which replaces the contents of `frame`, and blocks the thread until one has come, within the
    /// limit. Returns whether one has come.
    ///
    /// # Errors
    /// `BrokenPipe` where the interface is gone; other errors of the operating system.
    pub fn receive(&self, frame: &mut Vec<u8>) -> io::Result<bool> {
        self.receive_by(frame, sys::receive_blocking)
    }

    /// Receives a frame that has come already, which replaces the contents of `frame`. Returns whether there is one.
    ///
    /// # Errors
    /// Those of [`receive`](Self::receive).
    pub fn try_receive(&self, frame: &mut Vec<u8>) -> io::Result<bool> {
        self.receive_by(frame, sys::receive)
    }

    fn receive_by(
        &self,
        frame: &mut Vec<u8>,
        receive: fn(&Socket, &mut Vec<u8>) -> Result<usize, Errno>,
    ) -> io::Result<bool> {
        frame.clear();
        frame.reserve(self.max_sdu);
        match receive(&self.socket, frame) {
            Ok(1..) => Ok(true),
            Ok(0) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for FrameSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
