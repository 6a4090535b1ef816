//! Who calls, by security contexts in requests (CSIv2).

use crate::certificates;
use crate::savings::in_time;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::sync::Notify;
use zorb::csi::{Authentication, Credentials, Csi, IdentityToken, Login, Refusal};
use zorb::permissions::{AuditRecord, OperationRule, OperationRules};
use zorb::policy::{PolicyOverrides, ReplyContexts};
use zorb::tls::{ClientCertificates, Tls, TlsOptions};
use zorb::transport::{PeerIdentity, Principal, Rule};
use zorb::{
    Any, Builder, Counter, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton,
    Interface, Orb, Poa, PoaCurrent, RequestError, ServiceContext, ServiceContextId,
    SystemException, SystemExceptionKind, TypeCode,
};
use zorb_csi::{ContextId, SasContext, Status};
use zorb_giop::ior::{ComponentTag, IiopProfile};
use zorb_giop::security::{AssociationOptions, SecMechList};

zorb::idl! {
    interface Door {
        string whoami();
        oneway void knock();
        long knocks();
    };
}

#[derive(Default)]
struct Porter(AtomicUsize);

/// The name of the caller, in brackets if it is asserted; `nobody` without a principal.
fn caller() -> String {
    let peer = PoaCurrent::get_peer().unwrap();
    let identity = peer.as_ref().and_then(|peer| peer.identity.as_ref());
    match identity.and_then(PeerIdentity::principal) {
        None => "nobody".to_owned(),
        Some(principal) if principal.is_asserted => format!("({})", principal.name),
        Some(principal) => principal.name.clone(),
    }
}

impl Door for Porter {
    async fn whoami(&self) -> Result<String, SystemException> {
        let name = caller();
        tokio::task::yield_now().await;
        assert_eq!(caller(), name);
        Ok(name)
    }

    async fn knock(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn knocks(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed).try_into().unwrap())
    }
}

/// The password of each user: a rule, so that each has its own.
fn password_of(user: &str) -> String {
    format!("secret of {user}")
}

fn user(name: &str) -> Credentials {
    Credentials::password(name, password_of(name))
}

/// Counts how often each user has been verified.
#[derive(Clone, Default)]
struct Authority(Arc<Mutex<HashMap<String, usize>>>);

impl Authority {
    fn times(&self, user: &str) -> usize {
        self.0.lock().unwrap().get(user).copied().unwrap_or(0)
    }

    fn verify(&self, login: &Login) -> Result<Principal, Refusal> {
        let mut seen = self.0.lock().unwrap();
        *seen.entry(login.username().to_owned()).or_default() += 1;
        match login.has_password(password_of(login.username())) {
            true => Ok(Principal::new(login.username())),
            false => Err(Refusal::Denied),
        }
    }

    fn passwords(&self) -> Authentication {
        let authority = self.clone();
        Authentication::passwords(move |login| {
            let authority = authority.clone();
            async move {
                tokio::task::yield_now().await;
                authority.verify(&login)
            }
        })
    }
}

/// A server on a UNIX socket, which others cannot read.
struct Server {
    orb: Orb,
    poa: Poa,
    _folder: Option<TempDir>,
}

impl Server {
    async fn start(authentication: &Authentication) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = format!("uiop://{}", folder.path().join("door").display());
        let builder = Orb::builder().listen(&endpoint);
        Self::of(builder, authentication, Some(folder)).await
    }

    async fn of(
        builder: Builder,
        authentication: &Authentication,
        folder: Option<TempDir>,
    ) -> Self {
        Self::with(builder.csi(Csi::new()), authentication, folder).await
    }

    async fn with(
        builder: Builder,
        authentication: &Authentication,
        folder: Option<TempDir>,
    ) -> Self {
        let orb = builder.build().await.unwrap();
        let poa = orb.root_poa().create_poa("doors", None).unwrap();
        poa.set_authentication(authentication).unwrap();
        poa.the_poa_manager().activate().unwrap();
        let _folder = folder;
        Self { orb, poa, _folder }
    }

    fn open(&self) -> DoorRef {
        self.poa
            .activate(DoorServant::new(Porter::default()))
            .unwrap()
    }
}

async fn client(csi: Csi) -> Orb {
    Orb::builder().csi(csi).build().await.unwrap()
}

