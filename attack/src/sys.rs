//! System calls that only the C library has.

use std::io;

/// Has the allocator return freed memory to the system. glibc otherwise keeps freed memory for later, of which a
/// measurement could not tell whether the server still holds it.
#[expect(unsafe_code, reason = "the allocator has no other interface")]
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` takes any number, and locks what it looks at.
    let _ = unsafe { libc::malloc_trim(0) };
}

/// Lets this thread, and those that it starts, run as `SCHED_IDLE`: while no other thread wants their CPU. A thread at nice 19 may
/// use up a time slice of some milliseconds before a thread that wakes has its turn.
#[expect(unsafe_code, reason = "no library in use here sets this policy")]
pub(crate) fn yield_to_others() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 stands for the calling thread, and the parameters outlive the call.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
