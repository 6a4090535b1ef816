//! Calls to objects of the same ORB, which hand values over where that makes no difference: that they do, and that it
//! makes none.

use crate::counting::ALLOCATIONS;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use zorb::{
    Bytes, Char, CompletionStatus, Forward, Interface, OctetsRef, Orb, SystemException,
    SystemExceptionKind as Kind, WChar,
};

/// The same IDL, compiled as often as it is asked for.
macro_rules! near {
    () => {
        zorb::idl! {
            module Near {
                typedef sequence<octet> Data;
                enum Colour { red, green };
                struct Point { long x; double y; Colour shade; };
                struct Line { Point from_; sequence<Point> others; long three[3]; };
                typedef sequence<Point> Points;
                typedef sequence<long> Longs;
                typedef sequence<double, 3> Few;
                typedef sequence<octet, 4> FewOctets;
                typedef long Three[3];
                typedef octet Large[1048576];
                struct Person { string name; };
                exception Refused { string why; };

                // Each returns the address of its octets of `mark`: octets that went through a message lie elsewhere.
                interface Base {
                    unsigned long long at(in Data mark);
                };
                interface Thing : Base {
                    void nothing();
                    unsigned long long numbers(
                        in Data mark, in long l, in boolean b, in Colour c, in wchar w, in double d, inout long long n);
                    unsigned long long text(in Data mark, inout string s);
                    unsigned long long lists(in Data mark, inout Points p, inout Longs l, in Few f, in FewOctets o);
                    unsigned long long shapes(in Data mark, in Line l, inout Three t, out Line back);
                    unsigned long long objects(in Data mark, inout Thing t, in Object o, in Base b);
                    attribute double size;

                    unsigned long long named(in Data mark, in Person n);
                    unsigned long long letter(in Data mark, in char c);
                    unsigned long long whatever(in Data mark, in any a);
                    unsigned long long weigh(in Data mark, in Large l);

                    Point middle();
                    string no_text();
                    void refuse(in string why) raises (Refused);
                    void fail();
                    void relay(in Thing t);
                    long wait(in string why);
                    void die();
                    void end();
                    string whose(in Object o);
                };
            };
        }
    };
}

near!();

/// Of the same IDL, and other types all the same.
mod other {
    near!();
}

use near::thing::RefuseError;
use near::{Base, BaseRef, Colour, Line, Person, Point, Refused, Thing, ThingRef, ThingServant};

struct Servant {
    orb: Orb,
    size: Mutex<f64>,
    waiting: Notify,
    released: Semaphore,
    done: Arc<AtomicUsize>,
    gone: Arc<AtomicUsize>,
}

impl Servant {
    fn new(orb: &Orb) -> Arc<Self> {
        Arc::new(Self {
            orb: orb.clone(),
            size: Mutex::new(1.5),
            waiting: Notify::new(),
            released: Semaphore::new(0),
            done: Arc::default(),
            gone: Arc::default(),
        })
    }
}

impl Drop for Servant {
    fn drop(&mut self) {
        self.gone.fetch_add(1, Ordering::Relaxed);
    }
}

fn address(octets: &[u8]) -> u64 {
    octets.as_ptr().addr() as u64
}

impl Base for Servant {
    async fn at(&self, mark: OctetsRef<'_>) -> Result<u64, SystemException> {
        Ok(address(&mark))
    }
}