async fn far(client: &Orb, near: &DoorRef) -> DoorRef {
    let object = client.string_to_object(&near.to_string()).await.unwrap();
    object.unchecked_narrow()
}

/// The client of a user, over a protected connection.
async fn calling(name: &str, near: &DoorRef) -> (Orb, DoorRef) {
    let client = client(Csi::new().credentials(user(name))).await;
    let far = far(&client, near).await;
    (client, far)
}

/// What every refused client gets, and no more.
fn assert_refused(refused: Result<String, SystemException>) {
    let exception = refused.unwrap_err();
    assert_eq!(exception.kind, SystemExceptionKind::NoPermission);
    assert_eq!(exception.completed, zorb::CompletionStatus::No);
    assert_eq!(exception.minor, 0);
}

#[tokio::test]
async fn a_servant_knows_the_user_and_a_context_is_verified_once() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let near = server.open();
    let (_client, alice) = calling("alice", &near).await;
    for _ in 0..3 {
        assert_eq!(alice.whoami().await.unwrap(), "alice");
    }
    assert_eq!(authority.times("alice"), 1);
    // A call within the server is asked nothing.
    assert_eq!(near.whoami().await.unwrap(), "nobody");
}

/// A door without generated code.
struct ByName;

impl DynamicServant for ByName {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let peer = request.peer().expect("a remote call");
        let principal = peer.identity.as_ref().and_then(PeerIdentity::principal);
        let name = principal.map_or("nobody", |it| &it.name);
        assert_eq!(name, caller());
        tokio::task::yield_now().await;
        assert_eq!(name, caller());
        let name = Any::new(name).map_err(SystemException::from)?;
        Ok(DynamicReply::new(Some(name), Vec::new()))
    }
}

#[tokio::test]
async fn dynamic_calls_have_the_identity_of_their_caller_and_dynamic_servants_learn_it() {
    let server = Server::start(&Authority::default().passwords()).await;
    let skeleton = DynamicSkeleton::new(DoorRef::REPOSITORY_ID, ByName);
    let dynamic: DoorRef = server.poa.activate(skeleton).unwrap().unchecked_narrow();
    for near in [server.open(), dynamic] {
        let (_client, door) = calling("ada", &near).await;
        assert_eq!(door.whoami().await.unwrap(), "ada");
        let whoami = door.as_object().request("whoami");
        let whoami = whoami.returns(TypeCode::string(0));
        let name = |response: zorb::Response| response.result.unwrap().extract::<String>().unwrap();
        assert_eq!(name(whoami.invoke().await.unwrap()), "ada");
        assert_eq!(name(whoami.send_deferred().await.unwrap()), "ada");
        // The credentials of the caller's task, when it sends.
        let bob = PolicyOverrides::new().credentials(user("bob"));
        let pending = bob.scope_blocking(|| whoami.send_deferred());
        assert_eq!(name(pending.await.unwrap()), "bob");
        let (_client, refused) = calling("eve", &near).await;
        let refused = refused.with_policies(
            &PolicyOverrides::new().credentials(Credentials::password("eve", "wrong")),
        );
        let whoami = refused.as_object().request("whoami");
        let RequestError::System(refused) = whoami.invoke().await.unwrap_err() else {
            panic!("a system exception");
        };
        assert_eq!(refused.kind, SystemExceptionKind::NoPermission);
    }
}

#[tokio::test]
async fn a_stateless_server_verifies_each_request() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords().stateless()).await;
    let (_client, alice) = calling("alice", &server.open()).await;
    for _ in 0..3 {
        assert_eq!(alice.whoami().await.unwrap(), "alice");
    }
    assert_eq!(authority.times("alice"), 3);
}

#[tokio::test]
async fn names_and_passwords_of_any_length_arrive() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords().realm("a rather long realm")).await;
    let near = server.open();
    let client = client(Csi::new()).await;
    let door = far(&client, &near).await;
    for length in [1, 20, 39, 40, 41, 100, 127, 128, 200, 5000] {
        let name = "é".repeat(length);
        let credentials = PolicyOverrides::new().credentials(user(&name));
        assert_eq!(credentials.scope(door.whoami()).await.unwrap(), name);
    }
}

