//! Accounts that know their owner and count pokes.

use super::support::HANG;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::task::JoinHandle;
use zorb::SystemException;

zorb::idl! {
    module Bank {
        interface Account {
            string owner();
            oneway void poke();
            long pokes();
        };
    };
}

pub(crate) use bank::{Account, AccountRef, AccountServant};

#[derive(Default)]
pub(crate) struct Savings {
    pub(crate) owner: String,
    pub(crate) pokes: AtomicU32,
}

impl Account for Savings {
    async fn owner(&self) -> Result<String, SystemException> {
        Ok(self.owner.clone())
    }

    async fn poke(&self) -> Result<(), SystemException> {
        self.pokes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn pokes(&self) -> Result<i32, SystemException> {
        Ok(self.pokes.load(Ordering::Relaxed).try_into().unwrap())
    }
}

pub(crate) fn account(owner: &str) -> AccountServant<Savings> {
    AccountServant::new(Savings {
        owner: owner.to_owned(),
        ..Savings::default()
    })
}

/// A clock is only ever the guard that turns a hang into a failure.
pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, what).await.expect("it hangs")
}

/// A task of a boxed future: tokio's part of a task is compiled for each type of future, and costs rustc as much as a test.
pub(crate) fn spawn<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
    tokio::spawn(future)
}
