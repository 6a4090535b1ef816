//! The compiler, on code that depends on zorb and tokio as a user's does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The compiler on `source`. A warning is an error: users should not have to silence what we make or show them.
pub(crate) fn rustc(source: &Path) -> Command {
    tool("rustc", source)
}

/// A tool of Rust on `source`, `rustc` or `rustdoc`, with warnings as errors.
pub(crate) fn tool(name: &str, source: &Path) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO")).with_file_name(name));
    command.args(["--edition=2024", "-Dwarnings"]);
    for name in ["zorb", "tokio"] {
        let library = library(name);
        let folder = library.parent().expect("a folder").display();
        let dependencies = format!("dependency={folder}/deps");
        command.args(["-L", &format!("dependency={folder}"), "-L", &dependencies]);
        command.args(["--extern", &format!("{name}={}", library.display())]);
    }
    command.arg(source);
    command
}

/// Where cargo has a library that the examples are compiled with.
pub(crate) fn library(name: &str) -> &'static Path {
    let library = libraries().get(name);
    library.unwrap_or_else(|| panic!("cargo names no library {name}"))
}

fn libraries() -> &'static HashMap<String, PathBuf> {
    static LIBRARIES: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--examples", "--message-format=json"]);
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
        let built = build.output().expect("cargo is there");
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{said}");
        cargo_metadata::Message::parse_stream(built.stdout.as_slice())
            .filter_map(|message| match message.expect("cargo speaks JSON") {
                cargo_metadata::Message::CompilerArtifact(artifact) => {
                    let library = |file: &&_| {
                        let extension = AsRef::<Path>::as_ref(*file).extension();
                        // The latter of procedural macros.
                        [Some("rlib".as_ref()), Some("so".as_ref())].contains(&extension)
                    };
                    let library = artifact.filenames.iter().find(library)?;
                    Some((artifact.target.name, library.clone().into_std_path_buf()))
                }
                _ => None,
            })
            .collect()
    })
}
