//! omniORB on the other side of `rich.idl`: which columns there are with it.

use crate::gateway::{RICH_GATEWAYS, on_peer};
use crate::matrix::{Talk, Theirs, our_client, their_client, their_client_through};
use crate::peers::{Brand, OUR_ORDER, Over, Program, Programs};
use crate::rich::client::{
    ANYS, BIG_LABELS, BOX_ANYS, BOXES, CONTEXT, Cell, DATA, DEFAULTS, ODD_TYPES, ODD_WIDE_ANYS,
    PeerRef, TRUNCATABLE_ANYS, TRUNCATION, UNION_ANYS, VALUE_ANYS, VALUES, WIDE, WIDE_ANYS,
    WIDE_VALUES,
};
use std::path::Path;

pub(crate) static OMNIORB: Brand = Brand {
    name: "omniorb",
    orb_name: "omniORB",
    // It writes in the order of the machine, and so do we.
    order: OUR_ORDER,
    programs: || {
        let program = |name| Program {
            program: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/interop/build/omniorb")
                .join(name),
            before: Vec::new(),
            needs: Vec::new(),
        };
        Programs {
            server: program("rich_server"),
            client: program("rich_client"),
        }
    },
    limit: |giop| vec!["-ORBmaxGIOPVersion".to_owned(), giop.to_owned()],
    tls_at: |_| unreachable!("it has no certificate"),
    server_lacks: &[],
};

const fn talk(giop: &'static str) -> Talk {
    Talk {
        setting: "rich",
        ..Talk::new(giop, Over::Tcp)
    }
}

const NARROW: &[&[Cell]] = &[
    CONTEXT,
    DATA,
    DEFAULTS,
    BIG_LABELS,
    VALUES,
    TRUNCATION,
    BOXES,
    ANYS,
    UNION_ANYS,
    ODD_TYPES,
    VALUE_ANYS,
    TRUNCATABLE_ANYS,
    BOX_ANYS,
];
const ALL: &[&[Cell]] = &[
    CONTEXT,
    DATA,
    DEFAULTS,
    BIG_LABELS,
    VALUES,
    TRUNCATION,
    BOXES,
    ANYS,
    UNION_ANYS,
    ODD_TYPES,
    VALUE_ANYS,
    TRUNCATABLE_ANYS,
    BOX_ANYS,
    WIDE,
    WIDE_VALUES,
    WIDE_ANYS,
    ODD_WIDE_ANYS,
];

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_omniorb_through_gateways() {
    for (setting, by, without) in RICH_GATEWAYS {
        let talk = Talk {
            setting,
            ..talk("1.2")
        };
        on_peer(&OMNIORB, (talk, by), ALL, without).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_omniorb() {
    for giop in ["1.0", "1.1"] {
        let talk = Talk {
            utf8: false,
            ..talk(giop)
        };
        our_client(&OMNIORB, talk, NARROW).await;
    }
    our_client(&OMNIORB, talk("1.2"), ALL).await;
}

/// In pieces of 120 octets, so that everything stands across the end of one. Text is UTF-8: of a value in chunks, such
/// as a truncatable one, omniORB takes the rest of the chunk for a string in ISO 8859-1, its native code set, that
/// stands across the end of a fragment. So it does with a message that was written by hand, and reads the same message
/// whole.
const fn in_fragments(giop: &'static str) -> Talk {
    Talk {
        setting: "rich/fragments",
        ours: |builder| {
            builder
                .max_fragment_octets(120)
                .native_char_code_set(zorb::CharSet::Utf8)
        },
        ..talk(giop)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_omniorb_in_fragments() {
    let talk = Talk {
        utf8: false,
        ..in_fragments("1.1")
    };
    our_client(&OMNIORB, talk, NARROW).await;
    our_client(&OMNIORB, in_fragments("1.2"), ALL).await;
}

const THEIRS: Theirs = Theirs {
    callbacks: Over::Tcp,
    only: &[],
    // An exception in an any it expects in a form of its own, and TypeCodes of values too.
    without: &["any_exception", "type_codes"],
};

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_passes_every_cell() {
    for giop in ["1.0", "1.1", "1.2"] {
        their_client::<PeerRef>(&OMNIORB, talk(giop), THEIRS).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_passes_every_cell_through_gateways() {
    for (setting, by, _) in RICH_GATEWAYS {
        let talk = Talk {
            setting,
            ..talk("1.2")
        };
        let theirs = Theirs {
            without: &["any_exception", "type_codes", "any_object"],
            ..THEIRS
        };
        their_client_through::<PeerRef>(&OMNIORB, talk, theirs, Some(by)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_passes_every_cell_in_fragments() {
    for giop in ["1.1", "1.2"] {
        their_client::<PeerRef>(&OMNIORB, in_fragments(giop), THEIRS).await;
    }
}
