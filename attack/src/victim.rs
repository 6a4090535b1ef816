//! The server that is attacked: zorb's default settings, and a limit on its memory.

use crate::Failure;
use crate::honest::hex;
use crate::sys;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, stdin};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use zorb::tls::{Tls, TlsOptions};
use zorb::{Any, Bytes, Interface, OctetsRef, Orb, PoaManager, Policies};
use zorb::{SystemException, SystemExceptionKind, Value};
use zorb_giop::ior::IiopProfile;

zorb::idl! {
    module Attacked {
        union Sparse switch (boolean) { case TRUE: long numbers[1024]; };
        typedef sequence<Sparse> SparseSeq;
        typedef sequence<any> AnySeq;
        typedef sequence<octet> OctetSeq;
        valuetype Link { public long number; public Link next; };

        interface Listener {
            void hear();
        };

        interface Victim {
            void ping();
            unsigned long anys(in AnySeq them);
            unsigned long sparses(in SparseSeq them);
            /// Whether there is a list.
            boolean take(in Link first);
            /// The same list.
            Link give_back(in Link first);
            unsigned long swallow(in OctetSeq octets);
            OctetSeq give(in unsigned long octets);
            /// Runs on for so long.
            void dawdle(in unsigned long milliseconds, in OctetSeq ballast);
            /// Upcalls of `dawdle` that run now.
            unsigned long dawdling();
            /// Calls the listener, without waiting for it.
            void call_back(in Listener them);
            /// Listeners that have heard so far.
            unsigned long heard();
            /// Whether the POA manager of another object holds its requests.
            void hold(in boolean holds);
            /// Pending requests, but for this one.
            unsigned long pending();
            /// Keys that the key resolver is asked for.
            unsigned long asked();
        };
    };
}

use attacked::{Link, ListenerRef, Sparse, Victim, VictimRef, VictimServant};

#[derive(clap::Args, Debug)]
pub(crate) struct VictimOptions {
    /// Octets of memory that the process may have
    #[arg(long)]
    memory: u64,
    /// Descriptors that the process may have
    #[arg(long)]
    descriptors: u64,
    /// How long the victim waits for a listener
    #[arg(long)]
    callback_seconds: u64,
    /// Connections that the ORB serves at a time; its default unless given
    #[arg(long)]
    max_connections: Option<usize>,
}

/// The line that the victim prints when it is ready.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) port: u16,
    pub(crate) key: String,
    /// The key of an object whose requests are held when [`hold`](Victim::hold) says so.
    pub(crate) held: String,
    /// The port for TLS, the file with the certificate, and a reference that leads there.
    pub(crate) tls_port: u16,
    pub(crate) trust: PathBuf,
    pub(crate) reference: String,
}

/// The servant.
struct Subject {
    callback_limit: Duration,
    orb: Orb,
    /// The manager of the other object.
    manager: Arc<PoaManager>,
}

static DAWDLING: AtomicU32 = AtomicU32::new(0);
static HEARD: AtomicU32 = AtomicU32::new(0);
static ASKED: AtomicU32 = AtomicU32::new(0);

/// A plain key that the key resolver never finds, and one that it finds.
pub(crate) const NOWHERE: &[u8] = b"nowhere";
pub(crate) const HERE: &[u8] = b"here";

