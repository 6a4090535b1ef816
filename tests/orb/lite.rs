//! GIOPlite: the same calls with shorter headers, beside GIOP in one reference.

use crate::hostile::raw::Raw;
use crate::savings::spawn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zorb::policy::{PolicyOverrides, Protocol};
use zorb::{Interface, Orb, SystemException, Version};
use zorb_cdr::{Encoder, NativeEndian, WireFormat};
use zorb_giop::ior::{ProfileTag, TaggedProfile};
use zorb_giop::{LocateReply, LocateRequestHeader, RequestBuilder, ResponseFlags, TargetAddress};
use zorb_giop_lite::GiopLite;

zorb::idl! {
    typedef sequence<octet> Data;

    interface Mirror {
        exception Dark { long level; };
        string text(in string words);
        Data octets(in Data value);
        void look(in long level) raises (Dark);
        oneway void glance();
        long glances();
    };
}

use mirror::{Dark, LookError};

#[derive(Default)]
struct Glass(std::sync::atomic::AtomicI32);

impl Mirror for Glass {
    async fn text(&self, words: &str) -> Result<String, SystemException> {
        Ok(words.to_owned())
    }

    async fn octets(&self, value: zorb::OctetsRef<'_>) -> Result<zorb::Bytes, SystemException> {
        Ok(value.keep())
    }

    async fn look(&self, level: i32) -> Result<(), LookError> {
        Err(Dark { level }.into())
    }

