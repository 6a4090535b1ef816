//! `tests/interop/rich.idl` between other ORBs and us: unions, fixed, recursive and anonymous types,
//! any, TypeCode, values.
//!
//! Without the other ORBs' programs those tests pass and say what they skipped; the tests of our
//! client on our own server always run.

#[path = "interop/rust/rich/anys.rs"]
mod anys;
#[path = "interop/rust/rich/big_endian.rs"]
mod big_endian;
#[path = "interop/rust/caller.rs"]
mod caller;
#[path = "interop/rust/rich/client/mod.rs"]
mod client;
#[path = "interop/rust/digest.rs"]
mod digest;
#[path = "interop/rust/rich/hidden.rs"]
mod hidden;
#[path = "interop/rust/rich/idl.rs"]
mod idl;
#[path = "interop/rust/rich/jacorb.rs"]
mod jacorb;
#[path = "interop/rust/matrix.rs"]
#[expect(dead_code, reason = "columns that only interop.idl has")]
mod matrix;
#[path = "interop/rust/rich/omniorb.rs"]
mod omniorb;
#[path = "interop/rust/peers.rs"]
#[expect(dead_code, reason = "servers that are started again")]
mod peers;
#[path = "interop/rust/rich/rules.rs"]
mod rules;
#[path = "interop/rust/runner.rs"]
#[expect(dead_code, reason = "no cell expects a system exception")]
mod runner;
#[path = "interop/rust/rich/samples.rs"]
mod samples;
#[path = "interop/rust/rich/server/mod.rs"]
mod server;
mod support;
#[path = "interop/rust/tap.rs"]
#[expect(dead_code, reason = "nobody looks at the messages")]
mod tap;

#[path = "interop/rust/rich/values.rs"]
mod values;

use matrix::Talk;
use peers::Over;

mod our_client_passes_every_cell {
    use super::*;
    use client::{
        ANYS, BIG_LABELS, BOXES, CONTEXT, CUSTOM, Cell, DATA, DEFAULTS, EXCEPTION_ANYS,
        MANY_VALUES, ODD_TYPES, ODD_WIDE_ANYS, TRUNCATION, UNION_ANYS, VALUES, WIDE, WIDE_ANYS,
        WIDE_VALUES,
    };

    const ALL: &[&[Cell]] = &[
        CONTEXT,
        DATA,
        DEFAULTS,
        BIG_LABELS,
        VALUES,
        TRUNCATION,
        BOXES,
        CUSTOM,
        WIDE,
        WIDE_VALUES,
        ANYS,
        WIDE_ANYS,
        UNION_ANYS,
        ODD_TYPES,
        MANY_VALUES,
        ODD_WIDE_ANYS,
        EXCEPTION_ANYS,
    ];

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_tcp() {
        matrix::among_ourselves(Talk::new("1.2", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_in_fragments() {
        let talk = Talk {
            ours: |builder| builder.max_fragment_octets(64),
            ..Talk::new("1.2", Over::Tcp)
        };
        matrix::among_ourselves(talk, ALL).await;
    }
}
