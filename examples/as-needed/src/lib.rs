//! CORBA as needed, in the three designs of Mishra and Shi, *Improving the Performance of Distributed CORBA Applications*: what the
//! programs of the comparison share. [The page](../../../docs/as-needed.md) says which design to use when.
//!
//! - **Integration**: the ORB does it, by the transport [`Native`](zorb_native::Native). Nothing of this crate is needed.
//! - **Service**: an [`agent`] beside the naming service knows which objects have a way beside CORBA ([`server`]). A client asks it
//!   ([`client`]), and calls over a [`raw`] socket where both ends are alike.
//! - **Wrapper**: `omniorb/as_needed.h` does the same around the stubs of another ORB, with standard CORBA and POSIX sockets alone.
//!
//! [`relay`] delays what goes between client and server, [`hosts`] are those that it stands between, [`table`] is the paper's
//! Table 1, and [`parts`] measures what marshalling, byte order, padding and anys take.
#![forbid(unsafe_code)]

pub mod agent;
pub mod client;
pub mod hosts;
pub mod parts;
pub mod raw;
pub mod relay;
pub mod server;
pub mod table;

/// The code generated from `as_needed.idl`.
#[zorb::idl_file("as_needed.idl")]
mod idl {}

pub use idl::as_needed::{
    Agent, AgentRef, AgentServant, Bypass, Echo, EchoRef, EchoServant, Full, NotAlike, Unknown,
};

/// What a program may fail with.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What this program is, with strings in UTF-8, as every `String` of Rust is. `omniorb/as_needed.h` makes the same line.
#[must_use]
pub fn platform() -> String {
    let order = match cfg!(target_endian = "little") {
        true => "little",
        false => "big",
    };
    format!(
        "zorb-raw/{} {order} p{} a{}.{}.{}.{} UTF-8",
        raw::VERSION,
        size_of::<usize>(),
        align_of::<u16>(),
        align_of::<u32>(),
        align_of::<u64>(),
        align_of::<f64>(),
    )
}

/// The application: gives back what it is given.
#[derive(Debug, Clone, Copy)]
pub struct Echoing;

/// The number of its operation on a raw socket.
pub const ECHO_STRING: u32 = 0;

impl Echo for Echoing {
    async fn echo_string(&self, text: &str) -> Result<String, zorb::SystemException> {
        Ok(text.to_owned())
    }
}

impl server::RawServant for Echoing {
    async fn call(
        &self,
        operation: u32,
        arguments: &[u8],
    ) -> Result<Vec<u8>, zorb::SystemException> {
        match operation {
            ECHO_STRING => {
                let text = std::str::from_utf8(arguments);
                let text = text.map_err(zorb::SystemException::data_conversion)?;
                Ok(self.echo_string(text).await?.into_bytes())
            }
            _ => Err(zorb::SystemException::bad_operation(
                "no operation has this number",
            )),
        }
    }
}
