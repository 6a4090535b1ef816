//! Values travel as they lie in memory where both programs have the same layout of them, and in CDR everywhere else.

use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zorb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Interception, ServerRequestInfo,
    ServerRequestInterceptor,
};
use zorb::transport::{Tcp, Transport, Unix};
use zorb::{IdAssignment, Interface, Lifespan, Policies, SyncScope, SystemExceptionKind};
use zorb_native::Native;

mod first {
    zorb::idl! {
        #![idl(in_memory("Store::Place", "Store::Track"))]
        module Store {
            enum Kind { plain, dashed };
            struct Corner { short x; short y; };
            struct Place { short row; char side; long at; octet mark; double weight; };
            struct Track { boolean valid; octet channel[3]; Kind what; Corner corners[2]; };
            typedef sequence<Place> Places;
            typedef sequence<Track, 1000> Tracks;
            interface Shelf {
                Places turn(in Places what);
                Tracks along(in Tracks what, in string name, out string back);
                Place find(in Track along, inout Place where);
                string echo(in string text);
                oneway void drop(in Places what);
                unsigned long dropped();
                attribute Place front;
            };
        };
    }
}

/// Another program: a place has its row and its time the other way round, and is not the same in memory.
mod second {
    zorb::idl! {
        #![idl(in_memory("Store::Place"))]
        module Store {
            struct Place { short row; octet side; long at; octet mark; double weight; };
            typedef sequence<Place> Places;
            interface Shelf {
                Places turn(in Places what);
                string echo(in string text);
                oneway void drop(in Places what);
                unsigned long dropped();
            };
        };
    }
}

use first::store::{self, Corner, Kind, Place, ShelfRef, Track};

type Outcome<T> = Result<T, zorb::SystemException>;

#[derive(Default)]
struct Shelf {
    dropped: AtomicUsize,
    front: Mutex<Option<Place>>,
}

impl store::Shelf for Shelf {
    async fn turn(&self, what: &[Place]) -> Outcome<Vec<Place>> {
        Ok(what.iter().rev().copied().collect())
    }

    async fn along(&self, what: &[Track], name: &str) -> Outcome<(Vec<Track>, String)> {
        Ok((what.to_vec(), name.chars().rev().collect()))
    }

    async fn find(&self, along: &Track, place: &Place) -> Outcome<(Place, Place)> {
        let found = Place {
            row: along.corners[1].y,
            ..*place
        };
        Ok((found, *place))
    }

    async fn echo(&self, text: &str) -> Outcome<String> {
        Ok(text.to_owned())
    }

    async fn drop(&self, what: &[Place]) -> Outcome<()> {
        self.dropped.fetch_add(what.len(), Ordering::Relaxed);
        Ok(())
    }

    async fn dropped(&self) -> Outcome<u32> {
        Ok(u32::try_from(self.dropped.load(Ordering::Relaxed)).unwrap())
    }

    async fn front(&self) -> Outcome<Place> {
        Ok(self.front.lock().unwrap().unwrap_or_else(|| place(0)))
    }

    async fn set_front(&self, place: &Place) -> Outcome<()> {
        *self.front.lock().unwrap() = Some(*place);
        Ok(())
    }
}

/// A servant of the other program.
struct Other;

impl second::store::Shelf for Other {
    async fn turn(&self, what: &[second::store::Place]) -> Outcome<Vec<second::store::Place>> {
        Ok(what.iter().rev().copied().collect())
    }

    async fn echo(&self, text: &str) -> Outcome<String> {
        Ok(format!("other {text}"))
    }

    async fn drop(&self, _: &[second::store::Place]) -> Outcome<()> {
        Ok(())
    }

    async fn dropped(&self) -> Outcome<u32> {
        Ok(0)
    }
}

fn native(over: impl Transport) -> Arc<dyn Transport> {
    Arc::new(Native::over(Arc::new(over)))
}

fn place(n: usize) -> Place {
    Place {
        row: n as i16,
        side: zorb::Char(n as u8 & 0x7f),
        at: -(n as i32),
        mark: n as u8,
        weight: n as f64 / 3.0,
    }
}

