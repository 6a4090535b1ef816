//! The naming services, and something to bind in them.

use crate::jacorb_names;
use crate::support::{Running, have, passed};
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Handle;
use zorb::naming::{Name, NamingClient};
use zorb::{Interface, Orb, SystemException};
use zorb_named::store::EmbeddedStore;
use zorb_named::{NamingService, Settings};

zorb::idl! {
    module Naming {
        interface Greeter { string greet(); };
        interface Clock { void tick(); };
    };
}

pub(crate) use naming::{ClockRef, Greeter, GreeterRef, GreeterServant};

pub(crate) struct Greets(pub(crate) String);

impl Greeter for Greets {
    async fn greet(&self) -> Result<String, SystemException> {
        Ok(self.0.clone())
    }
}

/// Which naming service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    OmniNames,
    JacOrb,
    /// Ours, in this process, behind a socket.
    Zorb,
}

impl Kind {
    /// The name of its cells.
    pub(crate) fn group(self) -> &'static str {
        match self {
            Self::OmniNames => "omninames",
            Self::JacOrb => "jacorbnames",
            Self::Zorb => "zorbnames",
        }
    }
}

/// A naming service with nothing bound in it; dropping it ends it.
pub(crate) struct Server {
    _running: (Option<OmniNames>, Option<jacorb_names::NameServer>),
    _ours: Option<Ours>,
    /// The root context.
    pub(crate) reference: String,
}

struct Ours {
    orb: Orb,
    _folder: TempDir,
}

impl Drop for Ours {
    fn drop(&mut self) {
        let ended = self.orb.shutdown(true);
        tokio::task::block_in_place(|| Handle::current().block_on(ended)).expect("no upcall");
    }
}

impl Ours {
    async fn start() -> Server {
        let folder = tempfile::tempdir().expect("a folder for the names");
        let listening = Orb::builder().listen("iiop://127.0.0.1:0").build().await;
        let orb = listening.expect("the ORB listens");
        let store = EmbeddedStore::open(folder.path()).expect("a store");
        let service = NamingService::start(&orb, store, Settings::default()).expect("a service");
        let ours = Self {
            orb: orb.clone(),
            _folder: folder,
        };
        Server {
            _running: (None, None),
            _ours: Some(ours),
            reference: orb.object_to_string(service.root()),
        }
    }
}

struct OmniNames {
    _running: Running,
    _folder: TempDir,
}

impl Server {
    /// `None` when it is not installed, which is said then.
    pub(crate) async fn start(kind: Kind, cell: &str) -> Option<Self> {
        if kind == Kind::Zorb {
            return Some(Ours::start().await);
        }
        if kind == Kind::JacOrb {
            let server = jacorb_names::NameServer::start(cell)?;
            let reference = server.root.clone();
            return Some(Self {
                _running: (None, Some(server)),
                _ours: None,
                reference,
            });
        }
        let omni_names = Path::new("omniNames");
        if !have(cell, &[omni_names]) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for omniNames");
        let log = folder.path().to_str().expect("a plain name");
        let here = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
        let args = [&["-start", "-ignoreport", "-logdir", log], &here[..]].concat();
        let mut running = Running::start(omni_names, &args);
        let reference = running.reference();
        let server = OmniNames {
            _running: running,
            _folder: folder,
        };
        Some(Self {
            _running: (Some(server), None),
            _ours: None,
            reference: reference.expect("omniNames says where its root context is"),
        })
    }
}

/// A naming service, an ORB that knows it, and its client.
pub(crate) struct World {
    _server: Server,
    pub(crate) kind: Kind,
    pub(crate) orb: Orb,
    pub(crate) names: NamingClient,
}

impl World {
    pub(crate) async fn start(kind: Kind, cell: &str) -> Option<Self> {
        let server = Server::start(kind, cell).await?;
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .initial_reference("NameService", &server.reference)
            .build()
            .await
            .expect("the ORB listens");
        activate(&orb);
        let names = NamingClient::find(&orb).await.expect("it is there");
        Some(Self {
            _server: server,
            kind,
            orb,
            names,
        })
    }

    pub(crate) fn greeter(&self, greeting: &str) -> GreeterRef {
        greeter(&self.orb, greeting)
    }
}

/// An ORB that listens, and knows of no naming service.
pub(crate) async fn orb() -> Orb {
    let listening = Orb::builder().listen("iiop://127.0.0.1:0").build().await;
    let orb = listening.expect("the ORB listens");
    activate(&orb);
    orb
}

pub(crate) fn activate(orb: &Orb) {
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().expect("not inactive");
}

pub(crate) fn greeter(orb: &Orb, greeting: &str) -> GreeterRef {
    let servant = GreeterServant::new(Greets(greeting.to_owned()));
    orb.root_poa().activate(servant).expect("the ORB listens")
}

/// The answer of the object bound to `name`.
pub(crate) async fn greeting(names: &NamingClient, name: &str) -> String {
    let greeter: GreeterRef = names.resolve(name).await.expect("bound");
    greeter.greet().await.expect("the greeter is ours")
}

/// The naming context that an ORB of ours serves or that a reference leads to, as a client.
pub(crate) fn client(context: &impl Interface) -> NamingClient {
    NamingClient::new(context.as_object().unchecked_narrow())
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

/// `CELL: TEST;`: one test for each naming service, of `async fn TEST(w: World)`.
macro_rules! with_each_service {
    ($($cell:literal: $test:ident;)*) => {
        mod omninames {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    let kind = crate::names::world::Kind::OmniNames;
                    crate::names::world::run(kind, $cell, super::$test).await;
                }
            )*
        }

        mod jacorb {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    let kind = crate::names::world::Kind::JacOrb;
                    crate::names::world::run(kind, $cell, super::$test).await;
                }
            )*
        }

        mod zorb_named {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    let kind = crate::names::world::Kind::Zorb;
                    crate::names::world::run(kind, $cell, super::$test).await;
                }
            )*
        }
    };
}
pub(crate) use with_each_service;

pub(crate) async fn run<F: Future<Output = ()>>(kind: Kind, cell: &str, test: impl Fn(World) -> F) {
    let cell = format!("{}/{cell}", kind.group());
    let Some(w) = World::start(kind, &cell).await else {
        return;
    };
    test(w).await;
    passed(&cell);
}
