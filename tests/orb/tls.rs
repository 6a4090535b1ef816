//! Calls over TLS, and what references demand of clients.

use crate::certificates::Authority;
use crate::savings::spawn;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use zorb::policy::{PolicyOverrides, Protocol};
use zorb::tls::{ClientCertificates, Tls, TlsOptions};
use zorb::{Builder, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_giop::ior::{ComponentTag, IiopProfile};
use zorb_giop::security::{AssociationOptions, SecMechList, SslSecTrans};

zorb::idl! {
    typedef sequence<octet> Data;

    interface Vault {
        Data octets(in Data value);
        oneway void knock();
        long knocks();
        string who();
    };
}

#[derive(Default)]
struct Cellar(AtomicU32);

impl Vault for Cellar {
    async fn octets(&self, value: zorb::OctetsRef<'_>) -> Result<zorb::Bytes, SystemException> {
        Ok(value.keep())
    }

    async fn knock(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn who(&self) -> Result<String, SystemException> {
        let peer = zorb::PoaCurrent::get_peer().unwrap().unwrap();
        let certificate = peer
            .identity
            .as_ref()
            .and_then(|identity| identity.certificate());
        let subject = certificate.map_or("nobody", |certificate| &certificate.subject);
        Ok(format!("{} {subject}", peer.endpoint.scheme()))
    }

    async fn knocks(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed).try_into().unwrap())
    }
}

fn serving_with(tls: &Tls) -> Builder {
    Orb::builder().transport(Arc::new(tls.clone()))
}

fn with_certificate(file: &Path) -> TlsOptions {
    TlsOptions::default().certificate(file, file)
}

async fn serve(builder: Builder) -> (Orb, VaultRef) {
    let server = builder.build().await.unwrap();
    let vault = server
        .root_poa()
        .activate(VaultServant::new(Cellar::default()))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    server.key_table().bind("Vault", &vault).unwrap();
    (server, vault)
}

/// A server with a certificate of the authority for 127.0.0.1, at these endpoints.
async fn server(authority: &Authority, endpoints: &[&str]) -> (Orb, VaultRef) {
    let own = authority.issue("server", &["127.0.0.1"]);
    let tls = Tls::new(with_certificate(&own)).unwrap();
    let listen = |builder: Builder, endpoint: &&str| builder.listen(*endpoint);
    serve(endpoints.iter().fold(serving_with(&tls), listen)).await
}

async fn client_of(authority: &Authority) -> Orb {
    let tls = Tls::new(TlsOptions::default().trust(authority.trust())).unwrap();
    serving_with(&tls).build().await.unwrap()
}

async fn reference(client: &Orb, text: &str) -> VaultRef {
    VaultRef::unchecked_narrow(client.string_to_object(text).await.unwrap())
}

/// The profile of IIOP in a reference.
fn profile(vault: &VaultRef) -> IiopProfile {
    let ior = vault.as_object().ior();
    IiopProfile::from_tagged(&ior.profiles[0]).unwrap()
}

fn port_of(server: &Orb, scheme: &str) -> u16 {
    let endpoints = server.endpoints();
    let found = endpoints
        .iter()
        .find(|endpoint| endpoint.scheme() == scheme);
    found.unwrap().port().unwrap()
}