impl Thing for Servant {
    async fn nothing(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn numbers(
        &self,
        mark: OctetsRef<'_>,
        l: i32,
        b: bool,
        c: Colour,
        w: WChar,
        d: f64,
        n: i64,
    ) -> Result<(u64, i64), SystemException> {
        assert_eq!(
            (l, b, c, w, d),
            (-7, true, Colour::Green, WChar(0x263a), 0.5)
        );
        Ok((address(&mark), n + 1))
    }

    async fn text(&self, mark: OctetsRef<'_>, s: &str) -> Result<(u64, String), SystemException> {
        Ok((address(&mark), s.to_uppercase()))
    }

    async fn lists(
        &self,
        mark: OctetsRef<'_>,
        p: &[Point],
        l: &[i32],
        f: &[f64],
        o: OctetsRef<'_>,
    ) -> Result<(u64, Vec<Point>, Vec<i32>), SystemException> {
        assert_eq!((f, &*o), (&[0.25, 0.5][..], &[1, 2, 3, 4][..]));
        Ok((
            address(&mark),
            p.to_vec(),
            l.iter().rev().copied().collect(),
        ))
    }

    async fn shapes(
        &self,
        mark: OctetsRef<'_>,
        l: &Line,
        t: &[i32; 3],
    ) -> Result<(u64, [i32; 3], Line), SystemException> {
        let [a, b, c] = *t;
        Ok((address(&mark), [c, b, a], l.clone()))
    }

    async fn objects(
        &self,
        mark: OctetsRef<'_>,
        t: Option<ThingRef>,
        o: Option<zorb::ObjectRef>,
        b: Option<BaseRef>,
    ) -> Result<(u64, Option<ThingRef>), SystemException> {
        assert!(o.is_none());
        assert_eq!(
            b.map(|b| b.as_object().clone()),
            t.as_ref().map(|t| t.as_object().clone())
        );
        Ok((address(&mark), t))
    }

    async fn size(&self) -> Result<f64, SystemException> {
        Ok(*self.size.lock().unwrap())
    }

    async fn set_size(&self, value: f64) -> Result<(), SystemException> {
        *self.size.lock().unwrap() = value;
        Ok(())
    }

    async fn named(&self, mark: OctetsRef<'_>, n: &Person) -> Result<u64, SystemException> {
        assert_eq!(n.name, "Ada");
        Ok(address(&mark))
    }

    async fn letter(&self, mark: OctetsRef<'_>, c: Char) -> Result<u64, SystemException> {
        assert_eq!(c, Char::try_from('a').unwrap());
        Ok(address(&mark))
    }

    async fn whatever(&self, mark: OctetsRef<'_>, _: &zorb::Any) -> Result<u64, SystemException> {
        Ok(address(&mark))
    }

    async fn weigh(&self, mark: OctetsRef<'_>, l: &[u8; 1 << 20]) -> Result<u64, SystemException> {
        assert!(l.iter().all(|octet| *octet == 3));
        Ok(address(&mark))
    }

    async fn middle(&self) -> Result<Point, SystemException> {
        Ok(line().from)
    }

    async fn no_text(&self) -> Result<String, SystemException> {
        Ok("a\0b".to_owned())
    }

    async fn refuse(&self, why: &str) -> Result<(), RefuseError> {
        Err(Refused {
            why: why.to_owned(),
        }
        .into())
    }

    async fn fail(&self) -> Result<(), SystemException> {
        Err(SystemException::new(
            Kind::NoResources,
            7,
            CompletionStatus::No,
        ))
    }

    async fn relay(&self, t: Option<ThingRef>) -> Result<(), SystemException> {
        t.expect("a thing").nothing().await
    }

    async fn wait(&self, why: &str) -> Result<i32, SystemException> {
        self.waiting.notify_one();
        self.released.acquire().await.expect("open").forget();
        self.done.fetch_add(1, Ordering::Relaxed);
        assert_eq!(why, "for tests");
        Ok(5)
    }

    async fn die(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    async fn end(&self) -> Result<(), SystemException> {
        self.orb.shutdown(true).await
    }

    async fn whose(&self, o: Option<zorb::ObjectRef>) -> Result<String, SystemException> {
        Ok(o.expect("an object").orb().id().to_owned())
    }
}

/// An ORB, its servant, the object, and the same object as another ORB sees it.
struct Home {
    orb: Orb,
    servant: Arc<Servant>,
    near: ThingRef,
    elsewhere: Orb,
    far: ThingRef,
}

async fn orb(id: &str) -> Orb {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0").id(id);
    builder.build().await.unwrap()
}

async fn seen_by(orb: &Orb, object: &impl Interface) -> ThingRef {
    let text = object.as_object().to_string();
    orb.string_to_object(&text)
        .await
        .unwrap()
        .unchecked_narrow()
}

async fn home() -> Home {
    let orb = orb("home").await;
    let servant = Servant::new(&orb);
    let poa = orb.root_poa();
    let near = poa
        .activate(ThingServant::from_arc(Arc::clone(&servant)))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    // The first call finds out where the object is, and is a message.
    near.nothing().await.unwrap();
    let elsewhere = self::orb("elsewhere").await;
    let far = seen_by(&elsewhere, &near).await;
    Home {
        orb,
        servant,
        near,
        elsewhere,
        far,
    }
}

/// A bound against hangs, not a measurement.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future)
        .await
        .expect("no hang")
}

fn what(error: SystemException) -> (Kind, u32, CompletionStatus) {
    (error.kind, error.minor, error.completed)
}

fn line() -> Line {
    let point = |x| Point {
        x,
        y: f64::from(x) / 2.0,
        shade: Colour::Red,
    };
    Line {
        from: point(1),
        others: vec![point(2), point(3)],
        three: [4, 5, 6],
    }
}

/// Calls every operation, and says which got the octets of `mark` where they are.
async fn all(thing: &ThingRef, mark: &Bytes) -> Vec<(&'static str, bool)> {
    let mut as_they_are = Vec::new();
    let mut note = |name, at: u64| as_they_are.push((name, at == address(mark)));
    let (at, n) = thing
        .numbers(
            mark,
            -7,
            true,
            Colour::Green,
            WChar(0x263a),
            0.5,
            i64::MAX - 1,
        )
        .await
        .unwrap();
    assert_eq!(n, i64::MAX);
    note("numbers", at);
    for (text, upper) in [("grün ☺", "GRÜN ☺"), ("", "")] {
        let (at, text) = thing.text(mark, text).await.unwrap();
        assert_eq!(text, upper);
        note("text", at);
    }
    let line = line();
    let (at, points, longs) = thing
        .lists(mark, &line.others, &[1, 2, 3], &[0.25, 0.5], &[1, 2, 3, 4])
        .await
        .unwrap();
    assert_eq!((points, longs), (line.others.clone(), vec![3, 2, 1]));
    note("lists", at);
    let (at, three, back) = thing.shapes(mark, &line, &[7, 8, 9]).await.unwrap();
    assert_eq!((three, &back), ([9, 8, 7], &line));
    note("shapes", at);
    let (at, same) = thing.objects(mark, thing, None, thing).await.unwrap();
    assert_eq!(same.as_ref(), Some(thing));
    note("objects", at);
    note("at", BaseRef::from(thing).at(mark).await.unwrap());
    thing.set_size(2.5).await.unwrap();
    assert_eq!(thing.size().await.unwrap(), 2.5);
    thing.nothing().await.unwrap();
    as_they_are
}

#[tokio::test]
async fn what_is_plain_is_handed_over_as_it_is() {
    let home = home().await;
    let mark = Bytes::from(vec![7; 4_000]);
    for (name, is_same) in in_time(all(&home.near, &mark)).await {
        assert!(is_same, "{name}");
    }
    for (name, is_same) in in_time(all(&home.far, &mark)).await {
        assert!(!is_same, "{name}");
    }
}

#[tokio::test]
async fn what_could_be_refused_or_becomes_another_value_travels_in_a_message() {
    let home = home().await;
    let mark = Bytes::from(vec![7; 4_000]);
    let named = Person {
        name: "Ada".to_owned(),
    };
    let near = &home.near;
    assert_ne!(near.named(&mark, &named).await.unwrap(), address(&mark));
    let letter = Char::try_from('a').unwrap();
    assert_ne!(near.letter(&mark, letter).await.unwrap(), address(&mark));
    let any = zorb::Any::new(&5_i32).unwrap();
    assert_ne!(near.whatever(&mark, &any).await.unwrap(), address(&mark));
    // The text of a mislabelling server is what its messages make of it.
    let labelled = near.as_object().with_char_code_set(zorb::CharSet::Latin1);
    let labelled: ThingRef = labelled.unchecked_narrow();
    assert_ne!(labelled.at(&mark).await.unwrap(), address(&mark));
}

#[tokio::test]
async fn types_of_the_same_idl_that_are_others_travel_in_messages() {
    let home = home().await;
    let mark = Bytes::from(vec![7; 4_000]);
    let near: other::near::ThingRef = home.near.as_object().unchecked_narrow();
    let point = other::near::Point {
        x: 1,
        y: 0.5,
        shade: other::near::Colour::Red,
    };
    let points = [point];
    let called = near.lists(&mark, &points, &[], &[0.25, 0.5], &[1, 2, 3, 4]);
    let (at, back, _) = in_time(called).await.unwrap();
    assert_eq!(back, points);
    assert_ne!(at, address(&mark));
    // Also where it is the result alone.
    for _ in 0..3 {
        let middle = in_time(near.middle()).await.unwrap();
        assert_eq!((middle.x, middle.y), (line().from.x, line().from.y));
    }
    // Objects that the two have in common may be passed.
    assert_eq!(in_time(near.at(&mark)).await.unwrap(), address(&mark));
}

#[test]
fn an_array_of_a_megabyte_is_an_argument_on_a_thread_of_two() {
    let large: Box<[u8; 1 << 20]> = vec![3; 1 << 20].try_into().unwrap();
    let calls = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let home = home().await;
            let mark = Bytes::from(vec![7; 4_000]);
            for (thing, by_message) in [(&home.near, false), (&home.far, true)] {
                for _ in 0..2 {
                    let at = in_time(thing.weigh(&mark, &large)).await.unwrap();
                    assert_eq!(at != address(&mark), by_message);
                }
            }
        });
    };
    let small = std::thread::Builder::new().stack_size(2 << 20);
    small.spawn(calls).unwrap().join().unwrap();
}

