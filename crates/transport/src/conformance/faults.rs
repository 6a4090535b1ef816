//! Checks of failures between the two ends, and of the octets that arrive.
//!
//! Between client and server is a relay over the transport itself: a server to the one and a client to the other. It
//! passes octets on late, in pieces, not at all for a while, or only a number of them. Frames are under the transport,
//! so only its fixture can lose and double them ([`Fixture::frames`]).
use std::{future::poll_fn, io, sync::Arc};

use bytes::BytesMut;
use tokio::{
    sync::Notify,
    task::{JoinHandle, spawn, yield_now},
};

use super::{
    BLOCK, Fixture, accept, connected, listening, pattern, read, read_exactly, read_to_end,
    write_all,
};
use crate::Connection;

/// Faults of the frames that carry a transport's octets, for transports that have frames of their own under their
/// connections and have to repair their loss.
pub trait FrameFaults: Send + Sync {
    /// Loses one of `of` frames from now on; 0: none.
    fn lose(&self, of: u32);
    /// Delivers one of `of` frames twice from now on; 0: none.
    fn double(&self, of: u32);
    /// Returns how many frames were lost so, in all.
    fn lost(&self) -> u64;
    /// Returns how many frames were delivered twice so, in all.
    fn doubled(&self) -> u64;
}

/// Ends the faults when it is dropped, so that a check that fails leaves none to those behind it.
struct Faulty<'a>(&'a dyn FrameFaults);

impl Drop for Faulty<'_> {
    fn drop(&mut self) {
        self.0.lose(0);
        self.0.double(0);
    }
}

/// The fault of a relay on octets from the client to the server.
#[derive(Default)]
struct Plan {
    /// Most octets at a time, with a turn of the runtime between them; 0: as they come.
    piece: usize,
    /// Ends both connections when this many octets have been passed on.
    cut: Option<usize>,
    /// Passes nothing on before this is notified.
    stall: Option<Arc<Notify>>,
}

/// A client, a relay that follows a [`Plan`], and a server.
struct Relayed {
    client: Box<dyn Connection>,
    server: Box<dyn Connection>,
    relay: JoinHandle<()>,
}

async fn relayed(fixture: &dyn Fixture, plan: Plan) -> Relayed {
    let (transport, front) = listening(fixture).await;
    let back = transport
        .listen(&fixture.endpoint())
        .await
        .expect("a free endpoint");
    let client = transport
        .connect(front.endpoint())
        .await
        .expect("a connection");
    let near = accept(&*front).await;
    let far = transport
        .connect(back.endpoint())
        .await
        .expect("a connection");
    let server = accept(&*back).await;
    let relay = spawn(async move {
        // The ends of the relay stay open until it has finished.
        let _ = pass_on(&*near, &*far, plan).await;
    });
    Relayed {
        client,
        server,
        relay,
    }
}

async fn pass_on(near: &dyn Connection, far: &dyn Connection, plan: Plan) -> io::Result<()> {
    if let Some(go) = &plan.stall {
        go.notified().await;
    }
    let mut left = plan.cut.unwrap_or(usize::MAX);
    while left > 0 {
        let most = if plan.piece > 0 { plan.piece } else { BLOCK };
        let mut octets = BytesMut::with_capacity(most.min(left));
        if read(near, &mut octets).await? == 0 {
            break;
        }
        // A buffer may have more room than was asked for.
        octets.truncate(left);
        left -= octets.len();
        write_all(far, &octets).await?;
        if plan.piece > 0 {
            yield_now().await;
        }
    }
    far.shutdown_write()
}

/// Reads octets up to the end of the stream or an error.
async fn read_until_over(connection: &dyn Connection) -> Vec<u8> {
    let mut octets = BytesMut::new();
    loop {
        octets.reserve(BLOCK);
        match read(connection, &mut octets).await {
            Ok(0) | Err(_) => return octets.into(),
            Ok(_) => {}
        }
    }
}

