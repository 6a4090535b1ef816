//! Shared memory passes every check that a transport must pass, and what is its own.

use bytes::BytesMut;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use zorb::{CompletionStatus, SystemExceptionKind};
use zorb_shm::{Shm, ShmOptions};
use zorb_transport::conformance::Fixture;
use zorb_transport::{Connection, Endpoint, Listener, Transport, conformance_tests};

mod by_default {
    use super::*;
    conformance_tests!(over(ShmOptions::default()));
}

/// Many partial writes and many waits.
mod with_small_rings {
    use super::*;
    conformance_tests!(over(ShmOptions::default().ring_octets(4096)));
}

struct OverShm {
    transport: Arc<dyn Transport>,
    folder: TempDir,
    made: AtomicUsize,
}

fn over(options: ShmOptions) -> OverShm {
    OverShm {
        transport: Arc::new(Shm::new(options)),
        folder: TempDir::new().unwrap(),
        made: AtomicUsize::new(0),
    }
}

impl OverShm {
    fn at(&self, name: &str) -> Endpoint {
        let path = self.folder.path().join(name);
        let addressing = self.transport.addressing();
        addressing.parse(path.to_str().unwrap()).unwrap()
    }
}

impl Fixture for OverShm {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        self.at(&number.to_string())
    }

    fn unreachable(&self) -> (Endpoint, ErrorKind) {
        (self.at("unreachable"), ErrorKind::NotFound)
    }
}

/// A listener, and where its socket is.
async fn listening(shm: &OverShm) -> (Box<dyn Listener>, PathBuf) {
    let listener = shm.transport.listen(&shm.at("here")).await.unwrap();
    (listener, shm.folder.path().join("here"))
}

async fn accepted(listener: &dyn Listener) -> Box<dyn Connection> {
    poll_fn(|cx| listener.poll_accept(cx)).await.unwrap()
}

async fn read(connection: &dyn Connection) -> Vec<u8> {
    let mut octets = BytesMut::with_capacity(100);
    let read = poll_fn(|cx| connection.poll_read(cx, &mut octets)).await;
    read.unwrap();
    octets.to_vec()
}

/// Sends octets with descriptors, as a client that agrees does.
fn send(stream: &UnixStream, octets: &[u8], descriptors: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(descriptors)));
    }
    let octets = [IoSlice::new(octets)];
    rustix::net::sendmsg(stream, &octets, &mut ancillary, SendFlags::NOSIGNAL).unwrap();
}

fn hello(version: u32, capacity: u32) -> Vec<u8> {
    hello_with_pool(version, capacity, 0)
}

fn hello_with_pool(version: u32, capacity: u32, pool: u64) -> Vec<u8> {
    let numbers = [*b"ZSHM", version.to_le_bytes(), capacity.to_le_bytes()].concat();
    [&numbers[..], &pool.to_le_bytes(), b"name of the pool"].concat()
}

fn memory(octets: u64, seals: rustix::fs::SealFlags) -> OwnedFd {
    let flags = rustix::fs::MemfdFlags::ALLOW_SEALING;
    let memory = rustix::fs::memfd_create(c"of a test", flags).unwrap();
    rustix::fs::ftruncate(&memory, octets).unwrap();
    rustix::fs::fcntl_add_seals(&memory, seals).unwrap();
    memory
}