macro_rules! counter {
    ($bound:literal) => {
        zorb::idl! {
            module Bounds {
                typedef sequence<octet, $bound> Few;
                interface Counter { unsigned long count(in Few octets); };
            };
        }
    };
}

/// Two versions of one interface.
mod strict {
    counter!(4);
}
mod loose {
    counter!(8);
}

struct Counts;

impl strict::bounds::Counter for Counts {
    async fn count(&self, octets: OctetsRef<'_>) -> Result<u32, SystemException> {
        Ok(u32::try_from(octets.len()).unwrap())
    }
}

#[tokio::test]
async fn the_bound_that_counts_is_the_servants() {
    let orb = orb("bounds").await;
    let poa = orb.root_poa();
    let strict = poa
        .activate(strict::bounds::CounterServant::new(Counts))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    let loose: loose::bounds::CounterRef = strict.as_object().unchecked_narrow();
    // The first call finds the object; those after it reuse it.
    for _ in 0..3 {
        assert_eq!(in_time(strict.count(&[1, 2, 3, 4])).await.unwrap(), 4);
        assert_eq!(in_time(loose.count(&[1, 2, 3, 4])).await.unwrap(), 4);
        let error = in_time(loose.count(&[1, 2, 3, 4, 5])).await.unwrap_err();
        assert_eq!(error.kind, Kind::Marshal);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_here_as_it_is_there() {
    let home = home().await;
    let mark = Bytes::new();
    let mut seen = Vec::new();
    for thing in [&home.near, &home.far] {
        let few = [0.5; 4];
        let five = [0; 5];
        let named = Person {
            name: "a\0b".to_owned(),
        };
        let letter = Char::try_from('ü').unwrap();
        seen.push([
            what(thing.text(&mark, "a\0b").await.unwrap_err()),
            what(thing.lists(&mark, &[], &[], &few, &[]).await.unwrap_err()),
            what(thing.lists(&mark, &[], &[], &[], &five).await.unwrap_err()),
            what(thing.named(&mark, &named).await.unwrap_err()),
            what(thing.letter(&mark, letter).await.unwrap_err()),
            what(thing.no_text().await.unwrap_err()),
        ]);
    }
    assert_eq!(seen[0], seen[1]);
    let of = |n: usize| (seen[0][n].0, seen[0][n].2);
    for n in 0..4 {
        assert_eq!(of(n), (Kind::BadParam, CompletionStatus::No), "{n}");
    }
    assert_eq!(of(4), (Kind::DataConversion, CompletionStatus::No));
    assert_eq!(of(5).1, CompletionStatus::Yes);
}

#[tokio::test]
async fn exceptions_are_what_they_are_from_afar() {
    let home = home().await;
    let gone = home
        .orb
        .root_poa()
        .activate(ThingServant::from_arc(Servant::new(&home.orb)))
        .unwrap();
    home.orb.root_poa().deactivate_object(&gone).unwrap();
    let mut seen = Vec::new();
    for thing in [&home.near, &home.far] {
        let refused = in_time(thing.refuse("so")).await.unwrap_err();
        let expected = Refused {
            why: "so".to_owned(),
        };
        assert_eq!(refused, RefuseError::Refused(expected));
        seen.push([
            what(in_time(thing.fail()).await.unwrap_err()),
            // It is the servant that does not speak of itself.
            what(in_time(thing.relay(&gone)).await.unwrap_err()),
            what(in_time(thing.die()).await.unwrap_err()),
            // Waiting for the end within an upcall would be for ever.
            what(in_time(thing.end()).await.unwrap_err()),
            what(
                in_time(seen_by(thing.as_object().orb(), &gone).await.nothing())
                    .await
                    .unwrap_err(),
            ),
        ]);
        in_time(thing.nothing()).await.unwrap();
    }
    assert_eq!(seen[0], seen[1]);
    let kinds = seen[0].map(|(kind, _, completed)| (kind, completed));
    use CompletionStatus::{Maybe, No};
    assert_eq!(
        kinds,
        [
            (Kind::NoResources, No),
            (Kind::Unknown, Maybe),
            (Kind::Unknown, Maybe),
            (Kind::BadInvOrder, No),
            (Kind::ObjectNotExist, No),
        ]
    );
}

#[tokio::test]
async fn references_are_of_the_servants_orb_and_nothing_but_themselves() {
    let home = home().await;
    let own = seen_by(&home.orb, &home.near).await;
    let far = &home.far;
    let slow = own.with_round_trip_timeout(Duration::from_secs(1));
    for object in [&own, far, &slow] {
        assert_eq!(in_time(home.near.whose(object)).await.unwrap(), "home");
        let mark = Bytes::new();
        let (_, back) = in_time(home.near.objects(&mark, object, None, object))
            .await
            .unwrap();
        assert_eq!(back.unwrap().as_object().orb().id(), "home");
    }
}

#[tokio::test]
async fn the_manager_is_minded() {
    let home = home().await;
    let manager = Arc::clone(home.orb.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    let mut held = pin!(home.near.text(&[], "a"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(held.as_mut().poll(&mut cx).is_pending());
    manager.activate().unwrap();
    assert_eq!(in_time(held).await.unwrap().1, "A");
    manager.discard_requests().unwrap();
    let discarded = [
        what(home.near.nothing().await.unwrap_err()),
        what(in_time(home.far.nothing()).await.unwrap_err()),
    ];
    assert_eq!(discarded[0], discarded[1]);
    assert_eq!(discarded[0].0, Kind::Transient);
    manager.deactivate();
    let inactive = [
        what(home.near.nothing().await.unwrap_err()),
        what(in_time(home.far.nothing()).await.unwrap_err()),
    ];
    assert_eq!(inactive[0], inactive[1]);
    assert_eq!(inactive[0].0, Kind::ObjAdapter);
}

#[tokio::test]
async fn an_object_that_has_moved_or_sleeps_is_found() {
    let home = home().await;
    let poa = home.orb.root_poa();
    let moved: ThingRef = poa.create_reference().unwrap();
    poa.forward_object(&moved, Forward::to(&home.near)).unwrap();
    assert_eq!(in_time(moved.text(&[], "a")).await.unwrap().1, "A");
    let away: ThingRef = poa.create_reference().unwrap();
    let there = home.elsewhere.root_poa();
    let servant = ThingServant::from_arc(Servant::new(&home.elsewhere));
    let there = (there.activate(servant).unwrap(), there);
    there.1.the_poa_manager().activate().unwrap();
    poa.forward_object(&away, Forward::to(&there.0)).unwrap();
    assert_eq!(in_time(away.text(&[], "b")).await.unwrap().1, "B");

    let policies =
        zorb::Policies::PERSISTENT.with_request_processing(zorb::RequestProcessing::ServantManager);
    let sleepers = poa.create_poa_with("sleepers", policies, None).unwrap();
    sleepers.the_poa_manager().activate().unwrap();
    let (orb, woken) = (home.orb.clone(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&woken);
    sleepers
        .set_servant_activator(move |poa, id| {
            count.fetch_add(1, Ordering::Relaxed);
            let servant = ThingServant::from_arc(Servant::new(&orb));
            async move {
                tokio::task::yield_now().await;
                poa.activate_object_with_id(&id, servant)?;
                Ok(())
            }
        })
        .unwrap();
    let sleeper: ThingRef = sleepers.create_reference_with_id("s").unwrap();
    let mark = Bytes::from(vec![7; 4_000]);
    assert_ne!(in_time(sleeper.at(&mark)).await.unwrap(), address(&mark));
    assert_eq!(in_time(sleeper.at(&mark)).await.unwrap(), address(&mark));
    assert_eq!(woken.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_upcall_that_waits_is_not_its_callers() {
    let home = home().await;
    let (done, gone) = (
        Arc::clone(&home.servant.done),
        Arc::clone(&home.servant.gone),
    );
    // One goes on while another is called, and ends with what it says.
    let mut first = pin!(home.near.wait("for tests"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(&mut cx).is_pending());
    in_time(home.near.nothing()).await.unwrap();
    home.servant.released.add_permits(1);
    assert_eq!(in_time(first).await.unwrap(), 5);
    // One whose caller is gone goes on, with arguments that its caller has freed.
    {
        let why = "for tests".to_owned();
        let mut second = pin!(home.near.wait(&why));
        assert!(second.as_mut().poll(&mut cx).is_pending());
    }
    assert_eq!(done.load(Ordering::Relaxed), 1);
    // Its object may be deactivated meanwhile, and its servant let go.
    home.orb.root_poa().deactivate_object(&home.near).unwrap();
    let released = Arc::clone(&home.servant);
    drop(home.servant);
    assert_eq!(gone.load(Ordering::Relaxed), 0);
    released.released.add_permits(1);
    drop(released);
    while gone.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(done.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_holds_and_the_upcall_goes_on() {
    let home = home().await;
    let limited = home.near.with_round_trip_timeout(Duration::from_secs(3));
    let error = limited.wait("for tests").await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Timeout, CompletionStatus::Maybe)
    );
    home.servant.released.add_permits(1);
    while home.servant.done.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_shutdown_waits_for_upcalls_by_values() {
    let home = home().await;
    let mut waiting = pin!(home.near.wait("for tests"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    let mut down = pin!(home.orb.shutdown(true));
    assert!(down.as_mut().poll(&mut cx).is_pending());
    let refused = what(home.near.nothing().await.unwrap_err());
    assert_eq!(refused.2, CompletionStatus::No);
    home.servant.released.add_permits(1);
    in_time(down).await.unwrap();
    assert_eq!(in_time(waiting).await.unwrap(), 5);
    let refused = what(home.near.nothing().await.unwrap_err());
    assert_eq!(refused.0, Kind::BadInvOrder);
}

/// A call that is ready when it is first polled, without a runtime's own doings in between.
fn at_once<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the call waits"),
    }
}

#[tokio::test]
async fn a_steady_call_that_is_ready_at_once_allocates_nothing() {
    let home = home().await;
    let (near, mark, line) = (&home.near, Bytes::from(vec![7; 4_000]), line());
    let call = || {
        at_once(near.nothing()).unwrap();
        at_once(near.at(&mark)).unwrap();
        at_once(near.at(&[7; 300])).unwrap();
        let numbers = near.numbers(&mark, -7, true, Colour::Green, WChar(0x263a), 0.5, 1);
        assert_eq!(at_once(numbers).unwrap().1, 2);
        at_once(near.set_size(3.5)).unwrap();
        assert_eq!(at_once(near.size()).unwrap(), 3.5);
        let none = &mark;
        at_once(near.objects(none, None, None, None)).unwrap();
        // The servant makes text and lists for its results; these are given none of either.
        let lists = near.lists(&mark, &[], &[], &[0.25, 0.5], &[1, 2, 3, 4]);
        at_once(lists).unwrap();
        at_once(near.text(&mark, "")).unwrap();
        assert!(
            at_once(near.objects(&mark, near, None, near))
                .unwrap()
                .1
                .is_some()
        );
    };
    (0..3).for_each(|_| call());
    let before = ALLOCATIONS.get();
    (0..100).for_each(|_| call());
    assert_eq!(ALLOCATIONS.get() - before, 0);
    let _ = line;
}
