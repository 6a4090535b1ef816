//! A server and a client that stay, and are asked for one measurement after the other: starting processes takes
//! longer than a short measurement, and rounds that are interleaved want many of those.
//!
//! The client reads requests on its standard input, a line each, words separated by spaces, and answers each with a
//! line of JSON ([`Answer`]). The end of its input ends it; `shutdown` ends the server before, as an operation that
//! the client calls.

use crate::measure::place::{Cpus, Placement, Side};
use crate::measure::run::{Farewell, compare, digest};
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a program may take to start, to end, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client's report of one measurement. Times are nanoseconds of a call; an unmeasured value is not a number.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(default = "not_a_number")]
    pub(crate) p50_ns: f64,
    #[serde(default = "not_a_number")]
    pub(crate) p99_ns: f64,
    #[serde(default = "not_a_number")]
    pub(crate) calls_per_s: f64,
    #[serde(default = "not_a_number")]
    pub(crate) mbytes_per_s: f64,
    /// All calls that the servants fold, untimed ones too.
    #[serde(default)]
    calls: u64,
    /// The digest of all, in hexadecimal digits.
    #[serde(default)]
    digest: Option<String>,
    /// Why there was no measurement.
    #[serde(default)]
    error: Option<String>,
    /// Further values of an experiment.
    #[serde(flatten)]
    pub(crate) more: serde_json::Map<String, serde_json::Value>,
}

const fn not_a_number() -> f64 {
    f64::NAN
}

impl Answer {
    /// Half of the calls took longer than these microseconds.
    pub(crate) fn p50_us(&self) -> f64 {
        self.p50_ns / 1000.0
    }

    /// A hundredth did.
    pub(crate) fn p99_us(&self) -> f64 {
        self.p99_ns / 1000.0
    }

    /// Microseconds of a call if one follows the other, from how many there were a second.
    pub(crate) fn mean_us(&self) -> f64 {
        1e6 / self.calls_per_s
    }
}

/// The command lines of the two, but for `--ior FILE` and where they are pinned.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// The name in errors.
    pub(crate) name: String,
    /// None for a client that needs no server.
    pub(crate) server: Option<Vec<String>>,
    pub(crate) client: Vec<String>,
    /// The server gets `--unix PATH` too.
    pub(crate) unix: bool,
}

/// The two, running.
#[derive(Debug)]
pub(crate) struct Dialogue {
    name: String,
    client: Program,
    /// Closed when the client is to end.
    requests: Option<ChildStdin>,
    server: Option<Program>,
    expected: (u64, u64),
    _folder: TempDir,
}

impl Dialogue {
    /// Starts the server, waits for its reference, and starts the client.
    ///
    /// # Errors
    /// One of them does not start, the server writes no reference, or CPUs are to be kept awake.
    pub(crate) fn start(pair: &Pair, placement: Placement, cpus: Cpus) -> Result<Self, String> {
        let named = |e: String| format!("{}, {placement}: {e}", pair.name);
        if placement == Placement::Awake {
            // Others are there meanwhile, which would find them awake, too.
            return Err(named("no CPU is kept awake for one of several".to_owned()));
        }
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        let reference = folder.path().join("ior");
        let server = match &pair.server {
            None => None,
            Some(words) => {
                let mut all = cpus.words(placement, Side::Server);
                all.extend(words.iter().cloned());
                all.extend(["--ior".to_owned(), shown(&reference)]);
                if pair.unix {
                    all.extend(["--unix".to_owned(), shown(&folder.path().join("socket"))]);
                }
                let errors = folder.path().join("server.err");
                let (mut server, _) = Program::start(&all, errors, Stdio::null()).map_err(named)?;
                server.wait_for(&reference).map_err(named)?;
                Some(server)
            }
        };
        let mut all = cpus.words(placement, Side::Client);
        all.extend(pair.client.iter().cloned());
        if server.is_some() {
            all.extend(["--ior".to_owned(), shown(&reference)]);
        }
        let errors = folder.path().join("client.err");
        let (client, requests) = Program::start(&all, errors, Stdio::piped()).map_err(named)?;
        Ok(Self {
            name: format!("{}, {placement}", pair.name),
            client,
            requests,
            server,
            expected: (0, 0),
            _folder: folder,
        })
    }

    /// One measurement.
    ///
    /// # Errors
    /// The client says that it cannot, says nothing that can be read, or nothing within a minute.
    pub(crate) fn ask(&mut self, request: &str) -> Result<Answer, String> {
        self.answer(request)
            .map_err(|why| format!("{}, {request}: {why}", self.name))
    }

