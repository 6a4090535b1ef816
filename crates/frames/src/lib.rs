//! Streams of frames over datagrams, without retransmission: for audio and video, whose late frames are of no use.
//!
//! CORBA has the control (where frames go, how many a second, when they begin and end), and the frames go beside it, as in the Simple
//! Flow Protocol of the OMG's Audio/Video Streams. A [`Splitter`] makes datagrams of frames, each of at most the octets that the network
//! carries in one: a UDP datagram, a frame of AAL5. An [`Assembler`] makes frames of datagrams. A frame that lacks a piece is dropped
//! whole, and nothing is sent again.
//!
//! ```
//! use zorb_frames::{Assembler, Limits, Splitter};
//!
//! // The numbers of the stream are agreed upon by a call. A random one keeps strangers out who cannot read the network.
//! let mut splitter = Splitter::new(0x5eed, 1_400).expect("room for octets behind the header");
//! let mut assembler = Assembler::new(0x5eed, Limits::default());
//!
//! let picture = vec![7; 10_000];
//! let mut shown = Vec::new();
//! splitter.send(40_000, &picture, |datagram| {
//!     // A socket, which may lose it.
//!     shown.extend(assembler.take(datagram));
//!     Ok(())
//! })?;
//! assert_eq!(shown[0].octets, picture);
//! assert_eq!(shown[0].timestamp, 40_000);
//! assert_eq!(assembler.counts().frames, 1);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Both are sans I/O: they open no socket, read no clock and start no thread.
//!
//! # On the wire
//! A header of [`HEADER`] octets, with numbers in big-endian order, and a piece of the frame:
//!
//! | octets | |
//! |---|---|
//! | 0 to 3 | `ZAV1` |
//! | 4 to 7 | the number of the stream |
//! | 8 to 11 | the number of the frame, modulo 2³² |
//! | 12 and 13 | the number of the piece, from 0 |
//! | 14 and 15 | how many pieces the frame has |
//! | 16 to 23 | the time stamp, in a unit that both ends know |
//!
//! # Hostile senders
//! What a datagram says is checked against [`Limits`] before it is kept, so no sender can make an assembler hold more than
//! [`Limits::max_pending`] frames of [`Limits::max_frame_octets`]. Nothing proves who has sent a datagram: connect the socket, so that the
//! kernel drops those of other addresses, and choose the number of the stream at random.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

mod assembler;
mod header;
mod splitter;

pub use assembler::{Assembler, Counts, Frame, Limits};
pub use header::HEADER;
pub use splitter::Splitter;
