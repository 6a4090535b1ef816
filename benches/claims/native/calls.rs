//! Calls between two ORBs of this process, a CPU each.

use crate::{Failure, Round, median, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zorb::blocking::Wait as _;
use zorb::executor::{Lane, WaitPolicy};
use zorb::transport::{Tcp, Transport, Unix};
use zorb::{Builder, OctetsRef, Orb, SystemException};
use zorb_native::Native;
use zorb_shm::{Loan, Place, Shm};

zorb::idl! {
    module Alike {
        struct Item { short s; char c; long l; octet o; double d; };
        typedef sequence<Item> Many;
        typedef sequence<octet> Data;
        interface Sink {
            void noparams();
            void octets(in Data content);
            void items(in Many content);
            // Where a value lies, and how long it is.
            void in_place(in Data place, in unsigned long length);
        };
    };
}

use alike::{Item, Sink, SinkRef, SinkServant};

/// What octets travel through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Memory,
    Unix,
    Tcp,
}

/// What a call has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Nothing,
    Octets(usize),
    Items(usize),
    /// Octets in memory that both have, which were written before.
    Place(usize),
    /// The same, written by each call.
    Written(usize),
}

struct Server(Shm);

impl Sink for Server {
    async fn noparams(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn octets(&self, content: OctetsRef<'_>) -> Result<(), SystemException> {
        std::hint::black_box(content.len());
        Ok(())
    }

    async fn items(&self, content: &[Item]) -> Result<(), SystemException> {
        std::hint::black_box(content.len());
        Ok(())
    }

    async fn in_place(&self, place: OctetsRef<'_>, length: u32) -> Result<(), SystemException> {
        let missing = || SystemException::internal("there is no such value");
        let place = Place::from_octets(&place).ok_or_else(missing)?;
        let value = self.0.value(&place).ok_or_else(missing)?;
        // Both ends of it, as a reader does that takes from it what it needs.
        let mut octet = [0];
        let last = (length as usize).saturating_sub(1);
        for at in [0, last] {
            value.read_at(at, &mut octet).map_err(|_| missing())?;
        }
        std::hint::black_box(octet);
        Ok(())
    }
}

/// Whose threads wait, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Waiting {
    /// A lane at each end, which spins before it parks.
    Spins,
    /// A thread at each end, which parks.
    Parks,
}

/// Two ORBs, the client's on the first CPU and the server's on the second.
pub(crate) struct Pair {
    sink: SinkRef,
    shm: Shm,
    /// Where the client's calls are made, unless a thread makes them.
    lane: Option<Lane>,
    cpu: usize,
    _orbs: [Orb; 2],
}

/// Octets of the client's pool: a large value, and a small one beside it.
const POOL: usize = 4 << 20;

fn builder(shm: &Shm, waiting: Waiting, native: bool) -> Builder {
    let transports: [Arc<dyn Transport>; 3] = [
        Arc::new(Tcp::default()),
        Arc::new(Unix::default()),
        Arc::new(shm.clone()),
    ];
    let mut builder = Orb::builder().wait_policy(match waiting {
        Waiting::Spins => WaitPolicy::Adaptive,
        Waiting::Parks => WaitPolicy::Park,
    });
    for transport in transports {
        builder = builder.transport(match native {
            true => Arc::new(Native::over(transport)),
            false => transport,
        });
    }
    builder
}

/// An ORB on that CPU, with its lane if it waits by one.
fn orb(builder: Builder, waiting: Waiting, cpu: usize) -> Result<(Orb, Option<Lane>), Failure> {
    // Threads of an ORB are on the CPU of the thread that has started it.
    pin(cpu)?;
    if waiting == Waiting::Parks {
        return Ok((Orb::clone(&*builder.build_blocking()?), None));
    }
    let lane = Lane::dedicated("bench")?;
    let builder = builder.lane(lane.clone());
    let building = lane.spawn(async move { builder.build().await });
    let orb = lane.handle().block_on(building)??;
    Ok((orb, Some(lane)))
}

