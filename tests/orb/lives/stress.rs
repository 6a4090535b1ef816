//! Everything at once: thousands of calls that are dropped, run out of time, lose their connection
//! or their server, and of which none hangs and none is carried out twice.
//!
//! A seed decides which steps are taken; their timing is up to the machine. So a failure here
//! may need a few runs to fail again, but what is checked holds for every order of things:
//! a result means that the call ran once, COMPLETED_NO that it did not run, and COMPLETED_MAYBE, or
//! a future that was dropped, that it ran at most once.

use crate::anew::{anywhere, listening};
use crate::lives::cell_servant::in_time;
use crate::savings::spawn;
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use zorb::{CompletionStatus as Completed, Interface, Orb, Policies, SystemException};

zorb::idl! {
    module Stress {
        interface Once {
            /// Counts `id`. `yields`: how often it lets others have a turn before and after.
            void run(in unsigned long long id, in unsigned long yields, in string padding);
            oneway void tell(in unsigned long long id);
        };
    };
}

use stress::{Once, OnceRef, OnceServant};

/// How often each call has been carried out, over all lives of the server.
type Counts = Arc<Mutex<HashMap<u64, u32>>>;

struct Counting(Counts);

impl Counting {
    fn count(&self, id: u64) {
        *self.0.lock().unwrap().entry(id).or_default() += 1;
    }
}

impl Once for Counting {
    async fn run(&self, id: u64, yields: u32, _padding: &str) -> Result<(), SystemException> {
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        self.count(id);
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn tell(&self, id: u64) -> Result<(), SystemException> {
        self.count(id);
        Ok(())
    }
}

/// A small generator (SplitMix64) whose numbers are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A server of persistent objects: the same reference for every run.
async fn serve(endpoint: &str, counts: &Counts) -> (Orb, OnceRef) {
    let orb = listening(|| Orb::builder().listen(endpoint)).await;
    let root = orb.root_poa();
    let poa = root.create_poa_with("stress", Policies::PERSISTENT, None);
    let poa = poa.unwrap();
    let servant = OnceServant::new(Counting(Arc::clone(counts)));
    let once = poa.activate_object_with_id("once", servant).unwrap();
    poa.the_poa_manager().activate().unwrap();
    root.the_poa_manager().activate().unwrap();
    (orb, once)
}

/// Passes octets on until the connection has had its share, and then cuts it, wherever a message
/// happens to be: both ways, in order or not.
async fn proxy(listener: TcpListener, server: std::net::SocketAddr, seed: u64) {
    let mut random = Random(seed);
    loop {
        let (mut near, _) = listener.accept().await.unwrap();
        let Ok(mut far) = TcpStream::connect(server).await else {
            continue;
        };
        let mut share = usize::try_from(200 + random.below(60_000)).unwrap();
        let rudely = random.below(2) == 0;
        spawn(async move {
            let (mut there, mut back) = (vec![0; 4096], vec![0; 4096]);
            while share > 0 {
                let passed = tokio::select! {
                    n = near.read(&mut there) => pass(n, &there, &mut far, share).await,
                    n = far.read(&mut back) => pass(n, &back, &mut near, share).await,
                };
                match passed {
                    Some(octets) => share -= octets,
                    None => return,
                }
            }
            if rudely {
                near.set_zero_linger().unwrap();
                far.set_zero_linger().unwrap();
            }
        });
    }
}

async fn pass(
    read: std::io::Result<usize>,
    octets: &[u8],
    to: &mut TcpStream,
    share: usize,
) -> Option<usize> {
    let octets = octets.get(..read.ok()?.min(share))?;
    to.write_all(octets).await.ok()?;
    (!octets.is_empty()).then_some(octets.len())
}

/// The outcome of a call, as its caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    Once,
    Never,
    AtMostOnce,
}

/// Polls a call a few times and lets it go.
async fn impatient<T>(polls: u64, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let mut polled = 0;
    poll_fn(|cx| {
        if let Poll::Ready(done) = call.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        polled += 1;
        if polled > polls {
            return Poll::Ready(None);
        }
        Poll::Pending
    })
    .await
}

fn known<T>(outcome: Option<Result<T, SystemException>>) -> Known {
    match outcome {
        Some(Ok(_)) => Known::Once,
        None => Known::AtMostOnce,
        Some(Err(e)) => match e.completed {
            Completed::No => Known::Never,
            Completed::Yes => Known::Once,
            _ => Known::AtMostOnce,
        },
    }
}

