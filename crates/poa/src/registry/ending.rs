//! Adapters that are being destroyed, and new adapters of the same names.

use super::tests::{inert, life};
use super::*;
use crate::request::{Outcome, ServerRequest};
use crate::skeleton::{Skeleton, Started};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Mutex;

/// A servant whose end runs code of the application.
struct AtEnd<F: Fn() + Send + Sync>(F);

impl<F: Fn() + Send + Sync + 'static> Skeleton for AtEnd<F> {
    fn repository_id(&self) -> &'static str {
        "IDL:AtEnd:1.0"
    }
    fn is_a(&self, id: &str) -> bool {
        id == self.repository_id()
    }
    fn start(&self, mut request: ServerRequest) -> Started {
        request.set_outcome(Outcome::Silent);
        Started::Ended(request)
    }
}

impl<F: Fn() + Send + Sync> Drop for AtEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// The children of a destroyed adapter are emptied first. Until they are, its own objects are not noted as being
/// deactivated, and may execute requests.
#[test]
fn the_ids_of_a_destroyed_adapter_are_taken_before_its_objects_have_left_the_map() {
    let server = Arc::new(ObjectAdapter::new(life(), ""));
    let root = server.root();
    let parent = (server.create(root, "bank", Policies::PERSISTENT, None)).unwrap();
    parent.activate_with_id(b"1", inert()).unwrap();
    let upcall = parent.find(b"1").unwrap();
    let child = server.create(&parent, "branch", Policies::PERSISTENT, None);
    let child = child.unwrap();
    let again = Arc::<Mutex<Option<Arc<Adapter>>>>::default();
    let found = Arc::clone(&again);
    let (weak, old) = (Arc::downgrade(&server), Arc::downgrade(&parent));
    let at_end = AtEnd(move || {
        let server = weak.upgrade().unwrap();
        let root = server.root();
        let bank = (server.create(root, "bank", Policies::PERSISTENT, None)).unwrap();
        for id in [&b"1"[..], b"never active"] {
            let early = bank.activate_with_id(id, inert());
            let taken = AdapterError::BeingDeactivated(id.into());
            assert_eq!(early.unwrap_err(), taken);
        }
        let mut cx = Context::from_waker(Waker::noop());
        let ended = pin!(bank.deactivation_ended(b"1"));
        assert!(ended.poll(&mut cx).is_pending());
        // The old adapter has not ended for tasks that wait for its completion.
        let old = old.upgrade().unwrap();
        assert!(pin!(old.completed()).poll(&mut cx).is_pending());
        *found.lock().unwrap() = Some(Arc::clone(&bank));
    });
    child.activate_with_id(b"2", Arc::new(at_end)).unwrap();
    server.destroy(&parent);
    let bank = again.lock().unwrap().take().expect("the servant has gone");
    bank.activate_with_id(b"never active", inert()).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let mut ended = pin!(bank.deactivation_ended(b"1"));
    assert!(ended.as_mut().poll(&mut cx).is_pending());
    drop(upcall);
    assert_eq!(ended.as_mut().poll(&mut cx), Poll::Ready(()));
    bank.activate_with_id(b"1", inert()).unwrap();
    assert!(pin!(parent.completed()).poll(&mut cx).is_ready());
}

/// A servant that panics in its drop leaves no id taken.
#[test]
fn ids_are_free_although_a_servant_of_the_destroyed_adapter_panics_at_its_end() {
    let server = ObjectAdapter::new(life(), "");
    let create = || server.create(server.root(), "bank", Policies::PERSISTENT, None);
    let first = create().unwrap();
    let panics = AtEnd(|| panic!("on purpose"));
    first.activate_with_id(b"1", Arc::new(panics)).unwrap();
    let destroyed = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        server.destroy(&first);
    }));
    assert!(destroyed.is_err());
    let second = create().unwrap();
    second.activate_with_id(b"1", inert()).unwrap();
}
