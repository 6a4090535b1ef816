//! A server whose objects outlive it: a million accounts, each a row of an embedded store, without a million servants.
//!
//! - One **default servant** serves every account: it asks `PoaCurrent` which of them a request is for, and reads the row.
//! - A **servant activator** makes the servant of a branch when the branch is called for the first time.
//! - The references of a **persistent POA** are the same in every run of the server, octet by octet.
//! - A deposit is answered when it is on disk. Kill the server (`kill -9`) in the middle of them: what it has answered is
//!   there in its next run, and clients go on with the references that they have.
//!
//! Start it with the folder that the store is kept in, which also gets the reference:
//!
//! ```text
//! cargo run --example store_server -- store
//! cargo run --example store_client -- store/office.ior          # in another terminal
//! ```
//!
//! You should see how many accounts there are, where it listens, and a line for each branch that is activated. It listens
//! at the same endpoint in every run: `-ORBListenEndpoints iiop://127.0.0.1:2811` unless you say another.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

#[path = "store/ledger.rs"]
mod ledger;

use clap::Parser;
use ledger::Ledger;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zorb::{
    Cleanup, CompletionStatus, IdUniqueness, ObjectId, Orb, Poa, PoaCurrent, Policies,
    RequestProcessing, Servant, ServantActivator, ServantManagerError, ServantRetention,
    SystemException, SystemExceptionKind,
};

/// The code generated from `store.idl`.
#[zorb::idl_file("examples/store.idl")]
mod idl {}

use idl::store::account::DepositError;
use idl::store::office::{FindAccountError, FindBranchError};
use idl::store::{
    Account, AccountRef, AccountServant, BadAmount, Branch, BranchRef, BranchServant,
    NoSuchAccount, NoSuchBranch, Office, OfficeRef, OfficeServant,
};

#[derive(Parser)]
struct Options {
    /// The folder of the store; the reference goes there too, as `office.ior`.
    folder: PathBuf,
    /// Accounts that a new store is made with.
    #[arg(long, default_value_t = 1_000_000)]
    accounts: u64,
}

/// The number that the id of an object is: eight octets.
fn number(id: &ObjectId) -> Result<u64, SystemException> {
    // Ids come from keys, which any client can make up.
    let octets = id.as_ref().try_into().map_err(|_| no_such_object())?;
    Ok(u64::from_be_bytes(octets))
}

fn no_such_object() -> SystemException {
    SystemExceptionKind::ObjectNotExist.into()
}

/// PERSIST_STORE, with the cause in the server's log: its texts are no client's business.
fn failed(error: &redb::Error) -> SystemException {
    tracing::error!(%error, "the store fails");
    SystemException::new(SystemExceptionKind::PersistStore, 0, CompletionStatus::No)
}

/// Every account: the default servant.
struct Rows(Ledger);

impl Account for Rows {
    async fn balance(&self) -> Result<i64, SystemException> {
        let number = number(&PoaCurrent::get_object_id()?)?;
        let balance = self.0.balance(number).map_err(|error| failed(&error))?;
        balance.ok_or_else(no_such_object)
    }

    async fn deposit(&self, cents: i64) -> Result<i64, DepositError> {
        if cents <= 0 {
            return Err(BadAmount { cents }.into());
        }
        let number = number(&PoaCurrent::get_object_id().map_err(SystemException::from)?)?;
        let deposited = self.0.deposit(number, cents).await;
        let balance = deposited.map_err(|error| failed(&error))?;
        Ok(balance.ok_or_else(no_such_object)?)
    }
}

/// One branch, as long as it is active.
struct Thousand {
    number: u64,
    ledger: Ledger,
}

impl Branch for Thousand {
    async fn name(&self) -> Result<String, SystemException> {
        Ok(format!("branch {}", self.number))
    }

    async fn total(&self) -> Result<i64, SystemException> {
        self.ledger
            .total(self.number)
            .map_err(|error| failed(&error))
    }
}

