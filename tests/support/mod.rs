//! Programs of other ORBs: found, started, waited for, and never left behind.
//!
//! Nothing here sleeps: a program says on its standard output or error that it is ready, and a
//! clock is only ever the guard that turns a hang into a failure.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long anything may take before it counts as a hang. Not a measure of speed.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// Whether all of `programs` are there. If not, says that `what` is skipped; `ZORB_PEERS=require` makes that a failure,
/// and `ZORB_PEERS=skip` skips whatever is there.
pub(crate) fn have(what: &str, programs: &[&Path]) -> bool {
    let asked = std::env::var_os("ZORB_PEERS").unwrap_or_default();
    if asked == "skip" {
        eprintln!("{what}: skipped, as ZORB_PEERS says");
        return false;
    }
    let missing: Vec<_> = programs.iter().filter(|p| !is_there(p)).collect();
    if missing.is_empty() {
        return true;
    }
    let say = format!("{what}: skipped, no {missing:?}; `cargo xtask peers` gets them");
    assert!(asked != "require", "{say}");
    eprintln!("{say}");
    false
}

/// A bare name is looked for where the shell would look.
fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Records in the file that `ZORB_CELLS` names that a cell has passed; see `tests/interop/cells.txt`.
pub(crate) fn passed(cell: &str) {
    let Some(record) = std::env::var_os("ZORB_CELLS") else {
        return;
    };
    let file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(record);
    // One write, so that tests which run at the same time do not write into each other's lines.
    let written = file.and_then(|mut file| file.write_all(format!("cell {cell} ok\n").as_bytes()));
    written.expect("ZORB_CELLS names a file that can be written");
}

/// This program, running one of its ignored tests: a process that other tests need. `module` is the `module_path!()` of
/// that test.
pub(crate) fn process(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let test = match module.split_once("::") {
        Some((_, modules)) => format!("{modules}::{test}"),
        None => test.to_owned(),
    };
    command.args(["--exact", &test, "--ignored", "--nocapture"]);
    command
}

/// Runs `wait` so that the other tasks of this runtime go on meanwhile: the program waited for may
/// be waiting for them.
fn aside<T>(wait: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}

/// A program in the background. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    shown: String,
    lines: Receiver<String>,
    seen: Vec<String>,
}

/// The files that a program has left behind.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Lines of its standard output and error, as they came.
    pub(crate) lines: Vec<String>,
}

impl Running {
    pub(crate) fn start(program: &Path, args: &[impl AsRef<OsStr>]) -> Self {
        let mut command = Command::new(program);
        command.args(args);
        // The machine's configuration of omniORB is not part of a test.
        command.env("OMNIORB_CONFIG", "/dev/null");
        Self::command(command)
    }

    pub(crate) fn command(command: Command) -> Self {
        Self::spawn(command, Stdio::null()).0
    }

    /// The same with an input; with a pipe's other end, if it is one.
    pub(crate) fn spawn(mut command: Command, input: Stdio) -> (Self, Option<ChildStdin>) {
        let shown = format!("{command:?}");
        let mut child = command
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{shown} does not start: {error}"));
        let (sender, lines) = channel();
        forward(child.stdout.take().expect("piped"), sender.clone());
        forward(child.stderr.take().expect("piped"), sender);
        let input = child.stdin.take();
        let running = Self {
            child,
            shown,
            lines,
            seen: Vec::new(),
        };
        (running, input)
    }

    /// Its process.
    #[allow(dead_code, reason = "not every test that starts programs asks")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that `find` makes something of; `None` when the program ended without it. A program that has
    /// printed nothing for [`HANG`] hangs; one that does much on a busy machine does not.
    pub(crate) fn find<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        loop {
            match aside(|| self.lines.recv_timeout(HANG)) {
                Ok(line) => {
                    let found = find(&line);
                    self.seen.push(line);
                    if found.is_some() {
                        return found;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("{self:?} hangs"),
            }
        }
    }

    /// The reference that a server prints as soon as it serves.
    pub(crate) fn reference(&mut self) -> Option<String> {
        self.find(reference)
    }

    /// A program that cannot choose a port by itself, on one that is free, and what `find` makes of the line that says so. Where
    /// it ends without that, another program has perhaps taken the port in between, and it gets another one.
    #[allow(dead_code, reason = "not every test that starts programs has such")]
    pub(crate) fn on_a_port<T>(
        command: impl Fn(u16) -> Command,
        find: impl Fn(&str) -> Option<T>,
    ) -> (Self, u16, T) {
        let mut tries = 0..10;
        loop {
            // Of both families, where there are two.
            let free = std::net::TcpListener::bind("[::]:0")
                .or_else(|_| std::net::TcpListener::bind("0.0.0.0:0"))
                .and_then(|free| free.local_addr());
            let port = free.expect("a free port").port();
            let mut running = Self::command(command(port));
            if let Some(found) = running.find(&find) {
                return (running, port, found);
            }
            assert!(tries.next().is_some(), "{running:?}");
        }
    }

    /// Waits until the program has ended by itself.
    pub(crate) fn finish(mut self) -> Ended {
        // Its outputs are closed when it ends, and not before.
        self.find(|_| None::<()>);
        let status = aside(|| self.child.wait()).expect("a child can be waited for");
        let lines = std::mem::take(&mut self.seen);
        Ended { status, lines }
    }
}

/// The reference in a line, if there is one.
pub(crate) fn reference(line: &str) -> Option<String> {
    Some(line[line.find("IOR:")?..].to_owned())
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{}\n", self.shown, self.seen.join("\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, which is no error here.
        let _ = self.child.kill();
        let _ = aside(|| self.child.wait());
    }
}

impl Ended {
    /// The output of a program that has to have succeeded.
    pub(crate) fn success(self) -> Vec<String> {
        assert!(
            self.status.success(),
            "{}\n{}",
            self.status,
            self.lines.join("\n")
        );
        self.lines
    }
}

fn forward(from: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from
            .read_until(b'\n', &mut line)
            .is_ok_and(|octets| octets > 0)
        {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if to.send(text).is_err() {
                return;
            }
        }
    });
}
