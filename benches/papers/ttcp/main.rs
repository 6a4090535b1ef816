//! The throughput experiment, `papers-ttcp`: a transmitter floods a receiver with buffers.
//!
//! `papers-ttcp serve --ior FILE …` writes its reference to FILE and serves; `papers-ttcp send --ior FILE …` reads requests, a
//! line each, and answers each with a line of JSON:
//! - `send TYPE OCTETS BUFFERS MILLISECONDS`: floods the receiver with that many buffers of so many octets of chars, octets,
//!   string or structs, or with as many as can be sent in that time, and waits until all have been served.
//! - `call oneway|twoway train|robin CALLS`: so many calls without parameters, to one object after the other, each of which
//!   has all its calls before the next (train), or one by one in turns (robin).
//! - `shutdown`: ends the server.
//!
//! Both take `--over`: the ORB, the transport layer alone, or sockets.

mod layer;
mod orb;
mod send;

use clap::{Parser, Subcommand};
use zorb_papers::dialogue::Failure;
use zorb_papers::place::{Client, Over, Server, in_a_task};

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// The receiver.
    Serve {
        #[command(flatten)]
        server: Server,
        /// Objects; their references are the lines of FILE.
        #[arg(long, default_value_t = 1)]
        servants: usize,
    },
    /// The transmitter.
    Send {
        #[command(flatten)]
        client: Client,
    },
}

fn main() -> Result<(), Failure> {
    match Options::parse().role {
        Role::Serve { server, servants } => match server.common.over {
            Over::Orb => in_a_task(orb::serve(server, servants)),
            Over::Transport => in_a_task(layer::serve(server)),
            Over::Sockets => server.over_sockets(),
        },
        // Sockets and the dialogue block the task's thread, which then has nothing else to do.
        Role::Send { client } => in_a_task(send::converse(client)),
    }
}
