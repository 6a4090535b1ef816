//! JacORB's name server; see `tests/interop/README.md`.

use crate::support::{Running, have};
use std::path::Path;
use tempfile::TempDir;

/// `org.jacorb.naming.NameServer` on a free port of 127.0.0.1, with nothing bound. Dropping it ends
/// it.
pub(crate) struct NameServer {
    _running: Running,
    _folder: TempDir,
    /// The root context, as an IOR. It has the plain key `NameService` too.
    pub(crate) root: String,
}

impl NameServer {
    /// `None`, and a word about it, when `cargo xtask peers` has not built it; a failure when it
    /// has to be there.
    pub(crate) fn start(what: &str) -> Option<Self> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/build/jacorb");
        let program = built.join("nameserver");
        if !have(what, &[&program]) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for bindings");
        let bindings = format!("-Djacorb.naming.db_dir={}", folder.path().display());
        let here = ["-DOAIAddr=127.0.0.1", "-DOAPort=0"];
        let args = [&here[..], &["-Djacorb.naming.print_ior=on", &bindings]].concat();
        let mut running = Running::start(&program, &args);
        // `SERVER IOR: IOR:…`
        let root = running.find(|line| Some(line.strip_prefix("SERVER IOR: ")?.to_owned()));
        Some(Self {
            _running: running,
            _folder: folder,
            root: root.expect("the name server says where its root context is"),
        })
    }
}
