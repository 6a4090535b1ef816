//! User names and passwords in security contexts (CSIv2, GSSUP) with JacORB: both ways, stateful and stateless, over TCP
//! where both sides say so, and over TLS.

use crate::interop::tls::{JACORB_TLS, with_jacorb};
use crate::support::{Running, have, passed};
use crate::tap::Tap;
use crate::tshark;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use zorb::csi::{Authentication, Credentials, Csi, Login, Refusal};
use zorb::policy::PolicyOverrides;
use zorb::transport::{PeerIdentity, Principal};
use zorb::{Builder, Orb, Poa, PoaCurrent, SystemException, SystemExceptionKind};
use zorb_csi::gssup::InitialContextToken;

zorb::idl! {
    interface Who {
        string whoami();
    };
}

/// As the program `csi` has it (`tests/interop/jacorb/src/peer/Passwords.java`).
fn password_of(user: &str) -> String {
    let letters: String = user.chars().take(8).collect();
    format!("secret of {letters}")
}

/// Names of 1 to 200 characters.
fn names() -> Vec<String> {
    [
        1, 7, 30, 60, 61, 64, 70, 72, 73, 74, 76, 80, 100, 127, 128, 150, 200,
    ]
    .map(|length| "n".repeat(length))
    .to_vec()
}

/// JacORB writes the length of a token in groups of seven bits, and reads one octet of it, so it reads none that is
/// longer than 127 octets. Its server publishes an empty target name.
fn jacorb_reads(user: &str) -> bool {
    let token = InitialContextToken {
        username: user.to_owned(),
        password: password_of(user).into(),
        target_name: zorb::Bytes::new(),
    };
    token.to_token().unwrap().expose().len() <= 127 + 2
}

/// JacORB's program.
fn program(cell: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/build/jacorb/csi");
    have(cell, &[&program]).then_some(program)
}

/// How a column is run.
#[derive(Clone, Copy)]
struct Column {
    stateful: bool,
    tls: bool,
}

const COLUMNS: [(&str, Column); 4] = [
    (
        "tcp/stateful",
        Column {
            stateful: true,
            tls: false,
        },
    ),
    (
        "tcp/stateless",
        Column {
            stateful: false,
            tls: false,
        },
    ),
    (
        "tls/stateful",
        Column {
            stateful: true,
            tls: true,
        },
    ),
    (
        "tls/stateless",
        Column {
            stateful: false,
            tls: true,
        },
    ),
];

impl Column {
    /// The arguments of JacORB's program.
    fn theirs(self) -> Vec<String> {
        let mut args = match self.tls {
            true => (JACORB_TLS.limit)("1.2"),
            false => Vec::new(),
        };
        args.push(format!("-Djacorb.security.sas.stateful={}", self.stateful));
        args.push("-DOAIAddr=127.0.0.1".to_owned());
        args
    }

    fn ours(self) -> Builder {
        match self.tls {
            true => with_jacorb(Orb::builder()).listen("ssliop://127.0.0.1:0"),
            false => Orb::builder().listen("iiop://127.0.0.1:0"),
        }
    }

    fn user(self, name: &str, password: &str) -> PolicyOverrides {
        let credentials = Credentials::password(name, password);
        PolicyOverrides::new().credentials(match self.tls {
            true => credentials,
            false => credentials.also_over_unprotected_connections(),
        })
    }
}

/// JacORB's server, which ends with its input.
fn their_server(program: &Path, column: Column) -> (Running, Option<ChildStdin>, String) {
    let mut command = Command::new(program);
    command.arg("server").args(column.theirs());
    let (mut server, input) = Running::spawn(command, Stdio::piped());
    let reference = server.reference().expect("a reference");
    (server, input, reference)
}

