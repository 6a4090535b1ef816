//! Peers that are killed at any point, and peers that write garbage: nobody hangs, nobody else notices, and nothing is left behind.
#![expect(
    clippy::print_stdout,
    reason = "a server that is a process tells its reference"
)]

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use std::io::{BufRead, BufReader, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use zorb::{SystemException, SystemExceptionKind};
use zorb_shm::{Shm, ShmOptions};

zorb::idl! {
    module Storm {
        typedef sequence<octet> Octets;
        interface Mirror {
            Octets echo(in Octets what);
        };
    };
}

struct Mirror;

impl storm::Mirror for Mirror {
    async fn echo(&self, what: zorb::OctetsRef<'_>) -> Result<bytes::Bytes, SystemException> {
        Ok(what.to_vec().into())
    }
}

/// Peers that are killed, each a process of its own, and that write garbage, unless the variable `ZORB_STORMS` has another number.
const PEERS: u64 = 20;

/// Octets that the honest connection may hold more at one time than at another. Those of all others are many times as many.
const IN_USE: usize = 128 << 10;

fn peers() -> u64 {
    std::env::var("ZORB_STORMS").map_or(PEERS, |number| number.parse().unwrap())
}

async fn server(path: &str) -> (zorb::Orb, String) {
    // Small rings, so that most messages wait for room.
    let shm = Shm::new(ShmOptions::default().ring_octets(4096));
    let server = zorb::Orb::builder().transport(Arc::new(shm));
    let server = server
        .listen(format!("shm://{path}"))
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let echo = poa.activate(storm::MirrorServant::new(Mirror)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&echo);
    (server, reference)
}

async fn client(reference: &str) -> (zorb::Orb, storm::MirrorRef) {
    let shm = Shm::new(ShmOptions::default().ring_octets(4096)).with_pool(8192);
    let client = zorb::Orb::builder().transport(Arc::new(shm.unwrap()));
    let client = client.build().await.unwrap();
    let object = client.string_to_object(reference).await.unwrap();
    let echo = object.unchecked_narrow();
    (client, echo)
}

/// Calls with arguments of any length, from less than a ring to many.
async fn call(echo: &storm::MirrorRef, random: &mut Random) -> Result<(), SystemException> {
    let octets = vec![random.next() as u8; random.below(20_000)];
    let echoed = echo.echo(&octets).await?;
    assert_eq!(echoed, octets, "a reply is whole, or none");
    Ok(())
}

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        self.0 ^ self.0 >> 32
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// One test at a time: what a process holds is counted.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Memory that is mapped, and descriptors, of this process.
fn held() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().filter(|line| line.contains("memfd:")).count();
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    (mapped, descriptors)
}

/// Octets of memory that this process has.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.unwrap().split_whitespace().next().unwrap();
    kibibytes.parse::<usize>().unwrap() << 10
}

/// The memory that a process may take while peers come and go, beside that which the first tenth of them has made it take. A leak
/// of 2 KiB for each of ten thousand is more.
const GROWTH: usize = 16 << 20;

/// Watches the memory of this process over many peers.
#[derive(Default)]
struct Growth(Option<usize>);

impl Growth {
    /// Looks at it behind one of the peers.
    fn look(&mut self, peer: u64) {
        let now = resident();
        if peer < peers() / 10 {
            return;
        }
        let first = *self.0.get_or_insert(now);
        assert!(
            now < first + GROWTH,
            "{now} octets after {first}, behind {peer} peers"
        );
    }
}

/// Calls of a peer that are in flight when it is killed.
const IN_FLIGHT: u64 = 16;

