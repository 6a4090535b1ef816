//! Cubes over every messaging, by TCP and by circuits of ATM, beside as many octets over sockets and in frames without
//! an ORB: in a machine whose interfaces 0 and 1 are joined.

use crate::call::{self, Request};
use crate::cubes::{self, CubesRef};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;
use zorb::policy::{PolicyOverrides, Protocol};
use zorb::{Builder, Interface, Orb, Version};
use zorb_atm::{Atm, AtmOptions, CircuitId, FrameSocket, Quality};
use zorb_floor::blocking::End;
use zorb_floor::report::Line;
use zorb_giop_lite::GiopLite;
use zorb_papers::dialogue::{self, Failure};
use zorb_papers::{place, sockets};

/// The measurement to make.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds; in each all protocols answer every question.
    #[arg(long)]
    rounds: usize,
    /// Calls for a question.
    #[arg(long)]
    calls: usize,
    /// Questions: `OPERATION:ELEMENTS`; `newest:OPERATION:ELEMENTS` is one for the newest GIOP and what has no ORB.
    questions: Vec<String>,
}

/// The circuit of GIOPlite, those of the versions of GIOP, by their minor number, and that of frames without an ORB.
const OF_LITE: u16 = 509;
const OF_GIOP: u16 = 510;
const OF_FRAMES: u16 = 520;
/// The scheme and the tag of profiles of GIOPlite over circuits, which both ends have to know.
const LITE: (&str, u32) = ("atmlite", 0x5a4f_52f2);
/// How long a program may take to begin, and how often it is asked whether it has.
const PATIENCE: Duration = Duration::from_secs(20);
const AGAIN: Duration = Duration::from_millis(30);

/// An ORB with every transport that is measured. ORBs of one process share the circuits.
fn builder(atm: &Arc<Atm>) -> Builder {
    let atm: Arc<dyn zorb::transport::Transport> = Arc::<Atm>::clone(atm);
    let (scheme, profile) = LITE;
    Orb::builder()
        .transport(Arc::new(GiopLite::over_tcp()))
        .transport(Arc::new(GiopLite::over(scheme, profile, Arc::clone(&atm))))
        .transport(atm)
}

/// Cubes over all of them, until it is killed: an ORB for each messaging, so that none shares a circuit with another.
pub(crate) async fn serve(ior: PathBuf) -> Result<(), Failure> {
    let atm = Arc::default();
    let mut references = Vec::new();
    let mut orbs = Vec::new();
    for circuit in (OF_GIOP..).take(usize::from(Version::HIGHEST.minor) + 1) {
        let orb = builder(&atm)
            .listen("iiop://127.0.0.1:0")
            .listen(format!("atm://1.0.{circuit}?peer=0.0.{circuit}"));
        let orb = orb.build().await?;
        references.extend(cubes::activate(&orb)?);
        orb.root_poa().the_poa_manager().activate()?;
        orbs.push(orb);
    }
    let lite = builder(&atm)
        .listen("iioplite://127.0.0.1:0")
        .listen(format!("atmlite://1.0.{OF_LITE}?peer=0.0.{OF_LITE}"));
    let activate = |orb: &Orb| {
        references.extend(cubes::activate(orb)?);
        Ok(references)
    };
    place::serve(lite.build().await?, &ior, activate).await
}

fn frames(interface: u16) -> Result<FrameSocket, Failure> {
    let circuit = CircuitId::new(interface, 0, OF_FRAMES).ok_or("the numbers of a circuit")?;
    let buffer = AtmOptions::DEFAULT_RECEIVE_BUFFER;
    Ok(FrameSocket::open(circuit, &Quality::default(), buffer)?)
}

/// Sends every frame back, until it is killed.
pub(crate) fn serve_frames() -> Result<(), Failure> {
    let socket = frames(1)?;
    let mut frame = Vec::new();
    while socket.receive(&mut frame)? {
        socket.send(&frame)?;
    }
    Ok(())
}

/// A program of ours, which is killed when this is dropped.
struct Program(Child);

