//! Object URLs that come from outside: which files are read, what errors say of them, which schemes are permitted.

use crate::savings::in_time;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zorb::{Error, Orb, SystemExceptionKind as Kind, UrlError, UrlScheme, minor};

async fn client() -> Orb {
    Orb::builder().build().await.unwrap()
}

async fn error_of(orb: &Orb, path: &Path) -> Error {
    let url = format!("file://{}", path.display());
    in_time(orb.string_to_object(&url)).await.unwrap_err()
}

#[tokio::test]
async fn an_error_shows_nothing_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let orb = client().await;
    let path = folder.path().join("file");
    for text in [
        "s3cret:x:0:0:root:/root:/bin/sh",
        "corbaloc:s3cret:nowhere/key",
        "corbaloc::host:s3cret/key",
        "corbaloc::host/%s3cret",
        "IOR:s3cret",
        "IOR:00s3cret",
    ] {
        fs::write(&path, text).unwrap();
        let error = error_of(&orb, &path).await;
        let shown = format!("{error} {error:?} {:#}", error.to_system_exception());
        assert!(shown.contains(path.to_str().unwrap()), "{shown}");
        assert!(!shown.contains("s3") && !shown.contains("'s'"), "{shown}");
    }
    // Files that lead to files: the path of the second one is what the first one holds.
    fs::write(&path, "file:///s3cret").unwrap();
    let shown = format!("{:#}", error_of(&orb, &path).await);
    assert!(!shown.contains("s3cret"), "{shown}");
    // Text that is no UTF-8.
    fs::write(&path, b"s3cret\xff").unwrap();
    let shown = format!("{:#}", error_of(&orb, &path).await);
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn files_of_procfs_are_not_read() {
    let orb = client().await;
    let error = format!("{:#}", error_of(&orb, Path::new("/proc/version")).await);
    assert!(error.contains("found an empty file"), "{error}");
    // One whose `read` waits for what the kernel has yet to say, to a process that may open it.
    error_of(&orb, Path::new("/proc/kmsg")).await;
}

/// A FIFO is as good as a regular file until it is opened: then it waits for a writer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fifo_that_takes_the_place_of_a_file_hangs_nothing() {
    const ROUNDS: usize = 2_000;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo")
        .arg(at("fifo"))
        .status();
    assert!(made.unwrap().success());
    fs::write(at("regular"), "IOR:").unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (done, fifo, regular, path) =
            (Arc::clone(&done), at("fifo"), at("regular"), at("path"));
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                for (kind, link) in [(&regular, "a"), (&fifo, "b")] {
                    let link = path.with_file_name(link);
                    let _ = fs::hard_link(kind, &link);
                    fs::rename(&link, &path).unwrap();
                }
            }
        })
    };
    let orb = client().await;
    let url = format!("file://{}", at("path").display());
    let hung = async {
        for _ in 0..ROUNDS {
            orb.string_to_object(&url).await.unwrap_err();
        }
    };
    let hung = tokio::time::timeout(std::time::Duration::from_secs(30), hung).await;
    done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    // Gives the thread back that waits for a writer.
    let _writer = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(at("fifo"));
    assert!(hung.is_ok(), "a FIFO was opened and waited for");
}

#[tokio::test]
async fn only_permitted_schemes_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("there.ior");
    fs::write(&path, "corbaloc::127.0.0.1:1/x").unwrap();
    let file = format!("file://{}", path.display());
    let orb = Orb::builder()
        .permitted_url_schemes([UrlScheme::Ior, UrlScheme::Corbaloc])
        .initial_reference("Configured", &file)
        .build()
        .await
        .unwrap();
    for (url, scheme) in [
        (file.as_str(), UrlScheme::File),
        ("FILE:/etc/passwd", UrlScheme::File),
        ("corbaname::127.0.0.1:1#x", UrlScheme::Corbaname),
    ] {
        let error = in_time(orb.string_to_object(url)).await.unwrap_err();
        assert!(
            matches!(&error, Error::Url(UrlError::SchemeNotPermitted(found)) if *found == scheme),
            "{url}: {error}"
        );
        let raised = error.to_system_exception();
        assert_eq!(
            (raised.kind, raised.minor),
            (Kind::BadParam, minor::BAD_SCHEME)
        );
    }
    in_time(orb.string_to_object("corbaloc::127.0.0.1:1/x"))
        .await
        .unwrap();
    // URLs that the operator configured may have any scheme.
    in_time(orb.resolve_initial_references("Configured"))
        .await
        .unwrap();
    in_time(orb.string_to_object("corbaloc:rir:/Configured"))
        .await
        .unwrap();
    // A permitted file leads to what is permitted only.
    let files = Orb::builder()
        .permitted_url_schemes([UrlScheme::File])
        .build()
        .await
        .unwrap();
    let error = error_of(&files, &path).await;
    let shown = format!("{error:#}");
    assert!(shown.contains("not permitted"), "{shown}");
}

/// The reference with its digits on lines of 40, as mail programs break them.
fn broken_over_lines(reference: &str) -> String {
    let lines: Vec<&str> = (reference.as_bytes().chunks(40))
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join("\r\n  ")
}

#[tokio::test]
async fn a_reference_that_is_broken_over_lines_is_read_wherever_a_reference_is() {
    let plain = client().await;
    let url = "corbaloc:iiop:1.2@127.0.0.1:1/a-key-that-is-long-enough";
    let object = in_time(plain.string_to_object(url)).await.unwrap();
    let text = object.to_string();
    let broken = broken_over_lines(&text);
    assert!(broken.lines().count() > 2);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.ior");
    fs::write(&path, format!("{broken}\r\n\r\n")).unwrap();
    let file = format!("file://{}", path.display());
    let mut arguments = vec!["-ORBInitRef".to_owned(), format!("Argument={broken}")];
    let orb = Orb::builder()
        .initial_reference("Builder", &broken)
        .initial_reference("File", &file)
        .args(&mut arguments)
        .build()
        .await
        .unwrap();
    for read in [
        in_time(orb.string_to_object(&broken)).await,
        in_time(orb.string_to_object(&file)).await,
        in_time(orb.resolve_initial_references("Builder")).await,
        in_time(orb.resolve_initial_references("File")).await,
        in_time(orb.resolve_initial_references("Argument")).await,
        in_time(orb.string_to_object("corbaloc:rir:/Builder")).await,
    ] {
        assert_eq!(read.unwrap().to_string(), text);
    }
}
