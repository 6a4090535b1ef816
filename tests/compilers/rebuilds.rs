//! The crates that cargo compiles again when IDL changes, and those that it leaves alone, by each of the front ends.
//!
//! A workspace of three packages, one for each front end, is checked by a real cargo again and again. Its IDL has constants
//! alone, and the macros are called where `zorb` has them from: what needs the ORB would have cargo compile it once more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages on disk.
pub(crate) struct World {
    root: PathBuf,
}

/// Names of packages.
type Names = BTreeSet<&'static str>;

const FRONT_ENDS: [&str; 3] = ["attribute", "inline", "script"];

fn names(of: &[&'static str]) -> Names {
    of.iter().copied().collect()
}

impl World {
    /// A workspace of these packages, without the packages.
    pub(crate) fn of(name: &str, members: &[&str]) -> Self {
        let world = Self {
            root: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name),
        };
        let house = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (macros, compiler) = (house.join("idl-macros"), house.join("crates/idl"));
        world.write(
            "Cargo.toml",
            &format!(
                "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[workspace.dependencies]\nzorb-idl-macros = {{ path = {macros:?} }}\nzorb-idl = {{ path = {compiler:?} }}\n"
            ),
        );
        // The versions of the house, of which no registry need be asked.
        let lock = fs::read_to_string(house.join("Cargo.lock")).expect("the house has a lock file");
        world.write("Cargo.lock", &lock);
        world
    }

    /// The three packages.
    fn new() -> Self {
        let world = Self::of("rebuilds", &FRONT_ENDS);
        for front_end in FRONT_ENDS {
            let compiler = match front_end {
                "script" => "[build-dependencies]\nzorb-idl.workspace = true\n",
                _ => "[dependencies]\nzorb-idl-macros.workspace = true\n",
            };
            world.write(
                &format!("{front_end}/Cargo.toml"),
                &format!(
                    "[package]\nname = {front_end:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n{compiler}"
                ),
            );
            world.write(
                &format!("{front_end}/idl/shared.idl"),
                "const long SHARED = 1;\n",
            );
            world.write(
                &format!("{front_end}/idl/other.idl"),
                "const long OTHER = 1;\n",
            );
            world.write(
                &format!("{front_end}/idl/bank.idl"),
                "#include \"shared.idl\"\n#ifndef LIMIT\n#define LIMIT 7\n#endif\nconst long MOST = LIMIT + SHARED;\n",
            );
        }
        world.write(
            "inline/src/lib.rs",
            "zorb_idl_macros::idl_tokens! { [::zorb] r#\"\n#include \"idl/shared.idl\"\nconst long MOST = 7 + SHARED;\n\"# }\n",
        );
        world.write("attribute/src/lib.rs", &annotated(""));
        world.write(
            "script/src/lib.rs",
            "include!(concat!(env!(\"OUT_DIR\"), \"/bank.rs\"));\n",
        );
        world.write("script/build.rs", &script(""));
        world
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(&self.root);
        cargo.args(arguments).arg("--offline");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("worlds");
        cargo.env("CARGO_TARGET_DIR", target);
        cargo.env("CARGO_INCREMENTAL", "0");
        cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
        cargo
    }

    /// Checks all, and returns the packages of ours that rustc was called for.
    fn check(&self) -> Names {
        let output = self
            .cargo(&["check", "--workspace", "--message-format=json"])
            .output()
            .expect("cargo is there");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let messages = cargo_metadata::Message::parse_stream(output.stdout.as_slice());
        let compiled = messages.filter_map(|message| match message.expect("cargo speaks JSON") {
            cargo_metadata::Message::CompilerArtifact(artifact) if !artifact.fresh => {
                let library = artifact.target.is_lib();
                let of = |front_end: &&&str| library && artifact.target.name == **front_end;
                FRONT_ENDS.iter().find(of).copied()
            }
            _ => None,
        });
        compiled.collect()
    }

    /// The folder that the build script of a package has written to, which was built without the feature `format`.
    pub(crate) fn written(&self, package: &str) -> PathBuf {
        let output = self
            .cargo(&["check", "--package", package, "--message-format=json"])
            .output();
        let output = output.expect("cargo is there");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let mut messages = cargo_metadata::Message::parse_stream(output.stdout.as_slice());
        let folder = messages.find_map(|message| match message.expect("cargo speaks JSON") {
            cargo_metadata::Message::BuildScriptExecuted(script)
                if script.package_id.repr.contains(&format!("/{package}#")) =>
            {
                Some(script.out_dir)
            }
            _ => None,
        });
        folder.expect("the script has run").into()
    }

    /// The same, where the IDL is faulty: what is said of it.
    fn refusal(&self, front_end: &str) -> String {
        let output = self.cargo(&["check", "--package", front_end]).output();
        let output = output.expect("cargo is there");
        assert!(
            !output.status.success(),
            "{front_end} was not compiled again"
        );
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// The crate of the attribute, with these options beside the file.
fn annotated(options: &str) -> String {
    format!("#[zorb_idl_macros::idl_file(\"idl/bank.idl\"{options})]\npub mod bank {{}}\n")
}

/// A build script that sets these options.
fn script(options: &str) -> String {
    format!(
        "fn main() -> Result<(), zorb_idl::BuildError> {{\n    zorb_idl::Build::new().file(\"idl/bank.idl\"){options}.compile(\"bank.rs\")?;\n    Ok(())\n}}\n"
    )
}

#[test]
fn only_what_uses_the_idl_that_changed_is_compiled_again() {
    let world = World::new();
    world.check();
    assert_eq!(world.check(), names(&[]), "nothing has changed");

    for front_end in FRONT_ENDS {
        world.write(
            &format!("{front_end}/idl/other.idl"),
            "const long OTHER = 2;\n",
        );
    }
    assert_eq!(world.check(), names(&[]), "a file that is not included has");

    for front_end in FRONT_ENDS {
        world.write(
            &format!("{front_end}/idl/shared.idl"),
            "const long SHARED = 2;\n",
        );
        assert_eq!(world.check(), names(&[front_end]), "an included file has");
    }
    assert_eq!(world.check(), names(&[]), "nothing has changed since");

    for front_end in ["attribute", "script"] {
        world.write(
            &format!("{front_end}/idl/bank.idl"),
            "#include \"shared.idl\"\n#ifndef LIMIT\n#define LIMIT 8\n#endif\nconst long MOST = LIMIT + SHARED;\n",
        );
        assert_eq!(world.check(), names(&[front_end]), "the file itself has");
    }
    world.write(
        "inline/src/lib.rs",
        "zorb_idl_macros::idl_tokens! { [::zorb] r#\"\n#include \"idl/shared.idl\"\nconst long MOST = 8 + SHARED;\n\"# }\n",
    );
    assert_eq!(world.check(), names(&["inline"]), "the text itself has");

    world.write(
        "attribute/src/lib.rs",
        &annotated(", define(\"LIMIT\" = \"9\")"),
    );
    assert_eq!(world.check(), names(&["attribute"]), "an option has");
    world.write("script/build.rs", &script(".define(\"LIMIT\", \"9\")"));
    assert_eq!(world.check(), names(&["script"]), "an option has");

    // And what it is compiled from is what the file has now: also where that is wrong, and right again.
    for front_end in FRONT_ENDS {
        let shared = format!("{front_end}/idl/shared.idl");
        world.write(&shared, "const long SHARED = LOST;\n");
        let refusal = world.refusal(front_end);
        assert!(
            refusal.contains("shared.idl:1") && refusal.contains("LOST"),
            "{refusal}"
        );
        world.write(&shared, "const long SHARED = 3;\n");
        assert_eq!(world.check(), names(&[front_end]), "the fault is mended");
    }
    assert_eq!(world.check(), names(&[]), "nothing has changed since");
}