impl Pair {
    pub(crate) fn new(
        way: Way,
        waiting: Waiting,
        native: bool,
        cpus: [usize; 2],
    ) -> Result<Self, Failure> {
        static NAMES: AtomicUsize = AtomicUsize::new(0);
        let name = NAMES.fetch_add(1, Ordering::Relaxed);
        let name = format!("zorb-bench-{}-{name}", std::process::id());
        let of_server = Shm::default();
        let server = builder(&of_server, waiting, native).listen(match way {
            Way::Memory => format!("shm://@{name}"),
            Way::Unix => format!("uiop://@{name}"),
            Way::Tcp => "iiop://127.0.0.1:0".to_owned(),
        });
        let (server, _) = orb(server, waiting, cpus[1])?;
        let sink = SinkServant::new(Server(of_server));
        let sink = server.root_poa().activate(sink)?;
        server.root_poa().the_poa_manager().activate()?;
        let shm = match way {
            Way::Memory => Shm::default().with_pool(POOL)?,
            _ => Shm::default(),
        };
        let (client, lane) = orb(builder(&shm, waiting, native), waiting, cpus[0])?;
        let reference = sink.to_string();
        let object = client.string_to_object(&reference);
        let object = match &lane {
            Some(lane) => lane.handle().block_on(object)?,
            None => object.wait()?,
        };
        Ok(Self {
            sink: object.unchecked_narrow(),
            shm,
            lane,
            cpu: cpus[0],
            _orbs: [client, server],
        })
    }

    /// Calls with this content.
    pub(crate) fn calls(self: &Arc<Self>, content: Content) -> Result<Round, Failure> {
        let pair = Arc::clone(self);
        let octets = match content {
            Content::Octets(octets) | Content::Place(octets) | Content::Written(octets) => octets,
            Content::Nothing | Content::Items(_) => 0,
        };
        let items = match content {
            Content::Items(items) => items,
            _ => 0,
        };
        let loan = match (content, self.shm.pool()) {
            (Content::Place(_) | Content::Written(_), Some(pool)) => Some(pool.loan(octets)?),
            _ => None,
        };
        let what = Arc::new(What {
            content,
            octets: vec![7; octets],
            items: vec![item(); items],
            loan,
        });
        Ok(Box::new(move |calls| {
            let sink = pair.sink.clone();
            let what = Arc::clone(&what);
            let mut times = match &pair.lane {
                Some(lane) => {
                    let calling = lane.spawn(async move {
                        let mut times = Vec::with_capacity(calls);
                        for _ in 0..calls {
                            let begun = Instant::now();
                            what.call(&sink).await?;
                            times.push(begun.elapsed());
                        }
                        Ok::<Vec<Duration>, SystemException>(times)
                    });
                    lane.handle().block_on(calling)??
                }
                None => {
                    pin(pair.cpu)?;
                    let mut times = Vec::with_capacity(calls);
                    for _ in 0..calls {
                        let begun = Instant::now();
                        what.call(&sink).wait()?;
                        times.push(begun.elapsed());
                    }
                    times
                }
            };
            Ok(median(&mut times))
        }))
    }
}

fn item() -> Item {
    Item {
        s: 1,
        c: b'c'.into(),
        l: 2,
        o: 3,
        d: 4.0,
    }
}

struct What {
    content: Content,
    octets: Vec<u8>,
    items: Vec<Item>,
    loan: Option<Loan>,
}

impl What {
    async fn call(&self, sink: &SinkRef) -> Result<(), SystemException> {
        let octets = u32::try_from(self.octets.len()).unwrap_or(u32::MAX);
        match (self.content, &self.loan) {
            (Content::Octets(_), _) => sink.octets(&self.octets).await,
            (Content::Items(_), _) => sink.items(&self.items).await,
            (Content::Place(_), Some(loan)) => {
                sink.in_place(&loan.place().to_octets(), octets).await
            }
            (Content::Written(_), Some(loan)) => {
                let written = loan.value().write_at(0, &self.octets);
                written.map_err(|error| SystemException::internal(error.to_string()))?;
                sink.in_place(&loan.place().to_octets(), octets).await
            }
            _ => sink.noparams().await,
        }
    }
}
