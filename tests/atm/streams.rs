//! Streams of frames straight over AAL5, without the session layer: begun, paced and ended by calls over another circuit.

use crate::atm;
use crate::faults::{Fault, have_atm};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use zorb::{Orb, SystemException};
use zorb_atm::{CircuitId, FrameSocket, Quality};
use zorb_frames::{Assembler, Limits, Splitter};

zorb::idl! {
    module Streams {
        interface Film {
            // So many frames a second, of so many octets.
            unsigned long start(in unsigned long rate, in unsigned long octets);
            void set_rate(in unsigned long rate);
            unsigned long stop();
        };
    };
}

use streams::{Film, FilmRef, FilmServant};

/// Octets of a frame of AAL5: those of a film have three pieces or four.
const SDU: usize = 9_180;

struct Playing {
    rate: AtomicU32,
    is_over: AtomicBool,
}

struct Projector {
    circuit: CircuitId,
    playing: Mutex<Option<(Arc<Playing>, JoinHandle<u32>)>>,
}

fn open(circuit: CircuitId) -> FrameSocket {
    FrameSocket::open(circuit, &Quality::default(), 4 << 20).unwrap()
}

fn play(socket: &FrameSocket, stream: u32, octets: usize, playing: &Playing) -> u32 {
    let mut splitter = Splitter::new(stream, SDU).unwrap();
    let mut timestamp = 0;
    while !playing.is_over.load(Ordering::Relaxed) {
        let between = Duration::from_secs(1) / playing.rate.load(Ordering::Relaxed);
        std::thread::sleep(between);
        timestamp += between.as_micros() as u64;
        let picture = vec![splitter.next_sequence() as u8; octets];
        let _ = splitter.send(timestamp, &picture, |frame| socket.send(frame));
    }
    splitter.next_sequence()
}

impl Film for Projector {
    async fn start(&self, rate: u32, octets: u32) -> Result<u32, SystemException> {
        let stream = 0x5eed;
        let playing = Arc::new(Playing {
            rate: rate.into(),
            is_over: false.into(),
        });
        let (own, socket) = (Arc::clone(&playing), open(self.circuit));
        let task = std::thread::spawn(move || play(&socket, stream, octets as usize, &own));
        *self.playing.lock().unwrap() = Some((playing, task));
        Ok(stream)
    }

    async fn set_rate(&self, rate: u32) -> Result<(), SystemException> {
        if let Some((playing, _)) = &*self.playing.lock().unwrap() {
            playing.rate.store(rate, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn stop(&self) -> Result<u32, SystemException> {
        let (playing, task) = self.playing.lock().unwrap().take().unwrap();
        playing.is_over.store(true, Ordering::Relaxed);
        Ok(task.join().unwrap())
    }
}

/// Takes what comes until so many frames have come, or until nothing comes any more.
fn watch(socket: &FrameSocket, assembler: &mut Assembler, frames: u64, newest: &mut Option<u32>) {
    let mut datagram = Vec::new();
    while assembler.counts().frames < frames && socket.receive(&mut datagram).unwrap() {
        let Some(frame) = assembler.take(&datagram) else {
            continue;
        };
        assert!(newest.is_none_or(|newest| newest < frame.sequence));
        assert!(frame.octets == vec![frame.sequence as u8; 30_000]);
        *newest = Some(frame.sequence);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_film_over_aal5_goes_on_behind_frames_that_are_lost_and_doubled() {
    if !have_atm("streams") {
        return;
    }
    let [far, near] = [1, 0].map(|interface| CircuitId::new(interface, 0, 390).unwrap());
    let server = Orb::builder().transport(atm());
    let server = server.listen("atm://1.0.391?peer=0.0.391");
    let server = server.build().await.unwrap();
    let film = FilmServant::new(Projector {
        circuit: far,
        playing: Mutex::default(),
    });
    let film = server.root_poa().activate(film).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().transport(atm()).build().await.unwrap();
    let film = client.string_to_object(&film.to_string()).await.unwrap();
    let film: FilmRef = film.unchecked_narrow();

    let socket = open(near);
    socket
        .set_receive_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let _lost = Fault::set("drop_every", 10);
    let _doubled = Fault::set("double_every", 7);
    let stream = film.start(20, 30_000).await.unwrap();
    let mut assembler = Assembler::new(stream, Limits::default());
    let mut newest = None;
    tokio::task::block_in_place(|| watch(&socket, &mut assembler, 10, &mut newest));
    film.set_rate(100).await.unwrap();
    tokio::task::block_in_place(|| watch(&socket, &mut assembler, 60, &mut newest));
    let sent = film.stop().await.unwrap();
    socket
        .set_receive_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    tokio::task::block_in_place(|| watch(&socket, &mut assembler, u64::MAX, &mut newest));
    let counts = assembler.counts();
    assert!(
        counts.frames >= 60 && counts.lost > 0 && counts.doubled > 0,
        "{counts:?}"
    );
    // Of each frame that is lost a part has come; the last one may wait for its end.
    assert!(counts.broken >= counts.lost, "{counts:?}");
    assert_eq!((counts.late, counts.refused), (0, 0), "{counts:?}");
    assert!(u64::from(sent) >= counts.frames + counts.lost);
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}
