//! Errors in servants: what goes through `?`, and what of an exception a client is shown.

use crate::savings::in_time;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zorb::naming::Name;
use zorb::{
    AdapterError, CompletionStatus, Fixed, LongDouble, ManagerError, Orb, PoaCurrent,
    SystemException, SystemExceptionKind as Kind, minor,
};

zorb::idl! {
    module Errors {
        exception Refused { string why; };
        interface Door {
            void enter(in string name);
            void ask(in string name) raises (Refused);
        };
    };
}

use errors::door::AskError;
use errors::{Door, DoorRef, DoorServant, Refused};

struct Guard;

/// Fails with an error of the kind that the name says. This compiles if each goes through `?`.
fn fails(name: &str) -> Result<(), SystemException> {
    match name {
        "file" => drop(std::fs::read("/nowhere/secret")?),
        "text" => drop("a//b".parse::<Name>()?),
        "fixed" => drop("1.5x".parse::<Fixed<3, 1>>()?),
        "long double" => drop("x".parse::<LongDouble>()?),
        "adapter" => Err(AdapterError::ObjectNotActive)?,
        "manager" => Err(ManagerError::WithinUpcall)?,
        "url" => drop("xyz:".parse::<zorb_giop::url::ObjectUrl>()?),
        "any" => drop(zorb::Any::new(&7_i32)?.extract::<String>()?),
        "other" => Err(Box::<dyn std::error::Error + Send + Sync>::from("a secret"))?,
        "refused" => Err(SystemException::no_permission("only guests on the list"))?,
        "private" => {
            let full = SystemException::transient("").with_local_detail("a secret");
            Err(full.with_minor(minor::REQUEST_DISCARDED))?;
        }
        _ => {}
    }
    Ok(())
}

impl Door for Guard {
    async fn enter(&self, name: &str) -> Result<(), SystemException> {
        fails(name)
    }

    async fn ask(&self, name: &str) -> Result<(), AskError> {
        match name {
            "io" => Err(io::Error::from(io::ErrorKind::NotFound))?,
            "user" => {
                let why = "no".to_owned();
                Err(Refused { why })?;
            }
            name => fails(name)?,
        }
        Ok(())
    }
}

async fn guarded() -> (Orb, Orb, DoorRef) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let door = server.root_poa().activate(DoorServant::new(Guard)).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let url = server.object_to_string(&door);
    let door = in_time(client.string_to_object(&url)).await.unwrap();
    let door = door.unchecked_narrow();
    (server, client, door)
}

#[tokio::test]
async fn the_client_is_shown_the_detail_that_a_servant_gave_and_no_other() {
    let (_server, _client, door) = guarded().await;
    let explained = in_time(door.enter("refused")).await.unwrap_err();
    assert_eq!(explained.kind, Kind::NoPermission);
    let text = explained.to_string();
    assert!(
        text.ends_with("the server says: only guests on the list"),
        "{text}"
    );
    let explained = in_time(door.ask("refused")).await.unwrap_err();
    assert!(explained.to_string().contains("only guests on the list"));
    for name in ["file", "other", "private"] {
        let hidden = in_time(door.enter(name)).await.unwrap_err();
        assert_eq!(hidden.detail(), None, "{name}: {hidden}");
    }
    assert!(in_time(door.enter("nothing")).await.is_ok());
}

#[tokio::test]
async fn what_fails_in_a_servant_is_the_exception_of_its_kind() {
    let (_server, _client, door) = guarded().await;
    for (name, kind, minor) in [
        ("file", Kind::Unknown, 0),
        ("other", Kind::Unknown, 0),
        ("text", Kind::BadParam, 0),
        ("fixed", Kind::DataConversion, 0),
        ("long double", Kind::DataConversion, 0),
        ("adapter", Kind::ObjAdapter, 0),
        ("manager", Kind::BadInvOrder, minor::WOULD_DEADLOCK),
        ("url", Kind::BadParam, minor::BAD_SCHEME),
        ("any", Kind::BadParam, 0),
        ("private", Kind::Transient, minor::REQUEST_DISCARDED),
    ] {
        let raised = in_time(door.enter(name)).await.unwrap_err();
        assert_eq!((raised.kind, raised.minor), (kind, minor), "{name}");
        let AskError::System(raised) = in_time(door.ask(name)).await.unwrap_err() else {
            panic!("{name} is no user exception");
        };
        assert_eq!((raised.kind, raised.minor), (kind, minor), "{name}");
    }
    let raised = in_time(door.ask("io")).await.unwrap_err();
    assert!(matches!(&raised, AskError::System(it) if it.kind == Kind::Unknown));
    let raised = in_time(door.ask("user")).await.unwrap_err();
    assert!(matches!(raised, AskError::Refused(_)));
    let outside = SystemException::from(PoaCurrent::get_poa().unwrap_err());
    assert_eq!(outside.kind, Kind::BadInvOrder);
}

#[tokio::test]
async fn a_file_that_a_servant_cannot_read_is_the_source_of_its_exception() {
    use std::error::Error;
    let raised = fails("file").unwrap_err();
    let source = raised.source().unwrap().downcast_ref::<io::Error>();
    assert_eq!(source.unwrap().kind(), io::ErrorKind::NotFound);
    assert_eq!(raised.completed, CompletionStatus::Maybe);
}

#[tokio::test]
async fn a_peer_that_is_a_web_server_or_speaks_tls_is_called_so() {
    for (greeting, expected) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "is a web server"),
        (b"\x15\x03\x03\0\x02\x02\x0a-----", "expects TLS"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "found something else"),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let orb = Orb::builder().build().await.unwrap();
        let url = format!("corbaloc::127.0.0.1:{port}/Bank");
        let object = in_time(orb.string_to_object(&url)).await.unwrap();
        let answered = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).await.unwrap();
            stream.write_all(greeting).await.unwrap();
            stream
        };
        let (called, _stream) =
            in_time(async { tokio::join!(object.non_existent(), answered) }).await;
        let error = called.unwrap_err();
        assert_eq!(error.kind, Kind::CommFailure);
        assert!(error.to_string().contains(expected), "{error}");
    }
}
