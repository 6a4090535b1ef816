//! One server, one client, one measurement.

use crate::measure::awake::Awake;
use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement, Side};
use crate::measure::programs;
use serde::Deserialize;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The calls of a run, and their number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Work {
    pub(crate) op: &'static str,
    pub(crate) size: usize,
    pub(crate) iters: usize,
    pub(crate) warmup: usize,
    pub(crate) threads: usize,
}

impl Work {
    /// `octet 65536`, and how many threads if there are several.
    pub(crate) fn name(&self) -> String {
        let Self {
            op, size, threads, ..
        } = self;
        match (size, threads) {
            (0, 1) => (*op).to_owned(),
            (0, n) => format!("{op} ×{n}"),
            (_, 1) => format!("{op} {size}"),
            (_, n) => format!("{op} {size} ×{n}"),
        }
    }

    /// One part in `share` of the calls.
    pub(crate) fn shared(self, share: usize) -> Self {
        Self {
            iters: (self.iters / share).max(1),
            warmup: self.warmup / share,
            ..self
        }
    }

    pub(crate) fn args(&self) -> [String; 10] {
        let word = str::to_owned;
        [
            word("--op"),
            word(self.op),
            word("--size"),
            self.size.to_string(),
            word("--iters"),
            self.iters.to_string(),
            word("--warmup"),
            self.warmup.to_string(),
            word("--threads"),
            self.threads.to_string(),
        ]
    }
}

/// The parts of a client's output that are used here.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sample {
    pub(crate) p50_ns: f64,
    pub(crate) p99_ns: f64,
    pub(crate) calls_per_s: f64,
    pub(crate) mbytes_per_s: f64,
    calls: u64,
    digest: String,
    pub(crate) allocations: Option<u64>,
}

/// The output of a server at its end.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Farewell {
    calls: u64,
    digest: String,
    pub(crate) allocations: Option<u64>,
}

/// How long a program may take to start, and to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a measurement may take; an instrumented one is some fifty times as slow.
const MOST: Duration = Duration::from_secs(300);

/// A server that runs.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    folder: TempDir,
    /// Where the programs of ours are that it and its clients are of.
    ours: PathBuf,
    peer: &'static Peer,
    placement: Placement,
    cpus: Cpus,
    /// The operation that clients report.
    expected: (u64, u64),
    /// If the placement wants it.
    _awake: Option<Awake>,
}

fn command(words: &[String]) -> Result<Command, String> {
    let (program, args) = words.split_first().ok_or("no program")?;
    let mut command = Command::new(program);
    command.args(args);
    Ok(command)
}

impl Server {
    /// Starts the peer's server, and waits until it has written its reference.
    ///
    /// # Errors
    /// It does not start, or ends before it has; or its placement cannot be had.
    pub(crate) fn start(
        peer: &'static Peer,
        placement: Placement,
        cpus: Cpus,
        under: &[String],
        more: &[&str],
    ) -> Result<Self, String> {
        Self::start_from(programs::folder(), peer, placement, cpus, under, more)
    }

