//! Calls over circuits of ATM, beside frames on such a circuit without sessions and without an ORB: in a machine whose
//! interfaces 0 and 1 are joined.

use crate::ends::{Failure, Remote, builder, by};
use crate::idl::bench::TtcpRef;
use serde_json::json;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use zorb_atm::session::{Config, frame::cost};
use zorb_atm::{AtmOptions, CircuitId, FrameSocket, Quality};

/// The circuits that the ORBs and the frames go by.
const OF_ORBS: u16 = 500;
const OF_FRAMES: u16 = 501;
/// The quality of service that the transport asks the kernel for.
const RECEIVE_BUFFER: usize = AtmOptions::DEFAULT_RECEIVE_BUFFER;
/// Octets of a one-way call's argument.
const OCTETS: usize = 64 << 10;
/// Octets of a frame that is sent there and back: those of a call without arguments, half of them each way.
const PING: usize = 54;
/// The file by which the machine's module is made to lose frames.
const DROP_EVERY: &str = "/sys/module/atmpair/parameters/drop_every";
/// One frame of so many is lost where frames are.
const LOSS: u32 = 100;

// ---- Frames ------------------------------------------------------------------------------------

/// The first octets of a frame, with a number behind them.
const DATA: u8 = 1;
const CREDIT: u8 = 2;
const ASK: u8 = 3;
const ECHO: u8 = 4;
const HEAD: usize = 1 + 3 * 8;

/// How long an answer is waited for before it is asked for again: something was lost.
const AGAIN: Duration = Duration::from_millis(30);

fn circuit(interface: u16) -> Result<FrameSocket, Failure> {
    let circuit = CircuitId::new(interface, 0, OF_FRAMES).ok_or("the numbers of a circuit")?;
    let socket = FrameSocket::open(circuit, &Quality::default(), RECEIVE_BUFFER)?;
    Ok(socket)
}

/// The head of a frame: its kind, its number or that of the question that it answers, and of what has come the number
/// behind the last frame and the octets in all.
fn head(kind: u8, number: u64, next: u64, octets: u64) -> [u8; HEAD] {
    let mut head = [kind; HEAD];
    for (at, it) in head[1..].chunks_exact_mut(8).zip([number, next, octets]) {
        at.copy_from_slice(&it.to_le_bytes());
    }
    head
}

fn numbers(frame: &[u8]) -> Option<[u64; 3]> {
    let head = frame.get(1..HEAD)?;
    let mut numbers = head.chunks_exact(8).filter_map(|it| it.try_into().ok());
    let mut next = || numbers.next().map(u64::from_le_bytes);
    Some([next()?, next()?, next()?])
}

/// The far end of the frames: sends back what it is to echo, and counts what data come, for which it grants credit as
/// often as the session layer acknowledges.
pub(crate) fn serve_frames() -> Result<(), Failure> {
    let socket = circuit(1)?;
    let most = socket.receive_buffer().saturating_sub(Config::RESERVE) / 4;
    let mut frame = Vec::new();
    // The number behind the last one that has come, the octets in all, and what came since credit was granted.
    let (mut next, mut octets, mut taken) = (0, 0, 0);
    while socket.receive(&mut frame)? {
        match frame.first() {
            Some(&ECHO) => socket.send(&frame)?,
            Some(&DATA) => {
                let [number, ..] = numbers(&frame).ok_or("a short frame")?;
                next = number + 1;
                octets += (frame.len() - HEAD) as u64;
                taken += cost(frame.len());
                if taken >= most {
                    taken = 0;
                    socket.send(&head(CREDIT, 0, next, octets))?;
                }
            }
            Some(&ASK) => {
                let [question, ..] = numbers(&frame).ok_or("a short frame")?;
                taken = 0;
                socket.send(&head(CREDIT, question, next, octets))?;
            }
            _ => return Err("an unknown frame".into()),
        }
    }
    Ok(())
}

/// The near end, and the process of the far one.
struct Frames {
    socket: FrameSocket,
    far: Child,
    /// The number of the next frame with data, and of the last question.
    number: u64,
    question: u64,
}

impl Drop for Frames {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.far.kill();
        let _ = self.far.wait();
    }
}

impl Frames {
    fn start() -> Result<Self, Failure> {
        let far = Command::new(std::env::current_exe()?)
            .arg("serve-frames")
            .spawn()?;
        let socket = circuit(0)?;
        let mut frames = Self {
            socket,
            far,
            number: 0,
            question: 0,
        };
        // It may not have its end open yet.
        frames.ask()?;
        Ok(frames)
    }

    /// Asks until there is an answer: how many octets have come in all.
    fn ask(&mut self) -> Result<u64, Failure> {
        self.question += 1;
        self.socket.set_receive_timeout(Some(AGAIN))?;
        let mut frame = Vec::new();
        loop {
            self.socket.send(&head(ASK, self.question, 0, 0))?;
            while self.socket.receive(&mut frame)? {
                if let Some([answered, _, octets]) = numbers(&frame)
                    && answered == self.question
                {
                    return Ok(octets);
                }
            }
        }
    }

