//! Properties of this host, from the operating system.

/// This host's name, as the kernel has it and omniORB writes it.
#[must_use]
pub fn host_name() -> Option<String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    Some(name.trim_end().to_owned()).filter(|name| !name.is_empty())
}
