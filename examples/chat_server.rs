//! A chat: clients hand in an object of their own, and the server calls it with every line that a member says.
//! `chat_client` is its client; the interfaces are in `chat.idl`.
//!
//! Start it with the file that the reference goes to, then clients in other terminals:
//!
//! ```text
//! cargo run --example chat_server -- chat.ior
//! cargo run --example chat_client -- chat.ior Ada
//! cargo run --example chat_client -- chat.ior Grace
//! ```
//!
//! You should see who comes and goes. End a client with Ctrl-C rather than with `/quit`: the server notices at the next
//! line that the listener is gone, says why, and the others go on. It serves
//! until it is interrupted, or until `chat_client chat.ior --shutdown`.
//!
//! To be reached from other hosts, listen on all addresses: `-ORBListenEndpoints iiop://0.0.0.0:2811`.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use zorb::{CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind};

/// The code generated from `chat.idl`.
#[zorb::idl_file("examples/chat.idl")]
mod idl {}

use idl::chat::room::{JoinError, LeaveError, NameTaken, NotHere, SayError};
use idl::chat::{ListenerRef, Room, RoomRef, RoomServant};

/// Lines that may wait for one client. Who is further behind is dropped; the others do not wait.
const MAX_BEHIND: usize = 64;
/// How long a client may take to hear a line.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Parser)]
struct Options {
    /// Where to write the reference.
    file: PathBuf,
}

/// The speaker, and the text.
type Line = (String, String);

/// Those who are there, and where their lines go: to a task for each, so that a slow or vanished member delays no
/// other.
#[derive(Default)]
struct Members(Mutex<HashMap<String, Sender<Line>>>);

impl Members {
    /// Sends the line to all but `who`.
    fn tell(&self, who: &str, what: &str) {
        let mut behind = Vec::new();
        self.0.lock().unwrap().retain(|name, lines| {
            let line = || (who.to_owned(), what.to_owned());
            let keep = name == who || lines.is_closed() || lines.try_send(line()).is_ok();
            if !keep {
                behind.push(name.clone());
            }
            keep
        });
        for name in behind {
            println!("{name} is dropped: {MAX_BEHIND} lines behind");
            self.tell(&name, "(is gone)");
        }
    }

    /// Removes members whose task has failed, and informs the others.
    fn sweep(&self) {
        let mut gone = Vec::new();
        self.0.lock().unwrap().retain(|name, lines| {
            if lines.is_closed() {
                gone.push(name.clone());
            }
            !lines.is_closed()
        });
        for name in gone {
            self.tell(&name, "(is gone)");
        }
    }
}

/// Hands one client its lines, one after the other, until it is off the list or fails to hear one.
async fn deliver(
    name: String,
    listener: ListenerRef,
    mut lines: Receiver<Line>,
    members: Arc<Members>,
) {
    while let Some((who, line)) = lines.recv().await {
        // No answer in time, no connection, no such object any more: the exception says which.
        if let Err(error) = listener.said(&who, &line).await {
            println!("{name} is dropped: {error:#}");
            drop(lines);
            members.sweep();
            return;
        }
    }
}

/// The servant.
struct Lounge {
    orb: Orb,
    members: Arc<Members>,
}

impl Room for Lounge {
    async fn join(&self, name: &str, who: Option<ListenerRef>) -> Result<Vec<String>, JoinError> {
        // Any reference in IDL may be nil.
        let Some(listener) = who else {
            let bad = SystemExceptionKind::BadParam;
            return Err(SystemException::new(bad, 0, CompletionStatus::No).into());
        };
        let (sender, lines) = channel(MAX_BEHIND);
        let mut others: Vec<String> = {
            let mut members = self.members.0.lock().unwrap();
            if members.contains_key(name) {
                let name = name.to_owned();
                return Err(NameTaken { name }.into());
            }
            let others = members.keys().cloned().collect();
            members.insert(name.to_owned(), sender);
            others
        };
        others.sort();
        println!("{name} has come");
        self.members.tell(name, "(has come)");
        let listener = listener.with_round_trip_timeout(PATIENCE);
        let members = Arc::clone(&self.members);
        tokio::spawn(deliver(name.to_owned(), listener, lines, members));
        Ok(others)
    }

    async fn say(&self, name: &str, line: &str) -> Result<(), SayError> {
        if !self.members.0.lock().unwrap().contains_key(name) {
            let name = name.to_owned();
            return Err(NotHere { name }.into());
        }
        self.members.tell(name, line);
        Ok(())
    }

    async fn leave(&self, name: &str) -> Result<(), LeaveError> {
        // Without its sender, the task ends when it has delivered what is left.
        if self.members.0.lock().unwrap().remove(name).is_none() {
            let name = name.to_owned();
            return Err(NotHere { name }.into());
        }
        println!("{name} has left");
        self.members.tell(name, "(has left)");
        Ok(())
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        println!("asked to shut down");
        // A servant cannot wait for the end of its own upcall: `false`.
        self.orb.shutdown(false).await
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chat_server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .env()
        .args(&mut args)
        .build()
        .await?;
    // The ORB has taken its `-ORB…` options out; the rest is ours.
    let options = Options::parse_from(args);

    let poa = orb.root_poa();
    let room: RoomRef = poa.activate(RoomServant::new(Lounge {
        orb: orb.clone(),
        members: Arc::default(),
    }))?;
    poa.the_poa_manager().activate()?;
    for endpoint in orb.endpoints() {
        println!("listening on {endpoint}");
    }
    write_whole(&options.file, &orb.object_to_string(&room))?;
    println!("reference written to {}", options.file.display());

    orb.run().await;
    println!("the chat is over");
    Ok(())
}

/// Writes a file so that no reader ever sees half of it.
fn write_whole(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension("tmp");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(|cause| format!("cannot write {}: {cause}", file.display()))
}
