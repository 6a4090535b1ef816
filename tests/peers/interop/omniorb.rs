//! omniORB on the other side: which columns of the matrix there are with it.

use crate::interop::client::{
    BASIC, CALLBACKS, CYRILLIC, Cell, DATA, ENDS, FORWARDS, LATIN1, LATIN1_CHAR, NOT_WIDE, OBJECTS,
    PeerRef, TOO_BIG, UNICODE, VERY_BIG, WAITS, WIDE, WIDE_LATIN1, WIDE_UNICODE,
};
use crate::peers::{Brand, Over, Program, Programs, have_ipv6};
use crate::tap::{FRAGMENT, Recording, Side};
use crate::tshark;
use std::path::Path;
use zorb::CharSet;

pub(crate) static OMNIORB: Brand = Brand {
    name: "omniorb",
    orb_name: "omniORB",
    // It writes in the order of the machine, and so do we.
    order: crate::peers::OUR_ORDER,
    programs: || {
        let program = |name| Program {
            program: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/interop/build/omniorb")
                .join(name),
            before: Vec::new(),
            needs: Vec::new(),
        };
        Programs {
            server: program("server"),
            client: program("client"),
        }
    },
    limit: |giop| vec!["-ORBmaxGIOPVersion".to_owned(), giop.to_owned()],
    tls_at: |_| unreachable!("it has no certificate"),
    server_lacks: &[],
};

/// The recorded traffic: LocateRequests from the client and answers to them, fragments from omniORB in the
/// versions that have them, and nothing that tshark would not agree with.
fn heard(prefix: &str, recording: &Recording, omniorb: Side) {
    for (side, kind) in [(Side::Client, 3), (Side::Server, 4)] {
        assert!(
            recording.count(side, kind) > 0,
            "{prefix}: objects are located"
        );
    }
    let fragments = recording.count(omniorb, FRAGMENT);
    if prefix.contains("/giop1.0/") {
        assert_eq!(fragments, 0, "{prefix}: there are none in 1.0");
    } else {
        assert!(fragments > 0, "{prefix}: omniORB sends some");
    }
    tshark::agrees(&format!("tshark/{prefix}"), recording);
}

/// The same with an ORB that sends fragments too.
fn heard_ours(prefix: &str, recording: &Recording, omniorb: Side) {
    let ours = match omniorb {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    };
    assert!(
        recording.count(ours, FRAGMENT) > 0,
        "{prefix}: we send some"
    );
    heard(prefix, recording, omniorb);
}

mod our_client_passes_every_cell {
    use super::*;
    use crate::gateway::{GATEWAYS, OF_CONNECTIONS, on_peer};
    use crate::matrix::{Talk, our_client};