    /// Nanoseconds of each of some frames there and back.
    fn pings(&self, number: usize) -> Result<Vec<u64>, Failure> {
        self.socket.set_receive_timeout(None)?;
        let (sent, mut frame) = ([ECHO; PING], Vec::new());
        let mut times = Vec::with_capacity(number);
        for _ in 0..number {
            let begun = Instant::now();
            self.socket.send(&sent)?;
            while !self.socket.receive(&mut frame)? {}
            times.push(nanoseconds(begun.elapsed()));
        }
        Ok(times)
    }

    /// Sends as many octets as the calls do, within the credit of the far end's buffer. Returns how many have come, a
    /// second.
    fn flood(&mut self, calls: usize) -> Result<f64, Failure> {
        let before = self.ask()?;
        self.socket.set_receive_timeout(Some(AGAIN))?;
        let buffer = self.socket.receive_buffer() - Config::RESERVE;
        let mut data = vec![0x5a; Config::MAX_SDU];
        let in_frame = data.len() - HEAD;
        let most = buffer / cost(data.len());
        let (mut left, mut credited) = (calls * OCTETS, self.number);
        let mut frame = Vec::new();
        let begun = Instant::now();
        while left > 0 {
            while self.number - credited >= most {
                match self.socket.receive(&mut frame)? {
                    true => {
                        credited =
                            numbers(&frame).map_or(credited, |[_, next, _]| next.max(credited))
                    }
                    // Credit was lost, or all that it would have been granted for.
                    false => self.socket.send(&head(ASK, 0, 0, 0))?,
                }
            }
            let octets = left.min(in_frame);
            data[..HEAD].copy_from_slice(&head(DATA, self.number, 0, 0));
            self.socket.send(&data[..HEAD + octets])?;
            (left, self.number) = (left - octets, self.number + 1);
        }
        // No frame overtakes another: what has not come before the question is lost.
        let octets = self.ask()? - before;
        Ok(octets as f64 / begun.elapsed().as_secs_f64())
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn median(mut of: Vec<u64>) -> u64 {
    of.sort_unstable();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

// ---- Calls -------------------------------------------------------------------------------------

async fn calls(to: &TtcpRef, number: usize) -> Result<Vec<u64>, Failure> {
    let mut times = Vec::with_capacity(number);
    for _ in 0..number {
        let begun = Instant::now();
        to.send_no_params_2way().await?;
        times.push(nanoseconds(begun.elapsed()));
    }
    Ok(times)
}

/// Sends so many one-way calls, whose numbers go on from `first`, and waits for their execution. Returns the octets of
/// their arguments, a second.
async fn flood(to: &TtcpRef, first: u64, calls: usize) -> Result<f64, Failure> {
    let mut data = vec![0x5a; OCTETS];
    data[..4].copy_from_slice(&0_u32.to_be_bytes());
    let begun = Instant::now();
    for number in (first..).take(calls) {
        data[4..12].copy_from_slice(&number.to_be_bytes());
        to.send_octet_seq_1way(&data).await?;
    }
    to.sync().await?;
    Ok((calls * OCTETS) as f64 / begun.elapsed().as_secs_f64())
}

/// Frames and calls in turns, a line of JSON for each measurement.
pub(crate) async fn measure(rounds: usize, floods: usize, pings: usize) -> Result<(), Failure> {
    let mut frames = Frames::start()?;
    let endpoint = format!("atm://1.0.{OF_ORBS}?peer=0.0.{OF_ORBS}");
    let remote = Remote::start(&[endpoint])?;
    let orb = builder().build().await?;
    let to = by(&orb, &remote.reference, "atm").await?;
    let mut sent = 0;
    // The first round warms up.
    for round in 0..=rounds {
        let say = |what: &str, by: &str, value: f64| {
            if round > 0 {
                println!("{}", json!({ "what": what, "by": by, "value": value }));
            }
        };
        say("ping", "frames", median(frames.pings(pings)?) as f64);
        say("ping", "calls", median(calls(&to, pings).await?) as f64);
        for (what, every) in [("one-ways", 0), ("one-ways with loss", LOSS)] {
            std::fs::write(DROP_EVERY, every.to_string())?;
            say(what, "frames", frames.flood(floods)?);
            say(what, "calls", flood(&to, sent, floods).await?);
            std::fs::write(DROP_EVERY, "0")?;
            sent += floods as u64;
        }
    }
    let count = to.echo_string("count").await?;
    let (got, astray) = count.split_once(' ').ok_or("two numbers")?;
    let got: u64 = got.parse()?;
    let astray: u64 = astray.parse()?;
    println!(
        "{}",
        json!({ "what": "ledger", "sent": sent, "got": got, "astray": astray })
    );
    Ok(())
}
