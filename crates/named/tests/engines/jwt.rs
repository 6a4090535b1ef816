//! Operators, accounts and users of NATS, each with a key, and the JWTs that they sign, as `nsc` does.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

/// What the issuer says of the subject.
fn jwt(issuer: &KeyPair, subject: &KeyPair, expires: Option<u64>, nats: &Value) -> String {
    let mut claims = json!({
        "jti": subject.public_key(), "iat": 1_600_000_000, "iss": issuer.public_key(), "name": "zorb",
        "sub": subject.public_key(), "nats": nats,
    });
    if let Some(expires) = expires {
        claims["exp"] = expires.into();
    }
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = format!("{header}.{claims}");
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Who trusts accounts, for a server.
pub(crate) struct Operator {
    key: KeyPair,
    /// The public keys and the JWTs of its accounts.
    accounts: Vec<(String, String)>,
    system: String,
}

impl Operator {
    /// One with an account for the system alone.
    pub(crate) fn new() -> Self {
        let mut operator = Self {
            key: KeyPair::new_operator(),
            accounts: Vec::new(),
            system: String::new(),
        };
        let system = operator.account(Account::without_jetstream());
        operator.system = system.key.public_key();
        operator
    }

    /// Signs an account.
    pub(crate) fn account(&mut self, account: Account) -> Account {
        let storage = if account.has_jetstream { -1 } else { 0 };
        let nats = json!({
            "limits": {
                "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
                "conn": -1, "leaf": -1, "mem_storage": storage, "disk_storage": storage,
                "streams": storage, "consumer": storage,
            },
            "type": "account", "version": 2,
        });
        let signed = jwt(&self.key, &account.key, None, &nats);
        self.accounts.push((account.key.public_key(), signed));
        account
    }

    /// The part of a server's configuration by which it knows the accounts.
    pub(crate) fn config(&self) -> String {
        let nats = json!({ "system_account": self.system, "type": "operator", "version": 2 });
        let operator = jwt(&self.key, &self.key, None, &nats);
        let accounts = (self.accounts.iter()).map(|(key, jwt)| format!("{key}: {jwt:?}\n"));
        let accounts: String = accounts.collect();
        format!("operator: {operator:?}\nresolver: MEMORY\nresolver_preload: {{\n{accounts}}}\n")
    }
}

pub(crate) struct Account {
    key: KeyPair,
    has_jetstream: bool,
}

impl Account {
    pub(crate) fn with_jetstream() -> Self {
        Self {
            key: KeyPair::new_account(),
            has_jetstream: true,
        }
    }

    pub(crate) fn without_jetstream() -> Self {
        Self {
            key: KeyPair::new_account(),
            has_jetstream: false,
        }
    }

    /// Signs a user.
    pub(crate) fn user(&self, user: &User) -> Signed {
        let denied: Vec<&str> = user.may_not_publish.into_iter().collect();
        let nats = json!({
            "pub": { "deny": denied }, "sub": {}, "subs": -1, "data": -1, "payload": -1,
            "type": "user", "version": 2,
        });
        let key = KeyPair::new_user();
        Signed {
            jwt: jwt(&self.key, &key, user.expires, &nats),
            seed: key.seed().unwrap(),
        }
    }
}

/// What a user may do.
#[derive(Default)]
pub(crate) struct User {
    pub(crate) may_not_publish: Option<&'static str>,
    /// Until when, in seconds of Unix.
    pub(crate) expires: Option<u64>,
}

/// A user's JWT and key.
pub(crate) struct Signed {
    jwt: String,
    seed: String,
}

impl Signed {
    /// The same with a key that is not its.
    pub(crate) fn with_key_of(self, other: &Self) -> Self {
        Self {
            seed: other.seed.clone(),
            ..self
        }
    }

    /// The text of a file `.creds`.
    pub(crate) fn creds(&self) -> String {
        let Self { jwt, seed } = self;
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}
