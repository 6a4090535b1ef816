//! The endpoints that servers listen to, and those in their references.

use crate::references::{Server, client, place, profile};
use zorb::{Error, Orb, Version};
use zorb_giop::ior::{ComponentTag, IiopProfile};

/// Host and port of the body.
fn body(server: &Server) -> (String, u16) {
    let address = profile(&server.place).address;
    (address.host, address.port)
}

#[tokio::test]
async fn a_server_everywhere_names_addresses_that_lead_to_it() {
    let orb = client().await;
    for any in ["iiop://0.0.0.0:0", "iiop://[::]:0", "iiop://:0"] {
        let server = Server::start("everywhere", any).await;
        let (host, port) = body(&server);
        let ip: std::net::IpAddr = host.parse().expect("an address");
        assert!(!ip.is_unspecified() && port != 0, "{host}");
        assert_eq!(
            place(&orb, &server.reference()).await.name().await.unwrap(),
            "everywhere"
        );
        // IPv4 and, where it is meant, IPv6 lead in.
        for loopback in ["127.0.0.1", "[::1]"] {
            if any.contains("::") || loopback.contains('.') {
                let url = format!("corbaloc::{loopback}:{port}/{}", server.key());
                assert_eq!(
                    place(&orb, &url).await.name().await.unwrap(),
                    "everywhere",
                    "{any}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_ipv6_host_stands_in_a_reference_without_brackets() {
    let server = Server::start("v6", "iiop://[::1]:0").await;
    assert_eq!(body(&server).0, "::1");
    let orb = client().await;
    assert_eq!(
        place(&orb, &server.reference()).await.name().await.unwrap(),
        "v6"
    );
}

#[tokio::test]
async fn set_addresses_are_published_and_no_others() {
    let publish = async |builder: zorb::Builder| {
        let server = Server::serve("published", builder.listen("iiop://127.0.0.1:0")).await;
        let port = server.orb.endpoints()[0].to_string();
        let port = port.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
        let alternates = profile(&server.place)
            .components
            .iter()
            .filter(|component| component.tag == ComponentTag::ALTERNATE_IIOP_ADDRESS)
            .count();
        (body(&server), alternates, port)
    };
    let builder = Orb::builder;
    let (published, alternates, _) = publish(builder().publish("iiop://nat.example:2810")).await;
    assert_eq!(
        (published, alternates),
        (("nat.example".to_owned(), 2810), 0)
    );
    let (published, _, port) = publish(builder().publish("giop:tcp:nat.example:")).await;
    assert_eq!(published, ("nat.example".to_owned(), port));
    let (published, _, port) = publish(builder().publish_host("fd00::1")).await;
    assert_eq!(published, ("fd00::1".to_owned(), port));
    let (published, alternates, _) = publish(
        builder()
            .publish("iiop://[fd00::1]:7")
            .publish("iiop://b:8"),
    )
    .await;
    assert_eq!((published, alternates), (("fd00::1".to_owned(), 7), 1));
    let mut arguments = vec![
        "-ORBendPointPublish".to_owned(),
        "giop:tcp:c:9,addr".to_owned(),
    ];
    let (published, alternates, _) =
        publish(builder().publish_host("a").args(&mut arguments)).await;
    assert_eq!((published, alternates), (("c".to_owned(), 9), 1));
}

#[tokio::test]
async fn tao_s_endpoint_options_are_followed() {
    let taken = Server::start("taken", "iiop://127.0.0.1:0").await;
    let port: u16 = taken.address().rsplit_once(':').unwrap().1.parse().unwrap();
    let mut arguments = vec![
        "-ORBListenEndpoints".to_owned(),
        format!("iiop://127.0.0.1:{port}/portspan=1000&hostname_in_ior=localhost;iiop://[::1]:0"),
    ];
    let builder = Orb::builder()
        .listen("iiop://127.0.0.1:1")
        .args(&mut arguments);
    let server = Server::serve("next", builder).await;
    let (host, given) = body(&server);
    assert_eq!(host, "localhost");
    assert!(given > port, "{given}");
    assert_eq!(server.orb.endpoints().len(), 2);
    let orb = client().await;
    assert_eq!(
        place(&orb, &server.reference()).await.name().await.unwrap(),
        "next"
    );
    // Without the span it is an error that names the endpoint.
    let error = Orb::builder()
        .listen(format!("iiop://127.0.0.1:{port}"))
        .build()
        .await;
    let error = format!("{:#}", error.unwrap_err());
    let expected = format!("cannot listen on iiop://127.0.0.1:{port}: Address already in use");
    assert!(error.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn options_that_cannot_be_used_end_the_start() {
    for arguments in [
        vec!["-ORBListenEndpoint", "iiop://h:1"],
        vec![
            "-ORBendPointPublish",
            "ipv6",
            "-ORBendPoint",
            "giop:tcp:127.0.0.1:",
        ],
    ] {
        let mut arguments: Vec<_> = arguments.into_iter().map(str::to_owned).collect();
        let error = Orb::builder()
            .args(&mut arguments)
            .build()
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Option(_)), "{error}");
    }
}

#[tokio::test]
async fn an_orb_held_to_an_old_version_states_it_and_speaks_it() {
    let builder = || Orb::builder().max_giop_version(Version::V1_0);
    let server = Server::serve("old", builder().listen("iiop://127.0.0.1:0")).await;
    let tagged = &server.place.as_ref().ior().profiles[0];
    let old = IiopProfile::from_tagged(tagged).unwrap();
    assert_eq!((old.version, old.components.len()), (Version::V1_0, 0));
    let new = Server::start("new", "iiop://127.0.0.1:0").await;
    let orb = builder().build().await.unwrap();
    let place = place(&orb, &new.reference()).await;
    assert_eq!(place.name().await.unwrap(), "new");
    assert!(place.wide("x").await.is_err(), "GIOP 1.0 has no wide text");
}