    /// Starts the programs, ours from another folder.
    ///
    /// # Errors
    /// Returns the errors of [`start`](Self::start).
    pub(crate) fn start_from(
        ours: PathBuf,
        peer: &'static Peer,
        placement: Placement,
        cpus: Cpus,
        under: &[String],
        more: &[&str],
    ) -> Result<Self, String> {
        let awake = match placement {
            Placement::Awake => Some(Awake::keep()?),
            _ => None,
        };
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        let mut all = cpus.words(placement, Side::Server);
        all.extend_from_slice(under);
        all.extend(peer.server(&ours));
        all.extend(more.iter().map(|&word| word.to_owned()));
        let mut command = command(&all)?;
        command.arg("--ior").arg(folder.path().join("ior"));
        if peer.unix {
            command.arg("--unix").arg(folder.path().join("socket"));
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let child = child.map_err(|e| format!("{}: the server does not start: {e}", peer.name))?;
        let mut server = Self {
            child,
            folder,
            ours,
            peer,
            placement,
            cpus,
            expected: (0, 0),
            _awake: awake,
        };
        let begin = Instant::now();
        while !server.reference().exists() {
            let ended = server.child.try_wait().map_err(|e| e.to_string())?;
            if ended.is_some() || begin.elapsed() > PATIENCE {
                return Err(format!("{}: the server wrote no reference", peer.name));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(server)
    }

    /// Where it wrote its reference.
    pub(crate) fn reference(&self) -> PathBuf {
        self.folder.path().join("ior")
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The command line of a client of this server, its peer's unless another one is given.
    pub(crate) fn client(
        &self,
        peer: &Peer,
        under: &[String],
        more: &[&str],
    ) -> Result<Command, String> {
        let mut all = Vec::new();
        all.extend(self.cpus.words(self.placement, Side::Client));
        all.extend_from_slice(under);
        all.extend(peer.client(&self.ours));
        all.extend(more.iter().map(|&word| word.to_owned()));
        let mut command = command(&all)?;
        command.arg("--ior").arg(self.reference());
        command.args(["--peer", peer.name]);
        Ok(command)
    }

    /// Runs the peer's client to its end.
    ///
    /// # Errors
    /// It fails, or says nothing that can be read.
    pub(crate) fn measure(
        &mut self,
        work: &Work,
        under: &[String],
        more: &[&str],
    ) -> Result<Sample, String> {
        let mut command = self.client(self.peer, under, more)?;
        command.args(work.args());
        let what = format!("{}, {}, {}", self.peer.name, work.name(), self.placement);
        let said = to_end(&command, MOST).map_err(|e| format!("{what}: {e}"))?;
        let sample: Sample =
            serde_json::from_str(&said).map_err(|e| format!("{what}: {e}: {said:?}"))?;
        let digest = digest(&sample.digest)?;
        self.expect(sample.calls, digest);
        Ok(sample)
    }

    /// Other clients call it too, that often and with that digest.
    pub(crate) fn expect(&mut self, calls: u64, digest: u64) {
        self.expected.0 += calls;
        self.expected.1 = self.expected.1.wrapping_add(digest);
    }

    /// Ends the server, and compares what it was sent with what its clients sent.
    ///
    /// # Errors
    /// It does not end, or was sent something else.
    pub(crate) fn end(mut self) -> Result<Farewell, String> {
        let mut command = self.client(self.peer, &[], &[])?;
        command.args(["--op", "shutdown"]);
        let name = self.peer.name;
        to_end(&command, PATIENCE).map_err(|e| format!("{name}, shutdown: {e}"))?;
        let said = wait(&mut self.child, MOST).map_err(|e| format!("{name}, server: {e}"))?;
        let line = said.lines().rev().find(|line| line.starts_with('{'));
        let farewell: Farewell = line
            .and_then(|line| serde_json::from_str(line).ok())
            .ok_or_else(|| format!("{name}: the server says no digest: {said:?}"))?;
        compare(self.expected, &farewell).map_err(|e| format!("{name}: {e}"))?;
        Ok(farewell)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn digest(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|e| format!("{text} is no digest: {e}"))
}

pub(crate) fn compare((calls, sum): (u64, u64), farewell: &Farewell) -> Result<(), String> {
    let said = digest(&farewell.digest)?;
    if (calls, sum) == (farewell.calls, said) {
        return Ok(());
    }
    Err(format!(
        "the server was sent {} calls with digest {said:016x}, its clients sent {calls} with {sum:016x}",
        farewell.calls
    ))
}

/// The output of a command, if it succeeds within the time. No clock is read meanwhile: that would be a third
/// program on the CPUs of the two that are measured.
pub(crate) fn to_end(command: &Command, most: Duration) -> Result<String, String> {
    let mut watched = Command::new("timeout");
    watched
        .arg("--kill-after=5")
        .arg(most.as_secs().to_string());
    watched.arg(command.get_program()).args(command.get_args());
    let output = watched.stdin(Stdio::null()).output();
    let output = output.map_err(|e| format!("timeout does not start: {e}"))?;
    said(output.status, &output.stdout, &output.stderr)
}

fn said(status: ExitStatus, stdout: &[u8], stderr: &[u8]) -> Result<String, String> {
    if status.success() {
        return Ok(String::from_utf8_lossy(stdout).into_owned());
    }
    let why = String::from_utf8_lossy(stderr);
    Err(format!("ended with {status}: {}", why.trim()))
}

/// Waits for the end of a server that a client ended; its line or two fit into a pipe, so nothing has to be read
/// meanwhile.
fn wait(child: &mut Child, most: Duration) -> Result<String, String> {
    let begin = Instant::now();
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        if begin.elapsed() > most {
            return Err(format!("did not end within {} s", most.as_secs()));
        }
        thread::sleep(Duration::from_millis(2));
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    said(
        status,
        &read(child.stdout.take()),
        &read(child.stderr.take()),
    )
}

fn read(pipe: Option<impl std::io::Read>) -> Vec<u8> {
    let mut octets = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut octets);
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farewell(text: &str) -> Farewell {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_server_that_was_sent_the_same_is_believed() {
        let said = farewell(r#"{"calls":3,"digest":"00000000000000ff"}"#);
        assert_eq!(compare((3, 255), &said), Ok(()));
    }

    #[test]
    fn a_server_that_looked_at_something_else_is_refused() {
        let said = farewell(r#"{"calls":3,"digest":"00000000000000fe"}"#);
        assert!(compare((3, 255), &said).unwrap_err().contains("digest"));
        let said = farewell(r#"{"calls":2,"digest":"00000000000000ff"}"#);
        assert!(compare((3, 255), &said).is_err());
        let said = farewell(r#"{"calls":3,"digest":"none"}"#);
        assert!(compare((3, 255), &said).is_err());
    }

    #[test]
    fn work_is_named_by_what_is_sent() {
        let work = |op, size, threads| {
            let (iters, warmup) = (1, 1);
            Work {
                op,
                size,
                iters,
                warmup,
                threads,
            }
            .name()
        };
        assert_eq!(work("noparams", 0, 1), "noparams");
        assert_eq!(work("octet", 64, 1), "octet 64");
        assert_eq!(work("noparams", 0, 4), "noparams ×4");
    }
}
