//! Connections of tests and models.

use crate::owner::Settings;
use crate::trace::Describe;
use bytes::BytesMut;
use core::fmt::Debug;
use core::ops::Deref;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io::{self, IoSlice};
use std::sync::Arc;
use zorb_executor::WaitPolicy;
use zorb_giop::Limits;
use zorb_giop::codeset::CodeSets;
use zorb_transport::{Address, Capabilities, Connection, ReadOutcome};

/// Settings without time limits. Connections park.
pub(crate) fn settings() -> Settings {
    Settings {
        limits: Limits::default(),
        wait: WaitPolicy::Park,
        idle_timeout: None,
        max_fragment: None,
        trace_payload: 0,
        describe: Describe {
            key: |_| String::new(),
            reference: |_| String::new(),
        },
        threads: false,
        unstated_code_sets: CodeSets::UNSTATED,
        accept: None,
        bidirectional: false,
        counters: Arc::default(),
        memory: Arc::default(),
        stall_timeout: None,
    }
}

/// A connection of a test; by default it takes and sends nothing.
pub(crate) trait Acts: Debug + Send + Sync + 'static {
    fn read(&self) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Reads into a buffer.
    fn read_into(&self, _: &mut BytesMut) -> io::Result<usize> {
        self.read()
    }

    /// Reads into a buffer, or has the reactor wake `cx`.
    fn poll_read(&self, _: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<io::Result<usize>> {
        match self.read_into(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            read => Poll::Ready(read),
        }
    }

    /// Whether the reactor wakes `cx` from now on. Called when a read has drained the connection.
    fn watches(&self, _: &mut Context<'_>) -> bool {
        false
    }

    fn read_blocking(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        self.read_into(buffer)
    }

    fn deregister(&self) {}

    fn write(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn poll_room(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn close(&self) {}
}

#[derive(Debug)]
pub(crate) struct Mock<A> {
    acts: A,
    address: Address,
}

impl<A> Mock<A> {
    pub(crate) fn new(acts: A) -> Self {
        Self {
            acts,
            address: Address::Unix(None),
        }
    }
}

impl<A> Deref for Mock<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.acts
    }
}

impl<A: Acts> Connection for Mock<A> {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        self.acts.poll_read(cx, buf)
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.acts.poll_read(cx, buf).map_ok(|octets| ReadOutcome {
            octets,
            is_registered: self.acts.watches(cx),
        })
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        self.acts.read_into(buf)
    }

    fn read_blocking(&self, buf: &mut BytesMut, _: Option<Duration>) -> io::Result<usize> {
        self.acts.read_blocking(buf)
    }

    fn deregister(&self) {
        self.acts.deregister();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        self.acts.write(chunks)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.acts.poll_room(cx)
    }

    fn shutdown_write(&self) -> io::Result<()> {
        Ok(())
    }

    fn close(&self) {
        self.acts.close();
    }

    fn peer(&self) -> &Address {
        &self.address
    }

    fn local(&self) -> &Address {
        &self.address
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }
}
