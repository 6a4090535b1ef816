//! The one call that is in no table: it is over without a lock, or the reactor has told of something before.

use crate::sole::{Is, Sole};
use loom::sync::Arc;
use loom::thread;
use zorb_giop::RequestId;

#[test]
fn either_a_call_is_over_when_the_reactor_tells_or_its_caller_finds_what_was_told() {
    loom::model(|| {
        let (sole, id) = (Arc::new(Sole::new()), RequestId(2));
        let since = sole.begin(id);
        let reactor = {
            let sole = Arc::clone(&sole);
            thread::spawn(move || sole.tell())
        };
        let is_over = sole.is_heard(since, id);
        let told = reactor.join().unwrap();
        assert_eq!(told, if is_over { Is::Over(id) } else { Is::Under(id) });
        // Nothing is left of what was over, and the reactor listens no more.
        assert_eq!(sole.is(), if is_over { Is::None } else { Is::Under(id) });
        assert_ne!(sole.news(), since);
    });
}

#[test]
fn either_a_call_is_over_or_who_looks_for_it_has_it_entered() {
    loom::model(|| {
        let (sole, id) = (Arc::new(Sole::new()), RequestId(2));
        let since = sole.begin(id);
        let other = {
            let sole = Arc::clone(&sole);
            thread::spawn(move || sole.take())
        };
        let is_over = sole.is_heard(since, id);
        let found = other.join().unwrap();
        let is_seen = found == Is::Over(id);
        assert!(is_seen || found == Is::Under(id));
        // Nobody enters what is over, and who is entered is not over.
        assert_eq!(is_seen, is_over);
        assert_eq!(sole.is(), Is::None);
    });
}