/// Runs a test of this file as a process of its own, which kills itself.
fn process(name: &str, seed: u64, of: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("ZORB_SHM_STORM", format!("{seed} {of}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the process was told.
fn told() -> (Random, String) {
    let told = std::env::var("ZORB_SHM_STORM").unwrap();
    let (seed, of) = told.split_once(' ').unwrap();
    (Random(seed.parse().unwrap()), of.to_owned())
}

/// Kills this process within some ten milliseconds: from before it has an ORB to the middle of its calls.
fn kill_soon(random: &mut Random) {
    let steps = random.below(400_000);
    std::thread::spawn(move || {
        for _ in 0..steps {
            std::hint::spin_loop();
        }
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_are_killed_at_any_point_leave_nothing_behind() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server");
    let (server, reference) = server(path.to_str().unwrap()).await;
    let (honest, echo) = client(&reference).await;
    let mut random = Random(1);
    call(&echo, &mut random).await.unwrap();
    let (before, memory) = (held(), server.memory_octets());
    let mut growth = Growth::default();
    for seed in 0..peers() {
        let mut killed = process("a_client_that_kills_itself", seed, &reference);
        call(&echo, &mut random).await.unwrap();
        let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines();
        // Half of them begin while another one ends.
        if seed % 2 == 0 {
            while let Some(Ok(_)) = lines.next() {}
        }
        killed.wait().unwrap();
        call(&echo, &mut random).await.unwrap();
        growth.look(seed);
    }
    while held().0 > before.0 || held().1 > before.1 || server.memory_octets() > memory + IN_USE {
        tokio::task::yield_now().await;
    }
    call(&echo, &mut random).await.unwrap();
    honest.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process of another test"]
async fn a_client_that_kills_itself() {
    let (mut random, reference) = told();
    kill_soon(&mut random);
    let (_client, echo) = client(&reference).await;
    let calls = (0..IN_FLIGHT).map(|n| {
        let (echo, mut random) = (echo.clone(), Random(random.next() ^ n));
        tokio::spawn(async move {
            loop {
                let _ = call(&echo, &mut random).await;
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let _ = call.await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_are_killed_at_any_point_end_the_calls_of_their_clients() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let mut before = None;
    let mut growth = Growth::default();
    for seed in 0..peers() {
        let path = folder.path().join(seed.to_string());
        let mut killed = process("a_server_that_kills_itself", seed, path.to_str().unwrap());
        let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines();
        let reference = loop {
            match lines.next() {
                Some(Ok(line)) if line.starts_with("IOR:") => break Some(line),
                Some(Ok(_)) => {}
                _ => break None,
            }
        };
        if let Some(reference) = reference {
            let (client, echo) = client(&reference).await;
            let calls = (0..IN_FLIGHT).map(|n| {
                let (echo, mut random) = (echo.clone(), Random(seed << 8 | n));
                tokio::spawn(async move {
                    loop {
                        if let Err(error) = call(&echo, &mut random).await {
                            break error;
                        }
                    }
                })
            });
            for call in calls.collect::<Vec<_>>() {
                let error = call.await.unwrap();
                let kinds = [
                    SystemExceptionKind::CommFailure,
                    SystemExceptionKind::Transient,
                ];
                assert!(kinds.contains(&error.kind), "{error:#}");
            }
            drop(echo);
            client.shutdown(true).await.unwrap();
        }
        drop(lines);
        killed.wait().unwrap();
        // The name of its socket is all that is left; the next server of that name would take it over.
        let _ = std::fs::remove_file(&path);
        growth.look(seed);
        // What the process holds once all is over, and each time again.
        let now = held();
        match before {
            None => before = Some(now),
            Some(before) => {
                while held().0 > before.0 || held().1 > before.1 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process of another test"]
async fn a_server_that_kills_itself() {
    let (mut random, path) = told();
    let (server, reference) = server(&path).await;
    println!("\n{reference}");
    kill_soon(&mut random);
    server.run().await;
}

/// Writes garbage into memory: mostly into the words of the rings, and near what may be true.
fn scribble(memory: &OwnedFd, random: &mut Random) {
    for _ in 0..random.below(40) {
        let (at, value) = match random.below(3) {
            0 => (4096 + random.below(8192), random.next() as u32),
            1 => (random.below(12) * 128, random.next() as u32),
            _ => (random.below(12) * 128, random.below(9000) as u32),
        };
        rustix::io::pwrite(memory, &value.to_ne_bytes(), at as u64).unwrap();
    }
}

fn hello() -> Vec<u8> {
    let numbers = [*b"ZSHM", 3_u32.to_le_bytes(), 4096_u32.to_le_bytes()].concat();
    [&numbers[..], &[0; 24]].concat()
}

fn offer(stream: &UnixStream, hello: &[u8], descriptors: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(descriptors)));
    let hello = [IoSlice::new(hello)];
    rustix::net::sendmsg(stream, &hello, &mut ancillary, SendFlags::NOSIGNAL).unwrap();
}

fn memory() -> OwnedFd {
    use rustix::fs::{MemfdFlags, SealFlags};
    let memory = rustix::fs::memfd_create(c"of a test", MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&memory, 4096 * 3).unwrap();
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&memory, seals).unwrap();
    memory
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_write_garbage_harm_nobody() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server");
    let (server, reference) = server(path.to_str().unwrap()).await;
    let (honest, echo) = client(&reference).await;
    let mut random = Random(2);
    call(&echo, &mut random).await.unwrap();
    let (before, octets) = (held(), server.memory_octets());
    for _ in 0..peers() {
        let memory = memory();
        let (room, other) = UnixStream::pair().unwrap();
        let hostile = UnixStream::connect(&path).unwrap();
        offer(&hostile, &hello(), &[memory.as_fd(), room.as_fd()]);
        for _ in 0..random.below(6) {
            scribble(&memory, &mut random);
            let bell = [0; 3];
            // The server may have closed them.
            let _ = rustix::net::send(&hostile, &bell, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
            let _ = rustix::net::send(&other, &bell, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
            call(&echo, &mut random).await.unwrap();
        }
    }
    while held().0 > before.0 || held().1 > before.1 || server.memory_octets() > octets + IN_USE {
        tokio::task::yield_now().await;
    }
    call(&echo, &mut random).await.unwrap();
    honest.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

/// Accepts a client's hello, and returns it with its memory.
fn accept(listener: &UnixListener) -> (UnixStream, Vec<u8>, Vec<OwnedFd>) {
    let (client, _) = listener.accept().unwrap();
    let mut octets = [0; 64];
    let mut descriptors = Vec::new();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut octets)];
    let received = rustix::net::recvmsg(&client, &mut into, &mut ancillary, RecvFlags::empty());
    let received = received.unwrap().bytes;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    (client, octets[..received].to_vec(), descriptors)
}

fn hostile_server(path: &Path) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        let mut random = Random(3);
        for _ in 0..peers() {
            let (client, _, descriptors) = accept(&listener);
            // Its memory was taken.
            let _ = rustix::net::send(&client, &[0], SendFlags::NOSIGNAL);
            for _ in 0..random.below(6) {
                scribble(&descriptors[0], &mut random);
                let _ =
                    rustix::net::send(&client, &[0; 3], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                std::thread::yield_now();
            }
            // Its end.
            drop(client);
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_write_garbage_end_the_calls_of_their_clients() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    // The reference of an honest server, behind which there is another one.
    let path = folder.path().join("server");
    let (server, reference) = server(path.to_str().unwrap()).await;
    server.shutdown(true).await.unwrap();
    let _ = std::fs::remove_file(&path);
    let hostile = hostile_server(&path);
    let mut random = Random(4);
    let mut ended = 0;
    while !hostile.is_finished() {
        let (client, echo) = client(&reference).await;
        let calls = (0..3).map(|n| {
            let (echo, mut random) = (echo.clone(), Random(random.next() ^ n));
            tokio::spawn(async move { call(&echo, &mut random).await })
        });
        for call in calls.collect::<Vec<_>>() {
            ended += usize::from(call.await.unwrap().is_err());
        }
        drop(echo);
        client.shutdown(true).await.unwrap();
    }
    hostile.join().unwrap();
    assert!(ended > 0);
}

/// Connects clients to a server, passes their bells on, and writes garbage into the memory of both while they talk.
fn meddler(at: &Path, server: PathBuf) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(at).unwrap();
    std::thread::spawn(move || {
        let mut random = Random(5);
        for _ in 0..peers() {
            let (client, hello, descriptors) = accept(&listener);
            let server = UnixStream::connect(&server).unwrap();
            let passed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
            offer(&server, &hello, &passed);
            let mut is_over = false;
            // The answer, and calls, before the first garbage.
            let mut scribbles = random.below(200);
            while !is_over && scribbles < 220 {
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let mut bells = [0; 64];
                    match rustix::net::recv(from, &mut bells, RecvFlags::DONTWAIT) {
                        Ok((0, _)) => is_over = true,
                        Ok((octets, _)) => {
                            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
                            let _ = rustix::net::send(to, &bells[..octets], flags);
                        }
                        Err(rustix::io::Errno::AGAIN) => std::thread::yield_now(),
                        Err(_) => is_over = true,
                    }
                }
                scribbles += 1;
                if scribbles > 200 {
                    scribble(&descriptors[0], &mut random);
                }
            }
        }
    })
}

/// Both ends of a connection at the same time read what neither has written, at any point of their calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_in_the_memory_of_two_that_talk_harms_no_other_connection() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    // The name in the reference is the meddler's; the server has another one by then.
    let (name, moved) = (folder.path().join("server"), folder.path().join("moved"));
    let (server, reference) = server(name.to_str().unwrap()).await;
    let (honest, echo) = client(&reference).await;
    let mut random = Random(6);
    call(&echo, &mut random).await.unwrap();
    std::fs::rename(&name, &moved).unwrap();
    let meddler = meddler(&name, moved.clone());
    let (before, octets) = (held(), server.memory_octets());
    let mut growth = Growth::default();
    let mut peer = 0;
    while !meddler.is_finished() {
        let (disturbed, mirror) = client(&reference).await;
        let calls: Vec<_> = (0..3)
            .map(|n| {
                let (mirror, mut random) = (mirror.clone(), Random(random.next() ^ n));
                tokio::spawn(async move {
                    let octets = vec![1; random.below(20_000)];
                    // What comes back may be garbage, and may be missing: the connection ends then, or this end.
                    while mirror.echo(&octets).await.is_ok() {}
                })
            })
            .collect();
        // Meanwhile the honest connection is served.
        for _ in 0..5 {
            call(&echo, &mut random).await.unwrap();
        }
        for call in &calls {
            call.abort();
        }
        drop(mirror);
        disturbed.shutdown(false).await.unwrap();
        growth.look(peer);
        peer += 1;
    }
    meddler.join().unwrap();
    while held().0 > before.0 || held().1 > before.1 || server.memory_octets() > octets + IN_USE {
        tokio::task::yield_now().await;
    }
    call(&echo, &mut random).await.unwrap();
    honest.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}
