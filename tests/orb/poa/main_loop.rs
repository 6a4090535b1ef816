//! MAIN_THREAD_MODEL in a program whose main loop is its own: epoll, without tokio.

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use zorb::blocking::Wait;
use zorb::executor::{Lane, MainLoop};
use zorb::{
    ObjectId, Orb, Poa, Policies, RequestProcessing, Servant, ServantLocator, ServantManagerError,
    ServantRetention, SystemException, ThreadModel,
};

zorb::idl! {
    module Windows {
        interface Window {
            // The text with that of the other windows, if there are any.
            string title(in Window other);
            void panics();
        };
    };
}

use windows::{Window, WindowRef, WindowServant};

/// Wakes the loop of a toolkit.
fn ring(wake: &OwnedFd) {
    rustix::io::write(wake, &1_u64.to_ne_bytes()).unwrap();
}

/// A loop of a toolkit: it has one source of events, by which other threads wake it.
struct Toolkit {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
    main: MainLoop,
}

impl Toolkit {
    fn new() -> Self {
        let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap());
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let data = epoll::EventData::new_u64(0);
        epoll::add(&epoll, &*wake, data, epoll::EventFlags::IN).unwrap();
        let waking = Arc::clone(&wake);
        let main = MainLoop::new(move || ring(&waking));
        Self { epoll, wake, main }
    }

    /// Runs until `is_over`.
    fn run(&self, mut is_over: impl FnMut() -> bool) {
        while !is_over() {
            let mut events = Vec::with_capacity(4);
            let limit = rustix::time::Timespec {
                tv_sec: 20,
                tv_nsec: 0,
            };
            epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&limit),
            )
            .unwrap();
            assert!(!events.is_empty(), "nothing wakes the loop");
            rustix::io::read(&*self.wake, &mut [0; 8]).unwrap();
            self.main.perform_work();
        }
    }
}

/// A window, which may be used in the thread of the toolkit only.
struct OnScreen {
    name: &'static str,
    thread: ThreadId,
    under_way: Arc<AtomicUsize>,
}

impl OnScreen {
    fn is_used_alone(&self) {
        assert_eq!(thread::current().id(), self.thread);
    }
}

impl Window for OnScreen {
    async fn title(&self, other: Option<WindowRef>) -> Result<String, SystemException> {
        self.is_used_alone();
        assert_eq!(self.under_way.fetch_add(1, Ordering::SeqCst), 0);
        // A timer of tokio's, and a task of its workers.
        tokio::time::sleep(core::time::Duration::from_millis(1)).await;
        self.is_used_alone();
        tokio::spawn(tokio::task::yield_now()).await.unwrap();
        self.is_used_alone();
        assert_eq!(self.under_way.fetch_sub(1, Ordering::SeqCst), 1);
        let others = match other {
            Some(other) => other.title(None).await?,
            None => String::new(),
        };
        self.is_used_alone();
        Ok(format!("{} {others}", self.name))
    }

    async fn panics(&self) -> Result<(), SystemException> {
        self.is_used_alone();
        panic!("a window panics");
    }
}

/// Makes windows in the thread of the toolkit.
struct Maker(ThreadId, Arc<AtomicUsize>);

impl ServantLocator for Maker {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        assert_eq!(thread::current().id(), self.0);
        let window = OnScreen {
            name: "located",
            thread: self.0,
            under_way: Arc::clone(&self.1),
        };
        Ok((WindowServant::new(window).into(), ()))
    }
}

#[test]
fn upcalls_of_the_main_thread_run_in_a_foreign_event_loop() {
    let toolkit = Toolkit::new();
    let lane = Lane::dedicated("orb").unwrap();
    let building = Orb::builder()
        .lane(lane.clone())
        .listen("iiop://127.0.0.1:0")
        .main_loop(toolkit.main.clone());
    let orb = lane.handle().block_on(building.build()).unwrap();
    let root = orb.root_poa();
    root.the_poa_manager().activate().unwrap();
    let manager = || Some(root.the_poa_manager());
    let in_main = Policies::default().with_thread(ThreadModel::MainThread);
    let (thread, under_way) = (thread::current().id(), Arc::new(AtomicUsize::new(0)));
    let window = |name| {
        let under_way = Arc::clone(&under_way);
        WindowServant::new(OnScreen {
            name,
            thread,
            under_way,
        })
    };
    let windows = root.create_poa_with("windows", in_main, manager()).unwrap();
    let (one, two): (WindowRef, WindowRef) = (
        windows.activate(window("one")).unwrap(),
        windows.activate(window("two")).unwrap(),
    );
    let located = in_main
        .with_servant_retention(ServantRetention::NonRetain)
        .with_request_processing(RequestProcessing::ServantManager);
    let located = root.create_poa_with("located", located, manager()).unwrap();
    let maker = Maker(thread, Arc::clone(&under_way));
    located.set_servant_locator(maker).unwrap();
    let located: WindowRef = located.create_reference().unwrap();

    let titles = Arc::new(Mutex::new(Vec::new()));
    let says = |title: Result<String, SystemException>| {
        let title = title.unwrap_or_else(|error| error.to_string());
        titles.lock().unwrap().push(title);
        ring(&toolkit.wake);
    };
    thread::scope(|scope| {
        // A client elsewhere.
        let texts = [&one, &two, &located].map(ToString::to_string);
        let elsewhere = scope.spawn(|| {
            let client = Orb::builder().build_blocking().unwrap();
            let [one, two, located] = texts.map(|text| {
                let window = client.string_to_object(&text).unwrap();
                window.unchecked_narrow::<WindowRef>()
            });
            for _ in 0..10 {
                says(one.title(&two).wait());
                says(located.title(&one).wait());
            }
            let panicked = one.panics().wait().unwrap_err();
            says(Ok(panicked.kind.name().to_owned()));
            client.shutdown(true).unwrap();
        });
        // Tasks of this ORB, in its own thread.
        let near = scope.spawn(|| {
            for _ in 0..10 {
                says(lane.handle().block_on(two.title(&one)));
            }
        });
        // The toolkit itself.
        let (of_loop, closing) = (one.clone(), located.clone());
        let of_toolkit = Arc::clone(&titles);
        toolkit.main.spawn(lane.handle().clone(), async move {
            for _ in 0..10 {
                let title = of_loop.title(&closing).await;
                let title = title.unwrap_or_else(|error| error.to_string());
                of_toolkit.lock().unwrap().push(title);
            }
        });
        toolkit.run(|| titles.lock().unwrap().len() == 41);
        // What panics ends here, not in a loop that nobody runs.
        for thread in [elsewhere, near] {
            thread.join().unwrap();
        }
    });
    let mut titles = Arc::into_inner(titles).unwrap().into_inner().unwrap();
    titles.sort_unstable();
    titles.dedup();
    let others = [
        "UNKNOWN",
        "located one ",
        "one located ",
        "one two ",
        "two one ",
    ];
    assert_eq!(titles, others);

    // The loop serves until the end.
    let last = two.clone();
    let ended = lane.spawn(async move {
        let title = last.title(None).await;
        orb.shutdown(true).await.unwrap();
        title
    });
    let waking = Arc::clone(&toolkit.wake);
    let ended = lane.spawn(async move {
        let title = ended.await.unwrap();
        ring(&waking);
        title
    });
    toolkit.run(|| ended.is_finished());
    assert_eq!(lane.handle().block_on(ended).unwrap().unwrap(), "two ");
}
