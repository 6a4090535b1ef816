//! Other ORBs' clients on our server while others bother it: programs that speak no GIOP, or speak it
//! wrongly, or stop in the middle. The clients notice nothing.

use crate::interop::jacorb::JACORB;
use crate::interop::omniorb::OMNIORB;
use crate::interop::server;
use crate::matrix::{OURS, Talk, run_client};
use crate::peers::{Brand, Over, profile};
use crate::support::{HANG, passed};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use zorb::{Interface, Version};
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::{RequestBuilder, ResponseFlags};

/// How long a liar rests between two lies: there are only so many ports.
const REST: Duration = Duration::from_millis(5);

/// The malformed messages, each on a connection of its own.
struct Lie {
    what: &'static str,
    octets: Vec<u8>,
    /// Whether the stream ends here behind it, or stays open until something comes back.
    ends: bool,
}

/// A message of GIOP 1.2, little-endian, with any body, which may say any size.
fn message(kind: u8, size: u32, body: &[u8]) -> Vec<u8> {
    let header = [b'G', b'I', b'O', b'P', 1, 2, 1, kind];
    [&header, &size.to_le_bytes()[..], body].concat()
}

/// A call of `take_octets` that says its sequence has that many elements, and has none.
fn empty_promise(key: &[u8], elements: u32) -> Vec<u8> {
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 1,
        response: ResponseFlags::WithTarget,
        key,
        operation: "take_octets",
        contexts: &[],
    };
    let encoder = Encoder::<LittleEndian>::new(WireFormat::default());
    let octets = request.encode(encoder, |e| e.put(&elements));
    octets.expect("it can be encoded").to_vec()
}

fn lies(key: &[u8]) -> Vec<Lie> {
    let promise = empty_promise(key, u32::MAX);
    let half = promise[..promise.len() / 2].to_vec();
    let lie = |what, octets| Lie {
        what,
        octets,
        ends: false,
    };
    vec![
        lie("another protocol", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        lie("a message of 4 GiB", message(0, u32::MAX, &[])),
        lie("a request of nothing but ones", message(0, 64, &[0xff; 64])),
        lie("a request without a body", message(0, 0, &[])),
        lie("a kind that there is not", message(42, 0, &[])),
        lie("a reply without a caller", message(1, 8, &[7; 8])),
        lie("a sequence that is not there", promise),
        Lie {
            ends: true,
            ..lie("half a request", half)
        },
        Lie {
            ends: true,
            ..lie("the end of something", message(7, 8, &[1; 8]))
        },
    ]
}

/// Sends that message again and again, and counts how often the server has ended the connection.
async fn tell(server: SocketAddr, lie: Lie, counter: watch::Sender<u32>) {
    loop {
        let stream = TcpStream::connect(server).await;
        let mut stream = stream.expect("the server takes all connections");
        let telling = async {
            stream.write_all(&lie.octets).await?;
            if lie.ends {
                stream.shutdown().await?;
            }
            // An answer, or the end: which one is for tests/orb/hostile.
            stream.read(&mut [0; 256]).await
        };
        let outcome = tokio::time::timeout(HANG, telling).await;
        // The server may end the connection before all is written.
        let _ = outcome.unwrap_or_else(|_| panic!("{}: the server says nothing", lie.what));
        counter.send_modify(|times| *times += 1);
        tokio::time::sleep(REST).await;
    }
}

/// The other ORB's client passes these cells while all of them lie.
async fn bystander(brand: &'static Brand, args: &[&str]) {
    let talk = Talk {
        setting: "liars",
        ..Talk::new("1.2", Over::Tcp)
    };
    let prefix = talk.prefix((brand.name, brand.order), OURS);
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let (orb, _folder) = talk.listen().await;
    let peer = server::serve(&orb);
    let body = profile(peer.as_object().ior());
    let at = format!("{}:{}", body.address.host, body.address.port);
    let at: SocketAddr = at.parse().expect("an address");

    // One that begins a request and never goes on.
    let mut slow = TcpStream::connect(at).await.expect("the server listens");
    let beginning = message(0, 1000, &[0; 20]);
    slow.write_all(&beginning).await.expect("it reads");

    let mut liars = JoinSet::new();
    let mut counts = Vec::new();
    for lie in lies(&body.object_key) {
        let (counter, count) = watch::channel(0);
        counts.push(count);
        liars.spawn(tell(at, lie, counter));
    }
    for count in &mut counts {
        count.wait_for(|&times| times > 0).await.expect("it lies");
    }
    let lies_so_far = || counts.iter().map(|count| *count.borrow()).sum::<u32>();

    let before = lies_so_far();
    let cells = [
        "basic",
        "structs",
        "references",
        "callbacks",
        "gates",
        "concurrent",
    ];
    let mut all: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    for cell in cells {
        all.extend(["--cell", cell].map(str::to_owned));
    }
    let lines = run_client(&programs.client, &orb.object_to_string(&peer), &all);
    for cell in cells {
        let ok = format!("cell {cell} ok");
        assert!(lines.contains(&ok), "{prefix}\n{}", lines.join("\n"));
    }
    assert!(lies_so_far() > before, "{prefix}: no such message was sent");
    assert!(liars.try_join_next().is_none(), "{prefix}: all go on lying");
    liars.shutdown().await;
    drop(slow);
    for cell in cells {
        passed(&format!("{prefix}/{cell}"));
    }
    orb.shutdown(true).await.expect("outside any upcall");
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_notices_nothing_of_liars() {
    bystander(&OMNIORB, &["--tcs", "utf8"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_notices_nothing_of_liars() {
    bystander(&JACORB, &[]).await;
}
