//! The client of `store_server`, and the auditor that looks whether a server that was killed has kept its word.
//!
//! ```text
//! cargo run --example store_server -- store
//! cargo run --example store_client -- store/office.ior               # a visit
//! cargo run --example store_client -- store/office.ior --shutdown    # ends the server
//! ```
//!
//! To see that nothing is lost: deposit until the server is gone, kill it (`kill -9`), start it again, and compare.
//!
//! ```text
//! cargo run --example store_client -- store/office.ior --deposit-until-lost receipts.txt
//! cargo run --example store_client -- store/office.ior --audit receipts.txt
//! ```
//!
//! A receipt has the reference of an account, as the server gave it in its earlier run, the last balance that was
//! acknowledged, and whether a deposit was in doubt when the server went: COMPLETED_MAYBE.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use core::fmt::Write as _;
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;
use zorb::{CompletionStatus, Orb};

/// The code generated from `store.idl`.
#[zorb::idl_file("examples/store.idl")]
mod idl {}

use idl::store::account::DepositError;
use idl::store::office::FindAccountError;
use idl::store::{AccountRef, OfficeRef};

/// Clients that deposit at the same time, each into accounts of its own.
const DEPOSITORS: u64 = 16;
/// Accounts of each.
const ACCOUNTS_EACH: u64 = 8;
/// Deposits between two lines that say how many there have been.
const SAY_EACH: usize = 500;
/// Deposits that have been acknowledged.
static ACKNOWLEDGED: AtomicUsize = AtomicUsize::new(0);

type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
struct Options {
    /// The file that the server wrote.
    file: PathBuf,
    /// Deposit until the server is gone, and write what it has acknowledged to this file.
    #[arg(long, value_name = "RECEIPTS")]
    deposit_until_lost: Option<PathBuf>,
    /// Compare the accounts with the receipts in this file.
    #[arg(long, value_name = "RECEIPTS")]
    audit: Option<PathBuf>,
    /// Ask the server to end, and do nothing else.
    #[arg(long)]
    shutdown: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("store_client: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .round_trip_timeout(Duration::from_secs(30))
        .env()
        .args(&mut args)
        .build()
        .await?;
    let options = Options::parse_from(args);
    let url = format!("file://{}", std::path::absolute(&options.file)?.display());
    let office = orb.string_to_object(&url).await?.narrow().await?;
    let office: OfficeRef = office.ok_or("the file has no Store::Office")?;
    if options.shutdown {
        office.shutdown().await?;
    } else if let Some(receipts) = &options.deposit_until_lost {
        deposit_until_lost(&orb, &office, receipts).await?;
    } else if let Some(receipts) = &options.audit {
        audit(&orb, receipts).await?;
    } else {
        visit(&office).await?;
    }
    orb.shutdown(true).await?;
    Ok(())
}

async fn visit(office: &OfficeRef) -> Result<(), Failure> {
    let accounts = office.accounts().await?;
    println!("{accounts} accounts");
    let account = office.find_account(accounts - 1).await?;
    let account = account.ok_or("a nil reference")?;
    let before = account.balance().await?;
    let after = account.deposit(250).await?;
    println!("a deposit: {before} and 250 are {after}");
    let branch = office.find_branch((accounts - 1) / 1_000).await?;
    let branch = branch.ok_or("a nil reference")?;
    println!("{} has {}", branch.name().await?, branch.total().await?);
    match office.find_account(accounts).await {
        Err(FindAccountError::NoSuchAccount(e)) => println!("no account {}", e.number),
        other => return Err(format!("an account too many gave {other:?}").into()),
    }
    Ok(())
}

/// The deposits to one account that the server has acknowledged.
struct Receipt {
    account: AccountRef,
    balance: i64,
    in_doubt: bool,
}

async fn deposit_until_lost(orb: &Orb, office: &OfficeRef, receipts: &Path) -> Result<(), Failure> {
    let mut depositors = JoinSet::new();
    for depositor in 0..DEPOSITORS {
        let office = office.clone();
        depositors.spawn(async move { depositor_until_lost(&office, depositor).await });
    }
    println!("depositing");
    let (mut text, mut in_doubt) = (String::new(), 0);
    while let Some(depositor) = depositors.join_next().await {
        for receipt in depositor?.map_err(|error| format!("{error:#}"))? {
            in_doubt += usize::from(receipt.in_doubt);
            let reference = orb.object_to_string(&receipt.account);
            writeln!(text, "{} {} {reference}", receipt.balance, receipt.in_doubt)?;
        }
    }
    std::fs::write(receipts, text)?;
    let acknowledged = ACKNOWLEDGED.load(Ordering::Relaxed);
    println!("{acknowledged} deposits acknowledged, {in_doubt} in doubt");
    Ok(())
}

async fn depositor_until_lost(
    office: &OfficeRef,
    depositor: u64,
) -> Result<Vec<Receipt>, Box<dyn std::error::Error + Send + Sync>> {
    let first = depositor * ACCOUNTS_EACH;
    let mut receipts = Vec::new();
    for number in first..first + ACCOUNTS_EACH {
        let account = office
            .find_account(number)
            .await?
            .ok_or("a nil reference")?;
        let balance = account.balance().await?;
        receipts.push(Receipt {
            account,
            balance,
            in_doubt: false,
        });
    }
    loop {
        for receipt in &mut receipts {
            match receipt.account.deposit(1).await {
                Ok(balance) => {
                    receipt.balance = balance;
                    let so_far = ACKNOWLEDGED.fetch_add(1, Ordering::Relaxed) + 1;
                    if so_far.is_multiple_of(SAY_EACH) {
                        println!("{so_far} acknowledged");
                    }
                }
                Err(DepositError::System(e)) => {
                    receipt.in_doubt = e.completed != CompletionStatus::No;
                    return Ok(receipts);
                }
                Err(other) => return Err(other.into()),
            }
        }
    }
}

async fn audit(orb: &Orb, receipts: &Path) -> Result<(), Failure> {
    let (mut accounts, mut done) = (0, 0);
    for line in std::fs::read_to_string(receipts)?.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().ok_or("the file has other lines than receipts");
        let (acknowledged, in_doubt): (i64, bool) = (word()?.parse()?, word()?.parse()?);
        let object = orb.string_to_object(word()?).await?;
        let account: AccountRef = object.narrow().await?.ok_or("no Store::Account")?;
        let balance = account.balance().await?;
        let was_done = in_doubt && balance == acknowledged + 1;
        if balance != acknowledged && !was_done {
            let wrong = format!("{balance} in an account with a receipt for {acknowledged}");
            return Err(wrong.into());
        }
        accounts += 1;
        done += usize::from(was_done);
    }
    println!("{accounts} accounts are as acknowledged, {done} deposits in doubt were made");
    Ok(())
}
