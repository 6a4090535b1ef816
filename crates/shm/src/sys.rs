//! The mapping of shared memory, with all unsafe code of the crate.
//!
//! A peer may write any octets at any time anywhere into the memory. So nothing here makes a reference to its octets: they are
//! copied, and numbers are atomics, of which each value is checked before it is used.
#![expect(
    unsafe_code,
    reason = "promises that only the owner of a mapping can give"
)]

use bytes::{BufMut, BytesMut};
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

#[cfg(not(miri))]
use {
    rustix::fs::{MemfdFlags, SealFlags},
    rustix::mm::{MapFlags, ProtFlags},
    std::os::fd::{AsFd, OwnedFd},
};

/// Octets of the memory before the rings: one page.
pub(crate) const HEADER: usize = 4096;
/// The seals of a memory whose size is fixed for ever: what lies within it can be touched without a SIGBUS.
#[cfg(not(miri))]
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// Memory that this process and its peer have mapped.
#[derive(Debug)]
pub(crate) struct Segment {
    start: NonNull<u8>,
    octets: usize,
}

// SAFETY: the mapping is of the process, not of a thread, and stays where it is until `Segment` is dropped. It is reached by
// atomics and by copies alone.
unsafe impl Send for Segment {}
// SAFETY: as above. Copies that race with a peer's writes, or with a thread's, give octets of either: they are never referred to.
unsafe impl Sync for Segment {}

impl Segment {
    /// Memory of this process alone, on which Miri looks at what the two ends of a ring do: it knows no descriptors of memory.
    #[cfg(miri)]
    pub(crate) fn new(octets: usize) -> io::Result<(Self, ())> {
        let layout = Self::layout(octets);
        // SAFETY: the layout has octets: those of the header at least.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok((Self { start, octets }, ()))
    }

    #[cfg(miri)]
    fn layout(octets: usize) -> std::alloc::Layout {
        std::alloc::Layout::from_size_align(octets, HEADER).expect("no test needs so much")
    }

    /// Makes memory of this many octets, all of them there, with a size that nobody can change. Returns its descriptor too, for
    /// the peer.
    #[cfg(not(miri))]
    pub(crate) fn new(octets: usize) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create(c"zorb-shm", flags)?;
        let size = u64::try_from(octets).map_err(io::Error::other)?;
        // Pages that are there now cannot be missing when they are touched.
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size)?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        Ok((Self::map(&file, octets)?, file))
    }

    /// Maps the memory that a peer has made.
    ///
    /// # Errors
    /// `InvalidData` if its size is not this one, or could change.
    #[cfg(not(miri))]
    pub(crate) fn of_peer(file: &OwnedFd, octets: usize) -> io::Result<Self> {
        let refused = |why| io::Error::new(io::ErrorKind::InvalidData, why);
        let seals = rustix::fs::fcntl_get_seals(file)
            .map_err(|_| refused("the descriptor is not one of memory"))?;
        if !seals.contains(SEALS) {
            return Err(refused("the memory is not sealed"));
        }
        let size = usize::try_from(rustix::fs::fstat(file)?.st_size);
        if size != Ok(octets) {
            return Err(refused("the memory has another size"));
        }
        Self::map(file, octets)
    }

    #[cfg(not(miri))]
    fn map(file: &OwnedFd, octets: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so the kernel chooses one that nothing else has; the result is owned by the new
        // `Segment`, which alone unmaps it.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                octets,
                access,
                MapFlags::SHARED,
                file.as_fd(),
                0,
            )
        }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, octets })
    }

    /// The word at an offset of the header.
    ///
    /// # Panics
    /// The offset is no multiple of 4, or outside of the header: a fault of this crate.
    pub(crate) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at < HEADER, "a word of the header");
        // SAFETY: the mapping begins at a page, so the address is aligned; the whole header is mapped as long as `self` is
        // borrowed; words of the header are used as atomics by this process, and every value is valid.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// Copies octets into the memory.
    ///
    /// # Panics
    /// They do not lie within the memory behind the header: a fault of this crate.
    pub(crate) fn write(&self, at: usize, octets: &[u8]) {
        self.check(at, octets.len());
        // SAFETY: source and destination are valid for that many octets, by the type and by `check`; they do not overlap, since
        // no reference to the mapping is ever made.
        unsafe {
            ptr::copy_nonoverlapping(octets.as_ptr(), self.start.as_ptr().add(at), octets.len());
        }
    }

    /// Copies octets of the memory behind those of `to`, which has the room.
    ///
    /// # Panics
    /// They do not lie within the memory behind the header, or there is no room: a fault of this crate.
    pub(crate) fn read(&self, at: usize, octets: usize, to: &mut BytesMut) {
        self.check(at, octets);
        let spare = to.spare_capacity_mut();
        assert!(octets <= spare.len(), "room was made");
        // SAFETY: source and destination are valid for that many octets, by `check` and by the assertion, and do not overlap;
        // the copy initialises what `advance_mut` then counts as such. A peer that writes meanwhile changes the octets that are
        // copied, and nothing else.
        unsafe {
            ptr::copy_nonoverlapping(
                self.start.as_ptr().add(at),
                spare.as_mut_ptr().cast(),
                octets,
            );
            to.advance_mut(octets);
        }
    }

    /// Copies octets of the memory into all of `to`.
    ///
    /// # Panics
    /// They do not lie within the memory behind the header: a fault of this crate.
    pub(crate) fn read_into(&self, at: usize, to: &mut [u8]) {
        self.check(at, to.len());
        // SAFETY: source and destination are valid for that many octets, by `check` and by the type; they do not overlap, since
        // no reference to the mapping is ever made. A peer that writes meanwhile changes the octets that are copied, and nothing
        // else.
        unsafe {
            ptr::copy_nonoverlapping(self.start.as_ptr().add(at), to.as_mut_ptr(), to.len());
        }
    }

    fn check(&self, at: usize, octets: usize) {
        let end = at.checked_add(octets);
        assert!(
            at >= HEADER && end.is_some_and(|end| end <= self.octets),
            "within the memory"
        );
    }
}

impl Drop for Segment {
    #[cfg(miri)]
    fn drop(&mut self) {
        // SAFETY: `new` has allocated it with this layout.
        unsafe { std::alloc::dealloc(self.start.as_ptr(), Self::layout(self.octets)) };
    }

    #[cfg(not(miri))]
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, whole, and nothing refers to it any more: words are borrowed from `self`.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.octets) };
        debug_assert!(unmapped.is_ok());
    }
}