#[tokio::test]
async fn users_who_are_refused_all_get_the_same_and_reach_no_servant() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let near = server.open();
    let bare = client(Csi::new()).await;
    let door = far(&bare, &near).await;
    // No credentials, a wrong password, no password.
    assert_refused(door.whoami().await);
    for wrong in [
        Credentials::password("alice", "guess"),
        Credentials::password("", ""),
    ] {
        let wrong = PolicyOverrides::new().credentials(wrong);
        assert_refused(wrong.scope(door.whoami()).await);
        wrong.scope(door.knock()).await.unwrap();
    }
    // Another client still gets in, on the same connection.
    let right = PolicyOverrides::new().credentials(user("alice"));
    assert_eq!(right.scope(door.whoami()).await.unwrap(), "alice");
    assert_eq!(right.scope(door.knocks()).await.unwrap(), 0);
    // The operator learns of each, of those without a reply, too.
    let counters = server.orb.counters();
    in_time(async {
        while counters.get(Counter::LoginsRefused) < 5 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn credentials_are_those_of_the_orb_the_reference_or_the_call() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords().optional()).await;
    let (_client, orbs) = calling("orb", &server.open()).await;
    let references = orbs.with_policies(&PolicyOverrides::new().credentials(user("reference")));
    let none = orbs.with_policies(&PolicyOverrides::new().credentials(Credentials::none()));
    let call = PolicyOverrides::new().credentials(user("call"));
    let (orbs, references, none, calls) = tokio::join!(
        orbs.whoami(),
        references.whoami(),
        none.whoami(),
        call.scope(orbs.whoami())
    );
    assert_eq!(orbs.unwrap(), "orb");
    assert_eq!(references.unwrap(), "reference");
    assert_eq!(none.unwrap(), "nobody");
    assert_eq!(calls.unwrap(), "call");
}

