//! The client of `chat_server`: it has an object of its own, which the server calls.
//!
//! Start the server first, then as many of these as you like, each in a terminal and with a name of
//! its own:
//!
//! ```text
//! cargo run --example chat_server -- chat.ior
//! cargo run --example chat_client -- chat.ior Ada
//! cargo run --example chat_client -- chat.ior Grace
//! cargo run --example chat_client -- chat.ior --shutdown         # ends the server
//! ```
//!
//! You should see who is there, and then what the others say and who comes and goes. What you type
//! the others see; `/quit`, or the end of the input, leaves:
//!
//! ```text
//! here: Ada
//! Ada: hello
//! Ada: (has left)
//! ```
//!
//! The server connects to the client in order to call it. Across hosts the client has to listen
//! where the server can reach it: `-ORBListenEndpoints iiop://0.0.0.0:0`.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use std::io::BufRead;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, channel};
use zorb::{Orb, SystemException};

/// The code generated from `chat.idl`.
#[zorb::idl_file("examples/chat.idl")]
mod idl {}

use idl::chat::{Listener, ListenerServant, RoomRef};

#[derive(Parser)]
struct Options {
    /// `IOR:…`, `corbaloc:…`, `corbaname:…`, or a file that holds one of them.
    reference: String,
    /// Your name in the chat.
    #[arg(required_unless_present = "shutdown")]
    name: Option<String>,
    /// Ask the server to end, and do nothing else.
    #[arg(long)]
    shutdown: bool,
}

/// The servant that the server calls.
struct Screen;

impl Listener for Screen {
    async fn said(&self, who: &str, line: &str) -> Result<(), SystemException> {
        println!("{who}: {line}");
        Ok(())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chat_client: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .round_trip_timeout(Duration::from_secs(10))
        .env()
        .args(&mut args)
        .build()
        .await?;
    // The ORB has taken its `-ORB…` options out; the rest is ours.
    let options = Options::parse_from(args);

    let object = orb.string_to_object(&url(&options.reference)?).await?;
    let room: RoomRef = object.narrow().await?.ok_or_else(|| {
        format!(
            "{} is no Chat::Room but {:?}",
            options.reference,
            object.type_id()
        )
    })?;
    match &options.name {
        Some(name) if !options.shutdown => chat(&orb, &room, name).await?,
        _ => room.shutdown().await?,
    }
    orb.shutdown(true).await?;
    Ok(())
}

async fn chat(orb: &Orb, room: &RoomRef, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let poa = orb.root_poa();
    let screen = poa.activate(ListenerServant::new(Screen))?;
    poa.the_poa_manager().activate()?;

    let others = room.join(name, &screen).await?;
    match others.as_slice() {
        [] => println!("here: alone yet"),
        others => println!("here: {}", others.join(", ")),
    }
    let mut lines = typed();
    while let Some(line) = lines.recv().await {
        if line == "/quit" {
            break;
        }
        room.say(name, &line).await?;
    }
    room.leave(name).await?;
    Ok(())
}

/// The typed lines. A thread of its own reads them, since reading blocks; the program ends without waiting
/// for it.
fn typed() -> Receiver<String> {
    let (sender, lines) = channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// A path is the `file:` URL of a file that holds an object URL; everything else is one itself.
fn url(reference: &str) -> std::io::Result<String> {
    let schemes = ["IOR:", "corbaloc:", "corbaname:", "file:"];
    if schemes.iter().any(|scheme| reference.starts_with(scheme)) {
        return Ok(reference.to_owned());
    }
    Ok(format!(
        "file://{}",
        std::path::absolute(reference)?.display()
    ))
}