impl Program {
    fn start(words: &[&str]) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        Ok(Self(Command::new(program).args(words).spawn()?))
    }

    /// The text that a server writes into a file once it serves.
    fn publishing(words: &[&str], name: &str) -> Result<(Self, String), Failure> {
        let file = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let path = file.display().to_string();
        let program = Self::start(&[words, &[&path]].concat())?;
        let begun = std::time::Instant::now();
        while !file.exists() {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{name} has not begun to serve").into());
            }
            std::thread::sleep(AGAIN);
        }
        let text = std::fs::read_to_string(&file)?;
        std::fs::remove_file(&file)?;
        Ok((program, text.trim().to_owned()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that answers questions.
enum Way {
    Orb(CubesRef),
    Sockets(End, Vec<u8>),
    Frames(FrameSocket, Vec<u8>),
}

impl Way {
    async fn ask(&mut self, request: Request) -> Result<Line, Failure> {
        match self {
            Self::Orb(cubes) => call::measure(&request, cubes).await,
            Self::Sockets(end, body) => call::over_end(request, end, body),
            Self::Frames(socket, frame) => call::time_exchanges(request, |sent| {
                socket.send(sent)?;
                match socket.receive(frame)? {
                    true => Ok(()),
                    false => Err("a frame was lost".into()),
                }
            }),
        }
    }
}

/// A program without an ORB.
const RAW: &str = "raw";

fn name_of(version: Version) -> String {
    format!("GIOP {version}")
}

/// The near end of frames, when the far end answers.
fn answered() -> Result<FrameSocket, Failure> {
    let socket = frames(0)?;
    let mut frame = Vec::new();
    socket.set_receive_timeout(Some(AGAIN))?;
    let begun = std::time::Instant::now();
    loop {
        socket.send(&[0])?;
        if socket.receive(&mut frame)? {
            break;
        }
        if begun.elapsed() > PATIENCE {
            return Err("no frame comes back".into());
        }
    }
    // Frames that came back late are not to be taken for answers.
    while socket.receive(&mut frame)? {}
    socket.set_receive_timeout(None)?;
    Ok(socket)
}

/// Asks all protocols all questions in turns, and prints a line of JSON for each answer.
pub(crate) async fn measure(options: Options) -> Result<(), Failure> {
    let (_orb, references) = Program::publishing(&["serve-machine"], "cubes")?;
    let words = ["serve", "--over", "sockets", "--ior"];
    let (_sockets, address) = Program::publishing(&words, "sockets")?;
    let _frames = Program::start(&["serve-frames"])?;
    let atm = Arc::default();
    let (mut ways, mut orbs) = (Vec::new(), Vec::new());
    for minor in 0..=Version::HIGHEST.minor {
        let version = Version { major: 1, minor };
        let orb = builder(&atm).max_giop_version(version).build().await?;
        let giop = name_of(version);
        let mut schemes = vec![(giop.clone(), "TCP", "iiop"), (giop, "ATM", "atm")];
        if version == Version::HIGHEST {
            let lite = || "GIOPlite".to_owned();
            schemes.extend([(lite(), "TCP", "iioplite"), (lite(), "ATM", LITE.0)]);
        }
        for (messaging, transport, scheme) in schemes {
            let alone = PolicyOverrides::new().client_protocols([Protocol::new(scheme)]);
            // GIOPlite's is the last one.
            let number = usize::from(minor) + usize::from(scheme.ends_with("lite"));
            let reference = references
                .lines()
                .nth(number)
                .ok_or("a reference is missing")?;
            let object = orb.string_to_object(reference).await?;
            let cubes = CubesRef::unchecked_narrow(object.with_policies(&alone));
            ways.push((messaging, transport, Way::Orb(cubes)));
        }
        orbs.push(orb);
    }
    let end = sockets::connect(&address, None, false)?;
    let frames = Way::Frames(answered()?, Vec::new());
    ways.push((RAW.to_owned(), "TCP", Way::Sockets(end, Vec::new())));
    ways.push((RAW.to_owned(), "ATM", frames));
    let highest = name_of(Version::HIGHEST);
    for round in 0..options.rounds {
        for asked in &options.questions {
            let (newest, question) = match asked.strip_prefix("newest:") {
                Some(question) => (true, question),
                None => (false, asked.as_str()),
            };
            let (operation, elements) = question.split_once(':').ok_or("OPERATION:ELEMENTS")?;
            let calls = options.calls.to_string();
            let words = ["call", operation, elements, &calls].map(str::to_owned);
            for at in 0..ways.len() {
                // Each is first as often as the others.
                let at = (at + round) % ways.len();
                let Some((messaging, transport, way)) = ways.get_mut(at) else {
                    continue;
                };
                if newest && ![RAW, &highest].contains(&messaging.as_str()) {
                    continue;
                }
                let line = way.ask(Request::parse(&words, "")?).await?;
                let answer: Value = serde_json::from_str(&line.to_json())?;
                let said = json!({
                    "question": asked,
                    "messaging": messaging,
                    "transport": transport,
                    "answer": answer,
                });
                dialogue::say(&said.to_string())?;
            }
        }
    }
    Ok(())
}