async fn one_call(once: &OnceRef, id: u64, random: &mut Random) -> Known {
    let yields = u32::try_from(random.below(4)).unwrap();
    let padding = "x".repeat(usize::try_from(random.below(3000)).unwrap());
    match random.below(8) {
        0 => known(impatient(random.below(4), once.run(id, yields, &padding)).await),
        1 => {
            let limit = Duration::from_micros(random.below(2000));
            let hasty = once.with_round_trip_timeout(limit);
            known(Some(hasty.run(id, yields, &padding).await))
        }
        2 => match once.tell(id).await {
            // Handed over is all that is known.
            Ok(()) => Known::AtMostOnce,
            failed => known(Some(failed)),
        },
        3 => {
            // A query meanwhile, which changes nothing.
            let (outcome, _) = tokio::join!(
                once.run(id, yields, &padding),
                once.as_object().non_existent()
            );
            known(Some(outcome))
        }
        _ => known(Some(once.run(id, yields, &padding).await)),
    }
}

const CALLERS: u64 = 12;
const CALLS: u64 = 400;
/// Calls between two restarts of the server.
const LIFE: u64 = 250;

async fn everything_at_once(seed: u64) {
    let counts = Counts::default();
    let (mut server, once) = serve(&anywhere(), &counts).await;
    let endpoint = server.endpoints()[0].to_string();
    let address = endpoint.strip_prefix("iiop://").unwrap().parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let by_proxy = listener.local_addr().unwrap();
    let proxy = spawn(proxy(listener, address, seed));
    // The same object, published at the proxy's address.
    let direct = once.as_object().to_string();
    let proxied = {
        let mut ior = once.as_object().ior().clone();
        let mut body = zorb_giop::ior::IiopProfile::from_tagged(&ior.profiles[0]).unwrap();
        body.address.host = by_proxy.ip().to_string();
        body.address.port = by_proxy.port();
        ior.profiles = vec![body.to_tagged().unwrap()];
        ior.to_ior_string().unwrap()
    };
    let clients = [
        Orb::builder().build().await.unwrap(),
        // One that closes its connections at random.
        Orb::builder()
            .idle_timeout(Duration::from_millis(1))
            .build()
            .await
            .unwrap(),
    ];

    let done = Arc::new(AtomicU64::new(0));
    let progress = Arc::new(Notify::new());
    let is_up = watch::Sender::new(true);
    let mut callers = Vec::new();
    for caller in 0..CALLERS {
        let client = &clients[usize::try_from(caller % 2).unwrap()];
        let reference = if caller % 4 < 2 { &proxied } else { &direct };
        let object = client.string_to_object(reference).await.unwrap();
        let once: OnceRef = object.unchecked_narrow();
        let (done, progress) = (Arc::clone(&done), Arc::clone(&progress));
        let mut up = is_up.subscribe();
        callers.push(spawn(async move {
            let mut random = Random(seed ^ caller << 32);
            let mut outcomes = Vec::new();
            for call in 0..CALLS {
                let id = caller * CALLS + call;
                let known = in_time(one_call(&once, id, &mut random)).await;
                outcomes.push((id, known));
                if done.fetch_add(1, Ordering::Relaxed) % LIFE == LIFE - 1 {
                    progress.notify_one();
                }
                if known == Known::Never {
                    // While the server is away, one such call is enough.
                    in_time(up.wait_for(|up| *up)).await.unwrap();
                }
            }
            outcomes
        }));
    }
    let mut lives = 1;
    while done.load(Ordering::Relaxed) < CALLERS * CALLS - LIFE {
        in_time(progress.notified()).await;
        is_up.send_replace(false);
        in_time(server.shutdown(true)).await.unwrap();
        (server, _) = serve(&endpoint, &counts).await;
        is_up.send_replace(true);
        lives += 1;
    }
    let mut outcomes = Vec::new();
    for caller in callers {
        outcomes.extend(in_time(caller).await.unwrap());
    }
    for client in clients {
        in_time(client.shutdown(true)).await.unwrap();
    }
    in_time(server.shutdown(true)).await.unwrap();
    proxy.abort();

    let counts = counts.lock().unwrap();
    let mut seen: HashMap<Known, usize> = HashMap::new();
    for (id, known) in outcomes {
        *seen.entry(known).or_default() += 1;
        let ran = counts.get(&id).copied().unwrap_or(0);
        let right = match known {
            Known::Once => ran == 1,
            Known::Never => ran == 0,
            Known::AtMostOnce => ran <= 1,
        };
        assert!(right, "call {id}: {known:?}, and it ran {ran} times");
    }
    assert!(lives > 5, "{lives} lives of the server");
    for (known, least) in [(Known::Once, 500), (Known::AtMostOnce, 100)] {
        let found = seen.get(&known).copied().unwrap_or(0);
        assert!(found >= least, "{found} calls are {known:?}: {seen:?}");
    }
    eprintln!("{seen:?} in {lives} lives");
}

#[tokio::test]
async fn no_call_hangs_and_none_runs_twice_on_one_thread() {
    everything_at_once(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn no_call_hangs_and_none_runs_twice_on_many_threads() {
    everything_at_once(2).await;
}
