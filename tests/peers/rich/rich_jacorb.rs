//! JacORB on the other side of `rich.idl`: which columns there are with it. It writes big-endian.

use crate::gateway::{RICH_GATEWAYS, on_peer};
use crate::matrix::{Talk, Theirs, our_client, their_client, their_client_through};
use crate::peers::{Brand, Over, Program, Programs};
use crate::rich::client::{
    ANYS, CUSTOM, Cell, DATA, EXCEPTION_ANYS, MANY_VALUES, PeerRef, TRUNCATABLE_ANYS, UNION_ANYS,
    VALUE_ANYS, VALUES, WIDE, WIDE_ANYS, WIDE_VALUES,
};
use std::path::Path;
use zorb::{Builder, CharSet, Version};

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
    tls_at: |_| unreachable!("it has no certificate"),
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

const NARROW: &[&[Cell]] = &[
    DATA,
    ANYS,
    UNION_ANYS,
    EXCEPTION_ANYS,
    VALUE_ANYS,
    TRUNCATABLE_ANYS,
    VALUES,
    CUSTOM,
    MANY_VALUES,
];
const ALL: &[&[Cell]] = &[
    DATA,
    ANYS,
    UNION_ANYS,
    EXCEPTION_ANYS,
    VALUE_ANYS,
    TRUNCATABLE_ANYS,
    VALUES,
    CUSTOM,
    MANY_VALUES,
    WIDE,
    WIDE_ANYS,
    WIDE_VALUES,
];

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_jacorb_through_gateways() {
    for (setting, by, without) in RICH_GATEWAYS {
        let talk = Talk {
            setting,
            ours: |builder| builder.native_char_code_set(CharSet::Latin1),
            ..V1_2
        };
        on_peer(&JACORB, (talk, by), ALL, without).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_jacorb() {
    for talk in [V1_0, V1_1] {
        our_client(&JACORB, talk, NARROW).await;
    }
    our_client(&JACORB, V1_2, ALL).await;
}

/// Cells of its client.
const WITHOUT_WIDE_TEXT: &[&str] = &[
    "unions",
    "union_structs",
    "recursive",
    "fixed",
    "any_numbers",
    "any_texts",
    "any_constructed",
    "any_exception",
    "any_objects",
    "any_values",
    "any_truncatable",
    "any_nested",
    "any_sequence",
    "mixed",
    "type_codes",
    "any_unions",
    "union_type_codes",
    "value_type_codes",
    "plain_values",
    "derived_values",
    "shared_values",
    "graphs",
    "values_in_structs",
    "accounts",
    "custom",
    "truncatable",
    "truncated",
    "value_base",
    "shapes",
    "abstract",
    "spoilt",
    "box_parameters",
];
const WITH_WIDE_TEXT: &[&str] = &[
    "unions",
    "union_structs",
    "recursive",
    "fixed",
    "any_numbers",
    "any_texts",
    "any_constructed",
    "any_exception",
    "any_objects",
    "any_values",
    "any_truncatable",
    "any_nested",
    "any_sequence",
    "mixed",
    "type_codes",
    "any_unions",
    "union_type_codes",
    "value_type_codes",
    "plain_values",
    "derived_values",
    "shared_values",
    "graphs",
    "values_in_structs",
    "accounts",
    "custom",
    "truncatable",
    "truncated",
    "value_base",
    "shapes",
    "abstract",
    "spoilt",
    "box_parameters",
    "anonymous",
    "any_wide",
    "boxes",
];

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_passes_every_cell() {
    for talk in [V1_0, V1_1, V1_2] {
        let theirs = Theirs {
            callbacks: Over::Tcp,
            only: match talk.giop {
                "1.2" => WITH_WIDE_TEXT,
                _ => WITHOUT_WIDE_TEXT,
            },
            without: &[],
        };
        their_client::<PeerRef>(&JACORB, talk, theirs).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_passes_every_cell_through_gateways() {
    for (setting, by, without) in RICH_GATEWAYS {
        let talk = Talk { setting, ..V1_2 };
        let theirs = Theirs {
            callbacks: Over::Tcp,
            only: WITH_WIDE_TEXT,
            without,
        };
        their_client_through::<PeerRef>(&JACORB, talk, theirs, Some(by)).await;
    }
}