    const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS];
    const ALL_1_2: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS, WIDE];

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_limited_to_giop_1_0() {
        let talk = Talk {
            utf8: false,
            ..Talk::new("1.0", Over::Tcp)
        };
        our_client(&OMNIORB, talk, ALL).await;
    }

    /// Its references of that version name no code sets.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_limited_to_giop_1_1() {
        let talk = Talk {
            utf8: false,
            ..Talk::new("1.1", Over::Tcp)
        };
        our_client(&OMNIORB, talk, ALL).await;
    }

    /// Text travels in the server's native set, which is ISO 8859-1.
    const fn natively(over: Over) -> Talk {
        Talk {
            utf8: false,
            ..Talk::new("1.2", over)
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_over_giop_1_2_and_tcp() {
        our_client(&OMNIORB, natively(Over::Tcp), ALL_1_2).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_over_giop_1_2_and_a_unix_socket() {
        our_client(&OMNIORB, natively(Over::Unix), ALL_1_2).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_through_gateways() {
        const GROUPS: &[&[Cell]] = &[DATA, OBJECTS, WAITS, WIDE];
        for (setting, by) in GATEWAYS {
            let talk = Talk {
                setting,
                ours: |builder| builder.native_char_code_set(CharSet::Latin1),
                ..natively(Over::Tcp)
            };
            on_peer(&OMNIORB, (talk, by), GROUPS, OF_CONNECTIONS).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_with_utf_8() {
        let talk = Talk {
            setting: "utf8-utf8",
            args: &["-ORBnativeCharCodeSet", "UTF-8"],
            ..Talk::new("1.2", Over::Tcp)
        };
        our_client(&OMNIORB, talk, &[UNICODE, WIDE_UNICODE]).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_with_iso_8859_1() {
        let talk = Talk {
            setting: "utf8-latin1",
            ours: |builder| builder.native_char_code_set(CharSet::Utf8),
            ..Talk::new("1.2", Over::Tcp)
        };
        our_client(&OMNIORB, talk, &[LATIN1, LATIN1_CHAR, WIDE_LATIN1]).await;
    }

    /// The code set that our operator has named is used, if the server has it.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_with_iso_8859_1_here() {
        for (setting, args, utf8, groups) in [
            (
                "latin1-latin1",
                &[][..],
                false,
                &[LATIN1, LATIN1_CHAR, WIDE_LATIN1][..],
            ),
            (
                "latin1-utf8",
                &["-ORBnativeCharCodeSet", "UTF-8"],
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
            our_client(&OMNIORB, talk, groups).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_with_iso_8859_5() {
        let talk = Talk {
            setting: "utf8-cyrillic",
            args: &["-ORBnativeCharCodeSet", "ISO-8859-5"],
            ..Talk::new("1.2", Over::Tcp)
        };
        our_client(&OMNIORB, talk, &[CYRILLIC]).await;
    }

    /// Without code sets strings travel as ISO 8859-1, whatever either side keeps them as.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_without_code_sets() {
        // One octet of UTF-8 cannot keep every letter, so `latin1_char` is for the first only.
        for (setting, args, groups) in [
            (
                "utf8-unstated-latin1",
                &[][..],
                &[LATIN1, LATIN1_CHAR, NOT_WIDE][..],
            ),
            (
                "utf8-unstated-utf8",
                &["-ORBnativeCharCodeSet", "UTF-8"],
                &[LATIN1, NOT_WIDE],
            ),
        ] {
            for giop in ["1.0", "1.1"] {
                let talk = Talk {
                    setting,
                    args,
                    utf8: false,
                    ..Talk::new(giop, Over::Tcp)
                };
                our_client(&OMNIORB, talk, groups).await;
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_with_a_tap() {
        for giop in ["1.0", "1.1", "1.2"] {
            let talk = Talk {
                setting: "tapped",
                utf8: false,
                heard: Some(|prefix, recording| heard(prefix, recording, Side::Server)),
                ..Talk::new(giop, Over::Tcp)
            };
            let groups: &[&[Cell]] = match giop {
                "1.2" => &[DATA, OBJECTS, WAITS, FORWARDS, WIDE],
                _ => &[DATA, OBJECTS, WAITS, FORWARDS],
            };
            our_client(&OMNIORB, talk, groups).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_in_fragments() {
        for giop in ["1.1", "1.2"] {
            let talk = Talk {
                setting: "fragments",
                ours: |builder| builder.max_fragment_octets(1000),
                utf8: false,
                heard: Some(|prefix, recording| heard_ours(prefix, recording, Side::Server)),
                ..Talk::new(giop, Over::Tcp)
            };
            let groups: &[&[Cell]] = match giop {
                "1.2" => &[DATA, OBJECTS, WAITS, WIDE],
                _ => &[DATA, OBJECTS, WAITS],
            };
            our_client(&OMNIORB, talk, groups).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_up_to_its_limit_and_beyond() {
        for giop in ["1.0", "1.1", "1.2"] {
            our_client(&OMNIORB, Talk::new(giop, Over::Tcp), &[TOO_BIG]).await;
        }
        let talk = Talk {
            setting: "limit-raised",
            args: &["-ORBgiopMaxMsgSize", "16777216"],
            ..Talk::new("1.2", Over::Tcp)
        };
        our_client(&OMNIORB, talk, &[VERY_BIG]).await;
    }

    /// Callbacks too.
    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_over_ipv6() {
        if !have_ipv6("omniORB over IPv6") {
            return;
        }
        let talk = Talk {
            setting: "ipv6",
            address: "[::1]",
            args: &["-ORBendPoint", "giop:tcp:[::1]:"],
            ..Talk::new("1.2", Over::Tcp)
        };
        our_client(&OMNIORB, talk, &[BASIC, CALLBACKS]).await;
    }
}

mod omniorb_s_client_passes_every_cell {
    use super::*;
    use crate::gateway::GATEWAYS;
    use crate::matrix::{Talk, Theirs, their_client, their_client_through};

    #[tokio::test(flavor = "multi_thread")]
    async fn through_gateways() {
        for (setting, by) in GATEWAYS {
            let theirs = Theirs {
                callbacks: Over::Tcp,
                only: &[],
                without: &[],
            };
            let talk = Talk { setting, ..V1_2 };
            their_client_through::<PeerRef>(&OMNIORB, talk, theirs, Some(by)).await;
        }
    }

    async fn check(talk: Talk, callbacks: Over) {
        let theirs = Theirs {
            callbacks,
            only: &[],
            without: &[],
        };
        their_client::<PeerRef>(&OMNIORB, talk, theirs).await;
    }

    /// Code sets are agreed on from 1.1 on, and then omniORB takes ours: UTF-8.
    const V1_0: Talk = Talk::new("1.0", Over::Tcp);
    const V1_1: Talk = Talk {
        args: &["--tcs", "utf8"],
        ..Talk::new("1.1", Over::Tcp)
    };
    const V1_2: Talk = Talk {
        args: &["--tcs", "utf8"],
        ..Talk::new("1.2", Over::Tcp)
    };
    const UNIX: Over = Over::Unix;

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_0_and_tcp() {
        check(V1_0, Over::Tcp).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_1_and_tcp() {
        check(V1_1, Over::Tcp).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_2_and_tcp() {
        check(V1_2, Over::Tcp).await;
    }

    /// omniORB can publish no UNIX socket in these versions, so it is called back over TCP.
    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_0_and_a_unix_socket() {
        check(Talk { over: UNIX, ..V1_0 }, Over::Tcp).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_1_and_a_unix_socket() {
        check(Talk { over: UNIX, ..V1_1 }, Over::Tcp).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_2_and_a_unix_socket() {
        check(Talk { over: UNIX, ..V1_2 }, UNIX).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn with_text_in_utf_8() {
        let talk = Talk {
            setting: "utf8-utf8",
            args: &["-ORBnativeCharCodeSet", "UTF-8"],
            ..Talk::new("1.2", Over::Tcp)
        };
        check(talk, Over::Tcp).await;
        only(talk, &["widen_narrow_unicode"]).await;
    }

    /// These cells, whatever the others are.
    async fn only(talk: Talk, cells: &'static [&'static str]) {
        let theirs = Theirs {
            callbacks: Over::Tcp,
            only: cells,
            without: &[],
        };
        their_client::<PeerRef>(&OMNIORB, talk, theirs).await;
    }

    /// Some characters of our UTF-8 do not fit into its strings; it detects that itself.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_iso_8859_1() {
        let talk = Talk {
            setting: "latin1-utf8",
            ..V1_2
        };
        only(talk, &["strings", "latin1", "latin1_char", "unfit_reply"]).await;
    }

    /// Our references name ISO 8859-1 as native then, and omniORB takes what is native to both.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_iso_8859_1_on_both_sides() {
        let talk = Talk {
            setting: "latin1-latin1",
            ours: |builder| builder.native_char_code_set(CharSet::Latin1),
            ..Talk::new("1.2", Over::Tcp)
        };
        only(talk, &["strings", "latin1", "latin1_char", "unfit_reply"]).await;
    }

    /// It takes the server's native set wherever it can convert it.
    #[tokio::test(flavor = "multi_thread")]
    async fn with_utf_8_on_our_iso_8859_1() {
        let talk = Talk {
            setting: "utf8-latin1",
            args: &["-ORBnativeCharCodeSet", "UTF-8"],
            ours: |builder| builder.native_char_code_set(CharSet::Latin1),
            ..Talk::new("1.2", Over::Tcp)
        };
        only(talk, &["strings", "latin1", "unfit"]).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn with_iso_8859_5() {
        let talk = Talk {
            setting: "cyrillic-utf8",
            args: &["-ORBnativeCharCodeSet", "ISO-8859-5", "--tcs", "utf8"],
            ..Talk::new("1.2", Over::Tcp)
        };
        only(talk, &["strings", "cyrillic"]).await;
    }

    /// Code sets are not agreed on in 1.0: strings travel as ISO 8859-1, whatever either side
    /// keeps them as.
    #[tokio::test(flavor = "multi_thread")]
    async fn without_code_sets() {
        let latin1 = Talk {
            setting: "latin1-unstated-utf8",
            ..V1_0
        };
        only(
            latin1,
            &["strings", "latin1", "latin1_char", "wide_refused"],
        )
        .await;
        let utf8 = Talk {
            setting: "utf8-unstated-utf8",
            args: &["-ORBnativeCharCodeSet", "UTF-8"],
            ..V1_0
        };
        only(utf8, &["strings", "latin1", "unfit", "wide_refused"]).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn with_a_tap() {
        for talk in [V1_0, V1_1, V1_2] {
            let talk = Talk {
                setting: "tapped",
                heard: Some(|prefix, recording| heard(prefix, recording, Side::Client)),
                ..talk
            };
            check(talk, Over::Tcp).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn in_fragments() {
        for talk in [V1_1, V1_2] {
            let talk = Talk {
                setting: "fragments",
                ours: |builder| builder.max_fragment_octets(1000),
                heard: Some(|prefix, recording| heard_ours(prefix, recording, Side::Client)),
                ..talk
            };
            check(talk, Over::Tcp).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn up_to_its_limit_and_beyond() {
        for talk in [V1_0, V1_1, V1_2] {
            only(talk, &["too_big", "too_big_by_corbaloc"]).await;
        }
        let talk = Talk {
            setting: "limit-raised",
            args: &["-ORBgiopMaxMsgSize", "16777216"],
            ..Talk::new("1.2", Over::Tcp)
        };
        only(talk, &["very_big_messages"]).await;
    }

    /// The address in the body of our references is dead, an alternate one lives.
    #[tokio::test(flavor = "multi_thread")]
    async fn by_an_alternate_address() {
        let talk = Talk {
            setting: "first-address-dead",
            ours: |builder| builder.publish("iiop://127.0.0.1:1").publish("addr"),
            ..V1_2
        };
        only(talk, &["basic", "callbacks"]).await;
    }

    /// Callbacks too.
    #[tokio::test(flavor = "multi_thread")]
    async fn over_ipv6() {
        if !have_ipv6("omniORB over IPv6") {
            return;
        }
        let talk = Talk {
            setting: "ipv6",
            address: "[::1]",
            args: &["-ORBendPoint", "giop:tcp:[::1]:", "--tcs", "utf8"],
            ..V1_2
        };
        only(talk, &["basic", "corbaloc", "callbacks"]).await;
    }

    #[test]
    fn up_to_the_death_of_the_server() {
        crate::interop::their_client_and_the_end(&OMNIORB);
    }
}