fn places(count: usize) -> Vec<Place> {
    (0..count).map(place).collect()
}

fn track(n: usize) -> Track {
    Track {
        valid: n % 2 == 1,
        channel: [n as u8; 3],
        what: if n.is_multiple_of(3) {
            Kind::Dashed
        } else {
            Kind::Plain
        },
        corners: [
            Corner { x: n as i16, y: 1 },
            Corner {
                x: 2,
                y: -(n as i16),
            },
        ],
    }
}

/// A server with an object of the id `shelf`.
async fn server(
    transport: Arc<dyn Transport>,
    endpoint: &str,
    configure: impl FnOnce(zorb::Builder) -> zorb::Builder,
) -> (zorb::Orb, zorb::Poa, String) {
    let orb = zorb::Orb::builder()
        .transport(transport)
        .server_id("shelves")
        .listen(endpoint);
    let orb = configure(orb).build().await.unwrap();
    let root = orb.root_poa();
    root.the_poa_manager().activate().unwrap();
    let policies = Policies::DEFAULT
        .with_id_assignment(IdAssignment::User)
        .with_lifespan(Lifespan::Persistent);
    let poa = root
        .create_poa_with("shelves", policies, Some(root.the_poa_manager()))
        .unwrap();
    let shelf = store::ShelfServant::new(Shelf::default());
    let shelf = poa.activate_object_with_id("shelf", shelf).unwrap();
    orb.key_table().bind("Shelf", &shelf).unwrap();
    let reference = orb.object_to_string(&shelf);
    (orb, poa, reference)
}

async fn client(transport: Arc<dyn Transport>, reference: &str) -> (zorb::Orb, ShelfRef) {
    let orb = zorb::Orb::builder().transport(transport).build();
    let orb = orb.await.unwrap();
    let object = orb.string_to_object(reference).await.unwrap();
    (orb, object.unchecked_narrow())
}