async fn door(client: &Orb, reference: &str) -> WhoRef {
    let object = client.string_to_object(reference).await.unwrap();
    object.unchecked_narrow()
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_logs_in_to_jacorb() {
    for (name, column) in COLUMNS {
        let cell = format!("zorb-jacorb/giop1.2/le-be/{name}/csi");
        let Some(program) = program(&cell) else {
            return;
        };
        let (_server, _input, reference) = their_server(&program, column);
        let client = column.ours().csi(Csi::new()).build().await.unwrap();
        let door = door(&client, &reference).await;
        for name in names() {
            let user = column.user(&name, &password_of(&name));
            for _ in 0..3 {
                let answer = user.scope(door.whoami()).await;
                match jacorb_reads(&name) {
                    true => assert_eq!(answer.unwrap(), name),
                    false => {
                        let kind = answer.unwrap_err().kind;
                        assert_eq!(kind, SystemExceptionKind::NoPermission, "{}", name.len());
                    }
                }
            }
        }
        let wrong = column.user("mallory", "guess");
        let refused = wrong.scope(door.whoami()).await.unwrap_err();
        assert_eq!(refused.kind, SystemExceptionKind::NoPermission);
        assert!(
            format!("{refused:#}").contains("invalid evidence (1/1)"),
            "{refused:#}"
        );
        passed(&cell);
    }
}

struct Servant;

impl Who for Servant {
    async fn whoami(&self) -> Result<String, SystemException> {
        let peer = PoaCurrent::get_peer().unwrap();
        let identity = peer.as_ref().and_then(|peer| peer.identity.as_ref());
        let principal = identity.and_then(PeerIdentity::principal);
        Ok(principal.map_or_else(String::new, |principal| principal.name.clone()))
    }
}

/// Our server, and who has been verified there.
struct Ours {
    _orb: Orb,
    poa: Poa,
    reference: String,
    verified: Arc<Mutex<Vec<String>>>,
}

fn verify(login: &Login, verified: &Mutex<Vec<String>>) -> Result<Principal, Refusal> {
    verified.lock().unwrap().push(login.username().to_owned());
    match login.has_password(password_of(login.username())) {
        true => Ok(Principal::new(login.username())),
        false => Err(Refusal::Denied),
    }
}

fn authentication(verified: &Arc<Mutex<Vec<String>>>, column: Column) -> Authentication {
    let verified = Arc::clone(verified);
    let authentication = Authentication::passwords(move |login| {
        let outcome = verify(&login, &verified);
        async move { outcome }
    });
    match column.tls {
        true => authentication,
        false => authentication.also_over_unprotected_connections(),
    }
}

async fn our_server(column: Column) -> Ours {
    let orb = column.ours().csi(Csi::new()).build().await.unwrap();
    let poa = orb.root_poa().create_poa("who", None).unwrap();
    let verified = Arc::default();
    poa.set_authentication(&authentication(&verified, column))
        .unwrap();
    let who = poa.activate(WhoServant::new(Servant)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    Ours {
        reference: who.to_string(),
        _orb: orb,
        poa,
        verified,
    }
}

/// What JacORB's client prints that calls so often in the name of each user.
fn their_client(
    program: &Path,
    reference: &str,
    column: Column,
    times: usize,
    users: &[(String, String)],
) -> Vec<String> {
    let mut args = vec!["client".to_owned(), reference.to_owned(), times.to_string()];
    let both = users.iter().flat_map(|(user, password)| [user, password]);
    args.extend(both.cloned());
    args.extend(column.theirs());
    let lines = Running::start(program, &args).finish().success();
    let is_answer = |line: &String| {
        ["reply", "exception", "failure"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    lines.into_iter().filter(is_answer).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_logs_in_to_our_server() {
    for (name, column) in COLUMNS {
        let cell = format!("jacorb-zorb/giop1.2/be-le/{name}/csi");
        let Some(program) = program(&cell) else {
            return;
        };
        let ours = our_server(column).await;
        // By one program, since starting it takes most of the time.
        let (names, each) = (names(), |name: &String| (name.clone(), password_of(name)));
        let users: Vec<_> = names.iter().map(each).collect();
        let answers = their_client(&program, &ours.reference, column, 3, &users);
        let expected: Vec<_> = (names.iter())
            .flat_map(|name| [(); 3].map(|()| format!("reply {name}")))
            .collect();
        assert_eq!(answers, expected);
        let verified = std::mem::take(&mut *ours.verified.lock().unwrap());
        let times = if column.stateful { 1 } else { 3 };
        let expected: Vec<_> = (names.iter())
            .flat_map(|name| vec![name.clone(); times])
            .collect();
        assert_eq!(verified, expected);
        let mallory = [("mallory".to_owned(), "guess".to_owned())];
        let answers = their_client(&program, &ours.reference, column, 1, &mallory);
        assert_eq!(answers, ["exception NO_PERMISSION 1 0"]);
        passed(&cell);
    }
}

/// An authentication whose contexts are forgotten when the first has been made: another one takes its place.
fn forgetful(ours: &Ours, column: Column, as_jacorb: bool) -> Authentication {
    let (poa, verified) = (ours.poa.clone(), Arc::clone(&ours.verified));
    let settings = move |authentication: Authentication| match as_jacorb {
        true => authentication.reporting_forgotten_contexts_as_jacorb(),
        false => authentication,
    };
    let next = settings(authentication(&verified, column));
    settings(
        Authentication::passwords(move |login| {
            poa.set_authentication(&next).unwrap();
            let outcome = verify(&login, &verified);
            async move { outcome }
        })
        .also_over_unprotected_connections(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_establishes_a_forgotten_context_anew() {
    let column = Column {
        stateful: true,
        tls: false,
    };
    let alice = [("alice".to_owned(), password_of("alice"))];
    for (as_jacorb, second) in [
        (true, "reply alice"),
        (false, "exception NO_PERMISSION 1 0"),
    ] {
        let cell = "jacorb-zorb/giop1.2/be-le/tcp/stateful/csi_forgotten";
        let Some(program) = program(cell) else { return };
        let ours = our_server(column).await;
        let forgetful = forgetful(&ours, column, as_jacorb);
        ours.poa.set_authentication(&forgetful).unwrap();
        let answers = their_client(&program, &ours.reference, column, 3, &alice);
        assert_eq!(answers, ["reply alice", second, "reply alice"]);
        assert_eq!(ours.verified.lock().unwrap().len(), 2);
        passed(cell);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tshark_finds_the_contexts_of_our_client_and_server() {
    let column = Column {
        stateful: true,
        tls: false,
    };
    let cell = "tshark/zorb-zorb/giop1.2/le-le/tcp/csi";
    if !tshark::found(cell) {
        return;
    }
    let ours = our_server(column).await;
    let (tap, reference) = Tap::before(&ours.reference);
    let client = Orb::builder().csi(Csi::new()).build().await.unwrap();
    let door = door(&client, &reference).await;
    let user = column.user("alice", &password_of("alice"));
    for _ in 0..3 {
        assert_eq!(user.scope(door.whoami()).await.unwrap(), "alice");
    }
    client.shutdown(true).await.unwrap();
    let recording = tap.finish();
    tshark::agrees(cell, &recording);
    // Three requests, and the reply to the first.
    assert_eq!(tshark::security_contexts(&recording), 4);
}
