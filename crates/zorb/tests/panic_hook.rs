//! The panic hook, in a process of its own: there is one hook for all threads.

use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use zorb::{Counter, Orb, SystemException, SystemExceptionKind};

zorb::idl! {
    interface Fragile {
        void fall();
        void fall_later();
    };
}

struct Vase;

impl Fragile for Vase {
    async fn fall(&self) -> Result<(), SystemException> {
        panic!("within");
    }

    async fn fall_later(&self) -> Result<(), SystemException> {
        tokio::task::yield_now().await;
        panic!("within");
    }
}

static WITHIN: AtomicU64 = AtomicU64::new(0);
static OUTSIDE: AtomicU64 = AtomicU64::new(0);

#[test]
fn panics_in_upcalls_are_reported_up_to_a_limit_and_others_always() {
    const PANICS: u64 = 500;
    panic::set_hook(Box::new(|panic| {
        let count = match panic.payload_as_str() {
            Some("within") => &WITHIN,
            _ => &OUTSIDE,
        };
        count.fetch_add(1, Ordering::SeqCst);
    }));
    zorb::install_panic_hook();
    zorb::install_panic_hook();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = Orb::builder().listen("iiop://127.0.0.1:0");
        let server = server.build().await.unwrap();
        let poa = server.root_poa();
        let vase: FragileRef = poa.activate(FragileServant::new(Vase)).unwrap();
        poa.the_poa_manager().activate().unwrap();
        let client = Orb::builder().build().await.unwrap();
        let text = server.object_to_string(&vase);
        let there = client.string_to_object(&text).await.unwrap();
        let there: FragileRef = there.unchecked_narrow();
        for call in 0..PANICS {
            let fallen = match call % 2 {
                0 => there.fall().await,
                _ => there.fall_later().await,
            };
            assert_eq!(fallen.unwrap_err().kind, SystemExceptionKind::Unknown);
        }
        assert_eq!(server.counters().get(Counter::Panics), PANICS);
    });
    let within = WITHIN.load(Ordering::SeqCst);
    assert!((10..PANICS).contains(&within), "{within}");
    for panics in 1..=PANICS {
        thread::spawn(|| panic!("outside")).join().unwrap_err();
        assert_eq!(OUTSIDE.load(Ordering::SeqCst), panics);
    }
}
