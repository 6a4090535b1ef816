//! The portable object adapter by the tables of the specification: policies, servants and their managers, the current
//! request. Each is looked at from the same ORB and over the wire.

mod adapters;
mod clauses;
mod current;
mod forged;
mod front;
mod identity;
mod incarnating;
#[cfg(target_os = "linux")]
mod main_loop;
mod managers;
mod misuse;
mod thread_policies;
mod unused;

use crate::savings::in_time;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use zorb::{
    AdapterError, CompletionStatus, Error, IdAssignment, IdUniqueness, Interface, Orb, Poa,
    PoaCurrent, Policies, RequestProcessing, ServantRetention, SystemException,
    SystemExceptionKind as Kind,
};

zorb::idl! {
    module Desk {
        interface Drawer {
            /// The id of the object, before and after the servant has awaited.
            string id();
            /// How many upcalls there are of it at the time.
            long crowd();
            /// Calls another one within the upcall, and gives what that says between its own ids.
            string nested(in Drawer other);
            void fail();
            void burst();
            readonly attribute string label;
        };
    };
}

use desk::{Drawer, DrawerRef, DrawerServant};

/// A servant for any number of objects.
#[derive(Debug, Default)]
struct Desk {
    label: String,
    inside: AtomicI32,
}

impl Drawer for Desk {
    async fn id(&self) -> Result<String, SystemException> {
        let before = PoaCurrent::get_object_id()?;
        tokio::task::yield_now().await;
        assert_eq!(PoaCurrent::get_object_id()?, before);
        Ok(before.to_string())
    }

    async fn crowd(&self) -> Result<i32, SystemException> {
        let inside = self.inside.fetch_add(1, Ordering::Relaxed) + 1;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.inside.fetch_sub(1, Ordering::Relaxed);
        Ok(inside)
    }

    async fn nested(&self, other: Option<DrawerRef>) -> Result<String, SystemException> {
        let before = PoaCurrent::get_object_id()?;
        let other = other.ok_or(Kind::BadParam)?.id().await?;
        Ok(format!("{before} {other} {}", PoaCurrent::get_object_id()?))
    }

    async fn fail(&self) -> Result<(), SystemException> {
        Err(SystemException::new(
            Kind::NoResources,
            7,
            CompletionStatus::Maybe,
        ))
    }

    async fn burst(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    async fn label(&self) -> Result<String, SystemException> {
        Ok(self.label.clone())
    }
}

fn desk(label: &str) -> Arc<Desk> {
    Arc::new(Desk {
        label: label.to_owned(),
        ..Desk::default()
    })
}

fn drawer(desk: &Arc<Desk>) -> DrawerServant<Desk> {
    DrawerServant::from_arc(Arc::clone(desk))
}

/// A server, and a client elsewhere.
struct World {
    orb: Orb,
    client: Orb,
}

impl World {
    async fn new() -> Self {
        let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
        let orb = orb.await.unwrap();
        orb.root_poa().the_poa_manager().activate().unwrap();
        let client = Orb::builder().build().await.unwrap();
        Self { orb, client }
    }

    fn poa(&self, name: &str, policies: Policies) -> Poa {
        let root = self.orb.root_poa();
        let poa = root.create_poa_with(name, policies, Some(root.the_poa_manager()));
        poa.unwrap()
    }

    /// The object, as its server and as a client elsewhere see it.
    async fn both(&self, reference: &DrawerRef) -> [DrawerRef; 2] {
        let far = self.client.string_to_object(&reference.to_string()).await;
        [reference.clone(), far.unwrap().unchecked_narrow()]
    }

    async fn end(self) {
        in_time(self.client.shutdown(true)).await.unwrap();
        in_time(self.orb.shutdown(true)).await.unwrap();
    }
}

/// Ids of the application's, which other policies are added to.
fn user() -> Policies {
    Policies::DEFAULT.with_id_assignment(IdAssignment::User)
}

fn default_servant(retention: ServantRetention) -> Policies {
    user()
        .with_id_uniqueness(IdUniqueness::Multiple)
        .with_servant_retention(retention)
        .with_request_processing(RequestProcessing::DefaultServant)
}

fn managed(retention: ServantRetention) -> Policies {
    user()
        .with_servant_retention(retention)
        .with_request_processing(RequestProcessing::ServantManager)
}

fn adapter_error<T: std::fmt::Debug>(result: Result<T, Error>) -> AdapterError {
    match result {
        Err(Error::Adapter(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn is_wrong_policy<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = adapter_error(result);
    assert!(matches!(error, AdapterError::WrongPolicy(_)), "{error}");
}

fn raised<T: std::fmt::Debug>(result: Result<T, SystemException>) -> (Kind, u32) {
    let error = result.unwrap_err();
    (error.kind, error.minor)
}