/// Makes the servants of branches when they are called.
struct Branches(Ledger);

impl ServantActivator for Branches {
    async fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        let number = number(id)?;
        let branches = self.0.branches().map_err(|error| failed(&error))?;
        if number >= branches {
            return Err(no_such_object().into());
        }
        println!("branch {number} is activated");
        let ledger = self.0.clone();
        Ok(BranchServant::new(Thousand { number, ledger }).into())
    }

    async fn etherealize(&self, id: &ObjectId, _: &Poa, _: Servant, _: Cleanup) {
        if let Ok(number) = number(id) {
            println!("branch {number} is put away");
        }
    }
}

/// Gives out references. Nothing is activated for that: a reference needs no servant.
struct Desk {
    orb: Orb,
    ledger: Ledger,
    accounts: Poa,
    branches: Poa,
}

impl Office for Desk {
    async fn accounts(&self) -> Result<u64, SystemException> {
        self.ledger.len().map_err(|error| failed(&error))
    }

    async fn find_account(&self, number: u64) -> Result<Option<AccountRef>, FindAccountError> {
        let row = self.ledger.balance(number);
        match row.map_err(|error| failed(&error))? {
            Some(_) => {
                let id = number.to_be_bytes();
                let account = self.accounts.create_reference_with_id(id);
                Ok(Some(account.map_err(SystemException::from)?))
            }
            None => Err(NoSuchAccount { number }.into()),
        }
    }

    async fn find_branch(&self, number: u64) -> Result<Option<BranchRef>, FindBranchError> {
        if number >= self.ledger.branches().map_err(|error| failed(&error))? {
            return Err(NoSuchBranch { number }.into());
        }
        let id = number.to_be_bytes();
        let branch = self.branches.create_reference_with_id(id);
        Ok(Some(branch.map_err(SystemException::from)?))
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        println!("asked to shut down");
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
            eprintln!("store_server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:2811")
        .env()
        .args(&mut args)
        .build()
        .await?;
    let options = Options::parse_from(args);
    std::fs::create_dir_all(&options.folder)?;
    let file = options.folder.join("ledger.redb");
    if !file.exists() {
        // A million take a debug build some ten seconds.
        println!("making {} accounts", options.accounts);
    }
    let ledger = Ledger::open(&file, options.accounts)?;
    println!("{} accounts", ledger.len()?);

    let root = orb.root_poa();
    let manager = root.the_poa_manager();
    // Nothing is kept of an account between two requests.
    let rows = Policies::PERSISTENT
        .with_id_uniqueness(IdUniqueness::Multiple)
        .with_servant_retention(ServantRetention::NonRetain)
        .with_request_processing(RequestProcessing::DefaultServant);
    let accounts = root.create_poa_with("accounts", rows, Some(manager))?;
    accounts.set_servant(AccountServant::new(Rows(ledger.clone())))?;

    let called = Policies::PERSISTENT.with_request_processing(RequestProcessing::ServantManager);
    let branches = root.create_poa_with("branches", called, Some(manager))?;
    branches.set_servant_manager(Branches(ledger.clone()))?;

    let desk = OfficeServant::new(Desk {
        orb: orb.clone(),
        ledger,
        accounts,
        branches,
    });
    let offices = root.create_poa_with("offices", Policies::PERSISTENT, Some(manager))?;
    let office: OfficeRef = offices.activate_object_with_id("main", desk)?;
    manager.activate()?;
    for endpoint in orb.endpoints() {
        println!("listening on {endpoint}");
    }
    // Last: a client that finds the file finds everything in place.
    let file = options.folder.join("office.ior");
    write_whole(&file, &orb.object_to_string(&office))?;
    println!("reference written to {}", file.display());

    orb.run().await;
    println!("the bank is closed");
    Ok(())
}

/// Writes a file that is read whole or not at all.
fn write_whole(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension("tmp");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(|cause| format!("cannot write {}: {cause}", file.display()))
}
