//! `tests/interop/rich.idl` between other ORBs and us: unions, fixed, recursive and anonymous types,
//! any, TypeCode, values.
//!
//! Without the other ORBs' programs those tests pass and say what they skipped; the tests of our
//! client on our own server always run.

mod anys;
mod client;
mod hidden;
mod rich_big_endian;
pub(crate) mod rich_idl;
mod rich_jacorb;
mod rich_omniorb;
mod rich_rules;
mod rich_samples;
mod server;

mod values;

use crate::matrix::Talk;
use crate::peers::Over;
use crate::runner::Peer;
use zorb::{Orb, SystemException};

impl Peer for client::PeerRef {
    fn prepare(orb: &Orb) {
        values::register(orb);
    }

    fn serve(orb: &Orb) -> Self {
        server::serve(orb)
    }

    fn orb_name(&self) -> impl Future<Output = Result<String, SystemException>> + Send {
        self.orb_name()
    }
}

mod our_client_passes_every_cell {
    use super::*;
    use crate::gateway::RICH_GATEWAYS;
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
        crate::matrix::among_ourselves(Talk::new("1.2", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_in_fragments() {
        let talk = Talk {
            ours: |builder| builder.max_fragment_octets(64),
            ..Talk::new("1.2", Over::Tcp)
        };
        crate::matrix::among_ourselves(talk, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn through_gateways_that_do_not_know_the_idl_and_that_read_it() {
        for (_, by, without) in RICH_GATEWAYS {
            crate::gateway::among_ourselves(by, ALL, without).await;
        }
    }
}