#[tokio::test]
async fn a_password_goes_over_no_connection_that_others_can_read_unless_both_sides_say_so() {
    let authority = Authority::default();
    let tcp = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = Server::of(tcp, &authority.passwords(), None).await;
    let near = server.open();
    let careful = client(Csi::new().credentials(user("careful"))).await;
    let refused = far(&careful, &near).await.whoami().await;
    let text = format!("{:#}", refused.as_ref().unwrap_err());
    assert!(text.contains("also_over_unprotected_connections"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    assert_refused(refused);
    assert_eq!(authority.times("careful"), 0);
    let careless = user("careless").also_over_unprotected_connections();
    let careless = client(Csi::new().credentials(careless)).await;
    let door = far(&careless, &near).await;
    assert_refused(door.whoami().await);
    assert_eq!(authority.times("careless"), 0);
    let takes = authority.passwords().also_over_unprotected_connections();
    server.poa.set_authentication(&takes).unwrap();
    assert_eq!(door.whoami().await.unwrap(), "careless");
    // Nor does a careful client to a server that can do without.
    let takes = takes.optional();
    server.poa.set_authentication(&takes).unwrap();
    let door = far(&careful, &server.open()).await;
    assert_eq!(door.whoami().await.unwrap(), "nobody");
}

#[tokio::test]
async fn a_password_goes_over_tls_by_one_list_of_mechanisms() {
    let (users, certificates) = (Authority::default(), certificates::Authority::new("csi"));
    let own = certificates.issue("server", &["127.0.0.1"]);
    let tls = Tls::new(TlsOptions::default().certificate(&own, &own)).unwrap();
    let builder = Orb::builder().transport(Arc::new(tls));
    let builder = builder.listen("ssliop://127.0.0.1:0");
    let server = Server::of(builder, &users.passwords().realm("bank"), None).await;
    let near = server.open();
    let profile = IiopProfile::from_tagged(&near.as_object().ior().profiles[0]).unwrap();
    let lists = (profile.components.iter())
        .filter(|component| component.tag == ComponentTag::CSI_SEC_MECH_LIST);
    let lists: Vec<_> = lists
        .map(|component| SecMechList::from_component(&component.data).unwrap())
        .collect();
    let [list] = &lists[..] else {
        panic!("{lists:?}");
    };
    assert!(list.stateful);
    let mechanism = &list.mechanisms[0];
    assert!(mechanism.tls().is_some());
    let trust = AssociationOptions::ESTABLISH_TRUST_IN_CLIENT;
    assert_eq!(mechanism.client_authentication.requires, trust);
    let tls = Tls::new(TlsOptions::default().trust(certificates.trust())).unwrap();
    let client = Orb::builder().transport(Arc::new(tls));
    let client = client.csi(Csi::new().credentials(user("alice")));
    let client = client.build().await.unwrap();
    for _ in 0..2 {
        assert_eq!(far(&client, &near).await.whoami().await.unwrap(), "alice");
    }
    assert_eq!(users.times("alice"), 1);
}

#[tokio::test]
async fn nothing_is_sent_to_an_object_whose_reference_does_not_ask_for_it() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let open = server.orb.root_poa();
    open.the_poa_manager().activate().unwrap();
    let near = open.activate(DoorServant::new(Porter::default())).unwrap();
    let (_client, door) = calling("alice", &near).await;
    let replied = ReplyContexts::new();
    let calls = PolicyOverrides::new().reply_contexts(&replied);
    assert_eq!(calls.scope(door.whoami()).await.unwrap(), "nobody");
    assert_eq!(replied.get(ServiceContextId(15)), None);
    assert_eq!(authority.times("alice"), 0);
}

#[tokio::test]
async fn more_users_than_a_server_has_contexts_for_are_all_served() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let client = client(Csi::new()).await;
    let door = far(&client, &server.open()).await;
    let users: Vec<_> = (0..3 * zorb_csi::server::MAX_CONTEXTS / 2)
        .map(|number| format!("user {number}"))
        .collect();
    let credentials: Vec<_> = users.iter().map(|name| user(name)).collect();
    for _ in 0..2 {
        for (name, credentials) in users.iter().zip(&credentials) {
            let credentials = PolicyOverrides::new().credentials(credentials.clone());
            assert_eq!(&credentials.scope(door.whoami()).await.unwrap(), name);
        }
    }
    // The contexts of the first ones were forgotten, and established anew.
    assert_eq!(authority.times(&users[0]), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simultaneous_logins_on_one_connection_keep_their_names() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let client = client(Csi::new()).await;
    let door = far(&client, &server.open()).await;
    let calls = (0..40).map(|number| {
        let (door, name) = (door.clone(), format!("user {}", number % 8));
        tokio::spawn(async move {
            let credentials = PolicyOverrides::new().credentials(user(&name));
            for _ in 0..10 {
                assert_eq!(credentials.scope(door.whoami()).await.unwrap(), name);
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

/// An authority that waits until it is told.
fn slow(authority: &Authority, begun: &Arc<Notify>, go_on: &Arc<Notify>) -> Authentication {
    let (authority, begun, go_on) = (authority.clone(), Arc::clone(begun), Arc::clone(go_on));
    Authentication::passwords(move |login| {
        let (authority, begun, go_on) = (authority.clone(), Arc::clone(&begun), Arc::clone(&go_on));
        async move {
            begun.notify_one();
            go_on.notified().await;
            authority.verify(&login)
        }
    })
}

#[tokio::test]
async fn requests_that_come_during_a_verification_wait_for_it_and_others_do_not() {
    let (authority, begun, go_on) = (Authority::default(), Arc::default(), Arc::default());
    let server = Server::start(&slow(&authority, &begun, &go_on)).await;
    let (client, alice) = calling("alice", &server.open()).await;
    let calls = async { tokio::join!(alice.whoami(), alice.whoami(), alice.whoami()) };
    let meanwhile = async {
        begun.notified().await;
        // Of an adapter that asks nobody, by the same connection.
        let open = server.orb.root_poa();
        open.the_poa_manager().activate().unwrap();
        let near = open.activate(DoorServant::new(Porter::default())).unwrap();
        assert_eq!(far(&client, &near).await.whoami().await.unwrap(), "nobody");
        go_on.notify_one();
    };
    let (names, ()) = tokio::join!(calls, meanwhile);
    assert_eq!(names.0.unwrap(), "alice");
    assert_eq!(names.1.unwrap(), "alice");
    assert_eq!(names.2.unwrap(), "alice");
    assert_eq!(authority.times("alice"), 1);
}

#[tokio::test]
async fn a_verifier_that_panics_or_cannot_tell_leaves_nothing_to_wait_for() {
    let tried = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&tried);
    let authentication = Authentication::passwords(move |login: Login| {
        let time = counting.fetch_add(1, Ordering::Relaxed);
        async move {
            match time {
                0 => panic!("the database is gone"),
                1 => Err(Refusal::Unavailable),
                _ => Ok(Principal::new(login.username())),
            }
        }
    });
    let server = Server::start(&authentication).await;
    let (_client, alice) = calling("alice", &server.open()).await;
    let kind = |outcome: Result<String, SystemException>| outcome.unwrap_err().kind;
    assert_eq!(kind(alice.whoami().await), SystemExceptionKind::Unknown);
    assert_eq!(kind(alice.whoami().await), SystemExceptionKind::Transient);
    assert_eq!(alice.whoami().await.unwrap(), "alice");
    assert_eq!(tried.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_trusted_client_acts_for_others_and_no_other_does() {
    let authority = Authority::default();
    let authentication = authority.passwords().trusting(async |assertion| {
        let is_gateway = assertion
            .client
            .is_some_and(|client| client.name == "gateway");
        match (&assertion.identity, is_gateway) {
            (IdentityToken::Anonymous, true) => Ok(Principal::new("")),
            (identity, true) => {
                let name = identity.principal_name().map_err(|_| Refusal::Denied)?;
                Ok(Principal::new(String::from_utf8_lossy(&name.name)))
            }
            (_, false) => Err(Refusal::Denied),
        }
    });
    let server = Server::start(&authentication).await;
    let client = client(Csi::new()).await;
    let door = far(&client, &server.open()).await;
    let as_whom = async |credentials: Credentials| {
        let credentials = PolicyOverrides::new().credentials(credentials);
        credentials.scope(door.whoami()).await
    };
    let bob = || IdentityToken::named("bob").unwrap();
    let gateway = user("gateway");
    assert_eq!(as_whom(gateway.clone()).await.unwrap(), "gateway");
    assert_eq!(
        as_whom(gateway.clone().asserting(bob())).await.unwrap(),
        "(bob)"
    );
    let anonymous = gateway.clone().asserting(IdentityToken::Anonymous);
    assert_eq!(as_whom(anonymous).await.unwrap(), "()");
    let chain = IdentityToken::X509CertChain(b"0\x02ab"[..].to_vec().into());
    assert_refused(as_whom(gateway.asserting(chain)).await);
    assert_refused(as_whom(user("mallory").asserting(bob())).await);
    // Without a password of its own.
    assert_refused(as_whom(Credentials::none().asserting(bob())).await);
}

#[tokio::test]
async fn rules_of_operations_know_who_has_logged_in_and_for_whom_a_client_acts() {
    let (users, certificates) = (Authority::default(), certificates::Authority::new("rules"));
    let records = Arc::new(Mutex::new(Vec::<AuditRecord>::new()));
    let kept = Arc::clone(&records);
    let front = || Rule::allow().certificate("DNS:front.example");
    let rules = OperationRules::new([
        OperationRule::deny().of(Rule::allow().principal("mallory")),
        OperationRule::allow()
            .of(Rule::allow().principal("alice"))
            .of(front().asserted_principal("alice"))
            .operations(["whoami"]),
    ]);
    let rules = rules.audit(move |record| kept.lock().unwrap().push(record.clone()));
    let own = certificates.issue("server", &["127.0.0.1"]);
    let options = TlsOptions::default()
        .certificate(&own, &own)
        .trust(certificates.trust())
        .client_certificates(ClientCertificates::Optional);
    let builder = Orb::builder()
        .transport(Arc::new(Tls::new(options).unwrap()))
        .listen("ssliop://127.0.0.1:0")
        .csi(Csi::new())
        .server_interceptor(rules);
    // The authority trusts whoever has logged in; the rules do not.
    let trusting = users.passwords().trusting(async |assertion| {
        let name = assertion.identity.principal_name();
        let name = name.map_err(|_| Refusal::Denied)?;
        Ok(Principal::new(String::from_utf8_lossy(&name.name)))
    });
    let server = Server::with(builder, &trusting, None).await;
    let near = server.open();
    let door = async |certificate: Option<&str>| {
        let mut options = TlsOptions::default().trust(certificates.trust());
        if let Some(name) = certificate {
            let own = certificates.issue(name, &[&format!("{name}.example")]);
            options = options.certificate(&own, &own);
        }
        let client = Orb::builder().transport(Arc::new(Tls::new(options).unwrap()));
        let client = client.csi(Csi::new()).build().await.unwrap();
        let door = far(&client, &near).await;
        (client, door)
    };
    let (_plain, plain) = door(None).await;
    let (_front, front) = door(Some("front")).await;
    let (_other, other) = door(Some("other")).await;
    let as_whom = async |door: &DoorRef, credentials: Credentials| {
        let credentials = PolicyOverrides::new().credentials(credentials);
        credentials.scope(door.whoami()).await
    };
    let asserted = |by: &str, name: &str| user(by).asserting(IdentityToken::named(name).unwrap());
    for (door, credentials, name) in [
        (&plain, user("alice"), Some("alice")),
        (&front, asserted("front", "alice"), Some("(alice)")),
        (&plain, user("bob"), None),
        (&plain, user("mallory"), None),
        (&other, asserted("other", "alice"), None),
        (&plain, asserted("bob", "alice"), None),
        (&front, asserted("front", "bob"), None),
        // The name of one who has logged in is not that of one who is acted for.
        (&front, user("front"), None),
    ] {
        let outcome = as_whom(door, credentials).await;
        match name {
            Some(name) => assert_eq!(outcome.unwrap(), name),
            None => assert_refused(outcome),
        }
    }
    let records = records.lock().unwrap();
    assert_eq!(records.len(), 8);
    assert!(
        records
            .iter()
            .all(|record| record.interface == "IDL:Door:1.0")
    );
    let line = records[1].to_string();
    for part in [
        "\"CN=front\"",
        "\"DNS:front.example\"",
        "in the name of \"alice\"",
        "\"whoami\" of \"IDL:Door:1.0\"",
        ": replied",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(records[3].to_string().contains("as \"mallory\""));
}

#[tokio::test]
async fn an_identity_is_not_dropped_where_the_server_takes_none() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let (_client, door) = calling("gateway", &server.open()).await;
    let bob = user("gateway").asserting(IdentityToken::named("bob").unwrap());
    let bob = PolicyOverrides::new().credentials(bob);
    assert_refused(bob.scope(door.whoami()).await);
    assert_eq!(authority.times("gateway"), 0);
}

#[tokio::test]
async fn contexts_that_are_none_are_refused_and_say_so_in_the_reply() {
    let authority = Authority::default();
    let server = Server::start(&authority.passwords()).await;
    let client = client(Csi::new()).await;
    let door = far(&client, &server.open()).await;
    let message = |id, discard| {
        let id = ContextId(id);
        SasContext::Message { id, discard }.to_octets().unwrap()
    };
    let complete = SasContext::complete(ContextId(1), true)
        .to_octets()
        .unwrap();
    let too_large = vec![0; zorb_csi::MAX_CONTEXT_OCTETS + 1];
    for (octets, id, status) in [
        (&b""[..], 0, Status::INVALID_EVIDENCE),
        (b"\0\0\0\0", 0, Status::INVALID_EVIDENCE),
        (&[0xff; 64], 0, Status::INVALID_EVIDENCE),
        (&too_large, 0, Status::INVALID_EVIDENCE),
        (complete.expose(), 1, Status::INVALID_EVIDENCE),
        (message(7, false).expose(), 7, Status::NO_CONTEXT),
        (message(0, true).expose(), 0, Status::NO_CONTEXT),
    ] {
        let replied = ReplyContexts::new();
        let context = ServiceContext {
            id: ServiceContextId(15),
            data: octets.to_vec().into(),
        };
        let call = PolicyOverrides::new()
            .service_context(context)
            .reply_contexts(&replied);
        assert_refused(call.scope(door.whoami()).await);
        let reply = replied.get(ServiceContextId(15)).unwrap();
        let expected = SasContext::refused(ContextId(id), status);
        assert_eq!(SasContext::from_octets(&reply).unwrap(), expected);
    }
    assert!(authority.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_orb_without_security_contexts_has_no_poa_that_asks_for_them() {
    let orb = Orb::builder().build().await.unwrap();
    let asked = orb
        .root_poa()
        .set_authentication(&Authority::default().passwords());
    assert_eq!(asked.unwrap_err().kind, SystemExceptionKind::BadInvOrder);
}

#[test]
fn no_password_is_shown() {
    let credentials = user("alice").asserting(IdentityToken::Anonymous);
    let policies = PolicyOverrides::new().credentials(credentials.clone());
    let shown = format!("{credentials:?} {policies:?}");
    assert!(
        shown.contains("alice") && !shown.contains("secret"),
        "{shown}"
    );
}
