//! A stand-in for a connection that has ended while one of its requests still runs, such as a one-way request that was held.

use super::super::fairness::HostPermit;
use super::super::link::Link;
use super::super::owner::Owner;
use super::super::sync::Mutex;
use super::super::trace::Shown;
use super::{Roles, ServerConnection};
use bytes::BytesMut;
use core::task::{Context, Poll};
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use zorb_giop::{Life, Role};
use zorb_transport::{Address, Capabilities, Connection, Endpoint};

/// A stream whose peer is gone.
#[derive(Debug)]
struct Ended(Address);

impl Connection for Ended {
    fn poll_read(&self, _: &mut Context<'_>, _: &mut BytesMut) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(0))
    }

    fn try_read(&self, _: &mut BytesMut) -> io::Result<usize> {
        Ok(0)
    }

    fn deregister(&self) {}

    fn try_write(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn poll_write_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn shutdown_write(&self) -> io::Result<()> {
        Err(io::ErrorKind::NotConnected.into())
    }

    fn close(&self) {}

    fn peer(&self) -> &Address {
        &self.0
    }

    fn local(&self) -> &Address {
        &self.0
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }
}

impl<O: Owner> ServerConnection<O> {
    /// A connection on which nothing can be sent.
    pub(super) fn ended(owner: &Arc<O>, admitted: HostPermit) -> Self {
        let settings = owner.settings();
        let shown = Shown {
            payload: settings.trace_payload,
            describe: settings.describe,
        };
        let stream = Box::new(Ended(Address::Unix(None)));
        let endpoint = Endpoint::uiop(PathBuf::new());
        let link = Arc::new(Link::new(stream, None, shown));
        let roles = Roles::Server(Mutex::new(Life::new(Role::Server)));
        let ended = Self::over(link, endpoint, roles, owner, admitted);
        ended.leave();
        ended
    }
}