/// Every kind of call, until what the object has in memory is known, and after that.
async fn use_of(shelf: &ShelfRef) {
    for n in [0, 1, 17, 1_000, 4, 1_000] {
        let mut back = shelf.turn(&places(n)).await.unwrap();
        back.reverse();
        assert_eq!(back, places(n));
        let tracks: Vec<_> = (0..n).map(track).collect();
        let (back, name) = shelf.along(&tracks, "abc").await.unwrap();
        assert_eq!((back, &*name), (tracks, "cba"));
        let found = shelf.find(&track(n), &place(7)).await.unwrap();
        let row = -(n as i16);
        assert_eq!(found, (Place { row, ..place(7) }, place(7)));
        assert_eq!(shelf.echo("straße").await.unwrap(), "straße");
        shelf.set_front(&place(n)).await.unwrap();
        assert_eq!(shelf.front().await.unwrap(), place(n));
    }
    let too_many: Vec<_> = (0..1_001).map(track).collect();
    let refused = shelf.along(&too_many, "abc").await.unwrap_err();
    assert_eq!(refused.kind, SystemExceptionKind::BadParam);
    let calls = (0..64_usize).map(|n| {
        let shelf = shelf.clone();
        tokio::spawn(async move {
            let places = shelf.turn(&places(n * 20)).await.unwrap();
            assert_eq!(places.len(), n * 20);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let before = shelf.dropped().await.unwrap();
    for n in 0..300 {
        shelf.drop(&places(n)).await.unwrap();
    }
    while shelf.dropped().await.unwrap() < before + 300 * 299 / 2 {}
    let batched: ShelfRef = shelf.with_sync_scope(SyncScope::None);
    for n in 0..300 {
        batched.drop(&places(n % 50)).await.unwrap();
    }
    assert_eq!(
        shelf.echo("behind a batch").await.unwrap(),
        "behind a batch"
    );
    while shelf.dropped().await.unwrap() < before + 300 * 299 / 2 + 300 * 49 / 2 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_lie_in_memory_over_tcp_unix_sockets_and_shared_memory() {
    let folder = tempfile::tempdir().unwrap();
    let at = |scheme: &str| format!("{scheme}://{}", folder.path().join(scheme).display());
    let over = [
        (native(Tcp::default()), "iiop://127.0.0.1:0".to_owned()),
        (native(Unix::default()), at("uiop")),
        (native(zorb_shm::Shm::default()), at("shm")),
    ];
    for (transport, endpoint) in over {
        let (server, _, reference) = server(Arc::clone(&transport), &endpoint, |orb| orb).await;
        let (_client, shelf) = client(transport, &reference).await;
        use_of(&shelf).await;
        // And within the server.
        let object = server.string_to_object(&reference).await.unwrap();
        use_of(&object.unchecked_narrow()).await;
        server.shutdown(true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_and_alike_clients_share_a_server() {
    let (server, _, reference) =
        server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| orb).await;
    let (_plain, plain) = client(Arc::new(Tcp::default()), &reference).await;
    let (_alike, alike) = client(native(Tcp::default()), &reference).await;
    for shelf in [&plain, &alike, &plain, &alike] {
        use_of(shelf).await;
    }
    for n in 0..100 {
        let values = places(n);
        let (one, other) = tokio::join!(plain.turn(&values), alike.turn(&values));
        assert_eq!(one.unwrap(), other.unwrap());
    }
    server.shutdown(true).await.unwrap();
}

/// A relay to a server, which keeps what the client sends.
async fn relay(to: u16) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
            let keep = Arc::clone(&keep);
            tokio::spawn(async move {
                let mut octets = [0; 4096];
                while let Ok(read @ 1..) = from_client.read(&mut octets).await {
                    keep.lock().unwrap().extend_from_slice(&octets[..read]);
                    if to_server.write_all(&octets[..read]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, kept)
}

/// The object that the server knows by a name, by way of another port.
fn by_way_of(port: u16, name: &str) -> String {
    format!("corbaloc::1.2@127.0.0.1:{port}/{name}")
}

fn times(kept: &Mutex<Vec<u8>>, text: &str) -> usize {
    let kept = kept.lock().unwrap();
    kept.windows(text.len())
        .filter(|octets| *octets == text.as_bytes())
        .count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_asked_once_and_its_values_are_sent_without_marshalling() {
    let (server, _, _) = server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| orb).await;
    let (port, kept) = relay(server.endpoints()[0].port().unwrap()).await;
    let reference = by_way_of(port, "Shelf");
    let (_client, shelf) = client(native(Tcp::default()), &reference).await;
    let values = places(5_000);
    let octets = |kept: &Mutex<Vec<u8>>| kept.lock().unwrap().len();
    shelf.turn(&values).await.unwrap();
    let in_cdr = octets(&kept);
    assert!(in_cdr > 5_000 * 24);
    assert_eq!(times(&kept, "LAYOUT:turn/"), 0);
    shelf.turn(&values).await.unwrap();
    let first = octets(&kept);
    for _ in 0..10 {
        shelf.turn(&values).await.unwrap();
    }
    let in_memory = (octets(&kept) - first) / 10;
    assert!(
        (5_000 * 16..5_000 * 16 + 100).contains(&in_memory),
        "{in_memory}"
    );
    // The question, and the first call of the operation that has a number from then on.
    assert_eq!(
        (times(&kept, "LAYOUT:turn/"), times(&kept, "turn/")),
        (1, 2)
    );
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_layout_of_an_operation_is_called_in_cdr_and_no_call_is_lost() {
    let (server, poa, _) = server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| orb).await;
    let other = second::store::ShelfServant::new(Other);
    let other = poa.activate_object_with_id("other", other).unwrap();
    server.key_table().bind("Other", &other).unwrap();
    let (port, kept) = relay(server.endpoints()[0].port().unwrap()).await;
    let other = by_way_of(port, "Other");
    let (_client, other) = client(native(Tcp::default()), &other).await;
    for n in 0..10 {
        let mut back = other.turn(&places(n)).await.unwrap();
        back.reverse();
        assert_eq!(back, places(n));
        other.drop(&places(n)).await.unwrap();
    }
    // One question for each operation, that of a one-way one beside the calls.
    while times(&kept, "LAYOUT:") < 2 {
        other.turn(&[]).await.unwrap();
    }
    for n in 0..10 {
        other.turn(&places(n)).await.unwrap();
        other.drop(&places(n)).await.unwrap();
    }
    assert_eq!((times(&kept, "LAYOUT:"), times(&kept, "turn/")), (2, 1));
    // A servant in the place of another, on the same connection.
    let (_client, shelf) = client(native(Tcp::default()), &by_way_of(port, "Shelf")).await;
    use_of(&shelf).await;
    poa.deactivate_object_with_id("shelf").unwrap();
    poa.deactivation_ended("shelf").await;
    let servant = second::store::ShelfServant::new(Other);
    poa.activate_object_with_id("shelf", servant).unwrap();
    for n in 0..10 {
        assert_eq!(shelf.echo("me").await.unwrap(), "other me");
        let mut back = shelf.turn(&places(n)).await.unwrap();
        back.reverse();
        assert_eq!(back, places(n));
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_restarted_as_something_else_is_asked_anew() {
    let (mut orb, _, _) = server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| orb).await;
    let port = orb.endpoints()[0].port().unwrap();
    let reference = by_way_of(port, "Shelf");
    let (_client, shelf) = client(native(Tcp::default()), &reference).await;
    for as_what in ["plain", "other", "native", "other", "plain"] {
        for n in 0..5 {
            assert_eq!(shelf.turn(&places(n)).await.unwrap().len(), n);
        }
        orb.shutdown(true).await.unwrap();
        let transport = match as_what {
            "plain" => Arc::new(Tcp::default()) as Arc<dyn Transport>,
            _ => native(Tcp::default()),
        };
        let endpoint = format!("iiop://127.0.0.1:{port}");
        let poa;
        (orb, poa, _) = server(transport, &endpoint, |orb| orb).await;
        if as_what == "other" {
            poa.deactivate_object_with_id("shelf").unwrap();
            poa.deactivation_ended("shelf").await;
            let servant = second::store::ShelfServant::new(Other);
            poa.activate_object_with_id("shelf", servant).unwrap();
        }
    }
    assert_eq!(shelf.turn(&places(9)).await.unwrap().len(), 9);
    orb.shutdown(true).await.unwrap();
}

/// What an interceptor has seen.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note<T>(&self, operation: &str, arguments: Outcome<T>) {
        let arguments = match arguments {
            Ok(_) => "in CDR".to_owned(),
            Err(error) => format!("{:?}", error.kind),
        };
        self.0
            .lock()
            .unwrap()
            .push(format!("{operation} {arguments}"));
    }
}

impl ClientRequestInterceptor for Seen {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.note(info.operation(), info.arguments::<(Vec<Place>,)>());
        Interception::CONTINUE
    }
}

impl ServerRequestInterceptor for Seen {
    fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        self.note(info.operation(), info.arguments::<(Vec<Place>,)>());
        Interception::CONTINUE
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interceptors_see_the_operation_of_the_idl() {
    let (of_client, of_server) = (Seen::default(), Seen::default());
    let registered = of_server.clone();
    let (server, _, reference) = server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| {
        orb.server_interceptor(registered)
    })
    .await;
    let orb = zorb::Orb::builder()
        .transport(native(Tcp::default()))
        .client_interceptor(of_client.clone());
    let orb = orb.build().await.unwrap();
    let object = orb.string_to_object(&reference).await.unwrap();
    let shelf: ShelfRef = object.unchecked_narrow();
    for _ in 0..3 {
        shelf.turn(&places(3)).await.unwrap();
    }
    for seen in [of_client, of_server] {
        let seen = seen.0.lock().unwrap();
        assert_eq!(
            seen[..],
            [
                "turn in CDR",
                "_is_a Marshal",
                "turn NoResources",
                "turn NoResources"
            ]
        );
    }
    server.shutdown(true).await.unwrap();
}

/// A request of GIOP 1.2 in this machine's byte order.
fn request(key: &[u8], operation: &str, body: &[u8]) -> Vec<u8> {
    let mut message = b"GIOP\x01\x02\0\0\0\0\0\0".to_vec();
    message[6] = u8::from(cfg!(target_endian = "little"));
    message.extend_from_slice(&7_u32.to_ne_bytes());
    message.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
    for (octets, end) in [(key, &b""[..]), (operation.as_bytes(), b"\0")] {
        let length = u32::try_from(octets.len() + end.len()).unwrap();
        message.extend_from_slice(&length.to_ne_bytes());
        message.extend_from_slice(octets);
        message.extend_from_slice(end);
        message.resize(message.len().next_multiple_of(4), 0);
    }
    message.extend_from_slice(&0_u32.to_ne_bytes());
    message.resize(message.len().next_multiple_of(8), 0);
    message.extend_from_slice(body);
    let size = u32::try_from(message.len() - 12).unwrap();
    message[8..12].copy_from_slice(&size.to_ne_bytes());
    message
}

/// The status of the reply to a message, and what follows.
async fn answer(to: &mut TcpStream, message: &[u8]) -> (u32, Vec<u8>) {
    to.write_all(message).await.unwrap();
    let mut header = [0; 12];
    to.read_exact(&mut header).await.unwrap();
    let size = u32::from_ne_bytes(header[8..].try_into().unwrap());
    let mut body = vec![0; size as usize];
    to.read_exact(&mut body).await.unwrap();
    let status = u32::from_ne_bytes(body[4..8].try_into().unwrap());
    (status, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn octets_that_are_no_values_are_marshal_and_the_connection_goes_on() {
    let (server, _, _) = server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| orb).await;
    let port = server.endpoints()[0].port().unwrap();
    let (asking, kept) = relay(port).await;
    let (_client, shelf) = client(native(Tcp::default()), &by_way_of(asking, "Shelf")).await;
    use_of(&shelf).await;
    let name = {
        let kept = kept.lock().unwrap();
        let at = kept
            .windows(7)
            .position(|octets| octets == b"\0along/")
            .unwrap();
        String::from_utf8(kept[at + 1..at + 23].to_vec()).unwrap()
    };
    let key = *b"Shelf";
    // One track, of which each octet is another one, and a text behind it.
    let body = |count: u32, track: &[u8; 16]| {
        let text = [&4_u32.to_ne_bytes()[..], b"abc\0"].concat();
        [&count.to_ne_bytes()[..], &[0; 4], track, &text].concat()
    };
    let valid = [1, 9, 9, 9, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let (mut no_boolean, mut no_kind) = (valid, valid);
    no_boolean[0] = 2;
    no_kind[4..8].copy_from_slice(&2_u32.to_ne_bytes());
    let mut peer = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    for (what, body, is_valid) in [
        ("valid", body(1, &valid), true),
        ("no boolean", body(1, &no_boolean), false),
        ("no enumerator", body(1, &no_kind), false),
        ("more than there are", body(2, &valid), false),
        ("far more than there are", body(u32::MAX, &valid), false),
        ("no end", body(1, &valid)[..20].to_vec(), false),
        ("nothing", Vec::new(), false),
        (
            "none",
            body(0, &valid)[..8]
                .iter()
                .copied()
                .chain(body(0, &valid)[24..].to_vec())
                .collect(),
            true,
        ),
        ("valid again", body(1, &valid), true),
    ] {
        let (status, reply) = answer(&mut peer, &request(&key, &name, &body)).await;
        assert_eq!(status, if is_valid { 0 } else { 2 }, "{what}");
        let is_marshal = reply.windows(8).any(|octets| octets == b"/MARSHAL");
        assert_eq!(is_marshal, !is_valid, "{what}");
    }
    // A hash that lies is no operation.
    let mut lie = name.clone();
    lie.replace_range(lie.len() - 1.., if lie.ends_with('0') { "1" } else { "0" });
    let (status, reply) = answer(&mut peer, &request(&key, &lie, &body(1, &valid))).await;
    assert_eq!(status, 2);
    assert!(reply.windows(14).any(|octets| octets == b"/BAD_OPERATION"));
    // The other byte order has no form in memory.
    let mut reversed = request(&key, &name, &body(1, &valid));
    reversed[6] ^= 1;
    for at in [8, 12, 20, 24] {
        if at != 20 {
            reversed[at..at + 4].reverse();
        }
    }
    let mut at = 28 + key.len().next_multiple_of(4);
    reversed[at..at + 4].reverse();
    at += 4 + (name.len() + 1).next_multiple_of(4);
    reversed[at..at + 4].reverse();
    at = (at + 4).next_multiple_of(8);
    reversed[at..at + 4].reverse();
    let (_, reply) = answer_in_other_order(&mut peer, &reversed).await;
    assert!(reply.windows(8).any(|octets| octets == b"/MARSHAL"));
    use_of(&shelf).await;
    server.shutdown(true).await.unwrap();
}

/// The reply to a message in the other byte order, in whichever order it is.
async fn answer_in_other_order(to: &mut TcpStream, message: &[u8]) -> (u8, Vec<u8>) {
    to.write_all(message).await.unwrap();
    let mut header = [0; 12];
    to.read_exact(&mut header).await.unwrap();
    let size: [u8; 4] = header[8..].try_into().unwrap();
    let size = match header[6] & 1 {
        0 => u32::from_be_bytes(size),
        _ => u32::from_le_bytes(size),
    };
    let mut body = vec![0; size as usize];
    to.read_exact(&mut body).await.unwrap();
    (header[6], body)
}

fn any_place() -> impl Strategy<Value = Place> {
    let parts = (
        any::<i16>(),
        0..0x80_u8,
        any::<i32>(),
        any::<u8>(),
        -1e300..1e300,
    );
    parts.prop_map(|(row, side, at, mark, weight)| Place {
        row,
        side: zorb::Char(side),
        at,
        mark,
        weight,
    })
}

fn any_track() -> impl Strategy<Value = Track> {
    let parts = (
        any::<bool>(),
        any::<[u8; 3]>(),
        any::<bool>(),
        any::<[i16; 4]>(),
    );
    parts.prop_map(|(valid, channel, dashed, [a, b, c, d])| Track {
        valid,
        channel,
        what: if dashed { Kind::Dashed } else { Kind::Plain },
        corners: [Corner { x: a, y: b }, Corner { x: c, y: d }],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_are_the_same_in_memory_as_in_cdr(
        places in prop::collection::vec(any_place(), 0..200),
        tracks in prop::collection::vec(any_track(), 0..200),
        text in "[a-z]{0,9}",
    ) {
        static RUNTIME: std::sync::LazyLock<tokio::runtime::Runtime> =
            std::sync::LazyLock::new(|| tokio::runtime::Runtime::new().unwrap());
        static SHELVES: std::sync::OnceLock<(zorb::Orb, [(zorb::Orb, ShelfRef); 2])> =
            std::sync::OnceLock::new();
        RUNTIME.block_on(async {
            if SHELVES.get().is_none() {
                let (server, _, reference) =
                    server(native(Tcp::default()), "iiop://127.0.0.1:0", |orb| orb).await;
                let plain = client(Arc::new(Tcp::default()), &reference).await;
                let alike = client(native(Tcp::default()), &reference).await;
                alike.1.turn(&places).await.unwrap();
                let _ = SHELVES.set((server, [plain, alike]));
            }
            let (_, [(_, plain), (_, alike)]) = SHELVES.get().unwrap();
            let turned = (plain.turn(&places).await.unwrap(), alike.turn(&places).await.unwrap());
            assert_eq!(turned.0, turned.1);
            let along = plain.along(&tracks, &text).await.unwrap();
            assert_eq!(along, alike.along(&tracks, &text).await.unwrap());
            assert_eq!(along.0, tracks);
            for (place, track) in places.iter().zip(&tracks).take(5) {
                let found = plain.find(track, place).await.unwrap();
                assert_eq!(found, alike.find(track, place).await.unwrap());
            }
        });
    }
}