#[tokio::test]
async fn a_hello_that_is_none_is_refused_and_the_next_client_is_served() {
    use rustix::fs::SealFlags;
    let shm = over(ShmOptions::default());
    let (listener, path) = listening(&shm).await;
    let sealed = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    let good = memory(4096 * 3, sealed);
    let (room, _other) = UnixStream::pair().unwrap();
    let (loose, short) = (memory(4096 * 3, SealFlags::SHRINK), memory(4096, sealed));
    let file = tempfile::tempfile().unwrap();
    let ok = hello(3, 4096);
    let (pool, huge) = (
        hello_with_pool(3, 4096, 4096),
        hello_with_pool(3, 4096, 1 << 40),
    );
    let of_pool = memory(4096 * 2, sealed);
    let cases: [(&[u8], &[BorrowedFd<'_>]); 16] = [
        (&ok[..12], &[good.as_fd(), room.as_fd()]),
        (&pool, &[good.as_fd(), room.as_fd()]),
        (&ok, &[good.as_fd(), room.as_fd(), of_pool.as_fd()]),
        (&pool, &[good.as_fd(), room.as_fd(), good.as_fd()]),
        (&huge, &[good.as_fd(), room.as_fd(), of_pool.as_fd()]),
        (b"GIOP\x01\x02\0\0\0\0\0\0", &[good.as_fd(), room.as_fd()]),
        (&ok[..7], &[good.as_fd(), room.as_fd()]),
        (&ok, &[]),
        (&ok, &[good.as_fd()]),
        (&ok, &[good.as_fd(), room.as_fd(), room.as_fd()]),
        (&ok, &[loose.as_fd(), room.as_fd()]),
        (&ok, &[short.as_fd(), room.as_fd()]),
        (&ok, &[good.as_fd(), file.as_fd()]),
        (&ok, &[file.as_fd(), room.as_fd()]),
        (&hello(2, 4096), &[good.as_fd(), room.as_fd()]),
        (&hello(3, 4095), &[good.as_fd(), room.as_fd()]),
    ];
    let mut refused = Vec::new();
    for (octets, descriptors) in cases {
        let stream = UnixStream::connect(&path).unwrap();
        send(&stream, octets, descriptors);
        refused.push(stream);
    }
    // One that says nothing holds up no other.
    let _silent = UnixStream::connect(&path).unwrap();
    let client = shm.transport.connect(listener.endpoint()).await.unwrap();
    client.try_write(&[IoSlice::new(b"hello")]).unwrap();
    let server = accepted(&*listener).await;
    assert_eq!(read(&*server).await, b"hello");
    for (number, stream) in refused.into_iter().enumerate() {
        stream.set_nonblocking(true).unwrap();
        let stream = tokio::net::UnixStream::from_std(stream).unwrap();
        // The listener's tasks close them.
        let mut octet = [0];
        loop {
            stream.readable().await.unwrap();
            match stream.try_read(&mut octet) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Why.
                Ok(1) => assert_ne!(octet, [0], "{number}"),
                end => break assert!(matches!(end, Ok(0) | Err(_)), "{number}: {end:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_peer_that_is_killed_ends_the_connection_behind_what_it_wrote() {
    let shm = over(ShmOptions::default());
    let (listener, path) = listening(&shm).await;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_client_that_is_killed", "--ignored"])
        .env("ZORB_SHM_TEST", path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let server = accepted(&*listener).await;
    let process = server.peer_identity().unwrap().process().unwrap();
    assert_eq!(process.process, Some(child.id()));
    assert_eq!(read(&*server).await, b"last words");
    child.kill().unwrap();
    assert_eq!(read(&*server).await, b"");
    child.wait().unwrap();
    // A writer that waits for room learns it, too.
    while server.try_write(&[IoSlice::new(&[0; 4096])]).is_ok() {}
    poll_fn(|cx| server.poll_write_ready(cx)).await.unwrap();
    assert!(server.is_closed_by_peer());
}

/// The process of the test above.
#[tokio::test]
#[ignore = "a process of another test"]
async fn a_client_that_is_killed() {
    let path = std::env::var("ZORB_SHM_TEST").unwrap();
    let shm = Shm::default();
    let endpoint = shm.addressing().parse(&path).unwrap();
    let client = shm.connect(&endpoint).await.unwrap();
    client.try_write(&[IoSlice::new(b"last words")]).unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_peer_that_writes_nonsense_is_an_error_for_its_partner_alone() {
    let shm = over(ShmOptions::default());
    let (listener, path) = listening(&shm).await;
    let sealed =
        rustix::fs::SealFlags::SHRINK | rustix::fs::SealFlags::GROW | rustix::fs::SealFlags::SEAL;
    let memory = memory(4096 * 3, sealed);
    let (room, _other) = UnixStream::pair().unwrap();
    let hostile = UnixStream::connect(path).unwrap();
    send(&hostile, &hello(3, 4096), &[memory.as_fd(), room.as_fd()]);
    let server = accepted(&*listener).await;
    // The head of the ring to the server: further than the ring is long.
    rustix::io::pwrite(&memory, &5000_u32.to_ne_bytes(), 0).unwrap();
    let mut octets = BytesMut::with_capacity(100);
    let error = poll_fn(|cx| server.poll_read(cx, &mut octets)).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidData);
    // The tail of the one back.
    rustix::io::pwrite(&memory, &5000_u32.to_ne_bytes(), 7 * 128).unwrap();
    let error = server.try_write(&[IoSlice::new(b"x")]);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidData);

    let client = shm.transport.connect(listener.endpoint()).await.unwrap();
    client.try_write(&[IoSlice::new(b"hello")]).unwrap();
    assert_eq!(read(&*accepted(&*listener).await).await, b"hello");
}

/// Without the limit of the whole wait, this test hangs: the peer rings more often than the limit is long.
#[tokio::test]
async fn bells_without_octets_make_no_wait_longer() {
    let shm = over(ShmOptions::default());
    let (listener, path) = listening(&shm).await;
    let sealed =
        rustix::fs::SealFlags::SHRINK | rustix::fs::SealFlags::GROW | rustix::fs::SealFlags::SEAL;
    let memory = memory(4096 * 3, sealed);
    let (room, _other) = UnixStream::pair().unwrap();
    let mut hostile = UnixStream::connect(path).unwrap();
    send(&hostile, &hello(3, 4096), &[memory.as_fd(), room.as_fd()]);
    let server = accepted(&*listener).await;
    let ringing = std::thread::spawn(move || {
        while hostile.write_all(&[0]).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let mut octets = BytesMut::with_capacity(100);
    let read = server.read_blocking(&mut octets, Some(Duration::from_millis(200)));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(server);
    ringing.join().unwrap();
}

/// A thread waits for a word in the memory, which nobody changes when its peer is killed.
#[tokio::test]
async fn a_thread_that_waits_learns_that_its_peer_was_killed() {
    let shm = over(ShmOptions::default());
    let (listener, path) = listening(&shm).await;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_client_that_is_killed", "--ignored"])
        .env("ZORB_SHM_TEST", path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let server = accepted(&*listener).await;
    let mut octets = BytesMut::with_capacity(100);
    while octets != b"last words"[..] {
        server.read_blocking(&mut octets, None).unwrap();
    }
    let reader = std::thread::spawn(move || {
        let mut octets = BytesMut::with_capacity(100);
        server.read_blocking(&mut octets, None).unwrap()
    });
    child.kill().unwrap();
    assert_eq!(reader.join().unwrap(), 0);
    child.wait().unwrap();
}

/// A peer that writes nonsense into the word wakes the thread, or does not, and no more.
#[tokio::test]
async fn a_word_that_a_peer_changes_all_the_time_makes_no_wait_longer() {
    let shm = over(ShmOptions::default());
    let (listener, path) = listening(&shm).await;
    let sealed =
        rustix::fs::SealFlags::SHRINK | rustix::fs::SealFlags::GROW | rustix::fs::SealFlags::SEAL;
    let memory = memory(4096 * 3, sealed);
    let (room, _other) = UnixStream::pair().unwrap();
    let hostile = UnixStream::connect(path).unwrap();
    send(&hostile, &hello(3, 4096), &[memory.as_fd(), room.as_fd()]);
    let server = accepted(&*listener).await;
    let is_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let until = Arc::clone(&is_over);
    let writing = std::thread::spawn(move || {
        for n in (0..7_u32).cycle() {
            // Whether the reader of the ring to the server waits.
            rustix::io::pwrite(&memory, &n.to_ne_bytes(), 2 * 128).unwrap();
            if until.load(Ordering::Relaxed) {
                break;
            }
        }
    });
    let mut octets = BytesMut::with_capacity(100);
    let read = server.read_blocking(&mut octets, Some(Duration::from_millis(300)));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
    is_over.store(true, Ordering::Relaxed);
    writing.join().unwrap();
    drop(hostile);
}

#[test]
fn properties_are_read_from_text() {
    let shm = Shm::default();
    for (name, value, is_good) in [
        ("ring_octets", "65536", true),
        ("ring_octets", "65535", false),
        ("ring_octets", "1024", false),
        ("max_ring_octets", "4096", true),
        ("max_ring_octets", "0", false),
        ("max_pool_octets", "0", true),
        ("max_pool_octets", "-1", false),
        ("users", "any", true),
        ("users", "none", false),
        ("color", "red", false),
    ] {
        assert_eq!(
            shm.with_property(name, value).is_ok(),
            is_good,
            "{name}={value}"
        );
    }
}

zorb::idl! {
    module Store {
        typedef sequence<octet> Octets;
        interface Shelf {
            Octets put(in Octets what);
            oneway void drop(in Octets what);
            unsigned long dropped();
            // By their places.
            unsigned long long sum(in Octets place);
            void fill(in Octets place, in octet with);
        };
    };
}

#[derive(Default)]
struct Shelf(AtomicUsize, Shm);

impl Shelf {
    fn value(&self, place: &[u8]) -> Result<zorb_shm::Value, zorb::SystemException> {
        let place = zorb_shm::Place::from_octets(place);
        let value = place.and_then(|place| self.1.value(&place));
        value.ok_or_else(|| SystemExceptionKind::BadParam.into())
    }
}

impl store::Shelf for Shelf {
    async fn put(
        &self,
        octets: zorb::OctetsRef<'_>,
    ) -> Result<bytes::Bytes, zorb::SystemException> {
        Ok(octets.iter().rev().copied().collect::<Vec<u8>>().into())
    }

    async fn drop(&self, octets: zorb::OctetsRef<'_>) -> Result<(), zorb::SystemException> {
        self.0.fetch_add(octets.len(), Ordering::Relaxed);
        Ok(())
    }

    async fn sum(&self, place: zorb::OctetsRef<'_>) -> Result<u64, zorb::SystemException> {
        let value = self.value(&place)?;
        let (mut sum, mut at) = (0, 0);
        while at < value.len() {
            // Where the client wrote it: no more than a part is ever copied.
            let mut part = [0; 64];
            let part = &mut part[..64.min(value.len() - at)];
            value.read_at(at, part).unwrap();
            sum += part.iter().copied().map(u64::from).sum::<u64>();
            at += part.len();
        }
        Ok(sum)
    }

    async fn fill(
        &self,
        place: zorb::OctetsRef<'_>,
        with: u8,
    ) -> Result<(), zorb::SystemException> {
        let value = self.value(&place)?;
        value.write_at(0, &vec![with; value.len()]).unwrap();
        Ok(())
    }

    async fn dropped(&self) -> Result<u32, zorb::SystemException> {
        Ok(u32::try_from(self.0.load(Ordering::Relaxed)).unwrap())
    }
}

fn builder() -> zorb::Builder {
    zorb::Orb::builder().transport(Arc::new(Shm::default()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orbs_call_each_other_by_reference_and_by_url() {
    let name = format!("shm://@zorb-shm-{}", std::process::id());
    let server = builder().listen(&name).build().await.unwrap();
    let poa = server.root_poa();
    let shelf = poa
        .activate(store::ShelfServant::new(Shelf::default()))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&shelf);

    let client = builder().build().await.unwrap();
    let object = client.string_to_object(&reference).await.unwrap();
    let shelf: store::ShelfRef = object.narrow().await.unwrap().expect("a shelf");
    // From less than a ring holds to many times as much.
    for octets in [0, 1, 1_000, 70_000, 3_000_000_usize] {
        let sent: Vec<u8> = (0..octets).map(|n| n as u8).collect();
        let mut back = shelf.put(&sent).await.unwrap().to_vec();
        back.reverse();
        assert_eq!(back, sent);
    }
    let calls = (0..64_u8).map(|n| {
        let shelf = shelf.clone();
        tokio::spawn(async move { shelf.put(&[n; 9_000]).await.unwrap()[0] == n })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(call.await.unwrap());
    }
    for _ in 0..200 {
        shelf.drop(&[1; 5_000]).await.unwrap();
    }
    // Behind them on the same connection.
    while shelf.dropped().await.unwrap() < 1_000_000 {}

    // An ORB without the transport cannot reach it, and says so.
    let other = zorb::Orb::builder().build().await.unwrap();
    let object = other.string_to_object(&reference).await.unwrap();
    let error = object.non_existent().await.unwrap_err();
    assert!(
        error.to_string().contains("no transport for profile"),
        "{error:#}"
    );
    server.shutdown(true).await.unwrap();
}

/// A shelf that is served with so much memory for all connections, by this transport.
async fn shelf_within(octets: usize, transport: Shm, name: &str) -> (zorb::Orb, String) {
    let server = (zorb::Orb::builder().transport(Arc::new(transport)))
        .max_memory_octets(octets)
        .listen(name)
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let shelf = poa
        .activate(store::ShelfServant::new(Shelf::default()))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&shelf);
    (server, reference)
}

/// A client with rings of so many octets.
async fn client_with(ring: u32, reference: &str) -> (zorb::Orb, store::ShelfRef) {
    let shm = Shm::new(ShmOptions::default().ring_octets(ring));
    let client = zorb::Orb::builder().transport(Arc::new(shm)).build().await;
    let client = client.unwrap();
    let object = client.string_to_object(reference).await.unwrap();
    let shelf = object.unchecked_narrow();
    (client, shelf)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_that_clients_share_counts_with_that_of_all_connections() {
    const MIB: usize = 1 << 20;
    let name = format!("shm://@zorb-shm-memory-{}", std::process::id());
    let (server, reference) = shelf_within(8 * MIB, Shm::default(), &name).await;
    let before = server.memory_octets();
    let (first, shelf) = client_with(1 << 20, &reference).await;
    shelf.put(&[1]).await.unwrap();
    let of_one = server.memory_octets() - before;
    assert!((2 * MIB..3 * MIB).contains(&of_one), "{of_one} octets");
    // The client's own memory counts with that of its ORB.
    assert!(first.memory_octets() >= 2 * MIB);

    // As many as fit, and no more.
    let mut clients = vec![(first, shelf)];
    let refused = loop {
        let (client, shelf) = client_with(1 << 20, &reference).await;
        match shelf.put(&[1]).await {
            Ok(_) => clients.push((client, shelf)),
            Err(refused) => break refused,
        }
        assert!(clients.len() <= 4, "the memory is used up");
    };
    assert_eq!(refused.kind, SystemExceptionKind::Transient, "{refused:#}");
    assert!(server.memory_octets() <= 8 * MIB);
    // One that goes makes room for another.
    let (gone, shelf) = clients.pop().unwrap();
    drop(shelf);
    gone.shutdown(true).await.unwrap();
    let (_client, shelf) = client_with(1 << 20, &reference).await;
    while let Err(error) = shelf.put(&[1]).await {
        assert_eq!(error.kind, SystemExceptionKind::Transient, "{error:#}");
        tokio::task::yield_now().await;
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_reads_where_the_client_wrote_and_the_other_way_round() {
    let name = format!("shm://@zorb-shm-pool-{}", std::process::id());
    let of_server = Shm::default();
    let server = zorb::Orb::builder().transport(Arc::new(of_server.clone()));
    let server = server.listen(&name).build().await.unwrap();
    let poa = server.root_poa();
    let shelf = Shelf(AtomicUsize::new(0), of_server.clone());
    let shelf = poa.activate(store::ShelfServant::new(shelf)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&shelf);
    let before = server.memory_octets();

    let shm = Shm::default().with_pool(4 << 20).unwrap();
    let client = zorb::Orb::builder().transport(Arc::new(shm.clone()));
    let client = client.build().await.unwrap();
    let object = client.string_to_object(&reference).await.unwrap();
    let shelf: store::ShelfRef = object.narrow().await.unwrap().expect("a shelf");
    assert_eq!(shelf.dropped().await.unwrap(), 0);
    assert!(
        server.memory_octets() - before >= 4 << 20,
        "the pool counts"
    );
    let pool = shm.pool().unwrap();
    for octets in [0, 1, 63, 64, 65, 1_000_000_usize] {
        let loan = pool.loan(octets).unwrap();
        let value: Vec<u8> = (0..octets).map(|n| n as u8).collect();
        loan.value().write_at(0, &value).unwrap();
        let place = loan.place().to_octets();
        let sum: u64 = value.iter().copied().map(u64::from).sum();
        assert_eq!(shelf.sum(&place).await.unwrap(), sum);
        shelf.fill(&place, 7).await.unwrap();
        assert_eq!(loan.value().to_vec(), vec![7; octets]);
    }
    assert_eq!(pool.free_octets(), 4 << 20);
    // What a peer makes up leads nowhere.
    let loan = pool.loan(100).unwrap();
    let mut place = loan.place().to_octets();
    place[31] = 0xff;
    let error = shelf.sum(&place).await.unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::BadParam);
    place = loan.place().to_octets();
    place[0] ^= 1;
    assert!(shelf.sum(&place).await.is_err());
    // Nor does what belongs to a client that has gone.
    let place = loan.place();
    assert!(of_server.value(&place).is_some());
    drop(shelf);
    client.shutdown(true).await.unwrap();
    while of_server.value(&place).is_some() {
        tokio::task::yield_now().await;
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_says_how_large_the_rings_of_its_clients_may_be() {
    let name = format!("shm://@zorb-shm-limit-{}", std::process::id());
    let limited = Shm::new(ShmOptions::default().max_ring_octets(64 << 10));
    let (server, reference) = shelf_within(64 << 20, limited, &name).await;
    let (_small, shelf) = client_with(64 << 10, &reference).await;
    assert_eq!(shelf.put(&[1]).await.unwrap()[..], [1]);
    let (_large, shelf) = client_with(128 << 10, &reference).await;
    let refused = shelf.put(&[1]).await.unwrap_err();
    assert_eq!(refused.kind, SystemExceptionKind::Transient, "{refused:#}");
    assert_eq!(refused.completed, CompletionStatus::No);
    let why = format!("{refused:#}");
    assert!(why.contains("max_ring_octets"), "{why}");
    server.shutdown(true).await.unwrap();
}

/// A server of shared memory and of UNIX sockets, in this order, behind one reference.
async fn shelf_of_two(octets: usize, transport: Shm, name: &str) -> (zorb::Orb, String) {
    let server = (zorb::Orb::builder().transport(Arc::new(transport)))
        .max_memory_octets(octets)
        .listen(format!("shm://@{name}"))
        .listen(format!("uiop://@{name}-plain"))
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let shelf = store::ShelfServant::new(Shelf::default());
    let shelf = poa.activate(shelf).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&shelf);
    (server, reference)
}

/// Whatever the reason for which a server refuses rings: the first call, also a one-way one, goes to the next endpoint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_whose_rings_are_refused_lose_no_call_and_use_the_next_endpoint() {
    let options = ShmOptions::default();
    let cases = [
        // The rings, the pool, the memory of all connections.
        (
            64 << 20,
            options.max_ring_octets(64 << 10),
            Shm::new(options.ring_octets(128 << 10)),
        ),
        (
            64 << 20,
            options.max_pool_octets(4096),
            Shm::default().with_pool(8192).unwrap(),
        ),
        (4 << 20, options, Shm::new(options.ring_octets(4 << 20))),
    ];
    for (number, (octets, options, of_client)) in cases.into_iter().enumerate() {
        let name = format!("zorb-shm-next-{number}-{}", std::process::id());
        let (server, reference) = shelf_of_two(octets, Shm::new(options), &name).await;
        // The limit of memory is that of the ORB, which refuses any connection by CloseConnection: a one-way request may be in front
        // of that.
        let is_refused_first = number < 2;
        for one_way_first in [true, false] {
            let client = zorb::Orb::builder().transport(Arc::new(of_client.clone()));
            let client = client.build().await.unwrap();
            let object = client.string_to_object(&reference).await.unwrap();
            let shelf: store::ShelfRef = object.unchecked_narrow();
            let before = shelf_octets(&reference).await;
            if one_way_first {
                shelf.drop(&[1; 10]).await.unwrap();
                while is_refused_first && shelf_octets(&reference).await == before {}
            }
            let calls = (0..8_u8).map(|n| {
                let shelf = shelf.clone();
                tokio::spawn(async move { shelf.put(&[n; 9]).await })
            });
            for call in calls.collect::<Vec<_>>() {
                call.await.unwrap().unwrap();
            }
            client.shutdown(true).await.unwrap();
        }
        server.shutdown(true).await.unwrap();
    }
}

/// What a client without shared memory is told.
async fn shelf_octets(reference: &str) -> u32 {
    let client = zorb::Orb::builder().build().await.unwrap();
    let object = client.string_to_object(reference).await.unwrap();
    let shelf: store::ShelfRef = object.unchecked_narrow();
    let dropped = shelf.dropped().await.unwrap();
    client.shutdown(true).await.unwrap();
    dropped
}

/// A server that is stopped, or that ends while a client waits for its answer, never took the client's memory.
#[tokio::test]
async fn a_client_that_gets_no_answer_is_not_connected() {
    let shm = over(ShmOptions::default());
    let listener = std::os::unix::net::UnixListener::bind(shm.folder.path().join("mute")).unwrap();
    let mute = shm.at("mute");
    let connecting = shm.transport.connect(&mute);
    let accepting = tokio::task::spawn_blocking(move || drop(listener.accept().unwrap()));
    let error = connecting.await.unwrap_err();
    let kinds = [ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset];
    assert!(kinds.contains(&error.cause().kind()), "{error}");
    accepting.await.unwrap();
}

/// The thread that connects is of another user: credentials are those of a thread. Needs the rights of root.
#[test]
fn clients_of_other_users_are_refused_before_they_are_connected() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shm = Shm::default();
    let name = format!("@zorb-shm-users-{}", std::process::id());
    let endpoint = shm.addressing().parse(&name).unwrap();
    let listener = runtime.block_on(shm.listen(&endpoint)).unwrap();
    let (users, cause) = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let nobody = rustix::process::Uid::from_raw(65_534);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        let shm = Shm::new(ShmOptions::default().any_user());
        let users = rustix::process::geteuid();
        let error = runtime.block_on(shm.connect(&endpoint)).unwrap_err();
        (users, error.cause().kind())
    })
    .join()
    .unwrap();
    assert_eq!(users.as_raw(), 65_534);
    assert_eq!(cause, ErrorKind::PermissionDenied);
    drop(listener);
}
