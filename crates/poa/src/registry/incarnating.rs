//! Adapters that end while their servant activators are making servants.

use super::tests::{inert, life};
use super::*;
use crate::incarnation::NotIncarnated;
use crate::policy::RequestProcessing;
use crate::servant_manager::{Activator, Etherealization, Incarnated, Incarnation, Raised};
use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};

/// An activator that is done when `goes_on` is set.
#[derive(Default)]
struct Slow {
    goes_on: AtomicBool,
    /// The adapter whose objects it activates itself, in place of returning their servants.
    itself: Mutex<Weak<Adapter>>,
    asked: AtomicUsize,
    etherealized: AtomicUsize,
}

impl Slow {
    fn counts(&self) -> (usize, usize) {
        let counts = [&self.asked, &self.etherealized];
        counts.map(|count| count.load(Ordering::SeqCst)).into()
    }
}

impl Activator for Arc<Slow> {
    fn incarnate(&self, id: ObjectId) -> Incarnation {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let this = Self::clone(self);
        Box::pin(async move {
            poll_fn(|_| match this.goes_on.load(Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
            let itself = this.itself.lock().unwrap().upgrade();
            Ok(match itself {
                None => Incarnated::Servant(inert()),
                Some(adapter) => {
                    let activated = adapter.activate_with_id(id.as_ref(), inert());
                    activated.map_err(|_| Raised::from(Missing::Object.raise()))?;
                    Incarnated::ByItself
                }
            })
        })
    }

    fn etherealize(&self, object: Etherealization) {
        assert!(object.cleanup_in_progress);
        self.etherealized.fetch_add(1, Ordering::SeqCst);
    }
}

struct World {
    server: ObjectAdapter,
    rows: Arc<Adapter>,
    slow: Arc<Slow>,
}

impl World {
    fn new() -> Self {
        let server = ObjectAdapter::new(life(), "");
        let rows = Self::create(&server).unwrap();
        let slow = Arc::<Slow>::default();
        rows.set_activator(Arc::new(Arc::clone(&slow))).unwrap();
        Self { server, rows, slow }
    }

    fn create(server: &ObjectAdapter) -> Result<Arc<Adapter>, AdapterError> {
        let policies =
            Policies::PERSISTENT.with_request_processing(RequestProcessing::ServantManager);
        let manager = Some(Arc::clone(server.root().manager()));
        manager.as_ref().unwrap().activate()?;
        server.create(server.root(), "rows", policies, manager)
    }

    /// A request for an object that is not active.
    fn request(&self, id: &str) -> NotIncarnated {
        let activator = Arc::new(Arc::clone(&self.slow));
        NotIncarnated::new(Arc::clone(&self.rows), activator, id.into())
    }

    fn destroy(&self, etherealize_objects: bool) {
        self.server.destroy_with(&self.rows, etherealize_objects);
    }
}

fn is_no_adapter(result: &Poll<Result<Arc<ActiveObject>, Raised>>) -> bool {
    let raised = Raised::System(Missing::Adapter.raise());
    matches!(result, Poll::Ready(Err(found)) if *found == raised)
}

#[test]
fn requests_that_wait_for_a_servant_get_it_although_their_adapter_ends_and_no_other_is_asked_for() {
    /// How an adapter ends.
    type End = fn(&World);
    // And how often the servant is etherealized.
    let ends: [(End, usize); 3] = [
        (|world| world.destroy(true), 1),
        (|world| world.destroy(false), 0),
        (|world| world.rows.manager().deactivate_with(true), 1),
    ];
    let mut cx = Context::from_waker(Waker::noop());
    for (end, etherealized) in ends {
        for by_itself in [false, true] {
            let world = World::new();
            if by_itself {
                *world.slow.itself.lock().unwrap() = Arc::downgrade(&world.rows);
            }
            let (first, others) = (world.request("7"), [(); 3].map(|()| world.request("7")));
            let mut first = pin!(first.activate());
            assert!(first.as_mut().poll(&mut cx).is_pending());
            let mut others = others.each_ref().map(|other| Box::pin(other.activate()));
            for other in &mut others {
                assert!(other.as_mut().poll(&mut cx).is_pending());
            }
            end(&world);
            world.slow.goes_on.store(true, Ordering::SeqCst);
            let Poll::Ready(Ok(object)) = first.as_mut().poll(&mut cx) else {
                panic!("its servant was being made");
            };
            let got = others.map(|mut other| {
                let Poll::Ready(Ok(got)) = other.as_mut().poll(&mut cx) else {
                    panic!("it waited for the servant");
                };
                assert!(Arc::ptr_eq(&got, &object));
                got
            });
            let is_destroyed = world.rows.is_destroyed();
            assert_eq!(world.slow.counts(), (1, 0));
            assert!(world.rows.find(b"7").is_none());
            let mut completed = pin!(world.rows.completed());
            assert!(completed.as_mut().poll(&mut cx).is_pending());
            drop(object);
            assert_eq!(world.slow.counts(), (1, 0));
            drop(got);
            assert_eq!(world.slow.counts(), (1, etherealized));
            assert!(completed.as_mut().poll(&mut cx).is_ready());
            // A destroyed adapter asks for no other servant.
            let late = world.request("8");
            let late = pin!(late.activate()).poll(&mut cx);
            assert_eq!(is_no_adapter(&late), is_destroyed);
        }
    }
}

#[test]
fn an_id_whose_servant_is_being_made_is_taken_for_the_adapter_in_place_of_a_destroyed_one() {
    let world = World::new();
    let mut cx = Context::from_waker(Waker::noop());
    let request = world.request("7");
    let mut request = pin!(request.activate());
    assert!(request.as_mut().poll(&mut cx).is_pending());
    world.destroy(true);
    let again = World::create(&world.server).unwrap();
    again.activate_with_id(b"8", inert()).unwrap();
    let taken = AdapterError::BeingDeactivated("7".into());
    assert_eq!(again.activate_with_id(b"7", inert()).unwrap_err(), taken);
    world.slow.goes_on.store(true, Ordering::SeqCst);
    let Poll::Ready(Ok(object)) = request.as_mut().poll(&mut cx) else {
        panic!("its servant was being made");
    };
    assert_eq!(again.activate_with_id(b"7", inert()).unwrap_err(), taken);
    drop(object);
    again.activate_with_id(b"7", inert()).unwrap();
}

#[test]
fn requests_behind_an_activator_that_fails_or_is_dropped_are_refused_once_their_adapter_is_destroyed()
 {
    let world = World::new();
    let mut cx = Context::from_waker(Waker::noop());
    let (first, second) = (world.request("7"), world.request("7"));
    let mut second = pin!(second.activate());
    {
        let mut first = pin!(first.activate());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        world.destroy(true);
    }
    assert!(is_no_adapter(&second.as_mut().poll(&mut cx)));
    assert_eq!(world.slow.counts(), (1, 0));
    assert!(pin!(world.rows.completed()).poll(&mut cx).is_ready());
}

/// Requests whose object is not there: each asks, and none of the others is woken for it.
#[test]
fn a_request_that_waits_for_an_activator_is_woken_once() {
    struct Count(AtomicUsize);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let world = World::new();
    *world.slow.itself.lock().unwrap() = Arc::downgrade(&world.rows);
    let requests = [(); 64].map(|()| world.request("7"));
    let wakes = [(); 64].map(|()| Arc::new(Count(AtomicUsize::new(0))));
    let mut waiting: Vec<_> = (requests.iter().zip(&wakes))
        .map(|(request, wakes)| (Box::pin(request.activate()), wakes))
        .collect();
    for (request, wakes) in &mut waiting {
        let waker = Waker::from(Arc::clone(wakes));
        assert!(
            request
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    // One after the other is dropped, as those of clients that give up.
    for (at, (request, _)) in waiting.into_iter().enumerate() {
        drop(request);
        let woken = |wakes: &Arc<Count>| wakes.0.load(Ordering::SeqCst);
        let all: usize = wakes.iter().map(woken).sum();
        assert_eq!(all, (at + 1).min(63));
    }
}