/// Counts while it lives.
struct Counted(&'static AtomicU32);

impl Counted {
    fn begin(count: &'static AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn length<T>(them: &[T]) -> Result<u32, SystemException> {
    Ok(u32::try_from(them.len()).unwrap_or(u32::MAX))
}

impl Victim for Subject {
    async fn ping(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn anys(&self, them: &[Any]) -> Result<u32, SystemException> {
        length(them)
    }

    async fn sparses(&self, them: &[Sparse]) -> Result<u32, SystemException> {
        length(them)
    }

    async fn take(&self, first: Option<Value<Link>>) -> Result<bool, SystemException> {
        Ok(first.is_some())
    }

    async fn give_back(
        &self,
        first: Option<Value<Link>>,
    ) -> Result<Option<Value<Link>>, SystemException> {
        Ok(first)
    }

    async fn swallow(&self, octets: OctetsRef<'_>) -> Result<u32, SystemException> {
        length(&octets)
    }

    async fn give(&self, octets: u32) -> Result<Bytes, SystemException> {
        Ok(Bytes::from(vec![7; octets as usize]))
    }

    async fn dawdle(&self, milliseconds: u32, _: OctetsRef<'_>) -> Result<(), SystemException> {
        let _counted = Counted::begin(&DAWDLING);
        tokio::time::sleep(Duration::from_millis(milliseconds.into())).await;
        Ok(())
    }

    async fn dawdling(&self) -> Result<u32, SystemException> {
        Ok(DAWDLING.load(Ordering::Relaxed))
    }

    async fn call_back(&self, them: Option<ListenerRef>) -> Result<(), SystemException> {
        if let Some(them) = them {
            let them = them.with_round_trip_timeout(self.callback_limit);
            tokio::spawn(async move {
                if them.hear().await.is_ok() {
                    HEARD.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        Ok(())
    }

    async fn heard(&self) -> Result<u32, SystemException> {
        Ok(HEARD.load(Ordering::Relaxed))
    }

    async fn hold(&self, holds: bool) -> Result<(), SystemException> {
        let changed = match holds {
            true => self.manager.hold_requests(),
            false => self.manager.activate(),
        };
        changed.map_err(|_| SystemExceptionKind::BadInvOrder.into())
    }

    async fn pending(&self) -> Result<u32, SystemException> {
        Ok(u32::try_from(self.orb.pending_upcalls()).unwrap_or(u32::MAX))
    }

    async fn asked(&self) -> Result<u32, SystemException> {
        Ok(ASKED.load(Ordering::Relaxed))
    }
}

/// The line by which a victim returns freed memory to the system.
pub(crate) const TRIM: &str = "trim";

/// Serves until standard input ends. For each line of it, [`TRIM`] or another, prints how many octets connections hold.
///
/// # Errors
/// A limit cannot be set, or the ORB does not start.
#[tokio::main]
pub(crate) async fn run(options: &VictimOptions) -> Result<(), Failure> {
    limit(Resource::Data, options.memory)?;
    limit(Resource::Nofile, options.descriptors)?;
    let folder = tempfile::tempdir()?;
    let (tls, trust) = certified(&folder)?;
    let mut builder = Orb::builder()
        .transport(Arc::new(tls))
        .listen("iiop://127.0.0.1:0")
        .listen("ssliop://127.0.0.1:0");
    if let Some(connections) = options.max_connections {
        builder = builder.max_connections(connections);
    }
    let orb = builder.build().await?;
    let poa = orb.root_poa();
    let apart = poa.create_poa_with("apart", Policies::default(), None)?;
    let subject = Arc::new(Subject {
        callback_limit: Duration::from_secs(options.callback_seconds),
        orb: orb.clone(),
        manager: Arc::clone(apart.the_poa_manager()),
    });
    let victim: VictimRef = poa.activate(VictimServant::from_arc(Arc::clone(&subject)))?;
    let held: VictimRef = apart.activate(VictimServant::from_arc(subject))?;
    // Unknown POAs are asked for, and are not there.
    poa.set_adapter_activator(|_, _| async { Ok(false) })?;
    poa.the_poa_manager().activate()?;
    apart.the_poa_manager().activate()?;
    let here = victim.clone();
    orb.key_table().set_key_resolver(move |key| {
        let found = (key == HERE).then(|| here.as_object().clone());
        async move {
            let _counted = Counted::begin(&ASKED);
            if key == NOWHERE {
                core::future::pending::<()>().await;
            }
            Ok(found)
        }
    });
    let profile = |object: &VictimRef| -> Result<IiopProfile, Failure> {
        let profiles = &object.as_object().ior().profiles;
        Ok(IiopProfile::from_tagged(
            profiles.first().ok_or("no profile")?,
        )?)
    };
    let (profile, held) = (profile(&victim)?, profile(&held)?);
    let endpoints = orb.endpoints();
    let tls = endpoints.iter().find(|of| of.scheme() == "ssliop");
    let ready = Ready {
        tls_port: tls.and_then(|of| of.port()).ok_or("no port for TLS")?,
        trust,
        reference: orb.object_to_string(&victim),
        port: profile.address.port,
        key: hex(&profile.object_key),
        held: hex(&held.object_key),
    };
    println!("{}", serde_json::to_string(&ready)?);
    // On a thread of its own, as reading blocks.
    tokio::task::spawn_blocking(move || {
        for line in stdin().lock().lines() {
            if line.is_ok_and(|line| line == TRIM) {
                sys::trim();
            }
            println!("{}", orb.memory_octets());
        }
    })
    .await?;
    Ok(())
}

/// TLS with a certificate for 127.0.0.1 that it has issued itself, and the file with the certificate.
fn certified(folder: &TempDir) -> Result<(Tls, PathBuf), Failure> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let file = folder.path().join("victim.pem");
    let text = made.cert.pem() + &made.signing_key.serialize_pem();
    std::fs::write(&file, text)?;
    let tls = Tls::new(TlsOptions::default().certificate(&file, &file))?;
    Ok((tls, file))
}

/// Lowers a limit of this process, or raises it as far as the system allows.
fn limit(resource: Resource, most: u64) -> Result<(), Failure> {
    let maximum = getrlimit(resource).maximum;
    let current = maximum.map_or(most, |maximum| most.min(maximum));
    let limit = Rlimit {
        current: Some(current),
        maximum,
    };
    Ok(setrlimit(resource, limit)?)
}
