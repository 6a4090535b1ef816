//! A server in a process of its own: one object that is known by its reference, and others that it
//! makes and gives out. `bank_client` is its client; the interfaces are in `bank.idl`.
//!
//! Start it with the file that the reference goes to:
//!
//! ```text
//! cargo run --example bank_server -- bank.ior
//! cargo run --example bank_client -- bank.ior        # in another terminal
//! ```
//!
//! You should see where it listens and the name of the file, then a line for every account that is
//! opened. It serves until it is interrupted, or until `bank_client REFERENCE --shutdown`.
//!
//! With a naming service (omniNames here, on its usual port) the reference can be bound there, too or
//! instead, by any name; contexts on the way are made:
//!
//! ```text
//! cargo run --example bank_server -- --name bank/teller \
//!     -ORBInitRef NameService=corbaloc::localhost:2809/NameService
//! ```
//!
//! To be reached from other hosts, listen on all addresses: `-ORBListenEndpoints iiop://0.0.0.0:2810`.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use zorb::naming::NamingClient;
use zorb::{Orb, Poa, SystemException, SystemExceptionKind};

/// The code generated from `bank.idl`.
#[zorb::idl_file("examples/bank.idl")]
mod idl {}

use idl::bank::account::{DepositError, InsufficientFunds, WithdrawError};
use idl::bank::teller::{AlreadyOpen, FindError, NoSuchAccount, OpenError, TransferError};
use idl::bank::{
    Account, AccountRef, AccountServant, BadAmount, Entry, Teller, TellerRef, TellerServant,
};

#[derive(Parser)]
struct Options {
    /// Where to write the reference.
    #[arg(required_unless_present = "name")]
    file: Option<PathBuf>,
    /// The name to bind the reference to in the naming service, such as `bank/teller`.
    #[arg(long)]
    name: Option<String>,
}

/// A servant: an ordinary type. Calls come from many tasks at once, so what changes is locked,
/// never across an `await`. (A panic, such as that of `unwrap` on a lock that another panic has
/// poisoned, is UNKNOWN to the client, and the server goes on.)
struct Ledger {
    owner: String,
    entries: Mutex<Vec<Entry>>,
}

impl Ledger {
    fn balance_of(entries: &[Entry]) -> i64 {
        entries.iter().map(|entry| entry.cents).sum()
    }
}

impl Account for Ledger {
    async fn owner(&self) -> Result<String, SystemException> {
        Ok(self.owner.clone())
    }

    async fn balance(&self) -> Result<i64, SystemException> {
        Ok(Self::balance_of(&self.entries.lock().unwrap()))
    }

    async fn deposit(&self, cents: i64, purpose: &str) -> Result<(), DepositError> {
        if cents <= 0 {
            return Err(BadAmount { cents }.into());
        }
        self.entries.lock().unwrap().push(Entry {
            cents,
            purpose: purpose.to_owned(),
        });
        Ok(())
    }

    async fn withdraw(&self, cents: i64, purpose: &str) -> Result<(), WithdrawError> {
        if cents <= 0 {
            return Err(BadAmount { cents }.into());
        }
        let mut entries = self.entries.lock().unwrap();
        let missing = cents - Self::balance_of(&entries);
        if missing > 0 {
            return Err(InsufficientFunds { missing }.into());
        }
        entries.push(Entry {
            cents: -cents,
            purpose: purpose.to_owned(),
        });
        Ok(())
    }

    async fn statement(&self) -> Result<(Vec<Entry>, i64), SystemException> {
        let entries = self.entries.lock().unwrap().clone();
        let balance = Self::balance_of(&entries);
        Ok((entries, balance))
    }
}

/// The servant that makes the others.
struct Counter {
    orb: Orb,
    poa: Poa,
    accounts: Mutex<HashMap<String, AccountRef>>,
}

impl Teller for Counter {
    async fn open(&self, owner: &str) -> Result<Option<AccountRef>, OpenError> {
        let mut accounts = self.accounts.lock().unwrap();
        if accounts.contains_key(owner) {
            let owner = owner.to_owned();
            return Err(AlreadyOpen { owner }.into());
        }
        let account = self.poa.activate(AccountServant::new(Ledger {
            owner: owner.to_owned(),
            entries: Mutex::default(),
        }))?;
        println!("opened an account for {owner}");
        accounts.insert(owner.to_owned(), account.clone());
        Ok(Some(account))
    }

    async fn find(&self, owner: &str) -> Result<Option<AccountRef>, FindError> {
        match self.accounts.lock().unwrap().get(owner) {
            Some(account) => Ok(Some(account.clone())),
            None => Err(NoSuchAccount {
                owner: owner.to_owned(),
            }
            .into()),
        }
    }

    async fn transfer(
        &self,
        source: Option<AccountRef>,
        target: Option<AccountRef>,
        cents: i64,
    ) -> Result<(), TransferError> {
        // Any reference in IDL may be nil.
        let (Some(source), Some(target)) = (source, target) else {
            let bad = SystemExceptionKind::BadParam;
            return Err(SystemException::new(bad, 0, zorb::CompletionStatus::No).into());
        };
        let to = target.owner().await?;
        let from = source.owner().await?;
        // Operations raise different exceptions, so nothing but the system exceptions
        // goes from one enum to the other by `?`.
        match source.withdraw(cents, &format!("to {to}")).await {
            Ok(()) => {}
            Err(WithdrawError::BadAmount(e)) => return Err(e.into()),
            Err(WithdrawError::InsufficientFunds(e)) => return Err(e.into()),
            Err(WithdrawError::System(e)) => return Err(e.into()),
        }
        match target.deposit(cents, &format!("from {from}")).await {
            Ok(()) => Ok(()),
            Err(DepositError::BadAmount(e)) => Err(e.into()),
            Err(DepositError::System(e)) => Err(e.into()),
        }
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        println!("asked to shut down");
        // A servant cannot wait for the end of its own upcall: `false`.
        self.orb.shutdown(false).await
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    // RUST_LOG=zorb::giop=trace shows every message; unset, errors alone.
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bank_server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .env()
        .args(&mut args)
        .build()
        .await?;
    // The ORB has taken its `-ORB…` options out; the rest is ours.
    let options = Options::parse_from(args);

    let poa = orb.root_poa();
    let teller: TellerRef = poa.activate(TellerServant::new(Counter {
        orb: orb.clone(),
        poa: poa.clone(),
        accounts: Mutex::default(),
    }))?;
    poa.the_poa_manager().activate()?;
    for endpoint in orb.endpoints() {
        println!("listening on {endpoint}");
    }

    if let Some(name) = &options.name {
        // In the place of whatever an earlier run has left there.
        let names = NamingClient::find(&orb).await?;
        names.rebind(name, &teller).await?;
        println!("bound as {name} in the naming service");
    }
    // Last, so that a client that finds the file finds everything in place.
    if let Some(file) = &options.file {
        write_whole(file, &orb.object_to_string(&teller))?;
        println!("reference written to {}", file.display());
    }

    orb.run().await;
    println!("the bank is closed");
    Ok(())
}

/// Writes a file so that no reader ever sees half of it.
fn write_whole(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension("tmp");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(|cause| format!("cannot write {}: {cause}", file.display()))
}
