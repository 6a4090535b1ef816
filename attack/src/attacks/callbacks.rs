//! References that lead a server to many places.

use super::hosts::first_calls;
use crate::Failure;
use crate::report::{Aim, count};
use crate::scene::{Scene, connections, honest_host};
use crate::wire::{Caller, Target, header, host};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use zorb_giop::ior::{IiopAddress, ProfileBody};
use zorb_giop::{HEADER_LEN, Ior, MessageKind, Version};

/// The group of the attacker's addresses.
const ATTACKER: u8 = 16;
/// The group of the addresses of listeners that answer.
const LISTENERS: u8 = 17;
/// Descriptors of the victim: fewer than there are addresses.
pub(super) const DESCRIPTORS: u64 = 2_048;
/// Connections that an ORB opens to other ORBs: half of its descriptors.
const MOST_OUTGOING: usize = DESCRIPTORS as usize / 2;

/// References between two looks at the victim's descriptors.
const LOOK: usize = 16;

/// A reference to an object at an address.
fn reference(host: Ipv4Addr, port: u16) -> Result<Ior, Failure> {
    let body = ProfileBody {
        version: Version::V1_2,
        address: IiopAddress {
            host: host.to_string(),
            port,
        },
        object_key: zorb::Bytes::from_static(b"listener"),
        components: Vec::new(),
    };
    Ok(Ior {
        type_id: "IDL:Attacked/Listener:1.0".to_owned(),
        profiles: vec![body.to_tagged()?],
    })
}

/// Hands a reference in.
fn hand_in(caller: &mut Caller, target: &Target, reference: &Ior) -> Result<(), Failure> {
    let request = target.request(1, "call_back", |e| e.put(reference))?;
    caller.call(&request)?.result()
}

/// References to 3,000 addresses at which a listener accepts connections and sends nothing; then to a hundred that answer.
pub(crate) fn addresses(scene: &mut Scene) -> Result<(), Failure> {
    let references = connections(scene.sized(3_000, 1_200));
    // A listener of all addresses of this machine.
    let silent = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let port = silent.local_addr()?.port();
    let (sender, accepted) = channel::<TcpStream>();
    // It ends with the process: nothing else wakes it.
    thread::spawn(move || {
        for stream in silent.incoming().flatten() {
            if sender.send(stream).is_err() {
                break;
            }
        }
    });
    let first = scene.rng.usize(..50_000);
    let mut caller = scene.target.caller(host(ATTACKER, 0))?;
    let mut taken = 0;
    for n in 0..references {
        hand_in(
            &mut caller,
            &scene.target,
            &reference(host(ATTACKER, first + n), port)?,
        )?;
        if n % LOOK == 0 {
            taken = taken.max(scene.victim.descriptors()?);
        }
    }
    thread::sleep(Duration::from_millis(500));
    taken = taken.max(scene.victim.descriptors()?);
    let outgoing = taken.saturating_sub(scene.descriptors);
    let aim = Aim::AtMost(count(MOST_OUTGOING + 16));
    scene.report.row(
        "descriptors",
        count(outgoing),
        aim,
        "of connections that references led to",
    );
    let clients = scene.sized(50, 10);
    let (served, _) = first_calls(scene, clients)?;
    scene.report.passed("clients-served", served, clients);
    drop(accepted);
    honest(scene)
}

/// A hundred listeners that answer hear what they should.
fn honest(scene: &Scene) -> Result<(), Failure> {
    const EXPECTED: usize = 100;
    // As long as the victim waits for those that say nothing.
    const PATIENCE: Duration = Duration::from_secs(30);
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || hear(stream));
        }
    });
    let mut caller = scene.target.caller(honest_host(6))?;
    for n in 0..EXPECTED {
        hand_in(
            &mut caller,
            &scene.target,
            &reference(host(LISTENERS, n), port)?,
        )?;
    }
    let request = scene.target.request(1, "heard", |_| Ok(()))?;
    let started = Instant::now();
    let heard = loop {
        let heard: u32 = caller.call(&request)?.result()?;
        let heard = usize::try_from(heard)?;
        if heard >= EXPECTED || started.elapsed() > PATIENCE {
            break heard;
        }
        thread::sleep(Duration::from_millis(50));
    };
    scene.report.passed("callbacks-heard", heard, EXPECTED);
    Ok(())
}

/// Answers every request on a connection with nothing.
fn hear(mut stream: TcpStream) -> Result<(), Failure> {
    /// How long a connection is kept without a request.
    const IDLE: Duration = Duration::from_secs(3);
    stream.set_read_timeout(Some(IDLE))?;
    loop {
        let mut first = [0; HEADER_LEN];
        stream.read_exact(&mut first)?;
        let size = first
            .last_chunk::<4>()
            .map_or(0, |size| u32::from_le_bytes(*size));
        let mut body = vec![0; usize::try_from(size)?];
        stream.read_exact(&mut body)?;
        // The request id stands first, and the reply has it first too; then no exception, no contexts.
        let id = body.first_chunk::<4>().ok_or("a request without id")?;
        let reply = [&header(MessageKind::Reply, 12)[..], id, &[0; 8]].concat();
        stream.write_all(&reply)?;
    }
}
