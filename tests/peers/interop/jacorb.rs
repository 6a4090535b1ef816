//! JacORB on the other side: which columns of the matrix there are with it.

use crate::interop::client::{
    BASIC, CALLBACKS, Cell, DATA, ENDS, FORWARDS, LATIN1, LATIN1_CHAR, NOT_WIDE, OBJECTS, PeerRef,
    UNICODE, UNICODE_BY_CORBALOC, VERY_BIG, WAITS, WIDE, WIDE_UNICODE,
};
use crate::peers::{Brand, OUR_ORDER, Over, Program, Programs, have_ipv6};
use crate::tap::{FRAGMENT, Recording, Side};
use crate::tshark;
use std::path::Path;
use zorb::CharSet;

pub(crate) static JACORB: Brand = brand(&[
    // It writes one NaN for all of them.
    "nans",
    // It takes every U+FEFF or U+FFFE where a text begins for a mark, and writes none.
    "wide_marks",
]);

/// The same in GIOP 1.1.
static JACORB_1_1: Brand = brand(&[
    "nans",
    "wide_marks",
    // It reads structs with wide text wrongly, its own too.
    "wide_structs",
]);

const fn brand(server_lacks: &'static [&'static str]) -> Brand {
    Brand {
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
        // Its server keeps to that; its client speaks the version of the reference.
        limit: |giop| {
            let minor = giop.strip_prefix("1.").unwrap_or(giop);
            vec![format!("-Djacorb.giop_minor_version={minor}")]
        },
        tls_at: |_| unreachable!("it has no certificate"),
        server_lacks,
    }
}

/// The recorded traffic: JacORB's octets in its order and ours in ours, and nothing that tshark
/// would not agree with.
fn heard(prefix: &str, recording: &Recording) {
    let jacorb = if prefix.starts_with("jacorb") {
        Side::Client
    } else {
        Side::Server
    };
    for ((_, side), messages) in recording.messages() {
        let little = side != jacorb && OUR_ORDER == "le";
        assert!(
            messages.iter().all(|message| message.little == little),
            "{prefix}: {side:?} keeps to its byte order"
        );
    }
    assert_eq!(recording.count(jacorb, FRAGMENT), 0, "{prefix}");
    tshark::agrees(&format!("tshark/{prefix}"), recording);
}

/// The same with an ORB that sends fragments.
fn heard_ours(prefix: &str, recording: &Recording) {
    let fragments = [Side::Client, Side::Server].map(|side| recording.count(side, FRAGMENT));
    assert!(
        fragments.iter().sum::<usize>() > 0,
        "{prefix}: we send some"
    );
    heard(prefix, recording);
}

/// The same when JacORB asks first where an object is.
fn heard_locating(prefix: &str, recording: &Recording) {
    assert!(recording.count(Side::Client, 3) > 0, "{prefix}: it asks");
    heard(prefix, recording);
}

mod our_client_passes_every_cell {
    use super::*;
    use crate::gateway::{GATEWAYS, OF_CONNECTIONS, on_peer};
    use crate::matrix::{Talk, our_client};

