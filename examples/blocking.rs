//! A server and a client without async: threads that block.
//!
//! Run it with `cargo run --example blocking`. You should see four threads that share one connection, what a servant
//! that blocks holds up (nothing), and the reply of a server that another thread's call has let go.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{Condvar, Mutex};
use std::time::Instant;
use zorb::SystemException;
use zorb::blocking::{Orb, Wait};

zorb::idl! {
    module Bank {
        interface Account {
            double deposit(in double amount);
            /// Answers when the balance has come to `amount`.
            double wait_for(in double amount);
        };
    };
}

use bank::{Account, AccountRef, AccountServant};

/// The servant: its operations may block, since each connection has a thread.
#[derive(Default)]
struct Savings {
    balance: Mutex<f64>,
    changed: Condvar,
}

impl Account for Savings {
    async fn deposit(&self, amount: f64) -> Result<f64, SystemException> {
        let mut balance = self.balance.lock().unwrap();
        *balance += amount;
        self.changed.notify_all();
        Ok(*balance)
    }

    async fn wait_for(&self, amount: f64) -> Result<f64, SystemException> {
        let mut balance = self.balance.lock().unwrap();
        while *balance < amount {
            balance = self.changed.wait(balance).unwrap();
        }
        Ok(*balance)
    }
}

/// Another client, with a connection of its own.
fn client(reference: &str) -> Result<(Orb, AccountRef), Box<dyn std::error::Error + Send + Sync>> {
    let orb = zorb::Orb::builder().build_blocking()?;
    let object = orb.string_to_object(reference)?;
    let account = object.narrow().wait()?.ok_or("not a Bank::Account")?;
    Ok((orb, account))
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let server = zorb::Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build_blocking()?;
    let poa = server.root_poa();
    let account = poa.activate(AccountServant::new(Savings::default()))?;
    poa.the_poa_manager().activate()?;
    let reference = server.object_to_string(&account);

    let (patient, its_account) = client(&reference)?;
    let waits = std::thread::spawn(move || its_account.wait_for(4_000.0).wait());

    let (busy, account) = client(&reference)?;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    account.deposit(1.0).wait().expect("the server is there");
                }
            });
        }
    });
    let took = start.elapsed() / 4_000;
    println!("4 threads made 4000 deposits, {took:?} each");

    let balance = waits.join().map_err(|_| "a panic")??;
    println!("who waited for 4000 gets the event of {balance:.0}");

    for orb in [busy, patient, server] {
        orb.shutdown(true)?;
    }
    println!("all ORBs are down");
    Ok(())
}
