//! UNIX sockets pass every check that a transport must pass, and what is their own.
use std::{
    fs,
    future::poll_fn,
    io::{ErrorKind, IoSlice},
    os::unix::{
        fs::MetadataExt,
        net::{UnixDatagram, UnixListener},
    },
    path::PathBuf,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

use socket2::{Domain, SockAddr, Socket, Type};
use tempfile::TempDir;
use tokio::runtime::Builder;

use zorb_transport::{
    Endpoint, Listener, Transport, TransportError, Unix, UnixOptions, conformance::Fixture,
    conformance_tests,
};

mod by_default {
    use super::*;
    conformance_tests!(over(UnixOptions::default()));
}

/// Many partial writes and many waits.
mod with_small_buffers {
    use super::*;
    conformance_tests!(over(UnixOptions::default().send_buffer(4096)));
}

#[tokio::test]
async fn a_dropped_listener_removes_its_socket() {
    let place = place();
    let listener = listen(&place).await.unwrap();
    assert!(place.path.exists());
    drop(listener);
    assert!(!place.path.exists());
}

#[tokio::test]
async fn a_dropped_listener_leaves_another_listeners_socket_alone() {
    let place = place();
    let listener = listen(&place).await.unwrap();
    fs::remove_file(&place.path).unwrap();
    let _other = UnixListener::bind(&place.path).unwrap();
    drop(listener);
    assert!(place.path.exists());
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let place = place();
    // The standard library's listener leaves its socket behind, as a server that was killed does.
    drop(UnixListener::bind(&place.path).unwrap());
    assert!(place.path.exists());
    let _listener = listen(&place).await.unwrap();
    Unix::default().connect(&place.endpoint()).await.unwrap();
}

#[tokio::test]
async fn a_live_socket_is_not_replaced() {
    let place = place();
    let other = UnixListener::bind(&place.path).unwrap();
    let error = listen(&place).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert_eq!(
        error.to_string(),
        format!("cannot listen on uiop://{}", place.path.display())
    );
    // The first connection was our own, which asked whether a listener is there.
    Unix::default().connect(&place.endpoint()).await.unwrap();
    for _ in 0..2 {
        other.accept().unwrap();
    }
}

#[tokio::test]
async fn a_live_socket_with_a_full_queue_is_not_replaced() {
    let place = place();
    let (_other, _queued) = full_listener(&place);
    assert_eq!(
        listen(&place).await.unwrap_err().kind(),
        ErrorKind::AddrInUse
    );
}

#[tokio::test]
async fn what_is_not_a_stream_socket_is_never_removed() {
    let check = async |make: fn(&PathBuf)| {
        let place = place();
        make(&place.path);
        assert_eq!(
            listen(&place).await.unwrap_err().kind(),
            ErrorKind::AddrInUse
        );
        assert!(fs::symlink_metadata(&place.path).is_ok());
    };
    check(|path| fs::write(path, "precious").unwrap()).await;
    check(|path| fs::create_dir(path).unwrap()).await;
    check(|path| std::os::unix::fs::symlink("/nowhere", path).unwrap()).await;
    let place = place();
    let _datagrams = UnixDatagram::bind(&place.path).unwrap();
    assert_eq!(
        listen(&place).await.unwrap_err().kind(),
        ErrorKind::AddrInUse
    );
    assert!(place.path.exists());
}

#[test]
fn of_many_that_replace_a_stale_socket_at_once_one_gets_it() {
    const MANY: usize = 4;
    // Often enough for one listener's bind to fall between another's check and removal.
    const ROUNDS: usize = 200;
    let places = Vec::from_iter((0..ROUNDS).map(|_| place()));
    for place in &places {
        drop(UnixListener::bind(&place.path).unwrap());
    }
    let barrier = Barrier::new(MANY);
    let outcomes = Mutex::new(vec![Vec::new(); ROUNDS]);
    std::thread::scope(|scope| {
        for _ in 0..MANY {
            scope.spawn(|| {
                let runtime = Builder::new_current_thread().enable_io().build().unwrap();
                // Kept until all have tried.
                let mut listeners = Vec::new();
                for (round, place) in places.iter().enumerate() {
                    barrier.wait();
                    let result = runtime.block_on(listen(place));
                    let outcome = result.map(|listener| listeners.push(listener));
                    outcomes.lock().unwrap()[round].push(outcome.map_err(|error| error.kind()));
                }
                barrier.wait();
            });
        }
    });
    for mut outcome in outcomes.into_inner().unwrap() {
        outcome.sort_by_key(Result::is_err);
        let refused = Err(ErrorKind::AddrInUse);
        assert_eq!(outcome, [Ok(()), refused, refused, refused]);
    }
}

#[tokio::test]
async fn a_relative_path_becomes_absolute() {
    let name = format!("zorb-transport-test-{}.sock", std::process::id());
    let listener = Unix::default()
        .listen(&Endpoint::uiop(&name))
        .await
        .unwrap();
    let absolute = std::env::current_dir().unwrap().join(name);
    assert_eq!(*listener.endpoint(), Endpoint::uiop(absolute));
}

#[tokio::test]
async fn a_path_that_is_too_long_is_an_error() {
    let endpoint = Endpoint::uiop(format!("/tmp/{}", "x".repeat(200)));
    assert_eq!(
        Unix::default().connect(&endpoint).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        Unix::default().listen(&endpoint).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[tokio::test]
async fn connecting_waits_for_room_in_the_queue() {
    let place = place();
    let (listener, queued) = full_listener(&place);
    let transport = Unix::default();
    let endpoint = place.endpoint();
    let mut connecting = transport.connect(&endpoint);
    assert!(
        connecting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    for _ in &queued {
        listener.accept().unwrap();
    }
    let connection = connecting.await.unwrap();
    assert_eq!(connection.try_write(&[IoSlice::new(b"x")]).unwrap(), 1);
}

#[tokio::test]
async fn a_connection_and_its_listener_know_their_path() {
    let place = place();
    let listener = listen(&place).await.unwrap();
    let client = Unix::default().connect(&place.endpoint()).await.unwrap();
    let server = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
    assert_eq!(
        client.peer().to_string(),
        format!("uiop://{}", place.path.display())
    );
    assert_eq!(server.peer().to_string(), "uiop://(unnamed)");
}

#[tokio::test]
async fn another_user_s_lock_on_the_directory_keeps_no_server_from_listening() {
    let place = place();
    let directory = fs::File::open(place.path.parent().unwrap()).unwrap();
    directory.lock().unwrap();
    let _listener = listen(&place).await.unwrap();
    Unix::default().connect(&place.endpoint()).await.unwrap();
}

#[tokio::test]
async fn a_socket_has_the_mode_and_the_owner_that_the_options_say() {
    let place = place();
    let listener = listen(&place).await.unwrap();
    let (user, group) = {
        let socket = fs::symlink_metadata(&place.path).unwrap();
        (socket.uid(), socket.gid())
    };
    drop(listener);
    for mode in [0o600, 0o660, 0o666, 0o777] {
        let options = UnixOptions::default().mode(mode).owner(user).group(group);
        let listener = Unix::new(options).listen(&place.endpoint()).await.unwrap();
        let socket = fs::symlink_metadata(&place.path).unwrap();
        assert_eq!(socket.mode() & 0o7777, mode);
        assert_eq!((socket.uid(), socket.gid()), (user, group));
        drop(listener);
    }
    // Another owner takes a privilege; without it nothing listens, and nothing stays behind.
    let options = UnixOptions::default().owner(user + 1).group(group + 1);
    match Unix::new(options).listen(&place.endpoint()).await {
        Ok(_listener) => {
            let socket = fs::symlink_metadata(&place.path).unwrap();
            assert_eq!((socket.uid(), socket.gid()), (user + 1, group + 1));
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            assert!(!place.path.exists());
        }
    }
}

struct Place {
    _directory: TempDir,
    path: PathBuf,
}

impl Place {
    fn endpoint(&self) -> Endpoint {
        Endpoint::uiop(&self.path)
    }
}

fn place() -> Place {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    Place {
        _directory: directory,
        path,
    }
}

async fn listen(place: &Place) -> Result<Box<dyn Listener>, TransportError> {
    Unix::default().listen(&place.endpoint()).await
}

/// A listener with a short queue, and the peers that fill it.
fn full_listener(place: &Place) -> (Socket, Vec<Socket>) {
    let address = SockAddr::unix(&place.path).unwrap();
    let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    listener.bind(&address).unwrap();
    listener.listen(1).unwrap();
    let mut queued = Vec::new();
    loop {
        let peer = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        peer.set_nonblocking(true).unwrap();
        match peer.connect(&address) {
            Ok(()) => queued.push(peer),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                return (listener, queued);
            }
        }
    }
}

struct OverUnix {
    transport: Arc<dyn Transport>,
    directory: TempDir,
    made: AtomicUsize,
}

fn over(options: UnixOptions) -> OverUnix {
    OverUnix {
        transport: Arc::new(Unix::new(options)),
        directory: TempDir::new().unwrap(),
        made: AtomicUsize::new(0),
    }
}

impl Fixture for OverUnix {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        Endpoint::uiop(self.directory.path().join(number.to_string()))
    }

    fn unreachable(&self) -> (Endpoint, ErrorKind) {
        (
            Endpoint::uiop(self.directory.path().join("unreachable")),
            ErrorKind::NotFound,
        )
    }
}

#[tokio::test]
async fn a_connection_reports_which_process_its_peer_is() {
    let place = place();
    let listener = listen(&place).await.unwrap();
    let client = Unix::default().connect(listener.endpoint()).await.unwrap();
    let identity = client.peer_identity().unwrap();
    let process = identity.process().unwrap();
    assert_eq!(process.process, Some(std::process::id()));
    assert!(client.capabilities().reports_peer_identity());
}

mod abstract_names {
    //! The same checks with names that are not in the file system.
    use super::*;

    struct Abstract {
        transport: Arc<dyn Transport>,
        made: AtomicUsize,
    }

    fn abstract_names() -> Abstract {
        Abstract {
            transport: Arc::new(Unix::default()),
            made: AtomicUsize::new(0),
        }
    }

    /// One that no other test has, nor another run.
    fn name(number: usize, fixture: *const Abstract) -> Endpoint {
        let process = std::process::id();
        Endpoint::uiop_abstract(format!("zorb-test {process} {fixture:p} {number}"))
    }

    impl Fixture for Abstract {
        fn transport(&self) -> Arc<dyn Transport> {
            Arc::clone(&self.transport)
        }

        fn endpoint(&self) -> Endpoint {
            name(self.made.fetch_add(1, Ordering::Relaxed), self)
        }

        fn unreachable(&self) -> (Endpoint, ErrorKind) {
            (name(usize::MAX, self), ErrorKind::ConnectionRefused)
        }
    }

    conformance_tests!(abstract_names());
}
