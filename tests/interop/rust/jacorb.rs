//! JacORB on the other side: which columns of the matrix there are with it.

use crate::client::{Cell, DATA, ENDS, FORWARDS, OBJECTS, UNICODE, WAITS, WIDE, WIDE_UNICODE};
use crate::peers::{Brand, Over, Program, Programs};
use std::path::Path;

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
            server: program("server"),
            client: program("client"),
        }
    },
    limit: |giop| {
        let minor = giop.strip_prefix("1.").unwrap_or(giop);
        vec![format!("-Djacorb.giop_minor_version={minor}")]
    },
    server_lacks: &[
        // It writes one NaN for all of them.
        "nans",
        // It takes every U+FEFF or U+FFFE where a text begins for a mark, and writes none.
        "wide_marks",
    ],
};

mod our_client_passes_every_cell {
    use super::*;
    use crate::matrix::{Talk, our_client};

    const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS];
    const ALL_1_2: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS, WIDE];

    /// It keeps strings in ISO 8859-1.
    const fn latin1(giop: &'static str) -> Talk {
        Talk {
            utf8: false,
            ..Talk::new(giop, Over::Tcp)
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_limited_to_giop_1_0() {
        our_client(&JACORB, latin1("1.0"), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_limited_to_giop_1_1() {
        our_client(&JACORB, latin1("1.1"), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_over_giop_1_2() {
        our_client(&JACORB, latin1("1.2"), ALL_1_2).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_with_utf_8() {
        for giop in ["1.1", "1.2"] {
            let talk = Talk {
                setting: "utf8-utf8",
                args: &["-Djacorb.native_char_codeset=UTF8"],
                ..Talk::new(giop, Over::Tcp)
            };
            let groups: &[&[Cell]] = if giop == "1.2" {
                &[UNICODE, WIDE_UNICODE]
            } else {
                &[UNICODE]
            };
            our_client(&JACORB, talk, groups).await;
        }
    }

    /// Its references of any version name no code sets then.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_without_code_sets() {
        for giop in ["1.1", "1.2"] {
            let talk = Talk {
                setting: "utf8-unstated",
                args: &["-Djacorb.codeset=off"],
                ..latin1(giop)
            };
            our_client(&JACORB, talk, &[DATA]).await;
        }
    }
}

mod jacorb_s_client_passes_every_cell {
    use super::*;
    use crate::matrix::{Talk, Theirs, their_client};

    /// Cells of that client that need what our servers do not have yet.
    const NOT_YET: &[&str] = &["forward"];

    const ALL: Theirs = Theirs {
        callbacks: Over::Tcp,
        only: &[],
        without: NOT_YET,
    };

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_0() {
        their_client(&JACORB, Talk::new("1.0", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_1() {
        their_client(&JACORB, Talk::new("1.1", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_2() {
        their_client(&JACORB, Talk::new("1.2", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn with_utf_8() {
        let talk = Talk {
            setting: "utf8-utf8",
            args: &["-Djacorb.native_char_codeset=UTF8", "--tcs", "utf8"],
            ..Talk::new("1.2", Over::Tcp)
        };
        their_client(&JACORB, talk, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn without_code_sets() {
        let talk = Talk {
            setting: "utf8-unstated",
            args: &["-Djacorb.codeset=off"],
            ..Talk::new("1.2", Over::Tcp)
        };
        their_client(&JACORB, talk, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn asking_first_where_objects_are() {
        let talk = Talk {
            setting: "locate",
            args: &["-Djacorb.locate_on_bind=on"],
            ..Talk::new("1.2", Over::Tcp)
        };
        let only = &["basic", "references", "pseudo_operations", "callbacks"];
        their_client(&JACORB, talk, Theirs { only, ..ALL }).await;
    }

    /// The address in the body of our references is dead, an alternate one lives.
    #[tokio::test(flavor = "multi_thread")]
    async fn by_an_alternate_address() {
        let talk = Talk {
            setting: "first-address-dead",
            ours: |builder| builder.publish("iiop://127.0.0.1:1").publish("addr"),
            ..Talk::new("1.2", Over::Tcp)
        };
        let only = &["basic", "callbacks"];
        their_client(&JACORB, talk, Theirs { only, ..ALL }).await;
    }
}

mod with_somebody_listening {
    use super::*;
    use crate::matrix::{Talk, Theirs, our_client, their_client};
    use crate::tap::{FRAGMENT, Recording, Side};
    use crate::tshark;

    /// JacORB itself never sends fragments.
    fn heard(prefix: &str, recording: &Recording) {
        let ours = if prefix.starts_with("zorb") {
            Side::Client
        } else {
            Side::Server
        };
        let fragments = recording.count(ours, FRAGMENT);
        let due = prefix.ends_with("/tapped-fragments");
        assert_eq!(fragments > 0, due, "{prefix}: {fragments} fragments");
        tshark::agrees(&format!("tshark/{prefix}"), recording);
    }

    const fn tapped(giop: &'static str) -> Talk {
        Talk {
            setting: "tapped",
            utf8: false,
            heard: Some(heard),
            ..Talk::new(giop, Over::Tcp)
        }
    }

    const FRAGMENTS: Talk = Talk {
        setting: "tapped-fragments",
        ours: |builder| builder.max_fragment_octets(1000),
        ..tapped("1.2")
    };

    #[tokio::test(flavor = "multi_thread")]
    async fn our_client_passes_every_cell() {
        for talk in [tapped("1.0"), tapped("1.1"), tapped("1.2"), FRAGMENTS] {
            our_client(&JACORB, talk, &[DATA, OBJECTS]).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn jacorb_s_client_passes_every_cell() {
        let theirs = Theirs {
            callbacks: Over::Tcp,
            only: &[
                "basic",
                "structs",
                "bundles",
                "struct_sequences",
                "exceptions",
                "references",
                "large_octets",
                "large_strings",
                "large_structs",
            ],
            without: &[],
        };
        for talk in [tapped("1.2"), FRAGMENTS] {
            their_client(&JACORB, talk, theirs).await;
        }
    }
}
