use crate::flavor::Life;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// The command line.
#[derive(Parser, Clone, Debug)]
// The last of two wins.
#[command(args_override_self = true)]
pub(crate) struct Options {
    /// Where the server wrote its references, a line each, or one reference. Of several, `noparams` calls any at random.
    #[arg(long)]
    pub(crate) ior: PathBuf,
    /// noparams, octet, long, struct, echostring, echostruct, echooctet, oneway_noparams,
    /// oneway_octet, oneway_struct; crowd, connections that do nothing; or shutdown.
    #[arg(long, default_value = "noparams")]
    pub(crate) op: String,
    /// Elements of the argument; connections of a crowd.
    #[arg(long, default_value_t = 0)]
    pub(crate) size: usize,
    /// Timed calls per thread.
    #[arg(long, default_value_t = 1000)]
    pub(crate) iters: usize,
    /// Untimed calls before them.
    #[arg(long, default_value_t = 100)]
    pub(crate) warmup: usize,
    /// Client threads, each with a runtime and a connection of its own.
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Echoed in the result.
    #[arg(long, default_value = "zorb")]
    pub(crate) peer: String,
    #[command(flatten)]
    pub(crate) life: Life,
    /// Calls under way at a time on the one connection, each from a task of its own. The timed calls are shared out
    /// among them.
    #[arg(long, default_value_t = 1)]
    pub(crate) in_flight: usize,
    /// The type by which octet sequences are passed.
    #[arg(long, default_value = "slice")]
    pub(crate) octets: Octets,
    /// Call without the stubs, by requests that are made at run time. They have one argument, or none, and no result.
    #[arg(long)]
    pub(crate) dii: Option<Dii>,
    /// Tell what is allocated during the timed calls.
    #[arg(long)]
    pub(crate) count_allocations: bool,
    /// The part of an octet sequence that the servant reads: the same option as the server's.
    #[arg(long, default_value = "all")]
    pub(crate) look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Octets {
    Slice,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Dii {
    /// One request for all calls, with its argument.
    Reused,
    /// A request for each call, and an argument made for it.
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Look {
    All,
    Ends,
}