    async fn glance(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn glances(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

async fn serving(endpoints: &[&str], lite: &[GiopLite]) -> (Orb, MirrorRef) {
    let mut server = Orb::builder();
    for lite in lite {
        server = server.transport(Arc::new(lite.clone()));
    }
    for endpoint in endpoints {
        server = server.listen(*endpoint);
    }
    let server = server.build().await.unwrap();
    let mirror = server
        .root_poa()
        .activate(MirrorServant::new(Glass::default()));
    server.root_poa().the_poa_manager().activate().unwrap();
    (server, mirror.unwrap())
}

async fn every_kind_of_call(mirror: &MirrorRef) {
    for length in [0, 1, 100, 8_180, 8_192, 70_000, 1 << 20] {
        let data: Vec<u8> = (0..length).map(|n: usize| (n % 251) as u8).collect();
        assert_eq!(mirror.octets(&data[..]).await.unwrap(), data, "{length}");
    }
    let callers = (0..32).map(|caller| {
        let mirror = mirror.clone();
        spawn(async move {
            for call in 0..20 {
                let words = format!("{caller} {}", "x".repeat(call * 40));
                assert_eq!(mirror.text(&words).await.unwrap(), words);
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    assert!(matches!(
        mirror.look(3).await,
        Err(LookError::Dark(Dark { level: 3 }))
    ));
    let before = mirror.glances().await.unwrap();
    for _ in 0..500 {
        mirror.glance().await.unwrap();
    }
    assert_eq!(mirror.glances().await.unwrap() - before, 500);
}

#[tokio::test]
async fn every_kind_of_call_goes_over_tcp_and_unix_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let unix = format!("uioplite://{}", folder.path().join("lite").display());
    let lite = [GiopLite::over_tcp(), GiopLite::over_unix()];
    for endpoint in ["iioplite://127.0.0.1:0", &unix] {
        let (server, mirror) = serving(&[endpoint], &lite).await;
        let client = Orb::builder()
            .transport(Arc::new(lite[0].clone()))
            .transport(Arc::new(lite[1].clone()))
            // Fragments have a bit of their own.
            .max_fragment_octets(4_096);
        let client = client.build().await.unwrap();
        let reference = server.object_to_string(&mirror);
        let mirror: MirrorRef =
            (client.string_to_object(&reference).await.unwrap()).unchecked_narrow();
        every_kind_of_call(&mirror).await;
        client.shutdown(true).await.unwrap();
        server.shutdown(true).await.unwrap();
    }
}

#[tokio::test]
async fn who_does_not_know_it_takes_the_plain_profile_of_the_same_reference() {
    let endpoints = ["iioplite://127.0.0.1:0", "iiop://127.0.0.1:0"];
    let (server, mirror) = serving(&endpoints, &[GiopLite::over_tcp()]).await;
    let client = Orb::builder().build().await.unwrap();
    let reference = server.object_to_string(&mirror);
    let mirror: MirrorRef = (client.string_to_object(&reference).await.unwrap()).unchecked_narrow();
    assert_eq!(mirror.text("plain").await.unwrap(), "plain");
    assert_eq!(
        client.object_to_string(&mirror),
        reference,
        "both profiles are kept"
    );
}

#[tokio::test]
async fn an_object_is_found_by_the_profile_of_a_transport_that_the_orb_was_given() {
    let endpoints = ["iioplite://127.0.0.1:0", "iiop://127.0.0.1:0"];
    let (server, mirror) = serving(&endpoints, &[GiopLite::over_tcp()]).await;
    let port = server.endpoints()[1].port().unwrap();
    let ior = mirror.as_object().ior().clone();
    let of_lite = ior.profiles[0].clone();
    assert_eq!(of_lite.tag, ProfileTag(0x5a4f_5210));
    let unknown = TaggedProfile {
        tag: ProfileTag(99),
        data: of_lite.data.clone(),
    };
    let malformed = TaggedProfile {
        tag: of_lite.tag,
        data: of_lite.data.slice(..of_lite.data.len() / 2),
    };
    let reference = |selected| TargetAddress::Reference {
        selected,
        ior: Box::new(ior.clone()),
    };
    for (target, is_here) in [
        (TargetAddress::Profile(of_lite), true),
        (TargetAddress::Profile(ior.profiles[1].clone()), true),
        (reference(0), true),
        (reference(1), true),
        (reference(2), false),
        (TargetAddress::Profile(unknown), false),
        (TargetAddress::Profile(malformed), false),
    ] {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let mut raw = Raw::new(stream);
        let e = || Encoder::<NativeEndian>::new(WireFormat::default());
        let question = LocateRequestHeader::encode_for(e(), Version::V1_2, 1, b"", &target);
        raw.send(&question.unwrap().to_vec()).await;
        let (_, answer) = LocateReply::read(&raw.receive().await.unwrap()).unwrap();
        assert_eq!(
            answer == LocateReply::ObjectHere,
            is_here,
            "{target:?}: {answer:?}"
        );
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: 2,
            response: ResponseFlags::WithTarget,
            key: b"",
            operation: "glances",
            contexts: &[],
        };
        let request = request.encode_for(&target, e(), |_| Ok(()));
        raw.send(&request.unwrap().to_vec()).await;
        let glances = raw.receive_reply::<i32>(2).await;
        assert_eq!(glances.ok(), is_here.then_some(0), "{target:?}");
    }
}

/// Octets that go through a relay to this port, and the relay's port.
async fn counted(to: u16) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let octets = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&octets);
    spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            for (mut from, mut to) in [(near_in, far_out), (far_in, near_out)] {
                let count = Arc::clone(&count);
                spawn(async move {
                    let mut buffer = vec![0; 64 << 10];
                    while let Ok(length @ 1..) = from.read(&mut buffer).await {
                        count.fetch_add(length, Ordering::Relaxed);
                        if to.write_all(&buffer[..length]).await.is_err() {
                            break;
                        }
                    }
                });
            }
        }
    });
    (port, octets)
}

#[tokio::test]
async fn each_message_has_seven_octets_fewer() {
    const CALLS: usize = 50;
    let mut octets = Vec::new();
    for scheme in ["iiop", "iioplite"] {
        let lite = GiopLite::over_tcp();
        let endpoint = format!("{scheme}://127.0.0.1:0");
        let (server, _) = serving(&[&endpoint], std::slice::from_ref(&lite)).await;
        let glass = MirrorServant::new(Glass::default());
        let poa = server.ins_poa();
        poa.activate_object_with_id("Mirror", glass).unwrap();
        let (port, count) = counted(server.endpoints()[0].port().unwrap()).await;
        let client = Orb::builder().transport(Arc::new(lite));
        let client = client.build().await.unwrap();
        let url = format!("corbaloc:{scheme}:1.2@127.0.0.1:{port}/Mirror");
        let mirror: MirrorRef = (client.string_to_object(&url).await.unwrap()).unchecked_narrow();
        mirror.glances().await.unwrap();
        let before = count.load(Ordering::Relaxed);
        for _ in 0..CALLS {
            mirror.glances().await.unwrap();
        }
        octets.push(count.load(Ordering::Relaxed) - before);
    }
    assert_eq!(octets[0] - octets[1], 2 * CALLS * 7);
}

#[tokio::test]
async fn a_policy_chooses_it_for_one_reference_and_not_for_another_one_to_the_same_object() {
    let lite = GiopLite::over_tcp();
    let endpoints = ["iiop://127.0.0.1:0", "iioplite://127.0.0.1:0"];
    let (server, _) = serving(&endpoints, std::slice::from_ref(&lite)).await;
    let glass = MirrorServant::new(Glass::default());
    let poa = server.ins_poa();
    poa.activate_object_with_id("Mirror", glass).unwrap();
    let [plain, short] = [0, 1].map(|at| server.endpoints()[at].port().unwrap());
    let (plain_port, by_giop) = counted(plain).await;
    let (short_port, by_lite) = counted(short).await;
    let client = Orb::builder().transport(Arc::new(lite));
    let client = client.build().await.unwrap();
    let url = format!(
        "corbaloc:iiop:1.2@127.0.0.1:{plain_port},iioplite:1.2@127.0.0.1:{short_port}/Mirror"
    );
    let as_listed: MirrorRef = (client.string_to_object(&url).await.unwrap()).unchecked_narrow();
    let order = |protocols: [Protocol; 2]| PolicyOverrides::new().client_protocols(protocols);
    let is_lite = || Protocol::new("iioplite");
    let lite_first = as_listed.with_policies(&order([is_lite(), Protocol::IIOP]));
    let lite_last = lite_first.with_policies(&order([Protocol::IIOP, is_lite()]));
    for _ in 0..2 {
        for (mirror, by, not_by) in [
            (&as_listed, &by_giop, &by_lite),
            (&lite_first, &by_lite, &by_giop),
            (&lite_last, &by_giop, &by_lite),
        ] {
            let count = || [by, not_by].map(|octets| octets.load(Ordering::Relaxed));
            let before = count();
            mirror.glances().await.unwrap();
            let after = count();
            assert!(after[0] > before[0] && after[1] == before[1]);
        }
    }
}
