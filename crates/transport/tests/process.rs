//! Properties of a whole process, tested in one of its own.
use std::{
    fs::File,
    future::poll_fn,
    io::{ErrorKind, IoSlice},
    process::Command,
    task::{Context, Poll, Waker},
};

use zorb_transport::{Connection, Endpoint, Tcp, Transport, Unix};

#[test]
fn without_descriptors_accepting_fails_again_and_again_and_then_goes_on() {
    in_a_process_of_its_own(
        "without_descriptors_accepting_fails_again_and_again_and_then_goes_on",
        "ulimit -n 64; exec \"$0\" \"$@\"",
        async || {
            let transport = Tcp::default();
            let listener = transport
                .listen(&Endpoint::iiop("127.0.0.1", 0))
                .await
                .unwrap();
            let client = transport.connect(listener.endpoint()).await.unwrap();
            let mut held = Vec::new();
            let error = loop {
                match File::open("/dev/null") {
                    Ok(file) => held.push(file),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
            // The listener stays ready meanwhile, which is why the error asks the caller to wait a little.
            for _ in 0..3 {
                let error = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
            }
            // Waiting for room to write is an error as well, and no panic.
            while client.try_write(&[IoSlice::new(&[0; 65536])]).is_ok() {}
            let error = poll_fn(|cx| client.poll_write_ready(cx)).await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
            let error = transport.connect(listener.endpoint()).await.unwrap_err();
            assert_eq!(error.cause().raw_os_error(), Some(libc::EMFILE));
            drop(held);
            poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
        },
    );
}

#[test]
fn a_write_to_a_closed_peer_raises_no_signal() {
    // A Rust program begins by ignoring SIGPIPE; a program in another language that uses us may not.
    in_a_process_of_its_own(
        "a_write_to_a_closed_peer_raises_no_signal",
        "exec \"$0\" \"$@\"",
        async || {
            sys::have_sigpipe_kill_us();
            let directory = tempfile::tempdir().unwrap();
            let transport = Unix::default();
            let listener = transport
                .listen(&Endpoint::uiop(directory.path().join("socket")))
                .await
                .unwrap();
            let client = transport.connect(listener.endpoint()).await.unwrap();
            drop(poll_fn(|cx| listener.poll_accept(cx)).await.unwrap());
            for chunks in [
                &[IoSlice::new(b"x")][..],
                &[IoSlice::new(b"x"), IoSlice::new(b"y")],
            ] {
                assert_eq!(
                    client.try_write(chunks).unwrap_err().kind(),
                    ErrorKind::BrokenPipe
                );
            }
        },
    );
}

#[test]
fn after_the_end_of_its_runtime_a_connection_fails_and_does_not_hang() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap()
    };
    let home = runtime();
    let connection: Box<dyn Connection> = home.block_on(async {
        let transport = Tcp::default();
        let listener = transport
            .listen(&Endpoint::iiop("127.0.0.1", 0))
            .await
            .unwrap();
        transport.connect(listener.endpoint()).await.unwrap()
    });
    drop(home);
    runtime().block_on(async {
        let mut context = Context::from_waker(Waker::noop());
        let mut octets = bytes::BytesMut::with_capacity(8);
        let poll = connection.poll_read(&mut context, &mut octets);
        assert!(matches!(poll, Poll::Ready(Err(_))), "found {poll:?}");
        let poll = connection.poll_write_ready(&mut context);
        assert!(matches!(poll, Poll::Ready(Err(_))), "found {poll:?}");
    });
}

/// Runs a test again in a new process that a shell script starts.
fn in_a_process_of_its_own(name: &str, script: &str, test: impl AsyncFnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        return runtime.unwrap().block_on(test());
    }
    let result = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&result.stdout);
    assert!(
        result.status.success() && text.contains("1 passed"),
        "{}: {text}{}",
        result.status,
        String::from_utf8_lossy(&result.stderr)
    );
}

const CHILD: &str = "ZORB_TRANSPORT_TEST_CHILD";

mod sys {
    #[expect(
        unsafe_code,
        reason = "there is no safe way to have the default signal handling back"
    )]
    pub(super) fn have_sigpipe_kill_us() {
        // SAFETY: SIG_DFL is a valid disposition of SIGPIPE, and there is no handler that could be half through.
        let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        assert_ne!(before, libc::SIG_ERR);
    }
}
