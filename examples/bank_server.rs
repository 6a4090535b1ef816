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
//! With a naming service (omniNames here, on its usual port) the reference is bound there too, under
//! the name `Bank`:
//!
//! ```text
//! cargo run --example bank_server -- bank.ior --name-service corbaloc::localhost:2809/NameService
//! ```
//!
//! To be reached from other hosts, listen on all addresses: `--listen iiop://0.0.0.0:2810`.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use zorb::naming::{Name, cos_naming::NamingContextRef};
use zorb::{Orb, Poa, SystemException, SystemExceptionKind};

/// What the IDL compiler makes of `bank.idl`.
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
    file: PathBuf,
    /// Where to listen; may be repeated.
    #[arg(long, default_value = "iiop://127.0.0.1:0")]
    listen: Vec<String>,
    /// A naming service to bind the reference in, as any object URL.
    #[arg(long)]
    name_service: Option<String>,
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
        // What one operation raises another one need not, so nothing but the system exceptions
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
        // Inside an upcall nobody can wait for the end of it: `false`.
        self.orb.shutdown(false).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut builder = Orb::builder();
    for endpoint in &options.listen {
        builder = builder.listen(endpoint);
    }
    if let Some(url) = &options.name_service {
        builder = builder.initial_reference("NameService", url);
    }
    let orb = builder.build().await?;

    let poa = orb.root_poa();
    let teller = poa.activate(TellerServant::new(Counter {
        orb: orb.clone(),
        poa: poa.clone(),
        accounts: Mutex::default(),
    }))?;
    poa.the_poa_manager().activate()?;
    for endpoint in orb.endpoints() {
        println!("listening on {endpoint}");
    }

    if options.name_service.is_some() {
        bind(&orb, &teller).await?;
        println!("bound as Bank in the naming service");
    }
    // Last, so that whoever finds the file finds everything in place.
    write_whole(&options.file, &orb.object_to_string(&teller))?;
    println!("reference written to {}", options.file.display());

    orb.run().await;
    println!("the bank is closed");
    Ok(())
}

/// Binds the teller, in the place of whatever an earlier run has left there.
async fn bind(orb: &Orb, teller: &TellerRef) -> Result<(), Box<dyn std::error::Error>> {
    let object = orb.resolve_initial_references("NameService").await?;
    let root: NamingContextRef = object.narrow().await?.ok_or("not a naming context")?;
    let name: Name = "Bank".parse()?;
    root.rebind(&name, teller).await?;
    Ok(())
}

/// Writes a file so that nobody ever reads half of it.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    let new = file.with_extension("tmp");
    std::fs::write(&new, text)?;
    std::fs::rename(new, file)
}