    fn answer(&mut self, request: &str) -> Result<Answer, String> {
        self.say(request)?;
        let line = self.client.line()?;
        let answer: Answer = serde_json::from_str(&line).map_err(|e| format!("{e}: {line:?}"))?;
        if let Some(why) = answer.error {
            return Err(why);
        }
        if let Some(text) = &answer.digest {
            self.expected.0 += answer.calls;
            self.expected.1 = self.expected.1.wrapping_add(digest(text)?);
        }
        Ok(answer)
    }

    fn say(&mut self, request: &str) -> Result<(), String> {
        let gone = "the client's input is closed";
        let requests = self.requests.as_mut().ok_or(gone)?;
        let written = writeln!(requests, "{request}").and_then(|()| requests.flush());
        written.map_err(|e| format!("{e}: {}", self.client.complaints()))
    }

    /// Has both, with all of their threads, run where that placement has them: for programs that took so long to get
    /// where they are that the same ones are asked in one placement and the other.
    ///
    /// # Errors
    /// The placement is nowhere in particular, or a program has ended.
    pub(crate) fn move_to(&self, placement: Placement, cpus: Cpus) -> Result<(), String> {
        let client = (Side::Client, Some(&self.client));
        for (side, program) in [client, (Side::Server, self.server.as_ref())] {
            let Some(program) = program else { continue };
            let cpu = cpus.cpu(placement, side).ok_or("moved to no CPU")?;
            let mut taskset = Command::new("taskset");
            taskset.args(["--all-tasks", "--cpu-list", "--pid"]);
            taskset.args([cpu.to_string(), program.child.id().to_string()]);
            let output = taskset.output().map_err(|e| format!("taskset: {e}"))?;
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{}: {}", self.name, why.trim()));
            }
        }
        Ok(())
    }

    /// The server's process.
    pub(crate) fn server_id(&self) -> Option<u32> {
        self.server.as_ref().map(|server| server.child.id())
    }

    /// Ends both, and compares what the server was sent with what the client sent, where servants say that.
    ///
    /// # Errors
    /// One of them does not end within a minute or not well, or they differ.
    pub(crate) fn end(mut self) -> Result<(), String> {
        self.ended().map_err(|why| format!("{}: {why}", self.name))
    }

    fn ended(&mut self) -> Result<(), String> {
        if self.server.is_some() {
            self.say("shutdown")?;
        }
        self.requests = None;
        self.client.lines_to_end()?;
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        let said = server.lines_to_end()?;
        let farewell = said.iter().rev().find(|line| line.starts_with('{'));
        if self.expected.0 == 0 {
            return Ok(());
        }
        let farewell: Farewell = farewell
            .and_then(|line| serde_json::from_str(line).ok())
            .ok_or_else(|| format!("the server says no digest: {said:?}"))?;
        compare(self.expected, &farewell)
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A process and the lines that it prints.
#[derive(Debug)]
struct Program {
    child: Child,
    /// Read by a thread, so that waiting for a line can end: a program that hangs must not hang us.
    lines: Receiver<String>,
    errors: PathBuf,
}

impl Program {
    fn start(
        words: &[String],
        errors: PathBuf,
        input: Stdio,
    ) -> Result<(Self, Option<ChildStdin>), String> {
        let (program, args) = words.split_first().ok_or("no program")?;
        let to = File::create(&errors).map_err(|e| e.to_string())?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(to)
            .spawn()
            .map_err(|e| format!("{program} does not start: {e}"))?;
        let requests = child.stdin.take();
        let output = child.stdout.take().ok_or("no output")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let program = Self {
            child,
            lines,
            errors,
        };
        Ok((program, requests))
    }

    /// Its standard error.
    fn complaints(&self) -> String {
        let text = std::fs::read_to_string(&self.errors).unwrap_or_default();
        text.trim().to_owned()
    }

    fn wait_for(&mut self, file: &Path) -> Result<(), String> {
        let begin = Instant::now();
        while !file.exists() {
            let ended = self.child.try_wait().map_err(|e| e.to_string())?;
            if ended.is_some() || begin.elapsed() > PATIENCE {
                let why = self.complaints();
                return Err(format!("the server wrote no reference: {why}"));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn line(&self) -> Result<String, String> {
        self.lines.recv_timeout(PATIENCE).map_err(|e| match e {
            RecvTimeoutError::Timeout => format!("no answer within {} s", PATIENCE.as_secs()),
            RecvTimeoutError::Disconnected => format!("the client ended: {}", self.complaints()),
        })
    }

    /// Waits for its end; returns what it printed and was not read before.
    fn lines_to_end(&mut self) -> Result<Vec<String>, String> {
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait().map_err(|e| e.to_string())? {
                Some(status) => break status,
                None if begin.elapsed() > PATIENCE => {
                    return Err(format!("did not end within {} s", PATIENCE.as_secs()));
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let said: Vec<String> = self.lines.iter().collect();
        if status.success() {
            return Ok(said);
        }
        Err(format!("ended with {status}: {}", self.complaints()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // One that has ended is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(server: Option<&str>, client: &str) -> Pair {
        // The arguments behind the script are `$0` and so on, the reference's file `$1`.
        let words = |script: &str| ["sh", "-c", script].map(str::to_owned).to_vec();
        Pair {
            name: "test".to_owned(),
            server: server.map(words),
            client: words(client),
            unix: false,
        }
    }

    fn start(pair: &Pair) -> Result<Dialogue, String> {
        Dialogue::start(pair, Placement::Free, Cpus::only(0))
    }

    #[test]
    fn a_client_is_asked_again_and_again_and_ends_with_its_input() {
        let client = r#"while read op size; do echo "{\"p50_ns\":$size,\"what\":\"$op\"}"; done"#;
        let mut dialogue = start(&shell(None, client)).unwrap();
        for size in [5, 7] {
            let answer = dialogue.ask(&format!("octet {size}")).unwrap();
            assert_eq!(answer.p50_ns, f64::from(size));
            assert!(answer.calls_per_s.is_nan());
            assert_eq!(answer.more["what"], "octet");
        }
        dialogue.end().unwrap();
    }

    #[test]
    fn an_error_is_reported_with_the_question() {
        let client = r#"read one; echo '{"error":"no such operation"}'; read two; echo why >&2"#;
        let mut dialogue = start(&shell(None, client)).unwrap();
        let why = dialogue.ask("fly 3").unwrap_err();
        assert!(
            why.contains("fly 3") && why.contains("no such operation"),
            "{why}"
        );
        let why = dialogue.ask("swim").unwrap_err();
        assert!(why.contains("the client ended: why"), "{why}");
    }

    #[test]
    fn programs_that_run_are_moved_to_where_a_placement_has_them() {
        let cpus = Cpus::pick().unwrap();
        let allowed = |id: &str| format!("grep Cpus_allowed_list /proc/{id}/status | tr -dc 0-9");
        let server = format!(
            r#"echo tcp >"$1"; while [ ! -e "$1.ask" ]; do sleep 0.01; done; {} >"$1.where"; mv "$1.where" "$1.is""#,
            allowed("$$")
        );
        let client = format!(
            r#"read ask; : >"$1.ask"; while [ ! -e "$1.is" ]; do sleep 0.01; done; echo "{{\"client\":$({}),\"server\":$(cat "$1.is")}}""#,
            allowed("$$")
        );
        let pair = shell(Some(&server), &client);
        let mut dialogue = Dialogue::start(&pair, Placement::Same, cpus).unwrap();
        dialogue.move_to(Placement::Split, cpus).unwrap();
        let answer = dialogue.ask("where").unwrap();
        for (name, side) in [("client", Side::Client), ("server", Side::Server)] {
            let cpu = cpus.cpu(Placement::Split, side).unwrap();
            assert_eq!(answer.more[name], cpu, "{name}");
        }
        assert!(dialogue.move_to(Placement::Free, cpus).is_err());
    }

    #[test]
    fn a_server_that_was_sent_something_else_is_an_error() {
        let server = |digest: &str| {
            format!(
                r#"echo tcp >"$1.tmp"; mv "$1.tmp" "$1"; while [ ! -e "$1.end" ]; do sleep 0.01; done; echo '{{"calls":2,"digest":"{digest}"}}'"#
            )
        };
        let client = r#"while read op; do case $op in shutdown) : >"$1.end";; *) echo '{"calls":2,"digest":"0f"}';; esac; done"#;
        for (digest, well) in [("0f", true), ("10", false)] {
            let mut dialogue = start(&shell(Some(&server(digest)), client)).unwrap();
            dialogue.ask("octet").unwrap();
            assert_eq!(dialogue.end().is_ok(), well);
        }
    }

    #[test]
    fn a_server_that_does_not_start_says_why() {
        let why = start(&shell(Some("echo broken >&2; exit 1"), "cat")).unwrap_err();
        assert!(why.contains("broken"), "{why}");
    }
}