    const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS, VERY_BIG];
    const WITH_WIDE: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS, VERY_BIG, WIDE];

    /// It keeps strings in ISO 8859-1.
    const fn latin1(giop: &'static str) -> Talk {
        Talk {
            utf8: false,
            ..Talk::new(giop, Over::Tcp)
        }
    }

    const fn heard_in(giop: &'static str) -> Talk {
        Talk {
            heard: Some(heard),
            ..latin1(giop)
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_limited_to_giop_1_0() {
        our_client(&JACORB, heard_in("1.0"), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_limited_to_giop_1_1() {
        our_client(&JACORB_1_1, heard_in("1.1"), WITH_WIDE).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_over_giop_1_2() {
        our_client(&JACORB, heard_in("1.2"), WITH_WIDE).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_through_gateways() {
        const GROUPS: &[&[Cell]] = &[DATA, OBJECTS, WAITS, WIDE];
        for (setting, by) in GATEWAYS {
            let talk = Talk {
                setting,
                ours: |builder| builder.native_char_code_set(CharSet::Latin1),
                ..latin1("1.2")
            };
            on_peer(&JACORB, (talk, by), GROUPS, OF_CONNECTIONS).await;
        }
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

    /// Text that does not fit into its set never leaves.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_with_iso_8859_1() {
        for giop in ["1.1", "1.2"] {
            let talk = Talk {
                setting: "utf8-latin1",
                ..latin1(giop)
            };
            our_client(&JACORB, talk, &[LATIN1, LATIN1_CHAR]).await;
        }
    }

    /// Our native code set changes nothing: text has the peer's.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_with_iso_8859_1_here() {
        for (setting, args, utf8, groups) in [
            ("latin1-latin1", &[][..], false, &[LATIN1, LATIN1_CHAR][..]),
            (
                "latin1-utf8",
                &["-Djacorb.native_char_codeset=UTF8"],
                true,
                &[UNICODE, WIDE_UNICODE],
            ),
        ] {
            let talk = Talk {
                setting,
                args,
                utf8,
                ours: |builder| builder.native_char_code_set(CharSet::Latin1),
                ..Talk::new("1.2", Over::Tcp)
            };
            our_client(&JACORB, talk, groups).await;
        }
    }

    /// It reads fragments of 1.2, refuses those of 1.1, and never sends any.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_by_our_fragments() {
        let talk = Talk {
            setting: "fragments",
            ours: |builder| builder.max_fragment_octets(1024),
            heard: Some(heard_ours),
            ..latin1("1.2")
        };
        our_client(&JACORB, talk, &[DATA, VERY_BIG, WIDE]).await;
    }

    /// Where nothing is agreed on it speaks the set that it keeps strings in, which only we can
    /// know: by its references of 1.0, and by any `corbaloc`.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_with_utf_8_that_it_does_not_state() {
        for giop in ["1.0", "1.1", "1.2"] {
            let talk = Talk {
                setting: "utf8-unstated-utf8",
                args: &["-Djacorb.native_char_codeset=UTF8"],
                ours: |builder| builder.char_code_set_of_unstated_peers(CharSet::Utf8),
                ..Talk::new(giop, Over::Tcp)
            };
            our_client(&JACORB, talk, &[UNICODE, UNICODE_BY_CORBALOC]).await;
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
            our_client(&JACORB, talk, &[LATIN1, LATIN1_CHAR, NOT_WIDE]).await;
        }
    }

    /// Callbacks too.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_jacorb_over_ipv6() {
        if !have_ipv6("JacORB over IPv6") {
            return;
        }
        let talk = Talk {
            setting: "ipv6",
            address: "[::1]",
            args: &["-DOAIAddr=::1"],
            ..Talk::new("1.2", Over::Tcp)
        };
        our_client(&JACORB, talk, &[BASIC, CALLBACKS]).await;
    }
}

mod jacorb_s_client_passes_every_cell {
    use super::*;
    use crate::gateway::GATEWAYS;
    use crate::matrix::{Talk, Theirs, their_client, their_client_through};
    use zorb::Version;

    #[tokio::test(flavor = "multi_thread")]
    async fn through_gateways() {
        for (setting, by) in GATEWAYS {
            let talk = Talk {
                setting,
                heard: None,
                ..V1_2
            };
            their_client_through::<PeerRef>(&JACORB, talk, ALL, Some(by)).await;
        }
    }

    const ALL: Theirs = Theirs {
        callbacks: Over::Tcp,
        only: &[],
        without: &[],
    };

    /// Whatever its own limit, it speaks the version of the reference.
    const V1_0: Talk = Talk {
        ours: |builder| builder.max_giop_version(Version::V1_0),
        heard: Some(heard),
        ..Talk::new("1.0", Over::Tcp)
    };
    const V1_1: Talk = Talk {
        ours: |builder| builder.max_giop_version(Version::V1_1),
        heard: Some(heard),
        ..Talk::new("1.1", Over::Tcp)
    };
    const V1_2: Talk = Talk {
        heard: Some(heard),
        ..Talk::new("1.2", Over::Tcp)
    };

    /// Structs with wide text in 1.1 it reads wrongly, even its own.
    const ALL_1_1: Theirs = Theirs {
        without: &["wide_structs"],
        ..ALL
    };

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_0() {
        their_client::<PeerRef>(&JACORB, V1_0, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_1() {
        their_client::<PeerRef>(&JACORB, V1_1, ALL_1_1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_2() {
        their_client::<PeerRef>(&JACORB, V1_2, ALL).await;
    }

    /// From 1.1 on it agrees on the set that it keeps strings in.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_utf_8() {
        for (talk, theirs) in [(V1_1, ALL_1_1), (V1_2, ALL)] {
            let talk = Talk {
                setting: "utf8-utf8",
                args: &["-Djacorb.native_char_codeset=UTF8", "--tcs", "utf8"],
                ..talk
            };
            their_client::<PeerRef>(&JACORB, talk, theirs).await;
        }
    }

    /// Our references name ISO 8859-1 as native then, and UTF-8 as what we convert.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_iso_8859_1_here() {
        for (setting, args, only) in [
            (
                "latin1-latin1",
                &[][..],
                &["strings", "latin1", "latin1_char", "unfit_reply"][..],
            ),
            (
                "utf8-latin1",
                &["-Djacorb.native_char_codeset=UTF8", "--tcs", "utf8"],
                &["strings", "latin1", "latin1_char", "unicode"],
            ),
        ] {
            let talk = Talk {
                setting,
                args,
                ours: |builder| builder.native_char_code_set(CharSet::Latin1),
                heard: None,
                ..V1_2
            };
            their_client::<PeerRef>(&JACORB, talk, Theirs { only, ..ALL }).await;
        }
    }

    /// Without code sets it sends what it keeps strings in, and our server needs an option.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_utf_8_without_code_sets() {
        let talk = Talk {
            setting: "utf8-unstated-utf8",
            args: &["-Djacorb.native_char_codeset=UTF8", "--tcs", "utf8"],
            ours: |builder| {
                let builder = builder.max_giop_version(Version::V1_0);
                builder.char_code_set_of_unstated_peers(CharSet::Utf8)
            },
            heard: None,
            ..V1_0
        };
        let only = &["strings", "latin1", "unicode"];
        their_client::<PeerRef>(&JACORB, talk, Theirs { only, ..ALL }).await;
    }

    /// It reads those of 1.2 only.
    #[tokio::test(flavor = "multi_thread")]
    async fn by_our_fragments() {
        let talk = Talk {
            setting: "fragments",
            ours: |builder| builder.max_fragment_octets(1024),
            heard: Some(heard_ours),
            ..V1_2
        };
        their_client::<PeerRef>(&JACORB, talk, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn asking_first_where_objects_are() {
        let only = &[
            "basic",
            "references",
            "pseudo_operations",
            "callbacks",
            "forward",
        ];
        for talk in [V1_0, V1_1, V1_2] {
            let talk = Talk {
                setting: "locate",
                args: &["-Djacorb.locate_on_bind=on"],
                heard: Some(heard_locating),
                ..talk
            };
            their_client::<PeerRef>(&JACORB, talk, Theirs { only, ..ALL }).await;
        }
    }

    /// The address in the body of our references is dead, an alternate one lives.
    #[tokio::test(flavor = "multi_thread")]
    async fn by_an_alternate_address() {
        let talk = Talk {
            setting: "first-address-dead",
            ours: |builder| builder.publish("iiop://127.0.0.1:1").publish("addr"),
            heard: None,
            ..V1_2
        };
        let only = &["basic", "callbacks"];
        their_client::<PeerRef>(&JACORB, talk, Theirs { only, ..ALL }).await;
    }

    /// Callbacks too.
    #[tokio::test(flavor = "multi_thread")]
    async fn over_ipv6() {
        if !have_ipv6("JacORB over IPv6") {
            return;
        }
        let talk = Talk {
            setting: "ipv6",
            address: "[::1]",
            args: &["-DOAIAddr=::1"],
            heard: None,
            ..V1_2
        };
        let only = &["basic", "corbaloc", "callbacks"];
        their_client::<PeerRef>(&JACORB, talk, Theirs { only, ..ALL }).await;
    }

    #[test]
    fn up_to_the_death_of_the_server() {
        crate::interop::their_client_and_the_end(&JACORB);
    }
}

/// No peer may send JacORB fragments in GIOP 1.1; this is why.
mod fragments_of_giop_1_1 {
    use super::*;
    use crate::interop::idl::interop::PeerRef;
    use crate::interop::nodes::host_node;
    use crate::matrix::Talk;
    use crate::peers::Way;
    use crate::support::{Running, passed};
    use zorb::{Orb, SystemExceptionKind as Kind, Version};

    /// JacORB's server, and an ORB of ours that sends fragments in 1.1.
    async fn start() -> Option<(Running, Orb, PeerRef)> {
        let programs = JACORB.find("fragments of GIOP 1.1")?;
        let way = Way::new(&JACORB, &programs, Over::Tcp, (JACORB.limit)("1.1"));
        let (server, reference) = way.start();
        let talk = Talk {
            ours: |builder| {
                let builder = builder.max_giop_version(Version::V1_1);
                builder.max_fragment_octets(1024)
            },
            ..Talk::new("1.1", Over::Tcp)
        };
        let (orb, _) = talk.listen().await;
        let root = orb.root_poa();
        root.the_poa_manager().activate().expect("not inactive");
        let object = orb.string_to_object(&reference).await.expect("a reference");
        Some((server, orb, object.unchecked_narrow()))
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn are_not_implemented_by_jacorb_s_server() {
        let Some((_server, _orb, peer)) = start().await else {
            return;
        };
        peer.take_octets(&[7; 500]).await.expect("one message");
        let refused = peer.take_octets(&[7; 5000]).await.unwrap_err();
        assert_eq!(refused.kind, Kind::NoImplement, "{refused}");
        passed("zorb-jacorb/giop1.1/le-be/tcp/fragments/refused");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn make_jacorb_s_client_close() {
        let Some((_server, orb, peer)) = start().await else {
            return;
        };
        let (short, _) = host_node(&orb, "short", false);
        peer.keep(&short).await.expect("it is kept");
        assert_eq!(peer.call_kept().await.expect("one message"), "short");
        let (long, _) = host_node(&orb, &"long".repeat(1000), false);
        peer.keep(&long).await.expect("it is kept");
        let closed = peer.call_kept().await.unwrap_err();
        assert_eq!(closed.kind, Kind::CommFailure, "{closed}");
        passed("jacorb-zorb/giop1.1/be-le/tcp/fragments/refused");
    }
}
