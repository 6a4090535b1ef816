//! The client of `bank_server`: it knows the interfaces in `bank.idl`, and a reference.
//!
//! Start the server first, then this with the file that the server wrote, or with any object URL:
//!
//! ```text
//! cargo run --example bank_server -- bank.ior
//! cargo run --example bank_client -- bank.ior
//! cargo run --example bank_client -- bank.ior --shutdown         # ends the server
//! ```
//!
//! If the server has bound its reference in a naming service, a name does as well, or a URL with it:
//!
//! ```text
//! cargo run --example bank_client -- --name bank/teller \
//!     -ORBInitRef NameService=corbaloc::localhost:2809/NameService
//! cargo run --example bank_client -- corbaname::localhost:2809#bank/teller
//! ```
//!
//! You should see two accounts, what the calls on them gave, and two typed exceptions:
//!
//! ```text
//! found IDL:examples.zorb/Bank/Teller:1.0
//! Ada has 75.00, Grace has 25.00
//!   Ada  +100.00 salary
//!   Ada   -25.00 to Grace
//! withdrawing 1000.00: InsufficientFunds, 925.00 missing
//! looking for Eve: NoSuchAccount "Eve"
//! ```
//!
//! A second run finds the accounts that the first has opened, and the amounts grow.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use std::process::ExitCode;
use std::time::Duration;
use zorb::naming::NamingClient;
use zorb::{Interface, Orb};

/// The code generated from `bank.idl`.
#[zorb::idl_file("examples/bank.idl")]
mod idl {}

use idl::bank::account::WithdrawError;
use idl::bank::teller::{FindError, OpenError};
use idl::bank::{AccountRef, TellerRef};

#[derive(Parser)]
struct Options {
    /// `IOR:…`, `corbaloc:…`, `corbaname:…`, or a file that holds one of them.
    #[arg(required_unless_present = "name", conflicts_with = "name")]
    reference: Option<String>,
    /// The name in the naming service, such as `bank/teller`.
    #[arg(long)]
    name: Option<String>,
    /// Ask the server to end, and do nothing else.
    #[arg(long)]
    shutdown: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    // RUST_LOG=zorb::giop=trace shows every message; unset, errors alone.
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bank_client: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    // It has no endpoint: it is a client, and receives no calls.
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .round_trip_timeout(Duration::from_secs(10))
        .env()
        .args(&mut args)
        .build()
        .await?;
    // The ORB has taken its `-ORB…` options out; the rest is ours.
    let options = Options::parse_from(args);

    let teller: TellerRef = if let Some(name) = &options.name {
        NamingClient::find(&orb).await?.resolve(name).await?
    } else {
        let reference = options.reference.unwrap_or_default();
        let object = orb.string_to_object(&url(&reference)?).await?;
        let teller = object.narrow().await?;
        teller.ok_or_else(|| format!("{reference} is no Bank::Teller but {object:?}"))?
    };
    if options.shutdown {
        teller.shutdown().await?;
    } else {
        println!("found {}", teller.as_object().type_id());
        visit(&teller).await?;
    }
    orb.shutdown(true).await?;
    Ok(())
}

/// A path is the `file:` URL of a file that holds an object URL; everything else is one itself.
fn url(reference: &str) -> std::io::Result<String> {
    let schemes = ["IOR:", "corbaloc:", "corbaname:", "file:"];
    if schemes.iter().any(|scheme| reference.starts_with(scheme)) {
        return Ok(reference.to_owned());
    }
    Ok(format!(
        "file://{}",
        std::path::absolute(reference)?.display()
    ))
}

async fn visit(teller: &TellerRef) -> Result<(), Box<dyn std::error::Error>> {
    let ada = account(teller, "Ada").await?;
    let grace = account(teller, "Grace").await?;
    ada.deposit(10_000, "salary").await?;
    teller.transfer(&ada, &grace, 2_500).await?;

    // Calls on one connection do not wait for each other.
    let (of_ada, of_grace) = tokio::try_join!(ada.balance(), grace.balance())?;
    println!("Ada has {}, Grace has {}", money(of_ada), money(of_grace));
    let (entries, balance) = ada.statement().await?;
    for entry in &entries {
        let sign = if entry.cents < 0 { '-' } else { '+' };
        let amount = format!("{sign}{}", money(entry.cents.abs()));
        println!("  Ada {amount:>8} {}", entry.purpose);
    }

    match ada.withdraw(balance + 92_500, "a yacht").await {
        Err(WithdrawError::InsufficientFunds(e)) => println!(
            "withdrawing {}: InsufficientFunds, {} missing",
            money(balance + 92_500),
            money(e.missing)
        ),
        other => return Err(format!("withdrawing too much gave {other:?}").into()),
    }
    match teller.find("Eve").await {
        Err(FindError::NoSuchAccount(e)) => {
            println!("looking for Eve: NoSuchAccount {:?}", e.owner);
        }
        other => return Err(format!("looking for an unknown owner gave {other:?}").into()),
    }
    Ok(())
}

/// Opens an account, or finds the one there is.
async fn account(
    teller: &TellerRef,
    owner: &str,
) -> Result<AccountRef, Box<dyn std::error::Error>> {
    let account = match teller.open(owner).await {
        Err(OpenError::AlreadyOpen(_)) => teller.find(owner).await?,
        other => other?,
    };
    Ok(account.ok_or("the bank gave a nil reference")?)
}

fn money(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
