//! JacORB on the other side of `rich.idl`: which columns there are with it. It writes big-endian.

use crate::client::{Cell, DATA, WIDE};
use crate::matrix::{Talk, Theirs, our_client, their_client};
use crate::peers::{Brand, Over, Program, Programs};
use std::path::Path;
use zorb::{Builder, Version};

pub(crate) static JACORB: Brand = Brand {
    name: "jacorb",
    orb_name: "JacORB",
    // Whatever the machine.
    order: "be",
    programs: || {
        let program = |name| Program {
            program: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/interop/build/jacorb")
                .join(name),
            before: Vec::new(),
            needs: Vec::new(),
        };
        Programs {
            server: program("rich_server"),
            client: program("rich_client"),
        }
    },
    // Its server keeps to that; its client speaks the version of the reference.
    limit: |giop| {
        let minor = giop.strip_prefix("1.").unwrap_or(giop);
        vec![format!("-Djacorb.giop_minor_version={minor}")]
    },
    server_lacks: &[],
};

/// It keeps strings in ISO 8859-1.
const fn talk(giop: &'static str, ours: fn(Builder) -> Builder) -> Talk {
    Talk {
        setting: "rich",
        utf8: false,
        ours,
        ..Talk::new(giop, Over::Tcp)
    }
}

const V1_0: Talk = talk("1.0", |builder| builder.max_giop_version(Version::V1_0));
const V1_1: Talk = talk("1.1", |builder| builder.max_giop_version(Version::V1_1));
const V1_2: Talk = talk("1.2", |builder| builder);

const NARROW: &[&[Cell]] = &[DATA];
const ALL: &[&[Cell]] = &[DATA, WIDE];

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_jacorb() {
    for talk in [V1_0, V1_1] {
        our_client(&JACORB, talk, NARROW).await;
    }
    our_client(&JACORB, V1_2, ALL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_passes_every_cell() {
    for talk in [V1_0, V1_1, V1_2] {
        let only: &[&str] = match talk.giop {
            "1.2" => &["unions", "union_structs", "recursive", "fixed", "anonymous"],
            _ => &["unions", "union_structs", "recursive", "fixed"],
        };
        let theirs = Theirs {
            callbacks: Over::Tcp,
            only,
            without: &[],
        };
        their_client(&JACORB, talk, theirs).await;
    }
}