pub async fn octets_that_come_late_and_in_pieces_are_all_there_in_order(fixture: &dyn Fixture) {
    for piece in [1, 7, 1_000] {
        let plan = Plan {
            piece,
            ..Plan::default()
        };
        let Relayed {
            client,
            server,
            relay,
        } = relayed(fixture, plan).await;
        let sent = pattern(piece, fixture.turns());
        write_all(&*client, &sent)
            .await
            .expect("a writable connection");
        client.shutdown_write().expect("an open connection");
        assert_eq!(read_to_end(&*server).await, sent);
        relay.await.expect("a relay");
    }
}

pub async fn a_connection_that_is_cut_at_any_octet_gives_what_came_before_it_and_ends(
    fixture: &dyn Fixture,
) {
    let sent = pattern(3, CUT_MESSAGE);
    for cut in 0..=sent.len() {
        let plan = Plan {
            cut: Some(cut),
            ..Plan::default()
        };
        let Relayed {
            client,
            server,
            relay,
        } = relayed(fixture, plan).await;
        // The write fails where the relay has cut the connection already.
        let _ = write_all(&*client, &sent).await;
        let received = read_until_over(&*server).await;
        assert_eq!(received, sent[..cut], "cut after {cut} octets");
        relay.await.expect("a relay");
        // The writer gets the end of the stream, too.
        assert_eq!(read_until_over(&*client).await, b"");
    }
}

pub async fn a_stalled_peer_holds_the_writer_up_and_loses_nothing(fixture: &dyn Fixture) {
    let large = fixture.large();
    let go = Arc::new(Notify::new());
    let plan = Plan {
        stall: Some(Arc::clone(&go)),
        ..Plan::default()
    };
    let Relayed {
        client,
        server,
        relay,
    } = relayed(fixture, plan).await;
    let writer = spawn(async move {
        let mut written = 0;
        // Writes until nothing fits any more.
        loop {
            let block = pattern(written, BLOCK);
            match client.try_write(&[io::IoSlice::new(&block)]) {
                Ok(taken) => written += taken,
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    break;
                }
            }
        }
        go.notify_one();
        poll_fn(|cx| client.poll_write_ready(cx))
            .await
            .expect("a connection that can be waited for");
        write_all(&*client, &pattern(written, large))
            .await
            .expect("a writable connection");
        client.shutdown_write().expect("an open connection");
        (client, written + large)
    });
    let received = read_to_end(&*server).await;
    let (_client, written) = writer.await.expect("a writer");
    assert_eq!(received.len(), written);
    assert!(received == pattern(0, written), "in order, none missing");
    relay.await.expect("a relay");
}

pub async fn frames_that_are_lost_or_doubled_are_made_good(fixture: &dyn Fixture) {
    let frames = fixture
        .frames()
        .expect("control over frames, as the word `frames` beside the fixture says");
    for (lose, double) in [(10, 0), (0, 3), (7, 5)] {
        let (client, server) = connected(fixture).await;
        let ends: [Arc<dyn Connection>; 2] = [client.into(), server.into()];
        let before = (frames.lost(), frames.doubled());
        let faulty = Faulty(frames);
        frames.lose(lose);
        frames.double(double);
        let mut tasks = Vec::new();
        for (seed, writer, reader) in [(1, 0, 1), (2, 1, 0)] {
            let (writer, reader) = (Arc::clone(&ends[writer]), Arc::clone(&ends[reader]));
            tasks.push(spawn(async move {
                write_all(&*writer, &pattern(seed, FAULTY))
                    .await
                    .expect("a writable connection");
            }));
            tasks.push(spawn(async move {
                let received = read_exactly(&*reader, FAULTY).await;
                assert!(received == pattern(seed, FAULTY), "every octet, in order");
            }));
        }
        for task in tasks {
            task.await.expect("both ends get through");
        }
        drop(faulty);
        // Octets that arrive through no fault prove nothing.
        let seen = (frames.lost() > before.0, frames.doubled() > before.1);
        assert_eq!(seen, (lose > 0, double > 0), "frames lost, and doubled");
    }
}

/// Octets each way through faults: more than ten frames of 32 KiB, one of which is lost.
const FAULTY: usize = 350_000;

/// Octets of the message that is cut at each of them: a request's header and a little more.
const CUT_MESSAGE: usize = 96;
