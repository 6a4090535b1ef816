//! Engines that want to know who comes, over TLS.

use crate::certificates::Authority;
use crate::cluster::{Engine, host};
use crate::common::{Daemon, client_orb, command, name, object};
use crate::jwt::{Account, Operator, User};
use crate::support::{Ended, Running, have, passed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zorb::ObjectRef;

const PASSWORD: &str = "hush-4711";

/// A server of an engine with a certificate.
struct Server {
    engine: Engine,
    program: PathBuf,
    host: String,
    folder: TempDir,
    authority: Authority,
    certificate: PathBuf,
    running: Option<Running>,
}

impl Server {
    /// One that does not run yet; `None`, and a word about it, without the engine.
    fn new(engine: Engine, what: &str) -> Option<Self> {
        let program = engine.path();
        if !have(what, &[&program]) {
            return None;
        }
        let authority = Authority::new("engines");
        let host = host();
        let certificate = authority.issue("server", &[&host]);
        Some(Self {
            engine,
            program,
            host,
            folder: tempfile::tempdir().unwrap(),
            authority,
            certificate,
            running: None,
        })
    }

    fn run(&mut self, command: Command, says: &str) {
        let mut running = Running::command(command);
        let ready = running.find(|line| line.contains(says).then_some(()));
        assert!(ready.is_some(), "{running:?}");
        self.running = Some(running);
    }

    /// Starts NATS, which asks for a client's certificate if `verify` says so.
    fn start_nats(&mut self, users: &str, verify: bool) {
        let (host, folder) = (&self.host, self.folder.path());
        let (pem, ca) = (&self.certificate, self.authority.trust());
        let text = format!(
            "listen: {host}:4222\njetstream {{ store_dir: {folder:?} }}\n\
             tls {{ cert_file: {pem:?}, key_file: {pem:?}, ca_file: {ca:?}, verify: {verify} }}\n\
             {users}\n"
        );
        let config = folder.join("nats.conf");
        fs::write(&config, text).unwrap();
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(config);
        self.run(command, "Server is ready");
    }

    /// Starts etcd, with TLS and clients' certificates or without both.
    fn start_etcd(&mut self, has_tls: bool) {
        let scheme = if has_tls { "https" } else { "http" };
        let client = format!("{scheme}://{}:2379", self.host);
        let peer = format!("http://{}:2380", self.host);
        let mut command = Command::new(&self.program);
        command
            .args(["--name", "m0", "--logger", "zap", "--data-dir"])
            .arg(self.folder.path().join("data"))
            .args(["--listen-client-urls", &client])
            .args(["--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer])
            .args(["--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &format!("m0={peer}")]);
        if has_tls {
            command.arg("--client-cert-auth").arg("--trusted-ca-file");
            command.arg(self.authority.trust());
            command.arg("--cert-file").arg(&self.certificate);
            command.arg("--key-file").arg(&self.certificate);
        }
        self.run(command, "ready to serve client requests");
    }

    fn url(&self) -> String {
        match self.engine {
            Engine::Etcd => format!("etcd://{}:2379/names", self.host),
            Engine::Nats => format!("nats://{}:4222/names", self.host),
        }
    }

    /// A file with a secret.
    fn secret(&self, text: &str) -> String {
        let file = self.folder.path().join(format!("secret-{}", text.len()));
        fs::write(&file, format!("{text}\n")).unwrap();
        shown(&file)
    }

    /// The program with these options.
    fn named(&self, options: &[&str]) -> Command {
        let url = self.url();
        let mut command = command(&["--store", &url]);
        command.args(options).env("RUST_LOG", "debug");
        command
    }

    /// How the program ends that is not let in.
    fn refused(&self, options: &[&str]) -> Ended {
        match Daemon::started(self.named(options)) {
            Ok(_) => panic!("{options:?} let it in"),
            Err(running) => running.finish(),
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_str().expect("a plain name").to_owned()
}

/// Checks that names are kept, and that what the program said has no secret.
async fn works(daemon: Daemon) {
    let names = daemon.client().await;
    let orb = client_orb().await;
    let account = object(&orb, 1).await;
    names.rebind(name("account"), &account).await.unwrap();
    assert_eq!(
        names.resolve::<ObjectRef>(name("account")).await.unwrap(),
        account
    );
    let ended = daemon.terminate();
    assert!(!ended.lines.join("\n").contains(PASSWORD));
}

/// Checks what a program says that is not let in.
fn says(ended: &Ended, words: &[&str]) {
    let said = ended.lines.join("\n");
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let last = ended.lines.last().expect("a line");
    for word in words {
        assert!(last.contains(word), "{word}: {said}");
    }
    assert!(!said.contains(PASSWORD), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_and_certificates_open_nats_and_what_is_wrong_is_said() {
    let cell = "nats/secured";
    let Some(mut server) = Server::new(Engine::Nats, cell) else {
        return;
    };
    let users = format!("authorization {{ user: zorb, password: {PASSWORD:?} }}");
    server.start_nats(&users, true);
    let ca = shown(&server.authority.trust());
    let client = shown(&server.authority.issue("client", &["client.zorb.test"]));
    let password = server.secret(PASSWORD);
    let tls = [
        "--engine-ca",
        &ca,
        "--engine-cert",
        &client,
        "--engine-key",
        &client,
    ];
    let user = ["--engine-user", "zorb", "--engine-password-file", &password];
    let right = [&tls[..], &user].concat();
    works(Daemon::start(
        &[&["--store", &server.url()][..], &right].concat(),
    ))
    .await;
    // The password may be in the environment.
    let mut command = server.named(&[&tls[..], &user[..2]].concat());
    command.env("ZORB_ENGINE_PASSWORD", PASSWORD);
    works(Daemon::started(command).unwrap_or_else(|running| panic!("{running:?}"))).await;

    let wrong = server.secret("wrong");
    let wrong = ["--engine-user", "zorb", "--engine-password-file", &wrong];
    let ended = server.refused(&[&tls[..], &wrong].concat());
    says(
        &ended,
        &[&server.host, "refuses", "authorization violation"],
    );
    let other = Authority::new("others");
    let others = shown(&other.trust());
    let ended = server.refused(&[&["--engine-ca", &others][..], &user].concat());
    says(&ended, &[&server.host, "refuses", "UnknownIssuer"]);
    let ended = server.refused(&[&["--engine-ca", &ca][..], &user].concat());
    says(&ended, &[&server.host, "refuses", "CertificateRequired"]);
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_and_the_key_of_a_user_open_nats() {
    let cell = "nats/keys";
    let Some(mut server) = Server::new(Engine::Nats, cell) else {
        return;
    };
    let ca = shown(&server.authority.trust());
    let users = format!("authorization {{ token: {PASSWORD:?} }}");
    server.start_nats(&users, false);
    let token = server.secret(PASSWORD);
    let url = server.url();
    let common = ["--store", &url, "--engine-ca", &ca];
    works(Daemon::start(
        &[&common[..], &["--engine-token-file", &token]].concat(),
    ))
    .await;
    server.running = None;
    let key = nkeys::KeyPair::new_user();
    let key_of = key.public_key();
    let users = format!("authorization {{ users: [{{ nkey: {key_of} }}] }}");
    server.start_nats(&users, false);
    let seed = server.secret(&key.seed().unwrap());
    works(Daemon::start(
        &[&common[..], &["--engine-nkey-file", &seed]].concat(),
    ))
    .await;
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_creds_of_a_user_open_nats_and_what_is_wrong_with_those_of_others_is_said() {
    let cell = "nats/creds";
    let Some(mut server) = Server::new(Engine::Nats, cell) else {
        return;
    };
    let mut operator = Operator::new();
    let account = operator.account(Account::with_jetstream());
    let other = operator.account(Account::with_jetstream());
    let plain = operator.account(Account::without_jetstream());
    let stranger = Operator::new().account(Account::with_jetstream());
    server.start_nats(&operator.config(), false);
    let ca = shown(&server.authority.trust());
    let url = server.url();
    let common = ["--store", &url, "--engine-ca", &ca];
    let file = |name: &str, creds: &str| {
        let file = server.folder.path().join(name);
        fs::write(&file, creds).unwrap();
        shown(&file)
    };

    let user = account.user(&User::default());
    for (name, rest) in [("right", ""), ("as-nsc", "\n*****\n")] {
        let right = file(name, &(user.creds() + rest));
        let daemon = Daemon::start(&[&common[..], &["--engine-creds", &right]].concat());
        works(daemon).await;
    }
    // An account has names of its own.
    let others = file("other", &other.user(&User::default()).creds());
    let daemon = Daemon::start(&[&common[..], &["--engine-creds", &others]].concat());
    let found = daemon.client().await;
    let found = found.resolve::<ObjectRef>(name("account")).await;
    assert!(matches!(
        found,
        Err(zorb::naming::NamingError::NotFound { .. })
    ));

    let refused = "authorization violation";
    let may_not = User {
        may_not_publish: Some("$JS.API.>"),
        ..User::default()
    };
    let expired = User {
        expires: Some(1_700_000_000),
        ..User::default()
    };
    let wrong = [
        (stranger.user(&User::default()).creds(), refused),
        (
            account.user(&User::default()).with_key_of(&user).creds(),
            refused,
        ),
        (account.user(&expired).creds(), refused),
        (
            plain.user(&User::default()).creds(),
            "not enabled for account",
        ),
        (account.user(&may_not).creds(), "ermissions Violation"),
    ];
    for (creds, why) in wrong {
        let file = file("wrong", &creds);
        let ended = server.refused(&["--engine-ca", &ca, "--engine-creds", &file]);
        says(&ended, &[&server.host, why]);
        let seed = creds.lines().find(|line| line.starts_with("SU"));
        let said = ended.lines.join("\n");
        assert!(!said.contains(seed.expect("a seed")), "{said}");
    }
    let malformed = file("malformed", "no creds");
    let ended = server.refused(&["--engine-ca", &ca, "--engine-creds", &malformed]);
    assert_eq!(ended.status.code(), Some(2), "{:?}", ended.lines);
    assert!(
        ended
            .lines
            .join("\n")
            .contains("--engine-creds is malformed")
    );
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_and_certificates_open_etcd_and_what_is_wrong_is_said() {
    let cell = "etcd/secured";
    let Some(mut server) = Server::new(Engine::Etcd, cell) else {
        return;
    };
    // Its users are made before it has TLS.
    server.start_etcd(false);
    let post = |path: &str, body: serde_json::Value| {
        let url = format!("http://{}:2379/v3/auth/{path}", server.host);
        ureq::post(&url).send_json(body).unwrap();
    };
    post(
        "user/add",
        serde_json::json!({ "name": "root", "password": PASSWORD }),
    );
    post("role/add", serde_json::json!({ "name": "root" }));
    post(
        "user/grant",
        serde_json::json!({ "user": "root", "role": "root" }),
    );
    post("enable", serde_json::json!({}));
    server.running = None;
    server.start_etcd(true);
    let ca = shown(&server.authority.trust());
    // A gateway of etcd takes no certificate with a common name.
    let issue = |file: &str, has_name: bool| {
        let names = ["client.zorb.test"];
        let issued = server.authority.issue_with(file, &names, |params| {
            if !has_name {
                params.distinguished_name = rcgen::DistinguishedName::new();
            }
        });
        shown(&issued)
    };
    let (client, named) = (issue("client", false), issue("named", true));
    let password = server.secret(PASSWORD);
    let tls = [
        "--engine-ca",
        &ca,
        "--engine-cert",
        &client,
        "--engine-key",
        &client,
    ];
    let user = ["--engine-user", "root", "--engine-password-file", &password];
    let right = [&tls[..], &user].concat();
    let daemon = Daemon::started(server.named(&right));
    let daemon = daemon.unwrap_or_else(|running| panic!("{running:?}"));
    let names = daemon.client().await;
    let orb = client_orb().await;
    let account = object(&orb, 1).await;
    names.bind(name("account"), &account).await.unwrap();
    // It forgets its tokens when it ends.
    server.running = None;
    server.start_etcd(true);
    assert_eq!(
        names.resolve::<ObjectRef>(name("account")).await.unwrap(),
        account
    );
    works(daemon).await;

    let wrong = server.secret("wrong");
    let wrong = ["--engine-user", "root", "--engine-password-file", &wrong];
    let ended = server.refused(&[&tls[..], &wrong].concat());
    says(&ended, &[&server.host, "refuses", "authentication failed"]);
    let ended = server.refused(&tls);
    says(&ended, &[&server.host, "refuses", "permission denied"]);
    let named = [
        "--engine-ca",
        &ca,
        "--engine-cert",
        &named,
        "--engine-key",
        &named,
    ];
    let ended = server.refused(&[&named[..], &user].concat());
    says(&ended, &[&server.host, "refuses", "CommonName"]);
    let other = Authority::new("others");
    let others = shown(&other.trust());
    let ended = server.refused(&[&["--engine-ca", &others][..], &user].concat());
    says(&ended, &[&server.host, "refuses", "UnknownIssuer"]);
    passed(cell);
}

#[test]
fn a_password_in_a_url_is_wrong_usage_and_not_shown() {
    for url in [
        "nats://zorb:hush-4711@h:4222/b",
        "etcd://zorb:hush-4711@h:2379",
    ] {
        let Err(running) = Daemon::started(command(&["--store", url])) else {
            panic!("it starts");
        };
        let ended = running.finish();
        assert_eq!(ended.status.code(), Some(2));
        assert!(
            !ended.lines.join("\n").contains(PASSWORD),
            "{:?}",
            ended.lines
        );
    }
}
