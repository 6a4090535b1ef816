//! Requests of several calls that one task makes, which leave together.
//!
//! Inside [`together()`] a request is queued on its connection, and the connection is noted. When the poll ends, each connection
//! that was noted is written once. Requests that are long, lend octets or are traced are written at once, and take the
//! queued ones along; so does any other writer of the connection.

use super::blocking::{self, Calls, Restore};
use super::link::Link;
use super::sync::thread_local;
use core::cell::RefCell;
use core::future::poll_fn;
use core::pin::pin;
use std::sync::Arc;

thread_local! {
    /// The connections to be written when the poll ends.
    static NOTED: RefCell<Vec<Arc<Link>>> = const { RefCell::new(Vec::new()) };
}

/// One poll.
struct Turn(Restore<Calls>);

impl Drop for Turn {
    fn drop(&mut self) {
        // Inside another one they leave at its end.
        if self.0.1 != Calls::Together {
            write();
        }
    }
}

/// Awaits a future whose calls go out together: the requests that one poll of it begins are written when the poll ends, by one
/// write for each connection. It pays where many calls are joined, mostly to objects of one server; the server answers the
/// requests of one read by one write, too.
///
/// Calls inside it do not block their thread, even in [`block_on`](blocking::block_on), and park rather than spin.
///
/// # Cancel safety
/// As safe as the future is: nothing is kept between two polls.
pub async fn together<F: Future>(calls: F) -> F::Output {
    let mut calls = pin!(calls);
    poll_fn(|cx| {
        let _turn = Turn(blocking::have_calls(Calls::Together));
        calls.as_mut().poll(cx)
    })
    .await
}

/// Has a connection written when the poll ends.
pub(crate) fn note(link: &Arc<Link>) {
    let noted = NOTED.try_with(|noted| {
        let mut noted = noted.borrow_mut();
        if !(noted.last()).is_some_and(|last| Arc::ptr_eq(last, link)) {
            noted.push(Arc::clone(link));
        }
    });
    if noted.is_err() {
        // The thread is ending.
        link.write_queued();
    }
}

/// Writes the connections that were noted on this thread.
pub(crate) fn write() {
    while let Ok(Some(link)) = NOTED.try_with(|noted| noted.borrow_mut().pop()) {
        link.write_queued();
    }
}
