//! System calls that only the C library has.

/// Has the allocator return freed memory to the system. glibc otherwise keeps freed memory for later, of which a
/// measurement could not tell whether the server still holds it.
#[expect(unsafe_code, reason = "the allocator has no other interface")]
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` takes any number, and locks what it looks at.
    let _ = unsafe { libc::malloc_trim(0) };
}
