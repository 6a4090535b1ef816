//! Our client on our own server over every messaging and every transport of one host: TCP, UNIX sockets, and the pipes of
//! `examples/pipe`. Over circuits of ATM it is tested where there are some: `tests/atm`.

use super::columns::{Row, Side, every_messaging};
use std::sync::Arc;
use zorb::transport::{Tcp, Unix};

#[path = "../../../examples/pipe/transport.rs"]
mod transport;
use transport::Pipe;

const fn name(side: Side) -> &'static str {
    match side {
        Side::Server => "server",
        Side::Client => "client",
    }
}

const TCP: Row = Row {
    name: "TCP",
    lite: ("iioplite", 0x5a4f_5210),
    transport: || Arc::new(Tcp::default()),
    address: |_, _| "127.0.0.1:0".to_owned(),
    one_in: 1,
};

const UNIX_PATH: Row = Row {
    name: "UNIX sockets with a path",
    lite: ("uioplite", 0x5a4f_5211),
    transport: || Arc::new(Unix::default()),
    address: |folder, side| folder.join(name(side)).display().to_string(),
    one_in: 1,
};

#[cfg(target_os = "linux")]
const UNIX_ABSTRACT: Row = Row {
    name: "UNIX sockets with an abstract name",
    address: |folder, side| {
        // The folder's name is of no other test.
        let folder = folder.file_name().unwrap_or_default();
        format!("@zorb-{}-{}", folder.display(), name(side))
    },
    ..UNIX_PATH
};

const PIPE: Row = Row {
    name: "pipes",
    lite: ("pipelite", 0x5a4f_52f1),
    transport: || Arc::new(Pipe::default()),
    address: |_, side| name(side).to_owned(),
    one_in: 1,
};

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_tcp() {
    every_messaging(TCP).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_unix_sockets_with_a_path() {
    every_messaging(UNIX_PATH).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_unix_sockets_with_an_abstract_name() {
    every_messaging(UNIX_ABSTRACT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_a_transport_of_another_crate() {
    every_messaging(PIPE).await;
}
