//! The IDL Cubit: the server cubes what it is sent, the client checks it.
//!
//! `papers-cubit serve --ior FILE …` writes its reference to FILE and serves; `cubit call --ior FILE …` reads requests, a
//! line each, and answers each with a line of JSON:
//! - `call OPERATION ELEMENTS CALLS`: so many calls of void, octet, short, long or struct, or of octets, longs or structs
//!   with a sequence of so many elements.
//! - `shutdown`: ends the server.
//!
//! `papers-cubit protocols` prints what messages and transports the ORB knows, a pair in each line: the minor version of GIOP, or
//! `lite` for GIOPlite, and the scheme of plain endpoints.
//!
//! `papers-cubit machine` measures by itself, in a machine that has circuits of ATM and no input.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

mod call;
mod cubes;
mod machine;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use zorb::Version;
use zorb::transport::Registry;
use zorb_papers::dialogue::Failure;
use zorb_papers::place::{Client, Over, Server, in_a_task};

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Cubes.
    Serve {
        #[command(flatten)]
        server: Server,
    },
    /// Has things cubed.
    Call {
        #[command(flatten)]
        client: Client,
    },
    /// Prints the protocols and transports of the ORB.
    Protocols,
    /// Has things cubed over TCP and circuits of ATM, round by round.
    Machine(machine::Options),
    /// Cubes over them.
    ServeMachine {
        /// The file for the reference.
        ior: PathBuf,
    },
    /// Sends frames back.
    ServeFrames,
}

fn main() -> Result<(), Failure> {
    match Options::parse().role {
        Role::Protocols => {
            for scheme in Registry::default().schemes() {
                for minor in 0..=Version::HIGHEST.minor {
                    println!("{minor} {scheme}");
                }
                println!("lite {scheme}");
            }
            Ok(())
        }
        Role::Machine(options) => in_a_task(machine::measure(options)),
        Role::ServeMachine { ior } => in_a_task(machine::serve(ior)),
        Role::ServeFrames => machine::serve_frames(),
        Role::Serve { server } => match server.common.over {
            Over::Orb => in_a_task(cubes::serve(server)),
            Over::Sockets => server.over_sockets(),
            Over::Transport => Err("an ORB or sockets, not the transport alone".into()),
        },
        Role::Call { client } => match client.common.over {
            Over::Sockets => call::over_sockets(&client),
            _ => in_a_task(call::converse(client)),
        },
    }
}
