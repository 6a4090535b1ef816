//! Properties of this host, from the operating system.

/// Returns this host's name from the kernel (`uname`), which omniORB writes into references.
#[must_use]
pub fn host_name() -> Option<String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    Some(name.trim_end().to_owned()).filter(|name| !name.is_empty())
}