async fn every_kind_of_call(vault: &VaultRef) {
    for length in [0, 1, 100, 16_300, 16_384, 70_000, 3 << 20] {
        let data: Vec<u8> = (0..length).map(|n: usize| (n % 251) as u8).collect();
        assert_eq!(vault.octets(&data[..]).await.unwrap(), data, "{length}");
    }
    let before = vault.knocks().await.unwrap();
    let callers = (0..16).map(|caller| {
        let vault = vault.clone();
        spawn(async move {
            for turn in 0..20 {
                let data = vec![caller; 1_000 * turn];
                assert_eq!(vault.octets(&data[..]).await.unwrap(), data);
                vault.knock().await.unwrap();
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    while vault.knocks().await.unwrap() < before + 320 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_go_over_tls_by_a_reference_and_by_a_url() {
    let authority = Authority::new("CA");
    let (server, vault) = server(&authority, &["ssliop://127.0.0.1:0"]).await;
    let client = client_of(&authority).await;
    every_kind_of_call(&reference(&client, &vault.to_string()).await).await;
    let url = server.corbaloc_url("Vault").unwrap();
    let port = port_of(&server, "ssliop");
    assert_eq!(url, format!("corbaloc:ssliop:1.2@127.0.0.1:{port}/Vault"));
    let named = reference(&client, &url).await;
    every_kind_of_call(&named).await;
    // The same object, by whatever reference of the two.
    let again = reference(&client, &format!("corbaloc:ssliop:127.0.0.1:{port}/Vault")).await;
    assert_eq!(named.as_object(), again.as_object());
}

#[test]
fn programs_without_a_runtime_serve_and_call_over_tls() {
    use zorb::blocking::Wait;
    let authority = Authority::new("CA");
    let own = authority.issue("server", &["127.0.0.1"]);
    let tls = Tls::new(with_certificate(&own)).unwrap();
    let server = serving_with(&tls)
        .listen("ssliop://127.0.0.1:0")
        .build_blocking()
        .unwrap();
    let poa = server.root_poa();
    let vault = poa.activate(VaultServant::new(Cellar::default())).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let tls = Tls::new(TlsOptions::default().trust(authority.trust())).unwrap();
    let client = serving_with(&tls).build_blocking().unwrap();
    let text = server.object_to_string(&vault);
    let vault = VaultRef::unchecked_narrow(client.string_to_object(&text).unwrap());
    for length in [0, 1, 1_000, 100_000, 3 << 20] {
        let data = vec![7; length];
        assert_eq!(vault.octets(&data[..]).wait().unwrap(), data);
    }
    let callers = (0..4).map(|_| {
        let vault = vault.clone();
        std::thread::spawn(move || {
            for turn in 0..50 {
                let data = vec![7; turn * 100];
                assert_eq!(vault.octets(&data[..]).wait().unwrap(), data);
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.join().unwrap();
    }
}

#[tokio::test]
async fn a_server_at_ports_for_tls_alone_publishes_no_plain_port() {
    let authority = Authority::new("CA");
    let (server, vault) = server(
        &authority,
        &["ssliop://127.0.0.1:0", "ssliop://127.0.0.1:0"],
    )
    .await;
    let profile = profile(&vault);
    assert_eq!(
        (&*profile.address.host, profile.address.port),
        ("127.0.0.1", 0)
    );
    let ssl = profile.component(ComponentTag::SSL_SEC_TRANS).unwrap();
    assert_eq!(
        SslSecTrans::from_component(ssl).unwrap(),
        SslSecTrans {
            supports: AssociationOptions(0x3e),
            requires: AssociationOptions(0x06),
            port: port_of(&server, "ssliop"),
        }
    );
    let list = profile.component(ComponentTag::CSI_SEC_MECH_LIST).unwrap();
    let list = SecMechList::from_component(list).unwrap();
    let tls = list.mechanisms[0].tls().unwrap();
    assert_eq!((list.mechanisms.len(), tls.addresses.len()), (1, 2));
    assert_eq!(vault.as_object().ior().profiles.len(), 1);

    // A client without TLS has no way, and says why.
    let plain = Orb::builder().build().await.unwrap();
    let vault = reference(&plain, &vault.to_string()).await;
    let error = vault.knocks().await.unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::ImpLimit);
    let text = format!("{error:#}");
    assert!(
        text.contains("a secure endpoint only (TLS), for which there is no transport"),
        "{text}"
    );
}

#[tokio::test]
async fn where_there_is_a_plain_port_besides_a_client_with_tls_uses_tls_unless_its_protocols_say_otherwise()
 {
    let authority = Authority::new("CA");
    let own = authority.issue("server", &["127.0.0.1"]);
    let tls = Tls::new(with_certificate(&own)).unwrap();
    let both = serving_with(&tls)
        .listen("iiop://127.0.0.1:0")
        .listen("ssliop://127.0.0.1:0");
    let (server, vault) = serve(both).await;
    let text = vault.to_string();
    let profile = profile(&vault);
    assert_eq!(profile.address.port, port_of(&server, "iiop"));
    let ssl = profile.component(ComponentTag::SSL_SEC_TRANS).unwrap();
    assert_eq!(SslSecTrans::from_component(ssl).unwrap().requires.0, 0);

    let client = client_of(&authority).await;
    reference(&client, &text).await.knocks().await.unwrap();
    assert_eq!(tls.handshakes().done, 1);
    let plain = Orb::builder().build().await.unwrap();
    reference(&plain, &text).await.knocks().await.unwrap();
    let iiop = PolicyOverrides::new().client_protocols([Protocol::IIOP]);
    let told = reference(&client, &text).await.with_policies(&iiop);
    told.knocks().await.unwrap();
    assert_eq!(tls.handshakes().done, 1);

    // A server whose certificate is not trusted is not called without protection instead.
    let stranger = client_of(&Authority::new("stranger")).await;
    let error = reference(&stranger, &text)
        .await
        .knocks()
        .await
        .unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::Transient);
    let text = format!("{error:#}");
    assert!(
        text.contains("chain: the server's certificate leads to none"),
        "{text}"
    );
    // Nor is it named beside in a URL.
    let url = server.corbaloc_url("Vault").unwrap();
    assert!(
        !url.contains("iiop:1.2@127.0.0.1:0") && !url.contains(",iiop"),
        "{url}"
    );
}

/// A server that has a plain port, and a reference that demands protection.
async fn demanding(authority: &Authority) -> (Orb, String) {
    let (server, vault) = server(authority, &["iiop://127.0.0.1:0", "ssliop://127.0.0.1:0"]).await;
    let mut profile = profile(&vault);
    for component in &mut profile.components {
        if component.tag == ComponentTag::SSL_SEC_TRANS {
            let mut ssl = SslSecTrans::from_component(&component.data).unwrap();
            ssl.requires = AssociationOptions(0x66);
            *component = ssl.to_component().unwrap();
        }
    }
    profile
        .components
        .retain(|component| component.tag != ComponentTag::CSI_SEC_MECH_LIST);
    let mut ior = vault.as_object().ior().clone();
    ior.profiles = vec![profile.to_tagged().unwrap()];
    (server, ior.to_ior_string().unwrap())
}

#[tokio::test]
async fn a_reference_that_demands_protection_is_never_called_without() {
    let authority = Authority::new("CA");
    let (_server, text) = demanding(&authority).await;
    let client = client_of(&authority).await;
    reference(&client, &text).await.knocks().await.unwrap();
    // Whatever protocols the client prefers.
    let iiop = PolicyOverrides::new().client_protocols([Protocol::IIOP]);
    let told = reference(&client, &text).await.with_policies(&iiop);
    let error = told.knocks().await.unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::InvPolicy);
    // Nor by a client that has no TLS.
    let plain = Orb::builder().build().await.unwrap();
    let error = reference(&plain, &text).await.knocks().await.unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("a secure endpoint only (TLS)"), "{text}");
}

#[tokio::test]
async fn a_server_is_set_up_by_properties_alone() {
    let authority = Authority::new("CA");
    let own = authority.issue("server", &["127.0.0.1"]);
    let (own, trust) = (own.display(), authority.trust());
    let alice = authority.issue("alice", &[]);
    let properties = [
        format!("ssliop.certificate={own}"),
        format!("ssliop.trust={}", trust.display()),
        "ssliop.client_certificates=required".to_owned(),
    ];
    let set = |builder: Builder, property: &String| builder.transport_property(property);
    let builder = properties.iter().fold(Orb::builder(), set);
    let (_server, vault) = serve(builder.listen("ssliop://127.0.0.1:0")).await;
    let ssl = profile(&vault);
    let ssl = ssl.component(ComponentTag::SSL_SEC_TRANS).unwrap();
    assert_eq!(SslSecTrans::from_component(ssl).unwrap().requires.0, 0x46);
    let options = with_certificate(&alice).trust(&trust);
    let client = serving_with(&Tls::new(options).unwrap())
        .build()
        .await
        .unwrap();
    let text = vault.to_string();
    // The servant learns who it is.
    let who = reference(&client, &text).await.who().await.unwrap();
    assert_eq!(who, "ssliop CN=alice");
    // In TLS 1.3 the client hears behind its handshake that it has to have a certificate.
    let nobody = client_of(&authority).await;
    let error = reference(&nobody, &text).await.knocks().await.unwrap_err();
    let text = format!("{error:#}");
    assert!(
        text.contains("there is none, and it requires one"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_that_are_replaced_under_load_lose_no_call() {
    let authority = Authority::new("CA");
    let own = authority.issue("server", &["127.0.0.1"]);
    let tls =
        Tls::new(with_certificate(&own).client_certificates(ClientCertificates::None)).unwrap();
    let (_server, vault) = serve(serving_with(&tls).listen("ssliop://127.0.0.1:0")).await;
    let text = vault.to_string();
    let done = Arc::new(AtomicBool::new(false));
    let callers = (0..4).map(|_| {
        let (text, done, trust) = (text.clone(), Arc::clone(&done), authority.trust());
        spawn(async move {
            let mut calls = 0;
            while !done.load(Ordering::Relaxed) {
                let tls = Tls::new(TlsOptions::default().trust(&trust)).unwrap();
                let client = serving_with(&tls).build().await.unwrap();
                let vault = reference(&client, &text).await;
                for _ in 0..5 {
                    vault.knocks().await.unwrap();
                    calls += 1;
                }
            }
            calls
        })
    });
    let callers: Vec<_> = callers.collect();
    let steady = client_of(&authority).await;
    let steady = reference(&steady, &text).await;
    for _ in 0..20 {
        authority.issue("server", &["127.0.0.1"]);
        tls.reload().unwrap();
        steady.knocks().await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        assert!(caller.await.unwrap() > 0);
    }
}

#[tokio::test]
async fn calls_go_over_tls_at_a_unix_socket_whose_server_is_localhost() {
    let authority = Authority::new("CA");
    let own = authority.issue("server", &["localhost"]);
    let alice = authority.issue("alice", &[]);
    let options = with_certificate(&own).trust(authority.trust());
    let required = options.client_certificates(ClientCertificates::Required);
    let tls = Tls::new(required).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("ssluiop://{}", folder.path().join("socket").display());
    let server = Orb::builder().transport(Arc::new(tls.over_unix_sockets()));
    let (_server, vault) = serve(server.listen(socket)).await;
    let client = |tls: Tls| async move {
        let both = serving_with(&tls).transport(Arc::new(tls.over_unix_sockets()));
        both.build().await.unwrap()
    };
    let text = vault.to_string();
    let alices = Tls::new(with_certificate(&alice).trust(authority.trust())).unwrap();
    let vault = reference(&client(alices).await, &text).await;
    every_kind_of_call(&vault).await;
    assert_eq!(vault.who().await.unwrap(), "ssluiop CN=alice");
    // Another name would be another server.
    let other = Authority::new("other");
    let mallory = Tls::new(with_certificate(&alice).trust(other.trust())).unwrap();
    let error = (reference(&client(mallory).await, &text).await.knocks()).await;
    assert!(format!("{:#}", error.unwrap_err()).contains("chain: "));
    let plain = Orb::builder().build().await.unwrap();
    let error = reference(&plain, &text).await.knocks().await.unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::ImpLimit);
}
