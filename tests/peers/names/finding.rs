//! Finding the naming service, and what is in the way of that.

use crate::names::odd::{Odd, Raises};
use crate::names::world::{World, greeter, greeting, orb, with_each_service};
use std::error::Error as _;
use std::io;
use zorb::naming::{NamingClient, NamingError};
use zorb::{Orb, SystemExceptionKind};

async fn find(url: &str) -> Result<NamingClient, NamingError> {
    let orb = Orb::builder()
        .initial_reference("NameService", url)
        .build()
        .await;
    NamingClient::find(&orb.expect("a client needs nothing")).await
}

with_each_service! {
    "find": the_service_is_found_by_any_url;
}

async fn the_service_is_found_by_any_url(w: World) {
    w.names
        .bind("zorb/greeter", &w.greeter("hello"))
        .await
        .unwrap();
    let shown = format!("{:?}", w.names.context());
    let address = shown
        .split("iiop://")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    for url in [
        w.names.context().to_string(),
        format!("corbaloc::{address}/NameService"),
        format!("corbaloc:iiop:1.2@{address}/NameService"),
        format!("corbaloc::127.0.0.1:1,:{address}/NameService"),
        format!("corbaname::{address}"),
    ] {
        let names = find(&url).await.unwrap();
        assert_eq!(greeting(&names, "zorb/greeter").await, "hello", "{url}");
    }
    // A context below the root does as well.
    let names = find(&format!("corbaname::{address}#zorb")).await.unwrap();
    assert_eq!(greeting(&names, "greeter").await, "hello");

    let missing = find(&format!("corbaloc::{address}/NobodyHasThisKey"))
        .await
        .unwrap_err();
    let exception = missing.system().expect("an exception");
    assert_eq!(
        exception.kind,
        SystemExceptionKind::ObjectNotExist,
        "{missing}"
    );
    assert!(missing.to_string().contains(&address), "{missing}");
}

#[tokio::test]
async fn what_is_in_the_way_is_said() {
    let bare = Orb::builder().build().await.unwrap();
    let error = NamingClient::find(&bare).await.unwrap_err();
    assert!(matches!(error, NamingError::Unconfigured(_)));
    let expected = "such as -ORBInitRef NameService=corbaloc::HOST:2809/NameService";
    assert!(error.to_string().contains(expected), "{error}");

    let error = find("corbaloc::127.0.0.1:1/NameService").await.unwrap_err();
    let expected = "the naming service failed: TRANSIENT (minor 0x4f4d0002 OMG, no usable profile, COMPLETED_NO): \
                    cannot connect to iiop://127.0.0.1:1: Connection refused";
    let whole = format!("{error:#}");
    assert!(whole.starts_with(expected), "{whole}");
    let refused = error
        .source()
        .and_then(|cause| cause.downcast_ref::<io::Error>());
    let refused = refused.expect("the cause of the failure");
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    assert!(!error.to_string().contains(&refused.to_string()), "{error}");

    let error = find("no url at all").await.unwrap_err();
    let expected = "cannot find the naming service: expected IOR:, corbaloc:, corbaname: or file:";
    assert!(error.to_string().starts_with(expected), "{error}");
    let error = find("file:///nowhere/ns.ior").await.unwrap_err();
    let expected = "cannot find the naming service: cannot read /nowhere/ns.ior: ";
    let whole = format!("{error:#}");
    assert!(whole.starts_with(expected), "{whole}");

    let other = orb().await;
    let error = find(&greeter(&other, "").to_string()).await.unwrap_err();
    assert!(
        matches!(&error, NamingError::NotAContext { found, .. } if found == "IDL:Naming/Greeter:1.0")
    );
    let expected = "is no naming context but an object of IDL:Naming/Greeter:1.0";
    assert!(error.to_string().ends_with(expected), "{error}");
}

#[tokio::test]
async fn a_server_that_knows_naming_context_only_will_do() {
    let server = orb().await;
    let old = Odd::raising(&server, Raises::InvalidName);
    let names = find(&old.context().to_string()).await.unwrap();
    assert_eq!(names.ext().await.unwrap(), None);
    let error = names.resolve::<zorb::ObjectRef>("a").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid name \"a\": the naming service refuses it"
    );
}
